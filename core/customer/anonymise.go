package customer

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Lock returns a customer and keeps others from changing it until the transaction ends, or is
// core.ErrNotFound. It keeps the tenant's country too (HoldCountry).
func Lock(ctx context.Context, tx *db.Tx, id core.ID) (Customer, error) {
	if err := HoldCountry(tx); err != nil {
		return Customer{}, err
	}
	found, err := db.One[held](ctx, tx, lockSQL, db.Args{"id": id})
	return found.Customer, err
}

// Anonymise deletes a customer's name, contact details and consents, and makes them inactive for good.
// For core/privacy, which does the same in all other tables.
func Anonymise(ctx context.Context, tx *db.Tx, id core.ID) (Customer, error) {
	if err := db.Queue(tx, forgetConsentSQL, db.Args{"id": id}); err != nil {
		return Customer{}, err
	}
	return db.One[Customer](ctx, tx, eraseSQL, db.Args{"id": id, "now": tx.Now})
}
