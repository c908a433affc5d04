package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/loyalty/core/dbtest"
)

// A client that left before its response gets none, and leaves no line of the log.
func TestAClientThatLeft(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	own := newServer(t, dbtest.DB(t), nil)
	for _, path := range []string{"/api/v1/customers", "/api/v1/reports/summary", "/api/v1/transactions/01KJMMA3F8YRB59AH4DCTW1ZHD"} {
		ctx, leave := context.WithCancel(t.Context())
		leave()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "https://"+domain+path, nil)
		r.Header.Set("Authorization", "Bearer "+s.token)
		w := httptest.NewRecorder()
		own.handler().ServeHTTP(w, r)
		if log := own.log.String(); w.Body.Len() > 0 || log != "" {
			t.Errorf("%s: %d %s, logged %s", path, w.Code, w.Body, log)
		}
	}
}
