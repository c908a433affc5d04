package auth_test

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

	"github.com/alexedwards/argon2id"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/vault"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a tenant with people who sign in.
type shop struct {
	*auth.Service
	people  *staff.Service
	tokens  *token.Service
	db      *db.DB
	by      core.Actor // its owner, whose password is the known one
	visitor auth.Visitor
	mail    *mail.Service
	post    *post
	console *bytes.Buffer // the log lines of the process
}

// post keeps the mails by recipient.
type post struct {
	sync.Mutex
	letters map[string][]mail.Email
}

func (p *post) render(_ context.Context, to string, l mail.Email) (mail.Rendered, error) {
	p.Lock()
	defer p.Unlock()
	p.letters[to] = append(p.letters[to], l)
	return mail.Rendered{Subject: "Letter", Text: fmt.Sprintf("%T", l), HTML: "<p></p>"}, nil
}

// to returns the mails to an address.
func (p *post) to(address string) []mail.Email {
	p.Lock()
	defer p.Unlock()
	return slices.Clone(p.letters[address])
}

func newShop(t *testing.T) shop {
	t.Helper()
	return shopIn(t, dbtest.DB(t))
}

// shopIn is a shop in a database, which may be the test's own.
func shopIn(t *testing.T, d *db.DB) shop {
	t.Helper()
	s := shopOn(t, d, dbtest.Tenant(t, d), &post{letters: map[string][]mail.Email{}})
	s.knows(t, s.by)
	return s
}

// known is the password of the people in these tests.
const known = "correct horse battery"

var knownHash = sync.OnceValues(func() (string, error) { return argon2id.CreateHash(known, auth.HashParams) })

// knows sets a person's password to the known one.
func (s shop) knows(t *testing.T, person core.Actor) {
	t.Helper()
	hash, err := knownHash()
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, "update loyalty.credential set password_hash = $2 where staff_id = $1", person.StaffID, hash)
}

// person is a person of the shop with the known password.
func (s shop) person(t *testing.T, role core.Role) core.Actor {
	t.Helper()
	p := dbtest.Person(t, s.db, s.by, role)
	s.knows(t, p)
	return p
}

// token creates a token for a person.
func (s shop) token(t *testing.T, person core.Actor) token.Created {
	t.Helper()
	made, err := s.tokens.Create(t.Context(), person, token.New{Name: new("Till"), Scopes: &[]string{}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (s shop) email(t *testing.T, person core.Actor) (email string) {
	t.Helper()
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select email from loyalty.staff where id = $1", person.StaffID).Scan(&email); err != nil {
		t.Fatal(err)
	}
	return email
}

func shopOn(t *testing.T, d *db.DB, by core.Actor, p *post) shop {
	t.Helper()
	var console bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&console, nil))
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := vault.New([]string{"a secret of thirty-two characters"})
	if err != nil {
		t.Fatal(err)
	}
	mails := mail.New(d, jobs, p.render, nil, log)
	network := func(address string) string { before, _, _ := strings.Cut(address, "::"); return before }
	service := auth.NewService(d, jobs, mails, keys, network, log)
	return shop{
		Service: service, people: staff.NewService(d, mails, service), tokens: token.NewService(d, jobs, mails), db: d, by: by,
		visitor: auth.Visitor{Tenant: by.Tenant, Address: address(by), RequestID: "R1"}, mail: mails, post: p, console: &console,
	}
}

// address differs for each shop, because addresses are counted over all tenants.
func address(by core.Actor) string { return "2001:db8:" + by.ID + "::7" }

// at returns the shop at another instant, in another process.
func (s shop) at(t *testing.T, instant time.Time) shop {
	t.Helper()
	return shopOn(t, s.db.At(instant), s.by, s.post)
}

// later returns the shop after a time.
func (s shop) later(t *testing.T, d time.Duration) shop {
	t.Helper()
	return s.at(t, s.db.Now().Add(d))
}

// log returns the audit entries about people whose action matches a pattern.
func (s shop) log(t *testing.T, action string) (lines []string) {
	t.Helper()
	rows, err := dbtest.Owner(s.db).Query(t.Context(), `
		select action || ' ' || coalesce(old::text, '-') || ' ' || coalesce(new::text, '-')
		from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = 'staff' and action like $2 and actor_name <> 'test'
		order by id`, s.by.Tenant.ID, action)
	if err != nil {
		t.Fatal(err)
	}
	lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func (s shop) wantLog(t *testing.T, action string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.log(t, action)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func (s shop) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func wantFields(t *testing.T, err error, want core.Fields) {
	t.Helper()
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Kind != core.KindInvalid {
		t.Fatalf("%v, want a refusal of fields", err)
	}
	if diff := cmp.Diff(want, refusal.Fields); diff != "" {
		t.Errorf("refused fields (-want +got):\n%s", diff)
	}
}
