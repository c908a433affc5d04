package verify

// Without indexes, statements read the tables with hash joins and sorts, which need memory. With
// row_security off, a login that a policy restricts gets an error instead of a clean result. Set statements reach the
// nodes of a distributed database, and set_config does not. Plans without indexes look so dear that a node would compile
// each.
const readEverythingSQL = `
	do $$
	begin
		set local row_security = off;
		set local enable_indexscan = off;
		set local enable_indexonlyscan = off;
		set local enable_bitmapscan = off;
		set local enable_nestloop = off;
		set local enable_mergejoin = off;
		set local work_mem = '128MB';
		set local jit = off;
	end
	$$`

// A tenant that was just imported is missing in the planner's statistics, so it would join large tables row by row.
const readTenantSQL = `
	do $$
	begin
		set local enable_nestloop = off;
		set local work_mem = '128MB';
	end
	$$`

// Every check judges each record with its tenant and ID, and ends with this. Windows partition by the most
// distinct column first and the tenant last, and by hashes of texts, which halves the time of sorting a
// million rows.
const tally = `
	select count(*) as counted,
		count(*) filter (where wrong) as wrong,
		coalesce((array_agg(tenant_id) filter (where wrong))[1:5], '{}') as tenants,
		coalesce((array_agg(id::text) filter (where wrong))[1:5], '{}') as ids
	from judged`

// Compares what is due with the entries of one kind. A merged customer's entries stay in their ledger, and
// what they are for moved to the customer who was kept. An amount of zero has no entry. A row on one side
// only is wrong, so this also finds entries without a cause and those of another tenant, customer, unit
// or turn. What was posted more than once is added up, and wrong: a distributed database can compare sums where they are.
const (
	postedAs = `
	), gone as (
		select tenant_id, id, merged_into
		from loyalty.customer
		where merged_into is not null
	), posted as (
		select e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id) as customer_id, e.unit, e.turn, sum(e.amount) as amount, count(*) as entries
		from loyalty.ledger_entry e
		left join gone g on g.id = e.customer_id and g.tenant_id = e.tenant_id
		where e.kind = `
	compared = `
		group by e.tenant_id, e.cause, coalesce(g.merged_into, e.customer_id), e.unit, e.turn
	), judged as (
		select coalesce(d.tenant_id, e.tenant_id) as tenant_id,
			coalesce(d.id, e.cause) as id,
			d.amount is distinct from coalesce(e.amount, 0) or coalesce(e.entries, 1) > 1 as wrong
		from due d
		full join posted e on e.cause = d.id
			and e.tenant_id = d.tenant_id
			and e.customer_id = d.customer_id
			and e.unit = d.unit
			and e.turn = d.turn
	)` + tally
)
