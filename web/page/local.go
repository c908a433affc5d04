package page

import (
	"net/http"
	"net/netip"

	"github.com/labstack/echo/v4"
)

// Local is for pages without a sign-in: they exist only for a browser on this machine that
// asks for the base host by its name. A foreign page whose name leads to this machine asks
// for another host. slug says whose host was called: "" is the base host.
func Local(slug func(host string) (slug string, known bool), address func(*http.Request) string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			label, known := slug(r.Host)
			client, err := netip.ParseAddr(address(r))
			if err != nil || !client.IsLoopback() || !known || label != "" || anonymous(r.Header) {
				return echo.ErrNotFound
			}
			private(c.Response().Header())
			return next(c)
		}
	}
}

// anonymous reports whether a proxy passed the request on without saying for whom: then the
// address is the proxy's own, which may well be this machine's.
func anonymous(h http.Header) bool {
	return h.Get(echo.HeaderXForwardedFor) == "" && (h.Get(echo.HeaderXForwardedProto) != "" || h.Get("Via") != "" || h.Get("Forwarded") != "")
}
