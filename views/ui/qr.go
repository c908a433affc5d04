package ui

import "strconv"

// QR is a QR code.
type QR struct {
	Label string // for screen readers
	Size  int    // of a side, in modules
	Path  string // the dark modules as an SVG path
}

func (q QR) box() string {
	side := strconv.Itoa(q.Size)
	return "0 0 " + side + " " + side
}

func (q QR) side() string { return strconv.Itoa(q.Size) }
