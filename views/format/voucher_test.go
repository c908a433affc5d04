package format_test

import (
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core/coupon"
	"example.com/loyalty/views/format"
)

// What a voucher is worth, whatever its benefit, in the currency's own decimals.
func TestWorthOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind     coupon.BenefitType
		value    int64
		currency string
		want     string
	}{
		{coupon.Points, 1, "EUR", "1 point"},
		{coupon.Points, 1200, "EUR", "1,200 points"},
		{coupon.Stamps, 1, "EUR", "1 stamp"},
		{coupon.Stamps, 3, "EUR", "3 stamps"},
		{coupon.Percent, 20, "EUR", "20% off your order"},
		{coupon.Amount, 500, "EUR", "€ 5.00 off your order"},
		{coupon.Amount, 123_456, "JPY", "¥ 123,456 off your order"},
		{coupon.Amount, 1500, "KWD", "KWD 1.500 off your order"},
		{coupon.Reward, 0, "EUR", "Cinnamon bun for free"},
	} {
		b := coupon.Benefit{BenefitType: c.kind, BenefitValue: &c.value}
		w := format.VoucherValueOf(b, new("Cinnamon bun"), c.currency)
		if got := strings.ReplaceAll(w.String(), "\u00a0", " "); got != c.want {
			t.Errorf("%s of %d: %q, want %q", c.kind, c.value, got, c.want)
		}
		if c.kind == coupon.Amount && w.Amount() != w.Symbol+"\u00a0"+w.Value {
			t.Errorf("%s of %d: %+v parts at another place", c.kind, c.value, w)
		}
	}
}

// A voucher is valid until its last day ends, in the days of its business.
func TestLastDayAndDaysLeft(t *testing.T) {
	t.Parallel()
	stockholm, err := time.LoadLocation("Europe/Stockholm")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		now, end string
		last     string
		left     int
	}{
		{"2026-11-22T10:00:00Z", "2027-01-06T23:00:00Z", "6 Jan 2027", 45},
		{"2027-01-06T22:59:59Z", "2027-01-06T23:00:00Z", "6 Jan 2027", 0},
		{"2027-01-05T23:00:00Z", "2027-01-06T23:00:00Z", "6 Jan 2027", 0},
		{"2027-01-05T22:59:59Z", "2027-01-06T23:00:00Z", "6 Jan 2027", 1},
		{"2026-03-28T12:00:00Z", "2026-03-29T22:00:00Z", "29 Mar 2026", 1},        // the clocks go forward
		{"2026-10-24T12:00:00Z", "2026-10-25T23:00:00Z", "25 Oct 2026", 1},        // and back
		{"2026-11-22T10:00:00Z", "2026-11-23T13:30:00Z", "23 Nov 2026, 14:30", 1}, // no day ends then
	} {
		now, errNow := time.Parse(time.RFC3339, c.now)
		end, errEnd := time.Parse(time.RFC3339, c.end)
		if errNow != nil || errEnd != nil {
			t.Fatal(errNow, errEnd)
		}
		if last, left := format.LastDay(end, stockholm), format.DaysLeft(now, end, stockholm); last != c.last || left != c.left {
			t.Errorf("at %s until %s: %q, %d days left, want %q, %d", c.now, c.end, last, left, c.last, c.left)
		}
	}
}
