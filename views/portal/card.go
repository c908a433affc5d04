package portal

import (
	"strconv"

	"example.com/loyalty/views/ui"
)

// Card is a customer's card.
type Card struct {
	Frame
	Customer string // "": inactive, so that their balance isn't shown either
	Balance  Balance
	Second   string     // the other balance: "3 stamps"; "" for none
	Ends     []string   // what expires soon: "40 points expire on 31 Jan"
	Level    *CardLevel // nil: the business has no levels
	Progress *Progress  // nil without rewards to save for
	Code     Code
	Pending  []string     // redeemed rewards that aren't fulfilled yet
	Ready    []CardReward // affordable now
	Vouchers []CardVoucher
	Next     []CardReward // not affordable yet

	// What the customer can't have, whatever they can afford.
	Barred         []CardReward
	BarredVouchers []CardVoucher

	PicturePath string
	PrintPath   string
	HistoryPath string
	HistoryNote string // below the link to it
}

// Balance is a number and its unit: 124 points.
type Balance struct{ Value, Unit string }

// size is the class for the length of the balance.
func (b Balance) size() string {
	switch n := len(b.Value); {
	case n <= 4:
		return "large"
	case n <= 8:
		return "medium"
	}
	return "small"
}

// offers reports whether the card has rewards or vouchers.
func (v Card) offers() bool {
	return len(v.Pending)+len(v.Ready)+len(v.Vouchers)+len(v.Next)+len(v.Barred)+len(v.BarredVouchers) > 0
}

// CardLevel is the level of the customer.
type CardLevel struct {
	Name   string
	Colour string // "#c0a020"; "": none
	Until  string // "Until 31 December 2027"; "": it has no last day
	Way    int    // to the next one, in percent
	ToNext string // "€ 80.00 to Gold"; "": there is none above
	Perks  []string
}

// Progress is the way to a reward.
type Progress struct {
	Percent int
	Missing string // "76 points"
	Reward  string
}

// Bar is a progress bar, in percent.
type Bar int

func (b Bar) width() string { return strconv.Itoa(max(0, min(100, int(b)))) }

// CodeState is the state of the card's code.
type CodeState string

// The states. Only the page that asked for a code can show it: the digits aren't stored.
const (
	CodeHidden    CodeState = "" // none was asked for
	CodeShown     CodeState = "waiting"
	CodeElsewhere CodeState = "pending" // waiting, and shown by another page
	CodeTaken     CodeState = "taken"   // accepted at the till
	CodeUsed      CodeState = "completed"
	CodeReplaced  CodeState = "replaced" // by one on another screen
	CodeExpired   CodeState = "expired"
	CodeRefused   CodeState = "refused" // too many were shown, or the customer is inactive
)

// Code is the card's code, or the button that shows one.
type Code struct {
	State   CodeState
	Action  string // where the button posts; "" for no button
	PIN     ui.PIN // of a shown one
	Live    string // of a taken one
	Refresh string
	Seconds int      // until a taken one expires; 0: unknown
	Earned  *Balance // of a used one: "+12", "points"; nil without a sale
	Reached string   // the level to which the sale raised the customer: "You are now Gold"; "": none
	Words   string   // why none is shown
}

func (c Code) seconds() string { return strconv.Itoa(c.Seconds) }

// CardReward is a reward on a card.
type CardReward struct {
	Name    string
	Picture string // its address; "" for none
	Cost    string // "80 points"
	ToGo    string // "76 to go"
	Why     string // "For Gold and above"; "": the customer can have it
}

// CardVoucher is a voucher on a card.
type CardVoucher struct {
	Path string
	Name string // "€ 5.00 off your order"
	Note string // "Voucher, until 31 Dec 2026"
	Why  string // "For Gold and above"; "": the customer can use it
}

// Print is the page for printing a card.
type Print struct {
	Frame
	Customer string
	QR       ui.QR
	CardPath string
}
