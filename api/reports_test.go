package api_test

import (
	"strings"
	"testing"
	"time"
)

const (
	summarises   = "| GET | /api/v1/reports/summary | reports:read | Query `from` and `to` (dates, ISO 8601 date form). | Transaction summary. |"
	ranks        = "| GET | /api/v1/reports/customers/top | reports:read | - | Top customers (used to pick recipients for a manual segment). |"
	countsCoupon = "| GET | /api/v1/reports/coupons | reports:read | - | Coupon statistics. |"
	summaryIs    = "- **Reports**, dated by `created_at`: summary → `from, to, transactions_count, voided_count, spend_total_cents, points_awarded, stamps_awarded (completed only), " +
		"points_reversed (awards of voided ones), points_redeemed (redemptions not voided), redemptions_count, vouchers_redeemed, new_customers, " +
		"active_customers (distinct with a completed sale), days: […]`."
	topIs = "Top customers → customer fields + `transactions_count, spend_total_cents, points_awarded`; `from`, `to`, `limit` (10, at most 100), " +
		"`by` (`spend`, `points`, `visits`)."
	couponsAre   = "Coupons → per coupon `sent, pending, redeemed, expired, redemption_rate`."
	plainReports = "Reports and top customers are plain `data`."
	lastThirty   = "default the last 30 days;"
	backwards    = "`from` after `to` is 422, and so is a range of more than 3,652 days."
)

const (
	noFigures = `"transactions_count":0,"voided_count":0,"spend_total_cents":0,"points_awarded":0,"stamps_awarded":0,"points_reversed":0,` +
		`"points_redeemed":0,"redemptions_count":0,"vouchers_redeemed":0,"new_customers":0,"points_expired":0,"points_expiry_returned":0,"points_refunded":0,"refunds_count":0,` +
		`"refunded_total_cents":0,"net_spend_total_cents":0`
	// After a sale for 12 points, one for a stamp, a voided one, a redemption and a voucher.
	figures = `"transactions_count":2,"voided_count":1,"spend_total_cents":1550,"points_awarded":12,"stamps_awarded":1,"points_reversed":7,` +
		`"points_redeemed":10,"redemptions_count":1,"vouchers_redeemed":1,"new_customers":1,"points_expired":0,"points_expiry_returned":0,"points_refunded":0,"refunds_count":0,` +
		`"refunded_total_cents":0,"net_spend_total_cents":1550`
	emptyDay = `{"date":"<date>",` + noFigures + `},`
)

// reducedFigures are the same after a refund, and with points that expired.
var reducedFigures = strings.NewReplacer(
	`"points_expired":0`, `"points_expired":3`, `"points_refunded":0,"refunds_count":0`, `"points_refunded":2,"refunds_count":1`,
	`"refunded_total_cents":0,"net_spend_total_cents":1550`, `"refunded_total_cents":250,"net_spend_total_cents":1300`,
).Replace(figures)

// topAnna is the JSON of Anna with a sale for 12 points and one for a stamp.
var topAnna = strings.NewReplacer(`"points_balance":0`, `"points_balance":12`, `"stamps_balance":0`, `"stamps_balance":1`).Replace(strings.TrimSuffix(annaIs, ","+plainRest+"}")) +
	`,"transactions_count":2,"spend_total_cents":1550,"points_awarded":12}`

// topBo is the JSON of Bo with a sale of 13 euros for 13 points.
var topBo = strings.Replace(strings.TrimSuffix(boIs, ","+plainRest+"}"), `"points_balance":0`, `"points_balance":13`, 1) +
	`,"transactions_count":1,"spend_total_cents":1300,"points_awarded":13}`

func couponReport(ulid, name, counts string) string {
	return `{"ulid":"` + ulid + `","name":"` + name + `",` + counts + `}`
}

func TestReports(t *testing.T) {
	business := func(s *shop) { s.fill("{sale} {stamp_sale} {voided} {redemption} {spent}") }
	buyers := func(s *shop) { s.fill("{sale} {stamp_sale} {voided}"); s.sale("{bo}", "{points}", 1300) }
	runScenarios(t, []scenario{
		{
			says: summarises, with: "nothing", method: "GET", path: "/reports/summary?from=2026-05-01&to=2026-05-02", auth: "reports:read", status: 200,
			before: business,
			want: one(`{"from":"2026-05-01","to":"2026-05-02",` + noFigures + `,"active_customers":0,"days":[` +
				`{"date":"2026-05-01",` + noFigures + `},{"date":"2026-05-02",` + noFigures + `}]}`),
		},
		{
			says: summaryIs, method: "GET", path: "/reports/summary", before: business, status: 200,
			want: one(`{"from":"<date>","to":"<date>",` + figures + `,"active_customers":1,"days":[` + strings.Repeat(emptyDay, 29) + `{"date":"<date>",` + figures + `}]}`),
		},
		{
			says: summaryIs, with: "less what was refunded and what expired", method: "GET", path: "/reports/summary", before: func(s *shop) {
				business(s)
				s.Exec(`insert into loyalty.refund (tenant_id, id, transaction_id, amount_cents, points, actor_kind, actor_id, actor_name, created_at)
					select tenant_id, loyalty.new_ulid(created_at), id, 250, 2, actor_kind, actor_id, actor_name, created_at
					from loyalty.transaction where tenant_id = $1 and id = $2`, s.By.Tenant.ID, s.id("{sale}"))
				s.Exec(`insert into loyalty.ledger_entry (tenant_id, id, customer_id, seq, unit, amount, balance_after, kind, actor_kind, actor_id, actor_name, created_at, expires_on)
					select tenant_id, loyalty.new_ulid(created_at), customer_id, 1000, 'points', -3, 0, 'expiry', 'system', '', 'points expiry', created_at, created_at::date
					from loyalty.transaction where tenant_id = $1 and id = $2`, s.By.Tenant.ID, s.id("{sale}"))
			}, status: 200,
			want: one(`{"from":"<date>","to":"<date>",` + reducedFigures + `,"active_customers":1,"days":[` + strings.Repeat(emptyDay, 29) + `{"date":"<date>",` + reducedFigures + `}]}`),
		},
		{
			says: lastThirty, with: "of a business that is new", method: "GET", path: "/reports/summary", status: 200,
			want: one(`{"from":"<date>","to":"<date>",` + noFigures + `,"active_customers":0,"days":[` + strings.TrimSuffix(strings.Repeat(emptyDay, 30), ",") + `]}`),
		},
		{
			says: backwards, with: "of a summary", method: "GET", path: "/reports/summary?from=2026-05-02&to=2026-05-01", status: 422,
			want: invalid(`"to":["The to field must be a date after or equal to from."]`),
		},
		{
			says: backwards, with: "nor is it ten years", method: "GET", path: "/reports/summary?from=2016-05-01&to=2026-05-02", status: 422,
			want: invalid(`"to":["The to field must be a date at most 3652 days after from."]`),
		},
		{
			says: "every failing field is reported at once.", with: "of a summary", method: "GET", path: "/reports/summary?from=yesterday&to=2026-02-30", status: 422,
			want: invalid(`"from":["The from field must be a valid date."],"to":["The to field must be a valid date."]`),
		},
		{
			says: ranks, method: "GET", path: "/reports/customers/top", auth: "reports:read", before: buyers, status: 200,
			want: `{"data":[` + topAnna + `,` + topBo + `]}`,
		},
		{
			says: topIs, with: "by points", method: "GET", path: "/reports/customers/top?by=points", before: buyers, status: 200,
			want: `{"data":[` + topBo + `,` + topAnna + `]}`,
		},
		{
			says: topIs, with: "the one with most visits", method: "GET", path: "/reports/customers/top?by=visits&limit=1", before: buyers, status: 200,
			want: `{"data":[` + topAnna + `]}`,
		},
		{
			says: topIs, with: "in other days", method: "GET", path: "/reports/customers/top?from=2026-05-01&to=2026-05-02", before: buyers, status: 200,
			want: `{"data":[]}`,
		},
		{
			says: topIs, with: "what it does not take", method: "GET", path: "/reports/customers/top?from=2026-05-02&to=2026-05-01&limit=101&by=name", status: 422,
			want: invalid(`"by":["The selected by is invalid."],"limit":["The limit field must not be greater than 100."],` +
				`"to":["The to field must be a date after or equal to from."]`),
		},
		{
			says: topIs, with: "no less than one", method: "GET", path: "/reports/customers/top?limit=0", status: 422,
			want: invalid(`"limit":["The limit field must be at least 1."]`),
		},
		{
			says: topIs, with: "in digits", method: "GET", path: "/reports/customers/top?limit=ten", status: 422,
			want: invalid(`"limit":["The limit field must be an integer."]`),
		},
		{
			says: countsCoupon, method: "GET", path: "/reports/coupons", auth: "reports:read", status: 200,
			before: func(s *shop) { s.fill("{voucher} {spent}"); s.voucher("{stamp_coupon}", "{bo}") },
			want: `{"data":[` + couponReport("{stamp_coupon}", "Two stamps", `"sent":2,"pending":1,"redeemed":1,"expired":0,"redemption_rate":0.5`) +
				`,` + couponReport("{coupon}", "Welcome back", `"sent":1,"pending":1,"redeemed":0,"expired":0,"redemption_rate":0`) + `]}`,
		},
		{
			says: couponsAre, with: "one that has ended", method: "GET", path: "/reports/coupons", before: func(s *shop) { s.fill("{expired}") }, status: 200,
			want: `{"data":[` + couponReport("{ended}", "Yesterday", `"sent":1,"pending":0,"redeemed":0,"expired":1,"redemption_rate":0`) + `]}`,
		},
		{says: plainReports, method: "GET", path: "/reports/coupons", status: 200, want: `{"data":[]}`, header: []string{"Link:"}},
	})
}

// The shops are in Stockholm, where a summer day starts at 22:00 UTC.
func TestReportsUseTenantDays(t *testing.T) {
	t.Parallel()
	proves(t, "A range `from`/`to` means whole days, both included, in the tenant's time zone;")
	s := newShop(t)
	for _, c := range []struct{ instant, day string }{
		{"2026-06-09T21:59:30.000Z", "2026-06-09"},
		{"2026-06-09T22:00:00.000Z", "2026-06-10"},
		{"2026-06-10T21:59:30.000Z", "2026-06-10"},
		{"2026-06-10T22:00:00.000Z", "2026-06-11"},
	} {
		instant, err := time.Parse(time.RFC3339, c.instant)
		s.must(instant, err)
		s.fill("{anna}{points}")
		then := *s
		then.Shop = s.At(instant)
		then.sale("{anna}", "{points}", 100)
		got := s.call("GET", "/api/v1/reports/summary?from="+c.day+"&to="+c.day, s.token, "")
		if !strings.Contains(got.body, `{"data":{"from":"`+c.day+`","to":"`+c.day+`","transactions_count":`) || strings.Contains(got.body, `"transactions_count":0`) {
			t.Errorf("a sale at %s is not in the summary of %s: %s", c.instant, c.day, got.body)
		}
	}
	got := s.call("GET", "/api/v1/reports/summary?from=2026-06-10&to=2026-06-10", s.token, "")
	if !strings.Contains(got.body, `"transactions_count":2,`) {
		t.Errorf("the day between: %s", got.body)
	}
}
