package format

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

// Reader is who reads a page, and when. Amounts are in the currency of their business, times in its zone; on the
// platform, times are in UTC.
type Reader struct {
	By  core.Actor
	Now time.Time
}

// May reports whether the reader has a role of the business, or a higher one. It only decides what a page offers: core
// checks what is done.
func (r Reader) May(least core.Role) bool { return r.By.Role.Includes(least) }

// Zone is the reader's time zone.
func (r Reader) Zone() *time.Location {
	if r.By.Tenant.TimeZone == nil {
		return time.UTC
	}
	return r.By.Tenant.TimeZone
}

// Money formats an amount: € 1,234.50.
func (r Reader) Money(cents int64) string { return Money(cents, r.By.Tenant.Currency) }

// MoneyEach formats what one of n costs if all cost an amount: € 0.0125.
func (r Reader) MoneyEach(cents, n int64) string { return MoneyEach(cents, n, r.By.Tenant.Currency) }

// Symbol is the sign before amounts.
func (r Reader) Symbol() string { return Symbol(r.By.Tenant.Currency) }

// Number formats a whole number: 1,234,567.
func (r Reader) Number(n int64) string { return Number(n) }

// Units formats an amount of points or stamps: 12 points.
func (r Reader) Units(n int64, unit ledger.Unit) string { return Units(n, unit) }

// Rule is what a sale of a type earns: 1 point for every € 1.00.
func (r Reader) Rule(t transaction.Type) string { return Rule(t, r.By.Tenant.Currency) }

// Count formats a number with its noun: 12 customers.
func (r Reader) Count(n int64, one, many string) string { return Count(n, one, many) }

// Date formats the day of an instant: 21 Nov 2026.
func (r Reader) Date(t time.Time) string { return Date(t, r.Zone()) }

// Time formats an instant: 21 Nov 2026, 14:05.
func (r Reader) Time(t time.Time) string { return Time(t, r.Zone()) }

// Clock formats the time of day of an instant: 14:05.
func (r Reader) Clock(t time.Time) string { return Clock(t, r.Zone()) }

// Moment formats an instant relative to today: Today, 14:05.
func (r Reader) Moment(t time.Time) string { return Moment(t, r.Now, r.Zone()) }

// On is a moment inside a sentence: today, 14:05.
func (r Reader) On(t time.Time) string { return On(t, r.Now, r.Zone()) }

// Day names the day of an instant: Today, 21 Nov.
func (r Reader) Day(t time.Time) string { return Day(t, r.Now, r.Zone()) }

// Ago formats how long ago an instant was: 5 min ago.
func (r Reader) Ago(t time.Time) string { return Ago(t, r.Now, r.Zone()) }

// FirstDay formats the day that begins at an instant: 6 Jan 2027.
func (r Reader) FirstDay(start time.Time) string { return FirstDay(start, r.Zone()) }

// LastDay formats the day that ends at an instant: 6 Jan 2027.
func (r Reader) LastDay(end time.Time) string { return LastDay(end, r.Zone()) }
