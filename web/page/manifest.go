package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/tenant"
)

// Manifest is a web app manifest, by which people put a page on their home screen.
type Manifest struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	ShortName  string         `json:"short_name"`
	StartURL   string         `json:"start_url"`
	Scope      string         `json:"scope"`
	Background string         `json:"background_color"`
	Theme      string         `json:"theme_color"`
	Display    string         `json:"display"` // the rest is set by WriteManifest
	Icons      []manifestIcon `json:"icons"`
}

type manifestIcon struct {
	Source  string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

// WriteManifest answers with a manifest. iconPath is the address of an icon with that side in pixels.
func WriteManifest(c echo.Context, m Manifest, iconPath func(side int) string) error {
	m.Display = "standalone"
	for _, i := range []struct {
		side    int
		purpose string
	}{{tenant.SmallIcon, "any"}, {tenant.LargeIcon, "any"}, {tenant.LargeIcon, "maskable"}} {
		m.Icons = append(m.Icons, manifestIcon{Source: iconPath(i.side), Sizes: fmt.Sprintf("%dx%d", i.side, i.side), Type: "image/png", Purpose: i.purpose})
	}
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "application/manifest+json", content)
}

// IconPath is the address of the icon of a business for home screens: its logo, or the product's
// icon in its colour. side is one of tenant.IconSides.
func IconPath(colour string, logoHash *string, side int) string {
	key := strings.TrimPrefix(colour, "#")
	if logoHash != nil {
		key = *logoHash
	}
	return "/brand/icon/" + key + "-" + strconv.Itoa(side) + ".png"
}
