package admin

import "example.com/loyalty/views/ui"

// CustomerPicker lets the person select a customer.
type CustomerPicker struct {
	Frame
	Question string
	Path     string // the page that needs the customer
	Search   ui.Field
	Heading  string // of the suggestions
	Found    []Found
}

// Found is a customer in the results.
type Found struct{ ID, Name, Phone, Balance, Path string }
