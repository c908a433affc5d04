package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

// poolerConfig is PgBouncer's: its defaults, but for the pool.
const poolerConfig = `[databases]
* = host=%s
[pgbouncer]
listen_addr =
unix_socket_dir = %s
listen_port = 5432
auth_type = trust
auth_file = %s
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
`

// pooled starts a transaction pooler in front of a database, and returns the URL there.
func pooled(t *testing.T, address string) string {
	t.Helper()
	program := "/usr/sbin/pgbouncer" // where Debian installs it
	if !exists(program) {
		requireProgram(t, "pgbouncer")
		program = "pgbouncer"
	}
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	dir := openDir(t)
	users, file := filepath.Join(dir, "users"), filepath.Join(dir, "config")
	for name, text := range map[string]string{
		users: fmt.Sprintf("%q %q\n%q %q\n", config.User, "", db.Role, ""),
		file:  fmt.Sprintf(poolerConfig, config.Host, dir, users),
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pooler := exec.Command(program, file)
	var log output
	pooler.Stdout, pooler.Stderr = &log, &log
	if os.Geteuid() == 0 { // which it refuses: then as PostgreSQL's user
		socket, err := os.Stat(config.Host)
		if err != nil {
			t.Fatal(err)
		}
		owner := socket.Sys().(*syscall.Stat_t)
		pooler.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
		if err := os.Chown(dir, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	if err := pooler.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = pooler.Process.Kill()
		_ = pooler.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	await(t, "the pooler is up", func() bool { return exists(filepath.Join(dir, ".s.PGSQL.5432")) })
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host, u.RawQuery = "", url.Values{"host": {dir}}.Encode()
	return u.String()
}

// "A transaction pooler (PgBouncer) can run in front of PostgreSQL": with four connections for all, sales, lists and pages work, and each
// transaction has the product's settings.
func TestBehindATransactionPooler(t *testing.T) {
	if testing.Short() {
		t.Skip("needs PgBouncer: make test-long")
	}
	dbtest.NeedsPlain(t, "its server listens on a port")
	t.Parallel()
	own := dbtest.OwnURL(t)
	through := pooled(t, dbtest.Serving(own))
	in := newInstallationOn(t, through, "LOYALTY_DATABASE_DIRECT_URL="+own, "LOYALTY_DATABASE_OWNER_URL="+own, "LOYALTY_SANDBOX=1", "LOYALTY_RATE_TOKEN=0")
	shop := in.sandbox(t).Tenants[0]
	s := in.serve()
	s.expect(t, http.StatusOK, "GET", "/readyz", "", "")
	token := shop.Tokens["all"]
	var tills sync.WaitGroup
	for n := range 8 {
		tills.Go(func() {
			made := s.expect(t, http.StatusCreated, "POST", "/api/v1/customers", token, fmt.Sprintf(`{"first_name":"Elsa","last_name":"Berg","phone":"070174060%d"}`, n))
			id := decode[single[customerRecord]](t, made.body).Data.ULID
			for i := range 25 {
				body := fmt.Sprintf(`{"customer_ulid":%q,"transaction_type_id":%d,"spend_amount_cents":1250,"external_reference":"pooled-%d-%d"}`, id, shop.TransactionTypeID, n, i)
				s.expect(t, http.StatusCreated, "POST", "/api/v1/transactions", token, body)
			}
			for _, path := range []string{"/api/v1/customers?phone=070174060" + strconv.Itoa(n), "/api/v1/rewards", "/api/v1/coupons", "/api/v1/customers/" + id} {
				s.expect(t, http.StatusOK, "GET", path, token, "")
			}
		})
	}
	tills.Wait()
	s.expect(t, http.StatusOK, "GET", strings.Replace(in.base, "localhost", shop.Slug+".localhost", 1)+"/join", "", "")
	if out := in.succeed("verify"); !strings.HasSuffix(out, "no differences\n") {
		t.Error(out)
	}
	if sales := ask[int](connect(t, own), "select count(*) from loyalty.transaction where external_reference like 'pooled-%'"); sales != 8*25 {
		t.Errorf("%d sales, want 200", sales)
	}
	s.stop()

	d, err := db.Open(t.Context(), through, db.Options{Pooler: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	got, err := db.All[struct{ Timeout, Lock, Jit string }](t.Context(), d.Tenant(core.System(core.Tenant{ID: shop.ID}, "test")),
		"select current_setting('statement_timeout') as timeout, current_setting('lock_timeout') as lock, current_setting('jit') as jit", nil)
	if err != nil || fmt.Sprint(got) != "[{10s 5s off}]" {
		t.Errorf("the settings are %v, %v", got, err)
	}
}
