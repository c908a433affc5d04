package report

import (
	"math"
	"time"

	"example.com/loyalty/core"
)

// What is outstanding is the sum of a balance of every customer, and to visit a
// million of them takes longer than all else on the dashboard. So a large tenant's
// are visited once in a while, and what they held before a cut is remembered:
// since then the ledger tells what was added and taken. The sum is exact all the
// same, and no sale writes into a total.
//
// It holds because nothing joins the ledger from before the cut any more: an entry's
// id is made when its transaction begins, and none lasts as long as the cut lies
// back. (Should one, the next count has it.) Only the demo and the sandbox write a
// past, and they are small.
type openingBalances struct {
	cut     core.ID // of the ledger: the entries with this id or a higher one are not in it
	counted time.Time
	points  int64
	stamps  int64
}

const (
	cutBack      = 30 * time.Minute
	countedFor   = time.Hour
	manyAccounts = 20_000 // fewer are counted each time
)

// cachedOpening is what is known of a tenant's opening balances, or, where that is nothing or
// too old, the cut for others to be counted.
func (s *Service) cachedOpening(t core.TenantID, now time.Time) (o openingBalances, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, known := s.openings[t]; known && now.Sub(o.counted) < countedFor {
		return o, true
	}
	return openingBalances{cut: core.FirstID(now.Add(-cutBack))}, false
}

func (s *Service) cacheOpening(t core.TenantID, accounts int64, o openingBalances) {
	if accounts < s.manyAccounts || saturated(o.points) || saturated(o.stamps) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openings[t] = o
}

// saturated reports whether a sum may be larger than it says: nothing can be added to it.
func saturated(sum int64) bool { return sum == math.MaxInt64 || sum == -math.MaxInt64 }

// Balances above zero, now, are those before the cut and what the entries since made
// of them; counted together, by one statement, they agree. What is known is no part of
// the other statement at all: told by an argument that nothing needs to be counted,
// PostgreSQL would still start the processes that were to count it.
//
// Sums are numeric until the last step, which saturates: two balances can be more than
// 64 bits hold.
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

// The cut comes as a row, not as a value: by its value the planner would judge from how
// much all tenants did lately, and start other processes to read a few entries. The
// highest id is named because without an upper end it expects a third of the ledger,
// and reads all of it.
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
	), owed as (
		select greatest(least(opening.points + since.points - erased.points, 9223372036854775807), -9223372036854775807)::bigint as points,
			greatest(least(opening.stamps + since.stamps - erased.stamps, 9223372036854775807), -9223372036854775807)::bigint as stamps
		from opening
		cross join since
		cross join erased
	)`
