package sandbox

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
)

// Voucher is a voucher and whose it is.
type Voucher struct {
	ULID     core.ID `json:"ulid"`
	Coupon   core.ID `json:"coupon"`
	Customer core.ID `json:"customer"`
}

// Vouchers are one in each state, and some pending ones.
type Vouchers struct {
	Pending        []Voucher `json:"pending"`
	Redeemed       Voucher   `json:"redeemed"`
	Expired        Voucher   `json:"expired"`
	InactiveCoupon Voucher   `json:"inactive_coupon"`
	CapReached     Voucher   `json:"cap_reached"`
}

// Capped is a coupon with more vouchers than it may be redeemed.
type Capped struct {
	Coupon   core.ID   `json:"coupon"`
	Cap      int64     `json:"cap"`
	Vouchers []core.ID `json:"vouchers"`
}

const benefitPoints = 5

// coupons makes the coupons and vouchers of a tenant. Every voucher belongs to a
// customer of its own.
func (m Maker) coupons(ctx context.Context, t *Tenant, owner core.Actor) error {
	open, err := m.sent(ctx, t, owner, "Open", nil, 8+12+1)
	if err != nil {
		return err
	}
	t.Coupon = open[0].Coupon
	t.Vouchers.Pending, t.Race.Vouchers, t.Vouchers.Redeemed = open[:8], open[8:20], open[20]

	used, err := m.sent(ctx, t, owner, "Used up", new(int64(1)), 2)
	if err != nil {
		return err
	}
	t.Vouchers.CapReached = used[1]
	for _, v := range []Voucher{t.Vouchers.Redeemed, used[0]} {
		if _, err := m.Coupons.Redeem(ctx, owner, v.ULID); err != nil {
			return err
		}
	}
	off, err := m.sent(ctx, t, owner, "Switched off", nil, 1)
	if err != nil {
		return err
	}
	t.Vouchers.InactiveCoupon = off[0]
	if _, err := m.Coupons.SetActive(ctx, owner, off[0].Coupon, false); err != nil {
		return err
	}
	for range 4 {
		const most = 5
		vouchers, err := m.sent(ctx, t, owner, "Capped", new(int64(most)), 24)
		if err != nil {
			return err
		}
		capped := Capped{Coupon: vouchers[0].Coupon, Cap: most}
		for _, v := range vouchers {
			capped.Vouchers = append(capped.Vouchers, v.ULID)
		}
		t.Race.Capped = append(t.Race.Capped, capped)
	}
	return m.expired(ctx, t, owner)
}

// expired sends a voucher of one day a week ago.
func (m Maker) expired(ctx context.Context, t *Tenant, owner core.Actor) error {
	past := m.ago(7 * 24 * time.Hour)
	name, kind, value := "Last week", string(coupon.Points), int64(benefitPoints)
	made, err := past.Coupons.Add(ctx, owner, coupon.New{
		Name: &name, BenefitType: &kind, BenefitValue: &value, VoucherValidDays: new(int64(1)),
	})
	if err != nil {
		return err
	}
	vouchers, err := past.send(ctx, t, owner, made.ID, 1)
	if err != nil {
		return err
	}
	t.Vouchers.Expired = vouchers[0]
	return nil
}

// ago makes records as of a time that long ago.
func (m Maker) ago(past time.Duration) Maker {
	then := m.DB.Now().Add(-past)
	m.DB = m.DB.At(then)
	m.Customers, m.Coupons = customer.NewService(m.DB), m.Coupons.At(then)
	return m
}

// sent makes a coupon and sends it to so many new customers.
func (m Maker) sent(ctx context.Context, t *Tenant, owner core.Actor, name string, most *int64, customers int) ([]Voucher, error) {
	kind, value := string(coupon.Points), int64(benefitPoints)
	made, err := m.Coupons.Add(ctx, owner, coupon.New{Name: &name, BenefitType: &kind, BenefitValue: &value, MaxRedemptions: most})
	if err != nil {
		return nil, err
	}
	return m.send(ctx, t, owner, made.ID, customers)
}

func (m Maker) send(ctx context.Context, t *Tenant, owner core.Actor, of core.ID, customers int) ([]Voucher, error) {
	to := make([]string, customers)
	for i := range to {
		t.holders++
		first, last, phone := "Holder", strconv.Itoa(t.holders), fmt.Sprintf("+46 8 465 0%05d", t.holders)
		made, err := m.Customers.Upsert(ctx, owner, customer.New{FirstName: &first, LastName: &last, Phone: &phone})
		if err != nil {
			return nil, err
		}
		to[i] = made.ID.String()
	}
	return m.sendTo(ctx, owner, of, to)
}

// sendTo sends a coupon to those customers and returns their vouchers. No e-mail goes out.
func (m Maker) sendTo(ctx context.Context, owner core.Actor, of core.ID, to []string) ([]Voucher, error) {
	sent, err := m.Coupons.Send(ctx, owner, of, coupon.Send{Segment: coupon.Manual, Customers: to, FormKey: of.String()})
	if err != nil {
		return nil, err
	}
	if _, err := m.Coupons.Evaluate(ctx, owner, sent.ID); err != nil {
		return nil, err
	}
	if err := m.Coupons.MarkDelivered(ctx, owner, sent.ID); err != nil {
		return nil, err
	}
	l, err := m.Coupons.ListSent(ctx, owner, sent.ID, core.Page{Size: len(to)})
	if err != nil {
		return nil, err
	}
	vouchers := make([]Voucher, len(l.Items))
	for i, v := range l.Items {
		vouchers[i] = Voucher{v.ID, v.CouponID, v.CustomerID}
	}
	return vouchers, nil
}
