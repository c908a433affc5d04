package tenants

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	views "example.com/loyalty/views/platform/tenants"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
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
	v := views.TenantDetail{Frame: h.Frame(c, d.Name, links.Tenants, tenantCrumb()), Hosts: h.Names, Tenant: d, Invoices: invoices.Items}
	v.Badge = new(views.TenantStatus(d.Summary))
	for _, l := range log.Items {
		v.Entries = append(v.Entries, panelviews.AuditEntry(l.Line, d.Served, v.Now, func(blank string) ui.Word { return panelviews.AuditBlank(l.Line, d.Served, blank) }))
	}
	return h.Render(c, http.StatusOK, views.TenantPage(v), nil)
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
