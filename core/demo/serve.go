package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// Guests who are served at the same time. What one guest does comes one after another,
// so that balances rise and fall in the order of the story.
const atOnce = 8

// served is how far a guest is.
type served struct {
	id          core.ID // of the customer; zero: has not come yet
	sales       int
	redemptions int // that were paid for
}

// serve lets everybody do what they do before that instant.
func (f *filling) serve(ctx context.Context, before time.Time) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(atOnce)
	for i, g := range f.story.guests {
		if !g.joined.Before(before) {
			break // who joined first stands first
		}
		work.Go(func() error {
			if err := f.attend(ctx, g, &f.served[i], before); err != nil {
				return fmt.Errorf("%s %s in the demo: %w", g.first, g.last, err)
			}
			return nil
		})
	}
	return work.Wait()
}

func (f *filling) attend(ctx context.Context, g guest, s *served, before time.Time) (err error) {
	if s.id.IsZero() {
		if s.id, err = f.welcome(ctx, g); err != nil {
			return err
		}
	}
	for ; s.sales < len(g.sales) && g.sales[s.sales].at.Before(before); s.sales++ {
		x := g.sales[s.sales]
		if err := f.visit(ctx, s, x); err != nil {
			return fmt.Errorf("receipt %s: %w", x.receipt, err)
		}
	}
	return nil
}

// welcome makes a guest a customer. One who is there already is found by their phone.
func (f *filling) welcome(ctx context.Context, g guest) (core.ID, error) {
	c, err := customer.NewService(f.db.At(g.joined)).Upsert(ctx, f.people[g.by], customer.New{
		FirstName: &g.first, LastName: &g.last, Phone: &g.phone, Email: g.email,
	})
	if err != nil {
		return core.ID{}, err
	}
	f.step()
	if !g.left.IsZero() && c.Status == customer.Active {
		gone := customer.Edit{Status: core.Set(string(customer.Inactive))}
		if _, err := customer.NewService(f.db.At(g.left)).Edit(ctx, f.people[1], c.ID, gone); err != nil {
			return core.ID{}, err
		}
	}
	return c.ID, nil
}

func (f *filling) visit(ctx context.Context, s *served, x sale) error {
	by := core.Actor{Kind: core.ByToken, Name: "Ordering app", Tenant: f.tenant}
	if x.by != byOrderingApp {
		by = f.people[x.by]
	}
	if err := f.sell(ctx, by, s.id, x); err != nil {
		return err
	}
	if x.voucher != nil {
		if err := f.redeem(ctx, by, s.id, *x.voucher); err != nil {
			return fmt.Errorf("voucher: %w", err)
		}
		f.step()
	}
	if x.redemption != nil {
		if err := f.exchange(ctx, by, s, *x.redemption); err != nil {
			return fmt.Errorf("redemption: %w", err)
		}
		f.step()
	}
	return nil
}

// sell records a sale and voids it where it was rung up wrongly, each unless an
// earlier Fill did.
func (f *filling) sell(ctx context.Context, by core.Actor, id core.ID, x sale) error {
	r, ok := f.done.sales[x.receipt]
	if !ok {
		made, err := transaction.NewService(f.db.At(x.at)).Record(ctx, by, transaction.New{
			CustomerID: new(id.String()), TransactionTypeID: &f.types[x.kind], SpendAmountCents: &x.cents,
			ExternalReference: &x.receipt, Source: x.source,
		})
		if err != nil {
			return err
		}
		r = recorded{ID: made.ID, Status: made.Status}
	}
	f.step()
	if x.voided.IsZero() {
		return nil
	}
	if r.Status == transaction.Completed {
		// The cashier may have served somebody else since, so it is for the manager to void.
		if _, err := transaction.NewService(f.db.At(x.voided)).Void(ctx, f.people[1], r.ID); err != nil {
			return err
		}
	}
	f.step()
	return nil
}

// redeem redeems a voucher, unless an earlier Fill did. A server that runs meanwhile
// may have expired it by today's clock: then the guest does without.
func (f *filling) redeem(ctx context.Context, by core.Actor, id core.ID, v voucher) error {
	i, ok := f.vouchers[holder{id, v.coupon}]
	if !ok {
		return nil
	}
	if i.Status == coupon.VoucherPending {
		coupons, err := f.couponsAt(v.at)
		if err != nil {
			return err
		}
		redeemed, err := coupons.Redeem(ctx, by, i.ID)
		if errors.Is(err, coupon.ErrVoucherExpired) {
			return nil
		}
		if err != nil {
			return err
		}
		i.RedemptionID, i.RedemptionStatus = redeemed.RedemptionID, new(reward.Pending)
	}
	if i.RedemptionID == nil {
		return nil
	}
	return f.settle(ctx, by, *i.RedemptionID, *i.RedemptionStatus, redemption{fulfilled: v.fulfilled})
}

// exchange redeems points or stamps, unless an earlier Fill did.
func (f *filling) exchange(ctx context.Context, by core.Actor, s *served, x redemption) error {
	nth := s.redemptions
	s.redemptions++
	if done := f.done.redemptions[s.id]; nth < len(done) {
		return f.settle(ctx, by, done[nth].ID, done[nth].Status, x)
	}
	made, err := reward.NewService(f.db.At(x.at)).Redeem(ctx, by, reward.RedeemRequest{
		CustomerID: new(s.id.String()), RewardID: new(f.rewards[x.reward].ID.String()),
	})
	if err != nil {
		return err
	}
	return f.settle(ctx, by, made.ID, made.Status, x)
}

// settle hands a redemption over or takes it back, if that is what became of it and
// no earlier Fill did.
func (f *filling) settle(ctx context.Context, by core.Actor, id core.ID, status reward.Status, x redemption) (err error) {
	switch {
	case status != reward.Pending:
	case !x.fulfilled.IsZero():
		_, err = reward.NewService(f.db.At(x.fulfilled)).Fulfil(ctx, by, id)
	case !x.voided.IsZero():
		_, err = reward.NewService(f.db.At(x.voided)).Void(ctx, f.people[1], id)
	}
	return err
}
