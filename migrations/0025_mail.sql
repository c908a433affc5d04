-- Mails that no server was there for are read on a page, newest first.
-- +goose Up

create index mail_unsent on loyalty.mail (created_at, id) where status in ('queued', 'kept');
