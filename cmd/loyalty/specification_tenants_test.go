package main

import (
	"net/http"
	"slices"
	"strings"
)

const (
	ownData      = "A tenant token reaches only its own tenant's data."
	confined     = "Every tenant-scoped request is confined to the tenant that owns the token."
	neverThere   = "A resource that belongs to another tenant is reported as nonexistent (404), never as forbidden."
	missingOrNot = "| 404 | Not Found | `The requested resource was not found.` | Resource missing, or owned by another tenant (never 403 for that case). |"
)

// theirs names the other tenant's records: one of each kind, and all tokens.
const theirs = "{other_anna} {other_sale} {other_voided} {other_redemption} {other_in_stock} {other_coupon} {other_redeemed} {other_expired}"

// tenantSentences requests the other tenant's records on every path with an id, looks for them in
// every list, and calls every endpoint on the other tenant's host.
func tenantSentences() (all []sentence) {
	for _, e := range endpoints {
		all = append(all, sentence{says: ownData, with: e.String() + ", on another tenant's host", story: func(v *visit) {
			for _, as := range []string{"all", "none", "platform"} {
				got, _ := v.knocksAt(v.other.host(), e, v.token(as))
				v.is(got, http.StatusUnauthorized, unauthorized)
			}
		}})
		if e.scope == "platform" {
			continue
		}
		switch {
		case strings.Contains(e.path, "{"):
			all = append(all, sentence{says: neverThere, with: e.String(), story: func(v *visit) { v.findsNothing(e) }})
		case e.method == "GET":
			all = append(all, sentence{says: confined, with: e.String(), story: func(v *visit) {
				ids := strings.Fields(v.fill(theirs))
				got := v.ask("GET", e.path+"?per_page=100", "", "")
				if got.status != http.StatusOK {
					v.t.Errorf("%d %s", got.status, got.body)
				}
				v.lacks(got, ids...)
			}})
		}
	}
	return append(all, []sentence{
		{
			says: ownData, with: "a sale to another tenant's customer", method: "POST", path: "/transactions",
			body:   `{"customer_ulid":"{other_anna}","transaction_type_id":{points},"spend_amount_cents":1250}`,
			status: 422, want: invalid(`"customer_ulid":["The selected customer ulid is invalid."]`),
			after: func(v *visit, _ answer) { v.other.has("{anna}", 0, 0) },
		},
		{
			says: ownData, with: "a sale of another tenant's type", method: "POST", path: "/transactions",
			body:   `{"customer_ulid":"{anna}","transaction_type_id":{other_points},"spend_amount_cents":1250}`,
			status: 422, want: invalid(`"transaction_type_id":["The selected transaction type id is invalid."]`),
		},
		{
			says: ownData, with: "another tenant's points", method: "POST", path: "/redemptions", before: func(v *visit) { v.fill("{other_hundred_points}") },
			body:   `{"customer_ulid":"{other_anna}","reward_ulid":"{in_stock}"}`,
			status: 422, want: invalid(`"customer_ulid":["The selected customer ulid is invalid."]`),
			after: func(v *visit, _ answer) { v.other.has("{anna}", 100, 0) },
		},
		{
			says: ownData, with: "another tenant's reward", method: "POST", path: "/redemptions", before: annaHasHundred,
			body:   `{"customer_ulid":"{anna}","reward_ulid":"{other_in_stock}"}`,
			status: 422, want: invalid(`"reward_ulid":["The selected reward ulid is invalid."]`), after: balance(100, 0),
		},
		{
			says: ownData, with: "another tenant's customer is not found by phone", method: "POST", path: "/customers",
			before: func(v *visit) {
				v.fill("{other_anna}")
				v.named["{phone}"], v.named["{email}"] = v.other.named["{phone}"], v.other.named["{email}"]
			},
			body: newAnna, status: 201, want: madeAnna,
		},
		{says: missingOrNot, with: "missing", method: "GET", path: "/customers/{missing}", status: 404, want: notFound},
		{says: missingOrNot, with: "another tenant's", method: "GET", path: "/customers/{other_anna}", status: 404, want: notFound},
		{says: missingOrNot, with: "no ULID", method: "GET", path: "/customers/1", status: 404, want: notFound},
		{says: missingOrNot, with: "no such endpoint", method: "GET", path: "/nowhere", status: 404, want: notFound},
	}...)
}

// findsNothing requests each of the other tenant's records from an endpoint: the response is that
// to an unknown id, byte for byte, and nothing changes.
func (v *visit) findsNothing(e endpoint) {
	v.t.Helper()
	ids, nothing := strings.Fields(v.fill(theirs)), v.fill("{missing}")
	if strings.Contains(e.path, "{id}") {
		ids, nothing = nil, "9223372036854775807"
		for _, token := range v.other.shop.Tokens {
			id, _, _ := strings.Cut(token, "|")
			ids = append(ids, id)
		}
	}
	body := ""
	if e.method == "PATCH" {
		body = `{"first_name":"Mine","status":"inactive"}`
	}
	ask := func(id string) answer {
		v.t.Helper()
		return v.ask(e.method, strings.NewReplacer("{ulid}", id, "{id}", id).Replace(e.path), "", body)
	}
	want := ask(nothing)
	v.is(want, http.StatusNotFound, notFound)
	for _, id := range ids {
		got := ask(id)
		if got.status != want.status || got.body != want.body {
			v.t.Errorf("%s of %s: %d %s", e, id, got.status, got.body)
		}
		for name := range got.header {
			if name != "X-Request-Id" && name != "Date" && !slices.Equal(got.header[name], want.header[name]) {
				v.t.Errorf("%s of %s: %s is %q, want %q", e, id, name, got.header[name], want.header[name])
			}
		}
	}
	v.other.is(v.other.ask("GET", "/transactions/{sale}", "", ""), 200, one(saleIs))
	v.other.is(v.other.ask("GET", "/redemptions/{redemption}", "", ""), 200, one(redemptionIs))
	v.other.has("{anna}", 62, 0)
	v.other.is(v.other.ask("GET", "/tokens?per_page=1", "all", ""), 200, "<anything>")
}
