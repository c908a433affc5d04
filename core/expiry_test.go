package core_test

import (
	"testing"
	"time"

	"example.com/loyalty/core"
)

func day(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return d
}

// shown returns a day as text, "" for none.
func shown(d *time.Time) string {
	if d == nil {
		return ""
	}
	return d.Format(time.DateOnly)
}

// "clamped to the month's last day (31 Jan + 1 → 28 Feb; 31 Aug 2026 + 6 → 28 Feb 2027), then up to the end of the month/quarter/year"
func TestLastDay(t *testing.T) {
	t.Parallel()
	after := func(months int, to core.Rounding) core.Expiry {
		return core.Expiry{Rule: core.ExpireAfter, Months: months, RoundTo: to}
	}
	yearly := func(month time.Month, d int) core.Expiry {
		return core.Expiry{Rule: core.ExpireYearly, Month: month, Day: d}
	}
	for _, c := range []struct {
		rule         core.Expiry
		earned, want string
	}{
		{after(1, core.ToDay), "2027-01-31", "2027-02-28"},
		{after(1, core.ToDay), "2028-01-31", "2028-02-29"},
		{after(6, core.ToDay), "2026-08-31", "2027-02-28"},
		{after(12, core.ToDay), "2028-02-29", "2029-02-28"},
		{after(48, core.ToDay), "2028-02-29", "2032-02-29"},
		{after(2, core.ToDay), "2027-01-31", "2027-03-31"}, // never from a day that was clamped before
		{after(1, core.ToDay), "2026-12-31", "2027-01-31"},
		{after(12, core.ToMonth), "2026-11-21", "2027-11-30"},
		{after(3, core.ToMonth), "2026-11-30", "2027-02-28"},
		{after(1, core.ToMonth), "2026-11-01", "2026-12-31"},
		{after(1, core.ToQuarter), "2026-11-21", "2026-12-31"},
		{after(2, core.ToQuarter), "2026-11-21", "2027-03-31"},
		{after(12, core.ToQuarter), "2026-05-01", "2027-06-30"},
		{after(12, core.ToYear), "2026-11-21", "2027-12-31"},
		{after(1, core.ToYear), "2026-12-31", "2027-12-31"},
		{after(120, core.ToMonth), "2026-11-21", "2036-11-30"},
		// "the next yearly day that is at least 60 days away (29 Feb = 28 Feb in other years)"
		{yearly(time.December, 31), "2026-11-01", "2026-12-31"}, // exactly 60
		{yearly(time.December, 31), "2026-11-02", "2027-12-31"},
		{yearly(time.December, 31), "2026-12-31", "2027-12-31"},
		{yearly(time.February, 29), "2026-06-01", "2027-02-28"},
		{yearly(time.February, 29), "2027-06-01", "2028-02-29"},
		{yearly(time.January, 31), "2026-12-15", "2028-01-31"},
		{core.Expiry{}, "2026-11-21", ""},
		{core.Expiry{Rule: core.NeverExpire}, "2026-11-21", ""},
		{core.Expiry{Rule: core.ExpireInactive, Months: 12, RoundTo: core.ToMonth}, "2026-11-21", ""},
	} {
		if got := shown(c.rule.LastDay(day(c.earned))); got != c.want {
			t.Errorf("%+v, earned on %s: %q, want %q", c.rule, c.earned, got, c.want)
		}
	}
}

func TestIdleDay(t *testing.T) {
	t.Parallel()
	rule := core.Expiry{Rule: core.ExpireInactive, Months: 6, RoundTo: core.ToDay}
	if got := shown(rule.IdleDay(day("2026-08-31"))); got != "2027-02-28" {
		t.Errorf("active on 31 August: %q", got)
	}
	rule.RoundTo = core.ToQuarter
	if got := shown(rule.IdleDay(day("2026-08-31"))); got != "2027-03-31" {
		t.Errorf("until the end of the quarter: %q", got)
	}
	rule.Rule = core.ExpireAfter
	if got := rule.IdleDay(day("2026-08-31")); got != nil {
		t.Errorf("by another rule: %v", got)
	}
}

// "nothing ends before hold_until …; pages show greatest(expires_on, hold_until)"
func TestHold(t *testing.T) {
	t.Parallel()
	hold := core.Expiry{Rule: core.ExpireAfter, Months: 1, Hold: day("2027-01-20")}
	off := core.Expiry{Rule: core.NeverExpire, HoldsAll: true}
	for _, c := range []struct {
		rule       core.Expiry
		last, want string
	}{
		{hold, "2026-12-31", "2027-01-20"},
		{hold, "2027-01-20", "2027-01-20"},
		{hold, "2027-01-21", "2027-01-21"},
		{off, "2027-01-21", ""},
		{core.Expiry{}, "2027-01-21", "2027-01-21"},
	} {
		if got := shown(c.rule.Shown(new(day(c.last)))); got != c.want {
			t.Errorf("%+v shows %s as %q, want %q", c.rule, c.last, got, c.want)
		}
	}
	if got := hold.Shown(nil); got != nil {
		t.Errorf("what never ends is shown with %v", got)
	}
	for today, want := range map[string]bool{"2027-01-19": true, "2027-01-20": true, "2027-01-21": false} {
		if got := hold.IsHeld(day(today)); got != want {
			t.Errorf("held on %s: %t", today, got)
		}
	}
	if !off.IsHeld(day("2100-01-01")) || (core.Expiry{}).IsHeld(day("2026-01-01")) {
		t.Error("a rule that is off holds all; without a rule, nothing is on hold")
	}
}

// A day is that of the business's clocks, whatever they do: a skipped day, two midnights, or none.
func TestDateOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, at, want string }{
		{"Europe/Lisbon", "2026-10-25T23:59:59.999Z", "2026-10-25"},
		{"Europe/Lisbon", "2026-10-26T00:00:00Z", "2026-10-26"},
		{"Asia/Beirut", "2026-03-28T21:59:59.999Z", "2026-03-28"},
		{"Asia/Beirut", "2026-03-28T22:00:00Z", "2026-03-29"}, // 00:00 is 01:00
		{"America/Santiago", "2026-09-06T03:59:59.999Z", "2026-09-05"},
		{"America/Santiago", "2026-09-06T04:00:00Z", "2026-09-06"},
		{"Pacific/Apia", "2011-12-30T09:59:59.999Z", "2011-12-29"},
		{"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"}, // there was no 30th
		{"Pacific/Kiritimati", "2026-11-20T10:00:00Z", "2026-11-21"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339Nano, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := core.DateOf(at, zone).Format(time.DateOnly); got != c.want {
			t.Errorf("%s in %s is %s, want %s", c.at, c.zone, got, c.want)
		}
	}
}
