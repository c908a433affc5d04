// Package people serves the pages about people who sign in, their tokens, and what they did: staff, API tokens, the audit log.
package people

import (
	"slices"

	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Business
	API API
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return slices.Concat(h.staffRoutes(), h.tokenRoutes(), h.auditRoutes())
}
