package promotion_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business whose promotions are tested.
type shop struct {
	shoptest.Shop
	*promotion.Service
}

func newShop(t *testing.T) shop {
	t.Helper()
	s := shoptest.New(t)
	return shop{s, s.Promotions}
}

func day(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return d
}

// double is twice the points from the first day of 2020 on.
func double() award.Promotion {
	return award.Promotion{
		Name: "Double points", Unit: ledger.Points, Percent: new(int64(200)), StartsOn: day("2020-01-01"), Audience: award.Everyone, Windows: []award.Window{},
	}
}

func (s shop) add(p award.Promotion) promotion.Promotion {
	s.T.Helper()
	added, err := core.Result(s.Add(s.T.Context(), s.By, promotion.New{Promotion: p}, nil))
	s.Check(err)
	return added
}

func (s shop) addCategory(name string, codes ...string) promotion.Category {
	s.T.Helper()
	c, err := core.Result(s.AddCategory(s.T.Context(), s.By, promotion.NewCategory{Name: name, Codes: codes}, nil))
	s.Check(err)
	return c
}

// earns records a sale of 10.00 and returns what it earned.
func (s shop) earns(kind transaction.Type, items ...award.Item) int64 {
	s.T.Helper()
	sale, err := core.Result(s.Sales.Record(s.T.Context(), s.By, transaction.Sale{
		CustomerID: s.Customer().ID, TransactionTypeID: kind.ID, SpendAmountCents: 1000, Items: items, Source: transaction.Panel,
	}, nil, nil))
	s.Check(err)
	return sale.Award()
}

func second[T any](_ T, err error) error { return err }

// A promotion that is added, edited or deactivated counts for the next sale of every process.
func TestTheNextSaleEarnsByAnEdit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	elsewhere := shop{s.Later(0), s.Promotions}
	points := s.Points(100)
	want := func(n int64) {
		t.Helper()
		if here, there := s.earns(points), elsewhere.earns(points); here != n || there != n {
			t.Errorf("sales earn %d and %d, want %d", here, there, n)
		}
	}
	want(10)
	p := s.add(double())
	want(20)
	p = s.one(s.Edit(t.Context(), s.By, p.ID, promotion.Edit{Percent: core.Optional[int64]{Set: true}, Extra: core.Set(int64(7))}))
	if p.Percent != nil || *p.Extra != 7 || p.Name != "Double points" {
		t.Errorf("edited to %+v", p)
	}
	want(17)
	s.one(s.SetActive(t.Context(), s.By, p.ID, false))
	want(10)
}

// one is a promotion that an edit returned.
func (s shop) one(p promotion.Promotion, err error) promotion.Promotion {
	s.T.Helper()
	s.Check(err)
	return p
}

// Every field is read back as it was stored, and its edits are in the audit log with the names of what it is about.
func TestAPromotionIsReadBack(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cakes := s.addCategory("Cakes", "cake")
	soder, err := core.Result(s.Locations.Add(t.Context(), s.By, location.New{Name: "Söder"}, nil))
	s.Check(err)
	want := double()
	want.TypeIDs, want.LocationIDs, want.CategoryIDs = []int64{s.Points(100).ID}, []int64{soder.ID}, []int64{cakes.ID}
	want.MinSpendCents, want.EndsOn = 500, new(day("2027-03-31"))
	want.Windows = []award.Window{{Days: []award.Weekday{2, 5}, From: 16 * 60, To: 18 * 60}, {Days: []award.Weekday{6}, From: 22 * 60, To: 2 * 60}}
	want.Audience, want.BirthdayDays = award.OnBirthday, new(7)
	want.LimitTimes, want.LimitPer = new(int64(1)), new(award.PerDay)
	added := s.add(want)
	want.ID = added.ID
	found := s.one(s.Find(t.Context(), s.By, added.ID))
	if diff := cmp.Diff(want, found.Promotion); diff != "" || !found.Active {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	edited := s.one(s.Edit(t.Context(), s.By, added.ID, promotion.Of(double())))
	want = double()
	want.ID = added.ID
	if diff := cmp.Diff(want, edited.Promotion); diff != "" {
		t.Errorf("edited (-want +got):\n%s", diff)
	}
	log := s.Log("promotion", added.ID)
	if len(log) != 2 || !strings.Contains(log[0], `"categories": ["Cakes"]`) || !strings.Contains(log[0], `"Tue, Fri 16:00–18:00"`) || !strings.Contains(log[1], `promotion.edit`) {
		t.Errorf("the audit log has %q", log)
	}
}

// The list has the state of each promotion on the local day.
func TestPromotionsByState(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s = shop{s.At(time.Date(2026, 11, 27, 23, 30, 0, 0, time.UTC)), s.Promotions} // the 28th in Stockholm
	s.Service = s.Promotions
	with := func(name, from, to string) int64 {
		p := double()
		p.Name, p.StartsOn = name, day(from)
		if to != "" {
			p.EndsOn = new(day(to))
		}
		return s.add(p).ID
	}
	with("today", "2026-11-28", "2026-11-28")
	with("always", "2020-01-01", "")
	with("tomorrow", "2026-11-29", "")
	with("yesterday", "2026-11-01", "2026-11-27")
	s.one(s.SetActive(t.Context(), s.By, with("off", "2020-01-01", ""), false))
	for state, want := range map[promotion.State]string{"": "off yesterday tomorrow always today", "now": "always today", "upcoming": "tomorrow", "ended": "yesterday", "off": "off"} {
		var filter *string
		if state != "" {
			filter = new(string(state))
		}
		var names []string
		for _, p := range shoptest.Walk(t, 2, func(p core.Page) (core.List[promotion.Promotion], error) { return s.List(t.Context(), s.By, filter, p) }) {
			names = append(names, p.Name)
			if state != "" && p.State(day("2026-11-28")) != state {
				t.Errorf("%s is %s, want %s", p.Name, p.State(day("2026-11-28")), state)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q are %q, want %q", state, got, want)
		}
	}
	shoptest.WantFields(t, second(s.List(t.Context(), s.By, new("x"), core.Page{Size: 10})), core.Fields{"state": {core.InvalidChoice}})
	between, err := s.Between(t.Context(), s.By, day("2026-11-01"), day("2026-11-27"))
	if err != nil || len(between) != 2 || between[0].Name != "always" || between[1].Name != "yesterday" {
		t.Errorf("between: %v, %v", between, err)
	}
}

// Refusals name the field, and records of another business are like missing ones.
func TestPromotionsAreRefused(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	stamps := s.Stamps().ID
	cakes, soder := stranger.addCategory("Cakes"), stranger.Points(100).ID
	window := func(w award.Window) func(*award.Promotion) {
		return func(p *award.Promotion) { p.Windows = []award.Window{w} }
	}
	for name, c := range map[string]struct {
		change func(*award.Promotion)
		want   core.Fields
	}{
		"nothing":        {func(p *award.Promotion) { *p = award.Promotion{} }, core.Fields{"name": {core.Required}, "unit": {core.InvalidChoice}, "percent": {core.Required}, "starts_on": {core.Required}, "audience": {core.InvalidChoice}}},
		"name":           {func(p *award.Promotion) { p.Name = strings.Repeat("x", 101) }, core.Fields{"name": {core.MaxLength(100)}}},
		"too little":     {func(p *award.Promotion) { p.Percent = new(int64(100)) }, core.Fields{"percent": {core.Min(101)}}},
		"too much":       {func(p *award.Promotion) { p.Percent = new(int64(1001)) }, core.Fields{"percent": {core.Max(1000)}}},
		"both":           {func(p *award.Promotion) { p.Extra = new(int64(5)) }, core.Fields{"extra": {promotion.EitherGives}}},
		"no extra":       {func(p *award.Promotion) { p.Percent, p.Extra = nil, new(int64(0)) }, core.Fields{"extra": {core.Min(1)}}},
		"ends before":    {func(p *award.Promotion) { p.EndsOn = new(day("2019-12-31")) }, core.Fields{"ends_on": {core.AfterOrEqual("starts_on")}}},
		"no days":        {window(award.Window{From: 60, To: 120}), core.Fields{"windows.0.days": {core.Required}}},
		"day 8":          {window(award.Window{Days: []award.Weekday{8}, From: 60, To: 120}), core.Fields{"windows.0.days": {core.InvalidChoice}}},
		"same times":     {window(award.Window{Days: []award.Weekday{1}, From: 60, To: 60}), core.Fields{"windows.0.to": {promotion.SameTimes}}},
		"15 windows":     {func(p *award.Promotion) { p.Windows = make([]award.Window, 15) }, core.Fields{"windows": {core.MaxItems(14)}}},
		"other unit":     {func(p *award.Promotion) { p.TypeIDs = []int64{stamps} }, core.Fields{"type_ids": {promotion.OtherUnit}}},
		"stranger's":     {func(p *award.Promotion) { p.TypeIDs, p.CategoryIDs = []int64{soder}, []int64{cakes.ID} }, core.Fields{"type_ids": {core.InvalidChoice}, "category_ids": {core.InvalidChoice}}},
		"no location":    {func(p *award.Promotion) { p.LocationIDs = []int64{1 << 60} }, core.Fields{"location_ids": {core.InvalidChoice}}},
		"no level":       {func(p *award.Promotion) { p.Audience = award.AtLevel }, core.Fields{"level_id": {core.Required}}},
		"unknown level":  {func(p *award.Promotion) { p.Audience, p.LevelID = award.AtLevel, new(int64(1<<60)) }, core.Fields{"level_id": {core.InvalidChoice}}},
		"birthday":       {func(p *award.Promotion) { p.Audience = award.OnBirthday }, core.Fields{"birthday_days": {core.Required}}},
		"birthday long":  {func(p *award.Promotion) { p.Audience, p.BirthdayDays = award.OnBirthday, new(367) }, core.Fields{"birthday_days": {core.Max(366)}}},
		"limit":          {func(p *award.Promotion) { p.LimitTimes = new(int64(0)) }, core.Fields{"limit_times": {core.Min(1)}, "limit_per": {core.InvalidChoice}}},
		"negative spend": {func(p *award.Promotion) { p.MinSpendCents = -1 }, core.Fields{"min_spend_cents": {core.Min(0)}}},
	} {
		p := double()
		c.change(&p)
		t.Run(name, func(t *testing.T) {
			shoptest.WantFields(t, second(s.Add(t.Context(), s.By, promotion.New{Promotion: p}, nil)), c.want)
		})
	}
	theirs := stranger.add(double())
	for what, err := range map[string]error{
		"find": second(s.Find(t.Context(), s.By, theirs.ID)), "edit": second(s.Edit(t.Context(), s.By, theirs.ID, promotion.Edit{})),
		"category": second(s.FindCategory(t.Context(), s.By, cakes.ID)), "edit category": second(s.EditCategory(t.Context(), s.By, cakes.ID, promotion.EditCategory{})),
		"map": second(s.MapCode(t.Context(), s.By, cakes.ID, "x")),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s of a stranger = %v, want ErrNotFound", what, err)
		}
	}
	cashier := s.As(core.Cashier).By
	for what, err := range map[string]error{
		"add": second(s.Add(t.Context(), cashier, promotion.New{Promotion: double()}, nil)), "limits": second(s.EditLimits(t.Context(), cashier, promotion.EditLimits{})),
		"category": second(s.AddCategory(t.Context(), cashier, promotion.NewCategory{Name: "X"}, nil)),
	} {
		if !core.IsKind(err, core.KindForbidden) {
			t.Errorf("a cashier's %s = %v, want a refusal", what, err)
		}
	}
}

// Many who add promotions at once keep the limit.
func TestAtMost200PromotionsAreActive(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Exec(`
		insert into loyalty.promotion (tenant_id, name, unit, percent, starts_on, created_at)
		select $1, 'Promotion ' || n, 'points', 200, '2020-01-01', now() from generate_series(1, 195) n`, s.By.Tenant.ID)
	var added, refused atomic.Int32
	s.atOnce(12, func(ctx context.Context, _ int) {
		switch _, err := s.Add(ctx, s.By, promotion.New{Promotion: double()}, nil); {
		case err == nil:
			added.Add(1)
		case errors.Is(err, promotion.ErrTooMany):
			refused.Add(1)
		default:
			t.Error(err)
		}
	})
	if added.Load() != 5 || refused.Load() != 7 {
		t.Errorf("%d were added and %d refused, want 5 and 7", added.Load(), refused.Load())
	}
}

func (s shop) atOnce(n int, do func(ctx context.Context, i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(s.T.Context(), i) })
	}
	wg.Wait()
}

// A category's items earn what its promotion says, and a code has one category.
func TestCategoriesAndTheirCodes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	points := s.Points(100)
	cakes, cards := s.addCategory(" Cakes ", "Cake", "cake ", "", "TORTE"), s.addCategory("Gift cards", "gift")
	if diff := cmp.Diff(promotion.Category{ID: cakes.ID, Name: "Cakes", Active: true, Codes: []string{"cake", "torte"}}, cakes); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	p := double()
	p.CategoryIDs = []int64{cakes.ID}
	s.add(p)
	if got := s.earns(points, award.Item{Category: "CAKE", AmountCents: 400}); got != 14 {
		t.Errorf("a sale with cake earns %d, want 14", got)
	}
	shoptest.WantFields(t, second(s.AddCategory(t.Context(), s.By, promotion.NewCategory{Name: "cakes"}, nil)), core.Fields{"name": {core.Duplicate}})
	shoptest.WantFields(t, second(s.EditCategory(t.Context(), s.By, cards.ID, promotion.EditCategory{Codes: core.Set([]string{"gift", "Torte"})})),
		core.Fields{"codes": {promotion.CodeTaken("torte", "Cakes")}})
	shoptest.WantFields(t, second(s.MapCode(t.Context(), s.By, cards.ID, strings.Repeat("x", 51))), core.Fields{"codes": {core.MaxLength(50)}})

	cakes, err := s.EditCategory(t.Context(), s.By, cakes.ID, promotion.EditCategory{Active: core.Set(false)})
	if err != nil || cakes.Active || len(cakes.Codes) > 0 {
		t.Errorf("deactivated: %+v, %v", cakes, err)
	}
	if got := s.earns(points, award.Item{Category: "cake", AmountCents: 400}); got != 10 {
		t.Errorf("afterwards, a sale with cake earns %d, want 10", got)
	}
	shoptest.WantFields(t, second(s.MapCode(t.Context(), s.By, cakes.ID, "cake")), core.Fields{"category_id": {core.InvalidChoice}})
}

// Codes that sales sent are listed until a category has them.
func TestUnmappedCodesAreMapped(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	points := s.Points(100)
	cakes := s.addCategory("Cakes", "cake")
	for _, code := range []string{"Torte", "tea", "torte"} {
		s.earns(points, award.Item{Category: code, AmountCents: 100}, award.Item{Category: "cake", AmountCents: 100})
	}
	s.Check(s.Sales.Codes().Write(t.Context()))
	unmapped := func() string {
		t.Helper()
		_, list, err := s.Catalogue(t.Context(), s.By)
		s.Check(err)
		var all []string
		for _, u := range list {
			all = append(all, fmt.Sprint(u.Code, u.Sales))
		}
		return strings.Join(all, " ")
	}
	if got := unmapped(); got != "torte2 tea1" {
		t.Errorf("unmapped are %q", got)
	}
	mapped, err := s.MapCode(t.Context(), s.By, cakes.ID, "torte")
	s.Check(err)
	if got := strings.Join(mapped.Codes, " "); got != "cake torte" {
		t.Errorf("the category has %q", got)
	}
	s.addCategory("Tea", "tea")
	if got := unmapped(); got != "" {
		t.Errorf("unmapped are %q, want none", got)
	}
	all, err := s.Categories(t.Context(), s.By)
	if err != nil || len(all) != 2 || all[0].Name != "Cakes" || all[1].Codes[0] != "tea" {
		t.Errorf("categories are %v, %v", all, err)
	}
}

// Two who give one code to two categories at once can't both have it.
func TestACodeHasOneCategory(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	categories := []promotion.Category{s.addCategory("One"), s.addCategory("Two")}
	for round := range 10 {
		var had atomic.Int32
		s.atOnce(2, func(ctx context.Context, i int) {
			if _, err := s.MapCode(ctx, s.By, categories[i].ID, fmt.Sprint("code", round)); err == nil {
				had.Add(1)
			} else if !core.IsKind(err, core.KindInvalid) {
				t.Error(err)
			}
		})
		if had.Load() != 1 {
			t.Errorf("round %d: %d categories got the code", round, had.Load())
		}
	}
}

// The cap of a day holds from the next sale on.
func TestTheDaysCaps(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	points, stamps := s.Points(100), s.Type("Coffee", ledger.Stamps, transaction.Rule{StampsPerTransaction: 3})
	limits, err := s.EditLimits(t.Context(), s.By, promotion.EditLimits{PointsDayCap: core.Set(int64(6)), StampsDayCap: core.Set(int64(2))})
	s.Check(err)
	if *limits.PointsDayCap != 6 || limits.TillCategories {
		t.Errorf("edited to %+v", limits)
	}
	if got, of := s.earns(points), s.earns(stamps); got != 6 || of != 2 {
		t.Errorf("sales earn %d points and %d stamps, want 6 and 2", got, of)
	}
	limits, err = s.EditLimits(t.Context(), s.By, promotion.EditLimits{PointsDayCap: core.Optional[int64]{Set: true}, TillCategories: core.Set(true)})
	s.Check(err)
	stored, err := s.Limits(t.Context(), s.By)
	if diff := cmp.Diff(limits, stored); err != nil || diff != "" || stored.PointsDayCap != nil || *stored.StampsDayCap != 2 {
		t.Errorf("stored: %v\n%s", err, diff)
	}
	if got := s.earns(points); got != 10 {
		t.Errorf("without a cap, a sale earns %d", got)
	}
	shoptest.WantFields(t, second(s.EditLimits(t.Context(), s.By, promotion.EditLimits{PointsDayCap: core.Set(int64(0)), StampsDayCap: core.Set(int64(ledger.MaxAward + 1))})),
		core.Fields{"points_day_cap": {core.Min(1)}, "stamps_day_cap": {core.Max(ledger.MaxAward)}})
}

// Tills ask for a category only where the business wants it, and for those that have a code.
func TestChipsOfTheTill(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.addCategory("Tea", "tea", "chai")
	s.addCategory("Cakes", "cake")
	s.addCategory("Nothing")
	chips := func() []promotion.Chip {
		t.Helper()
		list, err := s.Chips(t.Context(), s.By)
		s.Check(err)
		return list
	}
	if got := chips(); len(got) > 0 {
		t.Errorf("chips are %v, want none", got)
	}
	s.Check(second(s.EditLimits(t.Context(), s.By, promotion.EditLimits{TillCategories: core.Set(true)})))
	if diff := cmp.Diff([]promotion.Chip{{Name: "Cakes", Code: "cake"}, {Name: "Tea", Code: "chai"}}, chips()); diff != "" {
		t.Errorf("chips (-want +got):\n%s", diff)
	}
}
