package award

import (
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
)

// Rules are what sales of a business earn by, besides the rules of their types. The zero Rules add nothing.
type Rules struct {
	Version      int64            // raised by each change of these and of types
	Promotions   []Promotion      // those that are active, the oldest first
	Categories   map[string]int64 // by the key of each code
	PointsDayCap *int64           // what a customer earns on a local day; nil: no cap
	StampsDayCap *int64
	Levels       Levels
}

// DayCap returns the cap of a customer's local day; nil: none.
func (r *Rules) DayCap(unit ledger.Unit) *int64 {
	if unit == ledger.Stamps {
		return r.StampsDayCap
	}
	return r.PointsDayCap
}

// NeedBuyer reports whether an award may depend on its customer, so that their account must be read and locked first.
func (r *Rules) NeedBuyer() bool {
	return r.PointsDayCap != nil || r.StampsDayCap != nil || r.Levels.Exist() ||
		slices.ContainsFunc(r.Promotions, func(p Promotion) bool { return p.Audience != Everyone || p.LimitTimes != nil })
}

// Limited returns the promotions of which a customer's uses must be counted to compute an award. They suit the sale, whatever
// its customer.
func (r *Rules) Limited(s Sale) (limited []Promotion) {
	var b *bought
	for _, p := range r.Promotions {
		if p.LimitTimes == nil {
			continue
		}
		if b == nil {
			b = new(r.sort(s))
		}
		if p.suits(s, *b) {
			limited = append(limited, p)
		}
	}
	return limited
}

// CodesOf returns the keys of the codes of a promotion's categories, in order; nil for one that is about the whole sale.
func (r *Rules) CodesOf(p Promotion) []string {
	if p.CategoryIDs == nil {
		return nil
	}
	codes := []string{}
	for code, category := range r.Categories {
		if contains(p.CategoryIDs, category) {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return codes
}

// CodeKey returns a category's code as codes are compared.
func CodeKey(code string) string { return strings.ToLower(core.Trimmed(core.Composed(code))) }

// Audience says whose sales a promotion is for.
type Audience string

// The audiences.
const (
	Everyone   Audience = "all"
	AtLevel    Audience = "level"       // of a level or a higher one
	OnBirthday Audience = "birthday"    // in the days from their birthday
	FirstVisit Audience = "first_visit" // with their first sale
)

// Promotion gives sales more: a percentage of what they earn, or a number of points or stamps.
type Promotion struct {
	ID            int64       `json:"id"`
	Name          string      `json:"name"`
	Unit          ledger.Unit `json:"unit"`
	Percent       *int64      `json:"percent"`         // 101 to 1000: of what a sale earns; nil: Extra
	Extra         *int64      `json:"extra"`           // what is added; nil: Percent
	TypeIDs       []int64     `json:"type_ids"`        // of sales; nil: all
	LocationIDs   []int64     `json:"location_ids"`    // nil: all
	CategoryIDs   []int64     `json:"category_ids"`    // it is about their items; nil: about the whole sale
	MinSpendCents int64       `json:"min_spend_cents"` // of what it is about
	StartsOn      time.Time   `json:"starts_on"`
	EndsOn        *time.Time  `json:"ends_on"` // the last local day; nil: it goes on
	Windows       []Window    `json:"windows"` // none: at all times
	Audience      Audience    `json:"audience"`
	LevelID       *int64      `json:"level_id"`      // of AtLevel
	BirthdayDays  *int        `json:"birthday_days"` // of OnBirthday: how many, with the birthday
	LimitTimes    *int64      `json:"limit_times"`   // how often a customer can use it; nil: as often as they come
	LimitPer      *Per        `json:"limit_per"`
}

// PromotionColumns selects a Promotion. Days are instants, which are read from JSON, too (InUTC).
const PromotionColumns = `id, name, unit, percent, extra, type_ids, location_ids, category_ids, min_spend_cents,
				starts_on::timestamp at time zone 'UTC' as starts_on, ends_on::timestamp at time zone 'UTC' as ends_on, windows,
				audience, level_id, birthday_days, limit_times, limit_per`

// InUTC returns the promotion as it was read, with its days as midnights in UTC.
func (p Promotion) InUTC() Promotion {
	p.StartsOn = p.StartsOn.UTC()
	if p.EndsOn != nil {
		p.EndsOn = new(p.EndsOn.UTC())
	}
	return p
}

// Per is the time of a limit.
type Per string

// The times.
const (
	PerDay Per = "day" // a local one
	Ever   Per = "ever"
)

// Birthday is a day of the year. The zero Birthday is unknown.
type Birthday struct {
	Month time.Month
	Day   int
}

// suits reports whether a promotion is for a sale, whatever its customer.
func (p *Promotion) suits(s Sale, b bought) bool {
	return p.Unit == s.Unit &&
		(p.TypeIDs == nil || contains(p.TypeIDs, s.TypeID)) &&
		(p.LocationIDs == nil || s.LocationID != nil && contains(p.LocationIDs, *s.LocationID)) &&
		p.IsOn(s.At) && p.suitsSpend(b)
}

// suitsSpend reports whether a sale has what a promotion is about, and enough of it.
func (p *Promotion) suitsSpend(b bought) bool {
	if p.CategoryIDs == nil {
		return b.eligible >= p.MinSpendCents
	}
	spend, has := p.spend(b)
	return has && spend >= p.MinSpendCents
}

// spend returns what a sale has of the promotion's categories, and whether it has an item of them.
func (p *Promotion) spend(b bought) (cents int64, has bool) {
	for _, category := range p.CategoryIDs {
		if amount, bought := b.categories[category]; bought {
			cents, has = add(cents, amount), true
		}
	}
	return cents, has
}

// gives returns what a promotion adds to a sale that it suits.
func (p *Promotion) gives(s Sale, b bought) int64 {
	if p.Extra != nil {
		return *p.Extra
	}
	about := b.eligible
	if p.CategoryIDs != nil {
		about, _ = p.spend(b)
	}
	return share(s.within(s.of(s.Unit, about)), *p.Percent-100)
}

// isFor reports whether a promotion is for a customer.
func (p *Promotion) isFor(b *Buyer, at time.Time, levels Levels) bool {
	switch p.Audience {
	case AtLevel:
		least := levels.Find(p.LevelID)
		return b.Level != nil && least != nil && b.Level.Rank >= least.Rank
	case OnBirthday:
		return b.Birthday.isWithin(*p.BirthdayDays, at)
	case FirstVisit:
		return b.FirstVisit
	case Everyone:
	}
	return true
}

func (p *Promotion) isUsedUp(b *Buyer) bool {
	return p.LimitTimes != nil && b.Uses[p.ID] >= *p.LimitTimes
}

// isWithin reports whether an instant is in the days from the birthday, which is one of them.
func (d Birthday) isWithin(days int, at time.Time) bool {
	if d == (Birthday{}) {
		return false
	}
	today := dateOf(at)
	for _, year := range []int{today.Year(), today.Year() - 1} {
		day := dayOf(year, d.Month, d.Day)
		if !today.Before(day) && today.Before(day.AddDate(0, 0, days)) {
			return true
		}
	}
	return false
}

func contains(ids []int64, id int64) bool { return slices.Contains(ids, id) }

// dateOf returns the day that a clock shows, as its midnight in UTC.
func dateOf(at time.Time) time.Time { return core.DateOf(at, at.Location()) }

// dayOf returns a day of a year; 28 February for 29 February of a year without it.
func dayOf(year int, month time.Month, day int) time.Time {
	end := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
	return time.Date(year, month, min(day, end.Day()), 0, 0, 0, 0, time.UTC)
}
