package demo

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/jackc/pgx/v5"
	"github.com/nyaruka/phonenumbers"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// The demo is made during a day, before opening, and when clocks change.
func TestTheDemoIsACafe(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation(readFacts().Business.TimeZone)
	if err != nil {
		t.Fatal(err)
	}
	for name, until := range map[string]time.Time{
		"an afternoon":          time.Date(2026, 11, 20, 15, 40, 0, 0, zone),
		"the middle of a night": time.Date(2026, 11, 21, 3, 15, 0, 0, zone),
		"the clocks went back":  time.Date(2026, 10, 25, 17, 50, 0, 0, zone),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.OwnDB(t)
			made, err := Fill(t.Context(), d.At(until), Options{})
			if err != nil {
				t.Fatal(err)
			}
			shoptest.Of(t, d, core.Actor{}).Verify()
			wantPlausible(t, d, until)
			wantConsistent(t, d, until)
			team := readFacts().Team
			for i, p := range made.People {
				if p.Email != team[i].Email || p.Role != team[i].Role {
					t.Errorf("person %d is %+v", i, p)
				}
			}
		})
	}
}

func TestFillIsDoneOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	var last, total int
	made, err := Fill(t.Context(), d, Options{Password: "a long enough password", Progress: func(done, of int) {
		if done != last+1 {
			t.Errorf("progress went from %d to %d", last, done)
		}
		last, total = done, of
	}})
	if err != nil || made.Existed {
		t.Fatal(made, err)
	}
	if last != total {
		t.Errorf("progress ended at %d of %d", last, total)
	}
	for _, hash := range texts(t, d, "select coalesce(password_hash, '') from loyalty.credential") {
		if ok, err := argon2id.ComparePasswordAndHash("a long enough password", hash); err != nil || !ok {
			t.Errorf("the password is another one: %v", err)
		}
	}

	before := everything(t, d)
	again, err := Fill(t.Context(), d.At(d.Now().AddDate(0, 0, 3)), Options{})
	if err != nil || !again.Existed || again.Tenant.ID != made.Tenant.ID || !reflect.DeepEqual(again.People, made.People) {
		t.Errorf("the second fill = %+v, %v", again, err)
	}
	if after := everything(t, d); after != before {
		t.Errorf("the second fill changed %s to %s", before, after)
	}

	service := tokens(t, d)
	secret, err := Token(t.Context(), service, made)
	if err != nil {
		t.Fatal(err)
	}
	caller, err := service.Authenticate(t.Context(), secret, Slug)
	if err != nil || caller.StaffID != made.People[0].ID || !slices.Equal(caller.Abilities, token.Abilities) {
		t.Errorf("the token belongs to %+v, %v", caller, err)
	}
}

// A process that is killed leaves nothing behind, so that the next one makes the whole demo: the same as one that
// was made at once.
func TestAnInterruptedFillLeavesNothing(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 10, 6, 0, 0, 0, time.UTC)
	interrupted, whole := dbtest.OwnDB(t), dbtest.OwnDB(t)
	before := everything(t, interrupted)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Fill(ctx, interrupted.At(at), Options{Progress: func(done, _ int) {
		if done == 60 {
			cancel()
		}
	}})
	if err == nil {
		t.Fatal("an interrupted fill succeeded")
	}
	if after := everything(t, interrupted); after != before {
		t.Errorf("it changed %s to %s", before, after)
	}
	for _, d := range []*db.DB{interrupted, whole} {
		if made, err := Fill(t.Context(), d.At(at), Options{}); err != nil || made.Existed {
			t.Errorf("the next fill = %+v, %v", made, err)
		}
	}
	if story(t, interrupted) != story(t, whole) {
		t.Error("two demos of the same moment differ")
	}
}

// story returns the demo's sales and how many records of each kind there are.
func story(t *testing.T, d *db.DB) string {
	t.Helper()
	return strings.Join(texts(t, d, `
		select concat_ws(' ', external_reference, phone, spend_amount_cents, source, t.status, t.created_at::date)
		from loyalty.transaction t
		join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
		order by external_reference`), "\n") + everything(t, d)
}

func TestFillLeavesARealBusinessAlone(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	by := system(core.Tenant{})
	_, err := db.In(t.Context(), d.Platform(), func(tx *db.Tx) (core.Tenant, error) {
		return tenant.Add(t.Context(), tx, by, tenant.New{
			Name: "Demo Records", Slug: Slug, Email: "owner@example.com", PlanID: 1,
			BillingCycle: "monthly", PaymentMethod: "manual",
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	before := everything(t, d)
	if _, err := Fill(t.Context(), d, Options{}); !errors.Is(err, ErrNotDemo) {
		t.Errorf("fill = %v, want ErrNotDemo", err)
	}
	if after := everything(t, d); after != before {
		t.Errorf("it changed %s to %s", before, after)
	}
}

func tokens(t *testing.T, d *db.DB) *token.Service {
	t.Helper()
	return shoptest.Of(t, d, core.Actor{}).Tokens
}

// wantPlausible checks that every page has something to show, and not too much.
func wantPlausible(t *testing.T, d *db.DB, until time.Time) {
	t.Helper()
	at := "timestamptz '" + until.Format(time.RFC3339) + "'"
	for what, c := range map[string]struct {
		least, most int
		sql         string
	}{
		"customers":                {253, 266, "from loyalty.customer"},
		"new in 30 days":           {10, 50, "from loyalty.customer where created_at > " + at + " - interval '30 days'"},
		"long-standing":            {170, 240, "from loyalty.customer where created_at < " + at + " - interval '91 days'"},
		"inactive":                 {3, 30, "from loyalty.customer where status = 'inactive'"},
		"unsubscribed":             {1, 25, "from loyalty.customer where unsubscribed_at is not null"},
		"with an e-mail":           {150, 220, "from loyalty.customer where email is not null"},
		"sales":                    {3500, 5000, "from loyalty.transaction"},
		"sales in 30 days":         {250, 700, "from loyalty.transaction where created_at > " + at + " - interval '30 days'"},
		"voided sales":             {30, 150, "from loyalty.transaction where status = 'voided'"},
		"sales for stamps":         {500, 1500, "from loyalty.transaction where rule_type = 'stamps'"},
		"sales by API":             {300, 1000, "from loyalty.transaction where source = 'api'"},
		"sales in the panel":       {100, 300, "from loyalty.transaction where source = 'panel'"},
		"sales with a place":       {2500, 5000, "from loyalty.transaction where location_id is not null"},
		"largest sale":             {0, 0, "from loyalty.transaction where spend_amount_cents not between 190 and 9900"},
		"expiries":                 {100, 600, "from loyalty.ledger_entry where kind = 'expiry'"},
		"points to end in a month": {10, 120, `from loyalty.account where points_expire_on < (` + at + ` + interval '30 days')::date`},
		"points to end tomorrow":   {1, 10, "from loyalty.account where points > 0 and points_expire_on = (" + at + " at time zone 'Europe/Stockholm')::date + 1"},
		"with one lot":             {20, 250, "from (select customer_id from loyalty.lot where unit = 'points' group by customer_id having count(*) = 1) l"},
		"with three lots":          {5, 150, "from (select customer_id from loyalty.lot where unit = 'points' group by customer_id having count(*) = 3) l"},
		"with points for ever":     {5, 200, "from loyalty.lot where unit = 'points' and expires_on = 'infinity'"},
		"adjustments":              {4, 40, "from loyalty.ledger_entry where kind = 'adjustment'"},
		"redemptions":              {250, 600, "from loyalty.redemption"},
		"pending":                  {2, 25, "from loyalty.redemption where status = 'pending'"},
		"voided redemptions":       {3, 50, "from loyalty.redemption where status = 'voided'"},
		"rewards":                  {8, 8, "from loyalty.reward"},
		"rewards not redeemed":     {0, 0, "from loyalty.reward r where not exists (select from loyalty.redemption where tenant_id = r.tenant_id and reward_id = r.id)"},
		"rewards that are gone":    {1, 1, "from loyalty.reward where stock = 0"},
		"rewards nearly gone":      {1, 1, "from loyalty.reward where stock between 1 and 5"},
		"withdrawn rewards":        {1, 1, "from loyalty.reward where not active"},
		"coupons":                  {6, 6, "from loyalty.coupon"},
		"coupons switched off":     {1, 1, "from loyalty.coupon where not active"},
		"expired coupons":          {1, 1, "from loyalty.coupon where expires_at < " + at},
		"coupons to come":          {1, 1, "from loyalty.coupon where starts_at > " + at},
		"coupons nearly used up":   {1, 1, "from loyalty.coupon where max_redemptions - redemptions_count between 1 and 10"},
		"coupons without success":  {1, 1, "from loyalty.coupon where redemptions_count = 0"},
		"sends":                    {18, 22, "from loyalty.coupon_send where sent > 0"},
		"empty sends":              {0, 0, "from loyalty.coupon_send where sent = 0"},
		"sends that skipped some":  {2, 20, "from loyalty.coupon_send where skipped_limit > 0"},
		"sends under way":          {0, 0, "from loyalty.coupon_send where status <> 'done'"},
		"redeemed vouchers":        {60, 300, "from loyalty.voucher where status = 'redeemed'"},
		"pending vouchers":         {50, 700, "from loyalty.voucher where status = 'pending' and expires_at > " + at},
		"types":                    {2, 2, "from loyalty.transaction_type where active"},
		"ended types":              {1, 1, "from loyalty.transaction_type where not active"},
		"locations":                {2, 2, "from loyalty.location where active"},
		"invoices":                 {3, 5, "from loyalty.invoice where number is not null"},
		"invoices of a month":      {2, 4, "from loyalty.invoice where total_cents = 6125"},
		"paid invoices":            {2, 4, "from loyalty.invoice where status = 'paid'"},
		"invoices to pay":          {1, 1, "from loyalty.invoice where status = 'issued' and due_at > " + at},
		"promotions on":            {6, 6, "from loyalty.promotion where active and starts_on <= (" + at + ")::date and (ends_on is null or ends_on >= (" + at + ")::date)"},
		"promotions that ended":    {1, 1, "from loyalty.promotion where ends_on < (" + at + ")::date"},
		"promotions to come":       {1, 1, "from loyalty.promotion where starts_on > (" + at + ")::date"},
		"promotions without sales": {1, 1, "from loyalty.promotion p where not exists (select from loyalty.transaction where tenant_id = p.tenant_id and promotion_id = p.id)"},
		"sales with a promotion":   {100, 700, "from loyalty.transaction where promotion_id is not null"},
		"sales with items":         {1000, 2500, "from loyalty.transaction where items is not null"},
		"sales that earn nothing":  {3, 60, "from loyalty.transaction where eligible_cents = 0 and points_awarded = 0"},
		"capped sales":             {5, 60, "from loyalty.transaction where capped"},
		"capped since yesterday":   {1, 5, "from loyalty.transaction where capped and created_at > " + at + " - interval '2 days'"},
		"plain sales with one":     {0, 0, "from loyalty.transaction t join loyalty.promotion p on p.tenant_id = t.tenant_id and p.id = t.promotion_id where items is null and audience not in ('birthday', 'level')"},
		"categories":               {5, 5, "from loyalty.category where active"},
		"codes to map":             {3, 3, "from loyalty.unmapped_code"},
		"levels":                   {3, 3, "from loyalty.level where retired_at is null"},
		"at the second level":      {15, 70, "from loyalty.account a join loyalty.level l on l.tenant_id = a.tenant_id and l.id = a.level_id where l.rank = 1"},
		"at the highest level":     {8, 30, "from loyalty.account a join loyalty.level l on l.tenant_id = a.tenant_id and l.id = a.level_id where l.rank = 2"},
		"about to rise":            {4, 40, "from loyalty.account where level_id is null and level_sum between 11000 and 14999"},
		"who rose":                 {30, 120, "from loyalty.level_change where reason = 'reached'"},
		"who dropped":              {1, 1, "from loyalty.level_change where reason = 'dropped'"},
		"levels by hand":           {2, 2, "from loyalty.level_change where reason = 'hand' and note is not null"},
		"with a birthday":          {150, 220, "from loyalty.customer where birth_month is not null"},
		"audit entries":            {500, 3000, "from loyalty.audit_entry"},
	} {
		n, err := strconv.Atoi(texts(t, d, "select count(*) "+c.sql)[0])
		if err != nil || n < c.least || n > c.most {
			t.Errorf("%d %s, want %d to %d", n, what, c.least, c.most)
		}
	}
	hours := map[int]int{}
	perDay := func(weekend string) (n int) {
		n, err := strconv.Atoi(texts(t, d, `
			select avg(n)::int
			from (
				select count(*) as n
				from loyalty.transaction
				where created_at > `+at+` - interval '90 days'
				group by (created_at at time zone 'Europe/Stockholm')::date
				having (extract(isodow from (created_at at time zone 'Europe/Stockholm')::date) > 5) = `+weekend+`) days`)[0])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if workday, weekend := perDay("false"), perDay("true"); workday < 12 || weekend > workday*3/4 {
		t.Errorf("%d sales on a working day, %d at the weekend", workday, weekend)
	}
	type hour struct{ Hour, N int }
	for _, h := range list[hour](t, d, `
		select extract(hour from created_at at time zone 'Europe/Stockholm')::int as hour, count(*) as n
		from loyalty.transaction
		where extract(isodow from created_at at time zone 'Europe/Stockholm') <= 5
		group by 1`) {
		hours[h.Hour] = h.N
	}
	if hours[8] < 2*hours[10] || hours[12]*2 < hours[10]*3 || hours[17] > hours[14] {
		t.Errorf("sales by hour of working days: %v", hours)
	}
	opening := clock(until, opens+3)
	if last := list[struct{ At time.Time }](t, d, "select max(created_at) as at from loyalty.transaction")[0].At; until.After(opening) &&
		until.Before(clock(until, lastOrders)) && until.Sub(last) > 5*time.Minute {
		t.Errorf("the last sale was at %v", last)
	}
	for _, phone := range texts(t, d, "select phone from loyalty.customer") {
		if number, err := phonenumbers.Parse(phone, "SE"); err != nil || !phonenumbers.IsPossibleNumber(number) {
			t.Errorf("%s is no possible number: %v", phone, err)
		}
	}
}

// wantConsistent checks opening hours and the order of events, which verify doesn't know.
func wantConsistent(t *testing.T, d *db.DB, until time.Time) {
	t.Helper()
	at := "timestamptz '" + until.Add(time.Second).Format(time.RFC3339) + "'"
	for what, sql := range map[string]string{
		"sales outside opening hours": `
			select external_reference from loyalty.transaction
			where (created_at at time zone 'Europe/Stockholm')::time not between '07:30' and '18:00'`,
		"redeemed outside opening hours": `
			select id::text from loyalty.redemption
			where (created_at at time zone 'Europe/Stockholm')::time not between '07:30' and '18:00'
				or (fulfilled_at at time zone 'Europe/Stockholm')::time not between '07:30' and '18:00'`,
		"sales before their customer": `
			select external_reference from loyalty.transaction t
			join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
			where t.created_at < c.created_at`,
		"sales after their customer left": `
			select external_reference from loyalty.transaction t
			join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
			where t.created_at > c.updated_at and c.status = 'inactive'`,
		"entries out of order": `
			select id::text from (
				select id, created_at < lag(created_at) over (partition by tenant_id, customer_id order by seq) as early
				from loyalty.ledger_entry) e
			where early`,
		"sales in the future":    `select external_reference from loyalty.transaction where greatest(created_at, voided_at) > ` + at,
		"redeemed in the future": `select id::text from loyalty.redemption where greatest(created_at, fulfilled_at, voided_at) > ` + at,
		"entries in the future":  `select id::text from loyalty.audit_entry where created_at > ` + at,
		"balances below zero":    `select id::text from loyalty.ledger_entry where balance_after < 0`,
		"levels in the future":   `select id::text from loyalty.level_change where created_at > ` + at,
		"rose without a sale":    `select id::text from loyalty.level_change where reason = 'reached' and cause is null`,
		"used on another day": `
			select external_reference from loyalty.transaction t
			join loyalty.promotion p on p.tenant_id = t.tenant_id and p.id = t.promotion_id
			where (t.created_at at time zone 'Europe/Stockholm')::date not between p.starts_on and coalesce(p.ends_on, 'infinity')`,
		"evaluated before sent": `select id::text from loyalty.coupon_send where evaluated_at < created_at`,
		"redeemed before made":  `select id::text from loyalty.voucher where redeemed_at < created_at`,
		"redeemed after expiry": `select id::text from loyalty.voucher where redeemed_at >= expires_at`,
		"redeemed after its coupon was off": `
			select v.id::text from loyalty.voucher v
			join loyalty.audit_entry a on a.tenant_id = v.tenant_id and a.action = 'coupon.set_active' and a.subject_id = v.coupon_id::text
			where v.redeemed_at > a.created_at`,
		"names twice": "select name from loyalty.reward group by name having count(*) > 1",
	} {
		if found := texts(t, d, sql); len(found) > 0 {
			t.Errorf("%s: %v", what, found[:min(5, len(found))])
		}
	}
}

// everything summarises the demo's records and balances.
func everything(t *testing.T, d *db.DB) string {
	t.Helper()
	return strings.Join(texts(t, d, `
		select concat_ws(' ',
			(select count(*) from loyalty.tenant), (select count(*) from loyalty.staff), (select count(*) from loyalty.token),
			(select count(*) from loyalty.customer), (select count(*) from loyalty.transaction_type),
			(select count(*) from loyalty.transaction), (select count(*) from loyalty.ledger_entry),
			(select sum(stock) from loyalty.reward), (select count(*) from loyalty.reward where active),
			(select string_agg(status, '' order by id) from loyalty.redemption),
			(select sum(redemptions_count) from loyalty.coupon), (select count(*) from loyalty.coupon where active),
			(select count(*) from loyalty.coupon_send), (select count(*) from loyalty.voucher where status = 'redeemed'),
			(select count(*) from loyalty.audit_entry), (select count(*) from loyalty.platform_audit_entry),
			(select count(*) from loyalty.plan), (select count(*) from loyalty.invoice where status = 'paid'),
			(select sum(points) from loyalty.account), (select sum(stamps) from loyalty.account),
			(select sum(base_award) from loyalty.transaction), (select count(*) from loyalty.transaction where promotion_id is not null),
			(select string_agg(concat_ws(' ', code, sales), ' ' order by code) from loyalty.unmapped_code), (select count(*) from loyalty.level_change),
			(select max(date_trunc('minute', updated_at)) from loyalty.customer))`), "")
}

func texts(t *testing.T, d *db.DB, sql string) []string {
	t.Helper()
	type row struct{ Text string }
	var all []string
	for _, r := range list[row](t, d, "select text::text from ("+sql+") as asked (text)") {
		all = append(all, r.Text)
	}
	return all
}

// list queries as the owner.
func list[T any](t *testing.T, d *db.DB, sql string) []T {
	t.Helper()
	rows, err := dbtest.Owner(d).Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	if err != nil {
		t.Fatal(err)
	}
	return all
}
