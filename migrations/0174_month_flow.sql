-- What changed balances in months of which each day is counted (core/daily), so that what is owed isn't the sum of all days.
-- +goose Up
create table loyalty.month_flow (
	tenant_id bigint not null,
	month date not null, -- its first day
	unit text not null,
	kind text not null,
	amount numeric not null, -- as in day_flow
	below numeric not null,
	primary key (tenant_id, month, unit, kind)
);
select loyalty.wall('loyalty.month_flow');

insert into loyalty.month_flow (tenant_id, month, unit, kind, amount, below)
select f.tenant_id, date_trunc('month', f.day::timestamp)::date, f.unit, f.kind, sum(f.amount), sum(f.below)
from loyalty.days_counted c
join loyalty.day_flow f on f.tenant_id = c.tenant_id
where date_trunc('month', f.day::timestamp)::date >= c.first_day
	and (date_trunc('month', f.day::timestamp) + interval '1 month')::date <= c.last_day
group by 1, 2, 3, 4;

-- Days of another time zone have other months. This build drops them itself; an earlier one, which serves during the upgrade and after going
-- back, doesn't know them. A database that is distributed by tenant has no triggers.
-- +goose StatementBegin
create function loyalty.drop_months() returns trigger
	language plpgsql
as $$
begin
	delete from loyalty.month_flow
	where tenant_id = new.tenant_id;
	return null;
end;
$$;

do $$
begin
	if not exists (select from pg_extension where extname = 'citus') then
		create trigger drop_months after update of zone on loyalty.days_counted
			for each row when (new.zone is distinct from old.zone)
			execute function loyalty.drop_months();
	end if;
end
$$;
-- +goose StatementEnd
