// Package setup serves the guide that leads a new owner to the first sale.
package setup

import (
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Business
	Tenants      *tenant.Service
	Customers    *customer.Service
	Transactions *transaction.Service
	Rewards      *reward.Service
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return h.setupRoutes()
}
