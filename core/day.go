package core

import "time"

// StartOfDay returns the first instant of a day in a time zone. Like time.Date it accepts days outside
// the month. It differs where clocks change at midnight: a day without a midnight begins at the change,
// and a day with two begins at the first.
func StartOfDay(year int, month time.Month, day int, zone *time.Location) time.Time {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	eve := midnight.Add(-24 * time.Hour).In(zone) // no zone is that far from UTC: before the day
	_, change := eve.ZoneBounds()
	if start := instantShown(midnight, eve); change.IsZero() || start.Before(change) {
		return start
	}
	start := instantShown(midnight, change)
	if start.Before(change) {
		return change
	}
	return start
}

// StartOfDate is StartOfDay for a day given as its midnight in UTC.
func StartOfDate(date time.Time, zone *time.Location) time.Time {
	year, month, day := date.Date()
	return StartOfDay(year, month, day, zone)
}

// instantShown returns the instant at which a clock with the offset of another instant shows a time.
func instantShown(shown, clock time.Time) time.Time {
	_, offset := clock.Zone()
	return shown.Add(-time.Duration(offset) * time.Second).In(clock.Location())
}
