package coupon

import (
	"cmp"
	"slices"

	"example.com/loyalty/core"
)

// Bill is a sale's amount before and after the discounts of its vouchers.
type Bill struct {
	TotalCents int64 // before discounts
	Discounts  []Discount
	PaidCents  int64
}

// Discount is what one voucher takes off a bill.
type Discount struct {
	Voucher core.ID
	Benefit
	Cents int64 // less than the voucher's amount if less was left to pay
}

// OffCents is what all vouchers take off.
func (b Bill) OffCents() int64 { return b.TotalCents - b.PaidCents }

// UnusedCents is the part of the vouchers' amounts that was more than was left to pay. It isn't paid out.
func (b Bill) UnusedCents() (unused int64) {
	for _, d := range b.Discounts {
		if d.BenefitType == Amount {
			unused += *d.BenefitValue - d.Cents
		}
	}
	return unused
}

// BillFor applies vouchers to a sale's amount before discounts: first percentages, each on what is left after the
// one before it and rounded to the smallest unit, half up; then amounts, down to zero. Of either kind, the first to
// expire comes first. Other benefits leave the amount as it is.
func BillFor(totalCents int64, vouchers []Voucher) Bill {
	b := Bill{TotalCents: totalCents, PaidCents: totalCents}
	for _, kind := range []BenefitType{Percent, Amount} {
		for _, v := range slices.SortedFunc(slices.Values(vouchers), firstToExpire) {
			if v.BenefitType != kind {
				continue
			}
			off := min(*v.BenefitValue, b.PaidCents)
			if kind == Percent {
				off = min(percentOf(b.PaidCents, *v.BenefitValue), b.PaidCents)
			}
			b.PaidCents -= off
			b.Discounts = append(b.Discounts, Discount{Voucher: v.ID, Benefit: v.Benefit, Cents: off})
		}
	}
	return b
}

// percentOf rounds half up. It can't overflow.
func percentOf(cents, percent int64) int64 {
	return cents/100*percent + (cents%100*percent+50)/100
}

// firstToExpire orders vouchers as the till lists them.
func firstToExpire(a, b Voucher) int {
	switch {
	case a.ExpiresAt == nil && b.ExpiresAt != nil:
		return 1
	case a.ExpiresAt != nil && b.ExpiresAt == nil:
		return -1
	case a.ExpiresAt != nil && !a.ExpiresAt.Equal(*b.ExpiresAt):
		return a.ExpiresAt.Compare(*b.ExpiresAt)
	}
	return cmp.Compare(a.ID.String(), b.ID.String())
}
