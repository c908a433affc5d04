package api

import (
	"bytes"
	_ "embed"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
)

// The description of the API is written by hand. Every test of this package checks requests
// and responses against it.
//
//go:embed openapi.json
var openapi []byte

// describedBase is the base URL in openapi.json, which each installation replaces with its
// own.
const describedBase = "https://localhost:8443"

// Description returns openapi.json of the installation with this base URL.
func Description(baseURL string) []byte {
	return bytes.ReplaceAll(openapi, []byte(describedBase), []byte(baseURL))
}

// description is openapi.json as an installation serves it: on every known host, without a
// token and without counting against a rate limit. Deprecated operations are marked, so it
// changes while the process runs.
type description struct {
	plain   []byte
	current atomic.Pointer[marked]
}

// marked is the document with the mark of some operations.
type marked struct {
	operations []string
	bodies     map[string][]byte // by encoding; "": plain
	tag        string
}

func describe(baseURL string) *description { return &description{plain: Description(baseURL)} }

// mark returns the document in which these operations are deprecated, such as "GET /api/v1/customers".
func (d *description) mark(operations []string) *marked {
	if m := d.current.Load(); m != nil && slices.Equal(m.operations, operations) {
		return m
	}
	text := string(d.plain)
	for _, operation := range operations {
		method, path, _ := strings.Cut(operation, " ")
		before, item, found := strings.Cut(text, "\n    \""+path+"\": {\n")
		start, rest, described := strings.Cut(item, "      \""+strings.ToLower(method)+"\": {\n")
		if found && described {
			text = before + "\n    \"" + path + "\": {\n" + start + "      \"" + strings.ToLower(method) + "\": {\n        \"deprecated\": true,\n" + rest
		}
	}
	m := &marked{operations: operations, bodies: map[string][]byte{"": []byte(text)}, tag: contentTag([]byte(text))}
	for _, e := range encodings {
		m.bodies[e.name] = e.encode([]byte(text))
	}
	d.current.Store(m)
	return m
}

func (a *API) describe(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if !isReading(r) {
		h.Set(echo.HeaderAllow, "GET, HEAD")
		_ = writeProblem(w, methodNotAllowed) // fails only if the client disconnected
		return
	}
	m, encoding := a.description.mark(a.Deprecations.Operations(r.Context())), negotiated(r.Header)
	if encoding != "" {
		h.Set(echo.HeaderContentEncoding, encoding)
	}
	h.Set(echo.HeaderContentType, jsonType)
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
	h.Set(echo.HeaderCacheControl, "public, max-age=300")
	h.Set("ETag", quotedTag(m.tag, encoding))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(m.bodies[encoding]))
}
