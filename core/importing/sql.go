package importing

import (
	"time"

	"example.com/loyalty/core"
)

const importColumns = `i.id, i.status, i.file_name, i.size, i.records - i.heading::int as rows, i.done_count as done,
		i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
		i.problem_count as problems, i.attempt, i.actor_name, i.created_at, i.ended_at`

// Of several files that begin to arrive, each counts those before it.
const lockArrivalsSQL = `
	select pg_advisory_xact_lock(hashtextextended('customer imports ' || @tenant_id::bigint, 7))`

// Inserts nothing where too many files wait.
const arriveSQL = `
	insert into loyalty.customer_import (tenant_id, id, file_name, actor_kind, actor_id, actor_name, created_at, moved_at)
	select @tenant_id, @id, @file_name, @actor_kind, @actor_id, @actor_name, @now, @now
	where (
			select count(*)
			from loyalty.customer_import
			where tenant_id = @tenant_id
				and status not in ('done', 'cancelled')
				and id <> @id
		) < @most`

const storeChunkSQL = `
	insert into loyalty.customer_import_chunk (tenant_id, import_id, seq, content)
	values (@tenant_id, @id, @seq, @content)`

const arrivedSQL = `
	update loyalty.customer_import i
	set status = 'uploaded',
		form_key = @form_key,
		size = @size,
		delimiter = @delimiter,
		encoding = @encoding,
		columns = @columns,
		records = @records,
		heading = @heading,
		moved_at = @now
	where tenant_id = @tenant_id
		and id = @id
	returning ` + importColumns

const findImportByFormSQL = `
	select ` + importColumns + `
	from loyalty.customer_import i
	where tenant_id = @tenant_id
		and form_key = @form_key`

const dropArrivingSQL = `
	delete from loyalty.customer_import
	where tenant_id = @tenant_id
		and id = @id
		and status = 'arriving'`

const findImportSQL = `
	select ` + importColumns + `
	from loyalty.customer_import i
	where tenant_id = @tenant_id
		and id = @id
		and status <> 'arriving'`

const listImportsSQL = `
	select ` + importColumns + `
	from loyalty.customer_import i
	where tenant_id = @tenant_id
		and status <> 'arriving'
	order by id desc
	limit @limit`

// sheet is a file, and how it is read.
type sheet struct {
	Import
	Delimiter string
	Encoding  string
	Columns   int64
	Heading   bool
	Mapping   []Field // nil: none was chosen yet
}

const sheetColumns = importColumns + `, i.delimiter, i.encoding, i.columns, i.heading, i.mapping`

type beginning struct {
	sheet
	Content []byte
}

// Ten rows are never longer than the first piece of the file.
const beginningSQL = `
	select ` + sheetColumns + `, c.content
	from loyalty.customer_import i
	join loyalty.customer_import_chunk c on c.tenant_id = i.tenant_id and c.import_id = i.id and c.seq = 0
	where i.tenant_id = @tenant_id
		and i.id = @id
		and i.status <> 'arriving'`

const lockImportSQL = `
	select ` + sheetColumns + `
	from loyalty.customer_import i
	where i.tenant_id = @tenant_id
		and i.id = @id
		and i.status <> 'arriving'
	for no key update`

// Whatever reads the file from its beginning starts here.
const (
	fromTheStart = rewind + `,
		attempt = attempt + 1`

	rewind = `
	update loyalty.customer_import i
	set position = 0,
		file_row = 0,
		done_count = 0,
		created_count = 0,
		found_count = 0,
		repeated_count = 0,
		failed_count = 0,
		problem_count = 0,
		moved_at = @now`

	thisImport = `
	where tenant_id = @tenant_id
		and id = @id
	returning ` + importColumns

	checkSQL = fromTheStart + `,
		status = 'checking',
		mapping = @mapping,
		heading = @heading` + thisImport

	runSQL = fromTheStart + `,
		status = 'running',
		actor_kind = @actor_kind,
		actor_id = @actor_id,
		actor_name = @actor_name` + thisImport
)

const dropProblemsSQL = `
	delete from loyalty.customer_import_problem
	where tenant_id = @tenant_id
		and import_id = @id`

const (
	stopImportSQL = `
	update loyalty.customer_import i
	set status = 'cancelled',
		moved_at = @now,
		ended_at = @now` + thisImport

	// What a check has counted is not what was done.
	discardImportSQL = fromTheStart + `,
		status = 'cancelled',
		ended_at = @now` + thisImport
)

const dropFileSQL = `
	delete from loyalty.customer_import_chunk
	where tenant_id = @tenant_id
		and import_id = @id`

// problemRow is a problem as it is stored: its violation as a text (core.Violation.String).
type problemRow struct {
	FileRow               int64
	Field, Value, Message string
}

const listProblemsSQL = `
	select file_row, field, value, message
	from loyalty.customer_import_problem
	where tenant_id = @tenant_id
		and import_id = @id
		and (file_row, field) > (@row, @field)
	order by file_row, field
	limit @limit`

// progress is an import that is being worked on.
type progress struct {
	sheet
	Position  int64
	FileRow   int64
	ActorKind core.ActorKind
	ActorID   string
	Country   string
	Timezone  string
}

const (
	progressColumns = sheetColumns + `, i.position, i.file_row, i.actor_kind, i.actor_id,
		(select coalesce(country, '') from loyalty.tenant where id = @tenant_id) as country,
		(select timezone from loyalty.tenant where id = @tenant_id) as timezone`

	// The attempt stays: should this worker be killed, the same job finds the check again. Another
	// worker that is still at it ends, as the place where it left the import has changed.
	beginCheckSQL = rewind + `
	where tenant_id = @tenant_id
		and id = @id
		and status = 'checking'
		and attempt = @attempt
	returning ` + progressColumns

	resumeSQL = `
	select ` + progressColumns + `
	from loyalty.customer_import i
	where tenant_id = @tenant_id
		and id = @id
		and status = 'running'
		and attempt = @attempt`
)

const chunkSQL = `
	select content
	from loyalty.customer_import_chunk
	where tenant_id = @tenant_id
		and import_id = @id
		and seq = @seq`

// Of two workers at one place the second finds the import moved on, or cancelled.
const holdPlaceSQL = `
	select (select coalesce(country, '') from loyalty.tenant where id = @tenant_id) as country
	from loyalty.customer_import
	where tenant_id = @tenant_id
		and id = @id
		and status = @status
		and attempt = @attempt
		and position = @position
	for no key update`

const moveImportSQL = `
	update loyalty.customer_import
	set status = @status,
		position = @position,
		file_row = @file_row,
		done_count = done_count + @done,
		created_count = created_count + @created,
		found_count = found_count + @found,
		repeated_count = repeated_count + @repeated,
		failed_count = failed_count + @failed,
		problem_count = problem_count + @problems,
		moved_at = @now,
		ended_at = @ended_at
	where tenant_id = @tenant_id
		and id = @id`

const insertProblemsSQL = `
	insert into loyalty.customer_import_problem (tenant_id, import_id, file_row, field, value, message)
	select @tenant_id, @id, file_row, field, value, message
	from unnest(@rows::bigint[], @fields::text[], @values::text[], @messages::text[]) given (file_row, field, value, message)`

type stalledImport struct {
	TenantID core.TenantID
	ID       core.ID
	Attempt  int64
}

const stalledImportsSQL = `
	select tenant_id, id, attempt
	from loyalty.stalled_imports(@before, @up_to)`

const forgetImportsSQL = `
	select loyalty.forget_imports(@ended_before, @uploaded_before, @arrived_before, @up_to)`

// How long an import is keptFor once it ended, a file that is not imported, and how long one may
// take to arrive.
const (
	keptFor       = 30 * 24 * time.Hour
	uploadKept    = 24 * time.Hour
	arrivesWithin = time.Hour
)

// A customer who is erased may be in a file that waits, or in what is wrong with its rows. A
// running import is not stopped: its file is gone within minutes.
const (
	dropWaitingFilesSQL = `
	delete from loyalty.customer_import_chunk c
	using loyalty.customer_import i
	where i.tenant_id = @tenant_id
		and i.status in ('uploaded', 'checking', 'checked')
		and c.tenant_id = @tenant_id
		and c.import_id = i.id`

	dropWaitingProblemsSQL = `
	delete from loyalty.customer_import_problem p
	using loyalty.customer_import i
	where i.tenant_id = @tenant_id
		and i.status in ('uploaded', 'checking', 'checked')
		and p.tenant_id = @tenant_id
		and p.import_id = i.id`

	blankProblemsSQL = `
	update loyalty.customer_import_problem
	set value = ''
	where tenant_id = @tenant_id
		and value <> ''`

	dropAllArrivingSQL = `
	delete from loyalty.customer_import
	where tenant_id = @tenant_id
		and status = 'arriving'`

	discardWaitingSQL = fromTheStart + `,
		status = 'cancelled',
		ended_at = @now
	where tenant_id = @tenant_id
		and status in ('uploaded', 'checking', 'checked')`
)
