package host_test

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/web/host"
)

// dataDir is a data directory with an authority in it.
type dataDir struct {
	dir string
	now time.Time
	log bytes.Buffer
}

func newDataDir(t *testing.T) *dataDir {
	t.Helper()
	return &dataDir{dir: filepath.Join(t.TempDir(), "data"), now: time.Now()}
}

func (h *dataDir) file(name string) string { return filepath.Join(h.dir, name) }

func (h *dataDir) read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(h.file(name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (h *dataDir) tryStart(t *testing.T, baseURL string) (*tls.Config, error) {
	t.Helper()
	return host.LocalAuthority(h.dir, names(t, baseURL), func() time.Time { return h.now }, slog.New(slog.NewTextHandler(&h.log, nil)))
}

func (h *dataDir) start(t *testing.T, baseURL string) *tls.Config {
	t.Helper()
	config, err := h.tryStart(t, baseURL)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func (h *dataDir) roots(t *testing.T) *x509.CertPool {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(h.read(t, host.AuthorityFile)) {
		t.Fatal("ca.pem holds no certificate")
	}
	return pool
}

func leaf(t *testing.T, config *tls.Config, serverName string) *x509.Certificate {
	t.Helper()
	cert, err := config.GetCertificate(&tls.ClientHelloInfo{ServerName: serverName})
	if err != nil {
		t.Fatal(err)
	}
	return cert.Leaf
}

// "local (default; a name-constrained authority made on first start, leaves
// minted for the host of the base URL and its subdomains)".
func TestLeafCertificatesVerify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ baseURL, serverName, dialled string }{
		{"https://localhost:8443", "localhost", "localhost"},
		{"https://localhost:8443", "demo.localhost", "demo.localhost"},
		{"https://localhost:8443", "DEMO.localhost", "demo.localhost"},
		{"https://localhost:8443", "", "127.0.0.1"},
		{"https://localhost:8443", "", "::1"},
		{"https://localhost:8443", "", "localhost"},
		{"https://loyalty.example", "demo.loyalty.example", "demo.loyalty.example"},
		{"https://192.0.2.7:8443", "", "192.0.2.7"},
		{"https://192.0.2.7:8443", "", "127.0.0.1"},
		{"https://[2001:db8::7]", "", "2001:db8::7"},
	} {
		h := newDataDir(t)
		cert := leaf(t, h.start(t, c.baseURL), c.serverName)
		if _, err := cert.Verify(x509.VerifyOptions{Roots: h.roots(t), DNSName: c.dialled, CurrentTime: h.now}); err != nil {
			t.Errorf("%s, server name %q: %s is refused: %v", c.baseURL, c.serverName, c.dialled, err)
		}
	}
}

func TestStrangersNamesGetTheBaseHostsLeaf(t *testing.T) {
	t.Parallel()
	config := newDataDir(t).start(t, "https://localhost:8443")
	for _, name := range []string{"example.org", "a.b.localhost", "-.localhost", ""} {
		if got := leaf(t, config, name); got != leaf(t, config, "localhost") {
			t.Errorf("%q was answered by the leaf of %v", name, got.DNSNames)
		}
	}
}

// "a name-constrained authority": its stolen key is of no use elsewhere.
func TestAuthorityCannotSignForOthers(t *testing.T) {
	t.Parallel()
	for baseURL, stolen := range map[string]x509.Certificate{
		"https://localhost:8443":   {DNSNames: []string{"example.org"}},
		"https://loyalty.example":  {DNSNames: []string{"localhost"}},
		"https://localhost":        {IPAddresses: []net.IP{{192, 0, 2, 7}}},
		"https://192.0.2.7":        {DNSNames: []string{"example.org"}},
		"https://192.0.2.8:8443":   {IPAddresses: []net.IP{{192, 0, 2, 7}}},
		"https://[2001:db8::7]:80": {IPAddresses: []net.IP{net.ParseIP("2001:db8::8")}},
	} {
		h := newDataDir(t)
		h.start(t, baseURL)
		ca, err := tls.X509KeyPair(h.read(t, "ca.pem"), h.read(t, "ca-key.pem"))
		if err != nil {
			t.Fatal(err)
		}
		stolen.SerialNumber = big.NewInt(1)
		stolen.NotAfter = h.now.Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, &stolen, ca.Leaf, ca.Leaf.PublicKey, ca.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		_, err = cert.Verify(x509.VerifyOptions{Roots: h.roots(t), CurrentTime: h.now})
		if err == nil || !strings.Contains(err.Error(), "not permitted") {
			t.Errorf("%s: a leaf for %v%v = %v, want it not permitted", baseURL, cert.DNSNames, cert.IPAddresses, err)
		}
	}
}

// "made on first start": and kept on the second.
func TestAuthorityIsKept(t *testing.T) {
	t.Parallel()
	h := newDataDir(t)
	h.start(t, "https://localhost:8443")
	first := h.read(t, "ca.pem")
	for name, want := range map[string]os.FileMode{"ca.pem": 0o644, "ca-key.pem": 0o600} {
		info, err := os.Stat(h.file(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}

	config := h.start(t, "https://localhost:9443")
	if !bytes.Equal(h.read(t, "ca.pem"), first) {
		t.Error("the second start replaced the authority")
	}
	if _, err := leaf(t, config, "demo.localhost").Verify(x509.VerifyOptions{Roots: h.roots(t), DNSName: "demo.localhost"}); err != nil {
		t.Error(err)
	}
	if files, _ := os.ReadDir(h.dir); len(files) != 2 {
		t.Errorf("the data directory holds %v, want the two files only", files)
	}
}

func TestAuthorityIsReplacedWhenItIsOfNoUse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil   func(*dataDir)
		baseURL string
		says    string
	}{
		"another host":         {func(*dataDir) {}, "https://loyalty.example", "not one the local certificate authority may sign for"},
		"another address":      {func(*dataDir) {}, "https://192.0.2.7", "not one the local certificate authority may sign for"},
		"expiring":             {func(h *dataDir) { h.now = h.now.AddDate(9, 11, 0) }, "https://localhost:8443", "about to expire"},
		"expired":              {func(h *dataDir) { h.now = h.now.AddDate(11, 0, 0) }, "https://localhost:8443", "about to expire"},
		"made in the future":   {func(h *dataDir) { h.now = h.now.AddDate(-2, 0, 0) }, "https://localhost:8443", "clients must import again"},
		"interrupted creation": {func(h *dataDir) { _ = os.Remove(h.file("ca.pem")) }, "https://localhost:8443", "creating a local certificate authority"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newDataDir(t)
			h.start(t, "https://localhost:8443")
			old := h.read(t, "ca.pem")
			h.log.Reset()
			c.spoil(h)

			cert := leaf(t, h.start(t, c.baseURL), "")
			if bytes.Equal(h.read(t, "ca.pem"), old) {
				t.Error("the authority was kept")
			}
			if !strings.Contains(h.log.String(), c.says) {
				t.Errorf("the log says %q, want %q", h.log.String(), c.says)
			}
			if _, err := cert.Verify(x509.VerifyOptions{Roots: h.roots(t), CurrentTime: h.now}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLoopbackIsNotAnotherHost(t *testing.T) {
	t.Parallel()
	h := newDataDir(t)
	h.start(t, "https://localhost:8443")
	first := h.read(t, "ca.pem")
	h.start(t, "https://127.0.0.1:8443")
	if !bytes.Equal(h.read(t, "ca.pem"), first) {
		t.Error("an authority that permits the address was replaced")
	}
}

func TestDamagedAuthorityIsAnErrorThatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	other := newDataDir(t)
	other.start(t, "https://localhost:8443")
	for name, c := range map[string]struct {
		file string
		text []byte // nil: the file is gone
		says string
	}{
		"certificate is not PEM": {"ca.pem", []byte("x"), "ca.pem is damaged"},
		"certificate is garbage": {"ca.pem", garbage, "ca.pem is damaged"},
		"key is empty":           {"ca-key.pem", []byte{}, "ca-key.pem is damaged"},
		"key is garbage":         {"ca-key.pem", garbage, "ca-key.pem is damaged"},
		"key is missing":         {"ca-key.pem", nil, "ca-key.pem: no such file"},
		"key is of another":      {"ca-key.pem", other.read(t, "ca-key.pem"), "ca-key.pem is not the key of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newDataDir(t)
			h.start(t, "https://localhost:8443")
			h.remove(t, c.file)
			if c.text != nil {
				h.write(t, c.file, c.text)
			}
			before := h.read(t, "ca.pem")

			_, err := h.tryStart(t, "https://localhost:8443")
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "or remove both") {
				t.Errorf("start = %v, want %q and what to do", err, c.says)
			}
			if !bytes.Equal(h.read(t, "ca.pem"), before) {
				t.Error("the damaged authority was overwritten")
			}
		})
	}
}

var garbage = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("garbage")})

func (h *dataDir) write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(h.file(name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (h *dataDir) remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(h.file(name)); err != nil {
		t.Fatal(err)
	}
}

func TestLeavesAreKeptAndRenewedBeforeTheyExpire(t *testing.T) {
	t.Parallel()
	h := newDataDir(t)
	config := h.start(t, "https://localhost:8443")
	first := leaf(t, config, "demo.localhost")

	h.now = h.now.AddDate(0, 0, 19)
	if leaf(t, config, "demo.localhost") != first {
		t.Error("a leaf with more than a third of its life left was minted again")
	}
	h.now = h.now.AddDate(0, 0, 2)
	if renewed := leaf(t, config, "demo.localhost"); !renewed.NotAfter.After(first.NotAfter) {
		t.Errorf("with nine days left, the leaf still ends on %s", renewed.NotAfter)
	}
}

// A clock that was ahead at the start, and is put right while the process runs, must not need a restart: neither the
// authority nor its leaves would be valid for as long as the clock was ahead.
func TestAClockThatWasAheadIsPutRight(t *testing.T) {
	t.Parallel()
	h := newDataDir(t)
	right := h.now
	h.now = right.AddDate(0, 3, 0)
	config := h.start(t, "https://localhost:8443")
	leaf(t, config, "demo.localhost")
	inTheFuture := h.read(t, "ca.pem")

	h.now = right
	cert := leaf(t, config, "demo.localhost")
	if _, err := cert.Verify(x509.VerifyOptions{Roots: h.roots(t), DNSName: "demo.localhost", CurrentTime: right}); err != nil {
		t.Error(err)
	}
	if bytes.Equal(h.read(t, "ca.pem"), inTheFuture) || !strings.Contains(h.log.String(), "clients must import again") {
		t.Errorf("the authority was kept, or replaced without a word: %s", h.log.String())
	}
	if leaf(t, config, "demo.localhost") != cert {
		t.Error("each handshake makes a certificate")
	}

	// An authority that is valid keeps its file; its leaf is made again.
	h = newDataDir(t)
	h.start(t, "https://localhost:8443")
	kept := h.read(t, "ca.pem")
	h.now = right.AddDate(0, 3, 0)
	config = h.start(t, "https://localhost:8443")
	leaf(t, config, "demo.localhost")
	h.now = right
	if _, err := leaf(t, config, "demo.localhost").Verify(x509.VerifyOptions{Roots: h.roots(t), CurrentTime: right}); err != nil || !bytes.Equal(h.read(t, "ca.pem"), kept) {
		t.Errorf("a leaf of the future: %v", err)
	}
}

func TestLeavesForManyAtOnce(t *testing.T) {
	t.Parallel()
	config := newDataDir(t).start(t, "https://localhost:8443")
	var wg sync.WaitGroup
	for client := range 4 {
		wg.Go(func() {
			for i := range 600 { // more hosts than are remembered
				name := fmt.Sprintf("t%d.localhost", client/2*600+i)
				cert, err := config.GetCertificate(&tls.ClientHelloInfo{ServerName: name})
				if err != nil || cert.Leaf.DNSNames[0] != name {
					t.Errorf("certificate for %s: %v", name, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// What Go accepts, the libraries under curl, Python and Node must too.
func TestOpenSSLAccepts(t *testing.T) {
	t.Parallel()
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	for _, c := range []struct{ baseURL, serverName, flag, dialled string }{
		{"https://localhost:8443", "demo.localhost", "-verify_hostname", "demo.localhost"},
		{"https://localhost:8443", "", "-verify_ip", "::1"},
		{"https://192.0.2.7:8443", "", "-verify_ip", "192.0.2.7"},
	} {
		h := newDataDir(t)
		cert := leaf(t, h.start(t, c.baseURL), c.serverName)
		h.write(t, "leaf.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))
		out, err := exec.CommandContext(t.Context(), openssl, "verify", "-x509_strict", "-purpose", "sslserver",
			"-CAfile", h.file("ca.pem"), c.flag, c.dialled, h.file("leaf.pem")).CombinedOutput()
		if err != nil {
			t.Errorf("%s, %s: %v\n%s", c.baseURL, c.dialled, err, out)
		}
	}
}
