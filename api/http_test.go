package api_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/link"
)

// exact makes a request whose response is as it was sent: not decompressed, no redirect followed.
func (s *shop) exact(method, path, token, body string, headers ...string) answer {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), method, s.url+path, strings.NewReader(body))
	s.must(r, err)
	r.Host = domain
	r.Header.Set("Accept-Encoding", "identity")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
		if name == "Accept-Encoding" || name == "Content-Type" {
			r.Header.Set(name, value)
		}
	}
	client := *s.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	got, err := send(&client, r)
	s.must(got, err)
	return got
}

func unpacked(t *testing.T, got answer) string {
	t.Helper()
	var r io.Reader = strings.NewReader(got.body)
	var err error
	switch got.header.Get("Content-Encoding") {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "zstd":
		r, err = zstd.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestResponsesAreCompressed(t *testing.T) {
	t.Parallel()
	proves(t, "Answers of 1 KiB and more are compressed with zstd or gzip, as `Accept-Encoding` allows.")
	s := newShop(t)
	for i := range 30 {
		s.customer(customer.New{FirstName: "N", LastName: strconv.Itoa(i), Phone: "07017" + strconv.Itoa(10000+i)})
	}
	const path = "/api/v1/customers?per_page=1000"
	plain := s.exact("GET", path, s.token, "")
	tags := map[string]bool{plain.header.Get("ETag"): true}
	for accepted, want := range map[string]string{
		"gzip": "gzip", "zstd": "zstd", "gzip, zstd": "zstd", "zstd;q=0.5, gzip": "gzip", "gzip;q=0.9, *": "zstd", "*": "zstd", "X-GZIP": "gzip",
		"GZIP ; q=1.0 , br": "gzip", "br": "", "identity": "", "gzip;q=0": "", "*;q=0": "", "gzip;q=0.5, identity": "", "identity;q=0.5, gzip;q=0.5": "gzip",
		"gzip;q=x": "gzip", ",": "",
	} {
		got := s.exact("GET", path, s.token, "", "Accept-Encoding: "+accepted)
		if h := got.header; got.status != 200 || h.Get("Content-Encoding") != want || h.Get("Vary") != "Accept-Encoding" || h.Get("Content-Length") != strconv.Itoa(len(got.body)) {
			t.Errorf("%s: %d %v, want %q", accepted, got.status, h, want)
		}
		if unpacked(t, got) != plain.body || want != "" && len(got.body) > len(plain.body)/3 {
			t.Errorf("%s: %d bytes of %d", accepted, len(got.body), len(plain.body))
		}
		tags[got.header.Get("ETag")] = true
	}
	if len(tags) != 3 {
		t.Errorf("tags %v, want one of each encoding", slices.Collect(maps.Keys(tags)))
	}
	// What is short isn't compressed.
	for _, path := range []string{"/api/v1/rewards", "/api/v1/nope"} {
		if got := s.exact("GET", path, s.token, "", "Accept-Encoding: gzip, zstd"); got.header.Get("Content-Encoding") != "" || got.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %v", path, got.header)
		}
	}
	// A long problem document is.
	long := "/api/v1/customers?" + strings.Repeat("x", 2000)
	got := s.exact("GET", long, s.token, "", "Accept-Encoding: zstd", "Prefer: handling=strict")
	if got.status != 422 || got.header.Get("Content-Encoding") != "zstd" || !strings.Contains(unpacked(t, got), "There is no parameter with the name xxx") {
		t.Errorf("a long problem: %d %v", got.status, got.header)
	}
	// The description is, without a token.
	for _, encoding := range []string{"", "gzip", "zstd"} {
		got := s.exact("GET", "/api/v1/openapi.json", "", "", "Accept-Encoding: "+encoding)
		if got.header.Get("Content-Encoding") != encoding || !strings.HasPrefix(unpacked(t, got), "{\n  \"openapi\"") {
			t.Errorf("the description: %d %v", got.status, got.header)
		}
	}
}

// Many clients at once get each their own list.
func TestCompressedAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for i := range 150 { // more than 64 kB
		s.customer(customer.New{FirstName: strings.Repeat("N", 100), LastName: strings.Repeat("M", 100), Phone: "07017" + strconv.Itoa(10000+i)})
	}
	var all sync.WaitGroup
	for i := range 24 {
		path := "/api/v1/customers?per_page=" + strconv.Itoa(100+i)
		encoding := []string{"gzip", "zstd"}[i%2]
		all.Go(func() {
			got := s.exact("GET", path, s.token, "", "Accept-Encoding: "+encoding)
			if text := unpacked(t, got); strings.Count(text, `"ulid"`) != 100+i || got.header.Get("Content-Encoding") != encoding {
				t.Errorf("%s: %d, %d customers", path, got.status, strings.Count(text, `"ulid"`))
			}
		})
	}
	all.Wait()
}

// A page of 1,000 customers is one query, as a page of one is.
func TestPagesOfAThousand(t *testing.T) {
	t.Parallel()
	d, trips := dbtest.RoundTrips(t)
	s := shopAt(t, newServer(t, d, nil))
	s.fill("{anna}")
	s.must(dbtest.Owner(d).Exec(t.Context(), `
		with made as (
			insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, created_at, updated_at)
			select $1, gen_random_uuid(), 'N', n::text, n::text, n::text, now(), now() from generate_series(1, 1500) n
			returning tenant_id, id
		)
		insert into loyalty.account (tenant_id, customer_id) select tenant_id, id from made`, s.By.Tenant.ID))
	read := func(size int) int {
		t.Helper()
		path := "/api/v1/customers?per_page=" + strconv.Itoa(size)
		s.call("GET", path, s.token, "") // prepares the statement
		before := trips()
		if got := s.call("GET", path, s.token, "").page(t); len(got.Data) != size || got.Links.Next == nil {
			t.Errorf("%d customers, want %d", len(got.Data), size)
		}
		return trips() - before
	}
	if one, thousand := read(1), read(1000); one != thousand {
		t.Errorf("a page of 1,000 took %d round trips, of one %d", thousand, one)
	}
}

// A client that has a response gets it again only if it has changed.
func TestNotModified(t *testing.T) {
	t.Parallel()
	proves(t, "A single record and the first page of a list have an `ETag`; with `If-None-Match` they are 304 while nothing has changed.")
	s := newShop(t)
	s.fill("{anna}{bo}{sale}{redemption}")
	for _, path := range []string{
		"/customers/{anna}", "/customers/{anna}/expiring", "/transactions/{sale}", "/redemptions/{redemption}", "/customers", "/customers?per_page=1", "/customers/{anna}/transactions",
		"/customers/{anna}/ledger-entries", "/rewards", "/promotions", "/coupons", "/reports/summary", "/reports/customers/top", "/reports/coupons",
	} {
		path = s.fill("/api/v1" + path)
		first := s.exact("GET", path, s.token, "")
		tag := first.header.Get("ETag")
		if first.status != 200 || tag == "" || first.header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s: %d %v", path, first.status, first.header)
		}
		for given, isKnown := range map[string]bool{
			tag: true, "W/" + tag: true, `"a", ` + tag + `, "b"`: true, "*": true,
			`"a"`: false, strings.Trim(tag, `"`): false, "": false, `"` + strings.Trim(tag, `"`) + `-gzip"`: false,
		} {
			got := s.call("GET", path, s.token, "", "If-None-Match: "+given, "Accept-Encoding: identity")
			switch {
			case !isKnown && (got.status != 200 || got.body != first.body):
				t.Errorf("%s with %s: %d", path, given, got.status)
			case isKnown && (got.status != 304 || got.body != "" || got.header.Get("ETag") != tag || got.header.Get("Vary") != "Accept-Encoding" ||
				got.header.Get("Content-Type") != "" || got.header.Get("Cache-Control") != "private, no-cache"):
				t.Errorf("%s with %s: %d %q %v", path, given, got.status, got.body, got.header)
			}
		}
	}
	// It has changed.
	path := "/api/v1/customers/{anna}"
	tag := s.call("GET", path, s.token, "").header.Get("ETag")
	s.sale("{anna}", "{points}", 1250)
	if got := s.call("GET", path, s.token, "", "If-None-Match: "+tag); got.status != 200 || got.header.Get("ETag") == tag {
		t.Errorf("after a sale: %d %v", got.status, got.header)
	}
	// Another's tag doesn't tell that there is such a record, and tags don't help a stranger.
	for token, status := range map[string]int{s.stranger().token: 404, "": 401} {
		if got := s.call("GET", path, token, "", "If-None-Match: *"); got.status != status || got.header.Get("ETag") != "" || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("a stranger: %d %v", got.status, got.header)
		}
	}
	// A page by its cursor has no tag and isn't stored.
	next := s.call("GET", "/api/v1/customers?per_page=1", s.token, "").page(t).Links.Next
	if got := s.call("GET", follow(next), s.token, "", "If-None-Match: *"); got.status != 200 || got.header.Get("ETag") != "" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the second page: %d %v", got.status, got.header)
	}
}

// A change that would overwrite what the client hasn't seen is refused.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	proves(t, "With `If-Match`, PATCH is 412 if the record has.",
		"| 412 | Precondition Failed | `The record has changed since it was read.` |")
	s := newShop(t)
	path := s.fill("/api/v1/customers/{anna}")
	change := func(body string, headers ...string) answer { return s.call("PATCH", path, s.token, body, headers...) }
	seen := s.call("GET", path, s.token, "").header.Get("ETag")
	stale := func(got answer) {
		t.Helper()
		got.is(t, 412, `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.13","title":"Precondition Failed","status":412,"detail":"The record has changed since it was read."}`)
	}

	changed := change(`{"last_name":"Ek"}`, "If-Match: "+seen)
	if tag := changed.header.Get("ETag"); changed.status != 200 || tag == seen || tag != s.call("GET", path, s.token, "").header.Get("ETag") {
		t.Fatalf("with the current tag: %d %v", changed.status, changed.header)
	}
	stale(change(`{"last_name":"Öst"}`, "If-Match: "+seen))
	stale(change(`{"last_name":1}`, "If-Match: "+seen)) // before the fields
	current := changed.header.Get("ETag")
	for _, given := range []string{"W/" + current, strings.Trim(current, `"`), `""`, "x"} {
		stale(change(`{"last_name":"Öst"}`, "If-Match: "+given))
	}
	for _, spelled := range []string{"*", `"x", "TAG"`, `"TAG-zstd"`, `"TAG-gzip" , W/"x"`} {
		given := strings.ReplaceAll(spelled, "TAG", strings.Trim(current, `"`))
		got := change(`{"last_name":"Ek"}`, "If-Match: "+given)
		if got.status != 200 {
			t.Errorf("with %s: %d %s", given, got.status, got.body)
		}
		current = got.header.Get("ETag")
	}
	// A missing record is missing, and so is another's.
	for _, id := range []string{"{missing}", "x", s.stranger().fill("{anna}")} {
		for _, given := range []string{"*", current} {
			s.call("PATCH", "/api/v1/customers/"+id, s.token, `{}`, "If-Match: "+given).is(t, 404, notFound)
		}
	}
	// A found customer has the tag of a read one.
	found := s.call("POST", "/api/v1/customers", s.token, `{"first_name":"A","last_name":"B","phone":"070-174 06 05"}`)
	if got := s.call("GET", path, s.token, "").header.Get("ETag"); found.status != 200 || found.header.Get("ETag") != got {
		t.Errorf("found: %d, ETag %s, want %s", found.status, found.header.Get("ETag"), got)
	}
}

// Of several who change the same record at once, one has seen what they change.
func TestIfMatchAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	path := s.fill("/api/v1/customers/{anna}")
	seen := s.call("GET", path, s.token, "").header.Get("ETag")
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range 8 {
		all.Go(func() {
			got := s.call("PATCH", path, s.token, `{"last_name":"N`+strconv.Itoa(i)+`"}`, "If-Match: "+seen)
			mu.Lock()
			defer mu.Unlock()
			statuses[got.status]++
		})
	}
	all.Wait()
	if statuses[200] != 1 || statuses[412] != 7 {
		t.Errorf("8 at once: %v", statuses)
	}
}

func TestIfMatchOfTenants(t *testing.T) {
	t.Parallel()
	s, admin := newPlatform(t)
	path := s.fill("/api/v1/platform/tenants/{tenant}")
	first := s.call("PATCH", path, admin, `{"name":"Öst"}`)
	seen := first.header.Get("ETag")
	if got := s.call("PATCH", path, admin, `{"name":"Väst"}`, "If-Match: "+seen); got.status != 200 || got.header.Get("ETag") == seen {
		t.Errorf("with the current tag: %d %v", got.status, got.header)
	}
	if got := s.call("PATCH", path, admin, `{"name":"Nord"}`, "If-Match: "+seen); got.status != 412 {
		t.Errorf("with an earlier one: %d %s", got.status, got.body)
	}
	if got := s.call("GET", "/api/v1/platform/tenants", admin, ""); !strings.Contains(got.body, "Väst") {
		t.Errorf("the name is: %s", got.body)
	}
}

// What was created says where it is, also when the response is replayed.
func TestLocation(t *testing.T) {
	t.Parallel()
	proves(t, "201 has a `Location` where the new record has an address.")
	s := newShop(t)
	s.fill("{anna}{points}{sale}{espresso}")
	for path, body := range map[string]string{
		"/customers":    `{"first_name":"A","last_name":"B","phone":"112"}`,
		"/transactions": `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":1250}`,
		"/redemptions":  `{"customer_ulid":"{anna}","reward_ulid":"{espresso}"}`,
	} {
		for range 2 {
			got := s.call("POST", "/api/v1"+path, s.token, body, "Idempotency-Key: k"+path)
			location := got.header.Get("Location")
			id, found := strings.CutPrefix(location, "https://"+domain+"/api/v1"+path+"/")
			if got.status != 201 || !found || !strings.Contains(got.body, `{"data":{"ulid":"`+id+`"`) {
				t.Errorf("%s: %d, Location %q: %s", path, got.status, location, got.body)
				continue
			}
			read := s.call("GET", strings.TrimPrefix(location, "https://"+domain), s.token, "")
			if read.status != 200 || read.body != got.body && path != "/customers" || read.header.Get("ETag") != got.header.Get("ETag") {
				t.Errorf("%s: %d %s, ETag %s, want %s", location, read.status, read.body, read.header.Get("ETag"), got.header.Get("ETag"))
			}
		}
	}
	made := s.call("POST", "/api/v1/tokens", s.token, `{"name":"x","scopes":[]}`)
	if location := made.header.Get("Location"); !matches(location, "https://"+domain+"/api/v1/tokens/<id>") || made.header.Get("ETag") != "" || made.header.Get("Cache-Control") != "no-store" {
		t.Errorf("a token: %v", made.header)
	}
	if got := s.call("POST", "/api/v1/customers", s.token, `{"first_name":"A","last_name":"B","phone":"112"}`); got.status != 200 || got.header.Get("Location") != "" {
		t.Errorf("one that is found: %d %v", got.status, got.header)
	}
}

func TestStrictHandling(t *testing.T) {
	t.Parallel()
	proves(t, "So is an empty filter, which would find everybody.",
		"An unknown parameter is ignored; with `Prefer: handling=strict` (RFC 7240), which the clients send, it is 422.")
	s := newShop(t)
	s.fill("{anna}{sale}")
	unknown := func(names ...string) string {
		var errors []string
		for _, name := range names {
			errors = append(errors, `"`+name+`":["There is no parameter with the name `+name+`."]`)
		}
		return invalid(strings.Join(errors, ","))
	}
	const strict = "Prefer: handling=strict"
	// Without the preference they are ignored.
	for _, headers := range [][]string{nil, {"Prefer: handling=lenient"}, {"Prefer: respond-async"}, {"Prefer: handling=lenient, handling=strict"}, {"Prefer: strict"}} {
		got := s.call("GET", "/api/v1/customers?phne=1&Phone=2", s.token, "", headers...)
		if got.status != 200 || got.header.Get("Preference-Applied") != "" {
			t.Errorf("%v: %d %v", headers, got.status, got.header)
		}
	}
	for _, spelled := range []string{strict, "Prefer: Handling=STRICT", `Prefer: handling="strict"`, "Prefer: respond-async, wait=5; x=y , handling = strict; z", "prefer: handling=strict, handling=lenient"} {
		got := s.call("GET", "/api/v1/customers?phne=1&Phone=2&status=active&per_page=5", s.token, "", spelled)
		got.is(t, 422, unknown("Phone", "phne"))
		if got.header.Get("Preference-Applied") != "handling=strict" {
			t.Errorf("%s: %v", spelled, got.header)
		}
	}
	got := s.exact("GET", "/api/v1/customers?phne=1", s.token, "", "Prefer: wait=1", strict)
	got.is(t, 422, unknown("phne"))
	// Requests that take no parameters, and those that change something: nothing is changed.
	before := s.everything()
	for _, request := range []string{
		"GET /customers/{anna}", "GET /customers/{anna}/expiring", "GET /transactions/{sale}", "GET /reports/coupons", "GET /reports/summary", "GET /rewards", "HEAD /rewards",
		"POST /customers", "PATCH /customers/{anna}", "POST /transactions/{sale}/void", "POST /transactions", "DELETE /tokens/{own_token}", "POST /tokens",
	} {
		method, path, _ := strings.Cut(request, " ")
		got := s.call(method, "/api/v1"+path+"?x=1", s.token, `{"first_name":"A","last_name":"B","phone":"112"}`, strict)
		if got.status != 422 || method != "HEAD" && got.body != unknown("x")+"\n" {
			t.Errorf("%s: %d %s", request, got.status, got.body)
		}
	}
	if after := s.everything(); after != before {
		t.Errorf("was %s, is %s", before, after)
	}
	// Who may not call learns nothing of parameters.
	s.call("GET", "/api/v1/customers?x=1", "", "", strict).is(t, 401, unauthorized)
	s.call("POST", "/api/v1/customers?x=1", s.auth("customers:read"), `{}`, strict).is(t, 403, forbidden)
	// All that exist are allowed, also those of the links, at every list.
	for _, query := range []string{
		"/customers?phone=112&email=a@b.example&search=x&status=active&created_from=2026-01-01&created_to=2026-01-02&per_page=1&cursor=", "/customers/{anna}/transactions?per_page=1",
		"/customers/{anna}/ledger-entries?per_page=1", "/rewards?per_page=1", "/coupons?per_page=1", "/tokens?per_page=1", "/reports/summary?from=2026-01-01&to=2026-01-02",
		"/reports/customers/top?from=2026-01-01&to=2026-01-02&by=spend&limit=1",
	} {
		if got := s.call("GET", "/api/v1"+query, s.token, "", strict); got.status != 200 || got.header.Get("Preference-Applied") != "handling=strict" {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

// HEAD has the headers of GET.
func TestHead(t *testing.T) {
	t.Parallel()
	proves(t, "HEAD is answered wherever GET is.")
	s := newShop(t)
	s.fill("{anna}{bo}{sale}{redemption}{coupon}")
	ids := strings.NewReplacer("/customers/:ulid", "/customers/{anna}", "/transactions/:ulid", "/transactions/{sale}", "/redemptions/:ulid", "/redemptions/{redemption}", "/coupons/:ulid", "/coupons/{coupon}")
	walked := 0
	for _, e := range s.api.Endpoints() {
		if e.Method != "GET" {
			continue
		}
		for _, token := range []string{s.token, ""} {
			path := s.fill(ids.Replace(e.Path))
			get, head := s.exact("GET", path, token, ""), s.exact("HEAD", path, token, "")
			for _, h := range []http.Header{get.header, head.header} {
				h.Del("Date")
				h.Del("X-Request-Id")
			}
			if head.status != get.status || head.body != "" || !maps.EqualFunc(head.header, get.header, slices.Equal) {
				t.Errorf("%s: %d %q %v, want %d %v", path, head.status, head.body, head.header, get.status, get.header)
			}
			walked++
		}
	}
	if walked < 20 {
		t.Errorf("only %d", walked)
	}
	s.call("HEAD", "/api/v1/customers", s.token, "") // is described, too
}

// A path means the same however its letters are escaped, and what is no path of the API is no redirect.
func TestSpelledPaths(t *testing.T) {
	t.Parallel()
	proves(t, "Paths that a strict client wouldn't send (`//api/v1`, `/./api`) are 404 problems, and percent-encoded letters are their letters.")
	s := newShop(t)
	anna := s.fill("{anna}")
	want := s.exact("GET", "/api/v1/customers/"+anna, s.token, "")
	for _, path := range []string{"/api/v1/%63ustomers/" + anna, "/%61pi/v1/customers/" + anna, "/api/v1/customers/%" + strings.ToLower("30") + anna[1:], "/api/%76%31/cust%6Fmer%73/" + anna} {
		if got := s.exact("GET", path, s.token, ""); got.status != 200 || got.body != want.body {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := s.exact("GET", "/api/v1/%63ustomers", s.token, "").page(t); got.Meta.Path != "https://"+domain+"/api/v1/customers" {
		t.Errorf("the path of an escaped list is %s", got.Meta.Path)
	}
	for _, path := range []string{
		"/api/v1/customers%2F" + anna, "/api/v1%2Fcustomers", "/api/v1/customers/", "/api/v1/customers/" + anna + "/", "//api/v1/customers", "/api//v1/customers", "/./api/v1/customers", "/api/./v1/customers",
		"/api/../api/v1/customers", "/API/v1/customers", "/api/v1/Customers", "/api/v1/customers;a=b", "/api/v1/customers%00", "/api", "/api/",
	} {
		got := s.exact("GET", path, s.token, "")
		got.is(t, 404, notFound)
		if got.header.Get("Location") != "" {
			t.Errorf("%s: %v", path, got.header)
		}
	}
	// A voucher's link has slashes, which stay part of the segment.
	token, err := dbtest.Links().Token(link.Voucher, s.By.Tenant.ID, s.id("{voucher}"), 0)
	s.must(nil, err)
	if got := s.exact("POST", "/api/v1/%63oupons/"+url.PathEscape("https://shop.example/v/"+token)+"/redeem", s.token, ""); got.status != 200 {
		t.Errorf("a voucher's link: %d %s", got.status, got.body)
	}
}

func TestEncodedBodies(t *testing.T) {
	t.Parallel()
	proves(t, "So is a compressed body.")
	s := newShop(t)
	const good = `{"first_name":"A","last_name":"B","phone":"112"}`
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(good))
	_ = w.Close()
	encoded := `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.16","title":"Unsupported Media Type","status":415,"detail":"The request body must not be compressed."}`
	for _, encoding := range []string{"gzip", "zstd", "br", "GZIP", "gzip, gzip", "identity, gzip"} {
		got := s.call("POST", "/api/v1/customers", s.token, packed.String(), "Content-Encoding: "+encoding)
		got.is(t, 415, encoded)
		if got.header.Get("Accept-Encoding") != "identity" {
			t.Errorf("%s: %v", encoding, got.header)
		}
	}
	s.call("POST", "/api/v1/customers", s.token, "", "Content-Encoding: gzip").is(t, 400, badRequest)
	if got := s.call("POST", "/api/v1/customers", s.token, good, "Content-Encoding: Identity"); got.status != 201 {
		t.Errorf("identity: %d %s", got.status, got.body)
	}
}

func TestMergePatch(t *testing.T) {
	t.Parallel()
	proves(t, "`application/merge-patch+json` is taken for PATCH.")
	s := newShop(t)
	const mergePatch = "Content-Type: application/merge-patch+json"
	got := s.call("PATCH", "/api/v1/customers/{anna}", s.token, `{"email":null,"last_name":"Ek"}`, mergePatch)
	if got.status != 200 || !strings.Contains(got.body, `"last_name":"Ek"`) || !strings.Contains(got.body, `"email":null`) {
		t.Errorf("a merge patch: %d %s", got.status, got.body)
	}
	s.call("POST", "/api/v1/customers", s.token, `{"first_name":"A","last_name":"B","phone":"112"}`, mergePatch).is(t, 415, notJSON)
	refused := s.call("PATCH", "/api/v1/customers/{anna}", s.token, `[]`, "Content-Type: application/json-patch+json")
	refused.is(t, 415, notJSON)
	if refused.header.Get("Accept-Patch") != "application/json, application/merge-patch+json" {
		t.Errorf("another patch: %v", refused.header)
	}
}

// A deprecated operation is marked in the description, at once.
func TestDeprecatedInTheDescription(t *testing.T) {
	t.Parallel()
	s := shopAt(t, newServer(t, dbtest.OwnDB(t), nil))
	plain := s.exact("GET", "/api/v1/openapi.json", "", "")
	s.deprecate("GET", "/api/v1/customers/{ulid}")
	s.deprecate("POST", "/api/v1/tokens")
	s.deprecate("GET", "/api/v1/elsewhere")
	got := s.exact("GET", "/api/v1/openapi.json", "", "")
	const mark = "        \"deprecated\": true,\n"
	if strings.Count(got.body, mark) != 2 || strings.ReplaceAll(got.body, mark, "") != plain.body || got.header.Get("ETag") == plain.header.Get("ETag") {
		t.Errorf("%d marks, tag %s, was %s", strings.Count(got.body, mark), got.header.Get("ETag"), plain.header.Get("ETag"))
	}
	for _, operation := range []string{"findCustomer", "createToken"} {
		if !strings.Contains(got.body, mark+`        "operationId": "`+operation+`"`) {
			t.Errorf("%s isn't marked", operation)
		}
	}
}

// A body is read before a refusal, so that a client over HTTP/2 gets the response and not a broken stream.
func TestRefusedBodiesAreRead(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	body := `{"first_name":"` + strings.Repeat("A", 900<<10) + `"}`
	reader := s.auth("customers:read")
	for _, request := range []struct {
		path, token string
		status      int
	}{{"/customers", "", 401}, {"/customers", reader, 403}, {"/nope", s.token, 404}, {"/rewards", s.token, 405}, {"/customers", s.token, 422}, {"/transactions/{missing}/void", s.token, 404}} {
		for range 5 {
			read := &countingReader{Reader: strings.NewReader(body)}
			got, err := s.try(t.Context(), "POST", s.fill("/api/v1"+request.path), request.token, read)
			if err != nil || got.status != request.status || read.count != len(body) {
				t.Errorf("%s: %d, want %d, %v; %d of %d bytes were read", request.path, got.status, request.status, err, read.count, len(body))
			}
		}
	}
}

type countingReader struct {
	io.Reader
	count int
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.count += n
	return n, err
}
