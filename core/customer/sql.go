package customer

const columns = `c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
		a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, c.phone_key is null as erased`

const (
	selectCustomer = `
	select ` + columns + fromCustomer

	fromCustomer = `
	from loyalty.customer c
	join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id`
)

const findSQL = selectCustomer + `
	where c.tenant_id = @tenant_id
		and c.id = @id`

// Whoever writes a phone number's key shares a lock on the country it is read as of: a
// change of the country, which keys all numbers anew, waits for them, and they for it.
// A lock of the tenant's row would do the same and cost five of six upserts: every one
// would write into that row.
const holdCountrySQL = `
	select pg_advisory_xact_lock_shared(hashtextextended('country ' || @tenant_id::bigint::text, 9))`

const moveCountrySQL = `
	select pg_advisory_xact_lock(hashtextextended('country ' || @tenant_id::bigint::text, 9))`

const lockSQL = `
	select ` + columns + `,
		(select coalesce(country, '') from loyalty.tenant where id = @tenant_id) as country` + fromCustomer + `
	where c.tenant_id = @tenant_id
		and c.id = @id
	for no key update of c`

// Phone first, then e-mail. One value is looked up, from a query of its own: under the
// policy an expression would not be trusted with the index, and all customers read.
const findByKeysSQL = selectCustomer + `
	where c.tenant_id = @tenant_id
		and c.id = (
			select coalesce(
				(select id from loyalty.customer where tenant_id = @tenant_id and phone_key = @phone_key),
				(select id from loyalty.customer where tenant_id = @tenant_id and email_key = @email_key))
		)`

// Either key may be somebody's already, or the country another than the phone was
// read as of: then no row comes back.
const insertSQL = `
	insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, email, email_key, created_at, updated_at)
	select @tenant_id, @id, @first_name, @last_name, @phone, @phone_key, @email, @email_key, @now, @now
	from loyalty.tenant
	where id = @tenant_id
		and coalesce(country, '') = @country
	on conflict do nothing
	returning id, first_name, last_name, phone, email, status,
		0::bigint as points_balance, 0::bigint as stamps_balance, created_at, updated_at, false as erased`

const updateSQL = `
	update loyalty.customer c
	set first_name = @first_name,
		last_name = @last_name,
		phone = @phone,
		phone_key = @phone_key,
		email = @email,
		email_key = @email_key,
		status = @status,
		updated_at = @now
	from loyalty.account a
	where c.tenant_id = @tenant_id
		and c.id = @id
		and a.tenant_id = c.tenant_id
		and a.customer_id = c.id
	returning ` + columns

const listSQL = selectCustomer + whereTenant

// The panel's list tells as well when somebody was last here: their newest sale that was
// not voided, looked up for the customers of the page alone.
const (
	browseSQL = selectRow + whereTenant

	selectRow = `
	select ` + columns + `, visit.created_at as last_visit` + fromCustomer + `
	left join lateral (
		select t.created_at
		from loyalty.transaction t
		where t.tenant_id = c.tenant_id
			and t.customer_id = c.id
			and t.status = 'completed'
		order by t.id desc
		limit 1
	) visit on true`
)

// Filters, places and orders of a list, to be added to its statement.
const (
	whereTenant = `
	where c.tenant_id = @tenant_id`
	wherePhone  = ` and c.phone_key = @phone_key`
	whereEmail  = ` and c.email_key = @email_key`
	whereStatus = ` and c.status = @status`
	whereFrom   = ` and c.created_at >= @from`
	whereBefore = ` and c.created_at < @before`

	whereOlder  = ` and (c.created_at, c.id) < (@at, @id)`
	whereNewer  = ` and (c.created_at, c.id) > (@at, @id)`
	newestFirst = ` order by c.created_at desc, c.id desc limit @limit`
	oldestFirst = ` order by c.created_at, c.id limit @limit`

	// The place in the list is the customer's, and their name is looked up: nobody's name
	// travels in an address. One value each, from queries of their own: so the index is used.
	whereNameAfter  = ` and (c.last_name collate loyalty.name, c.first_name collate loyalty.name, c.id) > ` + nameOfPlace
	whereNameBefore = ` and (c.last_name collate loyalty.name, c.first_name collate loyalty.name, c.id) < ` + nameOfPlace
	nameOfPlace     = `(
			(select last_name from loyalty.customer where tenant_id = @tenant_id and id = @id),
			(select first_name from loyalty.customer where tenant_id = @tenant_id and id = @id),
			@id::uuid
		)`
	byName          = ` order by c.last_name collate loyalty.name, c.first_name collate loyalty.name, c.id limit @limit`
	byNameBackwards = ` order by c.last_name collate loyalty.name desc, c.first_name collate loyalty.name desc, c.id desc limit @limit`
)

const (
	searchSQL = selectCustomer + whereTenant + whereFound

	browseSearchSQL = selectRow + whereTenant + whereFound

	whereFound = `
		and c.id in (
			select s.id
			from loyalty.search_customer(@needles, @dialled, @phone_key, @email_key, @status, @from, @before, @at, @id, @back, @limit) s
		)`
)

// A count ends at its limit.
const (
	countSome = `
	select count(*)
	from (
		select
		from loyalty.customer c` + whereTenant

	upTo = `
		limit @limit
	) counted`

	countFoundSQL = `
	select count(*)
	from loyalty.search_customer(@needles, @dialled, @phone_key, @email_key, @status, @from, @before, null, null, false, @limit)`
)

const phonesSQL = `
	select id, phone, phone_key
	from loyalty.customer
	where tenant_id = @tenant_id
		and phone_key is not null
	order by id`

const vacateKeysSQL = `
	update loyalty.customer
	set phone_key = null
	where tenant_id = @tenant_id
		and id = any(@ids::uuid[])`

const setKeysSQL = `
	update loyalty.customer c
	set phone_key = given.phone_key
	from unnest(@ids::uuid[], @keys::text[]) given (id, phone_key)
	where c.tenant_id = @tenant_id
		and c.id = given.id`
