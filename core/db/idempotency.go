package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
)

// Requests that are answered once (decisions §5). The lock lasts as long as the
// transaction, so two of the same request never run at once; the answer is stored
// by the transaction that has the effect, so neither exists without the other.

const lockKeySQL = `
	select pg_try_advisory_xact_lock(hashtextextended(@caller || ' ' || @key, 7)) as mine`

const awaitKeySQL = `
	select true as mine
	from pg_advisory_xact_lock(hashtextextended(@caller || ' ' || @key, 7))`

// A statement of its own, after the lock: its snapshot sees what the last holder committed.
const findResponseSQL = `
	select fingerprint, status, body
	from loyalty.idempotency
	where caller = @caller
		and key = @key
		and created_at > @now::timestamptz - interval '24 hours'`

// An answer older than a day gives way; a younger one was stored since we looked,
// and must not be lost.
const storeResponseSQL = `
	insert into loyalty.idempotency as i (tenant_id, caller, key, fingerprint, status, body, created_at)
	values (nullif(@tenant::bigint, 0), @caller, @key, @fingerprint, @status, @body, @now)
	on conflict (caller, key) do update
	set tenant_id = excluded.tenant_id,
		fingerprint = excluded.fingerprint,
		status = excluded.status,
		body = excluded.body,
		created_at = excluded.created_at
	where i.created_at <= @now::timestamptz - interval '24 hours'`

const deleteOldResponsesSQL = `
	delete from loyalty.idempotency
	where (caller, key) in (
		select caller, key
		from loyalty.idempotency
		where created_at <= @now::timestamptz - interval '24 hours'
		order by created_at
		limit @up_to
	)`

// An answer is found by what it says, which no index knows: somebody is rarely forgotten,
// and half a million answers are looked through in a quarter of a second.
const deleteResponsesNamingSQL = `
	delete from loyalty.idempotency
	where tenant_id = @tenant_id
		and position(convert_to(@id, 'UTF8') in body) > 0`

type storedResponse struct {
	Fingerprint []byte
	Status      int
	Body        []byte
}

func caller(by core.Actor) string { return fmt.Sprintf("%s %s", by.Kind, by.ID) }

// replay takes the key and looks for the answer, in one round trip.
func (tx *Tx) replay(ctx context.Context, by core.Actor) error {
	once := by.Idempotency
	take := lockKeySQL
	if once.Wait {
		take = awaitKeySQL
	}
	lock, err := bind(take, Args{"caller": caller(by), "key": once.Key}, tx.Tenant)
	if err != nil {
		return err
	}
	find, err := bind(findResponseSQL, Args{"caller": caller(by), "key": once.Key, "now": tx.Now}, tx.Tenant)
	if err != nil {
		return err
	}
	var mine bool
	var stored []storedResponse
	err = tx.send(ctx, []call{lock, find},
		func(rows pgx.Rows) (err error) { mine, err = value[bool](rows); return err },
		func(rows pgx.Rows) (err error) { stored, err = all[storedResponse](rows); return err })
	switch {
	case err != nil:
		return err
	case !mine:
		return core.ErrKeyRunning
	case len(stored) == 0:
		return nil
	case string(stored[0].Fingerprint) != string(once.Fingerprint[:]):
		return core.ErrKeyReused
	}
	once.Response = core.Response{Status: stored[0].Status, Body: stored[0].Body, Replayed: true}
	return core.ErrReplayed
}

// storeResponse renders the answer and queues it, to be stored with the commit.
func (tx *Tx) storeResponse(by core.Actor, result any) error {
	once := by.Idempotency
	rendered, err := once.Render(result)
	if err != nil {
		return err
	}
	once.Response = rendered
	// The answer is the caller's, whatever tenant the transaction entered since.
	if tx.Tenant != tx.home {
		if err := tx.Enter(tx.home); err != nil {
			return err
		}
	}
	return Queue(tx, storeResponseSQL, Args{
		"tenant": int64(tx.Tenant), "caller": caller(by), "key": once.Key, "fingerprint": once.Fingerprint[:],
		"status": rendered.Status, "body": rendered.Body, "now": tx.Now,
	})
}

// DeleteOldResponses deletes answers that are older than a day, the oldest first and no more than
// upTo, in a transaction of the platform. It returns their number.
func DeleteOldResponses(ctx context.Context, tx *Tx, upTo int64) (int64, error) {
	return Exec(ctx, tx, deleteOldResponsesSQL, Args{"now": tx.Now, "up_to": upTo})
}

// DeleteResponsesNaming deletes the answers of the transaction's tenant that name a record,
// with the next statement or the commit: for a person who is to be forgotten. Who sends
// such a request again has it done again.
func DeleteResponsesNaming(tx *Tx, id core.ID) error {
	return Queue(tx, deleteResponsesNamingSQL, Args{"id": id.String()})
}
