package coupon_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

func null[T any]() core.Optional[T] { return core.Optional[T]{Set: true} }

// An edit changes only the fields that are set; null clears optional ones.
func TestEdit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	espresso := s.Reward(1000, nil)
	starts, ends := instant(t, "2026-03-01T00:00:00Z"), instant(t, "2026-03-31T22:00:00Z")
	want := s.Coupon(fivePoints())
	for _, c := range []struct {
		name string
		edit coupon.Edit
		then func(*coupon.Coupon)
	}{
		{"nothing", coupon.Edit{}, func(*coupon.Coupon) {}},
		{"names", coupon.Edit{Name: core.Set(" Spring "), Description: core.Set("For all.")}, func(c *coupon.Coupon) {
			c.Name, c.Description = "Spring", new("For all.")
		}},
		{"limits", coupon.Edit{MaxPerCustomer: core.Set(int64(3)), MaxRedemptions: core.Set(int64(100))}, func(c *coupon.Coupon) {
			c.MaxPerCustomer, c.MaxRedemptions = 3, new(int64(100))
		}},
		{"dates", coupon.Edit{StartsAt: core.Set(starts), ExpiresAt: core.Set(ends), VoucherValidDays: core.Set(int64(14))}, func(c *coupon.Coupon) {
			c.StartsAt, c.ExpiresAt, c.VoucherValidDays = &starts, &ends, new(int64(14))
		}},
		{"value", coupon.Edit{BenefitValue: core.Set(int64(7))}, func(c *coupon.Coupon) { c.BenefitValue = new(int64(7)) }},
		{"benefit", coupon.Edit{BenefitType: core.Set("reward"), BenefitRewardID: core.Set(espresso)}, func(c *coupon.Coupon) {
			c.Benefit = coupon.Benefit{BenefitType: coupon.Reward, BenefitRewardID: &espresso}
		}},
		{"another benefit", coupon.Edit{BenefitType: core.Set("percent"), BenefitValue: core.Set(int64(20))}, func(c *coupon.Coupon) {
			c.Benefit = coupon.Benefit{BenefitType: coupon.Percent, BenefitValue: new(int64(20))}
		}},
		{"fewer for each", coupon.Edit{MaxPerCustomer: core.Set(int64(1))}, func(c *coupon.Coupon) { c.MaxPerCustomer = 1 }},
		{"cleared", coupon.Edit{
			Description: null[string](), MaxRedemptions: null[int64](), StartsAt: null[time.Time](), ExpiresAt: null[time.Time](), VoucherValidDays: null[int64](),
		}, func(c *coupon.Coupon) {
			c.Description, c.MaxRedemptions, c.StartsAt, c.ExpiresAt, c.VoucherValidDays = nil, nil, nil, nil, nil
		}},
		{"off", coupon.Edit{Active: core.Set(false)}, func(c *coupon.Coupon) { c.Active = false }},
	} {
		c.then(&want)
		got, err := s.Coupons.Edit(t.Context(), s.By, want.ID, c.edit)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
		if diff := cmp.Diff(want, s.find(want.ID)); diff != "" {
			t.Errorf("%s, found (-want +got):\n%s", c.name, diff)
		}
	}
}

// All invalid fields are reported at once, and nothing changes.
func TestEditReportsEveryWrongFieldAtOnce(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	n := fivePoints()
	day := instant(t, "2026-03-01T00:00:00Z")
	n.StartsAt = &day
	c := s.Coupon(n)
	_, err := s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{
		Name: null[string](), Description: core.Set(strings.Repeat("å", 1001)), BenefitType: core.Set("reward"),
		BenefitRewardID: core.Set(stranger.Reward(1000, nil)), MaxPerCustomer: null[int64](), MaxRedemptions: core.Set(int64(0)),
		ExpiresAt: core.Set(day), VoucherValidDays: core.Set(int64(0)), Active: null[bool](),
	})
	shoptest.WantFields(t, err, core.Fields{
		"name":                {core.Required},
		"description":         {core.MaxLength(1000)},
		"benefit_reward_ulid": {core.InvalidChoice},
		"max_per_customer":    {core.Required},
		"max_redemptions":     {core.Min(1)},
		"expires_at":          {core.Violation{Rule: "after_start"}},
		"voucher_valid_days":  {core.Min(1)},
		"active":              {core.Required},
	})
	_, err = s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{BenefitType: core.Set("stamps"), BenefitValue: null[int64](), Malformed: core.Fields{"name": {core.MustBeString}}})
	shoptest.WantFields(t, err, core.Fields{"name": {core.MustBeString}, "benefit_value": {core.Required}})
	if diff := cmp.Diff(c, s.find(c.ID)); diff != "" {
		t.Errorf("a refused edit left (-want +got):\n%s", diff)
	}
}

var promised = core.Fields{
	"benefit_type":     {core.Violation{Rule: "fixed_after_sending"}},
	"max_per_customer": {core.Violation{Rule: "min_sent", Limit: 3}},
}

// After a send, the benefit can't change and the limit per customer can't be lowered; the rest can
// change.
func TestEditAfterSending(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.Customer().ID
	n := fivePoints()
	n.MaxPerCustomer = new(int64(3))
	c := s.Coupon(n)
	s.confirmed(c, toAll()) // and not yet evaluated
	for name, e := range map[string]coupon.Edit{
		"type":   {BenefitType: core.Set("stamps"), MaxPerCustomer: core.Set(int64(2))},
		"value":  {BenefitValue: core.Set(int64(6)), MaxPerCustomer: core.Set(int64(2))},
		"reward": {BenefitType: core.Set("reward"), BenefitRewardID: core.Set(s.Reward(1000, nil)), MaxPerCustomer: core.Set(int64(1))},
	} {
		t.Run(name, func(t *testing.T) {
			shoptest.WantFields(t, second(s.Coupons.Edit(t.Context(), s.By, c.ID, e)), promised)
		})
	}
	edited, err := s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{
		Name: core.Set("Spring"), BenefitType: core.Set("points"), BenefitValue: core.Set(int64(5)), MaxPerCustomer: core.Set(int64(4)),
		MaxRedemptions: core.Set(int64(9)), ExpiresAt: core.Set(s.DB.Now().AddDate(0, 0, 7)), VoucherValidDays: core.Set(int64(1)),
	})
	if err != nil || edited.Name != "Spring" || edited.MaxPerCustomer != 4 || !cmp.Equal(edited.Benefit, c.Benefit) {
		t.Errorf("the rest = %+v, %v", edited, err)
	}
	s.RedeemVoucher(s.Voucher(c.ID, anna))
	if got := s.Account(anna).Points; got != 5 {
		t.Errorf("the voucher gave %d, want the 5 it was sent for", got)
	}
}

// A voucher's expiry is fixed when it is sent.
func TestVoucherKeepsItsExpiry(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.Customer().ID
	n := fivePoints()
	n.MaxPerCustomer, n.ExpiresAt = new(int64(2)), new(s.DB.Now().AddDate(0, 0, 1))
	c := s.Coupon(n)
	before := s.Voucher(c.ID, anna)
	s.Must(s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{ExpiresAt: core.Set(s.DB.Now().AddDate(0, 0, 9))}))
	after := s.Voucher(c.ID, anna)
	later := s.at(s.DB.Now().AddDate(0, 0, 2))
	refused(t, second(core.Result(later.Coupons.Redeem(t.Context(), s.By, before, nil))), coupon.ErrVoucherExpired)
	later.RedeemVoucher(after)
}

// The total limit can't be set below the number of redemptions, also while tills redeem.
func TestLimitIsNotSetBelowRedemptions(t *testing.T) {
	t.Parallel()
	s := shop{shoptest.In(t, dbtest.OwnDB(t))}
	const guests = 30
	s.AddCustomers(guests)
	c := s.Coupon(fivePoints())
	s.Send(c.ID, toAll())
	vouchers := s.stored(c)
	s.RedeemVoucher(vouchers[0].ID)
	s.RedeemVoucher(vouchers[1].ID)
	shoptest.WantFields(t, second(s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{MaxRedemptions: core.Set(int64(1))})),
		core.Fields{"max_redemptions": {core.Violation{Rule: "min_redeemed", Limit: 2}}})

	var redeemed, edits atomic.Int64
	redeemed.Add(2)
	var all sync.WaitGroup
	for i := range guests - 2 {
		all.Go(func() {
			switch err := second(core.Result(s.Coupons.Redeem(t.Context(), s.By, vouchers[i+2].ID, nil))); {
			case err == nil:
				redeemed.Add(1)
			case !errors.Is(err, coupon.ErrCapReached):
				t.Error(err)
			}
		})
		if i%4 == 0 {
			all.Go(func() {
				switch err := second(s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{MaxRedemptions: core.Set(int64(5 + i))})); {
				case err == nil:
					edits.Add(1)
				case !core.IsKind(err, core.KindInvalid):
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	got := s.find(c.ID)
	if edits.Load() == 0 || got.RedemptionsCount != redeemed.Load() || got.RedemptionsCount > *got.MaxRedemptions {
		t.Errorf("%d redeemed, %d counted of %v at most, %d edits", redeemed.Load(), got.RedemptionsCount, *got.MaxRedemptions, edits.Load())
	}
	s.Verify()
}

// begin starts a concurrent transaction.
func (s shop) begin() pgx.Tx {
	s.T.Helper()
	tx, err := dbtest.Owner(s.DB).Begin(s.T.Context())
	s.Check(err)
	s.T.Cleanup(func() { _ = tx.Rollback(s.T.Context()) })
	return tx
}

// A change of the benefit waits for a first send that is being confirmed.
func TestEditWaitsForAFirstSend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(fivePoints())
	confirming := s.begin()
	if _, err := confirming.Exec(t.Context(), `
		insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, actor_kind, actor_id, actor_name, send_at, created_at)
		values ($1, $2, $3, 'all', 'form', 'staff', '1', 'Maja', now(), now())`, s.By.Tenant.ID, core.NewID(s.DB.Now()), c.ID); err != nil {
		t.Fatal(err)
	}
	edited := make(chan error)
	go func() {
		edited <- second(s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{BenefitValue: core.Set(int64(6))}))
	}()
	select {
	case err := <-edited:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	s.Check(confirming.Commit(t.Context()))
	shoptest.WantFields(t, <-edited, core.Fields{"benefit_type": promised["benefit_type"]})
	if got := s.find(c.ID); *got.BenefitValue != 5 {
		t.Errorf("it is worth %d, want 5", *got.BenefitValue)
	}
}

// An edit and the evaluation of a send don't wait for each other.
func TestEditDoesNotWaitForEvaluation(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.Customer().ID
	c := s.Coupon(fivePoints())
	send := s.confirmed(c, toAll())
	making := s.begin()
	if _, err := making.Exec(t.Context(), `
		insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, created_at)
		values ($1, $2, $3, $4, $5, now())`, s.By.Tenant.ID, core.NewID(s.DB.Now()), c.ID, send.ID, anna); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{Name: core.Set("Spring"), MaxPerCustomer: core.Set(int64(2))}); err != nil {
		t.Errorf("while a send is being made: %v", err)
	}
}

// Vouchers of a first send have the benefit that the coupon has after concurrent edits.
func TestConcurrentEditAndFirstSend(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.Customer().ID
	for range 15 {
		c := s.Coupon(fivePoints())
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				err := second(s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{BenefitValue: core.Set(int64(10 + i))}))
				if err != nil && !core.IsKind(err, core.KindInvalid) {
					t.Error(err)
				}
			})
		}
		all.Go(func() { s.confirmed(c, to(coupon.Manual, anna)) })
		all.Wait()
		said := *s.find(c.ID).BenefitValue
		if err := second(s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{BenefitValue: core.Set(said + 1)})); !core.IsKind(err, core.KindInvalid) {
			t.Errorf("after the send = %v, want it refused", err)
		}
	}
}

// Cashiers look up and redeem vouchers; the rest is for managers.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	many := fivePoints()
	many.MaxPerCustomer = new(int64(10))
	anna, c := s.Customer().ID, s.Coupon(many)
	for _, step := range []struct {
		name  string
		least core.Role
		do    func(by core.Actor) error
	}{
		{"redeem", core.Cashier, func(by core.Actor) error {
			return second(core.Result(s.Coupons.Redeem(t.Context(), by, s.Voucher(c.ID, anna), nil)))
		}},
		{"add", core.Manager, func(by core.Actor) error {
			return second(core.Result(s.Coupons.Add(t.Context(), by, fivePoints(), nil)))
		}},
		{"edit", core.Manager, func(by core.Actor) error { return second(s.Coupons.Edit(t.Context(), by, c.ID, coupon.Edit{})) }},
		{"switch", core.Manager, func(by core.Actor) error { return second(s.Coupons.SetActive(t.Context(), by, c.ID, true)) }},
		{"send", core.Manager, func(by core.Actor) error { return second(s.Coupons.Send(t.Context(), by, c.ID, toAll())) }},
		{"evaluate", core.Manager, func(by core.Actor) error {
			return second(s.Coupons.Evaluate(t.Context(), by, s.confirmed(c, toAll()).ID))
		}},
	} {
		unknownRole := s.By
		unknownRole.Role = "guest"
		for _, by := range []core.Actor{
			unknownRole, s.As(core.Cashier).By, s.As(core.Manager).By, s.By, core.System(s.By.Tenant, "job"),
		} {
			if err := step.do(by); !errors.Is(err, by.Require(step.least)) {
				t.Errorf("%s as %s %s: %v", step.name, by.Kind, by.Role, err)
			}
		}
	}
}
