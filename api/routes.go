package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
)

// route is an endpoint and who may call it.
type route struct {
	method string
	path   string // below Prefix
	access access
	handle echo.HandlerFunc
}

// access reports whether an authenticated caller may use a route.
type access func(token.Caller) bool

// requireAbility accepts a tenant's tokens with the ability, and no platform tokens.
func requireAbility(a token.Ability) access {
	return func(c token.Caller) bool { return !c.IsPlatform() && c.May(a) }
}

// superAdmin accepts platform tokens.
func superAdmin(c token.Caller) bool { return c.IsPlatform() }

// anyToken accepts every valid token, and the session of an owner.
func anyToken(c token.Caller) bool { return c.Require(core.Owner) == nil }

// tokens is the path of the token endpoints, which also accept an owner's session.
const tokens = "/tokens"

func (a *API) routes() []route {
	return []route{
		{http.MethodGet, "/customers", requireAbility(token.CustomersRead), a.listCustomers},
		{http.MethodPost, "/customers", requireAbility(token.CustomersWrite), a.upsertCustomer},
		{http.MethodGet, "/customers/:ulid", requireAbility(token.CustomersRead), a.findCustomer},
		{http.MethodPatch, "/customers/:ulid", requireAbility(token.CustomersWrite), a.editCustomer},
		{http.MethodGet, "/customers/:ulid/transactions", requireAbility(token.CustomersRead), a.listCustomerTransactions},

		{http.MethodPost, "/transactions", requireAbility(a.TransactionCreateScope), a.recordTransaction},
		{http.MethodGet, "/transactions/:ulid", requireAbility(token.TransactionsWrite), a.findTransaction},
		{http.MethodPost, "/transactions/:ulid/void", requireAbility(token.TransactionsWrite), a.voidTransaction},

		{http.MethodGet, "/rewards", requireAbility(token.RewardsRead), a.listRewards},
		{http.MethodPost, "/redemptions", requireAbility(token.RewardsRead), a.redeem},
		{http.MethodGet, "/redemptions/:ulid", requireAbility(token.RewardsRead), a.findRedemption},
		{http.MethodPost, "/redemptions/:ulid/fulfil", requireAbility(token.RewardsRead), a.fulfilRedemption},

		{http.MethodGet, "/coupons", requireAbility(token.CouponsRead), a.listCoupons},
		{http.MethodPost, "/coupons/:ulid/redeem", requireAbility(token.CouponsRead), a.redeemVoucher},
		{http.MethodGet, "/coupons/:ulid/redemptions", requireAbility(token.CouponsRead), a.listCouponRedemptions},

		{http.MethodGet, "/reports/summary", requireAbility(token.ReportsRead), a.summary},
		{http.MethodGet, "/reports/customers/top", requireAbility(token.ReportsRead), a.topCustomers},
		{http.MethodGet, "/reports/coupons", requireAbility(token.ReportsRead), a.couponReport},

		{http.MethodGet, tokens, anyToken, a.listTokens},
		{http.MethodPost, tokens, anyToken, a.createToken},
		{http.MethodDelete, tokens + "/:id", anyToken, a.revokeToken},

		{http.MethodGet, "/platform/tenants", superAdmin, a.listTenants},
		{http.MethodPost, "/platform/tenants", superAdmin, a.createTenant},
		{http.MethodPatch, "/platform/tenants/:id", superAdmin, a.editTenant},
		{http.MethodGet, "/platform/invoices", superAdmin, a.listInvoices},
	}
}

// otherMethod refuses a known path's other methods. Echo would respond to OPTIONS, and list it
// as allowed.
func otherMethod(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		allowed, other := c.Get(echo.ContextKeyHeaderAllow).(string)
		if !other {
			return next(c)
		}
		c.Response().Header().Set(echo.HeaderAllow, strings.TrimPrefix(allowed, http.MethodOptions+", "))
		return echo.ErrMethodNotAllowed
	}
}

// guarded returns the handler with its checks: 401 without a caller, then 403 without access
// (decisions §3, the order of checks).
func (r route) guarded() echo.HandlerFunc {
	return func(c echo.Context) error {
		who, known := caller(c)
		switch {
		case !known:
			return core.ErrUnauthenticated
		case !r.access(who):
			return core.ErrForbidden
		}
		return r.handle(c)
	}
}
