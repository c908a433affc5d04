package daily_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/verify"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business in Stockholm.
type shop struct {
	shoptest.Shop
	purchase transaction.Type
}

func newShop(t *testing.T) shop { return shopIn(t, dbtest.DB(t)) }

func shopIn(t *testing.T, d *db.DB) shop {
	t.Helper()
	s := shoptest.In(t, d)
	return shop{s, s.Points(1)}
}

// on returns the same shop at a local time.
func (s shop) on(shown string) shop {
	s.T.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04:05", shown, s.By.Tenant.TimeZone)
	s.Check(err)
	s.Shop = s.At(at)
	return s
}

// at returns the same shop at another instant.
func (s shop) at(instant time.Time) shop {
	s.Shop = s.At(instant)
	return s
}

func tenPercent(s shop) coupon.Coupon {
	s.T.Helper()
	return s.Coupon(coupon.New{Name: "Ten percent", BenefitType: string(coupon.Percent), BenefitValue: new(int64(10))})
}

func (s shop) count() {
	s.T.Helper()
	s.Check(countAll(s.T.Context(), s.Days, s.By.Tenant.ID))
}

// countAll runs the job until nothing is left to count. On a slow machine, it lets others go first.
func countAll(ctx context.Context, days *daily.Service, tenant core.TenantID) error {
	for {
		if err := days.Count(ctx, daily.Counting{Tenant: tenant}); err == nil || !strings.HasPrefix(err.Error(), "again after") {
			return err
		}
	}
}

// counted returns the days of sales that are counted, and their number.
func (s shop) counted() []string {
	return shoptest.QueryAll[string](s.Shop, `
		select concat_ws(' ', day, sum(transactions))
		from loyalty.day_sales
		where tenant_id = $1
		group by day
		order by day`, s.By.Tenant.ID)
}

func (s shop) want(when string, want ...string) {
	s.T.Helper()
	if got := s.counted(); !slices.Equal(got, want) {
		s.T.Errorf("%s: %q, want %q", when, got, want)
	}
}

// "A day is counted an hour after it ended": by the clocks of the business.
func TestADayIsCountedWhenItIsOver(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	who := s.on("2026-06-01 12:00:00").Customer().ID
	s.on("2026-06-01 23:59:30").Sale(who, s.purchase, 100)
	s.on("2026-06-02 00:00:00").Sale(who, s.purchase, 100)
	s.on("2026-06-02 00:59:30").count()
	s.want("within the hour")
	s.on("2026-06-02 01:00:00").count()
	s.want("after it", "2026-06-01 1")
	s.on("2026-06-02 08:00:00").Sale(who, s.purchase, 100)
	s.on("2026-06-03 02:00:00").count()
	s.want("a day later", "2026-06-01 1", "2026-06-02 2")
	s.on("2026-06-09 02:00:00").count()
	if got := s.Count("days_counted where first_day = '-infinity' and last_day = '2026-06-08'"); got != 1 {
		t.Error("a week without sales isn't counted")
	}
}

// Of a business with many sales, today is counted minute by minute, up to five minutes ago.
func TestTodayIsCounted(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	who := s.on("2026-06-01 09:00:00").Customer().ID
	for _, at := range []string{"09:10", "10:20", "11:59", "12:00"} {
		s.on("2026-06-01 "+at+":00").Sale(who, s.purchase, 100)
	}
	count := func(at string, sales int) {
		t.Helper()
		s.Check(s.on("2026-06-01 "+at+":00").Days.TodayFrom(sales).Count(t.Context(), daily.Counting{Tenant: s.By.Tenant.ID}))
	}
	count("12:04", 3)
	s.want("five minutes aren't over")
	count("12:05", 4)
	s.want("there are too few")
	count("12:05", 3)
	s.want("three hours", "2026-06-01 3")
	s.on("2026-06-01 12:30:00").VoidSale(s.on("2026-06-01 12:20:00").Sale(who, s.purchase, 100).ID)
	count("13:00", 3)
	s.want("later", "2026-06-01 3")
	if marks := s.Count("day_mark"); marks != 1 {
		t.Errorf("%d marks, want that of a sale that isn't counted yet", marks)
	}
	count("13:15", 1)
	s.want("four hours", "2026-06-01 4")
	s.on("2026-06-01 13:20:00").Sale(who, s.purchase, 100)
	count("13:25", 1)
	s.want("the next minutes have none", "2026-06-01 4")
	count("13:26", 1)
	s.want("eleven minutes more", "2026-06-01 5")
	s.on("2026-06-02 00:30:00").count()
	s.want("after midnight", "2026-06-01 5")
	s.on("2026-06-02 01:00:00").count()
	if got := s.Count("days_counted where last_day = '2026-06-01' and ends_at = '2026-06-02 00:00 Europe/Stockholm'"); got != 1 {
		t.Error("the day isn't counted as a whole")
	}
}

// The latest days are counted first, and days on which nothing was recorded take no time.
func TestYearsAgoAreCountedLast(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	who := s.on("2023-06-01 12:00:00").Customer().ID
	for _, day := range []string{"2023-07-01", "2026-05-30", "2026-05-31"} {
		s.on(day+" 12:00:00").Sale(who, s.purchase, 100)
	}
	now, by := s.on("2026-06-01 12:00:00"), core.Job(s.By.Tenant, "days")
	next := func(want bool) {
		t.Helper()
		if more, err := now.Days.CountNext(t.Context(), by); err != nil || more != want {
			t.Fatalf("more: %t, %v", more, err)
		}
	}
	next(true) // begins
	next(true)
	s.want("at first", "2026-05-31 1")
	next(true)
	s.want("then", "2026-05-30 1", "2026-05-31 1")
	next(true)
	s.want("then", "2023-07-01 1", "2026-05-30 1", "2026-05-31 1")
	next(true) // the customer
	next(true) // nothing before
	next(false)
}

// What changed balances is kept by month when each day of it is counted. What isn't kept is added up from days: a month of which days are left,
// one that got lost, and all before an earlier build, which doesn't know months, has counted days of another time zone.
func TestMonthsAreKept(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	who := s.on("2026-01-20 09:00:00").Customer().ID
	s.on("2026-01-20 12:00:00").Sale(who, s.purchase, 1)
	march := s.on("2026-03-15 12:00:00").Sale(who, s.purchase, 3)
	s.on("2026-05-02 12:00:00").Sale(who, s.purchase, 5)
	s.on("2026-06-01 12:00:00").Sale(who, s.purchase, 7)
	want := func(when string, want ...string) {
		t.Helper()
		got := shoptest.QueryAll[string](s.Shop, `
			select concat_ws(' ', to_char(month, 'YYYY-MM'), kind, amount)
			from loyalty.month_flow
			where tenant_id = $1
			order by month, kind`, s.By.Tenant.ID)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	opened := func(now string, want map[string]int64) {
		t.Helper()
		then := s.on(now)
		for day, opening := range want {
			from, err := time.Parse(time.DateOnly, day)
			s.Check(err)
			st, err := then.Reports.Points(t.Context(), s.By, report.Balances{Range: report.Range{From: &from}})
			s.Check(err)
			if st.Opening != opening {
				t.Errorf("on %s, %s opened with %d points, want %d", now, day, st.Opening, opening)
			}
		}
	}
	openings := map[string]int64{
		"2026-01-20": 0, "2026-01-21": 1, "2026-03-15": 1, "2026-03-16": 4, "2026-04-01": 4, "2026-05-01": 4, "2026-05-15": 9, "2026-06-01": 9, "2026-06-02": 16,
	}
	opened("2026-06-10 12:00:00", openings)
	s.on("2026-06-01 13:00:00").count()
	kept := []string{"2026-01 earn 1", "2026-03 earn 3", "2026-05 earn 5"}
	want("in June", kept...)
	opened("2026-06-10 12:00:00", openings)
	s.Verify()

	s.on("2026-06-11 12:00:00").VoidSale(march.ID)
	s.on("2026-06-12 12:00:00").count()
	want("after a void", kept...)
	openings["2026-06-12"] = 13
	s.Exec("delete from loyalty.month_flow where tenant_id = $1 and month = '2026-03-01'", s.By.Tenant.ID)
	opened("2026-06-12 13:00:00", openings)

	s.on("2026-07-02 12:00:00").count()
	want("in July", "2026-01 earn 1", "2026-05 earn 5", "2026-06 earn 7", "2026-06 reversal -3")
	opened("2026-07-02 13:00:00", openings)
	s.Verify()

	if dbtest.IsCitus(t) {
		return // what an earlier build does is noticed by a trigger, which a distributed database doesn't have
	}
	s.Exec("update loyalty.days_counted set zone = 'America/New_York' where tenant_id = $1", s.By.Tenant.ID)
	want("an earlier build counts days of New York")
	opened("2026-07-02 13:00:00", openings)
}

// An earlier build, which serves on during an upgrade and again after going back, keeps something else of a day. Neither build reads what the
// other counted.
func TestAnEarlierBuildCountsForItself(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	who := s.on("2026-06-01 09:00:00").Customer().ID
	s.on("2026-06-01 12:00:00").Sale(who, s.purchase, 100)
	s.on("2026-06-03 12:00:00").count()
	s.want("by this build", "2026-06-01 1")
	s.Exec("update loyalty.days_counted set zone = 'Europe/Stockholm' where tenant_id = $1", s.By.Tenant.ID)
	s.Exec("update loyalty.day_sales set transactions = 2 where tenant_id = $1", s.By.Tenant.ID)
	from := time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)
	summary, err := s.on("2026-06-03 12:00:00").Reports.Summary(t.Context(), s.By, report.Range{From: &from, To: &from})
	if s.Check(err); summary.TransactionsCount != 1 {
		t.Errorf("%d sales, as the earlier build would count, want 1", summary.TransactionsCount)
	}
	due, err := s.on("2026-06-03 12:00:00").Days.QueueDue(t.Context())
	if s.Check(err); !slices.Contains(due, job.Args(daily.Counting{Tenant: s.By.Tenant.ID})) {
		t.Error("no days are due")
	}
	s.on("2026-06-03 12:00:00").count()
	s.want("by this build again", "2026-06-01 1")
	s.Verify()
	if earlier := s.Count("days_counted where zone = 'Europe/Stockholm'"); earlier > 0 {
		t.Error("the earlier build would read what this one counted")
	}
}

// The database says up to when all transactions have ended. Here that is now, and the job's clock is a day ahead.
func TestADayWaitsForItsTransactions(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	yesterday := s
	yesterday.Shop = s.At(s.DB.Now().Add(-24 * time.Hour))
	day := core.DateOf(yesterday.DB.Now(), s.By.Tenant.TimeZone).Format(time.DateOnly)
	who := yesterday.Customer().ID
	yesterday.Sale(who, s.purchase, 100)
	s.Sale(who, s.purchase, 100)
	tomorrow := s
	tomorrow.Shop = s.At(s.DB.Now().Add(26 * time.Hour))
	s.count()
	tomorrow.count()
	if got := s.counted(); len(got) > 1 || len(got) == 1 && got[0] != day+" 1" {
		t.Errorf("%q are counted, and %s can be at most", got, day)
	}
}

// What an earlier build or an operator changes marks its day by a trigger, and is counted again.
func TestChangesByHandAreCountedAgain(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "a distributed database has no triggers for changes by hand")
	s := shopIn(t, dbtest.OwnDB(t))
	first := s.on("2026-06-01 12:00:00")
	who, other := first.Customer(), first.Customer()
	sold := first.Sale(who.ID, s.purchase, 1000)
	first.Sale(other.ID, s.purchase, 1000)
	voucher := first.Voucher(tenPercent(first).ID, who.ID)
	first.RedeemVoucher(voucher)
	redemption := first.Redeem(who.ID, first.Reward(10, nil))
	second := s.on("2026-06-02 12:00:00")
	second.Sale(who.ID, s.purchase, 1000)
	second.Sale(other.ID, s.purchase, 1000)
	now := s.on("2026-06-05 12:00:00")
	now.count()
	for _, change := range []struct {
		name, sql string
		args      []any
	}{
		{"a void", "update loyalty.transaction set status = 'voided', voided_at = created_at where id = $1", []any{sold.ID}},
		{"another customer", "update loyalty.transaction set customer_id = $1 where customer_id = $2", []any{who.ID, other.ID}},
		{"a refund", `insert into loyalty.refund (tenant_id, id, transaction_id, amount_cents, points, actor_kind, actor_id, actor_name, created_at)
			select tenant_id, id, id, 1, 0, actor_kind, actor_id, actor_name, now() from loyalty.transaction where status = 'completed';
			update loyalty.transaction set refunded_cents = 1 where status = 'completed'`, nil},
		{"a redemption", "update loyalty.redemption set status = 'voided', voided_at = created_at where id = $1", []any{redemption.ID}},
		{"a voucher", "update loyalty.voucher set status = 'pending', redeemed_at = null where id = $1", []any{voucher}},
		{"a merged customer", "update loyalty.customer set merged_into = $1 where id = $2", []any{who.ID, other.ID}},
	} {
		s.Exec(change.sql, change.args...)
		if s.Count("day_mark") == 0 {
			t.Errorf("%s marks nothing", change.name)
		}
		now.count()
		if n := s.Count("day_mark"); n > 0 {
			t.Errorf("%s leaves %d marks", change.name, n)
		}
	}
	results, err := verify.Run(t.Context(), s.DB)
	s.Check(err)
	for _, r := range results {
		if strings.HasPrefix(r.Check, "Every day that was counted") && (r.Wrong > 0 || r.Counted == 0) {
			t.Errorf("%+v", r)
		}
	}
}

// Businesses with days to count have a job, once, and suspended ones none.
func TestWorkIsFoundOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	s, suspended := shopIn(t, d), shopIn(t, d)
	suspended.Exec("update loyalty.tenant set status = 'suspended' where id = $1", suspended.By.Tenant.ID)
	found := func(when string, want int) {
		t.Helper()
		queued, err := s.Days.QueueDue(t.Context())
		if s.Check(err); len(queued) != want {
			t.Errorf("%s: %d jobs, want %d", when, len(queued), want)
		}
	}
	found("a new business", 1)
	found("with its job", 0)
	s.Exec("delete from river.river_job")
	yesterday := s
	yesterday.Shop = s.At(s.DB.Now().Add(-48 * time.Hour))
	sold := yesterday.Sale(yesterday.Customer().ID, s.purchase, 1000)
	s.count()
	found("counted", 0)
	today := s.Sale(s.Customer().ID, s.purchase, 1000)
	s.VoidSale(today.ID)
	found("a sale of today that is voided", 0)
	s.VoidSale(sold.ID)
	found("one of a day that was counted", 1)
	if err := suspended.Days.Count(t.Context(), daily.Counting{Tenant: suspended.By.Tenant.ID}); err != nil || suspended.Count("days_counted") > 0 {
		t.Errorf("suspended: %v", err)
	}
}

// A till waits for some seconds at most. A day is counted however long it takes, as one whose pages come from a slow disk.
func TestADayTakesItsTime(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	who := s.on("2026-06-01 12:00:00").Customer().ID
	s.on("2026-06-01 13:00:00").Sale(who, s.purchase, 100)
	s.on("2026-06-02 12:00:00").count()
	s.on("2026-06-02 13:00:00").Sale(who, s.purchase, 100)
	hasty, err := db.Open(t.Context(), dbtest.Serving(s.DB.OwnerURL()), db.Options{OwnerURL: s.DB.OwnerURL(), StatementTimeout: time.Second})
	s.Check(err)
	t.Cleanup(hasty.Close)
	jobs, err := job.New(hasty, slog.New(slog.DiscardHandler))
	s.Check(err)
	slow, err := dbtest.Owner(s.DB).Begin(t.Context())
	s.Check(err)
	_, err = slow.Exec(t.Context(), "select from loyalty.days_counted where tenant_id = $1 for update", s.By.Tenant.ID)
	s.Check(err)
	time.AfterFunc(2*time.Second, func() { _ = slow.Rollback(context.WithoutCancel(t.Context())) }) // the count fails if it isn't
	s.Check(countAll(t.Context(), daily.NewService(hasty, jobs).At(s.on("2026-06-03 12:00:00").DB.Now()), s.By.Tenant.ID))
	s.want("after two seconds", "2026-06-01 1", "2026-06-02 1")
}

// A job that is told to stop leaves whole days.
func TestAJobThatStops(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	who := s.on("2026-06-01 12:00:00").Customer().ID
	s.on("2026-06-01 13:00:00").Sale(who, s.purchase, 100)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.on("2026-06-03 12:00:00").Days.Count(ctx, daily.Counting{Tenant: s.By.Tenant.ID}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	s.want("stopped")
	s.on("2026-06-03 12:00:00").count()
	s.want("and begun again", "2026-06-01 1")
}
