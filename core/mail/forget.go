package mail

import "example.com/loyalty/core/db"

const forgetSQL = `
	delete from loyalty.mail
	where tenant_id = @tenant_id
		and recipient = any(@recipients::text[])`

// Forget queues the deletion of the tenant's mails to these addresses, delivered or not: for a customer
// who is erased.
func Forget(tx *db.Tx, recipients []string) error {
	return db.Queue(tx, forgetSQL, db.Args{"recipients": recipients})
}
