// Package localpg runs a private PostgreSQL cluster for the product, from the
// binaries installed on the machine, so that a bare clone starts without a
// database server to set up first.
//
// A cluster is protected by its directory: mode 0700, the unix socket inside, no
// TCP. A user who may enter it may log in as anyone, so there is no password to keep.
//
// The process that holds the lock on that directory runs the server, and starts it
// again when it dies or when PostgreSQL is upgraded under it. Others use that server.
// When its process ends, one of those gets the lock and runs the next one.
package localpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Config says where a cluster lies.
type Config struct {
	// Dir is the product's data directory. The cluster lies in its "postgres"
	// or, where PostgreSQL's user cannot reach that, under /var/tmp.
	Dir string
	// Log hears of servers that died or were restarted; nil means slog.Default().
	Log *slog.Logger
}

// Cluster is a PostgreSQL cluster whose server runs until Stop, in this process's
// care or in that of another one.
type Cluster struct {
	machine machine
	root    string
	sockets string
	kind    kind
	log     *slog.Logger

	// Only the goroutine of keep uses these once it runs.
	lock   *os.File // nil: another process runs the server
	server *server

	leave context.CancelFunc // has keep return
	done  chan struct{}      // keep has returned
}

// Start uses the server of a data directory if one runs, and else starts it, making
// the cluster first if need be. The context limits the start, not the life of the server.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	m, err := survey()
	if err != nil {
		return nil, err
	}
	root, err := m.place(ctx, cfg.Dir)
	if err != nil {
		return nil, err
	}
	log := cfg.Log
	if log == nil {
		log = slog.Default()
	}
	return start(ctx, &Cluster{machine: m, root: root, kind: durable, log: log})
}

// Throwaway starts a fresh cluster for tests: in memory where there is room, and
// not protected against crashes. Its owner may create databases, and Stop removes it.
func Throwaway(ctx context.Context) (*Cluster, error) {
	m, err := survey()
	if err != nil {
		return nil, err
	}
	root, err := m.tempDir()
	if err != nil {
		return nil, err
	}
	c, err := start(ctx, &Cluster{machine: m, root: root, kind: throwaway, log: slog.Default()})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	return c, nil
}

// URL is the connection string of the owner's login: no superuser, but the
// owner of the product's database and allowed to create roles.
func (c *Cluster) URL() string { return c.url("loyalty", "loyalty") }

// ServingURL is the connection string of the login that serves: it owns nothing. Migrations
// make it.
func (c *Cluster) ServingURL() string { return c.url("loyalty_app", "loyalty") }

// AdminURL is the connection string of the superuser, for what only
// initialisation and tests may do.
func (c *Cluster) AdminURL(database string) string { return c.url("postgres", database) }

func (c *Cluster) url(login, database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User(login),
		Path:     "/" + database,
		RawQuery: url.Values{"host": {c.sockets}, "port": {port}}.Encode(),
	}
	return u.String()
}

// Dir is where the cluster lies: data, log and, usually, socket.
func (c *Cluster) Dir() string { return c.root }

func (c *Cluster) data() string { return filepath.Join(c.root, "data") }

// Stop shuts the server down if this process runs it. When ctx ends first the
// server is stopped without a checkpoint, and the next start recovers from the log.
func (c *Cluster) Stop(ctx context.Context) (err error) {
	c.leave()
	<-c.done
	if c.lock != nil {
		if c.kind.fleeting {
			c.server.signal(syscall.SIGQUIT)
		}
		err = errors.Join(c.server.stop(ctx), c.lock.Close())
		c.lock = nil
	}
	if c.kind.fleeting {
		err = errors.Join(err, os.RemoveAll(c.root))
	}
	return err
}

func start(ctx context.Context, c *Cluster) (*Cluster, error) {
	if err := c.machine.claim(c.root); err != nil {
		return nil, err
	}
	var err error
	if c.sockets, err = c.machine.socketDir(c.root); err != nil {
		return nil, err
	}
	if err := c.enter(ctx); err != nil {
		return nil, fmt.Errorf("start PostgreSQL in %s: %w", c.root, errors.Join(ctx.Err(), err))
	}
	// The server outlives the caller's context: requests that are under way when a
	// signal ends it still need the database.
	life, leave := context.WithCancel(context.WithoutCancel(ctx))
	c.leave, c.done = leave, make(chan struct{})
	go c.keep(life)
	return c, nil
}

// enter runs the server, or waits until that of another process answers.
func (c *Cluster) enter(ctx context.Context) error {
	for {
		if err := c.takeOver(ctx); !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if conn, err := pgx.Connect(ctx, c.URL()); err == nil {
			return conn.Close(ctx)
		}
		if err := wait(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

// takeOver makes this process the one that runs the server, or fails with
// EWOULDBLOCK while another one is. The system drops the lock of a process
// that dies, however it dies. That it is on the directory itself also keeps
// systemd-tmpfiles, which honours such locks, from deleting it in /var/tmp.
func (c *Cluster) takeOver(ctx context.Context) (err error) {
	if c.lock, err = tryLock(c.root); err != nil {
		return err
	}
	if c.server, err = c.bringUp(ctx); err != nil {
		err = errors.Join(err, c.lock.Close())
		c.lock = nil
	}
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

// look is how often keep looks after the server.
const look = time.Second

// keep looks after the server until Stop.
func (c *Cluster) keep(ctx context.Context) {
	defer close(c.done)
	for wait(ctx, look) == nil {
		if err := c.tend(ctx); err != nil && ctx.Err() == nil {
			c.log.ErrorContext(ctx, "PostgreSQL could not be started", "error", err)
		}
	}
}

// tend runs the server where no process does any more: a short command that happened
// to come first must not take the database away from the others. One that ended, or
// was upgraded, it replaces by another.
func (c *Cluster) tend(ctx context.Context) (err error) {
	switch {
	case c.lock == nil:
		if err = c.takeOver(ctx); errors.Is(err, syscall.EWOULDBLOCK) {
			return nil
		}
		return err
	case c.server.hasEnded():
		c.log.ErrorContext(ctx, "PostgreSQL ended by itself and is started again", "error", c.server.err)
	case c.upgraded():
		c.log.WarnContext(ctx, "PostgreSQL was upgraded under its server, which is restarted")
		_ = c.server.stop(ctx)
	default:
		c.server.boundLog()
		return nil
	}
	c.server = c.launch(ctx)
	return nil
}

func wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}
