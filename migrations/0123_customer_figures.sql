-- What a customer has bought: how many completed sales, and for how much in all. A page of a customer
-- shows both, and one with 100,000 sales must not be counted each time.
-- +goose Up

-- Null: not counted yet. The next step counts them while sales go on; adding to null leaves null.
alter table loyalty.account
	add column visits bigint,
	add column spent_cents numeric;
alter table loyalty.account alter column visits set default 0;
alter table loyalty.account alter column spent_cents set default 0;

-- Triggers, and not a part of each statement that writes sales: an earlier build, which still
-- serves during the upgrade, doesn't know these columns.
-- +goose StatementBegin
create function loyalty.count_sale() returns trigger
	language plpgsql
as $$
begin
	update loyalty.account
	set visits = visits + 1,
		spent_cents = spent_cents + new.spend_amount_cents
	where tenant_id = new.tenant_id
		and customer_id = new.customer_id;
	return null;
end;
$$;

create function loyalty.discount_sale() returns trigger
	language plpgsql
as $$
begin
	update loyalty.account
	set visits = visits - 1,
		spent_cents = spent_cents - new.spend_amount_cents
	where tenant_id = new.tenant_id
		and customer_id = new.customer_id;
	return null;
end;
$$;
-- +goose StatementEnd
create trigger count_sale after insert on loyalty.transaction
	for each row when (new.status = 'completed') execute function loyalty.count_sale();
create trigger discount_sale after update of status on loyalty.transaction
	for each row when (old.status = 'completed' and new.status = 'voided') execute function loyalty.discount_sale();
