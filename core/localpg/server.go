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
	"syscall"
)

// port only names the socket; no TCP port is opened.
const port = "5432"

// What is in the directory of a cluster.
const (
	dataDir    = "data"
	draftDir   = dataDir + ".new" // while it is created or deleted
	logFile    = "postgres.log"
	socketFile = ".s.PGSQL." + port
)

// kind is how a cluster is created and run.
type kind struct {
	isThrowaway bool           // Stop removes it
	shutdown    syscall.Signal // how its server is stopped
	initdb      string         // an argument of the program
	owner       string         // attributes of the owner's login
	settings    []string
}

// commonSettings apply to every cluster.
var commonSettings = []string{
	"jit=off", // compiling a short statement takes longer than running it
	"timezone=UTC",
	// Keeps personal data out of the log: parameters, and details such as "Key (phone)=(…) already
	// exists".
	"log_error_verbosity=terse",
	"log_parameter_max_length=0",
	// Only a socket, which only its owner may use.
	"listen_addresses=",
	"unix_socket_permissions=0700",
	"port=" + port,
}

// durable suits a machine with at least a gigabyte of memory that also runs the product. Its
// shutdown ends all sessions and makes a checkpoint.
var durable = kind{shutdown: syscall.SIGINT, initdb: "--data-checksums", owner: "createrole", settings: []string{
	"max_connections=100",
	"shared_buffers=256MB",
	"random_page_cost=1.1", // solid-state disks
	"wal_compression=on",
	"log_min_duration_statement=1s",
}}

// throwaway doesn't survive a crash, and serves all packages of a test run at once.
var throwaway = kind{isThrowaway: true, shutdown: syscall.SIGQUIT, initdb: "--no-sync", owner: "createrole createdb", settings: []string{
	"max_connections=300",
	"shared_buffers=128MB",
	"fsync=off",
	"synchronous_commit=off",
	"full_page_writes=off",
	"wal_level=minimal",
	"max_wal_senders=0",
	"checkpoint_timeout=1h",
	"autovacuum=off", // a worker in a template database would block copying it
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

// endOrphan ends a server whose process has ended, which the held lock proves: it is shutting down
// or, on systems other than Linux, still running. A postmaster.pid without a server is removed,
// because its number may now be another process's, which PostgreSQL would mistake for a server.
// PostgreSQL finds remaining backends by their shared memory, even without that file.
func (c *Cluster) endOrphan(ctx context.Context) error {
	if conn, err := new(net.Dialer).DialContext(ctx, "unix", filepath.Join(c.sockets, socketFile)); err == nil {
		_ = conn.Close()
		// It fails if the server ends meanwhile.
		_ = c.command(ctx, "pg_ctl", "stop", "--pgdata="+c.data(), "--mode=fast").Run()
	}
	if err := os.Remove(filepath.Join(c.data(), "postmaster.pid")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// initialise creates the cluster in another directory and renames it when it is complete, so that a
// crash leaves nothing that looks complete.
func (c *Cluster) initialise(ctx context.Context) error {
	if exists(c.data()) {
		return nil
	}
	draft := filepath.Join(c.root, draftDir)
	if err := os.RemoveAll(draft); err != nil {
		return err
	}
	runtime.LockOSThread() // see launch
	defer runtime.UnlockOSThread()
	output, err := c.command(ctx, "initdb", "--pgdata="+draft, "--username=postgres", "--auth=trust", "--encoding=UTF8",
		"--locale=C.UTF-8", // with C, lower() and ilike handle only ASCII letters
		"--no-instructions", c.kind.initdb).CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, bytes.TrimSpace(output))
	}
	if err := os.Rename(draft, c.data()); err != nil {
		return err
	}
	return c.lock.Sync() // the new name must survive a power failure, like the data written later
}

// launch starts the server, with an empty log.
func (c *Cluster) launch(ctx context.Context) (*server, error) {
	args := []string{"-D", c.data(), "-c", "unix_socket_directories=" + c.sockets}
	for _, setting := range append(commonSettings, c.kind.settings...) {
		args = append(args, "-c", setting)
	}
	// PostgreSQL's user could put a link there, so root must not follow one.
	log, err := os.OpenFile(filepath.Join(c.root, logFile), os.O_CREATE|os.O_RDWR|os.O_APPEND|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	s := &server{cmd: c.command(context.WithoutCancel(ctx), "postgres", args...), log: log, exited: make(chan struct{}), program: c.program()}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	started := make(chan error)
	go func() {
		// The kernel sends the child its death signal when the thread that started it ends, so the
		// thread is kept until the child ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		if err = s.cmd.Wait(); err == nil {
			err = errors.New("another program shut it down")
		}
		s.err = fmt.Errorf("postgres ended: %w\n%s", err, lastLines(log))
		_ = log.Close()
		close(s.exited)
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return s, nil
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

// stop shuts the server down by a signal, and waits for it. If ctx ends first, the checkpoint is
// skipped.
func (s *server) stop(ctx context.Context, shutdown syscall.Signal) error {
	_ = s.cmd.Process.Signal(shutdown)
	select {
	case <-s.exited:
		return nil
	case <-ctx.Done():
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
		<-s.exited
		return fmt.Errorf("PostgreSQL was stopped without a checkpoint: %w", ctx.Err())
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

func lastLines(log *os.File) []byte {
	const limit = 2000
	text, _ := io.ReadAll(io.NewSectionReader(log, 0, 16<<20))
	return bytes.TrimSpace(text[max(0, len(text)-limit):])
}

// command prepares a PostgreSQL program to run as its user. Its environment is empty but for two
// variables, so that PGPORT and others have no effect.
func (c *Cluster) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	bin := c.machine.binFor(c.data())
	cmd := exec.CommandContext(ctx, filepath.Join(bin, program), args...)
	cmd.Dir = c.root // that user may have no access to the current directory
	cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = processAttributes(c.machine.credential)
	return cmd
}
