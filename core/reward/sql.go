package reward

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
)

const columns = `id, name, description, points_cost, stamps_cost, stock, active, created_at`

const insertSQL = `
	insert into loyalty.reward (tenant_id, id, name, description, points_cost, stamps_cost, stock, created_at)
	values (@tenant_id, @id, @name, @description, @points_cost, @stamps_cost, @stock, @now)
	returning ` + columns

const setActiveSQL = `
	update loyalty.reward
	set active = @active
	where tenant_id = @tenant_id
		and id = @id
	returning ` + columns

const listSQL = `
	select ` + columns + `
	from loyalty.reward
	where tenant_id = @tenant_id
		and active
	order by created_at desc, id desc
	limit @limit`

const listAfterSQL = `
	select ` + columns + `
	from loyalty.reward
	where tenant_id = @tenant_id
		and active
		and (created_at, id) < (@at, @id)
	order by created_at desc, id desc
	limit @limit`

const listBeforeSQL = `
	select ` + columns + `
	from loyalty.reward
	where tenant_id = @tenant_id
		and active
		and (created_at, id) > (@at, @id)
	order by created_at, id
	limit @limit`

// offer is a reward and what its buyer has; either may be missing.
type offer struct {
	RewardID       *core.ID
	Active         bool
	PointsCost     *int64
	StampsCost     *int64
	Stock          *int64
	CustomerStatus *customer.Status
	Points         int64
	Stamps         int64
}

const offerSQL = `
	select r.id as reward_id, coalesce(r.active, false) as active, r.points_cost, r.stamps_cost, r.stock,
		c.status as customer_status, coalesce(a.points, 0) as points, coalesce(a.stamps, 0) as stamps
	from (values (1)) as always
	left join loyalty.reward r on r.tenant_id = @tenant_id and r.id = @reward
	left join loyalty.customer c on c.tenant_id = @tenant_id and c.id = @customer
	left join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = c.id`

// Whoever finds a piece has it; the others wait here and find one less.
const takeStockSQL = `
	update loyalty.reward
	set stock = stock - 1
	where tenant_id = @tenant_id
		and id = @reward
		and stock > 0`

// piece says whether a reward's pieces are counted, and whether one was taken.
type piece struct{ Counted, Taken bool }

// An unlimited reward is not touched.
const grantPieceSQL = `
	with taken as (
		update loyalty.reward
		set stock = stock - 1
		where tenant_id = @tenant_id
			and id = @reward
			and stock > 0
		returning id
	)
	select r.stock is not null as counted, t.id is not null as taken
	from loyalty.reward r
	left join taken t on t.id = r.id
	where r.tenant_id = @tenant_id
		and r.id = @reward`

const returnStockSQL = `
	update loyalty.reward
	set stock = stock + 1
	where tenant_id = @tenant_id
		and id = @reward`

const redemptionColumns = `id, status, customer_id, reward_id, points_spent, stamps_spent, took_stock,
		created_at, fulfilled_at, voided_at`

const insertRedemptionSQL = `
	insert into loyalty.redemption (tenant_id, id, customer_id, reward_id, points_spent, stamps_spent, took_stock,
		actor_kind, actor_id, actor_name, created_at)
	values (@tenant_id, @id, @customer, @reward, @points, @stamps, @took_stock,
		@actor_kind, @actor_id, @actor_name, @now)`

const findRedemptionSQL = `
	select ` + redemptionColumns + `
	from loyalty.redemption
	where tenant_id = @tenant_id
		and id = @id`

const fulfilSQL = `
	update loyalty.redemption
	set status = 'fulfilled',
		fulfilled_at = @now
	where tenant_id = @tenant_id
		and id = @id
		and status = 'pending'
	returning ` + redemptionColumns

const voidSQL = `
	update loyalty.redemption
	set status = 'voided',
		voided_at = @now
	where tenant_id = @tenant_id
		and id = @id
		and status = 'pending'
	returning ` + redemptionColumns
