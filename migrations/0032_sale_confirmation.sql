-- A slip of the hand can make a sale a thousand times too large.
-- +goose Up

-- Above this amount, in the smallest unit of the currency, the panel and the till ask once more
-- before they record a sale. Null: they never ask.
alter table loyalty.tenant add column confirm_above_cents bigint default 100000 check (confirm_above_cents > 0);
