-- What changes is read in the order of its IDs, which hold a time (core/change). So that nothing appears behind a reader, a
-- transaction that writes must begin soon after that time, and a reader stays behind the transactions that write.
-- +goose Up

-- +goose StatementBegin

-- enter as before, for a transaction that writes records of an instant. It is refused two seconds after that instant, and the
-- caller takes a new one. Its number is taken first: from then on, readers see it (settle_changes).
create function loyalty.enter(tenant bigint, made_at timestamptz) returns void
	language plpgsql volatile
as $$
begin
	perform pg_current_xact_id();
	if made_at < clock_timestamp() - interval '2 seconds' then
		raise exception 'the transaction began % after its time', clock_timestamp() - made_at using errcode = 'LY002';
	end if;
	perform loyalty.enter(tenant);
end;
$$;

-- settle_changes returns the ID before which the records of the tenant that is entered are complete, and sets app.settled to it for the rest of the
-- transaction, whose later statements see them all. A transaction that takes long says whose it is (core/db, TakeTime):
-- that of another tenant isn't waited for. Of a process with a login that the owner can't look at, nothing is known.
create function loyalty.settle_changes() returns uuid
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	seen constant timestamptz := clock_timestamp();
	settled timestamptz;
	id uuid;
begin
	select least(seen, min(case when a.query = '<insufficient privilege>' then seen - interval '1 minute' else a.xact_start end))
	into settled
	from pg_catalog.pg_stat_activity a
	where a.datname = current_database()
		and a.pid <> pg_backend_pid()
		and (a.backend_xid is not null or a.query = '<insufficient privilege>' and a.application_name like 'loyalty%')
		and (a.application_name not like 'loyalty of %' or a.application_name = 'loyalty of ' || current_setting('app.tenant_id', true));
	id := (lpad(to_hex(floor(extract(epoch from settled - interval '2 seconds') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
	execute format('set local app.settled = %L', id);
	return id;
end;
$$;

select loyalty.serves('loyalty.settle_changes');
-- +goose StatementEnd
