-- What the panel needs of customers: every needle found quickly in a million of them,
-- lists by name, and the right to be forgotten.
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
create index customer_name on loyalty.customer (tenant_id, last_name collate loyalty.name, first_name collate loyalty.name, id);

-- They are few, and in a list of all they lie far apart.
create index customer_inactive on loyalty.customer (tenant_id, created_at, id) where status = 'inactive';

-- grams are the needles of two characters that a text contains, and of those of one the
-- rarer ones: an index of trigrams knows neither, and a common character is found by
-- looking at a few customers. The pairs are cut out by two passes, which costs a
-- quarter of a loop.
create function loyalty.grams(searched text) returns text[]
	language sql immutable strict parallel safe
	return string_to_array(regexp_replace(searched, '(..)', E'\\1\x1f', 'g'), E'\x1f')
		|| string_to_array(regexp_replace(substr(searched, 2), '(..)', E'\\1\x1f', 'g'), E'\x1f')
		|| string_to_array(regexp_replace(searched, '[a-z0-9 @.+-]+', '', 'g'), null);
create index customer_gram on loyalty.customer using gin (tenant_id, loyalty.grams(search_key));

-- A number is found by its beginning, too, whatever the database's order of texts is. The
-- e-mail's constraint is made again to come after it: of two that are taken, the phone
-- number is the one that is told.
alter table loyalty.customer
	drop constraint customer_phone,
	drop constraint customer_email;
create unique index customer_phone on loyalty.customer (tenant_id, phone_key text_pattern_ops);
alter table loyalty.customer add constraint customer_email unique (tenant_id, email_key);

-- One page of the customers whose name, phone or e-mail contains one of the needles, or
-- whose phone number begins as dialled (null: none does), and that pass the other filters (null: any): their ids, newest first, or oldest first when
-- going back. It runs as the owner, past the policy, because like under a policy cannot
-- use the index; so it asks for the tenant by itself.
--
-- A needle that many have fills the page from the next few thousand customers; one that
-- few have is looked up in an index. Which it is, is tried and not estimated: at a bad
-- guess a million customers would be read, or sorted.
drop function loyalty.search_customer;
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
	tenant constant bigint := nullif(current_setting('app.tenant_id', true), '')::bigint;
	reach constant bigint := 10000 + 200 * least(page_limit, 100);
	short constant text := lower(needles[1]);
	patterns text[];
	contains text;
	page text;
	place text;
	near uuid[];
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
		execute format('select array_agg(found.id) from (select c.id from (select c.* %s %s limit $11) c where %s limit $10) found',
			page, place, contains)
		into near
		using patterns, tenant, only_phone_key, only_email_key, only_status, created_from, created_before,
			cursor_at, cursor_id, page_limit, reach, dialled || '%';
		if cardinality(near) = page_limit then
			return query select unnest(near);
			return;
		end if;
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
revoke execute on function loyalty.search_customer from public;
grant execute on function loyalty.search_customer to loyalty_app;

-- Mails to somebody: what is held about them, and what is forgotten with them.
create index mail_of_recipient on loyalty.mail (tenant_id, recipient);

-- forget_customer takes what tells who a customer was out of records that are otherwise
-- never changed: the names, numbers and addresses in the log of that customer, and their
-- own name and address wherever they acted themselves. What was done, when and by whom of
-- the staff stays, and so does every amount. It runs as the owner: the serving role may
-- change no log and no ledger.
-- +goose StatementBegin
create function loyalty.forget_customer(customer uuid, customer_ulid text) returns void
	language sql volatile security definer set search_path = ''
begin atomic
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
	where tenant_id = nullif(current_setting('app.tenant_id', true), '')::bigint
		and subject_kind = 'customer'
		and subject_id = customer_ulid;
	update loyalty.audit_entry
	set actor_name = 'Erased',
		address = ''
	where tenant_id = nullif(current_setting('app.tenant_id', true), '')::bigint
		and actor_kind = 'customer'
		and actor_id = customer_ulid;
	update loyalty.ledger_entry
	set actor_name = 'Erased'
	where tenant_id = nullif(current_setting('app.tenant_id', true), '')::bigint
		and customer_id = customer
		and actor_kind = 'customer'
		and actor_id = customer_ulid;
	update loyalty.transaction
	set actor_name = 'Erased'
	where tenant_id = nullif(current_setting('app.tenant_id', true), '')::bigint
		and customer_id = customer
		and actor_kind = 'customer'
		and actor_id = customer_ulid;
	update loyalty.redemption
	set actor_name = 'Erased'
	where tenant_id = nullif(current_setting('app.tenant_id', true), '')::bigint
		and customer_id = customer
		and actor_kind = 'customer'
		and actor_id = customer_ulid;
end;
-- +goose StatementEnd
revoke execute on function loyalty.forget_customer from public;
grant execute on function loyalty.forget_customer to loyalty_app;
