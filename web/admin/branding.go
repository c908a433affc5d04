package admin

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// previewBranding answers with the preview in a colour that isn't saved.
func (a *Admin) previewBranding(c echo.Context) error {
	var colour *string
	if chosen := strings.ToLower(c.QueryParam("colour")); chosen != "" {
		colour = &chosen
	}
	p, err := tenant.PaletteFor(colour)
	if err != nil {
		return c.NoContent(http.StatusUnprocessableEntity)
	}
	v, err := brandingPreview(page.Actor(c).Tenant.Name, colour)
	if err != nil {
		return err
	}
	v.CSS = page.PaletteCSS(p, "#branding-preview [data-bs-theme=light]", "#branding-preview [data-bs-theme=dark]")
	return a.Render(c, http.StatusOK, views.BrandingPreviewPart(v), nil)
}

func brandingPreview(business string, colour *string) (views.BrandingPreview, error) {
	p, err := tenant.PaletteFor(colour)
	return views.BrandingPreview{Business: business, Colour: orZero(colour), Samples: []views.BrandingSample{
		{Theme: "light", Title: "Light", Adjusted: p.Light.Adjusted(p.Fill)},
		{Theme: "dark", Title: "Dark", Adjusted: p.Dark.Adjusted(p.Fill)},
	}}, err
}

// maxLogo is larger than core allows, so that core's own message is shown.
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
		return a.businessPage(c, http.StatusUnprocessableEntity, businessForms{branding: form})
	}
	if err != nil {
		return err
	}
	a.Flash(c, ui.Done, "Branding saved.")
	return a.Redirect(c, businessPath)
}

// brandingCSS serves the business's colour and logo as a stylesheet, without sign-in.
func (a *Admin) brandingCSS(c echo.Context) error {
	t, err := a.Tenant(c)
	if err != nil {
		return err
	}
	sheet, err := page.Branding(t.Theme)
	if err != nil {
		return err
	}
	return sheet.Serve(c, "private")
}

// setCacheControl lets browsers cache an answer, which doesn't depend on the session.
func setCacheControl(c echo.Context, control string) {
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, control)
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
}

// logo serves the logo. Its path contains its hash, so it can be cached forever.
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
