package report_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

func (s shop) visitors(sel report.Selection) report.Visitors {
	s.T.Helper()
	got, err := s.Reports.Visitors(s.T.Context(), s.By, sel)
	s.Check(err)
	return got
}

// counted counts the days that are over, and years.
func (s shop) counted() {
	s.T.Helper()
	var err error
	for range 20 { // a job ends after a while, to be run again
		if err = s.Days.Count(s.T.Context(), daily.Counting{Tenant: s.By.Tenant.ID}); err == nil {
			break
		}
	}
	s.Check(err)
}

// audience returns the customers of an audience from all its pages, each of two.
func (s shop) audience(name daily.Audience) (all []report.Visitor) {
	s.T.Helper()
	p := core.Page{Size: 2}
	for {
		got, err := s.Reports.Audience(s.T.Context(), s.By, name, p)
		s.Check(err)
		all = append(all, got.Items...)
		if got.Next == nil {
			return all
		}
		p.Cursor = got.Next
	}
}

// list is who is in an audience.
func (s shop) list(name daily.Audience) (ids []core.ID) {
	s.T.Helper()
	for _, c := range s.audience(name) {
		ids = append(ids, c.ID)
	}
	return ids
}

// A customer counts once in a range, as first-time or as returning, and once in each of its steps. Compared is the same number of days.
func TestVisitorsCountEachCustomerOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	ida, jo := s.rich().ID, s.rich().ID
	for _, came := range []struct {
		day  string
		who  core.ID
		void bool
	}{
		{day: "2026-02-27 12:00:00", who: ida},
		{day: "2026-03-02 23:59:30", who: ida},
		{day: "2026-03-02 09:00:00", who: ida},
		{day: "2026-03-03 00:00:01", who: jo},
		{day: "2026-03-04 12:00:00", who: jo},
		{day: "2026-03-09 12:00:00", who: ida, void: true},
	} {
		at := s.on(came.day)
		if sold := at.Sale(came.who, at.purchase, 1000); came.void {
			at.VoidSale(sold.ID)
		}
	}
	sel := report.Selection{Range: days(t, "2026-03-02", "2026-03-08")}
	got := s.on("2026-03-20 12:00:00").visitors(sel)
	same(t, "the week", got.Current, report.Attendance{Customers: 2, NewCustomers: 1, Repeat: 2, Visits: 3})
	same(t, "the week before", got.Previous, report.Attendance{Customers: 1, NewCustomers: 1, Visits: 1})
	same(t, "returning", got.Current.Returning(), 1)
	same(t, "4 March, on which Jo returned", got.Buckets[2].Current, report.Attendance{Customers: 1, Repeat: 1, Visits: 1})
	same(t, "after the voided sale", s.on("2026-03-20 12:00:00").visitors(report.Selection{Range: days(t, "2026-03-09", "2026-03-20")}).Current, report.Attendance{})
}

// The day before is compared up to the same time of day. Its day is counted, then changed, and all is as from sales alone.
func TestVisitorsUpToThisTimeOfDay(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	who := map[string]core.ID{}
	for _, came := range []string{
		"2026-04-01 12:00:00 gina", "2026-04-01 13:00:00 fred", "2026-05-30 12:00:00 bo", // who came before
		"2026-06-01 08:00:00 cecil", "2026-06-01 10:10:00 anna", "2026-06-01 10:15:00 gina", "2026-06-01 10:40:00 dora",
		"2026-06-01 10:52:00 dora", "2026-06-01 10:53:00 cecil", "2026-06-01 10:54:00 bea", "2026-06-01 10:57:00 fred", "2026-06-01 10:58:00 bo",
		"2026-06-01 11:30:00 iris",
	} {
		at, name := came[:19], came[20:]
		if _, known := who[name]; !known {
			who[name] = s.on(at).rich().ID
		}
		then := s.on(at)
		then.Sale(who[name], then.purchase, 1000)
	}
	check := func(when string) {
		t.Helper()
		for _, c := range []struct {
			now    string
			before report.Attendance
			lapsed int64 // for 30 days, on the day before
			sales  int64
		}{
			{now: "10:20", before: report.Attendance{Customers: 3, NewCustomers: 2, Repeat: 1, Visits: 3}, lapsed: 1, sales: 3},
			{now: "10:50", before: report.Attendance{Customers: 4, NewCustomers: 3, Repeat: 1, Visits: 4}, lapsed: 1, sales: 4},
			{now: "10:55", before: report.Attendance{Customers: 5, NewCustomers: 4, Repeat: 1, Visits: 5}, lapsed: 1, sales: 7},
			{now: "11:10", before: report.Attendance{Customers: 7, NewCustomers: 4, Repeat: 3, Visits: 7}, sales: 9},
		} {
			at := s.on("2026-06-02 " + c.now + ":00")
			sel := report.Selection{Range: days(t, "2026-06-02", "2026-06-02")}
			got := at.visitors(sel)
			same(t, when+", "+c.now, got.Previous, c.before)
			same(t, when+", lapsed at "+c.now, got.Lapsed[0].Previous, c.lapsed)
			compared, err := at.Reports.Compare(t.Context(), s.By, sel)
			s.Check(err)
			same(t, when+", compared at "+c.now, compared.Previous.ActiveCustomers, c.before.Customers)
			same(t, when+", sales compared at "+c.now, compared.Previous.TransactionsCount, c.sales)
		}
	}
	check("from sales")
	s.on("2026-06-02 02:00:00").counted()
	check("when the day was counted")
	s.on("2026-06-02 09:00:00").VoidSale(s.on("2026-06-01 23:00:00").Sale(who["iris"], s.purchase, 1000).ID)
	check("when it is to be counted again")
}

// Who came up to this time of day isn't counted from sales again: it is kept, also of a day of 25 hours.
func TestVisitorsUpToThisTimeOfDayAreKept(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	for _, shown := range []string{"2026-10-25 08:00:30", "2026-10-25 08:01:30"} {
		then := s.on(shown)
		then.Sale(then.rich().ID, then.purchase, 1000)
	}
	s.on("2026-10-26 02:00:00").counted()
	want := func(when string, customers ...int64) {
		t.Helper()
		for minute, n := range customers {
			now := s.at(s.on("2026-10-26 08:00:00").DB.Now().Add(time.Duration(minute) * time.Minute))
			sel := report.Selection{Range: days(t, "2026-10-26", "2026-10-26")}
			same(t, when, now.visitors(sel).Previous, report.Attendance{Customers: n, NewCustomers: n, Visits: n})
			same(t, when+", compared", now.compare(sel).Previous.ActiveCustomers, n)
		}
	}
	want("by the minute", 0, 1, 2)
	s.Exec("update loyalty.day_visit set came_at = '{0}' where tenant_id = $1 and prior < 'infinity'", s.By.Tenant.ID)
	want("as it was kept", 1, 1, 1)
}

// The month of a first visit is the same from sales of today, whichever visits lie between.
func TestMonthsOfTodaysVisitors(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	joined := s.on("2026-03-01 09:00:00")
	kim, lou, mia := joined.rich().ID, joined.rich().ID, joined.rich().ID
	for _, came := range []struct {
		day string
		who core.ID
	}{
		{"2026-03-05", kim},
		{"2026-04-10", kim},
		{"2026-05-20", kim},
		{"2026-06-02", kim},
		{"2026-05-21", lou},
		{"2026-05-21", lou},
		{"2026-06-02", lou},
		{"2026-05-30", mia},
		{"2026-06-01", mia},
		{"2026-06-01", mia},
		{"2026-06-02", mia},
	} {
		at := s.on(came.day + " 12:00:00")
		at.Sale(came.who, at.purchase, 1000)
	}
	s.on("2026-06-02 03:00:00").counted()
	got := s.on("2026-06-02 18:00:00").visitors(report.Selection{Range: days(t, "2026-05-21", "2026-06-02")})
	same(t, "March", got.Cohorts[8], report.Cohort{Month: *date(t, "2026-03-01"), Customers: 1, Again: []int64{1, 1, 1}})
	same(t, "April", got.Cohorts[9], report.Cohort{Month: *date(t, "2026-04-01"), Again: []int64{0, 0}})
	same(t, "May", got.Cohorts[10], report.Cohort{Month: *date(t, "2026-05-01"), Customers: 2, Again: []int64{2}})
	same(t, "the days", got.Current, report.Attendance{Customers: 3, NewCustomers: 2, Repeat: 3, Visits: 6})
}

// Who lapsed is who came, but not on the last days: with 30 days, on the 31st day. The list is the same as the number, and so is a row
// of the months of first visits.
func TestLapsedCustomersAreListed(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	var who []core.ID
	for _, day := range []string{"2026-01-01 12:00:00", "2026-02-28 23:59:30", "2026-03-01 00:00:00", "2026-03-30 12:00:00"} {
		at := s.on(day)
		who = append(who, at.rich().ID)
		at.Sale(who[len(who)-1], at.purchase, 500)
	}
	at := s.on("2026-03-20 12:00:00")
	at.Sale(who[0], at.purchase, 500)
	_, err := s.Customers.Edit(t.Context(), s.By, who[1], customer.Edit{Status: core.Set(string(customer.Inactive))})
	s.Check(err)
	s = s.on("2026-03-30 18:00:00")

	got := s.visitors(report.Selection{Range: days(t, "2026-03-01", "2026-03-30")})
	same(t, "lapsed", got.Lapsed, []report.LapsedCustomers{{Days: 30, Count: 1, Previous: 1}, {Days: 60}, {Days: 90}})
	same(t, "the list", s.list("lapsed_30"), []core.ID{who[1]})
	later := s.on("2026-04-30 09:00:00")
	same(t, "a month later", later.list("lapsed_30"), []core.ID{who[3], who[0], who[2], who[1]})
	same(t, "its number", later.visitors(report.Selection{}).Lapsed[0].Count, 4)
	at.Refund(at.Sale(who[0], at.purchase, 300).ID, 100)
	figures := later.audience("lapsed_30")[1]
	same(t, "visits and spend of two sales on a day, one of which was refunded in part", []int64{figures.Visits, figures.SpendCents}, []int64{3, 1200})
	profile, err := s.Customers.Profile(t.Context(), s.By, who[0])
	s.Check(err)
	same(t, "those of the profile", []int64{profile.Visits, profile.SpentCents}, []int64{3, 1200})
	march, january := got.Cohorts[11], got.Cohorts[9]
	same(t, "first visits in January", january, report.Cohort{Month: *date(t, "2026-01-01"), Customers: 1, Again: []int64{0, 1}})
	same(t, "first visits in March", march, report.Cohort{Month: *date(t, "2026-03-01"), Customers: 2, Again: []int64{}})

	if _, err := s.Reports.Audience(t.Context(), s.By, "everyone", core.Page{Size: 2}); err != core.ErrNotFound { //nolint:errorlint // as it is
		t.Errorf("an unknown audience = %v", err)
	}
	other := newShop(t, "Europe/Stockholm").on("2026-04-30 09:00:00")
	same(t, "another business's list", other.list("lapsed_30"), nil)
	cashier := s.By
	cashier.Role = core.Cashier
	if _, err := s.Reports.Audience(t.Context(), cashier, "lapsed_30", core.Page{Size: 2}); !core.IsKind(err, core.KindForbidden) {
		t.Errorf("a cashier's list = %v", err)
	}
}

// past is a shop with a random past of more than a year, whose visits the test counts one by one.
type past struct {
	shop
	rng   *rand.Rand
	sales []transaction.Transaction
}

type visits struct {
	days  map[time.Time]bool
	spend int64
	last  time.Time
}

// customers are the visits of each customer, up to a day, of the last n days.
func (p past) customers(asOf time.Time, n int) map[core.ID]*visits {
	p.T.Helper()
	all := map[core.ID]*visits{}
	for _, t := range p.sales {
		now := shoptest.QueryAll[core.ID](p.Shop, "select customer_id from loyalty.transaction where tenant_id = $1 and id = $2 and status = 'completed'", p.By.Tenant.ID, t.ID)
		day := core.DateOf(t.CreatedAt, p.By.Tenant.TimeZone)
		if len(now) == 0 || day.After(asOf) || !day.After(asOf.AddDate(0, 0, -n)) {
			continue
		}
		who := now[0]
		if all[who] == nil {
			all[who] = &visits{days: map[time.Time]bool{}}
		}
		v := all[who]
		v.days[day], v.spend = true, v.spend+t.SpendAmountCents
		if day.After(v.last) {
			v.last = day
		}
	}
	return all
}

func (p past) sameAsOneByOne(t *testing.T) {
	t.Helper()
	today := core.DateOf(p.DB.Now(), p.By.Tenant.TimeZone)
	got := p.visitors(report.Selection{})
	ever := p.customers(today, 10000)
	for _, l := range got.Lapsed {
		var want []core.ID
		for id, v := range ever {
			if v.last.Before(l.Days.Since(today)) {
				want = append(want, id)
			}
		}
		listed := p.list(l.Days.Audience())
		same(t, "lapsed", l.Count, int64(len(want)))
		same(t, "the list of those who lapsed", sorted(listed), sorted(want))
	}
	if got.Groups.AsOf == nil {
		t.Fatal("groups aren't counted")
	}
	asOf := *got.Groups.AsOf
	year := p.customers(asOf, 365)
	var spend int64
	for _, v := range year {
		spend += v.spend
	}
	n := int64(len(year))
	high := (2*spend + n - 1) / n
	same(t, "twice the average", got.Groups.High, high)
	groups := map[daily.Group][]core.ID{}
	for id, v := range year {
		lately, often, much := v.last.After(asOf.AddDate(0, 0, -60)), len(v.days) >= 6, v.spend >= high
		group := daily.Quiet
		switch {
		case lately && often && much:
			group = daily.Best
		case lately && often:
			group = daily.Regulars
		case lately && len(v.days) > 1:
			group = daily.Promising
		case lately:
			group = daily.New
		case often || much:
			group = daily.AtRisk
		}
		groups[group] = append(groups[group], id)
	}
	for _, g := range got.Groups.Groups {
		same(t, "customers in "+string(g.Name), g.Customers, int64(len(groups[g.Name])))
		same(t, "the list of "+string(g.Name), sorted(p.list(daily.Audience(g.Name))), sorted(groups[g.Name]))
	}
	same(t, "customers of all groups", got.Groups.Total.Customers, n)
	same(t, "spend of all groups", got.Groups.Total.SpendCents, spend)
	p.Verify()
}

func sorted(ids []core.ID) []string {
	texts := shoptest.Keys(ids, core.ID.String)
	slices.Sort(texts)
	return texts
}

// Groups and those who lapsed, after a random year, after sales of it were voided and customers merged, also before days are added and others leave months
// later, are the same as counted one by one.
func TestYearsAreExact(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	p := past{shop: shopIn(t, dbtest.OwnDB(t), "Europe/Stockholm"), rng: rand.New(rand.NewPCG(seed, seed))}
	end := p.DB.Now().Add(-100 * 24 * time.Hour)
	p.shop = p.at(end)
	var who []core.ID
	for range 14 {
		who = append(who, p.rich().ID)
	}
	for range 130 {
		n := p.rng.IntN(len(who))
		// Some come all the time, some came long ago, some once.
		from, to := 1+n%4*45, 60+n%5*90
		at := p.at(end.Add(-time.Duration(from+p.rng.IntN(to)) * 24 * time.Hour))
		p.sales = append(p.sales, at.Sale(who[n], at.purchase, int64(100+p.rng.IntN(900)*(1+n%3))))
	}
	p.counted()
	p.sameAsOneByOne(t)
	change := func(merged, kept []core.ID) {
		for range 12 {
			i := p.rng.IntN(len(p.sales))
			if shoptest.Query[string](p.Shop, "select status from loyalty.transaction where tenant_id = $1 and id = $2", p.By.Tenant.ID, p.sales[i].ID) == "completed" {
				p.VoidSale(p.sales[i].ID)
			}
		}
		for i := range merged {
			_, err := core.Result(p.Merging.Merge(t.Context(), p.By, kept[i], merged[i], nil, nil))
			p.Check(err)
		}
	}
	change(who[:3], who[8:])
	p.counted()
	p.sameAsOneByOne(t)
	p.shop = p.at(end.Add(70 * 24 * time.Hour))
	change(who[3:5], who[11:])
	p.counted()
	p.sameAsOneByOne(t)
	p.Exec("update loyalty.tenant set timezone = 'America/New_York' where id = $1", p.By.Tenant.ID)
	p.Shop = p.InZone("America/New_York")
	p.counted()
	p.sameAsOneByOne(t)
}

// No customer has come on days ahead, and those who stopped coming did so as of today. The days between aren't asked for, however many there are.
func TestVisitorsOfDaysAhead(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm")
	anna, bo := s.rich().ID, s.rich().ID
	s.on("2026-03-02 12:00:00").Sale(anna, s.purchase, 1000)
	s.on("2026-06-14 12:00:00").Sale(bo, s.purchase, 1000)
	at := s.on("2026-06-15 12:00:00")
	at.counted()
	today := at.visitors(s.selection(t, "2026-06-15", "2026-06-15"))
	same(t, "stopped coming by today", today.Lapsed, []report.LapsedCustomers{{Days: 30, Count: 1, Previous: 1}, {Days: 60, Count: 1, Previous: 1}, {Days: 90, Count: 1, Previous: 1}})
	for _, r := range [][2]string{{"2026-06-16", "2026-06-30"}, {"2026-12-01", "2027-11-30"}, {"9999-12-01", "9999-12-31"}} {
		sel := s.selection(t, r[0], r[1])
		ahead := at.visitors(sel)
		same(t, r[0]+" as of", ahead.AsOf, today.AsOf)
		same(t, r[0]+" who came", ahead.Current, report.Attendance{})
		same(t, r[0]+" stopped coming", ahead.Lapsed, today.Lapsed)
		same(t, r[0]+" months of first visits", ahead.Cohorts, today.Cohorts)
		asked, err := at.Reports.VisitDays(s.By, sel)
		s.Check(err)
		if asked > 400 { // twelve months
			t.Errorf("%s: %d days are asked for", r[0], asked)
		}
	}
}
