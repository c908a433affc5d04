package tenants

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	views "example.com/loyalty/views/platform/tenants"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

func (h *Handlers) newTenant(c echo.Context) error {
	form := forms.Blank(map[string]string{"billing_cycle": string(tenant.Monthly), "payment_method": string(tenant.Manual)})
	return h.tenantForm(c, http.StatusOK, nil, form)
}

// tenantForm shows the form of a new tenant, or of an existing one.
func (h *Handlers) tenantForm(c echo.Context, status int, old *tenant.Detail, form *forms.Form) error {
	plans, err := h.Invoices.Plans(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	v := views.TenantForm{
		Frame: h.Frame(c, "Add tenant", links.Tenants, tenantCrumb()), Hosts: h.Names, Form: form, FormKey: h.NewFormKey(), Old: old, Plans: plans,
		Countries: forms.Countries(), Currencies: forms.Currencies(core.OrZero(old).Currency), Zones: forms.ZoneGroups(form.Value("timezone")),
	}
	if old != nil {
		v.Title, v.Crumbs = "Edit "+old.Name, crumbsOf(*old)
	} else {
		forms.ProposeByCountry(v.Countries)
		if err := h.proposeSlug(c, form); err != nil {
			return err
		}
	}
	return h.Render(c, status, views.TenantFormPage(v), nil)
}

// proposedField has the address that was proposed.
const proposedField = "proposed"

// proposeSlug fills in the address of a new tenant, made of the name, unless the person has entered one.
func (h *Handlers) proposeSlug(c echo.Context, form *forms.Form) error {
	name, slug := form.Value("name"), form.Value("slug")
	if name == "" || slug != "" && slug != form.Value(proposedField) {
		return nil
	}
	proposed, err := h.Tenants.ProposeSlug(c.Request().Context(), page.Actor(c), name)
	form.Values.Set("slug", proposed)
	form.Values.Set(proposedField, proposed)
	return err
}

// proposeAddress answers with the field of the address while the name is typed, or with 204 if the person has
// entered one.
func (h *Handlers) proposeAddress(c echo.Context) error {
	if !page.IsFragment(c) {
		return h.Redirect(c, links.NewTenant)
	}
	form := forms.Query(c.QueryParams())
	if entered := form.Value("slug"); entered != "" && entered != form.Value(proposedField) {
		return c.NoContent(http.StatusNoContent)
	}
	form.Values.Del("slug")
	if err := h.proposeSlug(c, form); err != nil {
		return err
	}
	field := views.Address(form, h.Names)
	return h.Render(c, http.StatusOK, field, field)
}

func (h *Handlers) addTenant(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[tenant.Tenant]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[tenant.Tenant]) (core.Reply[tenant.Tenant], error) {
			n := tenant.New{
				Name: form.Value("name"), Slug: form.Value("slug"), Email: form.Value("email"), PlanID: form.Number("plan_id"),
				BillingCycle: form.Value("billing_cycle"), PaymentMethod: form.Value("payment_method"), Country: form.Value("country"),
			}
			form.Require("country")
			region := tenant.RegionOf(form.Value("country"))
			n.Currency, n.TimeZone = cmp.Or(form.Value("currency"), region.Currency), cmp.Or(form.Value("timezone"), region.TimeZone)
			n.Malformed = form.Malformed
			return h.Tenants.Create(ctx, by, n, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.tenantForm(c, status, nil, form) },
		To:      func(t tenant.Tenant) string { return links.Tenant(t.ID) },
		Done: func(t tenant.Tenant) string {
			return t.Name + " was added. The invitation is being e-mailed to " + t.Email + "."
		},
	})
}

func (h *Handlers) showTenantForm(c echo.Context, d tenant.Detail) error {
	return h.tenantForm(c, http.StatusOK, &d, forms.Blank(map[string]string{
		"name": d.Name, "email": d.Email, "plan_id": strconv.FormatInt(d.PlanID, 10), "billing_cycle": string(d.BillingCycle),
		"payment_method": string(d.PaymentMethod), "country": core.OrZero(d.Country), "currency": d.Currency, "timezone": d.TimeZone,
	}))
}

func (h *Handlers) editTenant(c echo.Context, d tenant.Detail) error {
	var change *tenant.CurrencyChangeError
	return page.Submit(h.Kit, c, page.Submission[tenant.Tenant]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (tenant.Tenant, error) {
			e := tenant.Edit{
				Name: panel.SentText(form, "name"), Email: panel.SentText(form, "email"),
				BillingCycle: panel.SentText(form, "billing_cycle"), PaymentMethod: panel.SentText(form, "payment_method"),
				Country: panel.SentText(form, "country"), Currency: panel.SentText(form, "currency"), TimeZone: panel.SentText(form, "timezone"),
			}
			if form.Values.Has("plan_id") && form.Changed("plan_id") {
				e.PlanID = core.Optional[int64]{Set: true, Value: form.Integer("plan_id")}
			}
			e.Malformed = form.Malformed
			// A new country parses every phone number again, which takes a while. It completes even if
			// the browser leaves.
			e.Confirmed = new(form.Value(forms.ConfirmedCurrency))
			edited, err := h.Tenants.Edit(context.WithoutCancel(ctx), by, d.ID, e)
			return edited, forms.CurrencyChange(err, &change)
		},
		Refused: func(status int, form *forms.Form) error {
			if change != nil {
				path := links.Tenant(d.ID) + "/edit"
				return h.Render(c, http.StatusOK, panelviews.CurrencyConfirmPage(panelviews.CurrencyConfirm{
					Frame:           h.Frame(c, "Change currency to "+change.To+"?", links.Tenants, crumbsOf(d)...),
					ConfirmCurrency: forms.ConfirmCurrency(change, form, path, path),
				}), nil)
			}
			return h.tenantForm(c, status, &d, form)
		},
		To:   page.To[tenant.Tenant](links.Tenant(d.ID)),
		Done: func(t tenant.Tenant) string { return t.Name + " was saved." },
	})
}
