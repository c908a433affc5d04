package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// productSecret is what the measured product signs links with.
const productSecret = "benchbenchbenchbenchbenchbenchbenchbench"

// product is the product as a process of its own, serving on loopback.
type product struct {
	binary  string
	dir     string
	env     []string
	addr    string
	figures string // the address of its profiles
	base    string // the address of the platform's host
	cmd     *exec.Cmd
	most    int64 // memory, of all that peakMemory returned

	connections *http.Transport // kept, as a till's are
	visitors    *http.Transport // each request on a connection and from an address of its own
}

func newProduct(ctx context.Context, binary, dir, databaseURL string) (*product, error) {
	p := &product{binary: binary, dir: dir}
	var err error
	if p.addr, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	if p.figures, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	p.base = "https://localhost" + strings.TrimPrefix(p.addr, "127.0.0.1")
	p.env = append(os.Environ(),
		"DATABASE_URL="+databaseURL, "LOYALTY_SECRET="+productSecret, "LOYALTY_DATA_DIR="+filepath.Join(dir, "data"),
		"LOYALTY_ADDR="+p.addr, "LOYALTY_BASE_URL="+p.base, "LOYALTY_RATE_TOKEN=0", "LOYALTY_LOG=json",
		"LOYALTY_METRICS_ADDR="+p.figures, "LOYALTY_PPROF=1", "LOYALTY_SANDBOX=1")
	return p, nil
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// command runs one of the product's commands and returns what it prints.
func (p *product) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.binary, args...)
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("loyalty %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// start serves, and waits until it answers.
func (p *product) start(ctx context.Context) error {
	log, err := os.Create(filepath.Join(p.dir, "serve.log"))
	if err != nil {
		return err
	}
	defer log.Close()
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

// connect makes the transports: every host is this process, and HTTP/1.1 is spoken.
func (p *product) connect(ca []byte) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	var visits atomic.Uint32
	transport := func(visitors bool) *http.Transport {
		return &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				var dialer net.Dialer
				if visitors {
					n := visits.Add(1)
					dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 1+byte(n>>16), byte(n>>8), byte(n))}
				}
				return dialer.DialContext(ctx, "tcp", p.addr)
			},
			TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			DisableCompression:  true,
			DisableKeepAlives:   visitors,
			MaxIdleConnsPerHost: 1000,
		}
	}
	p.connections, p.visitors = transport(false), transport(true)
}

func (p *product) stop() {
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		_ = p.cmd.Wait()
	}
}

// saveProfile writes where the product's processor time goes within the next seconds.
func (p *product) saveProfile(ctx context.Context, file string, seconds int) {
	err := func() error {
		url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", p.figures, seconds)
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		out, err := os.Create(file)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, answer.Body)
		return errors.Join(err, out.Close())
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "no profile:", err)
	}
}

// resetPeak has the kernel forget the most memory that the process had so far.
func (p *product) resetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// peakMemory is the most memory that the process had since resetPeak, in bytes.
func (p *product) peakMemory() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	var kilobytes int64
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, _ = strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		}
	}
	p.most = max(p.most, kilobytes<<10)
	return kilobytes << 10
}

// verify has the product check every balance after the loads.
func (p *product) verify(ctx context.Context) error {
	out, err := p.command(ctx, "verify")
	if err != nil {
		return err
	}
	fmt.Println("loyalty verify:", out[strings.LastIndex(out, "\n")+1:])
	return nil
}
