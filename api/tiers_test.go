package api_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// levels gives the business a first level and Gold, from 20 points of a year on, and returns how the API shows them.
func (s *shop) levels() (first, gold string) {
	s.T.Helper()
	s.rules(`
		with level as (
			insert into loyalty.level (tenant_id, name, rank, threshold)
			values ($1, 'Member', 0, 0), ($1, 'Gold', 1, 20)
		)
		insert into loyalty.level_programme (tenant_id, basis, period, starts_on, counting, begun_at, updated_at)
		values ($1, 'points', 'year', '2020-01-01', false, now(), now())`)
	id := func(name string) string {
		return shoptest.Query[string](s.Shop, "select id::text from loyalty.level where tenant_id = $1 and name = $2", s.By.Tenant.ID, name)
	}
	next := strconv.Itoa(s.db.Now().In(s.By.Tenant.TimeZone).Year() + 1)
	return `"tier":{"id":` + id("Member") + `,"name":"Member","until":null}`, `"tier":{"id":` + id("Gold") + `,"name":"Gold","until":"` + next + `-12-31"}`
}

// Each response with a customer has their tier: the first one until they rise.
func TestTheTierOfACustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna} {points}")
	const path = "/api/v1/customers/{anna}"
	before := s.call("GET", path, s.token, "")
	before.has(t, 200, `"tier":null`)
	first, gold := s.levels()
	s.call("GET", path, s.token, "").has(t, 200, first)

	preview := s.call("POST", "/api/v1/transactions/preview", s.token, strings.Replace(soldToAnna, "1250", "2500", 1))
	preview.has(t, 200, `"points_awarded":25,`, `"tier_reached":{"id":`+strings.TrimPrefix(strings.Split(gold, ",")[0], `"tier":{"id":`)+`,"name":"Gold"}`)
	s.call("POST", "/api/v1/transactions", s.token, soldToAnna).has(t, 201, `"base_points":12`)
	s.call("GET", path, s.token, "").has(t, 200, first)
	s.call("POST", "/api/v1/transactions", s.token, soldToAnna).has(t, 201, `"base_points":12`)

	const known = `{"first_name":"Anna","last_name":"Lindqvist","phone":"070-174 06 05"}`
	s.call("GET", path, s.token, "").has(t, 200, gold)
	s.call("GET", "/api/v1/customers?phone=070-174%2006%2005", s.token, "").has(t, 200, gold)
	s.call("POST", "/api/v1/customers", s.token, known).has(t, 200, gold)
	s.call("POST", "/api/v1/customers/batch", s.token, `{"items":[`+known+`,{"first_name":"Bo","last_name":"Ek","phone":"0701740601"}]}`).has(t, 200, gold, first)
	s.call("PATCH", path, s.token, `{"last_name":"Berg"}`).has(t, 200, gold)
	s.call("POST", "/api/v1/customers", s.token, `{"first_name":"Cleo","last_name":"Falk","phone":"0701740602"}`).has(t, 201, first)
	if after := s.call("GET", path, s.token, "", "If-None-Match: "+before.header.Get("ETag")); after.status != 200 {
		t.Errorf("%d, want the ETag to have changed with the tier", after.status)
	}
	s.stranger().call("GET", "/api/v1/customers/"+s.named["{anna}"], s.stranger().token, "").is(t, 404, notFound)
}

// A reader in step sees a customer whose level changed without anything else.
func TestAChangeOfATierIsAChange(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna}")
	_, gold := s.levels()
	dbtest.Tick(s.db)
	since := s.db.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	for _, list := range []string{"/api/v1/changes?since=" + since, "/api/v1/customers?updated_since=" + since} {
		s.call("GET", list, s.token, "").has(t, 200, `"data":[]`)
	}
	s.must(dbtest.Owner(s.db).Exec(t.Context(), `
		with change as (
			insert into loyalty.level_change (tenant_id, id, customer_id, seq, to_level, reason, until, actor_kind, actor_id, actor_name, created_at)
			select $1, loyalty.new_ulid(now()), $2, 1, id, 'hand', make_date(extract(year from now())::int + 1, 12, 31), 'staff', '1', 'Ida', now()
			from loyalty.level
			where tenant_id = $1 and name = 'Gold'
			returning customer_id, to_level, until
		)
		update loyalty.account a
		set level_id = c.to_level, level_until = c.until, level_by = 'hand'
		from change c
		where a.tenant_id = $1 and a.customer_id = c.customer_id`, s.By.Tenant.ID, s.id("{anna}")))
	want := s.fill(`{"kind":"customer","ulid":"{anna}","change":"changed"`)
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // changes are listed a little later
		got := s.call("GET", "/api/v1/changes?since="+since, s.token, "")
		if strings.Contains(got.body, want) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s, want %s", got.body, want)
		}
	}
	s.call("GET", "/api/v1/customers?updated_since="+since, s.token, "").has(t, 200, gold)
}
