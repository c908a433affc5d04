package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"go.yaml.in/yaml/v3"

	"example.com/loyalty/static"
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

// description is the description of the API as an installation serves it, in JSON or YAML: on every known host,
// without a token and without counting against a rate limit.
type description struct {
	kind        string // media type
	plain, gzip []byte
	tag         string // hash of the content
}

func describe(baseURL string) description {
	return newDescription("application/json", Description(baseURL))
}

// describeInYAML has the same content as describe, and the same order.
func describeInYAML(baseURL string) description {
	var document yaml.Node
	// JSON is YAML as well. The document is embedded, and a test converts it.
	if err := yaml.Unmarshal(Description(baseURL), &document); err != nil {
		panic(err)
	}
	inBlocks(&document)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&document); err != nil {
		panic(err)
	}
	return newDescription("application/yaml", b.Bytes())
}

// inBlocks removes the braces and quotes of JSON. The encoder keeps the quotes that YAML needs.
func inBlocks(n *yaml.Node) {
	n.Style = 0
	for _, each := range n.Content {
		inBlocks(each)
	}
}

func newDescription(kind string, content []byte) description {
	d := description{kind: kind, plain: content}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails only for an invalid level
	_, _ = w.Write(d.plain)                               // writing to a buffer never fails
	_ = w.Close()
	sum := sha256.Sum256(d.plain)
	d.gzip, d.tag = b.Bytes(), hex.EncodeToString(sum[:8])
	return d
}

func (d description) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set(echo.HeaderAllow, "GET, HEAD")
		_ = writeProblem(w, methodNotAllowed) // fails only if the client disconnected
		return
	}
	body, tag := d.plain, d.tag
	if static.Accepts(r.Header, "gzip") {
		body, tag = d.gzip, d.tag+"-gzip"
		h.Set(echo.HeaderContentEncoding, "gzip")
	}
	h.Set(echo.HeaderContentType, d.kind)
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
	h.Set(echo.HeaderCacheControl, "public, max-age=300")
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
