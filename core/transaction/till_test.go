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
	soder, theirs := s.open(t, "Söder"), stranger.open(t, "Söder")
	made, err := s.Record(t.Context(), s.by, s.at(soder.ID))
	if err != nil || made.LocationID == nil || *made.LocationID != soder.ID {
		t.Errorf("Record = %+v, %v", made, err)
	}
	if found, err := s.Find(t.Context(), s.by, made.ID); err != nil || found.LocationID == nil || *found.LocationID != soder.ID {
		t.Errorf("Find = %+v, %v", found, err)
	}
	if _, err := location.NewService(s.db).Edit(t.Context(), s.by, soder.ID, location.Edit{Active: core.Set(false)}); err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]int64{"closed": soder.ID, "another tenant's": theirs.ID, "missing": -1} {
		t.Run(name, func(t *testing.T) {
			s.refused(t, s.at(id), core.Fields{"location_id": {core.InvalidChoice}})
		})
	}
	n := s.at(-1)
	n.CustomerID, n.Malformed = nil, core.Fields{"location_id": {core.MustBeInteger}}
	s.refused(t, n, core.Fields{
		"customer_ulid": {core.Required}, "location_id": {core.MustBeInteger},
	})
}

// "A cashier: … recording …; a manager: everything except staff, tokens, business
// settings, billing."
func TestRoles(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sale := s.sale(t, 100)
	guest := s.person(t, core.Cashier)
	guest.Role = "guest"
	for _, c := range []struct {
		name  string
		least core.Role
		do    func(by core.Actor) error
	}{
		{"record", core.Cashier, func(by core.Actor) error { return second(s.Record(t.Context(), by, s.of(100))) }},
		{"void", core.Manager, func(by core.Actor) error {
			err := second(s.Void(t.Context(), by, sale.ID))
			if errors.Is(err, transaction.ErrAlreadyVoided) {
				return nil
			}
			return err
		}},
		{"add type", core.Manager, func(by core.Actor) error {
			return second(s.AddType(t.Context(), by, transaction.NewType{Name: "Lunch", RuleType: ledger.Points}))
		}},
		{"edit type", core.Manager, func(by core.Actor) error {
			return second(s.EditType(t.Context(), by, s.kind.ID, transaction.EditType{Name: core.Set("Lunch")}))
		}},
		{"switch type", core.Manager, func(by core.Actor) error { return second(s.SetTypeActive(t.Context(), by, s.kind.ID, true)) }},
	} {
		for _, by := range []core.Actor{guest, s.person(t, core.Cashier), s.person(t, core.Manager), s.by, {Kind: core.ByToken, Tenant: s.by.Tenant}} {
			err := c.do(by)
			if allowed := by.Require(c.least) == nil; allowed != (err == nil) {
				t.Errorf("%s as %s %s: %v", c.name, by.Kind, by.Role, err)
			} else if !allowed && !errors.Is(err, core.ErrRole) && !errors.Is(err, transaction.ErrVoidNotAllowed) {
				t.Errorf("%s as %s: %v", c.name, by.Role, err)
			}
		}
	}
	if err := second(s.Void(t.Context(), guest, sale.ID)); !errors.Is(err, core.ErrRole) {
		t.Errorf("a void by a guest = %v, want ErrRole", err)
	}
}

// checkVoidable voids a sale, and checks that lists and details agree on who may.
func (s shop) checkVoidable(t *testing.T, by core.Actor, id core.ID, want error) {
	t.Helper()
	l, err := s.List(t.Context(), by, transaction.Filter{}, core.Page{Size: core.MaxPageSize})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range l.Items {
		d, err := s.Detail(t.Context(), by, one.ID)
		if err != nil || d.Voidable != one.Voidable {
			t.Errorf("the list says %v, the detail %v, %v", one.Voidable, d.Voidable, err)
		}
		if one.ID == id && one.Voidable != (want == nil) {
			t.Errorf("to %s the list says voidable %v, want %v", by.Name, one.Voidable, want)
		}
	}
	if err := second(s.Void(t.Context(), by, id)); !errors.Is(err, want) {
		t.Errorf("a void by %s = %v, want %v", by.Name, err, want)
	}
}

// "`cashier` (POS, look-up, redeem rewards and vouchers, fulfil, void own last sale within 10 minutes)". Pages
// don't offer what is refused.
func TestACashierVoidsTheirOwnLastSale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sara, yusuf, maja := s.person(t, core.Cashier), s.person(t, core.Cashier), s.person(t, core.Manager)

	first := s.record(t, sara, s.of(1000))
	last := s.record(t, sara, s.of(2000))
	his := s.record(t, yusuf, s.of(300))
	app := s.record(t, core.Actor{Kind: core.ByToken, ID: sara.ID, Tenant: s.by.Tenant}, s.of(400)) // the number of a token may be a person's
	s.checkVoidable(t, sara, first, transaction.ErrVoidNotAllowed)
	s.checkVoidable(t, sara, his, transaction.ErrVoidNotAllowed)
	s.checkVoidable(t, sara, app, transaction.ErrVoidNotAllowed)
	if got := s.balance(t); got != 37 {
		t.Errorf("refusals left a balance of %d, want 37", got)
	}
	s.checkVoidable(t, sara, last, nil)
	s.checkVoidable(t, sara, last, transaction.ErrAlreadyVoided)
	// The sale before it does not become the last one.
	s.checkVoidable(t, sara, first, transaction.ErrVoidNotAllowed)
	s.checkVoidable(t, maja, first, nil)
	if got := s.balance(t); got != 7 {
		t.Errorf("balance = %d, want 7", got)
	}

	almost, over := s.later(10*time.Minute-10*time.Second), s.later(10*time.Minute+time.Second)
	over.checkVoidable(t, yusuf, his, transaction.ErrVoidNotAllowed)
	almost.checkVoidable(t, yusuf, his, nil)
	over.checkVoidable(t, s.by, app, nil)

	stranger := newShop(t)
	theirs := dbtest.Person(t, s.db, stranger.by, core.Cashier)
	if err := second(s.Void(t.Context(), theirs, first)); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("another tenant's cashier = %v, want ErrNotFound", err)
	}
}

// Of a cashier's two concurrent sales from two tabs, one is the last, and only that one can be voided.
func TestOfTwoSalesAtOnceOneIsTheLast(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for range 10 {
		sara := s.person(t, core.Cashier)
		var sales [2]core.ID
		var wg sync.WaitGroup
		for i := range sales {
			wg.Go(func() {
				made, err := s.Record(t.Context(), sara, s.of(1000))
				if err != nil {
					t.Error(err)
				}
				sales[i] = made.ID
			})
		}
		wg.Wait()
		before := s.balance(t)
		var results [2][5]error
		for i, id := range sales {
			for j := range results[i] {
				wg.Go(func() { results[i][j] = second(s.Void(t.Context(), sara, id)) })
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
		if got := s.balance(t); voided != 1 || got != before-10 {
			t.Errorf("%d voided, the balance went from %d to %d", voided, before, got)
		}
	}
}

// form returns an actor with a form of the panel: "so that a double click records once".
func form(by core.Actor, key, body string) core.Actor {
	by.Idempotency = &core.Idempotency{
		Key: key, Fingerprint: sha256.Sum256([]byte(body)), Wait: true,
		Render: func(result any) (core.Response, error) {
			sold := result.(transaction.Transaction)
			return core.Response{Status: 303, Body: fmt.Append(nil, "/admin/transactions/", sold.ID)}, nil
		},
	}
	return by
}

// Many clicks on one form record one sale and return it.
func TestADoubleClickRecordsOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sara := s.person(t, core.Cashier)
	const clicks = 12
	answers := make([]string, clicks)
	var wg sync.WaitGroup
	for i := range clicks {
		wg.Go(func() {
			by := form(sara, "form-1", "10.00")
			if _, err := s.Record(t.Context(), by, s.of(1000)); err != nil && !errors.Is(err, core.ErrReplayed) {
				t.Error(err)
			}
			answers[i] = string(by.Idempotency.Response.Body)
		})
	}
	wg.Wait()
	l, err := s.List(t.Context(), s.by, transaction.Filter{}, core.Page{Size: 5})
	if err != nil || len(l.Items) != 1 || s.balance(t) != 10 {
		t.Fatalf("%d sales, balance %d, %v, want one of 10", len(l.Items), s.balance(t), err)
	}
	for _, a := range answers {
		if want := "/admin/transactions/" + l.Items[0].ID.String(); a != want {
			t.Errorf("a click leads to %q, want %q", a, want)
		}
	}
	// The form has changed, so it is refused.
	if err := second(s.Record(t.Context(), form(sara, "form-1", "20.00"), s.of(2000))); !errors.Is(err, core.ErrKeyReused) {
		t.Errorf("the form with another amount = %v, want ErrKeyReused", err)
	}
	// A refusal frees the key, so the corrected form is recorded.
	if err := second(s.Record(t.Context(), form(sara, "form-2", "-1"), s.of(-1))); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a wrong amount = %v", err)
	}
	if err := second(s.Record(t.Context(), form(sara, "form-2", "1.00"), s.of(100))); err != nil || s.count(t) != 2 {
		t.Errorf("the corrected form = %v, %d sales", err, s.count(t))
	}
}

// log returns a record's entries in the audit log, in order.
func (s shop) log(t *testing.T, kind, subject string) (lines []string) {
	t.Helper()
	rows, err := dbtest.Owner(s.db).Query(t.Context(), `
		select concat_ws(' ', action, coalesce(old::text, '-'), coalesce(new::text, '-'), 'by', actor_name)
		from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = $2 and subject_id = $3
		order by created_at, id`, s.by.Tenant.ID, kind, subject)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}

// "Audit for all of them": old and new values, and no entry without a change.
func TestTheLogTellsOfTypes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx, maja := t.Context(), s.person(t, core.Manager)
	dbtest.Tick(s.db) // the log has one order
	if _, err := s.EditType(ctx, maja, s.kind.ID, transaction.EditType{Name: core.Set("Lunch"), MaxAward: core.Set(int64(50))}); err != nil {
		t.Fatal(err)
	}
	for _, active := range []bool{true, false, false} {
		dbtest.Tick(s.db)
		if got, err := s.SetTypeActive(ctx, s.by, s.kind.ID, active); err != nil || got.Active != active {
			t.Errorf("SetTypeActive(%t) = %+v, %v", active, got, err)
		}
	}
	const before = `{"name": "A type", "active": true, "max_award": null, "rule_type": "points", "unit_cents": 100, ` +
		`"min_spend_cents": 0, "points_per_unit": 1, "stamps_per_transaction": 0}`
	const after = `{"name": "Lunch", "active": true, "max_award": 50, "rule_type": "points", "unit_cents": 100, ` +
		`"min_spend_cents": 0, "points_per_unit": 1, "stamps_per_transaction": 0}`
	want := []string{
		`transaction_type.create - ` + before + ` by A owner`,
		`transaction_type.edit ` + before + ` ` + after + ` by A manager`,
		`transaction_type.edit {"active": true} {"active": false} by A owner`,
	}
	if diff := cmp.Diff(want, s.log(t, "transaction_type", fmt.Sprint(s.kind.ID))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
