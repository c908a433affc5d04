package localpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// No port is opened; the number only names the socket.
const port = "5432"

// kind is how a cluster is made and run.
type kind struct {
	fleeting bool   // removed by Stop
	initdb   string // an argument
	owner    string // what the owner's login may do
	settings map[string]string
}

// common is what every cluster is run with.
var common = map[string]string{
	"jit":      "off", // the statements are short; compiling them takes longer than running them
	"timezone": "UTC",
	// The log must not collect personal data: parameters, and details such as
	// "Key (phone)=(…) already exists", stay out of it.
	"log_error_verbosity":      "terse",
	"log_parameter_max_length": "0",
	// Nothing but the socket, which only its owner may use.
	"listen_addresses":        "",
	"unix_socket_permissions": "0700",
	"port":                    port,
}

// durable suits a machine of a gigabyte or more that also runs the product.
var durable = kind{initdb: "--data-checksums", owner: "createrole", settings: map[string]string{
	"max_connections":            "100",
	"shared_buffers":             "256MB",
	"random_page_cost":           "1.1", // solid-state disks
	"wal_compression":            "on",
	"log_min_duration_statement": "1s",
}}

// throwaway doesn't survive a crash, and serves all packages of a test run at once.
var throwaway = kind{fleeting: true, initdb: "--no-sync", owner: "createrole createdb", settings: map[string]string{
	"max_connections":    "300",
	"shared_buffers":     "128MB",
	"fsync":              "off",
	"synchronous_commit": "off",
	"full_page_writes":   "off",
	"wal_level":          "minimal",
	"max_wal_senders":    "0",
	"checkpoint_timeout": "1h",
	"autovacuum":         "off", // its workers in a template would hold up the cloning
}}

// server is one run of the postgres program.
type server struct {
	cmd    *exec.Cmd
	log    *os.File
	exited chan struct{}
	err    error // why it ended; read it after exited is closed

	program string // that it was started from
	seen    string // … and the one that was installed at the last look
}

// bringUp leads from any state that a crash may have left to a server that answers.
func (c *Cluster) bringUp(ctx context.Context) (*server, error) {
	if err := c.clear(ctx); err != nil {
		return nil, err
	}
	if err := c.initialise(ctx); err != nil {
		return nil, err
	}
	// Backends of a killed server live a moment longer, and PostgreSQL refuses to start
	// beside them.
	for attempt := 1; ; attempt++ {
		s := c.launch(ctx)
		err := c.ready(ctx, s)
		if err == nil {
			return s, nil
		}
		_ = s.stop(ctx)
		if attempt == 5 || wait(ctx, 200*time.Millisecond) != nil {
			return nil, err
		}
	}
}

// clear ends a server that lost the process that started it, as the lock that we hold
// proves: it is shutting down or, on systems other than Linux, runs on. A postmaster.pid
// without a server is of one that was killed. It is removed because its number may now
// be that of another process, which PostgreSQL would mistake for a running server.
// PostgreSQL finds backends that are left by their shared memory, with or without that file.
func (c *Cluster) clear(ctx context.Context) error {
	file := filepath.Join(c.data(), "postmaster.pid")
	for {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "unix", filepath.Join(c.sockets, ".s.PGSQL."+port))
		if err != nil {
			break
		}
		_ = conn.Close()
		if text, err := os.ReadFile(file); err == nil {
			first, _, _ := strings.Cut(string(text), "\n")
			if pid, err := strconv.Atoi(first); err == nil && pid > 1 {
				_ = syscall.Kill(pid, syscall.SIGINT)
			}
		}
		if err := wait(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// initialise makes the cluster's files beside their place and moves them there
// complete, so that a crash in the middle leaves nothing that looks finished.
func (c *Cluster) initialise(ctx context.Context) error {
	if _, err := os.Stat(c.data()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	draft := c.data() + ".new"
	if err := os.RemoveAll(draft); err != nil {
		return err
	}
	args := []string{
		"--pgdata=" + draft, "--username=postgres", "--auth=trust", "--encoding=UTF8",
		"--locale=C.UTF-8", // with plain C, lower() and ilike know no letter beyond z
		"--no-instructions", c.kind.initdb,
	}
	cmd := c.command(ctx, "initdb", args)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := run(cmd, func() {}); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, bytes.TrimSpace(said.Bytes()))
	}
	if err := os.Rename(draft, c.data()); err != nil {
		return err
	}
	return c.lock.Sync() // the new name must survive a power cut as surely as the rows to come
}

// launch starts the server. A start that fails looks like one that ended at once.
func (c *Cluster) launch(ctx context.Context) *server {
	args := []string{"-D", c.data(), "-c", "unix_socket_directories=" + c.sockets}
	for _, settings := range []map[string]string{common, c.kind.settings} {
		for name, value := range settings {
			args = append(args, "-c", name+"="+value)
		}
	}
	s := &server{
		cmd: c.command(context.WithoutCancel(ctx), "postgres", args), exited: make(chan struct{}),
		program: c.program(),
	}

	// The directory belongs to PostgreSQL's user: as root, never write through
	// a link found in it.
	s.log, s.err = os.OpenFile(filepath.Join(c.root, "postgres.log"),
		os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if s.err != nil {
		close(s.exited)
		return s
	}
	s.boundLog()
	before, _ := s.log.Seek(0, io.SeekEnd)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	started := make(chan struct{})
	go func() {
		err := run(s.cmd, func() { close(started) })
		if err == nil {
			err = errors.New("it was shut down by another program")
		}
		s.err = fmt.Errorf("postgres ended: %w\n%s", err, lastLines(s.log, before))
		_ = s.log.Close()
		close(s.exited)
	}()
	<-started
	return s
}

// program tells the installed program from the next one in its place. It is "" where the
// program is missing, say in the middle of an upgrade.
func (c *Cluster) program() string {
	info, err := os.Stat(filepath.Join(c.machine.binFor(c.data()), "postgres"))
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// upgraded reports whether another program is installed than the server was started from, and
// has been since the last look: an upgrade takes a moment. New sessions of the old server load
// libraries that don't fit it.
func (c *Cluster) upgraded() bool {
	now := c.program()
	settled := now != "" && now != c.server.program && now == c.server.seen
	c.server.seen = now
	return settled
}

func (s *server) hasEnded() bool {
	select {
	case <-s.exited:
		return true
	default:
		return false
	}
}

// ready waits until the server answers, and makes what is still missing of the
// owner's login and database.
func (c *Cluster) ready(ctx context.Context, s *server) error {
	const startingUp = "57P03"
	for pause := 2 * time.Millisecond; ; pause = min(pause*3/2, 100*time.Millisecond) {
		conn, err := pgx.Connect(ctx, c.AdminURL("postgres"))
		if err == nil {
			defer conn.Close(ctx)
			return c.createOwner(ctx, conn)
		}
		var refusal *pgconn.PgError
		if errors.As(err, &refusal) && refusal.Code != startingUp {
			return err
		}
		select {
		case <-s.exited:
			return s.err
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// missing are the statements that make what is missing.
const missing = `
	select 'create role loyalty login ' || $1
	where not exists (select from pg_roles where rolname = 'loyalty')
	union all
	select 'create database loyalty owner loyalty'
	where not exists (select from pg_database where datname = 'loyalty')`

func (c *Cluster) createOwner(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, missing, c.kind.owner)
	if err != nil {
		return err
	}
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, statement := range statements {
		_, failed := conn.Exec(ctx, statement)
		err = errors.Join(err, failed)
	}
	return err
}

// stop asks for a fast shutdown (sessions are cut, a checkpoint is made) and waits for
// it. When ctx ends first, the checkpoint is left out.
func (s *server) stop(ctx context.Context) error {
	s.signal(syscall.SIGINT)
	select {
	case <-s.exited:
		return nil
	case <-ctx.Done():
		s.signal(syscall.SIGQUIT)
		<-s.exited
		return fmt.Errorf("PostgreSQL was stopped in a hurry: %w", ctx.Err())
	}
}

func (s *server) signal(sig syscall.Signal) {
	if s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(sig)
	}
}

// boundLog empties a log that has outgrown its use. The server appends to the
// open file, so it may be cut under it.
func (s *server) boundLog() {
	const limit = 16 << 20
	if info, err := s.log.Stat(); err == nil && info.Size() > limit {
		_ = s.log.Truncate(0)
	}
}

func lastLines(log *os.File, since int64) []byte {
	const enough = 2000
	if info, err := log.Stat(); err == nil {
		since = max(since, info.Size()-enough)
	}
	text, _ := io.ReadAll(io.NewSectionReader(log, since, enough))
	return bytes.TrimSpace(text)
}

// command prepares a program of PostgreSQL's to run as its user. The
// environment is ours: PGPORT and its like would lead it astray.
func (c *Cluster) command(ctx context.Context, program string, args []string) *exec.Cmd {
	bin := c.machine.binFor(c.data())
	cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
	cmd.Dir = c.root // the present one may be closed to that user
	cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = processAttributes(c.machine.credential)
	return cmd
}

// run runs a child, and says when it was started. The kernel sends the child its death
// signal when the thread that started it ends, not the process, so that thread is kept
// as long as the child lives.
func run(cmd *exec.Cmd, started func()) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started()
	if err != nil {
		return err
	}
	return cmd.Wait()
}
