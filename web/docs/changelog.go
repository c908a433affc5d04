package docs

import views "example.com/loyalty/views/docs"

const (
	anyToken   = "any token"
	superAdmin = "super-admin"
)

// launch is what v1 began with (specification §9).
var launch = []views.EndpointGroup{
	{Title: "Customers", Endpoints: []views.Endpoint{
		{Method: "GET", Path: "/api/v1/customers", Scope: "customers:read"},
		{Method: "POST", Path: "/api/v1/customers", Scope: "customers:write"},
		{Method: "GET", Path: "/api/v1/customers/{ulid}", Scope: "customers:read"},
		{Method: "PATCH", Path: "/api/v1/customers/{ulid}", Scope: "customers:write"},
		{Method: "GET", Path: "/api/v1/customers/{ulid}/transactions", Scope: "customers:read"},
	}},
	{Title: "Transactions", Endpoints: []views.Endpoint{
		{Method: "GET", Path: "/api/v1/transactions/{ulid}", Scope: "transactions:write"},
		{Method: "POST", Path: "/api/v1/transactions/{ulid}/void", Scope: "transactions:write"},
	}},
	{Title: "Rewards and redemptions", Endpoints: []views.Endpoint{
		{Method: "GET", Path: "/api/v1/rewards", Scope: "rewards:read"},
		{Method: "POST", Path: "/api/v1/redemptions", Scope: "rewards:read"},
		{Method: "GET", Path: "/api/v1/redemptions/{ulid}", Scope: "rewards:read"},
		{Method: "POST", Path: "/api/v1/redemptions/{ulid}/fulfil", Scope: "rewards:read"},
	}},
	{Title: "Coupons", Endpoints: []views.Endpoint{
		{Method: "GET", Path: "/api/v1/coupons", Scope: "coupons:read"},
		{Method: "POST", Path: "/api/v1/coupons/{ulid}/redeem", Scope: "coupons:read"},
		{Method: "GET", Path: "/api/v1/coupons/{ulid}/redemptions", Scope: "coupons:read"},
	}},
	{Title: "Reports", Endpoints: []views.Endpoint{
		{Method: "GET", Path: "/api/v1/reports/summary", Scope: "reports:read"},
		{Method: "GET", Path: "/api/v1/reports/customers/top", Scope: "reports:read"},
		{Method: "GET", Path: "/api/v1/reports/coupons", Scope: "reports:read"},
	}},
	{Title: "Tokens", Endpoints: []views.Endpoint{
		{Method: "GET", Path: "/api/v1/tokens", Scope: anyToken},
		{Method: "POST", Path: "/api/v1/tokens", Scope: anyToken},
		{Method: "DELETE", Path: "/api/v1/tokens/{id}", Scope: anyToken},
	}},
	{Title: "Platform", Endpoints: []views.Endpoint{
		{Method: "GET", Path: "/api/v1/platform/tenants", Scope: superAdmin},
		{Method: "POST", Path: "/api/v1/platform/tenants", Scope: superAdmin},
		{Method: "PATCH", Path: "/api/v1/platform/tenants/{id}", Scope: superAdmin},
		{Method: "GET", Path: "/api/v1/platform/invoices", Scope: superAdmin},
	}},
}

// added is what v1 has beyond its launch list. Backticks mark code.
func added() (list []views.Addition) {
	for _, a := range [][2]string{
		{"`POST /api/v1/transactions`", "Records a sale directly, without a PIN; at the launch it was planned. Needs `transactions:write`, unless the operator has chosen another scope for it."},
		{"`Idempotency-Key`", "On every POST but `/tokens`: the same request is answered once. See the guide to retries."},
		{"`external_reference`", "Your own number for a sale, unique in the business."},
		{"`code` in problems", "Names the rule of the business that refused, so that programs need not read sentences."},
		{"More about a customer", "`stamps_balance`, `status` and `updated_at`. The list can be filtered by `phone`, `email`, `search`, `status`, `created_from` and `created_to`."},
		{"More about a transaction", "`transaction_type_id`, `source` and `location_id`."},
		{"`expires_at` of tokens", "A token may be made to end by itself."},
		{"`/tokens` from the panel", "An owner who is signed in to the panel lists, makes and revokes tokens there by their session."},
		{"`X-RateLimit-…` headers", "How much of the minute is left, before a 429 says so."},
		{"`GET /api/v1/openapi.json`", "This API’s description, in OpenAPI 3.1; no token needed."},
	} {
		list = append(list, views.Addition{What: text(a[0]), Why: text(a[1])})
	}
	return list
}
