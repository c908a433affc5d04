// Package importing creates customers from CSV files. A file is uploaded, checked without creating
// anything, and imported by jobs in batches: each batch stores its position in the transaction that
// creates its customers, so no row is imported twice.
package importing

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/riverqueue/river"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/usage"
)

// Import is a file of customers and the progress of its check or import.
type Import struct {
	ID       core.ID
	Status   Status
	FileName string
	Size     int64 // bytes
	Rows     int64 // without empty rows and the header row
	Done     int64 // rows that the check or import has read

	Created  int64 // new customers; in a check, customers to be created
	Found    int64 // existing customers, who stay as they are
	Repeated int64 // in a check: rows of customers whom an earlier row creates
	Failed   int64 // rows with problems
	Problems int64 // stored problems of the failed rows
	Attempt  int64 // counts the checks and the import of the file

	ActorName string // who uploaded the file or, once it is imported, who started that
	CreatedAt time.Time
	EndedAt   *time.Time
}

// Status says how far an import is.
type Status string

// The statuses. A file is checked before it is imported, and again whenever its columns change.
const (
	Uploaded  Status = "uploaded"
	Checking  Status = "checking"
	Checked   Status = "checked"
	Running   Status = "running"
	Done      Status = "done"
	Cancelled Status = "cancelled"
)

// Refusals of an import.
var (
	ErrRunning = core.Refuse("import-running", "Another import is running. Wait until it is done, or stop it.")
	ErrStep    = core.Refuse("import-step", "This import is not at that step any more. Open it again to see how far it is.")
)

// Service imports customers from CSV files.
type Service struct {
	db   *db.DB
	jobs *job.Queue

	batch int // rows of a transaction
	slice int // batches of a job
}

// A job is short, so that a stopping server and other jobs don't wait long for it.
const (
	batchRows  = 500
	jobBatches = 20
	jobLimit   = 10 * time.Minute
)

// NewService makes the service and registers its jobs.
func NewService(d *db.DB, jobs *job.Queue) *Service {
	s := &Service{db: d, jobs: jobs, batch: batchRows, slice: jobBatches}
	job.HandleWithin(jobs, job.Imports, jobLimit, s.work)
	job.Handle(jobs, job.Upkeep, s.runUpkeep)
	job.Every(jobs, river.PeriodicInterval(time.Minute), upkeep{})
	return s
}

// Find returns an import, or core.ErrNotFound.
func (s *Service) Find(ctx context.Context, by core.Actor, id core.ID) (Import, error) {
	if err := by.Require(core.Manager); err != nil {
		return Import{}, err
	}
	return db.ReadOne[Import](ctx, s.db, by, findImportSQL, db.Args{"id": id})
}

// maxListed is the length of the list: older imports are soon deleted.
const maxListed = 20

// List returns the latest imports.
func (s *Service) List(ctx context.Context, by core.Actor) ([]Import, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	return db.ReadAll[Import](ctx, s.db, by, listImportsSQL, db.Args{"limit": maxListed})
}

// Check queues a check of every row with these columns, which counts what an import would do. A
// file may be checked again until it is imported.
func (s *Service) Check(ctx context.Context, by core.Actor, id core.ID, m Mapping) (Import, error) {
	return s.change(ctx, by, id, func(tx *db.Tx, file sheet) (Import, error) {
		if err := customer.RequireCountry(by); err != nil {
			return Import{}, err
		}
		switch file.Status {
		case Uploaded, Checking, Checked:
		default:
			return Import{}, ErrStep
		}
		if err := m.validate(int(file.Columns)); err != nil {
			return Import{}, err
		}
		return s.start(ctx, tx, by, checkSQL, db.Args{"id": id, "mapping": m.Columns, "has_header": m.HasHeader, "now": tx.Now})
	})
}

// Run queues the import of a file that was checked, once. A tenant has one running import. A file
// whose new customers exceed the plan is refused as a whole with usage.ErrLimit.
func (s *Service) Run(ctx context.Context, by core.Actor, id core.ID) (Import, error) {
	return s.change(ctx, by, id, func(tx *db.Tx, file sheet) (Import, error) {
		switch file.Status {
		case Running, Done:
			return file.Import, nil
		case Checked:
		default:
			return Import{}, ErrStep
		}
		if err := customer.RequireCountry(by); err != nil {
			return Import{}, err
		}
		if err := usage.Check(ctx, tx, usage.Customers, file.Created); err != nil {
			return Import{}, err
		}
		if err := file.log(tx, by, "import.run", map[string]any{"rows": file.Rows, "new_customers": file.Created}); err != nil {
			return Import{}, err
		}
		i, err := s.start(ctx, tx, by, runSQL, db.Args{
			"id": id, "actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
		})
		if db.Violates(err, "customer_import_running") {
			return Import{}, ErrRunning
		}
		return i, err
	})
}

// start starts a check or an import, and queues its job.
func (s *Service) start(ctx context.Context, tx *db.Tx, by core.Actor, statement string, args db.Args) (Import, error) {
	if err := db.Queue(tx, deleteProblemsSQL, db.Args{"id": args["id"]}); err != nil {
		return Import{}, err
	}
	i, err := db.One[Import](ctx, tx, statement, args)
	if err != nil {
		return Import{}, err
	}
	return i, s.jobs.Add(ctx, tx, Job{Tenant: by.Tenant.ID, Import: i.ID, Attempt: i.Attempt})
}

// Cancel stops a running import: the customers it has created stay. A file that is not being
// imported is discarded.
func (s *Service) Cancel(ctx context.Context, by core.Actor, id core.ID) (Import, error) {
	return s.change(ctx, by, id, func(tx *db.Tx, file sheet) (Import, error) {
		if err := db.Queue(tx, deleteFileSQL, db.Args{"id": id}); err != nil {
			return Import{}, err
		}
		statement := discardImportSQL
		switch file.Status {
		case Cancelled:
			return file.Import, nil
		case Done:
			return Import{}, ErrStep
		case Running:
			statement = stopImportSQL
			if err := file.log(tx, by, "import.cancel", map[string]any{"rows_done": file.Done, "new_customers": file.Created}); err != nil {
				return Import{}, err
			}
		case Uploaded, Checking, Checked:
			if err := db.Queue(tx, deleteProblemsSQL, db.Args{"id": id}); err != nil {
				return Import{}, err
			}
		}
		return db.One[Import](ctx, tx, statement, db.Args{"id": id, "now": tx.Now})
	})
}

func (i Import) log(tx *db.Tx, by core.Actor, action string, facts map[string]any) error {
	facts["file"] = i.FileName
	return audit.Write(tx, by, audit.Entry{Action: action, Subject: "import", ID: i.ID.String(), Name: i.FileName, New: facts})
}

// change runs fn with an import that is locked until the commit.
func (s *Service) change(ctx context.Context, by core.Actor, id core.ID, fn func(tx *db.Tx, file sheet) (Import, error)) (Import, error) {
	return db.InTenantAs(ctx, s.db, by, core.Manager, func(tx *db.Tx) (Import, error) {
		file, err := db.One[sheet](ctx, tx, lockImportSQL, db.Args{"id": id})
		if err != nil {
			return Import{}, err
		}
		return fn(tx, file)
	})
}

// DiscardWaiting discards the tenant's files that were not imported: a customer who is erased may
// be in one of them.
func DiscardWaiting(tx *db.Tx) error {
	for _, statement := range []string{deleteArrivingSQL, deleteWaitingFilesSQL, deleteWaitingProblemsSQL, blankProblemsSQL} {
		if err := db.Queue(tx, statement, nil); err != nil {
			return err
		}
	}
	return db.Queue(tx, discardWaitingSQL, db.Args{"now": tx.Now})
}

// MaxProblems is how many problems of an import are stored in full. Of each further row only the
// first problem is stored, so that every bad row is named.
const MaxProblems = 10_000

// problemsRead is how many problems are read at once.
const problemsRead = 1_000

// ListProblems returns at most limit problems of an import, in the order of the file, or
// core.ErrNotFound.
func (s *Service) ListProblems(ctx context.Context, by core.Actor, id core.ID, limit int) ([]Problem, error) {
	return s.problemsAfter(ctx, by, id, Problem{}, limit)
}

func (s *Service) problemsAfter(ctx context.Context, by core.Actor, id core.ID, last Problem, limit int) ([]Problem, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	rows, err := db.ReadAll[problemRow](ctx, s.db, by, listProblemsSQL, db.Args{
		"id": id, "row": last.FileRow, "field": last.Field, "limit": limit,
	})
	if err == nil && len(rows) == 0 {
		_, err = s.Find(ctx, by, id)
	}
	list := make([]Problem, len(rows))
	for i, r := range rows {
		list[i] = Problem{FileRow: r.FileRow, Field: r.Field, Value: r.Value, Violation: core.ParseViolation(r.Message)}
	}
	return list, err
}

// EachProblem calls each for every problem of an import, in the order of the file, or returns
// core.ErrNotFound. It reads them in parts, so that few are in memory.
func (s *Service) EachProblem(ctx context.Context, by core.Actor, id core.ID, each func(Problem) error) error {
	for last, more := (Problem{}), true; more; {
		list, err := s.problemsAfter(ctx, by, id, last, problemsRead)
		if err != nil {
			return err
		}
		for _, p := range list {
			if err := each(p); err != nil {
				return err
			}
			last = p
		}
		more = len(list) == problemsRead
	}
	return nil
}

// Preview is the beginning of a file, and how it would be read.
type Preview struct {
	Import
	Mapping
	Beginning []PreviewRow
}

// PreviewRow is an unconverted row of a file, with a cell for each column.
type PreviewRow struct {
	FileRow int64
	Cells   []string
	Broken  *core.Violation // why it can't be read; nil: it can
}

// previewRows is how many rows a preview shows.
const previewRows = 10

// Preview returns the first rows of a file that has not been imported yet, and its columns as they
// were chosen or, before that, guessed from the header row.
func (s *Service) Preview(ctx context.Context, by core.Actor, id core.ID) (Preview, error) {
	if err := by.Require(core.Manager); err != nil {
		return Preview{}, err
	}
	file, err := db.ReadOne[firstPiece](ctx, s.db, by, firstPieceSQL, db.Args{"id": id})
	if err != nil {
		return Preview{}, err
	}
	rows, err := readRecords(bytes.NewReader(file.Content), file.Delimiter, file.Encoding, 0, 0)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Import: file.Import, Mapping: Mapping{file.Mapping, file.HasHeader}}
	for len(p.Beginning) < previewRows {
		rec, err := rows.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Preview{}, err
		}
		row := PreviewRow{FileRow: rec.row, Cells: make([]string, file.Columns), Broken: rec.broken}
		copy(row.Cells, rec.cells)
		if len(p.Beginning) == 0 && p.Columns == nil {
			p.Mapping = guess(row.Cells)
		}
		p.Beginning = append(p.Beginning, row)
	}
	return p, nil
}
