// Package sales serves the pages about sales and the transaction types that say what a sale earns.
package sales

import (
	"slices"

	"example.com/loyalty/views/links"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Business
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return slices.Concat(h.transactionRoutes(), h.ExportRoutes(links.TransactionsExport, h.exportTransactions), h.typeRoutes())
}
