package admin

import "example.com/loyalty/views/ui"

// Confirm asks before something is done that cannot be undone.
type Confirm struct {
	Frame
	ui.Confirm
}
