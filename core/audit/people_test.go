package audit_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/privacy"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// must fails the test on an error.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A line has the names of its subject and customer when it was written, and a sale's amount.
func TestNamesOfLines(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	d, by := b.db, b.by
	customers := customer.NewService(d)
	anna := must(customers.Upsert(t.Context(), by, customer.New{
		FirstName: new("Anna"), LastName: new("Lindqvist"), Phone: new("070 112 23 34"),
	}))(t)
	sales := transaction.NewService(d)
	kind := must(sales.AddType(t.Context(), by, transaction.NewType{
		Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: 1},
	}))(t)
	sell := func() transaction.Transaction {
		return must(sales.Record(t.Context(), by, transaction.New{
			CustomerID: new(anna.ID.String()), TransactionTypeID: &kind.ID, SpendAmountCents: new(int64(2450)), Source: transaction.POS,
		}))(t)
	}
	sell()
	must(sales.Void(t.Context(), by, sell().ID))(t)
	rewards := reward.NewService(d)
	espresso := must(rewards.Add(t.Context(), by, reward.New{Name: new("Espresso"), PointsCost: new(int64(10))}))(t)
	redeem := func() reward.Redemption {
		return must(rewards.Redeem(t.Context(), by, reward.RedeemRequest{CustomerID: new(anna.ID.String()), RewardID: new(espresso.ID.String())}))(t)
	}
	must(rewards.Fulfil(t.Context(), by, redeem().ID))(t)
	must(rewards.Void(t.Context(), by, redeem().ID))(t)
	jobs := must(job.New(d, slog.New(slog.DiscardHandler)))(t)
	coupons := coupon.NewService(d, jobs, nil, link.Maker{}, slog.New(slog.DiscardHandler))
	hello := must(coupons.Add(t.Context(), by, coupon.New{
		Name: new("Hello"), BenefitType: new(string(coupon.Points)), BenefitValue: new(int64(1)), MaxPerCustomer: new(int64(1)),
	}))(t)
	sent := must(coupons.Send(t.Context(), by, hello.ID, coupon.Send{Segment: coupon.All, FormKey: "1"}))(t)
	must(coupons.Evaluate(t.Context(), by, sent.ID))(t)
	vouchers := must(coupons.ListSent(t.Context(), by, sent.ID, core.Page{Size: 1}))(t)
	must(coupons.Redeem(t.Context(), by, vouchers.Items[0].ID))(t)
	later := must(coupons.Send(t.Context(), by, hello.ID, coupon.Send{Segment: coupon.All, FormKey: "2", At: new(d.Now().Add(time.Hour))}))(t)
	must(coupons.CancelSend(t.Context(), by, later.ID))(t)
	bo := must(customers.Upsert(t.Context(), by, customer.New{FirstName: new("Bo"), LastName: new("Ek"), Phone: new("070 112 23 35")}))(t)
	must(privacy.NewService(d).Erase(t.Context(), by, bo.ID))(t)
	must(rewards.Edit(t.Context(), by, espresso.ID, reward.Edit{Name: core.Set("Doppio")}))(t)
	must(customers.Edit(t.Context(), by, anna.ID, customer.Edit{FirstName: core.Set("Annika")}))(t)
	// What the entry says is kept, whatever has that id.
	b.did(t, d.Now(), by, audit.Entry{Action: "token.revoke", ID: "987654321"})
	b.did(t, d.Now(), by, audit.Entry{Action: "coupon.stop_mails", ID: espresso.ID.String(), Name: "Latte"})
	// Another business's customer has no name here.
	stranger := newBusiness(t)
	theirs := must(customer.NewService(d).Upsert(t.Context(), stranger.by, customer.New{FirstName: new("Cy"), LastName: new("Al"), Phone: new("070 112 23 36")}))(t)
	b.did(t, d.Now(), by, audit.Entry{Action: "customer.adjust", ID: theirs.ID.String()})

	type names struct{ Subject, Customer string }
	want := map[string]names{
		"customer.create": {"Anna Lindqvist", "Anna Lindqvist"}, "customer.edit": {"Annika Lindqvist", "Annika Lindqvist"},
		"customer.erase": {"Erased", "Erased"}, "customer.adjust": {"", ""},
		"transaction_type.create": {"Purchase", ""}, "transaction.void": {"", "Anna Lindqvist"},
		"reward.create": {"Espresso", ""}, "reward.edit": {"Doppio", ""},
		"redemption.fulfil": {"Espresso", "Anna Lindqvist"}, "redemption.void": {"Espresso", "Anna Lindqvist"},
		"coupon.create": {"Hello", ""}, "coupon.send": {"Hello", ""}, "coupon.cancel_send": {"Hello", ""}, "coupon.stop_mails": {"Latte", ""},
		"voucher.redeem": {"Hello", "Anna Lindqvist"}, "staff.create": {"A owner", ""}, "token.revoke": {"", ""},
	}
	got := map[string]names{}
	for _, l := range b.all(t, audit.Filter{}) {
		if l.SubjectID == bo.ID.String() && l.Action == "customer.create" {
			l.Action = "customer.erase" // erasing cleans this one, too
		}
		got[l.Action] = names{l.SubjectName, l.CustomerName}
		if named := l.CustomerName != "" && l.CustomerName != "Erased"; named && (l.CustomerID == nil || *l.CustomerID != anna.ID) {
			t.Errorf("the customer of %s is %v", l.Action, l.CustomerID)
		}
		if sale := l.Action == "transaction.void"; sale != (l.SpendCents != nil) || sale && (*l.SpendCents != 2450 || len(l.Changes) != 1) {
			t.Errorf("%s: spend %v, %d changes", l.Action, l.SpendCents, len(l.Changes))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// Erasing a customer waits for uncommitted entries with their name, and erases it there.
func TestErasingWaitsForEntries(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	anna := must(customer.NewService(b.db).Upsert(t.Context(), b.by, customer.New{
		FirstName: new("Anna"), LastName: new("Lindqvist"), Phone: new("070 112 23 34"),
	}))(t)
	entry := audit.Entry{Action: "redemption.fulfil", Subject: "redemption", ID: "1", Name: "Espresso", Customer: &anna.ID}
	erase := func(ctx context.Context) error {
		_, err := privacy.NewService(b.db).Erase(ctx, b.by, anna.ID)
		return err
	}
	_, err := db.InTenant(t.Context(), b.db, b.by, func(tx *db.Tx) (int64, error) {
		if err := audit.Write(tx, b.by, entry); err != nil {
			return 0, err
		}
		if _, err := db.Value[int64](t.Context(), tx, "select 1::bigint", nil); err != nil { // the entry travels with it
			return 0, err
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := erase(ctx); !errors.Is(err, context.DeadlineExceeded) && !core.IsKind(err, core.KindUnavailable) {
			t.Errorf("erased beside an entry that names them: %v", err)
		}
		return 0, nil
	})
	if err = errors.Join(err, erase(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := write(t, b.db, b.by, entry, nil); err != nil {
		t.Fatal(err)
	}
	for _, l := range b.all(t, audit.Filter{}) {
		if strings.Contains(l.CustomerName, "Anna") {
			t.Errorf("%s by %s keeps the name of a customer who was erased", l.Action, l.CustomerName)
		}
	}
}

func (b business) people(t *testing.T) []audit.Person {
	t.Helper()
	return must(audit.NewService(b.db).People(t.Context(), b.by))(t)
}

// The people to filter by include former staff and the tokens in use, but not those of another
// business.
func TestPeopleToFilterBy(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	manager := dbtest.Person(t, b.db, b.by, core.Manager)
	dbtest.Person(t, b.db, newBusiness(t).by, core.Manager)
	if _, err := dbtest.Owner(b.db).Exec(t.Context(), "update loyalty.staff set status = 'inactive' where id = $1", manager.StaffID); err != nil {
		t.Fatal(err)
	}
	token := func(name, revoked string) (id string) {
		t.Helper()
		err := dbtest.Owner(b.db).QueryRow(t.Context(), `
			insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, revoked_at, created_at)
			values ($1, $2, $3, '', '{}', `+revoked+`, now())
			returning id::text`, b.by.Tenant.ID, b.by.StaffID, name).Scan(&id)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	token("Old till", "now()")
	till := token("Till", "null")
	want := []audit.Person{{"staff:" + manager.ID, "A manager"}, {"staff:" + b.by.ID, "A owner"}, {"token:" + till, "Till"}}
	if diff := cmp.Diff(want, b.people(t)); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	cashier := dbtest.Person(t, b.db, b.by, core.Cashier)
	if _, err := audit.NewService(b.db).People(t.Context(), cashier); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier = %v, want ErrRole", err)
	}
}
