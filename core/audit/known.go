package audit

import (
	"slices"

	"example.com/loyalty/core"
)

// noun is what a tenant's log tells of.
type noun struct {
	name  string
	least core.Role // who reads of it
	verbs []string  // what is done to it
}

// What is not here is found by no filter and read by no manager: a test holds the list
// to the code. A verb that the code gives up stays: old entries speak of it.
var nouns = []noun{
	{"customer", core.Manager, []string{"create", "edit", "adjust", "erase", "download", "export", "unsubscribe", "subscribe", "consent"}},
	{"import", core.Manager, []string{"run", "cancel"}},
	{"transaction", core.Manager, []string{"void"}},
	{"transaction_type", core.Manager, []string{"create", "edit"}},
	{"reward", core.Manager, []string{"create", "edit"}},
	{"redemption", core.Manager, []string{"fulfil", "void"}},
	{"coupon", core.Manager, []string{"create", "edit", "send", "cancel_send", "fail_send", "stop_mails", "resume_mails", "retry_mails"}},
	{"voucher", core.Manager, []string{"redeem"}},
	{"location", core.Manager, []string{"create", "edit"}},
	{"pin", core.Manager, []string{"issue", "take", "use", "refuse", "cancel"}},
	{"staff", core.Owner, []string{
		"create", "invite", "join", "rename", "set_role", "deactivate", "activate",
		"sign_in", "sign_in_refused", "sign_out", "forgot_password", "reset_password", "change_password",
		"enrol_totp", "renew_recovery_codes", "drop_totp",
	}},
	{"session", core.Owner, []string{"end", "end_others"}},
	{"token", core.Owner, []string{"create", "revoke"}},
	{"tenant", core.Owner, []string{"edit", "finish_setup", "mail_setup", "open_read", "open_write"}},
	{"billing", core.Owner, []string{"edit_details"}},
}

// What the platform's own log tells of. Super-admins read all of it.
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

// actions are what entries call it: "customer.create".
func (n noun) actions() []string {
	actions := make([]string, len(n.verbs))
	for i, verb := range n.verbs {
		actions[i] = n.name + "." + verb
	}
	return actions
}

// PlatformActions are those of the platform's own log, noun by noun.
func PlatformActions() (actions []string) {
	for _, n := range platformNouns {
		actions = append(actions, n.actions()...)
	}
	return actions
}

// Actions are those that the actor may read of, noun by noun.
func Actions(by core.Actor) []string {
	actions, _ := pick(by, nil, nil) // where none is for the actor, none
	return actions
}

// pick are the actions of that noun and of that name (nil: any) that the actor may read
// of. Where there are some and none of them is for the actor, core.ErrRole.
func pick(by core.Actor, subject, action *string) (actions []string, err error) {
	var refusal error
	for _, n := range nouns {
		for _, a := range n.actions() {
			if subject != nil && n.name != *subject || action != nil && a != *action {
				continue
			}
			if err := by.Require(n.least); err != nil {
				refusal = err
				continue
			}
			actions = append(actions, a)
		}
	}
	if len(actions) == 0 {
		return nil, refusal
	}
	return actions, nil
}

func knownSubject(name string) bool {
	return slices.ContainsFunc(nouns, func(n noun) bool { return n.name == name })
}

func knownAction(name string) bool {
	return slices.ContainsFunc(nouns, func(n noun) bool { return slices.Contains(n.actions(), name) })
}
