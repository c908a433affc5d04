package sandbox

import (
	"strconv"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

// Expiring has customers whose points end in different ways, a year after they were earned, and one with refunds.
type Expiring struct {
	Never            core.ID `json:"never"` // 30 points, from before the rule
	OneLot           core.ID `json:"one_lot"`
	ThreeLots        core.ID `json:"three_lots"` // 10 points of each of three days
	DueTomorrow      core.ID `json:"due_tomorrow"`
	BelowZero        core.ID `json:"below_zero"`         // -50 points
	ExpiredAndVoided core.ID `json:"expired_and_voided"` // 40 points ended, came back, and were taken back
	Refunded         core.ID `json:"refunded"`           // 10 points of 30: two thirds of the sale were refunded, in three parts
}

// pointsLast is how many months points last.
const pointsLast = 12

// addExpiring sets how points end, and adds a customer of each kind.
func (b *business) addExpiring() {
	e := &b.Expiring
	e.Never = b.addEarner()
	b.shop.Sale(e.Never, b.purchase, 3000)
	b.shop.SetExpiry(ledger.Points, core.Expiry{Rule: core.ExpireAfter, Months: pointsLast, RoundTo: core.ToDay, GraceDays: 30}, nil)

	e.OneLot = b.addEarner()
	b.shop.Sale(e.OneLot, b.purchase, 3000)
	e.ThreeLots = b.addEarner()
	now := b.DB.Now()
	for _, months := range []int{8, 4, 0} {
		b.before(now.Sub(now.AddDate(0, -months, 0)), func() { b.shop.Sale(e.ThreeLots, b.purchase, 1000) })
	}
	e.DueTomorrow = b.addEarner()
	b.before(now.Sub(now.AddDate(0, -pointsLast, 1)), func() { b.shop.Sale(e.DueTomorrow, b.purchase, 2500) })
	e.BelowZero = b.addEarner()
	sale := b.shop.Sale(e.BelowZero, b.purchase, 8000)
	b.shop.Must(core.Result(b.shop.Customers.Adjust(b.shop.Context(), b.shop.By, e.BelowZero, customer.Adjustment{
		Unit: string(ledger.Points), Amount: -50, Reason: "Spent elsewhere",
	}, nil)))
	b.void(sale.ID)
	e.ExpiredAndVoided = b.addEarner()
	b.before(now.Sub(now.AddDate(0, -pointsLast-1, 0)), func() { sale = b.shop.Sale(e.ExpiredAndVoided, b.purchase, 4000) })
	b.shop.ExpireDue()
	b.void(sale.ID)
	e.Refunded = b.addEarner()
	sale = b.shop.Sale(e.Refunded, b.purchase, 3000)
	for _, cents := range []int64{500, 700, 800} {
		b.shop.Must(core.Result(b.shop.Transactions.Refund(b.shop.Context(), b.shop.By, sale.ID, transaction.RefundRequest{AmountCents: cents}, nil, nil)))
	}
}

// addEarner adds a customer with a number of their own.
func (b *business) addEarner() core.ID {
	b.earners++
	n := strconv.Itoa(b.earners)
	return b.addCustomer("Earner", n, "+46 8 465 3000"+n, "").ID
}

func (b *business) void(sale core.ID) {
	b.shop.Must(core.Result(b.shop.Transactions.Void(b.shop.Context(), b.shop.By, sale, nil, nil)))
}
