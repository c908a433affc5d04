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
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

const (
	ceilingField = "confirm_above_cents"
)

func (h *Handlers) businessRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Business, route.Owners, h.showBusiness),
		// A new country re-reads every customer's phone number.
		route.Post(links.Business, route.Owners, h.editBusiness).AsFile(),
		route.Post(links.Business+"/joining", route.Owners, h.editJoining),
		route.Post(links.Business+"/look", route.Owners, h.editBranding).AsFile(),
		route.Get(links.Business+"/look/preview", route.Owners, h.previewBranding),
		route.Get(page.BrandingPath, route.Everyone, h.brandingCSS),
		route.Get("/admin/logo/:hash", route.Everyone, h.logo),
	}
}

func (h *Handlers) showBusiness(c echo.Context) error {
	return h.businessPage(c, http.StatusOK, businessForms{})
}

// businessForms are the page's forms. A nil form shows the stored values.
type businessForms struct{ business, joining, branding *forms.Form }

func (h *Handlers) businessPage(c echo.Context, status int, sent businessForms) error {
	form, joining, branding := sent.business, sent.joining, sent.branding
	by := page.Actor(c)
	s, err := h.Tenants.Settings(c.Request().Context(), by)
	if err != nil {
		return err
	}
	if form == nil {
		form = forms.Blank(map[string]string{"name": s.Name, "country": core.OrZero(s.Country), "timezone": s.TimeZone, "currency": s.Currency, ceilingField: ""})
		if s.ConfirmAboveCents != nil {
			form.SetAmount(ceilingField, *s.ConfirmAboveCents, s.Currency)
		}
	}
	if joining == nil {
		joining = forms.Blank(map[string]string{"consent_text": core.OrZero(s.ConsentText), "privacy_url": core.OrZero(s.PrivacyURL)})
	}
	if branding == nil {
		branding = forms.Blank(map[string]string{"colour": core.OrZero(s.Colour)})
	}
	v := views.Business{
		Settings: h.Settings(c, "Business", links.Business), Address: c.Request().Host,
		Name:    form.Field("name", ui.Field{Label: "Name"}),
		Country: form.Field("country", ui.Field{Label: "Country"}), TimeZone: form.Field("timezone", ui.Field{Label: "Time zone"}), Currency: form.Field("currency", ui.Field{Label: "Currency"}),
		Ceiling: form.Field(ceilingField, ui.Field{Label: "Confirm sales above"}),
		Consent: joining.Field("consent_text", ui.Field{Label: "Consent text"}), Privacy: joining.Field("privacy_url", ui.Field{Label: "Privacy policy"}),
		Colour: branding.Field("colour", ui.Field{Label: "Colour"}), Logo: branding.Field("logo", ui.Field{Label: "Logo"}),
	}
	v.Problem, v.JoiningProblem, v.BrandingProblem = form.Problem(), joining.Problem(), branding.Problem()
	v.Began, v.JoiningBegan, v.BrandingBegan = form.Original(), joining.Original(), branding.Original()
	v.Consent.Optional, v.Consent.MaxLength = true, 1000
	v.Consent.Help = "Shown to customers when they join. Leave empty for: “" + tenant.DefaultConsent(s.Name) + "”"
	v.Privacy.Optional, v.Privacy.Type, v.Privacy.Placeholder, v.Privacy.MaxLength = true, "url", "https://", 500
	v.Privacy.Help = "Linked below the consent text"
	v.Name.Help = "Shown to your customers"
	v.Country.Options = form.Options("country", slices.Clone(panel.Countries)...)
	v.Country.Help = "Used for phone numbers without a country code"
	if v.Phones, err = h.PhoneConflicts(c, form); err != nil {
		return err
	}
	v.TimeZone.Groups = panel.ZoneGroups(v.TimeZone.Value)
	v.TimeZone.Help = "Now " + h.Now().In(by.Tenant.TimeZone).Format("15:04") + " there"
	v.Currency.Options = form.Options("currency", forms.Currencies(s.Currency)...)
	v.Currency.ReadOnly, v.Currency.Help = s.HasSales, "Can't be changed after your first sale"
	v.Ceiling.Before, v.Ceiling.Mode, v.Ceiling.Autocomplete, v.Ceiling.Optional = format.Symbol(s.Currency), "decimal", "off", true
	v.Ceiling.Help = "Leave empty to turn confirmation off"
	v.Colour.Optional, v.Colour.Placeholder, v.Colour.MaxLength = true, tenant.ProductColour, 7
	v.Colour.Help = "Used in the panel, e-mails and customers’ pages"
	v.Colour.Attributes = map[string]any{"data-colour": tenant.ProductColour, "spellcheck": "false", "autocapitalize": "none"}
	v.Logo.Type, v.Logo.Optional, v.Logo.Attributes = "file", true, map[string]any{"accept": "image/png,image/jpeg,image/webp"}
	v.Logo.Help = "Square, or with your name up to 4 times as wide as high. PNG, JPEG or WebP, up to 256 kB."
	if s.LogoHash != nil {
		v.LogoPath, v.Logo.Label = page.LogoPath(*s.LogoHash), "New logo"
		v.Remove = branding.Field("remove_logo", ui.Field{Label: "Remove logo"})
	}
	if v.Preview, err = brandingPreview(s.Name, s.Colour); err != nil {
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
			ceiling := panel.SentAmount(form, ceilingField, currency) // before Malformed, which it may set
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
			return h.businessPage(c, status, businessForms{business: form})
		},
		To:   page.To[tenant.Settings](links.Business),
		Done: func(tenant.Settings) string { return "Business details saved." },
	})
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
