package ui

import "strconv"

// QR is a code that phones read.
type QR struct {
	Label string // for those who do not see it
	Size  int    // of a side, in modules
	Path  string // of the dark ones, in an SVG
}

func (q QR) box() string {
	side := strconv.Itoa(q.Size)
	return "0 0 " + side + " " + side
}

func (q QR) side() string { return strconv.Itoa(q.Size) }
