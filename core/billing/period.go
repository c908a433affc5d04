package billing

import (
	"strconv"
	"time"
)

// nextStart returns the first day of the period after one that begins on start. Periods begin on
// the anchor day, or on the last day of a shorter month: a tenant that began on 31 January is
// billed on 28 or 29 February and on 31 March.
func nextStart(start time.Time, cycle Cycle, anchorDay int) time.Time {
	year, month, _ := start.Date()
	if cycle == Yearly {
		year++
	} else {
		month++
	}
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return time.Date(year, month, min(anchorDay, last), 0, 0, 0, 0, time.UTC)
}

// countDays returns the number of days in a period, both ends included.
func countDays(start, end time.Time) int64 { return int64(end.Sub(start)/(24*time.Hour)) + 1 }

// prorate returns the price in cents of part of a period's days, rounded half up.
func prorate(cents, part, whole int64) int64 {
	// Prices are at most 10^12 and periods 366 days: nothing overflows.
	return (2*cents*part + whole) / (2 * whole)
}

// percentage returns a rate, in hundredths of a percent, of a positive amount, rounded half up.
func percentage(cents, rate int64) int64 { return (cents*rate + 5_000) / 10_000 }

// dateRange formats a period: 1–30 November 2026.
func dateRange(start, end time.Time) string {
	switch {
	case start.Equal(end):
		return start.Format("2 January 2006")
	case start.Year() != end.Year():
		return start.Format("2 January 2006") + " – " + end.Format("2 January 2006")
	case start.Month() != end.Month():
		return start.Format("2 January") + " – " + end.Format("2 January 2006")
	}
	return strconv.Itoa(start.Day()) + "–" + end.Format("2 January 2006")
}
