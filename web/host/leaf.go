package host

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"time"
)

const (
	leafLife    = 30 * 24 * time.Hour
	leafRenewal = leafLife / 3
	// Clients can ask for any label below the base host. A leaf costs one signature, so dropping some is
	// cheaper than keeping all.
	maxLeaves = 1000
)

// certificate returns the leaf of the host that a handshake names. Without a name, or with an unknown
// one, it returns the base host's leaf: browsers then say "wrong name", which is clearer than a failed
// handshake.
//
// Each tenant host has a leaf of its own because a wildcard directly below a
// top-level name, *.localhost, is refused by browsers and OpenSSL.
func (a *authority) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	slug, _ := a.names.Slug(hello.ServerName)
	now := a.now()

	a.mu.Lock()
	defer a.mu.Unlock()
	leaf, found := a.leaves[slug]
	if found && !leaf.Leaf.NotBefore.After(now) && leaf.Leaf.NotAfter.Sub(now) >= leafRenewal {
		return leaf, nil
	}
	// If the clock was ahead when this process started and was then put right, nothing that was made is valid yet.
	if a.cert.NotBefore.After(now) {
		if err := a.load(now); err != nil {
			return nil, fmt.Errorf("local certificate authority: %w", err)
		}
	}
	leaf, err := a.mint(slug, now)
	if err != nil {
		return nil, fmt.Errorf("mint a certificate for %s: %w", a.names.name(slug), err)
	}
	if !found && len(a.leaves) >= maxLeaves {
		for other := range a.leaves {
			delete(a.leaves, other)
			break
		}
	}
	a.leaves[slug] = leaf
	return leaf, nil
}

func (a *authority) mint(slug string, now time.Time) (*tls.Certificate, error) {
	template := &x509.Certificate{
		// No common name: OpenSSL may take one that looks like a host name for
		// a host name and hold it to the authority's constraints.
		Subject:     pkix.Name{Organization: []string{"Loyalty"}},
		NotBefore:   now.Add(-clockSkew),
		NotAfter:    now.Add(leafLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if !a.names.addr.IsValid() {
		template.DNSNames = []string{a.names.name(slug)}
	}
	if slug == "" {
		template.IPAddresses = a.names.addresses()
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, a.leafKey.Public(), a.key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.leafKey, Leaf: leaf}, nil
}
