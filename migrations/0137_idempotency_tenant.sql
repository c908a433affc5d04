-- Prepares for a database that is distributed by tenant: a stored response is found by its tenant, which is
-- 0 for the platform, and the statements that write and void sales count visits and spend themselves.
-- Responses and sales of an earlier build, which still serves during the upgrade, are given a tenant and
-- counted by triggers.
-- +goose Up

alter table loyalty.idempotency drop constraint idempotency_tenant_id_fkey;

-- +goose StatementBegin
create function loyalty.give_platform() returns trigger
	language plpgsql
as $$
begin
	new.tenant_id := 0;
	return new;
end;
$$;
-- +goose StatementEnd
create trigger give_platform before insert on loyalty.idempotency
	for each row when (new.tenant_id is null) execute function loyalty.give_platform();
update loyalty.idempotency set tenant_id = 0 where tenant_id is null;

create or replace trigger discount_sale after update of status on loyalty.transaction
	for each row when (old.status = 'completed' and new.status = 'voided'
		and current_setting('app.visits_counted', true) is distinct from 'yes')
	execute function loyalty.discount_sale();
