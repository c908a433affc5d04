package setup

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/admin/setup"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

func (h *Handlers) showBusiness(c echo.Context) error {
	return h.business(c, http.StatusOK, nil)
}

func (h *Handlers) business(c echo.Context, status int, form *forms.Form) error {
	by := page.Actor(c)
	s, err := h.progress(c)
	if err != nil {
		return err
	}
	settings, err := h.Tenants.Settings(c.Request().Context(), by)
	if err != nil {
		return err
	}
	if form == nil {
		form = forms.Blank(map[string]string{"country": core.OrZero(settings.Country), "timezone": settings.TimeZone, "currency": settings.Currency})
	}
	countries := forms.Countries()
	if !s.Done(tenant.BusinessStep) {
		forms.ProposeByCountry(countries)
	}
	v := views.Business{
		Guide: h.guide(c, s, tenant.BusinessStep), Form: form, Stored: settings, Example: h.businessExample(c, form),
		Countries: countries, Currencies: forms.Currencies(settings.Currency), TimeZones: forms.ZoneGroups(form.Value("timezone")),
	}
	if v.Phones, err = h.PhoneConflicts(c, form); err != nil {
		return err
	}
	return h.Render(c, status, views.BusinessPage(v), nil)
}

// businessExample shows the choices on the form with the amount of an ordinary sale.
func (h *Handlers) businessExample(c echo.Context, form *forms.Form) views.Example {
	return views.BusinessExample(h.Reader(c), form, defaultUnit(form.Value("currency"))*249/10)
}

func (h *Handlers) previewBusiness(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	if page.IsFragment(c) {
		return h.Render(c, http.StatusOK, views.ExampleCard(h.businessExample(c, form)), nil)
	}
	return h.business(c, http.StatusOK, form)
}

func (h *Handlers) saveBusiness(c echo.Context) error {
	var change *tenant.CurrencyChangeError
	return page.Submit(h.Kit, c, page.Submission[tenant.Setup]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (tenant.Setup, error) {
			form.Require("country")
			_, err := h.Tenants.EditSettings(ctx, by, tenant.SettingsEdit{
				Country: panel.SentText(form, "country"), TimeZone: panel.SentText(form, "timezone"), Currency: panel.SentText(form, "currency"),
				Confirmed: form.Value(forms.ConfirmedCurrency), Malformed: form.Malformed,
			})
			if err != nil {
				return tenant.Setup{}, forms.CurrencyChange(err, &change)
			}
			return h.Tenants.ConfirmBusiness(ctx, by)
		},
		Refused: func(status int, form *forms.Form) error {
			if change != nil {
				path := links.SetupStep(tenant.BusinessStep)
				return h.ConfirmCurrency(c, change, form, path, ui.Crumb{Label: "Setup", Path: path})
			}
			return h.business(c, status, form)
		},
		To:   func(s tenant.Setup) string { return links.SetupStep(s.NextAfter(tenant.BusinessStep)) },
		Done: func(tenant.Setup) string { return "Saved" },
	})
}
