package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/api"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/token"
)

const (
	saleBatch     = "/api/v1/transactions/batch"
	customerBatch = "/api/v1/customers/batch"
)

// result is what came of an item.
type result struct {
	Status   int
	Replayed bool
	Data     struct {
		ULID             string
		SpendAmountCents int64  `json:"spend_amount_cents"`
		CustomerULID     string `json:"customer_ulid"`
		FirstName        string `json:"first_name"`
	}
	Problem struct {
		Status int
		Code   string
		Errors map[string][]string
	}
}

// batch sends items, and returns what came of each.
func (s *shop) batch(path string, items ...string) []result {
	s.T.Helper()
	got := s.call("POST", path, s.token, of(items...))
	return got.results(s.T, len(items))
}

func (a answer) results(t testing.TB, n int) []result {
	t.Helper()
	var body struct{ Data []result }
	if err := json.Unmarshal([]byte(a.body), &body); err != nil || a.status != 200 || len(body.Data) != n {
		t.Fatalf("%d %s, %v: want %d results", a.status, a.body, err, n)
	}
	for i, r := range body.Data {
		if (r.Data.ULID == "") == (r.Problem.Status == 0) || r.Problem.Status != 0 && r.Problem.Status != r.Status {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	return body.Data
}

// of is the body of a batch.
func of(items ...string) string { return `{"items":[` + strings.Join(items, ",") + `]}` }

// saleTo is an item: a sale of some cents. more is a key or other fields.
func saleTo(customer string, cents int, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"customer_ulid":"%s","transaction_type_id":{points},"spend_amount_cents":%d%s}`, customer, cents, more)
}

// person is an item: a customer with a phone number.
func person(name, phone, more string) string {
	if more != "" {
		more = "," + more
	}
	return `{"first_name":"` + name + `","last_name":"Ek","phone":"` + phone + `"` + more + `}`
}

func keyed(key string) string { return `"idempotency_key":"` + key + `"` }

func repeated(item string, n int) []string {
	items := make([]string, n)
	for i := range items {
		items[i] = item
	}
	return items
}

// A batch has 1 to 100 items, within the limit of a body, and counts once against the rate limit.
func TestLimitsOfABatch(t *testing.T) {
	t.Parallel()
	proves(t, "A batch counts as one request.")
	s := newShop(t)
	required, notArray := invalid(`"items":["The items field is required."]`), invalid(`"items":["The items field must be an array."]`)
	tooMany := invalid(`"items":["The items field must not have more than 100 items."]`)
	for path, item := range map[string]string{saleBatch: saleTo("{anna}", 100, ""), customerBatch: person("Bo", "0701740700", "")} {
		s.call("POST", path, s.token, `{}`).is(t, 422, required)
		s.call("POST", path, s.token, `{"items":null}`).is(t, 422, required)
		s.call("POST", path, s.token, of()).is(t, 422, required)
		s.call("POST", path, s.token, `{"items":{}}`).is(t, 422, notArray)
		s.call("POST", path, s.token, `{"items":"[]"}`).is(t, 422, notArray)
		s.call("POST", path, s.token, of(repeated(item, 101)...)).is(t, 422, tooMany)
		s.call("POST", path, s.token, `[`+item+`]`).is(t, 400, badRequest)
		s.call("POST", path, s.token, of(item), "Idempotency-Key: ö").is(t, 400, badRequest)
		if got := s.batch(path, item); got[0].Status != 201 {
			t.Errorf("%s: %+v", path, got)
		}
		for i, r := range s.batch(path, repeated(item, 100)...) {
			if r.Status >= 300 {
				t.Errorf("%s, item %d: %+v", path, i, r)
			}
		}
		large := of(strings.TrimSuffix(item, "}") + `,"note":"` + strings.Repeat("x", api.MaxBody) + `"}`)
		s.call("POST", path, s.token, large).is(t, 413, tooLarge)
		fits := of(strings.TrimSuffix(s.fill(item), "}") + `,"note":""}`)
		fits = strings.Replace(fits, `"note":"`, `"note":"`+strings.Repeat("x", api.MaxBody-len(fits)), 1)
		if got := s.call("POST", path, s.token, fits).results(t, 1); got[0].Status >= 300 {
			t.Errorf("%s, as large as may be: %+v", path, got)
		}
	}
	if n := s.rows("transaction"); n != 102 {
		t.Errorf("%d sales, want 102", n)
	}
	o := newServer(t, s.db, func(c *api.Config) { c.PerToken = limit.NewWindow(2, time.Minute, time.Now) })
	for _, left := range []string{"1", "0"} {
		got := o.call(t, "POST", saleBatch, s.token, s.fill(of(repeated(saleTo("{anna}", 100, ""), 100)...)))
		if remaining := got.header.Get("X-RateLimit-Remaining"); got.status != 200 || remaining != left {
			t.Errorf("%d, %s requests remain, want %s", got.status, remaining, left)
		}
	}
}

// Each item gets what a single request would have got, in the order of the items, and a refused one leaves the others alone.
func TestEachItemHasItsResult(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	reference := `"external_reference":"R-1"`
	items := []string{
		saleTo("{anna}", 100, reference), saleTo("{anna}", 200, reference), saleTo("{bo}", 300, ""), saleTo("{inactive}", 400, ""),
		`5`, `null`, `[]`, `{}`, saleTo("{anna}", 500, keyed("")), saleTo("{anna}", 600, `"idempotency_key":7`), saleTo("{foreign_anna}", 700, ""),
		saleTo("{missing}", 700, ""), saleTo("x", 800, ""), saleTo("{anna}", 900, `"metadata":{"n":"9"}`), saleTo("{bo}", -1, ""), saleTo("{bo}", 1000, ""),
	}
	want := []int{201, 422, 201, 422, 400, 400, 400, 422, 422, 422, 422, 422, 422, 201, 422, 201}
	got := s.call("POST", saleBatch, s.token, of(items...))
	results := got.results(t, len(items))
	for i, r := range results {
		if r.Status != want[i] || r.Replayed {
			t.Errorf("%s: %+v, want %d", items[i], r, want[i])
		}
		if r.Status == 201 && !strings.Contains(items[i], fmt.Sprintf(`"spend_amount_cents":%d`, r.Data.SpendAmountCents)) {
			t.Errorf("%s: %+v is another one's", items[i], r)
		}
	}
	var raw struct {
		Data []struct{ Problem json.RawMessage }
	}
	if err := json.Unmarshal([]byte(got.body), &raw); err != nil {
		t.Fatal(err)
	}
	for i, document := range map[int]string{
		1:  taken("transaction_ulid", results[0].Data.ULID),
		5:  badRequest,
		8:  invalid(`"idempotency_key":["The selected idempotency key is invalid."]`),
		9:  invalid(`"idempotency_key":["The idempotency key field must be a string."]`),
		10: invalid(`"customer_ulid":["The selected customer ulid is invalid."]`),
	} {
		if string(raw.Data[i].Problem) != document {
			t.Errorf("%s: %s, want %s", items[i], raw.Data[i].Problem, document)
		}
	}
	if string(raw.Data[10].Problem) != string(raw.Data[11].Problem) {
		t.Error("a foreign customer isn't a missing one")
	}

	// The single endpoint has the same record.
	single := s.call("GET", "/api/v1/transactions/"+results[13].Data.ULID, s.token, "")
	if record := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(single.body), `{"data":`), "}"); !strings.Contains(got.body, record) {
		t.Errorf("%s isn't in %s", record, got.body)
	}
	balance(1+3+9+10, 0, 4)(s, answer{})
}

// Sales of a customer are recorded in the order of the batch.
func TestABatchKeepsTheOrderOfACustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var items []string
	for i := range 50 {
		items = append(items, saleTo("{anna}", 100*(i+1), ""), saleTo("{bo}", 100*(i+1), ""))
	}
	s.batch(saleBatch, items...)
	const wrong = `
		select count(*)
		from (select spend_amount_cents < lag(spend_amount_cents) over (partition by customer_id order by id) as wrong from loyalty.transaction where tenant_id = $1) t
		where wrong`
	if n := shoptest.Query[int](s.Shop, wrong, s.By.Tenant.ID); n != 0 || s.rows("transaction") != 100 {
		t.Errorf("%d of %d sales came before an earlier one", n, s.rows("transaction"))
	}
}

// A batch whose response was lost is sent again. Items with keys take effect once; of those without, a customer does.
func TestABatchThatIsSentAgain(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sales := []string{saleTo("{anna}", 100, keyed("a")), saleTo("{bo}", 200, keyed(`\"b\"`)), saleTo("{anna}", 300, ""), saleTo("{anna}", -1, keyed("c"))}
	first := s.batch(saleBatch, sales...)
	again := s.batch(saleBatch, sales...)
	for i, replayed := range []bool{true, true, false, false} {
		if again[i].Replayed != replayed || replayed && again[i].Data != first[i].Data || again[i].Status != first[i].Status {
			t.Errorf("sale %d: %+v, first %+v", i, again[i], first[i])
		}
	}
	balance(1+2+3+3, 0, 4)(s, answer{})
	// A refusal frees the key, and another request can't have one that is taken: neither another item nor a single request.
	mixed := s.batch(saleBatch, saleTo("{anna}", 400, keyed("c")), saleTo("{anna}", 500, keyed("a")))
	if mixed[0].Status != 201 || mixed[1].Problem.Code != "idempotency-key-reused" {
		t.Errorf("%+v", mixed)
	}
	s.call("POST", "/api/v1/transactions", s.token, saleTo("{anna}", 100, ""), "Idempotency-Key: a").is(t, 422,
		refused("idempotency-key-reused", "This idempotency key was used with a different request."))

	people := []string{person("Bo", "0701740701", keyed("p")), person("Cleo", "0701740702", ""), person("", "0701740703", keyed("q"))}
	first = s.batch(customerBatch, people...)
	again = s.batch(customerBatch, people...)
	for i, want := range []result{{Status: 201, Replayed: true}, {Status: 200}, {Status: 422}} {
		if again[i].Status != want.Status || again[i].Replayed != want.Replayed || again[i].Data != first[i].Data {
			t.Errorf("customer %d: %+v, first %+v", i, again[i], first[i])
		}
	}
	mixed = s.batch(customerBatch, person("Dag", "0701740703", keyed("q")), person("Eva", "0701740704", keyed("p")))
	if mixed[0].Status != 201 || mixed[1].Problem.Code != "idempotency-key-reused" {
		t.Errorf("%+v", mixed)
	}
}

// The key of a batch is one for each item that has none, by its place.
func TestTheKeyOfABatch(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	send := func(items ...string) []result {
		t.Helper()
		return s.call("POST", saleBatch, s.token, of(items...), "Idempotency-Key: "+strings.Repeat("k", 255)).results(t, len(items))
	}
	sale := saleTo("{anna}", 100, "")
	first := send(sale, sale, saleTo("{bo}", 200, keyed("own")), saleTo("{anna}", -1, ""))
	again := send(sale, sale, saleTo("{bo}", 200, keyed("own")), saleTo("{anna}", -1, ""))
	for i := range first {
		if want := i < 3; first[i].Replayed || again[i].Replayed != want || again[i].Data != first[i].Data || again[i].Status != first[i].Status {
			t.Errorf("item %d: %+v, first %+v", i, again[i], first[i])
		}
	}
	// Another item in a place is another request.
	if got := send(saleTo("{anna}", 300, ""), sale); got[0].Problem.Code != "idempotency-key-reused" || !got[1].Replayed {
		t.Errorf("%+v", got)
	}
	if got := s.batch(saleBatch, saleTo("{bo}", 200, keyed("own"))); !got[0].Replayed {
		t.Errorf("by its own key: %+v", got)
	}
	balance(1+1+2, 0, 3)(s, answer{})
}

// Of two items with one key, the second is a repeat of the first, or another request.
func TestAKeyThatABatchRepeats(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sale := saleTo("{anna}", 100, keyed("k"))
	got := s.batch(saleBatch, sale, sale, saleTo("{bo}", 100, keyed("k")), saleTo("{anna}", -1, keyed("l")), saleTo("{bo}", 200, keyed("l")))
	if got[0].Status != 201 || got[0].Replayed || !got[1].Replayed || got[1].Data != got[0].Data || got[2].Problem.Code != "idempotency-key-reused" ||
		got[3].Status != 422 || got[4].Status != 201 || got[4].Replayed {
		t.Errorf("sales: %+v", got)
	}
	anna := person("Dag", "0701740705", keyed("m"))
	got = s.batch(customerBatch, anna, anna, person("Eva", "0701740706", keyed("m")), person("", "1", keyed("n")), person("Eva", "0701740706", keyed("n")))
	if got[0].Status != 201 || got[0].Replayed || got[1].Status != 201 || !got[1].Replayed || got[1].Data != got[0].Data || got[2].Problem.Code != "idempotency-key-reused" ||
		got[3].Status != 422 || got[4].Status != 201 || got[4].Replayed {
		t.Errorf("customers: %+v", got)
	}
}

// Customers of a batch are found and added as single ones are: by phone number, then by e-mail, also those of the batch.
func TestCustomersOfABatch(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.fill("{anna}")
	foreign := s.stranger()
	foreign.fill("{anna}")
	got := s.batch(customerBatch,
		person("New", "+46 70 174 06 05", ""),                               // Anna's number
		person("Bo", "0701740711", `"email":"bo@example.com"`),              // new
		person("Bosse", "0701740712", `"email":"BO@example.com"`),           // found by e-mail
		person("Bosse", "070-174 07 11", `"email":"bosse@example.com"`),     // found by phone number
		person("Anna", "0701740713", `"email":"anna@example.com"`),          // Anna by her e-mail
		person("Cleo", "0701740714", `"email":"no"`),                        // refused
		person("Cleo", "0701740714", ""),                                    // new
		person("Dag", "0701740714", ""),                                     // found
		person("Eva", "0701740715", `"email":"bosse@example.com","note":1`), // new
	)
	want := []struct {
		status int
		name   string
	}{{200, "Anna"}, {201, "Bo"}, {200, "Bo"}, {200, "Bo"}, {200, "Anna"}, {422, ""}, {201, "Cleo"}, {200, "Cleo"}, {201, "Eva"}}
	for i, r := range got {
		if r.Status != want[i].status || r.Data.FirstName != want[i].name {
			t.Errorf("customer %d: %+v, want %v", i, r, want[i])
		}
	}
	if got[0].Data.ULID != anna || got[4].Data.ULID != anna || got[1].Data.ULID != got[2].Data.ULID {
		t.Errorf("%+v", got)
	}
	if n := s.rows("customer"); n != 4 {
		t.Errorf("%d customers, want 4", n)
	}
	s.call("GET", "/api/v1/customers/"+got[1].Data.ULID, s.token, "")
	if log := s.Log("customer", got[1].Data.ULID); len(log) != 1 || !strings.Contains(log[0], "create") {
		t.Errorf("audit log: %v", log)
	}
	// A customer who was added can buy at once.
	if sold := s.batch(saleBatch, saleTo(got[8].Data.ULID, 100, "")); sold[0].Status != 201 {
		t.Errorf("%+v", sold)
	}
	if foreign.rows("customer") != 1 {
		t.Error("another business has more customers")
	}
}

// Beyond the plan's limit, customers are still found, and others are refused.
func TestABatchBeyondThePlan(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna}")
	plan := s.fill("{spare_plan}")
	s.Exec("update loyalty.plan set customers_limit = 3 where id = $1::bigint", plan)
	s.Exec("update loyalty.tenant set plan_id = $2::bigint where id = $1", s.By.Tenant.ID, plan)
	got := s.batch(customerBatch, person("A", "0701740721", ""), person("B", "0701740722", ""), person("C", "0701740723", ""),
		person("Anna", "0701740605", ""), person("A", "0701740721", ""), person("C", "0701740723", ""))
	for i, status := range []int{201, 201, 422, 200, 200, 422} {
		if got[i].Status != status || status == 422 && got[i].Problem.Code != "plan-limit-reached" {
			t.Errorf("customer %d: %+v, want %d", i, got[i], status)
		}
	}
	if n := s.rows("customer"); n != 3 {
		t.Errorf("%d customers, want 3", n)
	}
}

// 32 batches at once, with customers and keys in common: each key and each phone number takes effect once.
func TestBatchesAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna} {bo} {points}")
	const batches, size = 32, 20
	var sales, people []string
	for i := range size {
		sales = append(sales, saleTo([]string{"{anna}", "{bo}"}[i%2], 100, keyed(fmt.Sprint("sale ", i))))
		people = append(people, person("P", fmt.Sprintf("07017408%02d", i), keyed(fmt.Sprint("person ", i))))
	}
	mirrored := make([]string, size)
	for i, item := range people {
		mirrored[size-1-i] = item
	}
	bodies := []string{s.fill(of(sales...)), s.fill(of(people...)), s.fill(of(mirrored...))}
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range batches * 3 {
		all.Go(func() {
			path := []string{saleBatch, customerBatch, customerBatch}[i%3]
			got, err := s.try(t.Context(), http.MethodPost, path, s.token, strings.NewReader(bodies[i%3]))
			if err != nil || got.status != 200 {
				t.Errorf("%d %s, %v", got.status, got.body, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, r := range got.results(t, size) {
				statuses[r.Status]++
			}
		})
	}
	all.Wait()
	if statuses[201]+statuses[409]+statuses[200] != batches*3*size {
		t.Errorf("statuses %v", statuses)
	}
	balance(size, 0, size)(s, answer{})
	if n := s.rows("customer"); n != 2+size {
		t.Errorf("%d customers, want %d", n, 2+size)
	}
	// Now nothing runs, and everything was done.
	for i, path := range []string{saleBatch, customerBatch, customerBatch} {
		got, err := s.try(t.Context(), http.MethodPost, path, s.token, strings.NewReader(bodies[i]))
		s.must(got, err)
		for _, r := range got.results(t, size) {
			if !r.Replayed {
				t.Errorf("%+v", r)
			}
		}
	}
}

// A batch needs what a single request needs.
func TestWhoMaySendABatch(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna} {points}")
	for path, needs := range map[string]token.Ability{saleBatch: token.TransactionsWrite, customerBatch: token.CustomersWrite} {
		item := map[string]string{saleBatch: saleTo("{anna}", 100, ""), customerBatch: person("Bo", "0701740730", "")}[path]
		for _, a := range token.Abilities {
			got := s.call("POST", path, s.makeToken(a).Secret, of(item))
			if want := map[bool]int{true: 200, false: 403}[a == needs]; got.status != want {
				t.Errorf("%s with %s: %d", path, a, got.status)
			}
		}
		s.call("POST", path, "", of(item)).is(t, 401, unauthorized)
		s.call("POST", path, platformToken(t, s.server), of(item)).is(t, 403, forbidden)
	}
}
