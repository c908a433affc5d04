// Package localpg runs a private PostgreSQL cluster from the programs installed on the machine, so
// that a fresh clone starts without a database server to set up.
//
// A cluster is protected by its directory: it has mode 0700 and contains the Unix socket, and there
// is no TCP port. Users who can enter it can log in as anyone, so there are no passwords.
//
// The process that holds the lock on the directory runs the server, and restarts it when it dies.
// Other processes use that server. When its process ends, another one gets the lock and runs the
// next server.
package localpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Cluster is a PostgreSQL cluster. Until Stop, this process or another one keeps its server running.
type Cluster struct {
	machine machine
	root    string
	kind    kind
	log     *slog.Logger

	// Used by the goroutine of keepRunning alone, until it has ended.
	lock   *os.File // nil: another process runs the server
	server *server  // nil: not started yet

	end   context.CancelFunc // ends keepRunning
	ended chan struct{}      // closed when it has ended
}

// Start joins the running server of a data directory, or starts one and creates the cluster if
// needed: in the subdirectory "postgres" or, if PostgreSQL's user can't reach that, in /var/tmp. ctx
// limits the start; the server runs until Stop. log receives messages about servers that died. Settings are those of postgresql.conf, and
// replace the usual ones.
func Start(ctx context.Context, dir string, log *slog.Logger, settings ...string) (*Cluster, error) {
	m, err := inspect()
	if err != nil {
		return nil, err
	}
	root, err := m.clusterDir(ctx, dir)
	if err != nil {
		return nil, err
	}
	k := durable
	k.settings = slices.Concat(k.settings, settings)
	return start(ctx, &Cluster{machine: m, root: root, kind: k, log: log})
}

// Throwaway starts an empty cluster for tests: in memory if there is room, and not protected against
// crashes. Its owner may create databases. Stop removes it.
func Throwaway(ctx context.Context) (*Cluster, error) {
	m, err := inspect()
	if err != nil {
		return nil, err
	}
	root, err := throwawayDir()
	if err != nil {
		return nil, err
	}
	c, err := start(ctx, &Cluster{machine: m, root: root, kind: throwaway, log: slog.Default()})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	return c, nil
}

// URL returns the connection string of the owner's login, which owns the product's database and may
// create roles, but is no superuser.
func (c *Cluster) URL() string { return c.url("loyalty", "loyalty") }

// ServingURL returns the connection string of the login that serves, which owns nothing and is
// created by a migration.
func (c *Cluster) ServingURL() string { return c.url("loyalty_app", "loyalty") }

// AdminURL returns the connection string of the superuser, for initialisation and tests.
func (c *Cluster) AdminURL(database string) string { return c.url("postgres", database) }

func (c *Cluster) url(login, database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User(login),
		Path:     "/" + database,
		RawQuery: url.Values{"host": {socketDir(c.root)}, "port": {port}}.Encode(),
	}
	return u.String()
}

// Dir returns the directory of the cluster's data and log and, usually, its socket.
func (c *Cluster) Dir() string { return c.root }

func (c *Cluster) data() string { return filepath.Join(c.root, dataDir) }

// Stop shuts the server down if this process runs it. If ctx ends first, it is stopped without a
// checkpoint, and the next start recovers from the log.
func (c *Cluster) Stop(ctx context.Context) error {
	c.end()
	<-c.ended
	err := c.stopServer(ctx)
	if c.kind.isThrowaway {
		err = errors.Join(err, os.RemoveAll(c.root))
	}
	return err
}

func (c *Cluster) stopServer(ctx context.Context) (err error) {
	if c.server != nil {
		err = c.server.stop(ctx)
	}
	if c.lock != nil {
		err = errors.Join(err, c.lock.Close())
		c.lock = nil
	}
	return err
}

func start(ctx context.Context, c *Cluster) (*Cluster, error) {
	if err := errors.Join(c.machine.makePrivateDir(c.root), c.machine.makePrivateDir(socketDir(c.root))); err != nil {
		return nil, err
	}
	if err := c.waitUntilReady(ctx); err != nil {
		_ = c.stopServer(ctx)
		return nil, fmt.Errorf("start PostgreSQL in %s: %w", c.root, errors.Join(ctx.Err(), err))
	}
	// The server outlives the caller's context: when a signal ends that, requests in progress still
	// need the database.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	c.end, c.ended = end, make(chan struct{})
	go c.keepRunning(life)
	return c, nil
}

// waitUntilReady waits until a server answers: this process's or another one's. Backends of a killed
// server end a moment later, and PostgreSQL doesn't start before that, so it tries several times.
func (c *Cluster) waitUntilReady(ctx context.Context) error {
	const startingUp = "57P03" // or shutting down
	for failures := 0; ; {
		if c.server != nil && c.server.hasEnded() {
			if failures++; failures > 5 || sleep(ctx, 200*time.Millisecond) != nil {
				return c.server.err
			}
		}
		if err := c.run(ctx); err != nil {
			return err
		}
		conn, err := pgx.Connect(ctx, c.URL())
		if err == nil {
			return conn.Close(ctx)
		}
		var refusal *pgconn.PgError
		if errors.As(err, &refusal) && refusal.Code != startingUp {
			return err
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

// run starts the server, unless it runs or another process has the lock and so runs it. The system
// releases the lock of a process that dies. A lock on the directory itself also keeps
// systemd-tmpfiles from deleting it in /var/tmp.
func (c *Cluster) run(ctx context.Context) (err error) {
	if c.server != nil && !c.server.hasEnded() {
		return nil
	}
	if c.lock == nil {
		if c.lock, err = tryLock(c.root); err != nil {
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil
			}
			return err
		}
		if err := errors.Join(c.endOrphan(ctx), c.initialise(ctx)); err != nil {
			return errors.Join(err, c.stopServer(ctx))
		}
	}
	c.server, err = c.launch(ctx)
	return err
}

func tryLock(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// keepRunning starts a server that ended again, within a second, until Stop. If the process that ran
// it has ended, this one runs the next server: a short command that started first must not take the
// database away from a server process.
func (c *Cluster) keepRunning(ctx context.Context) {
	defer close(c.ended)
	for sleep(ctx, time.Second) == nil {
		if c.server != nil && c.server.hasEnded() {
			c.log.ErrorContext(ctx, "PostgreSQL ended by itself and is being restarted", "error", c.server.err)
		}
		if err := c.run(ctx); err != nil && ctx.Err() == nil {
			c.log.ErrorContext(ctx, "PostgreSQL could not be started", "error", err)
		}
	}
}

// sleep waits until d has passed or ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
