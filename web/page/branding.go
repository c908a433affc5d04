package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/links"
)

// BrandingPath is the stylesheet with the colour and logo of a business.
const BrandingPath = links.Panel + "/look.css"

// Stylesheet is a stylesheet made from a business's branding.
type Stylesheet struct {
	CSS     string
	Version string // changes with CSS; part of its address
}

func newStylesheet(css string) Stylesheet {
	sum := sha256.Sum256([]byte(css))
	return Stylesheet{CSS: css, Version: hex.EncodeToString(sum[:6])}
}

// Stylesheets keeps the stylesheets of the businesses that are open. Deriving one takes some 0.1 ms.
type Stylesheets struct {
	mu   sync.Mutex
	kept map[string]Stylesheet
}

const keptStylesheets = 1000

// Get returns the stylesheet with a key, or writes it.
func (s *Stylesheets) Get(key string, write func() (string, error)) (Stylesheet, error) {
	s.mu.Lock()
	sheet, found := s.kept[key]
	s.mu.Unlock()
	if found {
		return sheet, nil
	}
	css, err := write()
	if err != nil {
		return Stylesheet{}, err
	}
	sheet = newStylesheet(css)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil || len(s.kept) >= keptStylesheets {
		s.kept = map[string]Stylesheet{}
	}
	s.kept[key] = sheet
	return sheet, nil
}

// Serve answers with the stylesheet. Browsers keep it for a year under the address with its version, and
// not at all under an older address.
func (s Stylesheet) Serve(c echo.Context, scope string) error {
	control := "no-cache"
	if c.QueryParam("v") == s.Version {
		control = scope + ", max-age=31536000, immutable"
	}
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, control)
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
	return c.Blob(http.StatusOK, "text/css; charset=utf-8", []byte(s.CSS))
}

var brandings Stylesheets

// Branding returns the stylesheet of a theme for the panel and the point of sale. The theme without
// colour and logo has an empty one.
func Branding(t core.Theme) (Stylesheet, error) {
	return brandings.Get(fmt.Sprint(core.OrZero(t.Colour), " ", core.OrZero(t.LogoHash), " ", t.Logo()), func() (string, error) {
		var css strings.Builder
		if t.Colour != nil {
			p, err := tenant.PaletteOf(*t.Colour)
			if err != nil {
				return "", err
			}
			css.WriteString(PaletteCSS(p, ":root, [data-bs-theme=light]", "[data-bs-theme=dark]"))
		}
		if t.LogoHash != nil {
			// On white, which most logos are designed for.
			fmt.Fprintf(&css, ".brand-mark { --logo-ratio: %s; background: #fff url(%s) center / contain no-repeat; }\n.brand-mark .icon { display: none; }\n",
				strconv.FormatFloat(float64(t.Logo()), 'f', 3, 64), links.Logo(*t.LogoHash))
		}
		if t.Logo().HasName() {
			css.WriteString(".brand-name { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }\n")
		}
		return css.String(), nil
	})
}

// PaletteCSS writes a palette as the variables that css/panel.css and css/till.css have, for the elements
// of each theme.
func PaletteCSS(p tenant.Palette, light, dark string) string {
	own := "--brand: " + p.Fill + "; --brand-ink: " + p.OnFill + "; --mark-on-white: " + p.Light.Mark + "; "
	return light + " { " + own + shadesCSS(p.Light) + " }\n" + dark + " { " + own + shadesCSS(p.Dark) + " }\n"
}

func shadesCSS(s tenant.Shades) string {
	return "--primary: " + s.Button + "; --primary-ink: " + s.OnButton + "; --primary-hover: " + s.ButtonHover + "; --primary-edge: " + s.ButtonEdge +
		"; --link: " + s.Link + "; --mark: " + s.Mark + "; --tint: " + s.Tint + ";"
}

// BrandingURL is the address of the business's stylesheet, which changes with its colour and logo; "" if
// it has neither.
func BrandingURL(c echo.Context) string {
	sheet, err := Branding(Visit(c).Tenant.Theme)
	if err != nil || sheet.CSS == "" {
		return ""
	}
	return links.WithQuery(BrandingPath, "v", sheet.Version)
}
