-- A suspended business does nothing: a transaction that acts for it asks first, and what was due meanwhile is
-- on hold until its people continue or cancel it.
-- +goose Up

-- require_active refuses what acts for a business that is suspended, by a code of its own.
-- +goose StatementBegin
create function loyalty.require_active() returns void
	language plpgsql stable
as $$
begin
	if not exists (
		select
		from loyalty.tenant
		where id = current_setting('app.tenant_id', true)::bigint
			and status = 'active'
	) then
		raise exception using errcode = 'LY001', message = 'this business is suspended';
	end if;
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.require_active');

alter table loyalty.coupon_send add column held_at timestamptz(3); -- when it was due while the business was suspended; null: not on hold
alter table loyalty.customer_import add column held_at timestamptz(3); -- likewise

-- Its people are told.
create index coupon_send_held on loyalty.coupon_send (tenant_id, id) where held_at is not null;
alter table loyalty.notification drop constraint notification_kind_check;
alter table loyalty.notification add constraint notification_kind_check
	check (kind in ('stock_low', 'stock_empty', 'coupon_limit', 'redemptions_pending', 'send_failed', 'send_held', 'staff_activity'));

-- What is on hold has no job, and needs none.
-- +goose StatementBegin
create or replace function loyalty.unfinished_sends(due_before timestamptz)
	returns table (tenant_id bigint, id uuid, status text)
	language plpgsql stable security definer set search_path = ''
as $$
begin
	perform loyalty.require_platform();
	return query
	select s.tenant_id, s.id, s.status
	from loyalty.coupon_send s
	where s.status in ('waiting', 'mailing')
		and s.send_at < due_before
		and s.held_at is null;
end;
$$;

create or replace function loyalty.stalled_imports(before timestamptz, up_to bigint) returns table (tenant_id bigint, id uuid, attempt bigint)
	language plpgsql stable security definer set search_path = ''
as $$
begin
	perform loyalty.require_platform();
	return query
	select i.tenant_id, i.id, i.attempt
	from loyalty.customer_import i
	where i.status in ('checking', 'running')
		and i.moved_at < before
		and i.held_at is null
	order by i.moved_at
	limit up_to;
end;
$$;
-- +goose StatementEnd
