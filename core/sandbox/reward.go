package sandbox

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/fixture"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// Reward is a reward that costs points.
type Reward struct {
	ULID  core.ID `json:"ulid"`
	Cost  int64   `json:"cost"`
	Stock int64   `json:"stock"`
}

// Rewards has one reward in each state.
type Rewards struct {
	InStock    Reward   `json:"in_stock"`
	OutOfStock Reward   `json:"out_of_stock"`
	TooDear    Reward   `json:"too_dear"`
	Inactive   Reward   `json:"inactive"`
	LastOne    []Reward `json:"last_one"`
}

// Race has records for tests of concurrency.
type Race struct {
	Rewards  []Reward  `json:"rewards"`
	Big      []Reward  `json:"big"`
	Vouchers []Voucher `json:"vouchers"` // pending ones of the open coupon
	Capped   []Capped  `json:"capped"`
}

func (b *business) addRewards(ctx context.Context) {
	r := &b.Tenant.Rewards
	r.InStock = b.addReward(ctx, "In stock", 50, 1_000_000)
	r.OutOfStock = b.addReward(ctx, "Out of stock", 10, 0)
	r.TooDear = b.addReward(ctx, "Too dear", 1_000_000_000_000, 1_000_000)
	r.Inactive = b.addReward(ctx, "Inactive", 10, 10)
	fixture.Must(b.Maker.Rewards.SetActive(ctx, b.owner, r.Inactive.ULID, false))
	for _, set := range []struct {
		into  *[]Reward
		count int
		name  string
		stock int64
	}{
		{&r.LastOne, 3, "Last one", 1},
		{&b.Race.Rewards, 12, "Race", 5},
		{&b.Race.Big, 3, "Big race", 300},
	} {
		for range set.count {
			*set.into = append(*set.into, b.addReward(ctx, set.name, 10, set.stock))
		}
	}
	b.addVoidedRedemption(ctx)
}

func (b *business) addReward(ctx context.Context, name string, cost, stock int64) Reward {
	r := fixture.Must(core.Result(b.Maker.Rewards.Add(ctx, b.owner, reward.New{Name: name, PointsCost: &cost, Stock: &stock}, nil)))
	return Reward{ULID: r.ID, Cost: cost, Stock: stock}
}

// addVoidedRedemption adds a redemption and voids it, which restores the stock.
func (b *business) addVoidedRedemption(ctx context.Context) {
	vera := b.addCustomer(ctx, "Vera", "Void", "+46 8 465 004 01", nil).ID
	b.addSale(ctx, vera, 5000, transaction.Panel)
	made := fixture.Must(core.Result(b.Maker.Rewards.Redeem(ctx, b.owner, reward.RedeemRequest{
		CustomerID: vera, RewardID: b.Tenant.Rewards.InStock.ULID,
	}, nil, nil)))
	b.VoidedRedemption = fixture.Must(b.Maker.Rewards.Void(ctx, b.owner, made.ID, "Redeemed by mistake")).ID
}

func (b *business) addSale(ctx context.Context, customer core.ID, cents int64, source transaction.Source) transaction.Transaction {
	return fixture.Must(core.Result(b.Transactions.Record(ctx, b.owner, transaction.Sale{
		CustomerID: customer, TransactionTypeID: b.TransactionTypeID, SpendAmountCents: cents, Source: source,
	}, nil, nil)))
}
