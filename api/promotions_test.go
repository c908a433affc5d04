package api_test

import (
	"regexp"
	"strings"
	"testing"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/token"
)

// promotion adds a promotion with other values than that it doubles points from yesterday on.
func (s *shop) promotion(name, columns, values string) string {
	s.T.Helper()
	var id string
	err := dbtest.Owner(s.db).QueryRow(s.T.Context(), `
		insert into loyalty.promotion (tenant_id, name, unit, percent, starts_on, created_at`+columns+`)
		values ($1, $2, 'points', 200, current_date - 1, now()`+values+`)
		returning id::text`, s.By.Tenant.ID, name).Scan(&id)
	s.must(id, err)
	s.rulesChanged()
	return id
}

// rules changes what sales of the business earn.
func (s *shop) rules(sql string) {
	s.T.Helper()
	s.must(dbtest.Owner(s.db).Exec(s.T.Context(), sql, s.By.Tenant.ID))
	s.rulesChanged()
}

func (s *shop) rulesChanged() {
	s.T.Helper()
	s.must(dbtest.Owner(s.db).Exec(s.T.Context(), "select loyalty.raise_earning_version($1)", s.By.Tenant.ID))
}

// has checks parts of a response.
func (a answer) has(t testing.TB, status int, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if a.status != status || !strings.Contains(a.body, want) {
			t.Errorf("%d %s, want %d with %s", a.status, a.body, status, want)
		}
	}
}

const soldToAnna = `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":1250}`

// A sale says what it earned by its rule alone and by which promotion more, also long after the promotion has ended, and also in
// the response that is stored for a key.
func TestASaleInAPromotion(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna} {points}")
	id := s.promotion("Double points", "", "")
	parts := `"points_awarded":24,`
	explained := `"base_points":12,"base_stamps":null,"promotion_id":` + id + `,"points_capped":false,"items":[]`
	first := s.call("POST", "/api/v1/transactions", s.token, soldToAnna, "Idempotency-Key: receipt-1")
	first.has(t, 201, parts, explained)

	s.rules("update loyalty.promotion set active = false where tenant_id = $1")
	again := s.call("POST", "/api/v1/transactions", s.token, soldToAnna, "Idempotency-Key: receipt-1")
	again.is(t, 201, strings.TrimSpace(first.body))
	if again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("headers %v, want a replayed response", again.header)
	}
	path := "/api/v1/transactions/" + regexp.MustCompile(`"ulid":"(\w+)"`).FindStringSubmatch(first.body)[1]
	s.call("GET", path, s.token, "").has(t, 200, parts, explained)
	s.call("POST", "/api/v1/transactions", s.token, soldToAnna).has(t, 201, `"points_awarded":12,`, `"promotion_id":null`)
	s.call("POST", path+"/void", s.token, "").has(t, 200, parts, explained)
	balance(12, 0, 3)(s, answer{})
}

// Items of an excluded category earn nothing, a promotion on a category counts only its items, and an unknown code is no error:
// in one request and in a batch.
func TestASaleWithItems(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna} {points}")
	s.rules(`
		with category as (
			insert into loyalty.category (tenant_id, id, name, created_at)
			values ($1, 101, 'Cakes', now()), ($1, 102, 'Gift cards', now())
			returning id
		), type as (
			update loyalty.transaction_type set excluded_categories = '{102}' where tenant_id = $1
		)
		insert into loyalty.category_code (tenant_id, code, category_id)
		select $1, case id when 101 then 'cakes' else 'gift-cards' end, id
		from category`)
	id := s.promotion("Triple cakes", ", category_ids, windows", `, '{101}', '[{"days":[1,2,3,4,5,6,7],"from":"00:00","to":"00:00"}]'`)
	s.change("promotion", "percent = 300")
	s.rules("select from loyalty.tenant where id = $1")

	sold := `"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":3000,"items":[` +
		`{"category":"CAKES","amount_cents":900},{"category":"gift-cards","amount_cents":1000},{"category":"tea","amount_cents":100}]`
	want := []string{`"points_awarded":38,`, `"base_points":20,"base_stamps":null,"promotion_id":` + id} // 20, and twice 9 for cakes
	s.call("POST", "/api/v1/transactions/preview", s.token, `{`+sold+`}`).has(t, 200, append(want, `"promotion_name":"Triple cakes","promotion_until":"`)...)
	balance(0, 0, 0)(s, answer{})
	s.call("POST", "/api/v1/transactions", s.token, `{`+sold+`}`).has(t, 201, append(want, `"items":[{"category":"CAKES","amount_cents":900},`)...)
	s.call("POST", "/api/v1/transactions/batch", s.token, `{"items":[{`+sold+`},{`+strings.Replace(sold, "900", `"900"`, 1)+`}]}`).has(t, 200,
		append(want, `"items.0.amount_cents":["The items.0.amount cents field must be an integer."]`)...)
	balance(76, 0, 2)(s, answer{})
}

// A day's cap reduces what sales earn, and is told.
func TestASaleAboveTheDaysCap(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna} {points}")
	s.rules("update loyalty.tenant set points_day_cap = 20 where id = $1")
	s.call("POST", "/api/v1/transactions", s.token, soldToAnna).has(t, 201, `"points_awarded":12,`, `"points_capped":false`)
	s.call("POST", "/api/v1/transactions/preview", s.token, soldToAnna).has(t, 200, `"points_awarded":8,`, `"base_points":12`, `"points_capped":true`)
	s.call("POST", "/api/v1/transactions", s.token, soldToAnna).has(t, 201, `"points_awarded":8,`, `"base_points":12`, `"points_capped":true`)
}

// The list has the promotions of today, from the rules that sales earn by, the newest first: of the own business only.
func TestListPromotions(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.stranger().promotion("Of another business", "", "")
	s.promotion("Over", ", ends_on", ", current_date - 1")
	s.promotion("Off", ", active", ", false")
	s.promotion("Not yet", "", "")
	s.change("promotion", "starts_on = current_date + 3", "name = 'Not yet'")
	week := s.promotion("Double points", "", "")
	s.rules(`
		with category as (
			insert into loyalty.category (tenant_id, id, name, created_at)
			values ($1, 101, 'Cakes', now())
		)
		insert into loyalty.category_code (tenant_id, code, category_id)
		values ($1, 'cakes', 101), ($1, 'buns', 101)`)
	cakes := s.promotion("Cakes", ", category_ids, windows, min_spend_cents, audience, birthday_days, limit_times, limit_per",
		`, '{101}', '[{"days":[1,2,3,4,5,6,7],"from":"00:00","to":"00:00"}]', 500, 'birthday', 7, 1, 'day'`)
	from := s.db.Now().UTC().AddDate(0, 0, -1).Format("2006-01-02")
	plain := `{"id":` + week + `,"name":"Double points","unit":"points","percent":200,"extra":null,"transaction_type_ids":null,"location_ids":null,"categories":null,` +
		`"min_spend_cents":0,"starts_on":"` + from + `","ends_on":null,"windows":[],"on_now":true,"audience":"all","tier_id":null,"birthday_days":null,"limit_times":null,"limit_per":null}`
	narrow := `{"id":` + cakes + `,"name":"Cakes","unit":"points","percent":200,"extra":null,"transaction_type_ids":null,"location_ids":null,"categories":["buns","cakes"],` +
		`"min_spend_cents":500,"starts_on":"` + from + `","ends_on":null,"windows":[{"days":[1,2,3,4,5,6,7],"from":"00:00","to":"00:00"}],"on_now":true,` +
		`"audience":"birthday","tier_id":null,"birthday_days":7,"limit_times":1,"limit_per":"day"}`
	reader := s.makeToken(token.RewardsRead).Secret
	s.call("GET", "/api/v1/promotions", reader, "").is(t, 200, s.fill(only("/promotions", narrow, plain)))
	first := s.call("GET", "/api/v1/promotions?per_page=1", reader, "")
	first.has(t, 200, `"data":[`+narrow+`]`)
	next := regexp.MustCompile(`"next_cursor":"([^"]+)"`).FindStringSubmatch(first.body)[1]
	second := s.call("GET", "/api/v1/promotions?per_page=1&cursor="+next, reader, "")
	second.has(t, 200, `"data":[`+plain+`]`, `"next_cursor":null`)
	back := regexp.MustCompile(`"prev_cursor":"([^"]+)"`).FindStringSubmatch(second.body)[1]
	s.call("GET", "/api/v1/promotions?per_page=1&cursor="+back, reader, "").has(t, 200, `"data":[`+narrow+`]`)
	s.call("GET", "/api/v1/promotions", s.makeToken(token.CustomersRead).Secret, "").is(t, 403, forbidden)
}
