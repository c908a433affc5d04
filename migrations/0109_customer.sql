-- Customers, what they agreed to, and how they are found and forgotten.
-- +goose Up

-- Names in the order in which people look for them: Å beside A, and no capitals first.
-- A server that was built without ICU has its own order of bytes.
-- +goose StatementBegin
do $$
begin
	create collation loyalty.name (provider = icu, locale = 'und');
exception when feature_not_supported or undefined_object then
	create collation loyalty.name from "C";
end
$$;
-- +goose StatementEnd

-- grams are the needles of two characters that a text contains, and of those of one the
-- rarer ones: an index of trigrams knows neither, and a common character is found by
-- looking at a few customers. The pairs are cut out by two passes, which costs a
-- quarter of a loop.
create function loyalty.grams(searched text) returns text[]
	language sql immutable strict parallel safe
	return string_to_array(regexp_replace(searched, '(..)', E'\\1\x1f', 'g'), E'\x1f')
		|| string_to_array(regexp_replace(substr(searched, 2), '(..)', E'\\1\x1f', 'g'), E'\x1f')
		|| string_to_array(regexp_replace(searched, '[a-z0-9 @.+-]+', '', 'g'), null);

-- What customers are found by are stored columns: ilike and lower() are not leakproof, so under
-- a policy the planner would ignore an index on them.
create table loyalty.customer (
	tenant_id bigint not null references loyalty.tenant,
	id uuid not null,
	first_name text not null,
	last_name text not null,
	phone text not null, -- as written
	phone_key text, -- E.164 as of the tenant's country, else the digits; null once erased
	phone_end text generated always as (right(phone_key, 4)) stored, -- what customers are found by at the till
	email text,
	email_key text, -- lower case
	status text not null default 'active' check (status in ('active', 'inactive')),
	unsubscribed_at timestamptz(3), -- null: gets coupon e-mails
	link_version bigint not null default 0, -- raised to revoke the links that were mailed
	created_at timestamptz(3) not null, -- the first check-in; an import may date it back
	updated_at timestamptz(3) not null,
	search_key text not null generated always as (
		lower(first_name || ' ' || last_name || ' ' || phone || ' ' || coalesce(phone_key, '') || ' ' || coalesce(email, ''))
	) stored,
	primary key (tenant_id, id)
);
-- A number is found by its beginning, too, whatever the database's order of texts is. It comes
-- before the e-mail's: of two that are taken, the phone number is the one that is told.
create unique index customer_phone on loyalty.customer (tenant_id, phone_key text_pattern_ops);
alter table loyalty.customer add constraint customer_email unique (tenant_id, email_key);
create index customer_age on loyalty.customer (tenant_id, created_at, id);
create index customer_name on loyalty.customer (tenant_id, last_name collate loyalty.name, first_name collate loyalty.name, id);
-- They are few, and in a list of all they lie far apart.
create index customer_inactive on loyalty.customer (tenant_id, created_at, id) where status = 'inactive';
create index customer_phone_end on loyalty.customer (tenant_id, phone_end);
create index customer_search on loyalty.customer using gin (tenant_id, search_key gin_trgm_ops);
create index customer_gram on loyalty.customer using gin (tenant_id, loyalty.grams(search_key));
select loyalty.wall('loyalty.customer');

-- What a customer agreed to, in the words they were shown.
create table loyalty.consent (
	tenant_id bigint not null,
	customer_id uuid not null,
	kind text not null check (kind in ('terms', 'offers')),
	text text not null,
	source text not null check (source in ('join', 'claim')),
	given_at timestamptz(3) not null,
	primary key (tenant_id, customer_id, kind),
	constraint consent_customer foreign key (tenant_id, customer_id) references loyalty.customer
);
select loyalty.wall('loyalty.consent');

-- One page of the customers whose name, phone or e-mail contains one of the needles, or whose
-- phone number begins as dialled (null: none does), and that pass the other filters (null:
-- any): their ids, newest first, or oldest first when going back. It runs as the owner, past
-- the policy, because like under a policy cannot use the index; so it asks for the tenant by
-- itself.
--
-- A needle that many have fills the page from the next few thousand customers, who are looked
-- at in two steps: where the first tenth of them gives less than a tenth of what is asked for,
-- all of them would not give enough either. Where they are all there are, what they gave is the
-- answer. A needle that few have is looked up in an index. Which it is, is tried and not
-- estimated: at a bad guess a million customers would be read, or sorted.
-- +goose StatementBegin
create function loyalty.search_customer(
	needles text[], dialled text, only_phone_key text, only_email_key text, only_status text,
	created_from timestamptz, created_before timestamptz,
	cursor_at timestamptz, cursor_id uuid, back boolean, page_limit bigint
) returns table (id uuid)
	language plpgsql stable security definer rows 20
	set search_path = pg_catalog, public
	as $$
declare
	tenant constant bigint := current_setting('app.tenant_id', true)::bigint;
	reach constant bigint := 10000 + 200 * least(page_limit, 100);
	short constant text := lower(needles[1]);
	patterns text[];
	contains text;
	page text;
	place text;
	step bigint;
	near uuid[];
	found bigint;
	further boolean; -- there are customers beyond the step
begin
	select array_agg('%' || replace(replace(replace(lower(needle), '\', '\\'), '%', '\%'), '_', '\_') || '%'),
		'(' || string_agg(format('c.search_key like $1[%s]', number), ' or ')
			|| case when dialled is null then ')' else ' or c.phone_key like $12)' end
	into patterns, contains
	from unnest(needles) with ordinality given (needle, number);
	page := format(
		'from loyalty.customer c
		where c.tenant_id = $2
			and ($3 is null or c.phone_key = $3)
			and ($4 is null or c.email_key = $4)
			and ($5 is null or c.status = $5)
			and ($6 is null or c.created_at >= $6)
			and ($7 is null or c.created_at < $7)
			and ($8 is null or (c.created_at, c.id) %s ($8, $9))', case when back then '>' else '<' end);
	place := format('order by c.created_at %1$s, c.id %1$s', case when back then 'asc' else 'desc' end);

	if only_phone_key is null and only_email_key is null then
		foreach step in array array[reach / 10, reach] loop
			execute format('select array_agg(given.id) from (select c.id from (select c.* %s %s limit $11) c where %s limit $10) given',
				page, place, contains)
			into near
			using patterns, tenant, only_phone_key, only_email_key, only_status, created_from, created_before,
				cursor_at, cursor_id, page_limit, step, dialled || '%';
			found := coalesce(cardinality(near), 0);
			if found = page_limit then
				return query select unnest(near);
				return;
			end if;
			continue when step < reach and found >= page_limit / 10.0;
			execute format('select exists (select %s %s offset $10)', page, place)
			into further
			using null::text, tenant, only_phone_key, only_email_key, only_status, created_from, created_before,
				cursor_at, cursor_id, step;
			if not further then
				return query select unnest(near);
				return;
			end if;
			exit;
		end loop;
	end if;

	if cardinality(needles) = 1 and dialled is null and (length(short) = 2 or short ~ '^[^a-z0-9 @.+-]$') then
		contains := contains || ' and loyalty.grams(c.search_key) @> array[$11]';
	end if;
	return query execute format('select c.id %s and %s %s limit $10', page, contains, place)
	using patterns, tenant, only_phone_key, only_email_key, only_status, created_from, created_before,
		cursor_at, cursor_id, page_limit, short, dialled || '%';
end
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.search_customer');

-- forget_customer takes what tells who a customer was out of records that are otherwise
-- never changed: the names, numbers and addresses in the log of that customer, and their
-- own name and address wherever they acted themselves. What was done, when and by whom of
-- the staff stays, and so does every amount. It runs as the owner: the serving role may
-- change no log and no ledger.
-- +goose StatementBegin
create function loyalty.forget_customer(customer uuid, customer_ulid text) returns void
	language plpgsql volatile security definer set search_path = ''
as $$
declare
	tenant constant bigint := current_setting('app.tenant_id', true)::bigint;
begin
	update loyalty.audit_entry
	set old = old || (
			select coalesce(jsonb_object_agg(fact, 'Erased'), '{}')
			from jsonb_object_keys(old) fact
			where fact in ('first_name', 'last_name', 'phone', 'email')
				and old ->> fact is not null
		),
		new = new || (
			select coalesce(jsonb_object_agg(fact, 'Erased'), '{}')
			from jsonb_object_keys(new) fact
			where fact in ('first_name', 'last_name', 'phone', 'email')
				and new ->> fact is not null
		)
	where tenant_id = tenant
		and subject_kind = 'customer'
		and subject_id = customer_ulid;
	update loyalty.audit_entry
	set actor_name = 'Erased',
		address = ''
	where tenant_id = tenant
		and actor_kind = 'customer'
		and actor_id = customer_ulid;
	update loyalty.ledger_entry
	set actor_name = 'Erased'
	where tenant_id = tenant
		and customer_id = customer
		and actor_kind = 'customer'
		and actor_id = customer_ulid;
	update loyalty.transaction
	set actor_name = 'Erased'
	where tenant_id = tenant
		and customer_id = customer
		and actor_kind = 'customer'
		and actor_id = customer_ulid;
	update loyalty.redemption
	set actor_name = 'Erased'
	where tenant_id = tenant
		and customer_id = customer
		and actor_kind = 'customer'
		and actor_id = customer_ulid;
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.forget_customer');
