package page

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
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
func WriteManifest(c echo.Context, m Manifest, iconPath func(side string) string) error {
	m.Display = "standalone"
	for _, i := range [][2]string{{"192", "any"}, {"512", "any"}, {"512", "maskable"}} {
		m.Icons = append(m.Icons, manifestIcon{Source: iconPath(i[0]), Sizes: i[0] + "x" + i[0], Type: "image/png", Purpose: i[1]})
	}
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "application/manifest+json", content)
}

// IconPath is the address of the icon of a business for home screens: its logo, or the product's
// icon in its colour. side is 180, 192 or 512 pixels.
func IconPath(colour string, logoHash *string, side string) string {
	key := strings.TrimPrefix(colour, "#")
	if logoHash != nil {
		key = *logoHash
	}
	return "/brand/icon/" + key + "-" + side + ".png"
}
