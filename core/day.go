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

// LocalTime returns the instant at which clocks in a time zone show a date and a time of day. A time that they skip,
// because they are put forward, is moved later by as much as they are: skipped reports that. Of a time that they
// show twice it is the first.
func LocalTime(shown time.Time, zone *time.Location) (at time.Time, skipped bool) {
	year, month, day := shown.Date()
	hour, minute, second := shown.Clock()
	at = time.Date(year, month, day, hour, minute, second, shown.Nanosecond(), zone)
	wall := time.Date(year, month, day, hour, minute, second, shown.Nanosecond(), time.UTC)
	start, end := at.ZoneBounds()
	switch offset := wallOf(at).Sub(wall); {
	case offset < 0 && !end.IsZero(): // before the change
		return instantShown(wall, at), true
	case offset > 0 && !start.IsZero(): // after it
		return instantShown(wall, start.Add(-time.Nanosecond)), true
	case start.IsZero():
		return at, false
	}
	if first := instantShown(wall, start.Add(-time.Nanosecond)); first.Before(start) {
		return first, false
	}
	return at, false
}

// wallOf returns what a clock shows at an instant, as a time in UTC.
func wallOf(at time.Time) time.Time {
	year, month, day := at.Date()
	hour, minute, second := at.Clock()
	return time.Date(year, month, day, hour, minute, second, at.Nanosecond(), time.UTC)
}

// instantShown returns the instant at which a clock with the offset of another instant shows a time.
func instantShown(shown, clock time.Time) time.Time {
	_, offset := clock.Zone()
	return shown.Add(-time.Duration(offset) * time.Second).In(clock.Location())
}
