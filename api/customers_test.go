package api_test

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// The JSON of the scenarios' customers.
const (
	annaIs = `{"ulid":"{anna}","first_name":"Anna","last_name":"Lindqvist","phone":"070-174 06 05","email":"Anna@example.com",` +
		`"status":"active","points_balance":0,"stamps_balance":0,"created_at":"<time>","updated_at":"<time>",` + plainRest + `}`
	boIs = `{"ulid":"{bo}","first_name":"Bo","last_name":"Ek","phone":"+46 8 123 456 78","email":null,` +
		`"status":"active","points_balance":0,"stamps_balance":0,"created_at":"<time>","updated_at":"<time>",` + plainRest + `}`
	inactiveIs = `{"ulid":"{inactive}","first_name":"Cleo","last_name":"Falk","phone":"0701740699","email":"cleo@example.com",` +
		`"status":"inactive","points_balance":0,"stamps_balance":0,"created_at":"<time>","updated_at":"<time>",` + plainRest + `}`

	// The end of a customer without last days and without a program's own fields.
	plainRest = `"points_expire_on":null,"stamps_expire_on":null,"external_id":null,"metadata":{},"tags":[],"balance_changed_at":null,"birthday":null,"tier":null`
	// The same of one who earned something.
	earnedRest = `"points_expire_on":null,"stamps_expire_on":null,"external_id":null,"metadata":{},"tags":[],"balance_changed_at":"<time>","birthday":null,"tier":null`
)

func annaAndBo(s *shop) { s.fill("{anna}{bo}") }

// only is the JSON of a list with one page.
func only(path string, items ...string) string {
	return `{"data":[` + strings.Join(items, ",") + `],"links":{"first":null,"last":null,"prev":null,"next":null},` +
		`"meta":{"path":"https://{host}/api/v1` + path + `","per_page":15,"next_cursor":null,"prev_cursor":null}}`
}

func one(record string) string { return `{"data":` + record + `}` }

const filters = "Filters: `phone`, `email`, `external_id`, `search` (any part of name, phone, e-mail), `status`, `created_from`, `created_to`, `updated_since`."

func TestListCustomers(t *testing.T) {
	runScenarios(t, []scenario{
		{
			says:   "| GET | /api/v1/customers | customers:read | Optional filters. | List of customers. |",
			method: "GET", path: "/customers", auth: "customers:read", before: annaAndBo,
			status: 200, want: only("/customers", boIs, annaIs),
		},
		{
			says:   "| GET | /api/v1/customers | customers:read | Optional filters. | List of customers. |",
			with:   "of unknown",
			method: "GET", path: "/customers",
			status: 200, want: only("/customers"),
		},
		{
			says: "Lists are newest first; the ULID (or integer id) breaks ties;", with: "in one millisecond",
			method: "GET", path: "/customers",
			before: func(s *shop) {
				annaAndBo(s)
				s.change("customer", "created_at = '2026-05-01T10:00:00Z', updated_at = '2026-05-01T10:00:00.120Z'")
			},
			status: 200, want: strings.ReplaceAll(strings.ReplaceAll(only("/customers", boIs, annaIs),
				`"created_at":"<time>"`, `"created_at":"2026-05-01T10:00:00.000Z"`), `"updated_at":"<time>"`, `"updated_at":"2026-05-01T10:00:00.120Z"`),
		},
		{
			says: "Lists are newest first;", with: "by created_at, whatever the ULID",
			method: "GET", path: "/customers",
			before: func(s *shop) {
				annaAndBo(s)
				s.change("customer", "created_at = '2020-05-01T10:00:00Z'", "first_name = 'Bo'")
			},
			status: 200, want: only("/customers", annaIs, boIs),
		},
		{says: filters, also: []string{"Query parameters of list endpoints other than `per_page`, `from` and `to`: not shown."}, with: "phone as written", method: "GET", path: "/customers?phone=070-174%2006%2005", before: annaAndBo, status: 200, want: only("/customers", annaIs)},
		{says: filters, with: "phone written otherwise", method: "GET", path: "/customers?phone=%2B46701740605", before: annaAndBo, status: 200, want: only("/customers", annaIs)},
		{says: filters, with: "phone of unknown", method: "GET", path: "/customers?phone=0701740600", before: annaAndBo, status: 200, want: only("/customers")},
		{says: filters, with: "email in other letters", method: "GET", path: "/customers?email=ANNA@Example.com", before: annaAndBo, status: 200, want: only("/customers", annaIs)},
		{says: filters, with: "search a name", method: "GET", path: "/customers?search=indqv", before: annaAndBo, status: 200, want: only("/customers", annaIs)},
		{says: filters, with: "search both names", method: "GET", path: "/customers?search=bo%20ek", before: annaAndBo, status: 200, want: only("/customers", boIs)},
		{says: filters, with: "search a phone", method: "GET", path: "/customers?search=123%20456", before: annaAndBo, status: 200, want: only("/customers", boIs)},
		{says: filters, with: "search an e-mail", method: "GET", path: "/customers?search=anna@ex", before: annaAndBo, status: 200, want: only("/customers", annaIs)},
		{says: filters, with: "search takes % as it is", method: "GET", path: "/customers?search=%25", before: annaAndBo, status: 200, want: only("/customers")},
		{says: filters, with: "search takes \\ as it is", method: "GET", path: "/customers?search=%5C", before: annaAndBo, status: 200, want: only("/customers")},
		{says: filters, with: "status active", method: "GET", path: "/customers?status=active", before: func(s *shop) { s.fill("{anna}{inactive}") }, status: 200, want: only("/customers", annaIs)},
		{says: filters, with: "status inactive", method: "GET", path: "/customers?status=inactive", before: func(s *shop) { s.fill("{anna}{inactive}") }, status: 200, want: only("/customers", inactiveIs)},
		{says: filters, with: "search and status", method: "GET", path: "/customers?search=@example.com&status=inactive", before: func(s *shop) { s.fill("{anna}{inactive}") }, status: 200, want: only("/customers", inactiveIs)},
		{
			says: filters, with: "an empty one finds no stranger", method: "GET", path: "/customers?phone=&email=%20&search=%E2%80%8B&status=&created_from=&created_to=", before: annaAndBo,
			status: 422, want: invalid(`"created_from":["The created from field must have a value."],"created_to":["The created to field must have a value."],` +
				`"email":["The email field must have a value."],"phone":["The phone field must have a value."],` +
				`"search":["The search field must have a value."],"status":["The status field must have a value."]`),
		},
		{says: filters, with: "an empty phone and a size", method: "GET", path: "/customers?phone=&per_page=1", before: annaAndBo, status: 422, want: invalid(`"phone":["The phone field must have a value."]`)},
		{says: "Unknown filter values are 422.", with: "status", method: "GET", path: "/customers?status=erased", status: 422, want: invalid(`"status":["The selected status is invalid."]`)},
		{says: "Unknown filter values are 422.", with: "phone", method: "GET", path: "/customers?phone=x", status: 422, want: invalid(`"phone":["The phone field must be a valid phone number."]`)},
		{
			says: "Unknown filter values are 422.", with: "every one is named at once",
			method: "GET", path: "/customers?status=no&created_from=today&created_to=2026-02-30&per_page=x&cursor=x&search=%00",
			status: 422, want: invalid(`"created_from":["The created from field must be a valid date."],"created_to":["The created to field must be a valid date."],` +
				`"cursor":["The selected cursor is invalid."],"per_page":["The per page field must be an integer."],` +
				`"search":["The search field must not contain NUL characters."],"status":["The selected status is invalid."]`),
		},
		{says: "`from` after `to` is 422, and so is a range of more than 3,652 days.", method: "GET", path: "/customers?created_from=2026-05-02&created_to=2026-05-01", status: 422, want: invalid(`"created_to":["The created to field must be a date after or equal to created from."]`)},
		{says: "`from` after `to` is 422, and so is a range of more than 3,652 days.", with: "one day is a range", method: "GET", path: "/customers?created_from=2026-05-02&created_to=2026-05-02", status: 200, want: only("/customers")},
		{says: "Dates: `YYYY-MM-DD`.", method: "GET", path: "/customers?created_from=2026-5-2", status: 422, want: invalid(`"created_from":["The created from field must be a valid date."]`)},
		{says: "Dates: `YYYY-MM-DD`.", with: "no instants", method: "GET", path: "/customers?created_to=2026-05-02T00:00:00Z", status: 422, want: invalid(`"created_to":["The created to field must be a valid date."]`)},
	})
}

// change updates rows past the use cases.
func (s *shop) change(table, set string, where ...string) {
	s.T.Helper()
	sql := "update loyalty." + table + " set " + set + " where " + strings.Join(append(where, "tenant_id = $1"), " and ")
	s.must(dbtest.Owner(s.db).Exec(context.Background(), sql, s.By.Tenant.ID))
}

// Many clients don't escape the plus of a phone number, which then reads as a space.
func TestABarePlusIsAPlus(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.customer(customer.New{FirstName: "Kari", LastName: "Nord", Phone: "+47 912 34 567"})
	for _, query := range []string{"phone=+4791234567", "phone=+47+912+34+567", "per_page=5&phone=+4791234567", "search=+4791234", "phone=%2B4791234567"} {
		if got := s.call("GET", "/api/v1/customers?"+query, s.token, "").page(t); len(got.Data) != 1 {
			t.Errorf("%s finds %d customers, want Kari", query, len(got.Data))
		}
	}
}

// The shops are in Stockholm, where a summer day starts at 22:00 UTC.
func TestCreatedFiltersUseTenantDays(t *testing.T) {
	t.Parallel()
	proves(t, "A range `from`/`to` means whole days, both included, in the tenant's time zone;",
		"| phone | string | At most 30 characters. Used to match existing customers on upsert. |")
	s := newShop(t)
	s.fill("{anna}")
	for _, day := range []struct {
		created string
		in      bool
	}{
		{"2026-06-09T21:59:59.999Z", false},
		{"2026-06-09T22:00:00.000Z", true},
		{"2026-06-10T22:00:00.000Z", true},
		{"2026-06-11T21:59:59.999Z", true},
		{"2026-06-11T22:00:00.000Z", false},
	} {
		s.change("customer", "created_at = '"+day.created+"'")
		for _, search := range []string{"", "&search=ann"} {
			got := s.call("GET", "/api/v1/customers?created_from=2026-06-10&created_to=2026-06-11"+search, s.token, "")
			if in := strings.Contains(got.body, day.created); in != day.in {
				t.Errorf("created at %s%s: in the list %v, want %v: %s", day.created, search, in, day.in, got.body)
			}
		}
	}
}

func TestFindCustomer(t *testing.T) {
	const found = "| GET | /api/v1/customers/{ulid} | customers:read | - | `data`: customer (includes `points_balance`). |"
	runScenarios(t, []scenario{
		{says: found, method: "GET", path: "/customers/{anna}", auth: "customers:read", status: 200, want: one(annaIs)},
		{says: "Pagination envelope of list responses (page fields, default and maximum page size): not shown.", method: "GET", path: "/customers/{anna}/transactions", status: 200, want: only("/customers/{anna}/transactions")},
		{says: "Successful single-record responses wrap the record in an object under the key `data`.", method: "GET", path: "/customers/{bo}", status: 200, want: one(boIs)},
		{
			says:   "| points_balance | integer | Current total across all ledger entries. 0 for a new customer. |",
			before: func(s *shop) { s.fill("{sale}{stamp_sale}{voided}"); s.sale("{anna}", "{points}", 500) },
			method: "GET", path: "/customers/{anna}", status: 200,
			want: one(strings.NewReplacer(`"points_balance":0`, `"points_balance":17`, `"stamps_balance":0`, `"stamps_balance":1`, plainRest, earnedRest).Replace(annaIs)),
		},
		{says: "ULIDs are read in either case, written in upper case.", method: "GET", path: "/customers/{anna_lower}", status: 200, want: one(annaIs)},
		{says: "A path id that does not parse is 404.", with: "too short", method: "GET", path: "/customers/01JABC", status: 404, want: notFound},
		{says: "A path id that does not parse is 404.", with: "a letter that ULIDs lack", method: "GET", path: "/customers/01JABCDEFGHJKMNPQRSTVWXYZU", status: 404, want: notFound},
		{says: "A path id that does not parse is 404.", with: "more than 128 bits", method: "GET", path: "/customers/8ZZZZZZZZZZZZZZZZZZZZZZZZZ", status: 404, want: notFound},
		{says: "A path id that does not parse is 404.", with: "a NUL", method: "GET", path: "/customers/%00", status: 404, want: notFound},
		{says: "A path id that does not parse is 404.", with: "an integer", method: "GET", path: "/customers/1", status: 404, want: notFound},
		{says: "| 404 | Not Found | `The requested resource was not found.` | Resource missing, or owned by another tenant (never 403 for that case). |", with: "missing", method: "GET", path: "/customers/{missing}", status: 404, want: notFound},
		{says: "| 404 | Not Found | `The requested resource was not found.` | Resource missing, or owned by another tenant (never 403 for that case). |", with: "another's", method: "GET", path: "/customers/{foreign_anna}", status: 404, want: notFound},
		{
			says: "Erased: names `Erased`, phone `\"\"`, e-mail null, inactive, keys null; the ledger stays.", with: "shown",
			before: func(s *shop) {
				s.fill("{sale}")
				s.change("customer", "first_name = 'Erased', last_name = 'Erased', phone = '', phone_key = null, email = null, email_key = null, status = 'inactive'")
			},
			method: "GET", path: "/customers/{anna}", status: 200,
			want: one(`{"ulid":"{anna}","first_name":"Erased","last_name":"Erased","phone":"","email":null,"status":"inactive",` +
				`"points_balance":12,"stamps_balance":0,"created_at":"<time>","updated_at":"<time>",` + earnedRest + `}`),
		},
	})
}

func TestCustomerFields(t *testing.T) {
	t.Parallel()
	proves(t, "| ulid | string (ULID) | Permanent identifier. |",
		"| first_name | string | Sent on create. |", "| last_name | string | Sent on create. |",
		"Customer identifiers are ULIDs (string).", "Single record: `{\"data\": {…}}`.",
		"**Customer**: the specification's fields, + `stamps_balance`, + `status` (`active`, `inactive`), + `updated_at`, + `balance_changed_at`, + `points_expire_on`, + `stamps_expire_on`, + `external_id`, + `metadata`, + `tags`.",
		"A balance is the sum of its entries at every instant.")
	s := newShop(t)
	s.fill("{sale}")
	s.call("GET", "/api/v1/customers/{anna}", s.token, "").is(t, 200, s.fill(one(strings.NewReplacer(`"points_balance":0`, `"points_balance":12`, plainRest, earnedRest).Replace(annaIs))))
	s.call("PATCH", "/api/v1/customers/{anna}", s.token, `{"first_name":"Ann"}`)
	got := s.call("GET", "/api/v1/customers/{anna}", s.token, "")
	if !strings.Contains(got.body, s.fill(`"ulid":"{anna}","first_name":"Ann"`)) {
		t.Errorf("the identifier changed: %s", got.body)
	}
	if sum := shoptest.Query[int64](s.Shop, "select sum(amount)::bigint from loyalty.ledger_entry where tenant_id = $1", s.By.Tenant.ID); sum != 12 {
		t.Errorf("the entries sum to %d, want 12", sum)
	}
}

// A balance follows sales, voids and redemptions.
func TestBalances(t *testing.T) {
	t.Parallel()
	proves(t, "| points_balance | integer | Current total across all ledger entries. 0 for a new customer. |")
	s := newShop(t)
	for _, step := range []struct {
		path, body     string
		points, stamps int64
		entries        int
	}{
		{"/transactions", `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":10000}`, 100, 0, 1},
		{"/transactions/{sale}/void", "", 100, 0, 3},
		{"/redemptions", `{"customer_ulid":"{anna}","reward_ulid":"{espresso}"}`, 90, 0, 4},
		{"/transactions/{stamp_sale}/void", "", 90, 0, 6},
	} {
		if got := s.call("POST", "/api/v1"+step.path, s.token, step.body); got.status > 201 {
			t.Fatalf("%s: %d %s", step.path, got.status, got.body)
		}
		balance(step.points, step.stamps, step.entries)(s, answer{})
		shows("/customers/{anna}", `<anything>"points_balance":`+strconv.FormatInt(step.points, 10)+`,"stamps_balance":`+strconv.FormatInt(step.stamps, 10)+`,<anything>`)(s, answer{})
	}
}

func TestCreatedAtUsesDatabaseClock(t *testing.T) {
	t.Parallel()
	proves(t, "Timestamps: RFC 3339, UTC, milliseconds, `Z`; stored as `timestamptz(3)`, so that cursors and filters lose nothing.",
		"Timestamps are ISO 8601 strings.", "`created_at` is the first check-in: only an import may set it.",
		"| created_at | string (ISO 8601 timestamp) |")
	s := newShop(t)
	instant := time.Date(2026, 5, 1, 12, 0, 0, 0, time.FixedZone("", 7200))
	past := customer.NewService(s.db.At(instant))
	made, err := core.Result(past.Upsert(t.Context(), s.By, anna, nil))
	s.must(made, err)
	got := s.call("GET", "/api/v1/customers/"+strings.ToLower(made.ID.String()), s.token, "")
	if !matches(got.body, `<anything>"created_at":"2026-05-01T10:00:0`+`<anything>`) || !matches(got.body, `<anything>"created_at":"<time>"<anything>`) {
		t.Errorf("created at 12:00 in a zone of +02:00: %s", got.body)
	}
	s.call("POST", "/api/v1/customers", s.token, `{"first_name":"Bo","last_name":"Ek","phone":"0701740601","created_at":"2020-01-01T00:00:00Z","ulid":"01JABC","points_balance":5}`)
	if list := s.call("GET", "/api/v1/customers?phone=0701740601", s.token, ""); strings.Contains(list.body, "2020") || !strings.Contains(list.body, `"points_balance":0`) {
		t.Errorf("a client set a read-only field: %s", list.body)
	}
}

func TestLinksKeepFilters(t *testing.T) {
	t.Parallel()
	proves(t, "filters survive in `links`.")
	s := newShop(t)
	s.customers3(t)
	got := s.call("GET", "/api/v1/customers?search=shop%20%26%20co&status=active&created_from=2020-01-01&per_page=2", s.token, "").page(t)
	if len(got.Data) != 2 || got.Links.Next == nil {
		t.Fatalf("page %+v", got)
	}
	u, err := url.Parse(*got.Links.Next)
	s.must(u, err)
	q := u.Query()
	if q.Get("search") != "shop & co" || q.Get("status") != "active" || q.Get("created_from") != "2020-01-01" || q.Get("per_page") != "2" || q.Get("cursor") != *got.Meta.NextCursor {
		t.Errorf("next is %s", *got.Links.Next)
	}
	if next := s.call("GET", u.RequestURI(), s.token, "").page(t); len(next.Data) != 1 || next.Links.Next != nil || next.Links.Prev == nil {
		t.Errorf("the next page is %+v", next)
	}
}

// customers3 adds three customers with one name and one with another.
func (s *shop) customers3(t testing.TB) {
	t.Helper()
	for i, last := range []string{"Shop & Co", "Shop & Co", "Shop & Co", "Other"} {
		n := customer.New{FirstName: "N", LastName: last, Phone: "070174060" + string(rune('0'+i))}
		s.customer(n)
	}
}
