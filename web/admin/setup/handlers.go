// Package setup serves the guide that leads a new owner to the first sale.
package setup

import (
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Business
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return h.setupRoutes()
}
