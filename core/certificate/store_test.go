package certificate_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"

	"example.com/loyalty/core"
	"example.com/loyalty/core/certificate"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/vault"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var _ certmagic.Storage = (*certificate.Store)(nil)

const key = "certificates/ca/cafe.loyalty.example/cafe.loyalty.example.key"

func write(t *testing.T, s *certificate.Store, files ...string) {
	t.Helper()
	for _, file := range files {
		if err := s.Store(t.Context(), file, []byte("-----BEGIN PRIVATE KEY----- of "+file)); err != nil {
			t.Fatal(err)
		}
	}
}

// "Load should always return the value from the last call to Store"; "values in the database are not readable".
func TestFilesAreSealed(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	s := certificate.NewStore(d, dbtest.Keys())
	write(t, s, key)
	if err := s.Store(t.Context(), key, []byte("-----BEGIN SECOND KEY-----")); err != nil {
		t.Fatal(err)
	}
	if got, err := certificate.NewStore(d, dbtest.Keys()).Load(t.Context(), key); err != nil || string(got) != "-----BEGIN SECOND KEY-----" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := s.Load(t.Context(), "certificates/ca"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory is read: %v", err)
	}
	var sealed []byte
	if err := dbtest.Owner(d).QueryRow(t.Context(), "select sealed from loyalty.tls_file").Scan(&sealed); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(sealed), "KEY") {
		t.Errorf("the database has %q", sealed)
	}
	// Another key's row, as an attacker might copy it, doesn't open.
	if _, err := dbtest.Owner(d).Exec(t.Context(), "insert into loyalty.tls_file select 'copy', sealed, modified_at from loyalty.tls_file"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Load(t.Context(), "copy"); !errors.Is(err, vault.ErrSealed) {
		t.Errorf("a copied file opens as %q, %v", got, err)
	}
}

// Keys are paths: a prefix counts by components.
func TestDirectories(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	s := certificate.NewStore(d, dbtest.Keys())
	write(t, s, "a/b/1", "a/b/2", "a/b", "a/bc/3", "d", "a%/4", "a")
	for _, c := range []struct {
		path      string
		recursive bool
		want      string
	}{
		{"", false, "a a% d"},
		{"a", false, "a/b a/bc"},
		{"a", true, "a/b a/b/1 a/b/2 a/bc/3"},
		{"a/b", false, "a/b/1 a/b/2"},
		{"a%", false, "a%/4"},
	} {
		if got, err := s.List(t.Context(), c.path, c.recursive); err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("List(%q, %v) = %v, %v, want %s", c.path, c.recursive, got, err, c.want)
		}
	}
	for _, missing := range []string{"b", "a/", "a/b/3", "A"} {
		_, listed := s.List(t.Context(), missing, false)
		_, described := s.Stat(t.Context(), missing)
		if !errors.Is(listed, fs.ErrNotExist) || !errors.Is(described, fs.ErrNotExist) || s.Exists(t.Context(), missing) {
			t.Errorf("%q: %v, %v", missing, listed, described)
		}
	}
	for path, file := range map[string]bool{"a": true, "a/bc": false, "d": true, "a/b": true} {
		info, err := s.Stat(t.Context(), path)
		if err != nil || info.Key != path || info.IsTerminal != file || time.Since(info.Modified).Abs() > time.Hour || !s.Exists(t.Context(), path) {
			t.Errorf("%q: %+v, %v", path, info, err)
		}
	}
	for _, path := range []string{"a/b", "a/b", "missing"} {
		if err := s.Delete(t.Context(), path); err != nil {
			t.Errorf("delete %q: %v", path, err)
		}
	}
	if got, err := s.List(t.Context(), "", true); err != nil || !slices.Equal(got, []string{"a", "a%/4", "a/bc/3", "d"}) {
		t.Errorf("left: %v, %v", got, err)
	}
}

// Of several processes one has a lock at a time.
func TestOneHoldsALock(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	var holders, most atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		s := certificate.NewStore(d, dbtest.Keys())
		all.Go(func() {
			if err := s.Lock(t.Context(), "issue_cert_cafe"); err != nil {
				t.Error(err)
				return
			}
			most.Store(max(most.Load(), holders.Add(1)))
			time.Sleep(10 * time.Millisecond)
			holders.Add(-1)
			if err := s.Unlock(t.Context(), "issue_cert_cafe"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d had the lock at once", most.Load())
	}
	s := certificate.NewStore(d, dbtest.Keys())
	if err := s.Unlock(t.Context(), "issue_cert_cafe"); err == nil {
		t.Error("a free lock was released")
	}
}

// A lock can be taken soon after its process died, and not while the process renews it.
func TestALockEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	process := certificate.NewStore(d, dbtest.Keys())
	tries := func(after time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		other := certificate.NewStore(d.At(d.Now().Add(after)), dbtest.Keys())
		if err := other.Lock(ctx, "issue"); err != nil {
			return err
		}
		return other.Unlock(t.Context(), "issue")
	}
	if err := process.Lock(t.Context(), "issue"); err != nil {
		t.Fatal(err)
	}
	if err := tries(certificate.LockLife - time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a held lock: %v", err)
	}
	// The process renews it, then dies.
	later := d.At(d.Now().Add(certificate.LockRenew))
	if err := certificate.NewStore(later, dbtest.Keys()).Renew(t.Context(), "issue", process); err != nil {
		t.Fatal(err)
	}
	if err := tries(certificate.LockLife + certificate.LockRenew - time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a renewed lock: %v", err)
	}
	if err := tries(certificate.LockLife + certificate.LockRenew + time.Second); err != nil {
		t.Errorf("the lock of a dead process: %v", err)
	}
	// Had the process only slept, it would release nothing of another one.
	other := certificate.NewStore(d, dbtest.Keys())
	if err := other.Lock(t.Context(), "issue"); err != nil {
		t.Fatal(err)
	}
	if err := process.Unlock(t.Context(), "issue"); err != nil {
		t.Error(err)
	}
	if err := tries(0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after a late release of the previous holder: %v", err)
	}
}

func keys(t *testing.T, secrets ...string) vault.Keys {
	t.Helper()
	k, err := vault.New(secrets)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// "`loyalty secret rotate` reseals what is stored": afterwards the new secret alone opens it. What no secret opens
// is deleted, so that its certificate is requested again.
func TestReseal(t *testing.T) {
	t.Parallel()
	const oldSecret, newSecret = "the first secret, of 32 characters", "the second secret, of 32 characters"
	d := dbtest.OwnDB(t)
	by := core.System(core.Tenant{}, "loyalty secret rotate")
	before, both, after := keys(t, oldSecret), keys(t, newSecret, oldSecret), keys(t, newSecret)
	write(t, certificate.NewStore(d, before), key, "acme/ca/users/ops/ops.key")
	write(t, certificate.NewStore(d, both), "ocsp/1")
	for _, want := range []certificate.Resealed{{Sealed: 2, Current: 1}, {Current: 3}} {
		if done, err := certificate.Reseal(t.Context(), d, by, both); err != nil || done != want {
			t.Errorf("%+v, %v, want %+v", done, err, want)
		}
	}
	if got, err := certificate.NewStore(d, after).Load(t.Context(), key); err != nil || !strings.HasSuffix(string(got), key) {
		t.Errorf("the new secret alone opens %q, %v", got, err)
	}
	if done, err := certificate.Reseal(t.Context(), d, by, before); err != nil || done.Lost != 3 {
		t.Errorf("with a lost secret: %+v, %v", done, err)
	}
	if certificate.NewStore(d, before).Exists(t.Context(), key) {
		t.Error("a file that no secret opens is left")
	}
}

// A tenant's transaction sees neither files nor locks.
func TestTenantsSeeNoFiles(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	by := dbtest.Tenant(t, d)
	s := certificate.NewStore(d, dbtest.Keys())
	write(t, s, key)
	if err := s.Lock(t.Context(), "issue"); err != nil {
		t.Fatal(err)
	}
	n, err := db.In(t.Context(), d.Tenant(by), func(tx *db.Tx) (int64, error) {
		return db.One[int64](t.Context(), tx, "select (select count(*) from loyalty.tls_file) + (select count(*) from loyalty.tls_lock)", nil)
	})
	if err != nil || n != 0 {
		t.Errorf("a tenant sees %d rows, %v", n, err)
	}
}
