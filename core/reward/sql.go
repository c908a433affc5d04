package reward

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
)

const columns = `id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, encode(picture_hash, 'hex') as picture_hash, active, created_at,
		` + lowStock + ` as low_stock, min_level_id, max_per_customer, starts_on, ends_on,
		(select l.name from loyalty.level l where l.tenant_id = @tenant_id and l.id = min_level_id) as level_name`

// The threshold of the business's notifications, with the default that core/notification has.
const lowStock = `coalesce(stock between 1 and coalesce((select stock_low from loyalty.notification_setting where tenant_id = @tenant_id), 5), false)`

const insertSQL = `
	with added as (
		insert into loyalty.reward (tenant_id, id, name, description, points_cost, stamps_cost, stock, cost_cents, value_cents, picture_hash,
			min_level_id, max_per_customer, starts_on, ends_on, created_at)
		values (@tenant_id, @id, @name, @description, @points_cost, @stamps_cost, @stock, @cost_cents, @value_cents, decode(@picture, 'hex'),
			@min_level, @max_per_customer, @starts_on, @ends_on, @now)
		returning *
	)
	select ` + columns + `
	from added`

const findSQL = `
	select ` + columns + `
	from loyalty.reward
	where tenant_id = @tenant_id
		and id = @id`

const lockSQL = findSQL + `
	for no key update`

// Leaves out the stock, because tills go on taking units.
const updateSQL = `
	update loyalty.reward
	set name = @name,
		description = @description,
		points_cost = @points_cost,
		stamps_cost = @stamps_cost,
		cost_cents = @cost_cents,
		value_cents = @value_cents,
		picture_hash = decode(@picture, 'hex'),
		min_level_id = @min_level,
		max_per_customer = @max_per_customer,
		starts_on = @starts_on,
		ends_on = @ends_on,
		active = @active
	where tenant_id = @tenant_id
		and id = @id
	returning ` + columns

const writePictureSQL = `
	insert into loyalty.reward_picture (tenant_id, reward_id, type, bytes)
	values (@tenant_id, @id, @type, @bytes)
	on conflict (tenant_id, reward_id) do update
	set type = excluded.type,
		bytes = excluded.bytes`

const deletePictureSQL = `
	delete from loyalty.reward_picture
	where tenant_id = @tenant_id
		and reward_id = @id`

const pictureSQL = `
	select p.type, p.bytes
	from loyalty.reward_picture p
	join loyalty.reward r on r.tenant_id = p.tenant_id and r.id = p.reward_id
	where p.tenant_id = @tenant_id
		and p.reward_id = @id
		and r.picture_hash = @hash`

// Finds nothing if the reward already has that state.
const setActiveSQL = `
	update loyalty.reward
	set active = @active
	where tenant_id = @tenant_id
		and id = @id
		and active <> @active
	returning ` + columns

// Adds to the current stock, whatever tills have taken.
const changeStockSQL = `
	update loyalty.reward
	set stock = stock + @change
	where tenant_id = @tenant_id
		and id = @id
		and stock + @change between 0 and @most
	returning ` + columns

// Replaces only the displayed stock.
const setStockSQL = `
	update loyalty.reward
	set stock = @stock
	where tenant_id = @tenant_id
		and id = @id
		and stock is not distinct from @seen
	returning ` + columns

// Buyers don't update an unlimited reward, but hold a key share lock (offerSQL). The update waits for
// buyers in progress, and later ones wait for the update.
const limitStockSQL = `
	with held as (
		select id
		from loyalty.reward
		where tenant_id = @tenant_id
			and id = @id
		for update
	)
	update loyalty.reward
	set stock = @stock
	where tenant_id = @tenant_id
		and id = (select id from held)
		and stock is null
	returning ` + columns

// Counts the redemptions only of the rewards on the page, from an index.
const (
	countedColumns = `r.id, r.name, r.description, r.points_cost, r.stamps_cost, r.stock, r.cost_cents, r.value_cents, r.picture_hash, r.active, r.created_at, r.low_stock,
		r.min_level_id, r.max_per_customer, r.starts_on, r.ends_on, r.level_name, n.pending, n.redeemed`

	withCounts = `
	cross join lateral (
		select count(*) filter (where status = 'pending') as pending,
			count(*) filter (where status <> 'voided') as redeemed
		from loyalty.redemption
		where tenant_id = @tenant_id
			and reward_id = r.id
	) n`

	findCountedSQL = `
	select ` + countedColumns + `
	from (
		select ` + columns + `
		from loyalty.reward
		where tenant_id = @tenant_id
			and id = @id
	) r` + withCounts
)

const namesSQL = `
	select id, name, active
	from loyalty.reward
	where tenant_id = @tenant_id
	order by name, id`

var (
	newestFirst = db.Descending("created_at, id", "@at, @id")

	activeList = db.NewList(`
	select `+columns+`
	from loyalty.reward
	where tenant_id = @tenant_id
		and active {position}
	{page}`, newestFirst, nil)

	countedList = db.NewList(`
	select `+countedColumns+`
	from (
		select `+columns+`
		from loyalty.reward
		where tenant_id = @tenant_id {filters} {position}
		{page}
	) r`+withCounts+`
	{page}`, newestFirst, db.Filters{
		"active":   "active",
		"inactive": "not active",
	})
)

// offer is a reward and its buyer's balances. Either may be missing.
type offer struct {
	RewardID       *core.ID
	Name           string
	Active         bool
	PointsCost     *int64
	StampsCost     *int64
	Stock          *int64
	ValueCents     *int64
	CustomerStatus *customer.Status
	Points         int64
	Stamps         int64
	Terms
}

// The redemption's foreign keys would take the same locks on the reward and on the customer, who may be merged
// at the same time. Buyers don't wait for each other,
// but limitStockSQL and buyers do.
const offerSQL = `
	with held as (
		select id, name, active, points_cost, stamps_cost, stock, value_cents, min_level_id, max_per_customer, starts_on, ends_on
		from loyalty.reward
		where tenant_id = @tenant_id
			and id = @reward
		for key share
	), buyer as (
		select id, status
		from loyalty.customer
		where tenant_id = @tenant_id
			and id = coalesce(@customer::uuid, '00000000-0000-0000-0000-000000000000')
			and merged_into is null
		for key share
	)
	select r.id as reward_id, coalesce(r.name, '') as name, coalesce(r.active, false) as active, r.points_cost, r.stamps_cost, r.stock, r.value_cents,
		r.min_level_id, r.max_per_customer, r.starts_on, r.ends_on,
		c.status as customer_status, coalesce(a.points, 0) as points, coalesce(a.stamps, 0) as stamps
	from (values (1)) as always
	left join held r on true
	left join buyer c on true
	left join loyalty.account a on a.tenant_id = @tenant_id and a.customer_id = c.id`

// Of several buyers, one updates and the others wait and find one unit less. The reward may have become
// unlimited meanwhile.
const takeStockSQL = `
	update loyalty.reward
	set stock = stock - 1
	where tenant_id = @tenant_id
		and id = @reward
		and (stock > 0 or stock is null)
	returning stock is not null`

// takenUnit is a reward's stock (nil: unlimited), and whether a unit of it was taken.
type takenUnit struct {
	Name       string
	ValueCents *int64
	Stock      *int64
	Taken      bool
}

// An unlimited reward is locked as in offerSQL, and not updated.
const grantUnitSQL = `
	with held as (
		select id, name, value_cents, stock
		from loyalty.reward
		where tenant_id = @tenant_id
			and id = @reward
		for key share
	), taken as (
		update loyalty.reward
		set stock = stock - 1
		where tenant_id = @tenant_id
			and id = (select id from held)
			and stock > 0
		returning id
	)
	select h.name, h.value_cents, h.stock, t.id is not null as taken
	from held h
	left join taken t on t.id = h.id`

const returnStockSQL = `
	update loyalty.reward
	set stock = stock + 1
	where tenant_id = @tenant_id
		and id = @reward`

const redemptionColumns = `id, status, customer_id, reward_id,
		(select w.name from loyalty.reward w where w.tenant_id = @tenant_id and w.id = reward_id) as reward_name,
		(select w.value_cents from loyalty.reward w where w.tenant_id = @tenant_id and w.id = reward_id) as reward_value_cents,
		points_spent, stamps_spent, took_stock, created_at, fulfilled_at, voided_at`

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

const findRedemptionsSQL = `
	select ` + redemptionColumns + `
	from loyalty.redemption
	where tenant_id = @tenant_id
		and id = any (array(select unnest(@ids::uuid[])))`

const fulfilSQL = `
	update loyalty.redemption
	set status = 'fulfilled',
		fulfilled_at = @now,
		transaction_id = @transaction,
		location_id = (select l.id from loyalty.location l where l.tenant_id = @tenant_id and l.id = @location)
	where tenant_id = @tenant_id
		and id = @id
		and status = 'pending'
	returning ` + redemptionColumns

const voidSQL = `
	update loyalty.redemption
	set status = 'voided',
		voided_at = @now,
		void_reason = @reason
	where tenant_id = @tenant_id
		and id = @id
		and (status = 'pending' or status = 'fulfilled' and fulfilled_at > @fulfilled_since)
	returning ` + redemptionColumns

// An index in the order of the list finds the page, and only its redemptions are joined.
const (
	namedColumns = `d.id, d.status, d.customer_id, d.reward_id, d.points_spent, d.stamps_spent, d.took_stock,
		d.created_at, d.fulfilled_at, d.voided_at,
		c.first_name || ' ' || c.last_name as customer_name, r.name as reward_name, r.value_cents as reward_value_cents,
		k.name as coupon_name,
		d.actor_kind, d.actor_name`

	withNames = `
	from loyalty.redemption d
	join loyalty.customer c on c.tenant_id = d.tenant_id and c.id = d.customer_id
	join loyalty.reward r on r.tenant_id = d.tenant_id and r.id = d.reward_id
	left join loyalty.voucher v on v.tenant_id = d.tenant_id and v.redemption_id = d.id
	cross join lateral (
		select coalesce(v.coupon_id, ` + returnedCoupon + `) as coupon_id
		offset 0
	) g
	left join loyalty.coupon k on k.tenant_id = d.tenant_id and k.id = g.coupon_id`

	// A voucher that is valid again no longer names its reward's redemption, which is voided and was at no cost. It was
	// used at the till, or was restored.
	returnedCoupon = `case
			when d.status = 'voided' and d.points_spent + d.stamps_spent = 0 then coalesce((
				select u.coupon_id
				from loyalty.checkout_item i
				join loyalty.voucher u on u.tenant_id = i.tenant_id and u.id = i.voucher_id
				where i.tenant_id = @tenant_id
					and i.redemption_id = d.id
					and i.kind = 'voucher'
			), (
				select u.coupon_id
				from loyalty.voucher u
				where u.tenant_id = @tenant_id
					and u.customer_id = d.customer_id
					and u.restored_redemption_id = d.id
			))
		end`

	selectRedemptions = `
	select ` + namedColumns + withNames + `
	where d.tenant_id = @tenant_id {filters} {position}
	{page}`

	selectAmong = `
	select ` + namedColumns + withNames + `
	where d.tenant_id = @tenant_id
		and d.id = any (array(select unnest(@ids::uuid[]))) {filters}`
)

var amongList = db.NewList(selectAmong, db.Order{}, redemptionFilters)

var (
	redemptionLists = map[core.Sort]*db.List{
		core.Newest: db.NewList(selectRedemptions, db.Descending("d.id", "@id"), redemptionFilters),
		core.Oldest: db.NewList(selectRedemptions, db.Ascending("d.id", "@id"), redemptionFilters),
	}

	redemptionFilters = db.Filters{
		"status":   "d.status = @status",
		"customer": "d.customer_id = @customer",
		"reward":   "d.reward_id = @reward",
	}
)

// Only the audit log contains who fulfilled or voided a redemption. It may have been fulfilled more than once: an
// undone checkout leaves it pending.
const redemptionDetailSQL = `
	select ` + namedColumns + `,
		d.void_reason, p.name as location_name, l.actor_name as ended_by_name` + withNames + `
	left join loyalty.location p on p.tenant_id = d.tenant_id and p.id = d.location_id
	left join lateral (
		select case when actor_kind = 'token' and not @sees_tokens then @unnamed_token else actor_name end as actor_name
		from loyalty.audit_entry
		where tenant_id = @tenant_id
			and subject_kind = 'redemption'
			and subject_id = @subject_id
			and action = case d.status when 'fulfilled' then 'redemption.fulfil' when 'voided' then 'redemption.void' end
		order by id desc
		limit 1
	) l on true
	where d.tenant_id = @tenant_id
		and d.id = @id`
