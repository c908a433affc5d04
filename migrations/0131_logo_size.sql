-- A logo's size in pixels, so that pages keep its proportions. Null: uploaded before, and not a PNG.
-- +goose Up
alter table loyalty.tenant_look
	add column logo_width integer check (logo_width > 0),
	add column logo_height integer check (logo_height > 0);

-- A PNG has its size at a fixed place.
update loyalty.tenant_look
set logo_width = nullif(('x' || encode(substr(logo, 17, 4), 'hex'))::bit(32)::integer, 0),
	logo_height = nullif(('x' || encode(substr(logo, 21, 4), 'hex'))::bit(32)::integer, 0)
where logo_type = 'image/png';

-- theme returns a tenant's theme, in a transaction of the platform: the statements that find the
-- tenant of a host also need it.
-- +goose StatementBegin
create function loyalty.theme(tenant bigint)
	returns table (colour text, logo_hash text, logo_width integer, logo_height integer)
	language plpgsql stable security definer set search_path = ''
as $$
begin
	perform loyalty.require_platform();
	return query
	select l.colour, encode(l.logo_hash, 'hex'), l.logo_width, l.logo_height
	from loyalty.tenant_look l
	where l.tenant_id = tenant;
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.theme');
