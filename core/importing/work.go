package importing

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/limit"
)

// Job is the job that checks a file, or that imports the next part of it.
type Job struct {
	Tenant  core.TenantID `json:"tenant"`
	Import  core.ID       `json:"import"`
	Attempt int64         `json:"attempt"`
}

// Kind names the job in the queue.
func (Job) Kind() string { return "customer_import" }

// ForTenant is the tenant whose share of the workers it uses.
func (j Job) ForTenant() core.TenantID { return j.Tenant }

func (s *Service) work(ctx context.Context, j Job) error {
	_, err := s.Work(ctx, core.System(core.Tenant{ID: j.Tenant}, "customer import"), j.Import, j.Attempt)
	return err
}

// Work checks a file as a whole, or imports the next part of it and queues a job for the
// rest. Each batch is a transaction of three round trips, which notes how far it came: a
// worker that was lost has done whole batches, and the next one goes on behind them.
// Where the attempt is over, or somebody else is at it, nothing is done.
func (s *Service) Work(ctx context.Context, by core.Actor, id core.ID, attempt int64) (Import, error) {
	p, err := s.begin(ctx, by, id, attempt)
	if errors.Is(err, core.ErrNotFound) {
		return Import{}, nil
	}
	if err != nil {
		return Import{}, err
	}
	zone, err := core.Zone(p.Timezone)
	if err != nil {
		return Import{}, err
	}
	var turn limit.Turn
	defer turn.End()
	rows, err := readRecords(s.file(ctx, by, id, p.Position, turn.End), p.Delimiter, p.Encoding, p.Position, p.FileRow)
	if err != nil {
		return Import{}, err
	}
	if p.Heading && p.FileRow == 0 {
		if _, err := rows.next(); err != nil {
			return Import{}, err
		}
	}
	w := worker{
		Service: s, by: by, progress: p, rows: rows, turn: &turn,
		reading: reading{fields: p.Mapping, columns: p.Columns, country: p.Country, zone: zone, now: s.db.Now()},
		made:    customer.NewKeys(),
	}
	for n := 1; ; n++ {
		over, err := w.step(ctx, p.Status == Running && n == s.slice)
		if over || err != nil {
			return w.Import, err
		}
	}
}

// begin finds the place to work on: a check begins anew, an import where it stopped.
func (s *Service) begin(ctx context.Context, by core.Actor, id core.ID, attempt int64) (progress, error) {
	return db.InTenant(ctx, s.db, by, func(tx *db.Tx) (progress, error) {
		this := db.Args{"id": id, "attempt": attempt}
		p, err := db.One[progress](ctx, tx, resumeSQL, this)
		if !errors.Is(err, core.ErrNotFound) {
			return p, err
		}
		if err := db.Queue(tx, dropProblemsSQL, db.Args{"id": id}); err != nil {
			return progress{}, err
		}
		this["now"] = tx.Now
		return db.One[progress](ctx, tx, beginCheckSQL, this)
	})
}

// file reads a stored file from a byte on, a piece at a time. It calls pause before each query.
func (s *Service) file(ctx context.Context, by core.Actor, id core.ID, from int64, pause func()) io.Reader {
	seq, skip := from/chunkSize, from%chunkSize
	return &pieces{next: func() ([]byte, error) {
		pause()
		chunk, err := db.ReadOne[struct{ Content []byte }](ctx, s.db, by, chunkSQL, db.Args{"id": id, "seq": seq})
		if errors.Is(err, core.ErrNotFound) {
			return nil, io.EOF
		}
		content := chunk.Content[min(skip, int64(len(chunk.Content))):]
		seq, skip = seq+1, 0
		return content, err
	}}
}

// pieces reads one piece after the other.
type pieces struct {
	next func() ([]byte, error)
	rest []byte
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		var err error
		if p.rest, err = p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// worker takes an import on, batch by batch.
type worker struct {
	*Service
	by core.Actor
	progress
	reading
	rows *records
	turn *limit.Turn   // to compute, while rows are read
	made customer.Keys // of those whom the import would have made, in a check
}

// batch is what one transaction does.
type batch struct {
	rows     []validRow
	problems []Problem
	failed   int64
	position int64 // behind it
	fileRow  int64
	last     bool
}

func (b batch) done() int64 { return int64(len(b.rows)) + b.failed }

// next reads so many rows, or what is left of them.
func (w *worker) next(ctx context.Context) (batch, error) {
	var b batch
	defer w.turn.End()
	for range w.batch {
		if err := w.turn.Take(ctx); err != nil {
			return b, err
		}
		rec, err := w.rows.next()
		if errors.Is(err, io.EOF) {
			b.last = true
			break
		}
		if err != nil {
			return b, err
		}
		row, problems := w.row(rec)
		if len(problems) > 0 {
			if b.failed++; w.Problems+int64(len(b.problems)+len(problems)) > MaxProblems {
				problems = problems[:1]
			}
			b.problems = append(b.problems, problems...)
			continue
		}
		b.rows = append(b.rows, row)
	}
	b.position, b.fileRow = w.rows.position(), w.rows.row
	return b, nil
}

// outcome is what became of the rows of a batch, or would.
type outcome struct {
	created, found, repeated int64
	made                     []customer.Details // in a check, who would be
}

// step does a batch. It is over with the last one, with one that queues a job for the
// rest, and where the import was cancelled or taken over.
func (w *worker) step(ctx context.Context, handOver bool) (over bool, err error) {
	b, err := w.next(ctx)
	if err != nil {
		return false, err
	}
	status, ended := w.Status, (*time.Time)(nil)
	if b.last && w.Status == Checking {
		status = Checked
	}
	o, err := db.InTenant(ctx, w.db, w.by, func(tx *db.Tx) (outcome, error) {
		if b.last && w.Status == Running {
			status, ended = Done, &tx.Now
		}
		if err := w.hold(ctx, tx); err != nil {
			return outcome{}, err
		}
		o, err := w.judge(ctx, tx, b.rows)
		if err != nil {
			return outcome{}, err
		}
		if handOver && !b.last {
			if err := w.jobs.Add(ctx, tx, Job{Tenant: tx.Tenant, Import: w.ID, Attempt: w.Attempt}); err != nil {
				return outcome{}, err
			}
		}
		if status == Done {
			if err := db.Queue(tx, dropFileSQL, db.Args{"id": w.ID}); err != nil {
				return outcome{}, err
			}
		}
		return o, w.note(tx, b, o, status, ended)
	})
	if errors.Is(err, errTakenOver) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	for _, in := range o.made {
		w.made.Add(in)
	}
	w.Done += b.done()
	w.Created, w.Found, w.Repeated, w.Failed = w.Created+o.created, w.Found+o.found, w.Repeated+o.repeated, w.Failed+b.failed
	w.Problems += int64(len(b.problems))
	w.Position, w.FileRow, w.Status, w.EndedAt = b.position, b.fileRow, status, ended
	return b.last || handOver, nil
}

var errCountryChanged = errors.New("the country changed during the import")

var errTakenOver = errors.New("the import was cancelled, or another worker has it")

// hold holds the import at the place where it was left, and the country that phone
// numbers are read as of.
func (w *worker) hold(ctx context.Context, tx *db.Tx) error {
	if err := customer.LockCountry(tx); err != nil {
		return err
	}
	held, err := db.One[struct{ Country string }](ctx, tx, holdPlaceSQL, db.Args{
		"id": w.ID, "status": w.Status, "attempt": w.Attempt, "position": w.Position,
	})
	switch {
	case errors.Is(err, core.ErrNotFound):
		return errTakenOver
	case err == nil && held.Country != w.Country:
		return errCountryChanged // and the next worker reads the numbers as of the new one
	}
	return err
}

// judge imports rows, or says what would become of them.
func (w *worker) judge(ctx context.Context, tx *db.Tx, rows []validRow) (outcome, error) {
	switch {
	case len(rows) == 0:
		return outcome{}, nil
	case w.Status == Running:
		return w.insert(ctx, tx, rows)
	}
	return w.preview(ctx, tx, rows)
}

// customers are the rows as customers with new ids.
func customers(rows []validRow, now time.Time) []customer.Imported {
	all := make([]customer.Imported, len(rows))
	for i, r := range rows {
		all[i] = customer.Imported{ID: core.NewID(now), Details: r.Details, CreatedAt: r.createdAt}
	}
	return all
}

// insert creates the customers who are new, with the balances of the file. Others stay as they are.
func (w *worker) insert(ctx context.Context, tx *db.Tx, rows []validRow) (outcome, error) {
	all := customers(rows, tx.Now)
	created, err := customer.InsertAll(ctx, tx, all)
	if err != nil {
		return outcome{}, err
	}
	openings := make([]ledger.Opening, 0, len(created))
	for i, r := range rows {
		if created[all[i].ID] {
			openings = append(openings, ledger.Opening{Customer: all[i].ID, Points: r.points, Stamps: r.stamps})
		}
	}
	n := int64(len(created))
	return outcome{created: n, found: int64(len(rows)) - n}, ledger.OpenAll(tx, w.actor(), "Import of "+w.FileName, openings)
}

// actor is who said that the file is imported.
func (w *worker) actor() core.Actor {
	return core.Actor{Kind: w.ActorKind, ID: w.ActorID, Name: w.ActorName, Tenant: w.by.Tenant}
}

// preview counts what insert would do, after the rows before these.
func (w *worker) preview(ctx context.Context, tx *db.Tx, rows []validRow) (outcome, error) {
	taken, err := customer.TakenKeys(ctx, tx, customers(rows, tx.Now))
	if err != nil {
		return outcome{}, err
	}
	var o outcome
	earlier := customer.NewKeys()
	for _, r := range rows {
		switch {
		case taken.Has(r.Details):
			o.found++
		case w.made.Has(r.Details), earlier.Has(r.Details):
			o.repeated++
		default:
			o.created++
			o.made = append(o.made, r.Details)
			earlier.Add(r.Details)
		}
	}
	return o, nil
}

// note writes down what stands against rows, and how far the import is.
func (w *worker) note(tx *db.Tx, b batch, o outcome, status Status, ended *time.Time) error {
	if n := len(b.problems); n > 0 {
		rows, fields, values, messages := make([]int64, n), make([]string, n), make([]string, n), make([]string, n)
		for i, p := range b.problems {
			rows[i], fields[i], values[i], messages[i] = p.FileRow, p.Field, p.Value, p.String()
		}
		err := db.Queue(tx, insertProblemsSQL, db.Args{"id": w.ID, "rows": rows, "fields": fields, "values": values, "messages": messages})
		if err != nil {
			return err
		}
	}
	return db.Queue(tx, moveImportSQL, db.Args{
		"id": w.ID, "status": status, "position": b.position, "file_row": b.fileRow,
		"done": b.done(), "created": o.created, "found": o.found, "repeated": o.repeated, "failed": b.failed,
		"problems": len(b.problems), "now": tx.Now, "ended_at": ended,
	})
}

// upkeep is the job that goes on with imports whose job is gone, and deletes files
// and reports that are old.
type upkeep struct{}

// Kind names the job in the queue.
func (upkeep) Kind() string { return "customer_import_round" }

// stalled is how long an import makes no progress before its job is looked for. The queue
// itself takes back the job of a process that is gone (core/job): this is for jobs that
// failed too often, and not for those that wait their turn. Where an operator cancelled the
// job, the import is stopped.
const stalled = time.Minute

const (
	stalledBatch   = 100
	forgottenBatch = 5 // up to 20 MB and 100,000 problems each
)

func (s *Service) tend(ctx context.Context, _ upkeep) error {
	stopped, err := db.Platform(ctx, s.db, core.System(core.Tenant{}, "customer imports"), func(tx *db.Tx) (stopped []Job, err error) {
		left, err := db.All[stalledImport](ctx, tx, stalledImportsSQL, db.Args{"before": tx.Now.Add(-stalled), "up_to": stalledBatch})
		if err != nil {
			return nil, err
		}
		pending, cancelled, err := job.Pending[Job](ctx, tx)
		if err != nil {
			return nil, err
		}
		for _, i := range left {
			this := Job{Tenant: i.TenantID, Import: i.ID, Attempt: i.Attempt}
			switch {
			case slices.Contains(pending, this):
			case slices.Contains(cancelled, this):
				stopped = append(stopped, this)
			default:
				if err := s.jobs.Add(ctx, tx, this); err != nil {
					return nil, err
				}
			}
		}
		return stopped, nil
	})
	if err != nil {
		return err
	}
	for _, j := range stopped {
		by := core.System(core.Tenant{ID: j.Tenant}, "an operator")
		if _, err := s.Cancel(ctx, by, j.Import); err != nil {
			return err
		}
	}
	return job.Drain(ctx, s.db, "customer imports", func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.Value[int64](ctx, tx, forgetImportsSQL, db.Args{
			"ended_before": tx.Now.Add(-keptFor), "uploaded_before": tx.Now.Add(-uploadKept),
			"arrived_before": tx.Now.Add(-arrivesWithin), "up_to": forgottenBatch,
		})
	})
}
