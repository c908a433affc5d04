package coupon_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
)

// The amount typed is before discounts: percentages come off first, each from what is left, then amounts, and
// never more than is left.
func TestBill(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	voucher := func(kind coupon.BenefitType, value int64, days int) coupon.Voucher {
		v := coupon.Voucher{ID: core.NewID(day), Benefit: coupon.Benefit{BenefitType: kind, BenefitValue: &value}}
		if days > 0 {
			v.ExpiresAt = new(day.AddDate(0, 0, days))
		}
		return v
	}
	percent := func(value int64, days int) coupon.Voucher { return voucher(coupon.Percent, value, days) }
	amount := func(cents int64, days int) coupon.Voucher { return voucher(coupon.Amount, cents, days) }
	reward := coupon.Voucher{ID: core.NewID(day), Benefit: coupon.Benefit{BenefitType: coupon.Reward}}
	for name, c := range map[string]struct {
		total    int64
		vouchers []coupon.Voucher
		off      []int64
		paid     int64
		unused   int64
	}{
		"no voucher":                 {1000, nil, nil, 1000, 0},
		"percent before the amount":  {1000, []coupon.Voucher{amount(300, 1), percent(20, 2)}, []int64{200, 300}, 500, 0},
		"percent of what is left":    {10000, []coupon.Voucher{percent(20, 1), percent(10, 2)}, []int64{2000, 800}, 7200, 0},
		"the first to expire first":  {10000, []coupon.Voucher{percent(20, 2), percent(10, 1)}, []int64{1000, 1800}, 7200, 0},
		"one that never expires":     {10000, []coupon.Voucher{percent(20, 0), percent(10, 1)}, []int64{1000, 1800}, 7200, 0},
		"half up":                    {1005, []coupon.Voucher{percent(50, 1)}, []int64{503}, 502, 0},
		"below half":                 {1004, []coupon.Voucher{percent(1, 1)}, []int64{10}, 994, 0},
		"one cent":                   {1, []coupon.Voucher{percent(50, 1)}, []int64{1}, 0, 0},
		"all of it":                  {1999, []coupon.Voucher{percent(100, 1)}, []int64{1999}, 0, 0},
		"percent of nothing":         {1999, []coupon.Voucher{percent(100, 1), percent(20, 2)}, []int64{1999, 0}, 0, 0},
		"exactly what is left":       {500, []coupon.Voucher{amount(500, 1)}, []int64{500}, 0, 0},
		"more than what is left":     {1000, []coupon.Voucher{amount(900, 1), percent(20, 1)}, []int64{200, 800}, 0, 100},
		"nor is a second one":        {1000, []coupon.Voucher{amount(900, 1), amount(300, 2)}, []int64{900, 100}, 0, 200},
		"nothing to pay":             {0, []coupon.Voucher{amount(900, 1), percent(20, 1)}, []int64{0, 0}, 0, 900},
		"points, stamps and rewards": {1000, []coupon.Voucher{voucher(coupon.Points, 50, 1), voucher(coupon.Stamps, 5, 1), reward}, nil, 1000, 0},
		"the largest sale":           {1_000_000_000_000, []coupon.Voucher{percent(33, 1)}, []int64{330_000_000_000}, 670_000_000_000, 0},
		"the largest number":         {math.MaxInt64, []coupon.Voucher{percent(100, 1)}, []int64{math.MaxInt64}, 0, 0},
		"the largest voucher":        {1000, []coupon.Voucher{amount(math.MaxInt64, 1)}, []int64{1000}, 0, math.MaxInt64 - 1000},
	} {
		got := coupon.BillFor(c.total, c.vouchers)
		var off []int64
		for _, d := range got.Discounts {
			off = append(off, d.Cents)
		}
		if got.TotalCents != c.total || !slices.Equal(off, c.off) || got.PaidCents != c.paid || got.OffCents() != c.total-c.paid || got.UnusedCents() != c.unused {
			t.Errorf("%s: %d − %v = %d, unused %d; want − %v = %d, unused %d", name, got.TotalCents, off, got.PaidCents, got.UnusedCents(), c.off, c.paid, c.unused)
		}
	}
}
