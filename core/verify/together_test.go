package verify_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/merging"
	"example.com/loyalty/core/privacy"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// crowd is a market with few customers, who come and go while sales to them are recorded.
type crowd struct {
	*market
	merging  *merging.Service
	privacy  *privacy.Service
	receipts atomic.Int64
}

const rates = 4 // as many points per unit may be earned, one after the other

// sell records a sale with an idempotency key, sometimes with a receipt number, and sometimes repeats it.
func (c *crowd) sell(ctx context.Context) error {
	key := fmt.Sprint("R-", c.receipts.Add(1))
	n := transaction.Sale{
		CustomerID: c.known.customers.draw(), TransactionTypeID: c.points.ID,
		SpendAmountCents: rand.Int64N(3000), Source: transaction.API,
	}
	if rand.IntN(3) == 0 {
		n.TransactionTypeID = c.stamps.ID
	}
	if rand.IntN(3) == 0 {
		n.ExternalReference = &key
	}
	once := &core.Once[transaction.Transaction]{
		RequestKey: core.RequestKey{Key: key, Fingerprint: sha256.Sum256([]byte(key))},
		Respond: func(t transaction.Transaction) (core.Response, error) {
			return core.Response{Status: 201, Body: fmt.Append(nil, t.ID)}, nil
		},
	}
	made, err := c.Sales.Record(ctx, c.By, n, nil, once)
	if err != nil {
		return err
	}
	c.known.sales.add(made.Result.ID)
	if rand.IntN(4) > 0 {
		return nil
	}
	// The response is forgotten when the customer is erased; then the sale is refused.
	again, err := c.Sales.Record(ctx, c.By, n, nil, once)
	if err == nil && (!again.Replayed() || string(again.Response.Body) != made.Result.ID.String()) {
		return fmt.Errorf("%s recorded %s, and when it was repeated %+v", key, made.Result.ID, again)
	}
	return nil
}

func (c *crowd) adjust(ctx context.Context) error {
	_, err := core.Result(c.Customers.Adjust(ctx, c.By, c.known.customers.draw(), customer.Adjustment{
		Unit: "points", Amount: rand.Int64N(40) - 15, Reason: "Sorry",
	}, nil))
	return err
}

func (c *crowd) merge(ctx context.Context) error {
	kept, duplicate := c.known.customers.draw(), c.known.customers.draw()
	_, err := core.Result(c.merging.Merge(ctx, c.By, kept, duplicate, nil, nil))
	if err == nil {
		err = c.replace(ctx, duplicate)
	}
	return err
}

func (c *crowd) erase(ctx context.Context) error {
	id := c.known.customers.draw()
	_, err := c.privacy.Erase(ctx, c.By, id)
	if err == nil {
		err = c.replace(ctx, id)
	}
	return err
}

// replace lets a new customer come for one who is gone.
func (c *crowd) replace(ctx context.Context, gone core.ID) error {
	added, err := core.Result(c.Customers.Upsert(ctx, c.By, shoptest.Anna(shoptest.Phone()), nil))
	if err != nil {
		return err
	}
	deck := &c.known.customers
	deck.Lock()
	defer deck.Unlock()
	if i := slices.Index(deck.ids, gone); i >= 0 {
		deck.ids[i] = added.ID
	}
	return nil
}

func (c *crowd) export(ctx context.Context) error {
	return c.privacy.WriteData(ctx, c.By, c.known.customers.draw(), io.Discard)
}

func (c *crowd) switchCustomer(ctx context.Context) error {
	status := "active"
	if rand.IntN(4) == 0 {
		status = "inactive"
	}
	_, err := c.Customers.Edit(ctx, c.By, c.known.customers.draw(), customer.Edit{Status: core.Set(status)})
	return err
}

func (c *crowd) changeRule(ctx context.Context) error {
	_, err := c.Sales.EditType(ctx, c.By, c.points.ID, transaction.EditType{PointsPerUnit: core.Set(1 + rand.Int64N(rates))})
	return err
}

// Sales to few customers are recorded together for five seconds, while rules change, sales and redemptions are
// voided, balances adjusted, vouchers sent and redeemed, and customers deactivated, merged, exported and erased.
// Each answered sale is recorded once, with an award by a rule that was in force, and verify finds nothing wrong.
func TestSalesTogetherBesideEverything(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	m.known.customers.ids = m.known.customers.ids[:12]
	c := &crowd{market: m, merging: m.Merging, privacy: m.Privacy}
	if err := m.send(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range m.known.customers.ids {
		m.Adjust(id, ledger.Points, 100)
	}
	m.known.redemptions.add(m.Redeem(m.known.customers.ids[0], m.known.rewards.ids[1]).ID)
	m.known.sales.add(m.Sale(m.known.customers.ids[0], m.points, 100).ID, m.Sale(m.known.customers.ids[0], m.stamps, 100).ID)

	type act struct {
		name string
		do   func(context.Context) error
	}
	var acts []act
	for _, a := range []struct {
		act
		weight int
	}{
		{act{"sell", c.sell}, 80},
		{act{"void a sale", m.void}, 4},
		{act{"redeem", m.redeem}, 4},
		{act{"void a redemption", m.takeBack}, 2},
		{act{"redeem a voucher", m.redeemVoucher}, 3},
		{act{"send", m.send}, 1},
		{act{"adjust", c.adjust}, 3},
		{act{"merge", c.merge}, 1},
		{act{"erase", c.erase}, 1},
		{act{"export", c.export}, 1},
		{act{"switch a customer", c.switchCustomer}, 2},
		{act{"change the rule", c.changeRule}, 2},
	} {
		acts = append(acts, slices.Repeat([]act{a.act}, a.weight)...)
	}
	done := counter{}
	end := time.Now().Add(5 * time.Second)
	var tills sync.WaitGroup
	for range 60 {
		tills.Go(func() {
			for time.Now().Before(end) {
				a := acts[rand.IntN(len(acts))]
				err := a.do(t.Context())
				var refusal *core.Error
				if err != nil && (!errors.As(err, &refusal) || refusal.Kind == core.KindUnavailable) {
					t.Errorf("%s: %v", a.name, err)
				}
				done.count(a.name, err)
			}
		})
	}
	tills.Wait()
	done.log(t)

	sales := m.known.sales.ids
	if n := m.Count("transaction"); n != int64(len(sales)) {
		t.Errorf("%d sales are recorded, %d were answered", n, len(sales))
	}
	if n := shoptest.Query[int](m.Shop, "select count(*) from loyalty.transaction where id = any ($1)", sales); n != len(sales) {
		t.Errorf("%d of %d answered sales are recorded", n, len(sales))
	}
	wrong := shoptest.Query[int](m.Shop, `
		select count(*)
		from loyalty.transaction
		where coalesce(stamps_awarded, 1) <> 1
			or points_awarded is not null and not exists (
				select from generate_series(1, $1) rate where points_awarded = rate * (spend_amount_cents / 100)
			)`, rates)
	if wrong > 0 {
		t.Errorf("%d awards are by no rule that was in force", wrong)
	}
	m.WantSalesTogether()
	m.Verify()
}
