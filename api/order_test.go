package api_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/api"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/limit"
)

const order = "Order of checks: TLS → who calls (valid token, else the address) → that caller's limit (429) → route (404, 405) → no valid token (401) → ability (403) → 413, 415 → " +
	"body syntax (400) → idempotency key → record in path (404) → fields (422) → business rules (422)."

// Each request deserves two refusals that stand side by side in the order, and gets
// the earlier one.
func TestOrderOfChecks(t *testing.T) {
	// The key k was used for another request.
	used := func(s *shop) {
		s.fill("{anna}")
		got := s.call("POST", "/api/v1/customers", s.token, `{"first_name":"A","last_name":"B","phone":"112"}`, "Idempotency-Key: k")
		if got.status != 201 {
			s.T.Fatal(got)
		}
	}
	k := []string{"Idempotency-Key: k"}
	text := []string{"Content-Type: text/plain"}
	large := "{" + strings.Repeat(" ", api.MaxBody)
	reused := refused("idempotency-key-reused", "This idempotency key was used with a different request.")
	fieldsOf := invalid(`"customer_ulid":["The selected customer ulid is invalid."]`)
	runScenarios(t, []scenario{
		{says: order, with: "404 before 401", method: "GET", path: "/nope", auth: "none", status: 404, want: notFound},
		{says: order, with: "405 before 401", method: "PUT", path: "/customers", auth: "none", status: 405, want: notAllowed},
		{says: order, with: "405 before 403", method: "DELETE", path: "/customers", auth: "reports:read", status: 405, want: notAllowed},
		{says: order, with: "401 before 403", method: "GET", path: "/customers", headers: []string{"Authorization: Bearer 1|x"}, auth: "reports:read", status: 401, want: unauthorized},
		{says: order, with: "401 before 415", method: "POST", path: "/customers", auth: "none", headers: text, body: "x", status: 401, want: unauthorized},
		{says: order, with: "403 before 413", method: "POST", path: "/customers", auth: "customers:read", body: large, status: 403, want: forbidden},
		{says: order, with: "403 before 415", method: "PATCH", path: "/customers/{missing}", auth: "customers:read", headers: text, body: "x", status: 403, want: forbidden},
		{says: order, with: "413 before 415", method: "POST", path: "/customers", headers: text, body: large, status: 413, want: tooLarge},
		{says: order, with: "413 before 400", method: "POST", path: "/tokens", body: large, status: 413, want: tooLarge},
		{says: order, with: "415 before 400", method: "POST", path: "/transactions", headers: text, body: "{", status: 415, want: notJSON},
		{says: order, with: "415 before 404", method: "PATCH", path: "/customers/{missing}", headers: text, body: "{}", status: 415, want: notJSON},
		{says: "It is checked after body syntax.", before: used, method: "POST", path: "/customers", headers: k, body: "{", status: 400, want: badRequest},
		{says: order, with: "400 before the key", before: used, method: "POST", path: "/transactions", headers: k, body: "{", status: 400, want: badRequest},
		{says: order, with: "400 before 404", method: "PATCH", path: "/customers/{missing}", body: "[]", status: 400, want: badRequest},
		{says: order, with: "400 before 404, of an id that does not parse", method: "PATCH", path: "/customers/x", body: "[]", status: 400, want: badRequest},
		{says: order, with: "400 of a query before 404", method: "GET", path: "/customers/x/transactions?a=%zz", status: 400, want: badRequest},
		{says: order, with: "the key before 404", before: used, method: "POST", path: "/transactions/{missing}/void", headers: k, status: 422, want: reused},
		{says: order, with: "the key before 404, of an id that does not parse", before: used, method: "POST", path: "/transactions/x/void", headers: k, status: 422, want: reused},
		{says: order, with: "the key before fields", before: used, method: "POST", path: "/transactions", headers: k, body: "{}", status: 422, want: reused},
		{says: order, with: "the key before a rule", before: used, method: "POST", path: "/transactions/{voided}/void", headers: k, status: 422, want: reused},
		{says: order, with: "404 before fields", method: "PATCH", path: "/customers/{missing}", body: `{"first_name":1,"phone":"x"}`, status: 404, want: notFound},
		{says: order, with: "404 before fields, of an id that does not parse", method: "PATCH", path: "/customers/x", body: `{"first_name":1}`, status: 404, want: notFound},
		{says: order, with: "403 before 400, on the platform", method: "POST", path: "/platform/tenants", body: "{", status: 403, want: forbidden},
		{says: order, with: "415 before 404, on the platform", method: "PATCH", path: "/platform/tenants/x", auth: "platform", headers: text, body: "{}", status: 415, want: notJSON},
		{says: order, with: "400 before 404, on the platform", method: "PATCH", path: "/platform/tenants/x", auth: "platform", body: "[]", status: 400, want: badRequest},
		{says: order, with: "404 before the query's fields", method: "GET", path: "/customers/{missing}/transactions?per_page=0", status: 404, want: notFound},
		{says: order, with: "fields before rules", method: "POST", path: "/redemptions", body: `{"customer_ulid":"{missing}","reward_ulid":"{sold_out}"}`, status: 422, want: fieldsOf},
	})
}

func TestLimitComesBeforeTheRoute(t *testing.T) {
	t.Parallel()
	proves(t, order)
	o := newServer(t, dbtest.DB(t), func(c *api.Config) {
		c.PerToken, c.PerAddress = limit.NewWindow(1, time.Minute, time.Now), limit.NewWindow(2, time.Minute, time.Now)
	})
	s := shopAt(t, o)
	s.call("GET", "/api/v1/nope", s.token, "").is(t, 404, notFound)
	s.call("GET", "/api/v1/nope", s.token, "").is(t, 429, tooMany)
	s.call("PUT", "/api/v1/customers", s.token, "").is(t, 429, tooMany)
	s.call("GET", "/api/v1/nope", "", "").is(t, 404, notFound)
	s.call("GET", "/api/v1/customers", "", "").is(t, 401, unauthorized)
	s.call("GET", "/api/v1/nope", "", "").is(t, 429, tooMany)
	s.call("GET", "/api/v1/customers", "", "").is(t, 429, tooMany)
	s.call("GET", "/api/v1/customers", "1|x", "").is(t, 429, tooMany)
}

// addedRoutes are those that the specification doesn't have.
var addedRoutes = []string{
	"GET /api/v1/customers/:ulid/expiring", "GET /api/v1/customers/:ulid/ledger-entries", "POST /api/v1/transactions/:ulid/refunds",
	"POST /api/v1/customers/batch", "POST /api/v1/transactions/batch", "POST /api/v1/transactions/preview",
	"GET /api/v1/changes", "GET /api/v1/transactions", "GET /api/v1/transaction-types", "GET /api/v1/locations", "GET /api/v1/rewards/:ulid", "GET /api/v1/promotions", "GET /api/v1/redemptions", "POST /api/v1/redemptions/:ulid/void",
	"GET /api/v1/coupons/:ulid", "GET /api/v1/vouchers/:ulid", "POST /api/v1/vouchers/:ulid/restore",
}

// The table of routes, the router's own and the specification's are one: the ability
// that a tenant's token needs, or several of which one is enough, "" for any, or "platform" for a super-admin's.
var abilities = map[string]string{
	"GET /api/v1/customers":                      "customers:read",
	"GET /api/v1/customers/:ulid":                "customers:read",
	"GET /api/v1/customers/:ulid/transactions":   "customers:read",
	"GET /api/v1/customers/:ulid/expiring":       "customers:read",
	"GET /api/v1/customers/:ulid/ledger-entries": "customers:read",
	"POST /api/v1/customers":                     "customers:write",
	"POST /api/v1/customers/batch":               "customers:write",
	"PATCH /api/v1/customers/:ulid":              "customers:write",
	"GET /api/v1/changes":                        "customers:read transactions:write rewards:read coupons:read",
	"GET /api/v1/transactions":                   "transactions:write",
	"POST /api/v1/transactions":                  "transactions:write",
	"POST /api/v1/transactions/batch":            "transactions:write",
	"POST /api/v1/transactions/preview":          "transactions:write",
	"GET /api/v1/transactions/:ulid":             "transactions:write",
	"POST /api/v1/transactions/:ulid/void":       "transactions:write",
	"POST /api/v1/transactions/:ulid/refunds":    "transactions:write",
	"GET /api/v1/transaction-types":              "transactions:write",
	"GET /api/v1/locations":                      "transactions:write",
	"GET /api/v1/rewards":                        "rewards:read",
	"GET /api/v1/rewards/:ulid":                  "rewards:read",
	"GET /api/v1/promotions":                     "rewards:read",
	"GET /api/v1/redemptions":                    "rewards:read",
	"POST /api/v1/redemptions":                   "rewards:read",
	"GET /api/v1/redemptions/:ulid":              "rewards:read",
	"POST /api/v1/redemptions/:ulid/fulfil":      "rewards:read",
	"POST /api/v1/redemptions/:ulid/void":        "rewards:read",
	"GET /api/v1/coupons":                        "coupons:read",
	"POST /api/v1/coupons/:ulid/redeem":          "coupons:read",
	"GET /api/v1/coupons/:ulid":                  "coupons:read",
	"GET /api/v1/coupons/:ulid/redemptions":      "coupons:read",
	"GET /api/v1/vouchers/:ulid":                 "coupons:read",
	"POST /api/v1/vouchers/:ulid/restore":        "coupons:read",
	"GET /api/v1/reports/summary":                "reports:read",
	"GET /api/v1/reports/customers/top":          "reports:read",
	"GET /api/v1/reports/coupons":                "reports:read",
	"GET /api/v1/tokens":                         "",
	"POST /api/v1/tokens":                        "",
	"DELETE /api/v1/tokens/:id":                  "",
	"GET /api/v1/platform/tenants":               "platform",
	"POST /api/v1/platform/tenants":              "platform",
	"PATCH /api/v1/platform/tenants/:id":         "platform",
	"GET /api/v1/platform/invoices":              "platform",
}

// A route that is added to the router past the table, without a word on who may
// call it, or without a line above, fails here.
func TestEveryRouteSaysWhoMayCall(t *testing.T) {
	t.Parallel()
	proves(t, "→ no valid token (401) → ability (403) →")
	o := sharedServer(t)
	declared := map[string]bool{}
	for _, e := range o.api.Endpoints() {
		name := e.Method + " " + e.Path
		if _, known := abilities[name]; !known || e.Who.Everyone || reflect.ValueOf(e.Who).IsZero() {
			t.Errorf("%s: say who may call it, beside the route and here", name)
		}
		declared[name] = true
	}
	routes := o.api.Router()
	for _, r := range routes {
		if route := r.Method + " " + r.Path; !declared[route] {
			t.Errorf("%s is in the router and not in the table of routes", route)
		}
		got, err := o.try(context.Background(), r.Method, r.Path, "", strings.NewReader(""))
		if err != nil || got.status != 401 {
			t.Errorf("%s %s without a token: %d, %v", r.Method, r.Path, got.status, err)
		}
	}
	if len(routes) != len(abilities) || len(declared) != len(abilities) {
		t.Errorf("%d routes in the router, %d declared, %d expected", len(routes), len(declared), len(abilities))
	}
}
