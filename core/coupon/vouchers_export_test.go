package coupon_test

import (
	"errors"
	"slices"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/shoptest"
)

// "Exports of vouchers beside customers": those of a coupon or of one send, and logged. Cashiers are refused, and
// the coupons and sends of others are not found.
func TestExportVouchers(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	for range 3 {
		s.Customer()
	}
	made := func(s shop, name string) coupon.Coupon {
		return s.Coupon(coupon.New{
			Name: name, BenefitType: string(coupon.Points), BenefitValue: new(int64(5)), MaxPerCustomer: new(int64(9)),
		})
	}
	spring, summer, foreign := made(s, "Spring"), made(s, "Summer"), made(stranger, "Theirs")
	first, second := s.Send(spring.ID, coupon.Send{Segment: coupon.All}), s.Send(spring.ID, coupon.Send{Segment: coupon.All})
	other := s.Send(summer.ID, coupon.Send{Segment: coupon.All})
	export := func(by core.Actor, id core.ID, send *core.ID) (vouchers []coupon.SentVoucher, err error) {
		err = s.Coupons.ExportVouchers(t.Context(), by, id, send, func(v coupon.SentVoucher) error { vouchers = append(vouchers, v); return nil })
		return vouchers, err
	}
	all, err := export(s.As(core.Manager).By, spring.ID, nil)
	s.Check(err)
	if len(all) != 6 || slices.ContainsFunc(all, func(v coupon.SentVoucher) bool { return v.CouponID != spring.ID || v.CustomerName == "" }) {
		t.Errorf("of the coupon: %+v", all)
	}
	one, err := export(s.By, spring.ID, &first.ID)
	s.Check(err)
	if !slices.EqualFunc(one, all[3:], func(a, b coupon.SentVoucher) bool { return a.ID == b.ID }) {
		t.Errorf("of the first send %d vouchers, want the last 3 of the coupon's", len(one))
	}
	for _, c := range []struct {
		coupon core.ID
		send   *core.ID
	}{{foreign.ID, nil}, {core.ID{}, nil}, {spring.ID, &other.ID}, {summer.ID, &second.ID}} {
		if got, err := export(s.By, c.coupon, c.send); !errors.Is(err, core.ErrNotFound) || len(got) > 0 {
			t.Errorf("%v %v = %d vouchers, %v, want ErrNotFound", c.coupon, c.send, len(got), err)
		}
	}
	if _, err := export(s.As(core.Cashier).By, spring.ID, nil); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier's = %v, want ErrRole", err)
	}
	got := shoptest.QueryAll[string](s.Shop, `select subject_name || ' ' || (new ->> 'count') from loyalty.audit_entry
		where tenant_id = $1 and action = 'coupon.export' order by created_at, id`, s.By.Tenant.ID)
	if !slices.Equal(got, []string{"Spring 6", "Spring 3"}) {
		t.Errorf("audit log: %q", got)
	}
}
