-- Finds the duplicates of a customer. Built while requests go on; a try that was stopped left an invalid
-- index.
-- +goose NO TRANSACTION
-- +goose Up

drop index concurrently if exists loyalty.customer_merged_into;
create index concurrently customer_merged_into on loyalty.customer (tenant_id, merged_into) where merged_into is not null;
