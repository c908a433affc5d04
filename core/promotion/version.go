package promotion

import "example.com/loyalty/core/db"

const raiseVersionSQL = `
	select loyalty.raise_earning_version(@tenant)`

// RulesChanged queues what each change of the rules by which sales earn does: it raises their version, so no process
// computes a further award by the rules that it remembers.
func RulesChanged(tx *db.Tx) error {
	return db.Queue(tx, raiseVersionSQL, db.Args{"tenant": int64(tx.Tenant)})
}
