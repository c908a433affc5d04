package importing_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/shoptest"
)

// people returns a file of n customers, numbered from the first: each has as many points as their number, and
// an e-mail address.
func people(from, n int) string {
	var b strings.Builder
	b.WriteString("first name,last name,phone,email,points\n")
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&b, "Anna,Number %d,+4670%07d,anna%d@example.com,%d\n", i, i, i, i)
	}
	return b.String()
}

// "A crashed worker continues at the batch where it stopped, nothing doubled": workers are lost in the middle
// of a batch, repeatedly.
func TestAWorkerThatIsLost(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	o.imports = o.imports.InBatches(7, 100)
	i := o.checked(people(1, 100))
	i = o.running(i.ID)

	// Uncommitted upserts of the same customers at tills block the import.
	for _, n := range []int{20, 55, 90} {
		hold, err := dbtest.Owner(o.DB).Begin(t.Context())
		o.Check(err)
		defer hold.Rollback(context.Background()) //nolint:errcheck // after the end of a test that failed
		_, err = hold.Exec(t.Context(), `
			insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, created_at, updated_at)
			values ($1, $2, 'Held', 'Back', $3, $3, now(), now())`, o.By.Tenant.ID, core.NewID(o.DB.Now()), fmt.Sprintf("+4670%07d", n))
		o.Check(err)
		ctx, kill := context.WithCancel(t.Context())
		lost := make(chan error)
		go func() {
			_, err := o.imports.Work(ctx, o.By, i.ID, i.Attempt)
			lost <- err
		}()
		o.Wait("the worker waits there", dbtest.IsBlocking(t),
			hold.Conn().PgConn().PID())
		kill()
		if err := <-lost; err == nil {
			t.Fatal("the worker was not lost")
		}
		o.Check(hold.Rollback(t.Context()))
		done := int64((n - 1) / 7 * 7)
		wantCounts(t, o.import_(i.ID), importing.Running, counts{Rows: 100, Done: done, Created: done})
	}
	wantCounts(t, o.worked(i), importing.Done, counts{Rows: 100, Done: 100, Created: 100})
	o.wantPeople(1, 100)
	o.Verify()
}

// wantPeople checks that exactly these customers were imported, each with their points.
func (o office) wantPeople(from, n int) {
	o.T.Helper()
	var want []string
	for i := from; i < from+n; i++ {
		want = append(want, fmt.Sprintf("Anna Number %d +4670%07d anna%d@example.com %d 0", i, i, i, i))
	}
	if diff := cmp.Diff(want, o.everybody()); diff != "" {
		o.T.Errorf("customers (-want +got):\n%s", diff)
	}
}

// A worker that replaces a slow one doubles nothing.
func TestManyWorkersOfOneImport(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	o.imports = o.imports.InBatches(5, 1)
	i := o.checked(people(1, 60))
	i = o.running(i.ID)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			// Twelve batches and the end of the file, enough even if the workers alternate.
			for range 20 {
				if _, err := o.imports.Work(t.Context(), o.By, i.ID, i.Attempt); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	wantCounts(t, o.import_(i.ID), importing.Done, counts{Rows: 60, Done: 60, Created: 60})
	o.wantPeople(1, 60)
	o.Verify()
}

// A check starts again with another worker, and the slow worker's results don't count.
func TestManyWorkersOfOneCheck(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.imports = o.imports.InBatches(5, 1)
	i := o.uploaded(people(1, 60) + "Bo,,1\n")
	i, err := o.imports.Check(t.Context(), o.By, i.ID, o.preview(i.ID).Mapping)
	o.Check(err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := o.imports.Work(t.Context(), o.By, i.ID, i.Attempt); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	wantCounts(t, o.worked(o.import_(i.ID)), importing.Checked, counts{Rows: 61, Done: 61, Created: 60, Failed: 1})
	if got := o.problems(i.ID); len(got) != 2 {
		t.Errorf("problems: %v", got)
	}
}

// "One import runs per tenant at a time": of many that start at once, one runs.
func TestOneImportRunsAtATime(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	other := office{shoptest.In(t, o.DB), o.imports}
	var files []importing.Import
	for range 3 {
		files = append(files, o.checked(people(1, 3)))
	}
	var began, refused atomic.Int64
	var all sync.WaitGroup
	for n := range 18 {
		all.Go(func() {
			switch _, err := o.imports.Run(t.Context(), o.By, files[n%3].ID); {
			case err == nil:
				began.Add(1)
			case errors.Is(err, importing.ErrRunning):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if began.Load() != 6 || refused.Load() != 12 {
		t.Errorf("%d said that theirs runs, %d were refused; want the 6 of one file", began.Load(), refused.Load())
	}
	var running, jobs int
	err := dbtest.Owner(o.DB).QueryRow(t.Context(), `
		select (select count(*) from loyalty.customer_import where tenant_id = $1 and status = 'running'),
			(select count(*) from river.river_job where kind = 'customer_import' and args ->> 'attempt' = '2')`,
		o.By.Tenant.ID).Scan(&running, &jobs)
	if err != nil || running != 1 || jobs != 1 {
		t.Errorf("%d run, with %d jobs, %v", running, jobs, err)
	}
	// Another business can import at the same time.
	other.imported(people(1, 3))
	// The next import can start afterwards.
	for _, f := range files {
		if i := o.import_(f.ID); i.Status == importing.Running {
			o.worked(i)
		}
	}
	for _, f := range files {
		if i := o.import_(f.ID); i.Status == importing.Checked {
			wantCounts(t, o.worked(o.running(f.ID)), importing.Done, counts{Rows: 3, Done: 3, Found: 3})
		}
	}
	o.wantPeople(1, 3)
	o.Verify()
}

// "A double click is one import", even if both uploads arrive at once.
func TestAFormIsOneImport(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var all sync.WaitGroup
	made := make([]importing.Import, 3)
	for i := range made {
		all.Go(func() {
			var err error
			f := importing.File{Name: "customers.csv", Content: strings.NewReader(people(1, 3)), FormKey: "form"}
			if made[i], err = o.imports.Upload(t.Context(), o.By, f); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, m := range made {
		if m.ID != made[0].ID {
			t.Fatalf("two imports of one form: %+v and %+v", made[0], m)
		}
	}
	var files int
	err := dbtest.Owner(o.DB).QueryRow(t.Context(), "select count(*) from loyalty.customer_import_chunk where tenant_id = $1", o.By.Tenant.ID).Scan(&files)
	if list, other := o.imports.List(t.Context(), o.By); err != nil || other != nil || len(list) != 1 || files != 1 {
		t.Errorf("%d imports with %d files, %v %v", len(list), files, err, other)
	}
	// A form of another business can have the same key.
	stranger := newOffice(t)
	f := importing.File{Name: "customers.csv", Content: strings.NewReader(people(1, 3)), FormKey: "form"}
	if i, err := stranger.imports.Upload(t.Context(), stranger.By, f); err != nil || i.ID == made[0].ID {
		t.Errorf("two businesses share an import: %v", err)
	}
	if _, err := o.imports.Upload(t.Context(), o.By, importing.File{Content: strings.NewReader("x")}); err == nil {
		t.Error("a form without a key was taken")
	}
}

// "Import while tills upsert the same phone numbers (200 goroutines)": every customer is created once, and no
// call waits forever.
func TestTillsAndAnImportMeetTheSameCustomers(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	o.imports = o.imports.InBatches(25, 100)
	const n = 500
	i := o.running(o.checked(people(1, n)).ID)
	var atTills atomic.Int64
	var all sync.WaitGroup
	for till := range 200 {
		all.Go(func() {
			for visit := range 5 {
				who := 1 + (till*37+visit*101)%n
				phone, email := fmt.Sprintf("+4670%07d", who), fmt.Sprintf("anna%d@example.com", who)
				if visit%2 == 1 { // a colleague of theirs, who gives the same address
					phone = fmt.Sprintf("+4673%07d", till*5+visit)
				}
				got, err := core.Result(o.Customers.Upsert(t.Context(), o.By, customer.New{FirstName: "Anna", LastName: "Till", Phone: phone, Email: email}, nil))
				if err != nil {
					t.Error(err)
				}
				if got.Created {
					atTills.Add(1)
				}
			}
		})
	}
	all.Go(func() {
		if _, err := o.imports.Work(t.Context(), o.By, i.ID, i.Attempt); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	i = o.worked(i)
	if i.Status != importing.Done || i.Done != n || i.Created+i.Found != n || i.Failed != 0 {
		t.Errorf("%s: %+v", i.Status, countsOf(i))
	}
	if got := o.Count("customer"); got != i.Created+atTills.Load() {
		t.Errorf("%d customers, %d of the import and %d of the tills", got, i.Created, atTills.Load())
	}
	if atTills.Load() == 0 || i.Created == 0 {
		t.Logf("they did not meet: %d of the import, %d of the tills", i.Created, atTills.Load())
	}
	o.Verify()
}

// "A phone number is compared as of the tenant's country": when the business moves, the import stops and
// continues with the new country.
func TestABusinessMovesDuringAnImport(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.imports = o.imports.InBatches(1, 1)
	i := o.running(o.checked(lines("name,phone", "Anna Ek,070-174 06 05", "Bo Ek,0170 1234567", "Cecilia Ek,0170 1234567")).ID)
	o.Must(o.imports.Work(t.Context(), o.By, i.ID, i.Attempt))
	o.Check(o.move("DE"))
	wantCounts(t, o.worked(i), importing.Done, counts{Rows: 3, Done: 3, Created: 2, Found: 1})
	want := map[string]string{"070-174 06 05": "+49701740605", "0170 1234567": "+491701234567"}
	if diff := cmp.Diff(want, o.keys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// "A River job", "so that it survives restarts": the queue checks and imports in parts, and continues after a
// lost worker.
func TestTheQueueImports(t *testing.T) {
	t.Parallel()
	q := newQueueOffice(t)
	i := q.uploaded(people(1, 50))
	i, err := q.imports.Check(t.Context(), q.By, i.ID, q.preview(i.ID).Mapping)
	if err != nil {
		t.Fatal(err)
	}
	q.Wait("the file is checked", "select status = 'checked' from loyalty.customer_import where id = $1", i.ID)
	q.running(i.ID)
	q.Wait("the file is imported", "select status = 'done' from loyalty.customer_import where id = $1", i.ID)
	wantCounts(t, q.import_(i.ID), importing.Done, counts{Rows: 50, Done: 50, Created: 50})

	// Their jobs are deleted, as after too many failures.
	for _, status := range []importing.Status{importing.Checking, importing.Running} {
		left := q.uploaded(people(51, 50))
		q.Exec(`
			update loyalty.customer_import set status = $2, mapping = $3, moved_at = now() - interval '61 s' where id = $1`,
			left.ID, status, q.preview(left.ID).Columns)
		q.restart() // which begins with the round that a minute later would come by itself
		q.Wait("a worker continues it", "select status in ('checked', 'done') from loyalty.customer_import where id = $1", left.ID)
		if got := q.import_(left.ID); got.Created != 50 {
			t.Errorf("%s: %+v", got.Status, countsOf(got))
		}
	}
	q.wantPeople(1, 100)
}

// An import that waits for its turn has one job, however long it waits.
func TestAnImportThatWaitsIsNotQueuedAgain(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	i := o.uploaded(people(1, 3))
	i, err := o.imports.Check(t.Context(), o.By, i.ID, o.preview(i.ID).Mapping)
	o.Check(err)
	jobs := func() (n int) {
		t.Helper()
		o.Check(o.imports.RunUpkeep(t.Context()))
		o.Check(dbtest.Owner(o.DB).QueryRow(t.Context(), "select count(*) from river.river_job where kind = 'customer_import'").Scan(&n))
		return n
	}
	set := func(statement string) {
		t.Helper()
		o.Exec(statement)
	}
	set("update loyalty.customer_import set moved_at = now() - interval '1 hour'")
	for _, state := range []string{"available", "running", "retryable", "scheduled"} {
		set("update river.river_job set state = '" + state + "', attempted_at = now()")
		if n := jobs(); n != 1 {
			t.Fatalf("beside a job that is %s, %d were queued", state, n-1)
		}
	}
	set("update river.river_job set state = 'discarded', finalized_at = now()")
	if n := jobs(); n != 2 {
		t.Errorf("without a job, %d were queued", n-1)
	}
	o.worked(o.import_(i.ID))
}

// If an operator cancels the job, the import is stopped and doesn't restart.
func TestCancelledJobStopsItsImport(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	i := o.running(o.checked(people(1, 3)).ID)
	for _, statement := range []string{
		"update loyalty.customer_import set moved_at = now() - interval '1 hour'",
		"update river.river_job set state = 'cancelled', finalized_at = now()",
	} {
		o.Exec(statement)
	}
	for range 2 {
		o.Check(o.imports.RunUpkeep(t.Context()))
	}
	if got := o.import_(i.ID); got.Status != importing.Cancelled {
		t.Errorf("the import is %s", got.Status)
	}
	var jobs int
	if err := dbtest.Owner(o.DB).QueryRow(t.Context(), "select count(*) from river.river_job where state <> 'cancelled'").Scan(&jobs); err != nil || jobs != 0 {
		t.Errorf("%d jobs, %v", jobs, err)
	}
}

// Imports don't delay mails: with the imports lane full of blocked checks, a mail leaves at once.
func TestImportsDelayNoMail(t *testing.T) {
	t.Parallel()
	q := newQueueOffice(t)
	q.end()
	queue, err := job.New(q.DB, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	sent := make(catcher, 10)
	mails := shoptest.Mails{Service: mail.New(q.DB, queue, sent, slog.New(slog.DiscardHandler)), Inbox: &shoptest.Inbox{}}
	services := loyalty.New(q.DB, queue, mails, dbtest.Keys(), loyalty.Options{})
	q.queue, q.imports = queue, services.Imports

	// Six files of three businesses, whose rows another transaction has locked.
	offices := []office{q.office, {shoptest.In(t, q.DB), q.imports}, {shoptest.In(t, q.DB), q.imports}}
	for n := range 6 {
		o := offices[n%3]
		o.imports = q.imports
		i := o.uploaded(people(1, 3))
		if _, err := o.imports.Check(t.Context(), o.By, i.ID, o.preview(i.ID).Mapping); err != nil {
			t.Fatal(err)
		}
	}
	held, err := dbtest.Owner(q.DB).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Rollback(context.Background()) //nolint:errcheck // it holds rows, and changes none
	if _, err := held.Exec(t.Context(), "select from loyalty.customer_import where tenant_id = $1 for update", q.By.Tenant.ID); err != nil {
		t.Fatal(err)
	}
	if err := queue.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	q.Wait("the lane is full", "select count(*) = 3 from river.river_job where kind = 'customer_import' and state = 'running'")

	other := dbtest.Tenant(t, q.DB)
	email := ""
	if err := dbtest.Owner(q.DB).QueryRow(t.Context(), "select email from loyalty.staff where tenant_id = $1", other.Tenant.ID).Scan(&email); err != nil {
		t.Fatal(err)
	}
	asked := time.Now()
	if err := services.Auth.RequestReset(t.Context(), auth.Visitor{Tenant: other.Tenant, Address: "192.0.2.1"}, email); err != nil {
		t.Fatal(err)
	}
	select {
	case m := <-sent:
		if took := time.Since(asked); took > 3*time.Second || m.Recipient != email {
			t.Errorf("the mail to %s left after %s", m.Recipient, took)
		}
	case <-time.After(30 * time.Second):
		t.Error("no mail left")
	}
	if err := held.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
}

// catcher is a sender that sends its mails to a channel.
type catcher chan mail.Mail

func (c catcher) Dial(context.Context) (mail.Conn, error) { return c, nil }
func (c catcher) Close() error                            { return nil }

func (c catcher) Send(_ context.Context, m mail.Mail) error {
	c <- m
	return nil
}

// "100,000 rows without exhausting memory". Not parallel: it measures the process.
func TestAHundredThousandRows(t *testing.T) { //nolint:paralleltest // as it says
	if testing.Short() {
		t.Skip("takes long: make test-long")
	}
	o := officeIn(t, dbtest.OwnDB(t))
	const n = importing.MaxRows
	content, write := io.Pipe()
	go func() {
		fmt.Fprint(write, "first name,last name,phone,email,points\n")
		for i := range n {
			fmt.Fprintf(write, "Anna,Number %d,+4670%07d,anna%d@example.com,%d\n", i, i, i, 1+i%9)
		}
		write.CloseWithError(io.EOF)
	}()
	keepStatistics(t, o.DB)
	peak := watchMemory(t)
	i, err := o.imports.Upload(t.Context(), o.By, importing.File{Name: "all.csv", Content: content, FormKey: "all"})
	if err != nil {
		t.Fatal(err)
	}
	i = o.checkedAs(i.ID, o.preview(i.ID).Mapping)
	wantCounts(t, i, importing.Checked, counts{Rows: n, Done: n, Created: n})
	wantCounts(t, o.worked(o.running(i.ID)), importing.Done, counts{Rows: n, Done: n, Created: n})
	if got := peak(); got > 64<<20 {
		t.Errorf("at its peak it held %d MiB more than before", got>>20)
	}
	if got := o.Count("customer"); got != n {
		t.Errorf("%d customers", got)
	}
	o.Verify()
}

// keepStatistics analyzes the customers every few seconds: the checks of foreign keys would keep the plans of an empty table,
// and each would read all customers.
func keepStatistics(t *testing.T, d *db.DB) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var analyzing sync.WaitGroup
	t.Cleanup(func() {
		stop()
		analyzing.Wait()
	})
	analyzing.Go(func() {
		for ctx.Err() == nil {
			if err := dbtest.Analyze(ctx, d); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(3 * time.Second):
			}
		}
	})
}

// watchMemory measures how much the heap grows at most.
func watchMemory(t *testing.T) (peak func() uint64) {
	t.Helper()
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	var highest atomic.Uint64
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			highest.Store(max(highest.Load(), live()))
			time.Sleep(250 * time.Millisecond) // collecting the garbage takes a core meanwhile
		}
	})
	return func() uint64 {
		stop()
		watching.Wait()
		return max(highest.Load(), before) - before
	}
}

// The documented number of round trips, and three for a batch.
func TestImportRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	o := officeIn(t, d)
	trips := func(what string, want int, fn func()) {
		t.Helper()
		before := count()
		fn()
		d.WaitForNotifications() // of a queued job: one
		if got := count() - before; got != want {
			t.Errorf("%s makes %d round trips, want %d", what, got, want)
		}
	}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	round := func(trips func(what string, want int, fn func()), key string) {
		var i importing.Import
		var p importing.Preview
		var err error
		from := 1
		if key == "second" {
			from = 1000
		}
		trips("Upload", 3, func() {
			i, err = o.imports.Upload(t.Context(), o.By, importing.File{Name: "x.csv", Content: strings.NewReader(people(from, 30)), FormKey: key})
			must(i, err)
		})
		trips("Preview", 1, func() { p, err = o.imports.Preview(t.Context(), o.By, i.ID, importing.Choice{}); must(p, err) })
		trips("Find", 1, func() { must(o.imports.Find(t.Context(), o.By, i.ID)) })
		trips("List", 1, func() { must(o.imports.List(t.Context(), o.By)) })
		trips("ListProblems", 2, func() { must(o.imports.ListProblems(t.Context(), o.By, i.ID, 10)) })
		trips("Check", 3+1, func() { i, err = o.imports.Check(t.Context(), o.By, i.ID, p.Mapping); must(i, err) })
		small := o.imports.InBatches(10, 2)
		// To start: 3. The file: 2, including its end. A batch: 3, of which the last one is empty.
		trips("the check", 3+2+4*3-1, func() { must(small.Work(t.Context(), o.By, i.ID, i.Attempt)) })
		trips("Run", 4+1, func() { i, err = o.imports.Run(t.Context(), o.By, i.ID); must(i, err) })
		trips("Cancel", 3, func() { must(o.imports.Cancel(t.Context(), o.By, i.ID)) })
	}
	round(func(_ string, _ int, fn func()) { fn() }, "first")
	d.WaitForNotifications()
	round(trips, "second")
}

// queueOffice returns an office in its own database, without running jobs.
type queueOffice struct {
	office
	queue *job.Queue
}

func newQueueOffice(t *testing.T) *queueOffice {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	q := &queueOffice{office: office{Shop: shoptest.In(t, d)}}
	q.start()
	t.Cleanup(func() { q.end() })
	return q
}

// start starts a server that runs jobs, in batches of 7 rows and jobs of 2 batches.
func (q *queueOffice) start() {
	q.T.Helper()
	var err error
	if q.queue, err = job.New(q.DB, slog.New(slog.DiscardHandler)); err != nil {
		q.T.Fatal(err)
	}
	q.imports = importing.NewService(q.DB, q.queue).InBatches(7, 2)
	q.Check(q.queue.Start(context.WithoutCancel(q.T.Context())))
}

func (q *queueOffice) end() {
	q.T.Helper()
	if err := q.queue.Stop(context.WithoutCancel(q.T.Context())); err != nil {
		q.T.Error(err)
	}
}

func (q *queueOffice) restart() {
	q.T.Helper()
	q.end()
	q.start()
}
