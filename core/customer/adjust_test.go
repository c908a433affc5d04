package customer_test

import (
	"crypto/sha256"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
)

func adjustment(unit string, amount int64, reason string) customer.Adjustment {
	return customer.Adjustment{Unit: unit, Amount: amount, Reason: reason}
}

func (s shop) adjust(id core.ID, unit string, amount int64) ledger.Account {
	s.T.Helper()
	account, err := core.Result(s.Customers.Adjust(s.T.Context(), s.By, id, adjustment(unit, amount, "Found in the drawer"), nil))
	s.Check(err)
	return account
}

// Adjustments of both units, up and down, are in the ledger and the audit log with their reason.
func TestAdjust(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.made("070 174 06 05", nil)
	s.adjust(c.ID, "points", 100)
	s.adjust(c.ID, "stamps", 4)
	if got, want := s.adjust(c.ID, "points", -30), (ledger.Account{Points: 70, Stamps: 4}); got != want {
		t.Errorf("Adjust = %+v, want %+v", got, want)
	}
	if got := s.find(c.ID); got.PointsBalance != 70 || got.StampsBalance != 4 {
		t.Errorf("balances = %d, %d, want 70, 4", got.PointsBalance, got.StampsBalance)
	}
	got := s.timeline(c.ID, 5)
	if len(got) != 3 || got[0].Kind != ledger.Adjustment || got[0].Amount != -30 || *got[0].Reason != "Found in the drawer" {
		t.Errorf("entries = %+v", got)
	}
	want := logged{"customer.adjust", nil, map[string]any{"unit": "points", "amount": -30.0, "reason": "Found in the drawer"}}
	if log := s.log(c.ID); len(log) != 4 || !cmp.Equal(log[3], want) {
		t.Errorf("log = %+v, want %+v last", log, want)
	}
	// Inactive customers can be adjusted, too.
	s.edit(c.ID, customer.Edit{Status: core.Set("inactive")})
	s.adjust(c.ID, "points", 1)
}

// All invalid fields are reported at once, and an unknown customer before them.
func TestAdjustRefuses(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	c := s.made("070 174 06 05", nil)
	for _, a := range []struct {
		name string
		a    customer.Adjustment
		want core.Fields
	}{
		{"nothing", customer.Adjustment{Malformed: core.Fields{"amount": {core.Required}}}, core.Fields{
			"unit": {core.Required}, "amount": {core.Required}, "reason": {core.Required},
		}},
		{"wrong", adjustment("euros", 0, strings.Repeat("x", 256)), core.Fields{
			"unit": {core.InvalidChoice}, "amount": {core.NotZero},
			"reason": {core.MaxLength(255)},
		}},
		{"too much", adjustment("points", 1_000_000_000_001, "x"), core.Fields{"amount": {core.Max(1000000000000)}}},
		{"too little", adjustment("points", math.MinInt64, "x"), core.Fields{"amount": {core.Min(-1000000000000)}}},
		{"unreadable", customer.Adjustment{Unit: "points", Reason: "x", Malformed: core.Fields{"amount": {core.MustBeInteger}}}, core.Fields{
			"amount": {core.MustBeInteger},
		}},
	} {
		t.Run(a.name, func(t *testing.T) {
			_, err := core.Result(s.Customers.Adjust(t.Context(), s.By, c.ID, a.a, nil))
			shoptest.WantFields(t, err, a.want)
			if _, err := core.Result(stranger.Customers.Adjust(t.Context(), stranger.By, c.ID, a.a, nil)); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("a stranger's = %v, want ErrNotFound", err)
			}
		})
	}
	cashier := s.as(core.Cashier)
	if _, err := core.Result(cashier.Customers.Adjust(t.Context(), cashier.By, c.ID, adjustment("points", 1, "x"), nil)); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier's = %v, want ErrRole", err)
	}
	if got := s.timeline(c.ID, 5); got != nil || len(s.log(c.ID)) != 1 {
		t.Errorf("refusals wrote %+v", got)
	}
}

// No adjustment takes a balance below zero or overflows it.
func TestAdjustKeepsBalancesInRange(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.made("070 174 06 05", nil)
	s.adjust(c.ID, "points", 10)
	for unit, want := range map[string]error{"points": ledger.ErrInsufficientPoints, "stamps": ledger.ErrInsufficientStamps} {
		if _, err := core.Result(s.Customers.Adjust(t.Context(), s.By, c.ID, adjustment(unit, -11, "x"), nil)); !errors.Is(err, want) {
			t.Errorf("%s below zero = %v, want %v", unit, err, want)
		}
	}
	if got := s.adjust(c.ID, "points", -10); got != (ledger.Account{}) {
		t.Errorf("down to nothing = %+v", got)
	}
	_, err := db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (ledger.Account, error) {
		return ledger.Post(t.Context(), tx, s.By, ledger.Entry{
			Customer: c.ID, Unit: ledger.Points, Amount: math.MaxInt64, Kind: ledger.RedemptionRefund, Cause: new(core.NewID(tx.Now)),
		})
	})
	s.Check(err)
	if _, err := core.Result(s.Customers.Adjust(t.Context(), s.By, c.ID, adjustment("points", 1, "x"), nil)); !errors.Is(err, ledger.ErrTooLarge) {
		t.Errorf("one too many = %v, want ErrTooLarge", err)
	}
	if log := s.log(c.ID); len(log) != 3 {
		t.Errorf("refusals were logged: %+v", log)
	}
}

// Of many concurrent adjustments, as many succeed as the balance allows.
func TestConcurrentAdjustments(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.made("070 174 06 05", nil)
	s.adjust(c.ID, "points", 35)
	var taken atomic.Int32
	var wg sync.WaitGroup
	for range 24 {
		wg.Go(func() {
			_, err := core.Result(s.Customers.Adjust(t.Context(), s.By, c.ID, adjustment("points", -10, "x"), nil))
			if err == nil {
				taken.Add(1)
			} else if !errors.Is(err, ledger.ErrInsufficientPoints) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := s.find(c.ID).PointsBalance; taken.Load() != 3 || got != 5 {
		t.Errorf("%d succeeded, %d points left, want 3 and 5", taken.Load(), got)
	}
}

// A form that is submitted many times at once changes the balance once, and all get the same
// answer.
func TestADoubleClickAdjustsOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.made("070 174 06 05", nil)
	send := func(key string) (core.Reply[ledger.Account], error) {
		return s.Customers.Adjust(t.Context(), s.By, c.ID, adjustment("points", 10, "x"), &core.Once[ledger.Account]{
			RequestKey: core.RequestKey{Key: key, Fingerprint: sha256.Sum256([]byte(key)), Wait: true},
			Respond: func(ledger.Account) (core.Response, error) {
				return core.Response{Status: 303, Body: []byte("/" + key)}, nil
			},
		})
	}
	var posted atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			reply, err := send("first")
			if err != nil {
				t.Error(err)
				return
			}
			if !reply.Replayed() {
				posted.Add(1)
			}
			if string(reply.Response.Body) != "/first" {
				t.Errorf("answered %q", reply.Response.Body)
			}
		})
	}
	wg.Wait()
	if _, err := send("second"); err != nil {
		t.Error(err)
	}
	if got := s.find(c.ID).PointsBalance; posted.Load() != 1 || got != 20 {
		t.Errorf("the first form had its effect %d times, the balance is %d, want once and 20", posted.Load(), got)
	}
}
