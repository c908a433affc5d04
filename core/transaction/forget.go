package transaction

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

const forgetMetadataSQL = `
	update loyalty.transaction
	set metadata = null
	where tenant_id = @tenant_id
		and customer_id = @customer
		and metadata is not null`

// ForgetMetadata queues the deletion of what programs keep with the sales of a customer who is erased: it may name them.
func ForgetMetadata(tx *db.Tx, customer core.ID) error {
	return db.Queue(tx, forgetMetadataSQL, db.Args{"customer": customer})
}
