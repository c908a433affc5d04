package main

import (
	"net/http"
	"strings"
)

// saleOf is the JSON of a sale to Anna.
func saleOf(ulid, rule, cents, points, stamps, state, kind string) string {
	return `{"ulid":"` + ulid + `","rule_type":"` + rule + `","spend_amount_cents":` + cents + `,"points_awarded":` + points + `,"stamps_awarded":` + stamps +
		`,` + state + `,"customer_ulid":"{anna}","transaction_type_id":` + kind + `,"source":"api","location_id":null,"external_reference":null,"created_at":"<time>"}`
}

// ruled is the response of a business rule.
func ruled(code, detail string) string {
	return `{"type":"{base}/problems/` + code + `","title":"Unprocessable Entity","status":422,"detail":"` + detail + `","code":"` + code + `"}`
}

const (
	isCompleted = `"status":"completed","voided_at":null`
	isVoided    = `"status":"voided","voided_at":"<time>"`
)

var (
	saleIs      = saleOf("{sale}", "points", "1250", "12", "null", isCompleted, "{points}")
	stampSaleIs = saleOf("{stamp_sale}", "stamps", "300", "null", "1", isCompleted, "{stamps}")
	voidedIs    = saleOf("{voided}", "points", "700", "7", "null", isVoided, "{points}")

	sold            = one(strings.Replace(saleIs, "{sale}", "<ulid>", 1))
	stampSold       = one(strings.Replace(stampSaleIs, "{stamp_sale}", "<ulid>", 1))
	saleVoided      = one(strings.Replace(saleIs, isCompleted, isVoided, 1))
	stampSaleVoided = one(strings.Replace(stampSaleIs, isCompleted, isVoided, 1))
)

const (
	sellsToAnna = `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":1250}`
	stampsAnna  = `{"customer_ulid":"{anna}","transaction_type_id":{stamps},"spend_amount_cents":300}`

	voidsOnce        = "| completed | POST /transactions/{ulid}/void | Not yet voided | voided | `voided_at` is set; the award is reversed once. |"
	voidsNotTwice    = "| voided | POST /transactions/{ulid}/void | Already voided | voided (unchanged) | 422 with detail `This transaction has already been voided.`; no second reversal. |"
	awards           = "| (none) | Transaction recorded | Valid request | completed | Points or stamps awarded; customer balance rises by `points_awarded`. |"
	ruleType         = "| rule_type | string | Value `points` is used for points transactions. Other values: not shown (a `stamps_awarded` field implies a stamps type). |"
	saleCarries      = "A request to record a transaction carries `customer_ulid` (string), `transaction_type_id` (integer) and `spend_amount_cents` (integer)."
	recordsSale      = "| POST | /api/v1/transactions | see note | `customer_ulid`, `transaction_type_id`, `spend_amount_cents` | `data`: transaction with status `completed`. |"
	findsSale        = "| GET | /api/v1/transactions/{ulid} | transactions:write | - | `data`: transaction. |"
	voidsSale        = "| POST | /api/v1/transactions/{ulid}/void | transactions:write | none | `data`: transaction with status `voided`. 422 if already voided. |"
	saleIsNoUpsert   = "Note on POST /api/v1/transactions: the usage guides describe it as recording a pre-authorised transaction directly, and it is not idempotent (a retry creates a second transaction)."
	typesNotShown    = "Transaction type records and the allowed values of `transaction_type_id`: not shown."
	checkFirst       = "After a network timeout on a non-idempotent POST (transaction, redemption), check for an existing record before retrying."
	voidedIsSuccess  = "A 422 `already voided` on a void retry may be treated as success."
	postsAreNot      = "POST /transactions and POST /redemptions are not."
	notAppliedTwice  = "Void and fulfil cannot apply twice."
	noPIN            = "API transactions do not use a PIN."
	configurable     = "Its availability and required scope are therefore unsettled; a builder implements it as described and keeps the scope configurable."
	alreadyVoided    = "This transaction has already been voided."
	invalidReference = `"customer_ulid":["The selected customer ulid is invalid."]`
)

var transactionSentences = []sentence{
	{says: "| ulid | string (ULID) | |", method: "POST", path: "/transactions", body: sellsToAnna, status: 201, want: sold},
	{says: ruleType, with: "points", method: "POST", path: "/transactions", body: sellsToAnna, status: 201, want: sold},
	{says: ruleType, with: "stamps", method: "POST", path: "/transactions", body: stampsAnna, status: 201, want: stampSold},
	{says: "| spend_amount_cents | integer | Spend amount in cents. |", method: "POST", path: "/transactions", body: sellsToAnna, status: 201, want: sold},
	{
		says: "| spend_amount_cents | integer | Spend amount in cents. |", with: "no integer", method: "POST", path: "/transactions",
		body: `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":12.5}`, status: 422,
		want: invalid(`"spend_amount_cents":["The spend amount cents field must be an integer."]`), after: balance(0, 0),
	},
	{says: "| points_awarded | integer or null | Points of this transaction only. |", before: func(v *visit) { v.fill("{hundred_points}") }, method: "POST", path: "/transactions", body: sellsToAnna, status: 201, want: sold, after: balance(112, 0)},
	{says: "| points_awarded | integer or null | Points of this transaction only. |", with: "of stamps", method: "GET", path: "/transactions/{stamp_sale}", status: 200, want: one(stampSaleIs)},
	{says: "| stamps_awarded | integer or null | Null for a points transaction. |", method: "GET", path: "/transactions/{sale}", status: 200, want: one(saleIs)},
	{says: "| status | string | `completed` or `voided`. |", with: "completed", method: "GET", path: "/transactions/{sale}", status: 200, want: one(saleIs)},
	{says: "| status | string | `completed` or `voided`. |", with: "voided", method: "GET", path: "/transactions/{voided}", status: 200, want: one(voidedIs)},
	{says: "| voided_at | string (timestamp) or null | Null unless voided. |", with: "not voided", method: "GET", path: "/transactions/{sale}", status: 200, want: one(saleIs)},
	{says: "| voided_at | string (timestamp) or null | Null unless voided. |", with: "voided", method: "GET", path: "/transactions/{voided}", status: 200, want: one(voidedIs)},
	{says: "| customer_ulid | string (ULID) | |", method: "GET", path: "/transactions/{sale}", status: 200, want: one(saleIs)},
	{says: "| created_at | string (timestamp) | |", with: "of a sale", method: "GET", path: "/transactions/{sale}", status: 200, want: one(saleIs)},
	{
		says: saleCarries, with: "nothing", method: "POST", path: "/transactions", body: `{}`, status: 422,
		want: invalid(`"customer_ulid":["The customer ulid field is required."],"spend_amount_cents":["The spend amount cents field is required."],"transaction_type_id":["The transaction type id field is required."]`),
	},
	{
		says: saleCarries, with: "other kinds of values", method: "POST", path: "/transactions", body: `{"customer_ulid":1,"transaction_type_id":"{points}","spend_amount_cents":"1250"}`, status: 422,
		want: invalid(`"customer_ulid":["The customer ulid field must be a string."],"spend_amount_cents":["The spend amount cents field must be an integer."],"transaction_type_id":["The transaction type id field must be an integer."]`),
	},
	{
		says: "The rule that turns spend into points is part of the transaction type and is not exposed.", method: "POST", path: "/transactions", body: sellsToAnna,
		status: 201, want: sold,
		after: func(v *visit, _ answer) { v.is(v.ask("GET", "/transaction-types", "", ""), 404, notFound) },
	},
	{
		says: typesNotShown, with: "another tenant's is none", method: "POST", path: "/transactions",
		body:   `{"customer_ulid":"{anna}","transaction_type_id":{other_points},"spend_amount_cents":1250}`,
		status: 422, want: invalid(`"transaction_type_id":["The selected transaction type id is invalid."]`),
	},
	{says: typesNotShown, with: "those of the sandbox's file", method: "POST", path: "/transactions", body: stampsAnna, status: 201, want: stampSold},

	{says: "States: `completed`, `voided`.", story: func(v *visit) {
		v.is(v.ask("GET", "/transactions/{sale}", "", ""), 200, one(saleIs))
		v.is(v.ask("POST", "/transactions/{sale}/void", "", ""), 200, saleVoided)
		v.is(v.ask("GET", "/transactions/{sale}", "", ""), 200, saleVoided)
	}},
	{says: awards, with: "points", method: "POST", path: "/transactions", body: sellsToAnna, status: 201, want: sold, after: balance(12, 0)},
	{says: awards, with: "stamps", method: "POST", path: "/transactions", body: stampsAnna, status: 201, want: stampSold, after: balance(0, 1)},
	{says: voidsOnce, with: "points", method: "POST", path: "/transactions/{sale}/void", status: 200, want: saleVoided, after: balance(0, 0)},
	{says: voidsOnce, with: "stamps", method: "POST", path: "/transactions/{stamp_sale}/void", status: 200, want: stampSaleVoided, after: balance(0, 0)},
	{says: voidsNotTwice, method: "POST", path: "/transactions/{voided}/void", status: 422, want: ruled("already-voided", alreadyVoided), after: func(v *visit, got answer) {
		balance(0, 0)(v, got)
		v.is(v.ask("GET", "/transactions/{voided}", "", ""), 200, one(voidedIs))
	}},
	{says: noPIN, method: "POST", path: "/transactions", body: sellsToAnna, status: 201, want: sold},

	{says: recordsSale, story: func(v *visit) {
		v.is(v.ask("POST", "/transactions", string(v.file.TransactionsPostScope), sellsToAnna), 201, sold)
	}},
	{says: recordsSale, with: "to unknown", method: "POST", path: "/transactions", body: `{"customer_ulid":"{missing}","transaction_type_id":{points},"spend_amount_cents":1}`, status: 422, want: invalid(invalidReference)},
	{says: findsSale, method: "GET", path: "/transactions/{sale}", as: "transactions:write", status: 200, want: one(saleIs)},
	{says: findsSale, with: "unknown", method: "GET", path: "/transactions/{missing}", as: "transactions:write", status: 404, want: notFound},
	{says: voidsSale, method: "POST", path: "/transactions/{sale}/void", as: "transactions:write", status: 200, want: saleVoided},
	{says: voidsSale, with: "already voided", method: "POST", path: "/transactions/{voided}/void", as: "transactions:write", status: 422, want: ruled("already-voided", alreadyVoided)},
	{says: saleIsNoUpsert, story: sellsTwice},
	{says: configurable, with: "recording", method: "POST", path: "/transactions", body: sellsToAnna, status: 201, want: sold},
	{says: configurable, with: "another scope", story: func(v *visit) {
		other := v.limited.visit(v.t).other // no other case uses its tenant
		scope := string(other.file.TransactionsPostScope)
		if scope == string(v.file.TransactionsPostScope) {
			v.t.Errorf("both need %s", scope)
		}
		other.is(other.ask("POST", "/transactions", scope, sellsToAnna), 201, sold)
		other.is(other.ask("POST", "/transactions", string(v.file.TransactionsPostScope), sellsToAnna), 403, forbidden)
	}},

	{says: "| POST /transactions/{ulid}/void | Already voided | This transaction has already been voided. |", method: "POST", path: "/transactions/{voided}/void", status: 422, want: ruled("already-voided", alreadyVoided)},
	{says: checkFirst, with: "a transaction", story: func(v *visit) {
		made := v.ask("POST", "/transactions", "", sellsToAnna)
		v.is(made, 201, sold)
		newest := v.ask("GET", "/customers/{anna}/transactions?per_page=1", "", "")
		if record := strings.TrimSuffix(strings.TrimPrefix(made.body, `{"data":`), "}\n"); !strings.HasPrefix(newest.body, `{"data":[`+record+`]`) {
			v.t.Errorf("the newest is %s, made was %s", newest.body, made.body)
		}
	}},
	{says: voidedIsSuccess, story: func(v *visit) {
		first := v.ask("POST", "/transactions/{sale}/void", "", "")
		v.is(first, 200, saleVoided)
		v.is(v.ask("POST", "/transactions/{sale}/void", "", ""), 422, ruled("already-voided", alreadyVoided))
		v.is(v.ask("GET", "/transactions/{sale}", "", ""), 200, first.body)
	}},
	{says: postsAreNot, with: "a transaction", story: sellsTwice},
	{says: notAppliedTwice, with: "a void, many at once", story: func(v *visit) {
		v.fill("{hundred_points} {sale}")
		counts := v.race(24, func(int) (string, string) { return "/transactions/{sale}/void", "" })
		if counts[http.StatusOK] != 1 || counts[http.StatusUnprocessableEntity] != 23 {
			v.t.Errorf("of 24 voids: %v", counts)
		}
		v.has("{anna}", 100, 0)
	}},
}

// sellsTwice repeats a request, which records a second sale.
func sellsTwice(v *visit) {
	first := v.made("/transactions", sellsToAnna)
	if second := v.made("/transactions", sellsToAnna); second == first {
		v.t.Errorf("twice %s", first)
	}
	v.has("{anna}", 24, 0)
}
