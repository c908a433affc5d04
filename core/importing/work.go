package importing

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/limit"
)

// Job is the job that checks a file or imports the next part of it.
type Job struct {
	Tenant  core.TenantID `json:"tenant"`
	Import  core.ID       `json:"import"`
	Attempt int64         `json:"attempt"`
}

// Kind names the job in the queue.
func (Job) Kind() string { return "customer_import" }

// ForTenant returns the tenant whose share of the workers the job uses.
func (j Job) ForTenant() core.TenantID { return j.Tenant }

func (s *Service) work(ctx context.Context, j Job) error {
	t, err := db.FindTenant(ctx, s.db, j.Tenant)
	if err != nil {
		return err
	}
	_, err = s.Work(ctx, core.Job(t, "customer import"), j.Import, j.Attempt)
	return err
}

// hold has an import whose business is suspended wait for a decision.
func (s *Service) hold(ctx context.Context, j Job) error {
	return db.Run(ctx, s.db.Tenant(core.System(core.Tenant{ID: j.Tenant}, "customer import")), func(tx *db.Tx) error {
		return db.Queue(tx, holdSQL, db.Args{"id": j.Import, "attempt": j.Attempt, "now": tx.Now})
	})
}

// Work checks a file as a whole, or imports the next part of it and queues a job for the rest. Each
// batch is a transaction that also stores its position, so a worker that replaces a lost one
// continues after the last whole batch. Work does nothing if the attempt is over or another worker
// has it.
func (s *Service) Work(ctx context.Context, by core.Actor, id core.ID, attempt int64) (Import, error) {
	p, err := s.resume(ctx, by, id, attempt)
	if errors.Is(err, core.ErrNotFound) {
		return Import{}, nil
	}
	if err != nil {
		return Import{}, err
	}
	levels, err := levelsFor(ctx, s.db.Tenant(by), p.Mapping)
	if err != nil {
		return Import{}, err
	}
	zone, err := core.Zone(p.Timezone)
	if err != nil {
		return Import{}, err
	}
	var turn limit.Turn
	defer turn.End()
	rows, err := readRecords(s.file(ctx, by, id, p.Position, turn.End), format{p.Delimiter, p.Encoding}, p.Position, p.FileRow)
	if err != nil {
		return Import{}, err
	}
	if p.FileRow == 0 {
		for range p.Header { // and the titles above it
			if _, err := rows.next(); err != nil {
				return Import{}, err
			}
		}
	}
	w := worker{
		Service: s, by: by, progress: p, records: rows, turn: &turn,
		rows: rowReader{
			fields: p.Mapping, columns: p.Columns, country: p.Country, phoneOptional: by.Tenant.PhoneOptional, levels: levels, zone: zone, now: s.db.Now(),
			dateOrder: p.orderOf(Mapping{Columns: p.Mapping, DateOrder: p.DateOrder}, p.Country),
		},
		expected: newFirstRows(),
	}
	for n := 1; ; n++ {
		over, err := w.batchDone(ctx, p.Status == Running && n == s.slice)
		if over || err != nil {
			return w.Import, err
		}
	}
}

// levelsFor returns the levels of the business for a file that has a column with them.
func levelsFor(ctx context.Context, at db.Place, columns []Field) (award.Levels, error) {
	if !slices.Contains(columns, LevelField) {
		return award.Levels{}, nil
	}
	var levels level.InForce
	err := db.Together(ctx, at, levels.Readings()...)
	return levels.Levels(), err
}

// resume returns an import at its position. A check starts again from the beginning.
func (s *Service) resume(ctx context.Context, by core.Actor, id core.ID, attempt int64) (progress, error) {
	return db.In(ctx, s.db.Tenant(by), func(tx *db.Tx) (progress, error) {
		p, err := db.One[progress](ctx, tx, resumeSQL, db.Args{"id": id, "attempt": attempt})
		if !errors.Is(err, core.ErrNotFound) {
			return p, err
		}
		if err := db.Queue(tx, deleteProblemsSQL, db.Args{"id": id}); err != nil {
			return progress{}, err
		}
		return db.One[progress](ctx, tx, restartCheckSQL, db.Args{"id": id, "attempt": attempt, "now": tx.Now})
	})
}

// file reads a stored file from a byte on. It calls pause before each query.
func (s *Service) file(ctx context.Context, by core.Actor, id core.ID, from int64, pause func()) io.Reader {
	seq, skip := from/pieceSize, from%pieceSize
	return &pieces{next: func() ([]byte, error) {
		pause()
		piece, err := db.One[struct{ Content []byte }](ctx, s.db.Tenant(by), pieceSQL, db.Args{"id": id, "seq": seq})
		if errors.Is(err, core.ErrNotFound) {
			return nil, io.EOF
		}
		content := piece.Content[min(skip, int64(len(piece.Content))):]
		seq, skip = seq+1, 0
		return content, err
	}}
}

// worker checks or imports a file, batch by batch.
type worker struct {
	*Service
	by core.Actor
	progress
	records  *records
	rows     rowReader
	turn     *limit.Turn // to compute, while rows are read
	expected firstRows   // in a check: of customers whom earlier batches would create
}

// batch is the rows of one transaction, and what comes of them.
type batch struct {
	rows     []validRow
	problems []Problem
	failed   int64
	position int64 // after the batch
	fileRow  int64
	last     bool
}

func (b batch) done() int64 { return int64(len(b.rows)) + b.failed }

// next reads the next batch.
func (w *worker) next(ctx context.Context) (batch, error) {
	var b batch
	defer w.turn.End()
	for range w.batch {
		if err := w.turn.Take(ctx); err != nil {
			return b, err
		}
		rec, err := w.records.next()
		if errors.Is(err, io.EOF) {
			b.last = true
			break
		}
		if err != nil {
			return b, err
		}
		row, problems := w.rows.read(rec)
		if len(problems) == 0 {
			b.rows = append(b.rows, row)
			continue
		}
		b.failed++
		if w.Problems+int64(len(b.problems)+len(problems)) > MaxProblems {
			problems = problems[:1]
		}
		b.problems = append(b.problems, problems...)
	}
	b.position, b.fileRow = w.records.position, w.records.row
	return b, nil
}

// outcome counts the customers of a batch, and names the rows that repeat something.
type outcome struct {
	created, found, repeated int64
	points, stamps           int64 // opening balances
	duplicates               []Problem
	expected                 []validRow // in a check: customers to be created
}

func (o *outcome) create(r validRow) {
	o.created, o.points, o.stamps = o.created+1, o.points+r.points, o.stamps+r.stamps
}

// repeat adds a row that repeats another or, if that is 0, a customer.
func (o *outcome) repeat(r validRow, field Field, row int64, who *core.ID) {
	v, value := core.Violation{Rule: repeatsRow, Limit: row}, r.Phone
	if row == 0 {
		v.Rule = repeatsCustomer
	}
	if field == EmailField {
		value = *r.Email
	}
	if field == ExternalIDField {
		value = *r.ExternalID
	}
	o.duplicates = append(o.duplicates, Problem{
		FileRow: r.row, Field: string(field), Value: shortened(value), Violation: v,
		Repeats: &Repeated{Name: shortened(r.FirstName + " " + r.LastName), Row: row, Customer: who},
	})
}

// firstRows has the phone numbers, e-mail addresses and external IDs of a file, each with the first row that has it.
type firstRows struct{ phones, emails, externalIDs map[string]int64 }

func newFirstRows() firstRows {
	return firstRows{map[string]int64{}, map[string]int64{}, map[string]int64{}}
}

func (f firstRows) add(r validRow) {
	if r.ExternalID != nil {
		f.externalIDs[*r.ExternalID] = r.row
	}
	if r.PhoneKey != "" {
		f.phones[r.PhoneKey] = r.row
	}
	if r.EmailKey != nil {
		f.emails[*r.EmailKey] = r.row
	}
}

// find returns the row that a row repeats, and by which field; 0: none.
func (f firstRows) find(r validRow) (row int64, field Field) {
	if r.ExternalID != nil && f.externalIDs[*r.ExternalID] > 0 {
		return f.externalIDs[*r.ExternalID], ExternalIDField
	}
	if row := f.phones[r.PhoneKey]; row > 0 {
		return row, PhoneField
	}
	if r.EmailKey != nil {
		return f.emails[*r.EmailKey], EmailField
	}
	return 0, NoField
}

// batchDone does a batch and reports whether the job is over: after the last batch, after one that
// queues a job for the rest, and when the import was cancelled or taken over.
func (w *worker) batchDone(ctx context.Context, queueRest bool) (over bool, err error) {
	b, err := w.next(ctx)
	if err != nil {
		return false, err
	}
	status, ended := w.Status, (*time.Time)(nil)
	if b.last && w.Status == Checking {
		status = Checked
	}
	o, err := db.In(ctx, w.db.Tenant(w.by), func(tx *db.Tx) (o outcome, err error) {
		if err := w.lockPosition(ctx, tx); err != nil {
			return outcome{}, err
		}
		if b.last && w.Status == Running {
			status, ended = Done, &tx.Now
			if err := db.Queue(tx, deleteFileSQL, db.Args{"id": w.ID}); err != nil {
				return outcome{}, err
			}
		}
		switch {
		case len(b.rows) == 0:
		case w.Status == Running:
			o, err = w.insert(ctx, tx, b.rows)
		default:
			o, err = w.predict(ctx, tx, b.rows)
		}
		if err != nil {
			return outcome{}, err
		}
		if queueRest && !b.last {
			if err := w.jobs.Add(ctx, tx, Job{Tenant: tx.Tenant, Import: w.ID, Attempt: w.Attempt}); err != nil {
				return outcome{}, err
			}
		}
		return o, w.save(tx, b, o, status, ended)
	})
	if errors.Is(err, errTakenOver) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	for _, r := range o.expected {
		w.expected.add(r)
	}
	w.Done += b.done()
	w.Created, w.Found, w.Repeated, w.Failed = w.Created+o.created, w.Found+o.found, w.Repeated+o.repeated, w.Failed+b.failed
	w.Problems += int64(len(b.problems))
	w.Points, w.Stamps = w.Points+o.points, w.Stamps+o.stamps
	w.Position, w.FileRow, w.Status, w.EndedAt = b.position, b.fileRow, status, ended
	return b.last || queueRest, nil
}

var (
	errCountryChanged = errors.New("the country changed during the import")
	errTakenOver      = errors.New("the import was cancelled, or another worker has it")
)

// lockPosition locks the import at its position, and the country by which phone numbers are read.
func (w *worker) lockPosition(ctx context.Context, tx *db.Tx) error {
	if err := customer.LockCountry(tx); err != nil {
		return err
	}
	locked, err := db.One[struct{ Country string }](ctx, tx, lockPositionSQL, db.Args{
		"id": w.ID, "status": w.Status, "attempt": w.Attempt, "position": w.Position,
	})
	switch {
	case errors.Is(err, core.ErrNotFound):
		return errTakenOver
	case err == nil && locked.Country != w.Country:
		return errCountryChanged // the job runs again and reads the numbers by the new country
	}
	return err
}

// withIDs returns the rows as customers with new IDs.
func withIDs(rows []validRow, now time.Time) []customer.Imported {
	all := make([]customer.Imported, len(rows))
	for i, r := range rows {
		all[i] = customer.Imported{ID: core.NewID(now), Details: r.Details, CreatedAt: r.createdAt}
	}
	return all
}

// insert creates new customers with the balances of the file. Existing ones stay as they are.
func (w *worker) insert(ctx context.Context, tx *db.Tx, rows []validRow) (o outcome, err error) {
	all := withIDs(rows, tx.Now)
	created, err := customer.InsertAll(ctx, tx, all)
	if err != nil {
		return outcome{}, err
	}
	openings := make([]ledger.Opening, 0, len(created))
	var given []level.Start
	var others []validRow
	for i, r := range rows {
		if !created[all[i].ID] {
			others = append(others, r)
			continue
		}
		o.create(r)
		openings = append(openings, ledger.Opening{Customer: all[i].ID, Points: r.points, Stamps: r.stamps, Ends: r.expiresOn})
		if r.level != nil {
			given = append(given, level.Start{Customer: all[i].ID, Level: r.level})
		}
	}
	if o.found = int64(len(others)); o.found > 0 {
		taken, err := customer.TakenKeys(ctx, tx, withIDs(others, tx.Now))
		if err != nil {
			return outcome{}, err
		}
		for _, r := range others {
			if who, field, ok := taken.Find(r.Details); ok {
				o.repeat(r, Field(field), 0, &who)
			}
		}
	}
	starter := core.Actor{Kind: w.ActorKind, ID: w.ActorID, Name: w.ActorName, Tenant: w.by.Tenant}
	return o, errors.Join(
		ledger.OpenAll(tx, starter, "Import of "+w.FileName, openings),
		level.StartAll(tx, starter, w.rows.levels, given, core.DateOf(tx.Now, w.rows.zone)))
}

// predict counts what insert would do, after the batches before.
func (w *worker) predict(ctx context.Context, tx *db.Tx, rows []validRow) (o outcome, err error) {
	taken, err := customer.TakenKeys(ctx, tx, withIDs(rows, tx.Now))
	if err != nil {
		return outcome{}, err
	}
	batch := newFirstRows()
	for _, r := range rows {
		if who, field, ok := taken.Find(r.Details); ok {
			o.found++
			o.repeat(r, Field(field), 0, &who)
			continue
		}
		row, field := w.expected.find(r)
		if row == 0 {
			row, field = batch.find(r)
		}
		if row > 0 {
			o.repeated++
			o.repeat(r, field, row, nil)
			continue
		}
		o.create(r)
		o.expected = append(o.expected, r)
		batch.add(r)
	}
	return o, nil
}

// save stores the problems and duplicates of a batch and the progress of the import.
func (w *worker) save(tx *db.Tx, b batch, o outcome, status Status, ended *time.Time) error {
	if problems := slices.Concat(b.problems, o.duplicates); len(problems) > 0 {
		n := len(problems)
		rows, fields, values, messages := make([]int64, n), make([]string, n), make([]string, n), make([]string, n)
		duplicates, names, customers := make([]bool, n), make([]string, n), make([]*core.ID, n)
		for i, p := range problems {
			rows[i], fields[i], values[i], messages[i] = p.FileRow, p.Field, p.Value, p.String()
			if p.Repeats != nil {
				duplicates[i], names[i], customers[i] = true, p.Repeats.Name, p.Repeats.Customer
			}
		}
		err := db.Queue(tx, insertProblemsSQL, db.Args{
			"id": w.ID, "rows": rows, "fields": fields, "values": values, "messages": messages,
			"duplicates": duplicates, "names": names, "customers": customers,
		})
		if err != nil {
			return err
		}
	}
	return db.Queue(tx, saveProgressSQL, db.Args{
		"id": w.ID, "status": status, "position": b.position, "file_row": b.fileRow,
		"points": o.points, "stamps": o.stamps,
		"done": b.done(), "created": o.created, "found": o.found, "repeated": o.repeated, "failed": b.failed,
		"problems": len(b.problems), "now": tx.Now, "ended_at": ended,
	})
}

// upkeep is the job that restarts stalled imports and deletes old files and reports.
type upkeep struct{}

// Kind names the job in the queue.
func (upkeep) Kind() string { return "import_upkeep" }

// KindAliases has the name that earlier builds queue it under.
func (upkeep) KindAliases() []string { return []string{"customer_import_round"} }

// stalled is how long an import makes no progress before its job is looked for. The queue itself
// takes back jobs of a lost process (core/job), so this finds jobs that failed too often. If an
// operator cancelled the job, the import is stopped.
const stalled = time.Minute

const (
	stalledBatch = 100
	deletedBatch = 5 // up to 20 MB and 100,000 problems each
)

func (s *Service) runUpkeep(ctx context.Context, _ upkeep) error {
	stopped, err := db.In(ctx, s.db.Platform(), func(tx *db.Tx) (stopped []Job, err error) {
		left, err := db.All[Job](ctx, tx, stalledImportsSQL, db.Args{"before": tx.Now.Add(-stalled), "up_to": stalledBatch})
		if err != nil {
			return nil, err
		}
		pending, cancelled, err := job.Pending[Job](ctx, tx)
		if err != nil {
			return nil, err
		}
		for _, j := range left {
			switch {
			case slices.Contains(pending, j):
			case slices.Contains(cancelled, j):
				stopped = append(stopped, j)
			default:
				if err := s.jobs.Add(ctx, tx, j); err != nil {
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
	return job.Drain(ctx, s.db, func(ctx context.Context, tx *db.Tx) (int64, error) {
		return db.One[int64](ctx, tx, deleteOldImportsSQL, db.Args{
			"ended_before": tx.Now.Add(-keptFor), "uploaded_before": tx.Now.Add(-uploadKept),
			"arrived_before": tx.Now.Add(-arrivesWithin), "up_to": deletedBatch,
		})
	})
}
