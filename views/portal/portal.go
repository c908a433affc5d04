// Package portal is the HTML of customers' own pages. They work without scripts and follow the device's
// colour scheme. web/portal builds the view models.
package portal

import "example.com/loyalty/views/ui"

// Frame is the frame around every page.
type Frame struct {
	Title     string
	Business  string // "" on an unknown host
	LogoPath  string // "" for none
	LogoWidth int    // of the logo where it is 36 pixels high
	WideLogo  bool   // the name is in the logo
	Assets    Assets
	Staff     *Staff // nil if no staff are signed in
	Body      string // the class of the body; "" for none
	Colour    string // of the browser's bars; "" for none
	Manifest  string // the web app manifest; "" for none
}

// nameClass hides the business's name beside a logo that has it.
func (f Frame) nameClass() string {
	if f.WideLogo {
		return "visually-hidden"
	}
	return ""
}

// Assets are the addresses of styles and the icon.
type Assets struct {
	Icon        string
	Font        string
	Stylesheets []string
	Scripts     []string
	TouchIcon   string // for home screens; "" for none
}

// Staff is the bar for signed-in staff.
type Staff struct {
	Name string
	Path string // in the panel
	Link string // "Redeem this voucher"
}

// State is the state of a voucher.
type State string

// The states, as customers read them.
const (
	Valid       State = "Valid"
	Used        State = "Used"
	Expired     State = "Expired"
	Unavailable State = "Not available now"
)

// over reports whether the voucher can't be used again.
func (s State) over() bool { return s == Used || s == Expired }

// class is the state's name in the style sheet.
func (s State) class() string {
	return map[State]string{Valid: "valid", Used: "over", Expired: "over", Unavailable: "paused"}[s]
}

// Voucher is a customer's voucher.
type Voucher struct {
	Frame
	State       State
	Symbol      string // of the currency; "" for none
	Value       string // "5.00"
	What        string // "off your order"
	Until       string // the last day; "" for never
	Customer    string
	Ended       string   // "Used on 3 Nov 2026, 14:05"; else ""
	Words       string   // why it can't be used now; else ""
	Code        []string // in groups
	QR          ui.QR    // of a valid one
	Left        string   // "39 days left"
	Coupon      string
	Description string
}

// size is the class for the length of the value.
func (v Voucher) size() string {
	switch n := len([]rune(v.Symbol + v.Value)); {
	case n <= 7:
		return "large"
	case n <= 14:
		return "medium"
	}
	return "small"
}

// Subscription asks before unsubscribing, or confirms the customer's choice.
type Subscription struct {
	Frame
	Heading string
	Words   string
	Action  string // of the form
	Button  string // "" for none
	Primary bool   // style of the button
	Resume  bool   // the button subscribes again
}

// Notice is an error page.
type Notice struct {
	Frame
	Words   string
	Path    string // of a link; "" for none
	Link    string
	Request string // the id to quote; "" for none
}
