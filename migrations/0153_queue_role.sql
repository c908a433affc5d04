-- The role of the job queue takes jobs itself, so it reads which lanes are paused.
-- +goose Up
grant select on loyalty.queue_pause to loyalty_queue;
create policy queue on loyalty.queue_pause for select to loyalty_queue using (true);
