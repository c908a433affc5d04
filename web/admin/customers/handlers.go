// Package customers serves the pages about customers: list, search, one customer with their history, merging, and imports.
package customers

import (
	"slices"

	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/merging"
	"example.com/loyalty/core/privacy"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Business
	Customers    *customer.Service
	Imports      *importing.Service
	Merging      *merging.Service
	Privacy      *privacy.Service
	Transactions *transaction.Service
	Rewards      *reward.Service
	Coupons      *coupon.Service
	Walkins      *walkin.Service
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return slices.Concat(h.customerRoutes(), h.importRoutes(), h.ExportRoutes(links.CustomersExport, h.exportCustomers), h.customerNoteRoutes(), h.customerMergeRoutes(), h.searchRoutes())
}
