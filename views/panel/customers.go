package panel

import (
	"github.com/a-h/templ"

	"example.com/loyalty/views/ui"
)

// CustomerFields are what a customer is added with.
type CustomerFields struct{ First, Last, Phone, Email ui.Field }

// Sorted is the aria-sort of a heading's cell.
func Sorted(h ui.Heading) templ.Attributes {
	if h.Sorted == "" {
		return nil
	}
	return templ.Attributes{"aria-sort": h.Sorted}
}
