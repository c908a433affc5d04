package localpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// No port is opened; the number only names the socket.
const port = "5432"

// common holds what every cluster is run with.
var common = map[string]string{
	"jit":      "off", // the statements are short; compiling them takes longer than running them
	"timezone": "UTC",
	// The log must not collect personal data: parameters, and details such as
	// "Key (phone)=(…) already exists", stay out of it.
	"log_error_verbosity":      "terse",
	"log_parameter_max_length": "0",
}

// durable suits a machine of a gigabyte or more that also runs the product.
var durable = map[string]string{
	"max_connections":            "100",
	"shared_buffers":             "256MB",
	"random_page_cost":           "1.1", // solid-state disks
	"wal_compression":            "on",
	"log_min_duration_statement": "1s",
}

// fleeting gives up every promise about crashes, and serves all packages of a
// test run at once.
var fleeting = map[string]string{
	"max_connections":    "300",
	"shared_buffers":     "128MB",
	"fsync":              "off",
	"synchronous_commit": "off",
	"full_page_writes":   "off",
	"wal_level":          "minimal",
	"max_wal_senders":    "0",
	"checkpoint_timeout": "1h",
	"autovacuum":         "off", // its workers in a template would hold up the cloning
}

func settings(kind, extra map[string]string) map[string]string {
	all := maps.Clone(common)
	maps.Copy(all, kind)
	maps.Copy(all, extra)
	return all
}

// server is one run of the postgres program.
type server struct {
	cmd    *exec.Cmd
	log    *os.File
	exited chan struct{}
	err    error // why it ended; read it after exited is closed

	programs string // fingerprint of those it was started from
	seen     string // … and of those installed at the last look
}

// bringUp leads from any state a crash may have left to a server that answers.
func (c *Cluster) bringUp(ctx context.Context) (*server, error) {
	if err := c.clear(ctx); err != nil {
		return nil, err
	}
	if err := c.initialise(ctx); err != nil {
		return nil, err
	}
	// Backends of a killed server live a moment longer, and PostgreSQL refuses
	// to start beside them.
	for pause := firstPause; ; pause *= 2 {
		s := c.launch(ctx)
		err := c.ready(ctx, s)
		if err == nil {
			return s, nil
		}
		s.stop()
		if pause > 8*firstPause {
			return nil, err
		}
		if err := wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// clear ends a server whose starter is gone, as the lock in our hands proves:
// it is on its way out or, where the system cannot tie it to its starter, left
// behind. With nobody listening, postmaster.pid tells of a server that was
// killed; it goes because its number may by now belong to an innocent process,
// which PostgreSQL would take for a running server. Leftover backends it finds
// by their shared memory, with or without that file.
func (c *Cluster) clear(ctx context.Context) error {
	file := filepath.Join(c.data(), "postmaster.pid")
	for c.listening(ctx) {
		if pid, err := readPID(file); err == nil {
			_ = syscall.Kill(pid, syscall.SIGINT)
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

func (c *Cluster) listening(ctx context.Context) bool {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", filepath.Join(c.sockets, ".s.PGSQL."+port))
	if err == nil {
		_ = conn.Close()
	}
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ECONNREFUSED)
}

func readPID(file string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return strconv.Atoi(string(first))
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
		"--no-instructions",
	}
	if c.throwaway {
		args = append(args, "--no-sync")
	} else {
		args = append(args, "--data-checksums")
	}
	cmd := c.command(ctx, "initdb", args)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := <-run(cmd); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, bytes.TrimSpace(said.Bytes()))
	}
	if err := os.Rename(draft, c.data()); err != nil {
		return err
	}
	return c.lock.Sync() // the new name must survive a power cut as surely as the rows to come
}

// launch starts the server. A start that fails looks like one that ended at once.
func (c *Cluster) launch(ctx context.Context) *server {
	args := []string{"-D", c.data()}
	for name, value := range c.settings {
		args = append(args, "-c", name+"="+value)
	}
	args = append(args, "-c", "listen_addresses=", "-c", "unix_socket_directories="+c.sockets,
		"-c", "unix_socket_permissions=0700", "-c", "port="+port)
	s := &server{
		cmd: c.command(ctx, "postgres", args), exited: make(chan struct{}),
		programs: fingerprint(c.machine.binFor(c.data())),
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
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGQUIT) }
	ended := run(s.cmd)
	go func() {
		err := <-ended
		if err == nil {
			err = errors.New("shut down by somebody else")
		}
		s.err = fmt.Errorf("postgres ended: %w\n%s", err, lastLines(s.log, before))
		_ = s.log.Close()
		close(s.exited)
	}()
	return s
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

func (c *Cluster) createOwner(ctx context.Context, conn *pgx.Conn) error {
	var role, database bool
	err := conn.QueryRow(ctx, `
		select
			exists (select from pg_roles where rolname = 'loyalty'),
			exists (select from pg_database where datname = 'loyalty')`).Scan(&role, &database)
	if err != nil {
		return err
	}
	if !role {
		may := "createrole"
		if c.throwaway {
			may = "createrole createdb"
		}
		if _, err := conn.Exec(ctx, "create role loyalty login "+may); err != nil {
			return err
		}
	}
	if !database {
		if _, err := conn.Exec(ctx, "create database loyalty owner loyalty"); err != nil {
			return err
		}
	}
	return nil
}

// stop asks for a fast shutdown (sessions are cut, a checkpoint is made) and
// waits for it.
func (s *server) stop() {
	if s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(syscall.SIGINT)
	}
	<-s.exited
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

// run starts a child and returns; the channel tells how it ended. The kernel
// sends the child its death signal when the thread that started it ends, not
// the process, so that thread is kept as long as the child lives.
func run(cmd *exec.Cmd) <-chan error {
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		close(started)
		if err == nil {
			err = cmd.Wait()
		}
		ended <- err
	}()
	<-started
	return ended
}
