-- What a sale that a till shows is about, which its award depends on.
-- +goose Up

alter table loyalty.pin add column items jsonb; -- of a till's, as transaction.items; null: not known
