package portal

import "example.com/loyalty/views/ui"

// Join is the form by which a customer joins.
type Join struct {
	Frame
	Heading string
	Offer   []string // "1 point for every € 1.00."
	Problem *ui.Problem
	FormKey string
	Name    ui.Field
	Phone   ui.Field
	Email   ui.Field
	Agreed  ui.Field
	Terms   string // which words the customer is shown
	Privacy string // the URL of the privacy policy; "" for none
	Offers  ui.Field
}

// Find is the form that mails a customer the link to their card.
type Find struct {
	Frame
	Problem *ui.Problem
	Contact ui.Field
}

// Answer is a short page that says what happened.
type Answer struct {
	Frame
	Heading string
	Words   string
	Link    string // "" for none
	Path    string
}

// TypePIN is the form for the digits that a till shows.
type TypePIN struct {
	Frame
	Problem *ui.Problem
	PIN     ui.Field
}

// Amount is what a claim collects, and for what.
type Amount struct {
	Value, Unit string // "24", "points"
	Spend       string // "€ 24.50 at Nybrogatan"
}

// Scanned asks before it takes a scanned PIN: cameras and previews open links.
type Scanned struct {
	Frame
	Amount Amount
	Action string
}

// Claim is the form by which a customer collects a sale.
type Claim struct {
	Frame
	Amount  Amount
	Problem *ui.Problem
	FormKey string
	Phone   ui.Field
	Name    ui.Field
	Agreed  ui.Field
	Terms   string
	Privacy string
	Button  string
}

// Claimed says what was collected. Of an existing customer it tells nothing else.
type Claimed struct {
	Frame
	Amount   Amount // "+24", "points collected"
	Thanks   string
	Balance  string    // of a new customer: "24 points"; "" for an existing one
	Progress *Progress // of a new customer
	CardPath string    // of a new customer
}
