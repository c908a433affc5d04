package transaction_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// attempt is a request to record a sale, and its outcome.
type attempt struct {
	transaction.Sale
	key string // idempotency key; "": none

	made     transaction.Transaction
	response core.Response
	err      error
}

// record sends the request.
func (a *attempt) record(s shop) {
	var once *core.Once[transaction.Transaction]
	if a.key != "" {
		body, _ := json.Marshal(a.Sale)
		once = &core.Once[transaction.Transaction]{
			RequestKey: core.RequestKey{Key: a.key, Fingerprint: sha256.Sum256(body)},
			Respond: func(t transaction.Transaction) (core.Response, error) {
				return core.Response{Status: 201, Body: fmt.Append(nil, t.ID)}, nil
			},
		}
	}
	reply, err := s.Sales.Record(s.T.Context(), s.By, a.Sale, nil, once)
	a.made, a.response, a.err = reply.Result, core.OrZero(reply.Response), err
}

// recordAtOnce records sales at the same time, so that most of them travel together.
func (s shop) recordAtOnce(attempts []*attempt) {
	s.T.Helper()
	s.sale(100) // its type is known from now on
	var all sync.WaitGroup
	for _, a := range attempts {
		all.Go(func() { a.record(s) })
	}
	all.Wait()
}

// ownShop has a database of its own, which other tests don't make wrong.
func ownShop(t *testing.T) shop {
	t.Helper()
	return shopIn(t, dbtest.OwnDB(t))
}

// toMany spreads sales over several customers, three in a row to the same, since a batch has one sale of each customer.
func (s shop) toMany(attempts []*attempt) {
	s.T.Helper()
	customers := make([]core.ID, 30)
	for i := range customers {
		customers[i] = s.Customer().ID
	}
	for i, a := range attempts {
		if a.CustomerID == s.customer {
			a.CustomerID = customers[i/3%len(customers)]
		}
	}
}

// wantPoints checks how many points all customers have, without one whose balance is full.
func (s shop) wantPoints(want int64) {
	s.T.Helper()
	if got := shoptest.Query[int64](s.Shop, "select sum(points)::bigint from loyalty.account where tenant_id = $1 and points < 1000000000000", s.By.Tenant.ID); got != want {
		s.T.Errorf("the customers have %d points, want %d", got, want)
	}
}

// "Each request keeps its own refusal", and what can be recorded is: customers, amounts, receipt numbers,
// types and locations that are refused travel with sales that are not.
func TestSalesTogetherKeepTheirRefusals(t *testing.T) {
	t.Parallel()
	s := ownShop(t)
	inactive, closed := s.Customer(), s.open("Closed")
	s.Exec("update loyalty.customer set status = 'inactive' where id = $1", inactive.ID)
	s.Exec("update loyalty.location set active = false where id = $1", closed.ID)
	retired := s.Points(100)
	s.Must(s.Sales.SetTypeActive(t.Context(), s.By, retired.ID, false))
	taken := s.of(100)
	taken.ExternalReference = new("taken")
	s.Must(core.Result(s.Sales.Record(t.Context(), s.By, taken, nil, nil)))

	wrong := map[string]func(*transaction.Sale){
		"customer_ulid":       func(n *transaction.Sale) { n.CustomerID = inactive.ID },
		"spend_amount_cents":  func(n *transaction.Sale) { n.SpendAmountCents = -1 },
		"external_reference":  func(n *transaction.Sale) { n.ExternalReference = new("taken") },
		"transaction_type_id": func(n *transaction.Sale) { n.TransactionTypeID = retired.ID },
		"location_id":         func(n *transaction.Sale) { n.LocationID = &closed.ID },
	}
	var attempts []*attempt
	want := map[*attempt]string{}
	for range 20 {
		attempts = append(attempts, &attempt{Sale: s.of(1000)})
		for field, spoil := range wrong {
			a := &attempt{Sale: s.of(1000)}
			spoil(&a.Sale)
			attempts = append(attempts, a)
			want[a] = field
		}
	}
	s.toMany(attempts)
	s.recordAtOnce(attempts)
	for _, a := range attempts {
		var refusal *core.Error
		switch field := want[a]; {
		case field == "" && a.err != nil:
			t.Errorf("a good sale: %v", a.err)
		case field != "" && (!errors.As(a.err, &refusal) || len(refusal.Fields) != 1 || len(refusal.Fields[field]) != 1):
			t.Errorf("%s: %v", field, a.err)
		}
	}
	s.wantPoints(1 + 1 + 20*10) // with the sales before
	s.Verify()
}

// "Two sales of one customer in one batch get consecutive entries and right balances", in both units.
func TestSalesOfOneCustomerTogether(t *testing.T) {
	t.Parallel()
	s := ownShop(t)
	stamps, other := s.Stamps(), s.Customer()
	s.Sale(other.ID, stamps, 100) // this type is known, too
	var attempts []*attempt
	var points int64
	for i := range 120 {
		a := &attempt{Sale: s.of(int64(100 * i))} // the first earns nothing
		switch i % 4 {
		case 1:
			a.TransactionTypeID = stamps.ID
		case 2:
			a.CustomerID = other.ID
		default:
			points += int64(i)
		}
		attempts = append(attempts, a)
	}
	s.recordAtOnce(attempts)
	for _, a := range attempts {
		s.Check(a.err)
	}
	if got := s.Account(s.customer); got != (ledger.Account{Points: points + 1, Stamps: 30}) {
		t.Errorf("balances %+v, want %d points and 30 stamps", got, points+1)
	}
	var visits, spent int64
	err := dbtest.Owner(s.DB).QueryRow(t.Context(), "select visits, spent_cents from loyalty.account where customer_id = $1", s.customer).Scan(&visits, &spent)
	if want := 100*sum(120, func(i int) bool { return i%4 != 2 }) + 100; err != nil || visits != 91 || spent != want {
		t.Errorf("%d visits, %d cents, %v; want 91, %d", visits, spent, err, want)
	}
	s.Verify() // entries without a gap, each with its balance
}

func sum(n int, counts func(int) bool) (total int64) {
	for i := range n {
		if counts(i) {
			total += int64(i)
		}
	}
	return total
}

// Each key takes effect once, however its requests travel: of several at once, one records the sale, the others
// are told that it runs or get its response. The same key with another body is refused.
func TestKeysTogether(t *testing.T) {
	t.Parallel()
	s := ownShop(t)
	var attempts []*attempt
	for i := range 40 {
		for range 3 {
			attempts = append(attempts, &attempt{Sale: s.of(1000), key: fmt.Sprint("key ", i)})
		}
	}
	s.toMany(attempts)
	s.recordAtOnce(attempts)
	made := map[string]core.ID{}
	for _, a := range attempts {
		if a.err == nil && !a.response.Replayed {
			if made[a.key] != (core.ID{}) {
				t.Errorf("%s recorded two sales", a.key)
			}
			made[a.key] = a.made.ID
			if string(a.response.Body) != a.made.ID.String() || a.response.Status != 201 || a.response.Replayed {
				t.Errorf("%s: response %+v", a.key, a.response)
			}
		}
	}
	for _, a := range attempts {
		if a.err != nil && !errors.Is(a.err, core.ErrKeyRunning) || a.response.Replayed && string(a.response.Body) != made[a.key].String() {
			t.Errorf("%s: %v", a.key, a.err)
		}
	}
	if len(made) != 40 {
		t.Errorf("%d sales, want 40", len(made))
	}
	s.wantPoints(1 + 40*10)

	again, other := &attempt{Sale: attempts[3].Sale, key: "key 1"}, &attempt{Sale: s.of(2000), key: "key 2"}
	s.recordAtOnce([]*attempt{again, other, {Sale: s.of(100)}, {Sale: s.of(100)}})
	if again.err != nil || !again.response.Replayed || string(again.response.Body) != made["key 1"].String() {
		t.Errorf("again: %v, %s", again.err, again.response.Body)
	}
	if !errors.Is(other.err, core.ErrKeyReused) {
		t.Errorf("another body: %v", other.err)
	}
	s.Verify()
}

// A receipt number is used once, also if several sales with it arrive together.
func TestReceiptNumbersTogether(t *testing.T) {
	t.Parallel()
	s := ownShop(t)
	var attempts []*attempt
	for i := range 90 {
		a := &attempt{Sale: s.of(1000)}
		a.ExternalReference = new(fmt.Sprint("R-", i%30))
		attempts = append(attempts, a)
	}
	s.toMany(attempts)
	s.recordAtOnce(attempts)
	made := map[string]int{}
	for _, a := range attempts {
		var refusal *core.Error
		if a.err == nil {
			made[*a.ExternalReference]++
		} else if !errors.As(a.err, &refusal) || len(refusal.Fields["external_reference"]) != 1 {
			t.Errorf("%s: %v", *a.ExternalReference, a.err)
		}
	}
	for number, n := range made {
		if n != 1 {
			t.Errorf("%s recorded %d sales", number, n)
		}
	}
	if len(made) != 30 {
		t.Errorf("%d receipt numbers, want 30", len(made))
	}
	s.Verify()
}

// "What fails by a constraint … is run again alone": an account that would overflow refuses its sale only.
func TestAnOverflowSpoilsNoOtherSale(t *testing.T) {
	t.Parallel()
	s := ownShop(t) // its balance is not the sum of its entries
	rich := s.Customer()
	s.Exec("update loyalty.account set points = $2 where customer_id = $1", rich.ID, int64(math.MaxInt64-5))
	var attempts []*attempt
	for i := range 64 {
		a := &attempt{Sale: s.of(1000)}
		if i%8 == 0 {
			a.CustomerID = rich.ID
		}
		attempts = append(attempts, a)
	}
	s.toMany(attempts)
	s.recordAtOnce(attempts)
	for i, a := range attempts {
		if i%8 == 0 != errors.Is(a.err, ledger.ErrTooLarge) || i%8 != 0 && a.err != nil {
			t.Errorf("sale %d: %v", i, a.err)
		}
	}
	s.wantPoints(1 + 56*10)
}

// An earning rule applies from the moment it is changed: no sale that begins afterwards earns by the old one,
// though the process remembers it.
func TestAChangedRuleAppliesAtOnce(t *testing.T) {
	t.Parallel()
	s := ownShop(t)
	s.sale(100)
	for points := int64(2); points < 12; points++ {
		s.Must(s.Sales.EditType(t.Context(), s.By, s.kind.ID, transaction.EditType{PointsPerUnit: core.Set(points)}))
		attempts := []*attempt{{Sale: s.of(1000)}, {Sale: s.of(1000)}, {Sale: s.of(1000)}}
		for _, a := range attempts {
			a.made, a.err = core.Result(s.Sales.Record(t.Context(), s.By, a.Sale, nil, nil))
			s.Check(a.err)
			if *a.made.PointsAwarded != 10*points {
				t.Errorf("earned %d, want %d", *a.made.PointsAwarded, 10*points)
			}
		}
	}
	s.Verify()
}

// Another process with the same database: batches of both lock accounts in the same order, so none waits for
// another in a circle, and every balance is right.
func TestBatchesOfTwoProcesses(t *testing.T) {
	t.Parallel()
	s := ownShop(t)
	customers := s.AddCustomers(10)
	other := transaction.NewService(s.DB)
	s.Must(core.Result(other.Record(t.Context(), s.By, s.of(100), nil, nil)))
	s.sale(100)
	var all sync.WaitGroup
	errs := make(chan error, 1000)
	for i := range 400 {
		all.Go(func() {
			n := s.of(100)
			n.CustomerID = customers[(i*7)%len(customers)]
			sales := s.Sales
			if i%2 == 0 {
				sales = other
			}
			_, err := core.Result(sales.Record(t.Context(), s.By, n, nil, nil))
			errs <- err
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		s.Check(err)
	}
	for i, c := range customers {
		if got := s.Account(c).Points; got != 40 {
			t.Errorf("customer %d has %d points, want 40", i, got)
		}
	}
	s.Verify()
}
