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

// description is openapi.json as an installation serves it: on every known host, without a
// token and without counting against a rate limit.
type description struct {
	plain, gzip []byte
	tag         string // hash of the content
}

func describe(baseURL string) description {
	d := description{plain: Description(baseURL)}
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
	h.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
	h.Set(echo.HeaderCacheControl, "public, max-age=300")
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
