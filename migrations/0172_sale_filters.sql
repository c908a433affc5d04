-- Reports by location and by staff lead to the sales that they count. An index finds a page of those without a location, as
-- transaction_of_location does for all others, and one those that someone recorded, however few they are among millions.
-- +goose NO TRANSACTION
-- +goose Up
drop index concurrently if exists loyalty.transaction_without_location;
create index concurrently transaction_without_location on loyalty.transaction (tenant_id, id) where location_id is null;
drop index concurrently if exists loyalty.transaction_of_recorder;
create index concurrently transaction_of_recorder on loyalty.transaction (tenant_id, actor_kind, actor_id, id);
