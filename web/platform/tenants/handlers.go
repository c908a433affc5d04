// Package tenants serves the pages about businesses: list, one business, adding, editing, suspending.
package tenants

import (
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Platform
	Invoices *billing.Service
	Names    host.Names
	Sandbox  sandbox.Maker
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return h.tenantRoutes()
}
