package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"example.com/loyalty/core/fixture"
)

// program is the built product.
const program = "bin/loyalty"

// productSecret is the LOYALTY_SECRET of the measured product.
const productSecret = "benchbenchbenchbenchbenchbenchbenchbench"

// product is the product in its own process, on loopback.
type product struct {
	dir    string
	env    []string
	addr   string
	base   string // base URL
	cmd    *exec.Cmd
	client *http.Client // connects all hosts to the product
	most   int          // highest value of peakMemory
}

// configure chooses addresses and settings.
func (p *product) configure(ctx context.Context, databaseURL string) {
	p.addr = freeAddress(ctx)
	p.base = "https://localhost" + strings.TrimPrefix(p.addr, "127.0.0.1")
	metrics := freeAddress(ctx)
	fmt.Fprintf(os.Stderr, "profiles: http://%s/debug/pprof/\n", metrics)
	p.env = append(os.Environ(),
		"DATABASE_URL="+databaseURL, "LOYALTY_SECRET="+productSecret, "LOYALTY_DATA_DIR="+filepath.Join(p.dir, "data"),
		"LOYALTY_ADDR="+p.addr, "LOYALTY_BASE_URL="+p.base, "LOYALTY_RATE_TOKEN=0", "LOYALTY_LOG=json",
		"LOYALTY_METRICS_ADDR="+metrics, "LOYALTY_PPROF=1", "LOYALTY_SANDBOX=1", "LOYALTY_TRUSTED_PROXIES=127.0.0.1/32")
	p.client = &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", p.addr)
			},
			TLSClientConfig:     &tls.Config{InsecureSkipVerify: true}, // other tests check the certificates
			DisableCompression:  true,                                  // responses are measured compressed
			MaxIdleConnsPerHost: 1000,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func freeAddress(ctx context.Context) string {
	l := fixture.Must(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))
	defer l.Close()
	return l.Addr().String()
}

// command runs a command of the product and returns its output.
func (p *product) command(ctx context.Context, args ...string) string {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("loyalty %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(fixture.Must(out, err)))
}

// start starts the server and waits until it is ready.
func (p *product) start(ctx context.Context) {
	log := fixture.Must(os.Create(filepath.Join(p.dir, "serve.log")))
	defer log.Close() //nolint:errcheck // the product has its own descriptor
	p.cmd = exec.CommandContext(ctx, program, "serve")
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.env, log, log
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	fixture.Must(0, p.cmd.Start())
	ready := vegeta.Target{Method: http.MethodGet, URL: p.base + "/readyz"}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, err := browser{client: p.client}.ask(ctx, ready, http.StatusOK)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			printed, _ := os.ReadFile(log.Name())
			fixture.Must(0, fmt.Errorf("the product did not start: %w\n%s", err, printed))
		}
	}
}

func (p *product) stop() {
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		_ = p.cmd.Wait()
	}
}

// resetPeak resets the kernel's peak of the process's memory.
func (p *product) resetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// peakMemory returns the peak of the process's memory since resetPeak, in MB.
func (p *product) peakMemory() int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kilobytes int
	_, _ = fmt.Sscan(rest, &kilobytes)
	p.most = max(p.most, kilobytes>>10)
	return kilobytes >> 10
}
