package main

const (
	noEvents      = "The service sends no events to integrators: there is no webhook or push delivery, and clients poll."
	versionPrefix = "The version is in the path prefix `/api/v1/`; the current version is v1."
	planned       = "Planned, not committed: PIN-less direct transaction recording, per-customer redemption history, webhook delivery, and a customer-portal read-only token."
)

var eventSentences = []sentence{
	{says: noEvents, with: "no webhooks", story: func(v *visit) {
		v.nowhere("GET /webhooks", "POST /webhooks", "GET /events", "GET /subscriptions", "POST /subscriptions", "GET /stream", "POST /hooks")
	}},
	{says: noEvents, with: "clients poll", story: func(v *visit) {
		v.is(v.ask("GET", "/customers/{anna}/transactions", "", ""), 200, only("/customers/{anna}/transactions"))
		v.fill("{sale}")
		v.is(v.ask("GET", "/customers/{anna}/transactions", "", ""), 200, only("/customers/{anna}/transactions", saleIs))
	}},
	{says: "these are not API events.", story: func(v *visit) { v.nowhere("GET /coupons/{coupon}/events", "GET /coupons/{coupon}/sends", "GET /mails") }},
}

var versionSentences = []sentence{
	{says: versionPrefix, with: "v1", method: "GET", path: "/customers/{anna}", status: 200, want: one(annaIs)},
	{says: versionPrefix, with: "no other", story: func(v *visit) {
		for _, path := range []string{"/api/v2/customers", "/api/v0/customers", "/api/customers", "/api/V1/customers"} {
			v.is(v.ask("GET", "{base}"+path, "", ""), 404, notFound)
		}
	}},
	{says: inParallel, with: "there is none yet", story: func(v *visit) {
		v.is(v.ask("GET", "{base}/api/v2/customers/{anna}", "", ""), 404, notFound)
	}},
	{says: planned, with: "and not there", story: func(v *visit) {
		v.nowhere("GET /customers/{anna}/redemptions", "POST /webhooks", "GET /portal", "POST /portal/tokens")
		v.is(v.ask("POST", "/tokens", "", `{"name":"Portal","scopes":["customer-portal:read"]}`), 422, invalid(`"scopes.0":["The selected scopes.0 is invalid."]`))
	}},
}
