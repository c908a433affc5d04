package host_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/web/host"
)

func TestRenewedFilesAreTakenUp(t *testing.T) {
	t.Parallel()
	h := &dataDir{dir: t.TempDir(), now: time.Now()}
	cert, key := selfSigned(t, 1)
	h.write(t, "cert.pem", cert)
	h.write(t, "key.pem", key)
	config, err := host.Files(h.file("cert.pem"), h.file("key.pem"), func() time.Time { return h.now }, slog.New(slog.NewTextHandler(&h.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	serves := func(want int64, when string) {
		t.Helper()
		if got := leaf(t, config, "loyalty.example").SerialNumber.Int64(); got != want {
			t.Errorf("%s: certificate %d is served, want %d", when, got, want)
		}
	}
	later := func() { h.now = h.now.Add(time.Minute) }
	serves(1, "at start")

	cert, key = selfSigned(t, 2)
	h.write(t, "cert.pem", cert)
	serves(1, "within the minute")
	later()
	serves(1, "with half of the new pair")
	later()
	serves(1, "with half of the new pair, still")
	if got := strings.Count(h.log.String(), "do not work"); got != 1 {
		t.Errorf("one broken pair was reported %d times", got)
	}
	h.write(t, "key.pem", key)
	later()
	serves(2, "with the whole new pair")

	h.remove(t, "cert.pem")
	later()
	serves(2, "with a file missing")
	h.write(t, "cert.pem", bytes.ToUpper(cert))
	later()
	serves(2, "with a damaged file")
}

func TestFilesThatDoNotWorkAreRefusedAtStart(t *testing.T) {
	t.Parallel()
	h := &dataDir{dir: t.TempDir()}
	cert, _ := selfSigned(t, 1)
	_, key := selfSigned(t, 2)
	h.write(t, "cert.pem", cert)
	h.write(t, "key.pem", key)
	for _, file := range []string{"missing.pem", "key.pem"} {
		_, err := host.Files(h.file("cert.pem"), h.file(file), time.Now, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Errorf("with %s: %v, want an error that names it", file, err)
		}
	}
}

// selfSigned makes a certificate as an operator would bring one.
func selfSigned(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), DNSNames: []string{"loyalty.example"}, NotAfter: time.Now().Add(time.Hour)}
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
