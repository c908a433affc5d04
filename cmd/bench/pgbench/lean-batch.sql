-- As many sales as :size in one transaction. Customers are locked in one order, so that batches don't
-- wait for each other in a circle.
\set first_customer random(0, :buyers - 1)
\set number :number + :size
\set id :first + :number
\startpipeline
begin;
with sale as materialized (
	select bench.new_id(1, :id + n, :client_id) as id, bench.customer(1 + (:first_customer + n::bigint * 7919) % :buyers * :step) as customer_id, n
	from generate_series(0, :size - 1) n
), locked as materialized (
	select id
	from lean.customer
	where id in (select customer_id from sale)
		and status = 'active'
	order by id
	for update
), moved as (
	update lean.customer c
	set points = c.points + 12 * sales,
		entries = c.entries + sales
	from (select customer_id, count(*) as sales from sale group by customer_id) total
	where c.id = total.customer_id
		and c.id in (select id from locked)
	returning c.id, c.points, c.entries, sales
), recorded as (
	insert into lean.transaction (id, customer_id, spend_amount_cents, points_awarded, created_at)
	select id, customer_id, 1250, 12, now()
	from sale
)
insert into lean.ledger_entry (customer_id, seq, amount, balance_after, cause, created_at)
select customer_id, entries - sales + place, 12, points - 12 * (sales - place), id, now()
from (select *, row_number() over (partition by customer_id order by n) as place from sale) s
join (select id as customer_id, points, entries, sales from moved) m using (customer_id);
commit;
\endpipeline
