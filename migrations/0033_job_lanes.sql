-- The job queue has a lane for each sort of work, with workers of its own, and takes the
-- jobs of tenants in turn.
-- +goose Up

-- What waits, by tenant: the statement that takes jobs steps along it.
create index river_job_waiting on river.river_job (queue, (coalesce(metadata ->> 'tenant', '')), priority, scheduled_at, id)
	where state = 'available';

-- What is not done, for the page that lists it: done jobs are kept for a day, and may be many.
create index river_job_unfinished on river.river_job (id)
	where state <> 'completed';

-- Jobs that were queued before there were lanes.
update river.river_job
set queue = case
		when kind in ('mail_delivery', 'password_forgotten') then 'mail'
		when kind = 'coupon_evaluation' then 'sends'
		when kind = 'customer_import' then 'imports'
		else 'upkeep'
	end,
	metadata = case
		when args ? 'tenant' then metadata || jsonb_build_object('tenant', args -> 'tenant')
		else metadata
	end
where queue = 'default'
	and state <> 'completed';
