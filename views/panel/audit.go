package panel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// AuditNoun is a kind of record that the audit log covers.
type AuditNoun struct {
	Label string // plural
	Icon  string
}

// AuditNouns are the kinds of records, by their name in the log.
var AuditNouns = map[string]AuditNoun{
	"customer":         {"Customers", "user"},
	"import":           {"Imports", "file-import"},
	"transaction":      {"Sales", "receipt"},
	"transaction_type": {"Transaction types", "category"},
	"reward":           {"Rewards", "gift"},
	"redemption":       {"Redemptions", "list-check"},
	"coupon":           {"Coupons", "ticket"},
	"voucher":          {"Vouchers", "ticket"},
	"location":         {"Locations", "map-pin"},
	"staff":            {"Staff", "users"},
	"session":          {"Sessions", "logout"},
	"pin":              {"PINs", "lock"},
	"token":            {"API tokens", "key"},
	"tenant":           {"Business settings", "building-store"},
	"programme":        {"Programme", "hourglass"},
	"promotion":        {"Promotions", "coins"},
	"category":         {"Categories", "package"},
	"earning":          {"Daily limits", "adjustments"},
	"level":            {"Levels", "trending-up"},
	"billing":          {"Billing", "receipt"},
	"deprecation":      {"Deprecations", "hourglass"},
	"queue":            {"Queues", "list-check"},
	"job":              {"Jobs", "list-check"},
	"verify":           {"Checks", "circle-check"},
	"invoice":          {"Invoices", "receipt"},
	"plan":             {"Plans", "package"},
	"platform":         {"Platform settings", "settings"},
}

// AuditSentences describe actions. {who} is the actor and {name} the record; {sale} is a sale with
// its amount, {refund} the refunded amount, {customer} the customer of a sale, redemption or voucher, {for} the business of an invoice.
var AuditSentences = map[string]string{
	"customer.create":            "{who} added the customer {name}.",
	"customer.edit":              "{who} changed the customer {name}.",
	"customer.adjust":            "{who} adjusted the balance of {name}.",
	"customer.level":             "{who} changed the level of {name}.",
	"customer.erase":             "{who} erased a customer: {name}.",
	"customer.download":          "{who} downloaded the data of {name}.",
	"customer.export":            "{who} exported customers.",
	"customer.unsubscribe":       "{who} unsubscribed {name} from e-mails.",
	"customer.subscribe":         "{who} resubscribed {name} to e-mails.",
	"customer.consent":           "{name} agreed to the terms.",
	"customer.note":              "{who} changed the note about {name}.",
	"customer.merge":             "{who} merged a duplicate into {name}.",
	"customer.remove_key":        "{who} removed a phone number, e-mail address or external ID by which {name} was also found.",
	"customer.same_key":          "{name} has the same phone number or e-mail address as another customer. Merge them if they are one person.",
	"customer.replace_link":      "{who} replaced the card link of {name}.",
	"customer.tag":               "{who} changed the tags of {name}.",
	"pin.issue":                  "{who} created a PIN.",
	"pin.renew":                  "A card's PIN was renewed while {who} showed it.",
	"pin.take":                   "{who} accepted a PIN.",
	"pin.use":                    "{who} completed a sale with a PIN.",
	"pin.refuse":                 "{who} entered an invalid PIN.",
	"pin.cancel":                 "{who} cancelled a PIN.",
	"import.run":                 "{who} imported customers from {name}.",
	"import.continue":            "{who} continued the import from {name}.",
	"import.cancel":              "{who} stopped the import from {name}.",
	"transaction.void":           "{who} voided {customer}'s {sale}.",
	"transaction.refund":         "{who} refunded {refund} of {customer}'s {sale}.",
	"transaction.export":         "{who} exported sales.",
	"transaction_type.create":    "{who} added the transaction type {name}.",
	"transaction_type.edit":      "{who} changed the transaction type {name}.",
	"reward.create":              "{who} added the reward {name}.",
	"reward.edit":                "{who} changed the reward {name}.",
	"redemption.fulfil":          "{who} fulfilled {name} for {customer}.",
	"redemption.void":            "{who} voided {customer}'s redemption of {name}.",
	"redemption.reopen":          "{who} set {customer}'s redemption of {name} back to pending.",
	"redemption.export":          "{who} exported redemptions.",
	"coupon.create":              "{who} added the coupon {name}.",
	"coupon.edit":                "{who} changed the coupon {name}.",
	"coupon.send":                "{who} sent the coupon {name}.",
	"coupon.hold_send":           "{who} put a send of the coupon {name} on hold.",
	"coupon.continue_send":       "{who} continued a send of the coupon {name}.",
	"coupon.cancel_send":         "{who} cancelled a send of the coupon {name}.",
	"coupon.fail_send":           "A scheduled send of the coupon {name} failed.",
	"coupon.stop_mails":          "{who} stopped the e-mails of the coupon {name}.",
	"coupon.resume_mails":        "{who} resumed the e-mails of the coupon {name}.",
	"coupon.retry_mails":         "{who} retried failed e-mails of the coupon {name}.",
	"coupon.export":              "{who} exported the vouchers of {name}.",
	"voucher.redeem":             "{who} redeemed {customer}'s voucher {name}.",
	"voucher.restore":            "{who} restored {customer}'s voucher {name}.",
	"voucher.return":             "{who} made {customer}'s voucher {name} valid again.",
	"location.create":            "{who} added the location {name}.",
	"location.edit":              "{who} changed the location {name}.",
	"staff.create":               "{who} added {name} to the staff.",
	"staff.invite":               "{who} invited {name}.",
	"staff.join":                 "{name} accepted the invitation.",
	"staff.rename":               "{who} changed their name.",
	"staff.set_role":             "{who} changed the role of {name}.",
	"staff.deactivate":           "{who} deactivated {name}.",
	"staff.activate":             "{who} reactivated {name}.",
	"staff.sign_in":              "{who} signed in.",
	"staff.sign_in_refused":      "A sign-in as {name} failed.",
	"staff.sign_out":             "{who} signed out.",
	"staff.forgot_password":      "{name} was sent a link to reset the password.",
	"staff.reset_password":       "{name} reset the password.",
	"staff.change_password":      "{who} changed their password.",
	"staff.enrol_totp":           "{who} turned on two-step verification.",
	"staff.renew_recovery_codes": "{who} created new recovery codes.",
	"staff.drop_totp":            "{who} turned off two-step verification for {name}.",
	"staff.weekly_mail":          "{who} changed whether they get the weekly e-mail.",
	"session.end":                "{who} ended a session.",
	"session.end_others":         "{who} ended all other sessions.",
	"token.create":               "{who} created the API token {name}.",
	"token.revoke":               "{who} revoked the API token {name}.",
	"tenant.edit":                "{who} changed the settings of {name}.",
	"tenant.finish_setup":        "{who} finished setting up {name}.",
	"tenant.mail_setup":          "{who} e-mailed the setup link of {name}.",
	"tenant.open_read":           "{who} read the data of {name} in the database.",
	"tenant.open_write":          "{who} opened the data of {name} in the database with write access.",
	"tenant.move_out":            "{who} exported all data of {name} for another installation.",
	"tenant.move_in":             "{who} imported {name} from another installation.",
	"programme.edit":             "{who} changed how {name} expire.",
	"programme.expire":           "Customers' {name} expired.",
	"promotion.create":           "{who} added the promotion {name}.",
	"promotion.edit":             "{who} changed the promotion {name}.",
	"category.create":            "{who} added the category {name}.",
	"category.edit":              "{who} changed the category {name}.",
	"earning.edit":               "{who} changed the daily limits of {name}.",
	"level.rules":                "{who} changed how customers rise to levels.",
	"level.create":               "{who} added the level {name}.",
	"level.edit":                 "{who} changed the level {name}.",
	"level.retire":               "{who} retired the level {name}.",
	"level.launch":               "{who} launched levels.",
	"level.switch_off":           "{who} switched levels off.",
	"level.settle":               "Levels that had ended were kept or lost.",
	"billing.edit_details":       "{who} changed the billing details.",

	"tenant.create":          "{who} created the business {name}.",
	"tenant.suspend":         "{who} suspended {name}.",
	"tenant.reactivate":      "{who} reactivated {name}.",
	"deprecation.create":     "{who} announced the end of {name}.",
	"queue.pause":            "{who} paused the queue {name}.",
	"queue.resume":           "{who} resumed the queue {name}.",
	"job.retry":              "{who} retried a job.",
	"job.cancel":             "{who} cancelled a job.",
	"verify.run":             "{who} started a check of all records.",
	"invoice.draft":          "{who} created the invoice {name}{for}.",
	"invoice.issue":          "{who} issued the invoice {name}{for}.",
	"invoice.pay":            "{who} marked the invoice {name}{for} as paid.",
	"invoice.void":           "{who} voided the invoice {name}{for}.",
	"invoice.send":           "{who} e-mailed the invoice {name}{for}.",
	"invoice.overdue":        "The invoice {name}{for} became overdue.",
	"plan.create":            "{who} created the plan {name}.",
	"plan.edit":              "{who} changed the plan {name}.",
	"plan.retire":            "{who} retired the plan {name}.",
	"plan.reopen":            "{who} reopened the plan {name}.",
	"plan.delete":            "{who} deleted the plan {name}.",
	"platform.edit_settings": "{who} changed the platform's settings.",
	"platform.rotate_secret": "{who} rotated the encryption secret.",
}

// AuditEntry is the view of an entry of the log: money and times are as the business writes them,
// the platform's times in UTC. fill returns the word for a placeholder of the sentence.
func AuditEntry(l audit.Line, t core.Tenant, now time.Time, fill func(blank string) ui.Word) ui.Entry {
	zone := auditZone(t)
	if t.Currency == "" { // the platform has no currency: its entries name that of their amounts
		t.Currency = auditFact(l, "currency")
	}
	e := ui.Entry{
		Icon: "history", Words: auditWords(l, fill), Day: format.Day(l.At, now, zone), When: format.Clock(l.At, zone), At: l.At.UTC().Format(time.RFC3339),
		Address: l.Address, Request: l.RequestID, Made: true, Actor: AuditActor(l).Text,
	}
	if noun, known := AuditNouns[l.Subject]; known {
		e.Icon = noun.Icon
	}
	if kind, _, _ := strings.Cut(l.Actor, ":"); kind == string(core.ByToken) && l.ActorName != core.UnnamedToken {
		e.By = "by API token"
	} else if kind == string(core.ByAdmin) {
		e.By = "by the platform"
	}
	before, after := inItsCurrency(t, l)
	for _, ch := range l.Changes {
		if ch.Old != nil && ch.New != nil && *ch.Old == *ch.New {
			continue // a fact that didn't change, such as the currency of amounts that did
		}
		e.Made = e.Made && ch.Old == nil
		e.Changes = append(e.Changes, ui.EntryChange{
			Field: auditField(ch.Field), Old: auditValue(before, ch.Field, ch.Old), New: auditValue(after, ch.Field, ch.New),
		})
	}
	return e
}

func auditZone(t core.Tenant) *time.Location {
	if t.TimeZone == nil {
		return time.UTC
	}
	return t.TimeZone
}

// auditFact returns a fact of an entry, as it became, or "".
func auditFact(l audit.Line, name string) string {
	for _, ch := range l.Changes {
		if ch.Field == name {
			return cmp.Or(core.OrZero(ch.New), core.OrZero(ch.Old))
		}
	}
	return ""
}

// auditWords returns the sentence of an entry, its placeholders filled.
func auditWords(l audit.Line, fill func(blank string) ui.Word) (words []ui.Word) {
	sentence, known := AuditSentences[l.Action]
	if !known { // an action of a newer version
		sentence = "{who}: " + strings.NewReplacer("_", " ", ".", ", ").Replace(l.Action) + "."
	}
	for len(sentence) > 0 {
		plain, rest, found := strings.Cut(sentence, "{")
		words = append(words, ui.Word{Text: plain})
		if !found {
			break
		}
		var blank string
		blank, sentence, _ = strings.Cut(rest, "}")
		words = append(words, fill(blank))
	}
	return words
}

// AuditActor is the name of an entry's actor.
func AuditActor(l audit.Line) ui.Word {
	if strings.HasPrefix(l.Actor, string(core.BySystem)) {
		return ui.Word{Text: format.System, Strong: true}
	}
	return ui.Word{Text: l.ActorName, Strong: true}
}

// AuditBlank fills a placeholder of a sentence, without a link. A record without a stored name is
// called by its id.
func AuditBlank(l audit.Line, t core.Tenant, blank string) ui.Word {
	switch {
	case blank == "who":
		return AuditActor(l)
	case blank == "customer":
		return ui.Word{Text: cmp.Or(l.CustomerName, "a customer")}
	case blank == "for":
		if business := auditFact(l, "business"); business != "" {
			return ui.Word{Text: " for " + business}
		}
		return ui.Word{}
	case blank == "refund":
		return ui.Word{Text: auditValue(t, "amount_cents", new(auditFact(l, "amount_cents")))}
	case blank == "sale" && l.SpendCents == nil:
		return ui.Word{Text: "sale"}
	case blank == "sale":
		return ui.Word{Text: format.Money(*l.SpendCents, t.Currency) + " sale"}
	case l.SubjectID == "": // a sign-in failed
		return ui.Word{Text: "an unknown person"}
	}
	return ui.Word{Text: cmp.Or(l.SubjectName, l.SubjectID), Strong: true}
}

// auditField is the label of a field.
func auditField(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "_cents"), "_ulid")
	switch name {
	case "email":
		return "E-mail"
	case "timezone":
		return "Time zone"
	}
	words := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// inItsCurrency returns the business with the currencies of the old and the new values, which differ where the currency
// was changed.
func inItsCurrency(t core.Tenant, l audit.Line) (before, after core.Tenant) {
	before, after = t, t
	for _, ch := range l.Changes {
		if ch.Field == "currency" && ch.Old != nil {
			before.Currency = *ch.Old
		}
		if ch.Field == "currency" && ch.New != nil {
			after.Currency = *ch.New
		}
	}
	return before, after
}

// auditValue formats a value: money with its currency, times in the time zone of the business.
func auditValue(t core.Tenant, field string, value *string) string {
	if value == nil {
		return ""
	}
	switch {
	case *value == "true":
		return "yes"
	case *value == "false":
		return "no"
	case strings.HasSuffix(field, "_cents"):
		if cents, err := strconv.ParseInt(*value, 10, 64); err == nil && t.Currency != "" {
			return format.Money(cents, t.Currency)
		}
	case strings.HasSuffix(field, "_at"):
		if at, err := time.Parse(time.RFC3339, *value); err == nil {
			return format.Time(at, auditZone(t))
		}
	case strings.HasPrefix(*value, "["), strings.HasPrefix(*value, "{"):
		return auditList(t, *value)
	}
	return *value
}

// auditList formats a JSON list of texts, or an object, without the punctuation of JSON.
func auditList(t core.Tenant, text string) string {
	var list []string
	if json.Unmarshal([]byte(text), &list) == nil {
		return strings.Join(list, ", ")
	}
	var named map[string]any
	if json.Unmarshal([]byte(text), &named) != nil {
		return text // a person typed it
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		value := fmt.Sprint(named[name])
		list = append(list, auditField(name)+": "+auditValue(t, name, &value))
	}
	return strings.Join(list, ", ")
}
