package customer

import (
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
)

const tagsOf = `array(select g.tag from loyalty.customer_tag g where g.tenant_id = @tenant_id and g.customer_id = c.id order by g.key) as tags`

// An erased customer has no key. A customer without a phone number has an e-mail address.
const columns = `c.id, c.first_name, c.last_name, c.phone, c.email, c.status,
		a.points as points_balance, a.stamps as stamps_balance, c.created_at, c.updated_at, coalesce(c.phone_key, c.email_key) is null as erased,
		c.external_id, c.metadata, ` + tagsOf + `,
		a.points_expire_on, a.stamps_expire_on, a.points_idle_on, a.stamps_idle_on, c.unsubscribed_at, c.link_version, c.unchecked_since,
		moved.created_at as balance_changed_at, ` + BirthdayColumn + `,
		` + ledger.StandingColumns

// BirthdayColumn selects a Birthday from a customer.
const BirthdayColumn = `coalesce(birth_year::text || '-', '') || lpad(birth_month::text, 2, '0') || '-' || lpad(birth_day::text, 2, '0') as birthday`

const (
	selectCustomer = `
	select ` + columns + fromCustomer

	fromCustomer = `
	from loyalty.customer c
	join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id` + lastMove

	// An account counts its entries.
	lastMove = `
	left join loyalty.ledger_entry moved on moved.tenant_id = a.tenant_id and moved.customer_id = a.customer_id and moved.seq = a.entries`
)

const findSQL = selectCustomer + `
	where c.tenant_id = @tenant_id
		and c.id = @id
		and c.merged_into is null`

// As the foreign key of an entry would lock it, so that a merge at the same time waits.
const holdSQL = findSQL + `
	for key share of c`

const findAllSQL = selectCustomer + `
	where c.tenant_id = @tenant_id
		and c.id = any (array(select unnest(@ids::uuid[])))
		and c.merged_into is null
	order by c.id`

// A transaction that writes a phone number's or an e-mail address's key shares a lock. A change of the country, which
// changes all keys, and a merge, which hands keys on, wait for these, and they for them. A lock of the tenant's row would be written
// into that row by every upsert, which makes upserts six times slower.
const lockCountrySQL = `
	select pg_advisory_xact_lock_shared(hashtextextended('country ' || @tenant_id::bigint::text, 9))`

const lockKeysSQL = `
	select pg_advisory_xact_lock(hashtextextended('country ' || @tenant_id::bigint::text, 9))`

const (
	selectLocked = selectKeys + `
	where c.tenant_id = @tenant_id
		and c.id = @id
		and c.merged_into is null`

	selectKeys = `
	select ` + columns + `, coalesce(c.phone_key, '') as phone_key, c.email_key,` + furtherKeys + `,
		(select coalesce(country, '') from loyalty.tenant where id = @tenant_id) as country,
		(select phone_optional from loyalty.tenant where id = @tenant_id) as phone_optional` + fromCustomer

	lockSQL = selectLocked + `
	for no key update of c`

	// Removing the keys needs this lock. If it were taken only then, an adjustment, which holds the customer before it
	// reads their name for the audit log, would wait for it in a circle.
	lockAloneSQL = selectLocked + `
	for update of c`
)

// A program's own id first, then phone, then e-mail. The id comes from a subquery: under the policy, PostgreSQL uses no index for
// an expression and would read all customers.
const findByKeysSQL = selectCustomer + `
	where c.tenant_id = @tenant_id
		and c.id = (
			select coalesce(
				(select id from loyalty.customer where tenant_id = @tenant_id and external_id = @external_id),
				(select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'external_id' and key = @external_id),
				(select id from loyalty.customer where tenant_id = @tenant_id and phone_key = @phone_key),
				(select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'phone' and key = @phone_key),
				(select id from loyalty.customer where tenant_id = @tenant_id and email_key = @email_key),
				(select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'email' and key = @email_key))
		)`

const (
	lastSale = `
	left join lateral (
		select t.id
		from loyalty.transaction t
		where t.tenant_id = @tenant_id
			and t.customer_id = c.id
			and t.status = 'completed'
		order by t.id desc
		limit 1
	) visit on true`

	lastVisitorFirst = `c.status = 'active' desc, visit.id desc nulls last, c.id desc
	limit @limit`

	// A match of the whole number comes first. A number finds its extensions, too.
	findByPhoneSQL = selectCustomer + lastSale + `
	where c.tenant_id = @tenant_id
		and (
			c.phone_key = @phone_key
			or c.phone_key ~>=~ (@phone_key::text || ';') and c.phone_key ~<~ (@phone_key::text || '<')
			or c.phone_end = right(@ending::text, 4) and right(c.phone_key, length(@ending::text)) = @ending::text
			or c.id = any (array(
				select customer_id
				from loyalty.customer_key
				where tenant_id = @tenant_id
					and kind = 'phone'
					and (key = @phone_key or right(key, length(@ending::text)) = @ending::text)
			))
		)
	order by c.phone_key = @phone_key desc nulls last, ` + lastVisitorFirst

	// Erased customers have no key.
	findByNameSQL = selectCustomer + lastSale + `
	where c.tenant_id = @tenant_id
		and coalesce(c.phone_key, c.email_key) is not null
		and c.id in (` + Found + `
		)
	order by ` + lastVisitorFirst
)

// Returns no row if one of the keys exists, also as a further one, if the country is not the one by which the phone
// number was read, if they have no phone number and the tenant requires one, or if the customers counted leave no space
// in the plan, whose limit is read here to apply at once.
const insertSQL = `
	insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, email, email_key, folded,
		external_id, metadata, birth_year, birth_month, birth_day, unchecked_since, created_at, updated_at)
	select @tenant_id, @id, @first_name, @last_name, @phone, nullif(@phone_key, ''), @email, @email_key, @folded,
		@external_id, @metadata::jsonb, @birth_year::int, @birth_month::int, @birth_day::int, @unchecked_since::timestamptz, @now, @now
	from loyalty.tenant t
	where t.id = @tenant_id
		and coalesce(t.country, '') = @country
		and (@phone_key <> '' or t.phone_optional)
		and (@used::bigint is null
			or (select coalesce(p.customers_limit > @used, true) from loyalty.plan p where p.id = t.plan_id))
		and not exists (
			select
			from loyalty.customer_key
			where tenant_id = @tenant_id
				and (kind = 'phone' and key = @phone_key or kind = 'email' and key = @email_key or kind = 'external_id' and key = @external_id)
		)
	on conflict do nothing
	returning id, first_name, last_name, phone, email, status,
		0::bigint as points_balance, 0::bigint as stamps_balance, created_at, updated_at, false as erased,
		external_id, metadata, '{}'::text[] as tags,
		null::date as points_expire_on, null::date as stamps_expire_on, null::date as points_idle_on, null::date as stamps_idle_on,
		unsubscribed_at, link_version, unchecked_since, null::timestamptz as balance_changed_at, ` + BirthdayColumn + `,
		` + ledger.NewStandingColumns

// Changes nothing if one of the keys leads to another customer.
const updateSQL = `
	update loyalty.customer c
	set first_name = @first_name,
		last_name = @last_name,
		phone = @phone,
		phone_key = nullif(@phone_key, ''),
		email = @email,
		email_key = @email_key,
		external_id = @external_id,
		metadata = @metadata::jsonb,
		birth_year = @birth_year::int,
		birth_month = @birth_month::int,
		birth_day = @birth_day::int,
		folded = @folded,
		status = @status,
		link_version = c.link_version + @replaces::bigint,
		unchecked_since = case when c.phone_key = @phone_key then c.unchecked_since end,
		updated_at = @now
	from loyalty.account a` + lastMove + `
	where c.tenant_id = @tenant_id
		and c.id = @id
		and not exists (
			select
			from loyalty.customer_key
			where tenant_id = @tenant_id
				and customer_id <> @id
				and (kind = 'phone' and key = @phone_key and c.phone_key is distinct from @phone_key
					or kind = 'email' and key = @email_key and c.email_key is distinct from @email_key
					or kind = 'external_id' and key = @external_id and c.external_id is distinct from @external_id)
		)
		and a.tenant_id = c.tenant_id
		and a.customer_id = c.id
	returning ` + columns

// Also by a further key. As arrays, so that their indexes are used.
const (
	withPhone = `array(
			select id from loyalty.customer where tenant_id = @tenant_id and phone_key = @phone_key
			union all
			select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'phone' and key = @phone_key
		)`
	withEmail = `array(
			select id from loyalty.customer where tenant_id = @tenant_id and email_key = @email_key
			union all
			select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'email' and key = @email_key
		)`
	withExternalID = `array(
			select id from loyalty.customer where tenant_id = @tenant_id and external_id = @external_id
			union all
			select customer_id from loyalty.customer_key where tenant_id = @tenant_id and kind = 'external_id' and key = @external_id
		)`
)

const whereTenant = `
	where c.tenant_id = @tenant_id
		and c.merged_into is null`

var (
	newestFirst = db.Descending("c.created_at, c.id", "@at, @id")

	// The position has the customer's id, and the name is read, so that no name is part of an address.
	// Subqueries, so that the index is used.
	byName = db.Ascending("c.last_name collate loyalty.name, c.first_name collate loyalty.name, c.id", `
			(select last_name from loyalty.customer where tenant_id = @tenant_id and id = @id),
			(select first_name from loyalty.customer where tenant_id = @tenant_id and id = @id),
			@id::uuid`)

	filters = db.Filters{
		"phone_key": "c.id = any (" + withPhone + ")",
		"email_key": "c.id = any (" + withEmail + ")",
		"status":    "c.status = @status",
		"from":      "c.created_at >= @from",
		"before":    "c.created_at < @before",

		"external_id": "c.id = any (" + withExternalID + ")",

		// Of a search among few customers.
		"patterns":     "coalesce(c.folded, c.search_key) like any (@patterns::text[])",
		"all_patterns": "coalesce(c.folded, c.search_key) like all (@all_patterns::text[])",
	}
)

const onePage = whereTenant + ` {filters} {position}
	{page}`

// The panel's list has the last visit: the newest completed sale, read for the customers of the page only.
const (
	selectRow = `
	select ` + rowColumns + fromRow

	rowColumns = columns + `, visit.created_at as last_visit`

	fromRow = fromCustomer + lastVisit

	lastVisit = `
	left join lateral (
		select t.created_at
		from loyalty.transaction t
		where t.tenant_id = @tenant_id
			and t.customer_id = c.id
			and t.status = 'completed'
		order by t.id desc
		limit 1
	) visit on true`
)

var (
	customerList = db.NewList(selectCustomer+onePage, newestFirst, filters)
	rowList      = db.NewList(selectRow+onePage, newestFirst, filters)
	rowsByName   = db.NewList(selectRow+onePage, byName, filters)
)

// Of given customers, those that match a filter.
var amongList = db.NewList(selectCustomer+whereTenant+`
		and c.id = any (array(select unnest(@ids::uuid[]))) {filters}`, db.Order{}, filters)

// The customers of a tag are read from the tag's index, newest first; a search looks at these alone.
var taggedRowList = db.NewList(`
	select `+rowColumns+`
	from loyalty.customer_tag g
	join loyalty.customer c on c.tenant_id = g.tenant_id and c.id = g.customer_id
	join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id`+lastMove+lastVisit+`
	where g.tenant_id = @tenant_id
		and g.key = @tag {filters} {position}
	{page}`, db.Descending("g.created_at, g.customer_id", "@at, @id"), db.Filters{
	"phone_key": filters["phone_key"],
	"email_key": filters["email_key"],
	"status":    filters["status"],
	"from":      "g.created_at >= @from",
	"before":    "g.created_at < @before",

	"external_id":  filters["external_id"],
	"patterns":     filters["patterns"],
	"all_patterns": filters["all_patterns"],
})

// Found selects the IDs of the newest @found customers that a search finds.
const Found = `
	select s.id
	from loyalty.find_customers(@needles, @every, null, null, null, null, null, null, null, null, false, @found) s`

// A search uses the one function that may use its index, with the filters as arguments.
var (
	foundList    = db.NewList(selectCustomer+whereFound, foundOrder, nil)
	foundRowList = db.NewList(selectRow+whereFound, foundOrder, nil)

	foundOrder = db.Order{
		First: "null, null, false", After: "@at, @id, false", Before: "@at, @id, true",
		Forward: newestFirst.Forward, Backward: newestFirst.Backward,
	}
)

const whereFound = whereTenant + `
		and c.id in (
			select s.id
			from loyalty.find_customers(@needles, @every, null, @phone_key, @email_key, @status, @from, @before, {position}, @limit) s
		)
	{page}`

// The first page of a search and the number of matches, which are found in the order of the page.
const browseFoundSQL = `
	with found as materialized (
		select s.id, s.place
		from loyalty.find_customers(@needles, @every, null, @phone_key, @email_key, @status, @from, @before, null, null, false, @limit)
			with ordinality s (id, place)
	)
	select ` + rowColumns + `,
		(select count(*) from found) as found` + fromRow + whereTenant + `
		and c.id in (select id from found where place <= @size)
	order by c.created_at desc, c.id desc`

const eraseSQL = `
	update loyalty.customer c
	set first_name = 'Erased',
		last_name = 'Erased',
		phone = '',
		phone_key = null,
		email = null,
		email_key = null,
		external_id = null,
		metadata = null,
		birth_year = null,
		birth_month = null,
		birth_day = null,
		folded = '',
		note = null,
		status = 'inactive',
		link_version = c.link_version + 1,
		updated_at = @now
	from loyalty.account a` + lastMove + `
	where c.tenant_id = @tenant_id
		and c.id = @id
		and a.tenant_id = c.tenant_id
		and a.customer_id = c.id
	returning ` + columns

// The customers' own numbers first.
const phonesSQL = `
	select id, phone, phone_key, false as further
	from loyalty.customer
	where tenant_id = @tenant_id
		and phone_key is not null
	union all
	select customer_id, text, key, true
	from loyalty.customer_key
	where tenant_id = @tenant_id
		and kind = 'phone'
	order by further, id, phone_key`

const (
	dropFurtherSQL = `
	delete from loyalty.customer_key
	where tenant_id = @tenant_id
		and kind = 'phone'
		and key = any(@keys::text[])`

	// First gives them keys that no number has, so that none gets a key while another still has it.
	vacateFurtherSQL = `
	update loyalty.customer_key
	set key = 'moving ' || key
	where tenant_id = @tenant_id
		and kind = 'phone'
		and key = any(@old::text[])`

	setFurtherSQL = `
	update loyalty.customer_key f
	set key = given.new
	from (
		select 'moving ' || old as key, new
		from unnest(@old::text[], @new::text[]) given (old, new)
		offset 0
	) given
	where f.tenant_id = @tenant_id
		and f.kind = 'phone'
		and f.key = given.key`

	unfoldSQL = `
	update loyalty.customer
	set folded = null
	where tenant_id = @tenant_id
		and id = any(@ids::uuid[])`
)

const vacateKeysSQL = `
	update loyalty.customer
	set phone_key = null
	where tenant_id = @tenant_id
		and id = any(@ids::uuid[])`

const setKeysSQL = `
	update loyalty.customer c
	set phone_key = given.phone_key,
		folded = null
	from unnest(@ids::uuid[], @keys::text[]) given (id, phone_key)
	where c.tenant_id = @tenant_id
		and c.id = given.id`

// Finds no customer who had chosen that before, or who is erased.
const subscribeSQL = `
	update loyalty.customer c
	set unsubscribed_at = @unsubscribed_at,
		updated_at = @now
	from loyalty.account a` + lastMove + `
	where c.tenant_id = @tenant_id
		and c.id = @id
		and coalesce(c.phone_key, c.email_key) is not null
		and (c.unsubscribed_at is null) = (@unsubscribed_at::timestamptz is not null)
		and a.tenant_id = c.tenant_id
		and a.customer_id = c.id
	returning ` + columns
