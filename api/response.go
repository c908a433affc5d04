package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/change"
)

// stamp is a time in responses: RFC 3339, UTC, milliseconds.
type stamp time.Time

// MarshalText writes the time.
func (s stamp) MarshalText() ([]byte, error) {
	// Room for nanoseconds, which are written before they are cut off. Without it, the text is moved three times as it grows.
	room := make([]byte, 0, len(time.RFC3339Nano))
	return time.Time(s).UTC().AppendFormat(room, "2006-01-02T15:04:05.000Z"), nil
}

func optionalStamp(t *time.Time) *stamp { return (*stamp)(t) }

// day is a date in responses.
type day time.Time

// MarshalText writes the date.
func (d day) MarshalText() ([]byte, error) { return time.Time(d).AppendFormat(nil, time.DateOnly), nil }

func optionalDay(t *time.Time) *day { return (*day)(t) }

// envelope wraps a single record.
type envelope struct {
	Data any `json:"data"`
}

func render(status int, v any) (core.Response, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return core.Response{Status: status, Body: b.Bytes()}, err
}

func write(c echo.Context, a core.Response) error {
	if a.Replayed {
		c.Response().Header().Set("Idempotent-Replayed", "true")
	}
	// Set, so that the response isn't chunked.
	c.Response().Header().Set(echo.HeaderContentLength, strconv.Itoa(len(a.Body)))
	return c.Blob(a.Status, "application/json", a.Body)
}

// writeData responds with a single record.
func writeData(c echo.Context, status int, v any) error {
	a, err := render(status, envelope{v})
	if err != nil {
		return err
	}
	return write(c, a)
}

// writeAll responds with a list without pages.
func writeAll[T, R any](c echo.Context, found []T, resource func(T) R) error {
	items := make([]R, len(found))
	for i, item := range found {
		items[i] = resource(item)
	}
	return writeData(c, http.StatusOK, items)
}

// idempotent runs a use case and writes its response. With an idempotency key, the response is
// stored with the effect, and a repeated request gets the stored one.
func idempotent[T any](c echo.Context, run func(once *core.Once[T]) (core.Reply[T], error), response func(T) (status int, resource any)) error {
	key, err := idempotencyKey(c.Request().Header)
	if err != nil {
		return err
	}
	rendered := func(result T) (core.Response, error) {
		status, resource := response(result)
		return render(status, envelope{resource})
	}
	if key == "" {
		reply, err := run(nil)
		if err != nil {
			return err
		}
		a, err := rendered(reply.Result)
		if err != nil {
			return err
		}
		return write(c, a)
	}
	reply, err := run(&core.Once[T]{RequestKey: core.RequestKey{Key: key, Fingerprint: fingerprint(c)}, Respond: rendered})
	if err != nil {
		return err
	}
	return write(c, *reply.Response)
}

// idempotencyKey reads the header: 1 to 255 visible characters, with or without quotes; "" if
// it is absent.
func idempotencyKey(h http.Header) (string, error) {
	values := h.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key := strings.TrimSpace(values[0])
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	printable := strings.IndexFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) < 0
	if len(values) > 1 || key == "" || len(key) > 255 || !printable {
		return "", errMalformed
	}
	return key, nil
}

// fingerprint identifies the request of an idempotency key: method, path and raw body.
func fingerprint(c echo.Context) [32]byte {
	r := c.Request()
	raw, _ := c.Get(bodyKey).([]byte) // nil if the body isn't read
	return sha256.Sum256(append([]byte(r.Method+" "+r.URL.EscapedPath()+"\n"), raw...))
}

type listEnvelope struct {
	Data  any       `json:"data"`
	Links listLinks `json:"links"`
	Meta  listMeta  `json:"meta"`
}

type listLinks struct {
	First *string `json:"first"` // always null: cursors have no first or last page
	Last  *string `json:"last"`
	Prev  *string `json:"prev"`
	Next  *string `json:"next"`
}

type listMeta struct {
	Path       string  `json:"path"`
	PerPage    int     `json:"per_page"`
	NextCursor *string `json:"next_cursor"`
	PrevCursor *string `json:"prev_cursor"`
	*growth
}

// growth is what the list of changes has more.
type growth struct {
	ResumeCursor string `json:"resume_cursor"`
	RetryAfter   int    `json:"retry_after"` // seconds; 0: at once, because there is a next page
}

// writeList responds with a page. Its links keep the requested host and the filters.
func writeList[T, R any](c echo.Context, p core.Page, l core.List[T], resource func(T) R) error {
	items := make([]R, len(l.Items))
	for i, item := range l.Items {
		items[i] = resource(item)
	}
	r := c.Request()
	path := "https://" + r.Host + r.URL.EscapedPath()
	e := listEnvelope{Data: items, Meta: listMeta{Path: path, PerPage: p.Size}}
	e.Meta.PrevCursor, e.Links.Prev = link(r.URL, path, l.Prev)
	e.Meta.NextCursor, e.Links.Next = link(r.URL, path, l.Next)
	if l.Resume != nil {
		e.Meta.growth = &growth{ResumeCursor: l.Resume.String()}
		if l.Next == nil {
			e.Meta.RetryAfter = int(change.RetryAfter.Seconds())
			c.Response().Header().Set("Retry-After", strconv.Itoa(e.Meta.RetryAfter))
		}
	}
	for i, target := range []*string{e.Links.Prev, e.Links.Next} {
		if target != nil {
			c.Response().Header().Add("Link", "<"+*target+`>; rel="`+[]string{"prev", "next"}[i]+`"`)
		}
	}
	a, err := render(http.StatusOK, e)
	if err != nil {
		return err
	}
	return write(c, a)
}

func link(u *url.URL, path string, to *core.Cursor) (cursor, target *string) {
	if to == nil {
		return nil, nil
	}
	position := to.String()
	q := u.Query()
	q.Set("cursor", position)
	full := path + "?" + q.Encode()
	return &position, &full
}
