package platform

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/platform"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

func (p *Platform) askSuspendTenant(c echo.Context, d tenant.Detail) error {
	return p.confirmSuspendTenant(c, http.StatusOK, d, &forms.Form{})
}

func (p *Platform) confirmSuspendTenant(c echo.Context, status int, d tenant.Detail, form *forms.Form) error {
	v := p.tenantConfirm(c, d, "Suspend")
	if d.Condition == tenant.IsSuspended {
		v.Problem = &ui.Problem{Sentence: tenant.ErrSuspended.Message}
		return p.confirm(c, status, v)
	}
	reason := form.Field("reason", "Reason")
	reason.MaxLength, reason.Autofocus, reason.Autocomplete = 500, true, "off"
	reason.Help = "E-mailed to the owner and kept in the audit log"
	v.Reason, v.Problem = &reason, form.Problem()
	v.Button, v.Danger = "Suspend tenant", true
	v.Words = []string{
		"Its panel and till close at once, and its API tokens stop working. Customers still see their points and vouchers.",
		"Nothing is deleted. It isn't billed until you reactivate it.",
	}
	return p.confirm(c, status, v)
}

// tenantConfirm is a confirmation without a button.
func (p *Platform) tenantConfirm(c echo.Context, d tenant.Detail, verb string) views.Confirm {
	path := tenantPath(d.ID)
	return views.Confirm{
		Frame:   p.frame(c, verb+" "+d.Name+"?", tenantsPath, tenantCrumb(), ui.Crumb{Label: d.Name, Path: path}),
		Confirm: ui.Confirm{Action: path + "/" + strings.ToLower(verb), Cancel: path, Leave: "Back to tenant"},
	}
}

func (p *Platform) suspendTenant(c echo.Context, d tenant.Detail) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	suspended, err := p.Tenants.Suspend(c.Request().Context(), page.Actor(c), d.ID, form.Text("reason"))
	switch {
	case errors.Is(err, tenant.ErrSuspended): // a second click
		return p.Redirect(c, tenantPath(d.ID))
	case form.Refused(err):
		return p.confirmSuspendTenant(c, http.StatusUnprocessableEntity, d, form)
	case err != nil:
		return err
	}
	p.Flash(c, ui.Done, suspended.Name+" was suspended. "+suspended.Email+" gets the reason by e-mail.")
	return p.Redirect(c, tenantPath(d.ID))
}

func (p *Platform) askReactivateTenant(c echo.Context, d tenant.Detail) error {
	v := p.tenantConfirm(c, d, "Reactivate")
	if d.Condition != tenant.IsSuspended {
		v.Problem = &ui.Problem{Sentence: tenant.ErrNotSuspended.Message}
	} else {
		v.Button = "Reactivate tenant"
		v.Words = []string{
			"Its panel, till and API tokens work again at once. The owner is e-mailed.",
			"Billing resumes. The days since its last period ended aren't billed.",
		}
	}
	return p.confirm(c, http.StatusOK, v)
}

func (p *Platform) reactivateTenant(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	path := tenantPath(core.TenantID(id))
	active, err := p.Tenants.Reactivate(c.Request().Context(), page.Actor(c), core.TenantID(id))
	if errors.Is(err, tenant.ErrNotSuspended) { // a second click
		return p.Redirect(c, path)
	}
	if err != nil {
		return err
	}
	p.Flash(c, ui.Done, active.Name+" was reactivated. "+active.Email+" is being e-mailed.")
	return p.Redirect(c, path)
}
