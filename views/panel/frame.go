package panel

import (
	"cmp"

	"example.com/loyalty/views/ui"
)

// Frame is the part of a page around its content: navigation, heading and messages.
type Frame struct {
	Title    string // of the page and the browser tab
	Heading  string // of the page, if it differs from the browser tab's
	Crumbs   []ui.Crumb
	Business string
	Person   Person
	Nav      []NavGroup
	Bell     *Bell // nil: the person gets no notifications
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

func (f Frame) heading() string { return cmp.Or(f.Heading, f.Title) }
