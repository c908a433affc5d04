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

// caller returns the authenticated caller, if there is one.
func caller(c echo.Context) (who token.Caller, known bool) {
	who, known = c.Get(callerKey).(token.Caller)
	return who, known
}

// actor returns the caller as core's actor. Only for guarded routes, which have a caller.
func actor(c echo.Context) core.Actor {
	who, _ := caller(c)
	return who.Actor
}

// identify authenticates the caller and counts the request against the rate limit of the
// token or session, or else of the address. It runs before routing, so unknown paths count
// too.
func (a *API) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		address := a.Address(r)
		window, policy, key := a.PerAddress, "address", a.AddressKey(address)
		failures, secret := a.Failures.Peek(key), credential(c)
		if !failures.Allowed && secret != "" && !a.recent.wasValid(secret) {
			// Not looked up: a valid token that wasn't used recently is refused, too.
			verdict := window.Take(key)
			verdict.Allowed, verdict.Remaining = false, 0
			if failures.Wait > verdict.Wait {
				verdict.Wait, verdict.Reset = failures.Wait, failures.Reset
			}
			verdict.Limit = max(verdict.Limit, 1)
			writeLimitHeaders(c.Response().Header(), policy, verdict)
			return errTooManyRequests
		}
		who, name, err := a.authenticate(c)
		switch {
		case secret == "":
		case err == nil:
			a.recent.store(secret, true)
		case errors.Is(err, core.ErrUnauthenticated):
			a.recent.store(secret, false)
			c.Set(refusedKey, who.TokenID)
			a.Failures.Take(key)
		}
		switch {
		case err == nil:
			who.Address, who.RequestID = address, c.Response().Header().Get(echo.HeaderXRequestID)
			c.Set(callerKey, who)
			core.AddLogAttrs(r.Context(), slog.String(string(who.Kind), who.ID), slog.Int64("tenant", int64(who.Tenant.ID)))
			window, policy, key = a.PerToken, "token", name
		case !errors.Is(err, core.ErrUnauthenticated):
			return err
		}
		verdict := window.Take(key)
		writeLimitHeaders(c.Response().Header(), policy, verdict)
		if !verdict.Allowed {
			return errTooManyRequests
		}
		return next(c)
	}
}

// authenticate returns the caller and the name for their rate limit.
func (a *API) authenticate(c echo.Context) (who token.Caller, name string, err error) {
	r := c.Request()
	slug, _ := a.Slug(r.Host)
	if cookie := panelCookie(c); cookie != "" {
		who.Actor, err = a.Auth.Actor(r.Context(), cookie, slug)
		return who, "session " + auth.SessionID(cookie), err
	}
	who, err = a.Tokens.Authenticate(r.Context(), bearer(r), slug)
	return who, who.ID, err
}

// credential returns the request's token or session, or "". Never logged.
func credential(c echo.Context) string {
	if cookie := panelCookie(c); cookie != "" {
		return "session " + cookie
	}
	return bearer(c.Request())
}

// panelCookie returns the session cookie of a person who is signed in to the panel, or "".
// A session is accepted only for tokens, without an Authorization header, and from pages of
// the same host.
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

// sameOrigin reports whether a request comes from a page of the same host.
func sameOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return crossOrigin.Check(r) == nil
	}
	return false
}

// bearer returns the token in the header, or "".
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get(echo.HeaderAuthorization), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// writeLimitHeaders writes what is left of a limit: in the headers that most clients know, and in those of the IETF's draft
// (draft-ietf-httpapi-ratelimit-headers-10).
func writeLimitHeaders(h http.Header, policy string, v limit.Verdict) {
	if v.Limit == 0 {
		return
	}
	// Rounded up, so that a retry after that time is within the limit.
	wait := int(math.Ceil(v.Wait.Seconds()))
	limit, remaining := strconv.Itoa(v.Limit), strconv.Itoa(v.Remaining)
	// As net/http writes the names: any other spelling is converted, for each response.
	h.Set("X-Ratelimit-Limit", limit)
	h.Set("X-Ratelimit-Remaining", remaining)
	h.Set("X-Ratelimit-Reset", strconv.FormatInt(v.Reset.Add(time.Second-1).Unix(), 10))
	h.Set("Ratelimit-Policy", `"`+policy+`";q=`+limit+`;w=`+strconv.Itoa(int(v.Length.Seconds())))
	h.Set("Ratelimit", `"`+policy+`";r=`+remaining+`;t=`+strconv.Itoa(wait))
	if !v.Allowed {
		h.Set(echo.HeaderRetryAfter, strconv.Itoa(wait))
	}
}
