package sandbox

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/fixture"
)

// Voucher is a voucher with its coupon and customer.
type Voucher struct {
	ULID     core.ID `json:"ulid"`
	Coupon   core.ID `json:"coupon"`
	Customer core.ID `json:"customer"`
}

// Vouchers has one voucher in each state, and several pending ones.
type Vouchers struct {
	Pending        []Voucher `json:"pending"`
	Redeemed       Voucher   `json:"redeemed"`
	Expired        Voucher   `json:"expired"`
	InactiveCoupon Voucher   `json:"inactive_coupon"`
	CapReached     Voucher   `json:"cap_reached"`
}

// Capped is a coupon with more vouchers than its total redemption limit.
type Capped struct {
	Coupon   core.ID   `json:"coupon"`
	Cap      int64     `json:"cap"`
	Vouchers []core.ID `json:"vouchers"`
}

const benefitPoints = 5

// addCoupons adds coupons and vouchers. Every voucher belongs to another customer.
func (b *business) addCoupons(ctx context.Context) {
	open := b.send(ctx, b.addCoupon(ctx, coupon.New{Name: "Open"}), 8+12+1)
	b.Coupon = open[0].Coupon
	b.Vouchers.Pending, b.Race.Vouchers, b.Vouchers.Redeemed = open[:8], open[8:20], open[20]

	used := b.send(ctx, b.addCoupon(ctx, coupon.New{Name: "Used up", MaxRedemptions: new(int64(1))}), 2)
	b.Vouchers.CapReached = used[1]
	for _, v := range []Voucher{b.Vouchers.Redeemed, used[0]} {
		fixture.Must(core.Result(b.Coupons.Redeem(ctx, b.owner, v.ULID, nil)))
	}
	b.Vouchers.InactiveCoupon = b.send(ctx, b.addCoupon(ctx, coupon.New{Name: "Switched off"}), 1)[0]
	fixture.Must(b.Coupons.SetActive(ctx, b.owner, b.Vouchers.InactiveCoupon.Coupon, false))
	for range 4 {
		capped := Capped{Cap: 5}
		capped.Coupon = b.addCoupon(ctx, coupon.New{Name: "Capped", MaxRedemptions: &capped.Cap})
		for _, v := range b.send(ctx, capped.Coupon, 24) {
			capped.Vouchers = append(capped.Vouchers, v.ULID)
		}
		b.Race.Capped = append(b.Race.Capped, capped)
	}
	now := b.Maker
	b.Maker = b.ago(7 * 24 * time.Hour)
	b.Vouchers.Expired = b.send(ctx, b.addCoupon(ctx, coupon.New{Name: "Last week", VoucherValidDays: new(int64(1))}), 1)[0]
	b.Maker = now
}

// addCoupon adds a coupon for points.
func (b *business) addCoupon(ctx context.Context, n coupon.New) core.ID {
	n.BenefitType, n.BenefitValue = string(coupon.Points), new(int64(benefitPoints))
	return fixture.Must(core.Result(b.Coupons.Add(ctx, b.owner, n, nil))).ID
}

// ago returns a maker whose clock is set back.
func (m Maker) ago(past time.Duration) Maker {
	then := m.DB.Now().Add(-past)
	m.DB = m.DB.At(then)
	m.Customers, m.Coupons = customer.NewService(m.DB), m.Coupons.At(then)
	return m
}

// send sends a coupon to a number of new customers.
func (b *business) send(ctx context.Context, id core.ID, customers int) []Voucher {
	to := make([]string, customers)
	for i := range to {
		b.holders++
		to[i] = b.addCustomer(ctx, "Holder", strconv.Itoa(b.holders), fmt.Sprintf("+46 8 465 0%05d", b.holders), nil).ID.String()
	}
	return b.sendTo(ctx, id, to)
}

func (b *business) addCustomer(ctx context.Context, first, last, phone string, email *string) customer.Upserted {
	return fixture.Must(core.Result(b.Customers.Upsert(ctx, b.owner, customer.New{FirstName: first, LastName: last, Phone: phone, Email: core.OrZero(email)}, nil)))
}

// sendTo sends a coupon to customers without e-mails, and returns the vouchers.
func (b *business) sendTo(ctx context.Context, id core.ID, to []string) []Voucher {
	sent := fixture.Must(b.Coupons.Send(ctx, b.owner, id, coupon.Send{Segment: coupon.Manual, Customers: to, FormKey: id.String()}))
	fixture.CreateVouchers(ctx, b.Coupons, b.owner, sent.ID)
	var vouchers []Voucher
	for _, v := range fixture.Must(b.Coupons.ListSent(ctx, b.owner, sent.ID, core.Page{Size: len(to)})).Items {
		vouchers = append(vouchers, Voucher{v.ID, v.CouponID, v.CustomerID})
	}
	return vouchers
}
