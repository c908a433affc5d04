package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
)

// isStrict reports whether a client prefers to be refused for parameters that don't exist (RFC 7240, section 4.4). Of a
// preference that is given more than once, the first counts.
func isStrict(h http.Header) bool {
	for _, header := range h.Values("Prefer") {
		for preference := range strings.SplitSeq(header, ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(preference, "=")
			if strings.EqualFold(strings.TrimSpace(name), "handling") {
				return strings.EqualFold(strings.Trim(strings.TrimSpace(value), `"`), "strict")
			}
		}
	}
	return false
}

// applyPreference says in every response that the preference counts.
func applyPreference(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if isStrict(c.Request().Header) {
			c.Response().Header().Set("Preference-Applied", "handling=strict")
			c.Set(strictKey, true)
		}
		return next(c)
	}
}

const strictKey = "strict"

// refuseUnknown refuses parameters that the handler hasn't asked for, if the client prefers that.
func refuseUnknown(c echo.Context) error {
	if c.Get(strictKey) == nil {
		return nil
	}
	q, read := c.Get(queryKey).(query)
	if !read {
		q.values = c.Request().URL.Query()
	}
	unknown := core.Fields{}
	for name := range q.values {
		if !q.asked[name] {
			unknown.Add(name, core.Unknown)
		}
	}
	if len(unknown) > 0 {
		return core.Invalid(unknown)
	}
	return nil
}
