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
	"go.yaml.in/yaml/v3"
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

// description is openapi.json as an installation serves it, in JSON or YAML: on every known host, without a
// token and without counting against a rate limit. Deprecated operations are marked, so it
// changes while the process runs.
type description struct {
	kind    string // media type
	plain   []byte
	convert func([]byte) []byte // from JSON; nil: stays as it is
	current atomic.Pointer[marked]
}

// marked is the document with the mark of some operations.
type marked struct {
	operations []string
	bodies     map[string][]byte // by encoding; "": plain
	tag        string
}

// inYAML returns the document with the same content, in the same order.
func inYAML(inJSON []byte) []byte {
	var document yaml.Node
	// JSON is YAML as well. The document is embedded, and a test converts it.
	if err := yaml.Unmarshal(inJSON, &document); err != nil {
		panic(err)
	}
	inBlocks(&document)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&document); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// inBlocks removes the braces and quotes of JSON. The encoder keeps the quotes that YAML needs.
func inBlocks(n *yaml.Node) {
	n.Style = 0
	for _, each := range n.Content {
		inBlocks(each)
	}
}

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
	body := []byte(text)
	if d.convert != nil {
		body = d.convert(body)
	}
	m := &marked{operations: operations, bodies: map[string][]byte{"": body}, tag: contentTag(body)}
	for _, e := range encodings {
		m.bodies[e.name] = e.encode(body)
	}
	d.current.Store(m)
	return m
}

// describe serves a description.
func (a *API) describe(w http.ResponseWriter, r *http.Request, d *description) {
	h := w.Header()
	if !isReading(r) {
		h.Set(echo.HeaderAllow, "GET, HEAD")
		_ = writeProblem(w, methodNotAllowed) // fails only if the client disconnected
		return
	}
	m, encoding := d.mark(a.Deprecations.Operations(r.Context())), negotiated(r.Header)
	if encoding != "" {
		h.Set(echo.HeaderContentEncoding, encoding)
	}
	h.Set(echo.HeaderContentType, d.kind)
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
	h.Set(echo.HeaderCacheControl, "public, max-age=300")
	h.Set("ETag", quotedTag(m.tag, encoding))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(m.bodies[encoding]))
}
