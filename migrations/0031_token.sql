-- Who made a token and from where, and when its person was mailed so: mails about new
-- tokens are gathered, at most one an hour a person.
-- +goose Up

alter table loyalty.token add column actor_kind text not null default '';
alter table loyalty.token add column actor_name text not null default '';
alter table loyalty.token add column address text not null default '';
alter table loyalty.token add column told_at timestamptz(3); -- null: not mailed yet

-- Until now, every token was mailed when it was made.
update loyalty.token set told_at = created_at;

create index token_told on loyalty.token (staff_id, told_at);
-- A person has few live tokens, and may have many that expired.
create index token_live on loyalty.token (staff_id, expires_at) where revoked_at is null;
