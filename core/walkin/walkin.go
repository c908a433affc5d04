// Package walkin is for sales to customers at the till (specification §3, decisions §8): PINs, the sales
// that complete them, customers' cards, and joining.
//
// There are two directions, which never mix. Either a customer's card shows a PIN and the till takes it,
// or the till shows a sale's PIN and a customer's phone takes it. A PIN is taken once, within 90 seconds,
// by a conditional update. It is completed once, within five minutes, in the transaction that records the
// sale.
//
// Its surprising rule: a wrong PIN doesn't roll back the transaction, because its entry in the audit log
// must be committed before it is refused.
package walkin

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/usage"
	"example.com/loyalty/core/vault"
)

// How long a PIN can be taken, and how long its taker has to complete a sale.
const (
	Lifetime       = 90 * time.Second
	CompleteWithin = 5 * time.Minute
)

// ErrPIN refuses a wrong, used or expired PIN with the same message (decisions §8).
var ErrPIN = core.Refuse("pin-invalid", "This PIN is wrong, used or expired. Ask for a new one.")

// ErrNotPIN refuses what can't be a PIN. It is no guess.
var ErrNotPIN = &core.Error{Kind: core.KindRule, Message: "A PIN has 6 digits. Check it and try again."}

// How many PINs a card may show within showTime. A renewal a minute needs a quarter of them.
const (
	showsPerCard = 20
	showTime     = 5 * time.Minute
)

// Service shows, takes and completes PINs.
type Service struct {
	db    *db.DB
	mails Mails
	keys  vault.Keys
	links link.Maker
	sales *transaction.Service
	guesses
	cardMails mailings
	shows     *limit.Window // of PINs, by card
	meter     *usage.Meter
}

// NewService makes the service and registers its job. addressKey returns the key by which a client address
// is counted.
func NewService(d *db.DB, jobs *job.Queue, mails Mails, keys vault.Keys, sales *transaction.Service, addressKey func(string) string) *Service {
	s := &Service{
		db: d, mails: mails, keys: keys, links: link.New(keys), sales: sales, guesses: newGuesses(addressKey, d.Now),
		cardMails: newMailings(d.Now), shows: limit.NewWindow(showsPerCard, showTime, d.Now), meter: usage.NewMeter(d),
	}
	job.Handle(jobs, job.Upkeep, s.deleteOldPINs)
	job.Every(jobs, 10*time.Minute, deleteOldPINs{})
	return s
}

// At returns the service at another time, for sales that are dated in the past.
func (s *Service) At(instant time.Time) *Service {
	then := *s
	then.db, then.sales = s.db.At(instant), s.sales.At(instant)
	return &then
}

// ShareMeter has the service count customers by the process's meter. It must be called before the service is used.
func (s *Service) ShareMeter(m *usage.Meter) { s.meter = m }

// ShareLimits lets wrong PINs, PINs of cards and mails of cards count in Redis, if r isn't nil. It must be called before
// the service is used.
func (s *Service) ShareLimits(r *limit.Redis) {
	s.cardMails.share(r)
	s.shows.Shared(r, "card-pin")
	for name, w := range map[string]*limit.Window{
		"till": s.tills, "counter": s.counters, "browser": s.browsers, "client": s.addresses, "tenant": s.tenants, "code": s.codes,
	} {
		w.Shared(r, "pin-"+name)
	}
}

// direction says who shows a PIN.
type direction string

const (
	fromCard direction = "card" // a customer's card, for a till
	fromTill direction = "till" // a till, for a customer's browser
)

// Key identifies a PIN by its typed digits or by the code in its QR code.
type Key struct {
	Digits string // six, of any script and possibly in groups
	Code   string // 26 letters and digits; if it isn't empty, Digits don't matter
}

// normal returns the key as it was issued, or ErrNotPIN if it can't have been.
func (k Key) normal() (Key, error) {
	if k.Code != "" {
		k = Key{Code: normaliseCode(k.Code)}
		if !IsCode(k.Code) {
			return Key{}, ErrNotPIN
		}
		return k, nil
	}
	k.Digits = core.PlainCode(k.Digits)
	if !sixDigits.MatchString(k.Digits) {
		return Key{}, ErrNotPIN
	}
	return k, nil
}

var (
	sixDigits = regexp.MustCompile(`^[0-9]{6}$`)
	code26    = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{26}$`)
)

// IsDigits reports whether a text can be the digits of a PIN.
func IsDigits(text string) bool { return sixDigits.MatchString(core.PlainCode(text)) }

// IsCode reports whether a text can be the code in a PIN's QR code. Letters can be of either case.
func IsCode(text string) bool { return code26.MatchString(normaliseCode(text)) }

// Shown is a PIN to display. The database has only keyed hashes of Digits and Code.
type Shown struct {
	ID        core.ID
	Digits    string
	Code      string
	ExpiresAt time.Time
}

// State is the state of a PIN.
type State string

// The states. A PIN ends as completed, replaced, cancelled or expired.
const (
	Waiting   State = "waiting" // can be taken
	Taken     State = "taken"   // its taker can complete a sale
	Completed State = "completed"
	Replaced  State = "replaced" // by a newer one of its issuer
	Cancelled State = "cancelled"
	Expired   State = "expired" // not taken or completed in time
)

// Final reports whether a PIN in this state can't change.
func (s State) Final() bool { return s != Waiting && s != Taken }

// Topic returns the topic of a PIN's changes, for core/live.
func Topic(t core.TenantID, pin core.ID) string {
	return "pin " + strconv.FormatInt(int64(t), 10) + " " + hex.EncodeToString(pin[:])
}

// newPIN describes a PIN to be issued.
type newPIN struct {
	direction direction
	issuer    string
	customer  *core.ID
	renews    *core.ID // the PIN that a card's page has shown until now; nil: a new showing begins
	offer     offer
}

// tries is how many random PINs are offered at once: a number that is in use is skipped. Even a busy tenant
// uses few of the million numbers.
const tries = 8

// issue replaces the issuer's open PIN with a new one.
func (s *Service) issue(ctx context.Context, tx *db.Tx, by core.Actor, p newPIN) (Shown, error) {
	shown := Shown{ID: core.NewID(tx.Now), Code: randomText(), ExpiresAt: tx.Now.Add(Lifetime)}
	codeHash, err := s.hash("code", tx.Tenant, shown.Code)
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
		var replaced []struct {
			ID       core.ID
			Renewals int64
		}
		var issued struct {
			PINHash  []byte // of the number that was used
			Renewals int64
		}
		err := db.Together(ctx, tx, db.AllInto(&replaced, replaceSQL, db.Args{"issuer": p.issuer, "now": tx.Now}), db.OneInto(&issued, issueSQL, db.Args{
			"id": shown.ID, "direction": p.direction, "issuer": p.issuer, "hashes": hashes, "code_hash": codeHash,
			"customer": p.customer, "renews": p.renews, "type": p.offer.typeID, "spend": p.offer.spend, "location": p.offer.location,
			"items":    p.offer.items,
			"actor_id": by.ID, "actor_name": p.offer.cashier, "now": tx.Now, "expires_at": shown.ExpiresAt,
		}))
		for _, old := range replaced {
			live.Notify(tx, Topic(tx.Tenant, old.ID))
			if p.renews != nil && *p.renews == old.ID {
				continue
			}
			if err := logRenewals(tx, by, old.ID, old.Renewals); err != nil {
				return Shown{}, err
			}
		}
		if errors.Is(err, core.ErrNotFound) {
			continue // the issuer showed another PIN at this instant, which is replaced next
		}
		if err != nil {
			return Shown{}, err
		}
		shown.Digits = byHash[string(issued.PINHash)]
		if issued.Renewals > 0 { // logged together, when the showing ends
			return shown, db.Queue(tx, carriedSQL, db.Args{"renews": p.renews})
		}
		return shown, s.logAndSignal(tx, by, "pin.issue", shown.ID, map[string]any{"shown_by": p.direction})
	}
	return Shown{}, core.Unavailable(errBusyIssuer)
}

// logRenewals writes how often a card's PIN was renewed, when its showing ends. The showings that end without a trace
// are logged by loyalty.forget_pins.
func logRenewals(tx *db.Tx, by core.Actor, last core.ID, renewals int64) error {
	if renewals == 0 {
		return nil
	}
	return audit.Write(tx, by, audit.Entry{
		Action: "pin.renew", Subject: "pin", ID: last.String(), New: map[string]any{"shown_by": fromCard, "renewals": renewals},
	})
}

var errBusyIssuer = errors.New("walkin: the issuer keeps showing other PINs")

// takenPIN is a PIN that a till or a phone has taken.
type takenPIN struct {
	ID             core.ID
	CustomerID     *core.ID
	CompleteBefore time.Time
	Renewals       int64 // of its showing, which the first take ends
}

// take binds a PIN to its taker by a conditional update, so one of several takers gets it. The same taker
// may take it again, so that a form can be submitted twice. A refusal is in the audit log. What can't be a
// PIN, such as the code of a product, is refused before it counts as a guess.
func (s *Service) take(ctx context.Context, by core.Actor, d direction, taker string, k Key) (takenPIN, error) {
	by = withAuditName(by)
	k, err := k.normal()
	if err != nil {
		return takenPIN{}, err
	}
	if err := s.admit(by, d, taker, k); err != nil {
		return takenPIN{}, err
	}
	statement, what, text := takeCodeSQL, "code", k.Code
	if k.Code == "" {
		statement, what, text = takeDigitsSQL, "pin", k.Digits
	}
	hashes, err := s.hashes(what, by.Tenant.ID, text)
	if err != nil {
		return takenPIN{}, err
	}
	found, err := db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (*takenPIN, error) {
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
		if err := logRenewals(tx, by, found.ID, found.Renewals); err != nil {
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

// withAuditName returns the actor with a name for the audit log, because a visitor's is unknown.
func withAuditName(by core.Actor) core.Actor {
	if by.Name == "" {
		by.Name = "A visitor"
	}
	return by
}

// logAndSignal writes to the audit log and notifies the pages that show the PIN.
func (s *Service) logAndSignal(tx *db.Tx, by core.Actor, action string, pin core.ID, facts map[string]any) error {
	live.Notify(tx, Topic(tx.Tenant, pin))
	return audit.Write(tx, by, audit.Entry{Action: action, Subject: "pin", ID: pin.String(), New: facts})
}

// Progress is the state of a PIN and its sale.
type Progress struct {
	ID        core.ID
	State     State
	ExpiresAt time.Time // while it is waiting

	// Of a till's PIN.
	TransactionTypeID *int64
	SpendAmountCents  *int64
	LocationID        *int64
	Items             []award.Item

	// Of a completed PIN. TransactionID is nil if only rewards or vouchers were redeemed.
	TransactionID *core.ID
	CustomerID    *core.ID
	CustomerName  string
	Award         int64
	RuleType      transaction.RuleType
}

// Offer returns the sale of a till's PIN.
func (p Progress) Offer() Offer {
	return Offer{core.OrZero(p.TransactionTypeID), core.OrZero(p.SpendAmountCents), p.LocationID, p.Items}
}

// CardProgress returns the progress of a PIN on a customer's card, or core.ErrNotFound.
func (s *Service) CardProgress(ctx context.Context, t core.Tenant, customer, pin core.ID) (Progress, error) {
	return s.progress(ctx, core.System(t, "card page"), cardIssuer(customer), pin)
}

// TillProgress returns the progress of a PIN that this till shows, or core.ErrNotFound.
func (s *Service) TillProgress(ctx context.Context, by core.Actor, till string, pin core.ID) (Progress, error) {
	return s.progress(ctx, by, tillIssuer(till), pin)
}

func (s *Service) progress(ctx context.Context, by core.Actor, issuer string, pin core.ID) (Progress, error) {
	return db.One[Progress](ctx, s.db.Tenant(by), progressSQL, db.Args{"id": pin, "issuer": issuer, "now": s.db.Now()})
}

// Cancel cancels a PIN that this till shows, even if a phone has taken it. A PIN in a final state stays as
// it is.
func (s *Service) Cancel(ctx context.Context, by core.Actor, till string, pin core.ID) error {
	_, err := db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (int64, error) {
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

// hash returns the stored hash of a PIN's digits or code.
func (s *Service) hash(what string, t core.TenantID, text string) ([]byte, error) {
	return s.keys.Sign(what, withTenant(t, text))
}

// hashes returns the hashes with each secret, because a PIN may have been issued with a replaced one.
func (s *Service) hashes(what string, t core.TenantID, text string) ([][]byte, error) {
	return s.keys.Signatures(what, withTenant(t, text))
}

func withTenant(t core.TenantID, text string) string {
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

// sortedUnique returns the IDs in order, without duplicates.
func sortedUnique(ids []core.ID) []core.ID {
	list := slices.SortedFunc(slices.Values(ids), func(a, b core.ID) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(list)
}

// Crockford's alphabet, as in ULIDs.
var encoding = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// randomText returns 128 random bits in 26 letters and digits.
func randomText() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails
	return encoding.EncodeToString(bits[:])
}

// NewBrowser returns a random value that identifies a customer's browser.
func NewBrowser() string { return randomText() }

// deleteOldPINs is the job that deletes old PINs, which remain in the audit log.
type deleteOldPINs struct{}

// Kind names the job in the queue.
func (deleteOldPINs) Kind() string { return "delete_old_pins" }

// KindAliases has the name that earlier builds queue it under.
func (deleteOldPINs) KindAliases() []string { return []string{"forget_pins"} }

// pinsKept is how long the progress of a PIN can be read.
const pinsKept = time.Hour

func (s *Service) deleteOldPINs(ctx context.Context, _ deleteOldPINs) error {
	return job.Drain(ctx, s.db, func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.One[int64](ctx, tx, deleteOldPINsSQL, db.Args{"before": tx.Now.Add(-pinsKept), "up_to": job.Batch})
	})
}
