package admin

import (
	"slices"

	"example.com/loyalty/web/route"
)

// routes lists the panel's routes. Each noun's file declares its own.
func (a *Admin) routes() []route.Route {
	return slices.Concat(
		a.frameRoutes(),
		a.signInPages().Routes(),
		a.customerRoutes(),
		a.importRoutes(),
		a.customerExportRoutes(), a.saleExportRoutes(), a.redemptionExportRoutes(), a.voucherExportRoutes(), a.customerNoteRoutes(), a.customerMergeRoutes(),
		a.transactionRoutes(),
		a.typeRoutes(),
		a.rewardRoutes(),
		a.redemptionRoutes(),
		a.couponRoutes(),
		a.voucherRoutes(),
		a.sendRoutes(),
		a.locationRoutes(),
		a.posterRoutes(),
		a.dashboardRoutes(),
		a.reportRoutes(),
		a.auditRoutes(),
		a.searchRoutes(),
		a.notificationRoutes(), a.weeklyRoutes(),
		a.settingsRoutes(),
		a.businessRoutes(),
		a.staffRoutes(),
		a.tokenRoutes(),
		a.billingRoutes(),
		a.setupRoutes(),
	)
}

// Routes lists the panel's routes, for tools that visit them all.
func Routes() []route.Route { return new(Admin).routes() }
