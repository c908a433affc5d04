package localpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	isThrowaway bool   // Stop removes it
	shutdown    string // the signal that stops its server
	initdb      string // an argument of the program
	owner       string // attributes of the owner's login
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
	// Keeps the log small: refused statements aren't in it, nor checkpoints.
	"log_min_messages=log",
	"log_checkpoints=off",
	// Only a socket, which only its owner may use.
	"listen_addresses=",
	"unix_socket_permissions=0700",
	"port=" + port,
}

// durable suits a machine with at least a gigabyte of memory that also runs the product. Its
// shutdown ends all sessions and makes a checkpoint.
var durable = kind{shutdown: "INT", initdb: "--data-checksums", owner: "createrole", settings: []string{
	"max_connections=100",
	"shared_buffers=256MB",
	"random_page_cost=1.1", // solid-state disks
	"wal_compression=on",
	"log_min_duration_statement=1s",
}}

// throwaway doesn't survive a crash, and serves all packages of a test run at once.
var throwaway = kind{isThrowaway: true, shutdown: "QUIT", initdb: "--no-sync", owner: "createrole createdb", settings: []string{
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
	input  io.Closer // closed to stop it
	exited chan struct{}
	err    error // why it ended; set before exited is closed
}

// endOrphan waits for a server whose process has ended, which the held lock proves: it is shutting
// down. A postmaster.pid without a server is removed, because its number may now be another
// process's, which PostgreSQL would mistake for a server. PostgreSQL finds remaining backends by
// their shared memory, even without that file.
func (c *Cluster) endOrphan(ctx context.Context) error {
	if conn, err := new(net.Dialer).DialContext(ctx, "unix", filepath.Join(socketDir(c.root), socketFile)); err == nil {
		_ = conn.Close()
		// It fails if the server ends meanwhile.
		_ = c.command(ctx, "pg_ctl", "stop", "--pgdata="+c.data(), "--mode=fast").Run()
	}
	return removeAll(c.data(), "postmaster.pid")
}

// initialise creates the cluster, with the owner's login and database, in another directory and
// renames it when it is complete, so that a crash leaves nothing that looks complete.
func (c *Cluster) initialise(ctx context.Context) error {
	if exists(c.data()) {
		return nil
	}
	if err := removeAll(c.root, draftDir); err != nil {
		return err
	}
	draft := filepath.Join(c.root, draftDir)
	create := c.command(ctx, "initdb", "--pgdata="+draft, "--username=postgres", "--auth=trust", "--encoding=UTF8",
		"--locale=C.UTF-8", // with C, lower() and ilike handle only ASCII letters
		"--no-instructions", c.kind.initdb)
	fill := c.command(ctx, "postgres", "--single", "-D", draft, "-c", "exit_on_error=on", "postgres")
	fill.Stdin = strings.NewReader("create role loyalty login " + c.kind.owner + "\ncreate database loyalty owner loyalty\n")
	for _, cmd := range []*exec.Cmd{create, fill} {
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, bytes.TrimSpace(output))
		}
	}
	if err := os.Rename(draft, c.data()); err != nil {
		return err
	}
	return c.lock.Sync() // the new name must survive a power failure, like the data written later
}

// untilInputEnds runs a program until standard input ends, and then sends it a signal. The system ends
// the input when this process is killed, so no server is left. The shell that waits for it ignores signals
// that all processes of a service get: PostgreSQL would take its end for a crash.
const untilInputEnds = `exec 3<&0; { trap "" HUP TERM; read -r _ <&3; kill -s "$0" $$; } 2>/dev/null & exec "$@" </dev/null 3<&-`

// launch starts the server, with an empty log.
func (c *Cluster) launch(ctx context.Context) (*server, error) {
	args := []string{"-c", untilInputEnds, c.kind.shutdown, "postgres", "-D", c.data(), "-c", "unix_socket_directories=" + socketDir(c.root)}
	for _, setting := range append(commonSettings, c.kind.settings...) {
		args = append(args, "-c", setting)
	}
	// PostgreSQL's user could put a link there, so root must not follow one.
	log, err := os.OpenFile(filepath.Join(c.root, logFile), os.O_CREATE|os.O_RDWR|os.O_APPEND|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	s := &server{cmd: c.command(context.WithoutCancel(ctx), "/bin/sh", args...), exited: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if s.input, err = s.cmd.StdinPipe(); err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		err := s.cmd.Wait()
		if err == nil {
			err = errors.New("another program shut it down")
		}
		s.err = fmt.Errorf("postgres ended: %w\n%s", err, lastLines(log))
		_ = log.Close()
		close(s.exited)
	}()
	return s, nil
}

func (s *server) hasEnded() bool {
	select {
	case <-s.exited:
		return true
	default:
		return false
	}
}

// stop shuts the server down, and waits for it. If ctx ends first, the checkpoint is skipped.
func (s *server) stop(ctx context.Context) error {
	_ = s.input.Close()
	select {
	case <-s.exited:
		return nil
	case <-ctx.Done():
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
		<-s.exited
		return fmt.Errorf("PostgreSQL was stopped without a checkpoint: %w", ctx.Err())
	}
}

func lastLines(log *os.File) []byte {
	const limit = 2000
	text, _ := io.ReadAll(io.NewSectionReader(log, 0, 16<<20))
	return bytes.TrimSpace(text[max(0, len(text)-limit):])
}

// command prepares a program, of PostgreSQL unless it has a path, to run as PostgreSQL's user: in its own
// process group, so that Ctrl-C doesn't stop the database before requests have ended. Its environment is
// empty but for two variables, so that PGPORT and others have no effect.
func (c *Cluster) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	bin := c.machine.binFor(c.data())
	if !filepath.IsAbs(program) {
		program = filepath.Join(bin, program)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = c.root // that user may have no access to the current directory
	cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.machine.credential, Setpgid: true}
	return cmd
}
