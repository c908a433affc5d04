// Package limittest starts Redis servers for tests.
package limittest

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Redis is a server of a test. It listens on a socket of its own, not on a port, which another test may take before
// it does.
type Redis struct {
	URL string

	t      testing.TB
	socket string
	cmd    *exec.Cmd
}

// StartRedis starts a server, which ends with the test.
func StartRedis(t testing.TB) *Redis {
	t.Helper()
	dir, err := os.MkdirTemp("", "redis") //nolint:usetesting // the path of a socket is at most 107 bytes long
	if err != nil {
		t.Fatal(err)
	}
	r := &Redis{t: t, socket: filepath.Join(dir, "redis.sock")}
	r.URL = "unix://" + r.socket
	t.Cleanup(func() {
		r.Stop()
		_ = os.RemoveAll(dir)
	})
	r.Start()
	return r
}

// Start starts the server again, without data, and waits until it answers.
func (r *Redis) Start() {
	r.t.Helper()
	dir := filepath.Dir(r.socket)
	// It ends before the test's context does, in the cleanup.
	r.cmd = exec.CommandContext(context.WithoutCancel(r.t.Context()), "redis-server", "--port", "0", "--unixsocket", r.socket, //nolint:gosec // its own folder
		"--save", "", "--appendonly", "no", "--dir", dir, "--logfile", filepath.Join(dir, "log"))
	if err := r.cmd.Start(); err != nil {
		r.t.Fatalf("%v: make test installs redis-server", err)
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	for !r.answers(ctx) {
		if ctx.Err() != nil {
			r.t.Fatal("redis-server doesn't start")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// answers reports whether the server answers before ctx ends.
func (r *Redis) answers(ctx context.Context) bool {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", r.socket)
	if err != nil {
		return false
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return false
	}
	answer := make([]byte, len("+PONG"))
	_, err = io.ReadFull(conn, answer)
	return err == nil && string(answer) == "+PONG"
}

// Stop kills the server.
func (r *Redis) Stop() {
	if r.cmd != nil && r.cmd.Process != nil {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		r.cmd = nil
	}
}

// Hang lets the server keep connections and answer nothing, until Resume.
func (r *Redis) Hang() { r.signal(syscall.SIGSTOP) }

// Resume ends Hang.
func (r *Redis) Resume() { r.signal(syscall.SIGCONT) }

func (r *Redis) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}
