package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/certificate"
	"example.com/loyalty/web/host"
)

// tls returns how the server at addr terminates TLS.
func (a *app) tls(ctx context.Context, addr net.Addr) (*tls.Config, error) {
	switch a.TLS {
	case "files":
		return host.Files(a.TLSCert, a.TLSKey, time.Now, a.log)
	case "acme":
		roots, err := a.acmeRoots()
		if err != nil {
			return nil, fmt.Errorf("LOYALTY_ACME_CA: %w", err)
		}
		a.acme, err = host.NewACME(ctx, host.ACMEConfig{
			Names: a.names, Directory: a.ACMEURL, Email: core.ASCIIEmail(a.ACMEEmail), Roots: roots, Storage: certificate.NewStore(a.db, a.keys),
			Exists: a.isTenant, Addr: addr, Now: time.Now, Log: a.log,
		})
		if err != nil {
			return nil, err
		}
		return a.acme.TLS(), nil
	}
	return host.LocalAuthority(a.DataDir, a.names, time.Now, a.log)
}

// acmeRoots returns the certificates that the authority's directory is trusted by; nil: those of the system.
func (c *config) acmeRoots() (*x509.CertPool, error) {
	if c.ACMECA == "" {
		return nil, nil //nolint:nilnil // as crypto/tls takes it
	}
	text, err := os.ReadFile(c.ACMECA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM", c.ACMECA)
	}
	return roots, nil
}

// authorityFile returns the path of the local certificate authority; "" in other TLS modes.
func (c *config) authorityFile() string {
	if c.TLS != "local" {
		return ""
	}
	return absolute(filepath.Join(c.DataDir, host.AuthorityFile))
}
