-- While sales from before are counted for levels, sums aren't right yet, and no level changes.
-- +goose Up
alter table loyalty.level_programme add column frozen boolean not null default false;
