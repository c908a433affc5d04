// Package walkin sells to customers at the till (specification §3, decisions §8): a PIN that
// one side shows and the other takes, the sale that completes it, and joining.
//
// There are two directions, and they never mix. A customer's card shows a PIN and the till
// takes it, or the till shows a sale's PIN and a customer's phone takes it. Either way a PIN
// is taken once, within 90 seconds, by one conditional update, and completed once, within
// five minutes, in the transaction that records the sale.
//
// Its surprising rule: a wrong PIN is an outcome and no error. Its entry in the audit log is
// committed, and only then it is refused.
package walkin

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/core/vault"
)

// How long a PIN may be taken, and how long its taker has to complete a sale.
const (
	Lifetime       = 90 * time.Second
	CompleteWithin = 5 * time.Minute
)

// ErrPIN refuses a PIN that is wrong, used or expired, with one and the same message
// (decisions §8).
var ErrPIN = core.Refuse("pin-invalid", "This PIN is wrong, used or expired. Ask for a new one.")

// cardLetters is how many mails with the link to their card a customer gets an hour.
const cardLetters = 3

// Service shows, takes and completes PINs.
type Service struct {
	db    *db.DB
	mails *mail.Service
	keys  vault.Keys
	links link.Maker
	sales *transaction.Service
	guesses
	letters *limit.Window // by customer: others may ask for their mail
	meter   *usage.Meter
}

// NewService makes the service and registers its job. addressKey is what client addresses
// are counted by.
func NewService(d *db.DB, jobs *job.Queue, mails *mail.Service, keys vault.Keys, sales *transaction.Service, addressKey func(string) string) *Service {
	s := &Service{db: d, mails: mails, keys: keys, links: link.New(keys), sales: sales, guesses: newGuesses(addressKey, d.Now), letters: limit.NewWindow(cardLetters, time.Hour, d.Now), meter: usage.NewMeter(d)}
	job.Handle(jobs, job.Upkeep, s.cleanUp)
	job.Every(jobs, river.PeriodicInterval(10*time.Minute), cleanup{})
	return s
}

// direction says who shows a PIN.
type direction string

const (
	fromCard direction = "card" // a customer's card; a till takes it
	fromTill direction = "till" // a till; a customer's browser takes it
)

// Key names a PIN: by the digits that were typed, or by the code in its QR code.
type Key struct {
	Digits string // six; spaces between them don't matter
	Code   string // 26 letters
}

// Shown is a PIN as its issuer shows it. Digits and Code are known only at this moment: the
// database has keyed hashes of them.
type Shown struct {
	ID        core.ID
	Digits    string
	Code      string
	ExpiresAt time.Time
}

// State says how far a PIN has come.
type State string

// The states. A PIN ends as completed, replaced, cancelled or expired.
const (
	Waiting   State = "waiting" // to be taken
	Taken     State = "taken"   // its taker may complete a sale
	Completed State = "completed"
	Replaced  State = "replaced" // by a newer one of its issuer
	Cancelled State = "cancelled"
	Expired   State = "expired" // not taken in time, or not completed in time, or long gone
)

// Final reports whether a PIN in that state changes no more.
func (s State) Final() bool { return s != Waiting && s != Taken }

// Topic is what a PIN's changes are signalled under.
func Topic(t core.TenantID, pin core.ID) string {
	return "pin " + strconv.FormatInt(int64(t), 10) + " " + hex.EncodeToString(pin[:])
}

// pin is a PIN to be shown.
type pin struct {
	direction direction
	issuer    string
	customer  *core.ID
	offer     offer
}

// tries is how many PINs are drawn at once: a number that lives already is skipped. Of a
// million, even a busy tenant's live ones are few.
const tries = 8

// issue replaces the issuer's open PIN by a new one. Two round trips.
func (s *Service) issue(ctx context.Context, tx *db.Tx, by core.Actor, p pin) (Shown, error) {
	shown := Shown{ID: core.NewID(tx.Now), Code: randomText(), ExpiresAt: tx.Now.Add(Lifetime)}
	code, err := s.hash("code", tx.Tenant, shown.Code)
	if err != nil {
		return Shown{}, err
	}
	byHash, hashes := map[string]string{}, make([][]byte, tries)
	for i := range hashes {
		digits, err := randomDigits()
		if err != nil {
			return Shown{}, err
		}
		if hashes[i], err = s.hash("pin", tx.Tenant, digits); err != nil {
			return Shown{}, err
		}
		byHash[string(hashes[i])] = digits
	}
	for range 3 {
		var replaced []pinID
		var issued issuedPIN
		err := db.Together(ctx, tx, db.AllInto(&replaced, replaceSQL, db.Args{"issuer": p.issuer, "now": tx.Now}), db.OneInto(&issued, issueSQL, db.Args{
			"id": shown.ID, "direction": p.direction, "issuer": p.issuer, "hashes": hashes, "code_hash": code,
			"customer": p.customer, "type": p.offer.typeID, "spend": p.offer.spend, "location": p.offer.location,
			"actor_id": by.ID, "actor_name": p.offer.cashier, "now": tx.Now, "expires_at": shown.ExpiresAt,
		}))
		for _, old := range replaced { // its page hears of it
			live.Notify(tx, Topic(tx.Tenant, old.ID))
		}
		if errors.Is(err, core.ErrNotFound) {
			continue // the same issuer showed another at this instant: replace that one
		}
		if err != nil {
			return Shown{}, err
		}
		shown.Digits = byHash[string(issued.PINHash)]
		return shown, s.logAndSignal(tx, by, "pin.issue", shown.ID, map[string]any{"shown_by": p.direction})
	}
	return Shown{}, core.Unavailable(errBusyIssuer)
}

type pinID struct{ ID core.ID }

// issuedPIN is which of the PINs that were drawn is used.
type issuedPIN struct{ PINHash []byte }

var errBusyIssuer = errors.New("walkin: the issuer keeps showing other PINs")

// takenPIN is a PIN that a till or a phone holds.
type takenPIN struct {
	ID             core.ID
	CustomerID     *core.ID
	CompleteBefore time.Time
}

// take binds a PIN to its taker, who may take it again: a form that is sent twice has one
// effect. One conditional update, so one of several takers gets it. What is refused is in
// the audit log by the time it is refused. Two round trips.
func (s *Service) take(ctx context.Context, by core.Actor, d direction, taker string, k Key) (takenPIN, error) {
	by = withAuditName(by)
	if err := s.admit(by, d, taker, k); err != nil {
		return takenPIN{}, err
	}
	statement, what, text := takeCodeSQL, "code", strings.ToUpper(k.Code)
	if k.Code == "" {
		statement, what, text = takeDigitsSQL, "pin", strings.Join(strings.Fields(k.Digits), "")
	}
	hashes, err := s.hashes(what, by.Tenant.ID, text)
	if err != nil {
		return takenPIN{}, err
	}
	found, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (*takenPIN, error) {
		found, err := db.One[takenPIN](ctx, tx, statement, db.Args{
			"direction": d, "hashes": hashes, "taker": taker, "now": tx.Now, "complete_before": tx.Now.Add(CompleteWithin),
		})
		if errors.Is(err, core.ErrNotFound) {
			return nil, audit.Write(tx, by, audit.Entry{
				Action: "pin.refuse", Subject: "pin", New: map[string]any{"shown_by": d, "by": what},
			})
		}
		if err != nil {
			return nil, err
		}
		return &found, s.logAndSignal(tx, by, "pin.take", found.ID, map[string]any{"shown_by": d})
	})
	if err != nil {
		return takenPIN{}, err
	}
	if found == nil {
		return takenPIN{}, ErrPIN
	}
	s.succeeded(by, d, taker, k)
	return *found, nil
}

// withAuditName is an actor with a name for the audit log. Of a visitor none is known yet.
func withAuditName(by core.Actor) core.Actor {
	if by.Name == "" {
		by.Name = "A visitor"
	}
	return by
}

// logAndSignal writes into the audit log and signals the pages that show the PIN.
func (s *Service) logAndSignal(tx *db.Tx, by core.Actor, action string, pin core.ID, facts map[string]any) error {
	live.Notify(tx, Topic(tx.Tenant, pin))
	return audit.Write(tx, by, audit.Entry{Action: action, Subject: "pin", ID: pin.String(), New: facts})
}

// Progress is how far a PIN has come.
type Progress struct {
	ID        core.ID
	State     State
	ExpiresAt time.Time // of a waiting one

	// Of a till's.
	TransactionTypeID *int64
	SpendAmountCents  *int64
	LocationID        *int64

	// Of a completed one; TransactionID is nil where only rewards or vouchers were redeemed.
	TransactionID *core.ID
	CustomerID    *core.ID
	CustomerName  string
	Award         int64
	RuleType      transaction.RuleType
}

// CardProgress returns how far a PIN of a customer's card has come, or core.ErrNotFound. One
// round trip.
func (s *Service) CardProgress(ctx context.Context, t core.Tenant, customer, pin core.ID) (Progress, error) {
	return s.progress(ctx, core.System(t, "card page"), cardIssuer(customer), pin)
}

// TillProgress returns how far a PIN that this till shows has come, or core.ErrNotFound. One
// round trip.
func (s *Service) TillProgress(ctx context.Context, by core.Actor, till string, pin core.ID) (Progress, error) {
	return s.progress(ctx, by, tillIssuer(till), pin)
}

func (s *Service) progress(ctx context.Context, by core.Actor, issuer string, pin core.ID) (Progress, error) {
	return db.ReadOne[Progress](ctx, s.db, by, progressSQL, db.Args{"id": pin, "issuer": issuer, "now": s.db.Now()})
}

// Cancel takes back a PIN that this till shows, also from a phone that has taken it: the
// cashier goes on without it. One that is over stays as it is. Two round trips.
func (s *Service) Cancel(ctx context.Context, by core.Actor, till string, pin core.ID) error {
	_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int64, error) {
		n, err := db.Exec(ctx, tx, cancelSQL, db.Args{"id": pin, "issuer": tillIssuer(till), "now": tx.Now})
		if err != nil || n == 0 {
			return n, err
		}
		return n, s.logAndSignal(tx, by, "pin.cancel", pin, nil)
	})
	return err
}

func cardIssuer(customer core.ID) string { return "card " + customer.String() }

func tillIssuer(till string) string { return "till " + till }

// hash is what is stored of a PIN's digits or code.
func (s *Service) hash(what string, t core.TenantID, text string) ([]byte, error) {
	return s.keys.Sign(what, hashed(t, text))
}

// hashes are what may be stored of it: a secret that was replaced counts until its PINs end.
func (s *Service) hashes(what string, t core.TenantID, text string) ([][]byte, error) {
	return s.keys.Signatures(what, hashed(t, text))
}

func hashed(t core.TenantID, text string) string {
	return strconv.FormatInt(int64(t), 10) + " " + text
}

var million = big.NewInt(1_000_000)

func randomDigits() (string, error) {
	n, err := rand.Int(rand.Reader, million)
	if err != nil {
		return "", fmt.Errorf("walkin: %w", err)
	}
	return fmt.Sprintf("%06d", n), nil
}

// sorted are the ids in order, each once.
func sorted(ids []core.ID) []core.ID {
	list := slices.SortedFunc(slices.Values(ids), func(a, b core.ID) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(list)
}

// Crockford's alphabet, as ULIDs have it.
var encoding = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// randomText is 128 random bits in 26 letters and digits.
func randomText() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails
	return encoding.EncodeToString(bits[:])
}

// NewBrowser is a random value that tells a customer's browser from others.
func NewBrowser() string { return randomText() }

// cleanup is the job that deletes PINs of which the audit log has the rest.
type cleanup struct{}

// Kind names the job in the queue.
func (cleanup) Kind() string { return "forget_pins" }

// kept is how long the state of a PIN can be asked for.
const kept = time.Hour

func (s *Service) cleanUp(ctx context.Context, _ cleanup) error {
	return job.Drain(ctx, s.db, "walk-in PINs", func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.Value[int64](ctx, tx, forgetSQL, db.Args{"before": tx.Now.Add(-kept), "up_to": job.Batch})
	})
}

// guesses count wrong PINs. They are counted in this process.
type guesses struct {
	addressKey func(string) string

	tills     *limit.Window // by the cashier's session: guesses of others don't stop a cashier
	counters  *limit.Window // of cashiers, by address: a new session isn't a new beginning
	browsers  *limit.Window
	addresses *limit.Window
	tenants   *limit.Window
	codes     *limit.Window // by address
}

// How many wrong PINs are taken within guessTime. Where one PIN is waiting at every moment,
// guessing as often as a tenant allows finds one in ten weeks on average.
const (
	guessTime      = 5 * time.Minute
	tillGuesses    = 20
	counterGuesses = 100
	clientGuesses  = 10
	tenantGuesses  = 50
	wrongCodes     = 60
)

func newGuesses(addressKey func(string) string, now func() time.Time) guesses {
	window := func(n int) *limit.Window { return limit.NewWindow(n, guessTime, now) }
	return guesses{
		addressKey: addressKey,
		tills:      window(tillGuesses), counters: window(counterGuesses), browsers: window(clientGuesses), addresses: window(clientGuesses), tenants: window(tenantGuesses),
		codes: window(wrongCodes),
	}
}

// counts are the windows that a guess counts in. The code in a QR code can't be guessed and
// has a generous window of its own: customers with a camera aren't held up by those who type.
func (g guesses) counts(by core.Actor, d direction, taker string, k Key) map[*limit.Window]string {
	tenant := strconv.FormatInt(int64(by.Tenant.ID), 10) + " "
	if d == fromCard {
		return map[*limit.Window]string{g.tills: tenant + taker, g.counters: tenant + g.addressKey(by.Address)}
	}
	if k.Code != "" {
		return map[*limit.Window]string{g.codes: tenant + g.addressKey(by.Address)}
	}
	return map[*limit.Window]string{g.browsers: tenant + taker, g.addresses: tenant + g.addressKey(by.Address), g.tenants: tenant}
}

// admit counts a guess, or refuses it. A guess that turns out right is given back.
func (g guesses) admit(by core.Actor, d direction, taker string, k Key) error {
	counted := map[*limit.Window]string{}
	for window, caller := range g.counts(by, d, taker, k) {
		v := window.Take(caller)
		if v.Allowed {
			counted[window] = caller
			continue
		}
		for window, caller := range counted {
			window.Refund(caller)
		}
		minutes := int64((v.Wait + time.Minute - 1) / time.Minute)
		in := "a minute"
		if minutes > 1 {
			in = strconv.FormatInt(minutes, 10) + " minutes"
		}
		return &core.Error{Kind: core.KindThrottled, Message: "Too many wrong PINs. Scan the QR code, or try again in " + in + ".", Wait: v.Wait}
	}
	return nil
}

func (g guesses) succeeded(by core.Actor, d direction, taker string, k Key) {
	for window, caller := range g.counts(by, d, taker, k) {
		window.Refund(caller)
	}
}
