-- Counts the sales of the customers who existed before 0123, a thousand at a time, each in its own
-- transaction: sales go on, and wait for one batch at most. What was counted stays counted if the
-- step stops and is tried again.
-- +goose NO TRANSACTION
-- +goose Up

-- +goose StatementBegin
do $$
declare
	last_tenant bigint := 0;
	last_customer uuid := '00000000-0000-0000-0000-000000000000';
	tenants bigint[];
	customers uuid[];
begin
	loop
		-- Locked first, then counted by a statement that sees what was committed until then: a sale is
		-- in the count, or it adds to the count when it gets the lock.
		select array_agg(b.tenant_id), array_agg(b.customer_id)
		into tenants, customers
		from (
			select a.tenant_id, a.customer_id
			from loyalty.account a
			where (a.tenant_id, a.customer_id) > (last_tenant, last_customer)
			order by a.tenant_id, a.customer_id
			limit 1000
			for no key update
		) b;
		exit when tenants is null;
		update loyalty.account a
		set visits = s.visits,
			spent_cents = s.spent_cents
		from unnest(tenants, customers) as b (tenant_id, customer_id)
		cross join lateral (
			select count(*) as visits, coalesce(sum(t.spend_amount_cents), 0) as spent_cents
			from loyalty.transaction t
			where t.tenant_id = b.tenant_id
				and t.customer_id = b.customer_id
				and t.status = 'completed'
		) s
		where a.tenant_id = b.tenant_id
			and a.customer_id = b.customer_id
			and a.visits is null;
		last_tenant := tenants[array_upper(tenants, 1)];
		last_customer := customers[array_upper(customers, 1)];
		commit;
	end loop;
end
$$;
-- +goose StatementEnd
