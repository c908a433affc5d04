-- What is drawn from a logo, once, when it is saved: icons for home screens, and the logo of e-mails. A drawing
-- whose hash isn't the logo's is of a logo that an earlier build has replaced since: the job renew_logos draws it
-- again, and writes logos anew that an earlier build stored as they were uploaded.
-- +goose Up
create table loyalty.logo_drawing (
	tenant_id bigint not null references loyalty.tenant,
	name text not null, -- in core/tenant/logo.go
	logo_hash bytea not null, -- of the logo that is drawn
	png bytea check (octet_length(png) between 1 and 1048576), -- null: the logo can't be decoded
	primary key (tenant_id, name)
);
select loyalty.wall('loyalty.logo_drawing');

-- undrawn_logo returns a tenant with a logo that nothing is drawn from; null: there is none.
-- +goose StatementBegin
create function loyalty.undrawn_logo() returns bigint
	language plpgsql stable security definer set search_path = ''
as $$
declare
	found bigint;
begin
	perform loyalty.require_platform();
	select l.tenant_id
	into found
	from loyalty.tenant_look l
	where l.logo_hash is not null
		and not exists (
			select
			from loyalty.logo_drawing d
			where d.tenant_id = l.tenant_id
				and d.logo_hash = l.logo_hash)
	limit 1;
	return found;
end;
$$;
-- +goose StatementEnd
select loyalty.serves('loyalty.undrawn_logo');
