-- What the people who run the platform need: queues that can be paused, the result of the
-- nightly check, and how far e-mails of sends are.
-- +goose Up

-- A queue that is paused takes no more jobs, in any process, until its row is gone.
create table loyalty.queue_pause (
	lane text primary key,
	actor_name text not null, -- who paused it
	paused_at timestamptz(3) not null
);
select loyalty.platform_only('loyalty.queue_pause');
revoke update on loyalty.queue_pause from loyalty_app;

-- The runs of verify. One that was begun and neither finished nor failed is under way, or
-- its process is gone.
create table loyalty.verify_run (
	id bigserial primary key,
	asked_by text, -- null: the nightly one
	started_at timestamptz(3) not null,
	finished_at timestamptz(3),
	clean boolean, -- null: it could not look at everything
	results jsonb, -- of {check, counted, wrong, examples}
	error text, -- why it could not
	constraint verify_run_ends check ((finished_at is not null) = (clean is not null or error is not null)),
	constraint verify_run_result check ((clean is null) = (results is null))
);
create index verify_run_age on loyalty.verify_run (started_at);
grant usage on sequence loyalty.verify_run_id_seq to loyalty_app;
select loyalty.platform_only('loyalty.verify_run');

-- mailing_progress sums up the e-mails of the sends of all tenants: how many are still to
-- be delivered, and how many failed in sends that began after an instant.
-- +goose StatementBegin
create function loyalty.mailing_progress(begun_after timestamptz, out waiting bigint, out failed bigint)
	language plpgsql stable security definer set search_path = ''
as $$
begin
	perform loyalty.require_platform();
	select coalesce(sum(s.mails - s.delivered - s.failed), 0)
	into waiting
	from loyalty.coupon_send s
	where s.status = 'mailing';
	select coalesce(sum(s.failed), 0)
	into failed
	from loyalty.coupon_send s
	where s.begun_at > begun_after;
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.mailing_progress');
