-- How a file of customers is read, and what an import leaves behind: its duplicates by name, opening balances of
-- a kind of their own, and customers who are known to be imported.
-- +goose Up

-- An earlier build, which still serves during the upgrade, knows the header row as the first or none (heading).
alter table loyalty.customer_import add column header_record bigint; -- of the rows that aren't empty; 0: none; null: as heading says
alter table loyalty.customer_import add column date_order text not null default '' check (date_order in ('', 'dmy', 'mdy')); -- '': as the column says
alter table loyalty.customer_import add column dates jsonb not null default '[]'; -- of each column with dates: the rows that settle their order
alter table loyalty.customer_import add column opening_points bigint not null default 0;
alter table loyalty.customer_import add column opening_stamps bigint not null default 0;
alter table loyalty.customer_import drop constraint customer_import_delimiter_check;
alter table loyalty.customer_import add constraint customer_import_delimiter_check check (length(delimiter) = 1);
alter table loyalty.customer_import drop constraint customer_import_encoding_check;
alter table loyalty.customer_import add constraint customer_import_encoding_check check (encoding in ('utf-8', 'utf-16le', 'utf-16be',
	'windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1254', 'windows-1257', 'macintosh'));

-- A row that isn't imported because it repeats another row or an existing customer.
alter table loyalty.customer_import_problem add column duplicate boolean not null default false;
alter table loyalty.customer_import_problem add column name text not null default ''; -- of the customer in the row
alter table loyalty.customer_import_problem add column customer_id uuid; -- who is repeated, if it is a customer

alter table loyalty.customer add column imported_at timestamptz(3); -- null: not imported, or by an earlier build

alter table loyalty.ledger_entry drop constraint ledger_entry_kind_check;
alter table loyalty.ledger_entry add constraint ledger_entry_kind_check check (kind in
	('earn', 'reversal', 'redemption', 'redemption_refund', 'voucher', 'adjustment', 'merge', 'opening')) not valid;
alter table loyalty.ledger_entry drop constraint ledger_entry_cause;
alter table loyalty.ledger_entry add constraint ledger_entry_cause
	check ((cause is null) = (kind in ('adjustment', 'merge', 'opening'))) not valid;
