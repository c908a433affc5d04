package main

import (
	"strings"
)

const (
	unauthorized = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.2","title":"Unauthorized","status":401,"detail":"Authentication required."}`
	forbidden    = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.4","title":"Forbidden","status":403,"detail":"Invalid ability provided."}`
	tooMany      = `{"type":"https://www.rfc-editor.org/rfc/rfc6585#section-4","title":"Too Many Requests","status":429,"detail":"Too Many Attempts."}`
	internal     = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.6.1","title":"Internal Server Error","status":500,"detail":"An error occurred."}`

	onlyTLS       = "All requests must use TLS; plain HTTP is rejected."
	unexpected    = "| 500 | - | - | Unexpected server error. |"
	noRetry       = "Retry guidance for clients: no retry on 400, 401, 403, 404 or 422."
	retryLater    = "Retry on 429 after `Retry-After` seconds and on 5xx after a delay."
	configurable  = "Its availability and required scope are therefore unsettled; a builder implements it as described and keeps the scope configurable."
	summary       = "| GET | /api/v1/reports/summary | reports:read | Query `from` and `to` (dates, ISO 8601 date form). | Transaction summary. |"
	versionPrefix = "The version is in the path prefix `/api/v1/`; the current version is v1."
)

// problem is a document as the specification describes it.
type problem struct {
	Type, Title string
	Status      int
	Detail      string
	Code        string
	Errors      map[string][]string
}

const sellsToAnna = `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":1250}`

var productSentences = []sentence{
	{says: "Tokens are created in the tenant admin panel (Settings, API Tokens, New Token: name plus scopes)", story: panelToken},
	{says: summary, with: "as the panel shows it", story: thePanelSaysTheSame},
	{says: onlyTLS, story: func(v *visit) {
		for _, as := range []string{"", "anonymous", "platform"} {
			for _, endpoint := range []string{"GET /customers", "POST /transactions", "GET /tokens"} {
				method, path, _ := strings.Cut(endpoint, " ")
				got, err := v.call(method, "http"+strings.TrimPrefix(v.in.base, "https")+"/api/v1"+path, v.token(as), "")
				if err != nil {
					v.t.Fatal(err)
				}
				got.is(v.t, 400, problemJSON, badRequest)
				if got.header.Get("Location") != "" {
					v.t.Errorf("%s over plain HTTP redirects to %s", endpoint, got.header.Get("Location"))
				}
			}
		}
	}},
	{says: unexpected, story: withCoupons("revoke select on loyalty.coupon from loyalty_app", "grant select on loyalty.coupon to loyalty_app", func(v *visit, coupons func() answer) {
		v.is(coupons(), 500, internal)
	})},
	{says: retryLater, with: "5xx", story: withCoupons("alter table loyalty.coupon rename to elsewhere", "alter table loyalty.elsewhere rename to coupon", func(v *visit, coupons func() answer) {
		if got := coupons(); !got.isUnavailable() {
			v.t.Errorf("%d %v %s", got.status, got.header, got.body)
		}
	})},
	{says: configurable, with: "another scope", story: func(v *visit) {
		v.is(v.ask("POST", "/transactions", string(v.file.TransactionsPostScope), sellsToAnna), 201, "<anything>")
		v.is(v.ask("POST", "/transactions", "transactions:write", sellsToAnna), 403, forbidden)
	}},
	{says: versionPrefix, with: "no other", story: func(v *visit) {
		for _, path := range []string{"/api/v2/customers", "/api/v0/customers", "/api/customers", "/api/V1/customers"} {
			v.is(v.ask("GET", "{base}"+path, "", ""), 404, notFound)
		}
	}},
}

// withCoupons runs a story between two statements of the database's owner, which break the coupons
// and repair them. A story that uses coupons holds the lock.
func withCoupons(broken, mended string, meanwhile func(v *visit, coupons func() answer)) func(*visit) {
	return func(v *visit) {
		v.t.Helper()
		v.mending.Lock()
		defer v.mending.Unlock()
		coupons := func() answer { return v.ask("GET", "/coupons", "coupons:read", "") }
		d := connect(v.t, v.database)
		d.exec(broken)
		meanwhile(v, coupons)
		d.exec(mended)
		v.is(coupons(), 200, "<anything>")
	}
}
