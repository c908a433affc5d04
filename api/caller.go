package api

import (
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/token"
)

const callerKey = "caller"

// caller is who calls; not known without a valid token.
func caller(c echo.Context) (who token.Caller, known bool) {
	who, known = c.Get(callerKey).(token.Caller)
	return who, known
}

// actor is the caller as core knows them. Routes are guarded, so there is one.
func actor(c echo.Context) core.Actor {
	who, _ := caller(c)
	return who.Actor
}

// identify finds out who calls and counts the request against that caller's limit:
// the token's where it is valid, else the address's. It runs before the route is
// asked, so unknown paths count too.
func (a *API) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		address := a.Address(r)
		window, key := a.PerAddress, a.AddressKey(address)
		who, err := a.Tokens.Authenticate(r.Context(), bearer(r), a.Slug(r.Host))
		switch {
		case err == nil:
			who.Address, who.RequestID = address, c.Response().Header().Get(echo.HeaderXRequestID)
			c.Set(callerKey, who)
			core.Note(r.Context(), slog.String("token", who.ID), slog.Int64("tenant", int64(who.Tenant.ID)))
			window, key = a.PerToken, who.ID
		case !errors.Is(err, core.ErrUnauthenticated):
			return err
		}
		verdict := window.Take(key)
		tellLimit(c.Response().Header(), verdict)
		if !verdict.Allowed {
			return errTooManyRequests
		}
		return next(c)
	}
}

// bearer is the token in the header, or "".
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get(echo.HeaderAuthorization), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func tellLimit(h http.Header, v limit.Verdict) {
	if v.Limit == 0 {
		return
	}
	h.Set("X-RateLimit-Limit", strconv.Itoa(v.Limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(v.Remaining))
	if !v.Allowed {
		// Rounded up: who waits that long is let in.
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(v.Wait.Seconds()))))
		h.Set("X-RateLimit-Reset", strconv.FormatInt(v.Reset.Add(time.Second-1).Unix(), 10))
	}
}
