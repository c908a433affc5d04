package mail

import "example.com/loyalty/core/db"

const forgetSQL = `
	delete from loyalty.mail
	where tenant_id = @tenant_id
		and recipient = any(@recipients::text[])`

// Forget deletes the mails of the transaction's tenant to those addresses, delivered or
// not, with the next statement or the commit: for somebody who asks to be forgotten.
func Forget(tx *db.Tx, recipients []string) error {
	return db.Queue(tx, forgetSQL, db.Args{"recipients": recipients})
}
