-- Sales that are recorded together count their visits and spend in the statement that changes the
-- accounts, and say so by app.visits_counted. All others, and those of an earlier build, still have
-- the trigger count them.
-- +goose Up

create or replace trigger count_sale after insert on loyalty.transaction
	for each row when (new.status = 'completed' and current_setting('app.visits_counted', true) is distinct from 'yes')
	execute function loyalty.count_sale();
