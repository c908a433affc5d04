package transaction

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
)

var (
	// ErrAlreadyVoided refuses the second void of a sale (specification §3).
	ErrAlreadyVoided = core.Refuse("already-voided", "This transaction has already been voided.")
	// ErrVoidNotAllowed refuses a cashier's void of another sale than their own last one (decisions §9).
	// It is a rule and no missing role, because the same person may void other sales.
	ErrVoidNotAllowed = core.Refuse("void-not-allowed", "At the till only your own last sale can be voided, within 10 minutes. A manager can void this one.")
)

const cashierVoids = 10 * time.Minute

// MaxVoidReason is the length of a reason in characters.
const MaxVoidReason = 255

// Void voids a sale once and deducts what refunds left of its award, even if that takes the balance below zero. A
// cashier can void only the sale that they recorded last, within ten minutes, even if that sale is
// voided already. The reason is nil where none is asked: in the API and at the till.
func (s *Service) Void(ctx context.Context, by core.Actor, id core.ID, reason *string, once *core.Once[Transaction]) (core.Reply[Transaction], error) {
	reason, err := checkReason(reason)
	if err != nil {
		return core.Reply[Transaction]{}, err
	}
	t, err := db.In(ctx, s.db.TenantAs(by, core.Cashier), db.Once(ctx, by, once, func(tx *db.Tx) (Transaction, error) { return VoidIn(ctx, tx, by, id, reason) }))
	return t, ledger.Refusal(err)
}

// VoidIn is Void in the caller's transaction, which also checks the role and the reason: at the till, rewards and
// vouchers are undone together with their sale.
func VoidIn(ctx context.Context, tx *db.Tx, by core.Actor, id core.ID, reason *string) (Transaction, error) {
	statement, args := voidSQL, db.Args{"id": id, "now": tx.Now, "reason": reason}
	if !mayVoidAny(by) {
		statement = voidLastSQL
		AddRecentArgs(by, tx.Now, args)
	}
	if err := db.Queue(tx, ledger.VisitsCountedSQL, nil); err != nil {
		return Transaction{}, err
	}
	voided, err := db.One[remembered](ctx, tx, statement, args)
	if err != nil {
		return Transaction{}, notVoided(ctx, tx, id, err)
	}
	t := voided.Transaction
	if err := daily.MarkVoid(tx, id); err != nil {
		return Transaction{}, err
	}
	if err := voided.takeBack(ctx, tx, by, taken{visits: 1, cents: t.LeftCents(), award: t.LeftAward()}); err != nil {
		return Transaction{}, err
	}
	err = audit.Write(tx, by, audit.Entry{
		Action: "transaction.void", Subject: "transaction", ID: id.String(), Customer: &t.CustomerID,
		Old: map[string]any{"status": Completed, "spend_amount_cents": t.SpendAmountCents},
		New: voidedValues(t.SpendAmountCents, reason),
	})
	if err != nil || t.LeftAward() == 0 {
		return t, err
	}
	return t, ledger.Queue(tx, by, ledger.Entry{
		Customer: t.CustomerID, Unit: t.RuleType, Amount: -t.LeftAward(), Kind: ledger.Reversal, Cause: &t.ID,
	})
}

// remembered is a sale, and whether the account of its customer remembers it for a day's cap or a level.
type remembered struct {
	Transaction
	Remembered bool
}

// taken is what a void or a refund takes back of a sale.
type taken struct{ visits, cents, award int64 }

// takeBack counts back what is taken of a sale. Where the account remembers sales, it is locked in a further round trip, and its
// standing changes, too.
func (r remembered) takeBack(ctx context.Context, tx *db.Tx, by core.Actor, t taken) error {
	if !r.Remembered {
		return ledger.CountBack(tx, r.CustomerID, t.visits, t.cents, nil)
	}
	var read RulesReading
	var standing ledger.Standing
	var earlier level.Changes
	err := db.Together(ctx, tx, read.Reading(), ledger.LockStanding(&standing, r.CustomerID), earlier.Reading(r.CustomerID))
	if err != nil {
		return err
	}
	zone, levels := by.Tenant.TimeZone, read.Rules().Levels
	day, today := core.DateOf(r.OccurredAt, zone), core.DateOf(tx.Now, zone)
	counted := levels.Of(r.counted(r.RefundedCents))
	if t.visits == 0 {
		counted -= levels.Of(r.counted(r.RefundedCents + t.cents))
	}
	standing, settled := levels.Settle(award.Unearn(standing, r.RuleType, day, t.award), today)
	standing, undone := levels.Undo(standing, day, today, counted, earlier.Dated(zone))
	return errors.Join(
		ledger.CountBack(tx, r.CustomerID, t.visits, t.cents, &standing),
		level.Queue(tx, by, r.CustomerID, &r.ID, append(settled, undone...)))
}

// counted returns what of a sale counts for a level after refunds of an amount.
func (t Transaction) counted(refundedCents int64) award.Counted {
	return award.Counted{
		Unit: t.RuleType, Base: t.BaseAward, EligibleCents: t.EligibleCents, SpendCents: t.SpendAmountCents, RefundedCents: refundedCents,
	}
}

// checkReason returns a given reason without spaces around it, and refuses an empty one.
func checkReason(given *string) (*string, error) {
	if given == nil {
		return nil, nil //nolint:nilnil // none was asked
	}
	check := core.NewCheck(nil)
	reason := check.Text("reason", given, MaxVoidReason)
	return &reason, check.Err()
}

func voidedValues(spend int64, reason *string) map[string]any {
	values := map[string]any{"status": Voided, "spend_amount_cents": spend}
	if reason != nil {
		values["reason"] = *reason
	}
	return values
}

// notVoided returns why a sale could not be voided.
func notVoided(ctx context.Context, tx *db.Tx, id core.ID, err error) error {
	if !errors.Is(err, core.ErrNotFound) {
		return err
	}
	t, err := db.One[Transaction](ctx, tx, findSQL, db.Args{"id": id})
	switch {
	case err != nil:
		return err
	case t.Status == Voided:
		return ErrAlreadyVoided
	}
	return ErrVoidNotAllowed
}

// mayVoidAny reports whether the actor may void every sale.
func mayVoidAny(by core.Actor) bool { return by.Require(core.Manager) == nil }

// AddVoidArgs adds the arguments with which a statement computes what the actor may void: those of LastSale, and
// voids_any.
func AddVoidArgs(by core.Actor, now time.Time, args db.Args) {
	args["voids_any"] = mayVoidAny(by)
	AddRecentArgs(by, now, args)
}

// AddRecentArgs adds the arguments of LastSale.
func AddRecentArgs(by core.Actor, now time.Time, args db.Args) {
	args["actor_id"], args["since_id"] = by.ID, core.FirstID(now.Add(-cashierVoids))
}
