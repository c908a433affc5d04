package host

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Handshakes look at the files at most this often. Watching them instead
// would miss the swapped symbolic links by which some tools renew.
const filesInterval = time.Minute

// Files is TLS with a certificate and a key from files. A renewed pair is used without a restart. While
// it is broken or incomplete, the old one stays in use.
func Files(certFile, keyFile string, now func() time.Time, log *slog.Logger) (*tls.Config, error) {
	p := &pair{certFile: certFile, keyFile: keyFile, now: now, log: log, looked: now()}
	if err := p.read(); err != nil {
		return nil, fmt.Errorf("certificate files: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.certificate}, nil
}

type pair struct {
	certFile, keyFile string
	now               func() time.Time
	log               *slog.Logger

	mu        sync.Mutex
	looked    time.Time
	cert, key []byte // as last read: the same broken pair is reported once
	serving   *tls.Certificate
}

func (p *pair) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.looked) >= filesInterval {
		p.looked = now
		if err := p.read(); err != nil {
			p.log.Warn("the certificate files do not work: the certificate read before goes on serving",
				"error", err, "expires", p.serving.Leaf.NotAfter)
		}
	}
	return p.serving, nil
}

func (p *pair) read() error {
	cert, err := os.ReadFile(p.certFile)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(p.keyFile)
	if err != nil {
		return err
	}
	if bytes.Equal(cert, p.cert) && bytes.Equal(key, p.key) {
		return nil
	}
	p.cert, p.key = cert, key
	serving, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("%s and %s: %w", p.certFile, p.keyFile, err)
	}
	p.serving = &serving
	return nil
}
