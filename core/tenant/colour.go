package tenant

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"example.com/loyalty/core"
)

var colourPattern = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// readColour reads a colour; nil: none. Every colour is allowed: PaletteOf corrects its contrast.
func readColour(check *core.Check, v *string) *string {
	text := check.OptionalText("colour", v, maxText)
	if text == nil {
		return nil
	}
	lower := strings.ToLower(*text)
	if !colourPattern.MatchString(lower) {
		check.Add("colour", core.Violation{Rule: "colour"})
	}
	return &lower
}

type rgb struct{ r, g, b uint8 }

// parseColour parses a colour as in core.Theme.
func parseColour(colour string) (rgb, error) {
	number, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil || !colourPattern.MatchString(colour) {
		return rgb{}, fmt.Errorf("tenant: %q is not a colour", colour)
	}
	return rgb{uint8(number >> 16), uint8(number >> 8), uint8(number)}, nil
}

// String returns the colour in CSS.
func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }

// contrast returns the contrast ratio of WCAG, from 1 to 21.
func contrast(a, b rgb) float64 {
	light, dark := a.luminance(), b.luminance()
	if light < dark {
		light, dark = dark, light
	}
	return (light + .05) / (dark + .05)
}

func (c rgb) luminance() float64 {
	return .2126*linear(c.r) + .7152*linear(c.g) + .0722*linear(c.b)
}

func linear(channel uint8) float64 {
	v := float64(channel) / 255
	if v <= .04045 {
		return v / 12.92
	}
	return math.Pow((v+.055)/1.055, 2.4)
}

// mix returns the colour of a translucent layer on a background, as color-mix in sRGB does.
func mix(layer, background rgb, opacity float64) rgb {
	channel := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*opacity + float64(b)*(1-opacity))) }
	return rgb{channel(layer.r, background.r), channel(layer.g, background.g), channel(layer.b, background.b)}
}

// oklch is a colour in Oklch, where colours of the same lightness look equally light, and a change of
// lightness keeps the hue.
type oklch struct{ l, c, h float64 }

func (c rgb) oklch() oklch {
	r, g, b := linear(c.r), linear(c.g), linear(c.b)
	l := math.Cbrt(.4122214708*r + .5363325363*g + .0514459929*b)
	m := math.Cbrt(.2119034982*r + .6806995451*g + .1073969566*b)
	s := math.Cbrt(.0883024619*r + .2817188376*g + .6299787005*b)
	x := 1.9779984951*l - 2.4285922050*m + .4505937099*s
	y := .0259040371*l + .7827717662*m - .8086757660*s
	return oklch{.2104542553*l + .7936177850*m - .0040720468*s, math.Hypot(x, y), math.Atan2(y, x)}
}

// rgb returns the colour, less vivid if no screen can show it.
func (c oklch) rgb() rgb {
	if shown, fits := c.onScreen(); fits {
		return shown
	}
	dull, vivid := 0.0, c.c
	for range 12 {
		half := (dull + vivid) / 2
		if _, fits := (oklch{c.l, half, c.h}).onScreen(); fits {
			dull = half
		} else {
			vivid = half
		}
	}
	shown, _ := oklch{c.l, dull, c.h}.onScreen()
	return shown
}

// onScreen returns the colour in sRGB, and whether it is within sRGB.
func (c oklch) onScreen() (rgb, bool) {
	x, y := c.c*math.Cos(c.h), c.c*math.Sin(c.h)
	l := cube(c.l + .3963377774*x + .2158037573*y)
	m := cube(c.l - .1055613458*x - .0638541728*y)
	s := cube(c.l - .0894841775*x - 1.2914855480*y)
	r, redFits := encoded(4.0767416621*l - 3.3077115913*m + .2309699292*s)
	g, greenFits := encoded(-1.2684380046*l + 2.6097574011*m - .3413193965*s)
	b, blueFits := encoded(-.0041960863*l - .7034186147*m + 1.7076147010*s)
	return rgb{r, g, b}, redFits && greenFits && blueFits
}

func cube(v float64) float64 { return v * v * v }

// encoded is the reverse of linear. It reports whether the channel was within its range.
func encoded(v float64) (uint8, bool) {
	const tolerance = .0005
	fits := v >= -tolerance && v <= 1+tolerance
	v = min(max(v, 0), 1)
	if v <= .0031308 {
		v *= 12.92
	} else {
		v = 1.055*math.Pow(v, 1/2.4) - .055
	}
	return uint8(math.Round(v * 255)), fits
}
