// Package platform is the HTML of the panel of those who run the platform. Web builds the
// view models; nothing is decided or computed here.
package platform

import "example.com/loyalty/views/ui"

// Frame is what every page has around its content.
type Frame struct {
	Title   string    // of the page, and of the tab
	Badge   *ui.Badge // beside the title: a status; nil: none
	Crumbs  []ui.Crumb
	Person  string    // who is signed in; "": nobody, and the page has no navigation
	Account []NavItem // of the person's own menu
	SignOut string    // where the form is sent to; "": it is not possible
	Search  string    // where "Find a tenant" leads; "": there is no list
	Nav     []NavItem
	More    []NavItem
	Flashes []ui.Flash
	Theme   string // "light", "dark", or "" for the device's
	Assets  ui.Assets
}

// NavItem leads to a part of the panel.
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

// Notice is a page that says why there is nothing to see, and leads back.
type Notice struct {
	Words   string
	Request string // the id to quote; "" where it doesn't help
	Back    string // "": nowhere
}

// Choice is a value that a list can be filtered by.
type Choice struct {
	Label, Path string
	Count       string // "" for none
	Current     bool
}

// Moment is an instant: in words, exactly, and for machines.
type Moment struct{ Text, Exact, Machine string }
