package operations

import (
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	views "example.com/loyalty/views/platform/operations"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

// suggestedBusinesses is how many businesses are suggested while one is typed: there may be more than a list of choices holds.
const suggestedBusinesses = 50

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
	slugs, err := h.newestSlugs(c)
	if err != nil {
		return err
	}
	v := views.AuditLog{
		Frame: h.Frame(c, "Audit log", links.PlatformAudit), Form: q, Asked: filter, Subjects: auditSubjects(), Slugs: slugs,
		Pager:    page.Pager(list, c.Request().URL, "entry", "entries", ""),
		Filtered: filter != audit.PlatformFilter{} || position.Cursor != nil,
	}
	for _, l := range list.Items {
		v.Entries = append(v.Entries, auditEntry(l, v.Now))
	}
	return h.Render(c, status, views.AuditLogPage(v), nil)
}

func (h *Handlers) newestSlugs(c echo.Context) (slugs []string, err error) {
	newest, err := h.Tenants.List(c.Request().Context(), page.Actor(c), tenant.Filter{}, core.Page{Size: suggestedBusinesses})
	for _, t := range newest.Items {
		slugs = append(slugs, t.Slug)
	}
	return slugs, err
}

func auditSubjects() []ui.Option {
	options := []ui.Option{{Label: "Everything"}}
	for _, noun := range audit.PlatformNouns() {
		options = append(options, ui.Option{Value: noun, Label: panelviews.AuditNouns[noun].Label})
	}
	return options
}

func auditEntry(l audit.PlatformLine, now time.Time) ui.Entry {
	utc := l.Tenant
	utc.TimeZone = nil // one time zone for all businesses, so that no day is listed twice
	e := panelviews.AuditEntry(l.Line, utc, now, func(blank string) ui.Word {
		w := panelviews.AuditBlank(l.Line, l.Tenant, blank)
		if id, err := strconv.ParseInt(l.SubjectID, 10, 64); blank == "name" && l.Subject == "tenant" && err == nil {
			w.Path = links.Tenant(core.TenantID(id))
		}
		return w
	})
	e.Tenant = "Platform"
	if l.Tenant.ID != 0 {
		e.Tenant, e.RecordPath, e.RecordLabel = l.Tenant.Name, links.AuditOfTenant(l.Tenant.Slug), "All at "+l.Tenant.Name
	}
	e.ActorPath = links.WithQuery(links.PlatformAudit, "actor", l.Actor)
	if strings.HasPrefix(l.Actor, string(core.ByAdmin)) && l.Tenant.ID == 0 {
		e.By = ""
	}
	return e
}
