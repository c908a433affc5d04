package format

import (
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
)

// VoucherValue is what a voucher is worth, as its customer reads it: "€ 5.00" and "off your order".
type VoucherValue struct {
	Symbol string // of the currency, before the value; "" for none
	Value  string // "5.00", "20%", "40" or the name of a reward
	What   string
}

// VoucherValueOf returns the value of a voucher with a benefit.
func VoucherValueOf(b coupon.Benefit, rewardName *string, currency string) VoucherValue {
	switch b.BenefitType {
	case coupon.Points:
		return VoucherValue{Value: Number(*b.BenefitValue), What: oneOrMany(*b.BenefitValue, "point", "points")}
	case coupon.Stamps:
		return VoucherValue{Value: Number(*b.BenefitValue), What: oneOrMany(*b.BenefitValue, "stamp", "stamps")}
	case coupon.Percent:
		return VoucherValue{Value: Number(*b.BenefitValue) + "%", What: "off your order"}
	case coupon.Amount:
		symbol, value, _ := strings.Cut(Money(*b.BenefitValue, currency), nbsp)
		return VoucherValue{Symbol: symbol, Value: value, What: "off your order"}
	case coupon.Reward:
	}
	w := VoucherValue{What: "for free"}
	if rewardName != nil {
		w.Value = *rewardName
	}
	return w
}

// Amount is the value with its currency: "€ 5.00".
func (w VoucherValue) Amount() string {
	if w.Symbol == "" {
		return w.Value
	}
	return w.Symbol + nbsp + w.Value
}

// String is the value as one line: "€ 5.00 off your order".
func (w VoucherValue) String() string { return w.Amount() + " " + w.What }

// FirstDay formats the day that begins at an instant: "6 Jan 2027". If none begins then, it adds the time.
func FirstDay(start time.Time, zone *time.Location) string {
	if isMidnight(start, zone) {
		return Date(start, zone)
	}
	return Time(start, zone)
}

// LastDay formats the day that ends at an instant: "6 Jan 2027". If none ends then, it adds the time.
func LastDay(end time.Time, zone *time.Location) string {
	if isMidnight(end, zone) {
		return Date(end.Add(-time.Millisecond), zone)
	}
	return Time(end, zone)
}

// isMidnight reports whether a day of the zone begins at an instant.
func isMidnight(at time.Time, zone *time.Location) bool {
	year, month, day := at.In(zone).Date()
	return core.StartOfDay(year, month, day, zone).Equal(at)
}

// DaysLeft counts the days from today to the last day before end: 0 on the last day.
func DaysLeft(now, end time.Time, zone *time.Location) int {
	return int(calendarDay(end.Add(-time.Millisecond), zone).Sub(calendarDay(now, zone)) / (24 * time.Hour))
}

// calendarDay is the local day of an instant as a day in UTC, where every day has 24 hours.
func calendarDay(at time.Time, zone *time.Location) time.Time {
	year, month, day := at.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// CodeGroups splits a voucher's code into groups, which are easier to read out and type. The panel
// accepts the code with and without spaces.
func CodeGroups(id core.ID) (groups []string) {
	const group = 5
	code := id.String()
	for len(code) > group+1 { // 26 letters: the last group has six
		groups, code = append(groups, code[:group]), code[group:]
	}
	return append(groups, code)
}
