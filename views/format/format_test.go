package format_test

import (
	"strings"
	"testing"
	"time"

	"example.com/loyalty/views/format"
)

// "Money in its currency": as many digits behind the point as the currency has.
func TestMoney(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cents      int64
		code, want string
	}{
		{2450, "EUR", "€ 24.50"},
		{0, "EUR", "€ 0.00"},
		{5, "EUR", "€ 0.05"},
		{9632000, "EUR", "€ 96,320.00"},
		{-250, "EUR", "−€ 2.50"},
		{-1 << 63, "EUR", "−€ 92,233,720,368,547,758.08"},
		{1_000_000_000_000, "SEK", "SEK 10,000,000,000.00"},
		{1234, "JPY", "¥ 1,234"},
		{1234, "KWD", "KWD 1.234"},
		{1234, "ZWG", "ZWG 12.34"}, // younger than the library's list
	} {
		if got := strings.ReplaceAll(format.Money(c.cents, c.code), "\u00a0", " "); got != c.want {
			t.Errorf("%d of %s = %q, want %q", c.cents, c.code, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "−1,234,567", 1<<63 - 1: "9,223,372,036,854,775,807"} {
		if got := format.Number(n); got != want {
			t.Errorf("%d = %q, want %q", n, got, want)
		}
	}
	if got := format.Signed(12) + format.Signed(-3) + format.Signed(0); got != "+12−30" {
		t.Errorf("signed = %q", got)
	}
	if got := format.Count(1, "sale", "sales") + format.Count(2, "sale", "sales"); got != "1 sale2 sales" {
		t.Errorf("counts = %q", got)
	}
}

// "Times in the tenant's zone."
func TestTimes(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 23, 5, 0, 0, time.UTC)
	if got := format.Time(at, zone) + "|" + format.Date(at, zone); got != "21 Nov 2026, 12:05|21 Nov 2026" {
		t.Errorf("time = %q", got)
	}
	for past, want := range map[time.Duration]string{
		-time.Second: "just now", 59 * time.Second: "just now", 2 * time.Minute: "2 min ago", 90 * time.Minute: "1 h ago",
		25 * time.Hour: "1 day ago", 6 * 24 * time.Hour: "6 days ago", 8 * 24 * time.Hour: "21 Nov 2026",
	} {
		if got := format.Ago(at, at.Add(past), zone); got != want {
			t.Errorf("after %s: %q, want %q", past, got, want)
		}
	}
}

// What one point costs has two more decimals where it needs them.
func TestMoneyEach(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cents, n int64
		currency string
		want     string
	}{
		{20, 10, "EUR", "€ 0.02"},
		{350, 300, "EUR", "€ 0.0117"},
		{1, 8, "EUR", "€ 0.0013"},
		{90, 75, "EUR", "€ 0.012"},
		{123_450, 1, "EUR", "€ 1,234.50"},
		{1, 1_000, "EUR", "under € 0.0001"},
		{0, 5, "EUR", "€ 0.00"},
		{400, 10, "JPY", "¥ 40"},
		{45, 10, "JPY", "¥ 4.5"},
	} {
		if got := strings.ReplaceAll(format.MoneyEach(c.cents, c.n, c.currency), "\u00a0", " "); got != c.want {
			t.Errorf("%d of %s for %d: %q, want %q", c.cents, c.currency, c.n, got, c.want)
		}
	}
}
