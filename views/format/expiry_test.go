package format_test

import (
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/views/format"
)

func day(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return d
}

// Customers read how points and stamps end in one sentence, and nothing where they don't.
func TestHowTheyExpire(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit ledger.Unit
		rule core.Expiry
		want string
	}{
		{ledger.Points, core.Expiry{}, ""},
		{ledger.Stamps, core.Expiry{Rule: core.NeverExpire, HoldsAll: true}, ""},
		{ledger.Points, core.Expiry{Rule: core.ExpireAfter, Months: 12, RoundTo: core.ToMonth}, "Points can be spent for 12 months after you earn them, until the end of that month."},
		{ledger.Stamps, core.Expiry{Rule: core.ExpireAfter, Months: 1, RoundTo: core.ToDay}, "Stamps can be spent for 1 month after you earn them."},
		{
			ledger.Stamps,
			core.Expiry{Rule: core.ExpireYearly, Month: time.December, Day: 31},
			"Stamps expire on 31 December of each year, but never within 60 days of earning them.",
		},
		{
			ledger.Points,
			core.Expiry{Rule: core.ExpireInactive, Months: 12, RoundTo: core.ToDay},
			"All points expire if you don't buy or redeem anything for 12 months.",
		},
	} {
		if got := format.HowTheyExpire(c.unit, c.rule); got != c.want {
			t.Errorf("%+v: %q, want %q", c.rule, got, c.want)
		}
	}
}

func TestEndsSoon(t *testing.T) {
	t.Parallel()
	today := day("2026-12-14")
	for _, c := range []struct {
		amount int64
		last   string
		idle   bool
		want   string
	}{
		{40, "2027-01-31", false, "40 points expire on 31 Jan"},
		{1, "2027-02-12", false, "1 point expires on 12 Feb"}, // the 60th day
		{40, "2027-02-13", false, ""},
		{40, "2026-12-14", false, "40 points expire today"},
		{40, "2026-12-13", false, "40 points expired on 13 Dec"},
		{1200, "2027-01-31", true, "1,200 points expire on 31 Jan without a visit"},
	} {
		last := day(c.last)
		shown := []ledger.Ending{{Unit: ledger.Points, Amount: c.amount, ExpiresOn: &last, Idle: c.idle}}
		if got := format.EndsSoon(shown, ledger.Points, today); got != c.want {
			t.Errorf("%s: %q, want %q", c.last, got, c.want)
		}
		if got := format.EndsSoon(shown, ledger.Stamps, today); got != "" {
			t.Errorf("stamps: %q", got)
		}
	}
}
