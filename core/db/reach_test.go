package db_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

// network lies between a pool and the server. It can swallow the messages of its connections.
type network struct {
	URL string

	t        *testing.T
	socket   string
	network  string
	server   string
	listener net.Listener

	mu       sync.Mutex
	swallows chan struct{} // closed: the connections that were opened before hear and say nothing any more

	join   func(client, server net.Conn) // how messages pass
	forges bool                          // it tells other numbers of the server's processes than theirs, as a pooler does
}

// newNetwork returns one that lets no connection in yet.
func newNetwork(t *testing.T, address string) *network {
	t.Helper()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	n := &network{t: t, swallows: make(chan struct{})}
	n.join = n.relay
	n.network, n.server = pgconn.NetworkAddress(config.Host, config.Port)
	dir, err := os.MkdirTemp("", "network") //nolint:usetesting // the path of a socket has room for a hundred bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	n.socket = filepath.Join(dir, ".s.PGSQL.5432")
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host, u.RawQuery = "", url.Values{"host": {dir}, "port": {"5432"}}.Encode()
	n.URL = u.String()
	return n
}

// open lets connections in.
func (n *network) open() {
	n.t.Helper()
	var err error
	if n.listener, err = net.Listen("unix", n.socket); err != nil {
		n.t.Error(err)
		return
	}
	n.t.Cleanup(func() { _ = n.listener.Close() })
	go func() {
		for {
			client, err := n.listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(n.network, n.server)
			if err != nil {
				_ = client.Close()
				return
			}
			n.join(client, server)
		}
	}()
}

// relay passes messages on until they are swallowed.
func (n *network) relay(client, server net.Conn) {
	n.mu.Lock()
	swallows := n.swallows
	n.mu.Unlock()
	go pass(server, client, swallows)
	if n.forges {
		server = forger{server}
	}
	go pass(client, server, swallows)
}

// forger changes the message of a server with the number of its process.
type forger struct{ net.Conn }

func (f forger) Read(text []byte) (int, error) {
	n, err := f.Conn.Read(text)
	if at := bytes.Index(text[:n], []byte{'K', 0, 0, 0, 12}); at >= 0 && at+9 <= n {
		text[at+8] ^= 0xff
	}
	return n, err
}

// pass copies what one side says to the other, until it is swallowed.
func pass(to, from net.Conn, swallows chan struct{}) {
	text := make([]byte, 1<<16)
	for {
		said, err := from.Read(text)
		select {
		case <-swallows:
			_, _ = io.Copy(io.Discard, from)
			return
		default:
		}
		if _, failed := to.Write(text[:said]); err != nil || failed != nil {
			_ = to.Close()
			_ = from.Close()
			return
		}
	}
}

// swallow lets the open connections hang. New ones work.
func (n *network) swallow() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.swallows)
	n.swallows = make(chan struct{})
}

// "Starting is as patient as running": who starts before the database waits for it, and says so.
func TestTheStartWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, dbtest.OwnURL(t))
	var log bytes.Buffer
	time.AfterFunc(time.Second, n.open)
	begun := time.Now()
	err := db.Await(t.Context(), n.URL, time.Minute, slog.New(slog.NewTextHandler(&log, nil)))
	if took := time.Since(begun); err != nil || took < time.Second {
		t.Errorf("after %s: %v, want to wait for a second", took, err)
	}
	if got := strings.Count(log.String(), "\n"); got != 1 || !strings.Contains(log.String(), `msg="waiting for the database" because="the database cannot be reached: nothing accepts connections at its address" left=1m0s`) {
		t.Errorf("the log has %d lines, want one: %s", got, log.String())
	}
}

// What waiting doesn't change is said at once; what it may change, when patience ends.
func TestWhatTheStartDoesNotWaitFor(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "logins of nodes are the cluster's")
	address := dbtest.OwnURL(t)
	at := func(change func(*url.URL)) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		return u.String()
	}
	owner := connectTo(t, address)
	login := fmt.Sprintf("login_%d", time.Now().UnixNano())
	for _, statement := range []string{
		"create role " + login + " login connection limit 0",
		"grant select on public.goose_db_version to " + login,
	} {
		if _, err := owner.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, statement := range []string{"revoke select on public.goose_db_version from " + login, "drop role " + login} {
			if _, err := owner.Exec(context.Background(), statement); err != nil {
				t.Error(err)
			}
		}
	})
	old := emptyURL(t)
	if _, err := connectTo(t, old).Exec(t.Context(), "create table public.goose_db_version (version_id bigint); insert into public.goose_db_version values (0), (17)"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		url, want string
		waits     bool
	}{
		"another login":            {at(func(u *url.URL) { u.User = url.User("stranger") }), "stranger", false},
		"no such database":         {at(func(u *url.URL) { u.Path = "/nothing" }), `database "nothing" does not exist`, false},
		"before the first release": {old, "this database is from before the first release and can't be upgraded", false},
		"no encryption":            {at(func(u *url.URL) { u.Host = unencrypted(t); u.RawQuery = "sslmode=require" }), "server refused TLS connection", false},
		"nothing there":            {at(func(u *url.URL) { u.Host = ""; u.RawQuery = url.Values{"host": {t.TempDir()}}.Encode() }), "nothing accepts connections", true},
		"no such host":             {at(func(u *url.URL) { u.Host = "nothing.invalid:5432"; u.RawQuery = "" }), "the database's host name cannot be resolved", true},
		"no connection left":       {at(func(u *url.URL) { u.User = url.User(login) }), "the database has no connection left", true},
	} {
		t.Run(name, func(t *testing.T) {
			const patience = 600 * time.Millisecond
			begun := time.Now()
			err := db.Await(t.Context(), c.url, patience, slog.New(slog.DiscardHandler))
			if took := time.Since(begun); err == nil || !strings.Contains(err.Error(), c.want) || took < patience == c.waits {
				t.Errorf("after %s: %v, want %q, with waiting: %t", took, err, c.want, c.waits)
			}
		})
	}
}

// unencrypted returns the address of a server that has no TLS.
func unencrypted(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			request := make([]byte, 8)
			_, _ = io.ReadFull(conn, request)
			_, _ = conn.Write([]byte("N"))
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

func connectTo(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// behind is a business whose pool is behind a network.
type behind struct {
	outage
	network *network
}

func newBehind(t *testing.T, o db.Options) behind {
	t.Helper()
	address := dbtest.OwnURL(t)
	n := newNetwork(t, address)
	n.open()
	d, err := db.Open(t.Context(), n.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go d.Watch(ctx)
	return behind{outage{businessOf(t, d), address, connectTo(t, address)}, n}
}

// When the network swallows all messages of the open connections, no request waits for the end of its time: calls of each
// kind succeed on new connections, and a statement that works is left alone.
func TestANetworkThatSwallowsMessages(t *testing.T) {
	t.Parallel()
	const connections, most = 5, 12 * time.Second
	b := newBehind(t, db.Options{MaxConns: connections})
	b.fill(t, connections)
	time.Sleep(1100 * time.Millisecond) // connections that were idle for a second are tried; pgx's clock can't be moved
	b.network.swallow()
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for name, call := range map[string]func() error{
		"transaction": func() error {
			_, err := db.In(ctx, b.db.Tenant(b.by), func(tx *db.Tx) (int64, error) {
				return db.One[int64](ctx, tx, openBranchSQL, db.Args{"name": "Transaction"})
			})
			return err
		},
		"read":     func() error { _, err := db.All[branch](ctx, b.db.Tenant(b.by), branchesSQL, nil); return err },
		"together": func() error { return b.openTogether(t, b.db, "Together") },
		"ready":    func() error { return b.db.Ready(ctx) },
	} {
		all.Go(func() {
			// A check has two seconds. The next one is right.
			err := call()
			if name == "ready" && err != nil {
				err = call()
			}
			if took := time.Since(begun); err != nil || took > most {
				t.Errorf("%s: %v after %s, want to succeed within %s", name, err, took, most)
			}
			t.Logf("%s: %s", name, time.Since(begun))
		})
	}
	all.Wait()
	// A slow statement isn't taken for a lost one.
	if got, err := db.All[slept](ctx, b.db.Tenant(b.by), "select pg_sleep(6)::text as pg_sleep", nil); err != nil || len(got) != 1 {
		t.Errorf("a slow statement: %v", err)
	}
}

// Behind a pooler the server doesn't know the numbers of the connections, so Watch can't ask about them, and ends none.
func TestASlowStatementBehindAPooler(t *testing.T) {
	t.Parallel()
	for _, o := range []db.Options{{}, {Pooler: true}} {
		t.Run(fmt.Sprintf("known to be one: %t", o.Pooler), func(t *testing.T) {
			t.Parallel()
			n := newNetwork(t, dbtest.OwnURL(t))
			n.forges = true
			n.open()
			d, err := db.Open(t.Context(), n.URL, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(d.Close)
			go d.Watch(t.Context())
			b := businessOf(t, d)
			if got, err := db.All[slept](t.Context(), d.Tenant(b.by), "select pg_sleep(6)::text as pg_sleep", nil); err != nil || len(got) != 1 {
				t.Errorf("a slow statement: %v", err)
			}
		})
	}
}

// Who listens for signals notices such a network, too, and hears the signals of a quiet time.
func TestListeningInANetworkThatSwallowsMessages(t *testing.T) {
	t.Parallel()
	address := dbtest.OwnURL(t)
	n := newNetwork(t, address)
	n.open()
	d, err := db.Open(t.Context(), n.URL, db.Options{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	listens, signals, lost := make(chan struct{}), make(chan string, 1), make(chan error, 1)
	go func() {
		lost <- db.Listen(t.Context(), d, []string{"news"}, func() { close(listens) }, func(said string) { signals <- said })
	}()
	<-listens
	time.Sleep(11 * time.Second) // longer than silence is trusted
	if _, err := connectTo(t, address).Exec(t.Context(), "notify news, 'sale'"); err != nil {
		t.Fatal(err)
	}
	if got := <-signals; got != "sale" {
		t.Errorf("heard %q", got)
	}
	n.swallow()
	select {
	case err := <-lost:
		if err == nil {
			t.Error("it ended without an error")
		}
	case <-time.After(30 * time.Second):
		t.Error("it still listens in silence")
	}
}

// After a time in which the database could only be read, the next write succeeds on each connection.
func TestAfterAReadOnlyTime(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "nodes have settings of their own")
	const connections = 5
	o := newOutage(t, db.Options{MaxConns: connections})
	set := func(to string) {
		t.Helper()
		_, err := o.admin.Exec(t.Context(), `set default_transaction_read_only = off;
			do $$ begin execute format('alter database %I set default_transaction_read_only = `+to+`', current_database()); end $$`)
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string) error {
		_, err := db.In(t.Context(), o.db.Tenant(o.by), func(tx *db.Tx) (int64, error) {
			return db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": name})
		})
		return err
	}
	set("on")
	o.terminate(t)
	o.fill(t, connections) // with connections of that time
	if err := write("During"); err == nil || !strings.Contains(fmt.Sprint(err), "unavailable") {
		t.Errorf("while it was read-only: %v", err)
	}
	o.fill(t, connections)
	set("off")
	for i := range connections {
		if err := write("After"); err != nil {
			t.Errorf("write %d afterwards: %v", i+1, err)
		}
	}
	if err := o.openTogether(t, o.db, "Together"); err != nil {
		t.Errorf("a write of one message afterwards: %v", err)
	}
}

// A pool that can open no further connection serves by those that it has, and is ready.
func TestReadyWithoutFurtherConnections(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "a limit of the coordinator's connections")
	o := newOutage(t, db.Options{MaxConns: 5})
	limit := func(n int) {
		t.Helper()
		if _, err := o.admin.Exec(t.Context(), fmt.Sprintf("alter database %s connection limit %d", pgx.Identifier{o.admin.Config().Database}.Sanitize(), n)); err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // there are two already
	stop := make(chan struct{})
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_, err := db.In(t.Context(), o.db.Tenant(o.by), func(tx *db.Tx) (string, error) {
				return db.One[string](t.Context(), tx, "select pg_sleep(0.2)::text", nil)
			})
			if err != nil {
				t.Errorf("a request: %v", err)
			}
		}
	})
	for range 20 {
		if err := o.db.Ready(t.Context()); err != nil {
			t.Errorf("ready: %v", err)
		}
		if err := o.db.CheckWritable(t.Context()); err != nil {
			t.Errorf("writable: %v", err)
		}
	}
	close(stop)
	serving.Wait()
	// When none is answered, the reason is the real one.
	o.terminate(t)
	time.Sleep(2100 * time.Millisecond)
	if err := o.db.Ready(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "the database has no connection left") {
		t.Errorf("without any connection: %v", err)
	}
}

// Busy connections are no trouble as long as statements are answered. When none is, /readyz says so.
func TestReadyWithABusyPool(t *testing.T) {
	t.Parallel()
	const connections = 4
	d, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{MaxConns: connections})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	b := businessOf(t, d)
	hold := func(seconds float64) (done *sync.WaitGroup) {
		done = &sync.WaitGroup{}
		for n := range connections {
			by := b.by
			by.Tenant.ID += core.TenantID(n) // one tenant gets only its share of them
			done.Go(func() {
				_, err := db.In(t.Context(), d.Tenant(by), func(tx *db.Tx) (string, error) {
					return db.One[string](t.Context(), tx, "select pg_sleep(@seconds)::text", db.Args{"seconds": seconds})
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		for d.Stat().AcquiredConns() < connections {
			time.Sleep(time.Millisecond)
		}
		return done
	}
	done := hold(1)
	if err := d.Ready(t.Context()); err != nil {
		t.Errorf("busy for a second: %v", err)
	}
	done.Wait()
	done = hold(6)
	time.Sleep(2100 * time.Millisecond)
	if err := d.Ready(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "all 4 connections of this process are busy: a statement has been waiting for ") {
		t.Errorf("busy for seconds: %v", err)
	}
	done.Wait()
	if err := d.Ready(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// What only the owner's login can do says which login that is.
func TestTheOwnersLoginIsNamed(t *testing.T) {
	t.Parallel()
	serving := dbtest.Serving(dbtest.OwnURL(t))
	d, err := db.Open(t.Context(), serving, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	_, migrating := db.Migrate(t.Context(), serving)
	for what, err := range map[string]error{
		"verify":  db.Snapshot(t.Context(), d, func(tx pgx.Tx) error { return db.RequireOwner(t.Context(), tx) }),
		"migrate": migrating,
	} {
		if err == nil || !strings.Contains(err.Error(), "got loyalty_app: set LOYALTY_DATABASE_OWNER_URL") {
			t.Errorf("%s: %v, want the login that is needed", what, err)
		}
	}
}
