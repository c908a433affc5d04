package report

import (
	"math"
	"time"

	"example.com/loyalty/core"
)

// openingBalances caches the sum of a large tenant's balances at a cut. Outstanding points are the sum of
// every customer's balance, and reading a million of them takes longer than the rest of the dashboard, so
// later entries are added to the cached sum. The result is exact, and sales update no total.
//
// No entry can be added before the cut: an entry's ID is made when its transaction begins, and no
// transaction lasts half an hour (if one did, the next count would include it). Only the demo and the
// sandbox write entries in the past, and they are small.
type openingBalances struct {
	cut     core.ID // entries with this ID or a higher one are not included
	counted time.Time
	points  int64
	stamps  int64
}

const (
	cutBack      = 30 * time.Minute // from the count to the cut
	cacheTime    = time.Hour
	manyAccounts = 20_000 // fewer are counted each time
)

// cachedOpening returns a tenant's cached opening balances or, if there are none, the cut to count from.
func (s *Service) cachedOpening(t core.TenantID, now time.Time) (o openingBalances, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, known := s.openings[t]; known && now.Sub(o.counted) < cacheTime {
		return o, true
	}
	return openingBalances{cut: core.FirstID(now.Add(-cutBack))}, false
}

func (s *Service) cacheOpening(t core.TenantID, accounts int64, o openingBalances) {
	if accounts < s.manyAccounts || isSaturated(o.points) || isSaturated(o.stamps) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openings[t] = o
}

// isSaturated reports whether a sum has reached its limit, so that nothing can be added to it.
func isSaturated(sum int64) bool { return sum == math.MaxInt64 || sum == -math.MaxInt64 }

// The outstanding balances are the opening balances plus the changes by later entries, read by one
// statement so that they agree. With cached balances another statement is used: PostgreSQL would start
// parallel workers for the count even if an argument said that it isn't needed.
//
// Sums are numeric until the last step, which saturates, because two balances can exceed 64 bits.
const (
	countedOutstanding = `
	with ` + since + `, opening as (
		select held.accounts, held.points - since.points as points, held.stamps - since.stamps as stamps
		from since
		cross join (
			select count(*) as accounts,
				coalesce(sum(points) filter (where points > 0), 0) as points,
				coalesce(sum(stamps) filter (where stamps > 0), 0) as stamps
			from loyalty.account
			where tenant_id = @tenant_id
		) held
	)` + owed

	knownOutstanding = `
	with ` + since + `, opening as (
		select 0::bigint as accounts, @opening_points::bigint as points, @opening_stamps::bigint as stamps
	)` + owed
)

// The cut is a row, not a constant: with a constant, the planner would expect the recent entries of all
// tenants and start parallel workers. Without the upper bound it would expect a third of the ledger and
// read all of it.
const since = `since as (
		select coalesce(sum(added) filter (where unit = 'points'), 0) as points,
			coalesce(sum(added) filter (where unit = 'stamps'), 0) as stamps
		from unnest(array[@cut::uuid]) cut
		cross join lateral (
			select unit, greatest(balance_after, 0) - greatest(balance_after - amount::numeric, 0) as added
			from loyalty.ledger_entry
			where tenant_id = @tenant_id
				and id >= cut
				and id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'
		) entry
	)`

const owed = `, erased as (
		select coalesce(sum(a.points) filter (where a.points > 0), 0) as points,
			coalesce(sum(a.stamps) filter (where a.stamps > 0), 0) as stamps
		from loyalty.customer c
		join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
		where c.tenant_id = @tenant_id
			and c.phone_key is null
			and c.email_key is null
	), owed as (
		select greatest(least(opening.points + since.points - erased.points, 9223372036854775807), -9223372036854775807)::bigint as points,
			greatest(least(opening.stamps + since.stamps - erased.stamps, 9223372036854775807), -9223372036854775807)::bigint as stamps
		from opening
		cross join since
		cross join erased
	), worth as (
		select (min(least(round(r.cost_cents::numeric * owed.points / r.points_cost), 9223372036854775807)) filter (where r.points_cost > 0))::bigint as least_points,
			(max(least(round(r.cost_cents::numeric * owed.points / r.points_cost), 9223372036854775807)) filter (where r.points_cost > 0))::bigint as most_points,
			(min(least(round(r.cost_cents::numeric * owed.stamps / r.stamps_cost), 9223372036854775807)) filter (where r.stamps_cost > 0))::bigint as least_stamps,
			(max(least(round(r.cost_cents::numeric * owed.stamps / r.stamps_cost), 9223372036854775807)) filter (where r.stamps_cost > 0))::bigint as most_stamps
		from owed
		left join loyalty.reward r on r.tenant_id = @tenant_id
			and r.active
			and r.cost_cents is not null
	)`
