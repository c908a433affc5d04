package customer

import (
	"context"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Lock locks and returns a customer to be erased, or core.ErrNotFound. It also locks the tenant's country
// (LockCountry).
func Lock(ctx context.Context, tx *db.Tx, id core.ID) (Customer, error) {
	locked, err := lockCustomer(ctx, tx, lockAloneSQL, id)
	return locked.Customer, err
}

const (
	// The names of the customers who were merged into one.
	eraseMergedSQL = `
	update loyalty.customer_merge m
	set first_name = 'Erased',
		last_name = 'Erased'
	from loyalty.customer c
	where m.tenant_id = @tenant_id
		and c.tenant_id = @tenant_id
		and c.id = m.merged_id
		and c.merged_into = @id`
)

// Anonymise deletes a customer's name, contact details, further keys, external ID, metadata, consents, note and tags, and makes them inactive. For
// core/privacy, which erases them in the other tables.
func Anonymise(ctx context.Context, tx *db.Tx, id core.ID) (Customer, error) {
	if err := db.Queue(tx, deleteConsentSQL, db.Args{"id": id}); err != nil {
		return Customer{}, err
	}
	for _, sql := range []string{deleteTagsSQL, deleteKeysSQL, eraseMergedSQL, revokeMergedSQL} {
		if err := db.Queue(tx, sql, db.Args{"id": id}); err != nil {
			return Customer{}, err
		}
	}
	return db.One[Customer](ctx, tx, eraseSQL, db.Args{"id": id, "now": tx.Now})
}
