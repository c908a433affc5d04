package tenant_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/migrations"
)

// step takes the step that converts amounts, alone: later ones were taken, and can't be taken again.
func step(t *testing.T, address string) (taken int, err error) {
	t.Helper()
	const name = "0145_currency_decimals.sql"
	text, err := migrations.SQL.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	pool := stdlib.OpenDB(*config)
	defer pool.Close()
	steps, err := goose.NewProvider(goose.DialectPostgres, pool, fstest.MapFS{name: {Data: text}},
		goose.WithTableName("public.again"), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	done, err := steps.Up(t.Context())
	return len(done), err
}

// An upgrade from a build in which dinars had no decimals keeps what every amount is worth: RSD 25,000 becomes
// RSD 25,000.00, and isn't read as RSD 250.00. It waits until no earlier build serves, which would read the new amounts
// in dinars, and a second try converts nothing twice.
func TestUpgradeKeepsWhatAmountsAreWorth(t *testing.T) {
	t.Parallel()
	address := dbtest.OwnURL(t)
	open := func() *db.DB {
		d, err := db.Open(t.Context(), dbtest.Serving(address), db.Options{OwnerURL: address, CountTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Close)
		return d
	}
	owner, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Close(t.Context()) })
	read := func(sql string, args ...any) (got string) {
		t.Helper()
		if err := owner.QueryRow(t.Context(), sql, args...).Scan(&got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	amounts := func(s shop) string {
		return read(`
			select concat_ws(' ', n.currency, n.confirm_above_cents,
				(select string_agg(concat_ws(':', unit_cents, min_spend_cents), ' ' order by id) from loyalty.transaction_type where tenant_id = $1),
				(select string_agg(cost_cents::text, ' ') from loyalty.reward where tenant_id = $1),
				(select string_agg(benefit_value::text, ' ' order by id) from loyalty.coupon where tenant_id = $1),
				(select string_agg(concat_ws(':', spend_amount_cents, points_awarded, status), ' ' order by id) from loyalty.transaction where tenant_id = $1),
				(select string_agg(spent_cents::text, ' ') from loyalty.account where tenant_id = $1),
				(select string_agg(coalesce(e.new ->> 'spend_amount_cents', e.new ->> 'unit_cents', e.new ->> 'cost_cents', e.new ->> 'benefit_value'), ',' order by id)
					from loyalty.audit_entry e where tenant_id = $1))
			from loyalty.tenant n where n.id = $1`, s.owner.Tenant.ID)
	}

	d := open()
	sells := func(currency string, cents int64) shop {
		s := shop{officeIn(t, d), dbtest.Tenant(t, d)}
		s.stocked(currency, [5]int64{100, 500, 250, 300, 50_000})
		of := shoptest.Of(t, d, s.owner)
		customer, kind := of.Customer().ID, of.Points(100)
		of.Sale(customer, kind, cents)
		of.VoidSale(of.Sale(customer, kind, 700).ID)
		return s
	}
	dinars, iraq, euros, rials := sells("RSD", 25_000), sells("IQD", 25_000), sells("EUR", 25_000), sells("IRR", 1_000_000_000_000)
	exec("insert into loyalty.plan (name, monthly_cents, yearly_cents, currency) values ('Pakistan', 2450, 24500, 'PKR'), ('Europe', 2450, 24500, 'EUR')")
	exec(`insert into loyalty.invoice (tenant_id, status, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end, created_at)
		select id, 'draft', 'PKR', '[{"description": "Plan", "quantity": 2, "unit_cents": 2450, "amount_cents": 4900}]', 4900, 1225, 6125, '2026-01-01', '2026-01-31', now()
		from loyalty.tenant where id = $1`, euros.owner.Tenant.ID)
	before := amounts(euros)

	if _, err := step(t, address); err == nil || !strings.Contains(err.Error(), "IQD, IRR, PKR, RSD") || !strings.Contains(err.Error(), "stop the earlier build first") {
		t.Fatalf("beside a build that serves: %v", err)
	}
	d.Close()
	for read("select count(*)::text from pg_stat_activity where datname = current_database() and usename = 'loyalty_app'") != "0" {
		continue
	}
	for range 2 { // the second time as if the first had stopped before its end
		if taken, err := step(t, address); err != nil || taken != 1 {
			t.Fatal(taken, err)
		}
		for s, want := range map[*shop]string{
			&dinars: "RSD 5000000 10000:50000 10000:0 10000:0 25000 30000 20 2500000:250:completed 70000:7:voided 2500000",
			&iraq:   "IQD 50000000 100000:500000 100000:0 100000:0 250000 300000 20 25000000:250:completed 700000:7:voided 25000000",
			&rials:  "IRR 5000000 10000:50000 10000:0 10000:0 25000 30000 20 100000000000000:10000000000:completed 70000:7:voided 100000000000000",
		} {
			if got := amounts(*s); !strings.HasPrefix(got, want) {
				t.Errorf("%s\nwant %s", got, want)
			}
		}
		if got := amounts(dinars); !strings.HasSuffix(got, "10000,10000,25000,30000,20,10000,70000") {
			t.Errorf("the audit log has %s", got)
		}
		if diff := cmp.Diff(before, amounts(euros)); diff != "" {
			t.Errorf("euros (-before +after):\n%s", diff)
		}
		if got := read("select string_agg(concat_ws(' ', currency, monthly_cents, yearly_cents), ', ' order by name desc) from loyalty.plan where monthly_cents > 0"); got != "PKR 245000 2450000, EUR 2450 24500" {
			t.Errorf("plans: %s", got)
		}
		got := read("select concat_ws(' ', amount_cents, tax_cents, total_cents, lines #>> '{0,unit_cents}', lines #>> '{0,amount_cents}', lines #>> '{0,quantity}') from loyalty.invoice")
		if got != "490000 122500 612500 245000 490000 2" {
			t.Errorf("invoice: %s", got)
		}
		exec("delete from again where version_id > 0")
	}
	d = open()
	shoptest.Of(t, d, dinars.owner).Verify()
}
