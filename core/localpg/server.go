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

// port only names the socket; no TCP port is opened.
const port = "5432"

// kind is how a cluster is created and run.
type kind struct {
	isThrowaway bool   // Stop removes it
	initdb      string // an argument of the program
	owner       string // attributes of the owner's login
	settings    map[string]string
}

// commonSettings apply to every cluster.
var commonSettings = map[string]string{
	"jit":      "off", // compiling a short statement takes longer than running it
	"timezone": "UTC",
	// Keeps personal data out of the log: parameters, and details such as "Key (phone)=(…) already
	// exists".
	"log_error_verbosity":      "terse",
	"log_parameter_max_length": "0",
	// Only a socket, which only its owner may use.
	"listen_addresses":        "",
	"unix_socket_permissions": "0700",
	"port":                    port,
}

// durable suits a machine with at least a gigabyte of memory that also runs the product.
var durable = kind{initdb: "--data-checksums", owner: "createrole", settings: map[string]string{
	"max_connections":            "100",
	"shared_buffers":             "256MB",
	"random_page_cost":           "1.1", // solid-state disks
	"wal_compression":            "on",
	"log_min_duration_statement": "1s",
}}

// throwaway doesn't survive a crash, and serves all packages of a test run at once.
var throwaway = kind{isThrowaway: true, initdb: "--no-sync", owner: "createrole createdb", settings: map[string]string{
	"max_connections":    "300",
	"shared_buffers":     "128MB",
	"fsync":              "off",
	"synchronous_commit": "off",
	"full_page_writes":   "off",
	"wal_level":          "minimal",
	"max_wal_senders":    "0",
	"checkpoint_timeout": "1h",
	"autovacuum":         "off", // a worker in a template database would block copying it
}}

// server is one run of the postgres program.
type server struct {
	cmd    *exec.Cmd
	log    *os.File
	exited chan struct{}
	err    error // why it ended; set before exited is closed

	program string // the program that was started (Cluster.program)
	latest  string // the installed program at the last check
}

// startServer starts a server that answers, whatever a crash has left behind.
func (c *Cluster) startServer(ctx context.Context) (*server, error) {
	if err := c.endOrphan(ctx); err != nil {
		return nil, err
	}
	if err := c.initialise(ctx); err != nil {
		return nil, err
	}
	// Backends of a killed server end a moment later, and PostgreSQL doesn't start before that.
	for attempt := 1; ; attempt++ {
		s := c.launch(ctx)
		err := c.waitUntilReady(ctx, s)
		if err == nil {
			return s, nil
		}
		_ = s.stop(ctx)
		if attempt == 5 || sleep(ctx, 200*time.Millisecond) != nil {
			return nil, err
		}
	}
}

// endOrphan ends a server whose process has ended, which the held lock proves: it is shutting down
// or, on systems other than Linux, still running. A postmaster.pid without a server is removed,
// because its number may now be another process's, which PostgreSQL would mistake for a server.
// PostgreSQL finds remaining backends by their shared memory, even without that file.
func (c *Cluster) endOrphan(ctx context.Context) error {
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
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// initialise creates the cluster in another directory and renames it when it is complete, so that a
// crash leaves nothing that looks complete.
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
		"--locale=C.UTF-8", // with C, lower() and ilike handle only ASCII letters
		"--no-instructions", c.kind.initdb,
	}
	cmd := c.command(ctx, "initdb", args)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := runCommand(cmd, func() {}); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, bytes.TrimSpace(output.Bytes()))
	}
	if err := os.Rename(draft, c.data()); err != nil {
		return err
	}
	return c.lock.Sync() // the new name must survive a power failure, like the data written later
}

// launch starts the server. If that fails, the server counts as ended.
func (c *Cluster) launch(ctx context.Context) *server {
	args := []string{"-D", c.data(), "-c", "unix_socket_directories=" + c.sockets}
	for _, settings := range []map[string]string{commonSettings, c.kind.settings} {
		for name, value := range settings {
			args = append(args, "-c", name+"="+value)
		}
	}
	s := &server{
		cmd: c.command(context.WithoutCancel(ctx), "postgres", args), exited: make(chan struct{}),
		program: c.program(),
	}

	// PostgreSQL's user could put a link there, so root must not follow one.
	s.log, s.err = os.OpenFile(filepath.Join(c.root, "postgres.log"),
		os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if s.err != nil {
		close(s.exited)
		return s
	}
	s.truncateLog()
	before, _ := s.log.Seek(0, io.SeekEnd)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	started := make(chan struct{})
	go func() {
		err := runCommand(s.cmd, func() { close(started) })
		if err == nil {
			err = errors.New("another program shut it down")
		}
		s.err = fmt.Errorf("postgres ended: %w\n%s", err, lastLines(s.log, before))
		_ = s.log.Close()
		close(s.exited)
	}()
	<-started
	return s
}

// program identifies the installed program by size and time. It returns "" while the program is
// missing, for example during an upgrade.
func (c *Cluster) program() string {
	info, err := os.Stat(filepath.Join(c.machine.binFor(c.data()), "postgres"))
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// isUpgraded reports whether the installed program differs from the running one and was the same at
// the last check, because an upgrade takes a moment. New sessions of the old server would load
// libraries that don't match.
func (c *Cluster) isUpgraded() bool {
	installed := c.program()
	isComplete := installed != "" && installed != c.server.program && installed == c.server.latest
	c.server.latest = installed
	return isComplete
}

func (s *server) hasEnded() bool {
	select {
	case <-s.exited:
		return true
	default:
		return false
	}
}

// waitUntilReady waits until the server answers, and creates the owner's login and database if they
// are missing.
func (c *Cluster) waitUntilReady(ctx context.Context, s *server) error {
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

// missingObjects returns the statements that create what is missing.
const missingObjects = `
	select 'create role loyalty login ' || $1
	where not exists (select from pg_roles where rolname = 'loyalty')
	union all
	select 'create database loyalty owner loyalty'
	where not exists (select from pg_database where datname = 'loyalty')`

func (c *Cluster) createOwner(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, missingObjects, c.kind.owner)
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

// stop requests a fast shutdown, which ends all sessions and makes a checkpoint, and waits for it. If
// ctx ends first, the checkpoint is skipped.
func (s *server) stop(ctx context.Context) error {
	s.signal(syscall.SIGINT)
	select {
	case <-s.exited:
		return nil
	case <-ctx.Done():
		s.signal(syscall.SIGQUIT)
		<-s.exited
		return fmt.Errorf("PostgreSQL was stopped without a checkpoint: %w", ctx.Err())
	}
}

func (s *server) signal(sig syscall.Signal) {
	if s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(sig)
	}
}

// truncateLog empties a log that has grown too large. The server appends to the open file, so it may
// be truncated at any time.
func (s *server) truncateLog() {
	const limit = 16 << 20
	if info, err := s.log.Stat(); err == nil && info.Size() > limit {
		_ = s.log.Truncate(0)
	}
}

func lastLines(log *os.File, since int64) []byte {
	const limit = 2000
	if info, err := log.Stat(); err == nil {
		since = max(since, info.Size()-limit)
	}
	text, _ := io.ReadAll(io.NewSectionReader(log, since, limit))
	return bytes.TrimSpace(text)
}

// command prepares a PostgreSQL program to run as its user. Its environment is empty but for two
// variables, so that PGPORT and others have no effect.
func (c *Cluster) command(ctx context.Context, program string, args []string) *exec.Cmd {
	bin := c.machine.binFor(c.data())
	cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
	cmd.Dir = c.root // that user may have no access to the current directory
	cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = processAttributes(c.machine.credential)
	return cmd
}

// runCommand runs a child process and calls started when it has started. The kernel sends the child
// its death signal when the thread that started it ends, so the thread is kept until the child ends.
func runCommand(cmd *exec.Cmd, started func()) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started()
	if err != nil {
		return err
	}
	return cmd.Wait()
}
