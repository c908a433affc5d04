package core

import "time"

// StartOfDay is the first instant of a day in a time zone. Like time.Date it takes
// days beyond the month's. It differs where the clocks change at midnight: a day
// whose midnight is skipped begins when they are moved, and one that has two
// midnights begins with the first.
func StartOfDay(year int, month time.Month, day int, zone *time.Location) time.Time {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	eve := midnight.Add(-24 * time.Hour).In(zone) // no zone is that far from UTC: still before the day
	_, change := eve.ZoneBounds()
	if start := asRead(midnight, eve); change.IsZero() || start.Before(change) {
		return start
	}
	start := asRead(midnight, change)
	if start.Before(change) {
		return change
	}
	return start
}

// StartOfDate is StartOfDay of a day that is written as its midnight in UTC.
func StartOfDate(date time.Time, zone *time.Location) time.Time {
	year, month, day := date.Date()
	return StartOfDay(year, month, day, zone)
}

// asRead is the instant at which a clock that goes like that one shows the given time.
func asRead(shown, clock time.Time) time.Time {
	_, offset := clock.Zone()
	return shown.Add(-time.Duration(offset) * time.Second).In(clock.Location())
}
