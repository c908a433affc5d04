// Package till is the HTML of the point of sale. web/till builds the view models.
//
// Its surprising rule: the amount and the customer are in one form, so that every step works without
// JavaScript and keeps what the others entered. A script replaces parts of the page by their ids.
package till

import (
	"slices"
	"strconv"

	"example.com/loyalty/views/ui"
)

// Frame is the frame around every page.
type Frame struct {
	Title    string
	Business string
	Person   string
	Places   *Places // nil for a business without locations
	Theme    string  // "light", "dark", or "" for the device's
	Assets   Assets
}

// Assets are the addresses of styles, scripts and the icon.
type Assets struct {
	Icon        string
	Font        string
	Stylesheets []string
	Plain       string // a stylesheet for browsers without JavaScript
	Branding    string // the stylesheet with the colour and logo of the business
	Theme       string // a script that runs before the page is drawn
	Scripts     []string
	Manifest    string
	Detector    string // a script that reads QR codes for browsers that can't; loaded on demand
	Engine      string // its WebAssembly
}

// Places is the menu of locations.
type Places struct {
	ID, Current string // "" before one is chosen
	List        []Place
}

// Place is a location.
type Place struct {
	ID, Name string
	Current  bool
}

// Desk is the page of a sale: the amount on the left, the customer on the right.
type Desk struct {
	Frame
	FormKey   string
	Pad       Pad
	Side      Side
	TypesPath string // where a transaction type is created; "" for cashiers
}

// Pad is the keypad for the amount.
type Pad struct {
	Amount   ui.Field // as text, for browsers without JavaScript
	Cents    string   // the amount so far in the smallest unit; "" before the first digit
	Symbol   string
	Decimals string
	Shown    string // "24.50"
	Types    []Type

	Categories []Type // what the sale is about; none: the business doesn't ask
}

// NoCategory reports whether no category is chosen.
func (p Pad) NoCategory() bool {
	return !slices.ContainsFunc(p.Categories, func(t Type) bool { return t.Selected })
}

// Type is a transaction type or a category to choose.
type Type struct {
	ID, Name string
	Selected bool
}

// Side is the customer's column: the Customer, or the ways to find one.
type Side struct {
	Problem  string // why the last step was refused
	Phone    string // as it was typed
	Focus    string // the field that was refused: "pin" or "phone"
	Matches  []Match
	More     bool   // than Matches
	Searched bool   // for Phone
	AddPath  string // where a customer with this number is added
	Recent   []Match
	Total    string // of the sale: "€ 24.50"; "" before the first digit
	Customer *Customer
	Ask      *Ask // to confirm a large amount; nil for none
}

// Match is a customer to choose.
type Match struct {
	ID, Name, Initials, Note string
	Tone                     string // one of four colours: "0" to "3"
}

// Customer is the customer of the sale.
type Customer struct {
	ID, PIN        string // PIN: the id of the accepted one; "" for none
	Name, Contact  string // Contact: the phone number, or else the e-mail address
	Points, Stamps int64
	Level          string // "Gold · € 80.00 to Platinum"; "": there are no levels
	Balances       []Balance
	Ends           []string // what expires soon: "40 points expire on 31 Jan"
	Progress       *Progress
	CardPath       string // the page with the QR code of their card; "" for none
	Notice         string // why nothing can be recorded; else ""
	Check          string // what the cashier has to check before rewards and vouchers are used; else ""
	Uses           []Use
	Earns          Earns
}

// Balance is a number and its unit.
type Balance struct{ Value, Unit string }

// Progress is the way to the next reward.
type Progress struct {
	Missing string // "76 points"
	To      string // "a free cinnamon bun"
	After   string // "52 after this sale"; "" if nothing changes
	Bar     ui.Bar
}

// Use is a reward or voucher that the customer can use.
type Use struct {
	Field, Value string // of the checkbox
	Name, Kind   string // "Filter coffee", "Reward"
	Worth        string // "80 points", "−€ 5.00"
	Voucher      bool
	Picture      string // its path; "": an icon
	Points       int64  // what it costs
	Stamps       int64
	Checked      bool
	Disabled     bool
	Why          string // the customer can't have it: "For Gold and above"; else ""
}

// Bill is how the amount to pay is calculated.
type Bill struct {
	Sum  string // "€ 10.00 − 20% − € 3.00"; "" without an amount
	Paid string // "€ 5.00"
	Note string // what is not paid out, or what to enter; else ""
}

// Earns is what the sale earns, and the new balance.
type Earns struct {
	Bill    *Bill  // nil without discounts
	Award   string // "+24 points"; "" without an amount
	Note    string // why it is less than expected
	Balance string // "148 points"
}

// Ask is the question about an amount above the limit of the business.
type Ask struct {
	Question, Explanation string
	Action                string
	Button                string
	Confirm               ui.Pair
}

// Show is the page that faces the customer: a code to collect the sale.
type Show struct {
	Frame
	State  string // "waiting", "taken", or how the code ended
	Award  string // "+24 points"
	Why    string // "Double points until 18:00"
	Spend  string // "€ 24.50"
	Host   string // where the PIN is entered: "demo.example/w"
	PIN    ui.PIN
	Live   string // the stream of events of a taken code
	Self   string // the path of this page
	Renew  string
	Cancel string
	Status string // in words
	Notice string // of an ended code: what to do
}

// Card is the page with the QR code of a customer's card.
type Card struct {
	Frame
	Name     string // the first name: other customers see the screen
	QR       ui.QR
	Mail     string // the action that e-mails the link
	HasEmail bool
	Back     string
	Done     string // the result of an action; "" at first
	Replace  string // the page and the action that replace the link
	Asked    bool   // whether to replace it
}

// Receipt is the page of a checkout: a recorded sale, or rewards and vouchers used without one.
type Receipt struct {
	Frame
	Title    string // "Sale recorded"
	Voided   bool
	Symbol   string
	Spend    string // what was paid: "24.50"; "" if only rewards and vouchers were used
	Bill     *Bill  // nil without discounts
	Award    string // "+24 points"
	Reached  string // the level to which the sale raised the customer: "Now Gold, until 31 December 2027"
	Customer Match
	Meta     string // "Dine in, 15:31"
	Balances []Balance
	Progress *Progress
	Used     []Used
	Undo     *Undo
	Why      []string // the parts of the award besides its base: Double points +12 points
	Note     string
	Problem  string
}

// Used is a reward or voucher that was used.
type Used struct {
	Name, What string
	Undone     bool // struck through
}

// Undo is the button that undoes the sale with its rewards and vouchers.
type Undo struct {
	Path    string
	Label   string
	Seconds int    // left; 0 for no limit
	Left    string // "9:48 left"
}

// Take is the page for a code that was scanned with a phone's camera app.
type Take struct {
	Frame
	Code string
}

// WhichPlace asks for the location of a device.
type WhichPlace struct {
	Frame
	To string // the path that the answer leads to
}

// Notice is an error page.
type Notice struct {
	Frame
	Message, Request string
	Back, BackLabel  string
}

// formKey is the name of the field by which two clicks record one sale.
const formKey = "form_key"

// available counts what the customer can use.
func available(uses []Use) string {
	n := 0
	for _, u := range uses {
		if u.Why == "" {
			n++
		}
	}
	if n == 0 {
		return "None available"
	}
	return strconv.Itoa(n) + " available"
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func percent(p float64) string { return strconv.FormatFloat(p, 'f', 2, 64) + "%" }
