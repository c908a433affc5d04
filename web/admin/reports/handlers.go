// Package reports serves the dashboard and the reports.
package reports

import (
	"slices"

	"example.com/loyalty/core/location"
	"example.com/loyalty/core/report"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Business
	Reports   *report.Service
	Locations *location.Service
	Guide     Guide
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return slices.Concat(h.dashboardRoutes(), h.reportRoutes())
}
