package level_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// opened is when the shops of these tests are seen first: 21 November 2026, noon in Stockholm.
var opened = time.Date(2026, time.November, 21, 11, 0, 0, 0, time.UTC)

// shop is a business with levels: Member, Silver from 100 points and Gold from 500 in a calendar year.
type shop struct {
	shoptest.Shop
	kind transaction.Type // a point for each krona
}

func newShop(t *testing.T) shop {
	t.Helper()
	s := shoptest.New(t).At(opened)
	return shop{s, s.Points(100)}
}

// withLevels is a shop whose levels are launched and counted.
func withLevels(t *testing.T) shop {
	t.Helper()
	s := newShop(t)
	s.prepareLevels()
	s.launch()
	s.count()
	return s
}

// on is the shop at an instant of a local day.
func (s shop) on(day string, hour time.Duration) shop {
	s.T.Helper()
	s.Shop = s.At(date(day).Add(hour - time.Hour)).Known()
	return s
}

func date(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return d
}

func yearly() *level.Rules {
	return &level.Rules{Basis: award.ByPoints, Period: award.ByYear, Month: new(int64(1)), Day: new(int64(1)), Drops: true, StartsOn: new(date("2026-01-01"))}
}

func levelOf(name string, threshold, percent int64) *level.Edit {
	return &level.Edit{Name: &name, Threshold: &threshold, Percent: &percent, Colour: new("#c0a020"), Perks: new("A coffee on your birthday")}
}

// change changes the levels as they are now.
func (s shop) change(c level.Change) (level.Setup, error) {
	s.T.Helper()
	c.Version = s.setup().Version
	return s.Services.Levels.Change(s.T.Context(), s.By, c)
}

func (s shop) mustChange(c level.Change) level.Setup {
	s.T.Helper()
	setup, err := s.change(c)
	s.Check(err)
	return setup
}

func (s shop) setup() level.Settings {
	s.T.Helper()
	setup, err := s.Services.Levels.Settings(s.T.Context(), s.By)
	s.Check(err)
	return setup
}

func (s shop) prepareLevels() {
	s.T.Helper()
	s.mustChange(level.Change{Rules: yearly()})
	s.mustChange(level.Change{Level: levelOf("Silver", 100, 110)})
	s.mustChange(level.Change{Level: levelOf("Gold", 500, 150)})
}

func (s shop) launch() { s.T.Helper(); s.mustChange(level.Change{On: new(true)}) }

// count counts to the end, without the time that the job waits for older transactions.
func (s shop) count() {
	s.T.Helper()
	by := core.Job(s.By.Tenant, "levels")
	for {
		s.letCount()
		done, err := s.Services.Levels.InBatchesOf(3).CountNext(s.T.Context(), by)
		if errors.Is(err, level.ErrBusy) {
			continue
		}
		s.Check(err)
		if done {
			return
		}
	}
}

// letCount has counting have begun a minute ago.
func (s shop) letCount() {
	s.T.Helper()
	s.Exec("update loyalty.level_programme set begun_at = now() - interval '1 minute' where tenant_id = $1 and counted_to is not null", s.By.Tenant.ID)
}

func (s shop) id(name string) *int64 {
	s.T.Helper()
	return new(shoptest.Query[int64](s.Shop, "select id from loyalty.level where tenant_id = $1 and name = $2", s.By.Tenant.ID, name))
}

// level tells a customer's stored level: its name, its last day, and what counts of this year and the one before.
func (s shop) level(customer core.ID) string {
	s.T.Helper()
	return shoptest.Query[string](s.Shop, `
		select concat_ws(' ', coalesce(l.name, '-'), coalesce(a.level_until::text, 'no end'), a.level_by, coalesce(a.level_sum, 0) || '/' || coalesce(a.level_sum_before, 0))
		from loyalty.account a left join loyalty.level l on l.tenant_id = a.tenant_id and l.id = a.level_id
		where a.tenant_id = $1 and a.customer_id = $2`, s.By.Tenant.ID, customer)
}

// changes tells the changes of a customer's level, the oldest first.
func (s shop) changes(customer core.ID) string {
	s.T.Helper()
	return strings.Join(shoptest.QueryAll[string](s.Shop, `
		select concat_ws(' ', coalesce(f.name, '-') || '>' || coalesce(t.name, '-'), c.reason, c.until)
		from loyalty.level_change c
		left join loyalty.level f on f.tenant_id = c.tenant_id and f.id = c.from_level
		left join loyalty.level t on t.tenant_id = c.tenant_id and t.id = c.to_level
		where c.tenant_id = $1 and c.customer_id = $2
		order by c.seq`, s.By.Tenant.ID, customer), ", ")
}

func (s shop) want(customer core.ID, level, changes string) {
	s.T.Helper()
	if got := s.level(customer); got != level {
		s.T.Errorf("level = %q, want %q", got, level)
	}
	if got := s.changes(customer); got != changes {
		s.T.Errorf("changes = %q, want %q", got, changes)
	}
}

// A launch counts earlier sales as a sale itself counts: without refunds, voids, and what is older than the programme's year before.
func TestLaunchCountsEarlierSales(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, bea, cleo, dora := s.Customer().ID, s.Customer().ID, s.Customer().ID, s.Customer().ID
	s.on("2025-12-31", 12*time.Hour).Sale(anna, s.kind, 900_00) // before the first day that counts
	s.Sale(anna, s.kind, 120_00)
	refunded := s.Sale(bea, s.kind, 600_00)
	s.Refund(refunded.ID, 333_33)
	s.VoidSale(s.Sale(cleo, s.kind, 700_00).ID)
	s.prepareLevels()
	if got := s.Count("account where level_year is not null"); got != 0 {
		t.Errorf("before the launch, %d customers are counted", got)
	}
	s.launch()
	if got := s.setup(); !got.Frozen || !got.Counting {
		t.Errorf("after the launch: %+v", got.Programme)
	}
	s.Sale(dora, s.kind, 550_00) // while earlier sales are counted
	s.want(dora, "- no end 550/0", "")
	s.count()
	s.want(anna, "Silver 2027-12-31 earned 120/0", "->Silver rules 2027-12-31")
	s.want(bea, "Silver 2027-12-31 earned 266/0", "->Silver rules 2027-12-31")
	s.want(cleo, "- no end 0/0", "")
	s.want(dora, "Gold 2027-12-31 earned 550/0", "->Gold rules 2027-12-31")
	if got := s.setup(); got.Frozen || got.Counting || got.Customers[*s.id("Silver")] != 2 || got.Customers[*s.id("Gold")] != 1 || got.Customers[got.Levels[0].ID] != 1 {
		t.Errorf("then: %+v", got)
	}
	s.launchAgain()
	s.want(anna, "Silver 2027-12-31 earned 120/0", "->Silver rules 2027-12-31")
}

// launchAgain counts once more, which changes nothing.
func (s shop) launchAgain() {
	s.T.Helper()
	s.mustChange(level.Change{On: new(false)})
	s.launch()
	s.count()
}

// The sums of the job are those that sales, refunds and voids keep, whatever raises customers.
func TestCountingAgreesWithSales(t *testing.T) {
	t.Parallel()
	for _, basis := range []award.Basis{award.ByPoints, award.BySpend, award.ByVisits} {
		t.Run(string(basis), func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			rules := yearly()
			rules.Basis, rules.StartsOn = basis, new(date("2025-06-01"))
			s.mustChange(level.Change{Rules: rules})
			s.mustChange(level.Change{Level: levelOf("Gold", 1_000_000, 150)})
			s.launch()
			s.count()
			random := rand.New(rand.NewPCG(7, 40))
			ids := s.AddCustomers(4)
			for _, day := range []string{"2025-12-30", "2026-03-01", "2026-11-21"} {
				then := s.on(day, 12*time.Hour)
				for range 12 {
					sale := then.Sale(ids[random.IntN(len(ids))], s.kind, 1+random.Int64N(90_000))
					switch random.IntN(4) {
					case 0:
						then.VoidSale(sale.ID)
					case 1:
						then.Refund(sale.ID, 1+random.Int64N(sale.SpendAmountCents))
					}
				}
			}
			var kept []string
			for _, id := range ids {
				kept = append(kept, s.level(id))
			}
			s.Exec("update loyalty.account set level_sum = 7, level_sum_before = 7 where tenant_id = $1", s.By.Tenant.ID)
			s.mustChange(level.Change{Level: levelOf("Silver", 999_999, 110)})
			s.count()
			for i, id := range ids {
				if got := s.level(id); got != kept[i] {
					t.Errorf("counted %q, sales kept %q", got, kept[i])
				}
			}
		})
	}
}

// Tills sell, void and refund while the job counts, is killed and runs twice: at the end each sum is that of the sales.
func TestLaunchWhileTillsSell(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ids := s.AddCustomers(7)
	var early []transaction.Transaction
	for _, id := range ids {
		early = append(early, s.Sale(id, s.kind, 90_00))
	}
	s.prepareLevels()
	s.launch()
	var wait sync.WaitGroup
	for n := range 3 {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 40))
			till := shop{s.At(opened), s.kind}
			for i := range 15 {
				id := ids[random.IntN(len(ids))]
				sale := till.Sale(id, s.kind, 1+random.Int64N(40_000))
				switch what := random.IntN(4); {
				case i == 7:
					till.VoidSale(early[n].ID)
				case what == 0:
					till.VoidSale(sale.ID)
				case what == 1:
					till.Refund(sale.ID, 1+random.Int64N(sale.SpendAmountCents))
				}
			}
		})
	}
	by := core.Job(s.By.Tenant, "levels")
	for range 2 {
		wait.Go(func() {
			for range 40 {
				s.letCount()
				_, _ = s.Services.Levels.InBatchesOf(2).CountNext(context.WithoutCancel(t.Context()), by) // it may have to wait for another one
			}
		})
	}
	wait.Wait()
	s.count()
	wrong := shoptest.QueryAll[string](s.Shop, `
		select a.customer_id || ': ' || coalesce(a.level_sum, 0) || ', sales of ' || coalesce(x.sum, 0)
		from loyalty.account a
		left join lateral (
			select sum(floor(coalesce(t.base_award, t.points_awarded)::numeric * (t.spend_amount_cents - t.refunded_cents) / t.spend_amount_cents)) as sum
			from loyalty.transaction t
			where t.tenant_id = a.tenant_id and t.customer_id = a.customer_id and t.status = 'completed'
		) x on true
		where a.tenant_id = $1 and coalesce(a.level_sum, 0) <> coalesce(x.sum, 0)`, s.By.Tenant.ID)
	if len(wrong) > 0 {
		t.Errorf("wrong sums: %q", wrong)
	}
	s.wantChains()
	if got := s.Count("account where level_sum >= 100 and level_id is null"); got != 0 {
		t.Errorf("%d customers have earned a level that they don't have", got)
	}
}

// wantChains checks that each customer's changes follow each other and end in the level that they have.
func (s shop) wantChains() {
	s.T.Helper()
	wrong := shoptest.QueryAll[string](s.Shop, `
		select concat_ws(' ', customer_id, seq, from_level, had, to_level, level_id, reason) from (
			select c.customer_id, c.reason, c.seq, c.from_level, lag(c.to_level) over w as had, c.to_level, a.level_id,
				row_number() over (partition by c.customer_id order by c.seq desc) as nth
			from loyalty.level_change c
			join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.customer_id
			where c.tenant_id = $1
			window w as (partition by c.customer_id order by c.seq)
		) x
		where from_level is distinct from had or nth = 1 and to_level is distinct from level_id`, s.By.Tenant.ID)
	if len(wrong) > 0 {
		s.T.Errorf("chains of changes don't end in the level: %q", wrong)
	}
}

// Counting waits for transactions that are older than the launch: they may record sales by the rules of before.
func TestCountingWaitsForOlderTransactions(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.Customer().ID
	s.prepareLevels()
	writing, written := make(chan bool), make(chan bool)
	ended := make(chan error)
	go func() {
		ended <- db.Run(context.WithoutCancel(t.Context()), s.DB.Tenant(s.By), func(tx *db.Tx) error {
			const touch = "update loyalty.account set entries = entries where tenant_id = @tenant_id and customer_id = @id"
			_, err := db.Exec(t.Context(), tx, touch, db.Args{"id": anna})
			writing <- true
			<-written
			return err
		})
	}()
	<-writing
	s.launch()
	by := core.Job(s.By.Tenant, "levels")
	if _, err := s.Services.Levels.CountNext(t.Context(), by); err != nil {
		t.Fatal(err)
	}
	s.Exec("update loyalty.level_programme set begun_at = $2 where tenant_id = $1", s.By.Tenant.ID, time.Now().Add(2*time.Second))
	if _, err := s.Services.Levels.CountNext(t.Context(), by); !errors.Is(err, level.ErrBusy) {
		t.Errorf("beside an older transaction: %v", err)
	}
	written <- true
	s.Check(<-ended)
	s.count()
}

// A sale raises its customer at once; a void takes that back; two sales that reach a level at once make one change.
func TestRisingAndVoids(t *testing.T) {
	t.Parallel()
	s := withLevels(t)
	anna := s.Customer().ID
	s.Sale(anna, s.kind, 90_00)
	sale := s.Sale(anna, s.kind, 20_00)
	s.want(anna, "Silver 2027-12-31 earned 110/0", "->Silver reached 2027-12-31")
	s.VoidSale(sale.ID)
	s.want(anna, "- no end 90/0", "->Silver reached 2027-12-31, Silver>- void")
	bea := s.Customer().ID
	s.Sale(bea, s.kind, 60_00)
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() { till := s.At(opened); till.Sale(bea, s.kind, 60_00) })
	}
	wait.Wait()
	s.want(bea, "Silver 2027-12-31 earned 180/0", "->Silver reached 2027-12-31")
}

// The year ends at midnight, with the job or without: what a sale shows is the same.
func TestYearChangesWithAndWithoutTheJob(t *testing.T) {
	t.Parallel()
	for _, withJob := range []bool{true, false} {
		t.Run(fmt.Sprintf("job %t", withJob), func(t *testing.T) {
			t.Parallel()
			s := withLevels(t)
			gold, silver := s.Customer().ID, s.Customer().ID
			s.Sale(gold, s.kind, 600_00)
			s.Sale(silver, s.kind, 120_00)
			s.on("2027-06-01", 12*time.Hour).Sale(gold, s.kind, 150_00)
			late := s.on("2027-12-31", 24*time.Hour-30*time.Second)
			late.Sale(silver, s.kind, 10_00)
			if got := late.level(silver); got != "Silver 2027-12-31 earned 10/120" {
				t.Errorf("just before midnight: %s", got)
			}
			year := s.on("2028-01-01", 0)
			if withJob {
				s.Check(year.Services.Levels.InBatchesOf(1).SettleDue(t.Context(), level.Settling{Tenant: s.By.Tenant.ID}))
				year.want(gold, "Silver 2028-12-31 earned 150/600", "->Gold reached 2027-12-31, Gold>Silver dropped 2028-12-31")
				if got := year.Log("level", ""); len(got) == 0 || !strings.Contains(got[len(got)-1], `level.settle - {"kept": 0, "dropped": 2} by levels`) {
					t.Errorf("logged: %q", got)
				}
			}
			for _, id := range []core.ID{gold, silver} {
				rules, err := year.Sales.RulesNow(t.Context(), year.By)
				s.Check(err)
				of, err := year.Services.Levels.Find(t.Context(), year.By, rules.Levels, id)
				s.Check(err)
				if want := map[core.ID]string{gold: "Silver", silver: "Member"}[id]; of.Progress.Level.Name != want {
					t.Errorf("shown: %s, want %s", of.Progress.Level.Name, want)
				}
			}
			year.Sale(gold, s.kind, 1_00)
			year.want(gold, "Silver 2028-12-31 earned 1/150", "->Gold reached 2027-12-31, Gold>Silver dropped 2028-12-31")
			s.Check(year.Services.Levels.SettleDue(t.Context(), level.Settling{Tenant: s.By.Tenant.ID}))
			if got := year.changes(silver); got != "->Silver reached 2027-12-31, Silver>- dropped" {
				t.Errorf("changes of one who drops: %q", got)
			}
			s.wantChains()
		})
	}
}

// The job, sales and voids at midnight: one change a customer.
func TestMidnightJobBesideTills(t *testing.T) {
	t.Parallel()
	s := withLevels(t)
	ids := s.AddCustomers(6)
	for _, id := range ids {
		s.Sale(id, s.kind, 120_00)
	}
	var old []transaction.Transaction
	for _, id := range ids {
		old = append(old, s.on("2027-12-30", 12*time.Hour).Sale(id, s.kind, 5_00))
	}
	year := s.on("2028-01-01", time.Second)
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			w := year.At(year.DB.Now())
			for range 6 {
				_ = w.Services.Levels.InBatchesOf(1).SettleDue(context.WithoutCancel(t.Context()), level.Settling{Tenant: s.By.Tenant.ID}) // it may wait for tills
			}
		})
	}
	for n := range 2 {
		wait.Go(func() {
			till := year.At(year.DB.Now())
			for i := n; i < len(ids); i += 2 {
				till.VoidSale(old[i].ID)
				till.Sale(ids[i], s.kind, 1_00)
			}
		})
	}
	wait.Wait()
	s.Check(year.Services.Levels.SettleDue(t.Context(), level.Settling{Tenant: s.By.Tenant.ID}))
	for _, id := range ids {
		year.want(id, "- no end 1/0", "->Silver reached 2027-12-31, Silver>- dropped")
	}
}

// A raised threshold and a retired level take nothing away before the last day; a lowered one raises at once.
func TestThresholdsChange(t *testing.T) {
	t.Parallel()
	s := withLevels(t)
	anna, bea := s.Customer().ID, s.Customer().ID
	s.Sale(anna, s.kind, 120_00)
	s.Sale(bea, s.kind, 520_00)
	higher := levelOf("Silver", 200, 110)
	higher.ID = *s.id("Silver")
	preview, err := s.Services.Levels.Preview(t.Context(), s.By, level.Change{Level: higher, Version: s.setup().Version})
	if err != nil || preview.Rise != 0 || preview.Short != 1 {
		t.Errorf("preview of a higher threshold: %d rise, %d short, %v", preview.Rise, preview.Short, err)
	}
	s.mustChange(level.Change{Level: higher})
	s.count()
	s.want(anna, "Silver 2027-12-31 earned 120/0", "->Silver reached 2027-12-31")
	s.mustChange(level.Change{Retire: s.id("Gold")})
	s.count()
	s.want(bea, "Gold 2027-12-31 earned 520/0", "->Gold reached 2027-12-31")
	lower := levelOf("Platinum", 110, 200)
	_, err = s.Services.Levels.Preview(t.Context(), s.By, level.Change{Level: lower, Version: s.setup().Version})
	shoptest.WantFields(t, err, core.Fields{"percent": {core.Max(110)}})
	lower.Percent = new(int64(105))
	preview, err = s.Services.Levels.Preview(t.Context(), s.By, level.Change{Level: lower, Version: s.setup().Version})
	if err != nil || preview.Rise != 0 {
		t.Errorf("preview of a level below Silver: %+v, %v", preview, err)
	}
	higher.Threshold = new(int64(50))
	s.mustChange(level.Change{Level: higher})
	cleo := s.Customer().ID
	s.Sale(cleo, s.kind, 60_00)
	s.want(cleo, "Silver 2027-12-31 earned 60/0", "->Silver reached 2027-12-31")
}

// A preview that would count for too long says so, and the change is made all the same.
func TestPreviewsTakeNoLongTime(t *testing.T) {
	t.Parallel()
	own := dbtest.OwnDB(t)
	s := shop{Shop: shoptest.Of(t, own, dbtest.Tenant(t, own)).At(opened)}
	s.kind = s.Points(100)
	s.Sale(s.Customer().ID, s.kind, 120_00)
	s.prepareLevels()
	launch := level.Change{On: new(true), Version: s.setup().Version}
	if p, err := s.Services.Levels.Preview(t.Context(), s.By, launch); err != nil || p.Uncounted || p.Rise != 1 {
		t.Errorf("preview: %+v, %v", p, err)
	}
	locked, err := dbtest.Owner(own).Begin(t.Context())
	s.Check(err)
	_, err = locked.Exec(t.Context(), "lock table loyalty.transaction")
	s.Check(err)
	p, err := s.Services.Levels.PreviewingFor(100*time.Millisecond).Preview(t.Context(), s.By, launch)
	if err != nil || !p.Uncounted || !p.After.Active {
		t.Errorf("preview that takes too long: %+v, %v", p, err)
	}
	s.Check(locked.Rollback(t.Context()))
	s.launch()
}

// A manager sets a level by hand, up or down; a sale raises above it; its last day ends it.
func TestByHand(t *testing.T) {
	t.Parallel()
	s := withLevels(t)
	anna := s.Customer().ID
	manager := s
	manager.Shop = s.As(core.Manager)
	give := func(name string, until *time.Time) error {
		_, err := manager.Services.Levels.Give(t.Context(), manager.By, anna, level.Given{LevelID: *s.id(name), Until: until, Reason: "Regular of many years"}, nil)
		return err
	}
	s.Check(give("Gold", new(date("2026-12-24"))))
	s.want(anna, "Gold 2026-12-24 hand 0/0", "->Gold hand 2026-12-24")
	s.Sale(anna, s.kind, 150_00)
	s.Check(give("Member", nil))
	s.want(anna, "Member 2027-12-31 hand 150/0", "->Gold hand 2026-12-24, Gold>Member hand 2027-12-31")
	s.Sale(anna, s.kind, 1_00)
	s.want(anna, "Member 2027-12-31 hand 151/0", "->Gold hand 2026-12-24, Gold>Member hand 2027-12-31")
	s.Sale(anna, s.kind, 400_00)
	if got := s.level(anna); got != "Gold 2027-12-31 earned 551/0" {
		t.Errorf("after a sale that reaches Gold: %s", got)
	}
	if err := give("Gold", new(date("2026-11-20"))); err == nil {
		t.Error("a level that ended yesterday was given")
	}
	cashier := s.As(core.Cashier)
	_, err := cashier.Services.Levels.Give(t.Context(), cashier.By, anna, level.Given{LevelID: *s.id("Gold"), Reason: "x"}, nil)
	if !core.IsKind(err, core.KindForbidden) {
		t.Errorf("a cashier: %v", err)
	}
	stranger := newShop(t)
	if _, err := stranger.Services.Levels.Give(t.Context(), stranger.By, anna, level.Given{LevelID: *s.id("Gold"), Reason: "x"}, nil); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a stranger: %v", err)
	}
}

// Levels are refused that contradict others; two owners who change them at once don't undo each other.
func TestRefusedLevels(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if _, err := s.change(level.Change{Level: levelOf("Silver", 100, 110)}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a level without a programme: %v", err)
	}
	s.mustChange(level.Change{Rules: yearly()})
	if _, err := s.change(level.Change{On: new(true)}); !errors.Is(err, level.ErrAlone) {
		t.Errorf("a launch of the first level alone: %v", err)
	}
	s.mustChange(level.Change{Level: levelOf("Silver", 100, 110)})
	_, err := s.change(level.Change{Level: levelOf("silver", 100, 1001)})
	shoptest.WantFields(t, err, core.Fields{"name": {core.Duplicate}, "threshold": {core.Duplicate}, "percent": {core.Max(1000)}})
	stale := level.Change{Level: levelOf("Gold", 500, 150), Version: s.setup().Version}
	s.mustChange(level.Change{Level: levelOf("Gold", 400, 150)})
	if _, err := s.Services.Levels.Change(t.Context(), s.By, stale); err == nil {
		t.Error("a change of levels that were changed meanwhile was saved")
	}
	for i := range 7 {
		s.mustChange(level.Change{Level: levelOf(fmt.Sprint("More ", i), 1000+int64(i), 150)})
	}
	if _, err := s.change(level.Change{Level: levelOf("Too many", 5000, 150)}); !errors.Is(err, level.ErrTooMany) {
		t.Errorf("the eleventh level: %v", err)
	}
	if _, err := s.Services.Levels.Change(t.Context(), s.As(core.Manager).By, level.Change{On: new(true)}); !core.IsKind(err, core.KindForbidden) {
		t.Errorf("a manager: %v", err)
	}
	names := []string{}
	for _, l := range s.setup().Levels {
		names = append(names, fmt.Sprint(l.Rank, " ", l.Name))
	}
	if want := []string{"0 Member", "1 Silver", "2 Gold", "3 More 0"}; !slices.Equal(names[:4], want) {
		t.Errorf("levels: %q", names)
	}
}

// The hourly look finds what is to be done once, after expiry, and not while the business is suspended.
func TestWorkIsFoundOnce(t *testing.T) {
	t.Parallel()
	s := withLevels(t)
	s.Sale(s.Customer().ID, s.kind, 120_00)
	year := s.on("2028-01-01", time.Hour)
	mine := func() (kinds []string) {
		queued, err := year.Services.Levels.QueueDue(t.Context())
		s.Check(err)
		for _, q := range queued {
			if d, is := q.(level.Settling); is && d.Tenant == s.By.Tenant.ID {
				kinds = append(kinds, q.Kind())
			}
		}
		return kinds
	}
	if got := mine(); !slices.Equal(got, []string{"settle_levels"}) {
		t.Errorf("found %q", got)
	}
	if got := mine(); got != nil {
		t.Errorf("found again: %q", got)
	}
	s.Exec("insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, begun_at, updated_at) values ($1, 'points', 'after', 12, 'day', now(), now())", s.By.Tenant.ID)
	if err := year.Services.Levels.SettleDue(t.Context(), level.Settling{Tenant: s.By.Tenant.ID}); err == nil {
		t.Error("levels were settled before points expired")
	}
}
