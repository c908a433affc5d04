// Package localpg runs a private PostgreSQL cluster for the product, from the
// binaries installed on the machine, so that a bare clone starts without a
// database server to set up first.
//
// The wall around a cluster is its directory: mode 0700, the unix socket
// inside, no TCP. Whoever may enter it may log in as anyone, so there is no
// password to keep.
//
// One process, the holder of the lock on that directory, runs the server;
// others join it, and one of them takes over when the holder ends. It starts the
// server again when that dies, and when PostgreSQL is upgraded under it.
package localpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Config says where a cluster lies and how it is run.
type Config struct {
	// Dir is the product's data directory. The cluster lies in its "postgres"
	// or, where PostgreSQL's user cannot reach that, under /var/tmp.
	Dir string
	// Settings are given to the server on top of the package's own.
	Settings map[string]string
	// Log hears of servers that died or were restarted; nil means slog.Default().
	Log *slog.Logger
}

// Cluster is a PostgreSQL cluster that runs until Stop, in this process's care
// or in that of another one it joined.
type Cluster struct {
	machine   machine
	root      string
	sockets   string
	settings  map[string]string
	throwaway bool
	look      time.Duration // at the programs, each time
	log       *slog.Logger

	// Only the goroutine of keep touches these once it runs.
	lock   *os.File
	server *server

	mine  atomic.Bool
	leave func()        // closes left
	left  chan struct{} // nobody here needs the server any more
	kill  func()        // ends the server without its farewell
	done  chan struct{} // keep has returned
}

// Start joins the cluster of a data directory if it runs, and else starts it,
// making it first if need be. The context limits the start, not the life of
// the server.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	return startLooking(ctx, cfg, lookForUpgrade)
}

// startLooking is Start that looks for upgrades so often.
func startLooking(ctx context.Context, cfg Config, every time.Duration) (*Cluster, error) {
	m, err := survey()
	if err != nil {
		return nil, err
	}
	root, err := m.place(ctx, cfg.Dir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{machine: m, root: root, settings: settings(durable, cfg.Settings), look: every, log: cfg.Log}
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Throwaway starts a fresh cluster for tests: in memory where there is room,
// without a thought for crashes. Its owner may create databases, and Stop
// removes it.
func Throwaway(ctx context.Context) (*Cluster, error) {
	m, err := survey()
	if err != nil {
		return nil, err
	}
	root, err := m.tempDir()
	if err != nil {
		return nil, err
	}
	c := &Cluster{machine: m, root: root, settings: settings(fleeting, nil), throwaway: true, look: lookForUpgrade}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(root))
	}
	return c, nil
}

// URL is the connection string of the owner's login: no superuser, but the
// owner of the product's database and allowed to create roles.
func (c *Cluster) URL() string {
	return c.url("loyalty", "loyalty")
}

// ServingURL is the connection string of the login that serves: it owns nothing. Migrations
// make it.
func (c *Cluster) ServingURL() string {
	return c.url("loyalty_app", "loyalty")
}

// AdminURL is the connection string of the superuser, for what only
// initialisation and tests may do.
func (c *Cluster) AdminURL(database string) string {
	return c.url("postgres", database)
}

// Dir is where the cluster lies: data, log and, usually, socket.
func (c *Cluster) Dir() string {
	return c.root
}

// Joined reports whether another process runs the server. It turns false when
// that process ends and this one takes over.
func (c *Cluster) Joined() bool {
	return !c.mine.Load()
}

// Stop shuts the server down if this process runs it; a joined one it only
// leaves. When ctx ends first the server is stopped without a checkpoint, and
// the next start recovers from the log.
func (c *Cluster) Stop(ctx context.Context) error {
	defer c.kill()
	c.leave()
	if c.throwaway {
		c.kill()
	}
	var err error
	select {
	case <-c.done:
	case <-ctx.Done():
		err = fmt.Errorf("PostgreSQL was stopped in a hurry: %w", ctx.Err())
		c.kill()
		<-c.done
	}
	if c.throwaway {
		err = errors.Join(err, os.RemoveAll(c.root))
	}
	return err
}

func (c *Cluster) url(login, database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User(login),
		Path:     "/" + database,
		RawQuery: url.Values{"host": {c.sockets}, "port": {port}}.Encode(),
	}
	return u.String()
}

func (c *Cluster) data() string {
	return filepath.Join(c.root, "data")
}

func (c *Cluster) start(ctx context.Context) error {
	if c.log == nil {
		c.log = slog.Default()
	}
	if err := c.machine.claim(c.root); err != nil {
		return err
	}
	var err error
	if c.sockets, err = c.machine.socketDir(c.root); err != nil {
		return err
	}
	c.done, c.left = make(chan struct{}), make(chan struct{})
	c.leave = sync.OnceFunc(func() { close(c.left) })

	// The server outlives the caller's context: requests still drain when the
	// signal that ended it has come.
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	c.kill = kill
	inTime := context.AfterFunc(ctx, kill)
	err = c.enter(life)
	if !inTime() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		kill()
		if c.server != nil { // it came up just as the caller gave up
			<-c.server.exited
			_ = c.lock.Close()
		}
		return fmt.Errorf("start PostgreSQL in %s: %w", c.root, err)
	}
	go c.keep(life)
	return nil
}

// enter runs the server if nobody does, and else waits until it answers.
func (c *Cluster) enter(ctx context.Context) error {
	for {
		err := c.takeOver(ctx)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
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
// systemd-tmpfiles, which honours such locks, from tidying /var/tmp away.
func (c *Cluster) takeOver(ctx context.Context) error {
	lock, err := tryLock(c.root)
	if err != nil {
		return err
	}
	c.lock = lock
	if c.server, err = c.bringUp(ctx); err != nil {
		return errors.Join(err, lock.Close())
	}
	c.mine.Store(true)
	return nil
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

const (
	firstPause = 50 * time.Millisecond
	lastPause  = 30 * time.Second
)

// keep starts the server again whenever it ends by itself, until Stop.
func (c *Cluster) keep(ctx context.Context) {
	defer close(c.done)
	if c.Joined() && !c.inherit(ctx) {
		return
	}
	defer func() { _ = c.lock.Close() }()
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	upgrade := time.NewTicker(c.look)
	defer upgrade.Stop()
	pause := firstPause
	for {
		select {
		case <-c.left:
			c.server.stop()
			return
		case <-upgrade.C:
			if c.upgraded() {
				c.log.WarnContext(ctx, "PostgreSQL was upgraded under its server, which is restarted")
				c.server.stop()
				c.server = c.launch(ctx)
			}
		case <-minute.C:
			pause = firstPause
			c.server.boundLog()
		case <-c.server.exited:
			if !c.rest(pause) {
				return
			}
			pause = min(2*pause, lastPause)
			c.log.ErrorContext(ctx, "PostgreSQL ended by itself and is started again", "error", c.server.err)
			c.server = c.launch(ctx)
		}
	}
}

// inherit waits until the process that runs the server ends, and takes over: a
// short command that happened to come first must not take the database away
// from a server that joined it.
func (c *Cluster) inherit(ctx context.Context) bool {
	for c.rest(100 * time.Millisecond) {
		err := c.takeOver(ctx)
		if err == nil {
			return true
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			c.log.ErrorContext(ctx, "PostgreSQL could not be taken over", "error", err)
		}
	}
	return false
}

// rest reports whether the cluster is still wanted after a pause.
func (c *Cluster) rest(pause time.Duration) bool {
	select {
	case <-c.left:
		return false
	case <-time.After(pause):
		return true
	}
}

func wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}
