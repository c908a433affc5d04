// Package billing serves the pages about plans and invoices.
package billing

import (
	"slices"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Platform
	Invoices *billing.Service // also plans and settings
	Names    host.Names
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return slices.Concat(h.planRoutes(), h.invoiceRoutes())
}
