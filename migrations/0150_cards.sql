-- What strangers may ask for is bounded and seen: the renewals of a card's PIN are one line of the audit log, a card
-- opened online is known until its phone number was checked at a till, and owners hear of many new customers.
-- +goose Up

alter table loyalty.pin add column renewals bigint not null default 0; -- how many PINs of this showing it has renewed; of the last one, those to be logged
alter table loyalty.customer add column unchecked_since timestamptz(3); -- when the card was opened online; null: the phone number was checked at a till, or given by the business

alter table loyalty.notification drop constraint notification_kind_check;
alter table loyalty.notification add constraint notification_kind_check
	check (kind in ('stock_low', 'stock_empty', 'coupon_limit', 'redemptions_pending', 'send_failed', 'send_held', 'staff_activity',
		'plan_limit', 'joins_fast'));

-- ulid_text writes an id as the product does: 26 characters of Crockford's base 32.
create function loyalty.ulid_text(id uuid) returns text
	language sql immutable parallel safe
	return (
		select string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substring(B'00' || ('x' || replace(id::text, '-', ''))::bit(128) from 5 * i + 1 for 5)::bit(5)::int + 1, 1), '' order by i)
		from generate_series(0, 25) i
	);

-- A showing that ended unseen is logged when its last PIN is deleted.
-- +goose StatementBegin
create or replace function loyalty.forget_pins(made_before timestamptz, up_to bigint) returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	due record;
	ended record;
	n bigint;
	total bigint := 0;
begin
	perform loyalty.require_platform();
	for due in
		select p.tenant_id, array_agg(p.id) as ids
		from (
			select p.tenant_id, p.id
			from loyalty.pin p
			where p.created_at < made_before
			limit up_to
		) p
		group by p.tenant_id
	loop
		for ended in
			select p.id, p.renewals, p.actor_id,
				coalesce((
					select case when c.phone_key is null then c.first_name else c.first_name || ' ' || c.last_name end
					from loyalty.customer c
					where c.tenant_id = due.tenant_id
						and c.id = p.customer_id
				), '') as actor_name
			from loyalty.pin p
			where p.tenant_id = due.tenant_id
				and p.id = any (due.ids)
				and p.direction = 'card'
				and p.renewals > 0
				and p.taken_at is null
				and p.status in ('open', 'cancelled')
		loop
			insert into loyalty.audit_entry (tenant_id, id, action, subject_kind, subject_id, new,
				actor_kind, actor_id, actor_name, address, request_id, created_at)
			values (due.tenant_id, loyalty.new_ulid(clock_timestamp()), 'pin.renew', 'pin', loyalty.ulid_text(ended.id),
				jsonb_build_object('shown_by', 'card', 'renewals', ended.renewals),
				'customer', ended.actor_id, ended.actor_name, '', '', clock_timestamp());
		end loop;
		delete from loyalty.pin p
		where p.tenant_id = due.tenant_id
			and p.id = any (due.ids);
		get diagnostics n = row_count;
		total := total + n;
	end loop;
	return total;
end;
$$;
-- +goose StatementEnd
