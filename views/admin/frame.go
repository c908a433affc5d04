// Package admin is the HTML of a business's panel. Web builds the view models, with
// texts for money and times and a yes or no for what may be done; nothing is decided
// or computed here.
package admin

import "example.com/loyalty/views/ui"

// Frame is what every page has around its content.
type Frame struct {
	Title    string // of the page, and of the tab
	Crumbs   []ui.Crumb
	Business string
	Person   Person
	Nav      []NavGroup
	Flashes  []ui.Flash
	Notices  []PlanNotice // limits of the plan that are near or reached
	Theme    string       // "light", "dark", or "" for the device's
	Assets   ui.Assets
	Chart    bool // the page has one
}

// Person is who is signed in.
type Person struct{ Name, Role string }

// NavGroup is a part of the navigation.
type NavGroup struct {
	Title string // "" for the first one
	Items []NavItem
}

// NavItem leads to a part of the panel.
type NavItem struct {
	Label, Path, Icon string
	Current           bool
	Count             string // waiting there; "" for none
}
