// Package platform is the HTML of the super-admins' panel. web/platform builds the view models.
package platform

import "example.com/loyalty/views/ui"

// Frame is the frame around every page.
type Frame struct {
	Title   string    // of the page, and of the tab
	Badge   *ui.Badge // beside the title: a status; nil: none
	Crumbs  []ui.Crumb
	Person  string    // the person who is signed in; "" for none, then the page has no navigation
	Account []NavItem // of the person's own menu
	SignOut string    // the action; "" if no one is signed in
	Search  string    // the action of "Find a tenant"; "" for none
	Nav     []NavItem
	More    []NavItem
	Flashes []ui.Flash
	Theme   string // "light", "dark", or "" for the device's
	Assets  ui.Assets
}

// NavItem links to a part of the panel.
type NavItem struct {
	Label, Path, Icon string
	Current           bool
}

// moreCurrent reports whether the page belongs to an entry of the menu.
func (f Frame) moreCurrent() bool {
	for _, i := range f.More {
		if i.Current {
			return true
		}
	}
	return false
}

// Notice is an error page.
type Notice struct {
	Words   string
	Request string // the id to quote; "" for none
	Back    string // "" for no link
}

// Choice is a value of a filter.
type Choice struct {
	Label, Path string
	Count       string // "" for none
	Current     bool
}

// Moment is an instant: in words, exact, and machine-readable.
type Moment struct{ Text, Exact, Machine string }
