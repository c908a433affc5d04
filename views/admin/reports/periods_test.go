package reports

import (
	"testing"
	"time"

	"example.com/loyalty/core/report"
)

// One choice at most is marked, also where several have the same days.
func TestPeriodOfDays(t *testing.T) {
	t.Parallel()
	on := func(day string) time.Time {
		t.Helper()
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct{ today, from, want string }{
		{"2026-06-15", "2026-05-17", "30-days"},
		{"2026-06-15", "2026-05-18", ""},
		{"2026-11-30", "2026-11-01", "this-month"},
		{"2026-01-07", "2026-01-01", "this-month"},
		{"2026-03-31", "2026-01-01", "this-year"},
		{"2026-03-31", "2026-03-25", "7-days"},
	} {
		days := report.Period{From: on(c.from), To: on(c.today)}
		if got := periodOf(&days, on(c.today)); got != c.want {
			t.Errorf("%s to %s is %q, want %q", c.from, c.today, got, c.want)
		}
	}
	if got := periodOf(nil, on("2026-06-15")); got != "" {
		t.Errorf("refused days are %q", got)
	}
}
