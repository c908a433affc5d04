package page_test

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/live"
	"example.com/loyalty/web/page"
)

// stream serves the state of something, and reads what is sent of it.
func stream(t *testing.T, hub *live.Hub, state live.Read) (status int, kind string, lines *bufio.Scanner) {
	t.Helper()
	e := echo.New()
	e.GET("/events", func(c echo.Context) error { return page.Events(c, hub, "pin 1", "203.0.113.7", state) })
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = got.Body.Close() })
	return got.StatusCode, got.Header.Get("Content-Type"), bufio.NewScanner(got.Body)
}

// said is the next state that the stream tells, or "" when it has ended.
func said(lines *bufio.Scanner) string {
	for lines.Scan() {
		if state, found := strings.CutPrefix(lines.Text(), "data: "); found {
			return state
		}
	}
	return ""
}

// The state is told at once, again when it differs after a signal, and no more once it is
// final.
func TestEvents(t *testing.T) {
	t.Parallel()
	hub := live.NewHub(slog.New(slog.DiscardHandler))
	var state atomic.Value
	state.Store("waiting")
	var asked atomic.Int64
	_, kind, lines := stream(t, hub, func(context.Context) (live.State, error) {
		asked.Add(1)
		name := state.Load().(string)
		return live.State{Name: name, Final: name == "completed"}, nil
	})
	if kind != "text/event-stream" {
		t.Errorf("it is %s", kind)
	}
	if s := said(lines); s != "waiting" {
		t.Fatalf("at first %q", s)
	}
	hub.Signal("pin 1") // nothing has changed
	for asked.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	for _, next := range []string{"taken", "completed"} {
		state.Store(next)
		hub.Signal("pin 1")
		if s := said(lines); s != next {
			t.Fatalf("told %q, want %q", s, next)
		}
	}
	if s := said(lines); s != "" {
		t.Errorf("after the end %q", s)
	}
}

// A process that stops ends its streams: browsers connect to another one.
func TestEventsEndWithTheProcess(t *testing.T) {
	t.Parallel()
	hub := live.NewHub(slog.New(slog.DiscardHandler))
	_, _, lines := stream(t, hub, func(context.Context) (live.State, error) { return live.State{Name: "waiting"}, nil })
	if s := said(lines); s != "waiting" {
		t.Fatal(s)
	}
	hub.Close()
	if s := said(lines); s != "" {
		t.Errorf("told %q", s)
	}
}

// What can't be read is an error page, and no stream.
func TestEventsOfAFailedReading(t *testing.T) {
	t.Parallel()
	hub := live.NewHub(slog.New(slog.DiscardHandler))
	status, _, _ := stream(t, hub, func(context.Context) (live.State, error) { return live.State{}, errors.New("gone") })
	if status != http.StatusInternalServerError {
		t.Errorf("status %d", status)
	}
}
