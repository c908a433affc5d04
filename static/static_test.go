package static

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func get(h http.Handler, path, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if accept != "" {
		r.Header.Set("Accept-Encoding", accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestNameChangesWithContent(t *testing.T) {
	t.Parallel()
	before := read(fstest.MapFS{"css/a.css": {Data: []byte("a{}")}, "css/b.css": {Data: []byte("b{}")}})
	after := read(fstest.MapFS{"css/a.css": {Data: []byte("a{color:red}")}, "css/b.css": {Data: []byte("b{}")}})
	if !regexp.MustCompile(`^/static/css/a\.[0-9a-f]{8}\.css$`).MatchString(before.paths["css/a.css"]) {
		t.Errorf("path = %q", before.paths["css/a.css"])
	}
	if before.paths["css/a.css"] == after.paths["css/a.css"] {
		t.Error("another content has the same name")
	}
	if before.paths["css/b.css"] != after.paths["css/b.css"] {
		t.Error("the same content has another name")
	}
	if got := get(after, before.paths["css/a.css"], ""); got.Code != http.StatusNotFound {
		t.Errorf("old name = %d, want 404", got.Code)
	}
}

func TestEveryFileIsServedForGood(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(embedded, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(embedded, name)
		if err != nil {
			return err
		}
		got := get(Handler(), Path(name), "")
		if got.Code != http.StatusOK || !bytes.Equal(got.Body.Bytes(), content) {
			t.Errorf("%s = %d and %d bytes, want 200 and its %d", name, got.Code, got.Body.Len(), len(content))
		}
		if got := got.Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control = %q", name, got)
		}
		if got.Header().Get("Content-Type") == "" {
			t.Errorf("%s has no content type", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCompressedWhereAccepted(t *testing.T) {
	t.Parallel()
	const name = "css/docs.css"
	want, err := embedded.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for accept, encoding := range map[string]string{
		"":                       "",
		"br":                     "",
		"identity":               "",
		"gzip;q=0":               "",
		"GZIP ; Q=0.0, *":        "",
		"*;q=0":                  "",
		"gzip":                   "gzip",
		"br, gzip;q=0.5":         "gzip",
		"gzip, deflate, br, zst": "gzip",
		"*":                      "gzip",
		"x-gzip":                 "gzip",
	} {
		got := get(Handler(), Path(name), accept)
		if got.Header().Get("Content-Encoding") != encoding || got.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q is answered %v", accept, got.Header())
			continue
		}
		body := io.Reader(got.Body)
		if encoding == "gzip" {
			if got.Body.Len() >= len(want)/2 {
				t.Errorf("compressed: %d bytes of %d", got.Body.Len(), len(want))
			}
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		if text, err := io.ReadAll(body); err != nil || !bytes.Equal(text, want) {
			t.Errorf("Accept-Encoding %q: %v, or another content", accept, err)
		}
	}
}

func TestIncompressibleFilesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	s := read(fstest.MapFS{"a.css": {Data: []byte("a{}")}})
	got := get(s, s.paths["a.css"], "gzip")
	if got.Header().Get("Content-Encoding") != "" || got.Body.String() != "a{}" {
		t.Errorf("answer = %v %q", got.Header(), got.Body)
	}
}

func TestUnknownIsNotFound(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/static/", "/static/css/", "/static/css/docs.css", "/static/css/docs.00000000.css",
		"/static/../static/static.go", "/css/docs.css",
	} {
		got := get(Handler(), path, "gzip")
		if got.Code != http.StatusNotFound || got.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s = %d %v, want a 404 that nobody keeps", path, got.Code, got.Header())
		}
	}
}

func TestPathOfNothingPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if got, _ := recover().(string); !strings.Contains(got, `"css/nothing.css"`) {
			t.Errorf("panic = %q", got)
		}
	}()
	Path("css/nothing.css")
}
