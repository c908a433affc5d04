package setup

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/admin/setup"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

func (h *Handlers) showSetupBusiness(c echo.Context) error {
	return h.setupBusiness(c, http.StatusOK, nil)
}

func (h *Handlers) setupBusiness(c echo.Context, status int, form *forms.Form) error {
	by := page.Actor(c)
	s, err := h.setupOf(c)
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
	v := views.SetupBusiness{
		Setup:   h.setupFrame(c, s, tenant.BusinessStep),
		Country: form.Field("country", ui.Field{Label: "Country"}), Currency: form.Field("currency", ui.Field{Label: "Currency"}), TimeZone: form.Field("timezone", ui.Field{Label: "Time zone"}),
		Example: h.businessExample(c, form),
	}
	v.Problem, v.Began = form.Problem(), form.Original()
	v.Country.Options = form.Options("country", slices.Clone(panel.Countries)...)
	if !s.Done(tenant.BusinessStep) {
		forms.ProposeByCountry(v.Country.Options)
	}
	if v.Phones, err = h.PhoneConflicts(c, form); err != nil {
		return err
	}
	v.Country.Help = "For phone numbers without a country code"
	v.Currency.Options = form.Options("currency", forms.Currencies(settings.Currency)...)
	v.Currency.Help = "Can't be changed after your first sale"
	if settings.HasSales {
		v.Currency.ReadOnly, v.Currency.Value = true, settings.Currency
	}
	v.TimeZone.Groups = panel.ZoneGroups(form.Value("timezone"))
	v.TimeZone.Help = "Sets when a day starts and ends"
	return h.Render(c, status, views.SetupBusinessPage(v), nil)
}

// businessExample shows an amount, a time and a phone number by the chosen country, currency and time
// zone.
func (h *Handlers) businessExample(c echo.Context, form *forms.Form) views.SetupExample {
	v := views.SetupExample{Title: "With these settings"}
	by := page.Actor(c)
	if currency := form.Value("currency"); core.IsCurrency(currency) {
		v.Rows = append(v.Rows, ui.Pair{Name: "Amount", Value: format.Money(defaultUnit(currency)*249/10, currency)})
	}
	zone, err := core.Zone(form.Value("timezone"))
	if err != nil {
		zone = by.Tenant.TimeZone
	}
	v.Rows = append(v.Rows, ui.Pair{Name: "Current time", Value: format.Time(h.Now(), zone)})
	v.Note = "Without a country, phone numbers need their country code: +46 70 123 45 67."
	if country := form.Value("country"); country != "" {
		v.Note = "Phone numbers without a country code are read as numbers in " + optionLabel(panel.Countries, country) + "."
	}
	return v
}

func (h *Handlers) previewSetupBusiness(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	if page.IsFragment(c) {
		return h.Render(c, http.StatusOK, views.SetupExampleCard(h.businessExample(c, form)), nil)
	}
	return h.setupBusiness(c, http.StatusOK, form)
}

func (h *Handlers) saveSetupBusiness(c echo.Context) error {
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
			return h.setupBusiness(c, status, form)
		},
		To:   func(s tenant.Setup) string { return links.SetupStep(s.NextAfter(tenant.BusinessStep)) },
		Done: func(tenant.Setup) string { return "Saved" },
	})
}
