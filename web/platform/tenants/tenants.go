package tenants

import (
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/platform/tenants"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

const tenantsSize = 25 // of a page

func (h *Handlers) tenantRoutes() []route.Route {
	tenantRoute := func(handle func(echo.Context, tenant.Detail) error) echo.HandlerFunc {
		return page.WithRecord(h.findTenant, handle)
	}
	return []route.Route{
		route.Get(links.Tenants, route.SuperAdmins, h.listTenants),
		route.Get(links.Tenants+"/export.csv", route.SuperAdmins, h.exportTenants).AsFile(),
		route.Get(links.NewTenant, route.SuperAdmins, h.newTenant),
		route.Post(links.NewTenant, route.SuperAdmins, h.addTenant),
		route.Get(links.NewTestBusiness, route.SuperAdmins, h.askTestBusiness),
		route.Post(links.NewTestBusiness, route.SuperAdmins, h.makeTestBusiness).AsFile(), // adds hundreds of records
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

// crumbsOf lead to the page of a tenant.
func crumbsOf(d tenant.Detail) []ui.Crumb {
	return []ui.Crumb{tenantCrumb(), {Label: d.Name, Path: links.Tenant(d.ID)}}
}

// tenantFilter reads the filters of the list. A minus before the order reverses it.
func tenantFilter(q *forms.Form) tenant.OverviewFilter {
	filter := tenant.OverviewFilter{
		Search: q.Filled("search"), Condition: q.Filled("status"), PlanID: q.Integer("plan"), Country: q.Filled("country"), Number: 1, Size: tenantsSize,
	}
	if order, reverse := strings.CutPrefix(q.Value("sort"), "-"); q.Value("sort") != "" {
		filter.Order, filter.Reverse = &order, reverse
	}
	if n := q.Integer("page"); n != nil {
		filter.Number = *n
	}
	filter.Malformed = q.Malformed
	return filter
}

func (h *Handlers) listTenants(c echo.Context) error {
	ctx, by, q := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams())
	filter := tenantFilter(q)
	found, err := h.Tenants.Overview(ctx, by, filter)
	status, err := q.Status(err)
	if err != nil {
		return err
	}
	v := views.TenantList{
		Frame: h.Frame(c, "Tenants", links.Tenants), Hosts: h.Names, Form: q, Asked: filter, Found: found,
		First: panel.WithoutQuery(c.Request().URL, "page"), Fragment: page.IsFragment(c),
	}
	if !v.Fragment {
		if v.Plans, err = h.Invoices.Plans(ctx, by); err != nil {
			return err
		}
	}
	return h.Render(c, status, views.TenantListPage(v), views.TenantTable(v))
}

// exportTenants answers with the filtered list as a file.
func (h *Handlers) exportTenants(c echo.Context) error {
	q := forms.Query(c.QueryParams())
	filter := tenantFilter(q)
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

func (h *Handlers) findTenant(c echo.Context) (tenant.Detail, error) {
	id, err := panel.PathNumber(c)
	if err != nil {
		return tenant.Detail{}, err
	}
	return h.Tenants.Find(c.Request().Context(), page.Actor(c), core.TenantID(id))
}
