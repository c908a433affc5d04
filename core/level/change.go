package level

import (
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
)

const insertChangeSQL = `
	insert into loyalty.level_change (tenant_id, id, customer_id, seq, from_level, to_level, reason, cause, note, from_until, until,
		actor_kind, actor_id, actor_name, created_at)
	select c.tenant_id, @id, c.id, 1 + coalesce((
			select max(seq)
			from loyalty.level_change
			where tenant_id = @tenant_id
				and customer_id = @customer
		), 0), @from, @to, @reason, @cause, @note, @from_until, @until,
		@actor_kind, @actor_id, @actor_name, @now
	from loyalty.customer c
	where c.tenant_id = @tenant_id
		and c.id = @customer
	returning 1`

// Queue queues changes of a customer's level, whose account the transaction has locked. The account's standing
// changes with them (ledger.KeepStanding).
func Queue(tx *db.Tx, by core.Actor, customer core.ID, cause *core.ID, changes []award.Change) error {
	for _, c := range changes {
		err := db.Queue(tx, insertChangeSQL, db.Args{
			"id": core.NewID(tx.Now), "customer": customer, "from": c.From, "to": c.To, "reason": c.Reason, "cause": cause, "note": c.Note,
			"from_until": c.FromUntil, "until": c.Until, "actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const insertChangesSQL = `
	insert into loyalty.level_change (tenant_id, id, customer_id, seq, from_level, to_level, reason, from_until, until,
		actor_kind, actor_id, actor_name, created_at)
	select @tenant_id, c.id, c.customer, row_number() over (partition by c.customer order by c.id) + coalesce((
			select max(seq)
			from loyalty.level_change
			where tenant_id = @tenant_id
				and customer_id = c.customer
		), 0), c.from_level, c.to_level, c.reason, c.from_until, c.until,
		@actor_kind, @actor_id, @actor_name, @now
	from unnest(@ids::uuid[], @customers::uuid[], @from::bigint[], @to::bigint[], @reasons::text[], @from_until::date[], @until::date[])
		c (id, customer, from_level, to_level, reason, from_until, until)
	join loyalty.customer k on k.tenant_id = @tenant_id and k.id = c.customer
	returning 1`

// Move is a change of a customer's level.
type Move struct {
	Customer core.ID
	award.Change
}

// QueueAll queues changes of many customers, which have no cause. Their accounts are locked.
func QueueAll(tx *db.Tx, by core.Actor, moves []Move) error {
	if len(moves) == 0 {
		return nil
	}
	return db.Queue(tx, insertChangesSQL, db.Args{
		"ids":        db.Column(moves, func(Move) core.ID { return core.NewID(tx.Now) }),
		"customers":  db.Column(moves, func(m Move) core.ID { return m.Customer }),
		"from":       db.Column(moves, func(m Move) *int64 { return m.From }),
		"to":         db.Column(moves, func(m Move) *int64 { return m.To }),
		"reasons":    db.Column(moves, func(m Move) string { return string(m.Reason) }),
		"from_until": db.Column(moves, func(m Move) *time.Time { return m.FromUntil }),
		"until":      db.Column(moves, func(m Move) *time.Time { return m.Until }),
		"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
	})
}

// The newest ones are enough to see how the customer got the level that they have: each of this year's is of a higher level.
const changesSQL = `
	select from_level, to_level, reason, from_until, until, note, created_at
	from loyalty.level_change
	where tenant_id = @tenant_id
		and customer_id = @customer
	order by seq desc
	limit 50`

// Changes are the newest changes of a customer's level.
type Changes struct{ stored []storedChange }

type storedChange struct {
	FromLevel, ToLevel *int64
	Reason             award.Reason
	FromUntil, Until   *time.Time
	Note               *string
	CreatedAt          time.Time
}

// Reading returns a reading of them.
func (c *Changes) Reading(customer core.ID) db.Reading {
	return db.AllInto(&c.stored, changesSQL, db.Args{"customer": customer})
}

// Dated returns them, the newest first, with their local days.
func (c *Changes) Dated(zone *time.Location) []award.Dated {
	dated := make([]award.Dated, len(c.stored))
	for i, s := range c.stored {
		dated[i] = award.Dated{
			Change: award.Change{From: s.FromLevel, To: s.ToLevel, Reason: s.Reason, FromUntil: s.FromUntil, Until: s.Until, Note: s.Note},
			On:     core.DateOf(s.CreatedAt, zone),
		}
	}
	return dated
}

const forgetNotesSQL = `
	update loyalty.level_change
	set note = null
	where tenant_id = @tenant_id
		and customer_id = any (@customers::uuid[])
		and note is not null`

// ForgetNotes queues that reasons which people wrote are deleted. The changes stay.
func ForgetNotes(tx *db.Tx, customers []core.ID) error {
	return db.Queue(tx, forgetNotesSQL, db.Args{"customers": customers})
}
