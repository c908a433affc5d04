package host

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ParseProxies reads the comma-separated addresses and CIDR ranges of proxies that are trusted to state
// the client's address and scheme.
func ParseProxies(s string) ([]netip.Prefix, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var proxies []netip.Prefix
	for entry := range strings.SplitSeq(s, ",") {
		prefix, err := parseProxy(strings.TrimSpace(entry))
		if err != nil {
			return nil, fmt.Errorf("trusted proxy %q is neither an address nor a CIDR range: %w", strings.TrimSpace(entry), err)
		}
		proxies = append(proxies, prefix)
	}
	return proxies, nil
}

func parseProxy(entry string) (netip.Prefix, error) {
	if strings.Contains(entry, "/") {
		prefix, err := netip.ParsePrefix(entry)
		if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
			// Compared addresses are unmapped, so the range must be.
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		return prefix.Masked(), err
	}
	addr, err := netip.ParseAddr(entry)
	if err != nil {
		return netip.Prefix{}, err
	}
	addr = addr.Unmap().WithZone("")
	return netip.PrefixFrom(addr, addr.BitLen()), nil
}

// BehindProxy serves requests that a trusted proxy received over https, and refuses others with plain.
// /healthz and /readyz are open to any peer: orchestrators probe the process directly.
func BehindProxy(trusted []netip.Prefix, secure, plain http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isProbe := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
		if isProbe || fromTrusted(trusted, r) && forwardedOverTLS(r.Header) {
			secure.ServeHTTP(w, r)
		} else {
			plain.ServeHTTP(w, r)
		}
	})
}

func fromTrusted(trusted []netip.Prefix, r *http.Request) bool {
	peer, ok := parseAddress(r.RemoteAddr)
	return ok && isTrusted(trusted, peer)
}

// forwardedOverTLS requires https of every hop that states a scheme: of two proxies in a row, either may
// have been reached unencrypted.
func forwardedOverTLS(h http.Header) bool {
	hops := forwarded(h, "X-Forwarded-Proto")
	return len(hops) > 0 && !slices.ContainsFunc(hops, func(proto string) bool {
		return !strings.EqualFold(proto, "https")
	})
}

// ClientAddress returns a function that finds the client's address of a request, for limits, logs and
// the audit log: Echo's IPExtractor. X-Forwarded-For is used only from a trusted peer. It is read from
// the right, past trusted proxies, to the first other address. Anything left of that can be forged.
func ClientAddress(trusted []netip.Prefix) func(*http.Request) string {
	return func(r *http.Request) string {
		client, ok := parseAddress(r.RemoteAddr)
		if !ok {
			return r.RemoteAddr
		}
		hops := forwarded(r.Header, "X-Forwarded-For")
		for len(hops) > 0 && isTrusted(trusted, client) {
			last := len(hops) - 1
			addr, ok := parseAddress(hops[last])
			if !ok {
				break
			}
			client, hops = addr, hops[:last]
		}
		return client.String()
	}
}

// maxRequestID is in characters: a UUID has 36, and proxies make longer ones.
const maxRequestID = 64

// RequestID returns a function that finds the id that a trusted proxy has given a request, so that the proxy's log
// and the product's have the same one, or "". The id of any other client is ignored, and so is one that could
// forge or flood a log: an id has a few letters, digits, hyphens, underscores and full stops.
func RequestID(trusted []netip.Prefix) func(*http.Request) string {
	return func(r *http.Request) string {
		ids := r.Header.Values("X-Request-Id")
		// Of two, one may be the client's own, which its proxy passed on.
		if len(ids) != 1 || !isRequestID(ids[0]) || !fromTrusted(trusted, r) {
			return ""
		}
		return ids[0]
	}
}

func isRequestID(s string) bool {
	return s != "" && len(s) <= maxRequestID && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	})
}

// LimitKey is the key of an address for limits. IPv6 addresses count by /64: providers give each
// customer one, within which a client can change its address at will.
func LimitKey(address string) string {
	addr, ok := parseAddress(address)
	if !ok {
		return address
	}
	if addr.Is6() {
		return netip.PrefixFrom(addr, 64).Masked().String()
	}
	return addr.String()
}

func isTrusted(trusted []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// forwarded lists what each hop appended, be it to a header or as another one.
func forwarded(h http.Header, name string) []string {
	values := h.Values(name)
	if len(values) == 0 {
		return nil
	}
	hops := strings.Split(strings.Join(values, ","), ",")
	for i, hop := range hops {
		hops[i] = strings.TrimSpace(hop)
	}
	return hops
}

// parseAddress takes an address with or without a port (some proxies forward
// both), and makes the two spellings of an IPv4 address one.
func parseAddress(s string) (netip.Addr, bool) {
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return withPort.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(s)
	return addr.Unmap().WithZone(""), err == nil
}
