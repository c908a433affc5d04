package transaction

import (
	"context"
	"errors"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// ErrAlreadyVoided refuses the second void of a sale (specification §3).
var ErrAlreadyVoided = core.Refuse("already-voided", "This transaction has already been voided.")

// Void voids a sale and takes its whole award back, once, even where it was spent:
// the balance may go below zero. Of several at once, one voids and the others are
// refused. Two round trips.
func (s *Service) Void(ctx context.Context, by core.Actor, id core.ID) (Transaction, error) {
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Transaction, error) {
		t, err := db.One[Transaction](ctx, tx, voidSQL, db.Args{"id": id, "now": tx.Now})
		if errors.Is(err, core.ErrNotFound) {
			if _, err := db.One[Transaction](ctx, tx, findSQL, db.Args{"id": id}); err != nil {
				return Transaction{}, err
			}
			return Transaction{}, ErrAlreadyVoided
		}
		if err != nil {
			return Transaction{}, err
		}
		err = audit.Write(tx, by, audit.Entry{
			Action: "transaction.void", Subject: "transaction", ID: id.String(),
			Old: map[string]any{"status": Completed}, New: map[string]any{"status": Voided},
		})
		if err != nil || t.award() == 0 {
			return t, err
		}
		return t, ledger.Queue(tx, by, ledger.Entry{
			Customer: t.CustomerID, Unit: t.RuleType, Amount: -t.award(), Kind: ledger.Reversal, Cause: &t.ID,
		})
	})
}
