package portal_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/loyalty/web/portal"
	"example.com/loyalty/web/webtest"
)

// A customer who closes the page before it is there gets none, and leaves no line of the log: neither that it failed
// nor that it is unavailable.
func TestACustomerWhoLeft(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var log bytes.Buffer
	s.config.Log = slog.New(slog.NewTextHandler(&log, nil))
	pages := portal.New(s.config)
	browser := webtest.New(t, pages, s.By.Tenant)
	for path, method := range map[string]string{
		s.card(s.anna()): http.MethodGet, s.card(s.anna()) + "/pin": http.MethodPost, s.unsubscribing(s.anna().ID): http.MethodPost, "/": http.MethodGet, "/join": http.MethodGet,
	} {
		ctx, leave := context.WithCancel(t.Context())
		leave()
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, browser.Request(method, path, nil, "Sec-Fetch-Site", "same-origin").WithContext(ctx))
		if w.Body.Len() > 0 || log.Len() > 0 {
			t.Errorf("%s %s: %d %s, logged %s", method, path, w.Code, w.Body, &log)
		}
		log.Reset()
	}
}
