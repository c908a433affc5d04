// Package settings serves the settings of a business: its details and branding, how points and stamps expire, locations, the poster, billing and notifications.
package settings

import (
	"slices"

	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Business
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return slices.Concat(h.businessRoutes(), h.programmeRoutes(), h.locationRoutes(), h.posterRoutes(), h.billingRoutes(), h.notificationRoutes(), h.weeklyRoutes())
}
