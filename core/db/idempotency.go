package db

import (
	"context"
	"errors"
	"fmt"

	"example.com/loyalty/core"
)

// Idempotent requests (decisions §5). Those of the platform have the tenant 0. The lock lasts as long as the transaction, so the same
// request never runs twice at once. The response is stored by the transaction that has the
// effect, so neither exists without the other.

const (
	lockKeySQL = `
	select pg_try_advisory_xact_lock(hashtextextended(@caller || ' ' || @key, 7)) as mine
	from (values (1)) as always` + onItsNode

	awaitKeySQL = `
	select true as mine
	from pg_advisory_xact_lock(hashtextextended(@caller || ' ' || @key, 7))` + onItsNode

	// In a distributed database a statement runs where its tables are, and an advisory lock holds on its own node alone.
	// Sales that are recorded together lock their keys beside the responses (KeyIsFree).
	onItsNode = `
	left join (
		select
		from loyalty.idempotency
		where tenant_id = @tenant
		limit 0
	) response on true`
)

// A statement of its own, after the lock: its snapshot includes what the last holder committed.
const findResponseSQL = `
	select fingerprint, status, body, created_at <= @now::timestamptz - interval '24 hours' as expired
	from loyalty.idempotency
	where tenant_id = @tenant
		and caller = @caller
		and key = @key`

const storeResponseSQL = `
	insert into loyalty.idempotency (tenant_id, caller, key, fingerprint, status, body, created_at)
	values (@tenant, @caller, @key, @fingerprint, @status, @body, @now)`

const deleteExpiredSQL = `
	delete from loyalty.idempotency
	where tenant_id = @tenant
		and caller = @caller
		and key = @key`

const deleteOldResponsesSQL = `
	delete from loyalty.idempotency
	where (caller, key) in (
		select caller, key
		from loyalty.idempotency
		where created_at <= @now::timestamptz - interval '24 hours'
		order by created_at
		limit @up_to
	)`

// Bodies have no index: customers are rarely erased, and half a million responses are searched
// in a quarter of a second.
const deleteResponsesNamingSQL = `
	delete from loyalty.idempotency
	where tenant_id = @tenant_id
		and position(convert_to(@id, 'UTF8') in body) > 0`

type storedResponse struct {
	Fingerprint []byte
	Status      int
	Body        []byte
	Expired     bool // older than a day
}

func callerOf(by core.Actor) string { return fmt.Sprintf("%s %s", by.Kind, by.ID) }

// Once has a transaction do its work unless the actor's request was answered before, and store its response. A nil once only does the work.
// While the same request is under way, it is core.ErrKeyRunning, or waits (core.RequestKey); another request with the key is core.ErrKeyReused.
func Once[T any](ctx context.Context, by core.Actor, once *core.Once[T], work func(tx *Tx) (T, error)) func(tx *Tx) (core.Reply[T], error) {
	return func(tx *Tx) (core.Reply[T], error) {
		if once == nil {
			result, err := work(tx)
			return core.Reply[T]{Result: result}, err
		}
		first, err := tx.firstResponse(ctx, by, once.RequestKey)
		if first != nil || err != nil {
			return core.Reply[T]{Response: first}, err
		}
		result, err := work(tx)
		if err != nil {
			return core.Reply[T]{}, err
		}
		response, err := once.Respond(result)
		if err != nil {
			return core.Reply[T]{}, err
		}
		return core.Reply[T]{Result: result, Response: &response}, tx.storeResponse(by, once.RequestKey, response)
	}
}

// firstResponse locks the key and returns the stored response, or nil.
func (tx *Tx) firstResponse(ctx context.Context, by core.Actor, request core.RequestKey) (*core.Response, error) {
	lockSQL := lockKeySQL
	if request.Wait {
		lockSQL = awaitKeySQL
	}
	key := Args{"tenant": int64(tx.home), "caller": callerOf(by), "key": request.Key}
	var mine bool
	var stored []storedResponse
	err := Together(ctx, tx,
		OneInto(&mine, lockSQL, key),
		AllInto(&stored, findResponseSQL, Args{"tenant": key["tenant"], "caller": key["caller"], "key": key["key"], "now": tx.Now}))
	switch {
	case err != nil:
		return nil, err
	case !mine:
		return nil, core.ErrKeyRunning
	case len(stored) == 0:
		return nil, nil //nolint:nilnil // a new request
	case stored[0].Expired:
		return nil, Queue(tx, deleteExpiredSQL, key)
	case string(stored[0].Fingerprint) != string(request.Fingerprint[:]):
		return nil, core.ErrKeyReused
	}
	return &core.Response{Status: stored[0].Status, Body: stored[0].Body, Replayed: true}, nil
}

// storeResponse queues the response, to be stored with the commit. It belongs to the caller, whatever tenant the transaction entered.
func (tx *Tx) storeResponse(by core.Actor, request core.RequestKey, response core.Response) error {
	if tx.Tenant != tx.home {
		if err := tx.Enter(tx.home); err != nil {
			return err
		}
	}
	return Queue(tx, storeResponseSQL, Args{
		"tenant": int64(tx.home), "caller": callerOf(by), "key": request.Key, "fingerprint": request.Fingerprint[:],
		"status": response.Status, "body": response.Body, "now": tx.Now,
	})
}

// Keyed are requests of a caller with keys that one transaction carries out, each once: what Once is for a single request. They
// don't wait for others with their keys.
type Keyed struct {
	tx     *Tx
	caller string
	locked []struct {
		Key  string
		Mine bool
	}
	found []struct {
		Key string
		storedResponse
	}

	running map[string]bool
	answers map[string]storedResponse // also of this transaction
	made    []string                  // the keys of those
	expired []string
}

const (
	lockKeysSQL = `
	select given.key, pg_try_advisory_xact_lock(hashtextextended(@caller || ' ' || given.key, 7)) as mine
	from unnest(@keys::text[]) given (key)` + onItsNode

	findResponsesSQL = `
	select key, fingerprint, status, body, created_at <= @now::timestamptz - interval '24 hours' as expired
	from loyalty.idempotency
	where tenant_id = @tenant
		and caller = @caller
		and key = any(@keys::text[])`

	deleteAllExpiredSQL = `
	delete from loyalty.idempotency
	where tenant_id = @tenant
		and caller = @caller
		and key = any(@keys::text[])`

	storeResponsesSQL = `
	insert into loyalty.idempotency (tenant_id, caller, key, fingerprint, status, body, created_at)
	select @tenant, @caller, key, fingerprint, status, body, @now
	from unnest(@keys::text[], @fingerprints::bytea[], @statuses::int[], @bodies::bytea[]) given (key, fingerprint, status, body)
	returning 1`
)

// ReadKeyed returns the requests with these keys, and the readings to run before their first use.
func ReadKeyed(tx *Tx, by core.Actor, keys []string) (*Keyed, []Reading) {
	k := &Keyed{tx: tx, caller: callerOf(by)}
	if len(keys) == 0 {
		return k, nil
	}
	return k, []Reading{
		AllInto(&k.locked, lockKeysSQL, Args{"tenant": int64(tx.home), "caller": k.caller, "keys": keys}),
		AllInto(&k.found, findResponsesSQL, Args{"tenant": int64(tx.home), "caller": k.caller, "keys": keys, "now": tx.Now}),
	}
}

// First returns the stored response to a request, nil for a new one, or why the key can't be used, as Once does. It knows the
// responses that Store has added.
func (k *Keyed) First(request core.RequestKey) (*core.Response, error) {
	if k.answers == nil {
		k.answers, k.running = map[string]storedResponse{}, map[string]bool{}
		for _, l := range k.locked {
			k.running[l.Key] = !l.Mine
		}
		for _, f := range k.found {
			if f.Expired {
				k.expired = append(k.expired, f.Key)
			} else {
				k.answers[f.Key] = f.storedResponse
			}
		}
	}
	stored, answered := k.answers[request.Key]
	switch {
	case k.running[request.Key]:
		return nil, core.ErrKeyRunning
	case !answered:
		return nil, nil //nolint:nilnil // a new request
	case string(stored.Fingerprint) != string(request.Fingerprint[:]):
		return nil, core.ErrKeyReused
	}
	return &core.Response{Status: stored.Status, Body: stored.Body, Replayed: true}, nil
}

// Store adds the response to a new request.
func (k *Keyed) Store(request core.RequestKey, response core.Response) {
	k.answers[request.Key] = storedResponse{Fingerprint: request.Fingerprint[:], Status: response.Status, Body: response.Body}
	k.made = append(k.made, request.Key)
}

// Save queues the responses, to be stored with the commit.
func (k *Keyed) Save() error {
	if len(k.made) == 0 {
		return nil
	}
	answers := Column(k.made, func(key string) storedResponse { return k.answers[key] })
	return errors.Join(
		Queue(k.tx, deleteAllExpiredSQL, Args{"tenant": int64(k.tx.home), "caller": k.caller, "keys": k.expired}),
		Queue(k.tx, storeResponsesSQL, Args{
			"tenant": int64(k.tx.home), "caller": k.caller, "keys": k.made,
			"fingerprints": Column(answers, func(r storedResponse) []byte { return r.Fingerprint }),
			"statuses":     Column(answers, func(r storedResponse) int { return r.Status }),
			"bodies":       Column(answers, func(r storedResponse) []byte { return r.Body }), "now": k.tx.Now,
		}))
}

// StoredReply is the response to a request that is carried out together with others, in the form of a statement's
// arguments. Without a key, all fields are nil.
type StoredReply struct {
	Caller, Key       *string
	Fingerprint, Body []byte
	Status            *int
}

// NewStoredReply makes the response to a request before it is carried out.
func NewStoredReply[T any](by core.Actor, once *core.Once[T], result T) (StoredReply, error) {
	if once == nil {
		return StoredReply{}, nil
	}
	response, err := once.Respond(result)
	return StoredReply{new(callerOf(by)), &once.Key, once.Fingerprint[:], response.Body, &response.Status}, err
}

// Response returns the response, once it is stored, or nil without a key.
func (r StoredReply) Response() *core.Response {
	if r.Key == nil {
		return nil
	}
	return &core.Response{Status: *r.Status, Body: r.Body}
}

const (
	// KeyIsFree is the condition that a row of "given" has no key, or one that is new and that this transaction has
	// locked. A response that is stored after the statement began violates the primary key.
	KeyIsFree = `(given.key is null
				or pg_try_advisory_xact_lock(hashtextextended(given.caller || ' ' || given.key, 7))
				and not exists (select from loyalty.idempotency where tenant_id = @tenant_id and caller = given.caller and key = given.key))`

	// StoreReplies stores the replies of the rows in "accepted".
	StoreReplies = `
	reply as (
		insert into loyalty.idempotency (tenant_id, caller, key, fingerprint, status, body, created_at)
		select tenant_id, caller, key, fingerprint, status, body, created_at
		from accepted
		where key is not null
		returning 1
	)`
)

// DeleteOldResponses deletes responses that are older than a day, the oldest first and at most
// upTo, in a transaction of the platform. It returns their number.
func DeleteOldResponses(ctx context.Context, tx *Tx, upTo int64) (int64, error) {
	return Exec(ctx, tx, deleteOldResponsesSQL, Args{"now": tx.Now, "up_to": upTo})
}

// DeleteResponsesNaming queues the deletion of the tenant's responses that name a record: for a
// customer who is erased. A client that repeats such a request has it carried out again.
func DeleteResponsesNaming(tx *Tx, id core.ID) error {
	return Queue(tx, deleteResponsesNamingSQL, Args{"id": id.String()})
}
