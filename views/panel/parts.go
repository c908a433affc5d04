package panel

import (
	"github.com/a-h/templ"

	"example.com/loyalty/views/ui"
)

// Confirm asks for confirmation before an action.
type Confirm struct {
	Frame
	ui.Confirm
}

// Action is a button that links to a page or opens a confirmation.
type Action struct {
	Label, Path string
	Icon        string // "": none
	Class       string // of the button, "btn-primary"
	Asks        bool   // opens Path in the dialog
}

func (x Action) attributes() templ.Attributes {
	if x.Asks {
		return ui.DialogLink(x.Path)
	}
	return templ.Attributes{"href": x.Path}
}

// Exports are the addresses of a list as files.
type Exports struct {
	CSV, XLSX string
	Fragment  bool // only the list is rendered, so they are swapped out of band
}
