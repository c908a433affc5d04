package host

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"example.com/loyalty/core/limit"
)

const (
	// How long handshakes wait for a certificate from when it was requested. A server ends a handshake after
	// ten seconds.
	issuePatience = 8 * time.Second
	// How long no certificate is requested for a host after certmagic gave up.
	issuePause = 5 * time.Minute

	cleanEvery  = 24 * time.Hour
	expiredKept = 14 * 24 * time.Hour

	acmeProtocol = "acme-tls/1" // of the authority's connection that verifies a host (RFC 8737)

	// Handshakes that need the database are limited, since anyone may name any host: a minute, for an address and
	// in all. Those of hosts with a certificate in memory aren't.
	lookUpsPerAddress = 60
	lookUpsInAll      = 3000
	// How long a host is known to be no business's.
	unknownFor = 30 * time.Second
)

var errTooManyLookUps = errors.New("too many handshakes for hosts without a certificate in memory")

// ACMEConfig configures certificates from an authority that speaks ACME, such as Let's Encrypt.
type ACMEConfig struct {
	Names     Names
	Directory string         // the authority's URL
	Email     string         // of the account; "" if none
	Roots     *x509.CertPool // trusted for the directory; nil: the system's
	Storage   certmagic.Storage
	// Exists reports whether a tenant has this slug. Others get no certificate, or strangers could have any number
	// requested.
	Exists func(ctx context.Context, slug string) (bool, error)
	Addr   net.Addr // that the server listens on
	Now    func() time.Time
	Log    *slog.Logger
}

// ACME is TLS with a certificate for the base host and one for each tenant's host, which is requested when a
// client first connects to that host. The authority verifies a host on the TLS port itself (TLS-ALPN-01).
//
// Requests run in the background, where certmagic repeats them with growing delays: not while a handshake waits,
// which would repeat them with every handshake.
type ACME struct {
	ACMEConfig
	config *certmagic.Config
	cache  *certmagic.Cache
	// No public certificate has the address of a server, so a client without a server name, such as
	// `loyalty health`, gets a certificate that only encrypts, whether or not the authority works.
	nameless *authority

	ctx    context.Context // of requests; it ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup

	perAddress, inAll *limit.Window // look-ups
	unknown           *limit.Window // slugs of no business: looked up once

	mu       sync.Mutex
	requests map[string]*request // by host name
}

// request is the loading or obtaining of a host's certificate.
type request struct {
	since time.Time
	until time.Time     // not repeated before; zero while it runs
	tried chan struct{} // closed after the first attempt
	done  func()        // closes tried
}

// NewACME starts to obtain the base host's certificate. ctx is only for its values.
func NewACME(ctx context.Context, c ACMEConfig) (*ACME, error) {
	cert, key, err := makeAuthority(c.Names, c.Now())
	if err != nil {
		return nil, err
	}
	a := &ACME{
		ACMEConfig: c, requests: map[string]*request{},
		perAddress: limit.NewWindow(lookUpsPerAddress, time.Minute, c.Now), inAll: limit.NewWindow(lookUpsInAll, time.Minute, c.Now),
		unknown:  limit.NewWindow(1, unknownFor, c.Now),
		nameless: &authority{names: c.Names, now: c.Now, cert: cert, key: key, leafKey: key, leaves: map[string]*tls.Certificate{}},
	}
	a.ctx, a.cancel = context.WithCancel(context.WithoutCancel(ctx))
	silent := zap.NewNop() // its log is about its own steps; event logs what happened
	a.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return a.config, nil },
		Logger:           silent,
	})
	a.config = certmagic.New(a.cache, certmagic.Config{Storage: c.Storage, OnEvent: a.event, DisableStorageCheck: true, Logger: silent})
	address, port := listening(c.Addr)
	a.config.Issuers = []certmagic.Issuer{certmagic.NewACMEIssuer(a.config, certmagic.ACMEIssuer{
		CA: c.Directory, Email: c.Email, Agreed: true, TrustedRoots: c.Roots,
		// It needs port 80 as well, and is tried first at random: where that port leads elsewhere, each second
		// attempt would fail.
		DisableHTTPChallenge: true,
		// The port is taken, so certmagic doesn't open one.
		ListenHost: address, AltTLSALPNPort: port,
		Logger: silent,
	})}
	a.request(c.Names.name(""))
	a.work.Go(a.clean)
	return a, nil
}

// listening returns an address as certmagic compares it: without a host if it is every one.
func listening(addr net.Addr) (address string, port int) {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return "", 0
	}
	if !tcp.IP.IsUnspecified() {
		address = tcp.IP.String()
	}
	return address, tcp.Port
}

// TLS returns the configuration of the server.
func (a *ACME) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: a.certificate,
		NextProtos:     []string{"h2", "http/1.1", acmeProtocol},
	}
}

// Close ends all requests and renewals.
func (a *ACME) Close() {
	a.mu.Lock()
	a.cancel() // after this, request starts nothing
	a.mu.Unlock()
	a.cache.Stop()
	a.work.Wait()
}

// certificate returns the certificate of the host that a handshake names. Without one, the client is told that
// the name is unknown, or that it failed.
func (a *ACME) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if hello.ServerName == "" {
		return a.nameless.certificate(hello)
	}
	slug, known := a.Names.Slug(hello.ServerName)
	if !known {
		return nil, nil //nolint:nilnil // crypto/tls then sends the alert "unrecognized name"
	}
	if slices.Equal(hello.SupportedProtos, []string{acmeProtocol}) { // certmagic reads the challenge from the database
		if _, err := a.mayLookUp(hello); err != nil {
			return nil, err
		}
		return a.config.GetCertificate(hello)
	}
	if cert, err := a.config.GetCertificate(hello); err == nil { // from memory
		return cert, nil
	}
	if slug != "" && !a.isRequested(a.Names.name(slug)) {
		found, err := a.lookUp(hello, slug)
		if err != nil || !found {
			return nil, err
		}
	}
	r := a.request(a.Names.name(slug))
	wait := time.NewTimer(r.since.Add(issuePatience).Sub(a.Now()))
	defer wait.Stop()
	select {
	case <-r.tried:
	case <-wait.C:
	case <-hello.Context().Done():
	}
	return a.config.GetCertificate(hello)
}

// mayLookUp counts a look-up of a handshake's client, or refuses it. The returned function takes it back.
func (a *ACME) mayLookUp(hello *tls.ClientHelloInfo) (refund func(), err error) {
	address := LimitKey(hello.Conn.RemoteAddr().String())
	if !a.perAddress.Take(address).Allowed {
		return nil, errTooManyLookUps
	}
	if !a.inAll.Take("").Allowed {
		a.perAddress.Refund(address)
		return nil, errTooManyLookUps
	}
	return func() {
		a.perAddress.Refund(address)
		a.inAll.Refund("")
	}, nil
}

// lookUp reports whether a tenant has this slug.
func (a *ACME) lookUp(hello *tls.ClientHelloInfo, slug string) (found bool, err error) {
	if !a.unknown.Peek(slug).Allowed {
		return false, nil
	}
	refund, err := a.mayLookUp(hello)
	if err != nil {
		return false, err
	}
	found, err = a.Exists(hello.Context(), slug)
	switch {
	case err != nil:
	case found: // and from now on requested
		refund()
	default:
		a.unknown.Take(slug)
	}
	return found, err
}

// isRequested reports whether the certificate of a host is being loaded or obtained, or has just failed. Such a
// host was looked up.
func (a *ACME) isRequested(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.isOpen(name, a.Now())
}

// isOpen is isRequested with the lock held.
func (a *ACME) isOpen(name string, now time.Time) bool {
	r := a.requests[name]
	return r != nil && (r.until.IsZero() || now.Before(r.until))
}

// request starts to load or obtain the certificate of a host, unless that is going on or has just failed.
func (a *ACME) request(name string) *request {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.Now()
	if a.isOpen(name, now) {
		return a.requests[name]
	}
	tried := make(chan struct{})
	r := &request{since: now, tried: tried, done: sync.OnceFunc(func() { close(tried) })}
	if a.ctx.Err() != nil {
		r.done()
		return r
	}
	a.requests[name] = r
	a.work.Go(func() {
		pause := a.run(name)
		a.mu.Lock()
		defer a.mu.Unlock()
		r.until = a.Now().Add(pause)
		if pause == 0 {
			delete(a.requests, name)
		}
		r.done()
	})
	return r
}

// run loads a certificate that a process has obtained before, or obtains it. It returns how long to wait before
// the next attempt.
func (a *ACME) run(name string) (pause time.Duration) {
	cert, err := a.config.CacheManagedCertificate(a.ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = a.config.ObtainCertAsync(a.ctx, name)
		pause = issuePause
	case err == nil && cert.Expired(): // no process has served this host for a while
		err = a.config.RenewCertAsync(a.ctx, name, false)
		pause = issuePause
	case err == nil:
		return 0
	}
	if err == nil {
		_, err = a.config.CacheManagedCertificate(a.ctx, name)
	}
	if err == nil || a.ctx.Err() != nil {
		return 0
	}
	a.Log.ErrorContext(a.ctx, "no certificate for a host", slog.String("host", name), slog.Any("error", err), slog.Duration("next_attempt_after", pause))
	return pause
}

// event logs what certmagic reports.
func (a *ACME) event(ctx context.Context, what string, data map[string]any) error {
	name, _ := data["identifier"].(string)
	renewal, _ := data["renewal"].(bool)
	switch what {
	case "cert_obtained":
		a.Log.InfoContext(ctx, "certificate obtained", slog.String("host", name), slog.Bool("renewal", renewal))
	case "cert_failed":
		a.Log.ErrorContext(ctx, "the certificate authority refused a certificate or can't be reached; tried again with growing delays",
			slog.String("host", name), slog.Bool("renewal", renewal), slog.Any("error", data["error"]))
		a.mu.Lock()
		defer a.mu.Unlock()
		if r := a.requests[name]; r != nil {
			r.done()
		}
	}
	return nil
}

// clean deletes expired certificates every day, in one process.
func (a *ACME) clean() {
	tick := time.NewTicker(cleanEvery)
	defer tick.Stop()
	for {
		select {
		case <-a.ctx.Done():
			return
		case <-tick.C:
			err := certmagic.CleanStorage(a.ctx, a.Storage, certmagic.CleanStorageOptions{
				Logger: zap.NewNop(), Interval: cleanEvery / 2,
				OCSPStaples: true, ExpiredCerts: true, ExpiredCertGracePeriod: expiredKept,
			})
			if err != nil && a.ctx.Err() == nil {
				a.Log.WarnContext(a.ctx, "expired certificates not deleted", slog.Any("error", err))
			}
		}
	}
}
