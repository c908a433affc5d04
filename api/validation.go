package api

import (
	"fmt"
	"strings"

	"example.com/loyalty/core"
)

// messages returns the API's message of each violation, in Laravel's wording (decisions §3).
func messages(fields core.Fields) map[string][]string {
	all := make(map[string][]string, len(fields))
	for field, violations := range fields {
		for _, v := range violations {
			all[field] = append(all[field], message(field, v))
		}
	}
	return all
}

// mustBe has the end of "The … field must be …." for each rule.
var mustBe = map[string]string{
	"string":  "a string",
	"integer": "an integer",
	"array":   "an array",
	"object":  "an object",
	"date":    "a valid date",
	"moment":  "a date and time with an offset, such as 2026-11-27T09:30:00Z",
	"email":   "a valid email address",
	"phone":   "a valid phone number",

	"one_phone":     "one phone number",
	"rounded_phone": "a phone number with all its digits",

	"url":      "a valid URL",
	"birthday": "a birthday such as 05-21 or 1990-05-21",

	"future": "a date after now",
}

func message(field string, v core.Violation) string {
	name := attribute(field)
	if what, ok := mustBe[v.Rule]; ok {
		return "The " + name + " field must be " + what + "."
	}
	switch v.Rule {
	case "required":
		return "The " + name + " field is required."
	case "filled":
		return "The " + name + " field must have a value."
	case "unknown":
		return "There is no parameter with the name " + field + "."
	case "required_without":
		return "The " + name + " field is required when " + attribute(v.Other) + " is not present."
	case "taken", "taken_by":
		return "The " + name + " has already been taken."
	case "no_nul":
		return "The " + name + " field must not contain NUL characters."
	case "no_direction_mark":
		return "The " + name + " field must not contain characters that change the writing direction."
	case "min":
		return fmt.Sprintf("The %s field must be at least %d.", name, v.Limit)
	case "max":
		return fmt.Sprintf("The %s field must not be greater than %d.", name, v.Limit)
	case "max_length":
		return fmt.Sprintf("The %s field must not be greater than %d characters.", name, v.Limit)
	case "max_items":
		return fmt.Sprintf("The %s field must not have more than %d items.", field, v.Limit)
	case "sum_within":
		return "The " + name + " field must not add up to more than " + attribute(v.Other) + "."
	case "metadata_key":
		return fmt.Sprintf("The %s field must only have keys of 1 to %d characters.", name, v.Limit)
	case "after_or_equal":
		return "The " + name + " field must be a date after or equal to " + attribute(v.Other) + "."
	case "within_hours":
		return fmt.Sprintf("The %s field must be at most %d hours ago.", name, v.Limit)
	case "not_in_future", "past":
		return "The " + name + " field must not be in the future."
	case "within_days":
		return fmt.Sprintf("The %s field must be a date at most %d days after %s.", name, v.Limit, attribute(v.Other))
	case "currency_in_use":
		return "The currency cannot be changed: there are sales in " + v.Other + " already."
	case "same_phones_in_country":
		return "The country cannot be changed: " + v.Other + " would be the same number."
	}
	return "The selected " + name + " is invalid."
}

// attribute returns a field's name as Laravel writes it.
func attribute(field string) string { return strings.ReplaceAll(field, "_", " ") }
