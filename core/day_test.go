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

// A time that clocks skip is moved later by as much as they are put forward; of one that they show twice it is the
// first.
func TestLocalTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, shown, want string
		skipped           bool
	}{
		{"UTC", "2026-03-29 02:30:00", "2026-03-29T02:30:00Z", false},
		{"Europe/Stockholm", "2026-03-29 01:59:59", "2026-03-29T00:59:59Z", false},
		{"Europe/Stockholm", "2026-03-29 02:00:00", "2026-03-29T01:00:00Z", true}, // 03:00
		{"Europe/Stockholm", "2026-03-29 02:30:00", "2026-03-29T01:30:00Z", true}, // 03:30
		{"Europe/Stockholm", "2026-03-29 03:00:00", "2026-03-29T01:00:00Z", false},
		{"Europe/Stockholm", "2026-10-25 02:30:00", "2026-10-25T00:30:00Z", false}, // the first of two
		{"Europe/Stockholm", "2026-10-25 03:00:00", "2026-10-25T02:00:00Z", false},
		{"America/New_York", "2026-03-08 02:30:00", "2026-03-08T07:30:00Z", true},  // 03:30
		{"America/New_York", "2026-11-01 01:30:00", "2026-11-01T05:30:00Z", false}, // the first of two
		{"America/New_York", "2026-11-01 02:00:00", "2026-11-01T07:00:00Z", false},
		{"America/St_Johns", "2026-03-08 02:15:00", "2026-03-08T05:45:00Z", true},
		{"Australia/Lord_Howe", "2026-10-04 02:15:00", "2026-10-03T15:45:00Z", true},  // by half an hour: 02:45
		{"Australia/Lord_Howe", "2026-04-05 01:45:00", "2026-04-04T14:45:00Z", false}, // half an hour is shown twice
		{"America/Santiago", "2026-09-06 00:30:00", "2026-09-06T04:30:00Z", true},     // midnight is skipped
		{"Africa/Cairo", "2026-04-24 00:00:00", "2026-04-23T22:00:00Z", true},
		{"Asia/Beirut", "2026-03-29 00:30:00", "2026-03-28T22:30:00Z", true},
		{"America/Havana", "2026-11-01 00:30:00", "2026-11-01T04:30:00Z", false}, // the first of two
		{"Pacific/Apia", "2011-12-30 10:00:00", "2011-12-30T20:00:00Z", true},    // the day doesn't exist: the next one
		{"Pacific/Apia", "2011-12-31 10:00:00", "2011-12-30T20:00:00Z", false},
		{"America/New_York", "0001-01-01 00:00:00", "0001-01-01T04:56:02Z", false},
		{"America/New_York", "9999-12-31 23:59:59", "", false},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := time.Parse(time.DateTime, c.shown)
		if err != nil {
			t.Fatal(err)
		}
		at, skipped := core.LocalTime(shown, zone)
		if c.want == "" {
			c.want = "10000-01-01T04:59:59Z"
		}
		if got := at.UTC().Format(time.RFC3339); got != c.want || skipped != c.skipped {
			t.Errorf("%s in %s is %s, skipped %t; want %s, %t", c.shown, c.zone, got, skipped, c.want, c.skipped)
		}
	}
}

// Every time that a clock shows is found again, and skipped ones never come before the ones around them.
func TestLocalTimesAreInOrder(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/Stockholm", "America/New_York", "America/Santiago", "America/Havana", "Africa/Cairo", "Australia/Lord_Howe", "Asia/Beirut"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for shown := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); shown.Year() < 2027; shown = shown.Add(15 * time.Minute) {
			at, skipped := core.LocalTime(shown, zone)
			said, want := at.Format(time.DateTime), shown.Format(time.DateTime)
			if said != want && (!skipped || said < want) || said == want && skipped {
				t.Errorf("%s: %s is %s, skipped %t", name, want, said, skipped)
			}
		}
	}
}
