package host_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"

	"example.com/loyalty/web/host"
)

// acmeShop is a server whose certificates come from an authority that answers as the test says.
type acmeShop struct {
	addr   string
	asked  atomic.Int32 // requests to the authority
	exists atomic.Int32 // look-ups of tenants
	stored atomic.Int32 // look-ups of what certmagic stores
	log    lockedBuffer
}

var errLookUp = errors.New("the database is away")

// openACME opens a shop with the tenants cafe, bar and, while the database is away, away.
func openACME(t *testing.T, authority http.HandlerFunc) *acmeShop {
	t.Helper()
	s := &acmeShop{}
	directory := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		authority(w, r)
	}))
	t.Cleanup(directory.Close)
	roots := x509.NewCertPool()
	roots.AddCert(directory.Certificate())
	l := listen(t)
	log := slog.New(slog.NewTextHandler(&s.log, nil))
	a, err := host.NewACME(t.Context(), host.ACMEConfig{
		Names: names(t, "https://loyalty.example"), Directory: directory.URL, Roots: roots,
		Storage: countedStorage{&certmagic.FileStorage{Path: t.TempDir()}, &s.stored},
		Exists: func(_ context.Context, slug string) (bool, error) {
			s.exists.Add(1)
			if slug == "away" {
				return false, errLookUp
			}
			return slug == "cafe" || slug == "bar", nil
		},
		Addr: l.Addr(), Now: time.Now, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	server := host.NewServer(http.NotFoundHandler(), http.NotFoundHandler(), unread, a.TLS(), nil, log)
	go server.Serve(l) //nolint:errcheck // it ends with the test
	t.Cleanup(func() { _ = server.Shutdown(context.WithoutCancel(t.Context())) })
	s.addr = l.Addr().String()
	return s
}

// countedStorage counts what is loaded.
type countedStorage struct {
	certmagic.Storage
	loaded *atomic.Int32
}

func (c countedStorage) Load(ctx context.Context, key string) ([]byte, error) {
	c.loaded.Add(1)
	return c.Storage.Load(ctx, key)
}

// shake tries a handshake, and returns how long it took.
func (s *acmeShop) shake(ctx context.Context, name string, protocols ...string) (time.Duration, error) {
	began := time.Now()
	dialer := tls.Dialer{Config: &tls.Config{ServerName: name, InsecureSkipVerify: true, NextProtos: protocols}}
	if name == "" {
		dialer.Config.ServerName = "127.0.0.1" // an address is not sent
	}
	conn, err := dialer.DialContext(ctx, "tcp", s.addr)
	if err == nil {
		_ = conn.Close()
	}
	return time.Since(began), err
}

// A refusal is logged once, clients get an alert, and handshakes don't repeat the request: an authority counts
// attempts.
func TestARefusedCertificateIsNotRequestedAgain(t *testing.T) {
	t.Parallel()
	s := openACME(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"type":"urn:ietf:params:acme:error:rejectedIdentifier","detail":"not this host"}`))
	})
	const refused = "the certificate authority refused a certificate"
	attempts := func() int { return strings.Count(s.log.String(), refused) }
	for deadline := time.Now().Add(time.Minute); attempts() == 0 && time.Now().Before(deadline); { // of the base host
		time.Sleep(time.Millisecond)
	}
	base := s.asked.Load()
	if attempts() != 1 || base == 0 {
		t.Fatalf("the base host's certificate was requested with %d requests:\n%s", base, s.log.String())
	}
	for range 5 {
		for _, name := range []string{"loyalty.example", "cafe.loyalty.example", "CAFE.loyalty.example"} {
			if _, err := s.shake(t.Context(), name); err == nil || !strings.Contains(err.Error(), "internal error") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if got := s.asked.Load(); got != 2*base || attempts() != 2 {
		t.Errorf("handshakes for two hosts made %d requests, want %d:\n%s", got, 2*base, s.log.String())
	}
	if !strings.Contains(s.log.String(), "host=cafe.loyalty.example") || !strings.Contains(s.log.String(), "not this host") {
		t.Errorf("the log says neither the host nor the reason:\n%s", s.log.String())
	}
}

// No one can have certificates requested for names that no tenant has.
func TestNoCertificateForUnknownNames(t *testing.T) {
	t.Parallel()
	s := openACME(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	for name, want := range map[string]string{
		"nothing.loyalty.example":        "unrecognized name",
		"www.cafe.loyalty.example":       "unrecognized name",
		"loyalty.example.net":            "unrecognized name",
		"away.loyalty.example":           "internal error",
		"loyalty.example.nothing":        "unrecognized name",
		"xn--caf-dma.loyalty.example":    "unrecognized name",
		"loyalty-example.loyalty.exampl": "unrecognized name",
	} {
		if _, err := s.shake(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	// The authority's own connections request nothing either.
	if _, err := s.shake(t.Context(), "bar.loyalty.example", "acme-tls/1"); err == nil {
		t.Error("a challenge that was never made is answered")
	}
	if strings.Contains(s.log.String(), "bar.") || strings.Contains(s.log.String(), "nothing") {
		t.Errorf("a certificate was requested:\n%s", s.log.String())
	}
}

// Anyone may name any host in a handshake: one that is unknown, or whose certificate failed, is looked up once, others
// within a budget, and so are challenges, which any process may have to answer.
func TestHandshakesAskTheDatabaseWithinABudget(t *testing.T) {
	t.Parallel()
	s := openACME(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	shake := func(name string, protocols ...string) string {
		t.Helper()
		_, err := s.shake(t.Context(), name, protocols...)
		return fmt.Sprint(err)
	}
	for range 20 {
		shake("nothing.loyalty.example")
		shake("cafe.loyalty.example")
	}
	if n := s.exists.Load(); n != 2 {
		t.Errorf("two hosts were looked up %d times", n)
	}
	for n := range 2 * host.LookUpsPerAddress {
		shake(fmt.Sprintf("nothing%d.loyalty.example", n))
	}
	if n := s.exists.Load(); n != host.LookUpsPerAddress+1 { // that of the tenant isn't counted
		t.Errorf("%d look-ups for one address", n)
	}
	before := s.stored.Load()
	for range 10 {
		if err := shake("bar.loyalty.example", "acme-tls/1"); !strings.Contains(err, "internal error") {
			t.Errorf("a challenge beyond the budget: %s", err)
		}
	}
	if n := s.stored.Load() - before; n != 0 {
		t.Errorf("%d challenges were looked up beyond the budget", n)
	}
	// What is known needs none.
	if err := shake("cafe.loyalty.example"); !strings.Contains(err, "internal error") || s.exists.Load() != host.LookUpsPerAddress+1 {
		t.Errorf("a known host: %s", err)
	}
}

// While a slow authority works, only handshakes with that host wait.
func TestASlowAuthorityStallsNoOtherHost(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := openACME(t, func(http.ResponseWriter, *http.Request) { <-release })
	t.Cleanup(func() { close(release) })
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	waiting := make(chan error, 1)
	go func() {
		_, err := s.shake(ctx, "cafe.loyalty.example")
		waiting <- err
	}()
	for s.exists.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if took, err := s.shake(t.Context(), ""); err != nil || took > 5*time.Second {
		t.Errorf("without a name: %v, %v", took, err)
	}
	if took, err := s.shake(t.Context(), "nothing.loyalty.example"); err == nil || took > 5*time.Second {
		t.Errorf("an unknown name: %v, %v", took, err)
	}
	var timeout net.Error
	if err := <-waiting; !errors.As(err, &timeout) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the host that waits for its certificate: %v", err)
	}
}
