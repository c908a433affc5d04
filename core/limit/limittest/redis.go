// Package limittest starts Redis servers for tests.
package limittest

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Redis is a server of a test.
type Redis struct {
	URL string

	t    testing.TB
	dir  string
	port int
	cmd  *exec.Cmd
}

// StartRedis starts a server on loopback, which ends with the test.
func StartRedis(t testing.TB) *Redis {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := &Redis{URL: "redis://127.0.0.1:" + strconv.Itoa(port), t: t, dir: t.TempDir(), port: port}
	t.Cleanup(r.Stop)
	r.Start()
	return r
}

// Start starts the server again, without data, and waits until it answers.
func (r *Redis) Start() {
	r.t.Helper()
	// It ends before the test's context does, in the cleanup.
	r.cmd = exec.CommandContext(context.WithoutCancel(r.t.Context()), "redis-server", "--port", strconv.Itoa(r.port), "--bind", "127.0.0.1", //nolint:gosec // a port
		"--save", "", "--appendonly", "no", "--dir", r.dir, "--logfile", filepath.Join(r.dir, "log"))
	if err := r.cmd.Start(); err != nil {
		r.t.Fatalf("%v: make test installs redis-server", err)
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	for ; ; time.Sleep(5 * time.Millisecond) {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(r.port)))
		if err == nil {
			_ = c.Close()
			return
		}
		if ctx.Err() != nil {
			r.t.Fatalf("redis-server doesn't start: %v", err)
		}
	}
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
