package sandbox

import (
	"example.com/loyalty/core"
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

func (b *business) addRewards() {
	r := &b.Rewards
	r.InStock = b.addReward("In stock", 50, 1_000_000)
	r.OutOfStock = b.addReward("Out of stock", 10, 0)
	r.TooDear = b.addReward("Too dear", 1_000_000_000_000, 1_000_000)
	r.Inactive = b.addReward("Inactive", 10, 10)
	b.shop.Must(b.shop.Rewards.SetActive(b.shop.Context(), b.shop.By, r.Inactive.ULID, false))
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
			*set.into = append(*set.into, b.addReward(set.name, 10, set.stock))
		}
	}
	b.addVoidedRedemption()
}

func (b *business) addReward(name string, cost, stock int64) Reward {
	return Reward{ULID: b.shop.AddReward(reward.New{Name: name, PointsCost: &cost, Stock: &stock}), Cost: cost, Stock: stock}
}

// addVoidedRedemption adds a redemption and voids it, which restores the stock.
func (b *business) addVoidedRedemption() {
	s := b.shop
	vera := b.addCustomer("Vera", "Void", "+46 8 465 004 01", "").ID
	s.Must(core.Result(s.Transactions.Record(s.Context(), s.By, transaction.Sale{
		CustomerID: vera, TransactionTypeID: b.purchase.ID, SpendAmountCents: 5000, Source: transaction.Panel,
	}, nil, nil)))
	made := s.Redeem(vera, b.Rewards.InStock.ULID)
	s.Must(s.Rewards.Void(s.Context(), s.By, made.ID, "Redeemed by mistake"))
	b.VoidedRedemption = made.ID
}
