package admin

import (
	"github.com/a-h/templ"

	"example.com/loyalty/views/ui"
)

// Confirm asks before something is done that cannot be undone. It is a page, and the
// content of the dialog.
type Confirm struct {
	Frame
	Action  string
	Words   []string // what will happen
	Button  string   // "": it can no longer be done, and Problem says why
	Danger  bool
	Cancel  string
	Leave   string // what leads to Cancel where there is no Button; "": Look at it
	Hidden  []ui.Pair
	Problem ui.Problem
	Reason  *ui.Field // where one is needed
}

// Asks opens what it leads to in the dialog, once for two clicks: the second would empty
// the form that is being filled in.
func Asks(path string) templ.Attributes {
	return templ.Attributes{"href": path, "hx-get": path, "hx-target": "#dialog", "hx-sync": "this:drop"}
}
