package main

import "strings"

// The JSON of responses.
const (
	annaIs = `{"ulid":"{anna}","first_name":"Anna","last_name":"Lindqvist","phone":"{phone}","email":"{email}","status":"active",` +
		`"points_balance":0,"stamps_balance":0,"created_at":"<time>","updated_at":"<time>"}`
	newAnna   = `{"first_name":"Anna","last_name":"Lindqvist","phone":"{phone}","email":"{email}"}`
	madeAnna  = `{"data":{"ulid":"<ulid>","first_name":"Anna","last_name":"Lindqvist","phone":"{phone}","email":"{email}","status":"active","points_balance":0,"stamps_balance":0,"created_at":"<time>","updated_at":"<time>"}}`
	madeAda   = `{"data":{"ulid":"<ulid>","first_name":"Ada","last_name":"Berg","phone":"{phone}","email":null,"status":"active","points_balance":0,"stamps_balance":0,"created_at":"<time>","updated_at":"<time>"}}`
	onlyPage  = `"links":{"first":null,"last":null,"prev":null,"next":null},"meta":{"path":"{base}/api/v1`
	ofFifteen = `","per_page":15,"next_cursor":null,"prev_cursor":null}}`
)

// one is the response with a single record.
func one(record string) string { return `{"data":` + record + `}` }

// only is the response with a list of one page.
func only(path string, records ...string) string {
	return `{"data":[` + strings.Join(records, ",") + `],` + onlyPage + path + ofFifteen
}

// invalid is the response to invalid fields.
func invalid(errors string) string {
	return `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.21","title":"Validation Error","status":422,` +
		`"detail":"The given data was invalid.","errors":{` + errors + `}}`
}

const (
	upsertsCustomer = "| POST | /api/v1/customers | customers:write | `first_name`, `last_name`, `phone` (string, at most 30 chars), optional `email`. | `data`: customer. " +
		"Upsert: when the phone or e-mail already matches a customer, that customer is returned and none is created. The response has the same shape whether created or found. |"
	customerID     = "| ulid | string (ULID) | Permanent identifier. |"
	customerPhone  = "| phone | string | At most 30 characters. Used to match existing customers on upsert. |"
	customerEmail  = "| email | string or null | Must be a valid e-mail address when sent. Used to match existing customers on upsert. |"
	pointsBalance  = "| points_balance | integer | Current total across all ledger entries. 0 for a new customer. |"
	editsCustomer  = "| PATCH | /api/v1/customers/{ulid} | customers:write | Fields to update. | Customer. |"
	customersSales = "| GET | /api/v1/customers/{ulid}/transactions | customers:read | Query `per_page` (integer). | Transactions of the customer, most recent first as implied by the retry pattern. |"
	otherQueries   = "Query parameters of list endpoints other than `per_page`, `from` and `to`: not shown."
	pagination     = "Pagination envelope of list responses (page fields, default and maximum page size): not shown."
	editableFields = "Fields accepted by PATCH /api/v1/customers/{ulid} and the response of GET /api/v1/tokens: not shown."
	phoneLimit     = "| Customer `phone` | at most 30 characters |"
	pageLimit      = "Maximum page size and other headers about rate limits: not shown."
)

// at30 is a unique phone number of 30 characters.
func at30(v *visit) {
	v.named["{phone}"] = strings.Repeat("0", 30-len(v.fill("{phone}"))) + v.fill("{phone}")
}

func annaIsThere(v *visit) { v.fill("{anna}") }

var customerSentences = []sentence{
	{
		says: customerID, with: "after every change", method: "PATCH", path: "/customers/{anna}",
		body:   `{"first_name":"Åsa","last_name":"Ek","phone":"{bos_phone}","email":null,"status":"inactive"}`,
		status: 200, want: one(`{"ulid":"{anna}","first_name":"Åsa","last_name":"Ek","phone":"{bos_phone}","email":null,"status":"inactive",` +
			`"points_balance":0,"stamps_balance":0,"created_at":"<time>","updated_at":"<time>"}`),
		after: func(v *visit, _ answer) {
			v.is(v.ask("GET", "/customers/{anna}", "", ""), 200, one(`{"ulid":"{anna}","first_name":"Åsa",<anything>}`))
		},
	},
	{says: "| first_name | string | Sent on create. |", method: "POST", path: "/customers", body: newAnna, status: 201, want: madeAnna},
	{
		says: "| first_name | string | Sent on create. |", with: "it is not", method: "POST", path: "/customers", body: `{"last_name":"B","phone":"{phone}"}`,
		status: 422, want: invalid(`"first_name":["The first name field is required."]`),
	},
	{
		says: "| first_name | string | Sent on create. |", with: "it is no string", method: "POST", path: "/customers", body: `{"first_name":1,"last_name":"B","phone":"{phone}"}`,
		status: 422, want: invalid(`"first_name":["The first name field must be a string."]`),
	},
	{says: "| last_name | string | Sent on create. |", method: "POST", path: "/customers", body: newAnna, status: 201, want: madeAnna},
	{
		says: "| last_name | string | Sent on create. |", with: "it is not", method: "POST", path: "/customers", body: `{"first_name":"A","phone":"{phone}"}`,
		status: 422, want: invalid(`"last_name":["The last name field is required."]`),
	},
	{
		says: customerPhone, with: "30 characters", before: at30, method: "POST", path: "/customers",
		body: `{"first_name":"Ada","last_name":"Berg","phone":"{phone}"}`, status: 201, want: madeAda,
	},
	{
		says: customerPhone, with: "31 characters", before: at30, method: "POST", path: "/customers",
		body:   `{"first_name":"Ada","last_name":"Berg","phone":"0{phone}"}`,
		status: 422, want: invalid(`"phone":["The phone field must not be greater than 30 characters."]`),
	},
	{
		says: customerPhone, with: "it matches", before: annaIsThere, method: "POST", path: "/customers",
		body: `{"first_name":"Ada","last_name":"Berg","phone":"{phone}"}`, status: 200, want: one(annaIs),
	},
	{
		says: customerEmail, with: "no address", method: "POST", path: "/customers", body: `{"first_name":"A","last_name":"B","phone":"{phone}","email":"invalid"}`,
		status: 422, want: invalid(`"email":["The email field must be a valid email address."]`),
	},
	{
		says: customerEmail, with: "none", method: "POST", path: "/customers",
		body: `{"first_name":"Ada","last_name":"Berg","phone":"{phone}","email":null}`, status: 201, want: madeAda,
	},
	{
		says: customerEmail, with: "it matches", before: annaIsThere, method: "POST", path: "/customers",
		body: `{"first_name":"Ada","last_name":"Berg","phone":"{bos_phone}","email":"{email}"}`, status: 200, want: one(annaIs),
	},
	{says: pointsBalance, with: "a new customer", method: "POST", path: "/customers", body: newAnna, status: 201, want: madeAnna},
	{says: pointsBalance, with: "of earning, voiding and spending", story: func(v *visit) {
		v.fill("{hundred_points} {sale} {stamp_sale}")
		v.has("{anna}", 112, 1)
		v.fill("{voided}")
		v.has("{anna}", 112, 1)
		v.made("/redemptions", `{"customer_ulid":"{anna}","reward_ulid":"{in_stock}"}`)
		v.has("{anna}", 62, 1)
		v.made("/transactions/{stamp_sale}/void", "")
		v.made("/transactions/{sale}/void", "")
		v.has("{anna}", 50, 0)
	}},
	{says: "| created_at | string (ISO 8601 timestamp) |", method: "POST", path: "/customers", body: newAnna, status: 201, want: madeAnna},
	{
		says: "| GET | /api/v1/customers | customers:read | Optional filters. | List of customers. |", with: "with a filter", method: "GET",
		path: "/customers?phone={bos_phone}", as: "customers:read", before: func(v *visit) { v.fill("{bo}") }, status: 200,
		want: only("/customers", `{"ulid":"{bo}","first_name":"Bo","last_name":"Ek","phone":"{bos_phone}","email":null,"status":"active",`+
			`"points_balance":0,"stamps_balance":0,"created_at":"<time>","updated_at":"<time>"}`),
	},
	{
		says: "| GET | /api/v1/customers | customers:read | Optional filters. | List of customers. |", with: "without", method: "GET",
		path: "/customers?per_page=100", as: "customers:read", before: annaIsThere, status: 200,
		want: `{"data":[<anything>` + annaIs + `<anything>],"links":{"first":null,"last":null,"prev":null,"next":"<anything>"},"meta":{"path":"{base}/api/v1/customers",` +
			`"per_page":100,"next_cursor":"<anything>","prev_cursor":null}}`,
	},
	{
		says: "| GET | /api/v1/customers/{ulid} | customers:read | - | `data`: customer (includes `points_balance`). |", method: "GET", path: "/customers/{anna}",
		as: "customers:read", status: 200, want: one(annaIs),
	},
	{
		says: "| GET | /api/v1/customers/{ulid} | customers:read | - | `data`: customer (includes `points_balance`). |", with: "unknown", method: "GET", path: "/customers/{missing}",
		as: "customers:read", status: 404, want: notFound,
	},
	{says: upsertsCustomer, with: "created", method: "POST", path: "/customers", as: "customers:write", body: newAnna, status: 201, want: madeAnna},
	{
		says: upsertsCustomer, with: "found by phone", method: "POST", path: "/customers", as: "customers:write", before: annaIsThere,
		body: `{"first_name":"Ada","last_name":"Berg","phone":"{phone}","email":"new.{email}"}`, status: 200, want: one(annaIs),
	},
	{
		says: upsertsCustomer, with: "found by e-mail", method: "POST", path: "/customers", as: "customers:write", before: annaIsThere,
		body: `{"first_name":"Ada","last_name":"Berg","phone":"{bos_phone}","email":"{email}"}`, status: 200, want: one(annaIs),
		after: func(v *visit, _ answer) {
			v.is(v.ask("GET", "/customers?phone={bos_phone}", "", ""), 200, only("/customers")) // none is created
		},
	},
	{
		says: upsertsCustomer, with: "nothing is sent", method: "POST", path: "/customers", as: "customers:write", body: `{}`, status: 422,
		want: invalid(`"first_name":["The first name field is required."],"last_name":["The last name field is required."],"phone":["The phone field is required."]`),
	},
	{
		says: editsCustomer, method: "PATCH", path: "/customers/{anna}", as: "customers:write", body: `{"last_name":"Ek"}`,
		status: 200, want: one(strings.Replace(annaIs, "Lindqvist", "Ek", 1)),
	},
	{says: editsCustomer, with: "unknown", method: "PATCH", path: "/customers/{missing}", as: "customers:write", body: `{"last_name":"Ek"}`, status: 404, want: notFound},
	{
		says: editableFields, with: "a PATCH of each", method: "PATCH", path: "/customers/{anna}",
		body:   `{"first_name":"Åsa","last_name":"Ek","phone":"{bos_phone}","email":"new.{email}","status":"inactive","points_balance":1000000,"ulid":"{missing}"}`,
		status: 200, want: one(`{"ulid":"{anna}","first_name":"Åsa","last_name":"Ek","phone":"{bos_phone}","email":"new.{email}","status":"inactive",` +
			`"points_balance":0,"stamps_balance":0,"created_at":"<time>","updated_at":"<time>"}`),
	},
	{
		says: customersSales, method: "GET", path: "/customers/{anna}/transactions", as: "customers:read",
		before: func(v *visit) { v.fill("{sale} {stamp_sale} {voided}") }, status: 200,
		want: only("/customers/{anna}/transactions", voidedIs, stampSaleIs, saleIs),
	},
	{
		says: customersSales, with: "per_page", method: "GET", path: "/customers/{anna}/transactions?per_page=1", as: "customers:read",
		before: func(v *visit) { v.fill("{sale} {stamp_sale}") }, status: 200,
		want: `{"data":[` + stampSaleIs + `],"links":{"first":null,"last":null,"prev":null,` +
			`"next":"{base}/api/v1/customers/{anna}/transactions?cursor=<anything>&per_page=1"},` +
			`"meta":{"path":"{base}/api/v1/customers/{anna}/transactions","per_page":1,"next_cursor":"<anything>","prev_cursor":null}}`,
	},
	{
		says: customersSales, with: "no number", method: "GET", path: "/customers/{anna}/transactions?per_page=x", as: "customers:read",
		status: 422, want: invalid(`"per_page":["The per page field must be an integer."]`),
	},
	{says: otherQueries, with: "filters that are", story: func(v *visit) {
		v.fill("{anna} {bo}")
		for _, filter := range []string{"phone={phone}", "email={email}", "search={email}", "email={email}&status=active", "email={email}&created_from=2026-01-01"} {
			v.is(v.ask("GET", "/customers?"+filter, "", ""), 200, only("/customers", annaIs))
		}
		for _, filter := range []string{"email={email}&status=inactive", "search={missing}", "email={email}&created_to=2026-01-01"} {
			v.is(v.ask("GET", "/customers?"+filter, "", ""), 200, only("/customers"))
		}
	}},
	{
		says: otherQueries, with: "a value that is none", method: "GET", path: "/customers?status=gone&created_from=yesterday", status: 422,
		want: invalid(`"created_from":["The created from field must be a valid date."],"status":["The selected status is invalid."]`),
	},
	{says: pagination, with: "from page to page, and back", story: walksPages},
	{
		says: pagination, with: "15 without a word", method: "GET", path: "/customers", status: 200,
		want: `{"data":[<anything>],"links":{"first":null,"last":null,"prev":null,"next":"{base}/api/v1/customers?cursor=<anything>"},` +
			`"meta":{"path":"{base}/api/v1/customers","per_page":15,"next_cursor":"<anything>","prev_cursor":null}}`,
	},
	{
		says: pageLimit, with: "100", method: "GET", path: "/customers/{anna}/transactions?per_page=1000", status: 200,
		want: strings.Replace(only("/customers/{anna}/transactions"), `"per_page":15`, `"per_page":100`, 1),
	},
	{
		says: "Idempotency of operations: POST /customers is idempotent through upsert.", story: func(v *visit) {
			first := v.ask("POST", "/customers", "", newAnna)
			v.is(first, 201, madeAnna)
			again := v.ask("POST", "/customers", "", newAnna)
			v.is(again, 200, first.body)
		},
	},
	{
		says: phoneLimit, with: "30", before: at30, method: "POST", path: "/customers", body: `{"first_name":"Ada","last_name":"Berg","phone":"{phone}"}`,
		status: 201, want: madeAda,
	},
	{
		says: phoneLimit, with: "31, in a change", before: at30, method: "PATCH", path: "/customers/{bo}", body: `{"phone":"0{phone}"}`,
		status: 422, want: invalid(`"phone":["The phone field must not be greater than 30 characters."]`),
	},
	{
		says: phoneLimit, with: "characters, not bytes", before: func(v *visit) { at30(v); v.named["{phone}"] = strings.ReplaceAll(v.named["{phone}"], "-", "–") },
		method: "POST", path: "/customers", body: `{"first_name":"Ada","last_name":"Berg","phone":"{phone}"}`, status: 201, want: madeAda,
	},
}

// walksPages reads a list of three one by one, forward and back.
func walksPages(v *visit) {
	v.fill("{sale} {stamp_sale} {voided}")
	type page struct {
		Data  []identity `json:"data"`
		Links struct{ Prev, Next string }
	}
	at := "/customers/{anna}/transactions?per_page=1"
	read := func() (id string, p page) {
		got := v.ask("GET", at, "", "")
		p = decode[page](v.t, got.body)
		if len(p.Data) != 1 {
			v.t.Fatalf("%s: %d %s", at, got.status, got.body)
		}
		return p.Data[0].ULID, p
	}
	var seen []string
	id, p := read()
	for seen = append(seen, id); p.Links.Next != ""; seen = append(seen, id) {
		at = p.Links.Next
		id, p = read()
	}
	for p.Links.Prev != "" {
		at = p.Links.Prev
		id, p = read()
		seen = append(seen, id)
	}
	if got, want := strings.Join(seen, " "), v.fill("{voided} {stamp_sale} {sale} {stamp_sale} {voided}"); got != want {
		v.t.Errorf("forward and back: %s, want %s", got, want)
	}
}
