// Package ledger keeps points and stamps. An account has a customer's balances. Post, Queue and OpenAll
// change it and write the entry that explains the change in the same transaction, so a balance is always
// the sum of its entries. They work only inside the caller's transaction.
//
// An award's entry has its last day. How much is left of each day (the lots, lots.go) is derived from the entries, and kept,
// when something is deducted, returned or shown, and when a day ends.
package ledger

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Unit is points or stamps.
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
	Reversal         Kind = "reversal"          // the award of a voided sale or of a voucher that is valid again, deducted again
	Redemption       Kind = "redemption"        // spent on a reward
	RedemptionRefund Kind = "redemption_refund" // the cost of a voided redemption
	VoucherAward     Kind = "voucher"           // a voucher's benefit
	Adjustment       Kind = "adjustment"        // by hand, with a reason
	Merged           Kind = "merge"             // moved from or to a customer who was merged
	Opened           Kind = "opening"           // the balance with which an import adds a customer
	Expired          Kind = "expiry"            // what ended
	ExpiryReturned   Kind = "expiry_return"     // what had ended of an award that is taken back
	Refunded         Kind = "refund"            // the part of an award whose sale was refunded in part
)

// Entry is one change of a balance.
type Entry struct {
	Customer core.ID
	Unit     Unit
	Amount   int64 // signed, not 0
	Kind     Kind
	Cause    *core.ID  // the transaction, redemption, voucher or refund; nil for an adjustment
	Reason   *string   // of an adjustment
	Turn     int16     // of a voucher: how many times it has been redeemed; 0: once
	Sale     *core.ID  // of a refund
	Lasts    bool      // an adjustment that never ends, whatever the rule
	Earned   time.Time // of an award: when; zero: now
}

// Posted is a stored entry.
type Posted struct {
	Kind         Kind
	Unit         Unit
	Amount       int64
	BalanceAfter int64
	CreatedAt    time.Time
}

// ReadPosted returns a reading of the entries of a cause, in order.
func ReadPosted(to *[]Posted, cause core.ID) db.Reading {
	return db.AllInto(to, postedSQL, db.Args{"cause": cause})
}

// ReadPostedOfSale returns a reading of the entries of a sale and of its refunds, in order.
func ReadPostedOfSale(to *[]Posted, sale core.ID) db.Reading {
	return db.AllInto(to, postedOfSaleSQL, db.Args{"sale": sale})
}

// Account is a customer's balances after an entry.
type Account struct {
	Points int64
	Stamps int64
}

// MaxAward is the limit of one award and of one adjustment in either direction (decisions §2). A
// client's mistake can't fill a balance in one step.
const MaxAward = 1_000_000_000_000

// Refusals of the ledger.
var (
	ErrInsufficientPoints = core.Refuse("insufficient-points", "Insufficient points balance.")
	ErrInsufficientStamps = core.Refuse("insufficient-stamps", "Insufficient stamps balance.")
	// ErrTooLarge refuses an award above MaxAward, or one that would overflow a balance's 64 bits.
	ErrTooLarge = core.Refuse("balance-too-large", "The award would exceed the largest possible balance.")
)

// Open queues the account of a new customer.
func Open(tx *db.Tx, customer core.ID) error {
	return db.Queue(tx, openSQL, db.Args{"customer": customer})
}

// Queue queues an entry and the change of the balance: for an award, a reversal or the return of a redemption's cost, which no
// balance can refuse. A missing account or an overflow of 64 bits fails the whole transaction; Refusal turns the
// overflow into ErrTooLarge.
func Queue(tx *db.Tx, by core.Actor, e Entry) error {
	if e.isTooLarge() {
		return ErrTooLarge
	}
	args := e.args(tx, by)
	switch {
	case e.Kind == RedemptionRefund:
		return errors.Join(queueSettlement(tx, by, e.Customer), queueGivingBack(tx, by, e))
	case e.Amount > 0:
		args["expires_on"] = e.lastDay(tx, by)
		return db.Queue(tx, awardOrFailSQL, args)
	}
	err := queueSettlement(tx, by, e.Customer)
	if err == nil && e.reverses() != nil {
		err = queueReturn(tx, by, e)
	}
	args["award"] = e.reverses()
	return errors.Join(err, db.Queue(tx, deductOrFailSQL, args))
}

// CountVisit queues the count of a sale in its customer's account: its visit at an instant and its spend in cents, and the new standing
// where one is kept, of an account that is locked. The caller has sent VisitsCountedSQL before the sale was written.
func CountVisit(tx *db.Tx, by core.Actor, customer core.ID, at time.Time, spend int64, standing *Standing) error {
	points, stamps := IdleDays(by, at)
	return count(tx, standing, db.Args{"customer": customer, "visits": 1, "spend": spend, "points_idle_on": points, "stamps_idle_on": stamps})
}

// CountBack queues that visits and spend of a sale are taken back, when it is voided or refunded in part, and the new standing
// where one is kept, of an account that is locked.
func CountBack(tx *db.Tx, customer core.ID, visits, spend int64, standing *Standing) error {
	return count(tx, standing, db.Args{"customer": customer, "visits": -visits, "spend": -spend, "points_idle_on": nil, "stamps_idle_on": nil})
}

// count queues a change of an account's visits and spend, and of its standing.
func count(tx *db.Tx, standing *Standing, args db.Args) error {
	if standing == nil {
		return db.Queue(tx, countVisitSQL, args)
	}
	standing.add(args)
	return db.Queue(tx, countKnownSQL, args)
}

// Touch queues what an activity without an entry does to an account: by a rule that ends what is idle, it lasts longer.
// By any other rule, nothing.
func Touch(tx *db.Tx, by core.Actor, customer core.ID) error {
	points, stamps := IdleDays(by, tx.Now)
	if points == nil && stamps == nil {
		return nil
	}
	return db.Queue(tx, countVisitSQL, db.Args{"customer": customer, "visits": 0, "spend": 0, "points_idle_on": points, "stamps_idle_on": stamps})
}

// isTooLarge reports whether an entry exceeds MaxAward. Reversals, redemptions and refunds repeat a
// recorded amount, so they have no limit.
func (e Entry) isTooLarge() bool {
	switch e.Kind {
	case Earn, VoucherAward, Adjustment, Opened:
		return e.Amount > MaxAward || e.Amount < -MaxAward
	case Reversal, Redemption, RedemptionRefund, Merged, Expired, ExpiryReturned, Refunded:
	}
	return false
}

// Refusal turns PostgreSQL's error about an overflow into ErrTooLarge, and returns every other error as
// it is.
func Refusal(err error) error {
	if db.Overflows(err) {
		return ErrTooLarge
	}
	return err
}

// Post changes the balance and writes the entry. Two tills that serve one customer at once wait for each other
// only here: the same conditional update checks and changes the balance. Only a reversal may take it below zero.
func Post(ctx context.Context, tx *db.Tx, by core.Actor, e Entry) (Account, error) {
	if e.isTooLarge() {
		return Account{}, ErrTooLarge
	}
	args, statement := e.args(tx, by), awardSQL
	if e.Amount > 0 {
		args["expires_on"] = e.lastDay(tx, by)
	} else {
		statement, args["award"] = deductSQL, e.reverses()
		if err := queueSettlement(tx, by, e.Customer); err != nil {
			return Account{}, err
		}
	}
	account, err := db.One[Account](ctx, tx, statement, args)
	if errors.Is(err, core.ErrNotFound) {
		return Account{}, Insufficient(e.Unit)
	}
	return account, Refusal(err)
}

// Insufficient returns the refusal of a balance that is too small.
func Insufficient(unit Unit) *core.Error {
	if unit == Stamps {
		return ErrInsufficientStamps
	}
	return ErrInsufficientPoints
}

func (e Entry) args(tx *db.Tx, by core.Actor) db.Args {
	args := db.Args{
		"id": core.NewID(tx.Now), "customer": e.Customer,
		"unit": e.Unit, "amount": e.Amount, "kind": e.Kind, "cause": e.Cause, "reason": e.Reason, "turn": max(e.Turn, 1),
		"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
	}
	addIdleDays(args, tx, by, e.Kind == Redemption || e.Kind == VoucherAward)
	return args
}

// reverses returns the cause of the award that an entry takes back, or nil.
func (e Entry) reverses() *core.ID {
	switch e.Kind {
	case Reversal:
		return e.Cause
	case Refunded:
		return e.Sale
	case Earn, Redemption, RedemptionRefund, VoucherAward, Adjustment, Merged, Opened, Expired, ExpiryReturned:
	}
	return nil
}
