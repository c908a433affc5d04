package platform

import (
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

// routes lists the routes of the panel. Each noun's are in its file.
func (p *Platform) routes() []route.Route {
	return slices.Concat(
		p.frameRoutes(),
		p.tenantRoutes(),
		p.signInPages().Routes(),
		p.planRoutes(),
		p.invoiceRoutes(),
		p.jobRoutes(),
		p.auditRoutes(),
		p.healthRoutes(),
		p.deprecationRoutes(),
		p.tokenRoutes(),
		p.settingRoutes(),
	)
}

func pathID(c echo.Context) (int64, error) { return page.PathNumber(c, "id") }

// Routes lists the panel's routes, for tools that visit them all.
func Routes() []route.Route { return new(Platform).routes() }
