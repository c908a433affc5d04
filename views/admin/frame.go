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
	Theme    string // "light", "dark", or "" for the device's
	Assets   Assets
	Chart    bool // the page has one
	Wide     bool
}

// Person is who is signed in.
type Person struct{ Name, Role string }

// Assets are the addresses of styles, scripts and the icon.
type Assets struct {
	Icon         string
	Font         string
	Stylesheets  []string
	Look         string // the business's own colour and logo
	Theme        string // a script that must run before the page is seen
	Scripts      []string
	ChartStyle   string
	ChartScripts []string
}

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

// Door is a page for those who are not signed in.
type Door struct {
	Title    string
	Business string
	Flashes  []ui.Flash
	Theme    string
	Assets   Assets
}

// Notice is a page that says why there is nothing to see, and leads back.
type Notice struct {
	Icon, Title, Words string
	Back, BackLabel    string
	Request            string // the id to quote; "" where it helps nobody
}
