package transaction

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
)

// ready is a sale that only the database can refuse.
type ready struct {
	Transaction
	rules *award.Rules // by which it earns; the statement checks that they are still the business's
	input award.Sale
	entry core.ID // of the ledger
	by    core.Actor
	reply db.StoredReply
	sold  sold                  // where the rules need the buyer, only once the account is locked
	stamp func(time.Time) error // makes the sale with its award, its entry and its reply those of an instant

	metadata                   *string // as it is stored
	pointsIdleOn, stampsIdleOn *time.Time

	apart []any                                                  // what only one sale of a batch may have (claims)
	alone func(context.Context) (core.Reply[Transaction], error) // records the sale without others
}

// prepare returns a sale that can be recorded together with others, or nil: if it must be refused, if its type or what it earns by
// isn't known yet, or if its customer's use of a promotion must be counted.
func (s *Service) prepare(by core.Actor, sale Sale, unread core.Fields, once *core.Once[Transaction]) *ready {
	check := core.NewCheck(unread)
	now := s.db.Now()
	sale.check(check, now)
	known, kind, has := s.books.findType(by.Tenant.ID, sale.TransactionTypeID)
	if !has || known.Version < by.Tenant.EarningVersion || check.Err() != nil {
		return nil
	}
	r := &ready{rules: known.Rules, input: sale.input(by, kind, now), by: by, metadata: sale.Metadata.Stored()}
	if len(r.rules.Limited(r.input)) > 0 {
		return nil
	}
	r.sold.earned = compute(check, r.rules, r.input, nil)
	r.stamp = func(now time.Time) (err error) {
		r.Transaction, r.entry = sale.of(by, core.NewID(now), r.sold.earned, now), core.NewID(now)
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

// Of the sales, the statements record those of an active business that earn by the same rules as when the award was computed, whose
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
		from (values ((@ids::uuid[])[1], (@customers::uuid[])[1], (@types::bigint[])[1], (@units::text[])[1], (@spends::bigint[])[1], (@awards::bigint[])[1], (@sources::text[])[1],
			(@locations::bigint[])[1], (@references::text[])[1], (@actor_kinds::text[])[1], (@actor_ids::text[])[1], (@actor_names::text[])[1],
			(@times::timestamptz[])[1], (@entries::uuid[])[1], (@callers::text[])[1], (@keys::text[])[1], (@fingerprints::bytea[])[1], (@statuses::int[])[1], (@bodies::bytea[])[1],
			(@last_days::date[])[1], (@occurred::timestamptz[])[1], (@metadata::jsonb[])[1], (@points_idle_on::date[])[1], (@stamps_idle_on::date[])[1], (@parts::jsonb[])[1], 1))
			as ` + givenSale + `
	),
	locked` + usableSales + `,` + accepted + insertAccepted + `,` + ledger.AwardOne + `
	select place
	from locked`
)

// Where awards depend on the customer, a first statement locks the customers and accounts of the sales that can be recorded, and
// returns what awards know of them; then a second one records these sales.
const (
	lockBuyersSQL = `
	with given as (
		select *
		from unnest(@customers::uuid[], @locations::bigint[], @references::text[], @callers::text[], @keys::text[])
			with ordinality
			as sale (customer_id, location_id, reference, caller, key, place)
	),
	usable` + usableSales + `
	select *
	from (
		select u.place, u.birth_month, u.birth_day, a.points, a.stamps, ` + ledger.StandingColumns + `
		from usable u
		join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = u.customer_id
		order by u.customer_id
		for no key update of a
	) standing`

	recordKnownSQL = withGiven + known + accepted + insertAccepted + `,` + ledger.AwardEachKnown + `
	select place
	from locked`

	recordKnownOnItsNodeSQL = withGiven + known + acceptedOnItsNode + insertAccepted + `,` + ledger.AwardEachKnown + `
	select place
	from locked`
)

const (
	withGiven = `
	with given as (
		select *
		from unnest(@ids::uuid[], @customers::uuid[], @types::bigint[], @units::text[], @spends::bigint[], @awards::bigint[], @sources::text[],
			@locations::bigint[], @references::text[], @actor_kinds::text[], @actor_ids::text[], @actor_names::text[],
			@times::timestamptz[], @entries::uuid[], @callers::text[], @keys::text[], @fingerprints::bytea[], @statuses::int[], @bodies::bytea[],
			@last_days::date[], @occurred::timestamptz[], @metadata::jsonb[], @points_idle_on::date[], @stamps_idle_on::date[], @parts::jsonb[])
			with ordinality
			as ` + givenSale + `
	),`

	givenSale = `sale (id, customer_id, type, unit, spend, award, source,
			location_id, reference, actor_kind, actor_id, actor_name,
			created_at, entry, caller, key, fingerprint, status, body,
			expires_on, occurred_at, metadata, points_idle_on, stamps_idle_on, parts, place)`

	// The conditions come before the account, and customers are joined to the sales: for "id = any (…)", PostgreSQL reads
	// all customers of a large business if most businesses have few.
	usableSales = ` as materialized (
		select *
		from (
			select given.*, c.birth_month, c.birth_day
			from given
			join loyalty.customer c on c.tenant_id = @tenant_id and c.id = given.customer_id
			where c.status = 'active'
				and c.merged_into is null
				and exists (select from loyalty.tenant where id = @tenant_id and status = 'active' and earning_version = @version)
				and (given.location_id is null
					or (select active from loyalty.location where tenant_id = @tenant_id and id = given.location_id))
				and (given.reference is null
					or not exists (select from loyalty.transaction where tenant_id = @tenant_id and external_reference = given.reference))
				and ` + db.KeyIsFree + `
			order by given.customer_id
			for key share of c
		) customer
	)`

	lockAll = `
	usable` + usableSales + `,
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

	// The first statement has locked the accounts.
	known = `
	locked as materialized (
		select given.*, a.points, a.stamps, a.entries
		from given
		join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = given.customer_id
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
			source, location_id, external_reference, occurred_at, metadata, ` + partColumns + `, actor_kind, actor_id, actor_name, created_at)
		select tenant_id, id, customer_id, type, unit, spend,
			case when unit = 'points' then award end, case when unit = 'stamps' then award end, expires_on,
			source, location_id, reference, occurred_at, metadata, ` + partValues + `, actor_kind, actor_id, actor_name, created_at
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
	if s.db.IsDistributed() && len(sales) < fewOnANode {
		return recordInTurn(ctx, sales)
	}
	sales = ofOneVersion(sales)
	var places []int
	var err error
	if sales[0].rules.NeedBuyer() {
		sales, err = s.recordKnown(ctx, sales)
	} else if places, err = s.recordUnknown(ctx, tenant, sales); err == nil {
		sales = db.Column(places, func(place int) *ready { return sales[place-1] })
	}
	if err != nil {
		return nil, err
	}
	recorded := make(map[*ready]core.Reply[Transaction], len(sales))
	for _, r := range sales {
		recorded[r] = core.Reply[Transaction]{Result: r.Transaction, Response: r.reply.Response()}
		s.codes.Note(tenant, r.sold.earned.UnknownCodes, r.CreatedAt)
	}
	return recorded, nil
}

// recordUnknown records sales whose awards don't depend on the customer, in one round trip, and returns the places of those
// that were recorded.
func (s *Service) recordUnknown(ctx context.Context, tenant core.TenantID, sales []*ready) (places []int, err error) {
	statement := recordEachSQL
	switch {
	case s.db.IsDistributed():
		statement = recordOnItsNodeSQL
	case len(sales) == 1:
		statement = recordOneSQL
	}
	var set []string
	err = db.Write(ctx, s.db, tenant, func(now time.Time) ([]db.Reading, error) {
		for _, r := range sales {
			if now.Sub(r.CreatedAt) > db.MaxAge {
				if err := r.stamp(now); err != nil {
					return nil, err
				}
			}
		}
		args := recordArgs(sales)
		args["version"] = sales[0].rules.Version
		return []db.Reading{db.AllInto(&set, ledger.VisitsCountedSQL, nil), db.AllInto(&places, statement, args)}, nil
	})
	return places, err
}

// knownBuyer is the account of a sale's customer, which is locked.
type knownBuyer struct {
	Place int
	account
}

// recordKnown records sales whose awards depend on the customer, in two round trips, and returns those that were recorded.
func (s *Service) recordKnown(ctx context.Context, sales []*ready) ([]*ready, error) {
	statement := recordKnownSQL
	if s.db.IsDistributed() {
		statement = recordKnownOnItsNodeSQL
	}
	return db.In(ctx, s.db.Tenant(core.Actor{Tenant: sales[0].by.Tenant}), func(tx *db.Tx) ([]*ready, error) {
		buyers, err := db.All[knownBuyer](ctx, tx, lockBuyersSQL, lockArgs(sales))
		if err != nil {
			return nil, err
		}
		known := make([]*ready, 0, len(buyers))
		for _, b := range buyers {
			r := sales[b.Place-1]
			if fits, err := r.sellTo(b.account, tx.Now); err != nil {
				return nil, err
			} else if fits {
				known = append(known, r)
			}
		}
		if len(known) == 0 {
			return nil, nil
		}
		args := recordArgs(known)
		args["standings"] = ledger.StandingsJSON(db.Column(known, func(r *ready) ledger.Standing { return *r.sold.standing }))
		err = errors.Join(db.Queue(tx, ledger.VisitsCountedSQL, nil), db.Queue(tx, statement, args))
		for _, r := range known {
			err = errors.Join(err, level.Queue(tx, r.by, r.CustomerID, &r.ID, r.sold.changes))
		}
		return known, err
	})
}

// sellTo computes what the sale earns for the account, and reports whether it can be recorded together with others.
func (r *ready) sellTo(a account, now time.Time) (fits bool, err error) {
	buyer, changes, knowsDay := a.buyer(r.rules, r.input, now)
	if !knowsDay {
		return false, nil
	}
	r.sold = a.sell(core.NewCheck(nil), r.rules, r.input, buyer, changes, now)
	if r.sold.earned.TooLarge {
		return false, nil
	}
	return true, r.stamp(now)
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

// lockArgs returns the columns by which it is decided whether sales can be recorded.
func lockArgs(sales []*ready) db.Args {
	return db.Args{
		"version":    sales[0].rules.Version,
		"customers":  db.Column(sales, func(r *ready) core.ID { return r.CustomerID }),
		"locations":  db.Column(sales, func(r *ready) *int64 { return r.LocationID }),
		"references": db.Column(sales, func(r *ready) *string { return r.ExternalReference }),
		"callers":    db.Column(sales, func(r *ready) *string { return r.reply.Caller }),
		"keys":       db.Column(sales, func(r *ready) *string { return r.reply.Key }),
	}
}

// recordArgs returns the columns of the sales.
func recordArgs(sales []*ready) db.Args {
	return db.Args{
		"ids":          db.Column(sales, func(r *ready) core.ID { return r.ID }),
		"customers":    db.Column(sales, func(r *ready) core.ID { return r.CustomerID }),
		"types":        db.Column(sales, func(r *ready) int64 { return r.TransactionTypeID }),
		"units":        db.Column(sales, func(r *ready) string { return string(r.RuleType) }),
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
		"parts":          db.Column(sales, func(r *ready) *string { return r.parts() }),
	}
}

// ofOneVersion returns the sales that were prepared by the newest rules.
func ofOneVersion(sales []*ready) []*ready {
	newest := slices.MaxFunc(sales, func(a, b *ready) int { return cmp.Compare(a.rules.Version, b.rules.Version) }).rules.Version
	return slices.DeleteFunc(slices.Clone(sales), func(r *ready) bool { return r.rules.Version != newest })
}
