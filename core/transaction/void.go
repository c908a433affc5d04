package transaction

import (
	"context"
	"errors"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
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

// Void voids a sale once and deducts its whole award, even if that takes the balance below zero. A
// cashier can void only the sale that they recorded last, within ten minutes, even if that sale is
// voided already. The reason is nil where none is asked: in the API and at the till.
func (s *Service) Void(ctx context.Context, by core.Actor, id core.ID, reason *string) (Transaction, error) {
	reason, err := checkReason(reason)
	if err != nil {
		return Transaction{}, err
	}
	t, err := db.InTenantAs(ctx, s.db, by, core.Cashier, func(tx *db.Tx) (Transaction, error) {
		statement, args := voidSQL, db.Args{"id": id, "now": tx.Now, "reason": reason}
		if !mayVoidAny(by) {
			statement = voidLastSQL
			addRecentArgs(by, tx.Now, args)
		}
		if err := db.Queue(tx, ledger.VisitsCountedSQL, nil); err != nil {
			return Transaction{}, err
		}
		t, err := db.One[Transaction](ctx, tx, statement, args)
		if err != nil {
			return Transaction{}, notVoided(ctx, tx, id, err)
		}
		if err := ledger.CountVisit(tx, t.CustomerID, -1, -t.SpendAmountCents); err != nil {
			return Transaction{}, err
		}
		err = audit.Write(tx, by, audit.Entry{
			Action: "transaction.void", Subject: "transaction", ID: id.String(), Customer: &t.CustomerID,
			Old: map[string]any{"status": Completed, "spend_amount_cents": t.SpendAmountCents},
			New: voidedValues(t.SpendAmountCents, reason),
		})
		if err != nil || t.Award() == 0 {
			return t, err
		}
		return t, ledger.Queue(tx, by, ledger.Entry{
			Customer: t.CustomerID, Unit: t.RuleType, Amount: -t.Award(), Kind: ledger.Reversal, Cause: &t.ID,
		})
	})
	return t, ledger.Refusal(err)
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

// LastVoidable returns the actor's last sale if a cashier may still void it, or core.ErrNotFound.
func (s *Service) LastVoidable(ctx context.Context, by core.Actor) (core.ID, error) {
	if err := by.Require(core.Cashier); err != nil {
		return core.ID{}, err
	}
	args := db.Args{}
	addRecentArgs(by, s.db.Now(), args)
	last, err := db.ReadOne[struct{ ID *core.ID }](ctx, s.db, by, findLastSaleSQL, args)
	if err != nil {
		return core.ID{}, err
	}
	if last.ID == nil {
		return core.ID{}, core.ErrNotFound
	}
	return *last.ID, nil
}

// mayVoidAny reports whether the actor may void every sale.
func mayVoidAny(by core.Actor) bool { return by.Require(core.Manager) == nil }

// addVoidArgs adds the arguments with which a statement computes what the actor may void.
func addVoidArgs(by core.Actor, now time.Time, args db.Args) {
	args["voids_any"] = mayVoidAny(by)
	addRecentArgs(by, now, args)
}

// addRecentArgs adds the arguments of lastSale.
func addRecentArgs(by core.Actor, now time.Time, args db.Args) {
	args["actor_id"], args["since_id"] = by.ID, core.FirstID(now.Add(-cashierVoids))
}
