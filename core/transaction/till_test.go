package transaction_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/transaction"
)

// "A till chooses one": an active location of its own tenant.
func TestASaleAtALocation(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	soder, theirs := s.open("Söder"), stranger.open("Söder")
	made, err := core.Result(s.Sales.Record(t.Context(), s.By, s.at(soder.ID), nil, nil))
	if err != nil || made.LocationID == nil || *made.LocationID != soder.ID {
		t.Errorf("Record = %+v, %v", made, err)
	}
	if found, err := s.Sales.Find(t.Context(), s.By, made.ID); err != nil || found.LocationID == nil || *found.LocationID != soder.ID {
		t.Errorf("Find = %+v, %v", found, err)
	}
	s.Must(s.Locations.Edit(t.Context(), s.By, soder.ID, location.Edit{Active: core.Set(false)}))
	for name, id := range map[string]int64{"closed": soder.ID, "another tenant's": theirs.ID, "missing": -1} {
		t.Run(name, func(t *testing.T) {
			s.refused(s.at(id), core.Fields{"location_id": {core.InvalidChoice}})
		})
	}
	n := s.at(-1)
	unread := core.Fields{"location_id": {core.MustBeInteger}}
	n.CustomerID = unread.Reference("customer_ulid", nil)
	s.refusedUnread(n, unread, core.Fields{
		"customer_ulid": {core.Required}, "location_id": {core.MustBeInteger},
	})
}

// "A cashier: … recording …; a manager: everything except staff, tokens, business
// settings, billing."
func TestRoles(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sale := s.sale(100)
	guest := s.As(core.Cashier).By
	guest.Role = "guest"
	for _, c := range []struct {
		name  string
		least core.Role
		do    func(by core.Actor) error
	}{
		{"record", core.Cashier, func(by core.Actor) error {
			return second(core.Result(s.Sales.Record(t.Context(), by, s.of(100), nil, nil)))
		}},
		{"void", core.Manager, func(by core.Actor) error {
			err := second(core.Result(s.Sales.Void(t.Context(), by, sale.ID, nil, nil)))
			if errors.Is(err, transaction.ErrAlreadyVoided) {
				return nil
			}
			return err
		}},
		{"add type", core.Manager, func(by core.Actor) error {
			return second(core.Result(s.Sales.AddType(t.Context(), by, transaction.NewType{Name: "Lunch", RuleType: ledger.Points}, nil)))
		}},
		{"edit type", core.Manager, func(by core.Actor) error {
			return second(s.Sales.EditType(t.Context(), by, s.kind.ID, transaction.EditType{Name: core.Set("Lunch")}))
		}},
		{"switch type", core.Manager, func(by core.Actor) error { return second(s.Sales.SetTypeActive(t.Context(), by, s.kind.ID, true)) }},
	} {
		for _, by := range []core.Actor{guest, s.As(core.Cashier).By, s.As(core.Manager).By, s.By, {Kind: core.ByToken, Tenant: s.By.Tenant}} {
			err := c.do(by)
			if allowed := by.Require(c.least) == nil; allowed != (err == nil) {
				t.Errorf("%s as %s %s: %v", c.name, by.Kind, by.Role, err)
			} else if !allowed && !errors.Is(err, core.ErrRole) && !errors.Is(err, transaction.ErrVoidNotAllowed) {
				t.Errorf("%s as %s: %v", c.name, by.Role, err)
			}
		}
	}
	if err := second(core.Result(s.Sales.Void(t.Context(), guest, sale.ID, nil, nil))); !errors.Is(err, core.ErrRole) {
		t.Errorf("a void by a guest = %v, want ErrRole", err)
	}
}

// checkVoidable voids a sale, and checks that lists and details agree on who may.
func (s shop) checkVoidable(by core.Actor, id core.ID, want error) {
	s.T.Helper()
	l, err := s.Sales.List(s.T.Context(), by, transaction.Filter{}, core.Newest, core.Page{Size: core.MaxPageSize})
	s.Check(err)
	for _, one := range l.Items {
		d, err := s.Sales.Detail(s.T.Context(), by, one.ID)
		if err != nil || d.Voidable != one.Voidable {
			s.T.Errorf("the list says %v, the detail %v, %v", one.Voidable, d.Voidable, err)
		}
		if one.ID == id && one.Voidable != (want == nil) {
			s.T.Errorf("to %s the list says voidable %v, want %v", by.Name, one.Voidable, want)
		}
	}
	if err := second(core.Result(s.Sales.Void(s.T.Context(), by, id, nil, nil))); !errors.Is(err, want) {
		s.T.Errorf("a void by %s = %v, want %v", by.Name, err, want)
	}
}

// "`cashier` (POS, look-up, redeem rewards and vouchers, fulfil, void own last sale within 10 minutes)". Pages
// don't offer what is refused.
func TestACashierVoidsTheirOwnLastSale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sara, yusuf, maja := s.As(core.Cashier).By, s.As(core.Cashier).By, s.As(core.Manager).By

	first := s.record(sara, s.of(1000))
	last := s.record(sara, s.of(2000))
	his := s.record(yusuf, s.of(300))
	app := s.record(core.Actor{Kind: core.ByToken, ID: sara.ID, Tenant: s.By.Tenant}, s.of(400)) // the number of a token may be a person's
	s.checkVoidable(sara, first, transaction.ErrVoidNotAllowed)
	s.checkVoidable(sara, his, transaction.ErrVoidNotAllowed)
	s.checkVoidable(sara, app, transaction.ErrVoidNotAllowed)
	if got := s.Account(s.customer).Points; got != 37 {
		t.Errorf("refusals left a balance of %d, want 37", got)
	}
	s.checkVoidable(sara, last, nil)
	s.checkVoidable(sara, last, transaction.ErrAlreadyVoided)
	// The sale before it does not become the last one.
	s.checkVoidable(sara, first, transaction.ErrVoidNotAllowed)
	s.checkVoidable(maja, first, nil)
	if got := s.Account(s.customer).Points; got != 7 {
		t.Errorf("balance = %d, want 7", got)
	}

	almost, over := s.later(10*time.Minute-10*time.Second), s.later(10*time.Minute+time.Second)
	over.checkVoidable(yusuf, his, transaction.ErrVoidNotAllowed)
	almost.checkVoidable(yusuf, his, nil)
	over.checkVoidable(s.By, app, nil)

	stranger := newShop(t)
	theirs := dbtest.Person(t, s.DB, stranger.By, core.Cashier)
	if err := second(core.Result(s.Sales.Void(t.Context(), theirs, first, nil, nil))); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("another tenant's cashier = %v, want ErrNotFound", err)
	}
}

// Of a cashier's two concurrent sales from two tabs, one is the last, and only that one can be voided.
func TestOfTwoSalesAtOnceOneIsTheLast(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for range 10 {
		sara := s.As(core.Cashier).By
		var sales [2]core.ID
		var wg sync.WaitGroup
		for i := range sales {
			wg.Go(func() {
				made, err := core.Result(s.Sales.Record(t.Context(), sara, s.of(1000), nil, nil))
				if err != nil {
					t.Error(err)
				}
				sales[i] = made.ID
			})
		}
		wg.Wait()
		before := s.Account(s.customer).Points
		var results [2][5]error
		for i, id := range sales {
			for j := range results[i] {
				wg.Go(func() { results[i][j] = second(core.Result(s.Sales.Void(t.Context(), sara, id, nil, nil))) })
			}
		}
		wg.Wait()
		last := 0
		if sales[1].String() > sales[0].String() {
			last = 1
		}
		voided := 0
		for i := range results {
			for _, err := range results[i] {
				switch {
				case i == last && err == nil:
					voided++
				case i == last && !errors.Is(err, transaction.ErrAlreadyVoided), i != last && !errors.Is(err, transaction.ErrVoidNotAllowed):
					t.Errorf("sale %d, of which %d is the last: %v", i, last, err)
				}
			}
		}
		if got := s.Account(s.customer).Points; voided != 1 || got != before-10 {
			t.Errorf("%d voided, the balance went from %d to %d", voided, before, got)
		}
	}
}

// form is a form of the panel: "so that a double click records once".
func form(key, body string) *core.Once[transaction.Transaction] {
	return &core.Once[transaction.Transaction]{
		RequestKey: core.RequestKey{Key: key, Fingerprint: sha256.Sum256([]byte(body)), Wait: true},
		Respond: func(sold transaction.Transaction) (core.Response, error) {
			return core.Response{Status: 303, Body: fmt.Append(nil, "/admin/transactions/", sold.ID)}, nil
		},
	}
}

// Many clicks on one form record one sale and return it.
func TestADoubleClickRecordsOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sara := s.As(core.Cashier).By
	const clicks = 12
	answers := make([]string, clicks)
	var wg sync.WaitGroup
	for i := range clicks {
		wg.Go(func() {
			reply, err := s.Sales.Record(t.Context(), sara, s.of(1000), nil, form("form-1", "10.00"))
			if err != nil {
				t.Error(err)
				return
			}
			answers[i] = string(reply.Response.Body)
		})
	}
	wg.Wait()
	l, err := s.Sales.List(t.Context(), s.By, transaction.Filter{}, core.Newest, core.Page{Size: 5})
	if err != nil || len(l.Items) != 1 || s.Account(s.customer).Points != 10 {
		t.Fatalf("%d sales, balance %d, %v, want one of 10", len(l.Items), s.Account(s.customer).Points, err)
	}
	for _, a := range answers {
		if want := "/admin/transactions/" + l.Items[0].ID.String(); a != want {
			t.Errorf("a click leads to %q, want %q", a, want)
		}
	}
	// The form has changed, so it is refused.
	if err := second(core.Result(s.Sales.Record(t.Context(), sara, s.of(2000), nil, form("form-1", "20.00")))); !errors.Is(err, core.ErrKeyReused) {
		t.Errorf("the form with another amount = %v, want ErrKeyReused", err)
	}
	// A refusal frees the key, so the corrected form is recorded.
	if err := second(core.Result(s.Sales.Record(t.Context(), sara, s.of(-1), nil, form("form-2", "-1")))); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a wrong amount = %v", err)
	}
	if err := second(core.Result(s.Sales.Record(t.Context(), sara, s.of(100), nil, form("form-2", "1.00")))); err != nil || s.Count("transaction") != 2 {
		t.Errorf("the corrected form = %v, %d sales", err, s.Count("transaction"))
	}
}

// "Audit for all of them": old and new values, and no entry without a change.
func TestChangesOfTypesAreLogged(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx, maja := t.Context(), s.As(core.Manager).By
	dbtest.Tick(s.DB) // the log has one order
	s.Must(s.Sales.EditType(ctx, maja, s.kind.ID, transaction.EditType{Name: core.Set("Lunch"), MaxAward: core.Set(int64(50))}))
	for _, active := range []bool{true, false, false} {
		dbtest.Tick(s.DB)
		if got, err := s.Sales.SetTypeActive(ctx, s.By, s.kind.ID, active); err != nil || got.Active != active {
			t.Errorf("SetTypeActive(%t) = %+v, %v", active, got, err)
		}
	}
	const before = `{"name": "Purchase", "active": true, "max_award": null, "rule_type": "points", "unit_cents": 100, ` +
		`"min_spend_cents": 0, "points_per_unit": 1, "stamps_per_transaction": 0}`
	const after = `{"name": "Lunch", "active": true, "max_award": 50, "rule_type": "points", "unit_cents": 100, ` +
		`"min_spend_cents": 0, "points_per_unit": 1, "stamps_per_transaction": 0}`
	want := []string{
		`transaction_type.create - ` + before + ` by A owner`,
		`transaction_type.edit ` + before + ` ` + after + ` by A manager`,
		`transaction_type.edit {"active": true} {"active": false} by A owner`,
	}
	if diff := cmp.Diff(want, s.Log("transaction_type", s.kind.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
