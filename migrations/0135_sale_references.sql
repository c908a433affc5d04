-- Each sale looked up its type, customer and location twice, and wrote a lock into the row that all sales
-- of a type share. The statement that records a sale reads all three and locks the customer; a ledger
-- entry is written with the change of its account. None of these rows can be deleted, so the
-- references refused nothing. `loyalty verify` checks them every night.
--
-- Each reference goes by itself, and its tables are locked in the order in which a sale uses them.
-- +goose NO TRANSACTION
-- +goose Up

revoke delete on loyalty.customer, loyalty.transaction_type, loyalty.location from loyalty_app;

-- +goose StatementBegin
do $$
begin
	lock table loyalty.transaction_type in access exclusive mode;
	alter table loyalty.transaction drop constraint if exists transaction_type;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
do $$
begin
	lock table loyalty.location in access exclusive mode;
	alter table loyalty.transaction drop constraint if exists transaction_location;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
do $$
begin
	lock table loyalty.customer in access exclusive mode;
	alter table loyalty.transaction drop constraint if exists transaction_customer;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
do $$
begin
	lock table loyalty.account in access exclusive mode;
	alter table loyalty.ledger_entry drop constraint if exists ledger_entry_account;
end
$$;
-- +goose StatementEnd
