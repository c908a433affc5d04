-- Searches look at customer.folded, and find customers by further keys. Then the indexes of search_key are not
-- needed: an earlier build, which serves during the upgrade, searches by this function, too.
-- +goose NO TRANSACTION
-- +goose Up

-- One page of the customers whose name, phone number and e-mail address together contain every one of the
-- needles, or one of them; or whose phone number begins as dialled (null: none does). The other filters are as
-- for loyalty.search_customer, and so is the way they are found: a
-- page that a few thousand customers fill is read from these, and other needles are looked up in an index.
-- +goose StatementBegin
create or replace function loyalty.find_customers(
	needles text[], every boolean, dialled text, only_phone_key text, only_email_key text, only_status text,
	created_from timestamptz, created_before timestamptz,
	cursor_at timestamptz, cursor_id uuid, back boolean, page_limit bigint
) returns table (id uuid)
	language plpgsql stable security definer rows 20
	set search_path = pg_catalog, public
	as $$
declare
	tenant constant bigint := current_setting('app.tenant_id', true)::bigint;
	reach constant bigint := 10000 + 200 * least(page_limit, 100);
	grams constant text[] := array(
		select lower(needle)
		from unnest(needles) needle
		where length(needle) = 2 or lower(needle) ~ '^[^a-z0-9 @.+-]$'
	);
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
		'(' || string_agg(format('coalesce(c.folded, c.search_key) like $1[%s]', number), case when every then ' and ' else ' or ' end)
			|| case when dialled is null then ')' else ' or c.phone_key like $12)' end
	into patterns, contains
	from unnest(needles) with ordinality given (needle, number);
	page := format(
		'from loyalty.customer c
		where c.tenant_id = $2
			and c.merged_into is null
			and ($3 is null or c.phone_key = $3
				or c.id = (select k.customer_id from loyalty.customer_key k where k.tenant_id = $2 and k.kind = ''phone'' and k.key = $3))
			and ($4 is null or c.email_key = $4
				or c.id = (select k.customer_id from loyalty.customer_key k where k.tenant_id = $2 and k.kind = ''email'' and k.key = $4))
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

	if (every or cardinality(needles) = 1 and dialled is null) and cardinality(grams) > 0 then
		contains := contains || ' and loyalty.grams(coalesce(c.folded, c.search_key)) @> $11';
	end if;
	return query execute format('select c.id %s and %s %s limit $10', page, contains, place)
	using patterns, tenant, only_phone_key, only_email_key, only_status, created_from, created_before,
		cursor_at, cursor_id, page_limit, grams, dialled || '%';
end
$$;
-- +goose StatementEnd

drop index concurrently if exists loyalty.customer_search;
drop index concurrently if exists loyalty.customer_gram;
