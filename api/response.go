package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
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

// write responds with JSON. A response with a tag may be kept by its client, who needn't get it again while it is current.
func write(c echo.Context, a core.Response, hasTag bool) error {
	r, h := c.Request(), c.Response().Header()
	if err := refuseUnknown(c); err != nil {
		return err
	}
	if a.Replayed {
		h.Set("Idempotent-Replayed", "true")
	}
	if a.Status == http.StatusCreated && c.Get(hasRecordsKey) != nil {
		h.Set(echo.HeaderLocation, requested(r)+"/"+recordID(a.Body))
	}
	encoding := encodingFor(r.Header, len(a.Body))
	if hasTag {
		tag := quotedTag(contentTag(a.Body), encoding)
		h.Set("ETag", tag)
		h.Set(echo.HeaderCacheControl, mayStore)
		if isReading(r) && isKnown(r.Header, tag) {
			return c.NoContent(http.StatusNotModified)
		}
	}
	return send(c, a.Status, jsonType, encoding, a.Body)
}

// send responds with a body. Its length is set, so that the response isn't chunked.
func send(c echo.Context, status int, contentType, encoding string, body []byte) error {
	body, err := encoded(c.Request().Context(), body, encoding)
	if err != nil {
		return err
	}
	h := c.Response().Header()
	if encoding != "" {
		h.Set(echo.HeaderContentEncoding, encoding)
	}
	h.Set(echo.HeaderContentLength, strconv.Itoa(len(body)))
	return c.Blob(status, contentType, body)
}

// isReading reports whether a request changes nothing.
func isReading(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

// requested returns the URL of a request without its query, on the requested host.
func requested(r *http.Request) string { return "https://" + r.Host + r.URL.EscapedPath() }

// hasRecordsKey marks requests whose path, with an id behind it, is that of a record.
const hasRecordsKey = "has-records"

// recordID returns the id of a single record. It is read from the body because a replayed response has nothing else.
func recordID(body []byte) string {
	_, rest, _ := bytes.Cut(body[:min(len(body), 64)], []byte(`{"data":{"`))
	name, rest, _ := bytes.Cut(rest, []byte(`":`))
	if !slices.Contains([]string{"ulid", "id"}, string(name)) {
		return ""
	}
	id, _, _ := bytes.Cut(rest, []byte(`,`))
	return string(bytes.Trim(id, `"`))
}

// writeData responds with a single record, and with its tag unless the request made something else of it.
func writeData(c echo.Context, status int, v any) error {
	a, err := render(status, envelope{v})
	if err != nil {
		return err
	}
	return write(c, a, c.Request().Method != http.MethodPost)
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
		return write(c, a, true)
	}
	reply, err := run(&core.Once[T]{RequestKey: core.RequestKey{Key: key, Fingerprint: fingerprint(c)}, Respond: rendered})
	if err != nil {
		return err
	}
	return write(c, *reply.Response, true)
}

// idempotencyKey reads the header; "" if it is absent.
func idempotencyKey(h http.Header) (string, error) {
	values := h.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	key, valid := readKey(values[0])
	if len(values) > 1 || !valid {
		return "", errMalformed
	}
	return key, nil
}

// readKey reads an idempotency key: 1 to 255 visible characters, with or without quotes.
func readKey(text string) (key string, valid bool) {
	key = strings.TrimSpace(text)
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	printable := strings.IndexFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) < 0
	return key, key != "" && len(key) <= 255 && printable
}

// fingerprint identifies the request of an idempotency key: method, path and raw body.
func fingerprint(c echo.Context) [32]byte {
	raw, _ := c.Get(bodyKey).([]byte) // nil if the body isn't read
	return fingerprintOf(c, raw)
}

// fingerprintOf is fingerprint with other bytes than the whole body.
func fingerprintOf(c echo.Context, raw []byte) [32]byte {
	r := c.Request()
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
	path := requested(r)
	e := listEnvelope{Data: items, Meta: listMeta{Path: path, PerPage: p.Size}}
	e.Meta.PrevCursor, e.Links.Prev = link(r.URL, path, l.Prev)
	e.Meta.NextCursor, e.Links.Next = link(r.URL, path, l.Next)
	if l.Resume != nil {
		e.Meta.growth = &growth{ResumeCursor: l.Resume.String()}
		if l.Next == nil {
			e.Meta.RetryAfter = int(change.RetryAfter.Seconds())
		}
	}
	addLinks(c.Response().Header(), relation{"next", e.Links.Next}, relation{"prev", e.Links.Prev})
	a, err := render(http.StatusOK, e)
	if err != nil {
		return err
	}
	return write(c, a, p.Cursor == nil && l.Resume == nil) // of changes, each page has another cursor
}

// relation is a link of a response (RFC 8288); without a target there is none.
type relation struct {
	name   string
	target *string
}

// addLinks puts links before those that the response has already, all in one line.
func addLinks(h http.Header, relations ...relation) {
	var links []string
	for _, r := range relations {
		if r.target != nil {
			links = append(links, "<"+*r.target+`>; rel="`+r.name+`"`)
		}
	}
	if links = append(links, h.Values("Link")...); len(links) > 0 {
		h.Set("Link", strings.Join(links, ", "))
	}
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
