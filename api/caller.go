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
	"example.com/loyalty/core/auth"
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
// the token's or the session's where it is valid, else the address's. It runs before the
// route is asked, so unknown paths count too.
func (a *API) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		address := a.Address(r)
		window, key := a.PerAddress, a.AddressKey(address)
		failures, secret := a.Failures.Peek(key), credential(c)
		if !failures.Allowed && secret != "" && !a.lately.wasValid(secret) {
			// Without a look: a valid token that was not used lately waits, too.
			verdict := window.Take(key)
			verdict.Allowed, verdict.Remaining = false, 0
			if failures.Wait > verdict.Wait {
				verdict.Wait, verdict.Reset = failures.Wait, failures.Reset
			}
			verdict.Limit = max(verdict.Limit, 1)
			writeLimitHeaders(c.Response().Header(), verdict)
			return errTooManyRequests
		}
		who, name, err := a.find(c)
		switch {
		case secret == "":
		case err == nil:
			a.lately.store(secret, true)
		case errors.Is(err, core.ErrUnauthenticated):
			a.lately.store(secret, false)
			a.Failures.Take(key)
		}
		switch {
		case err == nil:
			who.Address, who.RequestID = address, c.Response().Header().Get(echo.HeaderXRequestID)
			c.Set(callerKey, who)
			core.AddLogAttrs(r.Context(), slog.String(string(who.Kind), who.ID), slog.Int64("tenant", int64(who.Tenant.ID)))
			window, key = a.PerToken, name
		case !errors.Is(err, core.ErrUnauthenticated):
			return err
		}
		verdict := window.Take(key)
		writeLimitHeaders(c.Response().Header(), verdict)
		if !verdict.Allowed {
			return errTooManyRequests
		}
		return next(c)
	}
}

// find finds out who calls, and by what name their requests are counted.
func (a *API) find(c echo.Context) (who token.Caller, name string, err error) {
	r := c.Request()
	slug, _ := a.Slug(r.Host)
	if cookie := panelCookie(c); cookie != "" {
		who.Actor, err = a.Auth.Actor(r.Context(), cookie, slug)
		return who, "session " + auth.SessionID(cookie), err
	}
	who, err = a.Tokens.Authenticate(r.Context(), bearer(r), slug)
	return who, who.ID, err
}

// credential is what a request gives to say who calls, or "". Never logged.
func credential(c echo.Context) string {
	if cookie := panelCookie(c); cookie != "" {
		return "session " + cookie
	}
	return bearer(c.Request())
}

// panelCookie is the cookie of somebody who is signed in to the panel, or "" where a
// session does not count: on other routes than those of tokens, beside an Authorization
// header of whatever worth, and in requests that another site has the browser make.
func panelCookie(c echo.Context) string {
	r := c.Request()
	if !strings.HasPrefix(c.Path(), Prefix+tokens) || len(r.Header.Values(echo.HeaderAuthorization)) > 0 || !sameOrigin(r) {
		return ""
	}
	cookie, err := r.Cookie(auth.SessionCookie)
	if err != nil {
		return ""
	}
	return cookie.Value
}

var crossOrigin http.CrossOriginProtection

// sameOrigin reports whether a request comes from a page of the host that it goes to.
// Another site could not read the answer, but it has no business asking either.
func sameOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return crossOrigin.Check(r) == nil
	}
	return false
}

// bearer is the token in the header, or "".
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get(echo.HeaderAuthorization), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func writeLimitHeaders(h http.Header, v limit.Verdict) {
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
