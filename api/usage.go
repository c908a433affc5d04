package api

import (
	"maps"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/token"
)

const (
	problemKey = "problem"       // the problem that was answered
	refusedKey = "refused token" // the id of a token that is known and doesn't work any more
)

// statusLeft is counted for a client that left before its response, as in the log.
const statusLeft = 499

// count counts the requests with a token, also those with one that doesn't work any more. It writes nothing: the meter does
// that in the background.
func (a *API) count(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		r := token.Request{Method: knownMethod(c.Request().Method), Endpoint: a.paths[c.Path()], Status: c.Response().Status}
		if who, known := caller(c); known {
			r.TokenID, r.Address = who.TokenID, who.Address
		} else if id, revoked := c.Get(refusedKey).(int64); revoked {
			r.TokenID, r.Address = id, a.Address(c.Request())
		}
		if r.TokenID == 0 {
			return err
		}
		switch p, refused := c.Get(problemKey).(problem); {
		case !c.Response().Committed:
			r.Status = statusLeft
			r.Refused = &token.Reason{Title: "Client Closed Request", Detail: "The client left before the response."}
		case refused:
			r.Refused = &token.Reason{Title: p.Title, Detail: p.Detail, Code: p.Code}
			r.Refused.Fields = slices.Sorted(maps.Keys(p.Errors))
		}
		if r.Refused != nil {
			r.Refused.RequestID = c.Response().Header().Get(echo.HeaderXRequestID)
		}
		a.TokenMeter.Count(r)
		return err
	}
}

// knownMethod returns a method by a constant, since the request's is a part of its first line and may be anything.
func knownMethod(name string) string {
	for _, method := range []string{
		http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodPut, http.MethodOptions,
	} {
		if name == method {
			return method
		}
	}
	return "OTHER"
}
