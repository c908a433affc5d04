// Package audit writes and reads the audit log: who did what, to which record. It writes only
// inside the caller's transaction, so that every committed change has its entry and every entry
// its change. Entries never change, except that erasing a customer removes their name. Sales have
// no entry: the ledger records them.
package audit

import (
	"encoding/json"
	"fmt"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Entry is an action on a record.
type Entry struct {
	Action   string   // noun and verb: "token.create"
	Subject  string   // the noun: "token"
	ID       string   // of the subject
	Name     string   // of the subject after the change: the reward of a redemption, the coupon of a voucher; "": none
	Customer *core.ID // of a sale, redemption or voucher; Write sets it for customers
	Old      any      // values before; nil: none
	New      any      // values after; nil: none. Never a secret
	Reason   string   // of a refusal, one of few: counted with the action, not stored
}

// Metric counts committed actions by their reason.
func Metric(action, reason string) db.Metric { return db.Metric{Thing: action, Kind: reason} }

// The customer's name is read under a lock that erasing them waits for: otherwise an entry
// written at the same time would keep their name.
const insertSQL = `
	insert into loyalty.audit_entry (tenant_id, id, action, subject_kind, subject_id, subject_name, customer_id, customer_name,
		old, new, actor_kind, actor_id, actor_name, address, request_id, created_at)
	select @tenant_id, @id, @action, @subject_kind, @subject_id, @subject_name, @customer::uuid, coalesce((
			select case when coalesce(phone_key, email_key) is null then first_name else first_name || ' ' || last_name end
			from loyalty.customer
			where tenant_id = @tenant_id
				and id = @customer
			for key share
		), ''),
		@old, @new, @actor_kind, @actor_id, @actor_name, @address, @request_id, @now
	returning 1`

const insertPlatformSQL = `
	insert into loyalty.platform_audit_entry (id, action, subject_kind, subject_id, subject_name,
		old, new, actor_kind, actor_id, actor_name, address, request_id, created_at)
	values (@id, @action, @subject_kind, @subject_id, @subject_name,
		@old, @new, @actor_kind, @actor_id, @actor_name, @address, @request_id, @now)`

// Write queues an entry of the audit log of the transaction's tenant, or of the platform.
func Write(tx *db.Tx, by core.Actor, e Entry) error {
	old, err := encodeValues(e.Old)
	if err != nil {
		return err
	}
	current, err := encodeValues(e.New)
	if err != nil {
		return err
	}
	args := db.Args{
		"id": core.NewID(tx.Now), "action": e.Action, "subject_kind": e.Subject, "subject_id": e.ID, "subject_name": e.Name,
		"old": old, "new": current, "actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name,
		"address": by.Address, "request_id": by.RequestID, "now": tx.Now,
	}
	db.Count(tx, Metric(e.Action, e.Reason), 1)
	if tx.Tenant == 0 {
		return db.Queue(tx, insertPlatformSQL, args)
	}
	args["customer"] = e.Customer
	if id, err := core.ParseID(e.ID); err == nil && e.Subject == "customer" {
		args["customer"] = id
	}
	return db.Queue(tx, insertSQL, args)
}

func encodeValues(v any) (*string, error) {
	if v == nil {
		return nil, nil //nolint:nilnil // null in SQL
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return new(string(b)), nil
}
