package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
)

const (
	maxBody = 1 << 20
	// maxPerPage is the size of the largest page. Pages for people are smaller (core.MaxPageSize).
	maxPerPage = 1_000
)

// object is the JSON object in a request. unreadable collects fields of the wrong JSON type,
// which core reports together with other violations; unknown fields are ignored.
type object struct {
	fields     map[string]json.RawMessage
	unreadable core.Fields
}

// readBody reads the request's body; errors mean 413 (too large), 415 (encoded, or not JSON) or 400 (not a
// JSON object).
func readBody(c echo.Context) (object, error) {
	r := c.Request()
	if r.ContentLength > maxBody {
		return object{}, errTooLarge
	}
	raw, err := io.ReadAll(http.MaxBytesReader(c.Response(), r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return object{}, errTooLarge
	}
	if err != nil {
		return object{}, errMalformed
	}
	// The fingerprint of an idempotency key includes these bytes.
	c.Set(bodyKey, raw)
	if len(raw) > 0 && isEncoded(r.Header) {
		return object{}, errEncoded
	}
	if len(raw) > 0 && !isJSON(r.Method, r.Header.Get(echo.HeaderContentType)) {
		return object{}, errMediaType
	}
	return readObject(raw)
}

// readObject reads JSON that must be an object.
func readObject(raw []byte) (object, error) {
	o := object{unreadable: core.Fields{}}
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	if !utf8.Valid(raw) || len(trimmed) == 0 || trimmed[0] != '{' || json.Unmarshal(raw, &o.fields) != nil {
		return object{}, errMalformed
	}
	return o, nil
}

const bodyKey = "body"

// isEncoded reports whether a body is compressed.
func isEncoded(h http.Header) bool {
	return slices.ContainsFunc(h.Values(echo.HeaderContentEncoding), func(encoding string) bool {
		encoding = strings.TrimSpace(encoding)
		return encoding != "" && !strings.EqualFold(encoding, "identity")
	})
}

// What a body may be. A merge patch (RFC 7396) of fields without objects is the change that PATCH takes anyway.
const (
	jsonType       = "application/json"
	mergePatchType = "application/merge-patch+json"
	patchTypes     = jsonType + ", " + mergePatchType
)

// isJSON also accepts a body without a type, because all endpoints use JSON.
func isJSON(method, contentType string) bool {
	if contentType == "" {
		return true
	}
	kind, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	isKnown := kind == jsonType || kind == mergePatchType && method == http.MethodPatch
	return err == nil && isKnown && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// raw returns a field's JSON; nil if it is absent or null.
func (o object) raw(field string) json.RawMessage {
	if raw := o.fields[field]; string(raw) != "null" {
		return raw
	}
	return nil
}

func (o object) text(field string) *string {
	raw := o.raw(field)
	if raw == nil {
		return nil
	}
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		o.unreadable.Add(field, core.MustBeString)
		return nil
	}
	return &s
}

// value is the text in a field, or "".
func (o object) value(field string) string { return core.OrZero(o.text(field)) }

// reference is the ULID in a required field.
func (o object) reference(field string) core.ID { return o.unreadable.Reference(field, o.text(field)) }

// number is the integer in a required field.
func (o object) number(field string) int64 { return o.unreadable.Number(field, o.integer(field)) }

// optionalText distinguishes an absent field from null.
func (o object) optionalText(field string) core.Optional[string] {
	_, sent := o.fields[field]
	return core.Optional[string]{Set: sent, Value: o.text(field)}
}

// integer reads a 64-bit JSON integer, not a string, fraction or exponent.
func (o object) integer(field string) *int64 {
	raw := o.raw(field)
	if raw == nil {
		return nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		o.unreadable.Add(field, core.MustBeInteger)
		return nil
	}
	return &n
}

// optionalInteger distinguishes an absent field from null.
func (o object) optionalInteger(field string) core.Optional[int64] {
	_, sent := o.fields[field]
	return core.Optional[int64]{Set: sent, Value: o.integer(field)}
}

// maxItems limits a list, because each item may get its own error message.
const maxItems = 100

func (o object) texts(field string) *[]string {
	raw := o.raw(field)
	if raw == nil {
		return nil
	}
	var items []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		o.unreadable.Add(field, core.MustBeArray)
		return nil
	}
	if len(items) > maxItems {
		o.unreadable.Add(field, core.MaxItems(maxItems))
		return nil
	}
	list := make([]string, len(items))
	for i, item := range items {
		if item[0] != '"' || json.Unmarshal(item, &list[i]) != nil {
			name := field + "." + strconv.Itoa(i)
			o.unreadable.Add(name, core.MustBeString)
		}
	}
	return &list
}

// saleItems reads what of a sale's amount is of which category.
func (o object) saleItems(field string) []award.Item {
	raw := o.raw(field)
	if raw == nil {
		return nil
	}
	var given []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &given) != nil {
		o.unreadable.Add(field, core.MustBeArray)
		return nil
	}
	if len(given) > maxItems {
		o.unreadable.Add(field, core.MaxItems(maxItems))
		return nil
	}
	items := make([]award.Item, len(given))
	for i, raw := range given {
		name := field + "." + strconv.Itoa(i)
		item, err := readObject(raw)
		if err != nil {
			o.unreadable.Add(name, core.MustBeObject)
			continue
		}
		items[i] = award.Item{Category: item.value("category"), AmountCents: item.number("amount_cents")}
		for part, violations := range item.unreadable {
			o.unreadable[name+"."+part] = violations
		}
	}
	return items
}

// optionalTexts distinguishes an absent field from null.
func (o object) optionalTexts(field string) core.Optional[[]string] {
	_, sent := o.fields[field]
	return core.Optional[[]string]{Set: sent, Value: o.texts(field)}
}

// metadata is an object of texts; nil if it is absent or null. A key whose value is null is left out.
func (o object) metadata(field string) *core.Metadata {
	given := o.optionalMetadata(field).Value
	if given == nil {
		return nil
	}
	m := core.Metadata{}
	for key, value := range *given {
		if value != nil {
			m[key] = *value
		}
	}
	return &m
}

// optionalMetadata distinguishes an absent field from null, and so do its keys (RFC 7396).
func (o object) optionalMetadata(field string) core.Optional[map[string]*string] {
	_, sent := o.fields[field]
	raw := o.raw(field)
	if raw == nil {
		return core.Optional[map[string]*string]{Set: sent}
	}
	m := map[string]*string{}
	var given map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &given) != nil {
		o.unreadable.Add(field, core.MustBeObject)
		return core.Optional[map[string]*string]{Set: sent, Value: &m}
	}
	wrong := 0
	for key, value := range given {
		var text *string
		if json.Unmarshal(value, &text) != nil {
			if wrong++; wrong <= core.MaxMetadataKeys { // each gets its own message
				o.unreadable.Add(field+"."+key, core.MustBeString)
			}
			continue
		}
		m[key] = text
	}
	return core.Optional[map[string]*string]{Set: sent, Value: &m}
}

func (o object) instant(field string) *time.Time {
	s := o.text(field)
	if s == nil {
		return nil
	}
	return readInstant(o.unreadable, field, *s)
}

func readInstant(unreadable core.Fields, field, s string) *time.Time {
	t, err := time.Parse(time.RFC3339, s)
	// With a negative offset, the last day of 9999 ends in year 10000 in UTC, which RFC 3339
	// doesn't allow.
	if err != nil || t.UTC().Year() > 9999 {
		unreadable.Add(field, core.MustBeMoment)
		return nil
	}
	t = t.UTC().Truncate(time.Millisecond)
	return &t
}

// query is the query of a list. unreadable collects invalid parameters for the page; asked has the names of those that exist,
// which are the ones that a handler has read.
type query struct {
	values     url.Values
	unreadable core.Fields
	asked      map[string]bool
}

// parameters reads the query. Invalid syntax or UTF-8 is malformed.
func parameters(c echo.Context) (query, error) {
	values, err := url.ParseQuery(barePlus.ReplaceAllString(c.Request().URL.RawQuery, "$1%2B$2"))
	if err != nil {
		return query{}, errMalformed
	}
	for name, given := range values {
		if !utf8.ValidString(name + strings.Join(given, "")) {
			return query{}, errMalformed
		}
	}
	q := query{values: values, unreadable: core.Fields{}, asked: map[string]bool{}}
	c.Set(queryKey, q)
	return q, nil
}

const queryKey = "query"

// barePlus is a phone number's plus that a client didn't escape: decoded, it would be a space.
var barePlus = regexp.MustCompile(`((?:^|&)phone=)\+([1-9])`)

// text returns a parameter's value; nil if it is absent. A blank one is a mistake of the client: ignored, it would find every
// record in place of none.
func (q query) text(name string) *string {
	s := q.optional(name)
	if q.values.Has(name) && (s == nil || core.Trimmed(*s) == "") {
		q.unreadable.Add(name, core.Filled)
		return nil
	}
	return s
}

// optional returns a parameter's value; nil if it is absent or empty.
func (q query) optional(name string) *string {
	q.asked[name] = true
	if s := q.values.Get(name); s != "" {
		return &s
	}
	return nil
}

// integer returns a parameter as a 64-bit integer.
func (q query) integer(name string) *int64 {
	s := q.text(name)
	if s == nil {
		return nil
	}
	n, err := strconv.ParseInt(*s, 10, 64)
	if err != nil || (*s)[0] == '+' {
		q.unreadable.Add(name, core.MustBeInteger)
		return nil
	}
	return &n
}

// date returns a parameter's day as its midnight in UTC.
func (q query) date(name string) *time.Time {
	s := q.text(name)
	if s == nil {
		return nil
	}
	t, err := time.Parse(time.DateOnly, *s)
	if err != nil {
		q.unreadable.Add(name, core.MustBeDate)
		return nil
	}
	return &t
}

// instant returns a parameter's moment.
func (q query) instant(name string) *time.Time {
	s := q.text(name)
	if s == nil {
		return nil
	}
	return readInstant(q.unreadable, name, *s)
}

// since returns the instant since when a list has what changed, in the order of the changes: zero for order=updated alone, which
// begins with the first, and nil for the usual order.
func (q query) since() *time.Time {
	const newest, updated = "newest", "updated"
	order, since := core.OrZero(q.text("order")), q.instant("updated_since")
	switch {
	case order != "" && order != newest && order != updated, order == newest && since != nil:
		q.unreadable.Add("order", core.InvalidChoice)
	case order == updated && since == nil:
		since = &time.Time{}
	}
	return since
}

// page reads per_page and cursor (decisions §2).
func (q query) page() core.Page {
	p := core.Page{Size: core.DefaultPageSize, Malformed: q.unreadable}
	if s := q.optional("per_page"); s != nil {
		p.Size = q.perPage(*s)
	}
	if s := q.optional("cursor"); s != nil {
		cursor, err := core.ParseCursor(*s)
		if err != nil {
			q.unreadable.Add("cursor", core.InvalidChoice)
		}
		p.Cursor = &cursor
	}
	return p
}

func (q query) perPage(s string) int {
	const field = "per_page"
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), s[0] == '+':
		q.unreadable.Add(field, core.MustBeInteger)
	case err != nil && s[0] != '-':
		return maxPerPage
	case n < 1:
		q.unreadable.Add(field, core.Min(1))
	}
	return int(min(n, maxPerPage))
}

// readRest reads what is left of the body before the response begins, at most 1 MiB and until ctx ends. A client that is still
// sending would take a response over HTTP/2, after which the stream is reset, for a broken one. One that waits to be told to send
// isn't told.
func readRest(c echo.Context, ctx context.Context) { //nolint:revive // the request's context has no deadline where a use case isn't cancelled
	r := c.Request()
	if r.Body == nil || r.Body == http.NoBody || c.Get(bodyKey) != nil || r.Header.Get("Expect") != "" {
		return
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = http.NewResponseController(c.Response()).SetReadDeadline(deadline) // not supported by a test's writer
	}
	_, _ = io.CopyN(io.Discard, r.Body, maxBody) // the response says what is wrong
}

// unreserved are the characters that mean the same escaped or not (RFC 3986, section 6.2.2.2).
var unreserved = regexp.MustCompile(`(?i)%(2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)`)

// unescaped returns a request whose path has only the escapes that it needs: an escaped slash stays part of its segment.
func unescaped(r *http.Request) *http.Request {
	if r.URL.RawPath == "" {
		return r
	}
	plain, u := *r, *r.URL
	plain.URL, u.RawPath = &u, ""
	if strings.Contains(strings.ToUpper(r.URL.RawPath), "%2F") {
		u.RawPath = unreserved.ReplaceAllStringFunc(r.URL.RawPath, func(escape string) string {
			letter, _ := url.PathUnescape(escape) // which the pattern has checked
			return letter
		})
	}
	return &plain
}

// pathID reads the ULID in the path. An invalid one is core.ErrNotFound.
func pathID(c echo.Context) (core.ID, error) { return core.ParseID(c.Param("ulid")) }

// pathText reads a text in the path. The router leaves a path with an escaped slash as it is sent.
func pathText(c echo.Context, name string) string {
	text := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return text
	}
	unescaped, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return unescaped
}

// pathNumber reads the integer id in the path. An invalid one is core.ErrNotFound.
func pathNumber(c echo.Context) (int64, error) {
	n, err := strconv.ParseInt(c.Param("id"), 10, 64)
	// A record has one URL: no sign, no leading zero.
	if err != nil || strconv.FormatInt(n, 10) != c.Param("id") {
		return 0, core.ErrNotFound
	}
	return n, nil
}
