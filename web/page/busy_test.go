package page_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/iotest"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// "What waits too long is a 503 with Retry-After": the page shows the refusal's message.
func TestBusyPageSaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	kit := page.New(page.Config{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	answer := httptest.NewRecorder()
	c := echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", nil), answer)
	got := kit.Explain(c, core.Busy("Other reports are being counted.", 4500*time.Millisecond))
	if wait := answer.Header().Get("Retry-After"); got.Status != http.StatusServiceUnavailable || got.Message != "Other reports are being counted." || wait != "5" {
		t.Errorf("%+v after %q s, want status 503 with the refusal's message after 5 s", got, wait)
	}
}

// A form that arrived too late for a place is told so, not that it is incomplete.
func TestAFormWithoutAPlaceIsBusy(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/", iotest.ErrReader(core.Busy("Too much at once.", time.Second)))
	r.Header.Set("Content-Type", echo.MIMEApplicationForm)
	_, err := forms.Read(echo.New().NewContext(r, httptest.NewRecorder()))
	if !core.IsKind(err, core.KindUnavailable) {
		t.Errorf("it is %v, want the refusal", err)
	}
}
