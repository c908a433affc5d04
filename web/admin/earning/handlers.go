// Package earning serves the pages about what sales earn besides the rules of their types: promotions with their calendar and
// a simulator, categories with their codes, and the limits of a day.
package earning

import (
	"slices"

	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/admin/earning"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Business
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return slices.Concat(h.promotionRoutes(), h.categoryRoutes(), []route.Route{
		route.Get(links.EarningCalendar, route.Managers, h.showCalendar),
		route.Get(links.EarningSimulator, route.Managers, h.simulate),
		route.Get(links.SlowHours, route.Managers, h.showSlowHours),
		route.Get(links.EarningLimits, route.Managers, h.showLimits),
		route.Post(links.EarningLimits, route.Managers, h.editLimits),
	})
}

// tab is the frame of a page that has a tab.
func (h *Handlers) tab(c echo.Context, current string) views.Tab {
	return views.Tab{Frame: h.Frame(c, "Earning", links.Earning), Current: current}
}

// trail is the trail of a page below one with a tab.
func trail(label, path string) []ui.Crumb {
	crumbs := []ui.Crumb{{Label: "Earning", Path: links.Earning}}
	if path != links.Earning {
		crumbs = append(crumbs, ui.Crumb{Label: label, Path: path})
	}
	return crumbs
}
