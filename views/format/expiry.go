package format

import (
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
)

// LongDay formats a day, given as its midnight in UTC: 30 November 2027.
func LongDay(day time.Time) string { return day.Format("2" + nbsp + "January" + nbsp + "2006") }

// EndsIdle reports whether everything ends together, after a time without activity.
func EndsIdle(e core.Expiry) bool { return e.Rule == core.ExpireInactive }

// EarnedToday says until when what is earned today can be spent, of which last is the last day (programme.Rule.Earned).
func EarnedToday(unit ledger.Unit, e core.Expiry, last *time.Time) string {
	switch {
	case last == nil:
		return UnitsTitle(unit) + " never expire."
	case EndsIdle(e):
		return "All " + string(unit) + " of a customer who buys something today end on " + LongDay(*last) + " unless the customer buys or redeems something before."
	}
	return UnitsTitle(unit) + " earned today can be spent until " + LongDay(*last) + "."
}

// HowTheyExpire explains a rule to customers, in one sentence; "" where nothing ends.
func HowTheyExpire(unit ledger.Unit, e core.Expiry) string {
	name := UnitsTitle(unit)
	if e.HoldsAll {
		return ""
	}
	switch e.Rule {
	case core.ExpireAfter:
		return name + " can be spent for " + months(e.Months) + " after you earn them" + rounded(e.RoundTo) + "."
	case core.ExpireYearly:
		return name + " expire on " + YearlyDay(e) + " of each year, but never within " + Count(core.YearlyNotice, "day", "days") + " of earning them."
	case core.ExpireInactive:
		return "All " + string(unit) + " expire if you don't buy or redeem anything for " + months(e.Months) + rounded(e.RoundTo) + "."
	case core.NeverExpire:
	}
	return ""
}

// UnitsTitle is a unit as a title, or at the beginning of a sentence: Points.
func UnitsTitle(unit ledger.Unit) string { return strings.ToUpper(string(unit[:1])) + string(unit[1:]) }

// YearlyDay is the day of a yearly rule: 31 December.
func YearlyDay(e core.Expiry) string {
	const leap = 2028
	return time.Date(leap, e.Month, e.Day, 0, 0, 0, 0, time.UTC).Format("2 January")
}

func months(n int) string { return Count(int64(n), "month", "months") }

// rounded is what a rounding adds to a number of months.
func rounded(to core.Rounding) string {
	switch to {
	case core.ToMonth:
		return ", until the end of that month"
	case core.ToQuarter:
		return ", until the end of that quarter"
	case core.ToYear:
		return ", until the end of that year"
	case core.ToDay:
	}
	return ""
}

// calendarDate formats a day, which is given as its midnight in UTC: 31 Jan 2027.
func calendarDate(day time.Time) string { return day.Format("2 Jan 2006") }

// EndsOn is the last day of an amount: 31 Jan 2027; "Doesn't expire".
func EndsOn(e ledger.Ending) string {
	switch {
	case e.ExpiresOn == nil:
		return "Doesn't expire"
	case e.Idle:
		return calendarDate(*e.ExpiresOn) + ", without a visit"
	}
	return calendarDate(*e.ExpiresOn)
}

// EndsSoon says what ends next of a unit, if that is soon: "40 points expire on 31 Jan"; "" for nothing.
func EndsSoon(shown []ledger.Ending, unit ledger.Unit, today time.Time) string {
	e, soon := ledger.Soon(shown, unit, today)
	if !soon {
		return ""
	}
	verb, on := Noun(e.Amount, "expires", "expire"), "on "+e.ExpiresOn.Format("2 Jan")
	switch {
	case e.ExpiresOn.Before(today): // the job is late
		verb = "expired"
	case e.ExpiresOn.Equal(today):
		on = "today"
	}
	if e.Idle {
		on += " without a visit"
	}
	return Units(e.Amount, e.Unit) + " " + verb + " " + on
}

// HadExpired says how much of an award had expired when it was taken back: "12 of its 40 points had expired"; "" for nothing.
func HadExpired(e customer.Entry) string {
	if e.Returned == nil {
		return ""
	}
	return Number(*e.Returned) + " of its " + Units(-e.Amount, e.Unit) + " had expired"
}
