-- Reports count from the records themselves: a month of them is read from indexes alone.
-- +goose Up

-- A business's sales lie among everybody's; side by side they are only in the index,
-- which therefore carries what is summed.
alter table loyalty.transaction
	drop constraint transaction_pkey,
	add constraint transaction_pkey primary key (tenant_id, id)
		include (customer_id, status, spend_amount_cents, points_awarded, stamps_awarded);
create index transaction_voided_id on loyalty.transaction (tenant_id, id) include (points_awarded) where status = 'voided';

-- Only of pages that were vacuumed does the index speak for the table. By default a
-- table waits until a fifth of it is new: for the sales of months.
alter table loyalty.transaction set (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000);

create index voucher_redeemed_at on loyalty.voucher (tenant_id, redeemed_at) where status = 'redeemed';
