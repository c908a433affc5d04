// Package rewards serves the pages about rewards and their redemptions.
package rewards

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
	return slices.Concat(h.rewardRoutes(), h.redemptionRoutes(), h.ExportRoutes(links.RedemptionsExport, h.exportRedemptions))
}
