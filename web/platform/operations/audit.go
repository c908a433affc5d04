package operations

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/platform/operations"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const (
	offeredBusinesses = 50
)

func (h *Handlers) auditRoutes() []route.Route {
	return []route.Route{route.Get(links.PlatformAudit, route.SuperAdmins, h.auditLog)}
}

func (h *Handlers) auditLog(c echo.Context) error {
	q := forms.Query(c.QueryParams())
	filter := audit.PlatformFilter{
		Filter:   audit.Filter{Subject: q.Filled("subject"), Action: q.Filled("action"), Actor: q.Filled("actor"), From: q.Date("from"), To: q.Date("to")},
		Business: q.Filled("business"), Person: q.Filled("person"),
	}
	position := q.Position()
	list, err := h.Audit.ListPlatform(c.Request().Context(), page.Actor(c), filter, position)
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.AuditLog{
		Frame:    h.Frame(c, "Audit log", links.PlatformAudit),
		Pager:    page.Pager(list, c.Request().URL, "entry", "entries", ""),
		Filtered: filter != audit.PlatformFilter{} || position.Cursor != nil,
	}
	for _, l := range list.Items {
		v.Rows = append(v.Rows, h.auditRow(l))
	}
	if filter.Actor != nil {
		v.Hidden = []ui.Pair{{Name: "actor", Value: *filter.Actor}}
		v.Actor = "this person or token"
		if len(list.Items) > 0 {
			v.Actor = page.AuditActor(list.Items[0].Line).Text
		}
	}
	v.Subject, v.Business, v.Person = q.Field("subject", ui.Field{Label: "What"}), q.Field("business", ui.Field{Label: "Business"}), q.Field("person", ui.Field{Label: "Person"})
	v.Subject.Options = q.Options("subject", auditSubjects()...)
	v.Business.Placeholder, v.Business.MaxLength = "Subdomain", 255
	if v.Business.Suggestions, err = h.newestSlugs(c); err != nil {
		return err
	}
	v.Person.Placeholder, v.Person.MaxLength = "E-mail of a person", 255
	v.From, v.To = q.Field("from", ui.Field{Label: "From"}), q.Field("to", ui.Field{Label: "To"})
	v.Problem = q.Problem()
	return h.Render(c, status, views.AuditLogPage(v), nil)
}

// newestSlugs are offered while a business is typed. There may be more businesses than a list of choices holds.
func (h *Handlers) newestSlugs(c echo.Context) (slugs []string, err error) {
	newest, err := h.Tenants.List(c.Request().Context(), page.Actor(c), tenant.Filter{}, core.Page{Size: offeredBusinesses})
	for _, t := range newest.Items {
		slugs = append(slugs, t.Slug)
	}
	return slugs, err
}

func auditSubjects() []ui.Option {
	options := []ui.Option{{Label: "Everything"}}
	for _, noun := range audit.PlatformNouns() {
		options = append(options, ui.Option{Value: noun, Label: page.AuditNouns[noun].Label})
	}
	return options
}

func (h *Handlers) auditRow(l audit.PlatformLine) ui.Entry {
	utc := l.Tenant
	utc.TimeZone = nil // so that the entries of all businesses are in one order of days
	e := page.AuditEntry(l.Line, utc, h.Now(), func(blank string) ui.Word {
		w := page.AuditBlank(l.Line, l.Tenant, blank)
		if tenant := auditTenant(l); blank == "name" && l.Subject == "tenant" && tenant != 0 {
			w.Path = links.Tenant(core.TenantID(tenant))
		}
		return w
	})
	e.Tenant = "Platform"
	if l.Tenant.ID != 0 {
		e.Tenant = l.Tenant.Name
		e.RecordPath = links.PlatformAudit + "?" + url.Values{"business": {l.Tenant.Slug}}.Encode()
		e.RecordLabel = "All at " + l.Tenant.Name
	}
	e.ActorPath = links.PlatformAudit + "?" + url.Values{"actor": {l.Actor}}.Encode()
	if strings.HasPrefix(l.Actor, string(core.ByAdmin)) && l.Tenant.ID == 0 {
		e.By = ""
	}
	return e
}

// auditTenant is the business that an entry is about, or 0.
func auditTenant(l audit.PlatformLine) int64 {
	id, _ := strconv.ParseInt(l.SubjectID, 10, 64)
	return id
}
