package job_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/mail/smtptest"
	"example.com/loyalty/core/programme"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
)

// With these variables, the test binary is a worker of the product that kills itself before one of its steps:
// a round trip to the database for a job.
const (
	victimDatabase = "JOB_TEST_VICTIM_DATABASE"
	victimStep     = "JOB_TEST_VICTIM_STEP" // "": none, it lists its steps
)

// works lists the services whose jobs are killed.
type works struct {
	jobs    *job.Queue
	mails   shoptest.Mails
	imports *importing.Service
	coupons *coupon.Service
	billing *billing.Service
	tenants *tenant.Service
	rules   *programme.Service
	levels  *level.Service
	db      *db.DB
}

func newWorks(d *db.DB, server string, log *slog.Logger) (works, error) {
	jobs, err := job.New(d, log)
	if err != nil {
		return works{}, err
	}
	sender, err := mail.NewSMTP(server, "Loyalty <loyalty@example.com>")
	if err != nil {
		return works{}, err
	}
	mails := shoptest.Mails{Service: mail.New(d, jobs, sender, log), Inbox: &shoptest.Inbox{}}
	return works{
		jobs: jobs, mails: mails, imports: importing.NewService(d, jobs), coupons: coupon.NewService(d, jobs, mails, dbtest.Links(), log),
		billing: billing.NewService(d, jobs, mails, log), tenants: tenant.NewService(d, mails),
		rules: programme.NewService(d, jobs, mails, dbtest.Links()), levels: level.NewService(d, jobs), db: d,
	}, nil
}

func workUntilKilled(ctx context.Context, url, server, step string) error {
	d, err := db.Open(ctx, url, db.Options{Listens: true, Tracer: &steps{last: step, seen: map[string]int{}}})
	if err != nil {
		return err
	}
	defer d.Close()
	w, err := newWorks(d, server, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}
	if err := w.jobs.Start(ctx); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return w.jobs.Stop(ctx)
}

// steps traces each round trip before it is sent, and ends the process before the chosen one.
type steps struct {
	mu   sync.Mutex
	last string
	seen map[string]int
}

// TraceQueryStart does nothing: core/db sends batches.
func (s *steps) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd does nothing.
func (s *steps) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart traces batches, but not the periodic statements of the queue.
func (s *steps) TraceBatchStart(ctx context.Context, _ *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	var all []string
	for _, q := range b.Batch.QueuedQueries {
		all = append(all, q.SQL)
	}
	text := strings.Join(all, ";\n")
	for _, byTheClock := range []string{"recursive waiting", "river.river_job j", "river.river_leader", "pg_notify"} { // takes, renews, rescues and finds due ones; leads; announces
		if strings.Contains(text, byTheClock) {
			return ctx
		}
	}
	s.step(all...)
	return ctx
}

// TraceBatchQuery traces the taking of jobs. It is a step of each: how many are taken together depends on the time they take.
func (s *steps) TraceBatchQuery(_ context.Context, _ *pgx.Conn, q pgx.TraceBatchQueryData) {
	if strings.Contains(q.SQL, "recursive waiting") {
		for range q.CommandTag.RowsAffected() {
			s.step(q.SQL)
		}
	}
}

// TraceBatchEnd does nothing.
func (s *steps) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// step counts the round trips of jobs, including those with which the queue takes and completes them.
func (s *steps) step(statements ...string) {
	text := strings.Join(statements, ";\n")
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:12]
	s.seen[sum]++
	this := fmt.Sprintf("%s.%d", sum, s.seen[sum])
	if s.last == "" {
		fmt.Println(this, strings.Join(strings.Fields(statements[len(statements)-1]), " "))
	}
	if this == s.last {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // not a byte leaves this process any more
	}
}

// patience is how long the test waits for anything: on a busy machine, the answer to a taking of jobs can be lost,
// and they are then taken again after a minute.
const patience = 2 * time.Minute

// scene is a database with a mail server, where workers are killed.
type scene struct {
	works
	url    string
	server *smtptest.Server
	begun  int // times that the work was begun
}

func newScene(t *testing.T) *scene {
	t.Helper()
	owner := dbtest.OwnURL(t)
	s := &scene{url: dbtest.Serving(owner), server: smtptest.New(t)}
	d, err := db.Open(t.Context(), s.url, db.Options{Listens: true, OwnerURL: owner})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	s.works = s.at(t, d)
	// Another process is the leader, so these processes do no periodic work, which would hide a lost job.
	s.exec(t, "insert into river.river_leader (elected_at, expires_at, leader_id, name) values (now(), now() + interval '1 hour', 'another', 'default')")
	return s
}

func (s *scene) at(t *testing.T, d *db.DB) works {
	t.Helper()
	w, err := newWorks(d, s.server.URL, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (s *scene) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

func (s *scene) count(t *testing.T, question string, args ...any) (n int64) {
	t.Helper()
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), question, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *scene) idle(t *testing.T) bool {
	t.Helper()
	return s.count(t, "select count(*) from river.river_job where finalized_at is null") == 0
}

// due makes scheduled jobs available, as the leader does every five seconds.
func (s *scene) due(t *testing.T) {
	t.Helper()
	s.exec(t, "update river.river_job set state = 'available' where state in ('scheduled', 'retryable') and scheduled_at <= now()")
}

// unfinished returns the unfinished jobs.
func (s *scene) unfinished(t *testing.T) (jobs string) {
	t.Helper()
	err := dbtest.Owner(s.db).QueryRow(t.Context(), `
		select coalesce(string_agg(concat_ws(' ', kind, args, state, scheduled_at, errors), E'\n'), '')
		from river.river_job
		where finalized_at is null`).Scan(&jobs)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// victim runs a worker until it is killed at a step or everything is done. It returns which, and without a
// kill the list of steps.
func (s *scene) victim(t *testing.T, step string) (killed bool, listed []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimDatabase+"="+s.url, workerSMTP+"="+s.server.URL, victimStep+"="+step)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			listed = append(listed, lines.Text())
		}
		over <- cmd.Wait()
	}()
	deadline := time.After(patience)
	for ended := false; !ended; {
		select {
		case <-deadline:
			_ = cmd.Process.Kill()
			t.Fatalf("the worker that is to die at step %q does nothing: %s", step, s.unfinished(t))
		case err = <-over:
			ended = true
		case <-time.After(10 * time.Millisecond):
			s.due(t) // the measured clock of the database can be some milliseconds ahead
			if s.idle(t) {
				_ = stdin.Close()
				err, ended = <-over, true
			}
		}
	}
	var exit *exec.ExitError
	killed = errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	if err != nil && !killed {
		t.Fatalf("the worker that is to die at step %q ended with %v", step, err)
	}
	return killed, listed
}

// twoMinutesLater has another worker finish the work two minutes after the kill, after at most one of the
// searches for abandoned jobs that run every 15 seconds.
func (s *scene) twoMinutesLater(t *testing.T) {
	t.Helper()
	const later = 2 * time.Minute
	s.exec(t, `update river.river_job set attempted_at = attempted_at - $1::interval, scheduled_at = scheduled_at - $1::interval
		where finalized_at is null`, later)
	s.due(t)
	w := s.at(t, s.db.At(s.db.Now().Add(later)))
	w.jobs.RescueOnce(t.Context())
	if err := w.jobs.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); !s.idle(t); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("another worker does not do the rest: %s", s.unfinished(t))
		}
	}
	if err := w.jobs.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// once checks that each recipient has one mail, except that one mail may have been delivered twice, and
// returns the number of deliveries.
func (s *scene) once(t *testing.T, step string, recipients ...string) (copies int) {
	t.Helper()
	for _, to := range recipients {
		ids := map[string]bool{}
		for _, m := range s.server.Mails() {
			if m.To == to {
				ids[m.Header.Get("Message-Id")] = true
				copies++
			}
		}
		if len(ids) != 1 {
			t.Errorf("killed at %s: %s has %d mails, want 1", step, to, len(ids))
		}
	}
	if copies -= len(recipients); copies > 1 {
		t.Errorf("killed at %s: %d mails came twice", step, copies)
	}
	return copies
}

// killedEverywhere kills a worker at each step of some work, each time from the start. begin returns the check
// after another worker has finished.
func (s *scene) killedEverywhere(t *testing.T, least int, begin func(t *testing.T) (done func(step string))) {
	t.Helper()
	again := func(step string) (killed bool, listed []string) {
		s.begun++
		done := begin(t)
		s.due(t)
		killed, listed = s.victim(t, step)
		s.twoMinutesLater(t)
		done(step)
		return killed, listed
	}
	_, all := again("")
	if len(all) < least {
		t.Fatalf("a worker makes %d steps, want at least %d: %q", len(all), least, all)
	}
	for _, line := range all {
		step, _, _ := strings.Cut(line, " ")
		if killed, _ := again(step); !killed || t.Failed() {
			t.Fatalf("killed: %t, before %s", killed, line)
		}
	}
	t.Logf("killed at each of %d steps", len(all))
	shoptest.Of(t, s.db, core.Actor{}).Verify()
}

const takenUp = "killed at every step, each is taken up again within two minutes and none happens twice"

// A mail that a person waits for.
func TestAMailIsKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	by := dbtest.Tenant(t, s.db)
	twice := 0
	s.killedEverywhere(t, 4, func(t *testing.T) func(string) {
		to := fmt.Sprintf("anna%d@example.com", s.begun)
		_, err := db.In(t.Context(), s.db.Tenant(by), func(tx *db.Tx) (int, error) {
			return 0, s.mails.Queue(t.Context(), tx, s.mails.PasswordReset(to, auth.ResetEmail{}))
		})
		if err != nil {
			t.Fatal(err)
		}
		return func(step string) {
			twice += s.once(t, step, to)
			if n := s.count(t, "select count(*) from loyalty.mail where recipient = $1 and status = 'sent'", to); n != 1 {
				t.Errorf("%s: %d mails are noted as sent", takenUp, n)
			}
		}
	})
	if twice != 1 {
		t.Errorf("%d mails came twice, want 1: its server had it, and that was not noted yet", twice)
	}
}

// A send with its vouchers and mails.
func TestASendIsKilledAtEveryStep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long: make test-long")
	}
	t.Parallel()
	s := newScene(t)
	const members = 2
	customers := customer.NewService(s.db)
	twice := 0
	s.killedEverywhere(t, 15, func(t *testing.T) func(string) {
		by := dbtest.Tenant(t, s.db)
		var to []string
		for i := range members {
			to = append(to, fmt.Sprintf("c%d-%d@example.com", i, s.begun))
			_, err := core.Result(customers.Upsert(t.Context(), by, customer.New{
				FirstName: "Anna", LastName: "Lindqvist", Phone: fmt.Sprintf("070 174 06 %02d", i), Email: to[i],
			}, nil))
			if err != nil {
				t.Fatal(err)
			}
		}
		c, err := core.Result(s.coupons.Add(t.Context(), by, coupon.New{Name: "Welcome back", BenefitType: "points", BenefitValue: new(int64(5))}, nil))
		if err != nil {
			t.Fatal(err)
		}
		send, err := s.coupons.Send(t.Context(), by, c.ID, coupon.Send{Segment: coupon.All, FormKey: fmt.Sprint(s.begun)})
		if err != nil {
			t.Fatal(err)
		}
		return func(step string) {
			twice += s.once(t, step, to...)
			got, err := s.coupons.FindSend(t.Context(), by, send.ID)
			if err != nil {
				t.Fatal(err)
			}
			vouchers := s.count(t, "select count(*) from loyalty.voucher where tenant_id = $1", by.Tenant.ID)
			if got.Status != coupon.Done || vouchers != members || got.Sent != members || got.Delivered != members || got.Failed != 0 {
				t.Errorf("%s: a send with %d vouchers is %+v", takenUp, vouchers, got)
			}
		}
	})
	if twice < members {
		t.Errorf("%d mails came twice, want %d: each when its server had it, and that was not noted yet", twice, members)
	}
}

// people returns a file of n customers with three points each: two batches of an import.
func people(n int) string {
	var b strings.Builder
	b.WriteString("First name,Last name,Phone,Points\n")
	for i := range n {
		fmt.Fprintf(&b, "Anna,Lindqvist,070 174 %04d,3\n", i)
	}
	return b.String()
}

const peopleInFile = 600

// uploaded uploads a file and requests its check.
func (s *scene) uploaded(t *testing.T, by core.Actor) importing.Import {
	t.Helper()
	i, err := s.imports.Upload(t.Context(), by, importing.File{
		Name: "customers.csv", Content: strings.NewReader(people(peopleInFile)), FormKey: fmt.Sprint(s.begun),
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.imports.Preview(t.Context(), by, i.ID, importing.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if i, err = s.imports.Check(t.Context(), by, i.ID, p.Mapping); err != nil {
		t.Fatal(err)
	}
	return i
}

func (s *scene) wantImport(t *testing.T, by core.Actor, id core.ID, status importing.Status, customers int64) {
	t.Helper()
	i, err := s.imports.Find(t.Context(), by, id)
	if err != nil {
		t.Fatal(err)
	}
	there := s.count(t, "select count(*) from loyalty.customer where tenant_id = $1", by.Tenant.ID)
	points := s.count(t, "select coalesce(sum(points), 0)::bigint from loyalty.account where tenant_id = $1", by.Tenant.ID)
	if i.Status != status || i.Created != peopleInFile || i.Done != peopleInFile || i.Found+i.Failed+i.Repeated != 0 || there != customers || points != 3*customers {
		t.Errorf("%s: with %d customers and %d points, the import is %+v", takenUp, there, points, i)
	}
}

// The check of a file.
func TestACheckIsKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.killedEverywhere(t, 6, func(t *testing.T) func(string) {
		by := dbtest.Tenant(t, s.db)
		i := s.uploaded(t, by)
		return func(string) { s.wantImport(t, by, i.ID, importing.Checked, 0) }
	})
}

// An import, also between two batches.
func TestAnImportIsKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.killedEverywhere(t, 6, func(t *testing.T) func(string) {
		by := dbtest.Tenant(t, s.db)
		i := s.uploaded(t, by)
		if _, err := s.imports.Work(t.Context(), by, i.ID, i.Attempt); err != nil {
			t.Fatal(err)
		}
		s.exec(t, "delete from river.river_job where kind = 'customer_import' and finalized_at is null") // the check's, which is done
		if _, err := s.imports.Run(t.Context(), by, i.ID); err != nil {
			t.Fatal(err)
		}
		return func(string) { s.wantImport(t, by, i.ID, importing.Done, peopleInFile) }
	})
}

// An invoice: the job that drafts and issues it, and its mail.
func TestAnInvoiceIsKilledAtEveryStep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long: make test-long")
	}
	t.Parallel()
	s := newScene(t)
	root := dbtest.Admin(t, s.db)
	s.exec(t, "update loyalty.platform_setting set issue_automatically = true, issuer_name = 'Loyalty AB', issuer_address = 'Storgatan 1'")
	plan, err := core.Result(s.billing.CreatePlan(t.Context(), root, billing.PlanInput{
		Name: "Growth", MonthlyCents: new(int64(4900)), YearlyCents: new(int64(49000)), Currency: "EUR",
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	twice := 0
	s.killedEverywhere(t, 15, func(t *testing.T) func(string) {
		slug, to := fmt.Sprintf("cafe-%d", s.begun), fmt.Sprintf("owner%d@example.com", s.begun)
		made, err := core.Result(s.tenants.Create(t.Context(), root, tenant.New{
			Name: "Café", Slug: slug, Email: to, PlanID: plan.ID, BillingCycle: "monthly", PaymentMethod: "manual", TimeZone: "UTC",
		}, nil))
		if err != nil {
			t.Fatal(err)
		}
		s.exec(t, "delete from river.river_job where finalized_at is null") // the mail that invites the owner
		_, err = db.In(t.Context(), s.db.Platform(), func(tx *db.Tx) (int, error) { return 0, s.jobs.Add(t.Context(), tx, billing.Run{}) })
		if err != nil {
			t.Fatal(err)
		}
		return func(step string) {
			twice += s.once(t, step, to)
			invoices := s.count(t, "select count(*) from loyalty.invoice where tenant_id = $1 and status = 'issued' and sent_at is not null", made.ID)
			numbers := s.count(t, "select max(number) - count(*) from loyalty.invoice")
			if invoices != 1 || numbers != 0 {
				t.Errorf("%s: there are %d invoices, and %d gaps in their numbers", takenUp, invoices, numbers)
			}
		}
	})
	if twice != 1 {
		t.Errorf("%d mails came twice, want 1: its server had it, and that was not noted yet", twice)
	}
}

// Points whose last day has passed, of more customers than one: all of them end once, with one line in the audit log.
func TestExpiringIsKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.killedEverywhere(t, 5, func(t *testing.T) func(string) {
		shop := shoptest.Of(t, s.db, dbtest.Tenant(t, s.db))
		past := shop.At(s.db.Now().AddDate(0, -3, 0))
		past.SetExpiry(ledger.Points, core.Expiry{Rule: core.ExpireAfter, Months: 1, RoundTo: core.ToDay}, nil)
		kind := past.Points(100)
		customers := past.AddCustomers(3)
		for _, id := range customers {
			past.Sale(id, kind, 1000)
		}
		err := db.Run(t.Context(), s.db.Tenant(shop.By), func(tx *db.Tx) error {
			return s.jobs.Add(t.Context(), tx, programme.Expiring{Tenant: shop.By.Tenant.ID, Unit: ledger.Points})
		})
		if err != nil {
			t.Fatal(err)
		}
		return func(step string) {
			tenant := shop.By.Tenant.ID
			entries := s.count(t, "select count(*) from loyalty.ledger_entry where tenant_id = $1 and kind = 'expiry' and amount = -10", tenant)
			left := s.count(t, "select count(*) from loyalty.account where tenant_id = $1 and points <> 0", tenant)
			lines := s.count(t, "select count(*) from loyalty.audit_entry where tenant_id = $1 and action = 'programme.expire' and new @> '{\"customers\": 3, \"points\": 30}'", tenant)
			runs := s.count(t, "select count(*) from loyalty.programme where tenant_id = $1 and expired_through is not null", tenant)
			if entries != 3 || left != 0 || lines != 1 || runs != 1 {
				t.Errorf("%s: killed at %s: %d entries, %d customers with points, %d lines of the audit log, %d runs", takenUp, step, entries, left, lines, runs)
			}
		}
	})
}

// byYear are levels of a calendar year: Member, and Gold from 100 points.
func byYear(s shoptest.Shop) {
	s.Levels(award.LevelRules{Basis: award.ByPoints, Period: award.ByYear, Drops: true},
		award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 100})
}

// Earlier sales that a launch counts: each customer who has earned a level rises once.
func TestCountingLevelsIsKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.killedEverywhere(t, 6, func(t *testing.T) func(string) {
		shop := shoptest.Of(t, s.db, dbtest.Tenant(t, s.db))
		kind := shop.Points(100)
		customers := shop.AddCustomers(3)
		for i, id := range customers {
			shop.Sale(id, kind, []int64{120_00, 150_00, 60_00}[i])
		}
		byYear(shop)
		// As in the second pass, which raises customers, after it has waited for older transactions.
		shop.Exec("update loyalty.level_programme set counting = true, counted_to = $2, begun_at = now() - interval '1 minute' where tenant_id = $1",
			shop.By.Tenant.ID, core.ID{})
		err := db.Run(t.Context(), s.db.Tenant(shop.By), func(tx *db.Tx) error {
			return s.jobs.Add(t.Context(), tx, level.Counting{Tenant: shop.By.Tenant.ID})
		})
		if err != nil {
			t.Fatal(err)
		}
		return func(step string) {
			tenant := shop.By.Tenant.ID
			rose := s.count(t, "select count(*) from loyalty.level_change where tenant_id = $1 and reason = 'rules'", tenant)
			gold := s.count(t, "select count(*) from loyalty.account where tenant_id = $1 and level_sum >= 100 and level_id is not null", tenant)
			sums := s.count(t, "select coalesce(sum(level_sum), 0)::bigint from loyalty.account where tenant_id = $1", tenant)
			ended := s.count(t, "select count(*) from loyalty.level_programme where tenant_id = $1 and not frozen and not counting", tenant)
			if rose != 2 || gold != 2 || sums != 330 || ended != 1 {
				t.Errorf("%s: killed at %s: %d changes, %d with Gold, sums of %d, ended: %d", takenUp, step, rose, gold, sums, ended)
			}
		}
	})
}

// Levels whose last day has passed: each is kept or lost once, with one line in the audit log.
func TestSettlingLevelsIsKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.killedEverywhere(t, 4, func(t *testing.T) func(string) {
		shop := shoptest.Of(t, s.db, dbtest.Tenant(t, s.db))
		byYear(shop)
		kind := shop.Points(100)
		customers := shop.AddCustomers(3)
		for _, id := range customers {
			shop.At(s.db.Now().AddDate(-2, 0, 0)).Known().Sale(id, kind, 120_00)
		}
		shop.At(s.db.Now().AddDate(-1, 0, 0)).Known().Sale(customers[0], kind, 120_00) // who has earned it again
		err := db.Run(t.Context(), s.db.Tenant(shop.By), func(tx *db.Tx) error {
			return s.jobs.Add(t.Context(), tx, level.Settling{Tenant: shop.By.Tenant.ID})
		})
		if err != nil {
			t.Fatal(err)
		}
		return func(step string) {
			tenant := shop.By.Tenant.ID
			kept := s.count(t, "select count(*) from loyalty.level_change where tenant_id = $1 and reason = 'kept'", tenant)
			dropped := s.count(t, "select count(*) from loyalty.level_change where tenant_id = $1 and reason = 'dropped'", tenant)
			lines := s.count(t, "select count(*) from loyalty.audit_entry where tenant_id = $1 and action = 'level.settle' and new = '{\"kept\": 1, \"dropped\": 2}'", tenant)
			days := s.count(t, "select count(*) from loyalty.level_programme where tenant_id = $1 and settled_through is not null and run_kept + run_dropped = 0", tenant)
			if kept != 1 || dropped != 2 || lines != 1 || days != 1 {
				t.Errorf("%s: killed at %s: %d kept, %d dropped, %d lines of the audit log, %d runs", takenUp, step, kept, dropped, lines, days)
			}
		}
	})
}
