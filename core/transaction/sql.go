package transaction

import (
	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
)

const columns = `id, rule_type, spend_amount_cents, points_awarded, stamps_awarded, status, voided_at,
		customer_id, transaction_type_id, source, location_id, external_reference, coalesce(occurred_at, created_at) as occurred_at, metadata, created_at,
		expires_on, refunded_cents, refunded_award,
		coalesce(base_award, points_awarded, stamps_awarded) as base_award, promotion_id, coalesce(promotion_award, 0) as promotion_award,
		level_id, coalesce(level_award, 0) as level_award, coalesce(capped, false) as capped, coalesce(eligible_cents, spend_amount_cents) as eligible_cents, items`

const findSQL = `
	select ` + columns + `
	from loyalty.transaction
	where tenant_id = @tenant_id
		and id = @id`

const findAllSQL = `
	select ` + columns + `
	from loyalty.transaction
	where tenant_id = @tenant_id
		and id = any (array(select unnest(@ids::uuid[])))`

// An ID contains its created_at, so IDs are in the order of time.
var (
	newestFirst = db.Descending("t.id", "@id")
	oldestFirst = db.Ascending("t.id", "@id")
)

var customerSaleList = db.NewList(`
	select `+columns+`
	from loyalty.transaction t
	where t.tenant_id = @tenant_id
		and t.customer_id = @customer {position}
	{page}`, newestFirst, nil)

// Those of the API.
var (
	recordedList = db.NewList(selectPlain+` {filters} {position}
	{page}`, newestFirst, saleFilters)
	amongList = db.NewList(selectPlain+`
		and t.id = any (array(select unnest(@ids::uuid[]))) {filters}`, db.Order{}, saleFilters)
)

const selectPlain = `
	select ` + columns + `
	from loyalty.transaction t
	where t.tenant_id = @tenant_id`

var (
	saleLists = map[core.Sort]*db.List{
		core.Newest: db.NewList(selectSales, newestFirst, saleFilters),
		core.Oldest: db.NewList(selectSales, oldestFirst, saleFilters),
	}
	foundSaleLists = map[core.Sort]*db.List{
		core.Newest: db.NewList(selectFoundSales, newestFirst, saleFilters),
		core.Oldest: db.NewList(selectFoundSales, oldestFirst, saleFilters),
	}
)

var saleFilters = db.Filters{
	// Constants, so that the index of voided sales is used.
	"completed": "t.status = 'completed'",
	"voided":    "t.status = 'voided'",
	"type":      "t.transaction_type_id = @type",
	"source":    "t.source = @source",
	"customer":  "t.customer_id = @customer",
	"location":  "t.location_id = @location",
	"recorder":  "t.actor_kind = @recorder_kind and t.actor_id = @recorder",
	"reference": "t.external_reference = @reference",
	"from":      "t.id >= @from",
	"before":    "t.id < @before",

	"without_location": "t.location_id is null",
}

// An index, read from either end, finds the page, and only its sales are joined.
const selectSales = `
	select ` + namedColumns + withNames + `
	where t.tenant_id = @tenant_id {filters} {position}
	{page}`

// Each of the three ways to find a sale gives at most a page, from an index or from the first sales in the
// list's order.
const selectFoundSales = `
	select ` + namedColumns + withNames + `
	join (
		select t.id
		from (
			select t.id
			from loyalty.transaction t
			where t.tenant_id = @tenant_id
				and t.external_reference = @search {filters} {position}
			union
			select sold.id
			from unnest(@buyers::uuid[]) buyer (id)
			cross join lateral (
				select t.id
				from loyalty.transaction t
				where t.tenant_id = @tenant_id
					and t.customer_id = buyer.id {filters} {position}
				{page}
			) sold
			union
			select near.id
			from (
				select t.id, t.spend_amount_cents
				from loyalty.transaction t
				where t.tenant_id = @tenant_id
					and @cents::bigint is not null {filters} {position}
				{order}
				limit @near
			) near
			where near.spend_amount_cents = @cents
		) t
		{page}
	) match on match.id = t.id
	where t.tenant_id = @tenant_id
	{page}`

const (
	namedColumns = `t.id, t.rule_type, t.spend_amount_cents, t.points_awarded, t.stamps_awarded, t.status, t.voided_at,
		t.customer_id, t.transaction_type_id, t.source, t.location_id, t.external_reference, coalesce(t.occurred_at, t.created_at) as occurred_at, t.metadata, t.created_at,
		t.expires_on, t.refunded_cents, t.refunded_award,
		coalesce(t.base_award, t.points_awarded, t.stamps_awarded) as base_award, t.promotion_id, coalesce(t.promotion_award, 0) as promotion_award,
		t.level_id, coalesce(t.level_award, 0) as level_award, coalesce(t.capped, false) as capped, coalesce(t.eligible_cents, t.spend_amount_cents) as eligible_cents, t.items,
		c.first_name || ' ' || c.last_name as customer_name, k.name as type_name, l.name as location_name,
		t.actor_kind, t.actor_name,
		t.status = 'completed' and (@voids_any::boolean or coalesce(t.id = ` + LastSale + `, false)) as voidable`

	withNames = `
	from loyalty.transaction t
	join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
	join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
	left join loyalty.location l on l.tenant_id = t.tenant_id and l.id = t.location_id`
)

// Only the audit log contains who voided a sale.
const detailSQL = `
	select ` + namedColumns + `,
		t.discount_cents, t.void_reason, case when v.actor_kind = 'token' and not @sees_tokens then @unnamed_token else v.actor_name end as voided_by_name,
		(select name from loyalty.promotion where tenant_id = @tenant_id and id = t.promotion_id) as promotion_name,
		(select name from loyalty.level where tenant_id = @tenant_id and id = t.level_id) as level_name` + withNames + `
	left join loyalty.audit_entry v on v.tenant_id = t.tenant_id
		and v.subject_kind = 'transaction'
		and v.subject_id = @subject_id
		and v.action = 'transaction.void'
	where t.tenant_id = @tenant_id
		and t.id = @id`

const customerSQL = `
	select
	from loyalty.customer
	where tenant_id = @tenant_id
		and id = @customer
		and merged_into is null`

// referred is a type, a customer's status and whether a location is active. Each may be missing.
type referred struct {
	ID             *int64
	RuleType       RuleType
	Active         bool
	CustomerStatus *customer.Status
	LocationActive bool
	EarningVersion int64
	Rule
}

// The customer is locked as the sale's foreign key locks them: of a merge at the same time, either the sale is
// moved with the others, or it finds a customer who was merged.
const (
	referencesSQL = withBuyer + `
		for key share` + selectReferred + fromReferred

	// Writes nothing, so it locks nothing.
	previewSQL = withBuyer + selectReferred + fromReferred

	withBuyer = `
	with buyer as (
		select id, status
		from loyalty.customer
		where tenant_id = @tenant_id
			and id = (select coalesce(@customer::uuid, '00000000-0000-0000-0000-000000000000'))
			and merged_into is null`

	selectReferred = `
	)
	select t.id, coalesce(t.rule_type, '') as rule_type, coalesce(t.active, false) as active,
		coalesce(t.points_per_unit, 0) as points_per_unit, coalesce(t.unit_cents, 1) as unit_cents,
		coalesce(t.stamps_per_transaction, 0) as stamps_per_transaction,
		coalesce(t.min_spend_cents, 0) as min_spend_cents, t.max_award, coalesce(t.excluded_categories, '{}') as excluded_categories,
		c.status as customer_status, coalesce(l.active, false) as location_active, n.earning_version`

	fromReferred = `
	from loyalty.tenant n
	left join loyalty.transaction_type t on t.tenant_id = @tenant_id and t.id = coalesce(@type::bigint, 0)
	left join buyer c on true
	left join loyalty.location l on l.tenant_id = @tenant_id and l.id = coalesce(@location::bigint, 0)
	where n.id = @tenant_id`
)

// The parts of an award, from JSON that is null for one that is all base.
const (
	partColumns = `base_award, promotion_id, promotion_award, level_id, level_award, capped, eligible_cents, items`

	partValues = `(parts ->> 'base')::bigint, (parts ->> 'promotion')::bigint, (parts ->> 'promotion_award')::bigint,
			(parts ->> 'level')::bigint, (parts ->> 'level_award')::bigint, (parts ->> 'capped')::boolean, (parts ->> 'eligible')::bigint, parts -> 'items'`
)

const insertSQL = `
	insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents, discount_cents,
		points_awarded, stamps_awarded, expires_on, source, location_id, external_reference, occurred_at, metadata,
		` + partColumns + `, actor_kind, actor_id, actor_name, created_at)
	values (@tenant_id, @id, @customer, @type, @rule_type, @spend, @discount,
		@points, @stamps, @expires_on, @source, @location, @reference, @occurred_at, @metadata,
		(@parts::jsonb ->> 'base')::bigint, (@parts::jsonb ->> 'promotion')::bigint, (@parts::jsonb ->> 'promotion_award')::bigint,
		(@parts::jsonb ->> 'level')::bigint, (@parts::jsonb ->> 'level_award')::bigint, (@parts::jsonb ->> 'capped')::boolean,
		(@parts::jsonb ->> 'eligible')::bigint, @parts::jsonb -> 'items', @actor_kind, @actor_id, @actor_name, @now)`

const (
	voidCompleted = `
	update loyalty.transaction
	set status = 'voided',
		voided_at = @now,
		void_reason = @reason
	where tenant_id = @tenant_id
		and id = @id
		and status = 'completed'`

	voidSQL = voidCompleted + `
	returning ` + columns + `, ` + isRemembered

	voidLastSQL = voidCompleted + `
		and id = ` + LastSale + `
	returning ` + columns + `, ` + isRemembered

	isRemembered = `(
			select n.points_day_cap is not null or n.stamps_day_cap is not null
				or exists (select from loyalty.level_programme where tenant_id = @tenant_id and active)
			from loyalty.tenant n
			where n.id = @tenant_id
		) as remembered`

	// LastSale is the ID of a cashier's last sale, if it is recent. There are few recent sales, so they need no index.
	LastSale = `(
			select id
			from loyalty.transaction
			where tenant_id = @tenant_id
				and id >= @since_id
				and actor_kind = 'staff'
				and actor_id = @actor_id
			order by id desc
			limit 1
		)`
)

const typeColumns = `id, name, rule_type, active, points_per_unit, unit_cents, stamps_per_transaction, min_spend_cents, max_award, excluded_categories`

const insertTypeSQL = `
	insert into loyalty.transaction_type (tenant_id, name, rule_type, points_per_unit, unit_cents, stamps_per_transaction,
		min_spend_cents, max_award, excluded_categories, created_at)
	values (@tenant_id, @name, @rule_type, @points_per_unit, @unit_cents, @stamps_per_transaction,
		@min_spend_cents, @max_award, @excluded_categories, @now)
	returning ` + typeColumns

const typesSQL = `
	select ` + typeColumns + `
	from loyalty.transaction_type
	where tenant_id = @tenant_id
	order by id`

var typePages = db.NewList(`
	select `+typeColumns+`
	from loyalty.transaction_type
	where tenant_id = @tenant_id {position}
	{page}`, db.Ascending("id", "@number"), nil)

const findTypeSQL = `
	select ` + typeColumns + `
	from loyalty.transaction_type
	where tenant_id = @tenant_id
		and id = @id`

const lockTypeSQL = `
	select ` + typeColumns + `,
		(
			select id
			from loyalty.transaction
			where tenant_id = @tenant_id
				and transaction_type_id = @id
			order by id
			limit 1
		) is not null as used,
		array(select id from loyalty.category where tenant_id = @tenant_id) as categories
	from loyalty.transaction_type
	where tenant_id = @tenant_id
		and id = @id
	for no key update`

const updateTypeSQL = `
	update loyalty.transaction_type
	set name = @name,
		rule_type = @rule_type,
		active = @active,
		points_per_unit = @points_per_unit,
		unit_cents = @unit_cents,
		stamps_per_transaction = @stamps_per_transaction,
		min_spend_cents = @min_spend_cents,
		max_award = @max_award,
		excluded_categories = @excluded_categories
	where tenant_id = @tenant_id
		and id = @id
	returning ` + typeColumns

// Finds nothing if the type already has that state.
const setTypeActiveSQL = `
	update loyalty.transaction_type
	set active = @active
	where tenant_id = @tenant_id
		and id = @id
		and active <> @active
	returning ` + typeColumns
