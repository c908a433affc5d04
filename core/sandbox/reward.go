package sandbox

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// Reward is a reward that costs points.
type Reward struct {
	ULID  core.ID `json:"ulid"`
	Cost  int64   `json:"cost"`
	Stock int64   `json:"stock"`
}

// Rewards are one in each state.
type Rewards struct {
	InStock    Reward   `json:"in_stock"`
	OutOfStock Reward   `json:"out_of_stock"`
	TooDear    Reward   `json:"too_dear"`
	Inactive   Reward   `json:"inactive"`
	LastOne    []Reward `json:"last_one"`
}

// Race is what many may want at once.
type Race struct {
	Rewards  []Reward  `json:"rewards"`
	Big      []Reward  `json:"big"`
	Vouchers []Voucher `json:"vouchers"` // pending ones of the open coupon
	Capped   []Capped  `json:"capped"`
}

func (m Maker) rewards(ctx context.Context, t *Tenant, owner core.Actor) error {
	for _, wanted := range []struct {
		into  *Reward
		name  string
		cost  int64
		stock int64
	}{
		{&t.Rewards.InStock, "In stock", 50, 1_000_000},
		{&t.Rewards.OutOfStock, "Out of stock", 10, 0},
		{&t.Rewards.TooDear, "Too dear", 1_000_000_000_000, 1_000_000},
		{&t.Rewards.Inactive, "Inactive", 10, 10},
	} {
		made, err := m.reward(ctx, owner, wanted.name, wanted.cost, wanted.stock)
		if err != nil {
			return err
		}
		*wanted.into = made
	}
	for _, wanted := range []struct {
		into  *[]Reward
		count int
		name  string
		stock int64
	}{
		{&t.Rewards.LastOne, 3, "Last one", 1},
		{&t.Race.Rewards, 12, "Race", 5},
		{&t.Race.Big, 3, "Big race", 300},
	} {
		for range wanted.count {
			made, err := m.reward(ctx, owner, wanted.name, 10, wanted.stock)
			if err != nil {
				return err
			}
			*wanted.into = append(*wanted.into, made)
		}
	}
	if _, err := m.Rewards.SetActive(ctx, owner, t.Rewards.Inactive.ULID, false); err != nil {
		return err
	}
	return m.voidedRedemption(ctx, t, owner)
}

func (m Maker) reward(ctx context.Context, owner core.Actor, name string, cost, stock int64) (Reward, error) {
	r, err := m.Rewards.Add(ctx, owner, reward.New{Name: &name, PointsCost: &cost, Stock: &stock})
	return Reward{ULID: r.ID, Cost: cost, Stock: stock}, err
}

// voidedRedemption has somebody buy, redeem, and get it back: the stock is whole again.
func (m Maker) voidedRedemption(ctx context.Context, t *Tenant, owner core.Actor) error {
	first, last, phone := "Vera", "Void", "+46 8 465 004 01"
	vera, err := m.Customers.Upsert(ctx, owner, customer.New{FirstName: &first, LastName: &last, Phone: &phone})
	if err != nil {
		return err
	}
	id, cents := vera.ID.String(), int64(5000)
	_, err = m.Transactions.Record(ctx, owner, transaction.New{
		CustomerID: &id, TransactionTypeID: &t.TransactionTypeID, SpendAmountCents: &cents, Source: transaction.Panel,
	})
	if err != nil {
		return err
	}
	offered := t.Rewards.InStock.ULID.String()
	made, err := m.Rewards.Redeem(ctx, owner, reward.RedeemRequest{CustomerID: &id, RewardID: &offered})
	if err != nil {
		return err
	}
	voided, err := m.Rewards.Void(ctx, owner, made.ID)
	t.VoidedRedemption = voided.ID
	return err
}
