package walkin_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/verify"
	"example.com/loyalty/core/walkin"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business with a till, at some instant.
type shop struct {
	*walkin.Service
	db    *db.DB
	by    core.Actor // a cashier
	owner core.Actor
	sales *transaction.Service
	kind  transaction.Type // a point for each whole 1.00
}

func newShop(t *testing.T) shop { return shopOf(t, dbtest.DB(t)) }

func shopOf(t *testing.T, d *db.DB) shop {
	t.Helper()
	owner := dbtest.Tenant(t, d)
	kind, err := transaction.NewService(d).AddType(t.Context(), owner, transaction.NewType{
		Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	return shop{owner: owner, by: dbtest.Person(t, d, owner, core.Cashier), kind: kind}.on(t, d)
}

// on returns the same shop with another database or clock.
func (s shop) on(t *testing.T, d *db.DB) shop {
	t.Helper()
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.db, s.sales = d, transaction.NewService(d)
	s.Service = walkin.NewService(d, jobs, dbtest.Mails(d, jobs), dbtest.Keys(), s.sales, func(address string) string { return address })
	return s
}

// after returns the same shop some time later.
func (s shop) after(t *testing.T, d time.Duration) shop {
	t.Helper()
	return s.on(t, s.db.At(s.db.Now().Add(d)))
}

var phones atomic.Int64

func phone() string { return fmt.Sprintf("070 %07d", phones.Add(1)) }

func (s shop) customer(t *testing.T) customer.Customer {
	t.Helper()
	c, err := customer.NewService(s.db).Upsert(t.Context(), s.owner, customer.New{FirstName: new("Anna"), LastName: new("Lindqvist"), Phone: new(phone())})
	if err != nil {
		t.Fatal(err)
	}
	return c.Customer
}

// card shows a PIN on a customer's card.
func (s shop) card(t *testing.T, c customer.Customer) walkin.Shown {
	t.Helper()
	shown, err := s.ShowCard(t.Context(), walkin.Card{Customer: c}.Actor(s.by.Tenant, "192.0.2.7", ""), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

func (s shop) take(t *testing.T, till string, shown walkin.Shown) walkin.TakenCard {
	t.Helper()
	held, err := s.TakeCard(t.Context(), s.by, till, walkin.Key{Digits: shown.Digits})
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// sale describes a sale with a PIN.
func (s shop) sale(pin core.ID, cents int64) walkin.Sale {
	return walkin.Sale{New: transaction.New{TransactionTypeID: &s.kind.ID, SpendAmountCents: &cents}, PIN: &pin}
}

// shows has the till show a sale's PIN.
func (s shop) shows(t *testing.T, till string, cents int64) walkin.Shown {
	t.Helper()
	shown, err := s.ShowSale(t.Context(), s.by, till, walkin.Offer{TransactionTypeID: &s.kind.ID, SpendAmountCents: &cents})
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// visitor is a customer with their own phone.
func (s shop) visitor() core.Actor {
	return core.Actor{Kind: core.ByCustomer, Tenant: s.by.Tenant, Address: "192.0.2.9"}
}

func elsa(phone string) walkin.Details {
	return walkin.Details{FirstName: new("Elsa"), LastName: new("Berg"), Phone: &phone, Agreed: true, Terms: "I agree."}
}

func (s shop) points(t *testing.T, id core.ID) int64 {
	t.Helper()
	c, err := customer.NewService(s.db).Find(t.Context(), s.owner, id)
	if err != nil {
		t.Fatal(err)
	}
	return c.PointsBalance
}

// count counts rows of the shop's tenant.
func (s shop) count(t *testing.T, where string) (n int64) {
	t.Helper()
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from loyalty."+where+" and tenant_id = $1", s.by.Tenant.ID).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func wantPIN(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, walkin.ErrPIN) {
		t.Errorf("%s: %v, want %v", what, err, walkin.ErrPIN)
	}
}

// "The customer shows, the cashier scans": by the digits, with or without spaces, or by the code.
func TestTheTillTakesACardsPIN(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.customer(t)
	for _, key := range []func(walkin.Shown) walkin.Key{
		func(p walkin.Shown) walkin.Key { return walkin.Key{Digits: p.Digits[:3] + " " + p.Digits[3:]} },
		func(p walkin.Shown) walkin.Key { return walkin.Key{Code: strings.ToLower(p.Code)} },
	} {
		before := s.points(t, c.ID)
		shown := s.card(t, c)
		if p, err := s.CardProgress(t.Context(), s.by.Tenant, c.ID, shown.ID); err != nil || p.State != walkin.Waiting {
			t.Fatal(p, err)
		}
		held, err := s.TakeCard(t.Context(), s.by, "till", key(shown))
		if err != nil || held.CustomerID != c.ID {
			t.Fatal(held, err)
		}
		if p, err := s.CardProgress(t.Context(), s.by.Tenant, c.ID, shown.ID); err != nil || p.State != walkin.Taken {
			t.Fatal(p, err)
		}
		receipt, err := s.Complete(t.Context(), s.by, "till", s.sale(held.PIN, 2450))
		if err != nil || receipt.Sale == nil || receipt.Sale.Source != transaction.POS {
			t.Fatal(receipt, err)
		}
		p, err := s.CardProgress(t.Context(), s.by.Tenant, c.ID, shown.ID)
		if err != nil || p.State != walkin.Completed || p.Award != 24 || p.RuleType != ledger.Points {
			t.Fatal(p, err)
		}
		if got := s.points(t, c.ID) - before; got != 24 {
			t.Errorf("%d points, want 24", got)
		}
	}
}

// "Till shows, customer scans": a new customer is added with their consent, an existing one sees only the
// points. The sale belongs to the cashier who showed it.
func TestAPhoneClaimsTheTillsSale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	known := s.customer(t)
	for _, c := range []struct {
		phone string
		isNew bool
	}{{phone(), true}, {known.Phone, false}} {
		shown, browser := s.shows(t, "till", 2450), walkin.NewBrowser()
		peeked, err := s.PeekSale(t.Context(), s.by.Tenant, shown.Code)
		if err != nil || peeked.Award != 24 || peeked.SpendAmountCents != 2450 {
			t.Fatal(peeked, err)
		}
		if err := s.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Code: shown.Code}); err != nil {
			t.Fatal(err)
		}
		held, err := s.Held(t.Context(), s.by.Tenant, browser)
		if err != nil || held.ID != shown.ID {
			t.Fatal(held, err)
		}
		claimed, err := s.Claim(t.Context(), s.visitor(), browser, elsa(c.phone))
		if err != nil || claimed.Award != 24 || claimed.New != c.isNew {
			t.Fatal(claimed, err)
		}
		last, err := s.LastClaim(t.Context(), s.by.Tenant, browser)
		if err != nil || last.New != c.isNew || (last.Card != nil) != c.isNew || (last.CardToken != "") != c.isNew {
			t.Errorf("%+v, %v", last, err)
		}
		p, err := s.TillProgress(t.Context(), s.by, "till", shown.ID)
		if err != nil || p.State != walkin.Completed || p.TransactionID == nil {
			t.Fatal(p, err)
		}
		sale, err := s.sales.Detail(t.Context(), s.owner, *p.TransactionID)
		if err != nil || sale.ActorName != s.by.Name || sale.Source != transaction.POS {
			t.Errorf("%+v, %v", sale, err)
		}
		if _, err := s.sales.Void(t.Context(), s.by, *p.TransactionID); err != nil {
			t.Errorf("the cashier can't void their own last sale: %v", err)
		}
	}
	if n := s.count(t, "consent where kind = 'terms' and source = 'claim'"); n != 1 {
		t.Errorf("%d consents, want the new customer's", n)
	}
	if got, err := customer.NewService(s.db).Find(t.Context(), s.owner, known.ID); err != nil || got.FirstName != "Anna" {
		t.Errorf("the existing customer is %+v, %v", got, err)
	}
}

// "It lives 90 seconds on the database's clock": a PIN works after 85 s, because the test itself takes a
// while, and not after 90.1 s.
func TestAPINLivesNinetySeconds(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, c := range []struct {
		age  time.Duration
		good bool
	}{{85 * time.Second, true}, {90_100 * time.Millisecond, false}} {
		card, sale, browser := s.card(t, s.customer(t)), s.shows(t, "till", 100), walkin.NewBrowser()
		later := s.after(t, c.age)
		_, err := later.TakeCard(t.Context(), s.by, "till", walkin.Key{Digits: card.Digits})
		if c.good != (err == nil) {
			t.Errorf("a card's after %s: %v", c.age, err)
		}
		if err := later.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Digits: sale.Digits}); c.good != (err == nil) {
			t.Errorf("a till's after %s: %v", c.age, err)
		}
		if !c.good {
			wantPIN(t, "expired", err)
			if p, err := later.TillProgress(t.Context(), s.by, "till", sale.ID); err != nil || p.State != walkin.Expired {
				t.Error(p, err)
			}
		}
	}
}

// "A taken PIN completes one sale within five minutes and none after."
func TestATakenPINCompletesOneSaleWithinFiveMinutes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.customer(t)
	held := s.take(t, "till", s.card(t, c))
	_, err := s.after(t, 5*time.Minute+100*time.Millisecond).Complete(t.Context(), s.by, "till", s.sale(held.PIN, 500))
	wantPIN(t, "after five minutes", err)
	if _, err := s.after(t, 5*time.Minute-100*time.Millisecond).Complete(t.Context(), s.by, "till", s.sale(held.PIN, 500)); err != nil {
		t.Fatal(err)
	}
	_, err = s.Complete(t.Context(), s.by, "till", s.sale(held.PIN, 500))
	wantPIN(t, "again", err)
	if got := s.points(t, c.ID); got != 5 {
		t.Errorf("%d points, want 5", got)
	}
}

// "Two tills and one PIN: one taker, one sale." Only the till that took it completes it.
func TestOneOfManyTillsTakesAPIN(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t))
	c := s.customer(t)
	shown := s.card(t, c)
	var takers, sales atomic.Int64
	dbtest.Race(t, s.db, holdPIN, shown.ID, 200, func(i int) error {
		till, by := fmt.Sprintf("till %d", i), s.by
		by.Address = fmt.Sprintf("198.51.100.%d", i)
		held, err := s.TakeCard(t.Context(), by, till, walkin.Key{Digits: shown.Digits})
		if errors.Is(err, walkin.ErrPIN) {
			// The PIN's ID alone is not enough to complete it.
			_, err = s.Complete(t.Context(), s.by, till, s.sale(shown.ID, 1000))
			if errors.Is(err, walkin.ErrPIN) {
				return nil
			}
			return fmt.Errorf("completed by another till: %w", err)
		}
		if err != nil {
			return err
		}
		takers.Add(1)
		for range 2 { // a double click without a form key
			if _, err := s.Complete(t.Context(), s.by, till, s.sale(held.PIN, 1000)); err == nil {
				sales.Add(1)
			} else if !errors.Is(err, walkin.ErrPIN) {
				return err
			}
		}
		return nil
	})
	if takers.Load() != 1 || sales.Load() != 1 || s.points(t, c.ID) != 10 {
		t.Errorf("%d takers, %d sales, %d points", takers.Load(), sales.Load(), s.points(t, c.ID))
	}
	clean(t, s)
}

// 200 clicks at one till with the PIN that it took record one sale.
func TestManyPressesCompleteOneSale(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t))
	c := s.customer(t)
	held := s.take(t, "till", s.card(t, c))
	sales := dbtest.Race(t, s.db, holdPIN, held.PIN, 200, func(int) error {
		_, err := s.Complete(t.Context(), s.by, "till", s.sale(held.PIN, 1000))
		return err
	}, walkin.ErrPIN)
	if sales != 1 || s.points(t, c.ID) != 10 {
		t.Errorf("%d sales, %d points", sales, s.points(t, c.ID))
	}
	clean(t, s)
}

// Of two hundred phones that claim one sale, one gets it.
func TestOneOfManyPhonesClaimsASale(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t))
	shown := s.shows(t, "till", 1000)
	var claims atomic.Int64
	dbtest.Race(t, s.db, holdPIN, shown.ID, 200, func(i int) error {
		browser, by := walkin.NewBrowser(), s.visitor()
		by.Address = fmt.Sprintf("198.51.100.%d", i)
		if err := s.TakeSale(t.Context(), by, browser, walkin.Key{Code: shown.Code}); err != nil {
			if errors.Is(err, walkin.ErrPIN) {
				_, err = s.Claim(t.Context(), by, browser, elsa(phone()))
				if errors.Is(err, walkin.ErrPIN) {
					return nil
				}
			}
			return fmt.Errorf("not taken: %w", err)
		}
		if _, err := s.Claim(t.Context(), by, browser, elsa(phone())); err != nil {
			return err
		}
		claims.Add(1)
		return nil
	})
	if claims.Load() != 1 || s.count(t, "transaction where status = 'completed'") != 1 {
		t.Errorf("%d claims, %d sales", claims.Load(), s.count(t, "transaction where status = 'completed'"))
	}
	clean(t, s)
}

// "A refused sale can be corrected and completed": the PIN stays taken.
func TestARefusedSaleCanBeCorrected(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.customer(t)
	held := s.take(t, "till", s.card(t, c))
	wrong := s.sale(held.PIN, -1)
	if _, err := s.Complete(t.Context(), s.by, "till", wrong); !core.IsKind(err, core.KindInvalid) {
		t.Fatalf("a negative amount: %v", err)
	}
	if _, err := s.Complete(t.Context(), s.by, "till", s.sale(held.PIN, 700)); err != nil {
		t.Fatal(err)
	}

	browser := walkin.NewBrowser()
	shown := s.shows(t, "till", 700)
	if err := s.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Digits: shown.Digits}); err != nil {
		t.Fatal(err)
	}
	refused := elsa(phone())
	refused.FirstName, refused.Agreed = nil, false
	_, err := s.Claim(t.Context(), s.visitor(), browser, refused)
	var fields *core.Error
	if !errors.As(err, &fields) || len(fields.Fields["first_name"]) == 0 || len(fields.Fields["agreed"]) == 0 {
		t.Fatalf("a new customer without a name: %v", err)
	}
	if _, err := s.Claim(t.Context(), s.visitor(), browser, elsa(*refused.Phone)); err != nil {
		t.Fatal(err)
	}
}

// "One live PIN per issuer, a new one replaces it", also for two concurrent requests.
func TestANewPINReplacesTheOldOne(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t))
	c := s.customer(t)
	first := s.card(t, c)
	second := s.card(t, c)
	_, err := s.TakeCard(t.Context(), s.by, "till", walkin.Key{Digits: first.Digits})
	wantPIN(t, "replaced", err)
	if p, err := s.CardProgress(t.Context(), s.by.Tenant, c.ID, first.ID); err != nil || p.State != walkin.Replaced {
		t.Error(p, err)
	}
	s.take(t, "till", second)

	shown := s.shows(t, "one till", 100)
	dbtest.Race(t, s.db, holdPIN, shown.ID, 50, func(int) error {
		_, err := s.ShowSale(t.Context(), s.by, "one till", walkin.Offer{TransactionTypeID: &s.kind.ID, SpendAmountCents: new(int64(100))})
		if core.IsKind(err, core.KindUnavailable) {
			return nil // others kept replacing it
		}
		return err
	})
	if n := s.count(t, "pin where issuer = 'till one till' and status = 'open'"); n != 1 {
		t.Errorf("%d open PINs of one till, want 1", n)
	}
}

// "The two directions never mix."
func TestTheDirectionsNeverMix(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	card, sale := s.card(t, s.customer(t)), s.shows(t, "till", 100)
	_, err := s.TakeCard(t.Context(), s.by, "till", walkin.Key{Digits: sale.Digits})
	wantPIN(t, "a till takes a till's", err)
	wantPIN(t, "a phone takes a card's", s.TakeSale(t.Context(), s.visitor(), walkin.NewBrowser(), walkin.Key{Code: card.Code}))
	_, err = s.PeekSale(t.Context(), s.by.Tenant, card.Code)
	wantPIN(t, "a phone looks at a card's", err)
}

// "Opening its URL takes nothing": a viewed sale can still be taken.
func TestPeekingTakesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	shown := s.shows(t, "till", 100)
	for range 3 {
		if _, err := s.PeekSale(t.Context(), s.by.Tenant, shown.Code); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := s.TillProgress(t.Context(), s.by, "till", shown.ID); err != nil || p.State != walkin.Waiting {
		t.Error(p, err)
	}
}

// Another tenant's PIN is refused like an invented one.
func TestPINsOfOtherTenantsAreWrong(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	card, sale := s.card(t, s.customer(t)), s.shows(t, "till", 100)
	for _, k := range []walkin.Key{{Digits: card.Digits}, {Code: card.Code}} {
		_, err := other.TakeCard(t.Context(), other.by, "till", k)
		wantPIN(t, "another tenant's card", err)
	}
	wantPIN(t, "another tenant's sale", other.TakeSale(t.Context(), other.visitor(), walkin.NewBrowser(), walkin.Key{Code: sale.Code}))
	if _, err := other.TillProgress(t.Context(), other.by, "till", sale.ID); !errors.Is(err, core.ErrNotFound) {
		t.Error(err)
	}
	held := s.take(t, "till", card)
	_, err := other.Complete(t.Context(), other.by, "till", other.sale(held.PIN, 100))
	wantPIN(t, "completed by another tenant", err)
}

// "Brute force of 10,000 guesses finds nothing and is stopped, and stops no signed-in cashier." Each wrong
// guess that was not throttled is in the audit log.
func TestGuessingIsStopped(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	shown, card := s.shows(t, "till", 100), s.card(t, s.customer(t))
	var wrong, stopped, found atomic.Int64
	var wait sync.WaitGroup
	for worker := range 20 {
		wait.Go(func() {
			for i := range 500 {
				digits := fmt.Sprintf("%06d", worker*50_000+i)
				if digits == shown.Digits {
					continue
				}
				by := s.visitor()
				by.Address = fmt.Sprintf("203.0.113.%d", i%250) // from many addresses
				err := s.TakeSale(t.Context(), by, walkin.NewBrowser(), walkin.Key{Digits: digits})
				switch {
				case errors.Is(err, walkin.ErrPIN):
					wrong.Add(1)
				case core.IsKind(err, core.KindThrottled):
					stopped.Add(1)
				default:
					found.Add(1)
				}
			}
		})
	}
	wait.Wait()
	if found.Load() != 0 || wrong.Load() != 50 || stopped.Load() < 9_000 {
		t.Errorf("%d found, %d wrong, %d stopped", found.Load(), wrong.Load(), stopped.Load())
	}
	if n := s.count(t, "audit_entry where action = 'pin.refuse'"); n != wrong.Load() {
		t.Errorf("%d refusals in the audit log, want %d", n, wrong.Load())
	}
	held := s.take(t, "till", card) // the cashier is not held up
	if _, err := s.Complete(t.Context(), s.by, "till", s.sale(held.PIN, 100)); err != nil {
		t.Error(err)
	}
	// A customer with a camera isn't throttled either.
	if err := s.TakeSale(t.Context(), s.visitor(), walkin.NewBrowser(), walkin.Key{Code: shown.Code}); err != nil {
		t.Error(err)
	}
}

// Only the cashier's own session is limited, and right PINs don't count.
func TestACashiersGuessesAreLimited(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for range 30 {
		s.take(t, "busy till", s.card(t, s.customer(t)))
	}
	for range 20 {
		_, err := s.TakeCard(t.Context(), s.by, "till", walkin.Key{Digits: "wrong"})
		wantPIN(t, "wrong", err)
	}
	_, err := s.TakeCard(t.Context(), s.by, "till", walkin.Key{Digits: s.card(t, s.customer(t)).Digits})
	var throttled *core.Error
	if !errors.As(err, &throttled) || throttled.Kind != core.KindThrottled || throttled.Wait <= 0 {
		t.Fatalf("the 21st: %v", err)
	}
	s.take(t, "other till", s.card(t, s.customer(t)))
	for i := range 80 { // by other sessions from one address
		_, err := s.TakeCard(t.Context(), s.by, fmt.Sprint("till ", i), walkin.Key{Digits: "wrong"})
		wantPIN(t, "wrong", err)
	}
	if _, err := s.TakeCard(t.Context(), s.by, "new till", walkin.Key{Digits: "wrong"}); !core.IsKind(err, core.KindThrottled) {
		t.Errorf("the 101st from one address: %v", err)
	}
}

// "Only keyed hashes are stored": neither the row nor the audit log contains the digits or the code.
func TestOnlyHashesAreStored(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	shown := s.card(t, s.customer(t))
	s.take(t, "till", shown)
	for _, from := range []string{
		"select string_agg(p::text, ' ') from loyalty.pin p where tenant_id = $1",
		"select string_agg(a.new::text, ' ') from loyalty.audit_entry a where tenant_id = $1 and action like 'pin.%'",
	} {
		var stored string
		if err := dbtest.Owner(s.db).QueryRow(t.Context(), from, s.by.Tenant.ID).Scan(&stored); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(stored, shown.Digits) || strings.Contains(strings.ToUpper(stored), shown.Code) {
			t.Errorf("stored in plain: %s", stored)
		}
	}
}

// "Every issue, taking, use and refusal is in the audit log."
func TestTheAuditLogHasEveryStep(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	held := s.take(t, "till", s.card(t, s.customer(t)))
	if _, err := s.Complete(t.Context(), s.by, "till", s.sale(held.PIN, 100)); err != nil {
		t.Fatal(err)
	}
	shown := s.shows(t, "till", 100)
	if err := s.Cancel(t.Context(), s.by, "till", shown.ID); err != nil {
		t.Fatal(err)
	}
	wantPIN(t, "cancelled", s.TakeSale(t.Context(), s.visitor(), walkin.NewBrowser(), walkin.Key{Code: shown.Code}))
	for action, want := range map[string]int64{"pin.issue": 2, "pin.take": 1, "pin.use": 1, "pin.cancel": 1, "pin.refuse": 1} {
		if n := s.count(t, "audit_entry where action = '"+action+"'"); n != want {
			t.Errorf("%d entries %s, want %d", n, action, want)
		}
	}
}

// A new customer gets offers only with their consent. An existing one learns nothing: the link goes to the
// stored address.
func TestJoin(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	d := elsa(phone())
	d.Email = new(fmt.Sprintf("elsa%d@example.com", phones.Add(1)))
	joined, err := s.Join(t.Context(), s.visitor(), d)
	if err != nil || !joined.New {
		t.Fatal(joined, err)
	}
	w, err := s.OpenCard(t.Context(), s.by.Tenant, joined.CardToken)
	if err != nil || w.FirstName != "Elsa" || w.UnsubscribedAt == nil {
		t.Fatalf("%+v, %v", w, err)
	}
	again, err := s.Join(t.Context(), s.visitor(), walkin.Details{FirstName: new("Mallory"), LastName: new("M"), Phone: d.Phone, Agreed: true, Terms: "I agree."})
	if err != nil || again.New || again.CardToken != "" || !again.Mailed {
		t.Errorf("%+v, %v", again, err)
	}
	for range 5 {
		if err := s.MailCard(t.Context(), s.visitor(), *d.Email); err != nil {
			t.Error(err)
		}
	}
	if err := s.MailCard(t.Context(), s.visitor(), "070 999 99 99"); err != nil {
		t.Errorf("an unknown number: %v", err)
	}
	var mails int64
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from loyalty.mail where recipient = $1", *d.Email).Scan(&mails); err != nil {
		t.Fatal(err)
	}
	if mails != 3 {
		t.Errorf("%d mails to one customer within an hour, want 3", mails)
	}
	offers := elsa(phone())
	offers.Offers = "Send me offers by e-mail"
	if joined, err = s.Join(t.Context(), s.visitor(), offers); err != nil {
		t.Fatal(err)
	}
	if w, err = s.OpenCard(t.Context(), s.by.Tenant, joined.CardToken); err != nil || w.UnsubscribedAt != nil {
		t.Errorf("%+v, %v", w, err)
	}
	refused := elsa(phone())
	refused.Agreed = false
	if _, err := s.Join(t.Context(), s.visitor(), refused); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("without agreeing: %v", err)
	}
}

// Recent customers are suggested, and the last digits of a phone number find a customer.
func TestFindingAtTheTill(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	a, b := s.customer(t), s.customer(t)
	for _, c := range []customer.Customer{a, b, a} {
		if _, err := s.Complete(t.Context(), s.by, "till", walkin.Sale{New: transaction.New{
			CustomerID: new(c.ID.String()), TransactionTypeID: &s.kind.ID, SpendAmountCents: new(int64(100)),
		}}); err != nil {
			t.Fatal(err)
		}
		dbtest.Tick(s.db)
	}
	recent, err := s.Recent(t.Context(), s.by, nil)
	if err != nil || len(recent) != 2 || recent[0].ID != a.ID || recent[1].ID != b.ID {
		t.Errorf("recent: %+v, %v", recent, err)
	}
	if late, err := s.after(t, 4*time.Hour).Recent(t.Context(), s.by, nil); err != nil || len(late) != 0 {
		t.Errorf("four hours later: %+v, %v", late, err)
	}
	for typed, want := range map[string]bool{a.Phone: true, a.Phone[len(a.Phone)-4:]: true, a.Phone[len(a.Phone)-6:]: true, "9999": false} {
		found, err := s.FindCustomers(t.Context(), s.by, typed)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(found, func(c customer.Customer) bool { return c.ID == a.ID }); got != want {
			t.Errorf("%q finds %v", typed, found)
		}
	}
	if _, err := s.FindCustomers(t.Context(), s.by, "123"); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("three digits: %v", err)
	}
}

// The clean-up job deletes old PINs of all tenants.
func TestForgetPINs(t *testing.T) {
	t.Parallel()
	s := shopOf(t, dbtest.OwnDB(t))
	s.card(t, s.customer(t))
	if err := s.after(t, 59*time.Minute).Forget(t.Context()); err != nil || s.count(t, "pin where true") != 1 {
		t.Fatal(err)
	}
	if err := s.after(t, 61*time.Minute).Forget(t.Context()); err != nil || s.count(t, "pin where true") != 0 {
		t.Fatal(err)
	}
	_, err := db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (int64, error) {
		return db.Value[int64](t.Context(), tx, "select loyalty.forget_pins(@now, 10)", db.Args{"now": tx.Now})
	})
	if err == nil {
		t.Error("a tenant's own transaction deleted the PINs of all")
	}
}

// holdPIN locks a PIN until all calls wait for it.
const holdPIN = `select from loyalty.pin where id = $1 for update`

// clean runs verify on a test's own database.
func clean(t *testing.T, s shop) {
	t.Helper()
	if n := s.count(t, "pin where status = 'used' and transaction_id is null"); n != 0 {
		t.Errorf("%d PINs were completed without a sale", n)
	}
	results, err := verify.Run(t.Context(), s.db)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Wrong > 0 {
			t.Errorf("%s: %d", r.Check, r.Wrong)
		}
	}
}

// A cashier who renews or cancels a PIN takes it back even from a phone, so that the sale can't be claimed
// twice. A claimed sale stays.
func TestATillTakesItsPINBack(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for what, back := range map[string]func(walkin.Shown) error{
		"renewed": func(p walkin.Shown) error {
			_, err := s.Renew(t.Context(), s.by, "till", p.ID)
			return err
		},
		"cancelled": func(p walkin.Shown) error { return s.Cancel(t.Context(), s.by, "till", p.ID) },
	} {
		shown, browser := s.shows(t, "till", 100), walkin.NewBrowser()
		if err := s.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Code: shown.Code}); err != nil {
			t.Fatal(err)
		}
		if err := back(shown); err != nil {
			t.Fatal(what, err)
		}
		_, err := s.Claim(t.Context(), s.visitor(), browser, elsa(phone()))
		wantPIN(t, what, err)
	}
	if n := s.count(t, "transaction where true"); n != 0 {
		t.Errorf("%d sales", n)
	}
	shown, browser := s.shows(t, "till", 100), walkin.NewBrowser()
	if err := s.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Code: shown.Code}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(t.Context(), s.visitor(), browser, elsa(phone())); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Renew(t.Context(), s.by, "till", shown.ID); !errors.Is(err, walkin.ErrCompleted) {
		t.Errorf("renewed after it was collected: %v", err)
	}
	if err := s.Cancel(t.Context(), s.by, "till", shown.ID); err != nil {
		t.Error(err)
	}
	if p, err := s.TillProgress(t.Context(), s.by, "till", shown.ID); err != nil || p.State != walkin.Completed {
		t.Errorf("cancelled after it was collected: %v, %v", p.State, err)
	}
	if _, err := s.Renew(t.Context(), s.by, "other till", shown.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("renewed by another till: %v", err)
	}
}

// Two hundred times, a phone claims a sale while the till renews its PIN: each sale is recorded once, and a
// claimed sale gets no new PIN.
func TestCollectingWhileTheTillRenews(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for range 200 {
		shown, browser := s.shows(t, "till", 100), walkin.NewBrowser()
		if err := s.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Code: shown.Code}); err != nil {
			t.Fatal(err)
		}
		var claimed, renewed error
		var both sync.WaitGroup
		both.Go(func() { _, claimed = s.Claim(t.Context(), s.visitor(), browser, elsa(phone())) })
		both.Go(func() { _, renewed = s.Renew(t.Context(), s.by, "till", shown.ID) })
		both.Wait()
		switch {
		case claimed == nil && errors.Is(renewed, walkin.ErrCompleted):
		case errors.Is(claimed, walkin.ErrPIN) && renewed == nil:
		default:
			t.Fatalf("claimed: %v, renewed: %v", claimed, renewed)
		}
	}
}

// A page that shows a PIN is notified when another screen of its issuer replaces it.
func TestAReplacedPINIsSignalled(t *testing.T) {
	t.Parallel()
	url := dbtest.OwnURL(t)
	d, err := db.Open(t.Context(), url, db.Options{MaxConns: 4, Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	hub := live.NewHub(slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go hub.Run(ctx, d)
	s := shopOf(t, d)
	c := s.customer(t)
	for _, show := range []func() walkin.Shown{
		func() walkin.Shown { return s.card(t, c) },
		func() walkin.Shown { return s.shows(t, "till", 100) },
	} {
		old := show()
		changed, end := hub.Subscribe(walkin.Topic(s.by.Tenant.ID, old.ID))
		defer end()
		for enough, told := time.After(30*time.Second), false; !told; {
			p := show() // the hub may not listen yet: only the last one is still open
			select {
			case <-changed:
				told = true
			case <-time.After(200 * time.Millisecond):
				end()
				changed, end = hub.Subscribe(walkin.Topic(s.by.Tenant.ID, p.ID))
			case <-enough:
				t.Fatal("not signalled")
			}
		}
	}
}
