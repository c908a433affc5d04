package tenants

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	views "example.com/loyalty/views/platform/tenants"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

const (
	tenantsSize = 25 // of a page
)

func (h *Handlers) tenantRoutes() []route.Route {
	tenantRoute := func(handle func(echo.Context, tenant.Detail) error) echo.HandlerFunc {
		return page.WithRecord(h.findTenant, handle)
	}
	return []route.Route{
		route.Get(links.Tenants, route.SuperAdmins, h.listTenants),
		route.Get(links.Tenants+"/export.csv", route.SuperAdmins, h.exportTenants).AsFile(),
		route.Get(links.Tenants+"/new", route.SuperAdmins, h.newTenant),
		route.Post(links.Tenants+"/new", route.SuperAdmins, h.addTenant),
		route.Get(links.TenantAddress, route.SuperAdmins, h.proposeAddress),
		route.Get(links.Tenants+"/:id", route.SuperAdmins, tenantRoute(h.showTenant)),
		route.Get(links.Tenants+"/:id/edit", route.SuperAdmins, tenantRoute(h.showTenantForm)),
		route.Post(links.Tenants+"/:id/edit", route.SuperAdmins, tenantRoute(h.editTenant)).AsFile(), // a new country parses every phone number again
		route.Get(links.Tenants+"/:id/suspend", route.SuperAdmins, tenantRoute(h.askSuspendTenant)),
		route.Post(links.Tenants+"/:id/suspend", route.SuperAdmins, tenantRoute(h.suspendTenant)),
		route.Get(links.Tenants+"/:id/reactivate", route.SuperAdmins, tenantRoute(h.askReactivateTenant)),
		route.Post(links.Tenants+"/:id/reactivate", route.SuperAdmins, h.reactivateTenant),
		route.Post(links.Tenants+"/:id/invite", route.SuperAdmins, tenantRoute(h.mailTenantOwner)),
	}
}

func tenantCrumb() ui.Crumb { return ui.Crumb{Label: "Tenants", Path: links.Tenants} }

// tenantPanel is the address of a tenant's panel.
func (h *Handlers) tenantPanel(slug string) string { return h.Names.Tenant(slug) + page.PanelPath }

// markColour numbers the colour of a tenant's square.
func markColour(id core.TenantID) string { return strconv.FormatInt(int64(id)%8, 10) }

// conditions are the tabs of the list.
var conditions = []struct {
	condition tenant.Condition
	label     string // of the tab
	status    ui.Badge
}{
	{tenant.IsActive, "Active", ui.Badge{Label: "Active", Tone: ui.Good}},
	{tenant.IsSettingUp, "Setting up", ui.Badge{Label: "Setting up", Tone: ui.Neutral}},
	{tenant.IsLate, "Late", ui.Badge{Label: "Payment late", Tone: ui.Notice}},
	{tenant.IsSuspended, "Suspended", ui.Badge{Label: "Suspended", Tone: ui.Bad}},
}

func tenantStatus(t tenant.Summary) ui.Badge {
	status := ui.Badge{Label: string(t.Condition), Tone: ui.Neutral}
	for _, known := range conditions {
		if known.condition == t.Condition {
			status = known.status
		}
	}
	if t.Condition == tenant.IsSettingUp {
		steps := len(tenant.Steps)
		status.Label = fmt.Sprintf("Setup, step %d of %d", min(t.SetupSteps+1, steps), steps)
	}
	return status
}

// tenantColumns are the sortable columns of the list.
var tenantColumns = []struct {
	order tenant.SortOrder
	label string
	class string
	end   bool
	text  bool // sorted ascending at first; numbers and times descending
}{
	{order: tenant.ByName, label: "Tenant", text: true},
	{order: tenant.ByPlan, label: "Plan", class: "from-md", text: true},
	{order: tenant.ByCustomers, label: "Customers", class: "from-md", end: true},
	{order: tenant.BySales, label: "Sales, 30 days", class: "from-md", end: true},
	{order: tenant.ByActivity, label: "Last activity", class: "from-lg"},
}

// tenantFilter reads the filters of the list. A minus before the order reverses it.
func tenantFilter(q *forms.Form) (filter tenant.OverviewFilter, order tenant.SortOrder) {
	filter = tenant.OverviewFilter{Search: q.Filled("search"), Condition: q.Filled("status"), PlanID: q.Integer("plan"), Country: q.Filled("country"), Number: 1, Size: tenantsSize}
	order = tenant.ByActivity
	if sort := q.Value("sort"); sort != "" {
		if sort[0] == '-' {
			sort, filter.Reverse = sort[1:], true
		}
		order, filter.Order = tenant.SortOrder(sort), &sort
	}
	if n := q.Integer("page"); n != nil {
		filter.Number = *n
	}
	filter.Malformed = q.Malformed
	return filter, order
}

func (h *Handlers) listTenants(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	filter, order := tenantFilter(q)
	found, err := h.Tenants.Overview(ctx, by, filter)
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.TenantList{
		Frame:    h.Frame(c, "Tenants", links.Tenants),
		Fragment: page.IsFragment(c),
		Search:   q.Field("search", ui.Field{Label: "Search"}), Plan: q.Field("plan", ui.Field{Label: "Plan"}), Country: q.Field("country", ui.Field{Label: "Country"}),
		Filtered: filter.Search != nil || filter.Condition != nil || filter.PlanID != nil || filter.Country != nil || filter.Number > 1,
		CSV:      page.With(&url.URL{Path: links.Tenants + "/export.csv", RawQuery: c.Request().URL.RawQuery}, "page", ""),
	}
	v.Problem = q.Problem()
	v.Search.Placeholder = "Name, host or owner’s e-mail"
	for _, name := range []string{"status", "sort"} {
		if q.Filled(name) != nil {
			v.Keep = append(v.Keep, ui.Pair{Name: name, Value: q.Value(name)})
		}
	}
	here := &url.URL{Path: links.Tenants, RawQuery: c.Request().URL.RawQuery}
	first := panel.WithoutQuery(here, "page") // a new filter shows the first page
	v.Tabs = []panelviews.Choice{{Label: "All", Path: page.With(first, "status", ""), Count: format.Number(found.All()), Current: filter.Condition == nil}}
	for _, k := range conditions {
		v.Tabs = append(v.Tabs, panelviews.Choice{
			Label: k.label, Path: page.With(first, "status", string(k.condition)), Count: format.Number(found.Counts[k.condition]),
			Current: q.Value("status") == string(k.condition),
		})
	}
	if !v.Fragment {
		if err := h.tenantFilters(ctx, by, q, found, &v); err != nil {
			return err
		}
	}
	for _, col := range tenantColumns {
		v.Heads = append(v.Heads, sortHead(first, string(col.order), views.SortHead{Label: col.label, Class: col.class, End: col.end}, col.text, order == col.order, filter.Reverse))
	}
	now := h.Now()
	for _, t := range found.Tenants {
		v.Rows = append(v.Rows, h.tenantRow(t, now))
	}
	v.Pager = numberedPager(here, filter.Number, tenantsSize, found.Total, "#tenants")
	if found.CountedAt == nil {
		v.Pager.Shown += " · Figures appear within 10 minutes"
	} else {
		v.Pager.Shown += " · Figures counted " + format.Ago(*found.CountedAt, now, panel.PlatformZone)
	}
	return h.Render(c, status, views.TenantListPage(v), views.TenantTable(v))
}

// tenantFilters sets the choices of the list's filters.
func (h *Handlers) tenantFilters(ctx context.Context, by core.Actor, q *forms.Form, found tenant.Overview, v *views.TenantList) error {
	plans, err := h.Invoices.Plans(ctx, by)
	if err != nil {
		return err
	}
	options := []ui.Option{{Label: "Any plan"}}
	for _, plan := range plans {
		options = append(options, ui.Option{Value: strconv.FormatInt(plan.ID, 10), Label: plan.Name})
	}
	v.Plan.Options = q.Options("plan", options...)
	options = []ui.Option{{Label: "Any country"}}
	for _, code := range found.Countries {
		options = append(options, ui.Option{Value: code, Label: countryName(&code)})
	}
	v.Country.Options = q.Options("country", options...)
	return nil
}

// countryName is the English name of a country.
func countryName(code *string) string {
	if code == nil {
		return "None"
	}
	return forms.CountryName(*code)
}

// sortHead links to the list sorted by a column, or to the reverse order if it already is.
func sortHead(here *url.URL, order string, h views.SortHead, text, current, reversed bool) views.SortHead {
	h.Path = page.With(here, "sort", order)
	if !current {
		return h
	}
	if !reversed {
		h.Path = page.With(here, "sort", "-"+order)
	}
	h.Sorted = "descending"
	if text != reversed {
		h.Sorted = "ascending"
	}
	return h
}

// numberedPager links to the neighbouring pages by number.
func numberedPager(here *url.URL, number, size, total int64, target string) ui.Pager {
	path := func(n int64) string {
		if n == 1 {
			return page.With(here, "page", "")
		}
		return page.With(here, "page", strconv.FormatInt(n, 10))
	}
	pager := ui.Pager{Target: target, Shown: format.Number((number-1)*size+1) + "–" + format.Number(min(number*size, total)) + " of " + format.Number(total)}
	if number > 1 {
		pager.Prev = path(number - 1)
	}
	if number > 2 {
		pager.First = path(1)
	}
	if number*size < total {
		pager.Next = path(number + 1)
	}
	return pager
}

func (h *Handlers) tenantRow(t tenant.Summary, now time.Time) views.TenantRow {
	path := links.Tenant(t.ID)
	r := views.TenantRow{
		ID: strconv.FormatInt(int64(t.ID), 10), Name: t.Name, Path: path, Host: h.Names.TenantHost(t.Slug), Colour: markColour(t.ID), Plan: t.PlanName,
		Customers: format.Number(t.Customers), Sales: format.Number(t.SalesLately), Status: tenantStatus(t),
		Panel: h.tenantPanel(t.Slug), Edit: path + "/edit", Added: format.Ago(t.CreatedAt, now, panel.PlatformZone),
	}
	if t.LastActivityAt != nil {
		r.Activity = new(panel.MomentAt(format.Ago(*t.LastActivityAt, now, panel.PlatformZone), *t.LastActivityAt))
	}
	if t.Condition == tenant.IsSuspended {
		r.Reactivate = path + "/reactivate"
	} else {
		r.Suspend = path + "/suspend"
	}
	return r
}

// exportTenants answers with the filtered list as a file.
func (h *Handlers) exportTenants(c echo.Context) error {
	q := forms.Query(c.QueryParams())
	filter, _ := tenantFilter(q)
	filter.Size = 0
	found, err := h.Tenants.Overview(c.Request().Context(), page.Actor(c), filter)
	if err != nil {
		return err
	}
	header := []string{
		"ID", "Name", "Host", "Owner e-mail", "Plan", "Billing cycle", "Payment method", "Status", "API status", "Country", "Currency", "Time zone", "Created",
		"Customers", "Sales, 30 days", "Staff", "Sends this month", "Last activity", "Counted",
	}
	return h.CSV(c, "tenants.csv", header, func(row func(cells ...any) error) error {
		for _, t := range found.Tenants {
			err := row(
				int64(t.ID), t.Name, h.Names.TenantHost(t.Slug), t.Email, t.PlanName, string(t.BillingCycle), string(t.PaymentMethod), string(t.Condition), string(t.Condition.Status()),
				core.OrZero(t.Country), t.Currency, t.TimeZone, formatTimestamp(&t.CreatedAt), t.Customers, t.SalesLately, t.Staff, t.SendsThisMonth, formatTimestamp(t.LastActivityAt), formatTimestamp(found.CountedAt),
			)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func formatTimestamp(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// labelOf is the label of a choice.
func labelOf(options []ui.Option, value string) string {
	at := slices.IndexFunc(options, func(o ui.Option) bool { return o.Value == value })
	if at < 0 {
		return value
	}
	return options[at].Label
}

func (h *Handlers) findTenant(c echo.Context) (tenant.Detail, error) {
	id, err := panel.PathNumber(c)
	if err != nil {
		return tenant.Detail{}, err
	}
	return h.Tenants.Find(c.Request().Context(), page.Actor(c), core.TenantID(id))
}
