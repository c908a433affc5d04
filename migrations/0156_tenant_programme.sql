-- How points and stamps end is read with each request, so the row of the tenant has it.
-- +goose Up
alter table loyalty.tenant add column programme json; -- of loyalty.programme, by unit; null: nothing ends

-- +goose StatementBegin
create function loyalty.programme_of(tenant bigint) returns json
	language sql stable
as $$
	select json_object_agg(unit, json_build_object('expiry', expiry, 'months', months, 'round_to', round_to,
		'yearly_month', yearly_month, 'yearly_day', yearly_day, 'grace_days', grace_days, 'hold_until', hold_until) order by unit)
	from loyalty.programme
	where tenant_id = tenant
$$;

-- Called after a rule is written: by the product, and for an earlier build by a trigger, which a database that is
-- distributed by tenant doesn't have. The lock comes first, in a statement of its own: so the next one sees the other
-- unit's rule if that was written meanwhile.
create function loyalty.share_programme(tenant bigint) returns void
	language sql
as $$
	select
	from loyalty.tenant n
	where n.id = tenant
	for no key update;

	update loyalty.tenant n
	set programme = shared.programme
	from (select loyalty.programme_of(tenant) as programme) shared
	where n.id = tenant
		and n.programme::text is distinct from shared.programme::text
$$;

create function loyalty.share_rule() returns trigger
	language plpgsql
as $$
begin
	perform loyalty.share_programme(coalesce(new.tenant_id, old.tenant_id));
	return null;
end;
$$;

do $$
begin
	if not exists (select from pg_extension where extname = 'citus') then
		create trigger share_rule
			after insert or delete or update of expiry, months, round_to, yearly_month, yearly_day, grace_days, hold_until on loyalty.programme
			for each row execute function loyalty.share_rule();
	end if;
end
$$;
-- +goose StatementEnd

select loyalty.share_programme(tenant_id)
from loyalty.programme;
