package admin

import (
	"strings"

	"example.com/loyalty/views/ui"
)

// Paper is a size of paper.
type Paper string

// The sizes that posters have.
const (
	A4 Paper = "A4"
	A5 Paper = "A5"
)

// Poster leads customers to the page where they join.
type Poster struct {
	Frame
	Heading string
	Offer   []string // "1 point for every € 1.00."
	QR      ui.QR
	Address string // of the page, to be typed
	Paper   Paper
	Papers  []ui.Option // their paths
}

func (p Paper) class() string { return "poster-" + strings.ToLower(string(p)) }
