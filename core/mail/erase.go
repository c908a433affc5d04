package mail

import "example.com/loyalty/core/db"

const deleteToSQL = `
	delete from loyalty.mail
	where tenant_id = @tenant_id
		and recipient = any(@recipients::text[])`

// DeleteTo queues the deletion of the tenant's mails to these addresses, delivered or not: for a customer
// who is erased.
func DeleteTo(tx *db.Tx, recipients []string) error {
	return db.Queue(tx, deleteToSQL, db.Args{"recipients": recipients})
}
