package admin

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/static"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const (
	businessPath = settingsPath + "/business"
	ceilingField = "confirm_above_cents"
)

func (a *Admin) businessRoutes() []route.Route {
	return []route.Route{
		route.Get(businessPath, route.Owners, a.showBusiness),
		// A new country re-reads every customer's phone number.
		route.Post(businessPath, route.Owners, a.editBusiness).AsFile(),
		route.Post(businessPath+"/joining", route.Owners, a.editJoining),
		route.Post(businessPath+"/look", route.Owners, a.editBranding).AsFile(),
		route.Get(businessPath+"/look/preview", route.Owners, a.previewBranding),
		route.Get(page.BrandingPath, route.Everyone, a.brandingCSS),
		route.Get("/admin/logo/:hash", route.Everyone, a.logo),
	}
}

func (a *Admin) showBusiness(c echo.Context) error {
	return a.businessPage(c, http.StatusOK, businessForms{})
}

// businessForms are the page's forms. A nil form shows the stored values.
type businessForms struct{ business, joining, branding *page.Form }

func (a *Admin) businessPage(c echo.Context, status int, forms businessForms) error {
	form, joining, branding := forms.business, forms.joining, forms.branding
	by := page.Actor(c)
	s, err := a.Tenants.Settings(c.Request().Context(), by)
	if err != nil {
		return err
	}
	if form == nil {
		form = page.Blank(map[string]string{"name": s.Name, "country": orZero(s.Country), "timezone": s.TimeZone, "currency": s.Currency, ceilingField: ""})
		if s.ConfirmAboveCents != nil {
			form.SetAmount(ceilingField, *s.ConfirmAboveCents, s.Currency)
		}
	}
	if joining == nil {
		joining = page.Blank(map[string]string{"consent_text": orZero(s.ConsentText), "privacy_url": orZero(s.PrivacyURL)})
	}
	if branding == nil {
		branding = page.Blank(map[string]string{"colour": orZero(s.Colour)})
	}
	v := views.Business{
		Settings: a.settings(c, "Business", businessPath), Address: c.Request().Host,
		Name:    form.Field("name", "Name"),
		Country: form.Field("country", "Country"), TimeZone: form.Field("timezone", "Time zone"), Currency: form.Field("currency", "Currency"),
		Ceiling: form.Field(ceilingField, "Confirm sales above"),
		Consent: joining.Field("consent_text", "Consent text"), Privacy: joining.Field("privacy_url", "Privacy policy"),
		Colour: branding.Field("colour", "Colour"), Logo: branding.Field("logo", "Logo"),
	}
	v.Problem, v.JoiningProblem, v.BrandingProblem = form.Problem(), joining.Problem(), branding.Problem()
	v.Began, v.JoiningBegan, v.BrandingBegan = form.Original(), joining.Original(), branding.Original()
	v.Consent.Optional, v.Consent.MaxLength = true, 1000
	v.Consent.Help = "Shown to customers when they join. Leave empty for: “" + tenant.DefaultConsent(s.Name) + "”"
	v.Privacy.Optional, v.Privacy.Type, v.Privacy.Placeholder, v.Privacy.MaxLength = true, "url", "https://", 500
	v.Privacy.Help = "Linked below the consent text"
	v.Name.Help = "Shown to your customers"
	v.Country.Options = form.Options("country", slices.Clone(countries)...)
	v.Country.Help = "Used for phone numbers without a country code"
	if v.Phones, err = a.phoneConflicts(c, form); err != nil {
		return err
	}
	v.TimeZone.Groups = zoneGroups(v.TimeZone.Value)
	v.TimeZone.Help = "Now " + a.Now().In(by.Tenant.TimeZone).Format("15:04") + " there"
	v.Currency.Options = form.Options("currency", page.Currencies(s.Currency)...)
	v.Currency.ReadOnly, v.Currency.Help = s.HasSales, "Can't be changed after your first sale"
	v.Ceiling.Before, v.Ceiling.Mode, v.Ceiling.Autocomplete, v.Ceiling.Optional = page.Symbol(s.Currency), "decimal", "off", true
	v.Ceiling.Help = "Leave empty to turn confirmation off"
	v.Colour.Optional, v.Colour.Placeholder, v.Colour.MaxLength = true, tenant.ProductColour, 7
	v.Colour.Help = "Used in the panel, e-mails and customers’ pages"
	v.Colour.Attributes = map[string]any{"data-colour": tenant.ProductColour, "spellcheck": "false", "autocapitalize": "none"}
	v.Logo.Type, v.Logo.Optional, v.Logo.Attributes = "file", true, map[string]any{"accept": "image/png,image/jpeg,image/webp"}
	v.Logo.Help = "Square, or with your name up to 4 times as wide as high. PNG, JPEG or WebP, up to 256 kB."
	if s.LogoHash != nil {
		v.LogoPath, v.Logo.Label = page.LogoPath(*s.LogoHash), "New logo"
		v.Remove = branding.Field("remove_logo", "Remove logo")
	}
	if v.Preview, err = brandingPreview(s.Name, s.Colour); err != nil {
		return err
	}
	v.Assets.Stylesheets = append(slices.Clone(v.Assets.Stylesheets), static.Path("css/branding.css"))
	v.Assets.Scripts = append(slices.Clone(v.Assets.Scripts), static.Path("js/branding.js"))
	return a.Render(c, status, views.BusinessPage(v), nil)
}

// phoneConflicts names the customers whose phone numbers refused another country, to correct or merge them.
func (a *Admin) phoneConflicts(c echo.Context, form *page.Form) (conflicts []views.PhoneConflict, err error) {
	var ids []core.ID
	for _, v := range form.Violations("country") {
		ids = append(ids, v.Records[:]...)
	}
	list, err := a.Customers.FindAll(c.Request().Context(), page.Actor(c), ids)
	if err != nil {
		return nil, err
	}
	byID := map[core.ID]customer.Customer{}
	for _, one := range list {
		byID[one.ID] = one
	}
	for _, v := range form.Violations("country") {
		var conflict views.PhoneConflict
		for _, id := range v.Records {
			if who, found := byID[id]; found {
				conflict.Customers = append(conflict.Customers, views.PhoneCustomer{Name: page.CustomerName(who), Phone: who.Phone, Path: customerPath(id)})
			}
		}
		switch len(conflict.Customers) {
		case 0:
			continue
		case 2: // the customer who was added first is kept
			conflict.Merge = page.WithQuery(customerPath(v.Records[0])+"/merge", "customer_ulid", v.Records[1].String())
		}
		conflicts = append(conflicts, conflict)
	}
	return conflicts, nil
}

var countries, zoneGroups = page.Countries(), page.ZoneGroups

// sentText returns a text field of an edit. A field that is missing or unchanged isn't set, an empty
// one is cleared.
func sentText(form *page.Form, name string) core.Optional[string] {
	return core.Optional[string]{Set: form.Values.Has(name) && form.Changed(name), Value: form.Filled(name)}
}

// sentAmount is sentText for an amount. An unchanged one isn't read: the form may select another
// currency, with other decimals.
func sentAmount(form *page.Form, name, currency string) core.Optional[int64] {
	if !form.Values.Has(name) || !form.Changed(name) {
		return core.Optional[int64]{}
	}
	return core.Optional[int64]{Set: true, Value: form.Amount(name, currency)}
}

// confirmCurrency asks before the business's amounts get another currency.
func (a *Admin) confirmCurrency(c echo.Context, change *tenant.CurrencyChangeError, form *page.Form, path string, crumb ui.Crumb) error {
	return a.Render(c, http.StatusOK, views.CurrencyConfirmPage(views.CurrencyConfirm{
		Frame:           a.frame(c, "Change currency to "+change.To+"?", settingsPath, crumb),
		ConfirmCurrency: page.ConfirmCurrency(change, form, path, path),
	}), nil)
}

func (a *Admin) editBusiness(c echo.Context) error {
	var change *tenant.CurrencyChangeError
	return page.Submit(a.Kit, c, page.Submission[tenant.Settings]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (tenant.Settings, error) {
			currency := form.Value("currency")
			if !core.IsCurrency(currency) {
				currency = by.Tenant.Currency
			}
			ceiling := sentAmount(form, ceilingField, currency) // before Malformed, which it may set
			if form.Values.Has("country") {
				form.Require("country")
			}
			s, err := a.Tenants.EditSettings(ctx, by, tenant.SettingsEdit{
				Name: sentText(form, "name"), Country: sentText(form, "country"),
				TimeZone: sentText(form, "timezone"), Currency: sentText(form, "currency"),
				ConfirmAboveCents: ceiling, Confirmed: form.Value(page.ConfirmedCurrency), Malformed: form.Malformed,
			})
			return s, page.CurrencyChange(err, &change)
		},
		Refused: func(status int, form *page.Form) error {
			if change != nil {
				return a.confirmCurrency(c, change, form, businessPath, ui.Crumb{Label: "Business", Path: businessPath})
			}
			return a.businessPage(c, status, businessForms{business: form})
		},
		To:   page.To[tenant.Settings](businessPath),
		Done: func(tenant.Settings) string { return "Business details saved." },
	})
}

// editJoining changes the consent text and the privacy link.
func (a *Admin) editJoining(c echo.Context) error {
	return page.Submit(a.Kit, c, page.Submission[tenant.Settings]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (tenant.Settings, error) {
			return a.Tenants.EditSettings(ctx, by, tenant.SettingsEdit{ConsentText: sentText(form, "consent_text"), PrivacyURL: sentText(form, "privacy_url")})
		},
		Refused: func(status int, form *page.Form) error {
			return a.businessPage(c, status, businessForms{joining: form})
		},
		To:   page.To[tenant.Settings](businessPath),
		Done: func(tenant.Settings) string { return "Consent text saved." },
	})
}
