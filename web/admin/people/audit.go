package people

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	views "example.com/loyalty/views/admin/people"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

func (h *Handlers) auditRoutes() []route.Route {
	return []route.Route{route.Get(links.Audit, route.Managers, h.auditLog)}
}

func (h *Handlers) auditLog(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	filter := audit.Filter{
		Subject: q.Filled("subject"), SubjectID: q.Filled("subject_id"), Actor: q.Filled("actor"), From: q.Date("from"), To: q.Date("to"),
	}
	p := q.Position()
	list, err := h.Audit.List(ctx, by, filter, p)
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.AuditLog{
		Frame:    h.Frame(c, "Audit log", links.Audit),
		Pager:    page.Pager(list, c.Request().URL, "entry", "entries", "#audit"),
		Filter:   q,
		Filtered: filter != audit.Filter{} || p.Cursor != nil || status != http.StatusOK,
		OfRecord: filter.SubjectID != nil,
	}
	for _, l := range list.Items {
		v.Rows = append(v.Rows, auditRow(by, l, h.Now()))
	}
	showLogos(c, v.Rows)
	if len(list.Items) > 0 {
		v.Record = list.Items[0].SubjectName
	}
	if !page.IsFragment(c) {
		v.Subjects = auditSubjects(by)
		if v.People, err = h.Audit.People(ctx, by); err != nil {
			return err
		}
	}
	return h.Render(c, status, views.AuditLogPage(v), views.AuditPart(v))
}

// auditSubjects lists the types of record whose entries the person may read.
func auditSubjects(by core.Actor) (options []ui.Option) {
	last := ""
	for _, action := range audit.Actions(by) {
		if noun, _, _ := strings.Cut(action, "."); noun != last {
			options = append(options, ui.Option{Value: noun, Label: panelviews.AuditNouns[noun].Label})
			last = noun
		}
	}
	return options
}

// auditPages maps a type of record to its page, or to the list that contains it.
var auditPages = map[string]struct {
	path   string
	detail bool // each record has its own page below path
}{
	"customer":         {links.Customers, true},
	"transaction":      {links.Transactions, true},
	"transaction_type": {links.Types, true},
	"reward":           {links.Rewards, true},
	"coupon":           {links.Coupons, true},
	"voucher":          {links.Vouchers, true},
	"location":         {links.Locations, false},
	"staff":            {links.Staff, true},
	"token":            {links.Tokens, false},
	"tenant":           {links.Business, false},
	"programme":        {links.Programme, false},
}

func auditRow(by core.Actor, l audit.Line, now time.Time) ui.Entry {
	e := panelviews.AuditEntry(l, by.Tenant, now, func(blank string) ui.Word { return auditBlank(by, l, blank) })
	e.ActorPath = links.Audit + "?" + url.Values{"actor": {l.Actor}}.Encode()
	if _, known := panelviews.AuditNouns[l.Subject]; known && l.SubjectID != "" && l.Subject != "tenant" {
		e.RecordPath = links.Audit + "?" + url.Values{"subject": {l.Subject}, "subject_id": {l.SubjectID}}.Encode()
	}
	return e
}

// showLogos shows the present logo as a picture instead of its hash. Earlier ones are not kept.
func showLogos(c echo.Context, rows []ui.Entry) {
	var changes []*ui.EntryChange
	for _, r := range rows {
		for i := range r.Changes {
			if r.Changes[i].Field == "Logo" {
				changes = append(changes, &r.Changes[i])
			}
		}
	}
	current := page.Actor(c).Tenant.LogoHash
	show := func(hash string) (text, picture string) {
		switch {
		case hash == "":
			return "", ""
		case current != nil && *current == hash:
			return "Logo", links.Logo(hash)
		}
		return "Earlier logo", ""
	}
	for _, ch := range changes {
		ch.Old, ch.OldPicture = show(ch.Old)
		ch.New, ch.NewPicture = show(ch.New)
	}
}

// auditBlank fills a placeholder of an entry's sentence, with a link if the record has a page.
func auditBlank(by core.Actor, l audit.Line, blank string) ui.Word {
	subject := auditPages[l.Subject]
	path := subject.path
	if subject.detail {
		path += "/" + l.SubjectID
	}
	if l.Subject == "tenant" && blank != "who" {
		return ui.Word{Text: "the business", Path: path}
	}
	w := panelviews.AuditBlank(l, by.Tenant, blank)
	switch {
	case blank == "customer" && l.CustomerID != nil:
		w.Path = links.Customer(*l.CustomerID)
	case (blank == "name" || blank == "sale") && l.SubjectID != "":
		w.Path = path
	}
	return w
}
