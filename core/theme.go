package core

// Theme is the colour and logo that a business chose for its pages. Nil: the product's own.
type Theme struct {
	Colour   *string // "#5746d6"
	LogoHash *string // SHA-256 in hex, part of the logo's address

	// The logo's pixels. Nil: it was uploaded before they were stored.
	LogoWidth  *int
	LogoHeight *int
}

// LogoShape is the shape in which a logo is shown at a fixed height: its width in units of the height.
type LogoShape float64

// The limits of a logo's shape.
const (
	square    LogoShape = 1
	wideShape LogoShape = 1.5
	widest    LogoShape = 4
)

// ShapeOf returns the shape of a logo with these pixels. A logo that is higher than wide is shown in a
// square.
func ShapeOf(width, height int) LogoShape {
	if height <= 0 {
		return square
	}
	return min(max(LogoShape(width)/LogoShape(height), square), widest)
}

// HasName reports whether the logo is wide, so that it has the business's name in it and the name beside
// it is left out.
func (s LogoShape) HasName() bool { return s >= wideShape }

// Logo returns the shape of the theme's logo, which is square if it is not known.
func (t Theme) Logo() LogoShape {
	if t.LogoHash == nil || t.LogoWidth == nil || t.LogoHeight == nil {
		return square
	}
	return ShapeOf(*t.LogoWidth, *t.LogoHeight)
}
