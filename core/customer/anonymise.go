package customer

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Lock locks and returns a customer, or core.ErrNotFound. It also locks the tenant's country
// (LockCountry).
func Lock(ctx context.Context, tx *db.Tx, id core.ID) (Customer, error) {
	locked, err := lockCustomer(ctx, tx, id)
	return locked.Customer, err
}

// Anonymise deletes a customer's name, contact details, consents, note and tags, and makes them inactive. For
// core/privacy, which erases them in the other tables.
func Anonymise(ctx context.Context, tx *db.Tx, id core.ID) (Customer, error) {
	if err := db.Queue(tx, forgetConsentSQL, db.Args{"id": id}); err != nil {
		return Customer{}, err
	}
	if err := db.Queue(tx, forgetTagsSQL, db.Args{"id": id}); err != nil {
		return Customer{}, err
	}
	return db.One[Customer](ctx, tx, eraseSQL, db.Args{"id": id, "now": tx.Now})
}
