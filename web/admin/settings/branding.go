package settings

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	views "example.com/loyalty/views/admin/settings"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// previewBranding answers with the preview in a colour that isn't saved.
func (h *Handlers) previewBranding(c echo.Context) error {
	var colour *string
	if chosen := strings.ToLower(c.QueryParam("colour")); chosen != "" {
		colour = &chosen
	}
	p, err := tenant.PaletteFor(colour)
	if err != nil {
		return c.NoContent(http.StatusUnprocessableEntity)
	}
	css := page.PaletteCSS(p, "#branding-preview [data-bs-theme=light]", "#branding-preview [data-bs-theme=dark]")
	return h.Render(c, http.StatusOK, views.BrandingPreview(page.Actor(c).Tenant.Name, colour, p, css), nil)
}

// maxLogo is larger than core allows, so that core's own message is shown.
const maxLogo = 1 << 20

func (h *Handlers) editBranding(c echo.Context) error {
	form, file, err := forms.ReadWithFile(c, "logo", maxLogo)
	if err != nil {
		return err
	}
	edit := tenant.SettingsEdit{Colour: panel.SentText(form, "colour")}
	if file != nil {
		edit.Logo = core.Set(file)
	} else if form.Checked("remove_logo") {
		edit.Logo.Set = true
	}
	_, err = h.Tenants.EditSettings(c.Request().Context(), page.Actor(c), edit)
	if form.Refused(err) {
		return h.businessPage(c, http.StatusUnprocessableEntity, businessForms{branding: form})
	}
	if err != nil {
		return err
	}
	h.Flash(c, ui.Done, "Branding saved.")
	return h.Redirect(c, links.Business)
}

// brandingCSS serves the business's colour and logo as a stylesheet, without sign-in.
func (h *Handlers) brandingCSS(c echo.Context) error {
	t, err := h.Tenant(c)
	if err != nil {
		return err
	}
	sheet, err := page.Branding(t.Theme)
	if err != nil {
		return err
	}
	return sheet.Serve(c, "private")
}

// logo serves the logo. Its path contains its hash, so it can be cached forever.
func (h *Handlers) logo(c echo.Context) error {
	t, err := h.Tenant(c)
	if err != nil {
		return err
	}
	picture, err := h.Tenants.Logo(c.Request().Context(), core.System(t, "pages"), c.Param("hash"))
	if err != nil {
		return err
	}
	panel.SetCacheControl(c, "private, max-age=31536000, immutable")
	return forms.Picture(c, picture)
}
