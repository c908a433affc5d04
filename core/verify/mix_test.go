package verify_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/verify"
)

// market is a shop in which everything happens at once.
type market struct {
	*shop
	known struct{ customers, sales, rewards, redemptions, coupons, vouchers deck }
}

// deck has the known IDs of one kind of record, to draw from at random.
type deck struct {
	sync.Mutex
	ids []core.ID
}

func (d *deck) add(ids ...core.ID) {
	d.Lock()
	defer d.Unlock()
	d.ids = append(d.ids, ids...)
}

func (d *deck) draw() core.ID {
	d.Lock()
	defer d.Unlock()
	return d.ids[rand.IntN(len(d.ids))]
}

// counter counts outcomes.
type counter struct {
	sync.Mutex
	outcomes map[string]int
}

func (c *counter) count(what string, err error) {
	c.Lock()
	defer c.Unlock()
	if c.outcomes == nil {
		c.outcomes = map[string]int{}
	}
	if err != nil {
		what += ": " + err.Error()
	}
	c.outcomes[what]++
}

func (c *counter) log(t *testing.T) {
	t.Helper()
	for _, outcome := range slices.Sorted(maps.Keys(c.outcomes)) {
		t.Logf("%6d %s", c.outcomes[outcome], outcome)
	}
}

const (
	cakes         = 100 // there are no more of them
	stampVouchers = 150 // as many may be redeemed
)

func newMarket(t *testing.T) *market {
	t.Helper()
	m := &market{shop: newShop(t)}
	m.known.customers.add(m.AddCustomers(30)...)
	for _, n := range []reward.New{
		{Name: "Cake", PointsCost: new(int64(40)), Stock: new(int64(cakes))},
		{Name: "Espresso", PointsCost: new(int64(15))},
		{Name: "Tenth coffee", StampsCost: new(int64(3))},
	} {
		m.known.rewards.add(m.AddReward(n))
	}
	for _, n := range []coupon.New{
		{BenefitType: "points", BenefitValue: new(int64(5))},
		{BenefitType: "stamps", BenefitValue: new(int64(1)), MaxRedemptions: new(int64(stampVouchers))},
		{BenefitType: "reward", BenefitRewardID: new(m.known.rewards.ids[0])},
	} {
		n.Name, n.MaxPerCustomer = "Welcome back", new(int64(15))
		m.known.coupons.add(m.Coupon(n).ID)
	}
	return m
}

func (m *market) sell(ctx context.Context) error {
	kind := m.points.ID
	if rand.IntN(3) == 0 {
		kind = m.stamps.ID
	}
	made, err := core.Result(m.Sales.Record(ctx, m.By, transaction.Sale{
		CustomerID: m.known.customers.draw(), TransactionTypeID: kind, SpendAmountCents: rand.Int64N(3000), Source: transaction.POS,
	}, nil, nil))
	if err == nil {
		m.known.sales.add(made.ID)
	}
	return err
}

func (m *market) void(ctx context.Context) error {
	_, err := core.Result(m.Sales.Void(ctx, m.By, m.known.sales.draw(), nil, nil))
	return err
}

func (m *market) redeem(ctx context.Context) error {
	made, err := core.Result(m.Rewards.Redeem(ctx, m.By, reward.RedeemRequest{
		CustomerID: m.known.customers.draw(), RewardID: m.known.rewards.draw(),
	}, nil, nil))
	if err == nil {
		m.known.redemptions.add(made.ID)
	}
	return err
}

func (m *market) fulfil(ctx context.Context) error {
	_, err := core.Result(m.Rewards.Fulfil(ctx, m.By, m.known.redemptions.draw(), nil))
	return err
}

func (m *market) takeBack(ctx context.Context) error {
	_, err := m.Rewards.Void(ctx, m.By, m.known.redemptions.draw(), "Wrong reward")
	return err
}

func (m *market) redeemVoucher(ctx context.Context) error {
	used, err := core.Result(m.Coupons.Redeem(ctx, m.By, m.known.vouchers.draw(), nil))
	if err == nil && used.RedemptionID != nil {
		m.known.redemptions.add(*used.RedemptionID)
	}
	return err
}

func (m *market) restore(ctx context.Context) error {
	_, err := core.Result(m.Coupons.RestoreTyped(ctx, m.By, m.known.vouchers.draw().String(), nil))
	return err
}

func (m *market) send(ctx context.Context) error {
	sent, err := m.Coupons.Send(ctx, m.By, m.known.coupons.draw(), coupon.Send{
		Segment: coupon.Manual, Customers: []string{m.known.customers.draw().String(), m.known.customers.draw().String(), m.known.customers.draw().String()},
		FormKey: core.NewID(m.DB.Now()).String(),
	})
	if err != nil {
		return err
	}
	if sent, err = m.Coupons.Evaluate(ctx, m.By, sent.ID); err != nil {
		return err
	}
	owner := dbtest.Owner(m.DB) // making a pool asks nothing of the database
	rows, err := owner.Query(ctx, "select id from loyalty.voucher where send_id = $1", sent.ID)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[core.ID])
	m.known.vouchers.add(ids...)
	return err
}

// 200 tills make random calls in one tenant for ten seconds. Only a void or a restore takes a balance below zero, only
// rules refuse, no unit of stock is lost, and verify finds nothing wrong.
func TestEverythingAtOnce(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	if err := m.send(t.Context()); err != nil {
		t.Fatal(err)
	}
	for len(m.known.redemptions.ids) == 0 {
		if err := m.sell(t.Context()); err != nil {
			t.Fatal(err)
		}
		_ = m.redeem(t.Context()) // too dear, at first
	}
	type act struct {
		name  string
		do    func(ctx context.Context) error
		rules []error // that may refuse it
	}
	var acts []act
	for _, a := range []struct {
		act
		weight int
	}{
		{act{"sell", m.sell, nil}, 8},
		{act{"void a sale", m.void, []error{transaction.ErrAlreadyVoided}}, 3},
		{act{"redeem", m.redeem, []error{ledger.ErrInsufficientPoints, ledger.ErrInsufficientStamps, reward.ErrOutOfStock}}, 6},
		{act{"fulfil", m.fulfil, []error{reward.ErrAlreadyFulfilled, reward.ErrVoided}}, 2},
		{act{"void a redemption", m.takeBack, []error{reward.ErrAlreadyFulfilled, reward.ErrVoided}}, 3},
		{act{"redeem a voucher", m.redeemVoucher, []error{coupon.ErrAlreadyRedeemed, coupon.ErrCapReached, reward.ErrOutOfStock}}, 6},
		{act{"restore a voucher", m.restore, []error{coupon.ErrNotRedeemed, coupon.ErrAlreadyRestored}}, 3},
		{act{"send", m.send, nil}, 2},
	} {
		acts = append(acts, slices.Repeat([]act{a.act}, a.weight)...)
	}
	done := counter{}
	end := time.Now().Add(10 * time.Second)
	var tills sync.WaitGroup
	for range 200 {
		tills.Go(func() {
			for time.Now().Before(end) {
				a := acts[rand.IntN(len(acts))]
				err := a.do(t.Context())
				if err != nil && !slices.ContainsFunc(a.rules, func(rule error) bool { return errors.Is(err, rule) }) {
					t.Errorf("%s: %v", a.name, err)
				}
				done.count(a.name, err)
			}
		})
	}
	tills.Wait()
	done.log(t)

	var left, out, deadlocks int64
	err := dbtest.Owner(m.DB).QueryRow(t.Context(), `
		select stock, (select count(*) from loyalty.redemption where took_stock and status <> 'voided'),
			(select deadlocks from pg_stat_database where datname = current_database())
		from loyalty.reward
		where stock is not null`).Scan(&left, &out, &deadlocks)
	if err != nil {
		t.Fatal(err)
	}
	if left+out != cakes {
		t.Errorf("%d cakes are left and %d are out, want %d in all", left, out, cakes)
	}
	if deadlocks > 0 {
		t.Errorf("%d deadlocks: locks are not taken in one order", deadlocks)
	}
	m.Verify()
}

// A run reads one snapshot: sales, voids and redemptions that go on beside it leave no half of themselves in its results.
func TestVerifyBesideSales(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	// A distributed database reads large tables by several connections to each node.
	d := withOption(t, m.DB.OwnerURL(), "citus.force_max_query_parallelization=on")
	m.known.sales.add(m.Sale(m.anna.ID, m.points, 1000).ID)
	done := make(chan struct{})
	var tills sync.WaitGroup
	for range 8 {
		tills.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for _, err := range []error{m.sell(t.Context()), m.void(t.Context()), m.redeem(t.Context())} {
					var refusal *core.Error
					if err != nil && !errors.As(err, &refusal) {
						t.Error(err)
					}
				}
			}
		})
	}
	sold := 0
	for range 5 {
		results, err := verify.Run(t.Context(), d)
		m.Check(err)
		for _, r := range results {
			if r.Wrong != 0 {
				t.Errorf("%+v", r)
			}
			if r.Check == "Every sale belongs to a customer, a type and a location of its tenant." {
				if r.Counted <= int64(sold) {
					t.Errorf("%d sales were counted after %d", r.Counted, sold)
				}
				sold = int(r.Counted)
			}
		}
	}
	close(done)
	tills.Wait()
}

// A distributed database has one snapshot for each statement on a tenant's node, so a check is one statement there.
func TestEveryCheckIsOneStatementOfANode(t *testing.T) {
	t.Parallel()
	dbtest.NeedsCitus(t)
	d := dbtest.OwnDB(t)
	for claim, sql := range verify.Statements() {
		rows, err := dbtest.Owner(d).Query(t.Context(), "explain (costs off) "+sql)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.Join(plan, "\n"), "Distributed Subplan") {
			t.Errorf("%q reads in several steps:\n%s", claim, strings.Join(plan, "\n"))
		}
	}
}
