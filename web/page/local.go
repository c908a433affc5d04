package page

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/labstack/echo/v4"
)

// Local is for pages without a sign-in: they exist only for a browser on this machine that
// asks for the base host by its name, and not for what a program on this machine passes on. A
// foreign page whose name leads to this machine asks for another host. slug says whose host was
// called: "" is the base host.
func Local(slug func(host string) (slug string, known bool), address func(*http.Request) string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			label, known := slug(r.Host)
			client, err := netip.ParseAddr(address(r))
			if err != nil || !client.IsLoopback() || !known || label != "" || isForwarded(r.Header) {
				return echo.ErrNotFound
			}
			private(c.Response().Header())
			return next(c)
		}
	}
}

// forwardings are headers by which proxies and tunnels say for whom they ask, besides those that
// begin with X-Forwarded- and the like.
var forwardings = map[string]bool{
	"Forwarded": true, "Via": true, "X-Real-Ip": true, "X-Client-Ip": true, "X-Cluster-Client-Ip": true, "True-Client-Ip": true,
}

// isForwarded reports whether the request was passed on by a proxy or a tunnel: then the address
// that it comes from may be this machine's, whoever asks.
func isForwarded(h http.Header) bool {
	for name := range h {
		if forwardings[name] {
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
