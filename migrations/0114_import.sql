-- Files of customers that are read row by row: the file itself, how far it is, and what
-- is wrong with which row.
-- +goose Up

create table loyalty.customer_import (
	tenant_id bigint not null references loyalty.tenant,
	id uuid not null,
	status text not null default 'arriving'
		check (status in ('arriving', 'uploaded', 'checking', 'checked', 'running', 'done', 'cancelled')),
	form_key text, -- of the form that brought the file: sent twice, it is one import; null while it arrives
	file_name text not null,
	size bigint not null default 0, -- bytes
	delimiter text not null default ',' check (delimiter in (',', ';', E'\t')),
	encoding text not null default 'utf-8' check (encoding in ('utf-8', 'windows-1252')),
	columns bigint not null default 0,
	records bigint not null default 0, -- rows that are not empty, the heading among them
	heading boolean not null default true, -- the first of them names the columns
	mapping text[], -- the field of each column, '' for none; null until one was chosen
	attempt bigint not null default 0, -- a check that is begun anew has another one than the one it replaces
	position bigint not null default 0, -- the byte at which the next record begins
	file_row bigint not null default 0, -- the row before it, as spreadsheets count them
	done_count bigint not null default 0, -- rows that were checked, or imported
	created_count bigint not null default 0,
	found_count bigint not null default 0,
	repeated_count bigint not null default 0,
	failed_count bigint not null default 0,
	problem_count bigint not null default 0, -- that are kept
	actor_kind text not null, -- who brought the file, and once it is imported who said so
	actor_id text not null,
	actor_name text not null,
	created_at timestamptz(3) not null,
	moved_at timestamptz(3) not null, -- when it last got anywhere
	ended_at timestamptz(3),
	primary key (tenant_id, id),
	constraint customer_import_form unique (tenant_id, form_key),
	constraint customer_import_counts check (done_count = created_count + found_count + repeated_count + failed_count
		and done_count <= records),
	constraint customer_import_ended check ((ended_at is not null) = (status in ('done', 'cancelled')))
) with (fillfactor = 70); -- it is updated with every batch
-- One import runs at a time.
create unique index customer_import_running on loyalty.customer_import (tenant_id) where status = 'running';
-- What the job looks for that goes on with what stopped, and deletes what is old, of all tenants.
create index customer_import_moved on loyalty.customer_import (moved_at);
select loyalty.wall('loyalty.customer_import');

-- The file, in pieces of one size but for the last: it survives a restart, and whoever
-- reads it holds one piece at a time.
create table loyalty.customer_import_chunk (
	tenant_id bigint not null,
	import_id uuid not null,
	seq bigint not null, -- 0, 1, 2 …
	content bytea not null,
	primary key (tenant_id, import_id, seq),
	constraint customer_import_chunk_import foreign key (tenant_id, import_id)
		references loyalty.customer_import on delete cascade
);
select loyalty.wall('loyalty.customer_import_chunk');

create table loyalty.customer_import_problem (
	tenant_id bigint not null,
	import_id uuid not null,
	file_row bigint not null,
	field text not null, -- '' of the row as a whole
	value text not null, -- what stands there
	message text not null,
	primary key (tenant_id, import_id, file_row, field),
	constraint customer_import_problem_import foreign key (tenant_id, import_id)
		references loyalty.customer_import on delete cascade
);
select loyalty.wall('loyalty.customer_import_problem');

-- stalled_imports are those of all tenants that a person waits for and that have not moved for
-- a while: their worker is gone.
-- +goose StatementBegin
create function loyalty.stalled_imports(before timestamptz) returns table (tenant_id bigint, id uuid, attempt bigint)
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
	limit 100;
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.stalled_imports');

-- forget_imports deletes what is stored of people for no reason any more, of all tenants:
-- imports that ended or wait for a person so long, and files that never arrived whole.
-- +goose StatementBegin
create function loyalty.forget_imports(moved_before timestamptz, arrived_before timestamptz) returns bigint
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	n bigint;
begin
	perform loyalty.require_platform();
	delete from loyalty.customer_import
	where (moved_at < moved_before and status not in ('checking', 'running'))
		or (moved_at < arrived_before and status = 'arriving');
	get diagnostics n = row_count;
	return n;
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.forget_imports');
