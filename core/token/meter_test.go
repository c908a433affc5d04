package token_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/token"
)

const customers = "/api/v1/customers"

// meter is another process.
func (o office) meter() *token.Meter { return token.NewMeter(o.DB, slog.New(slog.DiscardHandler)) }

// use returns what a token was used for.
func (o office) use(id int64) token.Use {
	o.T.Helper()
	u, err := o.FindUse(o.T.Context(), o.By, id)
	o.Check(err)
	return u
}

// endpoints lists endpoints and statuses: "GET /api/v1/customers 10 map[200:9 404:1]".
func endpoints(u token.Use) (list []string) {
	for _, e := range u.Endpoints {
		list = append(list, fmt.Sprint(e.Method, " ", e.Endpoint, " ", e.Requests, " ", e.Statuses))
	}
	return list
}

func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The requests with a token are counted by endpoint and status, and those of several processes add up.
func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	till, other := o.create("Till").ID, o.create("Other").ID
	if u := o.use(till); u.Requests() != 0 || len(u.Days) != token.UseDays || u.LastAddress != "" {
		t.Errorf("before the first request: %+v", u)
	}
	ok := token.Request{TokenID: till, Method: "GET", Endpoint: customers, Status: 200, Address: "192.0.2.1"}
	missing := token.Request{TokenID: till, Method: "GET", Endpoint: "", Status: 404, Address: "192.0.2.2", Refused: &token.Reason{Title: "Not Found"}}
	meters := []*token.Meter{o.meter(), o.meter(), o.meter()}
	for range 2 { // the second time, the rows exist
		var all sync.WaitGroup
		for _, m := range meters {
			all.Go(func() {
				for range 100 {
					m.Count(ok)
				}
				m.Count(missing)
				m.Count(token.Request{TokenID: other, Method: "POST", Endpoint: customers, Status: 201})
				m.Write(t.Context())
			})
		}
		all.Wait()
	}
	meters[0].Write(t.Context()) // nothing more
	u := o.use(till)
	wantLines(t, "endpoints", endpoints(u), "GET /api/v1/customers 600 map[200:600]", "GET  6 map[404:6]")
	if today := u.Days[token.UseDays-1]; today.Requests != 606 || today.Refused != 6 || u.Requests() != 606 || u.LastAddress != "192.0.2.2" {
		t.Errorf("today %+v of %d, last from %s", today, u.Requests(), u.LastAddress)
	}
	wantLines(t, "of the other token", endpoints(o.use(other)), "POST /api/v1/customers 6 map[201:6]")
}

// A request is of the day that the business has, also if it is written on the next one.
func TestRequestsAreOfTheDayOfTheBusiness(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Exec("update loyalty.tenant set timezone = 'Asia/Kathmandu' where id = $1", o.By.Tenant.ID) // 5:45 ahead
	zone, err := core.Zone("Asia/Kathmandu")
	o.Check(err)
	o.By.Tenant.TimeZone = zone
	id := o.create("Till").ID
	year, month, day := o.DB.Now().In(zone).Date()
	midnight := time.Date(year, month, day+1, 0, 0, 0, 0, zone)
	for _, at := range []time.Time{midnight.Add(-time.Minute), midnight, midnight.Add(time.Hour)} {
		m := o.at(at).meter()
		m.Count(token.Request{TokenID: id, Method: "GET", Endpoint: customers, Status: 200})
		m.Write(t.Context())
	}
	u := o.at(midnight.Add(2 * time.Hour)).as(o.By).use(id)
	last := u.Days[token.UseDays-2:]
	if last[0].Requests != 1 || last[1].Requests != 2 || !last[1].Day.Equal(time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the last days are %+v", last)
	}
}

// The newest 50 refusals of each token are kept, with the reason.
func TestRefusalsAreKept(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id, other := o.create("Till").ID, o.create("Other").ID
	m := o.meter()
	refuse := func(id int64, n int) {
		m.Count(token.Request{TokenID: id, Method: "POST", Endpoint: customers, Status: 422, Refused: &token.Reason{
			RequestID: fmt.Sprint("request-", n), Title: "Validation Error", Detail: "The given data was invalid.", Fields: []string{"phone", "a\x00b"},
		}})
	}
	refuse(other, 0)
	for n := range 130 {
		refuse(id, n)
		if n == 20 || n == 100 {
			m.Write(t.Context())
		}
	}
	m.Write(t.Context())
	u := o.use(id)
	if len(u.Refusals) != token.KeptRefusals {
		t.Fatalf("%d refusals are kept", len(u.Refusals))
	}
	for i, r := range u.Refusals {
		if want := fmt.Sprint("request-", 129-i); r.RequestID != want || r.Status != 422 || strings.Join(r.Fields, " ") != "phone ab" {
			t.Errorf("refusal %d is %+v, want %s", i, r, want)
		}
	}
	if got := len(o.use(other).Refusals); got != 1 || u.Requests() != 130 {
		t.Errorf("%d of the other token, %d requests", got, u.Requests())
	}
	o.Exec("delete from loyalty.token where id = $1", other) // as a year after its end
}

// While the database is away, requests are counted up to a limit, and written when it is back.
func TestRequestsWaitForTheDatabase(t *testing.T) {
	t.Parallel()
	url := dbtest.OwnURL(t)
	d, err := db.Open(t.Context(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := officeIn(t, d)
	id := o.create("Till").ID
	m := o.meter()
	count := func(n int) {
		m.Count(token.Request{TokenID: id, Method: "GET", Endpoint: fmt.Sprint("/", n), Status: 400, Refused: &token.Reason{RequestID: fmt.Sprint(n)}})
	}
	count(0)
	o.Exec("alter table loyalty.token_request rename to away")
	m.Write(t.Context())
	const more = 100
	for n := range token.MaxCounts + more {
		count(n)
	}
	m.Write(t.Context())
	o.Exec("alter table loyalty.away rename to token_request")
	m.Write(t.Context())
	u := o.use(id)
	if got := u.Requests(); got != token.MaxCounts+more+1 {
		t.Errorf("%d requests", got)
	}
	if got := u.Endpoints[0]; got.Endpoint != token.Other || got.Requests < more {
		t.Errorf("the most are %+v", got)
	}
	if len(u.Refusals) != token.KeptRefusals || u.Refusals[0].RequestID != fmt.Sprint(token.MaxCounts+more-1) {
		t.Errorf("%d refusals, the last one %+v", len(u.Refusals), u.Refusals[0])
	}
}

// Each write is one round trip, whatever was counted of whatever businesses; without requests there is none.
func TestWritesAreOneRoundTrip(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	o := officeIn(t, d)
	ids := []int64{o.create("Till").ID, officeIn(t, d).create("Till").ID}
	m := o.meter()
	fewest := 100 // each connection prepares the statements first
	for range 5 {
		for _, id := range ids {
			m.Count(token.Request{TokenID: id, Method: "GET", Endpoint: customers, Status: 404, Refused: &token.Reason{Title: "Not Found"}})
		}
		before := count()
		m.Write(t.Context())
		fewest = min(fewest, count()-before)
	}
	if fewest != 1 {
		t.Errorf("%d round trips", fewest)
	}
	before := count()
	m.Write(t.Context())
	if got := count() - before; got != 0 {
		t.Errorf("%d round trips for nothing", got)
	}
	fewest = 100
	for range 5 {
		before = count()
		o.use(ids[0])
		fewest = min(fewest, count()-before)
	}
	if fewest != 1 {
		t.Errorf("the page reads in %d round trips", fewest)
	}
}

// What a token was used for is deleted after eight days.
func TestOldUseIsDeleted(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t)) // the job works on all tenants
	id := o.create("Till").ID
	for _, ago := range []int{10, 7, 0} {
		m := o.at(o.DB.Now().AddDate(0, 0, -ago)).meter()
		m.Count(token.Request{TokenID: id, Method: "GET", Endpoint: customers, Status: 404, Refused: &token.Reason{}})
		m.Write(t.Context())
	}
	o.Check(o.DeleteOldUse(t.Context()))
	var rows, refusals int
	o.Check(dbtest.Owner(o.DB).QueryRow(t.Context(), "select (select count(*) from loyalty.token_request), (select count(*) from loyalty.token_refusal)").Scan(&rows, &refusals))
	if rows != 2 || refusals != 2 {
		t.Errorf("%d sums and %d refusals are left, want 2", rows, refusals)
	}
}

// Another person's token and another business's are not found, and a revoked one is.
func TestUseOfOthers(t *testing.T) {
	t.Parallel()
	o, stranger := newOffice(t), newOffice(t)
	made := o.create("Till")
	for _, by := range []core.Actor{stranger.By, o.Person(core.Owner)} {
		if u, err := o.FindUse(t.Context(), by, made.ID); err == nil {
			t.Errorf("%s sees %+v", by.Name, u)
		}
	}
	o.Must(core.Result(o.Revoke(t.Context(), o.By, made.ID, nil)))
	if u := o.use(made.ID); u.RevokedAt == nil || u.Name != "Till" {
		t.Errorf("revoked: %+v", u)
	}
	c, err := o.Authenticate(t.Context(), made.Secret, "")
	if err == nil || c.TokenID != made.ID || c.StaffID != 0 || len(c.Abilities) != 0 {
		t.Errorf("a revoked token is %+v, %v", c, err)
	}
	if c, _ := o.Authenticate(t.Context(), made.Secret[:len(made.Secret)-1]+"x", ""); c.TokenID != 0 {
		t.Errorf("a wrong secret is %+v", c)
	}
}

// What counting adds to a request.
func BenchmarkCount(b *testing.B) {
	d, err := db.Open(b.Context(), dbtest.OwnURL(b), db.Options{})
	if err != nil {
		b.Fatal(err)
	}
	m := token.NewMeter(d, slog.New(slog.DiscardHandler))
	r := token.Request{TokenID: 1234567, Method: "POST", Endpoint: "/api/v1/transactions", Status: 201, Address: "192.0.2.1"}
	b.ReportAllocs()
	for b.Loop() {
		m.Count(r)
	}
}
