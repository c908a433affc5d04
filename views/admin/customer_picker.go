package admin

import "example.com/loyalty/views/ui"

// CustomerPicker asks for the customer whom something is done for.
type CustomerPicker struct {
	Frame
	Question string
	Path     string // of the page that asks
	Search   ui.Field
	Found    []Found
}

// Found is a customer who was found.
type Found struct{ ID, Name, Phone, Balance, Path string }
