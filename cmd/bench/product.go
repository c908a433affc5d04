package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// productSecret is the LOYALTY_SECRET of the measured product.
const productSecret = "benchbenchbenchbenchbenchbenchbenchbench"

// product is the product in its own process, on loopback.
type product struct {
	binary string
	dir    string
	env    []string
	addr   string
	base   string // base URL
	cmd    *exec.Cmd
	most   int // highest value of peakMemory

	transport *http.Transport
}

func newProduct(ctx context.Context, binary, dir, databaseURL string) (*product, error) {
	addr, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	metrics, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "profiles: http://%s/debug/pprof/\n", metrics)
	p := &product{binary: binary, dir: dir, addr: addr, base: "https://localhost" + strings.TrimPrefix(addr, "127.0.0.1")}
	p.env = append(os.Environ(),
		"DATABASE_URL="+databaseURL, "LOYALTY_SECRET="+productSecret, "LOYALTY_DATA_DIR="+filepath.Join(dir, "data"),
		"LOYALTY_ADDR="+addr, "LOYALTY_BASE_URL="+p.base, "LOYALTY_RATE_TOKEN=0", "LOYALTY_LOG=json",
		"LOYALTY_METRICS_ADDR="+metrics, "LOYALTY_PPROF=1", "LOYALTY_SANDBOX=1", "LOYALTY_TRUSTED_PROXIES=127.0.0.1/32")
	return p, nil
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// command runs a command of the product and returns its output.
func (p *product) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.binary, args...)
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("loyalty %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// start starts the server and waits until it is ready.
func (p *product) start(ctx context.Context) error {
	log, err := os.Create(filepath.Join(p.dir, "serve.log"))
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the product has its own descriptor
	p.cmd = exec.CommandContext(ctx, p.binary, "serve")
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.env, log, log
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	if err := p.cmd.Start(); err != nil {
		return err
	}
	for range 200 {
		time.Sleep(50 * time.Millisecond)
		if _, err = p.command(ctx, "health", "--ready"); err == nil {
			break
		}
	}
	if err != nil {
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("the product did not start: %s", bytes.TrimSpace(said))
	}
	ca, err := os.ReadFile(filepath.Join(p.dir, "data", "ca.pem"))
	p.connect(ca)
	return err
}

// connect creates the transport, which connects all hosts to the product.
func (p *product) connect(ca []byte) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	var dialer net.Dialer
	p.transport = &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", p.addr)
		},
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		DisableCompression:  true, // responses are measured compressed
		MaxIdleConnsPerHost: 1000,
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
