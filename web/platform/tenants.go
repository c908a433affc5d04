package platform

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const (
	tenantsPath = home + "/tenants"
	tenantsSize = 25 // on a page of the list
)

func (p *Platform) tenantRoutes() []route {
	return []route{
		{method: get, path: tenantsPath, handle: p.listTenants},
		{method: get, path: tenantsPath + "/export.csv", handle: p.exportTenants, slow: true},
		{method: get, path: tenantsPath + "/new", handle: p.newTenant},
		{method: post, path: tenantsPath + "/new", handle: p.addTenant},
		{method: get, path: tenantsPath + "/:id", handle: p.showTenant},
		{method: get, path: tenantsPath + "/:id/edit", handle: p.tenantToEdit},
		{method: post, path: tenantsPath + "/:id/edit", handle: p.editTenant, slow: true}, // another country reads every phone number anew
		{method: get, path: tenantsPath + "/:id/suspend", handle: p.askSuspendTenant},
		{method: post, path: tenantsPath + "/:id/suspend", handle: p.suspendTenant},
		{method: get, path: tenantsPath + "/:id/reactivate", handle: p.askReactivateTenant},
		{method: post, path: tenantsPath + "/:id/reactivate", handle: p.reactivateTenant},
		{method: post, path: tenantsPath + "/:id/invite", handle: p.mailTenantOwner},
	}
}

func tenantPath(id core.TenantID) string {
	return tenantsPath + "/" + strconv.FormatInt(int64(id), 10)
}

func tenantCrumb() ui.Crumb { return ui.Crumb{Label: "Tenants", Path: tenantsPath} }

// tenantHost is the host of a tenant as people read it.
func (p *Platform) tenantHost(slug string) string {
	u, err := url.Parse(p.Names.Tenant(slug))
	if err != nil {
		return slug
	}
	return u.Host
}

// tenantPanel is the address of a tenant's panel.
func (p *Platform) tenantPanel(slug string) string { return p.Names.Tenant(slug) + page.PanelPath }

// hue picks one of the colours of the squares beside names. It stays with the tenant.
func hue(id core.TenantID) string { return strconv.FormatInt(int64(id)%8, 10) }

// conditions are the tabs of the list, in their order.
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

// tenantStatus is the condition of a tenant in words.
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

// tenantColumns are the columns of the list that it can be sorted by.
var tenantColumns = []struct {
	order tenant.SortOrder
	label string
	class string
	end   bool
	text  bool // sorted from A first, figures and instants from the highest
}{
	{order: tenant.ByName, label: "Tenant", text: true},
	{order: tenant.ByPlan, label: "Plan", class: "from-md", text: true},
	{order: tenant.ByCustomers, label: "Customers", class: "from-md", end: true},
	{order: tenant.BySales, label: "Sales, 30 days", class: "from-md", end: true},
	{order: tenant.ByActivity, label: "Last activity", class: "from-lg"},
}

// pickTenants reads the filters of the list. An order that begins with a minus is turned
// around.
func pickTenants(q *page.Form) (pick tenant.OverviewFilter, order tenant.SortOrder) {
	pick = tenant.OverviewFilter{Search: q.Filled("search"), Condition: q.Filled("status"), PlanID: q.Integer("plan"), Country: q.Filled("country"), Number: 1, Size: tenantsSize}
	order = tenant.ByActivity
	if sort := q.Value("sort"); sort != "" {
		if sort[0] == '-' {
			sort, pick.Reverse = sort[1:], true
		}
		order, pick.Order = tenant.SortOrder(sort), &sort
	}
	if number := q.Integer("page"); number != nil {
		pick.Number = *number
	}
	pick.Malformed = q.Malformed
	return pick, order
}

// listTenants makes two round trips: the tenants, and the plans to choose from.
func (p *Platform) listTenants(c echo.Context) error {
	ctx, by, q := c.Request().Context(), actor(c), page.Query(c.QueryParams())
	pick, order := pickTenants(q)
	found, err := p.Tenants.Overview(ctx, by, pick)
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.TenantList{
		Frame:    p.frame(c, "Tenants", tenantsPath),
		Fragment: page.IsFragment(c),
		Search:   q.Field("search", "Search"), Plan: q.Field("plan", "Plan"), Country: q.Field("country", "Country"),
		Filtered: pick.Search != nil || pick.Condition != nil || pick.PlanID != nil || pick.Country != nil || pick.Number > 1,
		CSV:      page.With(&url.URL{Path: tenantsPath + "/export.csv", RawQuery: c.Request().URL.RawQuery}, "page", ""),
	}
	v.Problem = q.Problem()
	v.Search.Placeholder = "Name, host or owner’s e-mail"
	for _, name := range []string{"status", "sort"} {
		if q.Filled(name) != nil {
			v.Keep = append(v.Keep, ui.Pair{Name: name, Value: q.Value(name)})
		}
	}
	// A page of a list that is filtered anew is its first one.
	here := &url.URL{Path: tenantsPath, RawQuery: c.Request().URL.RawQuery}
	first := *here
	first.RawQuery = without(here.Query(), "page")
	v.Tabs = []views.Choice{{Label: "All", Path: page.With(&first, "status", ""), Count: page.Number(found.All()), Current: pick.Condition == nil}}
	for _, k := range conditions {
		v.Tabs = append(v.Tabs, views.Choice{
			Label: k.label, Path: page.With(&first, "status", string(k.condition)), Count: page.Number(found.Counts[k.condition]),
			Current: q.Value("status") == string(k.condition),
		})
	}
	if !v.Fragment {
		if err := p.tenantFilters(ctx, by, q, found, &v); err != nil {
			return err
		}
	}
	for _, col := range tenantColumns {
		v.Heads = append(v.Heads, sortHead(&first, string(col.order), views.SortHead{Label: col.label, Class: col.class, End: col.end}, col.text, order == col.order, pick.Reverse))
	}
	now := p.Now()
	for _, t := range found.Tenants {
		v.Rows = append(v.Rows, p.tenantRow(t, now))
	}
	v.Pager = numberedPager(here, pick.Number, tenantsSize, found.Total, "#tenants")
	if found.CountedAt == nil {
		v.Pager.Shown += " · Figures are counted within 10 minutes"
	} else {
		v.Pager.Shown += " · Figures counted " + page.Ago(*found.CountedAt, now, zone)
	}
	return p.Render(c, status, views.TenantListPage(v), views.TenantTable(v))
}

// without is a query without one of its values.
func without(q url.Values, name string) string {
	q.Del(name)
	return q.Encode()
}

// tenantFilters fills the choices of the list's filters.
func (p *Platform) tenantFilters(ctx context.Context, by core.Actor, q *page.Form, found tenant.Overview, v *views.TenantList) error {
	plans, err := p.Invoices.Plans(ctx, by)
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

// countryName is a country's name in English.
func countryName(code *string) string {
	if code == nil {
		return "None"
	}
	region, err := language.ParseRegion(*code)
	if err != nil {
		return *code
	}
	return display.English.Regions().Name(region)
}

// sortHead is the head of a column. It sorts by its column, and turned around where the list
// is sorted by it already.
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

// numberedPager leads to the neighbours of a numbered page.
func numberedPager(here *url.URL, number, size, total int64, target string) ui.Pager {
	at := func(n int64) string {
		if n == 1 {
			return page.With(here, "page", "")
		}
		return page.With(here, "page", strconv.FormatInt(n, 10))
	}
	pager := ui.Pager{Target: target, Shown: page.Number((number-1)*size+1) + "–" + page.Number(min(number*size, total)) + " of " + page.Number(total)}
	if number > 1 {
		pager.Prev = at(number - 1)
	}
	if number > 2 {
		pager.First = at(1)
	}
	if number*size < total {
		pager.Next = at(number + 1)
	}
	return pager
}

func (p *Platform) tenantRow(t tenant.Summary, now time.Time) views.TenantRow {
	path := tenantPath(t.ID)
	r := views.TenantRow{
		ID: strconv.FormatInt(int64(t.ID), 10), Name: t.Name, Path: path, Host: p.tenantHost(t.Slug), Hue: hue(t.ID), Plan: t.PlanName,
		Customers: page.Number(t.Customers), Sales: page.Number(t.SalesLately), Status: tenantStatus(t),
		Panel: p.tenantPanel(t.Slug), Edit: path + "/edit",
	}
	if t.LastActivityAt != nil {
		r.Activity = new(moment(page.Ago(*t.LastActivityAt, now, zone), *t.LastActivityAt))
	}
	if t.Condition == tenant.IsSuspended {
		r.Reactivate = path + "/reactivate"
	} else {
		r.Suspend = path + "/suspend"
	}
	return r
}

// exportTenants is the list as it is filtered, as a file.
func (p *Platform) exportTenants(c echo.Context) error {
	q := page.Query(c.QueryParams())
	pick, _ := pickTenants(q)
	pick.Size = 0
	found, err := p.Tenants.Overview(c.Request().Context(), actor(c), pick)
	if err != nil {
		return err
	}
	header := []string{
		"ID", "Name", "Host", "Owner e-mail", "Plan", "Billing cycle", "Payment method", "Status", "Country", "Currency", "Time zone", "Created",
		"Customers", "Sales, 30 days", "Staff", "Sends this month", "Last activity", "Counted",
	}
	return p.CSV(c, "tenants.csv", header, func(row func(cells ...any) error) error {
		for _, t := range found.Tenants {
			err := row(
				int64(t.ID), t.Name, p.tenantHost(t.Slug), t.Email, t.PlanName, string(t.BillingCycle), string(t.PaymentMethod), string(t.Condition), text(t.Country),
				t.Currency, t.TimeZone, stamp(&t.CreatedAt), t.Customers, t.SalesLately, t.Staff, t.SendsThisMonth, stamp(t.LastActivityAt), stamp(found.CountedAt),
			)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// stamp is an instant in a file, or "" where there is none.
func stamp(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// text is a text, or "" where there is none.
func text(v *string) string {
	if v == nil {
		return ""
	}
	return *v
}

// What a tenant's form offers.
var (
	countries, currencies = page.Countries(), page.Currencies()
	cycles                = []ui.Option{{Value: string(tenant.Monthly), Label: "Monthly"}, {Value: string(tenant.Yearly), Label: "Yearly"}}
	paymentMethods        = []ui.Option{
		{Value: string(tenant.Manual), Label: "Manual"},
		{Value: string(tenant.BankTransfer), Label: "Bank transfer"},
		{Value: string(tenant.Card), Label: "Card"},
		{Value: string(tenant.Stripe), Label: "Stripe"},
		{Value: string(tenant.PayPal), Label: "PayPal"},
	}
)

// labelOf is the label of a choice.
func labelOf(options []ui.Option, value string) string {
	at := slices.IndexFunc(options, func(o ui.Option) bool { return o.Value == value })
	if at < 0 {
		return value
	}
	return options[at].Label
}

func (p *Platform) newTenant(c echo.Context) error {
	form := page.Blank(map[string]string{"billing_cycle": string(tenant.Monthly), "payment_method": string(tenant.Manual), "currency": "EUR", "timezone": "UTC"})
	return p.tenantAddForm(c, http.StatusOK, form)
}

func (p *Platform) tenantAddForm(c echo.Context, status int, form *page.Form) error {
	v := views.TenantForm{
		Frame: p.frame(c, "Add tenant", tenantsPath, tenantCrumb()), Action: tenantsPath + "/new", Cancel: tenantsPath, Button: "Add tenant", FormKey: p.NewFormKey(),
	}
	return p.tenantForm(c, status, form, v, 0)
}

// tenantForm shows the form of a tenant. One that is there may stay on its plan, also when
// that was retired.
func (p *Platform) tenantForm(c echo.Context, status int, form *page.Form, v views.TenantForm, stays int64) error {
	plans, err := p.Invoices.Plans(c.Request().Context(), actor(c))
	if err != nil {
		return err
	}
	v.Name = form.Field("name", "Name")
	v.Name.Autocomplete, v.Name.MaxLength, v.Name.Help = "off", 100, "As customers know the business."
	if v.Host == "" {
		v.Slug = form.Field("slug", "Host")
		v.Slug.Autocomplete, v.Slug.MaxLength = "off", 40
		host := p.tenantHost("name")
		v.Slug.After, v.Slug.Placeholder = host[len("name"):], "cafe-aro"
		v.Slug.Help = "3–40 of a–z, 0–9 and hyphens. It can't be changed later."
		v.Slug.Attributes = map[string]any{"autocapitalize": "none", "spellcheck": "false"}
	}
	v.Email = form.Field("email", "Owner’s e-mail")
	v.Email.Type, v.Email.Autocomplete, v.Email.MaxLength = "email", "off", 255
	v.Plan, v.Cycle, v.Payment = form.Field("plan_id", "Plan"), form.Field("billing_cycle", "Billed"), form.Field("payment_method", "Payment method")
	v.Country, v.Currency, v.TimeZone = form.Field("country", "Country"), form.Field("currency", "Currency"), form.Field("timezone", "Time zone")
	v.Problem = form.Problem()
	if stays == 0 {
		v.Email.Help = "Gets the invitation to choose a password, and the invoices."
		v.Plan.Options = []ui.Option{{Label: "Choose a plan"}}
	} else {
		v.Email.Help = "Gets the invoices and what is about the account. The owner's sign-in stays the same."
		v.Plan.Help = "A change is prorated: what was paid for the rest of the period is credited."
	}
	for _, plan := range plans {
		if plan.Retired && plan.ID != stays {
			continue
		}
		v.Plan.Options = append(v.Plan.Options, ui.Option{Value: strconv.FormatInt(plan.ID, 10), Label: planLabel(plan)})
	}
	v.Plan.Options = form.Options("plan_id", v.Plan.Options...)
	v.Cycle.Options = form.Options("billing_cycle", slices.Clone(cycles)...)
	v.Payment.Options = form.Options("payment_method", slices.Clone(paymentMethods)...)
	v.Country.Options = form.Options("country", slices.Clone(countries)...)
	v.Country.Help = "How phone numbers without a country code are read."
	v.Currency.Options = form.Options("currency", slices.Clone(currencies)...)
	v.Currency.Help = "Of its sales. The plan has its own."
	v.TimeZone.Groups = page.ZoneGroups(v.TimeZone.Value)
	return p.Render(c, status, views.TenantFormPage(v), nil)
}

// planLabel is a plan with its prices.
func planLabel(plan billing.Plan) string {
	label := plan.Name + ": " + page.Money(plan.MonthlyCents, plan.Currency) + " a month, " + page.Money(plan.YearlyCents, plan.Currency) + " a year"
	if plan.MonthlyCents == 0 && plan.YearlyCents == 0 {
		label = plan.Name + ": free"
	}
	if plan.Retired {
		label += " (retired)"
	}
	return label
}

func (p *Platform) addTenant(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	n := tenant.New{
		Name: form.Text("name"), Slug: form.Text("slug"), Email: form.Text("email"), PlanID: form.Integer("plan_id"),
		BillingCycle: form.Text("billing_cycle"), PaymentMethod: form.Text("payment_method"),
		TimeZone: form.Text("timezone"), Currency: form.Text("currency"), Country: form.Filled("country"),
	}
	n.Malformed = form.Malformed
	by := page.IdempotentActorFor(actor(c), c, form, func(t tenant.Tenant) string { return tenantPath(t.ID) })
	made, err := p.Tenants.Create(c.Request().Context(), by, n)
	if path, again := page.ReplayedPath(by, err); again {
		return p.Redirect(c, path)
	}
	if form.Refused(err) {
		return p.tenantAddForm(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, made.Name+" was added. The invitation is on its way to "+made.Email+".")
	return p.Redirect(c, tenantPath(made.ID))
}

// tenantOf is the tenant of the path.
func (p *Platform) tenantOf(c echo.Context) (tenant.Detail, error) {
	id, err := number(c)
	if err != nil {
		return tenant.Detail{}, err
	}
	return p.Tenants.Find(c.Request().Context(), actor(c), core.TenantID(id))
}

func (p *Platform) tenantToEdit(c echo.Context) error {
	d, err := p.tenantOf(c)
	if err != nil {
		return err
	}
	return p.tenantEditForm(c, http.StatusOK, d, page.Blank(map[string]string{
		"name": d.Name, "email": d.Email, "plan_id": strconv.FormatInt(d.PlanID, 10), "billing_cycle": string(d.BillingCycle),
		"payment_method": string(d.PaymentMethod), "country": text(d.Country), "currency": d.Currency, "timezone": d.TimeZone,
	}))
}

func (p *Platform) tenantEditForm(c echo.Context, status int, d tenant.Detail, form *page.Form) error {
	path := tenantPath(d.ID)
	v := views.TenantForm{
		Frame:  p.frame(c, "Edit "+d.Name, tenantsPath, tenantCrumb(), ui.Crumb{Label: d.Name, Path: path}),
		Action: path + "/edit", Cancel: path, Button: "Save tenant", Host: p.tenantHost(d.Slug), Began: form.Original(),
	}
	return p.tenantForm(c, status, form, v, d.PlanID)
}

func (p *Platform) editTenant(c echo.Context) error {
	d, err := p.tenantOf(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	changed := func(name string) core.Optional[string] {
		return core.Optional[string]{Set: form.Values.Has(name) && form.Changed(name), Value: form.Filled(name)}
	}
	e := tenant.Edit{
		Name: changed("name"), Email: changed("email"), BillingCycle: changed("billing_cycle"), PaymentMethod: changed("payment_method"),
		Country: changed("country"), Currency: changed("currency"), TimeZone: changed("timezone"),
	}
	if form.Values.Has("plan_id") && form.Changed("plan_id") {
		e.PlanID = core.Optional[int64]{Set: true, Value: form.Integer("plan_id")}
	}
	e.Malformed = form.Malformed
	// What was begun is seen through: another country reads every phone number anew.
	edited, err := p.Tenants.Edit(context.WithoutCancel(c.Request().Context()), actor(c), d.ID, e)
	if form.Refused(err) {
		return p.tenantEditForm(c, http.StatusUnprocessableEntity, d, form)
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, edited.Name+" was saved.")
	return p.Redirect(c, tenantPath(edited.ID))
}

func (p *Platform) askSuspendTenant(c echo.Context) error {
	d, err := p.tenantOf(c)
	if err != nil {
		return err
	}
	return p.confirmSuspendTenant(c, http.StatusOK, d, &page.Form{})
}

func (p *Platform) confirmSuspendTenant(c echo.Context, status int, d tenant.Detail, form *page.Form) error {
	path := tenantPath(d.ID)
	v := views.Confirm{
		Frame:   p.frame(c, "Suspend "+d.Name+"?", tenantsPath, tenantCrumb(), ui.Crumb{Label: d.Name, Path: path}),
		Confirm: ui.Confirm{Action: path + "/suspend", Cancel: path, Leave: "Back to the tenant"},
	}
	if d.Condition == tenant.IsSuspended {
		v.Problem = &ui.Problem{Sentence: tenant.ErrSuspended.Message}
		return p.Render(c, status, views.ConfirmPage(v), views.ConfirmDialog(v))
	}
	reason := form.Field("reason", "Reason")
	reason.MaxLength, reason.Autofocus, reason.Autocomplete = 500, true, "off"
	reason.Help = "The owner gets it by e-mail, and it is kept in the audit log."
	v.Reason, v.Problem = &reason, form.Problem()
	v.Button, v.Danger = "Suspend tenant", true
	v.Words = []string{
		"Its panel and till close at once, and its API tokens stop working. Customers can still see their points and vouchers.",
		"Nothing is deleted. It isn't billed again until it is reactivated.",
	}
	return p.Render(c, status, views.ConfirmPage(v), views.ConfirmDialog(v))
}

func (p *Platform) suspendTenant(c echo.Context) error {
	d, err := p.tenantOf(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	suspended, err := p.Tenants.Suspend(c.Request().Context(), actor(c), d.ID, form.Text("reason"))
	switch {
	case errors.Is(err, tenant.ErrSuspended):
		// Of two clicks the second finds it done.
		return p.Redirect(c, tenantPath(d.ID))
	case form.Refused(err):
		return p.confirmSuspendTenant(c, http.StatusUnprocessableEntity, d, form)
	case err != nil:
		return err
	}
	p.Flash(c, ui.Done, suspended.Name+" is suspended. "+suspended.Email+" gets the reason by e-mail.")
	return p.Redirect(c, tenantPath(d.ID))
}

func (p *Platform) askReactivateTenant(c echo.Context) error {
	d, err := p.tenantOf(c)
	if err != nil {
		return err
	}
	path := tenantPath(d.ID)
	v := views.Confirm{
		Frame:   p.frame(c, "Reactivate "+d.Name+"?", tenantsPath, tenantCrumb(), ui.Crumb{Label: d.Name, Path: path}),
		Confirm: ui.Confirm{Action: path + "/reactivate", Cancel: path, Leave: "Back to the tenant"},
	}
	if d.Condition != tenant.IsSuspended {
		v.Problem = &ui.Problem{Sentence: tenant.ErrNotSuspended.Message}
	} else {
		v.Button = "Reactivate tenant"
		v.Words = []string{
			"Its panel, till and API tokens work again at once, and the owner is e-mailed.",
			"Billing goes on: the days since its last period ended aren't billed.",
		}
	}
	return p.Render(c, http.StatusOK, views.ConfirmPage(v), views.ConfirmDialog(v))
}

func (p *Platform) reactivateTenant(c echo.Context) error {
	id, err := number(c)
	if err != nil {
		return err
	}
	active, err := p.Tenants.Reactivate(c.Request().Context(), actor(c), core.TenantID(id))
	if errors.Is(err, tenant.ErrNotSuspended) {
		return p.Redirect(c, tenantPath(core.TenantID(id)))
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, active.Name+" is active again. "+active.Email+" was told by e-mail.")
	return p.Redirect(c, tenantPath(active.ID))
}
