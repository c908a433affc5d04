package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/loyalty/core/certificate"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/vault"
)

// "Write to a temporary file, sync, rename; refuse under 32 characters": after an interrupted
// start the secret is complete, or the next start says what to do.
func TestSecretFile(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("0123456789abcdef", 4)
	for name, c := range map[string]struct {
		files   map[string]string
		secrets int
		says    string
	}{
		"none yet":            {nil, 1, ""},
		"a torn write":        {map[string]string{".secret-123": whole[:7]}, 1, ""},
		"whole":               {map[string]string{"secret": whole + "\n"}, 1, ""},
		"two of a rotation":   {map[string]string{"secret": whole + ", " + strings.ToUpper(whole) + "\n"}, 2, ""},
		"empty":               {map[string]string{"secret": ""}, 0, "has a secret of 0 characters, fewer than 32"},
		"a line without text": {map[string]string{"secret": "\n"}, 0, "has a secret of 0 characters"},
		"cut off":             {map[string]string{"secret": whole[:31]}, 0, "of 31 characters"},
		"a rotation cut off":  {map[string]string{"secret": whole + "," + whole[:5]}, 0, "of 5 characters"},
		"a trailing comma":    {map[string]string{"secret": whole + ","}, 0, "of 0 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c0 := &config{DataDir: t.TempDir()}
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(c0.DataDir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := c0.ensureSecret()
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "Restore the file from a backup") || strings.Contains(err.Error(), whole[:5]) {
					t.Errorf("%v, want %q, what to do, and no secret", err, c.says)
				}
				return
			}
			if err != nil || len(c0.Secret) != c.secrets || len(c0.Secret[0]) < 32 {
				t.Fatalf("%q, %v", c0.Secret, err)
			}
			again := &config{DataDir: c0.DataDir}
			if err := again.ensureSecret(); err != nil || again.Secret[0] != c0.Secret[0] {
				t.Errorf("the next start reads %q, %v", again.Secret, err)
			}
			if info, err := os.Stat(filepath.Join(c0.DataDir, "secret")); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the file is %v, %v", info, err)
			}
		})
	}
}

// A failed write leaves the existing file, and no temporary one.
func TestFilesAreWrittenWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "secret")
	if err := os.MkdirAll(filepath.Join(name, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeWhole(name, []byte("new")); err == nil {
		t.Error("a directory was replaced")
	}
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"old", "new"} {
		if err := writeWhole(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("read %q, %v", got, err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// "A check value in the database tells a wrong secret at start; `loyalty secret rotate` reseals
// what is stored and says when the old one may go."
func TestSecretCommands(t *testing.T) {
	t.Parallel()
	const other = "another-secret-of-the-installation-0123"
	own := dbtest.OwnURL(t)
	in := newInstallationOn(t, own, "LOYALTY_SANDBOX=1")
	in.hidden = append(in.hidden, other)
	in.sandbox(t) // has people with two-step verification
	conn := connect(t, own)
	d, err := db.Open(t.Context(), dbtest.Serving(own), db.Options{OwnerURL: own})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	if err := certificate.NewStore(d, sealedWith(t, testSecret)).Store(t.Context(), "host.key", []byte("a key")); err != nil {
		t.Fatal(err)
	}
	const sealed = "select string_agg(encode(totp_secret, 'hex'), ' ' order by staff_id) from loyalty.credential"
	before := ask[string](conn, sealed)

	wrong := in.with("LOYALTY_SECRET=" + other)
	for _, command := range []string{"verify", "serve"} {
		wrong.run(command).says(t, "restore the previous secret in LOYALTY_SECRET", "new,old")
	}
	wrong.run("secret", "rotate").says(t, "neither is any other in LOYALTY_SECRET")
	if ask[string](conn, sealed) != before {
		t.Error("a wrong secret changed something")
	}

	both := in.with("LOYALTY_SECRET=" + other + "," + testSecret)
	for _, want := range []string{"encrypted again: 2; already current: 0\n", "encrypted again: 0; already current: 2\n"} {
		p := both.start("", "secret", "rotate")
		if p.exit() != 0 || !p.out.has(want) || !p.out.has("No stored value needs the old secret") {
			t.Errorf("exit %d: %s%s, want %q", p.exit(), p.out.String(), p.log.String(), want)
		}
	}
	if after := ask[string](conn, sealed); after == before {
		t.Error("nothing was encrypted again")
	}
	if p := wrong.start("", "verify"); p.exit() != 0 {
		t.Errorf("the new secret alone: %s%s", p.out.String(), p.log.String())
	}
	if key, err := certificate.NewStore(d, sealedWith(t, other)).Load(t.Context(), "host.key"); err != nil || string(key) != "a key" {
		t.Errorf("the new secret alone opens the key of a certificate as %q, %v", key, err)
	}
	in.run("verify").says(t, "restore the previous secret")

	// The previous secret is lost.
	third := in.with("LOYALTY_SECRET=" + strings.ToUpper(other))
	p := third.start("", "secret", "rotate", "--lost")
	if p.exit() != 0 || strings.Count(p.out.String(), "is lost; reset it: loyalty admin reset-factor --email=") != 1 ||
		!p.out.has("certificates of LOYALTY_TLS=acme are lost") {
		t.Errorf("lost: exit %d: %s%s", p.exit(), p.out.String(), p.log.String())
	}
	const logged = "select string_agg(new::text, ' ' order by created_at, id) from loyalty.platform_audit_entry where action = 'platform.rotate_secret'"
	if got := ask[string](conn, logged); got != `{"lost": 0, "resealed": 1} {"lost": 0, "resealed": 0} {"lost": 1, "resealed": 0}` {
		t.Errorf("the audit log says %s", got)
	}
}

func sealedWith(t *testing.T, secret string) vault.Keys {
	t.Helper()
	keys, err := vault.New([]string{secret})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
