package ledger_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// book is a customer's account at a business.
type book struct {
	shoptest.Shop
	customer core.ID
}

func newBook(t *testing.T) book {
	t.Helper()
	s := shoptest.New(t)
	return book{s, s.Customer().ID}
}

func (b book) post(ctx context.Context, kind ledger.Kind, unit ledger.Unit, amount int64, cause *core.ID) (ledger.Account, error) {
	return db.In(ctx, b.DB.Tenant(b.By), func(tx *db.Tx) (ledger.Account, error) {
		return ledger.Post(ctx, tx, b.By, ledger.Entry{Customer: b.customer, Unit: unit, Amount: amount, Kind: kind, Cause: cause})
	})
}

// adjust adds an adjustment.
func (b book) adjust(unit ledger.Unit, amount int64) ledger.Account {
	b.T.Helper()
	account, err := b.post(b.T.Context(), ledger.Adjustment, unit, amount, nil)
	b.Check(err)
	return account
}

func (b book) balance() (a ledger.Account) {
	b.T.Helper()
	err := dbtest.Owner(b.DB).QueryRow(b.T.Context(), "select points, stamps from loyalty.account where tenant_id = $1 and customer_id = $2",
		b.By.Tenant.ID, b.customer).Scan(&a.Points, &a.Stamps)
	b.Check(err)
	return a
}

type line struct {
	Seq          int64
	Unit         ledger.Unit
	Amount       int64
	BalanceAfter int64
	Kind         ledger.Kind
}

func (b book) lines() []line {
	b.T.Helper()
	rows, err := dbtest.Owner(b.DB).Query(b.T.Context(), `
		select seq, unit, amount, balance_after, kind
		from loyalty.ledger_entry
		where tenant_id = $1 and customer_id = $2
		order by seq`, b.By.Tenant.ID, b.customer)
	b.Check(err)
	lines, err := pgx.CollectRows(rows, pgx.RowToStructByName[line])
	b.Check(err)
	return lines
}

func newCause() *core.ID {
	id := core.NewID(time.Now())
	return &id
}

// "It writes the entry and the balance in one statement", for both units.
func TestPostMovesTheBalanceAndWritesTheEntry(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.adjust(ledger.Points, 100)
	b.adjust(ledger.Stamps, 3)
	if got, want := b.adjust(ledger.Points, -40), (ledger.Account{Points: 60, Stamps: 3}); got != want {
		t.Errorf("Post = %+v, want %+v", got, want)
	}
	if got, want := b.balance(), (ledger.Account{Points: 60, Stamps: 3}); got != want {
		t.Errorf("balance = %+v, want %+v", got, want)
	}
	want := []line{
		{1, ledger.Points, 100, 100, ledger.Adjustment},
		{2, ledger.Stamps, 3, 3, ledger.Adjustment},
		{3, ledger.Points, -40, 60, ledger.Adjustment},
	}
	if diff := cmp.Diff(want, b.lines()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// "Insufficient points balance." and "Insufficient stamps balance.": nothing is written, and one unit can't
// pay for the other.
func TestABalanceMustSuffice(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.adjust(ledger.Points, 10)
	b.adjust(ledger.Stamps, 2)
	before := b.lines()
	for _, c := range []struct {
		unit    ledger.Unit
		amount  int64
		want    error
		message string
	}{
		{ledger.Points, -11, ledger.ErrInsufficientPoints, "Insufficient points balance."},
		{ledger.Stamps, -3, ledger.ErrInsufficientStamps, "Insufficient stamps balance."},
	} {
		_, err := b.post(t.Context(), ledger.Redemption, c.unit, c.amount, newCause())
		var refusal *core.Error
		if !errors.Is(err, c.want) || !errors.As(err, &refusal) || refusal.Message != c.message {
			t.Errorf("%d %s = %v, want %q", c.amount, c.unit, err, c.message)
		}
	}
	if diff := cmp.Diff(before, b.lines()); diff != "" {
		t.Errorf("a refusal wrote (-before +after):\n%s", diff)
	}
	if _, err := b.post(t.Context(), ledger.Redemption, ledger.Points, -10, newCause()); err != nil {
		t.Errorf("all there is = %v, want it spent", err)
	}
}

// "Voiding reverses the whole award even if it was spent: the balance may go below
// zero, and nothing can be redeemed until it is back. Nothing else may take it below
// zero."
func TestOnlyAReversalGoesBelowZero(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	for _, kind := range []ledger.Kind{ledger.Earn, ledger.Redemption, ledger.RedemptionRefund, ledger.VoucherAward, ledger.Adjustment} {
		cause := newCause()
		if kind == ledger.Adjustment {
			cause = nil
		}
		if _, err := b.post(t.Context(), kind, ledger.Points, -1, cause); !errors.Is(err, ledger.ErrInsufficientPoints) {
			t.Errorf("%s below zero = %v, want ErrInsufficientPoints", kind, err)
		}
	}
	got, err := b.post(t.Context(), ledger.Reversal, ledger.Points, -30, newCause())
	if err != nil || got.Points != -30 {
		t.Errorf("reversal = %+v, %v, want -30", got, err)
	}
	if got := b.adjust(ledger.Points, 10); got.Points != -20 {
		t.Errorf("an award below zero = %+v, want -20", got)
	}
	if _, err := b.post(t.Context(), ledger.Redemption, ledger.Points, -1, newCause()); !errors.Is(err, ledger.ErrInsufficientPoints) {
		t.Errorf("redeemed below zero = %v, want ErrInsufficientPoints", err)
	}
}

// "Unique partial indexes make 'once' a fact of the database (one reversal per
// transaction, one refund per redemption, one award per voucher)."
func TestACauseHasEachEffectOnce(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.adjust(ledger.Points, 1000)
	for _, kind := range []ledger.Kind{ledger.Earn, ledger.Reversal, ledger.Redemption, ledger.RedemptionRefund, ledger.VoucherAward} {
		cause := newCause()
		b.Must(b.post(t.Context(), kind, ledger.Points, 5, cause))
		before := b.balance()
		if _, err := b.post(t.Context(), kind, ledger.Points, 5, cause); !db.Violates(err, "ledger_entry_once_a_turn") {
			t.Errorf("second %s = %v, want the refusal of ledger_entry_once_a_turn", kind, err)
		}
		if after := b.balance(); after != before {
			t.Errorf("second %s moved the balance from %+v to %+v", kind, before, after)
		}
	}
}

// "One award is at most 10^12": of a sale, a voucher or an adjustment in either direction. Kinds that repeat a
// recorded amount have no limit.
func TestOneAwardHasALimit(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	causeOf := func(kind ledger.Kind) *core.ID {
		if kind == ledger.Adjustment {
			return nil
		}
		return newCause()
	}
	for _, kind := range []ledger.Kind{ledger.Earn, ledger.VoucherAward, ledger.Adjustment} {
		for _, unit := range []ledger.Unit{ledger.Points, ledger.Stamps} {
			if _, err := b.post(t.Context(), kind, unit, ledger.MaxAward+1, causeOf(kind)); !errors.Is(err, ledger.ErrTooLarge) {
				t.Errorf("%s of %s: one too many = %v, want ErrTooLarge", kind, unit, err)
			}
			_, err := db.In(t.Context(), b.DB.Tenant(b.By), func(tx *db.Tx) (struct{}, error) {
				return struct{}{}, ledger.Queue(tx, b.By, ledger.Entry{
					Customer: b.customer, Unit: unit, Amount: ledger.MaxAward + 1, Kind: kind, Cause: causeOf(kind),
				})
			})
			if !errors.Is(err, ledger.ErrTooLarge) {
				t.Errorf("%s of %s, queued: one too many = %v, want ErrTooLarge", kind, unit, err)
			}
			if _, err := b.post(t.Context(), kind, unit, ledger.MaxAward, causeOf(kind)); err != nil {
				t.Errorf("%s of %s: the most = %v", kind, unit, err)
			}
		}
	}
	if _, err := b.post(t.Context(), ledger.Adjustment, ledger.Points, -ledger.MaxAward-1, nil); !errors.Is(err, ledger.ErrTooLarge) {
		t.Errorf("taking one too many = %v, want ErrTooLarge", err)
	}
	if got, want := b.balance(), (ledger.Account{Points: 3 * ledger.MaxAward, Stamps: 3 * ledger.MaxAward}); got != want {
		t.Errorf("balance = %+v, want %+v", got, want)
	}
	for kind, amount := range map[ledger.Kind]int64{ledger.RedemptionRefund: 9e18, ledger.Reversal: -9e18} {
		if _, err := b.post(t.Context(), kind, ledger.Points, amount, newCause()); err != nil {
			t.Errorf("%s of %d = %v", kind, amount, err)
		}
	}
}

// "A balance that would overflow is 422, never wrapped", in either direction.
func TestABalanceNeverWraps(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.Must(b.post(t.Context(), ledger.RedemptionRefund, ledger.Points, math.MaxInt64-1, newCause()))
	b.adjust(ledger.Points, 1)
	if _, err := b.post(t.Context(), ledger.Earn, ledger.Points, 1, newCause()); !errors.Is(err, ledger.ErrTooLarge) {
		t.Errorf("one more than the largest = %v, want ErrTooLarge", err)
	}
	if got := b.balance().Points; got != math.MaxInt64 {
		t.Errorf("balance = %d, want the largest", got)
	}
	b.Must(b.post(t.Context(), ledger.Reversal, ledger.Stamps, -math.MaxInt64, newCause()))
	if _, err := b.post(t.Context(), ledger.Reversal, ledger.Stamps, -2, newCause()); !errors.Is(err, ledger.ErrTooLarge) {
		t.Errorf("below the smallest = %v, want ErrTooLarge", err)
	}
}

// "A balance is the sum of its entries at every instant" with many concurrent tills: no gap in the numbering,
// no entry below zero.
func TestManyTillsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	const tills = 200
	var wg sync.WaitGroup
	for range tills {
		wg.Go(func() {
			amount := rand.Int64N(101) - 50
			if amount == 0 {
				amount = 7
			}
			_, err := b.post(t.Context(), ledger.Adjustment, ledger.Points, amount, nil)
			if err != nil && (amount > 0 || !errors.Is(err, ledger.ErrInsufficientPoints)) {
				t.Errorf("%d: %v", amount, err)
			}
		})
	}
	wg.Wait()
	var sum int64
	for i, l := range b.lines() {
		sum += l.Amount
		if l.Seq != int64(i+1) || l.BalanceAfter != sum || sum < 0 {
			t.Fatalf("entry %d is %+v after a sum of %d", i+1, l, sum)
		}
	}
	if got := b.balance().Points; got != sum {
		t.Errorf("balance = %d, the entries say %d", got, sum)
	}
}

// "24 redemptions at once of which 3 are affordable": three succeed.
func TestOnlyWhatIsAffordableIsSpent(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.adjust(ledger.Points, 35)
	var spent, refused int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 24 {
		wg.Go(func() {
			_, err := b.post(t.Context(), ledger.Redemption, ledger.Points, -10, newCause())
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				spent++
			case errors.Is(err, ledger.ErrInsufficientPoints):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if spent != 3 || refused != 21 || b.balance().Points != 5 {
		t.Errorf("%d spent, %d refused, %d left, want 3, 21, 5", spent, refused, b.balance().Points)
	}
}

// "The application role gets no update or delete on the ledger", so entries can't be changed by mistake.
func TestEntriesCannotBeChanged(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.adjust(ledger.Points, 10)
	for _, sql := range []string{
		`update loyalty.ledger_entry set amount = 1 where tenant_id = @tenant_id`,
		`delete from loyalty.ledger_entry where tenant_id = @tenant_id`,
		`delete from loyalty.account where tenant_id = @tenant_id`,
	} {
		_, err := db.In(t.Context(), b.DB.Tenant(b.By), func(tx *db.Tx) (int64, error) {
			return db.Exec(t.Context(), tx, sql, nil)
		})
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "42501" {
			t.Errorf("%s = %v, want permission denied", sql, err)
		}
	}
}

// "A tenant is a wall": another tenant's customer has no account here.
func TestAnotherTenantsAccountIsOutOfReach(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.adjust(ledger.Points, 10)
	stranger := book{shoptest.In(t, b.DB), b.customer}
	if _, err := stranger.post(t.Context(), ledger.Adjustment, ledger.Points, 5, nil); err == nil {
		t.Error("a stranger posted to the account")
	}
	if got := b.balance().Points; got != 10 {
		t.Errorf("balance = %d, want 10", got)
	}
}

// A queued entry without an account, or one that the balance refuses, fails the whole transaction.
func TestAQueuedEntryIsAllOrNothing(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	cause := core.NewID(b.DB.Now())
	queue := func(e ledger.Entry) error {
		_, err := db.In(t.Context(), b.DB.Tenant(b.By), func(tx *db.Tx) (struct{}, error) {
			// A valid entry in the same transaction.
			return struct{}{}, errors.Join(
				ledger.Queue(tx, b.By, ledger.Entry{Customer: b.customer, Unit: ledger.Stamps, Amount: 1, Kind: ledger.Adjustment}),
				ledger.Queue(tx, b.By, e))
		})
		return err
	}
	for name, e := range map[string]ledger.Entry{
		"no account":          {Customer: cause, Unit: ledger.Points, Amount: 5, Kind: ledger.Earn, Cause: &cause},
		"more than there is":  {Customer: b.customer, Unit: ledger.Points, Amount: -5, Kind: ledger.Adjustment},
		"a cause that is not": {Customer: b.customer, Unit: ledger.Points, Amount: 5, Kind: ledger.Earn},
	} {
		if err := queue(e); err == nil {
			t.Errorf("%s: queued and committed", name)
		}
	}
	if got := b.balance(); got != (ledger.Account{}) || len(b.lines()) > 0 {
		t.Errorf("after three refusals: %+v and %d entries, want nothing", got, len(b.lines()))
	}
	if err := queue(ledger.Entry{Customer: b.customer, Unit: ledger.Points, Amount: -5, Kind: ledger.Reversal, Cause: &cause}); err != nil {
		t.Error(err)
	}
	if got, want := b.balance(), (ledger.Account{Points: -5, Stamps: 1}); got != want {
		t.Errorf("after a reversal: %+v, want %+v", got, want)
	}
}
