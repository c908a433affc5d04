-- The indexes of customer.folded. Built while requests go on; a try that was stopped left an invalid index.
-- +goose NO TRANSACTION
-- +goose Up

drop index concurrently if exists loyalty.customer_unfolded;
create index concurrently customer_unfolded on loyalty.customer (tenant_id, id) where folded is null and phone_key is not null;
drop index concurrently if exists loyalty.customer_folded;
create index concurrently customer_folded on loyalty.customer using gin (tenant_id, coalesce(folded, search_key) gin_trgm_ops);
drop index concurrently if exists loyalty.customer_folded_gram;
create index concurrently customer_folded_gram on loyalty.customer using gin (tenant_id, loyalty.grams(coalesce(folded, search_key)));
