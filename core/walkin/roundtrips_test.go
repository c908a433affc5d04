package walkin_test

import (
	"crypto/sha256"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
)

// The lines about the till in the table of round trips (docs/architecture/database.md).
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	c := s.Customer()
	ctx := t.Context()
	warm := false // statements are prepared in the first round
	// Notifications are sent after the commit, in the background.
	const signal = 1
	trips := func(what string, want int, call func() error) {
		t.Helper()
		d.WaitForNotifications()
		before := count()
		if err := call(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		d.WaitForNotifications()
		if got := count() - before; warm && got != want {
			t.Errorf("%s: %d round trips, want %d", what, got, want)
		}
	}
	for _, round := range []string{"first", "second"} {
		var shown walkin.Shown
		var held walkin.TakenCard
		trips("show a card's PIN", 2+signal, func() error { shown = s.card(c); return nil })
		trips("take it", 2+signal, func() error { held = s.take("till", shown); return nil })
		trips("the customer at the till", 1, func() error { _, err := s.Walkins.Customer(ctx, s.cashier, c.ID); return err })
		trips("complete it, by a form", 4+signal, func() error {
			_, err := core.Result(s.Walkins.Complete(ctx, s.cashier, "till", s.sale(held.PIN, 100), nil, onceFor[walkin.Receipt]("complete "+round)))
			return err
		})
		trips("a sale without a PIN, by a form", 3, func() error {
			_, err := core.Result(s.Walkins.Complete(ctx, s.cashier, "till", walkin.Sale{CustomerID: c.ID, Sold: &transaction.Sale{TransactionTypeID: s.kind.ID, SpendAmountCents: 100}}, nil, onceFor[walkin.Receipt]("sale "+round)))
			return err
		})
		used := s.to(c, 100)
		used.Rewards, used.Vouchers = []core.ID{s.Reward(1, nil)}, []core.ID{s.voucher(c, coupon.Points, new(int64(5)), nil)}
		var receipt walkin.Receipt
		trips("a sale with a reward and a voucher", 6, func() (err error) {
			receipt, err = core.Result(s.Walkins.Complete(ctx, s.cashier, "till", used, nil, nil))
			return err
		})
		trips("its receipt", 1, func() error { _, err := s.Walkins.Checkout(ctx, s.cashier, receipt.ID); return err })
		trips("undo it", 6, func() error { return s.Walkins.Undo(ctx, s.cashier, receipt.ID) })
		trips("undo it again", 2, func() error { return s.Walkins.Undo(ctx, s.cashier, receipt.ID) })
		receipt, err := core.Result(s.Walkins.Complete(ctx, s.cashier, "till", s.to(c, 100), nil, nil))
		s.Check(err)
		trips("undo a sale alone", 3, func() error { return s.Walkins.Undo(ctx, s.cashier, receipt.ID) })
		browser := walkin.NewBrowser()
		trips("show a sale's PIN", 3+signal, func() error { shown = s.shows("till", 100); return nil })
		trips("show another", 4+signal, func() (err error) { shown, err = s.Walkins.Renew(ctx, s.cashier, "till", shown.ID); return err })
		trips("look at it", 1, func() error { _, err := s.Walkins.PeekSale(ctx, s.By.Tenant, shown.Code); return err })
		trips("take it by phone", 2+signal, func() error { return s.Walkins.TakeSale(ctx, s.visitor(), browser, walkin.Key{Code: shown.Code}) })
		trips("claim it, by a form, as a known customer", 5+signal, func() error {
			_, err := core.Result(s.Walkins.Claim(ctx, s.visitor(), browser, elsa(c.Phone), onceFor[walkin.Claimed]("claim "+round)))
			return err
		})
		trips("its progress", 1, func() error { _, err := s.Walkins.TillProgress(ctx, s.cashier, "till", shown.ID); return err })
		shown = s.shows("till", 100)
		s.Check(s.Walkins.TakeSale(ctx, s.visitor(), browser, walkin.Key{Code: shown.Code}))
		trips("claim it, by a form, as a new customer", 6+signal, func() error {
			_, err := core.Result(s.Walkins.Claim(ctx, s.visitor(), browser, elsa(shoptest.Phone()), onceFor[walkin.Claimed]("new claim "+round)))
			return err
		})
		trips("join, by a form", 4, func() error {
			_, err := core.Result(s.Walkins.Join(ctx, s.visitor(), elsa(shoptest.Phone()), onceFor[walkin.Joined]("join "+round)))
			return err
		})
		trips("join", 3, func() error {
			_, err := core.Result(s.Walkins.Join(ctx, s.visitor(), elsa(shoptest.Phone()), nil))
			return err
		})
		trips("who was just here", 1, func() error { _, err := s.Walkins.Recent(ctx, s.cashier, nil); return err })
		trips("find by phone", 1, func() error { _, _, err := s.Walkins.FindCustomers(ctx, s.cashier, "1234"); return err })
		trips("find by name", 1, func() error { _, _, err := s.Walkins.FindCustomers(ctx, s.cashier, "Elsa"); return err })
		warm = true
	}
}

// onceFor is a form that takes effect once.
func onceFor[T any](key string) *core.Once[T] {
	return &core.Once[T]{
		RequestKey: core.RequestKey{Key: key, Fingerprint: sha256.Sum256([]byte(key)), Wait: true},
		Respond:    func(T) (core.Response, error) { return core.Response{Status: 303, Body: []byte("/")}, nil },
	}
}
