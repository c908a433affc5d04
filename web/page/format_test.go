package page_test

import (
	"strings"
	"testing"
	"time"

	"example.com/loyalty/web/page"
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
		{1_000_000_000_000, "SEK", "SEK 10,000,000,000.00"},
		{1234, "JPY", "¥ 1,234"},
		{1234, "KWD", "KWD 1.234"},
		{1234, "ZWG", "ZWG 12.34"}, // younger than the library's list
	} {
		if got := strings.ReplaceAll(page.Money(c.cents, c.code), "\u00a0", " "); got != c.want {
			t.Errorf("%d of %s = %q, want %q", c.cents, c.code, got, c.want)
		}
	}
}

// A cashier types what the receipt says, in whatever habit.
func TestParseAmount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"24.50": 2450, "24,50": 2450, "24": 2400, "24.5": 2450, "0": 0, "0,05": 5, " € 24.50 ": 2450, "24.50 EUR": 2450,
		"1,234.50": 123450, "1.234,50": 123450, "1 234,50": 123450, "1'234.50": 123450, "1,234": 123400, "1.234.567": 123456700,
		"12,345,678.90": 1234567890, "1\u202f234,50": 123450, "1 234": 123400, "\t24.50\t": 2450, "1’234": 123400,
	} {
		if got, ok := page.ParseAmount(text, "EUR"); !ok || got != want {
			t.Errorf("%q = %d, %t; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "-1", "+1", "abc", "1e3", "24.505.1", "12,34,56", "1,23.4.5", ".", ",5", "24.5678", "99999999999999999999", "1.2,3", "1234.567,8", "0x10", "１２",
		"24 50", "24 5", "0.001", "0,500", "012,345", "24\t50", "2 4.50", "1 234.567", "12'50", "1 2345",
	} {
		if got, ok := page.ParseAmount(text, "EUR"); ok {
			t.Errorf("%q is read as %d", text, got)
		}
	}
	if got, ok := page.ParseAmount("1234", "JPY"); !ok || got != 1234 {
		t.Errorf("1234 JPY = %d, %t", got, ok)
	}
	for text, want := range map[string]int64{"1.234": 1234, "12.5": 12500, "12,5": 12500, "1,234.500": 1234500, "1.234,500": 1234500, "1,234,567": 1234567000, "1 234,500": 1234500} {
		if got, ok := page.ParseAmount(text, "KWD"); !ok || got != want {
			t.Errorf("%s KWD = %d, %t; want %d", text, got, ok, want)
		}
	}
	if got, ok := page.ParseAmount("12,500", "KWD"); ok {
		t.Errorf("12,500 KWD, twelve and a half or twelve thousand five hundred, is read as %d", got)
	}
}

// What a field shows is read back as the same amount.
func TestAmountsSurviveTheirField(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"EUR", "JPY", "KWD", "SEK"} {
		for _, cents := range []int64{0, 1, 9, 10, 99, 100, 999, 1000, 1001, 123456, 1_000_000_000_000} {
			if got, ok := page.ParseAmount(page.Amount(cents, code), code); !ok || got != cents {
				t.Errorf("%d of %s is written %s and read as %d, %t", cents, code, page.Amount(cents, code), got, ok)
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "−1,234,567", 1<<63 - 1: "9,223,372,036,854,775,807"} {
		if got := page.Number(n); got != want {
			t.Errorf("%d = %q, want %q", n, got, want)
		}
	}
	if got := page.Signed(12) + page.Signed(-3) + page.Signed(0); got != "+12−30" {
		t.Errorf("signed = %q", got)
	}
	if got := page.Count(1, "sale", "sales") + page.Count(2, "sale", "sales"); got != "1 sale2 sales" {
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
	if got := page.Time(at, zone) + "|" + page.Date(at, zone); got != "21 Nov 2026, 12:05|21 Nov 2026" {
		t.Errorf("time = %q", got)
	}
	for past, want := range map[time.Duration]string{
		-time.Second: "just now", 59 * time.Second: "just now", 2 * time.Minute: "2 min ago", 90 * time.Minute: "1 h ago",
		25 * time.Hour: "1 day ago", 6 * 24 * time.Hour: "6 days ago", 8 * 24 * time.Hour: "21 Nov 2026",
	} {
		if got := page.Ago(at, at.Add(past), zone); got != want {
			t.Errorf("after %s: %q, want %q", past, got, want)
		}
	}
}
