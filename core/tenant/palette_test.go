package tenant_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"testing"

	"example.com/loyalty/core/tenant"
)

// difficult are the colours that are hardest to read on or to tell from a page.
var difficult = []string{
	"#ffee00", "#ffffff", "#000000", "#808080", "#00ff00", "#5746d6", "#0000ff", "#ff0000", "#00ffff", "#ff00ff",
	"#fefefe", "#f7f7f9", "#c0c0c0", "#767676", "#404040", "#18181d", "#000080", "#ffd6d6", "#fffde7", "#165c47",
}

// "contrast corrected automatically in both themes": text on a fill and links on every surface have 4.5,
// edges and lines 3, whatever the colour.
func TestPalettesHaveContrast(t *testing.T) {
	t.Parallel()
	colours := difficult
	for range 2_000 {
		colours = append(colours, fmt.Sprintf("#%06x", rand.IntN(1<<24)))
	}
	surfaces := map[string][]string{
		"light": {"#ffffff", "#f7f7f9", "#fafafa", "#f3f2f7", "#f5f5f8"},
		"dark":  {"#18181d", "#101014", "#1f1f26", "#232329"},
	}
	for _, colour := range colours {
		p, err := tenant.PaletteOf(colour)
		if err != nil || p.Fill != colour {
			t.Fatalf("%s: %+v, %v", colour, p, err)
		}
		needs := func(what, a, b string, least float64) {
			t.Helper()
			if got := wcag(t, a, b); got < least {
				t.Errorf("%s: %s: %s on %s has a contrast of %.2f, want %.1f", colour, what, a, b, got, least)
			}
		}
		needs("fill", p.OnFill, p.Fill, 4.5)
		for name, s := range map[string]tenant.Shades{"light": p.Light, "dark": p.Dark} {
			needs(name+" button", s.OnButton, s.Button, 4.5)
			needs(name+" button under the pointer", s.OnButton, s.ButtonHover, 4.5)
			needs(name+" selected entry", s.Link, s.Tint, 4.5)
			needs(name+" edge", s.ButtonEdge, surfaces[name][0], 3)
			for _, surface := range surfaces[name] {
				needs(name+" link", s.Link, surface, 4.5)
				needs(name+" line", s.Mark, surface, 3)
			}
			if s.ButtonHover == s.Button {
				t.Errorf("%s: the %s button doesn't change under the pointer", colour, name)
			}
		}
	}
}

// A colour that is readable stays as it is; one that isn't keeps its hue.
func TestPalettesKeepTheColour(t *testing.T) {
	t.Parallel()
	green, err := tenant.PaletteOf("#165c47")
	if err != nil || green.Light.Adjusted(green.Fill) || green.Light.Link != "#165c47" {
		t.Errorf("a dark green in the light theme: %+v, %v", green.Light, err)
	}
	if !green.Dark.Adjusted(green.Fill) || green.Dark.Button != "#165c47" {
		t.Errorf("a dark green in the dark theme: %+v", green.Dark)
	}
	yellow, err := tenant.PaletteOf("#ffee00")
	if err != nil || yellow.Light.Button != "#ffee00" || !yellow.Light.Adjusted(yellow.Fill) || yellow.Dark.Adjusted(yellow.Fill) {
		t.Errorf("yellow: %+v, %v", yellow, err)
	}
	var link [3]int
	if _, err := fmt.Sscanf(yellow.Light.Link, "#%02x%02x%02x", &link[0], &link[1], &link[2]); err != nil || link[0] < 2*link[2] || link[1] < 2*link[2] {
		t.Errorf("a link in yellow is %s", yellow.Light.Link)
	}
	// Grey controls would look switched off.
	for colour, theme := range map[string]func(tenant.Palette) tenant.Shades{
		"#ffffff": func(p tenant.Palette) tenant.Shades { return p.Light },
		"#000000": func(p tenant.Palette) tenant.Shades { return p.Dark },
	} {
		p, err := tenant.PaletteOf(colour)
		if err != nil || theme(p).Button == colour || !theme(p).Adjusted(colour) {
			t.Errorf("%s where the page has the same colour: %+v, %v", colour, theme(p), err)
		}
	}
	for _, bad := range []string{"", "blue", "#12345", "#gggggg", "#5746D6", "5746d6"} {
		if p, err := tenant.PaletteOf(bad); err == nil {
			t.Errorf("%q makes %+v", bad, p)
		}
	}
}

// The stylesheets begin with the product's colour, derived like a business's own.
func TestStylesheetsHaveTheProductsPalette(t *testing.T) {
	t.Parallel()
	p, err := tenant.PaletteFor(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"panel", "till"} {
		css, err := os.ReadFile("../../static/css/" + name + ".css")
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile(`(?s):root, \[data-bs-theme=light\] \{(.*?)\n\}.*?\n\[data-bs-theme=dark\] \{(.*?)\n\}`).FindStringSubmatch(string(css))
		if blocks == nil {
			t.Fatalf("%s.css has no variables", name)
		}
		for i, s := range []tenant.Shades{p.Light, p.Dark} {
			for variable, want := range map[string]string{
				"primary": s.Button, "primary-ink": s.OnButton, "primary-hover": s.ButtonHover, "primary-edge": s.ButtonEdge,
				"link": s.Link, "mark": s.Mark, "tint": s.Tint,
			} {
				got := regexp.MustCompile(`--` + variable + `: (#[0-9a-f]{6});`).FindStringSubmatch(blocks[i+1])
				if got == nil || got[1] != want {
					t.Errorf("%s.css, theme %d: --%s is %v, want %s", name, i, variable, got, want)
				}
			}
		}
	}
}

// wcag returns the contrast of two colours, implemented independently from the recommendation.
func wcag(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(colour string) float64 {
		var n [3]int
		if _, err := fmt.Sscanf(colour, "#%02x%02x%02x", &n[0], &n[1], &n[2]); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			s := float64(n[i]) / 255
			if s <= 0.04045 {
				s /= 12.92
			} else {
				s = math.Pow((s+0.055)/1.055, 2.4)
			}
			sum += weight * s
		}
		return sum
	}
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}
