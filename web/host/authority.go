package host

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// AuthorityFile and AuthorityKeyFile are the names, in the data directory, of the certificate that
// browsers and clients are told to trust in TLS mode "local", and of its key.
const (
	AuthorityFile    = "ca.pem"
	AuthorityKeyFile = "ca-key.pem"
)

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	// The last quarter is enough: servers restart more often than that. Replacing an authority means
	// that every device has to trust the new one.
	authorityRenewal = 90 * 24 * time.Hour
	// The clocks of phones and virtual machines can be late, so certificates are valid from an earlier time.
	clockSkew = time.Hour
)

// LocalAuthority is TLS without an external authority: it keeps a certificate authority in dir and
// creates certificates in memory for the base host and its tenants. The authority is constrained to
// that host and to loopback, so a stolen key can't be used to impersonate other sites.
//
// Damaged files are an error, never replaced: devices may already trust the
// certificate, and only a person knows whether there is a backup.
func LocalAuthority(dir string, n Names, now func() time.Time, log *slog.Logger) (*tls.Config, error) {
	a, err := openAuthority(dir, n, now, log)
	if err != nil {
		return nil, fmt.Errorf("local certificate authority: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: a.certificate}, nil
}

// authority signs leaves. All of them share one key: they are in the same memory, so separate keys
// would protect nothing.
type authority struct {
	certFile, keyFile string
	names             Names
	now               func() time.Time
	log               *slog.Logger
	leafKey           *ecdsa.PrivateKey

	mu     sync.Mutex
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	leaves map[string]*tls.Certificate // by slug, of this certificate
}

func openAuthority(dir string, n Names, now func() time.Time, log *slog.Logger) (*authority, error) {
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	a := &authority{
		certFile: filepath.Join(dir, AuthorityFile), keyFile: filepath.Join(dir, AuthorityKeyFile),
		names: n, now: now, log: log, leafKey: leafKey,
	}
	return a, a.load(now())
}

// load reads the authority. It creates one where there is none, or one that can't be used: for another host, not valid yet, or
// about to expire.
func (a *authority) load(now time.Time) error {
	cert, key, err := readAuthority(a.certFile, a.keyFile)
	switch {
	case errors.Is(err, errNoAuthority):
		a.log.Info("creating a local certificate authority: import it in your browser to trust it", "file", a.certFile)
	case err != nil:
		return fmt.Errorf("%w; restore %s and %s from a backup, or remove both to have a new authority made, which every device must then trust anew",
			err, a.certFile, a.keyFile)
	case !permits(cert, a.names):
		a.log.Warn("the base URL's host is not one the local certificate authority may sign for: making a new one, which browsers and clients must import again",
			"file", a.certFile, "base_url", a.names.Base())
	case cert.NotBefore.After(now):
		a.log.Warn("the local certificate authority was made while this machine's clock was ahead, and isn't valid yet: making a new one, which browsers and clients must import again",
			"file", a.certFile, "valid_from", cert.NotBefore)
	case cert.NotAfter.Sub(now) < authorityRenewal:
		a.log.Warn("the local certificate authority is about to expire: making a new one, which browsers and clients must import again",
			"file", a.certFile, "expires", cert.NotAfter)
	default:
		a.use(cert, key)
		return nil
	}
	if cert, key, err = makeAuthority(a.names, now); err != nil {
		return err
	}
	a.use(cert, key)
	return writeAuthority(a.certFile, a.keyFile, cert, key)
}

func (a *authority) use(cert *x509.Certificate, key *ecdsa.PrivateKey) {
	a.cert, a.key, a.leaves = cert, key, map[string]*tls.Certificate{}
}

var errNoAuthority = errors.New("there is none yet")

// readAuthority treats a key without a certificate as no authority: an interrupted writeAuthority
// leaves one.
func readAuthority(certFile, keyFile string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	der, err := readPEM(certFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errNoAuthority
	}
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is damaged: %w", certFile, err)
	}

	der, err = readPEM(keyFile)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is damaged: %w", keyFile, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || !key.PublicKey.Equal(cert.PublicKey) {
		return nil, nil, fmt.Errorf("%s is not the key of %s", keyFile, certFile)
	}
	return cert, key, nil
}

func readPEM(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is damaged: it holds no PEM block", file)
	}
	return block.Bytes, nil
}

func permits(cert *x509.Certificate, n Names) bool {
	if !n.addr.IsValid() {
		return slices.Contains(cert.PermittedDNSDomains, n.host)
	}
	return slices.ContainsFunc(cert.PermittedIPRanges, func(r *net.IPNet) bool {
		return r.Contains(n.addr.AsSlice())
	})
}

func makeAuthority(n Names, now time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	// A kind of name that is not listed at all would be unconstrained; where
	// the base host is an address, names are therefore held to localhost.
	domain := n.host
	if n.addr.IsValid() {
		domain = "localhost"
	}
	var ranges []*net.IPNet
	for _, ip := range n.addresses() {
		ranges = append(ranges, &net.IPNet{IP: ip, Mask: net.CIDRMask(8*len(ip), 8*len(ip))})
	}
	template := &x509.Certificate{
		Subject:                     pkix.Name{Organization: []string{"Loyalty"}, CommonName: "Loyalty local authority for " + n.host},
		NotBefore:                   now.Add(-clockSkew),
		NotAfter:                    now.Add(authorityLife),
		IsCA:                        true,
		BasicConstraintsValid:       true,
		MaxPathLenZero:              true,
		KeyUsage:                    x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		ExtKeyUsage:                 []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         []string{domain},
		PermittedIPRanges:           ranges,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return cert, key, err
}

// addresses are loopback, where a local product is reached without a name,
// and the base host where it is an address.
func (n Names) addresses() []net.IP {
	ips := []net.IP{{127, 0, 0, 1}, net.IPv6loopback}
	if n.addr.IsValid() && !n.addr.IsLoopback() {
		ips = append(ips, n.addr.AsSlice())
	}
	return ips
}

// writeAuthority removes an old certificate first and writes the new one
// last: an interruption at any point leaves no certificate, and the next start
// makes both again.
func writeAuthority(certFile, keyFile string, cert *x509.Certificate, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	// 0755: the private database lies here too and runs as another user.
	if err := os.MkdirAll(filepath.Dir(certFile), 0o755); err != nil {
		return err
	}
	if err := os.Remove(certFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writePEM(keyFile, 0o600, "PRIVATE KEY", der); err != nil {
		return err
	}
	return writePEM(certFile, 0o644, "CERTIFICATE", cert.Raw)
}

// writePEM never lets a reader, or a power cut, see half a file.
func writePEM(file string, mode fs.FileMode, kind string, der []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // finds nothing once renamed
	err = errors.Join(
		f.Chmod(mode),
		pem.Encode(f, &pem.Block{Type: kind, Bytes: der}),
		f.Sync(),
		f.Close(),
	)
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
