package sandbox

import (
	"fmt"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/sample"
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
func (b *business) addCoupons() {
	open := b.send(b.addCoupon(coupon.New{Name: "Open"}), 8+12+1)
	b.Coupon = open[0].Coupon
	b.Vouchers.Pending, b.Race.Vouchers, b.Vouchers.Redeemed = open[:8], open[8:20], open[20]

	used := b.send(b.addCoupon(coupon.New{Name: "Used up", MaxRedemptions: new(int64(1))}), 2)
	b.Vouchers.CapReached = used[1]
	for _, v := range []Voucher{b.Vouchers.Redeemed, used[0]} {
		b.shop.RedeemVoucher(v.ULID)
	}
	b.Vouchers.InactiveCoupon = b.send(b.addCoupon(coupon.New{Name: "Switched off"}), 1)[0]
	b.shop.Must(b.shop.Coupons.SetActive(b.shop.Context(), b.shop.By, b.Vouchers.InactiveCoupon.Coupon, false))
	for range 4 {
		capped := Capped{Cap: 5}
		capped.Coupon = b.addCoupon(coupon.New{Name: "Capped", MaxRedemptions: &capped.Cap})
		for _, v := range b.send(capped.Coupon, 24) {
			capped.Vouchers = append(capped.Vouchers, v.ULID)
		}
		b.Race.Capped = append(b.Race.Capped, capped)
	}
	b.before(7*24*time.Hour, func() {
		b.Vouchers.Expired = b.send(b.addCoupon(coupon.New{Name: "Last week", VoucherValidDays: new(int64(1))}), 1)[0]
	})
}

// addCoupon adds a coupon for points.
func (b *business) addCoupon(n coupon.New) core.ID {
	n.BenefitType, n.BenefitValue = string(coupon.Points), new(int64(benefitPoints))
	return b.shop.Coupon(n).ID
}

// before calls fn with the clock set back.
func (b *business) before(past time.Duration, fn func()) {
	now, then := b.shop, b.DB.Now().Add(-past)
	b.shop.DB, b.shop.Services = b.DB.At(then), b.At(then)
	fn()
	b.shop = now
}

// send sends a coupon to a number of new customers.
func (b *business) send(id core.ID, customers int) []Voucher {
	to := make([]string, customers)
	for i := range to {
		b.holders++
		to[i] = b.addCustomer("Holder", strconv.Itoa(b.holders), fmt.Sprintf("+46 8 465 0%05d", b.holders), "").ID.String()
	}
	return b.sendTo(id, to)
}

func (b *business) addCustomer(first, last, phone, email string) customer.Customer {
	return b.shop.AddCustomer(customer.New{FirstName: first, LastName: last, Phone: phone, Email: email})
}

// sendTo sends a coupon to customers without e-mails, and returns the vouchers.
func (b *business) sendTo(id core.ID, to []string) []Voucher {
	ctx, s := b.shop.Context(), b.shop
	sent := s.Send(id, coupon.Send{Segment: coupon.Manual, Customers: to})
	s.Check(s.Coupons.MarkDelivered(ctx, s.By, sent.ID))
	var vouchers []Voucher
	for _, v := range sample.Must(s.Coupons.ListSent(ctx, s.By, sent.ID, core.Page{Size: len(to)})).Items {
		vouchers = append(vouchers, Voucher{v.ID, v.CouponID, v.CustomerID})
	}
	return vouchers
}
