-- What is stored for a limited time is deleted in batches, by functions that work on all
-- tenants: they refuse where a tenant is set, and take a limit.
-- +goose Up

-- Files that were not imported.
create index customer_import_unfinished on loyalty.customer_import (created_at) where status in ('arriving', 'uploaded', 'checked');

-- stalled_imports are those of all tenants that a person waits for and that nothing has
-- moved for a while: their worker is gone. The oldest first, no more than up_to.
-- +goose StatementBegin
create function loyalty.stalled_imports(before timestamptz, up_to bigint) returns table (tenant_id bigint, id uuid, attempt bigint)
	language plpgsql stable security definer set search_path = ''
as $$
begin
	perform loyalty.require_platform();
	return query
	select i.tenant_id, i.id, i.attempt
	from loyalty.customer_import i
	where i.status in ('checking', 'running')
		and i.moved_at < before
	order by i.moved_at
	limit up_to;
end;
$$;

-- forget_imports deletes imports of all tenants with their files and problems: those that
-- ended, files that were never imported, and files that never arrived whole. With an import
-- go up to 20 MB and 100,000 problems, so up_to is small.
create function loyalty.forget_imports(ended_before timestamptz, uploaded_before timestamptz, arrived_before timestamptz, up_to bigint)
	returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	n bigint;
begin
	perform loyalty.require_platform();
	delete from loyalty.customer_import
	where (tenant_id, id) in (
		select i.tenant_id, i.id
		from loyalty.customer_import i
		where (i.status in ('done', 'cancelled') and i.moved_at < ended_before)
			or (i.status in ('uploaded', 'checked') and i.created_at < uploaded_before)
			or (i.status = 'arriving' and i.created_at < arrived_before)
		limit up_to
		for update skip locked
	);
	get diagnostics n = row_count;
	return n;
end;
$$;

-- forget_links deletes invitations and password resets of all tenants that expired before
-- an instant. A link that was used or withdrawn goes when it would have expired.
create function loyalty.forget_links(expired_before timestamptz, up_to bigint) returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	invitations bigint;
	resets bigint;
begin
	perform loyalty.require_platform();
	delete from loyalty.invitation
	where (tenant_id, id) in (
		select i.tenant_id, i.id
		from loyalty.invitation i
		where i.expires_at < expired_before
		limit up_to
	);
	get diagnostics invitations = row_count;
	delete from loyalty.password_reset
	where (tenant_id, id) in (
		select r.tenant_id, r.id
		from loyalty.password_reset r
		where r.expires_at < expired_before
		limit up_to
	);
	get diagnostics resets = row_count;
	return invitations + resets;
end;
$$;

-- forget_audit deletes the oldest entries of the audit logs of all tenants and of the platform
-- that were written before an instant. What is younger than 90 days it keeps, whatever it is
-- asked: whoever gets to call it can't remove what they did.
create function loyalty.forget_audit(written_before timestamptz, up_to bigint) returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	first_kept uuid := (lpad(to_hex(floor(extract(epoch from least(written_before, now() - interval '90 days')) * 1000)::bigint), 12, '0')
		|| repeat('0', 20))::uuid;
	of_tenants bigint;
	of_platform bigint;
begin
	perform loyalty.require_platform();
	delete from loyalty.audit_entry
	where (tenant_id, id) in (
		select e.tenant_id, e.id
		from loyalty.audit_entry e
		where e.id < first_kept
		order by e.id
		limit up_to
	);
	get diagnostics of_tenants = row_count;
	delete from loyalty.platform_audit_entry
	where id in (
		select e.id
		from loyalty.platform_audit_entry e
		where e.id < first_kept
		order by e.id
		limit up_to
	);
	get diagnostics of_platform = row_count;
	return of_tenants + of_platform;
end;
$$;
-- +goose StatementEnd
-- Those of fewer parameters are an earlier build's.
revoke execute on function loyalty.stalled_imports(timestamptz, bigint) from public;
grant execute on function loyalty.stalled_imports(timestamptz, bigint) to loyalty_app;
revoke execute on function loyalty.forget_imports(timestamptz, timestamptz, timestamptz, bigint) from public;
grant execute on function loyalty.forget_imports(timestamptz, timestamptz, timestamptz, bigint) to loyalty_app;
select loyalty.serves('loyalty.forget_links');
select loyalty.serves('loyalty.forget_audit');

-- What the hourly clean-ups look for.
create index invitation_expiry on loyalty.invitation (expires_at);
create index password_reset_expiry on loyalty.password_reset (expires_at);
-- E-mails that no server was there for keep their words for a week.
create index mail_kept on loyalty.mail (created_at) where status = 'kept' and text <> '';
