package forms

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/loyalty/core"
)

// chosenFields have a value that is picked from a list: "Choose a status", not "Enter a status".
var chosenFields = []string{
	"benefit_reward_ulid", "benefit_type", "billing_cycle", "columns", "country", "currency", "customer_ulid", "file", "location_id",
	"method", "period", "plan_id", "reward_ulid", "role", "rule_type", "scopes", "sort", "status", "sunset", "timezone", "transaction_type_id", "unit",
}

// fieldMessages are the messages for a rule of one field, by "field rule".
var fieldMessages = map[string]string{
	"agreed accepted":                  "Tick this box to continue",
	"before_on required":               "Choose a date",
	"before selected":                  "Choose until when they can be spent",
	"business selected":                "No business has this subdomain",
	"change max":                       "Add at most {limit}",
	"code required":                    "Scan or enter a voucher code",
	"columns selected":                 "Choose a field for each column",
	"confirmation required":            "Enter your current password",
	"contact required":                 "Enter your phone number or e-mail address",
	"current_password required":        "Enter your current password",
	"customers required":               "Choose at least one customer",
	"email required":                   "Enter an e-mail address",
	"expiry selected":                  "Choose when they expire",
	"link url":                         "Enter a full address, e.g. https://example.com/guide",
	"percent required":                 "Enter a percentage, e.g. 200",
	"windows required":                 "Choose at least one weekday for each time",
	"windows selected":                 "Choose weekdays",
	"phone required":                   "Enter a phone number",
	"scopes required":                  "Choose at least one ability",
	"segment selected":                 "Choose who gets it",
	"min_level_id fixed_after_sending": "Can only be removed after sending: customers were told",
	"send_at future":                   "Choose a time in the future",
	"send_at required":                 "Enter a date and a time",
	"slug selected":                    "Use lowercase letters, digits and hyphens",
	"slug taken":                       "This address is already taken",
	"stamps_cost prohibited_with":      "Set a price in points or in stamps, not both",
	"understood accepted":              "Confirm that this can't be undone",
}

// ruleMessages are the messages of the rules. {a label} is the field's label with its article, {label}
// the label, {limit} the rule's number (an amount where the field is one), {other} its text.
var ruleMessages = map[string]string{
	"active_customer":        "This customer is inactive. A manager can reactivate them",
	"accepted":               "Tick this box to continue",
	"after_1970":             "Enter a date after 1 January 1970",
	"after_or_equal":         "Choose an end date on or after the start date",
	"after_start":            "Choose an end after the start",
	"amount":                 "Enter an amount, e.g. {other}",
	"broken_picture":         "This file is damaged. Save the picture again as PNG",
	"cell_error":             "The spreadsheet has an error here. Correct it there and export again",
	"clock":                  "Enter a time, e.g. 16:00",
	"code_taken":             "Already in another category: {other}",
	"colour":                 "Enter a colour, e.g. #5746d6",
	"column_twice":           "Two columns are set to {other}. Choose one",
	"currency_in_use":        "Can't be changed after the first sale",
	"date":                   "Enter a date, e.g. 2026-11-21",
	"birthday":               "Enter a birthday, e.g. 1990-05-21, or 05-21 without the year",
	"date_and_time":          "Enter a date and a time, e.g. 2026-11-21 and 08:00",
	"date_serial":            "The spreadsheet exported this date as a number. Format the column as a date and export again",
	"day":                    "Enter a date, e.g. 2026-11-21, 21.11.2026 or 21/11/2026",
	"day_month_first":        "Enter a date, e.g. 2026-11-21 or 11/21/2026",
	"days_ahead":             "Choose a date at least {limit} days ahead",
	"either_gives":           "Set a percentage or extra points or stamps, not both",
	"easy_password":          "This password is too easy to guess. Choose a different one",
	"email":                  "Enter a valid e-mail address",
	"empty_file":             "This file is empty",
	"erased_meanwhile":       "A customer was erased during the upload. If they are in this file, remove them. Then upload it again",
	"fixed_after_sales":      "Can't be changed after the first sale. Create a new type instead",
	"fixed_after_sending":    "Can't be changed after sending. Create a new coupon instead",
	"full_name":              "Enter your first and last name",
	"visitor_name":           "Use only letters, spaces, hyphens, apostrophes and full stops",
	"future":                 "Choose a date in the future",
	"garbled":                "This code arrived garbled. Set the scanner to the keyboard layout of this device, then scan again",
	"https_url":              "Enter an address that starts with https://",
	"integer":                "Enter a whole number",
	"long_row":               "Row {limit} is longer than 64 kB. Check it for an unclosed quotation mark",
	"max":                    "Enter {limit} or less",
	"max_columns":            "This file has more than {limit} columns",
	"max_items":              "Choose at most {limit}",
	"max_kilobytes":          "Choose a file of at most {limit} kB",
	"max_length":             "Use at most {limit} characters",
	"max_megabytes":          "This file is larger than {limit} MB. Split it and import the parts one by one",
	"max_pixels":             "Choose a picture of at most {limit} × {limit} pixels",
	"max_removed":            "You can remove at most {limit}",
	"max_rows":               "This file has more than {limit} rows. Split it and import the parts one by one",
	"max_setup_sale":         "Enter {other} or less. Larger sales need confirmation at the till",
	"max_waiting":            "{limit} files are already waiting. Import or discard one first",
	"min":                    "Enter {limit} or more",
	"min_length":             "Use at least {limit} characters",
	"min_redeemed":           "Enter {limit} or more: it was already redeemed that often",
	"min_sent":               "Can't be lowered after sending. Enter {limit} or more",
	"name_columns":           "Choose columns for first and last name, or one for the full name",
	"no_direction_mark":      "This has hidden characters. Type it instead of pasting it",
	"no_levels":              "Your business has no levels. Launch them in Settings first, or don't import this column",
	"no_nul":                 "Remove the NUL character",
	"no_rows":                "This file has no rows below the header row",
	"not_before":             "Choose {other} or a later date",
	"not_csv":                "This isn't a text file. Save the sheet as “CSV UTF-8”",
	"not_past":               "Enter today's date or a later one",
	"not_utf16":              "This file isn't in UTF-16. Choose another encoding",
	"not_zero":               "Enter a number other than 0",
	"nothing_expires":        "Points and stamps don't expire in your business. Change that in Settings first, or don't import this column",
	"only_utf16":             "This file is in UTF-16. Choose UTF-16",
	"one_phone":              "Enter one phone number only",
	"other_unit":             "Choose types that earn what the promotion gives",
	"past":                   "Choose a date that isn't in the future",
	"percentage":             "Enter a percentage, e.g. 25.5",
	"phone":                  "Enter a valid phone number",
	"phone_column":           "Choose the column with the phone number",
	"phone_or_email":         "Enter a valid phone number or e-mail address",
	"phone_or_last_digits":   "Enter a phone number or its last {limit} digits",
	"picture_type":           "Choose a PNG, JPEG or WebP picture",
	"plan_in_use":            "Can't be changed while businesses are on this plan",
	"required":               "{verb} {a label}",
	"required_without":       "Enter a phone number or an e-mail address",
	"reserved":               "This {label} is reserved. Choose another",
	"rounded":                "The spreadsheet rounded this number. Format the column as text and export again",
	"rounded_phone":          "A spreadsheet rounded this number. Enter all its digits",
	"same_times":             "Choose an end that isn't the start",
	"several_customers":      "Several customers match. Enter more of the name or number",
	"same_phones_in_country": "Can't be changed: {other} would be the same number",
	"selected":               "Choose {a label}",
	"send_after_end":         "The coupon ends on {other}. Choose an earlier time",
	"send_before_start":      "The coupon starts on {other}. Choose a later time",
	"six_digits":             "Enter the 6 digits of the PIN",
	"stray_quote":            "Unexpected quotation mark. Remove it or double it",
	"sum_within":             "The items add up to more than the amount",
	"taken":                  "This {label} is already in use",
	"taken_by":               "This {label} leads to {other}. Remove it from their profile first",
	"too_many_values":        "{other} values for {limit} columns. Put values that contain the separator in quotation marks",
	"unclosed_quote":         "Unclosed quotation mark: rows {other} to {limit} can't be told apart",
	"unknown_level":          "No level has this name. The levels are {other}",
	"unknown_customer":       "There is no customer {other}",
	"unknown_voucher":        "Voucher not found. Check the code and try again",
	"unlimited":              "The stock is unlimited",
	"unreadable":             "This text has broken letters. Correct them, or choose another encoding",
	"url":                    "Enter a full address, e.g. https://example.com",
	"within_days":            "Choose at most {limit} days",
	"within_year":            "Choose a time within a year",
	"workbook":               "This is a workbook. Save the sheet as “CSV UTF-8”",
	"wrong_code":             "Incorrect or already used code. Your app shows a new one every 30 seconds",
	"wrong_password":         "Incorrect password",
	"wrong_pin":              "Incorrect or expired PIN",
}

// Message says how to correct a violation. number formats the limit.
func Message(field, label string, v core.Violation, number func(int64) string) string {
	text, ok := fieldMessages[field+" "+v.Rule]
	if !ok {
		text, ok = ruleMessages[v.Rule]
	}
	if !ok {
		return "Check the " + lowered(label)
	}
	verb := "Enter"
	if slices.Contains(chosenFields, field) {
		verb = "Choose"
	}
	return strings.NewReplacer(
		"{verb}", verb, "{a label}", withArticle(label), "{label}", lowered(label), "{limit}", number(v.Limit), "{other}", v.Other,
	).Replace(text)
}

// apartMessages are the messages for a field that the page doesn't have, where there is nothing to enter or choose:
// by "field rule", else by rule. {Label} is the field's name with a capital. Other messages name what they are about.
var apartMessages = map[string]string{
	"cursor selected":              "This page of the list no longer exists. Open the list again",
	"customer_ulid selected":       "This customer no longer exists, or was merged into another one. Find them again",
	"form_key required":            "Reload this page, then send",
	"location_id selected":         "This location is closed. Choose another one",
	"redemption_ulid selected":     "This redemption isn't one of the customer's pending ones",
	"reward_ulid selected":         "This reward is no longer offered",
	"transaction_type_id selected": "This type of sale is no longer offered. Choose another one",
	"voucher_ulid selected":        "This voucher isn't one of the customer's",

	"accepted":      "{Label} wasn't confirmed. Go back and confirm it",
	"after_1970":    "{Label} must be after 1 January 1970",
	"amount":        "{Label} isn't an amount",
	"array":         "{Label} isn't a list",
	"colour":        "{Label} isn't a colour",
	"date":          "{Label} isn't a date",
	"date_and_time": "{Label} isn't a date and a time",
	"day":           "{Label} isn't a date",
	"days_ahead":    "{Label} must be at least {limit} days ahead",
	"email":         "{Label} isn't an e-mail address",
	"future":        "{Label} must be in the future",
	"https_url":     "{Label} isn't an address that starts with https://",
	"integer":       "{Label} isn't a whole number",
	"max":           "{Label} must be {limit} or less",
	"max_items":     "{Label} has more than {limit} entries",
	"max_length":    "{Label} is longer than {limit} characters",
	"min":           "{Label} must be {limit} or more",
	"min_length":    "{Label} is shorter than {limit} characters",
	"no_levels":     "Your business has no levels. Launch them in Settings first, or don't import this column",
	"no_nul":        "{Label} contains a NUL character",
	"not_before":    "{Label} must be {other} or later",
	"not_zero":      "{Label} must not be 0",
	"past":          "{Label} must not be in the future",
	"percentage":    "{Label} isn't a percentage",
	"phone":         "{Label} isn't a phone number",
	"required":      "{Label} is missing",
	"selected":      "{Label} isn't one of the choices",
	"string":        "{Label} isn't a text",
	"taken":         "{Label} is already in use",
	"url":           "{Label} isn't a web address",
	"within_year":   "{Label} must be within a year",

	"currency_in_use":        "{Label} can't be changed after the first sale",
	"fixed_after_sales":      "{Label} can't be changed after the first sale. Create a new type instead",
	"fixed_after_sending":    "{Label} can't be changed after sending. Create a new coupon instead",
	"min_redeemed":           "{Label} must be {limit} or more: it was already redeemed that often",
	"min_sent":               "{Label} can't be lowered after sending. It must be {limit} or more",
	"plan_in_use":            "{Label} can't be changed while businesses are on this plan",
	"same_phones_in_country": "{Label} can't be changed: {other} would be the same number",
}

// MessageApart says what is wrong with a field that the page doesn't have.
func MessageApart(field string, v core.Violation, number func(int64) string) string {
	label := fieldLabel(field)
	text, ok := apartMessages[field+" "+v.Rule]
	if !ok {
		text, ok = apartMessages[v.Rule]
	}
	if !ok {
		return Message(field, label, v, number)
	}
	return strings.NewReplacer("{Label}", raised(label), "{limit}", number(v.Limit), "{other}", v.Other).Replace(text)
}

func raised(label string) string {
	first, size := utf8.DecodeRuneInString(label)
	return string(unicode.ToUpper(first)) + label[size:]
}

// withArticle is a label within a sentence: "a first name", "an e-mail address".
func withArticle(label string) string {
	label = lowered(label)
	switch first, _, _ := strings.Cut(label, " "); {
	case first == "your", first == "the", strings.HasSuffix(label, "s") && !strings.HasSuffix(label, "ss"):
		return label
	}
	if strings.ContainsRune("aeio", rune(label[0])) {
		return "an " + label
	}
	return "a " + label
}

// lowered is a label with a lowercase first letter, unless it starts with an abbreviation.
func lowered(label string) string {
	first, size := utf8.DecodeRuneInString(label)
	second, _ := utf8.DecodeRuneInString(label[size:])
	if unicode.IsUpper(second) {
		return label
	}
	return string(unicode.ToLower(first)) + label[size:]
}

// linkLabels are the labels of fields in links.
var linkLabels = map[string]string{"by": "ranking", "compare": "comparison", "limit": "number of customers"}

// fieldLabel is the label of a field that the page doesn't show, derived from its name.
func fieldLabel(field string) string {
	if label, ok := linkLabels[field]; ok {
		return label
	}
	label := strings.ReplaceAll(field, "_", " ")
	for _, end := range []string{" ulid", " id", " cents"} {
		label = strings.TrimSuffix(label, end)
	}
	return label
}
