package mail_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// catcher is a Sender that stores its mails and fails as often as told.
type catcher struct {
	sync.Mutex
	fail   int
	caught []mail.Mail
}

func (c *catcher) Dial(context.Context) (mail.Conn, error) { return c, nil }
func (c *catcher) Close() error                            { return nil }

func (c *catcher) Send(_ context.Context, m mail.Mail) error {
	c.Lock()
	defer c.Unlock()
	if c.fail > 0 {
		c.fail--
		return errors.New("451 try again later")
	}
	c.caught = append(c.caught, m)
	return nil
}

// post is a test's own database and a mail service.
type post struct {
	*mail.Service
	db   *db.DB
	jobs *job.Queue
	by   core.Actor
	log  *record
}

// record collects log lines.
type record struct {
	sync.Mutex
	bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.Lock()
	defer r.Unlock()
	return r.Buffer.Write(b)
}

func (r *record) has(text string) bool { return r.count(text) > 0 }

// line returns the first line that contains a text.
func (r *record) line(text string) string {
	r.Lock()
	defer r.Unlock()
	for line := range strings.Lines(r.String()) {
		if strings.Contains(line, text) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func (r *record) count(text string) int {
	r.Lock()
	defer r.Unlock()
	return strings.Count(r.String(), text)
}

var errWords = errors.New("no words for it")

func newPost(t *testing.T, sender mail.Sender) post {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	log := &record{}
	jobs, err := job.New(d, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		t.Fatal(err)
	}
	return post{mail.New(d, jobs, sender, slog.New(core.LogRequests(slog.NewTextHandler(log, nil)))), d, jobs, dbtest.Tenant(t, d), log}
}

// email is an e-mail to an address, of which tests give the subject. Without one it can't be written.
type email struct{ to, subject string }

func (e email) Render(context.Context) (mail.Rendered, error) {
	if e.subject == "" {
		return mail.Rendered{}, errWords
	}
	r := mail.Rendered{To: e.to, Subject: e.subject, Text: "Dear " + e.to, HTML: "<p>" + e.subject + "</p>"}
	if e.subject == "Invoice" {
		r.Attachment = &mail.Attachment{Name: "invoice.pdf", Bytes: []byte("%PDF-1.3 \x00\xff")}
	}
	if e.subject == "Your week" {
		r.Unsubscribe = "https://shop.example/unsubscribe/weekly/TOKEN"
	}
	return r, nil
}

// write queues a mail in a transaction that ends with an error or not.
func (p post) write(ctx context.Context, subject string, end error) error {
	return p.writeTo(ctx, "anna@example.com", subject, end)
}

func (p post) writeTo(ctx context.Context, to, subject string, end error) error {
	_, err := db.In(ctx, p.db.Tenant(p.by), func(tx *db.Tx) (int, error) {
		if err := p.Queue(ctx, tx, email{to, subject}); err != nil {
			return 0, err
		}
		return 0, end
	})
	return err
}

// mails returns the IDs and statuses of the mails.
func (p post) mails(t *testing.T) (ids []core.ID, statuses []string) {
	t.Helper()
	rows, err := dbtest.Owner(p.db).Query(t.Context(), `
		select id, status || case when done_at is null then '' else ', done' end
		from loyalty.mail
		order by id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id core.ID
		var status string
		if err := rows.Scan(&id, &status); err != nil {
			t.Fatal(err)
		}
		ids, statuses = append(ids, id), append(statuses, status)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return ids, statuses
}

func (p post) jobsQueued(t *testing.T) (n int) {
	t.Helper()
	if err := dbtest.Owner(p.db).QueryRow(t.Context(), "select count(*) from river.river_job where kind = 'mail_delivery'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// work starts the job queue.
func (p post) work(t *testing.T) {
	t.Helper()
	if err := p.jobs.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.jobs.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// awaitDone waits until no mail is queued.
func (p post) awaitDone(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for open := -1; open != 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d mails are not delivered", open)
		}
		if err := dbtest.Owner(p.db).QueryRow(t.Context(), "select count(*) from loyalty.mail where status = 'queued'").Scan(&open); err != nil {
			t.Fatal(err)
		}
	}
}

func (p post) wantStatus(t *testing.T, want ...string) {
	t.Helper()
	_, got := p.mails(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

// A mail is stored in the transaction of its cause, so none is sent for a rollback.
func TestAMailSharesTheFateOfItsCause(t *testing.T) {
	t.Parallel()
	p := newPost(t, &catcher{})
	if err := p.write(t.Context(), "Hello", nil); err != nil {
		t.Fatal(err)
	}
	changed := errors.New("changed my mind")
	if err := p.write(t.Context(), "Never", changed); !errors.Is(err, changed) {
		t.Error(err)
	}
	if err := p.write(t.Context(), "", nil); !errors.Is(err, errWords) {
		t.Errorf("a letter without words = %v, want the renderer's error", err)
	}
	p.wantStatus(t, "queued")
	if n := p.jobsQueued(t); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
}

// The job of a delivered mail delivers nothing.
func TestDeliveryIsIdempotent(t *testing.T) {
	t.Parallel()
	sender := &catcher{}
	p := newPost(t, sender)
	if err := p.write(t.Context(), "Hello", nil); err != nil {
		t.Fatal(err)
	}
	ids, _ := p.mails(t)
	if err := p.Deliver(t.Context(), mail.Delivery{Tenant: p.by.Tenant.ID + 1, Mail: ids[0]}); err != nil || len(sender.caught) != 0 {
		t.Errorf("another tenant's job delivers %d mails, %v", len(sender.caught), err)
	}
	for range 3 {
		if err := p.Deliver(t.Context(), mail.Delivery{Mail: ids[0]}); err != nil {
			t.Fatal(err)
		}
	}
	want := []mail.Mail{{
		ID: ids[0], Recipient: "anna@example.com", Subject: "Hello", Text: "Dear anna@example.com", HTML: "<p>Hello</p>", CreatedAt: sender.caught[0].CreatedAt,
	}}
	if diff := cmp.Diff(want, sender.caught); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	p.wantStatus(t, "sent, done")
	if err := p.Deliver(t.Context(), mail.Delivery{Mail: core.NewID(time.Now())}); err != nil {
		t.Errorf("a mail that is not there = %v, want it passed over", err)
	}
}

// A mail to a customer waits while its business is suspended; one to its people doesn't.
func TestMailsToCustomersWaitDuringASuspension(t *testing.T) {
	t.Parallel()
	sender := &catcher{}
	p := newPost(t, sender)
	_, err := db.In(t.Context(), p.db.Tenant(p.by), func(tx *db.Tx) (int, error) {
		return 0, errors.Join(p.QueueToCustomer(t.Context(), tx, email{"anna@example.com", "Your card"}), p.Queue(t.Context(), tx, email{"maja@example.com", "Your invoice"}))
	})
	if err != nil {
		t.Fatal(err)
	}
	set := func(status string) {
		t.Helper()
		if _, err := dbtest.Owner(p.db).Exec(t.Context(), "update loyalty.tenant set status = $1 where id = $2", status, p.by.Tenant.ID); err != nil {
			t.Fatal(err)
		}
	}
	ids, _ := p.mails(t)
	deliver := func() (toCustomer, toStaff error) {
		return p.Deliver(t.Context(), mail.Delivery{Tenant: p.by.Tenant.ID, Mail: ids[0], ToCustomer: true}), p.Deliver(t.Context(), mail.Delivery{Tenant: p.by.Tenant.ID, Mail: ids[1]})
	}
	set("suspended")
	if customer, staff := deliver(); !errors.Is(customer, core.ErrSuspended) || staff != nil || len(sender.caught) != 1 || sender.caught[0].Recipient != "maja@example.com" {
		t.Errorf("while suspended: %v, %v, sent %+v", customer, staff, sender.caught)
	}
	set("active")
	if customer, _ := deliver(); customer != nil || len(sender.caught) != 2 {
		t.Errorf("after the reactivation: %v, sent %+v", customer, sender.caught)
	}
}

// Without a mail server, mails stay in the database.
func TestWithoutASenderMailsAreKept(t *testing.T) {
	t.Parallel()
	p := newPost(t, nil)
	if err := p.write(t.Context(), "Hello", nil); err != nil {
		t.Fatal(err)
	}
	ids, _ := p.mails(t)
	if err := p.Deliver(t.Context(), mail.Delivery{Mail: ids[0]}); err != nil {
		t.Fatal(err)
	}
	p.wantStatus(t, "kept, done")
}

// "A failing address never blocks the rest", and a failed mail is retried: the queue delivers every mail once.
func TestTheQueueTriesAgain(t *testing.T) {
	t.Parallel()
	sender := &catcher{fail: 1}
	p := newPost(t, sender)
	for _, letter := range []string{"One", "Two", "Three"} {
		if err := p.write(t.Context(), letter, nil); err != nil {
			t.Fatal(err)
		}
	}
	p.work(t)
	p.awaitDone(t)
	p.wantStatus(t, "sent, done", "sent, done", "sent, done")
	sender.Lock()
	defer sender.Unlock()
	seen := map[string]int{}
	for _, m := range sender.caught {
		seen[m.Subject]++
	}
	if diff := cmp.Diff(map[string]int{"One": 1, "Two": 1, "Three": 1}, seen); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// A mail that is refused for good is not retried, and one that was deferred for five days is given up. Both
// keep the error.
func TestAMailIsGivenUp(t *testing.T) {
	t.Parallel()
	refusing := &refuser{err: fmt.Errorf("%w: 550 no such mailbox", mail.ErrRefused)}
	p := newPost(t, refusing)
	if err := p.write(t.Context(), "Hello", nil); err != nil {
		t.Fatal(err)
	}
	ids, _ := p.mails(t)
	for range 2 {
		if err := p.Deliver(t.Context(), mail.Delivery{Mail: ids[0]}); err != nil {
			t.Fatal(err)
		}
	}
	p.wantStatus(t, "failed, done")
	if got := p.reason(t, ids[0]); got != "the mail was refused for good: 550 no such mailbox" || refusing.asked != 1 {
		t.Errorf("after %d attempts the reason is %q", refusing.asked, got)
	}

	away := &refuser{err: errors.New("connection refused")}
	p = newPost(t, away)
	if err := p.write(t.Context(), "Hello", nil); err != nil {
		t.Fatal(err)
	}
	ids, _ = p.mails(t)
	written := p.db.Now()
	for _, after := range []time.Duration{0, 4 * 24 * time.Hour, 6 * 24 * time.Hour, 7 * 24 * time.Hour} {
		p.SetClock(p.db.At(written.Add(after)))
		if err := p.Deliver(t.Context(), mail.Delivery{Mail: ids[0]}); (err == nil) != (after > 5*24*time.Hour) {
			t.Errorf("after %s: %v", after, err)
		}
	}
	p.wantStatus(t, "failed, done")
	if got := p.reason(t, ids[0]); got != "connection refused" || away.asked != 3 {
		t.Errorf("after %d attempts the reason is %q", away.asked, got)
	}
	if !p.log.has("mail given up") || !p.log.has("connection refused") || p.log.has("not delivered yet") {
		t.Errorf("the log says %s", p.log)
	}
}

// "Mails log the request that caused them": whether they are sent or given up.
func TestLinesAboutAMailNameItsRequest(t *testing.T) {
	t.Parallel()
	for said, sender := range map[string]mail.Sender{"mail sent": &catcher{}, "mail given up": &refuser{err: mail.ErrRefused}} {
		p := newPost(t, sender)
		ctx, _ := core.WithRequestLog(t.Context(), "01JAKZW3M8Q4")
		if err := p.write(ctx, "Hello", nil); err != nil {
			t.Fatal(err)
		}
		p.work(t)
		p.awaitDone(t)
		ids, _ := p.mails(t)
		if line := p.log.line(said); !strings.Contains(line, "mail="+ids[0].String()) || !strings.HasSuffix(line, " request=01JAKZW3M8Q4") {
			t.Errorf("the line is %q", line)
		}
	}
}

// A mail whose delivery was cancelled is given up and loses its text. One that is still tried stays.
func TestAMailWithoutADeliveryIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPost(t, &catcher{})
	if err := p.write(t.Context(), "Hello", nil); err != nil {
		t.Fatal(err)
	}
	ids, _ := p.mails(t)
	written := p.db.Now()
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{5*24*time.Hour + 2*time.Hour, "queued"}, {6*24*time.Hour + time.Minute, "failed, done"}} {
		p.SetClock(p.db.At(written.Add(c.after)))
		if err := p.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.wantStatus(t, c.want)
	}
	var words string
	if err := dbtest.Owner(p.db).QueryRow(t.Context(), "select text || html from loyalty.mail").Scan(&words); err != nil || words != "" {
		t.Errorf("%q is kept, %v", words, err)
	}
	if got := p.reason(t, ids[0]); got == "" {
		t.Error("it does not say why")
	}
}

// Jobs of older builds, without a tenant, can be read.
func TestADeliveryThatNamesNoTenant(t *testing.T) {
	t.Parallel()
	sender := &catcher{}
	p := newPost(t, sender)
	if err := p.write(t.Context(), "Hello", nil); err != nil {
		t.Fatal(err)
	}
	if got := p.tenants(t); !slices.Equal(got, []string{fmt.Sprint(p.by.Tenant.ID)}) {
		t.Errorf("the job counts towards the share of %v", got)
	}
	if _, err := dbtest.Owner(p.db).Exec(t.Context(), "update river.river_job set args = args - 'tenant', metadata = '{}'"); err != nil {
		t.Fatal(err)
	}
	p.work(t)
	p.awaitDone(t)
	p.wantStatus(t, "sent, done")
}

// tenants returns the tenants of delivery jobs.
func (p post) tenants(t *testing.T) (tenants []string) {
	t.Helper()
	err := dbtest.Owner(p.db).QueryRow(t.Context(), `
		select array_agg(metadata ->> 'tenant') from river.river_job where kind = 'mail_delivery'`).Scan(&tenants)
	if err != nil {
		t.Fatal(err)
	}
	return tenants
}

// refuser is a Sender that refuses every mail.
type refuser struct {
	err   error
	asked int
}

func (r *refuser) Dial(context.Context) (mail.Conn, error) { return r, nil }
func (r *refuser) Close() error                            { return nil }

func (r *refuser) Send(context.Context, mail.Mail) error {
	r.asked++
	return r.err
}

func (p post) reason(t *testing.T, id core.ID) (reason string) {
	t.Helper()
	if err := dbtest.Owner(p.db).QueryRow(t.Context(), "select error from loyalty.mail where id = $1", id).Scan(&reason); err != nil {
		t.Fatal(err)
	}
	return reason
}

// The text of a mail is deleted when it is sent or given up, and kept without a mail server.
func TestTextsOfMailsAreNotKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sender mail.Sender
		kept   bool
	}{{&catcher{}, false}, {&refuser{err: mail.ErrRefused}, false}, {nil, true}} {
		p := newPost(t, c.sender)
		if err := p.write(t.Context(), "Hello", nil); err != nil {
			t.Fatal(err)
		}
		ids, _ := p.mails(t)
		words := func() (words string) {
			if err := dbtest.Owner(p.db).QueryRow(t.Context(), "select subject || '|' || text || '|' || html from loyalty.mail").Scan(&words); err != nil {
				t.Fatal(err)
			}
			return words
		}
		before := words()
		if err := p.Deliver(t.Context(), mail.Delivery{Mail: ids[0]}); err != nil {
			t.Fatal(err)
		}
		want := "Hello||"
		if c.kept {
			want = before
		}
		if got := words(); got != want {
			t.Errorf("%T: %q is kept, want %q", c.sender, got, want)
		}
	}
}

// "Without SMTP settings every mail is kept and readable": of all tenants, newest first. With a mail server
// the list is empty.
func TestMailsAreRead(t *testing.T) {
	t.Parallel()
	p := newPost(t, nil)
	p.work(t)
	var want []string
	for i := range 5 {
		p.by = dbtest.Tenant(t, p.db)
		letter := fmt.Sprint("Letter ", i)
		if err := p.write(t.Context(), letter, nil); err != nil {
			t.Fatal(err)
		}
		dbtest.Tick(p.db)
		want = append([]string{letter}, want...)
		if i == 2 {
			p.awaitDone(t) // some are kept, others are still on their way there
		}
	}
	subjects := func(l core.List[mail.Summary]) (subjects []string) {
		for _, h := range l.Items {
			subjects = append(subjects, h.Subject)
		}
		return subjects
	}
	page := core.Page{Size: 2}
	last := p.list(t, page)
	forward := subjects(last)
	for ; last.Next != nil; forward = append(forward, subjects(last)...) {
		page.Cursor = last.Next
		last = p.list(t, page)
	}
	back := subjects(last)
	for ; last.Prev != nil; back = append(subjects(last), back...) {
		page.Cursor = last.Prev
		last = p.list(t, page)
	}
	if !slices.Equal(forward, want) || !slices.Equal(back, want) {
		t.Errorf("forward %v, back %v, want %v", forward, back, want)
	}
	first := p.list(t, core.Page{Size: 1}).Items[0]
	m, err := p.Find(t.Context(), first.ID)
	if err != nil || m.Recipient != "anna@example.com" || m.Subject != "Letter 4" || m.Text != "Dear anna@example.com" || m.HTML != "<p>Letter 4</p>" || m.CreatedAt != first.CreatedAt {
		t.Errorf("found %+v, %v", m, err)
	}
	if _, err := p.Find(t.Context(), core.NewID(time.Now())); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a mail that is not there = %v, want ErrNotFound", err)
	}
	if _, err := p.List(t.Context(), core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.InvalidChoice}}}); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a bad cursor = %v, want it refused", err)
	}

	p = newPost(t, &refuser{err: errors.New("not today")})
	if err := p.write(t.Context(), "Hello", nil); err != nil {
		t.Fatal(err)
	}
	ids, _ := p.mails(t)
	if l := p.list(t, core.Page{Size: 2}); len(l.Items) != 0 {
		t.Errorf("with a server mails are read: %v", l.Items)
	}
	if _, err := p.Find(t.Context(), ids[0]); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("with a server a mail is read: %v", err)
	}
}

func (p post) list(t *testing.T, page core.Page) core.List[mail.Summary] {
	t.Helper()
	l, err := p.List(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Mistakes in LOYALTY_SMTP_URL and LOYALTY_MAIL_FROM are reported at the start.
func TestNewSMTP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		server, from string
		ok           bool
	}{
		{"smtp://mail.example.com", "loyalty@example.com", true},
		{"smtp://user:p%40ss@mail.example.com:2525", "Loyalty <loyalty@example.com>", true},
		{"smtps://user:secret@mail.example.com:465", "loyalty@example.com", true},
		{"http://mail.example.com", "loyalty@example.com", false},
		{"mail.example.com:25", "loyalty@example.com", false},
		{"smtp://", "loyalty@example.com", false},
		{"smtp://mail.example.com:port", "loyalty@example.com", false},
		{"smtp://mail.example.com", "not-an-address", false},
		{"smtp://mail.example.com", "", false},
	} {
		if s, err := mail.NewSMTP(c.server, c.from); (err == nil) != c.ok || (s == nil) == c.ok {
			t.Errorf("NewSMTP(%q, %q) = %v, want ok: %v", c.server, c.from, err, c.ok)
		}
	}
}

// "Sent mails: text with links blanked first, rows after 90 days". Without a mail server, the text can be read
// for a week.
func TestOldMailsAreDeleted(t *testing.T) {
	t.Parallel()
	p := newPost(t, nil)
	if err := p.write(t.Context(), "Hello", nil); err != nil {
		t.Fatal(err)
	}
	ids, _ := p.mails(t)
	if err := p.Deliver(t.Context(), mail.Delivery{Mail: ids[0]}); err != nil {
		t.Fatal(err)
	}
	p.wantStatus(t, "kept, done")
	written := p.db.Now()
	const day = 24 * time.Hour
	for _, c := range []struct {
		after       time.Duration
		words, rows int
	}{{7*day - time.Minute, 1, 1}, {7*day + time.Minute, 0, 1}, {90*day - time.Minute, 0, 1}, {90*day + time.Minute, 0, 0}} {
		p.SetClock(p.db.At(written.Add(c.after)))
		if err := p.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		var words, rows int
		err := dbtest.Owner(p.db).QueryRow(t.Context(), "select count(*) filter (where text || html <> ''), count(*) from loyalty.mail").Scan(&words, &rows)
		if err != nil || words != c.words || rows != c.rows {
			t.Errorf("after %s: %d mails, %d of them with words, %v; want %d and %d", c.after, rows, words, err, c.rows, c.words)
		}
	}
}
