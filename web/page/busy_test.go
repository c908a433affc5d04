package page_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/web/page"
)

// "What waits too long is a 503 with Retry-After": the page says why, in the words of what was busy.
func TestWhatIsBusySaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	kit := page.New(page.Config{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	answer := httptest.NewRecorder()
	c := echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", http.NoBody), answer)
	got := kit.Explain(c, core.Busy("Other reports are being counted.", 4500*time.Millisecond))
	want := page.Failure{Status: http.StatusServiceUnavailable, Title: "Busy right now", Words: "Other reports are being counted."}
	if wait := answer.Header().Get("Retry-After"); got != want || wait != "5" {
		t.Errorf("%+v after %q s, want %+v after 5", got, wait, want)
	}
}
