// Package panel is the frame of both panels, and the parts of pages that several of their features show.
package panel

import (
	"cmp"
	"slices"

	"example.com/loyalty/views/format"
	"example.com/loyalty/views/ui"
)

// Frame is the part of a page around its content: navigation, heading and messages.
type Frame struct {
	format.Reader

	Title    string    // of the page and the browser tab
	Heading  string    // of the page, if it differs from the browser tab's
	Badge    *ui.Badge // beside the heading: a status; nil: none
	Crumbs   []ui.Crumb
	Business string // "Platform" in the platform panel
	Test     bool   // a test business
	Person   Person
	Nav      []NavGroup
	Bell     *Bell // nil: the person gets no notifications
	Bar      *Bar  // of the platform panel, in place of Nav and Bell; nil: the panel of a business
	Flashes  []ui.Flash
	Notices  []PlanNotice
	Theme    string // "light", "dark"; "": the device's
	Assets   ui.Assets
	Chart    bool // load the chart scripts
}

// Person is the signed-in person.
type Person struct{ Name, Role string }

// NavGroup is a group of navigation items.
type NavGroup struct {
	Title string // "" for the first group
	Items []NavItem
}

// NavItem links to a part of the panel.
type NavItem struct {
	Label, Path, Icon string
	Current           bool
	Badge             *Badge // nil: nothing waits
}

// Badge is a figure beside a navigation item or on the bell.
type Badge struct {
	Shown string // "12", "99+"
	Label string // for screen readers: "12 pending"
}

// Bell links to the notifications.
type Bell struct {
	Label   string // "Notifications", "Notifications, 3 new"
	Badge   *Badge // nil: none are new
	Current bool
}

// Bar is the head of the platform panel.
type Bar struct {
	Nav     []NavItem
	More    []NavItem // in a menu
	Account []NavItem // in the person's own menu
	SignOut string    // the action; "" if no one is signed in
	Search  string    // the action of "Find a tenant"; "" for none
}

// moreCurrent reports whether the page belongs to an entry of the menu.
func (b Bar) moreCurrent() bool {
	return slices.ContainsFunc(b.More, func(i NavItem) bool { return i.Current })
}

func (f Frame) heading() string { return cmp.Or(f.Heading, f.Title) }
