package api_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/token"
)

// sale is the JSON of a transaction.
func sale(ulid, rule, cents, points, stamps, state, kind, reference string) string {
	return refunded("0", "0", ulid, rule, cents, points, stamps, state, kind, reference)
}

// refunded is sale with the amount that was refunded and what that took of the award.
func refunded(refundedCents, taken, ulid, rule, cents, points, stamps, state, kind, reference string) string {
	pointsTaken, stampsTaken := taken, "null"
	if rule == "stamps" {
		pointsTaken, stampsTaken = "null", taken
	}
	base := `"base_points":` + points + `,"base_stamps":` + stamps // without promotions and levels
	return `{"ulid":"` + ulid + `","rule_type":"` + rule + `","spend_amount_cents":` + cents + `,"points_awarded":` + points + `,"stamps_awarded":` + stamps +
		`,` + state + `,"customer_ulid":"{anna}","transaction_type_id":` + kind + `,"source":"api","location_id":null,"external_reference":` + reference +
		`,"occurred_at":"<time>","metadata":{},"created_at":"<time>","points_expire_on":null,"stamps_expire_on":null,"refunded_cents":` + refundedCents + `,"points_refunded":` + pointsTaken +
		`,"stamps_refunded":` + stampsTaken + `,` + base + `,"promotion_id":null,"points_capped":` + strconv.FormatBool(kind == "{capped}") + `,"items":[]}`
}

// refund is the JSON of a refund of {sale} or {stamp_sale}.
func refund(sold, cents, points, stamps, reference string) string {
	return `{"ulid":"<ulid>","transaction_ulid":"` + sold + `","amount_cents":` + cents + `,"points_refunded":` + points + `,"stamps_refunded":` + stamps +
		`,"external_reference":` + reference + `,"created_at":"<time>"}`
}

const (
	completed = `"status":"completed","voided_at":null`
	voided    = `"status":"voided","voided_at":"<time>"`

	recorded        = "| POST | /api/v1/transactions | see note | `customer_ulid`, `transaction_type_id`, `spend_amount_cents` | `data`: transaction with status `completed`. |"
	awarded         = "| (none) | Transaction recorded | Valid request | completed | Points or stamps awarded; customer balance rises by `points_awarded`. |"
	onTheField      = "A body reference to a missing or foreign record is 422 on that field."
	integers        = "Integers are JSON integers, not strings, not fractions."
	spendRange      = "spend is 0 to 10^12."
	reference       = "+ `external_reference` (optional, at most 100 characters, unique in the tenant: a second use is 422 on the field, so a receipt number makes retries safe)."
	referenceTaken  = "A refused `external_reference` has the `code` `reference-taken` and, beside `errors`, the ULID of the sale that has it."
	referenceStays  = "It stays taken after a void."
	awardRule       = "points = `points_per_unit` × floor(spend ÷ `unit_cents`); stamps = `stamps_per_transaction`; both with `min_spend_cents` (below: recorded, earns 0, no ledger entry) and an optional cap per transaction."
	oneAward        = "A sale that would earn more than 10^12 is 422 on `spend_amount_cents`, with the greatest spend that is not."
	overflows       = "Points and stamps are 64-bit; one award is at most 10^12, and a balance that would overflow is 422, never wrapped;"
	notTwice        = "| voided | POST /transactions/{ulid}/void | Already voided | voided (unchanged) | 422 with detail `This transaction has already been voided.`; no second reversal. |"
	againstTheRules = "| 422 | Unprocessable Entity (one guide shows Business Rule Violation) | rule message, no `errors` | Business rule violated. |"
	alreadyIs       = "| POST /transactions/{ulid}/void | Already voided | This transaction has already been voided. |"
	voids           = "| completed | POST /transactions/{ulid}/void | Not yet voided | voided | `voided_at` is set; the award is reversed once. |"
	voidEndpoint    = "| POST | /api/v1/transactions/{ulid}/void | transactions:write | none | `data`: transaction with status `voided`. 422 if already voided. |"
)

// balance checks Anna's balances afterwards.
func balance(points, stamps int64, entries int) func(*shop, answer) {
	return func(s *shop, _ answer) {
		s.T.Helper()
		var p, st int64
		err := dbtest.Owner(s.db).QueryRow(s.T.Context(), "select sum(points), sum(stamps) from loyalty.account where tenant_id = $1", s.By.Tenant.ID).Scan(&p, &st)
		if err != nil || p != points || st != stamps || s.rows("ledger_entry") != entries {
			s.T.Errorf("%d points, %d stamps in %d entries, %v; want %d, %d, %d", p, st, s.rows("ledger_entry"), err, points, stamps, entries)
		}
	}
}

func TestRecordTransaction(t *testing.T) {
	nothing := balance(0, 0, 0)
	post := func(says, with, body string, status int, want string, after func(*shop, answer)) scenario {
		return scenario{
			says: says, with: with, method: "POST", path: "/transactions", before: func(s *shop) { s.fill("{anna}") },
			body: body, status: status, want: want, after: after,
		}
	}
	const toAnna = `"customer_ulid":"{anna}","transaction_type_id":{points}`
	table := []scenario{
		{
			says: recorded, also: []string{created, "API transactions do not use a PIN."}, method: "POST", path: "/transactions", auth: "transactions:write",
			body:   `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":1250}`,
			status: 201, want: one(sale("<ulid>", "points", "1250", "12", "null", completed, "{points}", "null")), after: balance(12, 0, 1),
		},
		post(awarded, "stamps", `{"customer_ulid":"{anna}","transaction_type_id":{stamps},"spend_amount_cents":1}`, 201,
			one(sale("<ulid>", "stamps", "1", "null", "1", completed, "{stamps}", "null")), balance(0, 1, 1)),
		post("Transaction type records and the allowed values of `transaction_type_id`: not shown.", "a foreign one", `{"customer_ulid":"{anna}","transaction_type_id":{foreign_points},"spend_amount_cents":1}`, 422, invalid(`"transaction_type_id":["The selected transaction type id is invalid."]`), nothing),
		post(awarded, "points", `{`+toAnna+`,"spend_amount_cents":100}`, 201, one(sale("<ulid>", "points", "100", "1", "null", completed, "{points}", "null")), balance(1, 0, 1)),
		post("ULIDs are read in either case, written in upper case.", "in a body", `{"customer_ulid":"{anna_lower}","transaction_type_id":{points},"spend_amount_cents":99}`, 201, one(sale("<ulid>", "points", "99", "0", "null", completed, "{points}", "null")), balance(0, 0, 0)),
		post(awardRule, "below the minimum", `{"customer_ulid":"{anna}","transaction_type_id":{from_ten},"spend_amount_cents":999}`, 201, one(sale("<ulid>", "points", "999", "0", "null", completed, "{from_ten}", "null")), balance(0, 0, 0)),
		post(awardRule, "at the minimum", `{"customer_ulid":"{anna}","transaction_type_id":{from_ten},"spend_amount_cents":1000}`, 201, one(sale("<ulid>", "points", "1000", "10", "null", completed, "{from_ten}", "null")), balance(10, 0, 1)),
		post(awardRule, "capped", `{"customer_ulid":"{anna}","transaction_type_id":{capped},"spend_amount_cents":100000}`, 201, one(sale("<ulid>", "points", "100000", "5", "null", completed, "{capped}", "null")), balance(5, 0, 1)),
		post(spendRange, "0", `{`+toAnna+`,"spend_amount_cents":0}`, 201, one(sale("<ulid>", "points", "0", "0", "null", completed, "{points}", "null")), nothing),
		post(spendRange, "-0", `{`+toAnna+`,"spend_amount_cents":-0}`, 201, one(sale("<ulid>", "points", "0", "0", "null", completed, "{points}", "null")), nothing),
		post(spendRange, "10^12", `{`+toAnna+`,"spend_amount_cents":1000000000000}`, 201, one(sale("<ulid>", "points", "1000000000000", "10000000000", "null", completed, "{points}", "null")), balance(10000000000, 0, 1)),
		post("The API has no ceiling.", "", `{`+toAnna+`,"spend_amount_cents":100001}`, 201, one(sale("<ulid>", "points", "100001", "1000", "null", completed, "{points}", "null")), balance(1000, 0, 1)),
		post(spendRange, "a cent more", `{`+toAnna+`,"spend_amount_cents":1000000000001}`, 422, invalid(`"spend_amount_cents":["The spend amount cents field must not be greater than 1000000000000."]`), nothing),
		post(wording, "-1", `{`+toAnna+`,"spend_amount_cents":-1}`, 422, invalid(`"spend_amount_cents":["The spend amount cents field must be at least 0."]`), nothing),
		post(oneAward, "", `{"customer_ulid":"{anna}","transaction_type_id":{lavish},"spend_amount_cents":1000000000000}`, 422, invalid(`"spend_amount_cents":["The spend amount cents field must not be greater than 1000."]`), nothing),
		post(oneAward, "a cent too much", `{"customer_ulid":"{anna}","transaction_type_id":{lavish},"spend_amount_cents":1001}`, 422, invalid(`"spend_amount_cents":["The spend amount cents field must not be greater than 1000."]`), nothing),
		post(overflows, "one award", `{"customer_ulid":"{anna}","transaction_type_id":{lavish},"spend_amount_cents":1000}`, 201, one(sale("<ulid>", "points", "1000", "1000000000000", "null", completed, "{lavish}", "null")), balance(1_000_000_000_000, 0, 1)),
		{
			says: overflows, with: "the balance", method: "POST", path: "/transactions",
			before: func(s *shop) { s.holds("{anna}", 9_223_372_036_854_775_000) },
			body:   `{"customer_ulid":"{anna}","transaction_type_id":{lavish},"spend_amount_cents":1000}`,
			status: 422, want: refused("balance-too-large", "The award would exceed the largest possible balance."), after: balance(9_223_372_036_854_775_000, 0, 0),
		},
		post("An inactive type or customer is 422 on the field.", "type", `{"customer_ulid":"{anna}","transaction_type_id":{closed_type},"spend_amount_cents":1}`, 422, invalid(`"transaction_type_id":["The selected transaction type id is invalid."]`), nothing),
		post("An inactive type or customer is 422 on the field.", "customer", `{"customer_ulid":"{inactive}","transaction_type_id":{points},"spend_amount_cents":1}`, 422, invalid(`"customer_ulid":["The selected customer ulid is invalid."]`), nothing),
		post(onTheField, "missing", `{"customer_ulid":"{missing}","transaction_type_id":9223372036854775807,"spend_amount_cents":1}`, 422, invalid(`"customer_ulid":["The selected customer ulid is invalid."],"transaction_type_id":["The selected transaction type id is invalid."]`), nothing),
		post(onTheField, "foreign", `{"customer_ulid":"{foreign_anna}","transaction_type_id":{foreign_points},"spend_amount_cents":1}`, 422, invalid(`"customer_ulid":["The selected customer ulid is invalid."],"transaction_type_id":["The selected transaction type id is invalid."]`), nothing),
		post(wording, "a customer that does not parse", `{"customer_ulid":"x","transaction_type_id":{points},"spend_amount_cents":1}`, 422, invalid(`"customer_ulid":["The selected customer ulid is invalid."]`), nothing),
		post("A request to record a transaction carries `customer_ulid` (string), `transaction_type_id` (integer) and `spend_amount_cents` (integer).", "", `{}`, 422,
			invalid(`"customer_ulid":["The customer ulid field is required."],"spend_amount_cents":["The spend amount cents field is required."],"transaction_type_id":["The transaction type id field is required."]`), nothing),
		post(wrongType, "of a sale", `{"customer_ulid":5,"transaction_type_id":"1","spend_amount_cents":"100","external_reference":1}`, 422,
			invalid(`"customer_ulid":["The customer ulid field must be a string."],"external_reference":["The external reference field must be a string."],`+
				`"spend_amount_cents":["The spend amount cents field must be an integer."],"transaction_type_id":["The transaction type id field must be an integer."]`), nothing),
		post(reference, "given", `{`+toAnna+`,"spend_amount_cents":100,"external_reference":"R-1"}`, 201, one(sale("<ulid>", "points", "100", "1", "null", completed, "{points}", `"R-1"`)), nil),
		post(reference, "100 characters", `{`+toAnna+`,"spend_amount_cents":100,"external_reference":"`+strings.Repeat("ö", 100)+`"}`, 201, one(sale("<ulid>", "points", "100", "1", "null", completed, "{points}", `"`+strings.Repeat("ö", 100)+`"`)), nil),
		post(reference, "101 characters", `{`+toAnna+`,"spend_amount_cents":100,"external_reference":"`+strings.Repeat("x", 101)+`"}`, 422, invalid(`"external_reference":["The external reference field must not be greater than 100 characters."]`), nothing),
		post(reference, "null and blank are none", `{`+toAnna+`,"spend_amount_cents":100,"external_reference":" "}`, 201, one(sale("<ulid>", "points", "100", "1", "null", completed, "{points}", "null")), nil),
		post(recorded, "at a branch that isn't there", `{`+toAnna+`,"spend_amount_cents":100,"location_id":9223372036854775807}`, 422, invalid(`"location_id":["The selected location id is invalid."]`), nothing),
		post(wrongType, "of what a sale may also have", `{`+toAnna+`,"spend_amount_cents":100,"location_id":"1","occurred_at":5,"metadata":{"a":1}}`, 422,
			invalid(`"location_id":["The location id field must be an integer."],"metadata.a":["The metadata.a field must be a string."],"occurred_at":["The occurred at field must be a string."]`), nothing),
		post(recorded, "too long ago", `{`+toAnna+`,"spend_amount_cents":100,"occurred_at":"2020-02-29T12:00:00+01:00"}`, 422, invalid(`"occurred_at":["The occurred at field must be at most 72 hours ago."]`), nothing),
		post(recorded, "in the future", `{`+toAnna+`,"spend_amount_cents":100,"occurred_at":"2999-01-01T12:00:00Z"}`, 422, invalid(`"occurred_at":["The occurred at field must not be in the future."]`), nothing),
		post(recorded, "with null for what it may also have", `{`+toAnna+`,"spend_amount_cents":100,"location_id":null,"occurred_at":null,"metadata":null}`, 201,
			one(sale("<ulid>", "points", "100", "1", "null", completed, "{points}", "null")), nil),
		post(recorded, "with metadata", `{`+toAnna+`,"spend_amount_cents":100,"metadata":{"order":"A <7>"}}`, 201,
			one(strings.Replace(sale("<ulid>", "points", "100", "1", "null", completed, "{points}", "null"), `"metadata":{}`, `"metadata":{"order":"A <7>"}`, 1)), nil),
		post(wrongType, "of items", `{`+toAnna+`,"spend_amount_cents":1000,"items":{}}`, 422, invalid(`"items":["The items field must be an array."]`), nothing),
		post(wrongType, "of parts of items", `{`+toAnna+`,"spend_amount_cents":1000,"items":[7,{"category":1,"amount_cents":"5"},{},{"category":" ","amount_cents":-1}]}`, 422,
			invalid(`"items.0":["The items.0 field must be an object."],`+
				`"items.1.amount_cents":["The items.1.amount cents field must be an integer."],"items.1.category":["The items.1.category field must be a string."],`+
				`"items.2.amount_cents":["The items.2.amount cents field is required."],"items.2.category":["The items.2.category field is required."],`+
				`"items.3.amount_cents":["The items.3.amount cents field must be at least 0."],"items.3.category":["The items.3.category field is required."]`), nothing),
		post(recorded, "with items of more than the amount", `{`+toAnna+`,"spend_amount_cents":1000,"items":[{"category":"cakes","amount_cents":600},{"category":"tea","amount_cents":401}]}`, 422,
			invalid(`"items":["The items field must not add up to more than spend amount cents."]`), nothing),
		post(recorded, "with 101 items", `{`+toAnna+`,"spend_amount_cents":1000,"items":[`+strings.TrimSuffix(strings.Repeat(`{"category":"tea","amount_cents":1},`, 101), ",")+`]}`, 422,
			invalid(`"items":["The items field must not have more than 100 items."]`), nothing),
		post(recorded, "with items", `{`+toAnna+`,"spend_amount_cents":1000,"items":[{"category":"Cakes","amount_cents":600},{"category":"tea","amount_cents":400}]}`, 201,
			one(strings.Replace(sale("<ulid>", "points", "1000", "10", "null", completed, "{points}", "null"), `"items":[]`, `"items":[{"category":"Cakes","amount_cents":600},{"category":"tea","amount_cents":400}]`, 1)), balance(10, 0, 1)),
		post(nulText, "of a sale", `{"customer_ulid":"\u0000","transaction_type_id":{points},"spend_amount_cents":100,"external_reference":"R\u0000"}`, 422,
			invalid(`"customer_ulid":["The customer ulid field must not contain NUL characters."],"external_reference":["The external reference field must not contain NUL characters."]`), nothing),
		{
			says: reference, also: []string{referenceTaken}, with: "a second use", method: "POST", path: "/transactions",
			before: func(s *shop) {
				s.call("POST", "/api/v1/transactions", s.token, `{`+toAnna+`,"spend_amount_cents":100,"external_reference":"R-1"}`)
			},
			body: `{` + toAnna + `,"spend_amount_cents":100,"external_reference":"R-1"}`, status: 422,
			want: taken("transaction_ulid", "<ulid>"), after: balance(1, 0, 1),
		},
		{
			says: referenceStays, with: "of a voided sale", method: "POST", path: "/transactions",
			before: func(s *shop) {
				got := s.call("POST", "/api/v1/transactions", s.token, `{`+toAnna+`,"spend_amount_cents":100,"external_reference":"R-1"}`)
				s.named["{taken}"] = regexp.MustCompile(`"ulid":"(\w+)"`).FindStringSubmatch(got.body)[1]
				s.call("POST", "/api/v1/transactions/{taken}/void", s.token, "")
			},
			body: `{` + toAnna + `,"spend_amount_cents":100,"external_reference":"R-1"}`, status: 422,
			want: taken("transaction_ulid", "{taken}"), after: balance(0, 0, 2),
		},
		{
			says: reference, with: "another tenant's is free", method: "POST", path: "/transactions",
			before: func(s *shop) {
				o := s.stranger()
				o.call("POST", "/api/v1/transactions", o.token, `{`+toAnna+`,"spend_amount_cents":100,"external_reference":"R-1"}`)
			},
			body: `{` + toAnna + `,"spend_amount_cents":100,"external_reference":"R-1"}`, status: 201,
			want: one(sale("<ulid>", "points", "100", "1", "null", completed, "{points}", `"R-1"`)),
		},
		{
			says: "Note on POST /api/v1/transactions: the usage guides describe it as recording a pre-authorised transaction directly, and it is not idempotent (a retry creates a second transaction).", method: "POST", path: "/transactions",
			before: func(s *shop) {
				s.call("POST", "/api/v1/transactions", s.token, `{`+toAnna+`,"spend_amount_cents":100}`)
			},
			body: `{` + toAnna + `,"spend_amount_cents":100}`, status: 201,
			want: one(sale("<ulid>", "points", "100", "1", "null", completed, "{points}", "null")), after: balance(2, 0, 2),
		},
	}
	for _, number := range []string{"1.5", "1.0", "1e2", "1E+2", `"1"`, "9223372036854775808", "-9223372036854775809", "1e400", "true", "[]", "{}"} {
		table = append(table, post(integers, number, `{"customer_ulid":"{anna}","transaction_type_id":`+number+`,"spend_amount_cents":`+number+`}`, 422,
			invalid(`"spend_amount_cents":["The spend amount cents field must be an integer."],"transaction_type_id":["The transaction type id field must be an integer."]`), nothing))
	}
	runScenarios(t, table)
}

func TestFindAndVoidTransaction(t *testing.T) {
	proves(t, "+ `occurred_at`, + `metadata`, + what was refunded, and the last days of what it earned.",
		"| rule_type | string | Value `points` is used for points transactions. Other values: not shown (a `stamps_awarded` field implies a stamps type). |",
		"States: `completed`, `voided`.", "| spend_amount_cents | integer | Spend amount in cents. |",
		"| points_awarded | integer or null | Points of this transaction only. |", "| status | string | `completed` or `voided`. |",
		"| customer_ulid | string (ULID) | |", "| created_at | string (timestamp) | |", "| ulid | string (ULID) | |",
		"The rule that turns spend into points is part of the transaction type and is not exposed.",
		"**Transaction**: the specification's fields, + `transaction_type_id`, + `source` (`api`, `pos`, `panel`), + `location_id` (null),",
		"Money is integer cents, in fields ending `_cents`;", "Money amounts are integers in cents (field suffix `_cents`).")
	const finds = "| GET | /api/v1/transactions/{ulid} | transactions:write | - | `data`: transaction. |"
	runScenarios(t, []scenario{
		{says: finds, also: []string{"States: `completed`, `voided`.", "| status | string | `completed` or `voided`. |"}, method: "GET", path: "/transactions/{sale}", auth: "transactions:write", status: 200, want: one(sale("{sale}", "points", "1250", "12", "null", completed, "{points}", "null"))},
		{says: "| stamps_awarded | integer or null | Null for a points transaction. |", with: "stamps", method: "GET", path: "/transactions/{stamp_sale}", status: 200, want: one(sale("{stamp_sale}", "stamps", "300", "null", "1", completed, "{stamps}", "null"))},
		{says: "| voided_at | string (timestamp) or null | Null unless voided. |", method: "GET", path: "/transactions/{voided}", status: 200, want: one(sale("{voided}", "points", "700", "7", "null", voided, "{points}", "null"))},
		{says: "A path id that does not parse is 404.", with: "of a sale", method: "GET", path: "/transactions/x", status: 404, want: notFound},
		{says: "A record of another tenant answers byte for byte like a missing one.", with: "a sale", method: "GET", path: "/transactions/{foreign_sale}", status: 404, want: notFound},
		{
			says: voidEndpoint, method: "POST", path: "/transactions/{sale}/void", auth: "transactions:write", status: 200,
			want:  one(sale("{sale}", "points", "1250", "12", "null", voided, "{points}", "null")),
			after: all(balance(0, 0, 2), shows("/transactions/{sale}", one(sale("{sale}", "points", "1250", "12", "null", voided, "{points}", "null")))),
		},
		{says: voids, with: "stamps", method: "POST", path: "/transactions/{stamp_sale}/void", status: 200, want: one(sale("{stamp_sale}", "stamps", "300", "null", "1", voided, "{stamps}", "null")), after: balance(0, 0, 2)},
		{
			says: notTwice, also: []string{"Business-rule messages (422):", voidEndpoint, alreadyIs, "the business-rule title is `Unprocessable Entity`.", againstTheRules}, method: "POST", path: "/transactions/{voided}/void", status: 422,
			want:  refused("already-voided", "This transaction has already been voided."),
			after: all(balance(0, 0, 2), shows("/transactions/{voided}", one(sale("{voided}", "points", "700", "7", "null", voided, "{points}", "null")))),
		},
		{says: "200 for: customer found, void, fulfil (their bodies are not read), redeem (its body is read if it is JSON), restore, batch, preview, PATCH.", with: "garbage", method: "POST", path: "/transactions/{sale}/void", body: "{[", headers: []string{"Content-Type: text/plain"}, status: 200, want: one(sale("{sale}", "points", "1250", "12", "null", voided, "{points}", "null"))},
		{says: "A record of another tenant answers byte for byte like a missing one.", with: "a void", method: "POST", path: "/transactions/{foreign_sale}/void", status: 404, want: notFound},
		{says: "A record of another tenant answers byte for byte like a missing one.", with: "a void of nothing", method: "POST", path: "/transactions/{missing}/void", status: 404, want: notFound},
		{says: "A path id that does not parse is 404.", with: "of a void", method: "POST", path: "/transactions/x/void", status: 404, want: notFound},
		{
			says:   "| GET | /api/v1/customers/{ulid}/transactions | customers:read | Query `per_page` (integer). | Transactions of the customer, most recent first as implied by the retry pattern. |",
			before: func(s *shop) { s.fill("{sale}{stamp_sale}"); s.sale("{bo}", "{points}", 100) },
			method: "GET", path: "/customers/{anna}/transactions", auth: "customers:read", status: 200,
			want: only("/customers/{anna}/transactions", sale("{stamp_sale}", "stamps", "300", "null", "1", completed, "{stamps}", "null"), sale("{sale}", "points", "1250", "12", "null", completed, "{points}", "null")),
		},
		{says: "A record of another tenant answers byte for byte like a missing one.", with: "its sales", method: "GET", path: "/customers/{foreign_anna}/transactions", before: func(s *shop) { s.fill("{foreign_sale}") }, status: 404, want: notFound},
		{says: "A record of another tenant answers byte for byte like a missing one.", with: "sales of unknown", method: "GET", path: "/customers/{missing}/transactions", status: 404, want: notFound},
	})
}

// The whole award is reversed, even if it was spent or the customer is inactive.
func TestVoidMayTakeTheBalanceBelowZero(t *testing.T) {
	t.Parallel()
	proves(t, "Voiding reverses the whole award even if it was spent: the balance may go below zero,",
		"Void and fulfil cannot apply twice.", "POST /transactions and POST /redemptions are not.", "A 422 `already voided` on a void retry may be treated as success.")
	s := newShop(t)
	s.fill("{sale}")
	s.change("account", "points = 5") // seven were spent
	s.call("PATCH", "/api/v1/customers/{anna}", s.token, `{"status":"inactive"}`)
	s.call("POST", "/api/v1/transactions/{sale}/void", s.token, "").is(t, 200, s.fill(one(sale("{sale}", "points", "1250", "12", "null", voided, "{points}", "null"))))
	balance(-7, 0, 2)(s, answer{})
	s.call("POST", "/api/v1/transactions/{sale}/void", s.token, "").is(t, 422, refused("already-voided", "This transaction has already been voided."))
	balance(-7, 0, 2)(s, answer{})
	// Recording it again creates another sale.
	s.call("PATCH", "/api/v1/customers/{anna}", s.token, `{"status":"active"}`)
	for range 2 {
		s.call("POST", "/api/v1/transactions", s.token, aSale)
	}
	balance(-5, 0, 4)(s, answer{})
}

// Each request to a fresh tenant.
func TestRefundTransaction(t *testing.T) {
	tooMuch := func(limit string) string {
		return invalid(`"amount_cents":["The amount cents field must not be greater than ` + limit + `."]`)
	}
	same := all(balance(12, 0, 1), shows("/transactions/{sale}", one(sale("{sale}", "points", "1250", "12", "null", completed, "{points}", "null"))))
	for name, c := range map[string]struct {
		sold, body string
		status     int
		want       string
		after      func(*shop, answer)
	}{
		"a part": {"{sale}", `{"amount_cents":300}`, 201, one(refund("{sale}", "300", "3", "null", "null")), all(
			balance(9, 0, 2), shows("/transactions/{sale}", one(refunded("300", "3", "{sale}", "points", "1250", "12", "null", completed, "{points}", "null"))))},
		"a reference": {"{sale}", `{"amount_cents":1,"external_reference":" C-1 "}`, 201, one(refund("{sale}", "1", "1", "null", `"C-1"`)), balance(11, 0, 2)},
		"of stamps":   {"{stamp_sale}", `{"amount_cents":100}`, 201, one(refund("{stamp_sale}", "100", "null", "1", "null")), balance(0, 0, 2)},
		"the whole":   {"{sale}", `{"amount_cents":1250}`, 422, refused("refund-is-void", "A refund of the whole sale is a void. Void this transaction instead."), same},
		"too much":    {"{sale}", `{"amount_cents":1251}`, 422, tooMuch("1250"), same},
		"no amount":   {"{sale}", `{}`, 422, invalid(`"amount_cents":["The amount cents field is required."]`), same},
		"nothing":     {"{sale}", `{"amount_cents":0}`, 422, invalid(`"amount_cents":["The amount cents field must be at least 1."]`), same},
		"a fraction": {"{sale}", `{"amount_cents":1.5,"external_reference":7}`, 422, invalid(
			`"amount_cents":["The amount cents field must be an integer."],"external_reference":["The external reference field must be a string."]`), same},
		"a voided sale":                     {"{voided}", `{"amount_cents":100}`, 422, refused("already-voided", "This transaction has already been voided."), balance(0, 0, 2)},
		"a missing sale, before the fields": {"{missing}", `{}`, 404, notFound, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.fill(c.sold + c.want)
			got := s.call("POST", "/api/v1/transactions/"+c.sold+"/refunds", s.makeToken(token.TransactionsWrite).Secret, c.body)
			got.is(t, c.status, s.fill(c.want))
			if c.after != nil {
				c.after(s, got)
			}
		})
	}
	runScenarios(t, []scenario{
		{says: "A record of another tenant answers byte for byte like a missing one.", with: "a refund", method: "POST", path: "/transactions/{foreign_sale}/refunds", body: `{"amount_cents":100}`, status: 404, want: notFound},
		{says: "A path id that does not parse is 404.", with: "of a refund", method: "POST", path: "/transactions/x/refunds", body: `{"amount_cents":100}`, status: 404, want: notFound},
	})
}

// Refunds add up to the whole award, and a void takes back what they left.
func TestRefundsOfASale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{sale}")
	refunding := func(body string, status int, want string, headers ...string) {
		t.Helper()
		s.call("POST", "/api/v1/transactions/{sale}/refunds", s.token, body, headers...).is(t, status, s.fill(want))
	}
	first := one(refund("{sale}", "500", "5", "null", `"C-1"`))
	refunding(`{"amount_cents":500,"external_reference":"C-1"}`, 201, first, "Idempotency-Key: once")
	refunding(`{"amount_cents":500,"external_reference":"C-1"}`, 201, first, "Idempotency-Key: once")
	refunding(`{"amount_cents":500,"external_reference":"C-1"}`, 422, taken("refund_ulid", "<ulid>"))
	refunding(`{"amount_cents":751}`, 422, invalid(`"amount_cents":["The amount cents field must not be greater than 750."]`))
	refunding(`{"amount_cents":250}`, 201, one(refund("{sale}", "250", "3", "null", "null")))
	balance(4, 0, 3)(s, answer{})
	s.call("POST", "/api/v1/transactions/{sale}/void", s.token, "").is(t, 200,
		s.fill(one(refunded("750", "8", "{sale}", "points", "1250", "12", "null", voided, "{points}", "null"))))
	balance(0, 0, 4)(s, answer{})
	refunding(`{"amount_cents":1}`, 422, refused("already-voided", "This transaction has already been voided."))
}

// A sale at a branch, which was made the day before, keeps both.
func TestASaleThatIsRecordedLater(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	branch, err := core.Result(s.Locations.Add(t.Context(), s.By, location.New{Name: "Söder"}, nil))
	s.must(branch, err)
	bought := s.db.Now().Add(-24 * time.Hour).UTC().Truncate(time.Millisecond)
	got := s.call("POST", "/api/v1/transactions", s.token, `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":100,`+
		`"location_id":`+strconv.FormatInt(branch.ID, 10)+`,"occurred_at":"`+bought.In(time.FixedZone("", 2*60*60)).Format(time.RFC3339Nano)+`"}`)
	for _, want := range []string{`"location_id":` + strconv.FormatInt(branch.ID, 10), `"occurred_at":"` + bought.Format("2006-01-02T15:04:05.000Z") + `"`} {
		if got.status != 201 || !strings.Contains(got.body, want) {
			t.Errorf("%d %s, want %s", got.status, got.body, want)
		}
	}
	id := regexp.MustCompile(`"ulid":"(\w+)"`).FindStringSubmatch(got.body)[1]
	s.call("GET", "/api/v1/transactions/"+id, s.token, "").is(t, 200, strings.TrimSpace(got.body))
}

// A preview is a sale that isn't recorded.
func TestPreviewTransaction(t *testing.T) {
	preview := func(points, stamps, pointsAfter, stampsAfter string) string {
		unit := "points"
		if points == "null" {
			unit = "stamps"
		}
		return one(`{"rule_type":"` + unit + `","points_awarded":` + points + `,"stamps_awarded":` + stamps +
			`,"points_expire_on":null,"stamps_expire_on":null,"points_balance_after":` + pointsAfter + `,"stamps_balance_after":` + stampsAfter +
			`,"base_points":` + points + `,"base_stamps":` + stamps + `,"promotion_id":null,"promotion_name":null,"promotion_until":null,"points_capped":false,"tier_reached":null}`)
	}
	previewed := func(with, body string, status int, want string) scenario {
		return scenario{
			says: onTheField, with: "previewed, " + with, method: "POST", path: "/transactions/preview", auth: "transactions:write",
			before: func(s *shop) { s.fill("{sale} {stamp_sale}") }, body: body, status: status, want: want, after: balance(12, 1, 2),
		}
	}
	runScenarios(t, []scenario{
		previewed("points", `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":700}`, 200, preview("7", "null", "19", "1")),
		previewed("stamps", `{"customer_ulid":"{anna}","transaction_type_id":{stamps},"spend_amount_cents":700}`, 200, preview("null", "1", "12", "2")),
		previewed("no customer", `{"transaction_type_id":{points},"spend_amount_cents":700}`, 200, preview("7", "null", "null", "null")),
		previewed("null for a customer", `{"customer_ulid":null,"transaction_type_id":{points},"spend_amount_cents":700}`, 200, preview("7", "null", "null", "null")),
		previewed("a customer that does not parse", `{"customer_ulid":"x","transaction_type_id":{points},"spend_amount_cents":700}`, 422, invalid(`"customer_ulid":["The selected customer ulid is invalid."]`)),
		previewed("foreign", `{"customer_ulid":"{foreign_anna}","transaction_type_id":{foreign_points},"spend_amount_cents":700}`, 422,
			invalid(`"customer_ulid":["The selected customer ulid is invalid."],"transaction_type_id":["The selected transaction type id is invalid."]`)),
		previewed("nothing", `{}`, 422, invalid(`"spend_amount_cents":["The spend amount cents field is required."],"transaction_type_id":["The transaction type id field is required."]`)),
	})
}

// A last day is shown as a hold moves it, and none while nothing ends.
func TestTheLastDayOfASale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna} {points} {stamps}")
	rule := func(set string) {
		t.Helper()
		s.must(dbtest.Owner(s.db).Exec(t.Context(), `
			insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, begun_at, updated_at)
			values ($1, 'points', 'after', 12, 'year', now(), now())
			on conflict (tenant_id, unit) do update set `+set, s.By.Tenant.ID))
		s.must(dbtest.Owner(s.db).Exec(t.Context(), "select loyalty.share_programme($1)", s.By.Tenant.ID))
	}
	shows := func(got answer, want string) {
		t.Helper()
		if !strings.Contains(got.body, want) {
			t.Errorf("%d %s, want %s", got.status, got.body, want)
		}
	}
	record := func(kind string) answer {
		t.Helper()
		return s.call("POST", "/api/v1/transactions", s.token, `{"customer_ulid":"{anna}","transaction_type_id":`+kind+`,"spend_amount_cents":1250}`)
	}
	rule("expiry = 'after'")
	made, year := record("{points}"), strconv.Itoa(s.db.Now().AddDate(1, 0, 0).Year())
	shows(made, `"points_expire_on":"`+year+`-12-31","stamps_expire_on":null`)
	shows(record("{stamps}"), `"points_expire_on":null,"stamps_expire_on":null`)

	path := "/api/v1/transactions/" + regexp.MustCompile(`"ulid":"(\w+)"`).FindStringSubmatch(made.body)[1]
	rule("hold_until = '2090-01-31'")
	shows(s.call("GET", path, s.token, ""), `"points_expire_on":"2090-01-31"`)
	rule("hold_until = 'infinity'")
	shows(s.call("GET", path, s.token, ""), `"points_expire_on":null`)
}
