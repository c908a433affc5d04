package ui

import "strconv"

// PINSeconds is how long a PIN is shown: one unit of its ring is a second.
const PINSeconds = 90

// PIN is a PIN on the screen of its issuer, with the paths that keep it up to date.
type PIN struct {
	ID      string
	Digits  string // six
	QR      QR
	Seconds int    // left
	Note    string // before the countdown: "Show this at the till."; "" for none
	Live    string // the path that reports its state as server-sent events
	Refresh string // the path of the fragment for its state
	Renew   string // the path to post to for the next one
}

// Grouped formats the digits: 481 920.
func (p PIN) Grouped() string {
	if len(p.Digits) != 6 {
		return p.Digits
	}
	return p.Digits[:3] + "\u00a0" + p.Digits[3:]
}

func (p PIN) seconds() string { return strconv.Itoa(p.Seconds) }

// ring is the remaining part of the ring.
func (p PIN) ring() string {
	return strconv.Itoa(min(p.Seconds, PINSeconds)) + " " + strconv.Itoa(PINSeconds)
}
