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
		a.signInRoutes(),
		a.customerRoutes(),
		a.importRoutes(),
		a.customerExportRoutes(),
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
		a.settingsRoutes(),
		a.businessRoutes(),
		a.staffRoutes(),
		a.tokenRoutes(),
		a.billingRoutes(),
		a.setupRoutes(),
	)
}

// Page is what is there to be asked for: a page, a part of one, or a file.
type Page struct {
	Path   string // with a :name where a record's id goes
	Public bool   // strangers have it, too
	Slow   bool   // it takes what it takes
}

// Pages are all of the panel's.
func Pages() (list []Page) {
	for _, r := range (&Admin{}).routes() {
		if r.method == get {
			list = append(list, Page{Path: r.path, Public: r.least == "", Slow: r.slow})
		}
	}
	return list
}
