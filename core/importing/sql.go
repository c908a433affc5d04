package importing

import (
	"time"

	"example.com/loyalty/core"
)

const importColumns = `i.id, i.status, i.file_name, i.size, greatest(i.records - ` + headerRecord + `, 0) as rows, i.done_count as done,
		i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
		i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at`

// An earlier build stored whether the first row is the header row.
const headerRecord = `coalesce(i.header_record, i.heading::int)`

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
		heading = @header_record::bigint > 0,
		header_record = @header_record::bigint,
		dates = @dates::jsonb,
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
	Encoding  Encoding
	Columns   int64
	Header    int64   // of the rows that aren't empty; 0: none
	Mapping   []Field // nil: not chosen yet
	DateOrder DateOrder
	Dates     []DateColumn
}

const sheetColumns = importColumns + `, i.delimiter, i.encoding, i.columns, ` + headerRecord + ` as header, i.mapping, i.date_order, i.dates`

type firstPiece struct {
	sheet
	Content []byte
}

const (
	// The rows of a preview always fit into the first piece of the file.
	firstPieceSQL = `
	select ` + sheetColumns + `, c.content
	from loyalty.customer_import i
	join loyalty.customer_import_chunk c on c.tenant_id = i.tenant_id and c.import_id = i.id and c.seq = 0` + arrived

	// The piece of a file that was imported is gone.
	lockFirstPieceSQL = `
	select ` + sheetColumns + `, coalesce(c.content, '') as content
	from loyalty.customer_import i
	left join loyalty.customer_import_chunk c on c.tenant_id = i.tenant_id and c.import_id = i.id and c.seq = 0` + arrived + `
	for no key update of i`

	lockImportSQL = `
	select ` + sheetColumns + `
	from loyalty.customer_import i` + arrived + `
	for no key update`

	arrived = `
	where i.tenant_id = @tenant_id
		and i.id = @id
		and i.status <> 'arriving'`
)

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
		opening_points = 0,
		opening_stamps = 0,
		held_at = null,
		moved_at = @now`

	thisImport = `
	where tenant_id = @tenant_id
		and id = @id
	returning ` + importColumns

	checkSQL = fromTheStart + `,
		status = 'checking',
		encoding = @encoding,
		header_record = @header_record::bigint,
		heading = @header_record::bigint > 0,
		columns = @columns,
		mapping = @mapping,
		date_order = @date_order` + thisImport

	runSQL = fromTheStart + `,
		status = 'running',
		actor_kind = @actor_kind,
		actor_id = @actor_id,
		actor_name = @actor_name` + thisImport
)

const holdSQL = `
	update loyalty.customer_import
	set held_at = @now,
		moved_at = @now
	where tenant_id = @tenant_id
		and id = @id
		and status in ('checking', 'running')
		and attempt = @attempt
		and held_at is null`

const continueSQL = `
	update loyalty.customer_import i
	set held_at = null,
		moved_at = @now` + thisImport

const deleteProblemsSQL = `
	delete from loyalty.customer_import_problem
	where tenant_id = @tenant_id
		and import_id = @id`

const (
	stopImportSQL = `
	update loyalty.customer_import i
	set status = 'cancelled',
		held_at = null,
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
	Duplicate             bool
	Name                  string
	CustomerID            *core.ID
	CustomerName          string
}

const (
	listProblemsSQL = selectProblems + `
		and not p.duplicate` + problemsInOrder

	listDuplicatesSQL = selectProblems + `
		and p.duplicate` + problemsInOrder

	listAllProblemsSQL = selectProblems + problemsInOrder

	// A customer who was merged since is called as the one who was kept.
	selectProblems = `
	select p.file_row, p.field, p.value, p.message, p.duplicate, p.name, coalesce(k.id, c.id) as customer_id,
		coalesce(k.first_name || ' ' || k.last_name, c.first_name || ' ' || c.last_name, '') as customer_name
	from loyalty.customer_import_problem p
	left join loyalty.customer c on c.tenant_id = p.tenant_id and c.id = p.customer_id
	left join loyalty.customer k on k.tenant_id = c.tenant_id and k.id = c.merged_into
	where p.tenant_id = @tenant_id
		and p.import_id = @id
		and (p.file_row, p.field) > (@row, @field)`

	problemsInOrder = `
	order by p.file_row, p.field
	limit @limit`
)

// A row that repeats another has its number in the message.
const listSharedSQL = `
	with shared as (
		select p.field, (array_agg(p.value order by p.file_row))[1] as value, count(*) + (p.customer_id is null)::int as rows,
			case when p.customer_id is null then substr(p.message, length('` + repeatsRow + ` ') + 1)::bigint else 0 end as row, p.customer_id
		from loyalty.customer_import_problem p
		where p.tenant_id = @tenant_id
			and p.import_id = @id
			and p.duplicate
		group by p.field, p.message, p.customer_id
	)
	select s.field, s.value, s.rows, s.row, c.id as customer, coalesce(c.first_name || ' ' || c.last_name, '') as customer_name
	from shared s
	left join loyalty.customer c on c.tenant_id = @tenant_id and c.id = s.customer_id
	where s.rows >= @fewest
	order by s.rows desc, s.row, s.field
	limit @limit`

// The rules of duplicates: the row that is repeated is the first one's number.
const (
	repeatsRow      = "repeats_row"
	repeatsCustomer = "repeats_customer"
)

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
		and held_at is null
	returning ` + progressColumns

	resumeSQL = `
	select ` + progressColumns + `
	from loyalty.customer_import i
	where tenant_id = @tenant_id
		and id = @id
		and status = 'running'
		and attempt = @attempt
		and held_at is null`
)

const pieceSQL = `
	select content
	from loyalty.customer_import_chunk
	where tenant_id = @tenant_id
		and import_id = @id
		and seq = @seq`

// Finds nothing if the import was cancelled or is on hold, or another worker has moved its position.
const lockPositionSQL = `
	select (select coalesce(country, '') from loyalty.tenant where id = @tenant_id) as country
	from loyalty.customer_import
	where tenant_id = @tenant_id
		and id = @id
		and status = @status
		and attempt = @attempt
		and position = @position
		and held_at is null
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
		opening_points = opening_points + @points,
		opening_stamps = opening_stamps + @stamps,
		moved_at = @now,
		ended_at = @ended_at
	where tenant_id = @tenant_id
		and id = @id`

const insertProblemsSQL = `
	insert into loyalty.customer_import_problem (tenant_id, import_id, file_row, field, value, message, duplicate, name, customer_id)
	select @tenant_id, @id, file_row, field, value, message, duplicate, name, customer_id
	from unnest(@rows::bigint[], @fields::text[], @values::text[], @messages::text[], @duplicates::boolean[], @names::text[], @customers::uuid[])
		given (file_row, field, value, message, duplicate, name, customer_id)
	returning 1`

const stalledImportsSQL = `
	select tenant_id as tenant, id as import, attempt
	from loyalty.stalled_imports(@before, @up_to)`

const deleteOldImportsSQL = `
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
	set value = '',
		name = ''
	where tenant_id = @tenant_id
		and (value <> '' or name <> '')`

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
