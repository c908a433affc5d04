// Package host handles TLS and host names: the names of the product and their certificates, the refusal
// of plain HTTP, and the client's address behind a proxy.
//
// Its surprising rule: plain and encrypted clients use the same port and are distinguished by the first
// byte they send, so a mistyped "http://" gets an explanation instead of a failed handshake.
package host

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Names are the host names of the product: the base host for the platform,
// and one label below it for each tenant.
type Names struct {
	host string     // lower case, no port, no brackets
	port string     // empty when it is 443
	addr netip.Addr // valid when host is an address
}

// Parse reads the base URL, which is nothing but https, a host and perhaps a
// port: a path could not be kept apart from the product's own paths.
func Parse(baseURL string) (Names, error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return Names{}, errors.New("the base URL cannot be read") // its text may hold a password
	}
	refuse := func(why string) (Names, error) {
		return Names{}, fmt.Errorf("base URL %q %s", u.Redacted(), why)
	}
	switch {
	case u.Scheme != "https":
		return refuse("must begin with https://")
	case u.User != nil:
		return refuse("must not hold a user name or password")
	case u.Path != "" && u.Path != "/":
		return refuse("must not have a path")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return refuse("must not have a query or fragment")
	}

	n := Names{host: strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))}
	if port := u.Port(); port != "" {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 {
			return refuse("must have a port between 1 and 65535")
		}
		if number != 443 {
			n.port = strconv.FormatUint(number, 10)
		}
	}
	if addr, err := netip.ParseAddr(n.host); err == nil {
		if addr.Zone() != "" {
			return refuse("must not name a network interface")
		}
		n.addr = addr.Unmap()
		n.host = n.addr.String()
		return n, nil
	}
	if !isDomain(n.host) {
		return refuse("must name a host (letters, digits and hyphens; international names in their xn-- form)")
	}
	return n, nil
}

// Base is the base URL without a slash at its end: https://localhost:8443.
func (n Names) Base() string { return "https://" + n.hostPort("") }

// Host returns the base URL's host, without a port.
func (n Names) Host() string { return n.host }

// Tenant is the base URL of a tenant: https://demo.localhost:8443. An address has no subdomains, so
// there it is the base URL itself.
func (n Names) Tenant(slug string) string { return "https://" + n.hostPort(slug) }

// TenantHost is the host of a tenant as people read it: demo.localhost:8443.
func (n Names) TenantHost(slug string) string { return n.hostPort(slug) }

// Slug returns the slug of a Host header or a server name: "" for the base host, a tenant's slug for one
// label below it, and false for any other. The port isn't compared, since proxies change it, but it
// must be a number: links repeat the host. The tenant may not exist.
func (n Names) Slug(requestHost string) (slug string, known bool) {
	if !hasValidPort(requestHost) {
		return "", false
	}
	name := strings.ToLower(strings.TrimSuffix(WithoutPort(requestHost), "."))
	if n.addr.IsValid() {
		addr, err := netip.ParseAddr(name)
		return "", err == nil && addr.Unmap() == n.addr
	}
	if name == n.host {
		return "", true
	}
	slug, below := strings.CutSuffix(name, "."+n.host)
	if !below || !isLabel(slug) {
		return "", false
	}
	return slug, true
}

// hostPort is the Host header of a tenant's host, or of the base host for an
// empty slug.
func (n Names) hostPort(slug string) string {
	name := n.name(slug)
	switch {
	case n.port != "":
		return net.JoinHostPort(name, n.port)
	case n.addr.Is6():
		return "[" + name + "]"
	}
	return name
}

func (n Names) name(slug string) string {
	if slug == "" || n.addr.IsValid() {
		return n.host
	}
	return slug + "." + n.host
}

// hasValidPort reports whether a Host header names a number as its port, or none.
func hasValidPort(hostPort string) bool {
	_, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return true // it has none
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// IsLocal reports whether the base URL is for one machine, or is an address: names that
// end in localhost and addresses have no subdomains to protect.
func (n Names) IsLocal() bool {
	return n.addr.IsValid() || n.host == "localhost" || strings.HasSuffix(n.host, ".localhost")
}

// WithoutPort is the name or address in a Host header, without brackets.
func WithoutPort(hostPort string) string {
	if name, _, err := net.SplitHostPort(hostPort); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostPort, "["), "]")
}

func isDomain(name string) bool {
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if !isLabel(label) {
			return false
		}
	}
	// Browsers read a name that ends in a number, such as 127.1, as an address.
	_, err := strconv.ParseUint(labels[len(labels)-1], 0, 64)
	return err != nil && len(name) <= 253
}

func isLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}
