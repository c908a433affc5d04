package audit

import (
	"slices"

	"example.com/loyalty/core"
)

// noun is a subject of entries.
type noun struct {
	name  string
	least core.Role // that can read entries about it
	verbs []string  // the actions on it
}

// Entries about anything else are found by no filter and read by no manager; a test compares the
// list with the code. A verb that the code no longer uses stays in the list: old entries have it.
var nouns = []noun{
	{"customer", core.Manager, []string{"create", "edit", "adjust", "level", "erase", "download", "export", "unsubscribe", "subscribe", "consent", "note", "tag", "merge", "remove_key", "same_key", "replace_link"}},
	{"import", core.Manager, []string{"run", "continue", "cancel"}},
	{"transaction", core.Manager, []string{"void", "refund", "export"}},
	{"transaction_type", core.Manager, []string{"create", "edit"}},
	{"reward", core.Manager, []string{"create", "edit"}},
	{"redemption", core.Manager, []string{"fulfil", "void", "reopen", "export"}},
	{"coupon", core.Manager, []string{"create", "edit", "send", "hold_send", "continue_send", "cancel_send", "fail_send", "stop_mails", "resume_mails", "retry_mails", "export"}},
	{"voucher", core.Manager, []string{"redeem", "restore", "return"}},
	{"location", core.Manager, []string{"create", "edit"}},
	{"promotion", core.Manager, []string{"create", "edit"}},
	{"category", core.Manager, []string{"create", "edit"}},
	{"earning", core.Manager, []string{"edit"}},
	{"pin", core.Manager, []string{"issue", "renew", "take", "use", "refuse", "cancel"}},
	{"staff", core.Owner, []string{
		"create", "invite", "join", "rename", "set_role", "deactivate", "activate",
		"sign_in", "sign_in_refused", "sign_out", "forgot_password", "reset_password", "change_password",
		"enrol_totp", "renew_recovery_codes", "drop_totp", "weekly_mail",
	}},
	{"session", core.Owner, []string{"end", "end_others"}},
	{"token", core.Owner, []string{"create", "revoke"}},
	{"tenant", core.Owner, []string{"edit", "finish_setup", "mail_setup", "open_read", "open_write", "move_out", "move_in"}},
	{"programme", core.Owner, []string{"edit", "expire"}},
	{"level", core.Owner, []string{"rules", "create", "edit", "retire", "launch", "switch_off", "settle"}},
	{"billing", core.Owner, []string{"edit_details"}},
}

// The subjects of the platform's own log. Super-admins read all of it.
var platformNouns = []noun{
	{"tenant", core.SuperAdmin, []string{"create", "suspend", "reactivate"}},
	{"deprecation", core.SuperAdmin, []string{"create"}},
	{"queue", core.SuperAdmin, []string{"pause", "resume"}},
	{"job", core.SuperAdmin, []string{"retry", "cancel"}},
	{"verify", core.SuperAdmin, []string{"run"}},
	{"invoice", core.SuperAdmin, []string{"draft", "issue", "pay", "void", "send", "overdue"}},
	{"plan", core.SuperAdmin, []string{"create", "edit", "retire", "reopen", "delete"}},
	{"platform", core.SuperAdmin, []string{"edit_settings", "rotate_secret"}},
}

// actionsOf returns the actions on a subject (nil: any) with a name (nil: any), in the order of
// the nouns: "customer.create".
func actionsOf(all []noun, subject, action *string) (actions []string) {
	for _, n := range all {
		for _, verb := range n.verbs {
			name := n.name + "." + verb
			if (subject == nil || n.name == *subject) && (action == nil || name == *action) {
				actions = append(actions, name)
			}
		}
	}
	return actions
}

// PlatformActions returns the actions in the platform's own log, noun by noun.
func PlatformActions() []string { return actionsOf(platformNouns, nil, nil) }

// PlatformNouns returns the nouns of all logs, tenants' first.
func PlatformNouns() (names []string) {
	for _, n := range slices.Concat(nouns, platformNouns) {
		if !slices.Contains(names, n.name) {
			names = append(names, n.name)
		}
	}
	return names
}

// Actions returns the actions that the actor can read entries about, noun by noun.
func Actions(by core.Actor) []string {
	actions, _ := readableActions(by, nil, nil) // a refusal means none
	return actions
}

// readableActions returns those of the actions on a subject with a name (nil: any) that the actor
// can read entries about, or core.ErrRole where they can read about none of them.
func readableActions(by core.Actor, subject, action *string) ([]string, error) {
	readable := slices.DeleteFunc(slices.Clone(nouns), func(n noun) bool { return by.Require(n.least) != nil })
	actions := actionsOf(readable, subject, action)
	if len(actions) == 0 && len(actionsOf(nouns, subject, action)) > 0 {
		return nil, core.ErrRole
	}
	return actions, nil
}
