package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/migrations"
)

// lateDatabase returns the URL of a database that isn't up until start is called.
func lateDatabase(t *testing.T, address string) (late string, start func()) {
	t.Helper()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	dir := openDir(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host, u.RawQuery = "", url.Values{"host": {dir}}.Encode()
	const socket = ".s.PGSQL.5432"
	return u.String(), func() {
		if err := os.Symlink(filepath.Join(config.Host, socket), filepath.Join(dir, socket)); err != nil {
			t.Error(err)
		}
	}
}

// "Starting is as patient as running": `migrate up` and `serve` wait for a database that comes up late. A command that a
// person types says at once that it is away.
func TestStartBeforeTheDatabase(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "its server listens on a port")
	late, start := lateDatabase(t, emptyDatabase(t))
	in := newInstallationOn(t, late)
	const away = "the database cannot be reached: nothing accepts connections at its address"
	for _, command := range [][]string{{"migrate", "status"}, {"verify"}, {"admin", "create", "--email=a@example.com", "--name=A"}} {
		in.run(command...).says(t, away)
	}
	impatient := in.with("LOYALTY_DATABASE_WAIT=1s")
	begun := time.Now()
	impatient.run("migrate", "up").says(t, away)
	impatient.run("serve").says(t, away)
	if took := time.Since(begun); took < 2*time.Second {
		t.Errorf("both waited for %s, want two seconds", took)
	}

	migrate := in.start("", "migrate", "up")
	serve := in.start("", "serve")
	for _, p := range []*process{migrate, serve} {
		await(t, "it waits", func() bool { return p.log.has("waiting for the database") })
	}
	start()
	if code := migrate.exit(); code != 0 || !migrate.out.has("applied: ") {
		t.Errorf("migrate up: exit %d\n%s%s", code, migrate.out.String(), migrate.log.String())
	}
	await(t, "it serves", func() bool { return serve.out.has("is running") })
	s := &server{process: serve, in: in, http: client(t, in.addr, trusting(t, filepath.Join(in.data, "ca.pem")))}
	await(t, "it is ready", func() bool {
		got, err := s.call("GET", "/readyz", "", "")
		return err == nil && got.status == http.StatusOK
	})
	s.stop()
}

// A process that starts while steps are applied, and so lacks what a later one makes, waits for them like one that starts before all of them.
func TestStartAmongMigrations(t *testing.T) {
	t.Parallel()
	half := emptyDatabase(t)
	in := newInstallationOn(t, half)
	in.succeed("migrate", "up")
	d := connect(t, half)
	enter := ask[string](d, "select pg_get_functiondef('loyalty.enter(bigint, timestamptz)'::regprocedure)")
	newest := migrations.Newest()
	d.exec("drop function loyalty.enter(bigint, timestamptz)")
	d.exec("delete from goose_db_version where version_id = $1", newest)
	s := in.serve()
	got := s.expect(t, http.StatusServiceUnavailable, "GET", "/readyz", "", "")
	if want := fmt.Sprintf("the database lacks migrations that this build needs: %d; run `loyalty migrate up`", newest); !strings.Contains(got.body, want) {
		t.Errorf("/readyz says %s", got.body)
	}
	d.exec(enter)
	d.exec("insert into goose_db_version (version_id, is_applied) values ($1, true)", newest)
	await(t, "it is ready", func() bool {
		got, err := s.call("GET", "/readyz", "", "")
		return err == nil && got.status == http.StatusOK
	})
	s.stop()
}

// A database of before the first release is refused by every command, in the same words, before any other statement.
func TestADatabaseOfBeforeTheFirstRelease(t *testing.T) {
	t.Parallel()
	old := emptyDatabase(t)
	connect(t, old).exec("create table public.goose_db_version (id int, version_id bigint, is_applied boolean, tstamp timestamp); insert into public.goose_db_version values (1, 0, true), (2, 17, true); create schema loyalty")
	in := newInstallationOn(t, old, "LOYALTY_SANDBOX=1")
	for _, command := range everyCommand {
		p := in.run(command...)
		p.says(t, "loyalty: this database is from before the first release and can't be upgraded: create a new one (for a private database, run `loyalty reset`)\n")
		if p.log.has("does not exist") {
			t.Errorf("%v says more: %s", command, p.log.String())
		}
	}
}

// everyCommand has the commands that open the database.
var everyCommand = [][]string{
	{"serve"},
	{"migrate", "up"},
	{"migrate", "status"},
	{"demo"},
	{"sandbox", "--out=/dev/null"},
	{"verify"},
	{"psql", "--tenant=demo"},
	{"secret", "rotate"},
	{"secret", "rotate", "--lost"},
	{"admin", "create", "--email=a@example.com", "--name=A"},
	{"export", "--all"},
	{"import", "/dev/null"},
	{"admin", "reset-password", "--email=a@example.com"},
	{"admin", "reset-factor", "--email=a@example.com"},
}

// The shell of an operator's machine doesn't have the settings of the service. Without them a command must not answer for an empty database of its
// own: `verify` would find no differences, and `admin create` a super-admin who can't sign in.
func TestCommandsCreateNoInstallation(t *testing.T) {
	t.Parallel()
	for _, command := range append([][]string{{"export", "--all"}, {"import", "cafe.jsonl.gz"}}, everyCommand...) {
		if slices.Contains([]string{"serve", "demo", "sandbox"}, command[0]) {
			continue
		}
		in := newInstallation(t)
		in.run(command...).says(t, "loyalty: DATABASE_URL is not set, and there is no private installation in "+in.data, "with the settings of your installation")
		if exists(in.data) {
			t.Errorf("%v made a data directory", command)
		}
	}
}

// A command that would run on a database with missing migrations says which ones, and what to do.
func TestCommandsNeedEveryMigration(t *testing.T) {
	t.Parallel()
	own := dbtest.OwnURL(t)
	connect(t, own).exec("delete from goose_db_version where version_id = 110")
	empty := newInstallationOn(t, emptyDatabase(t), "LOYALTY_SANDBOX=1")
	behind := newInstallationOn(t, own, "LOYALTY_SANDBOX=1")
	for _, command := range everyCommand {
		if command[0] == "serve" || command[0] == "migrate" {
			continue
		}
		empty.run(command...).says(t, "the database is empty: run `loyalty migrate up`")
		behind.run(command...).says(t, "the database lacks migrations that this build needs: 110; run `loyalty migrate up`")
	}
}

// With the serving login alone, what needs the owner's says so: it would see no business.
func TestCommandsOfTheOwner(t *testing.T) {
	t.Parallel()
	in := newInstallationOn(t, dbtest.Serving(dbtest.OwnURL(t)))
	for _, command := range [][]string{{"verify"}, {"migrate", "up"}, {"migrate", "status"}} {
		in.run(command...).says(t, "got loyalty_app: set LOYALTY_DATABASE_OWNER_URL")
	}
}
