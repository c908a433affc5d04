package admin

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const (
	businessPath = settingsPath + "/business"
	ceilingField = "confirm_above_cents"
)

func (a *Admin) businessRoutes() []route {
	return []route{
		{method: get, path: businessPath, least: core.Owner, handle: a.showBusiness},
		// Another country reads the phone numbers of all customers anew.
		{method: post, path: businessPath, least: core.Owner, handle: a.editBusiness, slow: true},
		{method: post, path: businessPath + "/joining", least: core.Owner, handle: a.editJoining},
		{method: post, path: businessPath + "/look", least: core.Owner, handle: a.editBranding, slow: true},
		{method: get, path: page.BrandingPath, handle: a.look},
		{method: get, path: "/admin/logo/:hash", handle: a.logo},
	}
}

func (a *Admin) showBusiness(c echo.Context) error {
	return a.businessPage(c, http.StatusOK, businessForms{})
}

// businessForms are the forms of the page. One that is nil begins with what is stored.
type businessForms struct{ business, joining, look *page.Form }

// businessPage shows the settings, with a form that was refused, if one was.
func (a *Admin) businessPage(c echo.Context, status int, forms businessForms) error {
	form, joining, look := forms.business, forms.joining, forms.look
	by := page.Actor(c)
	s, err := a.Tenants.Settings(c.Request().Context(), by)
	if err != nil {
		return err
	}
	if form == nil {
		form = page.Blank(map[string]string{"name": s.Name, "country": text(s.Country), "timezone": s.TimeZone, "currency": s.Currency, ceilingField: ""})
		if s.ConfirmAboveCents != nil {
			form.SetAmount(ceilingField, *s.ConfirmAboveCents, s.Currency)
		}
	}
	if joining == nil {
		joining = page.Blank(map[string]string{"consent_text": text(s.ConsentText), "privacy_url": text(s.PrivacyURL)})
	}
	if look == nil {
		look = page.Blank(map[string]string{"colour": text(s.Colour)})
	}
	v := views.Business{
		Settings: a.settings(c, "Business", businessPath), Address: c.Request().Host,
		Name:    form.Field("name", "Name"),
		Country: form.Field("country", "Country"), TimeZone: form.Field("timezone", "Time zone"), Currency: form.Field("currency", "Currency"),
		Ceiling: form.Field(ceilingField, "Confirm sales above"),
		Consent: joining.Field("consent_text", "Consent text"), Privacy: joining.Field("privacy_url", "Privacy policy"),
		Colour: look.Field("colour", "Colour"), Logo: look.Field("logo", "Logo"),
	}
	v.Problem, v.JoiningProblem, v.LookProblem = form.Problem(), joining.Problem(), look.Problem()
	v.Began, v.JoiningBegan, v.LookBegan = form.Began(), joining.Began(), look.Began()
	v.Consent.Optional, v.Consent.MaxLength = true, 1000
	v.Consent.Help = "Customers agree to this when they join. Empty: “" + tenant.DefaultConsent(s.Name) + "”"
	v.Privacy.Optional, v.Privacy.Type, v.Privacy.Placeholder, v.Privacy.MaxLength = true, "url", "https://", 500
	v.Privacy.Help = "Linked below the consent text."
	v.Name.Help = "As your customers know it."
	v.Country.Options = form.Options("country", slices.Clone(countries)...)
	v.Country.Help = "How phone numbers without a country code are read."
	v.TimeZone.Groups = zoneGroups(v.TimeZone.Value)
	v.TimeZone.Help = "When a day begins and ends. It is " + a.Now().In(by.Tenant.TimeZone).Format("15:04") + " there now."
	v.Currency.Options = form.Options("currency", slices.Clone(currencies)...)
	v.Currency.Help = "What amounts are in. From your first sale on it stays."
	if s.HasSales {
		v.Currency.ReadOnly, v.Currency.Help = true, "There are sales in it, so it stays."
	}
	v.Ceiling.Before, v.Ceiling.Mode, v.Ceiling.Autocomplete, v.Ceiling.Optional = page.Symbol(s.Currency), "decimal", "off", true
	v.Ceiling.Help = "Leave empty to turn confirmation off."
	v.Colour.Optional, v.Colour.Placeholder, v.Colour.MaxLength = true, "#5746d6", 7
	v.Colour.Help = "Of the square beside your name, here and on the sign-in page. What stands on it is black or white, whichever can be read."
	v.Colour.Attributes = map[string]any{"data-colour": "#5746d6", "spellcheck": "false", "autocapitalize": "none"}
	v.Logo.Type, v.Logo.Optional, v.Logo.Attributes = "file", true, map[string]any{"accept": "image/png,image/jpeg,image/webp"}
	v.Logo.Help = "Fills that square instead. A square picture looks best: PNG, JPEG or WebP, up to 256 kB."
	if s.LogoHash != nil {
		v.LogoPath, v.Logo.Label = logoPath(*s.LogoHash), "Another logo"
		v.Remove = look.Field("remove_logo", "Remove it")
	}
	return a.Render(c, status, views.BusinessPage(v), nil)
}

// text is a text, or "" where there is none.
func text(v *string) string {
	if v == nil {
		return ""
	}
	return *v
}

// What can be chosen of countries, currencies and time zones.
var countries, currencies, zoneGroups = page.Countries(), page.Currencies(), page.ZoneGroups

// sentText is a field of an edit: one that is not in the form, or that nobody touched,
// stays as it is, an empty one is cleared.
func sentText(form *page.Form, name string) core.Optional[string] {
	return core.Optional[string]{Set: form.Values.Has(name) && form.Touched(name), Value: form.Filled(name)}
}

// sentAmount is an amount of an edit, in the currency that the form chooses: one that is not
// in the form, or was not changed, stays as it is; an empty one is cleared.
func sentAmount(form *page.Form, name, currency string) core.Optional[int64] {
	if !form.Values.Has(name) || !form.Touched(name) {
		return core.Optional[int64]{}
	}
	return core.Optional[int64]{Set: true, Value: form.Amount(name, currency)}
}

func (a *Admin) editBusiness(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	currency := form.Value("currency")
	if !slices.Contains(tenant.Currencies(), currency) {
		currency = by.Tenant.Currency
	}
	ceiling := sentAmount(form, ceilingField, currency)
	_, err = a.Tenants.EditSettings(c.Request().Context(), by, tenant.SettingsEdit{
		Name: sentText(form, "name"), Country: sentText(form, "country"),
		TimeZone: sentText(form, "timezone"), Currency: sentText(form, "currency"),
		ConfirmAboveCents: ceiling, Malformed: form.Malformed,
	})
	if form.Refused(err) {
		return a.businessPage(c, http.StatusUnprocessableEntity, businessForms{business: form})
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "The business is saved.")
	return a.Redirect(c, businessPath)
}

// editJoining changes what customers agree to when they join.
func (a *Admin) editJoining(c echo.Context) error {
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	_, err = a.Tenants.EditSettings(c.Request().Context(), page.Actor(c), tenant.SettingsEdit{
		ConsentText: sentText(form, "consent_text"), PrivacyURL: sentText(form, "privacy_url"),
	})
	if form.Refused(err) {
		return a.businessPage(c, http.StatusUnprocessableEntity, businessForms{joining: form})
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "Joining was saved.")
	return a.Redirect(c, businessPath)
}

// maxLogo is more than core takes, so that core says so.
const maxLogo = 1 << 20

func (a *Admin) editBranding(c echo.Context) error {
	form, file, err := page.ReadWithFile(c, "logo", maxLogo)
	if err != nil {
		return err
	}
	edit := tenant.SettingsEdit{Colour: sentText(form, "colour")}
	if file != nil {
		edit.Logo = core.Set(file)
	} else if form.Checked("remove_logo") {
		edit.Logo.Set = true
	}
	_, err = a.Tenants.EditSettings(c.Request().Context(), page.Actor(c), edit)
	if form.Refused(err) {
		return a.businessPage(c, http.StatusUnprocessableEntity, businessForms{look: form})
	}
	if err != nil {
		return err
	}
	// Another address than before: this browser sees the new look at once.
	a.BrandingChanged(c, strconv.FormatInt(a.Now().UnixMilli(), 36))
	a.Flash(c, ui.Done, "The look is saved.")
	return a.Redirect(c, businessPath)
}

// look is the business's own colour and logo, for everybody. Browsers keep it for a while,
// so that pages make no request more.
func (a *Admin) look(c echo.Context) error {
	t, err := a.Tenant(c)
	if err != nil {
		return err
	}
	look, err := a.Tenants.Theme(c.Request().Context(), core.System(t, "pages"))
	if err != nil {
		return err
	}
	css, err := stylesheet(look)
	if err != nil {
		return err
	}
	setCacheControl(c, "private, max-age=300")
	return c.Blob(http.StatusOK, "text/css; charset=utf-8", []byte(css))
}

// stylesheet says a look to browsers. A logo stands on white, as it was most likely made to.
func stylesheet(l tenant.Theme) (string, error) {
	var css strings.Builder
	if l.Colour != nil {
		p, err := tenant.PaletteOf(*l.Colour)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&css, ":root { --brand: %s; --brand-ink: %s; }\n", p.Fill, p.OnFill)
	}
	if l.LogoHash != nil {
		fmt.Fprintf(&css, ".brand-mark { background: #fff url(%s) center / contain no-repeat; }\n.brand-mark .icon { display: none; }\n", logoPath(*l.LogoHash))
	}
	return css.String(), nil
}

// setCacheControl lets browsers keep an answer, which is the same for everybody here.
func setCacheControl(c echo.Context, control string) {
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, control)
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
}

func logoPath(hash string) string { return "/admin/logo/" + hash }

// logo is the picture itself: another one has another address.
func (a *Admin) logo(c echo.Context) error {
	t, err := a.Tenant(c)
	if err != nil {
		return err
	}
	picture, err := a.Tenants.Logo(c.Request().Context(), core.System(t, "pages"), c.Param("hash"))
	if err != nil {
		return err
	}
	setCacheControl(c, "private, max-age=31536000, immutable")
	return page.Picture(c, picture)
}
