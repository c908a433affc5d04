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
// "event: state" with the name as its data. Its route ends in /events, by which a proxy knows streams
// (docs/operations/haproxy.cfg), and must not use Compressed or WithTimeout.
// Where too many streams are open (live.Hub.Watch), it answers 204: the browser doesn't connect again by itself, and
// the page polls.
func Events(c echo.Context, hub *live.Hub, topic, address string, read live.Read) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), streamLifetime)
	defer cancel()
	// Watch before the state is read, or a change in between would be missed.
	states, stop, watching := hub.Watch(ctx, topic, address, read)
	if !watching {
		return c.NoContent(http.StatusNoContent)
	}
	defer stop()
	// Each client's own reading: another may not see this state.
	state, err := read(ctx)
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
	if err := send(message, state.Name); err != nil || state.Final {
		return nil // the client has gone
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			if send(": heartbeat\n\n") != nil {
				return nil // the client has gone
			}
		case next, open := <-states:
			if !open {
				return nil // the browser reconnects
			}
			if next.Name == state.Name {
				continue
			}
			state = next
			if err := send(message, state.Name); err != nil || state.Final {
				return nil
			}
		}
	}
}
