package panel

import "example.com/loyalty/views/ui"

// Confirm asks for confirmation before an action.
type Confirm struct {
	Frame
	ui.Confirm
}

// Exports are the addresses of a list as files.
type Exports struct {
	CSV, XLSX string
	Fragment  bool // only the list is rendered, so they are swapped out of band
}
