package transaction_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business with one customer and a type that earns a point for each euro.
type shop struct {
	shoptest.Shop
	customer core.ID
	kind     transaction.Type
}

func newShop(t *testing.T) shop { return shopIn(t, dbtest.DB(t)) }

func shopIn(t *testing.T, d *db.DB) shop {
	t.Helper()
	s := shoptest.In(t, d)
	return shop{s, s.Customer().ID, s.Points(100)}
}

// later returns the same shop after some time.
func (s shop) later(wait time.Duration) shop {
	s.Shop = s.Later(wait)
	return s
}

// of describes a sale to the shop's customer.
func (s shop) of(spend int64) transaction.Sale {
	return transaction.Sale{
		CustomerID: s.customer, TransactionTypeID: s.kind.ID, SpendAmountCents: spend, Source: transaction.API,
	}
}

// at describes a sale at a location.
func (s shop) at(location int64) transaction.Sale {
	n := s.of(1000)
	n.LocationID = &location
	return n
}

func (s shop) open(name string) location.Location {
	s.T.Helper()
	l, err := core.Result(s.Locations.Add(s.T.Context(), s.By, location.New{Name: name}, nil))
	s.Check(err)
	return l
}

func (s shop) sale(spend int64) transaction.Transaction {
	s.T.Helper()
	made, err := core.Result(s.Sales.Record(s.T.Context(), s.By, s.of(spend), nil, nil))
	s.Check(err)
	return made
}

func (s shop) void(id core.ID) transaction.Transaction {
	s.T.Helper()
	voided, err := core.Result(s.Sales.Void(s.T.Context(), s.By, id, nil, nil))
	s.Check(err)
	return voided
}

// spend deducts points, as a redemption would.
func (s shop) spend(points int64) {
	s.T.Helper()
	_, err := db.In(s.T.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (ledger.Account, error) {
		cause := core.NewID(tx.Now)
		return ledger.Post(s.T.Context(), tx, s.By, ledger.Entry{
			Customer: s.customer, Unit: ledger.Points, Amount: -points, Kind: ledger.Redemption, Cause: &cause,
		})
	})
	s.Check(err)
}

func (s shop) entries() (n, sum int64) {
	s.T.Helper()
	err := dbtest.Owner(s.DB).QueryRow(s.T.Context(), `
		select count(*), coalesce(sum(amount), 0)::bigint
		from loyalty.ledger_entry
		where tenant_id = $1 and customer_id = $2 and unit = 'points'`, s.By.Tenant.ID, s.customer).Scan(&n, &sum)
	s.Check(err)
	return n, sum
}

func (s shop) refused(n transaction.Sale, want core.Fields) {
	s.T.Helper()
	s.refusedUnread(n, nil, want)
}

// refusedUnread is refused for a sale of which a front end could not read some fields.
func (s shop) refusedUnread(n transaction.Sale, unread, want core.Fields) {
	s.T.Helper()
	before := s.Count("transaction")
	_, err := s.Sales.Record(s.T.Context(), s.By, n, unread, nil)
	shoptest.WantFields(s.T, err, want)
	if after := s.Count("transaction"); after != before {
		s.T.Error("a refused sale was recorded")
	}
}

// "Transaction recorded: completed. Points or stamps awarded; customer balance rises
// by points_awarded."
func TestRecord(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	n := s.of(1250)
	n.ExternalReference = new("  R-1  ")
	made, err := core.Result(s.Sales.Record(t.Context(), s.By, n, nil, nil))
	s.Check(err)
	want := transaction.Transaction{
		ID: made.ID, RuleType: ledger.Points, SpendAmountCents: 1250, PointsAwarded: new(int64(12)), Status: transaction.Completed,
		CustomerID: s.customer, TransactionTypeID: s.kind.ID, Source: transaction.API, ExternalReference: new("R-1"), OccurredAt: made.CreatedAt, CreatedAt: made.CreatedAt,
		BaseAward: 12, EligibleCents: 1250,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("Record (-want +got):\n%s", diff)
	}
	found, err := s.Sales.Find(t.Context(), s.By, made.ID)
	s.Check(err)
	if diff := cmp.Diff(made, found); diff != "" {
		t.Errorf("Find (-recorded +found):\n%s", diff)
	}
	if got := s.Account(s.customer).Points; got != 12 {
		t.Errorf("balance = %d, want 12", got)
	}
}

// tooMuch is the refusal of a spend that would earn too much.
func tooMuch(atMost int64) core.Fields {
	return core.Fields{"spend_amount_cents": {core.Max(atMost)}}
}

// "points = points_per_unit × floor(spend ÷ unit_cents); stamps =
// stamps_per_transaction; both with min_spend_cents (below: … earns 0 …) and an
// optional cap per transaction."
func TestAward(t *testing.T) {
	t.Parallel()
	points := func(r transaction.Rule) transaction.Type {
		return transaction.Type{RuleType: ledger.Points, Rule: r}
	}
	stamps := func(r transaction.Rule) transaction.Type {
		r.UnitCents = 100
		return transaction.Type{RuleType: ledger.Stamps, Rule: r}
	}
	most := new(int64(50))
	for _, c := range []struct {
		name   string
		kind   transaction.Type
		spend  int64
		want   int64
		atMost int64 // what is refused beyond it; 0: nothing is
	}{
		{"nothing spent", points(transaction.Rule{PointsPerUnit: 1, UnitCents: 100}), 0, 0, 0},
		{"less than a unit", points(transaction.Rule{PointsPerUnit: 1, UnitCents: 100}), 99, 0, 0},
		{"one unit", points(transaction.Rule{PointsPerUnit: 1, UnitCents: 100}), 100, 1, 0},
		{"parts of a unit do not count", points(transaction.Rule{PointsPerUnit: 3, UnitCents: 250}), 1249, 12, 0},
		{"just below the least spend", points(transaction.Rule{PointsPerUnit: 1, UnitCents: 100, MinSpendCents: 500}), 499, 0, 0},
		{"the least spend", points(transaction.Rule{PointsPerUnit: 1, UnitCents: 100, MinSpendCents: 500}), 500, 5, 0},
		{"at the cap", points(transaction.Rule{PointsPerUnit: 1, UnitCents: 100, MaxAward: most}), 5000, 50, 0},
		{"above the cap", points(transaction.Rule{PointsPerUnit: 1, UnitCents: 100, MaxAward: most}), 5100, 50, 0},
		{"gives nothing", points(transaction.Rule{UnitCents: 100}), 5000, 0, 0},
		{"largest spend", points(transaction.Rule{PointsPerUnit: 1, UnitCents: 1}), transaction.MaxSpendCents, transaction.MaxSpendCents, 0},
		{"the most that an award may be", points(transaction.Rule{PointsPerUnit: 1_000_000_000, UnitCents: 10}), 10_009, ledger.MaxAward, 0},
		{"more than an award may be", points(transaction.Rule{PointsPerUnit: 1_000_000_000, UnitCents: 10}), 10_010, 0, 10_009},
		{"the most, which no whole unit earns", points(transaction.Rule{PointsPerUnit: 700_000_000, UnitCents: 1}), 1429, 0, 1428},
		{"too much, and less would be below the least spend", points(transaction.Rule{PointsPerUnit: 1_000_000_000, UnitCents: 1, MinSpendCents: 5000}), 5000, 0, 4999},
		{"too large by one bit", points(transaction.Rule{PointsPerUnit: 1 << 62, UnitCents: 100}), 200, 0, 99},
		{"too large by far", points(transaction.Rule{PointsPerUnit: math.MaxInt64, UnitCents: 7}), transaction.MaxSpendCents, 0, 6},
		{"a cap that is too large", points(transaction.Rule{PointsPerUnit: 1_000_000_000, UnitCents: 1, MaxAward: new(int64(ledger.MaxAward + 1))}), 1001, 0, 1000},
		{"a cap that is large enough", points(transaction.Rule{PointsPerUnit: 1_000_000_000, UnitCents: 1, MaxAward: new(int64(ledger.MaxAward))}), 1001, ledger.MaxAward, 0},
		{"too many stamps", stamps(transaction.Rule{StampsPerTransaction: ledger.MaxAward + 1, MinSpendCents: 500}), 500, 0, 499},
		{"too large but capped", points(transaction.Rule{PointsPerUnit: math.MaxInt64, UnitCents: 1, MaxAward: most}), transaction.MaxSpendCents, 50, 0},
		{"a stamp", stamps(transaction.Rule{StampsPerTransaction: 1}), 0, 1, 0},
		{"stamps whatever is spent", stamps(transaction.Rule{StampsPerTransaction: 2}), 1_000_000, 2, 0},
		{"no stamp below the least spend", stamps(transaction.Rule{StampsPerTransaction: 2, MinSpendCents: 500}), 499, 0, 0},
		{"capped stamps", stamps(transaction.Rule{StampsPerTransaction: 70, MaxAward: most}), 500, 50, 0},
	} {
		got, err := c.kind.Award(c.spend)
		if got != c.want || (err != nil) != (c.atMost != 0) {
			t.Errorf("%s: %d, %v, want %d", c.name, got, err, c.want)
		}
		if c.atMost == 0 {
			continue
		}
		if diff := cmp.Diff(tooMuch(c.atMost), shoptest.Fields(t, err)); diff != "" {
			t.Errorf("%s: refused (-want +got):\n%s", c.name, diff)
		}
		if _, err := c.kind.Award(c.atMost); err != nil {
			t.Errorf("%s: the most that is not refused = %v", c.name, err)
		}
	}
}

// "Below [the minimum spend]: recorded, earns 0, no ledger entry". The award is 0, not null.
func TestASaleThatEarnsNothingIsRecorded(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.kind = s.Type("Purchase", ledger.Points, transaction.Rule{PointsPerUnit: 1, UnitCents: 100, MinSpendCents: 500})
	for _, spend := range []int64{0, 499} {
		made := s.sale(spend)
		if made.PointsAwarded == nil || *made.PointsAwarded != 0 || made.StampsAwarded != nil {
			t.Errorf("awarded %v points, %v stamps, want 0 and null", made.PointsAwarded, made.StampsAwarded)
		}
		voided := s.void(made.ID)
		if voided.Status != transaction.Voided || voided.VoidedAt == nil {
			t.Errorf("void of it = %+v", voided)
		}
	}
	if n, _ := s.entries(); n != 0 {
		t.Errorf("%d ledger entries, want none", n)
	}
}

// "stamps_awarded: null for a points transaction", and the reverse.
func TestStamps(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.kind = s.Type("Purchase", ledger.Stamps, transaction.Rule{StampsPerTransaction: 2})
	made := s.sale(400)
	if made.RuleType != ledger.Stamps || made.PointsAwarded != nil || made.StampsAwarded == nil || *made.StampsAwarded != 2 {
		t.Errorf("Record = %+v, want two stamps and no points", made)
	}
	if got := s.Account(s.customer); got.Stamps != 2 || got.Points != 0 {
		t.Errorf("balances = %d points, %d stamps, want 0 and 2", got.Points, got.Stamps)
	}
	s.void(made.ID)
	if got := s.Account(s.customer); got.Stamps != 0 {
		t.Errorf("after the void %d stamps, want 0", got.Stamps)
	}
}

// "The award is kept with the sale: changing the type later changes no sale."
func TestAChangedTypeChangesNoSale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	old := s.sale(1000)
	s.Must(s.Sales.EditType(t.Context(), s.By, s.kind.ID, transaction.EditType{PointsPerUnit: core.Set(int64(7))}))
	if got := s.sale(1000); *got.PointsAwarded != 70 {
		t.Errorf("the new rule awards %d, want 70", *got.PointsAwarded)
	}
	if got, err := s.Sales.Find(t.Context(), s.By, old.ID); err != nil || *got.PointsAwarded != 10 {
		t.Errorf("the old sale says %d, %v, want 10", *got.PointsAwarded, err)
	}
	if voided := s.void(old.ID); *voided.PointsAwarded != 10 || s.Account(s.customer).Points != 70 {
		t.Errorf("voiding it leaves %d, want 70", s.Account(s.customer).Points)
	}
}

// "One award is at most 10^12, and a balance that would overflow is 422, never wrapped."
func TestAnAwardThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.kind = s.Type("Purchase", ledger.Points, transaction.Rule{PointsPerUnit: 1_000_000_000, UnitCents: 1})
	s.refused(s.of(1001), tooMuch(1000))
	s.refused(s.of(transaction.MaxSpendCents), tooMuch(1000))
	missing := s.of(1001)
	missing.CustomerID = core.NewID(s.DB.Now())
	s.refused(missing, core.Fields{
		"customer_ulid": {core.InvalidChoice}, "spend_amount_cents": tooMuch(1000)["spend_amount_cents"],
	})
	s.sale(1000)
	s.holds(math.MaxInt64 - ledger.MaxAward + 1)
	if _, err := core.Result(s.Sales.Record(t.Context(), s.By, s.of(1000), nil, nil)); !errors.Is(err, ledger.ErrTooLarge) {
		t.Errorf("balance too large = %v, want ErrTooLarge", err)
	}
	if n := s.Count("transaction"); n != 1 {
		t.Errorf("%d sales, want 1", n)
	}
}

// setBalance sets the customer's balance without the ledger.
func (s shop) holds(points int64) {
	s.T.Helper()
	s.Exec("update loyalty.account set points = $3 where tenant_id = $1 and customer_id = $2", s.By.Tenant.ID, s.customer, points)
}

// A sale with an award above the limit can be voided, unless the balance would overflow.
func TestVoidingAnAwardBeyondTheLimit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sale := s.sale(100)
	s.Exec("update loyalty.transaction set points_awarded = 9000000000000000000 where tenant_id = $1 and id = $2", s.By.Tenant.ID, sale.ID)
	s.holds(-9e18)
	if _, err := core.Result(s.Sales.Void(t.Context(), s.By, sale.ID, nil, nil)); !errors.Is(err, ledger.ErrTooLarge) {
		t.Errorf("void below the smallest balance = %v, want ErrTooLarge", err)
	}
	if got, err := s.Sales.Find(t.Context(), s.By, sale.ID); err != nil || got.Status != transaction.Completed {
		t.Errorf("the sale is %s, %v, want it completed", got.Status, err)
	}
	s.holds(9e18)
	s.void(sale.ID)
	if got := s.Account(s.customer).Points; got != 0 {
		t.Errorf("balance = %d, want 0", got)
	}
}

// "An inactive type or customer is 422 on the field"; "a body reference to a missing or foreign record is 422
// on that field", with the same message.
func TestWhatASaleRefersTo(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	noCustomer := core.Fields{"customer_ulid": {core.InvalidChoice}}
	noType := core.Fields{"transaction_type_id": {core.InvalidChoice}}

	for _, id := range []core.ID{core.NewID(s.DB.Now()), stranger.customer, {}} {
		n := s.of(100)
		n.CustomerID = id
		s.refused(n, noCustomer)
	}
	for _, id := range []int64{stranger.kind.ID, 0, -1, math.MaxInt64, math.MinInt64} {
		n := s.of(100)
		n.TransactionTypeID = id
		s.refused(n, noType)
	}

	closed, err := s.Sales.SetTypeActive(t.Context(), s.By, s.kind.ID, false)
	if err != nil || closed.Active {
		t.Fatal(closed, err)
	}
	s.refused(s.of(100), noType)
	s.Must(s.Sales.SetTypeActive(t.Context(), s.By, s.kind.ID, true))
	sold := s.sale(100)
	s.Must(s.Customers.Edit(t.Context(), s.By, s.customer, customer.Edit{Status: core.Set("inactive")}))
	s.refused(s.of(100), core.Fields{"customer_ulid": {customer.MustBeActive}})
	// Earlier sales can still be voided.
	s.void(sold.ID)

	if _, err := s.Sales.SetTypeActive(t.Context(), s.By, stranger.kind.ID, false); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("closing another tenant's type = %v, want ErrNotFound", err)
	}
	if types, err := s.Sales.Types(t.Context(), s.By); err != nil || len(types) != 1 || types[0].ID != s.kind.ID {
		t.Errorf("Types = %v, %v, want its own", types, err)
	}
}

// "Every failing field is reported at once", and a malformed field is not validated again.
func TestEveryWrongFieldIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	unread := core.Fields{}
	unread.Reference("customer_ulid", nil)
	unread.Number("transaction_type_id", nil)
	unread.Number("spend_amount_cents", nil)
	s.refusedUnread(transaction.Sale{Source: transaction.API}, unread, core.Fields{
		"customer_ulid":       {core.Required},
		"transaction_type_id": {core.Required},
		"spend_amount_cents":  {core.Required},
	})
	s.refused(transaction.Sale{
		CustomerID: core.Fields{}.Reference("customer_ulid", new("not a ULID")), TransactionTypeID: 0, SpendAmountCents: -1,
		ExternalReference: new(strings.Repeat("å", 101)), Source: transaction.API,
	}, core.Fields{
		"customer_ulid":       {core.InvalidChoice},
		"transaction_type_id": {core.InvalidChoice},
		"spend_amount_cents":  {core.Min(0)},
		"external_reference":  {core.MaxLength(100)},
	})
	n := s.of(transaction.MaxSpendCents + 1)
	n.TransactionTypeID = 0
	s.refusedUnread(n, core.Fields{"transaction_type_id": {core.MustBeInteger}}, core.Fields{
		"transaction_type_id": {core.MustBeInteger},
		"spend_amount_cents":  {core.Max(1000000000000)},
	})
}

// "external_reference (optional, at most 100 characters, unique in the tenant: a
// second use is 422 on the field, so a receipt number makes retries safe)".
func TestAReceiptNumberIsUsedOnce(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	taken := core.Fields{"external_reference": {core.Duplicate}}
	receipt := func(s shop, text string) transaction.Sale {
		n := s.of(1000)
		n.ExternalReference = &text
		return n
	}
	const retries = 50
	var recorded atomic.Int32
	var wg sync.WaitGroup
	for range retries {
		wg.Go(func() {
			_, err := core.Result(s.Sales.Record(t.Context(), s.By, receipt(s, "R-1"), nil, nil))
			if err == nil {
				recorded.Add(1)
			} else if diff := cmp.Diff(taken, shoptest.Fields(t, err)); diff != "" {
				t.Error(diff)
			}
		})
	}
	wg.Wait()
	if recorded.Load() != 1 || s.Count("transaction") != 1 || s.Account(s.customer).Points != 10 {
		t.Errorf("%d recorded, %d sales, balance %d, want 1, 1, 10", recorded.Load(), s.Count("transaction"), s.Account(s.customer).Points)
	}
	s.refused(receipt(s, " R-1 "), taken)
	for _, n := range []transaction.Sale{receipt(s, "R-2"), receipt(s, "r-1"), receipt(s, ""), receipt(s, " "), receipt(s, strings.Repeat("å", 100))} {
		if _, err := core.Result(s.Sales.Record(t.Context(), s.By, n, nil, nil)); err != nil {
			t.Errorf("%q: %v", *n.ExternalReference, err)
		}
	}
	if _, err := core.Result(other.Sales.Record(t.Context(), other.By, receipt(other, "R-1"), nil, nil)); err != nil {
		t.Errorf("another tenant's R-1: %v", err)
	}
}

// "voided_at is set; the award is reversed once." "422 with detail `This transaction
// has already been voided.`; no second reversal."
func TestVoidTwiceReversesOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.sale(500)
	sold := s.sale(1000)
	voided := s.void(sold.ID)
	want := sold
	want.Status, want.VoidedAt = transaction.Voided, voided.VoidedAt
	if diff := cmp.Diff(want, voided); diff != "" || voided.VoidedAt == nil || voided.VoidedAt.Before(sold.CreatedAt) {
		t.Errorf("Void (-want +got), voided at %v:\n%s", voided.VoidedAt, diff)
	}
	_, err := core.Result(s.Sales.Void(t.Context(), s.By, sold.ID, nil, nil))
	var refusal *core.Error
	if !errors.Is(err, transaction.ErrAlreadyVoided) || !errors.As(err, &refusal) || refusal.Message != "This transaction has already been voided." {
		t.Errorf("second void = %v, want ErrAlreadyVoided", err)
	}
	if found, _ := s.Sales.Find(t.Context(), s.By, sold.ID); found.VoidedAt == nil || !found.VoidedAt.Equal(*voided.VoidedAt) {
		t.Error("the second void changed when it was voided")
	}
	if got := s.Account(s.customer).Points; got != 5 {
		t.Errorf("balance = %d, want 5", got)
	}
	var log int
	err = dbtest.Owner(s.DB).QueryRow(t.Context(), `
		select count(*) from loyalty.audit_entry
		where tenant_id = $1 and action = 'transaction.void' and subject_id = $2 and actor_id = $3`, s.By.Tenant.ID, sold.ID.String(), s.By.ID).Scan(&log)
	if err != nil || log != 1 {
		t.Errorf("%d entries in the log, %v, want 1", log, err)
	}
}

// Of many concurrent voids one succeeds, even for a sale that earned nothing and has no ledger entry.
func TestManyVoidsAtOnceReverseOnce(t *testing.T) {
	t.Parallel()
	for spend, entries := range map[int64]int64{1000: 2, 99: 0} {
		t.Run(strconv.FormatInt(spend, 10), func(t *testing.T) {
			t.Parallel()
			s := shopIn(t, dbtest.OwnDB(t))
			sold := s.sale(spend)
			voided := dbtest.Race(t, s.DB, s.By.Tenant.ID, "select from loyalty.transaction where tenant_id = $1 and id = $2 for update", sold.ID, 200, func(int) error {
				return second(core.Result(s.Sales.Void(t.Context(), s.By, sold.ID, nil, nil)))
			}, transaction.ErrAlreadyVoided)
			n, sum := s.entries()
			if voided != 1 || n != entries || sum != 0 || s.Account(s.customer).Points != 0 {
				t.Errorf("%d voided, %d entries of %d, balance %d, want 1, %d, 0, 0", voided, n, sum, s.Account(s.customer).Points, entries)
			}
		})
	}
}

// "Voiding reverses the whole award even if it was spent: the balance may go below zero."
func TestVoidTakesBackWhatWasSpent(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sold := s.sale(1000)
	s.spend(8)
	s.void(sold.ID)
	if got := s.Account(s.customer).Points; got != -8 {
		t.Errorf("balance = %d, want -8", got)
	}
	s.sale(1000)
	if got := s.Account(s.customer).Points; got != 2 {
		t.Errorf("after another sale the balance = %d, want 2", got)
	}
}

// "A balance is the sum of its entries at every instant", also with many concurrent tills.
func TestManyTillsAtOneCustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var mu sync.Mutex
	var sold []core.ID
	var want int64
	var wg sync.WaitGroup
	for i := range 300 {
		wg.Go(func() {
			mu.Lock()
			void := i%3 == 2 && len(sold) > 0
			var id core.ID
			if void {
				id = sold[rand.IntN(len(sold))]
			}
			mu.Unlock()
			if void {
				voided, err := core.Result(s.Sales.Void(t.Context(), s.By, id, nil, nil))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					want -= *voided.PointsAwarded
				} else if !errors.Is(err, transaction.ErrAlreadyVoided) {
					t.Error(err)
				}
				return
			}
			made, err := core.Result(s.Sales.Record(t.Context(), s.By, s.of(rand.Int64N(10_000)), nil, nil))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			sold = append(sold, made.ID)
			want += *made.PointsAwarded
		})
	}
	wg.Wait()
	_, sum := s.entries()
	if got := s.Account(s.customer).Points; got != want || sum != want {
		t.Errorf("balance = %d, entries say %d, the tills say %d", got, sum, want)
	}
}

// "GET /customers/{ulid}/transactions: most recent first", page by page in both directions.
func TestListByCustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var want []core.ID
	for i := range 7 {
		want = append(want, s.sale(int64(i)*100).ID)
		dbtest.Tick(s.DB)
	}
	slices.Reverse(want)
	quiet := s.Customer().ID
	ids := func(l core.List[transaction.Transaction]) (ids []core.ID) {
		for _, one := range l.Items {
			ids = append(ids, one.ID)
		}
		return ids
	}
	var forward, back []core.ID
	page := core.Page{Size: 3}
	var last core.List[transaction.Transaction]
	for {
		l, err := s.Sales.ListByCustomer(t.Context(), s.By, s.customer, page)
		s.Check(err)
		forward, last = append(forward, ids(l)...), l
		if l.Next == nil {
			break
		}
		page.Cursor = l.Next
	}
	if diff := cmp.Diff(want, forward); diff != "" {
		t.Errorf("forward (-want +got):\n%s", diff)
	}
	back = ids(last)
	for last.Prev != nil {
		l, err := s.Sales.ListByCustomer(t.Context(), s.By, s.customer, core.Page{Size: 3, Cursor: last.Prev})
		s.Check(err)
		back, last = append(ids(l), back...), l
	}
	if diff := cmp.Diff(want, back); diff != "" {
		t.Errorf("back (-want +got):\n%s", diff)
	}

	if l, err := s.Sales.ListByCustomer(t.Context(), s.By, quiet, core.Page{Size: 3}); err != nil || len(l.Items) != 0 || l.Next != nil || l.Prev != nil {
		t.Errorf("no sales = %+v, %v, want an empty page", l, err)
	}
	bad := core.Page{Size: 3, Malformed: core.Fields{"per_page": {core.MustBeInteger}}}
	if _, err := s.Sales.ListByCustomer(t.Context(), s.By, quiet, bad); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a bad query = %v, want it refused", err)
	}
	for _, p := range []core.Page{bad, {Size: 3}} { // "record in path (404) → fields (422)"
		if _, err := s.Sales.ListByCustomer(t.Context(), s.By, core.NewID(s.DB.Now()), p); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("sales of a missing customer = %v, want ErrNotFound", err)
		}
	}
}

// "A resource that belongs to another tenant is reported as nonexistent (404)."
func TestAnotherTenantsSalesDoNotExist(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	sold := s.sale(1000)
	for name, err := range map[string]error{
		"find": second(stranger.Sales.Find(t.Context(), stranger.By, sold.ID)),
		"void": second(core.Result(stranger.Sales.Void(t.Context(), stranger.By, sold.ID, nil, nil))),
		"list": second(stranger.Sales.ListByCustomer(t.Context(), stranger.By, s.customer, core.Page{Size: 3})),
		"list with a bad query": second(stranger.Sales.ListByCustomer(t.Context(), stranger.By, s.customer,
			core.Page{Size: 3, Malformed: core.Fields{"cursor": {core.InvalidChoice}}})),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s = %v, want ErrNotFound", name, err)
		}
	}
	if found, err := s.Sales.Find(t.Context(), s.By, sold.ID); err != nil || found.Status != transaction.Completed || s.Account(s.customer).Points != 10 {
		t.Errorf("the sale is %+v, %v", found, err)
	}
}

func second[T any](_ T, err error) error { return err }

// The validation of a type, field by field.
func TestATypesFields(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	right := transaction.NewType{Name: "Lunch", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1}}
	for _, c := range []struct {
		field string
		wrong func(n *transaction.NewType)
	}{
		{"name", func(n *transaction.NewType) { n.Name = " " }},
		{"name", func(n *transaction.NewType) { n.Name = strings.Repeat("å", 101) }},
		{"rule_type", func(n *transaction.NewType) { n.RuleType = "miles" }},
		{"points_per_unit", func(n *transaction.NewType) { n.PointsPerUnit = -1 }},
		{"unit_cents", func(n *transaction.NewType) { n.UnitCents = -1 }},
		{"stamps_per_transaction", func(n *transaction.NewType) { n.StampsPerTransaction = -1 }},
		{"min_spend_cents", func(n *transaction.NewType) { n.MinSpendCents = -1 }},
		{"max_award", func(n *transaction.NewType) { n.MaxAward = new(int64(0)) }},
	} {
		n := right
		c.wrong(&n)
		_, err := core.Result(s.Sales.AddType(t.Context(), s.By, n, nil))
		if got := shoptest.Fields(t, err).Names(); !slices.Equal(got, []string{c.field}) {
			t.Errorf("refused %v, want %s", got, c.field)
		}
	}
	made, err := core.Result(s.Sales.AddType(t.Context(), s.By, right, nil))
	if err != nil || !made.Active || made.UnitCents != 100 {
		t.Errorf("AddType = %+v, %v, want it active, for each whole 1.00", made, err)
	}
}

// The documented number of round trips.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	ctx := t.Context()
	var sold core.ID
	record := func(n transaction.Sale) func() error {
		return func() error {
			made, err := core.Result(s.Sales.Record(ctx, s.By, n, nil, nil))
			sold = made.ID
			return err
		}
	}
	receipts, recording := 0, 1
	if dbtest.IsCitus(t) {
		recording = 2 // few sales are recorded alone there
	}
	cashier, branch := s.As(core.Cashier).By, s.open("Väst").ID
	for _, c := range []struct {
		name string
		want int
		do   func() error
	}{
		{"record", recording, record(s.of(1000))},
		{"record nothing earned", recording, record(s.of(0))},
		{"record at a location", recording, record(s.at(s.open("Söder").ID))},
		{"record with a receipt number", recording, func() error {
			n := s.of(1000)
			receipts++
			n.ExternalReference = new(fmt.Sprint(receipts))
			return record(n)()
		}},
		{"record and void", recording + 2, func() error {
			if err := record(s.of(1000))(); err != nil {
				return err
			}
			return second(core.Result(s.Sales.Void(ctx, s.By, sold, nil, nil)))
		}},
		{"find", 1, func() error { return second(s.Sales.Find(ctx, s.By, sold)) }},
		{"preview", 1, func() error { return second(s.Sales.Preview(ctx, s.By, s.at(branch), nil)) }},
		{"how customers have risen", 0, func() error { return second(s.Sales.ProgressNow(ctx, s.By)) }},
		{"list", 1, func() error { return second(s.Sales.ListByCustomer(ctx, s.By, s.customer, core.Page{Size: 3})) }},
		{"types", 1, func() error { return second(s.Sales.Types(ctx, s.By)) }},
		{"find type", 1, func() error { return second(s.Sales.FindType(ctx, s.By, s.kind.ID)) }},
		{"edit type", 3, func() error {
			return second(s.Sales.EditType(ctx, s.By, s.kind.ID, transaction.EditType{Name: core.Set("Purchase")}))
		}},
		{"open an open type", 3, func() error { return second(s.Sales.SetTypeActive(ctx, s.By, s.kind.ID, true)) }},
		{"list filtered", 1, func() error {
			_, err := s.Sales.List(ctx, s.By, transaction.Filter{Status: new("completed"), TypeID: &s.kind.ID}, core.Newest, core.Page{Size: 3})
			return err
		}},
		{"detail", 1, func() error { return second(s.Sales.Detail(ctx, s.By, sold)) }},
		{"a cashier's void", recording + 2, func() error {
			made, err := core.Result(s.Sales.Record(ctx, cashier, s.of(1000), nil, nil))
			if err != nil {
				return err
			}
			return second(core.Result(s.Sales.Void(ctx, cashier, made.ID, nil, nil)))
		}},
		{"record and refund", recording + 2, func() error {
			made, err := core.Result(s.Sales.Record(ctx, s.By, s.of(1000), nil, nil))
			if err != nil {
				return err
			}
			return second(core.Result(s.Sales.Refund(ctx, s.By, made.ID, of(300), nil, nil)))
		}},
		{"add type", 2, func() error {
			return second(core.Result(s.Sales.AddType(ctx, s.By, transaction.NewType{Name: "x", RuleType: ledger.Stamps}, nil)))
		}},
	} {
		var trips int
		for range 3 { // the first run of a type looks it up, and the next one prepares the statements
			before := count()
			if err := c.do(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			trips = count() - before
		}
		if trips != c.want {
			t.Errorf("%s: %d round trips, want %d", c.name, trips, c.want)
		}
	}
}
