package tenants

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/platform/tenants"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// The lengths of the lists on the page of a tenant.
const (
	shownInvoices = 5
	shownEntries  = 8
)

func (h *Handlers) showTenant(c echo.Context, d tenant.Detail) error {
	ctx, by := c.Request().Context(), page.Actor(c)
	invoices, err := h.Invoices.List(ctx, by, billing.Filter{TenantID: new(int64(d.ID))}, core.Page{Size: shownInvoices})
	if err != nil {
		return err
	}
	log, err := h.Audit.ListPlatform(ctx, by, audit.PlatformFilter{Business: &d.Slug}, core.Page{Size: shownEntries})
	if err != nil {
		return err
	}
	now, path := h.Now(), links.Tenant(d.ID)
	v := views.Tenant{
		Frame:    h.Frame(c, d.Name, links.Tenants, tenantCrumb()),
		HostPath: h.tenantPanel(d.Slug), Edit: path + "/edit",
		Sales: format.Number(d.SalesLately), Tokens: format.Count(d.LiveTokens, "active token", "active tokens"),
		Facts: []ui.Pair{
			{Name: "Host", Value: h.Names.TenantHost(d.Slug)},
			{Name: "Owner’s e-mail", Value: d.Email},
			{Name: "Country", Value: countryName(d.Country)},
			{Name: "Currency", Value: d.Currency},
			{Name: "Time zone", Value: d.TimeZone},
			{Name: "Added", Value: format.Date(d.CreatedAt, panel.PlatformZone)},
			{Name: "ID", Value: strconv.FormatInt(int64(d.ID), 10)},
		},
		Billing: []ui.Pair{
			{Name: "Plan", Value: d.PlanName},
			{Name: "Billed", Value: labelOf(cycles, string(d.BillingCycle))},
			{Name: "Payment method", Value: labelOf(paymentMethods, string(d.PaymentMethod))},
		},
	}
	v.Badge = new(tenantStatus(d.Summary))
	if d.Condition == tenant.IsSuspended {
		v.Reactivate, v.Suspended = path+"/reactivate", &views.Suspension{Reason: core.OrZero(d.SuspendReason)}
		if d.SuspendedAt != nil {
			v.Suspended.Since = panel.MomentAt(format.Ago(*d.SuspendedAt, now, panel.PlatformZone), *d.SuspendedAt)
		}
	} else {
		v.Suspend = path + "/suspend"
	}
	if d.LastActivityAt != nil {
		v.Activity = new(panel.MomentAt(format.Ago(*d.LastActivityAt, now, panel.PlatformZone), *d.LastActivityAt))
	}
	if d.CountedAt != nil {
		v.Counted = new(panel.MomentAt(format.Ago(*d.CountedAt, now, panel.PlatformZone), *d.CountedAt))
	}
	for _, u := range d.Uses {
		v.Uses = append(v.Uses, tenantUse(u))
	}
	for _, person := range d.People {
		v.People = append(v.People, tenantPerson(person, now))
	}
	h.setupLink(d, path, &v)
	v.Invoices = tenantInvoices(invoices.Items, now)
	v.InvoicesPath = page.WithQuery(links.Invoices, "tenant", strconv.FormatInt(int64(d.ID), 10))
	for _, l := range log.Items {
		v.Entries = append(v.Entries, page.AuditEntry(l.Line, d.Served, h.Now(), func(blank string) ui.Word { return page.AuditBlank(l.Line, d.Served, blank) }))
	}
	v.Zone = strings.ReplaceAll(d.TimeZone, "_", " ") + " time"
	v.AuditPath = links.PlatformAudit + "?" + url.Values{"business": {d.Slug}}.Encode()
	return h.Render(c, http.StatusOK, views.TenantPage(v), nil)
}

var useLabels = map[usage.Kind]string{usage.Customers: "Customers", usage.Staff: "Staff", usage.Sends: "Sends this month"}

func tenantUse(u usage.Use) views.TenantUse {
	v := views.TenantUse{Label: useLabels[u.Kind], Used: format.Number(u.Used), Words: "No limit"}
	if u.Limit == nil {
		return v
	}
	v.Limit, v.Near = format.Number(*u.Limit), u.NearLimit()
	part := ui.BarPart{Length: 100, Tone: ui.First}
	if u.Used < *u.Limit {
		part.Length = float64(u.Used) / float64(*u.Limit) * 100
		v.Words = format.Number(*u.Limit-u.Used) + " left"
	} else {
		part.Tone, v.Words = ui.Defective, "Limit reached"
		if over := u.Used - *u.Limit; over > 0 {
			v.Words = format.Number(over) + " over the limit"
		}
	}
	v.Bar = ui.Bar{Parts: []ui.BarPart{part}}
	return v
}

var roleNames = map[core.Role]string{core.Owner: "Owner", core.Manager: "Manager", core.Cashier: "Cashier"}

func tenantPerson(person tenant.Person, now time.Time) views.TenantPerson {
	v := views.TenantPerson{Name: person.Name, Email: person.Email, Role: roleNames[person.Role]}
	switch {
	case !person.Active:
		v.Status = &ui.Badge{Label: "Inactive", Tone: ui.Neutral}
	case person.Invited:
		v.Status = &ui.Badge{Label: "Invited", Tone: ui.Info}
	}
	if person.SignedInAt != nil {
		v.SignedIn = new(panel.MomentAt(format.Ago(*person.SignedInAt, now, panel.PlatformZone), *person.SignedInAt))
	}
	return v
}

func tenantInvoices(newest []billing.Invoice, now time.Time) (rows []views.TenantInvoice) {
	for _, i := range newest {
		rows = append(rows, views.TenantInvoice{
			Name: i.Name(), Path: links.Invoice(i.ID), Period: format.Days(i.PeriodStart, i.PeriodEnd), Total: format.Money(i.TotalCents, i.Currency), Status: panel.InvoiceBadge(i, now),
		})
	}
	return rows
}

// setupLink offers to e-mail the owner again: the invitation, or the link to the setup guide.
func (h *Handlers) setupLink(d tenant.Detail, path string, v *views.Tenant) {
	owner := d.InvitedOwner()
	switch {
	case d.Condition == tenant.IsSuspended:
	case owner != nil:
		v.Invite, v.InviteTitle, v.InviteButton = path+"/invite", "Waiting for the owner", "Send invitation again"
		v.InviteWords = owner.Email + " hasn't accepted the invitation yet. It is valid for 7 days. Sending a new one replaces it."
	case d.Condition == tenant.IsSettingUp:
		v.Invite, v.InviteTitle, v.InviteButton = path+"/invite", "Setup isn't finished", "Send setup link"
		v.InviteWords = format.Count(int64(d.SetupSteps), "step", "steps") + " of " + format.Number(int64(len(tenant.Steps))) + " done. You can e-mail the owner a link to the setup guide."
	}
}

// mailTenantOwner e-mails the owner the invitation again, or the link to the setup guide.
func (h *Handlers) mailTenantOwner(c echo.Context, d tenant.Detail) error {
	owner := d.InvitedOwner()
	if d.Condition == tenant.IsSuspended || owner == nil && d.Condition != tenant.IsSettingUp {
		return core.ErrNotFound
	}
	if err := h.Tenants.MailSetupLink(c.Request().Context(), page.Actor(c), d.ID); err != nil {
		return err
	}
	if owner != nil {
		h.Flash(c, ui.Done, "A new invitation is being e-mailed to "+owner.Email+". The old one no longer works.")
	} else {
		h.Flash(c, ui.Done, "The link to the setup guide is being e-mailed to the owner.")
	}
	return h.Redirect(c, links.Tenant(d.ID))
}
