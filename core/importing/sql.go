package importing

import (
	"time"

	"example.com/loyalty/core"
)

const importColumns = `i.id, i.status, i.file_name, i.size, i.records - i.heading::int as rows, i.done_count as done,
		i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
		i.problem_count as problems, i.attempt, i.actor_name, i.created_at, i.ended_at`

// Files that begin to arrive at once are counted one after the other.
const lockUploadsSQL = `
	select pg_advisory_xact_lock(hashtextextended('customer imports ' || @tenant_id::bigint, 7))`

// Inserts nothing if too many files are waiting.
const insertIncompleteSQL = `
	insert into loyalty.customer_import (tenant_id, id, file_name, actor_kind, actor_id, actor_name, created_at, moved_at)
	select @tenant_id, @id, @file_name, @actor_kind, @actor_id, @actor_name, @now, @now
	where (
			select count(*)
			from loyalty.customer_import
			where tenant_id = @tenant_id
				and status not in ('done', 'cancelled')
				and id <> @id
		) < @most
	returning 1`

const storePieceSQL = `
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
		heading = @has_header,
		moved_at = @now
	where tenant_id = @tenant_id
		and id = @id
	returning ` + importColumns

const findImportByFormSQL = `
	select ` + importColumns + `
	from loyalty.customer_import i
	where tenant_id = @tenant_id
		and form_key = @form_key`

const deleteIncompleteSQL = `
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

// sheet is an import and how its file is read.
type sheet struct {
	Import
	Delimiter string
	Encoding  string
	Columns   int64
	HasHeader bool
	Mapping   []Field // nil: not chosen yet
}

const sheetColumns = importColumns + `, i.delimiter, i.encoding, i.columns, i.heading as has_header, i.mapping`

type firstPiece struct {
	sheet
	Content []byte
}

// The rows of a preview always fit into the first piece of the file.
const firstPieceSQL = `
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
		heading = @has_header` + thisImport

	runSQL = fromTheStart + `,
		status = 'running',
		actor_kind = @actor_kind,
		actor_id = @actor_id,
		actor_name = @actor_name` + thisImport
)

const deleteProblemsSQL = `
	delete from loyalty.customer_import_problem
	where tenant_id = @tenant_id
		and import_id = @id`

const (
	stopImportSQL = `
	update loyalty.customer_import i
	set status = 'cancelled',
		moved_at = @now,
		ended_at = @now` + thisImport

	// Resets the counts, because a check only predicted them.
	discardImportSQL = fromTheStart + `,
		status = 'cancelled',
		ended_at = @now` + thisImport
)

const deleteFileSQL = `
	delete from loyalty.customer_import_chunk
	where tenant_id = @tenant_id
		and import_id = @id`

// problemRow is a stored problem, with its violation as a text (core.Violation.String).
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

// progress is an import that a worker continues.
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

	// The attempt stays the same, so that the job of a killed worker finds the check again. Another
	// worker of this check stops, because the position has changed (lockPositionSQL).
	restartCheckSQL = rewind + `
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

const pieceSQL = `
	select content
	from loyalty.customer_import_chunk
	where tenant_id = @tenant_id
		and import_id = @id
		and seq = @seq`

// Finds nothing if the import was cancelled or another worker has moved its position.
const lockPositionSQL = `
	select (select coalesce(country, '') from loyalty.tenant where id = @tenant_id) as country
	from loyalty.customer_import
	where tenant_id = @tenant_id
		and id = @id
		and status = @status
		and attempt = @attempt
		and position = @position
	for no key update`

const saveProgressSQL = `
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
	from unnest(@rows::bigint[], @fields::text[], @values::text[], @messages::text[]) given (file_row, field, value, message)
	returning 1`

const stalledImportsSQL = `
	select tenant_id as tenant, id as import, attempt
	from loyalty.stalled_imports(@before, @up_to)`

const forgetImportsSQL = `
	select loyalty.forget_imports(@ended_before, @uploaded_before, @arrived_before, @up_to)`

const (
	keptFor       = 30 * 24 * time.Hour // since an import ended
	uploadKept    = 24 * time.Hour      // a file that is not imported
	arrivesWithin = time.Hour           // how long an upload may take
)

// A customer who is erased may be in a waiting file or in its problems. A running import is not
// stopped: its file is deleted within minutes.
const (
	deleteWaitingFilesSQL = `
	delete from loyalty.customer_import_chunk c
	using loyalty.customer_import i
	where i.tenant_id = @tenant_id
		and i.status in ('uploaded', 'checking', 'checked')
		and c.tenant_id = @tenant_id
		and c.import_id = i.id`

	deleteWaitingProblemsSQL = `
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

	deleteArrivingSQL = `
	delete from loyalty.customer_import
	where tenant_id = @tenant_id
		and status = 'arriving'`

	discardWaitingSQL = fromTheStart + `,
		status = 'cancelled',
		ended_at = @now
	where tenant_id = @tenant_id
		and status in ('uploaded', 'checking', 'checked')`
)
