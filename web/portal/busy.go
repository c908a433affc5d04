package portal

import (
	"bytes"
	"context"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/portal"
	"example.com/loyalty/web/page"
)

// BusyMessage says that a request has waited too long for a place.
const BusyMessage = "Too many requests at the moment. Wait a few seconds, then try again."

// ShowBusy answers with the page that says BusyMessage, for all areas. With an error, nothing was answered.
func ShowBusy(w http.ResponseWriter, r *http.Request) error {
	html, err := busyPage(r.Context())
	if err != nil {
		return err
	}
	security.Set(w.Header())
	w.Header().Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(html) // a browser that has gone misses nothing
	return nil
}

// busy is the page, which is rendered once, for all requests.
var busy struct {
	sync.Once

	html []byte
	err  error
}

// busyPage names no business: looking it up would be more work.
func busyPage(ctx context.Context) ([]byte, error) {
	busy.Do(func() {
		n := views.Notice{Frame: new(Portal).frame(front{}, "Too busy"), Words: BusyMessage}
		var html bytes.Buffer
		busy.err = views.NoticePage(n).Render(context.WithoutCancel(ctx), &html)
		busy.html = page.Isolated(html.Bytes())
	})
	return busy.html, busy.err
}
