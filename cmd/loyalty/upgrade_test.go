package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/mail/smtptest"
	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/migrations"
)

// balancer is a proxy like that of docs/operations/haproxy.cfg: it checks /readyz, keeps
// connections, and retries with another process only if it couldn't connect.
type balancer struct {
	backends []string // addresses
	ready    [2]atomic.Bool
	drained  [2]atomic.Bool // by the operator
	next     atomic.Int64
	proxy    *httputil.ReverseProxy
}

func newBalancer(t *testing.T, backends ...string) (b *balancer, url string) {
	t.Helper()
	b = &balancer{backends: backends}
	transport := &http.Transport{MaxIdleConnsPerHost: 20, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			return conn, nil
		}
		for _, other := range b.backends {
			if conn, err := new(net.Dialer).DialContext(ctx, network, other); err == nil {
				return conn, nil
			}
		}
		return nil, err
	}}
	b.proxy = &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetXForwarded()
		r.Out.Header.Set("X-Forwarded-Proto", "https")
		r.Out.URL.Scheme, r.Out.URL.Host = "http", b.choose()
		r.Out.Host = r.In.Host
	}}
	server := httptest.NewServer(b.proxy)
	ctx, stop := context.WithCancel(t.Context())
	var checks sync.WaitGroup
	checks.Go(func() { b.check(ctx) })
	t.Cleanup(func() {
		stop()
		checks.Wait()
		server.Close()
		transport.CloseIdleConnections()
	})
	return b, server.URL
}

func (b *balancer) choose() string {
	for range b.backends {
		if i := int(b.next.Add(1)) % len(b.backends); b.ready[i].Load() {
			return b.backends[i]
		}
	}
	return b.backends[0]
}

// drain stops sending requests to a backend; open ones finish.
func (b *balancer) drain(i int) {
	b.drained[i].Store(true)
	b.ready[i].Store(false)
	time.Sleep(time.Second)
}

func (b *balancer) restore(i int) { b.drained[i].Store(false) }

func (b *balancer) check(ctx context.Context) {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for ctx.Err() == nil {
		for i, address := range b.backends {
			answer, err := client.Get("http://" + address + "/readyz")
			b.ready[i].Store(err == nil && answer.StatusCode == http.StatusOK && !b.drained[i].Load())
			if err == nil {
				_ = answer.Body.Close()
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// clients record sales, void and redeem, read customers and open pages of the panel through a proxy, until they are stopped.
type clients struct {
	t                      *testing.T
	office                 *office
	recorded, read, opened atomic.Int64
	redeemed, voided       atomic.Int64
	stop                   func()
}

func newClients(t *testing.T, front, host string, shop sandbox.Tenant) *clients {
	t.Helper()
	request := func(method, path, body string, want int) (string, error) {
		r, err := http.NewRequestWithContext(t.Context(), method, front+path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		r.Host = host
		r.Header.Set("Authorization", "Bearer "+shop.Tokens["all"])
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if answer.StatusCode != want {
			err = fmt.Errorf("%s %s = %d %s", method, path, answer.StatusCode, text)
		}
		return string(text), err
	}
	made, err := request("POST", "/api/v1/customers", `{"first_name":"Elsa","last_name":"Berg","phone":"08-465 004 12"}`, http.StatusCreated)
	if err != nil {
		t.Fatal(err)
	}
	elsa := decode[struct{ Data struct{ ULID string } }](t, made).Data.ULID
	sale := fmt.Sprintf(`{"customer_ulid":%q,"transaction_type_id":%d,"spend_amount_cents":2000}`, elsa, shop.TransactionTypeID)
	redemption := fmt.Sprintf(`{"customer_ulid":%q,"reward_ulid":%q}`, elsa, shop.Rewards.InStock.ULID)
	panel := client(t, strings.TrimPrefix(front, "http://"), nil)
	c := &clients{t: t, office: newOffice(t, panel, "http://"+strings.TrimSuffix(strings.TrimPrefix(shop.PanelURL, "https://"), "/admin"), shop.Staff[core.Owner])}
	ctx, stop := context.WithCancel(t.Context())
	var under sync.WaitGroup
	c.stop = func() {
		stop()
		under.Wait()
	}
	t.Cleanup(c.stop)
	for range 3 {
		under.Go(func() {
			for ctx.Err() == nil {
				made, err := request("POST", "/api/v1/transactions", sale, http.StatusCreated)
				if err != nil {
					t.Error(err)
					return
				}
				switch c.recorded.Add(1) % 7 {
				case 0:
					id := decode[struct{ Data struct{ ULID string } }](t, made).Data.ULID
					if _, err := request("POST", "/api/v1/transactions/"+id+"/void", "", http.StatusOK); err != nil {
						t.Error(err)
						return
					}
					c.voided.Add(1)
				case 3:
					if _, err := request("POST", "/api/v1/redemptions", redemption, http.StatusCreated); err == nil {
						c.redeemed.Add(1)
					} else if !strings.Contains(err.Error(), "= 422 ") { // too few points
						t.Error(err)
						return
					}
				}
				if _, err := request("GET", "/api/v1/customers?per_page=1", "", http.StatusOK); err != nil {
					t.Error(err)
					return
				}
				c.read.Add(1)
			}
		})
	}
	under.Go(func() {
		for ctx.Err() == nil {
			for _, path := range []string{"/admin", "/admin/customers", "/admin/coupons"} {
				got, err := c.office.call(panel, "GET", path, "", "")
				if err != nil || got.status != http.StatusOK {
					t.Errorf("GET %s = %d, request %s: %v", path, got.status, got.id(), err)
					return
				}
			}
			c.opened.Add(1)
		}
	})
	return c
}

// record waits until n more sales are recorded and the pages were opened once more.
func (c *clients) record(n int64) {
	c.t.Helper()
	sales, pages := c.recorded.Load()+n, c.opened.Load()+2 // the first may have begun before
	await(c.t, "sales and pages go on", func() bool { return c.t.Failed() || c.recorded.Load() >= sales && c.opened.Load() >= pages })
}

// "Upgrade with zero downtime (old and new process together)": two processes on one database
// behind a proxy are restarted one after the other, while sales are recorded and customers read. No
// request fails, and no sale is lost or duplicated.
func TestRestartWithoutDowntime(t *testing.T) {
	t.Parallel()
	database := dbtest.OwnURL(t)
	in := newInstallationOn(t, database, "LOYALTY_SANDBOX=1", "LOYALTY_TLS=proxy", "LOYALTY_TRUSTED_PROXIES=127.0.0.1",
		"LOYALTY_RATE_TOKEN=0", "LOYALTY_STOP_DELAY=1s")
	shop := in.sandbox(t).Tenants[0]
	for _, token := range shop.Tokens {
		in.hidden = append(in.hidden, token)
	}
	d := connect(t, database)
	before := ask[int64](d, "select count(*) from loyalty.transaction")
	places := []*installation{in, in.onItsOwnPort(t)}
	servers := []*server{places[0].served(), places[1].served()}
	b, front := newBalancer(t, places[0].addr, places[1].addr)
	await(t, "both are ready", func() bool { return b.ready[0].Load() && b.ready[1].Load() })
	c := newClients(t, front, strings.TrimPrefix(in.base, "https://"), shop)
	c.record(20)
	for i := range servers {
		servers[i].signal(syscall.SIGTERM)
		if code := servers[i].exit(); code != 0 {
			t.Errorf("process %d ended with %d", i+1, code)
		}
		if !servers[i].log.has("stopping: /readyz fails, requests are still served") {
			t.Errorf("process %d did not wait for its proxy", i+1)
		}
		c.record(10) // by the other one alone
		servers[i] = places[i].served()
		await(t, "it is ready again", b.ready[i].Load)
		c.record(10)
		if i == 0 {
			// After a newer build has migrated, this one is still ready.
			d.exec(fmt.Sprintf("insert into goose_db_version (version_id, is_applied) values (%d, true)", migrations.Newest()+1))
		}
	}
	c.stop()
	if got := readiness(t, places[1].addr); got != http.StatusOK {
		t.Errorf("/readyz on a newer database = %d", got)
	}
	if got := ask[int64](d, "select count(*) from loyalty.transaction") - before; got != c.recorded.Load() {
		t.Errorf("%d sales are stored, %d were confirmed", got, c.recorded.Load())
	}
	t.Logf("%d sales and %d reads over two restarts", c.recorded.Load(), c.read.Load())
	for _, s := range servers {
		s.stop()
	}
}

// earlierBuild is the first commit whose build can serve on every later schema: from then on,
// migrations only add.
const earlierBuild = "65ed8565e654ae4b4f57751bc74caa0be2f179fd"

// buildOf builds the product at a commit.
func buildOf(t *testing.T, commit string) (program string) {
	t.Helper()
	dir := openDir(t)
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o755); err != nil {
		t.Fatal(err)
	}
	tarball := filepath.Join(dir, "source.tar")
	if out, err := exec.Command("git", "-C", filepath.Join("..", ".."), "archive", "--output", tarball, commit).CombinedOutput(); err != nil {
		t.Skipf("needs the project's whole history: %v\n%s", err, out)
	}
	program = filepath.Join(dir, "loyalty")
	unpack := exec.Command("tar", "-xf", tarball, "-C", source)
	build := exec.Command("go", "build", "-trimpath", "-o", program, "./cmd/loyalty")
	build.Dir = source
	for _, step := range []*exec.Cmd{unpack, build} {
		if out, err := step.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", step.Args, err, out)
		}
	}
	return program
}

// previousBuild is the commit of the last build on the previous schema: the one before the main line got today's
// newest migration. Every new migration moves it, so nothing has to be edited here. Rejected: the parent of HEAD, which
// mostly has the same schema, so that nothing would be migrated under it.
func previousBuild(t *testing.T) (commit string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "migrations", fmt.Sprintf("%04d_*", migrations.Newest())))
	if err != nil || len(files) != 1 {
		t.Fatalf("the newest migration is in %q, %v", files, err)
	}
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", filepath.Join("..", "..")}, args...)...).Output()
		if err != nil {
			t.Skipf("needs the project's whole history: git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	if git("rev-parse", "--is-shallow-repository") == "true" {
		t.Skip("needs the project's whole history: git fetch --unshallow")
	}
	added := git("log", "-1", "--first-parent", "-m", "--diff-filter=A", "--format=%H", "--", "migrations/"+filepath.Base(files[0]))
	if added == "" {
		return git("rev-parse", "HEAD") // the migration is not committed yet
	}
	return git("rev-parse", added+"^")
}

// "Upgrade with zero downtime (old and new process together; migrations that allow it)": an installation of an older
// build is upgraded as in docs/operations.md, while sales are recorded, pages opened and jobs run. Old and new processes
// serve on the new schema, and share a send, an import and the periodic jobs without doing anything twice.
func TestUpgradeWithoutDowntime(t *testing.T) {
	if testing.Short() {
		t.Skip("builds older versions: make test-long")
	}
	t.Parallel()
	t.Run("the first that can", func(t *testing.T) {
		t.Parallel()
		upgradeFrom(t, earlierBuild)
	})
	t.Run("the build before", func(t *testing.T) {
		t.Parallel()
		upgradeFrom(t, previousBuild(t))
	})
}

func upgradeFrom(t *testing.T, commit string) {
	const (
		members = 600 // of a send
		rows    = 2_000
		subject = "A cinnamon bun, on us"
	)
	database, mails := emptyDatabase(t), smtptest.New(t)
	in := newInstallationOn(t, database, "LOYALTY_SANDBOX=1", "LOYALTY_TLS=proxy", "LOYALTY_TRUSTED_PROXIES=127.0.0.1",
		"LOYALTY_RATE_TOKEN=0", "LOYALTY_SMTP_URL="+mails.URL, "LOYALTY_MAIL_FROM=Loyalty <loyalty@example.com>")
	built := *in
	in.program = buildOf(t, commit)
	in.succeed("migrate", "up")
	shop := in.sandbox(t).Tenants[0]
	for _, token := range shop.Tokens {
		in.hidden = append(in.hidden, token)
	}
	built.hidden = in.hidden
	d := connect(t, database)
	if newest := ask[int64](d, "select max(version_id) from goose_db_version"); newest >= migrations.Newest() {
		t.Fatalf("the older build has the migration %d: nothing is upgraded", newest)
	}
	d.exec("update loyalty.tenant set country = 'SE' where coalesce(country, '') = ''") // the first build's sandbox chooses none, and imports need one
	before := ask[int64](d, "select count(*) from loyalty.transaction")
	leaders := watchTerms(t, database)
	old := []*installation{in, in.onItsOwnPort(t)}
	servers := []*server{old[0].served(), old[1].served()}
	all := cluster{servers: slices.Clone(servers), shop: shop, url: database, d: d}
	b, front := newBalancer(t, old[0].addr, old[1].addr)
	await(t, "both are ready", func() bool { return b.ready[0].Load() && b.ready[1].Load() })
	c := newClients(t, front, strings.TrimPrefix(in.base, "https://"), shop)
	panel := client(t, strings.TrimPrefix(front, "http://"), nil)
	// The tests' server has no autovacuum, without which a page may take ten seconds among thousands of new rows.
	analyze := func() { d.exec("analyze") }
	imports := func(file string) (page string) {
		t.Helper()
		page = c.office.upload(panel, file)
		c.office.send(panel, page+"/run", nil)
		await(t, "the file is imported", func() bool {
			return ask[string](d, "select status from loyalty.customer_import where id = $1", sendOrImport(t, page)) == "done"
		})
		analyze()
		return page
	}
	mailed := func() int { return len(copies(mails, subject)) }
	imports(customersFile(1_000_000, members))
	mails.Delays(2 * time.Second) // until the upgrade is over, so that the send is not
	send := sendOrImport(t, c.office.mail(panel, shop.Coupon, subject))
	await(t, "the older build mails", func() bool { return mailed() > 0 })
	c.record(20)

	// "Run `loyalty migrate up` with the new binary. The old processes continue; their `/readyz` stays 200".
	built.succeed("migrate", "up")
	if newest := ask[int64](d, "select max(version_id) from goose_db_version"); newest != migrations.Newest() {
		t.Errorf("migrated to %d, want %d", newest, migrations.Newest())
	}
	migrated := mailed()
	d.exec(`
		insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, begun_at, updated_at)
		select id, 'points', 'after', 12, 'month', now(), now()
		from loyalty.tenant
		on conflict do nothing`) // no page of an older build may, and the newer have one
	c.record(20)
	for _, place := range old {
		if got := readiness(t, place.addr); got != http.StatusOK {
			t.Errorf("/readyz of an older build on the new schema = %d", got)
		}
	}
	await(t, "the older build mails on the new schema", func() bool { return mailed() > migrated+20 })

	var both string // the page of the import while both builds run
	for i := range servers {
		b.drain(i)
		servers[i].signal(syscall.SIGTERM)
		if code := servers[i].exit(); code != 0 {
			t.Errorf("process %d ended with %d", i+1, code)
		}
		place := *old[i]
		place.program = built.program
		servers[i] = place.served()
		all.servers = append(all.servers, servers[i])
		analyze()
		b.restore(i)
		await(t, "the new build is ready", b.ready[i].Load)
		c.record(20)
		if i == 0 {
			both = imports(customersFile(2_000_000, rows))
		}
	}
	if mailed() >= members {
		t.Error("the send was over before the upgrade")
	}
	mails.Delays(0)
	await(t, "the send is over", func() bool {
		return ask[string](d, "select status from loyalty.coupon_send where id = $1", send) == "done"
	})
	c.stop()
	if got := ask[int64](d, "select count(*) from loyalty.transaction") - before; got != c.recorded.Load() {
		t.Errorf("%d sales are stored, %d were confirmed", got, c.recorded.Load())
	}
	t.Logf("%d sales, %d voids, %d redemptions, %d reads and %d rounds of pages over an upgrade from %s",
		c.recorded.Load(), c.voided.Load(), c.redeemed.Load(), c.read.Load(), c.opened.Load(), commit)
	all.awaitIdle(t)
	for _, s := range servers {
		s.stop()
	}
	all.checkMails(t, mails, subject, members, 0)
	all.checkImport(both, rows)
	all.checkWorkers(t, len(old))
	t.Logf("%d periodic jobs in %d terms", leaders.checkPeriodic(d), len(leaders.began))
	built.succeed("verify")
}

// Jobs that an earlier build has queued run, whatever their kinds were called then.
func TestJobsOfAnEarlierBuild(t *testing.T) {
	t.Parallel()
	database := dbtest.OwnURL(t)
	in, d := newInstallationOn(t, database), connect(t, database)
	kinds := []string{
		"coupon_send_round", "customer_import_round", "forget_answers", "forget_attempts", "forget_audit", "forget_links",
		"forget_pins", "forget_sessions", "forget_tokens", "mail_round",
	}
	d.exec("insert into river.river_job (kind, queue, state, args, max_attempts) select unnest($1::text[]), 'upkeep', 'available', '{}', 1", kinds)
	s := in.served()
	await(t, "each is done", func() bool {
		return ask[int](d, "select count(*) from river.river_job where kind = any($1) and state = 'completed'", kinds) == len(kinds)
	})
	s.stop()
}

func readiness(t *testing.T, addr string) int {
	t.Helper()
	answer, err := http.Get("http://" + addr + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// "HEALTHCHECK by the binary itself", behind a proxy and not.
func TestHealthCommand(t *testing.T) {
	t.Parallel()
	database := dbtest.OwnURL(t)
	for _, settings := range [][]string{{"LOYALTY_TLS=proxy", "LOYALTY_TRUSTED_PROXIES=127.0.0.1"}, {"LOYALTY_TLS=local"}} {
		in := newInstallationOn(t, database, settings...)
		if p := in.run("health"); p.exit() != 1 || !p.log.has("refused") {
			t.Errorf("without a server: exit %d, %s", p.exit(), p.log.String())
		}
		s := in.served()
		if got := in.succeed("health"); got != "{\"status\":\"ok\"}\n" {
			t.Errorf("health = %q", got)
		}
		if got := in.succeed("health", "--ready"); got != "{\"status\":\"ok\"}\n" {
			t.Errorf("health --ready = %q", got)
		}
		d, err := pgx.Connect(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Exec(t.Context(), "delete from goose_db_version where version_id = $1", migrations.Newest())
		await(t, "health --ready says that it is not migrated", func() bool { // what was found before is kept for a second
			p := in.run("health", "--ready")
			return p.exit() == 1 && p.out.has("run `loyalty migrate up`")
		})
		_, again := d.Exec(t.Context(), "insert into goose_db_version (version_id, is_applied) values ($1, true)", migrations.Newest())
		if err := errors.Join(err, again, d.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
		s.stop()
	}
}
