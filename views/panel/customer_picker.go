package panel

import "example.com/loyalty/views/ui"

// CustomerPicker lets the person select a customer.
type CustomerPicker struct {
	Frame
	Question string
	Path     string // the page that needs the customer
	Search   ui.Field
	Heading  string // of the suggestions
	Note     string // above them; "": none
	Found    []Found
	Nothing  string // before a search, if nothing is found; "": there are no customers yet
}

// Found is a customer in the results.
type Found struct{ ID, Name, Phone, Balance, Path string }
