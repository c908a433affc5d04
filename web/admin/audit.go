package admin

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const auditPath = "/admin/audit"

func (a *Admin) auditRoutes() []route {
	return []route{{method: get, path: auditPath, least: core.Manager, handle: a.auditLog}}
}

// auditLog shows who did what. Four round trips for the page: the session, the entries,
// what they are called, whom to choose from; three for a fragment.
func (a *Admin) auditLog(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), page.Query(c.QueryParams())
	filter := audit.Filter{
		Subject: q.Filled("subject"), SubjectID: q.Filled("subject_id"), Actor: q.Filled("actor"), From: q.Date("from"), To: q.Date("to"),
	}
	p := q.Position()
	list, err := a.Audit.List(ctx, by, filter, p)
	status := http.StatusOK
	switch {
	case q.Refused(err):
		status = http.StatusUnprocessableEntity
	case err != nil:
		return err
	}
	v := views.AuditLog{
		Frame:    a.frame(c, "Audit log", auditPath),
		Pager:    page.Pager(list, c.Request().URL, page.Count(int64(len(list.Items)), "entry", "entries"), "#audit"),
		Filtered: filter != audit.Filter{} || p.Cursor != nil,
	}
	for _, l := range list.Items {
		v.Rows = append(v.Rows, auditRow(by, l))
	}
	if filter.SubjectID != nil {
		v.Hidden = []ui.Pair{{Name: "subject_id", Value: *filter.SubjectID}}
		v.Record = "this record"
		if len(list.Items) > 0 && list.Items[0].Record != nil && list.Items[0].Record.Name != "" {
			v.Record = list.Items[0].Record.Name
		}
	}
	v.Subject, v.Actor = q.Field("subject", "What"), q.Field("actor", "Who")
	v.Subject.Options = q.Options("subject", subjectsOf(by)...)
	if !page.IsFragment(c) {
		if v.Actor.Options, err = a.actors(c, q, list.Items); err != nil {
			return err
		}
	}
	v.From, v.To = q.Field("from", "From"), q.Field("to", "To")
	v.Problem = q.Problem()
	return a.Render(c, status, views.AuditLogPage(v), views.AuditTable(v))
}

// subjectsOf are the nouns that somebody may read of.
func subjectsOf(by core.Actor) []ui.Option {
	options := []ui.Option{{Label: "Everything"}}
	last := ""
	for _, action := range audit.Actions(by) {
		if noun, _, _ := strings.Cut(action, "."); noun != last {
			options = append(options, ui.Option{Value: noun, Label: page.AuditNouns[noun].Label})
			last = noun
		}
	}
	return options
}

// actors are those a filter can pick, and the one that it picks: they need not be of the
// staff.
func (a *Admin) actors(c echo.Context, q *page.Form, shown []audit.Line) ([]ui.Option, error) {
	people, err := a.Audit.People(c.Request().Context(), page.Actor(c))
	if err != nil {
		return nil, err
	}
	picked := q.Value("actor")
	options := []ui.Option{{Label: "Everybody"}}
	for _, p := range people {
		label := p.Name
		if strings.HasPrefix(p.Actor, string(core.ByToken)) {
			label = "API token " + p.Name
		}
		options = append(options, ui.Option{Value: p.Actor, Label: label})
		if p.Actor == picked {
			picked = ""
		}
	}
	system := string(core.BySystem) + ":"
	options = append(options, ui.Option{Value: system, Label: page.AuditSystem})
	if picked != "" && picked != system {
		other := ui.Option{Value: picked, Label: "Somebody else"}
		if len(shown) > 0 {
			other.Label = shown[0].ActorName
		}
		options = append(options, other)
	}
	return q.Options("actor", options...), nil
}

// auditPaths are the pages of nouns.
var auditPaths = map[string]struct {
	path   string
	detail bool // each has a page of its own
}{
	"customer":         {customersPath, true},
	"transaction":      {transactionsPath, true},
	"transaction_type": {typesPath, true},
	"reward":           {"/admin/rewards", true},
	"coupon":           {"/admin/coupons", true},
	"voucher":          {vouchersPath, true},
	"location":         {"/admin/locations", false},
	"staff":            {staffPath, true},
	"token":            {tokensPath, false},
	"tenant":           {businessPath, false},
}

func auditRow(by core.Actor, l audit.Line) ui.Entry {
	e := page.AuditEntry(l, by.Tenant, func(blank string) ui.Word { return auditBlank(by, l, blank) })
	e.ActorPath = auditPath + "?" + url.Values{"actor": {l.Actor}}.Encode()
	if _, known := page.AuditNouns[l.Subject]; known && l.SubjectID != "" && l.Subject != "tenant" {
		e.RecordPath = auditPath + "?" + url.Values{"subject": {l.Subject}, "subject_id": {l.SubjectID}}.Encode()
	}
	return e
}

// auditSentences say what was done. {who} did it, to what is called {name}; a sale has a
// {sale}, and a sale, a redemption and a voucher are some {customer}'s.
var auditSentences = map[string]string{
	"customer.create":            "{who} added the customer {name}.",
	"customer.edit":              "{who} changed the customer {name}.",
	"customer.adjust":            "{who} corrected the balance of {name}.",
	"customer.erase":             "{who} erased a customer: {name}.",
	"customer.download":          "{who} downloaded all data of the customer {name}.",
	"customer.export":            "{who} exported customers.",
	"customer.unsubscribe":       "{who} unsubscribed {name} from coupon e-mails.",
	"customer.subscribe":         "{who} subscribed {name} to coupon e-mails again.",
	"customer.consent":           "{name} agreed to the terms.",
	"pin.issue":                  "{who} showed a PIN.",
	"pin.take":                   "{who} took a PIN.",
	"pin.use":                    "{who} completed a sale with a PIN.",
	"pin.refuse":                 "{who} entered a PIN that was wrong, used or expired.",
	"pin.cancel":                 "{who} cancelled a PIN.",
	"import.run":                 "{who} imported customers from {name}.",
	"import.cancel":              "{who} stopped the import from {name}.",
	"transaction.void":           "{who} voided {sale} by {customer}.",
	"transaction_type.create":    "{who} added the transaction type {name}.",
	"transaction_type.edit":      "{who} changed the transaction type {name}.",
	"reward.create":              "{who} added the reward {name}.",
	"reward.edit":                "{who} changed the reward {name}.",
	"redemption.fulfil":          "{who} handed {name} over to {customer}.",
	"redemption.void":            "{who} voided the redemption of {name} by {customer}.",
	"coupon.create":              "{who} added the coupon {name}.",
	"coupon.edit":                "{who} changed the coupon {name}.",
	"coupon.send":                "{who} sent the coupon {name}.",
	"coupon.cancel_send":         "{who} cancelled a send of the coupon {name}.",
	"coupon.fail_send":           "A scheduled send of the coupon {name} failed.",
	"coupon.stop_mails":          "{who} stopped the e-mails of the coupon {name}.",
	"coupon.resume_mails":        "{who} resumed the e-mails of the coupon {name}.",
	"coupon.retry_mails":         "{who} retried failed e-mails of the coupon {name}.",
	"voucher.redeem":             "{who} redeemed the voucher {name} of {customer}.",
	"location.create":            "{who} added the location {name}.",
	"location.edit":              "{who} changed the location {name}.",
	"staff.create":               "{who} added {name} to the staff.",
	"staff.invite":               "{who} invited {name}.",
	"staff.join":                 "{name} took up the invitation.",
	"staff.rename":               "{who} changed their name.",
	"staff.set_role":             "{who} gave {name} another role.",
	"staff.deactivate":           "{who} deactivated {name}.",
	"staff.activate":             "{who} activated {name} again.",
	"staff.sign_in":              "{who} signed in.",
	"staff.sign_in_refused":      "Signing in as {name} was refused.",
	"staff.sign_out":             "{who} signed out.",
	"staff.forgot_password":      "A link for a new password was sent to {name}.",
	"staff.reset_password":       "{name} chose a new password by a link.",
	"staff.change_password":      "{who} changed their password.",
	"staff.enrol_totp":           "{who} turned on the second factor.",
	"staff.renew_recovery_codes": "{who} made new recovery codes.",
	"staff.drop_totp":            "{who} turned off the second factor of {name}.",
	"session.end":                "{who} signed out of another browser.",
	"session.end_others":         "{who} signed out everywhere else.",
	"token.create":               "{who} made the API token {name}.",
	"token.revoke":               "{who} revoked the API token {name}.",
	"tenant.edit":                "{who} changed the settings of {name}.",
	"tenant.finish_setup":        "{who} finished setting up {name}.",
	"billing.edit_details":       "{who} changed the billing details.",
}

func auditRow(by core.Actor, l audit.Line) views.AuditRow {
	zone := by.Tenant.TimeZone
	row := views.AuditRow{
		Icon: "history", Words: auditWords(by, l), When: page.Time(l.At, zone), At: l.At.UTC().Format(time.RFC3339),
		Address: l.Address, Request: l.RequestID, Made: true,
		Actor: auditBlank(by, l, "who").Text, ActorPath: auditPath + "?" + url.Values{"actor": {l.Actor}}.Encode(),
	}
	if noun, known := auditNouns[l.Subject]; known {
		row.Icon = noun.icon
		if l.SubjectID != "" && l.Subject != "tenant" {
			row.RecordPath = auditPath + "?" + url.Values{"subject": {l.Subject}, "subject_id": {l.SubjectID}}.Encode()
		}
	}
	if kind, _, _ := strings.Cut(l.Actor, ":"); kind == string(core.ByToken) {
		row.By = "by API token"
	} else if kind == string(core.ByAdmin) {
		row.By = "by the platform"
	}
	for _, ch := range l.Changes {
		row.Made = row.Made && ch.Old == nil
		row.Changes = append(row.Changes, views.AuditChange{
			Field: auditField(ch.Field), Old: auditValue(by, ch.Field, ch.Old), New: auditValue(by, ch.Field, ch.New),
		})
	}
	return row
}

// auditWords are the sentence of an entry, with what it names linked.
func auditWords(by core.Actor, l audit.Line) (words []views.Word) {
	sentence, known := auditSentences[l.Action]
	if !known { // of an action that a newer version writes
		sentence = "{who}: " + strings.NewReplacer("_", " ", ".", ", ").Replace(l.Action) + "."
	}
	for len(sentence) > 0 {
		plain, rest, found := strings.Cut(sentence, "{")
		words = append(words, views.Word{Text: plain})
		if !found {
			break
		}
		var blank string
		blank, sentence, _ = strings.Cut(rest, "}")
		words = append(words, auditBlank(by, l, blank))
	}
	return words
}

func auditBlank(by core.Actor, l audit.Line, blank string) views.Word {
	noun, record := auditNouns[l.Subject], l.Record
	path := noun.path
	if noun.detail {
// auditBlank fills a blank of a sentence, with a link to what has a page.
func auditBlank(by core.Actor, l audit.Line, blank string) ui.Word {
	pages := auditPaths[l.Subject]
	path := pages.path
	if pages.detail {
		path += "/" + l.SubjectID
	}
	if l.Subject == "tenant" && blank != "who" {
		return ui.Word{Text: "the business", Path: path}
	}
	w := page.AuditBlank(l, by.Tenant, blank)
	switch {
	case blank == "who" || l.Record == nil:
	case blank == "customer":
		w.Path = customerPath(*l.Record.CustomerID)
	default:
		w.Path = path
	}
	return w
}
