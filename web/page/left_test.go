package page_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// area serves one handler as the areas of people do, with their log.
func area(handle echo.HandlerFunc) (pages http.Handler, log *bytes.Buffer) {
	log = &bytes.Buffer{}
	kit := page.New(page.Config{Now: time.Now, Log: slog.New(slog.NewTextHandler(log, nil))})
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		kit.ShowError(c, err, "/", func(f page.Failure) error { return c.String(f.Status, f.Message) })
	}
	e.Use(page.Compressed(), page.WithTimeout(15*time.Second))
	e.Any("/*", handle)
	return e, log
}

// A client that left gets no response, and what failed because of that leaves no line of the log, however the
// failure looks.
func TestAClientThatLeftIsNoFault(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"its context":            context.Canceled,
		"a cancelled statement":  &pgconn.PgError{Code: "57014", Message: "canceling statement due to user request"},
		"a connection that died": io.ErrUnexpectedEOF,
		"too busy":               core.Busy("Too busy", time.Second),
		"no database":            core.Unavailable(errors.New("closed")),
	} {
		for _, left := range []bool{true, false} {
			pages, log := area(func(echo.Context) error { return err })
			ctx, leave := context.WithCancel(t.Context())
			if left {
				leave()
			}
			w := &silent{ResponseRecorder: httptest.NewRecorder()}
			pages.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
			leave()
			if answered := w.begun; answered == left || (log.Len() > 0) == left {
				t.Errorf("%s, left %t: answered %t, logged %s", name, left, answered, log)
			}
		}
	}
}

// silent knows whether a response has begun.
type silent struct {
	*httptest.ResponseRecorder
	begun bool
}

func (s *silent) WriteHeader(status int) { s.begun = true; s.ResponseRecorder.WriteHeader(status) }

func (s *silent) Write(b []byte) (int, error) { s.begun = true; return s.ResponseRecorder.Write(b) }

// A form that takes too long to arrive is 408 and no fault of the server's, whichever time was over first: that of
// the connection, or that for the page. The same in a form with a file.
func TestASlowFormIs408(t *testing.T) {
	t.Parallel()
	for kind, form := range map[string]struct {
		text string
		read echo.HandlerFunc
	}{
		"application/x-www-form-urlencoded": {"a=b", func(c echo.Context) error {
			_, err := forms.Read(c)
			return err
		}},
		"multipart/form-data; boundary=x": {"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x--\r\n", func(c echo.Context) error {
			_, _, err := forms.ReadWithFile(c, "file", 1000)
			return err
		}},
	} {
		pages, log := area(form.read)
		synctest.Test(t, func(t *testing.T) {
			for name, body := range map[string]io.Reader{
				"the connection's deadline": io.MultiReader(strings.NewReader(form.text[:2]), iotest.ErrReader(&os.PathError{Op: "read", Err: os.ErrDeadlineExceeded})),
				"the page's time":           &late{Reader: strings.NewReader(form.text), after: 20 * time.Second},
			} {
				log.Reset()
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
				r.Header.Set("Content-Type", kind)
				w := httptest.NewRecorder()
				pages.ServeHTTP(w, r)
				if w.Code != http.StatusRequestTimeout || w.Body.String() != forms.TooSlowMessage || log.Len() > 0 {
					t.Errorf("%s, %s: %d %s, logged %s", kind, name, w.Code, w.Body, log)
				}
			}
		})
	}
}

// late is a body that arrives after a while.
type late struct {
	io.Reader
	after time.Duration
}

func (l *late) Read(b []byte) (int, error) {
	time.Sleep(l.after)
	l.after = 0
	return l.Reader.Read(b)
}

// Work that waits longer than its page may take is a page that can be tried again, and no fault.
func TestNoTimeLeftIsUnavailable(t *testing.T) {
	t.Parallel()
	pages, log := area(func(echo.Context) error { return context.DeadlineExceeded })
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	if w.Code != http.StatusServiceUnavailable || strings.Contains(log.String(), "ERROR") {
		t.Errorf("%d, logged %s", w.Code, log)
	}
}
