package customer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// mailed writes a mail to an address, without delivering it.
func (s shop) mailed(to, subject string) {
	s.T.Helper()
	s.Exec(`
		insert into loyalty.mail (tenant_id, id, recipient, subject, text, html, created_at)
		values ($1, loyalty.new_ulid(now()), $2, $3, 'Dear you', '', now())`, s.By.Tenant.ID, to, subject)
}

// answered stores a response about a customer.
func (s shop) answered(key string, c customer.Customer) {
	s.T.Helper()
	s.Must(core.Result(s.Customers.Upsert(s.T.Context(), s.By, described(c.Phone, c.Email), &core.Once[customer.Upserted]{
		RequestKey: core.RequestKey{Key: key},
		Respond: func(customer.Upserted) (core.Response, error) {
			body, err := json.Marshal(c)
			return core.Response{Status: 200, Body: body}, err
		},
	})))
}

func (s shop) erase(id core.ID) customer.Customer {
	s.T.Helper()
	c, err := s.Privacy.Erase(s.T.Context(), s.By, id)
	s.Check(err)
	return c
}

// everything returns each row of the tenant's tables, as text.
func (s shop) everything() string {
	s.T.Helper()
	var all strings.Builder
	for _, table := range []string{"customer", "account", "ledger_entry", "transaction", "redemption", "voucher", "audit_entry", "mail", "idempotency"} {
		row := "x::text"
		if table == "idempotency" {
			row = "concat_ws(' ', key, convert_from(body, 'UTF8'))"
		}
		rows, err := dbtest.Owner(s.DB).Query(s.T.Context(), "select "+row+" from loyalty."+table+" x where tenant_id = $1", s.By.Tenant.ID)
		s.Check(err)
		for rows.Next() {
			var row string
			s.Check(rows.Scan(&row))
			fmt.Fprintln(&all, table, row)
		}
		if rows.Err() != nil {
			s.T.Fatal(rows.Err())
		}
	}
	return all.String()
}

// Erasing leaves the ledger, but no table with the customer's name, phone number or e-mail address.
func TestErase(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	kind := s.Points(100)
	c := s.made("070 174 06 05", new("Anna@Old.example"))
	c = s.edit(c.ID, customer.Edit{FirstName: core.Set("Annika"), Email: core.Set("annika@new.example")})
	c = s.edit(c.ID, customer.Edit{Phone: core.Set("070 999 88 77"), LastName: core.Set("Sjöberg")})
	other := s.made("070 111 22 33", new("bo@example.com"))
	s.Sale(c.ID, kind, 5000)
	s.VoidSale(s.Sale(c.ID, kind, 200).ID)
	s.VoidRedemption(s.Redeem(c.ID, s.Reward(10, nil)).ID)
	s.voucherUsed(c.ID, 3)
	s.adjust(c.ID, "points", 4)
	own := s.By
	own.Kind, own.ID, own.Name, own.Address = core.ByCustomer, c.ID.String(), "Annika Sjöberg", "192.0.2.44"
	if _, err := core.Result(s.Sales.Record(t.Context(), own, transaction.Sale{
		CustomerID: c.ID, TransactionTypeID: kind.ID, SpendAmountCents: 100, Source: transaction.POS,
	}, nil, nil)); err != nil {
		t.Fatal(err)
	}
	s.Must(s.Customers.Edit(t.Context(), own, c.ID, customer.Edit{}))
	s.mailed("Anna@Old.example", "Hello Anna")
	s.mailed("annika@new.example", "Hello Annika")
	s.mailed("bo@example.com", "Hello Bo")
	s.answered("about-her", c)
	s.answered("about-him", other)
	s.exported(customer.Filter{Search: new("Sjöberg"), Email: new("annika@new.example")})
	c, before := s.find(c.ID), s.timeline(c.ID, 50)

	erased := s.erase(c.ID)
	want := customer.Customer{
		ID: c.ID, FirstName: "Erased", LastName: "Erased", Status: customer.Inactive, Erased: true,
		LinkVersion:   c.LinkVersion + 1, // no link to them works any more
		PointsBalance: c.PointsBalance, BalanceChangedAt: c.BalanceChangedAt, CreatedAt: c.CreatedAt, UpdatedAt: erased.UpdatedAt, Tags: []string{}, Standing: c.Standing,
	}
	if diff := cmp.Diff(want, erased); diff != "" {
		t.Errorf("Erase (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(erased, s.find(c.ID)); diff != "" {
		t.Errorf("Find (-erased +found):\n%s", diff)
	}
	left := s.everything()
	for _, gone := range []string{"Anna", "Annika", "annika", "Lindqvist", "Sjöberg", "sjöberg", "0701740605", "174 06 05", "999 88 77", "old.example", "Old.example", "new.example", "192.0.2.44"} {
		for line := range strings.Lines(left) {
			if strings.Contains(line, gone) && !strings.Contains(line, other.ID.String()) && !strings.Contains(line, "111 22 33") {
				t.Errorf("%q is left in %s", gone, line)
			}
		}
	}
	for _, action := range []string{"transaction.void", "redemption.void", "voucher.redeem"} {
		if strings.Count(left, action) != 1 {
			t.Errorf("the audit log has lost %s", action)
		}
	}
	if strings.Contains(left, "about-her") || !strings.Contains(left, "about-him") || !strings.Contains(left, "Hello Bo") || !cmp.Equal(s.find(other.ID), other) {
		t.Error("another customer changed")
	}
	after := s.timeline(c.ID, 50)
	for i := range before {
		if before[i].ActorKind == core.ByCustomer {
			before[i].ActorName = "Erased"
		}
	}
	if diff := cmp.Diff(before, after); diff != "" || len(after) != 6 { // of eight, two are voids
		t.Errorf("the ledger changed (-before +after):\n%s", diff)
	}
	s.logTells(c.ID)
	s.Verify()
}

// logTells checks that the audit log still has the actions on an erased customer.
func (s shop) logTells(id core.ID) {
	s.T.Helper()
	log := s.log(id)
	facts := func(status string) map[string]any {
		return map[string]any{"first_name": "Erased", "last_name": "Erased", "phone": "Erased", "email": "Erased", "status": status}
	}
	want := []logged{
		{"customer.create", nil, facts("active")},
		{"customer.edit", facts("active"), facts("active")},
		{"customer.replace_link", nil, nil},
		{"customer.edit", facts("active"), facts("active")},
		{"customer.replace_link", nil, nil},
		{"customer.adjust", nil, map[string]any{"unit": "points", "amount": 4.0, "reason": "Found in the drawer"}},
		{"customer.erase", map[string]any{"status": "active"}, map[string]any{"status": "inactive"}},
	}
	if diff := cmp.Diff(want, log); diff != "" {
		s.T.Errorf("log (-want +got):\n%s", diff)
	}
}

// An erased customer can't be edited, activated, credited or charged, and is erased once.
func TestAnErasedCustomerStaysErased(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	kind := s.Points(100)
	c := s.made("070 174 06 05", nil)
	gone := s.erase(c.ID)
	for name, e := range map[string]customer.Edit{
		"nothing": {}, "name": {FirstName: core.Set("Anna")}, "status": {Status: core.Set("active")}, "wrong": {Phone: core.Set("1")},
	} {
		_, err := s.Customers.Edit(t.Context(), s.By, c.ID, e)
		var refusal *core.Error
		if !errors.Is(err, customer.ErrErased) || !errors.As(err, &refusal) || refusal.Message != "This customer was erased and cannot be changed." {
			t.Errorf("edit of %s = %v, want ErrErased", name, err)
		}
	}
	if _, err := core.Result(s.Customers.Adjust(t.Context(), s.By, c.ID, adjustment("points", 1, "x"), nil)); !errors.Is(err, customer.ErrErased) {
		t.Errorf("adjust = %v, want ErrErased", err)
	}
	_, err := core.Result(s.Sales.Record(t.Context(), s.By, transaction.Sale{
		CustomerID: c.ID, TransactionTypeID: kind.ID, SpendAmountCents: 100, Source: transaction.POS,
	}, nil, nil))
	shoptest.WantFields(t, err, core.Fields{"customer_ulid": {customer.MustBeActive}})
	if diff := cmp.Diff(gone, s.erase(c.ID)); diff != "" {
		t.Errorf("erased again (-first +second):\n%s", diff)
	}
	// Old mails still have their link to unsubscribe.
	for name, again := range map[string]func() (customer.Customer, error){
		"unsubscribe": func() (customer.Customer, error) { return s.Customers.Unsubscribe(t.Context(), s.By, c.ID) },
		"subscribe":   func() (customer.Customer, error) { return s.Customers.Subscribe(t.Context(), s.By, c.ID) },
	} {
		if got, err := again(); err != nil || !cmp.Equal(got, gone) {
			t.Errorf("%s = %+v, %v, want them unchanged", name, got, err)
		}
	}
	if log := s.log(c.ID); len(log) != 2 {
		t.Errorf("log = %+v, want it erased once", log)
	}
	// The same phone number makes a new customer.
	if again := s.upsert("070 174 06 05", nil); !again.Created {
		t.Error("an erased customer was found by their phone number")
	}
}

// Concurrent erasures erase a customer once, also with edits between them.
func TestConcurrentErasures(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.made("070 174 06 05", new("anna@example.com"))
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if i%2 == 0 {
				if _, err := s.Privacy.Erase(t.Context(), s.By, c.ID); err != nil {
					t.Error(err)
				}
				return
			}
			_, err := s.Customers.Edit(t.Context(), s.By, c.ID, customer.Edit{FirstName: core.Set("Annika")})
			if err != nil && !errors.Is(err, customer.ErrErased) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	erasures := 0
	for _, e := range s.log(c.ID) {
		if e.Action == "customer.erase" {
			erasures++
		}
	}
	if got := s.find(c.ID); erasures != 1 || !got.Erased || got.FirstName != "Erased" || strings.Contains(s.everything(), "Annika") {
		t.Errorf("erased %d times: %+v", erasures, got)
	}
}

// "Erasing locks the customer's row, so it waits for uncommitted entries that name them", and they don't wait for it in
// turn: an adjustment holds the customer before it names them in the audit log.
func TestEraseWaitsForAnAdjustment(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	c := s.made("070 174 06 05", nil)
	held, err := dbtest.Owner(s.DB).Begin(t.Context())
	s.Check(err)
	s.Must(held.Exec(t.Context(), "select from loyalty.account where tenant_id = $1 and customer_id = $2 for update", s.By.Tenant.ID, c.ID))
	waiting := func(calls int) {
		t.Helper()
		s.Wait("the calls wait", "select count(*) = $1 from "+dbtest.Activity(t)+" where datname = current_database() and wait_event_type = 'Lock'", calls)
	}
	adjusted, erased := make(chan error), make(chan error)
	go func() {
		_, err := core.Result(s.Customers.Adjust(t.Context(), s.By, c.ID, customer.Adjustment{Unit: "points", Amount: 5, Reason: "Sorry"}, nil))
		adjusted <- err
	}()
	waiting(1)
	go func() {
		_, err := s.Privacy.Erase(t.Context(), s.By, c.ID)
		erased <- err
	}()
	waiting(2)
	s.Check(held.Rollback(t.Context()))
	s.Check(<-adjusted)
	s.Check(<-erased)
	if names := shoptest.QueryAll[string](s.Shop, "select customer_name from loyalty.audit_entry where action = 'customer.adjust'"); len(names) != 1 || names[0] != "Erased" {
		t.Errorf("the adjustment names %q, want Erased", names)
	}
	if n := shoptest.Query[int](s.Shop, "select deadlocks from pg_stat_database where datname = current_database()"); n > 0 {
		t.Errorf("%d deadlocks", n)
	}
}

// Erasing and a change of the country wait for each other, so that no key comes back.
func TestEraseWaitsForAnotherCountry(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.made("070 174 06 05", nil)
	_, err := db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (int, error) {
		if err := customer.Rekey(t.Context(), tx, "SE"); err != nil {
			return 0, err
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Privacy.Erase(ctx, s.By, c.ID); !errors.Is(err, context.DeadlineExceeded) && !core.IsKind(err, core.KindUnavailable) {
			t.Errorf("erased beside a change of the country: %v", err)
		}
		return 0, nil
	})
	s.Check(err)
	s.erase(c.ID)
	s.Check(s.move("DE"))
	if diff := cmp.Diff(map[string]string{"": "-"}, s.keys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// Mails to an address that another customer has now stay, and aren't in the data of the previous
// one.
func TestEraseKeepsAnotherCustomersAddress(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.made("070 174 06 05", new("Family@Example.com"))
	s.edit(anna.ID, customer.Edit{Email: core.Set("anna@example.com")})
	s.made("070 174 06 06", new("family@example.com"))
	for _, to := range []string{"Family@Example.com", "anna@example.com"} {
		s.mailed(to, "To "+to)
	}
	if got := s.data(anna.ID); len(got.Mails) != 1 || got.Mails[0]["subject"] != "To anna@example.com" {
		t.Errorf("given %v", got.Mails)
	}
	s.erase(anna.ID)
	if left := s.everything(); !strings.Contains(left, "To Family") || strings.Contains(left, "To anna") {
		t.Errorf("mails left: %s", left)
	}
}

// mail.DeleteTo deletes only mails of the transaction's tenant.
func TestDeletedMailsAreOfOneTenant(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	s.mailed("anna@example.com", "Ours")
	stranger.mailed("anna@example.com", "Theirs")
	_, err := db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (int, error) { return 0, mail.DeleteTo(tx, []string{"anna@example.com"}) })
	if err != nil || strings.Contains(s.everything(), "Ours") || !strings.Contains(stranger.everything(), "Theirs") {
		t.Errorf("%v, ours: %s, theirs: %s", err, s.everything(), stranger.everything())
	}
}

// document is the result of WriteData.
type document struct {
	Customer                                                           map[string]any
	LedgerEntries, Merged, MergedEntries, Transactions                 []map[string]any
	Refunds, Redemptions, LevelChanges, Vouchers, Mails, Consents, Log []map[string]any
}

func (s shop) data(id core.ID) document {
	s.T.Helper()
	var text bytes.Buffer
	s.Check(s.Privacy.WriteData(s.T.Context(), s.By, id, &text))
	var read struct {
		Customer      map[string]any   `json:"customer"`
		LedgerEntries []map[string]any `json:"ledger_entries"`
		Merged        []map[string]any `json:"merged_customers"`
		MergedEntries []map[string]any `json:"merged_ledger_entries"`
		Transactions  []map[string]any `json:"transactions"`
		Refunds       []map[string]any `json:"refunds"`
		Redemptions   []map[string]any `json:"redemptions"`
		LevelChanges  []map[string]any `json:"level_changes"`
		Vouchers      []map[string]any `json:"vouchers"`
		Mails         []map[string]any `json:"mails"`
		Consents      []map[string]any `json:"consents"`
		Log           []map[string]any `json:"log"`
	}
	d := json.NewDecoder(&text)
	d.DisallowUnknownFields()
	s.Check(d.Decode(&read))
	return document(read)
}

// What programs keep with a customer's sales is in the download, and goes with their name.
func TestEraseForgetsWhatProgramsKeepWithSales(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, other := s.Customer(), s.Customer()
	bought := s.DB.Now().Add(-time.Hour)
	for _, c := range []customer.Customer{anna, other} {
		s.Must(core.Result(s.Sales.Record(t.Context(), s.By, transaction.Sale{
			CustomerID: c.ID, TransactionTypeID: s.Points(100).ID, SpendAmountCents: 100, Source: transaction.API,
			OccurredAt: &bought, Metadata: core.Metadata{"name": "Anna Lindqvist"},
		}, nil, nil)))
	}
	sold := s.data(anna.ID).Transactions[0]
	if kept, _ := sold["metadata"].(map[string]any); kept["name"] != "Anna Lindqvist" || sold["occurred_at"] == sold["created_at"] {
		t.Errorf("the download has %v", sold)
	}
	s.erase(anna.ID)
	const left = "select count(metadata), count(metadata) filter (where customer_id = $2) from loyalty.transaction where tenant_id = $1"
	var all, hers int
	s.Check(dbtest.Owner(s.DB).QueryRow(t.Context(), left, s.By.Tenant.ID, anna.ID).Scan(&all, &hers))
	if all != 1 || hers != 0 {
		t.Errorf("%d sales have metadata, %d of them hers; want 1 of the other customer", all, hers)
	}
}

// The download has the customer's record, entries with their causes, mails and log, and nothing of
// other customers.
func TestWriteData(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	kind := s.Points(100)
	c, other := s.made("070 174 06 05", new("anna@example.com")), s.made("070 111 22 33", new("bo@example.com"))
	sale := s.Sale(c.ID, kind, 5000)
	theirs := s.Sale(other.ID, kind, 777)
	s.Redeem(c.ID, s.Reward(10, nil))
	s.voucherUsed(c.ID, 3)
	s.adjust(c.ID, "points", 4)
	s.Refund(sale.ID, 1000)
	s.Refund(theirs.ID, 100)
	s.mailed("anna@example.com", "Hello Anna")
	s.mailed("bo@example.com", "Hello Bo")
	s.tag(c.ID, "Regular")
	s.tag(other.ID, "Other")
	s.Check(s.Customers.SetNote(t.Context(), s.By, c.ID, "Likes the window."))
	s.edit(c.ID, customer.Edit{ExternalID: core.Set("wc-1"), Metadata: core.Set(map[string]*string{"shop": new("web")}), Birthday: core.Set("1990-05-21")})
	c = s.find(c.ID)

	got := s.data(c.ID)
	want := map[string]any{
		"ulid": c.ID.String(), "first_name": "Anna", "last_name": "Lindqvist", "phone": "070 174 06 05", "email": "anna@example.com",
		"status": "active", "points_balance": 37.0, "stamps_balance": 0.0,
		"created_at": got.Customer["created_at"], "updated_at": got.Customer["updated_at"],
		"unsubscribed_at": nil, "note": "Likes the window.", "tags": []any{"Regular"}, "also_found_by": []any{},
		"external_id": "wc-1", "metadata": map[string]any{"shop": "web"}, "level": nil, "level_until": nil, "birthday": "1990-05-21",
	}
	if diff := cmp.Diff(want, got.Customer); diff != "" {
		t.Errorf("customer (-want +got):\n%s", diff)
	}
	pick := func(of []map[string]any, keys ...string) (picked []string) {
		for _, o := range of {
			var line []string
			for _, key := range keys {
				line = append(line, fmt.Sprint(o[key]))
			}
			picked = append(picked, strings.Join(line, " "))
		}
		return picked
	}
	for _, p := range []struct {
		name string
		got  []string
		want []string
	}{
		{"entries", pick(got.LedgerEntries, "kind", "unit", "amount", "balance_after", "by"), []string{
			"earn points 50 50 staff", "redemption points -10 40 staff", "voucher points 3 43 staff", "adjustment points 4 47 staff", "refund points -10 37 staff",
		}},
		{"transactions", pick(got.Transactions, "transaction_type", "spend_amount_cents", "refunded_cents", "points_awarded", "status", "source"), []string{"Purchase 5000 1000 50 completed pos"}},
		{"refunds", pick(got.Refunds, "transaction_ulid", "amount_cents", "points_refunded", "stamps_refunded", "by"), []string{sale.ID.String() + " 1000 10 <nil> staff"}},
		{"redemptions", pick(got.Redemptions, "reward", "points_spent", "status"), []string{"Espresso 10 pending"}},
		{"vouchers", pick(got.Vouchers, "coupon", "status"), []string{"Welcome back redeemed"}},
		{"mails", pick(got.Mails, "recipient", "subject"), []string{"anna@example.com Hello Anna"}},
		{"log", pick(got.Log, "action", "by"), []string{"customer.create staff", "customer.adjust staff", "customer.tag staff", "customer.note staff", "customer.edit staff", "customer.download staff"}},
	} {
		if diff := cmp.Diff(p.want, p.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.name, diff)
		}
	}
	if new := got.Log[0]["new"].(map[string]any); new["phone"] != "070 174 06 05" {
		t.Errorf("the log says %v", got.Log[0])
	}
	if got := s.data(s.erase(c.ID).ID); got.Customer["first_name"] != "Erased" || len(got.LedgerEntries) != 5 || len(got.Mails) != 0 {
		t.Errorf("of an erased customer: %+v", got)
	}
}

// Every table that refers to customers is in WriteData and Erase.
func TestEveryTableThatNamesCustomersIsKnown(t *testing.T) {
	t.Parallel()
	var tables []string
	err := dbtest.Owner(dbtest.DB(t)).QueryRow(t.Context(), `
		select array_agg(table_name::text order by table_name::text)
		from information_schema.columns
		where table_schema = 'loyalty'
			and column_name like 'customer%id%'`).Scan(&tables)
	if err != nil {
		t.Fatal(err)
	}
	// Customers of a send are in its vouchers.
	// A customer's year is counted from their sales.
	// A PIN is deleted within an hour.
	// Erasing blanks the names and values of an import's rows.
	// Audit entries about sales, redemptions and vouchers have no other data about the customer.
	want := []string{"account", "audit_entry", "consent", "coupon_send", "customer_import_problem", "customer_key", "customer_tag", "customer_year", "ledger_entry", "level_change", "lot", "pin", "redemption", "transaction", "voucher"}
	if diff := cmp.Diff(want, tables); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

// Every record is written once, in order, over many pages.
func TestWriteDataWithManyRecords(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.made("070 174 06 05", nil)
	const entries = 2_500
	s.Exec(`
		with entry as (
			insert into loyalty.ledger_entry (tenant_id, id, customer_id, seq, unit, amount, balance_after, kind, reason,
				actor_kind, actor_id, actor_name, created_at)
			select $1, loyalty.new_ulid(now()), $2, n, 'points', 1, n, 'adjustment', 'x', 'system', '', 'test', now()
			from generate_series(1, $3::int) n
		)
		update loyalty.account
		set points = $3, entries = $3
		where tenant_id = $1 and customer_id = $2`, s.By.Tenant.ID, c.ID, entries)
	got := s.data(c.ID)
	if len(got.LedgerEntries) != entries {
		t.Fatalf("%d entries, want %d", len(got.LedgerEntries), entries)
	}
	for i, e := range got.LedgerEntries {
		if e["balance_after"] != float64(i+1) {
			t.Fatalf("entry %d is %v", i+1, e)
		}
	}
}

// broken is a connection that fails.
type broken struct{}

var errGone = errors.New("gone")

func (broken) Write([]byte) (int, error) { return 0, errGone }

// Cashiers and other tenants are refused, and nothing is written.
func TestWriteDataAndEraseRefuse(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	c := s.made("070 174 06 05", nil)
	cashier := s.as(core.Cashier)
	var out bytes.Buffer
	for name, call := range map[string]struct {
		by   core.Actor
		id   core.ID
		want error
	}{
		"a cashier": {cashier.By, c.ID, core.ErrRole}, "a stranger": {stranger.By, c.ID, core.ErrNotFound}, "unknown": {s.By, core.ID{}, core.ErrNotFound},
	} {
		if err := s.Privacy.WriteData(t.Context(), call.by, call.id, &out); !errors.Is(err, call.want) || out.Len() > 0 {
			t.Errorf("data for %s = %v and %q, want %v", name, err, &out, call.want)
		}
		if _, err := s.Privacy.Erase(t.Context(), call.by, call.id); !errors.Is(err, call.want) {
			t.Errorf("erase by %s = %v, want %v", name, err, call.want)
		}
	}
	if err := s.Privacy.WriteData(t.Context(), s.By, c.ID, broken{}); !errors.Is(err, errGone) {
		t.Errorf("of an unknown customer = %v", err)
	}
	manager := s.as(core.Manager)
	if err := manager.Privacy.WriteData(t.Context(), manager.By, c.ID, io.Discard); err != nil {
		t.Errorf("a manager's: %v", err)
	}
	if _, err := manager.Privacy.Erase(t.Context(), manager.By, c.ID); err != nil {
		t.Errorf("a manager's: %v", err)
	}
}
