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

// ShowBusy answers with the page that says BusyMessage, for all areas.
func ShowBusy(c echo.Context) error {
	return security.Headers(func(c echo.Context) error {
		html, err := busyPage()
		if err != nil {
			return err
		}
		return c.HTMLBlob(http.StatusServiceUnavailable, html)
	})(c)
}

// busyPage names no business: looking it up would be more work.
var busyPage = sync.OnceValues(func() ([]byte, error) {
	n := views.Notice{Frame: new(Portal).frame(front{}, "Too busy"), Words: BusyMessage}
	var html bytes.Buffer
	err := views.NoticePage(n).Render(context.Background(), &html) //nolint:forbidigo // rendered once, for all requests
	return page.Isolated(html.Bytes()), err
})
