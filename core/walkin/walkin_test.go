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

	"golang.org/x/text/width"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business with a till, at some instant.
type shop struct {
	shoptest.Shop // as its owner
	cashier       core.Actor
	kind          transaction.Type // a point for each whole 1.00
}

func newShop(t *testing.T) shop { return shopIn(t, dbtest.DB(t)) }

func shopIn(t *testing.T, d *db.DB) shop {
	t.Helper()
	s := shop{Shop: shoptest.In(t, d)}
	s.cashier, s.kind = s.As(core.Cashier).By, s.Points(100)
	return s.on(d)
}

// on returns the same shop with another database or clock.
func (s shop) on(d *db.DB) shop {
	s.T.Helper()
	s.Shop = shoptest.Of(s.T, d, s.By)
	return s
}

// after returns the same shop some time later.
func (s shop) after(d time.Duration) shop {
	s.T.Helper()
	return s.on(s.DB.At(s.DB.Now().Add(d)))
}

// card shows a PIN on a customer's card.
func (s shop) card(c customer.Customer) walkin.Shown {
	s.T.Helper()
	shown, err := s.Walkins.ShowCard(s.T.Context(), walkin.Card{Customer: c}.Actor(s.By.Tenant, "192.0.2.7", ""), c.ID)
	s.Check(err)
	return shown
}

func (s shop) take(till string, shown walkin.Shown) walkin.TakenCard {
	s.T.Helper()
	held, err := s.Walkins.TakeCard(s.T.Context(), s.cashier, till, walkin.Key{Digits: shown.Digits})
	s.Check(err)
	return held
}

// sale describes a sale with a PIN.
func (s shop) sale(pin core.ID, cents int64) walkin.Sale {
	return walkin.Sale{Sold: &transaction.Sale{TransactionTypeID: s.kind.ID, SpendAmountCents: cents}, PIN: &pin}
}

// shows has the till show a sale's PIN.
func (s shop) shows(till string, cents int64) walkin.Shown {
	s.T.Helper()
	shown, err := s.Walkins.ShowSale(s.T.Context(), s.cashier, till, walkin.Offer{TransactionTypeID: s.kind.ID, SpendAmountCents: cents}, nil)
	s.Check(err)
	return shown
}

// visitor is a customer with their own phone.
func (s shop) visitor() core.Actor {
	return core.Actor{Kind: core.ByCustomer, Tenant: s.By.Tenant, Address: "192.0.2.9"}
}

func elsa(phone string) walkin.Details {
	return walkin.Details{FirstName: "Elsa", LastName: "Berg", Phone: phone, Agreed: true, Terms: "I agree."}
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
	c := s.Customer()
	for _, key := range []func(walkin.Shown) walkin.Key{
		func(p walkin.Shown) walkin.Key { return walkin.Key{Digits: p.Digits[:3] + " " + p.Digits[3:]} },
		func(p walkin.Shown) walkin.Key { return walkin.Key{Digits: p.Digits[:3] + "\u00a0" + p.Digits[3:]} },
		func(p walkin.Shown) walkin.Key { return walkin.Key{Digits: width.Widen.String(p.Digits)} }, // of a Japanese keyboard
		func(p walkin.Shown) walkin.Key { return walkin.Key{Code: strings.ToLower(p.Code)} },
	} {
		before := s.Account(c.ID).Points
		shown := s.card(c)
		if p, err := s.Walkins.CardProgress(t.Context(), s.By.Tenant, c.ID, shown.ID); err != nil || p.State != walkin.Waiting {
			t.Fatal(p, err)
		}
		held, err := s.Walkins.TakeCard(t.Context(), s.cashier, "till", key(shown))
		if err != nil || held.CustomerID != c.ID {
			t.Fatal(held, err)
		}
		if p, err := s.Walkins.CardProgress(t.Context(), s.By.Tenant, c.ID, shown.ID); err != nil || p.State != walkin.Taken {
			t.Fatal(p, err)
		}
		receipt, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", s.sale(held.PIN, 2450), nil, nil))
		if err != nil || receipt.Sale == nil || receipt.Sale.Source != transaction.POS {
			t.Fatal(receipt, err)
		}
		p, err := s.Walkins.CardProgress(t.Context(), s.By.Tenant, c.ID, shown.ID)
		if err != nil || p.State != walkin.Completed || p.Award != 24 || p.RuleType != ledger.Points {
			t.Fatal(p, err)
		}
		if got := s.Account(c.ID).Points - before; got != 24 {
			t.Errorf("%d points, want 24", got)
		}
	}
}

// "Till shows, customer scans": a new customer is added with their consent, an existing one sees only the
// points. The sale belongs to the cashier who showed it.
func TestAPhoneClaimsTheTillsSale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	known := s.Customer()
	for _, c := range []struct {
		phone string
		isNew bool
	}{{shoptest.Phone(), true}, {known.Phone, false}} {
		shown, browser := s.shows("till", 2450), walkin.NewBrowser()
		peeked, err := s.Walkins.PeekSale(t.Context(), s.By.Tenant, shown.Code)
		if err != nil || peeked.Award != 24 || peeked.SpendAmountCents != 2450 {
			t.Fatal(peeked, err)
		}
		s.Check(s.Walkins.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Code: shown.Code}))
		held, err := s.Walkins.Held(t.Context(), s.By.Tenant, browser)
		if err != nil || held.ID != shown.ID {
			t.Fatal(held, err)
		}
		claimed, err := core.Result(s.Walkins.Claim(t.Context(), s.visitor(), browser, elsa(c.phone), nil))
		if err != nil || claimed.Award != 24 || claimed.New != c.isNew {
			t.Fatal(claimed, err)
		}
		last, err := s.Walkins.LastClaim(t.Context(), s.By.Tenant, browser)
		if err != nil || last.New != c.isNew || (last.Card != nil) != c.isNew || (last.CardToken != "") != c.isNew {
			t.Errorf("%+v, %v", last, err)
		}
		p, err := s.Walkins.TillProgress(t.Context(), s.cashier, "till", shown.ID)
		if err != nil || p.State != walkin.Completed || p.TransactionID == nil {
			t.Fatal(p, err)
		}
		sale, err := s.Sales.Detail(t.Context(), s.By, *p.TransactionID)
		if err != nil || sale.ActorName != s.cashier.Name || sale.Source != transaction.POS {
			t.Errorf("%+v, %v", sale, err)
		}
		if _, err := core.Result(s.Sales.Void(t.Context(), s.cashier, *p.TransactionID, nil, nil)); err != nil {
			t.Errorf("the cashier can't void their own last sale: %v", err)
		}
	}
	if n := s.Count("consent where kind = 'terms' and source = 'claim'"); n != 1 {
		t.Errorf("%d consents, want the new customer's", n)
	}
	if got, err := s.Customers.Find(t.Context(), s.By, known.ID); err != nil || got.FirstName != "Anna" {
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
		card, sale, browser := s.card(s.Customer()), s.shows("till", 100), walkin.NewBrowser()
		later := s.after(c.age)
		_, err := later.Walkins.TakeCard(t.Context(), s.cashier, "till", walkin.Key{Digits: card.Digits})
		if c.good != (err == nil) {
			t.Errorf("a card's after %s: %v", c.age, err)
		}
		if err := later.Walkins.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Digits: sale.Digits}); c.good != (err == nil) {
			t.Errorf("a till's after %s: %v", c.age, err)
		}
		if !c.good {
			wantPIN(t, "expired", err)
			if p, err := later.Walkins.TillProgress(t.Context(), s.cashier, "till", sale.ID); err != nil || p.State != walkin.Expired {
				t.Error(p, err)
			}
		}
	}
}

// "A taken PIN completes one sale within five minutes and none after": it does 5 s before, because the test itself takes a while.
func TestATakenPINCompletesOneSaleWithinFiveMinutes(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Customer()
	held := s.take("till", s.card(c))
	_, err := core.Result(s.after(5*time.Minute+100*time.Millisecond).Walkins.Complete(t.Context(), s.cashier, "till", s.sale(held.PIN, 500), nil, nil))
	wantPIN(t, "after five minutes", err)
	s.Must(core.Result(s.after(5*time.Minute-5*time.Second).Walkins.Complete(t.Context(), s.cashier, "till", s.sale(held.PIN, 500), nil, nil)))
	_, err = core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", s.sale(held.PIN, 500), nil, nil))
	wantPIN(t, "again", err)
	if got := s.Account(c.ID).Points; got != 5 {
		t.Errorf("%d points, want 5", got)
	}
}

// "Two tills and one PIN: one taker, one sale." Only the till that took it completes it.
func TestOneOfManyTillsTakesAPIN(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	c := s.Customer()
	shown := s.card(c)
	var takers, sales atomic.Int64
	dbtest.Race(t, s.DB, s.By.Tenant.ID, holdPIN, shown.ID, 200, func(i int) error {
		till, by := fmt.Sprintf("till %d", i), s.cashier
		by.Address = fmt.Sprintf("198.51.100.%d", i)
		held, err := s.Walkins.TakeCard(t.Context(), by, till, walkin.Key{Digits: shown.Digits})
		if errors.Is(err, walkin.ErrPIN) {
			// The PIN's ID alone is not enough to complete it.
			_, err = core.Result(s.Walkins.Complete(t.Context(), s.cashier, till, s.sale(shown.ID, 1000), nil, nil))
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
			if _, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, till, s.sale(held.PIN, 1000), nil, nil)); err == nil {
				sales.Add(1)
			} else if !errors.Is(err, walkin.ErrPIN) {
				return err
			}
		}
		return nil
	})
	if takers.Load() != 1 || sales.Load() != 1 || s.Account(c.ID).Points != 10 {
		t.Errorf("%d takers, %d sales, %d points", takers.Load(), sales.Load(), s.Account(c.ID).Points)
	}
	clean(t, s)
}

// 200 clicks at one till with the PIN that it took record one sale.
func TestManyPressesCompleteOneSale(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	c := s.Customer()
	held := s.take("till", s.card(c))
	sales := dbtest.Race(t, s.DB, s.By.Tenant.ID, holdPIN, held.PIN, 200, func(int) error {
		_, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", s.sale(held.PIN, 1000), nil, nil))
		return err
	}, walkin.ErrPIN)
	if sales != 1 || s.Account(c.ID).Points != 10 {
		t.Errorf("%d sales, %d points", sales, s.Account(c.ID).Points)
	}
	clean(t, s)
}

// Of two hundred phones that claim one sale, one gets it.
func TestOneOfManyPhonesClaimsASale(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	shown := s.shows("till", 1000)
	var claims atomic.Int64
	dbtest.Race(t, s.DB, s.By.Tenant.ID, holdPIN, shown.ID, 200, func(i int) error {
		browser, by := walkin.NewBrowser(), s.visitor()
		by.Address = fmt.Sprintf("198.51.100.%d", i)
		if err := s.Walkins.TakeSale(t.Context(), by, browser, walkin.Key{Code: shown.Code}); err != nil {
			if errors.Is(err, walkin.ErrPIN) {
				_, err = core.Result(s.Walkins.Claim(t.Context(), by, browser, elsa(shoptest.Phone()), nil))
				if errors.Is(err, walkin.ErrPIN) {
					return nil
				}
			}
			return fmt.Errorf("not taken: %w", err)
		}
		if _, err := core.Result(s.Walkins.Claim(t.Context(), by, browser, elsa(shoptest.Phone()), nil)); err != nil {
			return err
		}
		claims.Add(1)
		return nil
	})
	if claims.Load() != 1 || s.Count("transaction where status = 'completed'") != 1 {
		t.Errorf("%d claims, %d sales", claims.Load(), s.Count("transaction where status = 'completed'"))
	}
	clean(t, s)
}

// "A refused sale can be corrected and completed": the PIN stays taken.
func TestARefusedSaleCanBeCorrected(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Customer()
	held := s.take("till", s.card(c))
	wrong := s.sale(held.PIN, -1)
	if _, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", wrong, nil, nil)); !core.IsKind(err, core.KindInvalid) {
		t.Fatalf("a negative amount: %v", err)
	}
	s.Must(core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", s.sale(held.PIN, 700), nil, nil)))

	browser := walkin.NewBrowser()
	shown := s.shows("till", 700)
	s.Check(s.Walkins.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Digits: shown.Digits}))
	refused := elsa(shoptest.Phone())
	refused.FirstName, refused.Agreed = "", false
	_, err := core.Result(s.Walkins.Claim(t.Context(), s.visitor(), browser, refused, nil))
	var fields *core.Error
	if !errors.As(err, &fields) || len(fields.Fields["first_name"]) == 0 || len(fields.Fields["agreed"]) == 0 {
		t.Fatalf("a new customer without a name: %v", err)
	}
	s.Must(core.Result(s.Walkins.Claim(t.Context(), s.visitor(), browser, elsa(refused.Phone), nil)))
}

// "One live PIN per issuer, a new one replaces it", also for two concurrent requests.
func TestANewPINReplacesTheOldOne(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	c := s.Customer()
	first := s.card(c)
	second := s.card(c)
	_, err := s.Walkins.TakeCard(t.Context(), s.cashier, "till", walkin.Key{Digits: first.Digits})
	wantPIN(t, "replaced", err)
	if p, err := s.Walkins.CardProgress(t.Context(), s.By.Tenant, c.ID, first.ID); err != nil || p.State != walkin.Replaced {
		t.Error(p, err)
	}
	s.take("till", second)

	shown := s.shows("one till", 100)
	dbtest.Race(t, s.DB, s.By.Tenant.ID, holdPIN, shown.ID, 50, func(int) error {
		_, err := s.Walkins.ShowSale(t.Context(), s.cashier, "one till", walkin.Offer{TransactionTypeID: s.kind.ID, SpendAmountCents: 100}, nil)
		if core.IsKind(err, core.KindUnavailable) {
			return nil // others kept replacing it
		}
		return err
	})
	if n := s.Count("pin where issuer = 'till one till' and status = 'open'"); n != 1 {
		t.Errorf("%d open PINs of one till, want 1", n)
	}
}

// "The two directions never mix."
func TestTheDirectionsNeverMix(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	card, sale := s.card(s.Customer()), s.shows("till", 100)
	_, err := s.Walkins.TakeCard(t.Context(), s.cashier, "till", walkin.Key{Digits: sale.Digits})
	wantPIN(t, "a till takes a till's", err)
	wantPIN(t, "a phone takes a card's", s.Walkins.TakeSale(t.Context(), s.visitor(), walkin.NewBrowser(), walkin.Key{Code: card.Code}))
	_, err = s.Walkins.PeekSale(t.Context(), s.By.Tenant, card.Code)
	wantPIN(t, "a phone looks at a card's", err)
}

// "Opening its URL takes nothing": a viewed sale can still be taken.
func TestPeekingTakesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	shown := s.shows("till", 100)
	for range 3 {
		s.Must(s.Walkins.PeekSale(t.Context(), s.By.Tenant, shown.Code))
	}
	if p, err := s.Walkins.TillProgress(t.Context(), s.cashier, "till", shown.ID); err != nil || p.State != walkin.Waiting {
		t.Error(p, err)
	}
}

// Another tenant's PIN is refused like an invented one.
func TestPINsOfOtherTenantsAreWrong(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	card, sale := s.card(s.Customer()), s.shows("till", 100)
	for _, k := range []walkin.Key{{Digits: card.Digits}, {Code: card.Code}} {
		_, err := other.Walkins.TakeCard(t.Context(), other.cashier, "till", k)
		wantPIN(t, "another tenant's card", err)
	}
	wantPIN(t, "another tenant's sale", other.Walkins.TakeSale(t.Context(), other.visitor(), walkin.NewBrowser(), walkin.Key{Code: sale.Code}))
	if _, err := other.Walkins.TillProgress(t.Context(), other.cashier, "till", sale.ID); !errors.Is(err, core.ErrNotFound) {
		t.Error(err)
	}
	held := s.take("till", card)
	_, err := core.Result(other.Walkins.Complete(t.Context(), other.cashier, "till", other.sale(held.PIN, 100), nil, nil))
	wantPIN(t, "completed by another tenant", err)
}

// "Brute force of 10,000 guesses finds nothing and is stopped, and stops no signed-in cashier." Each wrong
// guess that was not throttled is in the audit log.
func TestGuessingIsStopped(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	shown, card := s.shows("till", 100), s.card(s.Customer())
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
				err := s.Walkins.TakeSale(t.Context(), by, walkin.NewBrowser(), walkin.Key{Digits: digits})
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
	if n := s.Count("audit_entry where action = 'pin.refuse'"); n != wrong.Load() {
		t.Errorf("%d refusals in the audit log, want %d", n, wrong.Load())
	}
	held := s.take("till", card) // the cashier is not held up
	if _, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", s.sale(held.PIN, 100), nil, nil)); err != nil {
		t.Error(err)
	}
	// A customer with a camera isn't throttled either.
	if err := s.Walkins.TakeSale(t.Context(), s.visitor(), walkin.NewBrowser(), walkin.Key{Code: shown.Code}); err != nil {
		t.Error(err)
	}
}

// Only the cashier's own session is limited, and right PINs don't count.
func TestACashiersGuessesAreLimited(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for range 30 {
		s.take("busy till", s.card(s.Customer()))
	}
	for range 20 {
		_, err := s.Walkins.TakeCard(t.Context(), s.cashier, "till", walkin.Key{Digits: "000000"})
		wantPIN(t, "wrong", err)
	}
	_, err := s.Walkins.TakeCard(t.Context(), s.cashier, "till", walkin.Key{Digits: s.card(s.Customer()).Digits})
	var throttled *core.Error
	if !errors.As(err, &throttled) || throttled.Kind != core.KindThrottled || throttled.Wait <= 0 {
		t.Fatalf("the 21st: %v", err)
	}
	s.take("other till", s.card(s.Customer()))
	for i := range 80 { // by other sessions from one address
		_, err := s.Walkins.TakeCard(t.Context(), s.cashier, fmt.Sprint("till ", i), walkin.Key{Digits: "000000"})
		wantPIN(t, "wrong", err)
	}
	if _, err := s.Walkins.TakeCard(t.Context(), s.cashier, "new till", walkin.Key{Digits: "000000"}); !core.IsKind(err, core.KindThrottled) {
		t.Errorf("the 101st from one address: %v", err)
	}
}

// What can't be a PIN is no guess: not at the till, and not on a customer's phone.
func TestWhatIsNoPINIsNoGuess(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	browser := walkin.NewBrowser()
	for _, k := range []walkin.Key{
		{Digits: "7350053850019"},
		{Digits: "4711"},
		{Digits: "12345a"},
		{Digits: "12 34 567"},
		{Digits: ""},
		{Code: "NOT-A-CODE"},
		{Code: "4711"},
		{Code: strings.Repeat("U", 26)},
		{Code: strings.Repeat("0", 27)},
	} {
		for range 25 { // more than the guesses of a till and of a phone
			if _, err := s.Walkins.TakeCard(t.Context(), s.cashier, "till", k); !errors.Is(err, walkin.ErrNotPIN) {
				t.Fatalf("%+v at the till: %v", k, err)
			}
			if err := s.Walkins.TakeSale(t.Context(), s.visitor(), browser, k); !errors.Is(err, walkin.ErrNotPIN) {
				t.Fatalf("%+v on a phone: %v", k, err)
			}
		}
	}
	if n := s.Count("audit_entry where action = 'pin.refuse'"); n != 0 {
		t.Errorf("%d refusals are in the audit log", n)
	}
	s.take("till", s.card(s.Customer()))
	s.Check(s.Walkins.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Digits: s.shows("till", 100).Digits}))
}

// A PIN is six digits, however they are written.
func TestAPINIsReadAsMeant(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	fullWidth := strings.NewReplacer("0", "０", "1", "１", "2", "２", "3", "３", "4", "４", "5", "５", "6", "６", "7", "７", "8", "８", "9", "９")
	for _, written := range []func(string) string{
		func(d string) string { return d[:3] + " " + d[3:] },
		func(d string) string { return " " + d[:3] + "\u00a0" + d[3:] + "\u2009" },
		fullWidth.Replace,
	} {
		digits := written(s.card(s.Customer()).Digits)
		if _, err := s.Walkins.TakeCard(t.Context(), s.cashier, "till", walkin.Key{Digits: digits}); err != nil {
			t.Errorf("%q: %v", digits, err)
		}
		digits = written(s.shows("till", 100).Digits)
		if err := s.Walkins.TakeSale(t.Context(), s.visitor(), walkin.NewBrowser(), walkin.Key{Digits: digits}); err != nil {
			t.Errorf("%q on a phone: %v", digits, err)
		}
	}
}

// "Only keyed hashes are stored": neither the row nor the audit log contains the digits or the code.
func TestOnlyHashesAreStored(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	shown := s.card(s.Customer())
	s.take("till", shown)
	for _, from := range []string{
		"select string_agg(p::text, ' ') from loyalty.pin p where tenant_id = $1",
		"select string_agg(a.new::text, ' ') from loyalty.audit_entry a where tenant_id = $1 and action like 'pin.%'",
	} {
		stored := shoptest.Query[string](s.Shop, from, s.By.Tenant.ID)
		if strings.Contains(stored, shown.Digits) || strings.Contains(strings.ToUpper(stored), shown.Code) {
			t.Errorf("stored in plain: %s", stored)
		}
	}
}

// "Every issue, taking, use and refusal is in the audit log."
func TestTheAuditLogHasEveryStep(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	held := s.take("till", s.card(s.Customer()))
	s.Must(core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", s.sale(held.PIN, 100), nil, nil)))
	shown := s.shows("till", 100)
	s.Check(s.Walkins.Cancel(t.Context(), s.cashier, "till", shown.ID))
	wantPIN(t, "cancelled", s.Walkins.TakeSale(t.Context(), s.visitor(), walkin.NewBrowser(), walkin.Key{Code: shown.Code}))
	for action, want := range map[string]int64{"pin.issue": 2, "pin.take": 1, "pin.use": 1, "pin.cancel": 1, "pin.refuse": 1} {
		if n := s.Count("audit_entry where action = '" + action + "'"); n != want {
			t.Errorf("%d entries %s, want %d", n, action, want)
		}
	}
}

// A new customer gets offers only with their consent. An existing one learns nothing: the link goes to the
// stored address.
func TestJoin(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	d := elsa(shoptest.Phone())
	d.Email = "elsa" + core.NewID(s.DB.Now()).String() + "@example.com"
	joined, err := core.Result(s.Walkins.Join(t.Context(), s.visitor(), d, nil))
	if err != nil || !joined.New {
		t.Fatal(joined, err)
	}
	w, err := s.Walkins.OpenCard(t.Context(), s.By.Tenant, joined.CardToken)
	if err != nil || w.FirstName != "Elsa" || w.UnsubscribedAt == nil {
		t.Fatalf("%+v, %v", w, err)
	}
	again, err := core.Result(s.Walkins.Join(t.Context(), s.visitor(), walkin.Details{FirstName: "Mallory", LastName: "M", Phone: d.Phone, Agreed: true, Terms: "I agree."}, nil))
	if err != nil || again.New || again.CardToken != "" || !again.Mailed {
		t.Errorf("%+v, %v", again, err)
	}
	for range 5 {
		if err := s.Walkins.MailCard(t.Context(), s.visitor(), d.Email); err != nil {
			t.Error(err)
		}
	}
	if err := s.Walkins.MailCard(t.Context(), s.visitor(), "070 999 99 99"); err != nil {
		t.Errorf("an unknown number: %v", err)
	}
	mails := shoptest.Query[int64](s.Shop, "select count(*) from loyalty.mail where recipient = $1", d.Email)
	if mails != 3 {
		t.Errorf("%d mails to one customer within an hour, want 3", mails)
	}
	offers := elsa(shoptest.Phone())
	offers.Offers = "Send me offers by e-mail"
	if joined, err = core.Result(s.Walkins.Join(t.Context(), s.visitor(), offers, nil)); err != nil {
		t.Fatal(err)
	}
	if w, err = s.Walkins.OpenCard(t.Context(), s.By.Tenant, joined.CardToken); err != nil || w.UnsubscribedAt != nil {
		t.Errorf("%+v, %v", w, err)
	}
	refused := elsa(shoptest.Phone())
	refused.Agreed = false
	if _, err := core.Result(s.Walkins.Join(t.Context(), s.visitor(), refused, nil)); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("without agreeing: %v", err)
	}
}

// Recent customers are suggested, and the last digits of a phone number find a customer.
func TestFindingAtTheTill(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	a, b := s.Customer(), s.Customer()
	for _, c := range []customer.Customer{a, b, a} {
		if _, err := core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", walkin.Sale{CustomerID: c.ID, Sold: &transaction.Sale{TransactionTypeID: s.kind.ID, SpendAmountCents: 100}}, nil, nil)); err != nil {
			t.Fatal(err)
		}
		dbtest.Tick(s.DB)
	}
	recent, err := s.Walkins.Recent(t.Context(), s.cashier, nil)
	if err != nil || len(recent) != 2 || recent[0].ID != a.ID || recent[1].ID != b.ID {
		t.Errorf("recent: %+v, %v", recent, err)
	}
	if late, err := s.after(4*time.Hour).Walkins.Recent(t.Context(), s.cashier, nil); err != nil || len(late) != 0 {
		t.Errorf("four hours later: %+v, %v", late, err)
	}
	for typed, want := range map[string]bool{a.Phone: true, a.Phone[len(a.Phone)-4:]: true, a.Phone[len(a.Phone)-6:]: true, "9999": false} {
		found, _, err := s.Walkins.FindCustomers(t.Context(), s.cashier, typed)
		s.Check(err)
		if got := slices.ContainsFunc(found, func(c customer.Customer) bool { return c.ID == a.ID }); got != want {
			t.Errorf("%q finds %v", typed, found)
		}
	}
	if _, _, err := s.Walkins.FindCustomers(t.Context(), s.cashier, "123"); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("three digits: %v", err)
	}
}

// The clean-up job deletes old PINs of all tenants.
func TestOldPINsAreDeleted(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	s.card(s.Customer())
	if err := s.after(59 * time.Minute).Walkins.DeleteOldPINs(t.Context()); err != nil || s.Count("pin") != 1 {
		t.Fatal(err)
	}
	if err := s.after(61 * time.Minute).Walkins.DeleteOldPINs(t.Context()); err != nil || s.Count("pin") != 0 {
		t.Fatal(err)
	}
	_, err := db.In(t.Context(), s.DB.Tenant(s.cashier), func(tx *db.Tx) (int64, error) {
		return db.One[int64](t.Context(), tx, "select loyalty.forget_pins(@now, 10)", db.Args{"now": tx.Now})
	})
	if err == nil {
		t.Error("a tenant's own transaction deleted the PINs of all")
	}
}

// holdPIN locks a PIN until all calls wait for it.
const holdPIN = `select from loyalty.pin where tenant_id = $1 and id = $2 for update`

// clean runs verify on a test's own database.
func clean(t *testing.T, s shop) {
	t.Helper()
	if n := s.Count("pin where status = 'used' and transaction_id is null"); n != 0 {
		t.Errorf("%d PINs were completed without a sale", n)
	}
	s.Verify()
}

// A cashier who renews or cancels a PIN takes it back even from a phone, so that the sale can't be claimed
// twice. A claimed sale stays.
func TestATillTakesItsPINBack(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for what, back := range map[string]func(walkin.Shown) error{
		"renewed": func(p walkin.Shown) error {
			_, err := s.Walkins.Renew(t.Context(), s.cashier, "till", p.ID)
			return err
		},
		"cancelled": func(p walkin.Shown) error { return s.Walkins.Cancel(t.Context(), s.cashier, "till", p.ID) },
	} {
		shown, browser := s.shows("till", 100), walkin.NewBrowser()
		s.Check(s.Walkins.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Code: shown.Code}))
		if err := back(shown); err != nil {
			t.Fatal(what, err)
		}
		_, err := core.Result(s.Walkins.Claim(t.Context(), s.visitor(), browser, elsa(shoptest.Phone()), nil))
		wantPIN(t, what, err)
	}
	if n := s.Count("transaction"); n != 0 {
		t.Errorf("%d sales", n)
	}
	shown, browser := s.shows("till", 100), walkin.NewBrowser()
	s.Check(s.Walkins.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Code: shown.Code}))
	s.Must(core.Result(s.Walkins.Claim(t.Context(), s.visitor(), browser, elsa(shoptest.Phone()), nil)))
	if _, err := s.Walkins.Renew(t.Context(), s.cashier, "till", shown.ID); !errors.Is(err, walkin.ErrCompleted) {
		t.Errorf("renewed after it was collected: %v", err)
	}
	if err := s.Walkins.Cancel(t.Context(), s.cashier, "till", shown.ID); err != nil {
		t.Error(err)
	}
	if p, err := s.Walkins.TillProgress(t.Context(), s.cashier, "till", shown.ID); err != nil || p.State != walkin.Completed {
		t.Errorf("cancelled after it was collected: %v, %v", p.State, err)
	}
	if _, err := s.Walkins.Renew(t.Context(), s.cashier, "other till", shown.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("renewed by another till: %v", err)
	}
}

// Two hundred times, a phone claims a sale while the till renews its PIN: each sale is recorded once, and a
// claimed sale gets no new PIN.
func TestCollectingWhileTheTillRenews(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for range 200 {
		shown, browser := s.shows("till", 100), walkin.NewBrowser()
		s.Check(s.Walkins.TakeSale(t.Context(), s.visitor(), browser, walkin.Key{Code: shown.Code}))
		var claimed, renewed error
		var both sync.WaitGroup
		both.Go(func() {
			_, claimed = core.Result(s.Walkins.Claim(t.Context(), s.visitor(), browser, elsa(shoptest.Phone()), nil))
		})
		both.Go(func() { _, renewed = s.Walkins.Renew(t.Context(), s.cashier, "till", shown.ID) })
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
	s := shopIn(t, d)
	c := s.Customer()
	for _, show := range []func() walkin.Shown{
		func() walkin.Shown { return s.card(c) },
		func() walkin.Shown { return s.shows("till", 100) },
	} {
		old := show()
		changed, end := hub.Subscribe(walkin.Topic(s.By.Tenant.ID, old.ID))
		defer end()
		for enough, told := time.After(30*time.Second), false; !told; {
			p := show() // the hub may not listen yet: only the last one is still open
			select {
			case <-changed:
				told = true
			case <-time.After(200 * time.Millisecond):
				end()
				changed, end = hub.Subscribe(walkin.Topic(s.By.Tenant.ID, p.ID))
			case <-enough:
				t.Fatal("not signalled")
			}
		}
	}
}
