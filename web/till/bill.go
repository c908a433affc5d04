package till

import (
	"math"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/till"
)

// billFor is the bill of an amount before discounts; nil if none of the vouchers is a discount.
func billFor(totalCents int64, vouchers []coupon.ShownVoucher) *coupon.Bill {
	var list []coupon.Voucher
	for _, v := range vouchers {
		list = append(list, v.Voucher)
	}
	if b := coupon.BillFor(totalCents, list); len(b.Discounts) > 0 {
		return &b
	}
	return nil
}

// chosenVouchers are the vouchers that the draft uses.
func (d draft) chosenVouchers(list []coupon.ShownVoucher) []coupon.ShownVoucher {
	return slices.DeleteFunc(slices.Clone(list), func(v coupon.ShownVoucher) bool { return !d.uses(v) })
}

// uses reports whether a voucher is chosen, and its customer can use it.
func (d draft) uses(v coupon.ShownVoucher) bool {
	return v.Lacking == nil && slices.Contains(d.vouchers, v.ID)
}

// billView writes out how the amount to pay is calculated: € 10.00 − 20% − € 3.00.
func billView(b *coupon.Bill, currency string) *views.Bill {
	if b == nil {
		return nil
	}
	v := &views.Bill{Sum: format.Money(b.TotalCents, currency), Paid: format.Money(b.PaidCents, currency)}
	for _, d := range b.Discounts {
		v.Sum += " − " + discountText(d.Benefit, currency)
	}
	if unused := b.UnusedCents(); unused > 0 {
		v.Note = "The rest of the voucher, " + format.Money(unused, currency) + ", isn’t paid out"
	}
	return v
}

// discountText is what a voucher takes off: 20%, € 3.00.
func discountText(b coupon.Benefit, currency string) string {
	if b.BenefitType == coupon.Percent {
		return format.Number(*b.BenefitValue) + "%"
	}
	return format.Money(*b.BenefitValue, currency)
}

// discountOf is what a voucher took off a bill.
func discountOf(b *coupon.Bill, voucher core.ID) (coupon.Discount, bool) {
	if b == nil {
		return coupon.Discount{}, false
	}
	at := slices.IndexFunc(b.Discounts, func(d coupon.Discount) bool { return d.Voucher == voucher })
	if at < 0 {
		return coupon.Discount{}, false
	}
	return b.Discounts[at], true
}

// place is where a receipt lists what was used: rewards, then discounts in the order in which they were taken off,
// then other vouchers.
func place(b *coupon.Bill, u walkin.Used) int {
	if u.Voucher == nil {
		return 0
	}
	if b != nil {
		at := slices.IndexFunc(b.Discounts, func(d coupon.Discount) bool { return d.Voucher == u.Voucher.ID })
		if at >= 0 {
			return 1 + at
		}
	}
	return math.MaxInt
}
