package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"example.com/loyalty/core/sample"
)

// builtProduct is the build to measure.
const builtProduct = "bin/loyalty"

// productSecret is the LOYALTY_SECRET of the measured product.
const productSecret = "benchbenchbenchbenchbenchbenchbenchbench"

// server is a build of the product, or the bare handler, in its own process on loopback.
type server struct {
	command []string
	env     []string
	base    string // base URL, the same for all
	cmd     *exec.Cmd
	client  *fasthttp.HostClient // connects all hosts to the server
}

// newServer chooses an address. All servers have the base URL of the product, so that they understand the same
// requests.
func (b *bench) newServer(ctx context.Context, databaseURL string, command ...string) *server {
	addr, metrics := freeAddress(ctx), freeAddress(ctx)
	p := &server{command: command, base: "https://localhost" + strings.TrimPrefix(addr, "127.0.0.1")}
	if b.product != nil {
		p.base = b.product.base
	}
	fmt.Fprintf(os.Stderr, "profiles of %s: http://%s/debug/pprof/\n", command[0], metrics)
	p.env = append(os.Environ(),
		"DATABASE_URL="+databaseURL, "LOYALTY_SECRET="+productSecret, "LOYALTY_DATA_DIR="+filepath.Join(b.dir, "data"),
		"LOYALTY_ADDR="+addr, "LOYALTY_BASE_URL="+p.base, "LOYALTY_RATE_TOKEN=0", "LOYALTY_LOG=json",
		"LOYALTY_METRICS_ADDR="+metrics, "LOYALTY_PPROF=1", "LOYALTY_SANDBOX=1", "LOYALTY_TRUSTED_PROXIES=127.0.0.1/32")
	p.client = &fasthttp.HostClient{
		Addr:                      addr,
		IsTLS:                     true,
		TLSConfig:                 &tls.Config{InsecureSkipVerify: true, ServerName: "localhost"}, // other tests check the certificates
		MaxConns:                  1000,
		MaxIdleConnDuration:       time.Minute,
		MaxIdemponentCallAttempts: 1,
		ReadTimeout:               time.Minute,
		ReadBufferSize:            16 << 10, // for the header
	}
	return p
}

func freeAddress(ctx context.Context) string {
	l := sample.Must(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))
	defer l.Close()
	return l.Addr().String()
}

// run runs a command of the product and returns its output.
func (p *server) run(ctx context.Context, args ...string) string {
	cmd := exec.CommandContext(ctx, p.command[0], args...)
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("loyalty %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(sample.Must(out, err)))
}

// start starts the server and waits until it is ready.
func (p *server) start(ctx context.Context) {
	log := sample.Must(os.CreateTemp("", "loyalty-bench-*.log"))
	defer os.Remove(log.Name()) //nolint:errcheck // a temporary file
	defer log.Close()           //nolint:errcheck // the server has its own descriptor
	p.cmd = exec.CommandContext(ctx, p.command[0], p.command[1:]...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.env, log, log
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	sample.Must(0, p.cmd.Start())
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, err := browser{client: p.client}.ask(ctx, newRequest(fasthttp.MethodGet, p.base+"/readyz"), fasthttp.StatusOK)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			printed, _ := os.ReadFile(log.Name())
			sample.Must(0, fmt.Errorf("%s did not start: %w\n%s", p.command[0], err, printed))
		}
	}
}

// stop does nothing for a server that isn't running.
func (p *server) stop() {
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		_ = p.cmd.Wait()
	}
}

// resetPeak resets the kernel's peak of the process's memory.
func (p *server) resetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// peakMemory returns the peak of the process's memory since resetPeak, in MB.
func (p *server) peakMemory() float64 { return peakMemory(p.cmd.Process.Pid) }

// peakMemory returns the peak of a process's memory in MB; 0 if it has ended.
func peakMemory(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kilobytes float64
	_, _ = fmt.Sscan(rest, &kilobytes)
	return kilobytes / 1024
}
