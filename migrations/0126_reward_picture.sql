-- What a reward costs the business, and its picture. Pictures have a table of their own, because lists
-- of rewards are read without them.
-- +goose Up

alter table loyalty.reward add column cost_cents bigint; -- of a unit; null: not known
alter table loyalty.reward add column picture_hash bytea; -- SHA-256: part of its address; null: none

create table loyalty.reward_picture (
	tenant_id bigint not null,
	reward_id uuid not null,
	type text not null check (type in ('image/png', 'image/jpeg')),
	bytes bytea not null check (octet_length(bytes) between 1 and 1048576),
	primary key (tenant_id, reward_id),
	constraint reward_picture_reward foreign key (tenant_id, reward_id) references loyalty.reward
);
select loyalty.wall('loyalty.reward_picture');
