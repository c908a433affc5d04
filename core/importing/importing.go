// Package importing creates customers from CSV files. A file is uploaded, checked without creating
// anything, and imported by jobs in batches: each batch stores its position in the transaction that
// creates its customers, so no row is imported twice.
package importing

import (
	"context"
	"strconv"
	"time"

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
	Points   int64 // opening balances of the new customers
	Stamps   int64 // likewise
	Attempt  int64 // counts the checks and the import of the file

	ActorName string // who uploaded the file or, once it is imported, who started that
	CreatedAt time.Time
	HeldAt    *time.Time // it was at work when the business was suspended, and waits for a decision; nil: not on hold
	EndedAt   *time.Time
}

// Discarded reports whether an import was cancelled before it added any customer.
func (i Import) Discarded() bool { return i.Status == Cancelled && i.Done == 0 }

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
	job.HandleWithin(jobs, job.Imports, jobLimit, job.OrHold(s.work, s.hold))
	job.Handle(jobs, job.Upkeep, s.runUpkeep)
	job.Every(jobs, time.Minute, upkeep{})
	return s
}

// At returns the service at another time.
func (s *Service) At(instant time.Time) *Service {
	past := *s
	past.db = s.db.At(instant)
	return &past
}

// Find returns an import, or core.ErrNotFound.
func (s *Service) Find(ctx context.Context, by core.Actor, id core.ID) (Import, error) {
	if err := by.Require(core.Manager); err != nil {
		return Import{}, err
	}
	return db.One[Import](ctx, s.db.Tenant(by), findImportSQL, db.Args{"id": id})
}

// maxListed is the length of the list: older imports are soon deleted.
const maxListed = 20

// List returns the latest imports.
func (s *Service) List(ctx context.Context, by core.Actor) ([]Import, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	return db.All[Import](ctx, s.db.Tenant(by), listImportsSQL, db.Args{"limit": maxListed})
}

// Check queues a check of every row with these columns, which counts what an import would do. A
// file may be checked again until it is imported.
func (s *Service) Check(ctx context.Context, by core.Actor, id core.ID, m Mapping) (Import, error) {
	return change(ctx, s, by, id, lockFirstPieceSQL, func(tx *db.Tx, file firstPiece) (Import, error) {
		if err := customer.RequireCountry(by); err != nil {
			return Import{}, err
		}
		switch file.Status {
		case Uploaded, Checking, Checked:
		default:
			return Import{}, ErrStep
		}
		if m.Encoding == "" {
			m.Encoding = file.Encoding
		}
		l, err := file.layout(m.Encoding)
		if err != nil {
			return Import{}, err
		}
		levels, err := levelsFor(ctx, tx, m.Columns)
		if err != nil {
			return Import{}, err
		}
		if err := m.validate(l, file.Encoding, by.Tenant, levels); err != nil {
			return Import{}, err
		}
		return s.start(ctx, tx, by, checkSQL, db.Args{
			"id": id, "encoding": m.Encoding, "header_record": m.Header, "columns": len(m.Columns), "mapping": m.Columns,
			"date_order": m.DateOrder, "now": tx.Now,
		})
	})
}

// Run queues the import of a file that was checked, once. A tenant has one running import. A file
// whose new customers exceed the plan is refused as a whole with usage.ErrLimit.
func (s *Service) Run(ctx context.Context, by core.Actor, id core.ID) (Import, error) {
	return change(ctx, s, by, id, lockImportSQL, func(tx *db.Tx, file sheet) (Import, error) {
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
		room, limited, err := usage.Room(ctx, tx, usage.Customers)
		if err != nil {
			return Import{}, err
		}
		if limited && file.Created > room {
			return Import{}, refuseAboveLimit(file.Created, room)
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

// Continue goes on with an import that is on hold, from the row at which it was. Others stay as they are.
func (s *Service) Continue(ctx context.Context, by core.Actor, id core.ID) (Import, error) {
	return change(ctx, s, by, id, lockImportSQL, func(tx *db.Tx, file sheet) (Import, error) {
		if file.HeldAt == nil {
			return file.Import, nil
		}
		if err := file.log(tx, by, "import.continue", map[string]any{"rows_done": file.Done, "new_customers": file.Created}); err != nil {
			return Import{}, err
		}
		i, err := db.One[Import](ctx, tx, continueSQL, db.Args{"id": id, "now": tx.Now})
		if err != nil {
			return Import{}, err
		}
		return i, s.jobs.Add(ctx, tx, Job{Tenant: by.Tenant.ID, Import: id, Attempt: i.Attempt})
	})
}

// Cancel stops a running import: the customers it has created stay. A file that is not being
// imported is discarded.
func (s *Service) Cancel(ctx context.Context, by core.Actor, id core.ID) (Import, error) {
	return change(ctx, s, by, id, lockImportSQL, func(tx *db.Tx, file sheet) (Import, error) {
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

// change runs fn with an import that a statement locks until the commit.
func change[File any](
	ctx context.Context, s *Service, by core.Actor, id core.ID, lock string, fn func(tx *db.Tx, file File) (Import, error),
) (Import, error) {
	return db.In(ctx, s.db.TenantAs(by, core.Manager), func(tx *db.Tx) (Import, error) {
		file, err := db.One[File](ctx, tx, lock, db.Args{"id": id})
		if err != nil {
			return Import{}, err
		}
		return fn(tx, file)
	})
}

// refuseAboveLimit says how many of an import's new customers fit the plan.
func refuseAboveLimit(customers, room int64) *core.Error {
	plain := func(n int64) string { return strconv.FormatInt(n, 10) }
	message := FitsPlan(customers, room, plain) + ". Upgrade, or shorten the file."
	return &core.Error{Kind: usage.ErrLimit.Kind, Code: usage.ErrLimit.Code, Message: message, Cause: usage.ErrLimit}
}

// FitsPlan says how many new customers fit a plan that has room for some: "412 of 500 fit your plan". number formats
// numbers.
func FitsPlan(customers, room int64, number func(int64) string) string {
	if room <= 0 {
		return "No more customers fit your plan"
	}
	fit := " fit your plan"
	if room == 1 {
		fit = " fits your plan"
	}
	return number(room) + " of " + number(customers) + fit
}

// Room returns how many more customers the actor's plan allows. false: it has no limit.
func (s *Service) Room(ctx context.Context, by core.Actor) (room int64, limited bool, err error) {
	if err := by.Require(core.Manager); err != nil {
		return 0, false, err
	}
	return usage.ReadRoom(ctx, s.db, by, usage.Customers)
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
	return s.problemsAfter(ctx, by, id, listProblemsSQL, Problem{}, limit)
}

// ListDuplicates returns at most limit rows that aren't imported because they repeat another row or an existing
// customer, in the order of the file, or core.ErrNotFound.
func (s *Service) ListDuplicates(ctx context.Context, by core.Actor, id core.ID, limit int) ([]Problem, error) {
	return s.problemsAfter(ctx, by, id, listDuplicatesSQL, Problem{}, limit)
}

func (s *Service) problemsAfter(ctx context.Context, by core.Actor, id core.ID, statement string, last Problem, limit int) ([]Problem, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	rows, err := db.All[problemRow](ctx, s.db.Tenant(by), statement, db.Args{
		"id": id, "row": last.FileRow, "field": last.Field, "limit": limit,
	})
	if err == nil && len(rows) == 0 {
		_, err = s.Find(ctx, by, id)
	}
	list := make([]Problem, len(rows))
	for i, r := range rows {
		list[i] = Problem{FileRow: r.FileRow, Field: r.Field, Value: r.Value, Violation: core.ParseViolation(r.Message)}
		if r.Duplicate {
			list[i].Repeats = &Repeated{Name: r.Name, Row: list[i].Limit, Customer: r.CustomerID, CustomerName: r.CustomerName}
		}
	}
	return list, err
}

// EachProblem calls each for every problem and duplicate of an import, in the order of the file, or returns
// core.ErrNotFound. It reads them in parts, so that few are in memory.
func (s *Service) EachProblem(ctx context.Context, by core.Actor, id core.ID, each func(Problem) error) error {
	for last, more := (Problem{}), true; more; {
		list, err := s.problemsAfter(ctx, by, id, listAllProblemsSQL, last, problemsRead)
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

// Shared is a phone number or an e-mail address that several rows have.
type Shared struct {
	Field        Field
	Value        string // as the first of the rows has it
	Rows         int64  // that have it, also the row that is imported
	Row          int64  // that is imported; 0: an existing customer has it
	Customer     *core.ID
	CustomerName string
}

// maxShared is how many shared values are listed: those of the most rows.
const maxShared = 10

// ListShared returns the phone numbers and e-mail addresses that at least three rows share, those of the most rows
// first: a number such as 000000 in place of a missing one, or the address of a family.
func (s *Service) ListShared(ctx context.Context, by core.Actor, id core.ID) ([]Shared, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	return db.All[Shared](ctx, s.db.Tenant(by), listSharedSQL, db.Args{"id": id, "fewest": 3, "limit": maxShared})
}
