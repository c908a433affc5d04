-- What people look for in a shop's records, found by indexes however rare it is; and
-- what a coupon's page counts.
-- +goose Up

-- Sales of a type, of a source or of a location, newest first.
create index transaction_of_type on loyalty.transaction (tenant_id, transaction_type_id, id);
create index transaction_of_source on loyalty.transaction (tenant_id, source, id);
create index transaction_of_location on loyalty.transaction (tenant_id, location_id, id) where location_id is not null;

-- Two branches of one name could not be told apart at the till.
alter table loyalty.location
	add column name_key text not null generated always as (lower(name)) stored,
	add constraint location_name unique (tenant_id, name_key);

-- Redemptions of a status: the queue of the pending ones, and each other; and those of
-- a reward, which are counted from the index alone.
create index redemption_of_status on loyalty.redemption (tenant_id, status, id);
drop index loyalty.redemption_pending;
create index redemption_of_reward on loyalty.redemption (tenant_id, reward_id, id) include (status);
-- As of sales: by default a fifth of a table must be new before its pages speak for themselves.
alter table loyalty.redemption set (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000);

-- All vouchers of a send expire at one instant, so that a send knows what became of
-- its vouchers without looking at them, however many there are.
alter table loyalty.coupon_send
	add column redeemed bigint not null default 0, -- of its vouchers
	add column expires_at timestamptz(3); -- of its vouchers, fixed when they are made; null: never
update loyalty.coupon_send s
set redeemed = v.redeemed,
	expires_at = v.expires_at
from (
	select tenant_id, send_id, count(*) filter (where status = 'redeemed') as redeemed, max(expires_at) as expires_at
	from loyalty.voucher
	group by tenant_id, send_id
) v
where v.tenant_id = s.tenant_id
	and v.send_id = s.id;
alter table loyalty.coupon_send
	add constraint coupon_send_redeemed check (redeemed between 0 and sent),
	set (fillfactor = 80); -- room for an update to stay on its page, away from the index
