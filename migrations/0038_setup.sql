-- How far a new business's owner is with the guide that sets it up.
-- +goose Up

create table loyalty.tenant_setup (
	tenant_id bigint primary key references loyalty.tenant,
	business_at timestamptz(3), -- when country, currency and time zone were confirmed; null: not yet
	skipped text[] not null default '{}' check (skipped <@ '{business,rule,reward,customer,sale}'),
	steps_done int not null default 0 check (steps_done between 0 and 5), -- as of the last look: other pages do steps, too
	finished_at timestamptz(3), -- completed or dismissed; null: still shown
	updated_at timestamptz(3) not null
);
select loyalty.platform_wall('loyalty.tenant_setup');
revoke delete on loyalty.tenant_setup from loyalty_app;

-- A business with a sale needs no guide.
insert into loyalty.tenant_setup (tenant_id, business_at, steps_done, finished_at, updated_at)
select t.id, now(), 5, now(), now()
from loyalty.tenant t
where exists (select from loyalty.transaction s where s.tenant_id = t.id);
