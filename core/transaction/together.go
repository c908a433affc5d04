package transaction

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

// ready is a sale that only the database can refuse.
type ready struct {
	Transaction
	kind  Type    // whose rule gave the award; the statement checks that it is still the type's
	entry core.ID // of the ledger
	by    core.Actor
	reply db.StoredReply
	stamp func(now time.Time) error // makes the sale, its entry and its reply those of an instant

	metadata                   *string // as it is stored
	pointsIdleOn, stampsIdleOn *time.Time

	apart []any                                                  // what only one sale of a batch may have (claims)
	alone func(context.Context) (core.Reply[Transaction], error) // records the sale without others
}

// prepare returns a sale that can be recorded together with others, or nil: if it must be refused, or its
// type isn't known yet.
func (s *Service) prepare(by core.Actor, sale Sale, unread core.Fields, once *core.Once[Transaction]) *ready {
	check := core.NewCheck(unread)
	now := s.db.Now()
	sale.check(check, now)
	kind, known := s.kinds.find(by.Tenant.ID, sale.TransactionTypeID)
	if !known {
		return nil
	}
	award := kind.award(check, sale.SpendAmountCents)
	r := &ready{kind: kind, by: by, metadata: sale.Metadata.Stored()}
	r.stamp = func(now time.Time) (err error) {
		r.Transaction, r.entry = sale.of(by, kind, core.NewID(now), award, now), core.NewID(now)
		r.pointsIdleOn, r.stampsIdleOn = ledger.IdleDays(by, r.OccurredAt)
		r.reply, err = db.NewStoredReply(by, once, r.Transaction)
		return err
	}
	if err := r.stamp(now); check.Err() != nil || err != nil {
		return nil // refused alone, with what the database finds
	}
	r.apart = r.claims()
	r.alone = func(ctx context.Context) (core.Reply[Transaction], error) {
		return s.recordAlone(ctx, r.by, sale, unread, once)
	}
	return r
}

// claims returns what only one sale of a batch may have: its customer, receipt number and idempotency key. A second one waits for the next batch.
func (r *ready) claims() []any {
	type (
		reference string
		request   struct{ caller, key string }
	)
	claims := []any{r.CustomerID}
	if r.ExternalReference != nil {
		claims = append(claims, reference(*r.ExternalReference))
	}
	if r.reply.Key != nil {
		claims = append(claims, request{*r.reply.Caller, *r.reply.Key})
	}
	return claims
}

// isLeftOut reports whether a batch has recorded nothing of a sale, which must be recorded or refused alone.
func isLeftOut(err error) bool { return errors.Is(err, core.ErrNotFound) || db.RefusesData(err) }

// Of the sales, the statements record those of an active business whose type has the same rule as when the award was computed, whose
// customer, location and receipt number can be used, and whose idempotency key is new.
//
// All customers are locked, then all accounts, each in the order of the customers' IDs. A customer is locked as for a
// sale that is recorded alone (referencesSQL). The locking selects are subqueries: Citus can't read the result of a
// common table expression that itself locks some of the tables it joins.
const (
	recordEachSQL = withGiven + lockAll + accepted + insertAccepted + `,` + ledger.AwardEach + `
	select place
	from locked`

	recordOnItsNodeSQL = withGiven + lockAll + acceptedOnItsNode + insertAccepted + `,` + ledger.AwardEach + `
	select place
	from locked`

	// For a batch of one, PostgreSQL needs a third less time without sets.
	recordOneSQL = `
	with given as (
		select *
		from (values ((@ids::uuid[])[1], (@customers::uuid[])[1], (@types::bigint[])[1], (@spends::bigint[])[1], (@awards::bigint[])[1], (@sources::text[])[1],
			(@locations::bigint[])[1], (@references::text[])[1], (@actor_kinds::text[])[1], (@actor_ids::text[])[1], (@actor_names::text[])[1],
			(@times::timestamptz[])[1], (@entries::uuid[])[1], (@callers::text[])[1], (@keys::text[])[1], (@fingerprints::bytea[])[1], (@statuses::int[])[1], (@bodies::bytea[])[1],
			(@last_days::date[])[1], (@occurred::timestamptz[])[1], (@metadata::jsonb[])[1], (@points_idle_on::date[])[1], (@stamps_idle_on::date[])[1], 1))
			as ` + givenSale + `
	),
	kind as (
		select t.id, t.rule_type
		from (values ((@kinds::bigint[])[1], (@rule_types::text[])[1], (@points::bigint[])[1], (@units::bigint[])[1], (@stamps::bigint[])[1], (@least::bigint[])[1], (@most::bigint[])[1]))
			as ` + unchangedKind + `
	),
	locked` + usableSales + accepted + insertAccepted + `,` + ledger.AwardOne + `
	select place
	from locked`
)

const (
	withGiven = `
	with given as (
		select *
		from unnest(@ids::uuid[], @customers::uuid[], @types::bigint[], @spends::bigint[], @awards::bigint[], @sources::text[],
			@locations::bigint[], @references::text[], @actor_kinds::text[], @actor_ids::text[], @actor_names::text[],
			@times::timestamptz[], @entries::uuid[], @callers::text[], @keys::text[], @fingerprints::bytea[], @statuses::int[], @bodies::bytea[],
			@last_days::date[], @occurred::timestamptz[], @metadata::jsonb[], @points_idle_on::date[], @stamps_idle_on::date[])
			with ordinality
			as ` + givenSale + `
	),
	kind as (
		select t.id, t.rule_type
		from unnest(@kinds::bigint[], @rule_types::text[], @points::bigint[], @units::bigint[], @stamps::bigint[], @least::bigint[], @most::bigint[])
			as ` + unchangedKind + `
	),`

	givenSale = `sale (id, customer_id, type, spend, award, source,
			location_id, reference, actor_kind, actor_id, actor_name,
			created_at, entry, caller, key, fingerprint, status, body,
			expires_on, occurred_at, metadata, points_idle_on, stamps_idle_on, place)`

	unchangedKind = `k (id, rule_type, points_per_unit, unit_cents, stamps_per_transaction, min_spend_cents, max_award)
		join loyalty.transaction_type t on t.tenant_id = @tenant_id and t.id = k.id
		where t.active
			and (t.rule_type, t.points_per_unit, t.unit_cents, t.stamps_per_transaction, t.min_spend_cents)
				= (k.rule_type, k.points_per_unit, k.unit_cents, k.stamps_per_transaction, k.min_spend_cents)
			and t.max_award is not distinct from k.max_award
			and exists (select from loyalty.tenant where id = @tenant_id and status = 'active')`

	// The conditions come before the account, and customers are joined to the sales: for "id = any (…)", PostgreSQL reads
	// all customers of a large business if most businesses have few.
	usableSales = ` as materialized (
		select *
		from (
			select given.*, kind.rule_type as unit
			from given
			join kind on kind.id = given.type
			join loyalty.customer c on c.tenant_id = @tenant_id and c.id = given.customer_id
			where c.status = 'active'
				and c.merged_into is null
				and (given.location_id is null
					or (select active from loyalty.location where tenant_id = @tenant_id and id = given.location_id))
				and (given.reference is null
					or not exists (select from loyalty.transaction where tenant_id = @tenant_id and external_reference = given.reference))
				and ` + db.KeyIsFree + `
			order by given.customer_id
			for key share of c
		) customer
	),`

	lockAll = `
	usable` + usableSales + `
	locked as materialized (
		select *
		from (
			select u.*, a.points, a.stamps, a.entries
			from usable u
			join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = u.customer_id
			order by u.customer_id
			for no key update of a
		) account
	),`

	accepted = `
	accepted as not materialized (
		select @tenant_id::bigint as tenant_id, *
		from locked
	),`

	// Because this joins a table of the tenant, a distributed database inserts on the tenant's node and needs no other.
	acceptedOnItsNode = `
	accepted as not materialized (
		select t.tenant_id, l.*
		from locked l
		join loyalty.transaction_type t on t.tenant_id = @tenant_id and t.id = l.type
	),`

	insertAccepted = `
	sold as (
		insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents,
			points_awarded, stamps_awarded, expires_on,
			source, location_id, external_reference, occurred_at, metadata, actor_kind, actor_id, actor_name, created_at)
		select tenant_id, id, customer_id, type, unit, spend,
			case when unit = 'points' then award end, case when unit = 'stamps' then award end, expires_on,
			source, location_id, reference, occurred_at, metadata, actor_kind, actor_id, actor_name, created_at
		from accepted
		order by place
		returning 1
	),` + db.StoreReplies
)

// In a distributed database, the coordinator plans each statement anew. Fewer sales than these cost less with the simple
// statements of RecordIn (docs/scale.md).
const fewOnANode = 3

// recordAll records sales of different customers of a tenant in one transaction, except those that can't be recorded as they are.
func (s *Service) recordAll(ctx context.Context, tenant core.TenantID, sales []*ready) (map[*ready]core.Reply[Transaction], error) {
	statement := recordEachSQL
	switch {
	case s.db.IsDistributed() && len(sales) < fewOnANode:
		return recordInTurn(ctx, sales)
	case s.db.IsDistributed():
		statement = recordOnItsNodeSQL
	case len(sales) == 1:
		statement = recordOneSQL
	}
	sales, kinds := ofOneRule(sales)
	var set []string
	var places []int
	err := db.Write(ctx, s.db, tenant, func(now time.Time) ([]db.Reading, error) {
		for _, r := range sales {
			if now.Sub(r.CreatedAt) > db.MaxAge {
				if err := r.stamp(now); err != nil {
					return nil, err
				}
			}
		}
		return []db.Reading{db.AllInto(&set, ledger.VisitsCountedSQL, nil), db.AllInto(&places, statement, recordArgs(sales, kinds))}, nil
	})
	if err != nil {
		return nil, err
	}
	recorded := make(map[*ready]core.Reply[Transaction], len(places))
	for _, place := range places {
		r := sales[place-1]
		recorded[r] = core.Reply[Transaction]{Result: r.Transaction, Response: r.reply.Response()}
	}
	return recorded, nil
}

// errInTurn has the combiner pass sales one by one, so that none is recorded again if another one fails.
var errInTurn = errors.New("transaction: few sales are recorded one by one")

// recordInTurn records few sales, each in a transaction of its own. Others gather meanwhile for the next batch.
func recordInTurn(ctx context.Context, sales []*ready) (map[*ready]core.Reply[Transaction], error) {
	if len(sales) > 1 {
		return nil, errInTurn
	}
	made, err := sales[0].alone(ctx)
	return map[*ready]core.Reply[Transaction]{sales[0]: made}, err
}

// recordArgs returns the columns of the sales and of their types.
func recordArgs(sales []*ready, kinds []Type) db.Args {
	return db.Args{
		"ids":          db.Column(sales, func(r *ready) core.ID { return r.ID }),
		"customers":    db.Column(sales, func(r *ready) core.ID { return r.CustomerID }),
		"types":        db.Column(sales, func(r *ready) int64 { return r.TransactionTypeID }),
		"spends":       db.Column(sales, func(r *ready) int64 { return r.SpendAmountCents }),
		"awards":       db.Column(sales, func(r *ready) int64 { return r.Award() }),
		"sources":      db.Column(sales, func(r *ready) string { return string(r.Source) }),
		"locations":    db.Column(sales, func(r *ready) *int64 { return r.LocationID }),
		"references":   db.Column(sales, func(r *ready) *string { return r.ExternalReference }),
		"actor_kinds":  db.Column(sales, func(r *ready) string { return string(r.by.Kind) }),
		"actor_ids":    db.Column(sales, func(r *ready) string { return r.by.ID }),
		"actor_names":  db.Column(sales, func(r *ready) string { return r.by.Name }),
		"times":        db.Column(sales, func(r *ready) time.Time { return r.CreatedAt }),
		"entries":      db.Column(sales, func(r *ready) core.ID { return r.entry }),
		"callers":      db.Column(sales, func(r *ready) *string { return r.reply.Caller }),
		"keys":         db.Column(sales, func(r *ready) *string { return r.reply.Key }),
		"fingerprints": db.Column(sales, func(r *ready) []byte { return r.reply.Fingerprint }),
		"statuses":     db.Column(sales, func(r *ready) *int { return r.reply.Status }),
		"bodies":       db.Column(sales, func(r *ready) []byte { return r.reply.Body }),
		"last_days":    db.Column(sales, func(r *ready) *time.Time { return r.ExpiresOn }),
		"occurred":     db.Column(sales, func(r *ready) *time.Time { return r.occurredBefore() }),
		"metadata":     db.Column(sales, func(r *ready) *string { return r.metadata }),

		"points_idle_on": db.Column(sales, func(r *ready) *time.Time { return r.pointsIdleOn }),
		"stamps_idle_on": db.Column(sales, func(r *ready) *time.Time { return r.stampsIdleOn }),

		"kinds":      db.Column(kinds, func(t Type) int64 { return t.ID }),
		"rule_types": db.Column(kinds, func(t Type) string { return string(t.RuleType) }),
		"points":     db.Column(kinds, func(t Type) int64 { return t.PointsPerUnit }),
		"units":      db.Column(kinds, func(t Type) int64 { return t.UnitCents }),
		"stamps":     db.Column(kinds, func(t Type) int64 { return t.StampsPerTransaction }),
		"least":      db.Column(kinds, func(t Type) int64 { return t.MinSpendCents }),
		"most":       db.Column(kinds, func(t Type) *int64 { return t.MaxAward }),
	}
}

// ofOneRule returns the types of sales, and the sales without those whose type had another rule when they were prepared.
func ofOneRule(sales []*ready) (same []*ready, kinds []Type) {
	byID := map[int64]Type{}
	for _, r := range sales {
		kind, known := byID[r.kind.ID]
		switch {
		case !known:
			byID[r.kind.ID], kinds = r.kind, append(kinds, r.kind)
		case !kind.hasRuleOf(r.kind):
			continue
		}
		same = append(same, r)
	}
	return same, kinds
}

// hasRuleOf reports whether two types earn the same.
func (t Type) hasRuleOf(other Type) bool {
	one, two := t.Rule, other.Rule
	most := one.MaxAward == two.MaxAward || one.MaxAward != nil && two.MaxAward != nil && *one.MaxAward == *two.MaxAward
	one.MaxAward, two.MaxAward = nil, nil
	return t.RuleType == other.RuleType && most && one == two
}

// kinds remembers the types of recent sales, so that an award can be computed before the database is asked. It
// may be out of date: the statement compares.
type kinds struct {
	mu    sync.RWMutex
	known map[kindKey]Type
}

type kindKey struct {
	tenant core.TenantID
	id     int64
}

// maxKinds limits what is remembered.
const maxKinds = 20_000

func (k *kinds) find(tenant core.TenantID, id int64) (Type, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	kind, known := k.known[kindKey{tenant, id}]
	return kind, known
}

func (k *kinds) remember(tenant core.TenantID, kind Type) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || len(k.known) >= maxKinds {
		k.known = map[kindKey]Type{}
	}
	k.known[kindKey{tenant, kind.ID}] = kind
}
