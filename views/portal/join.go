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
	Terms   string // identifies the terms that are shown
	Privacy string // the URL of the privacy policy; "" for none
	Offers  ui.Field
}

// Start is the page at a business's address.
type Start struct {
	Frame
	Heading string
	Offer   []string
}

// Find is the form that e-mails the link to a card.
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

// Amount is what a claim earns, and the amount of the sale.
type Amount struct {
	Value, Unit string // "24", "points"
	Spend       string // "€ 24.50 at Nybrogatan"
}

// Scanned asks before a scanned PIN is accepted: cameras and previews open links by themselves.
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

// Claimed shows what was collected, and more only to a new customer.
type Claimed struct {
	Frame
	Amount   Amount // "+24", "points collected"
	Thanks   string
	Balance  string    // of a new customer: "24 points"; "" for an existing one
	Progress *Progress // of a new customer
	CardPath string    // of a new customer
	MailPath string    // of an existing customer: e-mails the link to their card
}
