package till

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/static"
	"example.com/loyalty/web/page"
)

const manifestPath = page.TillPath + "/manifest.webmanifest"

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
	content, err := json.Marshal(map[string]any{
		"id": page.TillPath, "name": cmp.Or(business.Name, "Point of sale") + " · Point of sale", "short_name": "Point of sale",
		"start_url": page.TillPath, "scope": page.TillPath, "display": "standalone",
		"background_color": "#f7f7f9", "theme_color": "#ffffff",
		"icons": []icon{{Source: static.Path("img/icon.svg"), Sizes: "any", Type: "image/svg+xml", Purpose: "any"}},
	})
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "private, max-age=3600")
	return c.Blob(http.StatusOK, "application/manifest+json", content)
}
