package settings

import (
	"strings"

	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// Paper is a size of paper.
type Paper string

// The sizes of posters.
const (
	A4 Paper = "A4"
	A5 Paper = "A5"
)

// Poster invites customers to join.
type Poster struct {
	panel.Frame
	Heading string
	Offer   []string // "1 point for every € 1.00."
	QR      ui.QR
	Address string // of the page where they join
	Paper   Paper
	Papers  []ui.Option // values are paths
}

func (p Paper) class() string { return "poster-" + strings.ToLower(string(p)) }
