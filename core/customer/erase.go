package customer

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/mail"
)

// Erase takes everything from a customer that tells who they were: name, phone and
// e-mail, in their record and in the log, the mails to them, the answers about them
// that are kept for requests sent again, and files that wait to be imported: they may be in one. It leaves them inactive for good. Their sales and
// every entry of the ledger stay, as nobody's in particular. Erasing again does nothing.
// Four round trips.
func (s *Service) Erase(ctx context.Context, by core.Actor, id core.ID) (Customer, error) {
	if err := by.Require(core.Manager); err != nil {
		return Customer{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Customer, error) {
		// Who reads all numbers anew must not give one back to somebody erased meanwhile.
		if err := db.Queue(tx, holdCountrySQL, nil); err != nil {
			return Customer{}, err
		}
		old, err := db.One[held](ctx, tx, lockSQL, db.Args{"id": id})
		if err != nil || old.Erased {
			return old.Customer, err
		}
		had, err := addresses(ctx, tx, id)
		if err != nil {
			return Customer{}, err
		}
		if err := mail.Forget(tx, had); err != nil {
			return Customer{}, err
		}
		if err := db.Queue(tx, forgetSQL, db.Args{"id": id, "ulid": id.String()}); err != nil {
			return Customer{}, err
		}
		if err := db.Queue(tx, forgetConsentSQL, db.Args{"id": id}); err != nil {
			return Customer{}, err
		}
		if err := db.DeleteResponsesNaming(tx, id); err != nil {
			return Customer{}, err
		}
		if err := discardWaiting(tx); err != nil {
			return Customer{}, err
		}
		erased, err := db.One[Customer](ctx, tx, eraseSQL, db.Args{"id": id, "now": tx.Now})
		if err != nil {
			return Customer{}, err
		}
		return erased, audit.Write(tx, by, audit.Entry{
			Action: "customer.erase", Subject: "customer", ID: id.String(),
			Old: map[string]any{"status": old.Status}, New: map[string]any{"status": erased.Status},
		})
	})
}

// addresses are the e-mail addresses a customer has and had.
func addresses(ctx context.Context, tx *db.Tx, id core.ID) ([]string, error) {
	found, err := db.All[struct{ Address string }](ctx, tx, addressesSQL, db.Args{"id": id, "ulid": id.String()})
	list := make([]string, len(found))
	for i, f := range found {
		list[i] = f.Address
	}
	return list, err
}
