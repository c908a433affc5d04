package audit_test

import (
	"context"
	"errors"
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
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/privacy"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// must fails the test on an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
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
	d, by := b.DB, b.By
	anna, purchase := b.Customer(), b.Type("Purchase", ledger.Points, transaction.Rule{PointsPerUnit: 1, UnitCents: 1})
	b.Sale(anna.ID, purchase, 2450)
	b.VoidSale(b.Sale(anna.ID, purchase, 2450).ID)
	espresso := b.Reward(10, nil)
	must(core.Result(b.Rewards.Fulfil(t.Context(), by, b.Redeem(anna.ID, espresso).ID, nil)))(t)
	b.VoidRedemption(b.Redeem(anna.ID, espresso).ID)
	hello := b.Coupon(coupon.New{Name: "Hello", BenefitType: string(coupon.Points), BenefitValue: new(int64(1))})
	b.RedeemVoucher(b.Voucher(hello.ID, anna.ID))
	later := must(b.Coupons.Send(t.Context(), by, hello.ID, coupon.Send{Segment: coupon.All, FormKey: "2", At: new(d.Now().Add(time.Hour))}))(t)
	must(b.Coupons.CancelSend(t.Context(), by, later.ID))(t)
	bo := b.Customer()
	must(privacy.NewService(d).Erase(t.Context(), by, bo.ID))(t)
	must(b.Rewards.Edit(t.Context(), by, espresso, reward.Edit{Name: core.Set("Doppio")}))(t)
	must(b.Customers.Edit(t.Context(), by, anna.ID, customer.Edit{FirstName: core.Set("Annika")}))(t)
	// The entry keeps its name, whatever record has that id.
	b.did(d.Now(), by, audit.Entry{Action: "token.revoke", ID: "987654321"})
	b.did(d.Now(), by, audit.Entry{Action: "coupon.stop_mails", ID: espresso.String(), Name: "Latte"})
	// Another business's customer has no name in this log.
	stranger := newBusiness(t)
	theirs := stranger.Customer()
	b.did(d.Now(), by, audit.Entry{Action: "customer.adjust", ID: theirs.ID.String()})

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
	for _, l := range b.all(audit.Filter{}) {
		if l.SubjectID == bo.ID.String() && l.Action == "customer.create" {
			l.Action = "customer.erase" // erasing replaces the name here, too
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
	anna := b.Customer()
	entry := audit.Entry{Action: "redemption.fulfil", Subject: "redemption", ID: "1", Name: "Espresso", Customer: &anna.ID}
	erase := func(ctx context.Context) error {
		_, err := b.Privacy.Erase(ctx, b.By, anna.ID)
		return err
	}
	_, err := db.In(t.Context(), b.DB.Tenant(b.By), func(tx *db.Tx) (int64, error) {
		if err := audit.Write(tx, b.By, entry); err != nil {
			return 0, err
		}
		if _, err := db.One[int64](t.Context(), tx, "select 1::bigint", nil); err != nil { // the entry travels with it
			return 0, err
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := erase(ctx); !errors.Is(err, context.DeadlineExceeded) && !core.IsKind(err, core.KindUnavailable) {
			t.Errorf("erased beside an entry that names them: %v", err)
		}
		return 0, nil
	})
	b.Check(errors.Join(err, erase(t.Context())))
	b.Check(write(t, b.DB, b.By, entry, nil))
	for _, l := range b.all(audit.Filter{}) {
		if strings.Contains(l.CustomerName, "Anna") {
			t.Errorf("%s by %s keeps the name of a customer who was erased", l.Action, l.CustomerName)
		}
	}
}

func (b business) people() []audit.Person {
	b.T.Helper()
	return must(b.Audit.People(b.T.Context(), b.By))(b.T)
}

// The people to filter by include former staff and the tokens in use, but not those of another
// business.
func TestPeopleToFilterBy(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	manager := b.As(core.Manager).By
	dbtest.Person(t, b.DB, newBusiness(t).By, core.Manager)
	b.Exec("update loyalty.staff set status = 'inactive' where id = $1", manager.StaffID)
	token := func(name, revoked string) (id string) {
		t.Helper()
		err := dbtest.Owner(b.DB).QueryRow(t.Context(), `
			insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, revoked_at, created_at)
			values ($1, $2, $3, '', '{}', `+revoked+`, now())
			returning id::text`, b.By.Tenant.ID, b.By.StaffID, name).Scan(&id)
		b.Check(err)
		return id
	}
	token("Old till", "now()")
	till := token("Till", "null")
	want := []audit.Person{{"staff:" + manager.ID, "A manager"}, {"staff:" + b.By.ID, "A owner"}, {"token:" + till, "Till"}}
	if diff := cmp.Diff(want, b.people()); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	asManager := b
	asManager.By = manager
	if diff := cmp.Diff(want[:2], asManager.people()); diff != "" {
		t.Errorf("people that a manager filters by, who may not open tokens (-want +got):\n%s", diff)
	}
	cashier := b.As(core.Cashier).By
	if _, err := b.Audit.People(t.Context(), cashier); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier = %v, want ErrRole", err)
	}
}
