package demo

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// offer makes what the café offers, except what is there already: transaction types,
// rewards and coupons are known again by their names.
func (f *filling) offer(ctx context.Context) (err error) {
	if f.types, err = f.addTypes(ctx); err != nil {
		return fmt.Errorf("transaction types of the demo: %w", err)
	}
	if f.rewards, err = f.addRewards(ctx); err != nil {
		return fmt.Errorf("rewards of the demo: %w", err)
	}
	if f.coupons, err = f.addCoupons(ctx); err != nil {
		return fmt.Errorf("coupons of the demo: %w", err)
	}
	return nil
}

func (f *filling) addTypes(ctx context.Context) ([]int64, error) {
	sales := transaction.NewService(f.db.At(f.story.opened))
	have, err := sales.Types(ctx, f.people[0])
	if err != nil {
		return nil, err
	}
	byName := map[string]transaction.Type{}
	for _, t := range have {
		byName[t.Name] = t
	}
	ids := make([]int64, len(types))
	for i, wanted := range types {
		t, ok := byName[wanted.Name]
		if !ok {
			if t, err = sales.AddType(ctx, f.people[0], wanted.NewType); err != nil {
				return nil, err
			}
		}
		if wanted.ended && t.Active {
			later := transaction.NewService(f.db.At(f.story.opened.AddDate(0, 1, 0)))
			if _, err := later.SetTypeActive(ctx, f.people[0], t.ID, false); err != nil {
				return nil, err
			}
		}
		ids[i] = t.ID
	}
	return ids, nil
}

// offered is a reward or a coupon as it stands.
type offered struct {
	ID     core.ID
	Name   string
	Active bool
}

func (f *filling) offered(ctx context.Context, statement string) (map[string]offered, error) {
	rows, err := db.ReadAll[offered](ctx, f.db, f.people[0], statement, nil)
	byName := make(map[string]offered, len(rows))
	for _, o := range rows {
		byName[o.Name] = o
	}
	return byName, err
}

func (f *filling) addRewards(ctx context.Context) ([]offered, error) {
	have, err := f.offered(ctx, rewardsSQL)
	if err != nil {
		return nil, err
	}
	all := make([]offered, len(rewards))
	for i, wanted := range rewards {
		known, ok := have[*wanted.Name]
		if !ok {
			from, _ := f.story.onOffer(i)
			r, err := reward.NewService(f.db.At(from)).Add(ctx, f.people[0], wanted.New)
			if err != nil {
				return nil, err
			}
			known = offered{r.ID, r.Name, r.Active}
		}
		all[i] = known
	}
	return all, nil
}

func (f *filling) addCoupons(ctx context.Context) ([]offered, error) {
	have, err := f.offered(ctx, couponsSQL)
	if err != nil {
		return nil, err
	}
	all := make([]offered, len(f.story.coupons))
	for i, p := range f.story.coupons {
		known, ok := have[*p.Name]
		if !ok {
			if coupon.BenefitType(*p.BenefitType) == coupon.Reward {
				p.BenefitRewardID = new(f.rewards[p.reward].ID.String())
			}
			coupons, err := f.couponsAt(p.made)
			if err != nil {
				return nil, err
			}
			c, err := coupons.Add(ctx, f.people[0], p.New)
			if err != nil {
				return nil, err
			}
			known = offered{c.ID, c.Name, c.Active}
		}
		all[i] = known
	}
	return all, nil
}

// withdraw takes back what is no longer on offer, as of when that was. It comes last:
// what is withdrawn is refused, whatever the clock of whoever asks says.
func (f *filling) withdraw(ctx context.Context) error {
	for i, r := range f.rewards {
		if _, to := f.story.onOffer(i); r.Active && rewards[i].withdrawn > 0 {
			if _, err := reward.NewService(f.db.At(to)).SetActive(ctx, f.people[1], r.ID, false); err != nil {
				return fmt.Errorf("withdraw %s of the demo: %w", r.Name, err)
			}
		}
	}
	for i, c := range f.coupons {
		if off := f.story.coupons[i].off; c.Active && !off.IsZero() {
			coupons, err := f.couponsAt(off)
			if err != nil {
				return err
			}
			if _, err := coupons.SetActive(ctx, f.people[1], c.ID, false); err != nil {
				return fmt.Errorf("switch off %s of the demo: %w", c.Name, err)
			}
		}
	}
	return nil
}

// couponsAt is the coupons' service with its clock set. Its queue only takes jobs.
func (f *filling) couponsAt(instant time.Time) (*coupon.Service, error) {
	d := f.db.At(instant)
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return coupon.NewService(d, jobs, nil, link.Maker{}, slog.New(slog.DiscardHandler)), nil
}
