package transaction

import (
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
)

const columns = `id, rule_type, spend_amount_cents, points_awarded, stamps_awarded, status, voided_at,
		customer_id, transaction_type_id, source, location_id, external_reference, created_at`

const findSQL = `
	select ` + columns + `
	from loyalty.transaction
	where tenant_id = @tenant_id
		and id = @id`

// Ids are made at created_at, so their order is the order in time.
const listByCustomerSQL = `
	select ` + columns + `
	from loyalty.transaction
	where tenant_id = @tenant_id
		and customer_id = @customer
	order by id desc
	limit @limit`

const listByCustomerAfterSQL = `
	select ` + columns + `
	from loyalty.transaction
	where tenant_id = @tenant_id
		and customer_id = @customer
		and id < @id
	order by id desc
	limit @limit`

const listByCustomerBeforeSQL = `
	select ` + columns + `
	from loyalty.transaction
	where tenant_id = @tenant_id
		and customer_id = @customer
		and id > @id
	order by id
	limit @limit`

type customerState struct{ Status customer.Status }

const customerStateSQL = `
	select status
	from loyalty.customer
	where tenant_id = @tenant_id
		and id = @customer`

// references is a type and a customer's status; either may be missing.
type references struct {
	ID             *int64
	RuleType       ledger.Unit
	Active         bool
	CustomerStatus *customer.Status
	Rule
}

const referencesSQL = `
	select t.id, coalesce(t.rule_type, '') as rule_type, coalesce(t.active, false) as active,
		coalesce(t.points_per_unit, 0) as points_per_unit, coalesce(t.unit_cents, 1) as unit_cents,
		coalesce(t.stamps_per_transaction, 0) as stamps_per_transaction,
		coalesce(t.min_spend_cents, 0) as min_spend_cents, t.max_award, c.status as customer_status
	from (values (1)) as always
	left join loyalty.transaction_type t on t.tenant_id = @tenant_id and t.id = @type
	left join loyalty.customer c on c.tenant_id = @tenant_id and c.id = @customer`

const insertSQL = `
	insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents,
		points_awarded, stamps_awarded, source, external_reference, actor_kind, actor_id, actor_name, created_at)
	values (@tenant_id, @id, @customer, @type, @rule_type, @spend,
		@points, @stamps, @source, @reference, @actor_kind, @actor_id, @actor_name, @now)`

const voidSQL = `
	update loyalty.transaction
	set status = 'voided',
		voided_at = @now
	where tenant_id = @tenant_id
		and id = @id
		and status = 'completed'
	returning ` + columns

const typeColumns = `id, name, rule_type, active, points_per_unit, unit_cents, stamps_per_transaction, min_spend_cents, max_award`

const insertTypeSQL = `
	insert into loyalty.transaction_type (tenant_id, name, rule_type, points_per_unit, unit_cents, stamps_per_transaction,
		min_spend_cents, max_award, created_at)
	values (@tenant_id, @name, @rule_type, @points_per_unit, @unit_cents, @stamps_per_transaction,
		@min_spend_cents, @max_award, @now)
	returning ` + typeColumns

const typesSQL = `
	select ` + typeColumns + `
	from loyalty.transaction_type
	where tenant_id = @tenant_id
	order by id`

const setTypeActiveSQL = `
	update loyalty.transaction_type
	set active = @active
	where tenant_id = @tenant_id
		and id = @id
	returning ` + typeColumns
