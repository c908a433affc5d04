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

// readColour reads a colour; nil: none. Every colour is allowed: black or white is legible on each.
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

// Palette is a business's colour with a text colour that has a contrast of at least 4.5 on it
// (WCAG 2, AA).
type Palette struct {
	Fill   string // the colour itself
	OnFill string // of text on it: black or white
}

var black, white = rgb{}, rgb{0xff, 0xff, 0xff}

// PaletteOf returns the palette of a colour as in Theme.
func PaletteOf(colour string) (Palette, error) {
	number, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil || !colourPattern.MatchString(colour) {
		return Palette{}, fmt.Errorf("tenant: %q is not a colour", colour)
	}
	c := rgb{uint8(number >> 16), uint8(number >> 8), uint8(number)}
	on := black
	if contrast(c, white) >= contrast(c, black) {
		on = white
	}
	return Palette{Fill: c.String(), OnFill: on.String()}, nil
}

type rgb struct{ r, g, b uint8 }

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
