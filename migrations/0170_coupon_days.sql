-- What coupons brought: of the sales of a day, those that their vouchers were used with. Built while requests go on; a try that was stopped
-- left an invalid index.
-- +goose NO TRANSACTION
-- +goose Up

drop index concurrently if exists loyalty.voucher_of_transaction;
create index concurrently voucher_of_transaction on loyalty.voucher (tenant_id, transaction_id) where transaction_id is not null;

-- The sales of day_coupon are those of the day, whenever their vouchers were redeemed.
alter table loyalty.day_coupon add column if not exists granted bigint not null default 0; -- redemptions by vouchers of the day, not voided
alter table loyalty.day_coupon add column if not exists unpriced bigint not null default 0; -- vouchers of the day whose discount isn't recorded
alter table loyalty.day_coupon add column if not exists transactions_once bigint not null default 0; -- of these, without those that another coupon counts
alter table loyalty.day_coupon add column if not exists spend_once numeric not null default 0; -- likewise

-- All days are counted anew.
update loyalty.days_counted set zone = '';

-- As in 0168, for builds that don't mark days themselves: a sale that a voucher names, or doesn't any more.
-- +goose StatementBegin
create or replace function loyalty.mark_sale_of_voucher() returns trigger
	language plpgsql
as $$
begin
	insert into loyalty.day_mark (tenant_id, at, id, visits)
	select t.tenant_id, t.created_at, loyalty.new_ulid(clock_timestamp()), false
	from loyalty.transaction t
	where t.tenant_id = old.tenant_id
		and t.id in (old.transaction_id, new.transaction_id);
	return null;
end;
$$;
-- +goose StatementEnd

-- +goose StatementBegin
do $$
begin
	if not exists (select from pg_extension where extname = 'citus') then
		execute 'create or replace trigger mark_sale after update of transaction_id on loyalty.voucher
			for each row when (new.transaction_id is distinct from old.transaction_id and coalesce(current_setting(''app.marks_days'', true), '''') = '''')
			execute function loyalty.mark_sale_of_voucher()';
	end if;
end
$$;
-- +goose StatementEnd
