package admin

import (
	"net/http"
	"slices"
)

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// routes are the panel's, each with the least role that has it. Those of a noun stand
// in its file.
func (a *Admin) routes() []route {
	return slices.Concat(
		a.frameRoutes(),
		a.doorRoutes(),
		a.customerRoutes(),
		a.importRoutes(),
		a.customerExportRoutes(),
		a.transactionRoutes(),
		a.typeRoutes(),
		a.dashboardRoutes(),
		a.reportRoutes(),
		a.auditRoutes(),
		a.settingsRoutes(),
		a.businessRoutes(),
		a.staffRoutes(),
		a.tokenRoutes(),
		a.securityRoutes(),
		a.rewardRoutes(),
		a.redemptionRoutes(),
		a.couponRoutes(),
		a.locationRoutes(),
	)
}
