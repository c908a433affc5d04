package award_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
)

// A random award of each kind of rule is the one that the lines of decisions §15 give, written a second time below, in whole
// numbers without a limit and without a word of the first.
func TestAwardsAgainstASecondWriting(t *testing.T) {
	t.Parallel()
	const inputs = 100_000
	random := rand.New(rand.NewPCG(40, 2026))
	seen := map[string]int{}
	for i := range inputs {
		r, s, b := randomCase(random)
		got := r.Compute(s, b)
		want := written(r, s, b)
		if want.sum.Cmp(big.NewInt(ledger.MaxAward)) > 0 {
			if !got.TooLarge {
				t.Fatalf("input %d: %d, want more than may be awarded (%v): %s", i, got.Total, want.sum, told(r, s, b))
			}
			seen["too much"]++
			continue
		}
		var promotion, level int64
		if got.Promotion != nil {
			promotion = got.Promotion.ID
		}
		if got.Level != nil {
			level = got.Level.ID
		}
		if got.Total != want.total.Int64() || got.Base != want.base.Int64() || promotion != want.promotion || level != want.level ||
			got.EligibleCents != want.spend.Int64() || (got.CappedBy != award.NoCap) != want.capped || got.TooLarge {
			t.Fatalf("input %d: %+v, want %+v: %s", i, got, want, told(r, s, b))
		}
		if !want.capped && got.Total != got.Base+got.PromotionAward+got.LevelAward {
			t.Fatalf("input %d: %+v doesn't add up: %s", i, got, told(r, s, b))
		}
		for what, is := range map[string]bool{
			"promotion": promotion != 0, "level": level != 0, "both": promotion != 0 && level != 0, "capped": want.capped,
			"excluded": want.spend.Int64() != s.SpendCents, "nothing": got.Total == 0, "stamps": s.Unit == ledger.Stamps && got.Total > 0,
		} {
			if is {
				seen[what]++
			}
		}
	}
	for _, what := range []string{"promotion", "level", "both", "capped", "excluded", "nothing", "stamps", "too much"} {
		if seen[what] < inputs/200 {
			t.Errorf("only %d of %d inputs are of %q", seen[what], inputs, what)
		}
	}
}

func told(r *award.Rules, s award.Sale, b *award.Buyer) string {
	return fmt.Sprintf("\nrules %+v\nsale %+v at %v\nbuyer %+v", r, s, s.At, b)
}

var (
	zones = []string{"Europe/Lisbon", "Europe/Stockholm", "America/Santiago", "Asia/Beirut", "Pacific/Apia"}
	codes = []string{"cake", "Tea", " GIFT ", "böcker", "tobacco", "unknown"}
)

func oneIn(random *rand.Rand, n int) bool { return random.IntN(n) == 0 }

func optional(random *rand.Rand, most int64) *int64 {
	if oneIn(random, 2) {
		return nil
	}
	return new(1 + random.Int64N(most))
}

func some(random *rand.Rand, most int64) (ids []int64) {
	if oneIn(random, 2) {
		return nil
	}
	ids = []int64{}
	for id := int64(1); id <= most; id++ {
		if oneIn(random, 2) {
			ids = append(ids, id)
		}
	}
	return ids
}

func randomCase(random *rand.Rand) (*award.Rules, award.Sale, *award.Buyer) {
	zone, err := time.LoadLocation(zones[random.IntN(len(zones))])
	if err != nil {
		panic(err)
	}
	at := time.Date(2026, time.January, 1, 0, 0, 0, 0, zone).Add(time.Duration(random.Int64N(int64(2 * 365 * 24 * time.Hour))))
	units := []ledger.Unit{ledger.Points, ledger.Points, ledger.Stamps}
	large := int64(1)
	if oneIn(random, 30) {
		large = 1_000_000_000
	}
	s := award.Sale{
		TypeID: 1 + random.Int64N(3), Unit: units[random.IntN(len(units))], At: at, LocationID: optional(random, 3), SpendCents: random.Int64N(20_000) * large / 2,
		Rule: award.Rule{
			PointsPerUnit: random.Int64N(5) * large, UnitCents: 1 + random.Int64N(300), StampsPerTransaction: random.Int64N(4),
			ExcludedCategories: some(random, 4),
		},
	}
	if oneIn(random, 3) {
		s.MinSpendCents = random.Int64N(8_000)
	}
	if oneIn(random, 4) {
		s.MaxAward = new(1 + random.Int64N(150))
	}
	for left := s.SpendCents; left > 0 && len(s.Items) < 5 && !oneIn(random, 3); {
		amount := random.Int64N(left + 1)
		s.Items = append(s.Items, award.Item{Category: codes[random.IntN(len(codes))], AmountCents: amount})
		left -= amount
	}
	r := &award.Rules{Categories: map[string]int64{"cake": 1, "tea": 2, "gift": 3, "böcker": 1, "tobacco": 4}}
	if oneIn(random, 4) {
		r.PointsDayCap, r.StampsDayCap = new(1+random.Int64N(300)), new(1+random.Int64N(4))
	}
	if oneIn(random, 2) {
		r.Levels = award.Levels{LevelRules: award.LevelRules{Basis: award.ByPoints}, All: []award.Level{
			{ID: 11, Percent: 100}, {ID: 12, Rank: 1, Threshold: 100, Percent: 110 + random.Int64N(40)}, {ID: 13, Rank: 2, Threshold: 500, Percent: 200},
		}}
	}
	for id := range random.Int64N(5) {
		r.Promotions = append(r.Promotions, randomPromotion(random, 21+id, s, r))
	}
	b := &award.Buyer{FirstVisit: oneIn(random, 3), Earned: random.Int64N(300), Uses: map[int64]int64{}}
	if oneIn(random, 2) {
		b.Birthday = award.Birthday{Month: time.Month(1 + random.IntN(12)), Day: 1 + random.IntN(29)}
		if oneIn(random, 2) {
			b.Birthday.Month, b.Birthday.Day = at.Month(), max(1, at.Day()-random.IntN(4))
		}
	}
	if n := len(r.Levels.All); n > 0 {
		b.Level = &r.Levels.All[random.IntN(n)]
	}
	for _, p := range r.Promotions {
		b.Uses[p.ID] = random.Int64N(3)
	}
	return r, s, b
}

func randomPromotion(random *rand.Rand, id int64, s award.Sale, r *award.Rules) award.Promotion {
	day := time.Date(s.At.Year(), s.At.Month(), s.At.Day(), 0, 0, 0, 0, time.UTC)
	p := award.Promotion{
		ID: id, Unit: s.Unit, TypeIDs: some(random, 3), LocationIDs: some(random, 3), CategoryIDs: some(random, 4),
		StartsOn: day.AddDate(0, 0, 2-random.IntN(20)), Audience: award.Everyone,
	}
	if oneIn(random, 8) {
		p.Unit = ledger.Stamps
	}
	if oneIn(random, 2) {
		p.EndsOn = new(p.StartsOn.AddDate(0, 0, random.IntN(25)))
	}
	if oneIn(random, 2) {
		p.Percent = new(101 + random.Int64N(900))
	} else {
		p.Extra = new(1 + random.Int64N(50))
	}
	if oneIn(random, 3) {
		p.MinSpendCents = random.Int64N(10_000)
	}
	for range random.IntN(3) {
		w := award.Window{From: award.Clock(random.IntN(24 * 60)), To: award.Clock(random.IntN(24 * 60))}
		for d := award.Weekday(1); d <= 7; d++ {
			if oneIn(random, 2) {
				w.Days = append(w.Days, d)
			}
		}
		if w.From != w.To {
			p.Windows = append(p.Windows, w)
		}
	}
	switch random.IntN(6) {
	case 0:
		p.Audience = award.FirstVisit
	case 1:
		p.Audience, p.BirthdayDays = award.OnBirthday, new(1+random.IntN(10))
	case 2:
		if len(r.Levels.All) > 0 {
			p.Audience, p.LevelID = award.AtLevel, new(int64(11+random.IntN(3)))
		}
	}
	if oneIn(random, 4) {
		p.LimitTimes, p.LimitPer = new(1+random.Int64N(2)), new(award.PerDay)
	}
	return p
}

// second is an award by the second writing.
type second struct {
	spend, base, total *big.Int
	sum                *big.Int // before the day's cap
	promotion, level   int64
	capped             bool
}

// written is decisions §15, line by line.
func written(r *award.Rules, s award.Sale, b *award.Buyer) (w second) {
	number := big.NewInt
	// spend = spend_amount_cents − Σ items of excluded categories
	w.spend = number(s.SpendCents)
	of := map[int64]*big.Int{}
	for _, i := range s.Items {
		id := map[string]int64{codes[0]: 1, codes[1]: 2, codes[2]: 3, codes[3]: 1, codes[4]: 4}[i.Category]
		if has(s.ExcludedCategories, id) {
			w.spend.Sub(w.spend, number(i.AmountCents))
		} else if id != 0 {
			if of[id] == nil {
				of[id] = number(0)
			}
			of[id].Add(of[id], number(i.AmountCents))
		}
	}
	w.base, w.sum, w.total = number(0), number(0), number(0)
	// below min spend: 0, and no promotion
	if w.spend.Cmp(number(s.MinSpendCents)) < 0 {
		return w
	}
	earns := func(cents *big.Int) *big.Int {
		if s.Unit == ledger.Stamps {
			return number(s.StampsPerTransaction)
		}
		units := new(big.Int).Div(cents, number(s.UnitCents))
		return units.Mul(units, number(s.PointsPerUnit))
	}
	ceiling := func(n *big.Int) *big.Int {
		if s.MaxAward != nil && n.Cmp(number(*s.MaxAward)) > 0 {
			w.capped = true
			return number(*s.MaxAward)
		}
		return n
	}
	w.base = ceiling(earns(w.spend))
	baseIsCapped := w.capped
	// of all that match, the one that gives THIS sale most; equal: the oldest
	bonus := number(0)
	for _, p := range r.Promotions {
		eligible, about := w.base, w.spend
		if p.CategoryIDs != nil {
			about = number(0)
			any := false
			for _, id := range p.CategoryIDs {
				if of[id] != nil {
					about, any = new(big.Int).Add(about, of[id]), true
				}
			}
			if !any {
				continue
			}
			eligible = ceiling(earns(about))
		}
		if p.Unit != s.Unit || p.TypeIDs != nil && !has(p.TypeIDs, s.TypeID) || about.Cmp(number(p.MinSpendCents)) < 0 ||
			p.LocationIDs != nil && (s.LocationID == nil || !has(p.LocationIDs, *s.LocationID)) ||
			!matchesTime(p, s.At) || !matchesBuyer(p, b, s.At) || p.LimitTimes != nil && b.Uses[p.ID] >= *p.LimitTimes {
			continue
		}
		gives := number(0)
		if p.Percent != nil {
			gives.Mul(eligible, number(*p.Percent-100)).Div(gives, number(100))
		} else {
			gives.SetInt64(*p.Extra)
		}
		if gives.Cmp(bonus) > 0 {
			bonus, w.promotion = gives, p.ID
		}
	}
	w.capped = baseIsCapped
	level := number(0)
	if b.Level != nil {
		level.Mul(w.base, number(b.Level.Percent-100)).Div(level, number(100))
		if level.Sign() > 0 {
			w.level = b.Level.ID
		}
	}
	// extras are added, never multiplied with each other; then the ceilings
	w.sum = ceiling(new(big.Int).Add(new(big.Int).Add(w.base, bonus), level))
	w.total = w.sum
	if most := map[ledger.Unit]*int64{ledger.Points: r.PointsDayCap, ledger.Stamps: r.StampsDayCap}[s.Unit]; most != nil {
		if left := number(max(0, *most-b.Earned)); w.total.Cmp(left) > 0 {
			w.total, w.capped = left, true
		}
	}
	return w
}

func has(ids []int64, id int64) bool {
	for _, other := range ids {
		if other == id {
			return true
		}
	}
	return false
}

// matchesTime asks each minute since the midnight of two days ago whether a window begins at it that has not ended.
func matchesTime(p award.Promotion, at time.Time) bool {
	wall := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, time.UTC)
	on := func(day time.Time) bool {
		return !day.Before(p.StartsOn) && (p.EndsOn == nil || !day.After(*p.EndsOn))
	}
	if len(p.Windows) == 0 {
		return on(wall.Truncate(24 * time.Hour))
	}
	for _, w := range p.Windows {
		for back := range 2 {
			day := wall.Truncate(24*time.Hour).AddDate(0, 0, -back)
			iso := int(day.Weekday())
			if iso == 0 {
				iso = 7
			}
			begins, ends := day.Add(time.Duration(w.From)*time.Minute), day.Add(time.Duration(w.To)*time.Minute)
			if !ends.After(begins) {
				ends = ends.AddDate(0, 0, 1)
			}
			listed := false
			for _, d := range w.Days {
				listed = listed || int(d) == iso
			}
			if listed && on(day) && !wall.Before(begins) && wall.Before(ends) {
				return true
			}
		}
	}
	return false
}

func matchesBuyer(p award.Promotion, b *award.Buyer, at time.Time) bool {
	switch p.Audience {
	case award.FirstVisit:
		return b.FirstVisit
	case award.AtLevel:
		return b.Level != nil && b.Level.ID >= *p.LevelID // in the order of ranks above
	case award.OnBirthday:
		if b.Birthday.Day == 0 {
			return false
		}
		today := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		for n := range *p.BirthdayDays {
			day := today.AddDate(0, 0, -n)
			month, date := b.Birthday.Month, b.Birthday.Day
			for date > 28 && time.Date(day.Year(), month, date, 0, 0, 0, 0, time.UTC).Month() != month {
				date--
			}
			if day.Month() == month && day.Day() == date {
				return true
			}
		}
		return false
	case award.Everyone:
	}
	return true
}
