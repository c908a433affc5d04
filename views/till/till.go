// Package till is the HTML of the point of sale. Web builds the view models; nothing is
// decided or computed here.
//
// Its surprising rule: the amount and the customer are one form, so that every step works
// without JavaScript and none loses what another one entered. A script replaces parts of the
// page by their ids instead of loading it anew.
package till

import "example.com/loyalty/views/ui"

// Frame is what every page of the point of sale has around its content.
type Frame struct {
	Title    string
	Business string
	Person   Person
	Places   *Places // nil: the business has no locations
	Theme    string  // "light", "dark", or "" for the device's
	Assets   Assets
}

// Person is who is signed in.
type Person struct{ Name, Role string }

// Assets are the addresses of styles, scripts and the icon.
type Assets struct {
	Icon        string
	Font        string
	Stylesheets []string
	Plain       string // a stylesheet for browsers without JavaScript
	Branding    string // the business's own colour and logo
	Theme       string // a script that must run before the page is seen
	Scripts     []string
	Manifest    string
	Detector    string // reads QR codes where the browser doesn't; loaded when it is needed
	Engine      string // of the detector, in WebAssembly
}

// Places are the locations that the device can be at.
type Places struct {
	ID, Current string // "" until one was chosen
	List        []Place
}

// Place is a location.
type Place struct {
	ID, Name string
	Current  bool
}

// Desk is the page where a sale is made: the amount on the left, the customer on the right.
type Desk struct {
	Frame
	FormKey   string
	Pad       Pad
	Side      Side
	NoTypes   bool   // there is no transaction type to sell with
	TypesPath string // where one is created; "" for those who may not
}

// Pad is where the amount is entered.
type Pad struct {
	Amount   ui.Field // as text, for browsers without JavaScript
	Cents    string   // the amount so far in the smallest unit; "" before the first digit
	Symbol   string
	Decimals string
	Shown    string // "24.50"
	Types    []Type
	Errors   []string
	Focus    bool // the amount is what has to be corrected
}

// Type is a transaction type to choose.
type Type struct {
	ID, Name string
	Selected bool
}

// Side is the customer's column. Without a Customer it is where one is found.
type Side struct {
	Problem  string // why the last step was refused
	Phone    string // as it was typed
	Focus    string // the field that was refused: "pin" or "phone"
	Matches  []Match
	Searched bool   // Matches are of Phone
	AddPath  string // where a customer with this number is added
	Recent   []Match
	Total    string // of the sale: "€ 24.50"; "" before the first digit
	Customer *Customer
	Ask      *Ask // about letting the customer scan
}

// Match is a customer to choose.
type Match struct {
	ID, Name, Initials, Note string
	Tone                     string // one of four colours: "0" to "3"
}

// Customer is the customer of the sale.
type Customer struct {
	ID, PIN        string // PIN: of the one that was taken; "" for none
	Name, Phone    string
	Points, Stamps int64 // what there is to spend
	Balances       []Balance
	Progress       *Progress
	CardPath       string // where their card is shown as a QR code; "" for none
	Notice         string // why nothing can be recorded; "" normally
	Uses           []Use
	Earns          Earns
	Button         string // "Record sale"
	Total          string // "€ 24.50"; "" without an amount
	Ask            *Ask
}

// Balance is a number and its unit.
type Balance struct{ Value, Unit string }

// Progress is the way to the next reward.
type Progress struct {
	Missing string // "76 points"
	To      string // "a free cinnamon bun"
	After   string // "52 after this sale"; "" where nothing changes
	Bar     ui.Bar
}

// Use is a reward or a voucher that the customer can use now.
type Use struct {
	Field, Value string // of the checkbox
	Name, Kind   string // "Filter coffee", "Reward"
	Worth        string // "80 points", "−€ 5.00"
	Voucher      bool
	Points       int64 // what it costs
	Stamps       int64
	Hint         string // what the cashier does when it is used
	Checked      bool
	Disabled     bool
}

// Earns is what the sale earns, and the balance it leads to.
type Earns struct {
	Award   string // "+24 points"; "" before there is an amount
	Note    string // why it is less than expected
	Balance string // "148 points"
}

// Ask is the question about an amount above the ceiling of the business.
type Ask struct {
	Question, Explanation string
	Action                string
	Button                string
	Confirm               ui.Pair
}

// Preview is what changes while an amount is entered.
type Preview struct {
	Earns    Earns
	Progress *Progress
}

// Show is the page that faces the customer: a code to scan for the sale.
type Show struct {
	Frame
	State  string // "waiting", "taken", or what ended the code
	Award  string // "+24 points"
	Spend  string // "€ 24.50"
	Host   string // where the PIN is entered: "demo.example/w"
	PIN    ui.PIN
	Live   string // the stream of events, while the code is taken
	Self   string // the fragment with this page
	Renew  string
	Cancel string
	Status string // what is going on
	Notice string // why the code ended; "" while it lives
	Button string // "New code"
}

// Card is the page with which a customer gets their card onto their phone.
type Card struct {
	Frame
	Name     string // the first name: other customers see the screen
	QR       ui.QR
	Mail     string // where to post to for an e-mail
	HasEmail bool
	Back     string
	Done     string // what the last step did; "" at first
}

// Receipt is the page of a sale that was recorded.
type Receipt struct {
	Frame
	Title    string // "Sale recorded"
	Voided   bool
	Symbol   string
	Spend    string // "24.50"; "" where only rewards and vouchers were used
	Award    string // "+24 points"
	Customer Match
	Meta     string // "Dine in, 15:31"
	Balances []Balance
	Progress *Progress
	Used     []Used
	Undo     *Undo
	Note     string
	Problem  string
}

// Used is a reward or voucher that the sale used.
type Used struct{ Name, What string }

// Undo takes the sale back.
type Undo struct {
	Path    string
	Seconds int    // left; 0: no end
	Left    string // "9:48 left"
}

// Take is the page that a code scanned by a phone's own camera opens.
type Take struct {
	Frame
	Code string
}

// Notice is a page that says why there is nothing to see, and leads back.
type Notice struct {
	Frame
	Message, Request string
	Back, BackLabel  string
}
