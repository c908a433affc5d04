-- The statements of core/importing, as the server gets them. "make statements" writes this file.
--
-- It only prepares them, in your session. To see how one is planned without knowing its values, in psql or "loyalty psql --tenant SLUG":
--
--   \i docs/statements/importing.sql
--   set plan_cache_mode = force_generic_plan;
--   explain execute NAME (null, null); -- a null for each argument
--
-- "select name, parameter_types from pg_prepared_statements" lists them with the types of their arguments.
deallocate all;

-- lockUploadsSQL (core/importing/sql.go): Files that begin to arrive at once are counted one after the other.
-- $1=tenant_id
prepare lockUploadsSQL as
  select pg_advisory_xact_lock(hashtextextended('customer imports ' || $1::bigint, 7));

-- insertIncompleteSQL (core/importing/sql.go): Inserts nothing if too many files are waiting.
-- $1=tenant_id $2=id $3=file_name $4=actor_kind $5=actor_id $6=actor_name $7=now $8=most
prepare insertIncompleteSQL as
  insert into loyalty.customer_import (tenant_id, id, file_name, actor_kind, actor_id, actor_name, created_at, moved_at)
  select $1, $2, $3, $4, $5, $6, $7, $7
  where (
      select count(*)
      from loyalty.customer_import
      where tenant_id = $1
        and status not in ('done', 'cancelled')
        and id <> $2
    ) < $8
  returning 1;

-- storePieceSQL (core/importing/sql.go), for receive: receive stores a file and returns the arguments that describe it.
-- $1=tenant_id $2=id $3=seq $4=content
prepare storePieceSQL as
  insert into loyalty.customer_import_chunk (tenant_id, import_id, seq, content)
  values ($1, $2, $3, $4);

-- arrivedSQL (core/importing/sql.go), for Upload: Upload stores a file while it arrives, counts its rows, and refuses a
-- file that can't be read as a whole.
-- $1=form_key $2=size $3=delimiter $4=encoding $5=columns $6=records $7=header_record $8=dates $9=now $10=tenant_id
-- $11=id
prepare arrivedSQL as
  update loyalty.customer_import i
  set status = 'uploaded',
    form_key = $1,
    size = $2,
    delimiter = $3,
    encoding = $4,
    columns = $5,
    records = $6,
    heading = $7::bigint > 0,
    header_record = $7::bigint,
    dates = $8::jsonb,
    moved_at = $9
  where tenant_id = $10
    and id = $11
  returning i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at;

-- findImportByFormSQL (core/importing/sql.go), for Upload: Upload stores a file while it arrives, counts its rows, and
-- refuses a file that can't be read as a whole.
-- $1=tenant_id $2=form_key
prepare findImportByFormSQL as
  select i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at
  from loyalty.customer_import i
  where tenant_id = $1
    and form_key = $2;

-- deleteIncompleteSQL (core/importing/sql.go), for Upload: Upload stores a file while it arrives, counts its rows, and
-- refuses a file that can't be read as a whole.
-- $1=tenant_id $2=id
prepare deleteIncompleteSQL as
  delete from loyalty.customer_import
  where tenant_id = $1
    and id = $2
    and status = 'arriving';

-- findImportSQL (core/importing/sql.go), for Find: Find returns an import, or core.ErrNotFound.
-- $1=tenant_id $2=id
prepare findImportSQL as
  select i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at
  from loyalty.customer_import i
  where tenant_id = $1
    and id = $2
    and status <> 'arriving';

-- listImportsSQL (core/importing/sql.go), for List: List returns the latest imports.
-- $1=tenant_id $2=limit
prepare listImportsSQL as
  select i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at
  from loyalty.customer_import i
  where tenant_id = $1
    and status <> 'arriving'
  order by id desc
  limit $2;

-- firstPieceSQL (core/importing/sql.go): The rows of a preview always fit into the first piece of the file.
-- $1=tenant_id $2=id
prepare firstPieceSQL as
  select i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at, i.delimiter, i.encoding, i.columns, coalesce(i.header_record, i.heading::int) as header, i.mapping, i.date_order, i.dates, c.content
  from loyalty.customer_import i
  join loyalty.customer_import_chunk c on c.tenant_id = i.tenant_id and c.import_id = i.id and c.seq = 0
  where i.tenant_id = $1
    and i.id = $2
    and i.status <> 'arriving';

-- lockFirstPieceSQL (core/importing/sql.go): The piece of a file that was imported is gone.
-- $1=tenant_id $2=id
prepare lockFirstPieceSQL as
  select i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at, i.delimiter, i.encoding, i.columns, coalesce(i.header_record, i.heading::int) as header, i.mapping, i.date_order, i.dates, coalesce(c.content, '') as content
  from loyalty.customer_import i
  left join loyalty.customer_import_chunk c on c.tenant_id = i.tenant_id and c.import_id = i.id and c.seq = 0
  where i.tenant_id = $1
    and i.id = $2
    and i.status <> 'arriving'
  for no key update of i;

-- lockImportSQL (core/importing/sql.go), for Run: Run queues the import of a file that was checked, once.
-- $1=tenant_id $2=id
prepare lockImportSQL as
  select i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at, i.delimiter, i.encoding, i.columns, coalesce(i.header_record, i.heading::int) as header, i.mapping, i.date_order, i.dates
  from loyalty.customer_import i
  where i.tenant_id = $1
    and i.id = $2
    and i.status <> 'arriving'
  for no key update;

-- checkSQL (core/importing/sql.go), for Check: Check queues a check of every row with these columns, which counts what
-- an import would do.
-- $1=now $2=encoding $3=header_record $4=columns $5=mapping $6=date_order $7=tenant_id $8=id
prepare checkSQL as
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
    moved_at = $1,
    attempt = attempt + 1,
    status = 'checking',
    encoding = $2,
    header_record = $3::bigint,
    heading = $3::bigint > 0,
    columns = $4,
    mapping = $5,
    date_order = $6
  where tenant_id = $7
    and id = $8
  returning i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at;

-- runSQL (core/importing/sql.go), for Run: Run queues the import of a file that was checked, once.
-- $1=now $2=actor_kind $3=actor_id $4=actor_name $5=tenant_id $6=id
prepare runSQL as
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
    moved_at = $1,
    attempt = attempt + 1,
    status = 'running',
    actor_kind = $2,
    actor_id = $3,
    actor_name = $4
  where tenant_id = $5
    and id = $6
  returning i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at;

-- holdSQL (core/importing/sql.go), for hold: hold has an import whose business is suspended wait for a decision.
-- $1=now $2=tenant_id $3=id $4=attempt
prepare holdSQL as
  update loyalty.customer_import
  set held_at = $1,
    moved_at = $1
  where tenant_id = $2
    and id = $3
    and status in ('checking', 'running')
    and attempt = $4
    and held_at is null;

-- continueSQL (core/importing/sql.go), for Continue: Continue goes on with an import that is on hold, from the row at
-- which it was.
-- $1=now $2=tenant_id $3=id
prepare continueSQL as
  update loyalty.customer_import i
  set held_at = null,
    moved_at = $1
  where tenant_id = $2
    and id = $3
  returning i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at;

-- deleteProblemsSQL (core/importing/sql.go), for start: start starts a check or an import, and queues its job.
-- $1=tenant_id $2=id
prepare deleteProblemsSQL as
  delete from loyalty.customer_import_problem
  where tenant_id = $1
    and import_id = $2;

-- stopImportSQL (core/importing/sql.go), for Cancel: Cancel stops a running import: the customers it has created stay.
-- $1=now $2=tenant_id $3=id
prepare stopImportSQL as
  update loyalty.customer_import i
  set status = 'cancelled',
    held_at = null,
    moved_at = $1,
    ended_at = $1
  where tenant_id = $2
    and id = $3
  returning i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at;

-- discardImportSQL (core/importing/sql.go): Resets the counts, because a check only predicted them.
-- $1=now $2=tenant_id $3=id
prepare discardImportSQL as
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
    moved_at = $1,
    attempt = attempt + 1,
    status = 'cancelled',
    ended_at = $1
  where tenant_id = $2
    and id = $3
  returning i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at;

-- deleteFileSQL (core/importing/sql.go), for Cancel: Cancel stops a running import: the customers it has created stay.
-- $1=tenant_id $2=id
prepare deleteFileSQL as
  delete from loyalty.customer_import_chunk
  where tenant_id = $1
    and import_id = $2;

-- listProblemsSQL (core/importing/sql.go), for ListProblems: ListProblems returns at most limit problems of an import,
-- in the order of the file, or core.ErrNotFound.
-- $1=tenant_id $2=id $3=row $4=field $5=limit
prepare listProblemsSQL as
  select p.file_row, p.field, p.value, p.message, p.duplicate, p.name, coalesce(k.id, c.id) as customer_id,
    coalesce(k.first_name || ' ' || k.last_name, c.first_name || ' ' || c.last_name, '') as customer_name
  from loyalty.customer_import_problem p
  left join loyalty.customer c on c.tenant_id = p.tenant_id and c.id = p.customer_id
  left join loyalty.customer k on k.tenant_id = c.tenant_id and k.id = c.merged_into
  where p.tenant_id = $1
    and p.import_id = $2
    and (p.file_row, p.field) > ($3, $4)
    and not p.duplicate
  order by p.file_row, p.field
  limit $5;

-- listDuplicatesSQL (core/importing/sql.go), for ListDuplicates: ListDuplicates returns at most limit rows that aren't
-- imported because they repeat another row or an existing customer, in the order of the file, or core.ErrNotFound.
-- $1=tenant_id $2=id $3=row $4=field $5=limit
prepare listDuplicatesSQL as
  select p.file_row, p.field, p.value, p.message, p.duplicate, p.name, coalesce(k.id, c.id) as customer_id,
    coalesce(k.first_name || ' ' || k.last_name, c.first_name || ' ' || c.last_name, '') as customer_name
  from loyalty.customer_import_problem p
  left join loyalty.customer c on c.tenant_id = p.tenant_id and c.id = p.customer_id
  left join loyalty.customer k on k.tenant_id = c.tenant_id and k.id = c.merged_into
  where p.tenant_id = $1
    and p.import_id = $2
    and (p.file_row, p.field) > ($3, $4)
    and p.duplicate
  order by p.file_row, p.field
  limit $5;

-- listAllProblemsSQL (core/importing/sql.go), for EachProblem: EachProblem calls each for every problem and duplicate of
-- an import, in the order of the file, or returns core.ErrNotFound.
-- $1=tenant_id $2=id $3=row $4=field $5=limit
prepare listAllProblemsSQL as
  select p.file_row, p.field, p.value, p.message, p.duplicate, p.name, coalesce(k.id, c.id) as customer_id,
    coalesce(k.first_name || ' ' || k.last_name, c.first_name || ' ' || c.last_name, '') as customer_name
  from loyalty.customer_import_problem p
  left join loyalty.customer c on c.tenant_id = p.tenant_id and c.id = p.customer_id
  left join loyalty.customer k on k.tenant_id = c.tenant_id and k.id = c.merged_into
  where p.tenant_id = $1
    and p.import_id = $2
    and (p.file_row, p.field) > ($3, $4)
  order by p.file_row, p.field
  limit $5;

-- listSharedSQL (core/importing/sql.go): A row that repeats another has its number in the message.
-- $1=tenant_id $2=id $3=fewest $4=limit
prepare listSharedSQL as
  with shared as (
    select p.field, (array_agg(p.value order by p.file_row))[1] as value, count(*) + (p.customer_id is null)::int as rows,
      case when p.customer_id is null then substr(p.message, length('repeats_row ') + 1)::bigint else 0 end as row, p.customer_id
    from loyalty.customer_import_problem p
    where p.tenant_id = $1
      and p.import_id = $2
      and p.duplicate
    group by p.field, p.message, p.customer_id
  )
  select s.field, s.value, s.rows, s.row, c.id as customer, coalesce(c.first_name || ' ' || c.last_name, '') as customer_name
  from shared s
  left join loyalty.customer c on c.tenant_id = $1 and c.id = s.customer_id
  where s.rows >= $3
  order by s.rows desc, s.row, s.field
  limit $4;

-- restartCheckSQL (core/importing/sql.go): The attempt stays the same, so that the job of a killed worker finds the
-- check again.
-- $1=now $2=tenant_id $3=id $4=attempt
prepare restartCheckSQL as
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
    moved_at = $1
  where tenant_id = $2
    and id = $3
    and status = 'checking'
    and attempt = $4
    and held_at is null
  returning i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at, i.delimiter, i.encoding, i.columns, coalesce(i.header_record, i.heading::int) as header, i.mapping, i.date_order, i.dates, i.position, i.file_row, i.actor_kind, i.actor_id,
    (select coalesce(country, '') from loyalty.tenant where id = $2) as country,
    (select timezone from loyalty.tenant where id = $2) as timezone;

-- resumeSQL (core/importing/sql.go), for resume: resume returns an import at its position.
-- $1=tenant_id $2=id $3=attempt
prepare resumeSQL as
  select i.id, i.status, i.file_name, i.size, greatest(i.records - coalesce(i.header_record, i.heading::int), 0) as rows, i.done_count as done,
    i.created_count as created, i.found_count as found, i.repeated_count as repeated, i.failed_count as failed,
    i.problem_count as problems, i.opening_points as points, i.opening_stamps as stamps, i.attempt, i.actor_name, i.created_at, i.held_at, i.ended_at, i.delimiter, i.encoding, i.columns, coalesce(i.header_record, i.heading::int) as header, i.mapping, i.date_order, i.dates, i.position, i.file_row, i.actor_kind, i.actor_id,
    (select coalesce(country, '') from loyalty.tenant where id = $1) as country,
    (select timezone from loyalty.tenant where id = $1) as timezone
  from loyalty.customer_import i
  where tenant_id = $1
    and id = $2
    and status = 'running'
    and attempt = $3
    and held_at is null;

-- pieceSQL (core/importing/sql.go), for file: file reads a stored file from a byte on.
-- $1=tenant_id $2=id $3=seq
prepare pieceSQL as
  select content
  from loyalty.customer_import_chunk
  where tenant_id = $1
    and import_id = $2
    and seq = $3;

-- lockPositionSQL (core/importing/sql.go): Finds nothing if the import was cancelled or is on hold, or another worker
-- has moved its position.
-- $1=tenant_id $2=id $3=status $4=attempt $5=position
prepare lockPositionSQL as
  select (select coalesce(country, '') from loyalty.tenant where id = $1) as country
  from loyalty.customer_import
  where tenant_id = $1
    and id = $2
    and status = $3
    and attempt = $4
    and position = $5
    and held_at is null
  for no key update;

-- saveProgressSQL (core/importing/sql.go), for save: save stores the problems and duplicates of a batch and the progress
-- of the import.
-- $1=status $2=position $3=file_row $4=done $5=created $6=found $7=repeated $8=failed $9=problems $10=points $11=stamps
-- $12=now $13=ended_at $14=tenant_id $15=id
prepare saveProgressSQL as
  update loyalty.customer_import
  set status = $1,
    position = $2,
    file_row = $3,
    done_count = done_count + $4,
    created_count = created_count + $5,
    found_count = found_count + $6,
    repeated_count = repeated_count + $7,
    failed_count = failed_count + $8,
    problem_count = problem_count + $9,
    opening_points = opening_points + $10,
    opening_stamps = opening_stamps + $11,
    moved_at = $12,
    ended_at = $13
  where tenant_id = $14
    and id = $15;

-- insertProblemsSQL (core/importing/sql.go), for save: save stores the problems and duplicates of a batch and the
-- progress of the import.
-- $1=tenant_id $2=id $3=rows $4=fields $5=values $6=messages $7=duplicates $8=names $9=customers
prepare insertProblemsSQL as
  insert into loyalty.customer_import_problem (tenant_id, import_id, file_row, field, value, message, duplicate, name, customer_id)
  select $1, $2, file_row, field, value, message, duplicate, name, customer_id
  from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::text[], $9::uuid[])
    given (file_row, field, value, message, duplicate, name, customer_id)
  returning 1;

-- stalledImportsSQL (core/importing/sql.go)
-- $1=before $2=up_to
prepare stalledImportsSQL as
  select tenant_id as tenant, id as import, attempt
  from loyalty.stalled_imports($1, $2);

-- deleteOldImportsSQL (core/importing/sql.go)
-- $1=ended_before $2=uploaded_before $3=arrived_before $4=up_to
prepare deleteOldImportsSQL as
  select loyalty.forget_imports($1, $2, $3, $4);

-- deleteWaitingFilesSQL (core/importing/sql.go): A customer who is erased may be in a waiting file or in its problems.
-- $1=tenant_id
prepare deleteWaitingFilesSQL as
  delete from loyalty.customer_import_chunk c
  using loyalty.customer_import i
  where i.tenant_id = $1
    and i.status in ('uploaded', 'checking', 'checked')
    and c.tenant_id = $1
    and c.import_id = i.id;

-- deleteWaitingProblemsSQL (core/importing/sql.go): A customer who is erased may be in a waiting file or in its
-- problems.
-- $1=tenant_id
prepare deleteWaitingProblemsSQL as
  delete from loyalty.customer_import_problem p
  using loyalty.customer_import i
  where i.tenant_id = $1
    and i.status in ('uploaded', 'checking', 'checked')
    and p.tenant_id = $1
    and p.import_id = i.id;

-- blankProblemsSQL (core/importing/sql.go): A customer who is erased may be in a waiting file or in its problems.
-- $1=tenant_id
prepare blankProblemsSQL as
  update loyalty.customer_import_problem
  set value = '',
    name = ''
  where tenant_id = $1
    and (value <> '' or name <> '');

-- deleteArrivingSQL (core/importing/sql.go): A customer who is erased may be in a waiting file or in its problems.
-- $1=tenant_id
prepare deleteArrivingSQL as
  delete from loyalty.customer_import
  where tenant_id = $1
    and status = 'arriving';

-- discardWaitingSQL (core/importing/sql.go): A customer who is erased may be in a waiting file or in its problems.
-- $1=now $2=tenant_id
prepare discardWaitingSQL as
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
    moved_at = $1,
    attempt = attempt + 1,
    status = 'cancelled',
    ended_at = $1
  where tenant_id = $2
    and status in ('uploaded', 'checking', 'checked');
