package report_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/shoptest"
)

func (s shop) earning(sel report.Selection) report.Earning {
	s.T.Helper()
	got, err := s.Reports.Earning(s.T.Context(), s.By, sel)
	s.Check(err)
	return got
}

// tuesdays are the afternoons of the first promotion of most tests: 2 June 2026 is a Tuesday.
var tuesdays = []award.Window{{Days: []award.Weekday{2}, From: 14 * 60, To: 17 * 60}}

// "Of a capped award, reports count the base first, then the promotion, then the level." Voided sales
// count nowhere, refunds take nothing off, and each rule has the sales to which it gave something.
func TestEarningByRule(t *testing.T) {
	t.Parallel()
	s, neighbour := newShop(t, "Europe/Stockholm").on("2026-06-01 12:00:00"), newShop(t, "Europe/Stockholm").on("2026-06-01 12:00:00")
	happy := s.Promote(award.Promotion{Name: "Double Tuesdays", Percent: new(int64(200)), Windows: tuesdays})
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime}, award.Level{Name: "First"}, award.Level{Name: "Silver", Threshold: 1, Percent: 150})
	s.Cap(new(int64(300)), nil)
	afternoon, evening := s.on("2026-06-02 15:00:00"), s.on("2026-06-02 18:00:00")
	anna, bo, carl := s.Customer(), s.Customer(), s.Customer()
	afternoon.Sale(anna.ID, s.purchase, 100) // earns 200
	afternoon.Sale(anna.ID, s.purchase, 50)  // 50, 50 and 25, of which the cap leaves 100
	bought := evening.Sale(bo.ID, s.purchase, 200)
	evening.Refund(bought.ID, 50)
	evening.VoidSale(evening.Sale(bo.ID, s.purchase, 40).ID)
	returned := evening.Sale(bo.ID, s.purchase, 30)
	evening.Refund(returned.ID, 20)
	evening.Refund(returned.ID, 10)
	evening.Sale(carl.ID, s.purchase, 10)
	evening.Sale(carl.ID, s.purchase, 10) // 10 and 5
	evening.Sale(anna.ID, s.coffee, 300)
	neighbour.Promote(award.Promotion{Name: "Neighbour's", Percent: new(int64(200))})
	neighbour.on("2026-06-02 15:00:00").Sale(neighbour.Customer().ID, neighbour.purchase, 7_000)

	later := s.on("2026-06-03 12:00:00")
	got := later.earning(s.selection(t, "2026-06-02", "2026-06-02"))
	if !got.HasRules {
		t.Error("the business has no rules")
	}
	same(t, "rules", got.Units, []report.UnitEarning{
		{
			Unit: ledger.Points, Total: report.RuleEarning{Kind: report.AllRules, TransactionsCount: 6, SpendTotalCents: 400, Awarded: 570},
			Rules: []report.RuleEarning{
				{Kind: report.OfTypes, TransactionsCount: 6, SpendTotalCents: 400, Awarded: 400},
				{Kind: report.OfPromotion, ID: &happy, Name: new("Double Tuesdays"), TransactionsCount: 2, SpendTotalCents: 150, Awarded: 150},
				{Kind: report.OfLevel, ID: &levels[1], Name: new("Silver"), TransactionsCount: 3, SpendTotalCents: 90, Awarded: 20},
			},
			CappedSales: 1, CappedOff: 25,
		},
		{
			Unit: ledger.Stamps, Total: report.RuleEarning{Kind: report.AllRules, TransactionsCount: 1, SpendTotalCents: 300, Awarded: 1},
			Rules: []report.RuleEarning{{Kind: report.OfTypes, TransactionsCount: 1, SpendTotalCents: 300, Awarded: 1}},
		},
	})

	next := later.earning(s.selection(t, "2026-06-03", "2026-06-03"))
	same(t, "the day after, compared", *next.Against, report.Period{From: *date(t, "2026-06-02"), To: *date(t, "2026-06-02")})
	if len(next.Units) > 0 {
		t.Errorf("up to noon, there were no sales on either day: %+v", next.Units)
	}
	over := s.on("2026-06-04 12:00:00").earning(s.selection(t, "2026-06-03", "2026-06-03")).Units[0]
	wants := map[report.RuleKind]int64{report.OfTypes: 400, report.OfPromotion: 150, report.OfLevel: 20}
	for _, r := range over.Rules {
		if r.Awarded != 0 || r.PreviousAwarded != wants[r.Kind] {
			t.Errorf("compared with the whole day before, %s is %+v", r.Kind, r)
		}
	}
	if over.Total.PreviousAwarded != 570 {
		t.Errorf("in all before: %d", over.Total.PreviousAwarded)
	}
	none := newShop(t, "UTC")
	if e := none.earning(none.selection(t, "2026-06-02", "2026-06-02")); e.HasRules || len(e.Units)+len(e.Hours)+len(e.Levels) > 0 {
		t.Errorf("a business without rules: %+v", e)
	}
}

// weeks records sales on three Tuesdays: two before a promotion began and one after, in its hours and in others.
func (s shop) weeks() {
	anna := s.on("2026-05-18 12:00:00").Customer()
	for when, cents := range map[string][]int64{
		"2026-05-18 15:00:00": {1},        // a Monday
		"2026-05-19 14:00:00": {100},      // the first instant of a window
		"2026-05-19 17:00:00": {200, 300}, // the first after one
		"2026-05-26 16:59:30": {400},
		"2026-06-02 13:59:30": {500},
		"2026-06-02 14:00:00": {600, 700, 800},
		"2026-06-03 15:00:00": {2}, // a Wednesday
	} {
		for _, amount := range cents {
			s.on(when).Sale(anna.ID, s.purchase, amount)
		}
	}
}

// "Tuesdays 14–17: 12 sales a day, before 9": a promotion's hours are compared with others of the same weekdays, and with the four
// weeks before it began, as far as the business had sales.
func TestHoursOfAPromotion(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-05-30 12:00:00")
	s.weeks()
	id := s.Promote(award.Promotion{Name: "Double Tuesdays", Percent: new(int64(200)), Windows: tuesdays, StartsOn: *date(t, "2026-05-20")})
	s.Promote(award.Promotion{Name: "Stamps", Unit: ledger.Stamps, Percent: new(int64(200)), Windows: tuesdays})
	s.EndPromotion(s.Promote(award.Promotion{Name: "Off", Percent: new(int64(200)), Windows: tuesdays}))
	s.Promote(award.Promotion{Name: "Always", Percent: new(int64(150))})
	s.Promote(award.Promotion{Name: "Later", Percent: new(int64(200)), Windows: tuesdays, StartsOn: *date(t, "2026-06-10")})
	june := s.selection(t, "2026-05-20", "2026-06-09")
	got := s.on("2026-06-09 15:00:00").earning(june) // a Tuesday that isn't over
	var shown []string
	for _, h := range got.Hours {
		shown = append(shown, h.Name)
	}
	same(t, "compared, those that began last first", shown, []string{"Stamps", "Double Tuesdays"})
	h := got.Hours[1]
	if h.ID != id || !h.Since.Equal(*date(t, "2026-05-30")) {
		t.Errorf("it counts since %s, want the day on which it was added", h.Since)
	}
	same(t, "in its hours", h.Inside, report.HourFigures{Days: 1, TransactionsCount: 3, SpendTotalCents: 2_100})
	same(t, "in other hours", h.Outside, report.HourFigures{Days: 1, TransactionsCount: 1, SpendTotalCents: 500})
	same(t, "in these hours before", h.InsideBefore, report.HourFigures{Days: 2, TransactionsCount: 2, SpendTotalCents: 500})
	same(t, "in other hours before", h.OutsideBefore, report.HourFigures{Days: 2, TransactionsCount: 2, SpendTotalCents: 500})
	same(t, "sales of the other unit", got.Hours[0].Inside, report.HourFigures{Days: 1})
	if early := s.on("2026-06-02 15:00:00").earning(june); len(early.Hours) != 0 {
		t.Errorf("before its first day is over: %+v", early.Hours)
	}
}

// A window over midnight belongs to the day on which it begins, and an hour that clocks show twice counts twice.
func TestHoursOverMidnightAndAChangeOfClocks(t *testing.T) {
	t.Parallel()
	s := newShop(t, "Europe/Stockholm").on("2026-10-01 12:00:00")
	saturdays := []award.Window{{Days: []award.Weekday{6}, From: 22 * 60, To: 2*60 + 30}}
	s.Promote(award.Promotion{Percent: new(int64(200)), Windows: saturdays})
	anna := s.Customer()
	// On Sunday, 25 October, clocks show 02:00 to 03:00 twice.
	second := time.Date(2026, 10, 25, 1, 15, 0, 0, time.UTC)
	for _, at := range []shop{
		s.on("2026-10-24 00:15:00"), s.on("2026-10-24 21:59:30"), s.on("2026-10-24 22:00:00"), s.on("2026-10-25 02:15:00"), s.at(second),
		s.on("2026-10-25 02:45:00"), s.on("2026-10-25 04:00:00"),
	} {
		at.Sale(anna.ID, s.purchase, 100)
	}
	got := s.on("2026-10-27 12:00:00").earning(s.selection(t, "2026-10-24", "2026-10-25")).Hours[0]
	same(t, "inside", got.Inside, report.HourFigures{Days: 1, TransactionsCount: 3, SpendTotalCents: 300})
	same(t, "outside", got.Outside, report.HourFigures{Days: 1, TransactionsCount: 2, SpendTotalCents: 200})
	same(t, "before", got.InsideBefore, report.HourFigures{})
}

// A level is that which awards know, also before the job of the night, and moves are those of the range.
func TestCustomersByLevel(t *testing.T) {
	t.Parallel()
	s, neighbour := newShop(t, "Europe/Stockholm").on("2026-05-01 12:00:00"), newShop(t, "Europe/Stockholm").on("2026-05-01 12:00:00")
	rules := award.LevelRules{Basis: award.BySpend, Period: award.ByYear, Drops: true}
	all := []award.Level{{Name: "First"}, {Name: "Silver", Threshold: 100}, {Name: "Gold", Threshold: 300}}
	s.Levels(rules, all...)
	neighbour.Levels(rules, all...)
	anna, bo, carl := s.Customer(), s.Customer(), s.Customer()
	s.Customer()
	s.Sale(anna.ID, s.purchase, 150)
	june := s.on("2026-06-02 12:00:00")
	june.Sale(anna.ID, s.purchase, 200)
	june.Sale(bo.ID, s.purchase, 120)
	june.Sale(carl.ID, s.purchase, 10)
	neighbour.on("2026-06-02 12:00:00").Sale(neighbour.Customer().ID, neighbour.purchase, 500)

	customers := func(e report.Earning) (n []int64) {
		for _, l := range e.Levels {
			n = append(n, l.Customers)
		}
		return n
	}
	got := june.earning(s.selection(t, "2026-06-01", "2026-06-30"))
	same(t, "customers", customers(got), []int64{2, 1, 1})
	same(t, "moves", []map[award.Reason]int64{got.Levels[0].Moves, got.Levels[1].Moves, got.Levels[2].Moves}, []map[award.Reason]int64{
		nil, {award.Rose: 1}, {award.Rose: 1},
	})
	may := june.earning(s.selection(t, "2026-05-01", "2026-05-31"))
	same(t, "moves of May", may.Levels[1].Moves, map[award.Reason]int64{award.Rose: 1})
	same(t, "after the end of next year, before the job of that night", customers(s.on("2028-01-01 00:00:30").earning(june.selection(t, "2026-06-01", "2026-06-30"))), []int64{4, 0, 0})
	s.Exec("update loyalty.level set threshold = 10 where tenant_id = $1 and name = 'Silver'", s.By.Tenant.ID)
	same(t, "with a lower threshold", customers(june.earning(june.selection(t, "2026-06-01", "2026-06-30"))), []int64{1, 2, 1})
	kiosk := s.place("Kiosk")
	at := s.selection(t, "2026-06-01", "2026-06-30")
	at.Location = &kiosk
	if e := june.earning(at); len(e.Levels) > 0 {
		t.Errorf("of a location: %+v", e.Levels)
	}
}

// stored is a sale as the table has it.
type storedSale struct {
	at                     time.Time
	unit                   string
	award, base, promotion int64
	level                  int64
	promotionID            *int64
	levelID, place         *int64
	kind                   int64
	spend                  int64
	capped, completed      bool
}

func (s shop) storedSales() (all []storedSale) {
	s.T.Helper()
	const columns = `(extract(epoch from created_at) * 1000)::bigint, coalesce(points_awarded, stamps_awarded), coalesce(base_award, points_awarded, stamps_awarded),
		coalesce(promotion_award, 0), coalesce(level_award, 0), spend_amount_cents, transaction_type_id, coalesce(promotion_id, 0), coalesce(level_id, 0),
		coalesce(location_id, 0), (status = 'completed')::int::bigint, coalesce(capped, false)::int::bigint, (rule_type = 'points')::int::bigint`
	some := func(n int64) *int64 {
		if n == 0 {
			return nil
		}
		return &n
	}
	for _, c := range shoptest.QueryAll[[]int64](s.Shop, "select array["+columns+"] from loyalty.transaction where tenant_id = $1", s.By.Tenant.ID) {
		one := storedSale{
			at: time.UnixMilli(c[0]).In(s.By.Tenant.TimeZone), unit: "stamps", award: c[1], base: c[2], promotion: c[3], level: c[4], spend: c[5], kind: c[6],
			promotionID: some(c[7]), levelID: some(c[8]), place: some(c[9]), completed: c[10] == 1, capped: c[11] == 1,
		}
		if c[12] == 1 {
			one.unit = "points"
		}
		all = append(all, one)
	}
	return all
}

// parts are what is left of the parts after a cap, in their order.
func (one storedSale) parts() (base, promotion, level int64) {
	left := one.award
	take := func(part int64) int64 {
		taken := min(part, left)
		left -= taken
		return taken
	}
	return take(one.base), take(one.promotion), take(one.level)
}

// Random sales with promotions, levels and a cap: each figure is what counting the stored sales one by one gives, in all and of a
// location, and the rules add up to what other reports say was issued.
func TestEarningIsWhatSalesSay(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	s := newShop(t, "Europe/Stockholm").on("2026-10-05 00:00:00")
	kiosk, hall := s.place("Kiosk"), s.place("Hall")
	s.Levels(award.LevelRules{Basis: award.ByPoints, Period: award.ByYear, Drops: true}, award.Level{Name: "First"}, award.Level{Name: "Silver", Threshold: 500, Percent: 125}, award.Level{Name: "Gold", Threshold: 1_500, Percent: 200})
	s.Cap(new(int64(2_000)), new(int64(2)))
	nights := []award.Window{{Days: []award.Weekday{5, 6}, From: 20 * 60, To: 3 * 60}, {Days: []award.Weekday{1}, From: 9 * 60, To: 0}}
	promotions := []award.Promotion{
		{Name: "Nights", Percent: new(int64(200)), Windows: nights, StartsOn: *date(t, "2026-10-12"), EndsOn: date(t, "2026-10-26")},
		{Name: "Kiosk", Extra: new(int64(70)), Windows: tuesdays, LocationIDs: []int64{kiosk}, StartsOn: *date(t, "2026-10-20")},
		{Name: "Stamps", Unit: ledger.Stamps, Extra: new(int64(1)), TypeIDs: []int64{s.coffee.ID}},
	}
	for i := range promotions {
		promotions[i].ID = s.Promote(promotions[i])
	}
	buyers := s.AddCustomers(6)
	first := s.DB.Now()
	s.on("2026-10-17 01:00:00").Sale(buyers[0], s.purchase, 500)
	for range 160 {
		at, kind := s.at(first.Add(time.Duration(rng.Int64N(int64(28*24*time.Hour))))), s.purchase
		if rng.IntN(4) == 0 {
			kind = s.coffee
		}
		var made core.ID
		amount := rng.Int64N(8) * 100
		if places := []int64{kiosk, hall}; rng.IntN(3) > 0 {
			made = at.soldAt(places[rng.IntN(2)], buyers[rng.IntN(len(buyers))], kind, amount).ID
		} else {
			made = at.Sale(buyers[rng.IntN(len(buyers))], kind, amount).ID
		}
		switch rng.IntN(8) {
		case 0:
			at.VoidSale(made)
		case 1:
			if amount > 0 {
				at.Refund(made, amount/2)
				if rng.IntN(2) == 0 {
					at.Refund(made, amount-amount/2)
				}
			}
		}
	}
	now := s.on("2026-11-02 12:00:00")
	sales := s.storedSales()
	from, to := *date(t, "2026-10-17"), *date(t, "2026-10-30") // from a Saturday, in a night that began before
	half := award.Promotion{Name: "Half past", Percent: new(int64(300)), Windows: []award.Window{{Days: []award.Weekday{2, 4}, From: 9*60 + 30, To: 12 * 60}}, StartsOn: *date(t, "2026-10-26")}
	for _, place := range []*int64{nil, &kiosk} {
		sel := s.selection(t, "2026-10-17", "2026-10-30")
		sel.Location = place
		got := now.earning(sel)
		checkRules(t, got, sales, from, to, place)
		summary, err := now.Reports.Compare(t.Context(), s.By, sel)
		s.Check(err)
		for _, u := range got.Units {
			if want := map[ledger.Unit]int64{ledger.Points: summary.Current.PointsAwarded, ledger.Stamps: summary.Current.StampsAwarded}[u.Unit]; u.Total.Awarded != want {
				t.Errorf("the rules gave %d %s, and the summary says %d", u.Total.Awarded, u.Unit, want)
			}
		}
		checkHours(t, got, sales, promotions, from, to, place)

		// A window that ends within an hour has all of them counted from sales.
		half.ID = s.Promote(half)
		checkHours(t, now.earning(sel), sales, append(slices.Clip(promotions), half), from, to, place)
		s.EndPromotion(half.ID)
	}
}

func checkRules(t *testing.T, got report.Earning, sales []storedSale, from, to time.Time, place *int64) {
	t.Helper()
	type key struct {
		unit string
		kind report.RuleKind
		id   int64
	}
	type sums struct{ sales, spend, awarded int64 }
	want, capped := map[key]sums{}, map[string][2]int64{}
	for _, one := range sales {
		day := core.DateOf(one.at, one.at.Location())
		if !one.completed || day.Before(from) || day.After(to) || place != nil && core.OrZero(one.place) != *place {
			continue
		}
		add := func(kind report.RuleKind, id, awarded int64) {
			k := key{one.unit, kind, id}
			w := want[k]
			want[k] = sums{w.sales + 1, w.spend + one.spend, w.awarded + awarded}
		}
		base, promotion, level := one.parts()
		add(report.AllRules, 0, one.award)
		add(report.OfTypes, 0, base)
		if one.promotionID != nil {
			add(report.OfPromotion, *one.promotionID, promotion)
		}
		if one.levelID != nil {
			add(report.OfLevel, *one.levelID, level)
		}
		if one.capped {
			c := capped[one.unit]
			capped[one.unit] = [2]int64{c[0] + 1, c[1] + one.base + one.promotion + one.level - one.award}
		}
	}
	for _, u := range got.Units {
		var added int64
		for i, r := range append(slices.Clone(u.Rules), u.Total) {
			k := key{string(u.Unit), r.Kind, core.OrZero(r.ID)}
			if w := want[k]; w != (sums{r.TransactionsCount, r.SpendTotalCents, r.Awarded}) {
				t.Errorf("%v is %+v, want %+v", k, r, w)
			}
			delete(want, k)
			if i < len(u.Rules) {
				added += r.Awarded
			}
		}
		if added != u.Total.Awarded {
			t.Errorf("the rules of %s add up to %d, not to %d", u.Unit, added, u.Total.Awarded)
		}
		if c := capped[string(u.Unit)]; c != [2]int64{u.CappedSales, u.CappedOff} {
			t.Errorf("caps took %d of %d sales of %s, want %v", u.CappedOff, u.CappedSales, u.Unit, c)
		}
	}
	if len(want) > 0 {
		t.Errorf("not reported: %+v", want)
	}
}

func checkHours(t *testing.T, got report.Earning, sales []storedSale, promotions []award.Promotion, from, to time.Time, place *int64) {
	t.Helper()
	timed := 0
	for _, p := range promotions {
		if len(p.Windows) > 0 {
			timed++
		}
	}
	if len(got.Hours) != timed {
		t.Fatalf("%d promotions with hours are compared", len(got.Hours))
	}
	for _, h := range got.Hours {
		p := promotions[slices.IndexFunc(promotions, func(p award.Promotion) bool { return p.ID == h.ID })]
		want := report.PromotionHours{Promotion: h.Promotion, Since: p.StartsOn}
		start, end, before := from, to, p.StartsOn.AddDate(0, 0, -28)
		if p.EndsOn != nil && p.EndsOn.Before(end) {
			end = *p.EndsOn
		}
		if p.StartsOn.After(start) {
			start = p.StartsOn
		}
		if opened := core.DateOf(firstSale(sales), sales[0].at.Location()); opened.After(before) {
			before = opened
		}
		for _, f := range []struct {
			from, to        time.Time
			inside, outside *report.HourFigures
		}{{start, end, &want.Inside, &want.Outside}, {before, p.StartsOn.AddDate(0, 0, -1), &want.InsideBefore, &want.OutsideBefore}} {
			for day := f.from; !day.After(f.to); day = day.AddDate(0, 0, 1) {
				if slices.ContainsFunc(p.Windows, func(w award.Window) bool { return slices.Contains(w.Days, award.WeekdayOf(day)) }) {
					f.inside.Days, f.outside.Days = f.inside.Days+1, f.outside.Days+1
				}
			}
			for _, one := range sales {
				if !one.completed || one.unit != string(p.Unit) && (p.Unit != "" || one.unit != "points") || place != nil && core.OrZero(one.place) != *place ||
					p.LocationIDs != nil && !slices.Contains(p.LocationIDs, core.OrZero(one.place)) {
					continue
				}
				day, inside, has := dayOfWindow(p, one.at)
				if !has || day.Before(f.from) || day.After(f.to) {
					continue
				}
				to := f.outside
				if inside {
					to = f.inside
				}
				to.TransactionsCount, to.SpendTotalCents = to.TransactionsCount+1, to.SpendTotalCents+one.spend
			}
		}
		same(t, h.Name, h, want)
	}
}

func firstSale(sales []storedSale) time.Time {
	return slices.MinFunc(sales, func(a, b storedSale) int { return a.at.Compare(b.at) }).at
}

// dayOfWindow returns the day to which an instant belongs, of a window or else of the calendar, or false on other weekdays.
func dayOfWindow(p award.Promotion, at time.Time) (day time.Time, inside, has bool) {
	today, minute := core.DateOf(at, at.Location()), at.Hour()*60+at.Minute()
	yesterday := today.AddDate(0, 0, -1)
	for _, w := range p.Windows {
		ends := int(w.To)
		if ends == 0 {
			ends = 24 * 60
		}
		for _, d := range w.Days {
			overnight := ends < int(w.From)
			switch {
			case award.WeekdayOf(today) == d && minute >= int(w.From) && (overnight || minute < ends):
				return today, true, true
			case award.WeekdayOf(yesterday) == d && overnight && minute < ends:
				return yesterday, true, true
			}
			has = has || award.WeekdayOf(today) == d
		}
	}
	return today, false, has
}
