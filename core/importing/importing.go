// Package importing creates customers from CSV files. A file is uploaded, checked without creating
// anything, and imported by jobs in batches: each batch stores how far it came in the transaction
// that creates its customers, so no row is imported twice.
package importing

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/usage"
)

// Import is a file of customers, and how far it is.
type Import struct {
	ID       core.ID
	Status   Status
	FileName string
	Size     int64 // bytes
	Rows     int64 // that are not empty, without the heading
	Done     int64 // of these, by the check or by the import

	Created  int64 // customers who are new; in a check, who would be
	Found    int64 // customers who were there before, and stay as they are
	Repeated int64 // in a check: rows of a customer whom an earlier row makes
	Failed   int64 // rows that something stands against
	Problems int64 // that are kept, of the failed rows
	Attempt  int64 // counts the checks and the import of the file

	ActorName string // who brought the file or, once it is imported, who said so
	CreatedAt time.Time
	EndedAt   *time.Time
}

// Status says how far an import is.
type Status string

// The steps of an import. A file is checked before it is imported, as often as its
// columns are chosen anew.
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

// Service brings customers in from files of comma-separated values.
type Service struct {
	db   *db.DB
	jobs *job.Queue

	batch int // rows of a transaction
	slice int // transactions of a job
}

// What a job does is over so soon that stopping the server need not wait for it, nor
// other jobs behind it.
const (
	batchRows  = 500
	jobBatches = 20
	jobLimit   = 10 * time.Minute
)

// NewService makes the service and registers its jobs.
func NewService(d *db.DB, jobs *job.Queue) *Service {
	s := &Service{db: d, jobs: jobs, batch: batchRows, slice: jobBatches}
	job.HandleWithin(jobs, job.Imports, jobLimit, s.work)
	job.Handle(jobs, job.Upkeep, s.tend)
	job.Every(jobs, river.PeriodicInterval(time.Minute), upkeep{})
	return s
}

// File is a file to be imported.
type File struct {
	Name    string
	Content io.Reader
	FormKey string // of the form that brings it: sent twice, it is one import
}

const (
	maxFileName = 255
	maxFormKey  = 100
)

// Upload stores a file while it arrives, and counts its rows. Nothing is done with them
// yet. What cannot be read as a whole is refused, and so is a file where three others wait.
// A round trip for each MiB, and two.
func (s *Service) Upload(ctx context.Context, by core.Actor, f File) (Import, error) {
	if err := by.Require(core.Manager); err != nil {
		return Import{}, err
	}
	check := core.NewCheck(nil)
	key := check.Text("form_key", &f.FormKey, maxFormKey)
	if err := check.Err(); err != nil {
		return Import{}, err
	}
	id := core.NewID(s.db.Now())
	arrived, err := s.receive(ctx, by, id, f)
	if err == nil {
		arrived["form_key"] = key
		var i Import
		i, err = db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Import, error) {
			arrived["now"] = tx.Now
			return db.One[Import](ctx, tx, arrivedSQL, arrived)
		})
		if err == nil {
			return i, nil
		}
	}
	// Half a file is of no use; should this fail, a job finds it.
	_, _ = db.InTenant(context.WithoutCancel(ctx), s.db, by, func(tx *db.Tx) (int, error) {
		return 0, db.Queue(tx, dropArrivingSQL, db.Args{"id": id})
	})
	switch {
	case db.Violates(err, "customer_import_form"):
		return db.ReadOne[Import](ctx, s.db, by, findImportByFormSQL, db.Args{"form_key": key})
	case noPlace(err), errors.Is(err, core.ErrNotFound):
		return Import{}, errErasedMeanwhile
	case errors.Is(err, errWaiting):
		// The form may have been sent before: the file that it brought is one of those.
		if i, found := db.ReadOne[Import](ctx, s.db, by, findImportByFormSQL, db.Args{"form_key": key}); found == nil {
			return i, nil
		}
	}
	return Import{}, err
}

// receive stores a file, and returns what there is to say of it.
func (s *Service) receive(ctx context.Context, by core.Actor, id core.ID, f File) (db.Args, error) {
	if f.Content == nil {
		return nil, errNoFile
	}
	file := &arriving{from: f.Content, store: func(seq int64, chunk []byte) error {
		_, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (int, error) {
			if seq == 0 {
				if err := arrive(tx, by, id, f.Name); err != nil {
					return 0, err
				}
			}
			return 0, db.Queue(tx, storeChunkSQL, db.Args{"id": id, "seq": seq, "content": chunk})
		})
		if seq == 0 && noPlace(err) {
			return errWaiting
		}
		return err
	}}
	begin, err := file.begin()
	if err != nil {
		return nil, err
	}
	delimiter, encoding := guessDelimiter(begin), utf8Text
	rows, err := readRecords(file, delimiter, encoding, 0, 0)
	if err != nil {
		return nil, err
	}
	var heading bool
	var columns, records int64
	for {
		rec, err := rows.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if records++; records == 1 {
			if rec.broken != nil {
				return nil, core.Invalid(core.Fields{"file": {*rec.broken}})
			}
			heading, columns = guess(rec.cells).Heading, int64(len(rec.cells))
		}
		if !isText(rec.cells) {
			encoding = windowsText
		}
		if records > MaxRows+1 {
			return nil, errTooMany
		}
	}
	switch {
	case records == 0:
		return nil, errEmptyFile
	case records == 1 && heading:
		return nil, errNoRows
	case records > MaxRows && !heading:
		return nil, errTooMany
	case columns > maxColumns:
		return nil, errTooWide
	}
	return db.Args{
		"id": id, "size": file.size, "delimiter": delimiter, "encoding": encoding,
		"columns": columns, "records": records, "heading": heading,
	}, nil
}

// maxWaiting is how many files of a tenant may arrive, wait to be imported, or be imported at
// once: 60 MB of them, in the database.
const maxWaiting = 3

// errWaiting refuses a file where others wait. They are deleted after a day (uploadKept).
var errWaiting = refuseFile("max_waiting", maxWaiting)

// arrive makes a place for a file, unless too many are waiting: then its first piece finds
// none. No round trip.
func arrive(tx *db.Tx, by core.Actor, id core.ID, name string) error {
	if err := db.Queue(tx, lockArrivalsSQL, nil); err != nil {
		return err
	}
	return db.Queue(tx, arriveSQL, db.Args{
		"id": id, "file_name": fileName(name), "most": maxWaiting,
		"actor_kind": by.Kind, "actor_id": by.ID, "actor_name": by.Name, "now": tx.Now,
	})
}

// noPlace reports whether a piece of a file was stored whose import isn't there.
func noPlace(err error) bool { return db.Violates(err, "customer_import_chunk_import") }

// errErasedMeanwhile refuses a file that was discarded while it arrived.
var errErasedMeanwhile = refuseFile("erased_meanwhile", 0)

// DiscardWaiting discards the files of the transaction's tenant that were not imported: a customer
// who is erased may be in one of them.
func DiscardWaiting(tx *db.Tx) error {
	for _, statement := range []string{dropAllArrivingSQL, dropWaitingFilesSQL, dropWaitingProblemsSQL, blankProblemsSQL} {
		if err := db.Queue(tx, statement, nil); err != nil {
			return err
		}
	}
	return db.Queue(tx, discardWaitingSQL, db.Args{"now": tx.Now})
}

// fileName is a file's own name, without the folders that some browsers send along.
func fileName(name string) string {
	name = path.Base(strings.ReplaceAll(strings.ToValidUTF8(name, "?"), `\`, "/"))
	letters := []rune(strings.ReplaceAll(name, "\x00", ""))
	return string(letters[:min(len(letters), maxFileName)])
}

// Find returns an import, or core.ErrNotFound. One round trip.
func (s *Service) Find(ctx context.Context, by core.Actor, id core.ID) (Import, error) {
	if err := by.Require(core.Manager); err != nil {
		return Import{}, err
	}
	return db.ReadOne[Import](ctx, s.db, by, findImportSQL, db.Args{"id": id})
}

// maxListed is how many imports a list shows: older ones are soon deleted.
const maxListed = 20

// List returns the latest imports. One round trip.
func (s *Service) List(ctx context.Context, by core.Actor) ([]Import, error) {
	if err := by.Require(core.Manager); err != nil {
		return nil, err
	}
	return db.ReadAll[Import](ctx, s.db, by, listImportsSQL, db.Args{"limit": maxListed})
}

// Preview is how a file begins, and how it would be read.
type Preview struct {
	Import
	Mapping
	Beginning []PreviewRow
}

// PreviewRow is a row of a file as it stands there, a cell for each column.
type PreviewRow struct {
	FileRow int64
	Cells   []string
	Broken  *core.Violation // why it can't be read; nil: it can
}

// previewed is how many rows a preview shows.
const previewed = 10

// Preview returns the first rows of a file that has not been imported yet, and what was
// chosen for its columns or, before that, what their names tell. One round trip.
func (s *Service) Preview(ctx context.Context, by core.Actor, id core.ID) (Preview, error) {
	if err := by.Require(core.Manager); err != nil {
		return Preview{}, err
	}
	file, err := db.ReadOne[beginning](ctx, s.db, by, beginningSQL, db.Args{"id": id})
	if err != nil {
		return Preview{}, err
	}
	rows, err := readRecords(strings.NewReader(string(file.Content)), file.Delimiter, file.Encoding, 0, 0)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Import: file.Import, Mapping: Mapping{file.Mapping, file.Heading}}
	for len(p.Beginning) < previewed {
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

// Check has every row read as the columns say, and says what an import would do: nothing
// is done yet. A file may be checked again until it is imported. Five round trips, and one
// that wakes the workers unless they were woken a tenth of a second ago.
func (s *Service) Check(ctx context.Context, by core.Actor, id core.ID, m Mapping) (Import, error) {
	return s.step(ctx, by, id, func(tx *db.Tx, file sheet) (Import, error) {
		switch file.Status {
		case Uploaded, Checking, Checked:
		default:
			return Import{}, ErrStep
		}
		if err := m.validate(int(file.Columns)); err != nil {
			return Import{}, err
		}
		return s.start(ctx, tx, by, checkSQL, db.Args{"id": id, "mapping": m.Columns, "heading": m.Heading, "now": tx.Now})
	})
}

// Run imports a file that was checked. Said twice, it is done once. One import of a
// tenant runs at a time. One whose new customers exceed the plan is refused as a whole with
// usage.ErrLimit, before any of them is made. As many round trips as Check, and one that counts.
func (s *Service) Run(ctx context.Context, by core.Actor, id core.ID) (Import, error) {
	return s.step(ctx, by, id, func(tx *db.Tx, file sheet) (Import, error) {
		switch file.Status {
		case Running, Done:
			return file.Import, nil
		case Checked:
		default:
			return Import{}, ErrStep
		}
		if err := usage.Check(ctx, tx, usage.Customers, file.Created); err != nil {
			return Import{}, err
		}
		err := audit.Write(tx, by, audit.Entry{
			Action: "import.run", Subject: "import", ID: id.String(),
			New: map[string]any{"file": file.FileName, "rows": file.Rows, "new_customers": file.Created},
		})
		if err != nil {
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

// start begins a check or an import, and queues its job.
func (s *Service) start(ctx context.Context, tx *db.Tx, by core.Actor, statement string, args db.Args) (Import, error) {
	if err := db.Queue(tx, dropProblemsSQL, db.Args{"id": args["id"]}); err != nil {
		return Import{}, err
	}
	i, err := db.One[Import](ctx, tx, statement, args)
	if err != nil {
		return Import{}, err
	}
	return i, s.jobs.Add(ctx, tx, Job{Tenant: by.Tenant.ID, Import: i.ID, Attempt: i.Attempt})
}

// Cancel stops an import where it is: what it has done stays done. One that does not run
// yet is discarded. Three round trips.
func (s *Service) Cancel(ctx context.Context, by core.Actor, id core.ID) (Import, error) {
	return s.step(ctx, by, id, func(tx *db.Tx, file sheet) (Import, error) {
		this := db.Args{"id": id}
		if err := db.Queue(tx, dropFileSQL, this); err != nil {
			return Import{}, err
		}
		now := db.Args{"id": id, "now": tx.Now}
		switch file.Status {
		case Cancelled:
			return file.Import, nil
		case Done:
			return Import{}, ErrStep
		case Running:
			err := audit.Write(tx, by, audit.Entry{
				Action: "import.cancel", Subject: "import", ID: id.String(),
				New: map[string]any{"file": file.FileName, "rows_done": file.Done, "new_customers": file.Created},
			})
			if err != nil {
				return Import{}, err
			}
			return db.One[Import](ctx, tx, stopImportSQL, now)
		case Uploaded, Checking, Checked:
		}
		if err := db.Queue(tx, dropProblemsSQL, this); err != nil {
			return Import{}, err
		}
		return db.One[Import](ctx, tx, discardImportSQL, now)
	})
}

// step takes an import on, while nobody else does.
func (s *Service) step(ctx context.Context, by core.Actor, id core.ID, fn func(tx *db.Tx, file sheet) (Import, error)) (Import, error) {
	if err := by.Require(core.Manager); err != nil {
		return Import{}, err
	}
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (Import, error) {
		file, err := db.One[sheet](ctx, tx, lockImportSQL, db.Args{"id": id})
		if err != nil {
			return Import{}, err
		}
		return fn(tx, file)
	})
}

// MaxProblems is how many problems of an import are kept with everything that is wrong
// with their rows. Of each row beyond, the first one is: every bad row is named.
const MaxProblems = 10_000

// problemsRead is how many of them are read at once.
const problemsRead = 1_000

// ListProblems returns what is wrong with the rows of an import, at most so many, in the
// order of the file, or core.ErrNotFound. One round trip, and a second where nothing is.
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

// EachProblem hands over everything that is wrong with the rows of an import, in the
// order of the file, or is core.ErrNotFound. Few of them are in memory at a time.
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
