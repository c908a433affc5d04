package tenants

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

func (h *Handlers) askSuspendTenant(c echo.Context, d tenant.Detail) error {
	return h.confirmSuspendTenant(c, http.StatusOK, d, &forms.Form{})
}

func (h *Handlers) confirmSuspendTenant(c echo.Context, status int, d tenant.Detail, form *forms.Form) error {
	v := h.tenantConfirm(c, d, "Suspend")
	if d.Condition == tenant.IsSuspended {
		v.Problem = &ui.Problem{Sentence: tenant.ErrSuspended.Message}
		return h.Confirm(c, status, v)
	}
	reason := form.Field("reason", ui.Field{Label: "Reason", Help: "E-mailed to the owner and kept in the audit log", MaxLength: 500, Autofocus: true, Autocomplete: "off"})
	v.Reason, v.Problem = &reason, form.Problem()
	v.Button, v.Danger = "Suspend tenant", true
	v.Words = []string{
		"Its panel and till close at once, and its API tokens stop working. Customers still see their points and vouchers.",
		"Nothing is deleted. It isn't billed until you reactivate it.",
	}
	return h.Confirm(c, status, v)
}

// tenantConfirm is a confirmation without a button.
func (h *Handlers) tenantConfirm(c echo.Context, d tenant.Detail, verb string) panelviews.Confirm {
	path := links.Tenant(d.ID)
	return panelviews.Confirm{
		Frame:   h.Frame(c, verb+" "+d.Name+"?", links.Tenants, crumbsOf(d)...),
		Confirm: ui.Confirm{Action: path + "/" + strings.ToLower(verb), Cancel: path, Leave: "Back to tenant"},
	}
}

func (h *Handlers) suspendTenant(c echo.Context, d tenant.Detail) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	suspended, err := h.Tenants.Suspend(c.Request().Context(), page.Actor(c), d.ID, form.Value("reason"))
	switch {
	case errors.Is(err, tenant.ErrSuspended): // a second click
		return h.Redirect(c, links.Tenant(d.ID))
	case form.Refused(err):
		return h.confirmSuspendTenant(c, http.StatusUnprocessableEntity, d, form)
	case err != nil:
		return err
	}
	h.Flash(c, ui.Done, suspended.Name+" was suspended. "+suspended.Email+" gets the reason by e-mail.")
	return h.Redirect(c, links.Tenant(d.ID))
}

func (h *Handlers) askReactivateTenant(c echo.Context, d tenant.Detail) error {
	v := h.tenantConfirm(c, d, "Reactivate")
	if d.Condition != tenant.IsSuspended {
		v.Problem = &ui.Problem{Sentence: tenant.ErrNotSuspended.Message}
	} else {
		v.Button = "Reactivate tenant"
		v.Words = []string{
			"Its panel, till and API tokens work again at once. The owner is e-mailed.",
			"Billing resumes. The days since its last period ended aren't billed.",
		}
	}
	return h.Confirm(c, http.StatusOK, v)
}

func (h *Handlers) reactivateTenant(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	path := links.Tenant(core.TenantID(id))
	active, err := h.Tenants.Reactivate(c.Request().Context(), page.Actor(c), core.TenantID(id))
	if errors.Is(err, tenant.ErrNotSuspended) { // a second click
		return h.Redirect(c, path)
	}
	if err != nil {
		return err
	}
	h.Flash(c, ui.Done, active.Name+" was reactivated. "+active.Email+" is being e-mailed.")
	return h.Redirect(c, path)
}
