package docs

import (
	"time"

	views "example.com/loyalty/views/docs"
)

const (
	anyToken   = "any token"
	superAdmin = "super-admin"
)

// launch lists the endpoints that v1 started with (specification §9).
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

// added returns what was added to v1 after the launch, and when. Backticks mark code.
func added() (list []views.Addition) {
	for _, a := range []struct{ day, what, why string }{
		{"2026-11-23", "`POST /api/v1/transactions`", "Records a sale without a PIN. Needs `transactions:write`, unless the operator chose another scope."},
		{"2026-11-23", "`Idempotency-Key`", "On every POST except `/tokens`: makes retries safe. See Retries."},
		{"2026-11-23", "`external_reference`", "Your own reference for a sale, unique within the business."},
		{"2026-11-25", "Decimals of ISO 4217", "Amounts in AFN, ALL, AMD, COP, GYD, IDR, IRR, KPW, LAK, LBP, MGA, MMK, MNT, MUR, PKR, RSD, SOS, SYP, TZS, UZS and YER are in hundredths, in IQD in thousandths. They were in whole units; amounts recorded before were converted."},
		{"2026-11-26", "Printed codes and links of vouchers", "`POST /api/v1/coupons/{ulid}/redeem` also takes the code as it is printed, or the link in the QR code, percent-encoded."},
		{"2026-11-26", "Phone numbers as they are copied", "A number is read without what spreadsheets and links put around it, and an extension is part of it. Two numbers in one text, rounded numbers and words are refused; they were compared by their digits."},
		{"2026-11-26", "Merged customers", "The phone number and e-mail of a merged duplicate find the customer who was kept, in upserts and filters."},
		{"2026-11-23", "`code` in problems", "Identifies the business rule that refused the request, so that programs don’t need to read the detail."},
		{"2026-11-23", "More customer fields", "`stamps_balance`, `status` and `updated_at`. Filter the list by `phone`, `email`, `search`, `status`, `created_from` and `created_to`."},
		{"2026-11-26", "Points that expire", "`points_expire_on` and `stamps_expire_on` of customers, `GET /api/v1/customers/{ulid}/expiring` and `GET /api/v1/customers/{ulid}/ledger-entries`."},
		{"2026-11-26", "More transaction fields", "`transaction_type_id`, `source` and `location_id`; `points_expire_on` and `stamps_expire_on`, the last day of what it earned; `refunded_cents`, `points_refunded` and `stamps_refunded`."},
		{"2026-11-26", "`POST /api/v1/transactions/{ulid}/refunds`", "Refunds a part of a sale, and takes back the same part of what it earned. Needs `transactions:write`."},
		{"2026-11-27", "Sales that are recorded later", "`occurred_at` of a transaction: when the customer bought, at most 72 hours before. Expiry goes by it; lists and reports go by `created_at`."},
		{"2026-11-27", "`location_id` and `metadata` of a sale", "Your program can say at which branch it was made, and keep fields of its own with it."},
		{"2026-11-27", "`POST /api/v1/transactions/batch`, `POST /api/v1/customers/batch`", "Up to 100 at once, each with its own result and key. A batch counts once against the rate limit."},
		{"2026-11-27", "`POST /api/v1/transactions/preview`", "What a sale would earn, and the balances after it. Records nothing."},
		{"2026-11-27", "`GET /api/v1/changes`", "What changed in customers, transactions, redemptions and vouchers, in an order in which nothing is skipped. To keep a copy in step."},
		{"2026-11-27", "`GET /api/v1/transactions`", "All sales of the business, by filters. With `order=updated` or `updated_since` in the order of their changes; so are customers and redemptions."},
		{"2026-11-27", "`balance_changed_at` of customers", "When their points or stamps last changed. `updated_at` stays when a field did."},
		{"2026-11-27", "`GET /api/v1/vouchers/{ulid}`", "A voucher by its ULID, or as customers show it, and why it can’t be redeemed. Redeeming takes a `transaction_ulid`."},
		{"2026-11-27", "`POST /api/v1/vouchers/{ulid}/restore`", "Makes a redeemed voucher valid again within 24 hours, once: for a payment that failed."},
		{"2026-11-27", "`GET /api/v1/redemptions`, `POST /api/v1/redemptions/{ulid}/void`", "All redemptions, by filters; and one taken back, while it is pending or within 24 hours after it was fulfilled."},
		{"2026-11-27", "One reward, one coupon", "`GET /api/v1/rewards/{ulid}` and `GET /api/v1/coupons/{ulid}`. `value_cents` is what a reward takes off a bill, where the business has set it."},
		{"2026-11-27", "Transaction types and locations", "`GET /api/v1/transaction-types` and `GET /api/v1/locations`, to choose from."},
		{"2026-11-27", "Customers of web shops", "`external_id`, `metadata` and `tags`. Customers with an e-mail address and no phone number, where the business allows it."},
		{"2026-11-27", "`reference-taken`", "The `code` of a refused `external_reference`, with the ULID of the transaction or refund that has it."},
		{"2026-11-27", "Promotions", "`items` of a sale: what of the amount is of which category. Sales and previews say what they earned by their rule alone and by which promotion: `base_points`, `base_stamps`, `promotion_id` and `points_capped`. `GET /api/v1/promotions` has today’s."},
		{"2026-11-27", "Tiers and birthdays of customers", "`tier` with its last day, where the business has levels, and `birthday`. A change of the tier is a change of the customer in `/changes` and `order=updated`; a preview has the `tier_reached`."},
		{"2026-11-27", "Who can have a reward or use a voucher", "`min_tier_id`, `max_per_customer`, `starts_on` and `ends_on` of rewards, `min_tier_id` of coupons. Refusals: `reward-not-available`, `reward-limit-reached`, `voucher-not-available`."},
		{"2026-11-23", "`expires_at` of tokens", "Creates a token that expires."},
		{"2026-11-23", "`/tokens` from the panel", "An owner who is signed in to the panel can list, create and revoke tokens with their session."},
		{"2026-11-23", "`X-RateLimit-…` headers", "How many requests you have left, before you get a 429, and when the minute ends; the same as `RateLimit` and `RateLimit-Policy`."},
		{"2026-11-27", "Pages of 1,000", "`per_page` takes up to 1,000; above 100 it was 100. Responses from 1 KiB are compressed with zstd or gzip, as `Accept-Encoding` allows."},
		{"2026-11-27", "`ETag`", "Of records and the first page of lists. `If-None-Match` gets 304 while nothing has changed; `If-Match` with a PATCH gets 412 if the record has."},
		{"2026-11-27", "Filters that are empty or misspelled", "An empty filter, such as `?phone=`, gets 422; it was ignored, and found everybody. With `Prefer: handling=strict`, so does a parameter that doesn’t exist."},
		{"2026-11-27", "HTTP as strict clients read it", "HEAD wherever there is GET. `Location` of what was created. `WWW-Authenticate` says what is wrong with a token. One `Link` header, the next page first. `application/merge-patch+json`. A compressed body gets 415."},
		{"2026-11-23", "`GET /api/v1/openapi.json`", "The description of this API in OpenAPI 3.1. No token needed."},
		{"2026-11-27", "`GET /api/v1/openapi.yaml`, and a collection for Postman", "The same description in YAML, and all its requests at `/docs/postman.json`."},
		{"2026-11-27", "`test` of tenants", "True for a business that is for tests of an integration, which is never billed."},
		{"2026-11-27", "A plug-in for WooCommerce, and a program that keeps a copy", "Both at Clients. The plug-in sends a web shop’s orders and takes vouchers at its checkout; the program copies customers and sales into SQLite and stays in step."},
		{"2026-11-27", "Clients through proxies", "The clients and the quick start read dates in `Retry-After`, wait at most 2 minutes, and repeat only requests that are safe to repeat. The clients tell what headers say, and list by pages."},
	} {
		what := text(a.what)
		on, err := time.Parse(time.DateOnly, a.day)
		if err != nil {
			panic(err) // it is written above
		}
		list = append(list, views.Addition{ID: anchor(plain(what)), What: what, Why: text(a.why), On: on})
	}
	return list
}
