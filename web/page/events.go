package page

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/live"
)

// A comment is sent so often, so that proxies and browsers keep a quiet stream open. A
// stream ends after a while, and the browser begins another: a client that is gone without
// a word holds nothing for long.
const (
	eventPause  = 15 * time.Second
	eventStream = 10 * time.Minute
)

// now is the clock of the connection's deadlines.
var now = time.Now //nolint:forbidigo // the network knows no other

// Events streams the state of something as server-sent events: its name at once, and again
// whenever it differs after a signal of the topic, until it is final, the client leaves or
// the process stops. A message is "event: state" with the name as its data. Its route is
// past Compressed and Timely.
func Events(c echo.Context, hub *live.Hub, topic string, state func(context.Context) (name string, final bool, err error)) error {
	// Subscribed before the state is read: what changes in between is signalled.
	changed, stop := hub.Subscribe(topic)
	defer stop()
	ctx, cancel := context.WithTimeout(c.Request().Context(), eventStream)
	defer cancel()
	name, final, err := state(ctx)
	if err != nil {
		return err
	}
	w := c.Response()
	h := w.Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set(echo.HeaderCacheControl, "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy that gathers answers would hold the signals back
	w.WriteHeader(http.StatusOK)
	stream := http.NewResponseController(w)
	if err := stream.SetReadDeadline(time.Time{}); err != nil { // or the request ends with the time to read one
		return err
	}
	send := func(format string, args ...any) error {
		// The server's own limit is for whole answers.
		if err := stream.SetWriteDeadline(now().Add(2 * eventPause)); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, format, args...); err != nil {
			return err
		}
		return stream.Flush()
	}
	const message = "event: state\ndata: %s\n\n"
	if err := send(message, name); err != nil || final {
		return nil // the client has gone
	}
	beat := time.NewTicker(eventPause)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			// A process that was killed may not have signalled what it did: look again.
			err = send(": still here\n\n")
		case _, open := <-changed:
			if !open {
				return nil
			}
		}
		if err != nil {
			return nil // the client has gone
		}
		var next string
		if next, final, err = state(ctx); err != nil {
			return nil // the browser connects again, and is told then
		}
		if next == name {
			continue
		}
		name = next
		err = send(message, name)
		if err != nil || final {
			return nil // the client has gone
		}
	}
}
