-- As many rows of the same columns as a send creates, without keys, indexes, references, policies.
begin;
create table loyalty.bare (like loyalty.voucher including defaults);
grant insert on loyalty.bare to loyalty_app;
select loyalty.enter(:tenant);
insert into loyalty.bare (tenant_id, id, coupon_id, send_id, customer_id, status, created_at)
select tenant_id, loyalty.new_ulid(now()), id, id, id, 'pending', now()
from loyalty.customer
where tenant_id = :tenant
	and status = 'active';
rollback;
