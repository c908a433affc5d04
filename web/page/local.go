package page

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/labstack/echo/v4"
)

// Local guards pages without a sign-in: only a browser on this machine that asks for the base host
// by its name sees them. A foreign page with a name that resolves to this machine asks for another
// host, and requests that a proxy or tunnel on this machine forwards are refused. slug returns the
// slug of a host, "" for the base host.
func Local(slug func(host string) (slug string, known bool), address func(*http.Request) string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			label, known := slug(r.Host)
			client, err := netip.ParseAddr(address(r))
			if err != nil || !client.IsLoopback() || !known || label != "" || isForwarded(r.Header) {
				return echo.ErrNotFound
			}
			noStore(c.Response().Header())
			return next(c)
		}
	}
}

// forwardingHeaders are set by proxies and tunnels, besides those with the prefixes below.
var forwardingHeaders = map[string]bool{
	"Forwarded": true, "Via": true, "X-Real-Ip": true, "X-Client-Ip": true, "X-Cluster-Client-Ip": true, "True-Client-Ip": true,
}

// isForwarded reports whether a proxy or a tunnel forwarded the request. Such a request can come
// from this machine's address although the client is elsewhere.
func isForwarded(h http.Header) bool {
	for name := range h {
		if forwardingHeaders[name] {
			return true
		}
		for _, prefix := range []string{"X-Forwarded-", "X-Original-", "X-Envoy-", "X-Appengine-", "Cf-", "Ngrok-", "Fly-", "Tailscale-"} {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
	}
	return false
}
