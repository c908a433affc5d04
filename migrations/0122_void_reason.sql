-- Why a sale or a redemption was voided. A redemption may now be voided after it was fulfilled; it keeps
-- when that was.
-- +goose Up

alter table loyalty.transaction add column void_reason text; -- null: none was asked, as at the till
alter table loyalty.redemption add column void_reason text;

alter table loyalty.redemption drop constraint redemption_fulfilled;
alter table loyalty.redemption add constraint redemption_fulfilled check (
	case when status = 'pending' then fulfilled_at is null when status = 'fulfilled' then fulfilled_at is not null else true end
) not valid;
alter table loyalty.redemption validate constraint redemption_fulfilled;
