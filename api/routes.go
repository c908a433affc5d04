package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
	"example.com/loyalty/web/route"
)

// tokens is the path of the token endpoints, which also accept an owner's session.
const tokens = "/tokens"

// anyToken admits every valid token, and the session of an owner.
var anyToken = route.Owners

// routes lists the endpoints, each with its whole path.
func (a *API) routes() []route.Route {
	list := []route.Route{
		route.Get("/customers", route.Tokens(token.CustomersRead), a.listCustomers),
		route.Post("/customers", route.Tokens(token.CustomersWrite), a.upsertCustomer),
		route.Post("/customers/batch", route.Tokens(token.CustomersWrite), a.upsertCustomers),
		route.Get("/customers/:ulid", route.Tokens(token.CustomersRead), a.findCustomer),
		route.Patch("/customers/:ulid", route.Tokens(token.CustomersWrite), a.editCustomer),
		route.Get("/customers/:ulid/transactions", route.Tokens(token.CustomersRead), a.listCustomerTransactions),
		route.Get("/customers/:ulid/expiring", route.Tokens(token.CustomersRead), a.listExpiring),
		route.Get("/customers/:ulid/ledger-entries", route.Tokens(token.CustomersRead), a.listLedgerEntries),

		route.Get("/changes", changeReaders, a.listChanges),

		route.Get("/transactions", route.Tokens(token.TransactionsWrite), a.listTransactions),
		route.Post("/transactions", route.Tokens(a.TransactionCreateScope), a.recordTransaction),
		route.Post("/transactions/batch", route.Tokens(a.TransactionCreateScope), a.recordTransactions),
		route.Post("/transactions/preview", route.Tokens(a.TransactionCreateScope), a.previewTransaction),
		route.Get("/transactions/:ulid", route.Tokens(token.TransactionsWrite), a.findTransaction),
		route.Post("/transactions/:ulid/void", route.Tokens(token.TransactionsWrite), a.voidTransaction),
		route.Post("/transactions/:ulid/refunds", route.Tokens(token.TransactionsWrite), a.refundTransaction),
		route.Get("/transaction-types", route.Tokens(token.TransactionsWrite), a.listTypes),
		route.Get("/locations", route.Tokens(token.TransactionsWrite), a.listLocations),

		route.Get("/rewards", route.Tokens(token.RewardsRead), a.listRewards),
		route.Get("/rewards/:ulid", route.Tokens(token.RewardsRead), a.findReward),
		route.Get("/redemptions", route.Tokens(token.RewardsRead), a.listRedemptions),
		route.Post("/redemptions", route.Tokens(token.RewardsRead), a.redeem),
		route.Get("/redemptions/:ulid", route.Tokens(token.RewardsRead), a.findRedemption),
		route.Post("/redemptions/:ulid/fulfil", route.Tokens(token.RewardsRead), a.fulfilRedemption),
		route.Post("/redemptions/:ulid/void", route.Tokens(token.RewardsRead), a.voidRedemption),

		route.Get("/promotions", route.Tokens(token.RewardsRead), a.listPromotions),

		route.Get("/coupons", route.Tokens(token.CouponsRead), a.listCoupons),
		route.Get("/coupons/:ulid", route.Tokens(token.CouponsRead), a.findCoupon),
		route.Post("/coupons/:ulid/redeem", route.Tokens(token.CouponsRead), a.redeemVoucher),
		route.Get("/coupons/:ulid/redemptions", route.Tokens(token.CouponsRead), a.listCouponRedemptions),
		route.Get("/vouchers/:ulid", route.Tokens(token.CouponsRead), a.findVoucher),
		route.Post("/vouchers/:ulid/restore", route.Tokens(token.CouponsRead), a.restoreVoucher),

		route.Get("/reports/summary", route.Tokens(token.ReportsRead), a.summary),
		route.Get("/reports/customers/top", route.Tokens(token.ReportsRead), a.topCustomers),
		route.Get("/reports/coupons", route.Tokens(token.ReportsRead), a.couponReport),

		route.Get(tokens, anyToken, a.listTokens),
		route.Post(tokens, anyToken, a.createToken),
		route.Delete(tokens+"/:id", anyToken, a.revokeToken),

		route.Get("/platform/tenants", route.SuperAdmins, a.listTenants),
		route.Post("/platform/tenants", route.SuperAdmins, a.createTenant),
		route.Patch("/platform/tenants/:id", route.SuperAdmins, a.editTenant),
		route.Get("/platform/invoices", route.SuperAdmins, a.listInvoices),
	}
	for i := range list {
		list[i].Path = Prefix + list[i].Path
	}
	return list
}

// otherMethod refuses a known path's other methods. Echo would respond to OPTIONS, and list it
// as allowed.
func otherMethod(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		allowed, other := c.Get(echo.ContextKeyHeaderAllow).(string)
		if !other {
			return next(c)
		}
		h := c.Response().Header()
		h.Set(echo.HeaderAllow, strings.TrimPrefix(allowed, http.MethodOptions+", "))
		if strings.Contains(allowed, http.MethodPatch) {
			h.Set("Accept-Patch", patchTypes)
		}
		return echo.ErrMethodNotAllowed
	}
}

// guard answers 401 without a caller, then 403 without access (decisions §3, the order of checks).
var guard = route.Guard{
	Caller:   caller,
	Stranger: func(echo.Context) error { return core.ErrUnauthenticated },
	Refusal:  core.ErrForbidden,
}

// routed returns the method whose route serves a request.
func routed(r *http.Request) string {
	if r.Method == http.MethodHead {
		return http.MethodGet
	}
	return r.Method
}
