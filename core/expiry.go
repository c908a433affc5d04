package core

import "time"

// ExpiryRule says when points (or stamps) end.
type ExpiryRule string

// The rules.
const (
	NeverExpire    ExpiryRule = "never"
	ExpireAfter    ExpiryRule = "after"    // months after they were earned
	ExpireYearly   ExpiryRule = "yearly"   // on a day of each year
	ExpireInactive ExpiryRule = "inactive" // all of them, after months without a sale, redemption or voucher
)

// Rounding is how far a last day moves: to the end of its month, for example.
type Rounding string

// The roundings.
const (
	ToDay     Rounding = "day" // not at all
	ToMonth   Rounding = "month"
	ToQuarter Rounding = "quarter"
	ToYear    Rounding = "year"
)

// YearlyNotice is how many days away the next yearly last day is at least, and the first end after a rule is set.
const YearlyNotice = 60

// Expiry is how a business's points (or stamps) end (decisions §13). Days are given as their midnight in UTC. The zero
// Expiry never ends anything.
type Expiry struct {
	Rule      ExpiryRule
	Months    int
	RoundTo   Rounding
	Month     time.Month // of the last day of each year
	Day       int
	GraceDays int // what a voided redemption returns lasts at least so long

	Hold     time.Time // nothing ends on this day or before; zero: no such day
	HoldsAll bool      // nothing ends at all: the rule was switched off
}

// DateOf returns the local day of an instant.
func DateOf(at time.Time, zone *time.Location) time.Time {
	year, month, day := at.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// LastDay returns the last day on which an award of a local day can be spent, or nil if the rule gives it none.
func (e Expiry) LastDay(earned time.Time) *time.Time {
	switch e.Rule {
	case ExpireAfter:
		last := e.RoundTo.end(addMonths(earned, e.Months))
		return &last
	case ExpireYearly:
		last := e.yearlyDay(earned)
		return &last
	case NeverExpire, ExpireInactive:
	}
	return nil
}

// IdleDay returns the last day for everything without a last day of its own, if the customer does nothing after a local day;
// nil by any other rule than ExpireInactive.
func (e Expiry) IdleDay(active time.Time) *time.Time {
	if e.Rule != ExpireInactive {
		return nil
	}
	last := e.RoundTo.end(addMonths(active, e.Months))
	return &last
}

// Shown returns the day to show for a last day, which a hold may have moved, and nil if nothing ends.
func (e Expiry) Shown(last *time.Time) *time.Time {
	switch {
	case last == nil || e.HoldsAll:
		return nil
	case last.Before(e.Hold):
		return new(e.Hold)
	}
	return last
}

// Ends reports whether the rule ends anything, today or later.
func (e Expiry) Ends() bool { return e.Rule != "" && !e.HoldsAll }

// IsHeld reports whether nothing ends as of a local day.
func (e Expiry) IsHeld(today time.Time) bool { return e.HoldsAll || !e.Hold.Before(today) }

// yearlyDay returns the first yearly last day that is at least YearlyNotice days after a day.
func (e Expiry) yearlyDay(earned time.Time) time.Time {
	first := earned.AddDate(0, 0, YearlyNotice)
	for year := earned.Year(); ; year++ {
		if last := dayOfMonth(year, e.Month, e.Day); !last.Before(first) {
			return last
		}
	}
}

// addMonths returns the same day months later, or the last one of a shorter month.
func addMonths(day time.Time, months int) time.Time {
	return dayOfMonth(day.Year(), day.Month()+time.Month(months), day.Day())
}

// dayOfMonth returns a day of a month, or the last one of a shorter month. Months beyond December are of later years.
func dayOfMonth(year int, month time.Month, day int) time.Time {
	end := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
	return end.AddDate(0, 0, min(day, end.Day())-end.Day())
}

// end returns the last day of the month, quarter or year of a day.
func (r Rounding) end(day time.Time) time.Time {
	year, month, _ := day.Date()
	switch r {
	case ToMonth:
		return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
	case ToQuarter:
		return time.Date(year, (month-1)/3*3+4, 0, 0, 0, 0, 0, time.UTC)
	case ToYear:
		return time.Date(year, time.December, 31, 0, 0, 0, 0, time.UTC)
	case ToDay:
	}
	return day
}
