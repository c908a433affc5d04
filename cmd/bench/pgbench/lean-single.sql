-- As a program without a look-up, a policy and a pipeline sends them: one after the other.
\set n 1 + random(0, :buyers - 1) * :step
\set number :number + 1
\set id :first + :number
begin;
update lean.customer
set points = points + 12,
	entries = entries + 1
where id = bench.customer(:n)
	and status = 'active'
returning points, entries \gset
insert into lean.transaction (id, customer_id, spend_amount_cents, points_awarded, created_at)
values (bench.new_id(1, :id, :client_id), bench.customer(:n), 1250, 12, now());
insert into lean.ledger_entry (customer_id, seq, amount, balance_after, cause, created_at)
values (bench.customer(:n), :entries, 12, :points, bench.new_id(1, :id, :client_id), now());
commit;
