package mail_test

import (
	"context"
	"errors"
	"log/slog"
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

// catcher is a Sender that keeps what it is given, and fails as often as it is told.
type catcher struct {
	sync.Mutex
	fail   int
	caught []mail.Mail
}

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

// post is a database of the test's own and a service that mails from it.
type post struct {
	*mail.Service
	db   *db.DB
	jobs *job.Queue
	by   core.Actor
}

var errWords = errors.New("no words for it")

func newPost(t *testing.T, sender mail.Sender) post {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	render := func(_ context.Context, to string, l mail.Letter) (mail.Rendered, error) {
		text, ok := l.(string)
		if !ok {
			return mail.Rendered{}, errWords
		}
		return mail.Rendered{Subject: text, Text: "Dear " + to, HTML: "<p>" + text + "</p>"}, nil
	}
	return post{mail.New(d, jobs, render, sender, log), d, jobs, dbtest.Tenant(t, d)}
}

// write writes a letter in a transaction that ends so.
func (p post) write(ctx context.Context, letter mail.Letter, end error) error {
	_, err := db.InTenant(ctx, p.db, p.by, func(tx *db.Tx) (int, error) {
		if err := p.Queue(ctx, tx, "anna@example.com", letter); err != nil {
			return 0, err
		}
		return 0, end
	})
	return err
}

// mails are the ids and statuses of what was written.
func (p post) mails(t *testing.T) (ids []core.ID, statuses []string) {
	t.Helper()
	rows, err := p.db.Pool().Query(t.Context(), `
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
	if err := p.db.Pool().QueryRow(t.Context(), "select count(*) from river.river_job where kind = 'mail_delivery'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (p post) wantStatus(t *testing.T, want ...string) {
	t.Helper()
	_, got := p.mails(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

// "A mail is written in the transaction of its cause …, so none is sent for something
// that was rolled back."
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
	if err := p.write(t.Context(), 7, nil); !errors.Is(err, errWords) {
		t.Errorf("a letter without words = %v, want the renderer's error", err)
	}
	p.wantStatus(t, "queued")
	if n := p.jobsQueued(t); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
}

// "Workers are idempotent": the job of a mail that was delivered delivers nothing.
func TestDeliveryIsIdempotent(t *testing.T) {
	t.Parallel()
	sender := &catcher{}
	p := newPost(t, sender)
	if err := p.write(t.Context(), "Hello", nil); err != nil {
		t.Fatal(err)
	}
	ids, _ := p.mails(t)
	for range 3 {
		if err := p.Deliver(t.Context(), mail.Delivery{Mail: ids[0]}); err != nil {
			t.Fatal(err)
		}
	}
	want := []mail.Mail{{ID: ids[0], Recipient: "anna@example.com", Subject: "Hello", Text: "Dear anna@example.com", HTML: "<p>Hello</p>"}}
	if diff := cmp.Diff(want, sender.caught); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	p.wantStatus(t, "sent, done")
	if err := p.Deliver(t.Context(), mail.Delivery{Mail: core.NewID(time.Now())}); err != nil {
		t.Errorf("a mail that is not there = %v, want it passed over", err)
	}
}

// "kept: no mail server is set": the mail stays in the database, done.
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

// "A failing address never blocks the rest", and "a mail that failed is tried again":
// the queue delivers in the end, with no mail lost and none sent twice.
func TestTheQueueTriesAgain(t *testing.T) {
	t.Parallel()
	sender := &catcher{fail: 1}
	p := newPost(t, sender)
	for _, letter := range []string{"One", "Two", "Three"} {
		if err := p.write(t.Context(), letter, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.jobs.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.jobs.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	deadline := time.Now().Add(30 * time.Second)
	for open := 3; open > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%d mails are not delivered", open)
		}
		if err := p.db.Pool().QueryRow(t.Context(), "select count(*) from loyalty.mail where status = 'queued'").Scan(&open); err != nil {
			t.Fatal(err)
		}
	}
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

// LOYALTY_SMTP_URL and LOYALTY_MAIL_FROM: what is wrong with them is said at the start.
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
		{"smtp://mail.example.com", "nobody", false},
		{"smtp://mail.example.com", "", false},
	} {
		if s, err := mail.NewSMTP(c.server, c.from); (err == nil) != c.ok || (s == nil) == c.ok {
			t.Errorf("NewSMTP(%q, %q) = %v, want ok: %v", c.server, c.from, err, c.ok)
		}
	}
}
