package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core/dbtest"
)

var ulid = regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)

// "Every answer carries `X-Request-Id`"; "every answer `X-Content-Type-Options: nosniff`";
// "HSTS of a year", which only means something over TLS.
func (a answer) carries(t *testing.T, hsts string) {
	t.Helper()
	if !ulid.MatchString(a.id()) || a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Strict-Transport-Security") != hsts {
		t.Errorf("%d %v: X-Request-Id, nosniff and HSTS %q are wanted", a.status, a.header, hsts)
	}
}

const aYear = "max-age=31536000"

// "`local` (default; a name-constrained authority made on first start, leaves minted for
// the host of the base URL and its subdomains)"
func testLocalTLS(t *testing.T, in *installation) {
	t.Helper()
	s := in.serve()
	demo := strings.Replace(in.base, "localhost", "demo.localhost", 1)
	other := strings.Replace(in.base, "localhost", "other.localhost", 1)
	for _, r := range []struct {
		method, url, token string
		status             int
	}{
		{"GET", in.base + "/", "", http.StatusOK},
		{"HEAD", in.base + "/", "", http.StatusOK},
		{"GET", in.base + "/problems", "", http.StatusOK},
		{"GET", in.base + "/problems/already-voided", "", http.StatusOK},
		{"GET", in.base + "/problems/nothing", "", http.StatusNotFound},
		{"GET", in.base + "/nowhere", "", http.StatusNotFound},
		{"GET", in.base + "/static/nothing.css", "", http.StatusNotFound},
		{"GET", in.base + "/healthz", "", http.StatusOK},
		{"GET", in.base + "/readyz", "", http.StatusOK},
		{"GET", in.base + "/api/v1/customers", "", http.StatusUnauthorized},
		{"GET", in.base + "/api/v1/customers", s.token, http.StatusOK},
		{"PUT", in.base + "/api/v1/customers", s.token, http.StatusMethodNotAllowed},
		{"GET", in.base + "/api/v1/nowhere", s.token, http.StatusNotFound},
		{"GET", in.base + "/api", s.token, http.StatusNotFound},
		{"GET", in.base + "/api/v1//customers", s.token, http.StatusNotFound},
		{"POST", in.base + "/api/v1/../v1/customers", s.token, http.StatusNotFound},
		// "API … also on tenant hosts; … on a tenant host a token of another tenant is 401"
		{"GET", demo + "/api/v1/customers", s.token, http.StatusOK},
		{"GET", other + "/api/v1/customers", s.token, http.StatusUnauthorized},
		{"GET", "https://" + in.addr + "/healthz", "", http.StatusOK},
	} {
		got := s.expect(t, r.status, r.method, r.url, r.token, "")
		got.carries(t, aYear)
		if strings.Contains(r.url, "/api") && r.status >= 400 && got.header.Get("Content-Type") != problemJSON {
			t.Errorf("%s %s: %s is no problem document: %s", r.method, r.url, got.header.Get("Content-Type"), got.body)
		}
	}
	for _, name := range []string{"localhost", "demo.localhost", "never-heard-of.localhost"} {
		config := trusting(t, filepath.Join(in.data, "ca.pem"))
		config.ServerName = name
		conn, err := tls.Dial("tcp", in.addr, config)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = conn.Close()
	}
	// The certificate authority is valid for this host only.
	config := trusting(t, filepath.Join(in.data, "ca.pem"))
	config.ServerName = "example.com"
	if conn, err := tls.Dial("tcp", in.addr, config); err == nil {
		_ = conn.Close()
		t.Error("the certificate authority is valid for example.com")
	}
	testPlainHTTP(t, s)
	s.stop()
}

// "Plain HTTP arriving at the TLS port …: the API answers 400 problem+json with the
// generic 400 text and never redirects (that would leak the token); a browser page gets
// 308 to https."
func testPlainHTTP(t *testing.T, s *server) {
	t.Helper()
	plain := "http" + strings.TrimPrefix(s.in.base, "https")
	for _, r := range []struct{ method, url, token string }{
		{"GET", plain + "/api/v1/customers", s.token},
		{"GET", plain + "/api/v1/customers", ""},
		{"POST", plain + "/api/v1/transactions", s.token},
		{"GET", plain + "/ap/v1/customers", s.token},
		{"GET", strings.Replace(plain, "localhost", "demo.localhost", 1) + "/api/v1/customers", s.token},
	} {
		got := s.expect(t, http.StatusBadRequest, r.method, r.url, r.token, "")
		got.is(t, http.StatusBadRequest, problemJSON, badRequest)
		got.carries(t, "")
	}
	demo := strings.Replace(plain, "localhost", "demo.localhost", 1)
	for url, target := range map[string]string{
		plain + "/problems?x=1": s.in.base + "/problems?x=1",
		plain + "/healthz":      s.in.base + "/healthz",
		demo + "/join":          "https" + strings.TrimPrefix(demo, "http") + "/join",
	} {
		got := s.expect(t, http.StatusPermanentRedirect, "GET", url, "", "")
		got.carries(t, "")
		if got.header.Get("Location") != target {
			t.Errorf("%s redirects to %q, want %q", url, got.header.Get("Location"), target)
		}
	}
	s.expect(t, http.StatusBadRequest, "POST", plain+"/join", "", "phone=0701740605").carries(t, "")
	// The exact bytes of the response.
	conn, err := net.Dial("tcp", s.in.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "GET /api/v1/customers HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", s.token)
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil || string(body) != badRequest || got.Header.Get("Location") != "" {
		t.Errorf("%v %v %s", err, got.Header, body)
	}
}

// selfMade writes a certificate and key for the base host and its subdomains.
func selfMade(t *testing.T, in *installation) (cert, key string) {
	t.Helper()
	certPEM, keyPEM := selfSigned(t, time.Now().Add(time.Hour), "localhost", "demo.localhost")
	write := func(name string, text []byte) string {
		file := filepath.Join(in.top, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return write("cert.pem", certPEM), write("key.pem", keyPEM)
}

func selfSigned(t *testing.T, expires time.Time, hosts ...string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: expires.Add(-2 * time.Hour), NotAfter: expires,
		DNSNames: hosts, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

// "`files`: a certificate"
func TestCertificateFiles(t *testing.T) {
	t.Parallel()
	in := newInstallationOn(t, dbtest.OwnURL(t), "LOYALTY_TLS=files")
	cert, key := selfMade(t, in)
	files := in.with("LOYALTY_TLS_CERT="+cert, "LOYALTY_TLS_KEY="+key)
	s := files.served()
	s.http = client(t, in.addr, trusting(t, cert))
	s.expect(t, http.StatusOK, "GET", "/readyz", "", "").carries(t, aYear)
	s.expect(t, http.StatusUnauthorized, "GET", strings.Replace(in.base, "localhost", "demo.localhost", 1)+"/api/v1/customers", "", "").carries(t, aYear)
	s.expect(t, http.StatusBadRequest, "GET", "http"+strings.TrimPrefix(in.base, "https")+"/api/v1/customers", "", "").carries(t, "")
	if strings.Contains(s.out.String(), "ca.pem") || exists(filepath.Join(in.data, "ca.pem")) {
		t.Error("a certificate authority was created")
	}
	s.stop()

	in.with("LOYALTY_TLS_CERT="+cert, "LOYALTY_TLS_KEY="+filepath.Join(in.top, "gone.pem")).run("serve").
		says(t, "certificate files: open "+filepath.Join(in.top, "gone.pem")+": no such file or directory")
	in.with("LOYALTY_TLS_CERT="+cert, "LOYALTY_TLS_KEY="+cert).run("serve").
		says(t, "certificate files: ", cert)
}

// "`proxy` (plain listener; a request is taken only from `LOYALTY_TRUSTED_PROXIES` and
// only with `X-Forwarded-Proto: https`; `/healthz` and `/readyz` need no header)". "The
// client address … comes from `X-Forwarded-For` only when the peer is a trusted proxy."
func TestBehindProxy(t *testing.T) {
	t.Parallel()
	const base = "https://loyalty.example"
	in := newInstallationOn(t, dbtest.OwnURL(t), "LOYALTY_TLS=proxy", "LOYALTY_TRUSTED_PROXIES=10.0.0.0/8,127.0.0.1",
		"LOYALTY_BASE_URL="+base, "LOYALTY_LOG=json")
	s := in.served()
	if !s.log.has(`"base_url":"`+base+`"`) || !regexp.MustCompile(`"took":"[0-9.]+m?s"`).MatchString(s.log.String()) {
		t.Error(s.log.String())
	}
	const proxy, stranger = "127.0.0.1", "127.0.0.2"
	for _, r := range []struct {
		from, proto, client, path string
		status                    int
		address                   string // in the log
	}{
		{proxy, "https", "203.0.113.7", "/api/v1/customers", http.StatusUnauthorized, "203.0.113.7"},
		{proxy, "HTTPS", "", "/api/v1/customers", http.StatusUnauthorized, proxy},
		{proxy, "https, https", "198.51.100.9, 203.0.113.7, 10.1.2.3", "/api/v1/customers", http.StatusUnauthorized, "203.0.113.7"},
		{proxy, "http", "203.0.113.7", "/api/v1/customers", http.StatusBadRequest, "203.0.113.7"},
		{proxy, "http, https", "", "/api/v1/customers", http.StatusBadRequest, proxy},
		{proxy, "https, http", "", "/api/v1/customers", http.StatusBadRequest, proxy},
		{proxy, "", "", "/api/v1/customers", http.StatusBadRequest, proxy},
		{proxy, "https", "", "/", http.StatusOK, proxy},
		{proxy, "http", "", "/problems", http.StatusPermanentRedirect, proxy},
		{proxy, "", "", "/healthz", http.StatusOK, proxy},
		{proxy, "", "", "/readyz", http.StatusOK, proxy},
		{stranger, "https", "203.0.113.7", "/api/v1/customers", http.StatusBadRequest, stranger},
		{stranger, "https", "", "/problems", http.StatusPermanentRedirect, stranger},
		{stranger, "", "203.0.113.7", "/healthz", http.StatusOK, stranger},
		{stranger, "", "", "/readyz", http.StatusOK, stranger},
	} {
		if r.from == stranger && runtime.GOOS != "linux" {
			continue // elsewhere this machine has one loopback address
		}
		headers := []string{}
		if r.proto != "" {
			headers = append(headers, "X-Forwarded-Proto: "+r.proto)
		}
		if r.client != "" {
			headers = append(headers, "X-Forwarded-For: "+r.client)
		}
		got, err := call(clientFrom(t, r.from, in.addr, nil), "GET", "http://loyalty.example"+r.path, "", "", headers...)
		if err != nil {
			t.Fatal(err)
		}
		if got.status != r.status {
			t.Errorf("%+v: %d %s", r, got.status, got.body)
		}
		hsts := aYear + "; includeSubDomains" // the base URL is not of this machine alone
		switch r.status {
		case http.StatusBadRequest:
			got.is(t, r.status, problemJSON, badRequest)
			hsts = ""
		case http.StatusPermanentRedirect:
			if got.header.Get("Location") != base+r.path {
				t.Errorf("%+v redirects to %q", r, got.header.Get("Location"))
			}
			hsts = ""
		}
		got.carries(t, hsts)
		if strings.HasSuffix(r.path, "z") {
			continue // probes that are answered are not logged
		}
		await(t, "the request is logged", func() bool { return s.log.has(got.id()) && strings.HasSuffix(s.log.String(), "\n") })
		if line := s.log.line(`"msg":"request","request":"` + got.id()); !strings.Contains(line, `"address":"`+r.address+`"`) {
			t.Errorf("%+v is logged as %s", r, line)
		}
	}
	if exists(filepath.Join(in.data, "ca.pem")) {
		t.Error("a certificate authority was created")
	}
	s.stop()
}

// clientFrom returns a client with one of this machine's addresses.
func clientFrom(t *testing.T, from, addr string, config *tls.Config) *http.Client {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c := client(t, addr, config)
	c.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, addr)
	}
	return c
}
