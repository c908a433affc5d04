package page

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/live"
)

// A comment is sent at every heartbeat, so that proxies and browsers keep a quiet stream open. A
// stream ends after its lifetime and the browser reconnects: a client that vanished without closing
// the connection holds nothing for long.
const (
	heartbeat      = 15 * time.Second
	streamLifetime = 10 * time.Minute
)

// Events streams a state as server-sent events: its name at once and after each change that the
// topic signals, until it is final, the client leaves or the process stops. A message is
// "event: state" with the name as its data. Its route must not use Compressed or WithTimeout.
func Events(c echo.Context, hub *live.Hub, topic string, state func(context.Context) (name string, final bool, err error)) error {
	// Subscribe before the state is read, or a change in between would be missed.
	changed, stop := hub.Subscribe(topic)
	defer stop()
	ctx, cancel := context.WithTimeout(c.Request().Context(), streamLifetime)
	defer cancel()
	name, final, err := state(ctx)
	if err != nil {
		return err
	}
	w := c.Response()
	h := w.Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set(echo.HeaderCacheControl, "no-store")
	h.Set("X-Accel-Buffering", "no") // or a proxy that buffers responses would hold events back
	w.WriteHeader(http.StatusOK)
	stream := http.NewResponseController(w)
	if err := stream.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	send := func(format string, args ...any) error {
		// The server's own write deadline is for whole responses.
		if err := stream.SetWriteDeadline(time.Now().Add(2 * heartbeat)); err != nil { //nolint:forbidigo // deadlines are of this machine's clock
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
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			// Read the state again too: a process that was killed can have changed it without a signal.
			err = send(": heartbeat\n\n")
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
			return nil // the browser reconnects
		}
		if next == name {
			continue
		}
		name = next
		if err := send(message, name); err != nil || final {
			return nil
		}
	}
}
