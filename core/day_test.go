package core_test

import (
	"testing"
	"time"

	"example.com/loyalty/core"
)

func TestStartOfDay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, day, want string }{
		{"UTC", "2026-03-08", "2026-03-08T00:00:00Z"},
		{"Europe/Stockholm", "2026-03-29", "2026-03-28T23:00:00Z"},   // of 23 hours
		{"Europe/Stockholm", "2026-03-30", "2026-03-29T22:00:00Z"},   //
		{"Europe/Stockholm", "2026-10-25", "2026-10-24T22:00:00Z"},   // of 25 hours
		{"Europe/Stockholm", "2026-10-26", "2026-10-25T23:00:00Z"},   //
		{"Asia/Kolkata", "2026-01-01", "2025-12-31T18:30:00Z"},       // half an hour off
		{"Pacific/Tongatapu", "2026-01-01", "2025-12-31T11:00:00Z"},  // UTC+13
		{"Pacific/Kiritimati", "2026-01-01", "2025-12-31T10:00:00Z"}, // UTC+14
		{"Pacific/Pago_Pago", "2026-01-01", "2026-01-01T11:00:00Z"},  // UTC-11
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z"},   // midnight is skipped, west of Greenwich
		{"America/Santiago", "2026-04-05", "2026-04-05T04:00:00Z"},   // 24:00 is 23:00 again: the day before is longer
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z"},       // midnight is skipped, east of Greenwich
		{"Africa/Cairo", "2026-10-30", "2026-10-29T22:00:00Z"},       // 24:00 is 23:00 again
		{"America/Havana", "2026-03-08", "2026-03-08T05:00:00Z"},     // midnight is skipped
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z"},     // there are two midnights
		{"Atlantic/Azores", "2026-03-29", "2026-03-29T01:00:00Z"},    // midnight is skipped
		{"Atlantic/Azores", "2026-10-25", "2026-10-25T00:00:00Z"},    // there are two midnights
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"},       // the day does not exist
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"},       //
		{"America/New_York", "0001-01-01", "0001-01-01T04:56:02Z"},   // before there were zones
		{"America/New_York", "9999-12-31", "9999-12-31T05:00:00Z"},   //
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		day, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		y, m, d := day.Date()
		if got := core.StartOfDay(y, m, d, zone).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s begins in %s at %s, want %s", c.day, c.zone, got, c.want)
		}
	}
}

// The instant before the start of a day is of an earlier day, whatever the clocks do.
func TestDaysFollowEachOther(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/Stockholm", "America/New_York", "America/Santiago", "America/Havana", "Africa/Cairo", "Atlantic/Azores", "Australia/Lord_Howe", "Asia/Beirut"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 * 366 {
			y, m, d := time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Date()
			start := core.StartOfDay(y, m, d, zone)
			if got := start.Format(time.DateOnly); got != time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) {
				t.Errorf("%s: %d-%d-%d begins on %s", name, y, m, d, got)
			}
			if before := start.Add(-time.Nanosecond); before.YearDay() == start.YearDay() {
				t.Errorf("%s: %s does not begin at %s", name, start.Format(time.DateOnly), start)
			}
		}
	}
}
