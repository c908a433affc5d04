// Package audit keeps who did what to what. It writes only inside the caller's
// transaction, so that nothing happens without its entry and no entry tells of
// something that did not happen. Entries are never changed. A sale has none: the
// ledger tells of it.
package audit

import (
	"encoding/json"
	"fmt"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Entry is one thing somebody did.
type Entry struct {
	Action  string // "token.create": the noun and the verb
	Subject string // the noun: "token"
	ID      string // of the subject
	Old     any    // what changed, before; nil where there was nothing
	New     any    // what changed, after; nil where nothing is left. Never a secret
	Reason  string // of a refusal, where there are few reasons: it is counted with the action, and not stored
}

// Metric are the actions that a process counts, each with its reason, once they have committed.
func Metric(action, reason string) db.Metric { return db.Metric{Thing: action, Kind: reason} }

const insertSQL = `
	insert into loyalty.audit_entry (tenant_id, id, action, subject_kind, subject_id, old, new,
		actor_kind, actor_id, actor_name, address, request_id, created_at)
	values (@tenant_id, @id, @action, @subject_kind, @subject_id, @old, @new,
		@actor_kind, @actor_id, @actor_name, @address, @request_id, @now)`

const insertPlatformSQL = `
	insert into loyalty.platform_audit_entry (id, action, subject_kind, subject_id, old, new,
		actor_kind, actor_id, actor_name, address, request_id, created_at)
	values (@id, @action, @subject_kind, @subject_id, @old, @new,
		@actor_kind, @actor_id, @actor_name, @address, @request_id, @now)`

// Write queues an entry in the log of the transaction's tenant, or of the platform.
func Write(tx *db.Tx, by core.Actor, e Entry) error {
	old, err := document(e.Old)
	if err != nil {
		return err
	}
	now, err := document(e.New)
	if err != nil {
		return err
	}
	statement := insertSQL
	if tx.Tenant == 0 {
		statement = insertPlatformSQL
	}
	db.Count(tx, Metric(e.Action, e.Reason), 1)
	return db.Queue(tx, statement, db.Args{
		"id": core.NewID(tx.Now), "action": e.Action, "subject_kind": e.Subject, "subject_id": e.ID, "old": old, "new": now,
		"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name,
		"address": by.Address, "request_id": by.RequestID, "now": tx.Now,
	})
}

func document(v any) (*string, error) {
	if v == nil {
		return nil, nil //nolint:nilnil // null in SQL
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	text := string(b)
	return &text, nil
}
