package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core/localpg"
)

// `loyalty reset` deletes what the product made, and nothing else, after it was asked to: not while a process runs, and not a database of
// DATABASE_URL. An installation whose secret was deleted says how to start afresh.
func testReset(t *testing.T, in *installation) {
	t.Helper()
	s := in.serve()
	in.run("reset", "--yes").says(t, "nothing was deleted", "stop it first")
	s.stop()
	in.run("reset").says(t, "nothing was deleted", "--yes") // its input is no terminal
	in.with("DATABASE_URL=postgres://loyalty@localhost/loyalty", "LOYALTY_SECRET="+testSecret).run("reset", "--yes").says(t, "private installations only")
	for _, name := range append(slices.Clone(storedFiles), "postgres") {
		if name != mailFile && !exists(filepath.Join(in.data, name)) { // a file of JSON logs
			t.Errorf("a refused reset deleted %s", name)
		}
	}

	foreign := map[string]func(name string) error{
		"notes.txt":    func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"ca.pem.old":   func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"pictures":     func(name string) error { return os.MkdirAll(filepath.Join(name, "demo-token"), 0o700) },
		"mail-address": func(name string) error { return os.Symlink(filepath.Join(in.top, "precious"), name) },
	}
	for name, create := range foreign {
		if err := create(filepath.Join(in.data, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{filepath.Join(in.top, "precious"), filepath.Join(in.data, ".secret-123"), filepath.Join(in.data, "ca-key.pem.4711")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(in.data, "secret")
	if err := os.Remove(secret); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first must not create one
		in.run("serve").says(t, "the secret of this installation is missing", secret, "is still in "+in.cluster(), "Restore the file from a backup", "`loyalty reset`")
	}

	said := in.succeed("reset", "--yes")
	for _, want := range []string{in.cluster() + " (the database, ", " MB)", filepath.Join(in.data, "demo-token"), "Everything else in " + in.data + " stays."} {
		if !strings.Contains(said, want) {
			t.Errorf("reset says %q, which lacks %q", said, want)
		}
	}
	left, err := os.ReadDir(in.data)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if foreign[entry.Name()] == nil {
			t.Errorf("%s is left", entry.Name())
		}
	}
	if len(left) != len(foreign) || !exists(filepath.Join(in.top, "precious")) {
		t.Errorf("of the files that the product didn't make, %v are left", left)
	}
	if said := in.succeed("reset", "--yes"); !strings.Contains(said, "nothing to delete") {
		t.Errorf("a second reset: %s", said)
	}
	in.sandbox(t)
	if out := in.succeed("verify"); !strings.Contains(out, "no differences") || !exists(secret) {
		t.Errorf("the next start: %s", out)
	}
}

// "As root, `rm -rf data` doesn't delete the database": the message names its folder, and reset deletes it.
func TestADeletedDataDirectoryLeavesItsDatabase(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	if os.Geteuid() == 0 {
		if err := os.Chmod(in.top, 0o700); err != nil { // PostgreSQL's user can't reach it
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // of a test that failed
		if left, err := localpg.FindStopped(in.data); err == nil {
			if err := errors.Join(left.Remove(), left.Close()); err != nil {
				t.Error(err)
			}
		}
	})
	in.sandbox(t)
	secret, err := os.ReadFile(filepath.Join(in.data, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(in.data); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		in.sandbox(t) // the database was in it
		return
	}
	p := in.run("serve")
	p.says(t, "the secret of this installation is missing", "`loyalty reset`: it deletes the database in /var/tmp/loyalty-")
	_, cluster, _ := strings.Cut(strings.TrimSpace(p.log.String()), "the database in ")
	if info, err := os.Stat(cluster); err != nil || !info.IsDir() || exists(filepath.Join(in.data, "secret")) {
		t.Fatalf("%q is no folder: %v", cluster, err)
	}

	// What the message says works: the file, or the loss of it.
	if err := os.WriteFile(filepath.Join(in.data, "secret"), secret, 0o600); err != nil {
		t.Fatal(err)
	}
	in.succeed("verify")
	if err := os.RemoveAll(in.data); err != nil {
		t.Fatal(err)
	}
	in.succeed("secret", "rotate", "--lost")
	in.succeed("verify")

	if err := os.RemoveAll(in.data); err != nil {
		t.Fatal(err)
	}
	if said := in.succeed("reset", "--yes"); !strings.Contains(said, cluster+" (the database, ") || exists(cluster) {
		t.Errorf("reset says %q, and leaves %s: %t", said, cluster, exists(cluster))
	}
	in.sandbox(t)
	if said := in.succeed("reset", "--yes"); !strings.Contains(said, "/var/tmp/loyalty-") {
		t.Errorf("reset says %q", said)
	}
}

// A directory that was named by mistake loses nothing: only an installation's own files are deleted, and only with one there.
func TestResetOfAnotherDirectory(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	if err := os.MkdirAll(filepath.Join(in.data, "postgres", "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	files := []string{"ca.pem", "ca-key.pem", "secret", "postgres/data/PG_VERSION", "postgres/notes.txt"}
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(in.data, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{in.data, filepath.Join(in.top, "nowhere"), "/", "."} {
		if said := in.with("LOYALTY_DATA_DIR="+dir).succeed("reset", "--yes"); !strings.Contains(said, "nothing to delete") {
			t.Errorf("%s: %s", dir, said)
		}
	}
	for _, name := range files {
		if text, err := os.ReadFile(filepath.Join(in.data, name)); err != nil || string(text) != "mine" {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	if exists(filepath.Join(in.top, "nowhere")) {
		t.Error("a reset made a directory")
	}
}

// What a person answers.
func TestResetAsks(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]error{"yes\n": nil, "yes \r\n": nil, "y\n": errNotConfirmed, "\n": errNotConfirmed, "no\n": errNotConfirmed, "": errNotAsked} {
		if err := confirm(t.Context(), strings.NewReader(answer), true); err != want { //nolint:errorlint // nil, too
			t.Errorf("%q: %v, want %v", answer, err, want)
		}
	}
	if err := confirm(t.Context(), strings.NewReader("yes\n"), false); err != errNotAsked { //nolint:errorlint // as above
		t.Errorf("without a terminal: %v", err)
	}
}

// "Printed passwords are those that work, or aren't printed", on the screen and by the command: a person may have changed a password or
// revoked the token, and a file may be gone.
func testCredentials(t *testing.T, in *installation) {
	t.Helper()
	password, admin, token := demoPassword(t, in), keptIn(t, in, "admin-password"), keptIn(t, in, "demo-token")
	demo := strings.Replace(in.base, "localhost", "demo.localhost", 1) + "/admin"
	screen := func(has, lacks []string) *server {
		t.Helper()
		s := in.serve()
		for _, text := range has {
			if !s.out.has(text) {
				t.Errorf("the screen lacks %q:\n%s", text, s.out.String())
			}
		}
		for _, text := range lacks {
			if s.out.has(text) {
				t.Errorf("the screen has %q:\n%s", text, s.out.String())
			}
		}
		return s
	}
	s := screen([]string{"Password    " + password, "Token       " + token, "with the password " + admin}, nil)
	id, _, _ := strings.Cut(token, "|")
	if ask[bool](connect(t, in.url()), "select last_used_at > now() - $2::interval from loyalty.token where id::text = $1", id, time.Since(s.began)) {
		t.Error("the start counts as a use of the token")
	}
	s.expect(t, http.StatusNoContent, "DELETE", "/api/v1/tokens/"+id, token, "")
	p := in.run("admin", "reset-password", "--email=admin@loyalty.example")
	_, changed, _ := strings.Cut(strings.TrimSpace(p.out.String()), "password: ")
	in.hidden = append(in.hidden, changed)
	change := func(condition string) {
		t.Helper()
		ask[int](connect(t, in.url()), `
			with changed as (
				update loyalty.credential c set password_hash = a.password_hash
				from loyalty.staff p, loyalty.staff b, loyalty.credential a
				where p.id = c.staff_id and p.tenant_id is not null and p.`+condition+`
					and b.email = 'admin@loyalty.example' and a.staff_id = b.id
				returning 1)
			select count(*)::int from changed`)
	}
	change("role = 'cashier'")
	s.stop()

	s = screen([]string{
		"Sign in     maja@cafearo.example (owner), emre@cafearo.example (manager)\n", "Password    " + password + " (the initial one; the others' was changed: reset it at " + demo + "/forgot)",
		"the first one was revoked: create one at " + demo + "/settings/tokens", "Bearer YOUR_TOKEN",
		"the first password was changed", "`loyalty admin reset-password --email admin@loyalty.example`",
	}, []string{token, admin, changed, "(cashier)"})
	if said := in.succeed("demo"); !strings.Contains(said, "emre@cafearo.example (manager)") || !strings.Contains(said, password) || strings.Contains(said, "cashier") {
		t.Errorf("demo says %s", said)
	}
	change("role <> 'super_admin'")
	s.stop()

	screen([]string{"maja@cafearo.example (owner), emre@cafearo.example (manager), linnea@cafearo.example (cashier)", "reset it at " + demo + "/forgot"}, []string{password}).stop()
	if said := in.succeed("demo"); strings.Contains(said, password) || !strings.Contains(said, "reset it at "+demo+"/forgot") {
		t.Errorf("demo says %s", said)
	}

	// Without the files, the next start invents no passwords that were never set.
	for _, file := range []string{"demo-password", "admin-password"} {
		if err := os.Remove(filepath.Join(in.data, file)); err != nil {
			t.Fatal(err)
		}
	}
	screen([]string{"reset it at " + demo + "/forgot", "`loyalty admin reset-password"}, nil).stop()
	for _, file := range []string{"demo-password", "admin-password"} {
		if exists(filepath.Join(in.data, file)) {
			t.Errorf("%s was written, with a password that doesn't work", file)
		}
	}
}
