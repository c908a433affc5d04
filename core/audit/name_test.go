package audit_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
)

// must is what was made without an error.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// "Who did what to what": a line says what its subject is called, and whose it is.
func TestWhatLinesTellOf(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	d, by := b.db, b.by
	anna := must(customer.NewService(d).Upsert(t.Context(), by, customer.New{
		FirstName: new("Anna"), LastName: new("Lindqvist"), Phone: new("070 112 23 34"),
	}))(t)
	b.did(t, d.Now(), by, audit.Entry{Action: "customer.adjust", ID: anna.ID.String()})
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
	redeemed := must(rewards.Redeem(t.Context(), by, reward.RedeemRequest{CustomerID: new(anna.ID.String()), RewardID: new(espresso.ID.String())}))(t)
	must(rewards.Fulfil(t.Context(), by, redeemed.ID))(t)
	jobs := must(job.New(d, slog.New(slog.DiscardHandler)))(t)
	coupons := coupon.NewService(d, jobs, nil, link.Maker{}, slog.New(slog.DiscardHandler))
	hello := must(coupons.Add(t.Context(), by, coupon.New{
		Name: new("Hello"), BenefitType: new(string(coupon.Points)), BenefitValue: new(int64(1)), MaxPerCustomer: new(int64(1)),
	}))(t)
	sent := must(coupons.Send(t.Context(), by, hello.ID, coupon.Send{Segment: coupon.All, FormKey: "1"}))(t)
	must(coupons.Evaluate(t.Context(), by, sent.ID))(t)
	vouchers := must(coupons.ListSent(t.Context(), by, sent.ID, core.Page{Size: 1}))(t)
	must(coupons.Redeem(t.Context(), by, vouchers.Items[0].ID))(t)
	b.did(t, d.Now(), by, audit.Entry{Action: "token.revoke", ID: "987654321"}) // nothing by that id
	bo := must(customer.NewService(d).Upsert(t.Context(), by, customer.New{FirstName: new("Bo"), LastName: new("Ek"), Phone: new("070 112 23 35")}))(t)
	must(customer.NewService(d).Erase(t.Context(), by, bo.ID))(t)
	list := core.NewID(d.Now())
	_, err := dbtest.Owner(d).Exec(t.Context(), `
		insert into loyalty.customer_import (tenant_id, id, file_name, actor_kind, actor_id, actor_name, created_at, moved_at)
		values ($1, $2, 'list.csv', '', '', '', now(), now())`, by.Tenant.ID, list)
	if err != nil {
		t.Fatal(err)
	}
	b.did(t, d.Now(), by, audit.Entry{Action: "import.run", ID: list.String()})
	// A neighbour's record is nothing, and neither is a record of another noun.
	neighbour := newBusiness(t)
	theirs := must(reward.NewService(d).Add(t.Context(), neighbour.by, reward.New{Name: new("Tea"), PointsCost: new(int64(10))}))(t)
	b.did(t, d.Now(), by, audit.Entry{Action: "reward.edit", ID: theirs.ID.String()})
	b.did(t, d.Now(), by, audit.Entry{Action: "coupon.edit", ID: espresso.ID.String()})

	of := func(name string) *audit.Record {
		return &audit.Record{Name: name, CustomerID: &anna.ID, CustomerName: "Anna Lindqvist"}
	}
	sale := of("")
	sale.SpendCents = new(int64(2450))
	want := map[string]*audit.Record{
		"customer.erase": {Name: "Erased"}, "customer.adjust": {Name: "Anna Lindqvist"}, "import.run": {Name: "list.csv"}, "transaction_type.create": {Name: "Purchase"}, "transaction.void": sale,
		"reward.create": {Name: "Espresso"}, "redemption.fulfil": of("Espresso"),
		"coupon.create": {Name: "Hello"}, "coupon.send": {Name: "Hello"}, "voucher.redeem": of("Hello"),
		"staff.create": {Name: "A owner"}, "token.revoke": nil, "reward.edit": nil, "coupon.edit": nil,
	}
	got := map[string]*audit.Record{}
	for _, l := range b.all(t, audit.Filter{}) {
		got[l.Action] = l.Record
	}
	for action := range got {
		if _, expected := want[action]; !expected {
			delete(got, action)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func (b business) people(t *testing.T) []audit.Someone {
	t.Helper()
	return must(audit.NewService(b.db).People(t.Context(), b.by))(t)
}

// A filter offers the people, also those who left, and the tokens in use, and nobody of
// another business.
func TestWhomAFilterOffers(t *testing.T) {
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
	want := []audit.Someone{{"staff:" + manager.ID, "A manager"}, {"staff:" + b.by.ID, "A owner"}, {"token:" + till, "Till"}}
	if diff := cmp.Diff(want, b.people(t)); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	cashier := dbtest.Person(t, b.db, b.by, core.Cashier)
	if _, err := audit.NewService(b.db).People(t.Context(), cashier); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier = %v, want ErrRole", err)
	}
}
