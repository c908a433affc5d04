// Package format writes numbers, money, dates and the values of core as people read them.
package format

import (
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core"
)

// nbsp keeps a number and its unit on one line.
const nbsp = "\u00a0"

// Number formats a whole number: 1,234,567.
func Number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	return sign + groupThousands(digits)
}

// Signed formats a change: +12, −3.
func Signed(n int64) string {
	if n > 0 {
		return "+" + Number(n)
	}
	return Number(n)
}

func groupThousands(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Count formats a number with its noun: 1 customer, 12 customers.
func Count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Noun is the form of a noun for a number that is shown apart from it.
func Noun(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Percent formats a share or a change in percent, with one decimal: 12.5%.
func Percent(of, whole int64) string {
	if whole == 0 {
		return ""
	}
	return strconv.FormatFloat(100*float64(of)/float64(whole), 'f', 1, 64) + "%"
}

// currencyFormat says how amounts of a currency are formatted.
type currencyFormat struct {
	symbol string
	scale  int // number of decimals
}

func currencyFormatOf(code string) currencyFormat {
	return currencyFormat{symbol: core.CurrencySymbol(code), scale: core.CurrencyDecimals(code)}
}

// Symbol is the sign before amounts of a currency.
func Symbol(code string) string { return core.CurrencySymbol(code) }

// Currency is the code of a currency with its symbol, if it has one: EUR (€).
func Currency(code string) string {
	if sign := Symbol(code); sign != code {
		return code + " (" + sign + ")"
	}
	return code
}

// Decimals is the number of decimals of a currency.
func Decimals(code string) int { return core.CurrencyDecimals(code) }

// Money formats an amount, given in the currency's smallest unit: € 1,234.50.
func Money(cents int64, code string) string {
	t := currencyFormatOf(code)
	sign := ""
	if cents < 0 {
		sign = "−"
	}
	return sign + t.symbol + nbsp + t.decimal(cents, true)
}

// MoneyEach formats what one of n costs if all cost an amount, with two more decimals if it needs them: € 0.0125.
func MoneyEach(cents, n int64, code string) string {
	t := currencyFormatOf(code)
	t.scale += moreDecimals
	each := cents/n*100 + (cents%n*100+n/2)/n
	if each == 0 && cents > 0 {
		return "under " + t.symbol + nbsp + t.decimal(1, true)
	}
	digits := t.decimal(each, true)
	for range moreDecimals {
		digits = strings.TrimSuffix(digits, "0")
	}
	return t.symbol + nbsp + strings.TrimSuffix(digits, ".")
}

// moreDecimals is how many more decimals a price of one point has than a currency.
const moreDecimals = 2

// Amount formats an amount for an input field: 1234.50.
func Amount(cents int64, code string) string {
	sign := ""
	if cents < 0 {
		sign = "-"
	}
	return sign + currencyFormatOf(code).decimal(cents, false)
}

// AmountExample is an amount as people type it: 24.50. With three decimals, 24.500 could also mean thousands.
func AmountExample(code string) string {
	switch Decimals(code) {
	case 0:
		return "2450"
	case 2:
		return "24.50"
	}
	return "24.5"
}

// Decimal formats an amount without its currency: 1,234.50.
func Decimal(cents int64, code string) string { return currencyFormatOf(code).decimal(cents, true) }

// decimal formats an amount without its sign.
func (t currencyFormat) decimal(cents int64, group bool) string {
	digits := strings.TrimPrefix(strconv.FormatInt(cents, 10), "-")
	if len(digits) <= t.scale {
		digits = strings.Repeat("0", t.scale-len(digits)+1) + digits
	}
	whole, rest := digits[:len(digits)-t.scale], digits[len(digits)-t.scale:]
	if group {
		whole = groupThousands(whole)
	}
	if rest == "" {
		return whole
	}
	return whole + "." + rest
}

// Time formats an instant in a time zone: 21 Nov 2026, 14:05.
func Time(t time.Time, zone *time.Location) string { return t.In(zone).Format("2 Jan 2006, 15:04") }

// Days writes a range of days: 1–30 Sep 2026.
func Days(from, to time.Time) string {
	const whole = "2 Jan 2006"
	switch {
	case from.Equal(to):
		return to.Format(whole)
	case from.Year() != to.Year():
		return from.Format(whole) + " – " + to.Format(whole)
	case from.Month() != to.Month():
		return from.Format("2 Jan") + " – " + to.Format(whole)
	}
	return strconv.Itoa(from.Day()) + "–" + to.Format(whole)
}

// Period writes a range of days by its calendar months or year, if it is whole: September 2026, July–September
// 2026, 2025; otherwise as Days.
func Period(from, to time.Time) string {
	switch {
	case from.Day() != 1 || to.AddDate(0, 0, 1).Day() != 1 || from.Year() != to.Year():
		return Days(from, to)
	case from.Month() == time.January && to.Month() == time.December:
		return to.Format("2006")
	case from.Month() == to.Month():
		return to.Format("January 2006")
	}
	return from.Format("January") + "–" + to.Format("January 2006")
}

// Date formats the day of an instant in a time zone: 21 Nov 2026.
func Date(t time.Time, zone *time.Location) string { return t.In(zone).Format("2 Jan 2006") }

// Moment formats an instant relative to today: Today, 14:05; Tomorrow, 08:00; 21 Nov, 14:05; with
// the year if it isn't the current one.
func Moment(t, now time.Time, zone *time.Location) string {
	t, now = t.In(zone), now.In(zone)
	day, clock := "2 Jan, ", "15:04"
	for label, days := range map[string]int{"Yesterday": -1, "Today": 0, "Tomorrow": 1} {
		if t.Format(time.DateOnly) == now.AddDate(0, 0, days).Format(time.DateOnly) {
			return label + ", " + t.Format(clock)
		}
	}
	if t.Year() != now.Year() {
		day = "2 Jan 2006, "
	}
	return t.Format(day + clock)
}

// On is a moment inside a sentence: today, 14:05; yesterday, 08:00; on 21 Nov, 14:05.
func On(t, now time.Time, zone *time.Location) string {
	moment := Moment(t, now, zone)
	if moment[0] <= '9' { // a date
		return "on " + moment
	}
	return strings.ToLower(moment)
}

// Day names the day of an instant: Today, 21 Nov; Yesterday, 20 Nov; Thu 19 Nov; with the year if it isn't
// the current one.
func Day(t, now time.Time, zone *time.Location) string {
	t, now = t.In(zone), now.In(zone)
	switch day := t.Format("2 Jan"); {
	case t.Format(time.DateOnly) == now.Format(time.DateOnly):
		return "Today, " + day
	case t.Format(time.DateOnly) == now.AddDate(0, 0, -1).Format(time.DateOnly):
		return "Yesterday, " + day
	case t.Year() != now.Year():
		return t.Format("Mon 2 Jan 2006")
	}
	return t.Format("Mon 2 Jan")
}

// Clock formats the time of day of an instant: 14:05.
func Clock(t time.Time, zone *time.Location) string { return t.In(zone).Format("15:04") }

// Ago formats how long ago an instant was, or its day if that is more than a week.
func Ago(t, now time.Time, zone *time.Location) string {
	switch past := now.Sub(t); {
	case past < time.Minute:
		return "just now"
	case past < time.Hour:
		return strconv.Itoa(int(past/time.Minute)) + " min ago"
	case past < 24*time.Hour:
		return strconv.Itoa(int(past/time.Hour)) + " h ago"
	case past < 7*24*time.Hour:
		days := int(past / (24 * time.Hour))
		return Count(int64(days), "day", "days") + " ago"
	}
	return Date(t, zone)
}
