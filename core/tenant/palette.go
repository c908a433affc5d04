package tenant

// ProductColour is the colour of a business that chose none.
const ProductColour = "#5746d6"

// Palette is everything that pages and e-mails show in a business's colour, with the contrast that
// WCAG 2 (AA) asks for.
type Palette struct {
	Fill   string // the colour itself, for areas that a customer knows the business by
	OnFill string // of text on it, black or white: 4.5 or more
	Edge   string // of an area, where the colour is that of the page
	Light  Shades
	Dark   Shades
}

// Shades are the colours of controls, text and lines in one theme.
type Shades struct {
	Button      string // of filled controls
	OnButton    string // of text on it and on ButtonHover, black or white: 4.5 or more
	ButtonHover string
	ButtonEdge  string // of its border: 3 or more on the surface
	Link        string // of text: 4.5 or more on every surface and on Tint
	Mark        string // of lines, charts and progress: 3 or more on every surface
	Tint        string // of selected entries: a little of Mark on the surface
}

// Adjusted reports whether the theme can't use the colour as it is.
func (s Shades) Adjusted(fill string) bool {
	return s.Button != fill || s.Link != fill || s.Mark != fill
}

// theme describes what colours are shown on.
type theme struct {
	surface  rgb
	farthest []rgb // other backgrounds, those of the least contrast among them
	ink      rgb
	darker   bool    // text is darker than the surface
	tinted   float64 // opacity of Tint
	heaviest float64 // opacity of the strongest tint that text is on

	line, link float64 // the contrast that lines and links are given, if their colour has less
}

// The surfaces of css/panel.css, css/till.css and css/portal.css.
var (
	lightTheme = theme{
		surface: white, farthest: []rgb{{0xf3, 0xf2, 0xf7}}, ink: rgb{0x1b, 0x1b, 0x21}, darker: true, tinted: .12, heaviest: .16, line: lineContrast, link: 5,
	}
	darkTheme = theme{
		surface: rgb{0x18, 0x18, 0x1d}, farthest: []rgb{{0x23, 0x23, 0x29}, {0x10, 0x10, 0x14}}, ink: rgb{0xed, 0xed, 0xf2}, tinted: .16, heaviest: .24, line: 4, link: 6.5,
	}
	black, white = rgb{}, rgb{0xff, 0xff, 0xff}
)

const (
	textContrast = 4.5
	lineContrast = 3.2 // 3, and something for rounding
	greyLine     = 8   // the contrast of lines and links without a hue, which must not look switched off
	greyLink     = 13
	greyChroma   = .05 // a colour with this chroma or less looks grey
	edgeContrast = 2   // of a button and the surface: with less, it doesn't look like a button
)

// PaletteOf derives the palette of a colour as in core.Theme. It is the only derivation: stylesheets,
// e-mails and pictures take their colours from it.
func PaletteOf(colour string) (Palette, error) {
	c, err := parseColour(colour)
	if err != nil {
		return Palette{}, err
	}
	ink := inkOn(c)
	return Palette{
		Fill: c.String(), OnFill: ink.String(), Edge: mix(ink, c, .16).String(),
		Light: lightTheme.shades(c), Dark: darkTheme.shades(c),
	}, nil
}

// PaletteFor returns the palette of a theme.
func PaletteFor(colour *string) (Palette, error) {
	if colour == nil {
		return PaletteOf(ProductColour)
	}
	return PaletteOf(*colour)
}

// inkOn returns black or white, whichever is easier to read on a colour. Its contrast is 4.58 or more.
func inkOn(c rgb) rgb {
	if contrast(c, white) >= contrast(c, black) {
		return white
	}
	return black
}

func (t theme) shades(c rgb) Shades {
	grey := c.oklch().c < greyChroma
	lines, links := t.line, t.link
	if grey {
		lines, links = greyLine, greyLink
	}
	surfaces := append([]rgb{t.surface}, t.farthest...)
	mark := t.readable(c, lines, surfaces)
	tint := mix(mark, t.surface, t.tinted)
	link := t.readable(c, textContrast, append(surfaces, mix(mark, t.surface, t.heaviest), mix(mark, t.farthest[0], t.heaviest)))
	link = t.readable(link, links, []rgb{t.surface})
	button := t.button(c, grey)
	edge := button
	if contrast(button, t.surface) < lineContrast {
		edge = t.readable(button, lineContrast, surfaces)
	}
	return Shades{
		Button: button.String(), OnButton: inkOn(button).String(), ButtonHover: hover(button).String(), ButtonEdge: edge.String(),
		Link: link.String(), Mark: mark.String(), Tint: tint.String(),
	}
}

// readable returns the colour, moved away from the surface until its contrast suffices on all of these
// backgrounds.
func (t theme) readable(c rgb, least float64, backgrounds []rgb) rgb {
	suffices := func(c rgb) bool {
		for _, b := range backgrounds {
			if contrast(c, b) < least {
				return false
			}
		}
		return true
	}
	for o := c.oklch(); !suffices(c); c = o.rgb() {
		if t.darker {
			o.l -= .005
		} else {
			o.l += .005
		}
		if o.l <= 0 || o.l >= 1 {
			return t.ink
		}
	}
	return c
}

// button returns the colour of filled controls: the colour itself, if it is told from the surface. A
// colour with a hue keeps it; of the others, the theme's text colour is used, as a grey button would
// look switched off.
func (t theme) button(c rgb, grey bool) rgb {
	if contrast(c, t.surface) >= edgeContrast {
		return c
	}
	switch {
	case grey:
		return t.ink
	case t.darker:
		return c // a light, vivid colour is told from a light surface by the button's edge
	default:
		return t.readable(c, edgeContrast, []rgb{t.surface})
	}
}

// hover returns a button's colour under the pointer, on which its text is still readable.
func hover(button rgb) rgb {
	const seen = 1.12
	own, ink := button.oklch(), inkOn(button)
	for _, move := range []float64{-.06, .06, .12, .3} {
		next := oklch{min(max(own.l+move, 0), 1), own.c, own.h}.rgb()
		if contrast(next, ink) >= textContrast && contrast(next, button) >= seen {
			return next
		}
	}
	return button
}
