package till

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/web/page"
)

const (
	manifestPath  = page.TillPath + "/manifest.webmanifest"
	productColour = "#5746d6" // of a business that has chosen none
)

type icon struct {
	Source  string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

// manifest lets the point of sale sit on a device's home screen.
func (t *Till) manifest(c echo.Context) error {
	business, err := t.Tenant(c)
	if err != nil {
		return err
	}
	look, err := t.Tenants.Theme(c.Request().Context(), core.System(business, "point of sale"))
	if err != nil {
		return err
	}
	colour := productColour
	if look.Colour != nil {
		colour = *look.Colour
	}
	sign := func(side, purpose string) icon {
		return icon{Source: page.IconPath(colour, look.LogoHash, side), Sizes: side + "x" + side, Type: "image/png", Purpose: purpose}
	}
	content, err := json.Marshal(map[string]any{
		"id": page.TillPath, "name": cmp.Or(business.Name, "Point of sale") + " · Point of sale", "short_name": "Point of sale",
		"start_url": page.TillPath, "scope": page.TillPath, "display": "standalone",
		"background_color": "#f7f7f9", "theme_color": "#ffffff",
		"icons": []icon{sign("192", "any"), sign("512", "any"), sign("512", "maskable")},
	})
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "private, max-age=3600")
	return c.Blob(http.StatusOK, "application/manifest+json", content)
}
