package settings

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/admin/settings"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) businessRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Business, route.Owners, h.showBusiness),
		// A new country re-reads every customer's phone number.
		route.Post(links.Business, route.Owners, h.editBusiness).AsFile(),
		route.Post(links.PhoneOptional, route.Owners, h.setPhoneOptional),
		route.Post(links.Joining, route.Owners, h.editJoining),
		route.Post(links.Branding, route.Owners, h.editBranding).AsFile(),
		route.Get(links.BrandingPreview, route.Owners, h.previewBranding),
		route.Get(page.BrandingPath, route.Everyone, h.brandingCSS),
		route.Get(links.Logos+"/:hash", route.Everyone, h.logo),
	}
}

func (h *Handlers) showBusiness(c echo.Context) error {
	return h.businessPage(c, http.StatusOK, businessForms{})
}

// businessForms are the page's forms. A nil form shows the stored values.
type businessForms struct{ details, joining, branding *forms.Form }

func (h *Handlers) businessPage(c echo.Context, status int, sent businessForms) error {
	s, err := h.Tenants.Settings(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	if sent.details == nil {
		sent.details = forms.Blank(map[string]string{"name": s.Name, "country": core.OrZero(s.Country), "timezone": s.TimeZone, "currency": s.Currency, "confirm_above_cents": ""})
		if s.ConfirmAboveCents != nil {
			sent.details.SetAmount("confirm_above_cents", *s.ConfirmAboveCents, s.Currency)
		}
	}
	if sent.joining == nil {
		sent.joining = forms.Blank(map[string]string{"consent_text": core.OrZero(s.ConsentText), "privacy_url": core.OrZero(s.PrivacyURL)})
	}
	if sent.branding == nil {
		sent.branding = forms.Blank(map[string]string{"colour": core.OrZero(s.Colour)})
	}
	v := views.Business{
		Settings: h.Settings(c, "Business", links.Business), Stored: s, Host: c.Request().Host,
		Details: sent.details, Joining: sent.joining, Branding: sent.branding,
		Countries: forms.Countries(), Currencies: forms.Currencies(s.Currency), TimeZones: forms.ZoneGroups(sent.details.Value("timezone")),
	}
	if v.Phones, err = h.PhoneConflicts(c, sent.details); err != nil {
		return err
	}
	if v.Palette, err = tenant.PaletteFor(s.Colour); err != nil {
		return err
	}
	v.Assets.Stylesheets = append(slices.Clone(v.Assets.Stylesheets), static.Path("css/branding.css"))
	v.Assets.Scripts = append(slices.Clone(v.Assets.Scripts), static.Path("js/branding.js"))
	return h.Render(c, status, views.BusinessPage(v), nil)
}

func (h *Handlers) editBusiness(c echo.Context) error {
	var change *tenant.CurrencyChangeError
	return page.Submit(h.Kit, c, page.Submission[tenant.Settings]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (tenant.Settings, error) {
			currency := form.Value("currency")
			if !core.IsCurrency(currency) {
				currency = by.Tenant.Currency
			}
			ceiling := panel.SentAmount(form, "confirm_above_cents", currency) // before Malformed, which it may set
			if form.Values.Has("country") {
				form.Require("country")
			}
			s, err := h.Tenants.EditSettings(ctx, by, tenant.SettingsEdit{
				Name: panel.SentText(form, "name"), Country: panel.SentText(form, "country"),
				TimeZone: panel.SentText(form, "timezone"), Currency: panel.SentText(form, "currency"),
				ConfirmAboveCents: ceiling, Confirmed: form.Value(forms.ConfirmedCurrency), Malformed: form.Malformed,
			})
			return s, forms.CurrencyChange(err, &change)
		},
		Refused: func(status int, form *forms.Form) error {
			if change != nil {
				return h.ConfirmCurrency(c, change, form, links.Business, ui.Crumb{Label: "Business", Path: links.Business})
			}
			return h.businessPage(c, status, businessForms{details: form})
		},
		To:   page.To[tenant.Settings](links.Business),
		Done: func(tenant.Settings) string { return "Business details saved." },
	})
}

// setPhoneOptional changes whether a new customer with an e-mail address needs a phone number.
func (h *Handlers) setPhoneOptional(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	on := form.Value("on") == "1"
	if _, err := h.Tenants.EditSettings(c.Request().Context(), page.Actor(c), tenant.SettingsEdit{PhoneOptional: core.Set(on)}); err != nil {
		return err
	}
	message := "New customers need a phone number again."
	if on {
		message = "Customers can now be added without a phone number."
	}
	h.Flash(c, ui.Done, message)
	return h.Redirect(c, links.Business)
}

// editJoining changes the consent text and the privacy link.
func (h *Handlers) editJoining(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[tenant.Settings]{
		Run: func(ctx context.Context, by core.Actor, form *forms.Form) (tenant.Settings, error) {
			return h.Tenants.EditSettings(ctx, by, tenant.SettingsEdit{ConsentText: panel.SentText(form, "consent_text"), PrivacyURL: panel.SentText(form, "privacy_url")})
		},
		Refused: func(status int, form *forms.Form) error {
			return h.businessPage(c, status, businessForms{joining: form})
		},
		To:   page.To[tenant.Settings](links.Business),
		Done: func(tenant.Settings) string { return "Consent text saved." },
	})
}
