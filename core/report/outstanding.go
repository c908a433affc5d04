package report

import (
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

// opening is what is known of a tenant's opening balances, or, where that is nothing or
// too old, the cut for others to be counted.
func (s *Service) opening(t core.TenantID, now time.Time) (o openingBalances, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, known := s.openings[t]; known && now.Sub(o.counted) < countedFor {
		return o, true
	}
	return openingBalances{cut: core.FirstID(now.Add(-cutBack))}, false
}

func (s *Service) remember(t core.TenantID, accounts int64, o openingBalances) {
	if accounts < s.manyAccounts {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openings[t] = o
}

// Balances above zero, now, are those before the cut and what the entries since made
// of them; counted together, by one statement, they agree. The highest id is named
// because without an upper end the planner expects a third of the ledger, and reads
// all of it.
const outstanding = `
	with held as (
		select count(*) as accounts,
			coalesce(sum(points) filter (where points > 0), 0)::bigint as points,
			coalesce(sum(stamps) filter (where stamps > 0), 0)::bigint as stamps
		from loyalty.account
		where tenant_id = @tenant_id
			and @count::boolean
	), since as (
		select coalesce(sum(added) filter (where unit = 'points'), 0)::bigint as points,
			coalesce(sum(added) filter (where unit = 'stamps'), 0)::bigint as stamps
		from loyalty.ledger_entry
		cross join lateral (select greatest(balance_after, 0) - greatest(balance_after - amount, 0) as added) above_zero
		where tenant_id = @tenant_id
			and id >= @cut
			and id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'
	), opening as (
		select case when @count then held.points - since.points else @opening_points::bigint end as points,
			case when @count then held.stamps - since.stamps else @opening_stamps::bigint end as stamps
		from held
		cross join since
	), erased as (
		select coalesce(sum(a.points) filter (where a.points > 0), 0)::bigint as points,
			coalesce(sum(a.stamps) filter (where a.stamps > 0), 0)::bigint as stamps
		from loyalty.customer c
		join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
		where c.tenant_id = @tenant_id
			and c.phone_key is null
	), owed as (
		select opening.points + since.points - erased.points as points,
			opening.stamps + since.stamps - erased.stamps as stamps
		from opening
		cross join since
		cross join erased
	)`
