package verify

// The statements for stored runs. Unlike the checks, they run as the role that serves.

const lockSQL = `
	select pg_try_advisory_xact_lock(hashtextextended('loyalty verify', 7)) as mine`

const lockRequestsSQL = `
	select pg_advisory_xact_lock(hashtextextended('loyalty verify asked', 7))`

const selectRun = `
	select id, asked_by, started_at, finished_at, clean, results, error
	from loyalty.verify_run`

const endedSQL = selectRun + `
	where clean is not null
	order by started_at desc, id desc
	limit 1`

const lastSQL = selectRun + `
	order by started_at desc, id desc
	limit 1`

const beginSQL = `
	insert into loyalty.verify_run (asked_by, started_at)
	values (@asked_by, @now)
	returning id`

// The caller holds the lock, so an unfinished run has lost its process.
const abandonSQL = `
	update loyalty.verify_run
	set finished_at = @now,
		error = 'The process that ran it is gone.'
	where finished_at is null`

const finishSQL = `
	update loyalty.verify_run
	set finished_at = @now,
		clean = @clean,
		results = @results,
		error = @error
	where id = @id`

const deleteOldSQL = `
	delete from loyalty.verify_run
	where started_at < @before`
