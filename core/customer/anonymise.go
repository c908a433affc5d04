package customer

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Lock locks and returns a customer, or core.ErrNotFound. It also locks the tenant's country
// (LockCountry).
func Lock(ctx context.Context, tx *db.Tx, id core.ID) (Customer, error) {
	if err := LockCountry(tx); err != nil {
		return Customer{}, err
	}
	found, err := db.One[lockedCustomer](ctx, tx, lockSQL, db.Args{"id": id})
	return found.Customer, err
}

// Anonymise deletes a customer's name, contact details and consents, and makes them inactive. For
// core/privacy, which erases them in the other tables.
func Anonymise(ctx context.Context, tx *db.Tx, id core.ID) (Customer, error) {
	if err := db.Queue(tx, forgetConsentSQL, db.Args{"id": id}); err != nil {
		return Customer{}, err
	}
	return db.One[Customer](ctx, tx, eraseSQL, db.Args{"id": id, "now": tx.Now})
}
