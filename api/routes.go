package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
)

// route is an endpoint and who may call it, side by side: there is no endpoint
// without a word on that.
type route struct {
	method string
	path   string // below Prefix
	access access
	handle echo.HandlerFunc
}

// access says whether a known caller may pass.
type access func(token.Caller) bool

// with lets tokens of a tenant pass that have the ability. A platform token sees no tenant.
func with(a token.Ability) access {
	return func(c token.Caller) bool { return !c.IsPlatform() && c.May(a) }
}

// superAdmin lets platform tokens pass.
func superAdmin(c token.Caller) bool { return c.IsPlatform() }

// anybody lets every valid token pass, and the session of an owner.
func anybody(c token.Caller) bool { return c.Require(core.Owner) == nil }

// tokens is where the tokens are, which a signed-in owner's session serves as well.
const tokens = "/tokens"

func (a *API) routes() []route {
	return []route{
		{http.MethodGet, "/customers", with(token.CustomersRead), a.listCustomers},
		{http.MethodPost, "/customers", with(token.CustomersWrite), a.upsertCustomer},
		{http.MethodGet, "/customers/:ulid", with(token.CustomersRead), a.findCustomer},
		{http.MethodPatch, "/customers/:ulid", with(token.CustomersWrite), a.editCustomer},
		{http.MethodGet, "/customers/:ulid/transactions", with(token.CustomersRead), a.listCustomerTransactions},

		{http.MethodPost, "/transactions", with(a.TransactionCreateScope), a.recordTransaction},
		{http.MethodGet, "/transactions/:ulid", with(token.TransactionsWrite), a.findTransaction},
		{http.MethodPost, "/transactions/:ulid/void", with(token.TransactionsWrite), a.voidTransaction},

		{http.MethodGet, "/rewards", with(token.RewardsRead), a.listRewards},
		{http.MethodPost, "/redemptions", with(token.RewardsRead), a.redeem},
		{http.MethodGet, "/redemptions/:ulid", with(token.RewardsRead), a.findRedemption},
		{http.MethodPost, "/redemptions/:ulid/fulfil", with(token.RewardsRead), a.fulfilRedemption},

		{http.MethodGet, "/coupons", with(token.CouponsRead), a.listCoupons},
		{http.MethodPost, "/coupons/:ulid/redeem", with(token.CouponsRead), a.redeemVoucher},
		{http.MethodGet, "/coupons/:ulid/redemptions", with(token.CouponsRead), a.listCouponRedemptions},

		{http.MethodGet, "/reports/summary", with(token.ReportsRead), a.summary},
		{http.MethodGet, "/reports/customers/top", with(token.ReportsRead), a.topCustomers},
		{http.MethodGet, "/reports/coupons", with(token.ReportsRead), a.couponReport},

		{http.MethodGet, tokens, anybody, a.listTokens},
		{http.MethodPost, tokens, anybody, a.createToken},
		{http.MethodDelete, tokens + "/:id", anybody, a.revokeToken},

		{http.MethodGet, "/platform/tenants", superAdmin, a.listTenants},
		{http.MethodPost, "/platform/tenants", superAdmin, a.createTenant},
		{http.MethodPatch, "/platform/tenants/:id", superAdmin, a.editTenant},
		{http.MethodGet, "/platform/invoices", superAdmin, a.listInvoices},
	}
}

// otherMethod refuses a known path's other methods. Echo would answer OPTIONS by
// itself, and names it among the allowed ones.
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

// guarded is the handler behind its access: first whether anybody known calls, then
// whether they may (decisions §3, the order of checks).
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
