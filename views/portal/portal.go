// Package portal is the HTML of customers' own pages. They work without script and follow
// the device's colour scheme. Web builds the view models; nothing is decided here.
package portal

import "example.com/loyalty/views/ui"

// Frame is what every page has around its content.
type Frame struct {
	Title    string
	Business string // "" where the host belongs to none
	LogoPath string // "" for none
	Assets   Assets
	Staff    *Staff // nil: no staff are signed in here
	Body     string // the class of the page's body: "" for none
	Colour   string // of the browser's own bars: the business's; "" for none
	Manifest string // of a page that can be put on a home screen; "" for none
}

// Assets are the addresses of styles and the icon.
type Assets struct {
	Icon        string
	Font        string
	Stylesheets []string
	Scripts     []string
	TouchIcon   string // for home screens; "" for none
}

// Staff is what the bar above the page offers to signed-in staff.
type Staff struct {
	Name string
	Path string // of the voucher in the panel
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

// over reports whether a voucher can never be used again.
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
	Ended       string   // "Used on 3 Nov 2026, 14:05"; "" where it has not ended
	Words       string   // why it can't be used at the moment; "" where it can
	Code        []string // in groups
	QR          ui.QR    // of a valid one
	Left        string   // "39 days left"
	Coupon      string
	Description string
}

// size is the class that makes a long value small enough for a phone.
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
	Primary bool   // the button is what the page is for
	Resume  bool   // the button subscribes again
}

// Notice says why there is nothing to see.
type Notice struct {
	Frame
	Words   string
	Request string // the id to quote; "" for none
}
