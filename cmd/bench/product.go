package main

import (
	"bufio"
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
	"syscall"
	"time"
)

// product is the product as a process of its own, serving on loopback.
type product struct {
	cmd     *exec.Cmd
	binary  string
	env     []string
	addr    string
	figures string // where its metrics and profiles are
	base    string // address of the platform's host
	roots   *x509.CertPool
	log     *os.File
	network net.Dialer
}

func startProduct(ctx context.Context, binary, dir, databaseURL string) (*product, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	figures, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	p := &product{binary: binary, addr: "127.0.0.1:" + port, figures: "127.0.0.1:" + figures, base: "https://localhost:" + port}
	p.env = append(os.Environ(),
		"DATABASE_URL="+databaseURL, "LOYALTY_SECRET="+productSecret, "LOYALTY_DATA_DIR="+filepath.Join(dir, "data"),
		"LOYALTY_ADDR="+p.addr, "LOYALTY_BASE_URL="+p.base, "LOYALTY_RATE_TOKEN=0", "LOYALTY_LOG=json", "LOYALTY_METRICS_ADDR="+p.figures, "LOYALTY_PPROF=1")
	if p.log, err = os.Create(filepath.Join(dir, "serve.log")); err != nil {
		return nil, err
	}
	p.cmd = exec.CommandContext(ctx, binary, "serve")
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.env, p.log, p.log
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for range 200 {
		time.Sleep(50 * time.Millisecond)
		ca, err := os.ReadFile(filepath.Join(dir, "data", "ca.pem"))
		if err != nil {
			continue
		}
		p.roots = x509.NewCertPool()
		p.roots.AppendCertsFromPEM(ca)
		if conn, err := p.dial(ctx); err == nil {
			return p, conn.Close()
		}
	}
	p.stop()
	said, _ := os.ReadFile(p.log.Name())
	return nil, fmt.Errorf("the product did not start: %s", bytes.TrimSpace(said))
}

func freePort(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

func (p *product) dial(ctx context.Context) (*tls.Conn, error) {
	raw, err := p.network.DialContext(ctx, "tcp", p.addr)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, &tls.Config{RootCAs: p.roots, ServerName: "localhost", MinVersion: tls.VersionTLS12})
	return conn, conn.HandshakeContext(ctx)
}

func (p *product) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
	_ = p.log.Close()
}

// saveProfile writes where the product's time goes within the next seconds.
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

func (p *product) memory() int64     { return p.status("VmRSS:") }
func (p *product) peakMemory() int64 { return p.status("VmHWM:") }

// status reads a figure of the kernel's, in bytes.
func (p *product) status(field string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kilobytes, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

// verify has the product check every balance after the load.
func (p *product) verify(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, p.binary, "verify")
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	fmt.Println("loyalty verify:", lines[len(lines)-1])
	if err != nil {
		return fmt.Errorf("loyalty verify: %w\n%s", err, out)
	}
	return nil
}

// client is one connection that speaks just enough HTTP/1.1: the load generator
// shares two cores with what it measures.
type client struct {
	conn *tls.Conn
	in   *bufio.Reader
}

func (p *product) client(ctx context.Context) (*client, error) {
	conn, err := p.dial(ctx)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, in: bufio.NewReaderSize(conn, 8<<10)}, nil
}

var errNoLength = errors.New("an answer without a length")

// do sends a request and reads its answer's status.
func (c *client) do(request []byte) (status int, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	length := -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case status == 0:
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, err
			}
		case len(line) == 0:
			if length < 0 {
				return 0, errNoLength
			}
			_, err := c.in.Discard(length)
			return status, err
		case bytes.HasPrefix(line, []byte("Content-Length: ")):
			if length, err = strconv.Atoi(string(line[16:])); err != nil {
				return 0, err
			}
		}
	}
}
