// Package ledger keeps points and stamps. An account is a customer's balances;
// Post is the only code that changes one, and writes the entry that explains it
// in the same statement: a balance is the sum of its entries at every instant.
// It works only inside the caller's transaction.
package ledger

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Unit is what is counted.
type Unit string

// The two units. A customer has a balance of each.
const (
	Points Unit = "points"
	Stamps Unit = "stamps"
)

// Kind says why a balance changed.
type Kind string

// The kinds of entries (decisions §6).
const (
	Earn             Kind = "earn"              // a sale's award
	Reversal         Kind = "reversal"          // a voided sale's award, taken back
	Redemption       Kind = "redemption"        // spent on a reward
	RedemptionRefund Kind = "redemption_refund" // given back by a voided redemption
	VoucherAward     Kind = "voucher"           // a voucher's benefit
	Adjustment       Kind = "adjustment"        // by hand, with a reason
)

// Entry is one change of a balance.
type Entry struct {
	Customer core.ID
	Unit     Unit
	Amount   int64 // signed, not 0
	Kind     Kind
	Cause    *core.ID // the transaction, redemption or voucher; an adjustment has none
	Reason   *string  // an adjustment's
}

// Account is a customer's balances after an entry.
type Account struct {
	Points int64
	Stamps int64
}

// MaxAward is the most that one award gives, and that one adjustment adds or takes
// (decisions §2). No program's mistake fills a balance in one step.
const MaxAward = 1_000_000_000_000

// Refusals of the ledger.
var (
	ErrInsufficientPoints = core.Refuse("insufficient-points", "Insufficient points balance.")
	ErrInsufficientStamps = core.Refuse("insufficient-stamps", "Insufficient stamps balance.")
	// ErrTooLarge is an award beyond MaxAward, or one by which a balance would leave its 64
	// bits: refused, never wrapped.
	ErrTooLarge = core.Refuse("balance-too-large", "The award would exceed the largest possible balance.")
)

// Open gives a new customer an account. It travels with the next statement.
func Open(tx *db.Tx, customer core.ID) error {
	return db.Queue(tx, openSQL, db.Args{"customer": customer})
}

// Queue writes an entry and moves the balance with the next statement or the commit:
// for what no balance can refuse, an award or a reversal. An account that is missing
// or a number that would leave its 64 bits refuses the whole transaction; Refusal
// tells the latter.
func Queue(tx *db.Tx, by core.Actor, e Entry) error {
	if e.tooLarge() {
		return ErrTooLarge
	}
	return db.Queue(tx, queueSQL, e.args(tx, by))
}

// tooLarge reports whether an entry gives more than one award may. A reversal, a
// redemption and its refund repeat what was recorded, so they have no limit of their own.
func (e Entry) tooLarge() bool {
	switch e.Kind {
	case Earn, VoucherAward, Adjustment:
		return e.Amount > MaxAward || e.Amount < -MaxAward
	case Reversal, Redemption, RedemptionRefund:
	}
	return false
}

// Refusal turns what PostgreSQL says of a number that is too large into ErrTooLarge,
// and leaves every other error, and none, as it is.
func Refusal(err error) error {
	if db.Overflows(err) {
		return ErrTooLarge
	}
	return err
}

// Post writes an entry and moves the balance, in one statement and one round trip.
// Two tills that serve one customer at once wait for each other here, and only
// here: the balance is checked and moved by the same guarded update. Only a
// reversal may take a balance below zero.
func Post(ctx context.Context, tx *db.Tx, by core.Actor, e Entry) (Account, error) {
	if e.tooLarge() {
		return Account{}, ErrTooLarge
	}
	account, err := db.One[Account](ctx, tx, postSQL, e.args(tx, by))
	if errors.Is(err, core.ErrNotFound) {
		return Account{}, Insufficient(e.Unit)
	}
	return account, Refusal(err)
}

// Insufficient is the refusal of a balance that is too small.
func Insufficient(unit Unit) *core.Error {
	if unit == Stamps {
		return ErrInsufficientStamps
	}
	return ErrInsufficientPoints
}

func (e Entry) args(tx *db.Tx, by core.Actor) db.Args {
	return db.Args{
		"id": core.NewID(tx.Now), "customer": e.Customer,
		"unit": e.Unit, "amount": e.Amount, "kind": e.Kind, "cause": e.Cause, "reason": e.Reason,
		"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
	}
}
