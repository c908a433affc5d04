package admin

import (
	"net/http"
	"slices"
)

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// routes lists the panel's routes. Each noun's file declares its own.
func (a *Admin) routes() []route {
	return slices.Concat(
		a.frameRoutes(),
		a.signInRoutes(),
		a.customerRoutes(),
		a.importRoutes(),
		a.exportRoutes(), a.customerNoteRoutes(), a.customerMergeRoutes(),
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

// Page is a GET route: a page, a fragment of one, or a file.
type Page struct {
	Path   string // with :name in place of a record's id
	Public bool   // needs no sign-in
	Slow   bool   // has no timeout
}

// Pages lists the panel's GET routes, for tools that visit them all.
func Pages() (list []Page) {
	for _, r := range (&Admin{}).routes() {
		if r.method == get {
			list = append(list, Page{Path: r.path, Public: r.least == "", Slow: r.slow})
		}
	}
	return list
}

// OpenPosts lists the paths that take a POST without a sign-in.
func OpenPosts() (paths []string) {
	for _, r := range (&Admin{}).routes() {
		if r.method == post && r.least == "" {
			paths = append(paths, r.path)
		}
	}
	return paths
}
