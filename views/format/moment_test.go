package format_test

import (
	"testing"
	"time"

	"example.com/loyalty/views/format"
)

// A moment near the present is written by its day's name, in the days of the zone.
func TestMoment(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Stockholm")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, zone)
	for _, c := range []struct {
		at         time.Time
		want, said string
	}{
		{now.Add(-12 * time.Hour), "Today, 00:00", "today, 00:00"},
		{now.Add(-12*time.Hour - time.Minute), "Yesterday, 23:59", "yesterday, 23:59"},
		{now.Add(-36*time.Hour - time.Minute), "30 Dec 2025, 23:59", "on 30 Dec 2025, 23:59"},
		{now.Add(12 * time.Hour).UTC(), "Tomorrow, 00:00", "tomorrow, 00:00"},
		{now.Add(36 * time.Hour), "3 Jan, 00:00", "on 3 Jan, 00:00"},
		{now.AddDate(1, 0, 0), "1 Jan 2027, 12:00", "on 1 Jan 2027, 12:00"},
	} {
		if got := format.On(c.at, now, zone); got != c.said {
			t.Errorf("%s is said %q, want %q", c.at, got, c.said)
		}
		if got := format.Moment(c.at, now, zone); got != c.want {
			t.Errorf("%s is %q, want %q", c.at, got, c.want)
		}
	}
}
