package host_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"example.com/loyalty/web/host"
)

// shop is a server on a real port.
type shop struct {
	*dataDir
	*host.Server
	addr  string
	ended chan error
	log   *lockedBuffer
}

func open(t *testing.T, product http.Handler) *shop {
	t.Helper()
	h := newDataDir(t)
	s := &shop{dataDir: h, ended: make(chan error, 1), log: &lockedBuffer{}}
	n := names(t, "https://localhost:8443")
	refusal := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusBadRequest)
	})
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.Server = host.NewServer(product, host.PlainHandler(n, refusal), unread, h.start(t, n.Base()), nil, log)
	l := listen(t)
	s.addr = l.Addr().String()
	go func() { s.ended <- s.Serve(l) }()
	t.Cleanup(func() { _ = s.Shutdown(context.WithoutCancel(t.Context())) })
	return s
}

// unread answers what can't be read, as the product does.
func unread(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("X-Request-Id", "for "+strings.Split(r.RemoteAddr, ":")[0])
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, "refused with ", status)
	})
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// client trusts only the authority and finds every host at the shop's port,
// since Go's resolver does not know *.localhost.
func (s *shop) client(t *testing.T, http2 bool) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: s.roots(t)},
		ForceAttemptHTTP2: http2,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, s.addr)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type answer struct {
	status int
	header http.Header
	body   string
}

func try(c *http.Client, url string) (answer, error) {
	r, err := c.Get(url)
	if err != nil {
		return answer{}, err
	}
	body, err := io.ReadAll(r.Body)
	return answer{r.StatusCode, r.Header, string(body)}, errors.Join(err, r.Body.Close())
}

func get(t *testing.T, c *http.Client, url string) answer {
	t.Helper()
	a, err := try(c, url)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (s *shop) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

var echoHost = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	_, _ = fmt.Fprint(w, r.Host, " ", r.Proto)
})

// "TLS ends in the process."
func TestTLSEndsHere(t *testing.T) {
	t.Parallel()
	s := open(t, echoHost)
	for _, url := range []string{"https://localhost:8443/", "https://demo.localhost:8443/", "https://" + s.addr + "/"} {
		if got := get(t, s.client(t, true), url).body; !strings.HasSuffix(got, " HTTP/2.0") {
			t.Errorf("%s = %q, want HTTP/2", url, got)
		}
		if got := get(t, s.client(t, false), url).body; !strings.HasSuffix(got, " HTTP/1.1") {
			t.Errorf("%s = %q, want HTTP/1.1", url, got)
		}
	}
	if _, err := try(s.client(t, true), "https://example.org/"); err == nil {
		t.Error("a client that wants example.org was satisfied")
	}
}

// "Plain HTTP arriving at the TLS port is recognised by its first byte (0x16 is
// TLS): the API answers 400 problem+json with the generic 400 text and never
// redirects (that would leak the token); a browser page gets 308 to https."
func TestPlainHTTPAtTheTLSPort(t *testing.T) {
	t.Parallel()
	s := open(t, echoHost)
	page := get(t, s.client(t, false), "http://demo.localhost:8443/admin?x=1")
	if got := page.header.Get("Location"); page.status != http.StatusPermanentRedirect || got != "https://demo.localhost:8443/admin?x=1" {
		t.Errorf("page = %d to %q, want 308 to https", page.status, got)
	}
	api := get(t, s.client(t, false), "http://localhost:8443/api/v1/customers")
	if api.status != http.StatusBadRequest || api.header.Get("Content-Type") != "application/problem+json" || api.header.Get("Location") != "" {
		t.Errorf("API = %d %v, want a 400 problem that leads nowhere", api.status, api.header)
	}
}

func TestCurlVerifiesAgainstTheAuthority(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	s := open(t, echoHost)
	out, err := exec.CommandContext(t.Context(), curl, "-sS", "--noproxy", "*", "--cacert", s.file("ca.pem"),
		"--connect-to", "::"+s.addr, "https://demo.localhost:8443/").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "demo.localhost:8443 ") {
		t.Errorf("curl: %v\n%s", err, out)
	}
}

func TestSilentClientsDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	s := open(t, echoHost)
	for range 50 {
		s.dial(t)
	}
	half := s.dial(t)
	if _, err := half.Write([]byte{0x16}); err != nil {
		t.Fatal(err)
	}
	if got := get(t, s.client(t, true), "https://localhost:8443/").body; got != "localhost:8443 HTTP/2.0" {
		t.Errorf("beside silent clients = %q", got)
	}
}

// The clock of the bubble jumps ahead as soon as everybody waits.
func TestSilentClientsAreClosed(t *testing.T) {
	t.Parallel()
	config := newDataDir(t).start(t, "https://localhost:8443")
	synctest.Test(t, func(t *testing.T) {
		s := host.NewServer(echoHost, echoHost, unread, config, nil, slog.New(slog.DiscardHandler))
		l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		go func() { _ = s.Serve(l) }()
		server, client := net.Pipe()
		l.conns <- server

		begin := time.Now()
		if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("read = %v, want the end", err)
		}
		if got := time.Since(begin); got != 10*time.Second {
			t.Errorf("closed after %s, want 10 seconds", got)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// pipes is a listener without a network, which a bubble of synctest needs.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

func TestShutdownLetsRequestsInFlightFinish(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{false, true} {
		arrived, proceed := make(chan struct{}), make(chan struct{})
		s := open(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(arrived)
			<-proceed
			_, _ = fmt.Fprint(w, "done")
		}))
		silent := s.dial(t)
		client, answered := s.client(t, http2), make(chan string, 1)
		go func() {
			a, err := try(client, "https://localhost:8443/")
			answered <- fmt.Sprint(a.body, err)
		}()
		<-arrived
		down := make(chan error, 1)
		go func() { down <- s.Shutdown(t.Context()) }()

		if err := <-s.ended; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve = %v, want ErrServerClosed", err)
		}
		if _, err := silent.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("silent connection: %v, want it closed", err)
		}
		if conn, err := net.Dial("tcp", s.addr); err == nil {
			_ = conn.Close()
			t.Error("a new connection was taken during shutdown")
		}
		select {
		case err := <-down:
			t.Errorf("Shutdown = %v before the request was answered", err)
		default:
		}
		close(proceed)
		if got := <-answered; got != "done<nil>" {
			t.Errorf("the request in flight was answered %q", got)
		}
		if err := <-down; err != nil {
			t.Errorf("Shutdown = %v", err)
		}
	}
}

func TestShutdownBeforeServe(t *testing.T) {
	t.Parallel()
	s := host.NewServer(echoHost, echoHost, unread, newDataDir(t).start(t, "https://localhost"), nil, slog.New(slog.DiscardHandler))
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(listen(t)); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve = %v, want ErrServerClosed", err)
	}
}

func TestServeEndsWithItsListener(t *testing.T) {
	t.Parallel()
	s := host.NewServer(echoHost, echoHost, unread, newDataDir(t).start(t, "https://localhost"), nil, slog.New(slog.DiscardHandler))
	l := listen(t)
	_ = l.Close()
	if err := s.Serve(l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve = %v, want net.ErrClosed", err)
	}
}

func TestAcceptingContinuesAfterFailures(t *testing.T) {
	t.Parallel()
	config := newDataDir(t).start(t, "https://localhost")
	synctest.Test(t, func(t *testing.T) {
		s := host.NewServer(echoHost, echoHost, unread, config, nil, slog.New(slog.DiscardHandler))
		l := &troubled{pipes: pipes{conns: make(chan net.Conn), closed: make(chan struct{})}, troubles: 20}
		ended := make(chan error, 1)
		begin := time.Now()
		go func() { ended <- s.Serve(l) }()

		server, client := net.Pipe()
		l.conns <- server
		if got := time.Since(begin); got > 20*time.Second {
			t.Errorf("the next connection waited %s", got)
		}
		_ = client.Close()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve = %v, want ErrServerClosed", err)
		}
	})
}

type troubled struct {
	pipes
	troubles int
}

func (l *troubled) Accept() (net.Conn, error) {
	if l.troubles > 0 {
		l.troubles--
		return nil, syscall.EMFILE
	}
	return l.pipes.Accept()
}

// "proxy (plain listener; …)".
func TestWithoutTLSEveryConnectionIsPlain(t *testing.T) {
	t.Parallel()
	s := host.NewServer(echoHost, nil, unread, nil, nil, slog.New(slog.DiscardHandler))
	l := listen(t)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	if got := get(t, http.DefaultClient, "http://"+l.Addr().String()).body; !strings.HasSuffix(got, " HTTP/1.1") {
		t.Errorf("answer = %q", got)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve = %v, want ErrServerClosed", err)
	}
}

func TestFailedHandshakesAreLoggedForDebugging(t *testing.T) {
	t.Parallel()
	s := open(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a mistake of ours") }))
	conn := s.dial(t)
	_, _ = fmt.Fprint(conn, "\x16 and then no handshake at all")
	_, _ = bufio.NewReader(conn).ReadString(0)
	if a, err := try(s.client(t, false), "https://localhost:8443/"); err == nil {
		t.Errorf("a panic was answered %v", a)
	}
	_ = s.Shutdown(t.Context())

	for _, line := range []string{`level=DEBUG msg="TLS handshake failed"`, `level=WARN msg="HTTP server" error="http: panic serving`} {
		if !strings.Contains(s.log.String(), line) {
			t.Errorf("the log lacks %s:\n%s", line, s.log)
		}
	}
}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
