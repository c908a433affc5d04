// Package shoptest gives a test a business with customers, sales, rewards and coupons, in the
// database of core/dbtest. Its methods, and those of core/sample, call the use cases and fail the test on an error.
package shoptest

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/verify"
)

// Shop is a business in Sweden, as one of its people sees it at one time.
type Shop struct {
	T           testing.TB
	sample.Shop // as the owner sees it, unless As or Of says otherwise

	Sales *transaction.Service // the same as Transactions
	Jobs  *job.Queue           // runs no jobs until a test starts it
	Mails Mails
	Inbox *Inbox // of Mails
}

// New makes a business in the database that the package's tests share.
func New(t testing.TB) Shop {
	t.Helper()
	return In(t, dbtest.DB(t))
}

// In makes a business in a database.
func In(t testing.TB, d *db.DB) Shop {
	t.Helper()
	return Of(t, d, dbtest.Tenant(t, d))
}

// Of returns an existing business, as a person sees it, or the platform, as a super-admin does.
func Of(t testing.TB, d *db.DB, by core.Actor) Shop {
	t.Helper()
	return Shop{T: t, Shop: sample.Shop{Run: t, By: by}, Inbox: &Inbox{}}.in(d)
}

// At is the same business at another time, in another process.
func (s Shop) At(instant time.Time) Shop {
	s.T.Helper()
	return s.in(s.DB.At(instant))
}

// in is the same business with the services of another process.
func (s Shop) in(d *db.DB) Shop {
	s.T.Helper()
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	s.Check(err)
	s.DB, s.Jobs, s.Mails = d, jobs, Mails{mail.New(d, jobs, nil, log), s.Inbox}
	s.Services = loyalty.New(d, jobs, s.Mails, dbtest.Keys(), loyalty.Options{})
	s.Sales = s.Transactions
	return s
}

// Later is the same business after a while.
func (s Shop) Later(d time.Duration) Shop {
	s.T.Helper()
	return s.At(s.DB.Now().Add(d))
}

// As is the same business, seen by a new person with a role.
func (s Shop) As(role core.Role) Shop {
	s.T.Helper()
	s.By = dbtest.Person(s.T, s.DB, s.By, role)
	return s
}

// InZone is the same business in another time zone.
func (s Shop) InZone(name string) Shop {
	s.T.Helper()
	zone, err := time.LoadLocation(name)
	s.Check(err)
	s.By.Tenant.TimeZone = zone
	return s
}

// Customer adds Anna Lindqvist, with a phone number of her own.
func (s Shop) Customer() customer.Customer {
	s.T.Helper()
	return s.AddCustomer(Anna(Phone()))
}

// AddCustomers adds n customers and returns their ids.
func (s Shop) AddCustomers(n int) []core.ID {
	s.T.Helper()
	ids := make([]core.ID, n)
	for i := range ids {
		ids[i] = s.Customer().ID
	}
	return ids
}

// Account returns a customer's balances.
func (s Shop) Account(id core.ID) ledger.Account {
	s.T.Helper()
	c, err := s.Customers.Find(s.T.Context(), s.By, id)
	s.Check(err)
	return ledger.Account{Points: c.PointsBalance, Stamps: c.StampsBalance}
}

// Adjust adds points or stamps to a customer, or takes them.
func (s Shop) Adjust(id core.ID, unit ledger.Unit, amount int64) {
	s.T.Helper()
	s.Must(db.In(s.T.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (ledger.Account, error) {
		return ledger.Post(s.T.Context(), tx, s.By, ledger.Entry{Customer: id, Unit: unit, Amount: amount, Kind: ledger.Adjustment, Reason: new("Sorry")})
	}))
}

// ExpireAfter has points or stamps end a number of months after they are earned. It returns the business, read anew.
func (s Shop) ExpireAfter(unit ledger.Unit, months int, roundTo core.Rounding) Shop {
	s.T.Helper()
	s.Exec(`
		insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, begun_at, updated_at)
		values ($1, $2, 'after', $3, $4, $5, $5)
		on conflict (tenant_id, unit) do update
		set months = excluded.months,
			round_to = excluded.round_to`, s.By.Tenant.ID, unit, months, roundTo, s.DB.Now())
	return s.Known()
}

// ExpireInactive has points or stamps end after a number of months without a visit. It returns the business, read anew.
func (s Shop) ExpireInactive(unit ledger.Unit, months int) Shop {
	s.T.Helper()
	s.Exec(`
		insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, begun_at, updated_at)
		values ($1, $2, 'inactive', $3, 'day', $4, $4)`, s.By.Tenant.ID, unit, months, s.DB.Now())
	return s.Known()
}

// Hold has nothing of a unit end until after a day. It returns the business, read anew.
func (s Shop) Hold(unit ledger.Unit, until string) Shop {
	s.T.Helper()
	s.Exec("update loyalty.programme set hold_until = $3::date where tenant_id = $1 and unit = $2", s.By.Tenant.ID, unit, until)
	return s.Known()
}

// VoidSale voids a sale.
func (s Shop) VoidSale(id core.ID) {
	s.T.Helper()
	s.Must(core.Result(s.Sales.Void(s.T.Context(), s.By, id, nil, nil)))
}

// Refund refunds a part of a sale.
func (s Shop) Refund(id core.ID, amountCents int64) {
	s.T.Helper()
	s.Must(core.Result(s.Sales.Refund(s.T.Context(), s.By, id, transaction.RefundRequest{AmountCents: amountCents}, nil, nil)))
}

// Reward adds a reward for points.
func (s Shop) Reward(points int64, stock *int64) core.ID {
	s.T.Helper()
	return s.AddReward(reward.New{Name: "Espresso", PointsCost: &points, Stock: stock})
}

// VoidRedemption voids a redemption.
func (s Shop) VoidRedemption(id core.ID) {
	s.T.Helper()
	s.Must(s.Rewards.Void(s.T.Context(), s.By, id, "Wrong reward"))
}

// Voucher sends a coupon to one customer and returns the voucher.
func (s Shop) Voucher(couponID, customerID core.ID) core.ID {
	s.T.Helper()
	sent := s.Send(couponID, coupon.Send{Segment: coupon.Manual, Customers: []string{customerID.String()}})
	if sent.Sent != 1 {
		s.T.Fatalf("sent %+v, want one voucher", sent)
	}
	return Query[core.ID](s, "select id from loyalty.voucher where tenant_id = $1 and send_id = $2", s.By.Tenant.ID, sent.ID)
}

// Exec runs a statement as the owner of the tables.
func (s Shop) Exec(sql string, args ...any) {
	s.T.Helper()
	var deadlock *pgconn.PgError
	_, err := dbtest.Owner(s.DB).Exec(s.T.Context(), sql, args...)
	// Tests change tables that a distributed database copies to all nodes. The product repeats a deadlock, too.
	for errors.As(err, &deadlock) && deadlock.Code == "40P01" {
		_, err = dbtest.Owner(s.DB).Exec(s.T.Context(), sql, args...)
	}
	s.Check(err)
}

// Query returns the only value that a statement selects, read as the owner of the tables.
func Query[V any](s Shop, sql string, args ...any) V {
	s.T.Helper()
	values := QueryAll[V](s, sql, args...)
	if len(values) != 1 {
		s.T.Fatalf("got %d rows, want one: %s", len(values), sql)
	}
	return values[0]
}

// QueryAll returns the values that a statement selects, read as the owner of the tables.
func QueryAll[V any](s Shop, sql string, args ...any) []V {
	s.T.Helper()
	rows, err := dbtest.Owner(s.DB).Query(s.T.Context(), sql, args...)
	s.Check(err)
	values, err := pgx.CollectRows(rows, pgx.RowTo[V])
	s.Check(err)
	return values
}

// Wait waits until a statement selects true.
func (s Shop) Wait(what, question string, args ...any) {
	s.T.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if yes := Query[*bool](s, question, args...); yes != nil && *yes {
			return
		}
		if time.Now().After(end) {
			s.T.Fatalf("waited in vain until %s", what)
		}
	}
}

// Count returns the number of the business's rows in a table, which a condition may follow: "pin where status = 'open'".
func (s Shop) Count(rows string) int64 {
	s.T.Helper()
	return Query[int64](s, "select count(*) from (select tenant_id from loyalty."+rows+") r where tenant_id = $1", s.By.Tenant.ID)
}

// Log returns the entries of the audit log about a record, oldest first: the action, the facts
// before and after, and the actor.
func (s Shop) Log(kind string, id any) []string {
	s.T.Helper()
	return QueryAll[string](s, `
		select concat_ws(' ', action, coalesce(old::text, '-'), coalesce(new::text, '-'), 'by', actor_name)
		from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = $2 and subject_id = $3
		order by created_at, id`, s.By.Tenant.ID, kind, fmt.Sprint(id))
}

// Verify fails the test if the checks of `loyalty verify` find anything in the database, which
// must be the test's own.
func (s Shop) Verify() {
	s.T.Helper()
	if dbtest.IsShared(s.DB) {
		s.T.Fatal("the business is in the database of all tests, so what they have done by half is found, too: use dbtest.OwnDB")
	}
	results, err := verify.Run(s.T.Context(), s.DB)
	s.Check(err)
	for _, r := range results {
		if r.Wrong > 0 {
			s.T.Errorf("%s: %d wrong: %v", r.Check, r.Wrong, r.Examples)
		}
	}
}

// WantSalesTogether checks that sales of several customers were recorded together, but never two of one customer. It looks at the
// entries of the ledger, which are written once; the database must be the test's own.
func (s Shop) WantSalesTogether() {
	s.T.Helper()
	const batches = `
		select coalesce(max(customers), 0), coalesce(max(sales - customers), 0)
		from (
			select count(*) as sales, count(distinct customer_id) as customers
			from loyalty.ledger_entry
			where kind = 'earn'
			group by xmin::text
		) batch`
	var customers, repeated int64
	s.Check(dbtest.Owner(s.DB).QueryRow(s.T.Context(), batches).Scan(&customers, &repeated))
	if customers < 2 || repeated > 0 {
		s.T.Errorf("at most %d customers' sales were recorded together, with %d more of the same customer", customers, repeated)
	}
}

var phones atomic.Int64

// Phone returns a Swedish phone number that no other test uses.
func Phone() string { return fmt.Sprintf("070 %07d", phones.Add(1)) }

// Anna describes a customer.
func Anna(phone string) customer.New {
	return customer.New{FirstName: "Anna", LastName: "Lindqvist", Phone: phone}
}

// Fields returns the violations of a refusal of fields, which err must be.
func Fields(t testing.TB, err error) core.Fields {
	t.Helper()
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Kind != core.KindInvalid {
		t.Fatalf("got %v, want a refusal of fields", err)
	}
	return refusal.Fields
}

// WantFields fails the test unless err is a refusal of these fields.
func WantFields(t testing.TB, err error, want core.Fields) {
	t.Helper()
	if diff := cmp.Diff(want, Fields(t, err)); diff != "" {
		t.Errorf("refused fields (-want +got):\n%s", diff)
	}
}

// Walk reads a whole list in pages of a size. It fails the test unless the way back has the same items.
func Walk[V any](t testing.TB, size int, list func(core.Page) (core.List[V], error)) (all []V) {
	t.Helper()
	read := func(at *core.Cursor) core.List[V] {
		t.Helper()
		l, err := list(core.Page{Size: size, Cursor: at})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := read(nil)
	all = append(all, l.Items...) // nil if there are none
	for l.Next != nil {
		l = read(l.Next)
		all = append(all, l.Items...)
	}
	back := append([]V(nil), l.Items...)
	for l.Prev != nil {
		l = read(l.Prev)
		back = append(slices.Clone(l.Items), back...)
	}
	if diff := cmp.Diff(all, back); diff != "" {
		t.Errorf("the way back, in pages of %d (-forward +back):\n%s", size, diff)
	}
	return all
}

// Keys returns one value of each item of a list.
func Keys[V, K any](items []V, key func(V) K) (keys []K) {
	for _, item := range items {
		keys = append(keys, key(item))
	}
	return keys
}
