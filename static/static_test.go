package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
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

// A stylesheet that names a font is another one when the font changes: a browser that
// kept the old stylesheet for good would ask for a font that is gone.
func TestStylesheetsNameHashedFiles(t *testing.T) {
	t.Parallel()
	style := []byte(`@font-face{src:url("../vendor/f/f.woff2")}a{background:url("data:,x")}`)
	shop := func(font string) set {
		return read(fstest.MapFS{"css/a.css": {Data: style}, "vendor/f/f.woff2": {Data: []byte(font)}})
	}
	before, after := shop("one"), shop("two")
	got := get(before, before.paths["css/a.css"], "").Body.String()
	if want := `@font-face{src:url("` + before.paths["vendor/f/f.woff2"] + `")}a{background:url("data:,x")}`; got != want {
		t.Errorf("stylesheet = %s, want %s", got, want)
	}
	if before.paths["css/a.css"] == after.paths["css/a.css"] {
		t.Error("another font, and the stylesheet has its old name")
	}
	defer func() {
		if got, _ := recover().(string); !strings.Contains(got, "css/b.css names css/c.png") {
			t.Errorf("panic = %q", got)
		}
	}()
	read(fstest.MapFS{"css/b.css": {Data: []byte(`a{background:url("./c.png")}`)}})
}

func TestEveryFileIsCachedForever(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(embedded, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(embedded, name)
		if err != nil {
			return err
		}
		switch path.Ext(name) {
		case ".br":
			return nil // TestVendoredFiles
		case ".gz":
			name, content = strings.TrimSuffix(name, ".gz"), unzipped(t, content)
		}
		got := get(Handler(), Path(name), "")
		if strings.HasSuffix(name, ".css") {
			content = files.linked(name, content)
		}
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

func unzipped(t *testing.T, packed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	return readAll(t, r)
}

func readAll(t *testing.T, r io.Reader) []byte {
	t.Helper()
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// A large file is unpacked for the first client that accepts no compression, and kept: unpacking takes 7 to 20 ms,
// and anyone may ask.
func TestALargeFileIsUnpackedOnce(t *testing.T) {
	t.Parallel()
	var sent [2][]byte
	for i := range sent {
		r := httptest.NewRequest(http.MethodGet, Path("vendor/barcode-detector/zxing_reader.wasm"), nil)
		w := &writes{header: http.Header{}}
		Handler().ServeHTTP(w, r)
		if len(w.all) != 1 {
			t.Fatalf("sent in %d pieces, want the whole file", len(w.all))
		}
		sent[i] = w.all[0]
		if got, want := w.header.Get("Content-Length"), strconv.Itoa(len(sent[i])); got != want {
			t.Errorf("Content-Length = %q, want %s", got, want)
		}
	}
	if &sent[0][0] != &sent[1][0] {
		t.Error("unpacked again for the second client")
	}
}

// writes is a response that remembers what it was written, not a copy.
type writes struct {
	header http.Header
	all    [][]byte
}

func (w *writes) Header() http.Header { return w.header }
func (w *writes) WriteHeader(int)     {}
func (w *writes) Write(p []byte) (int, error) {
	w.all = append(w.all, p)
	return len(p), nil
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
		text := got.Body.Bytes()
		if encoding == "gzip" {
			if len(text) >= len(want)/2 {
				t.Errorf("compressed: %d bytes of %d", len(text), len(want))
			}
			text = unzipped(t, text)
		}
		if !bytes.Equal(text, want) {
			t.Errorf("Accept-Encoding %q: another content", accept)
		}
	}
}

// What vendor/README.md lists is here and nothing else, and whichever way a browser
// takes it, it is the file of the package.
func TestVendoredFiles(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("vendor/README.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{} // sums by name
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` .* `([0-9a-f]{64})` \\|$").FindAllStringSubmatch(string(list), -1) {
		listed["vendor/"+row[1]] = row[2]
	}
	for name := range files.paths {
		if strings.HasPrefix(name, "vendor/") && path.Base(name) != "LICENSE" && listed[name] == "" {
			t.Errorf("%s is not listed", name)
		}
	}
	if len(listed) == 0 {
		t.Error("nothing is listed")
	}
	for name, want := range listed {
		for _, accept := range []string{"", "gzip", "gzip, deflate, br"} {
			got := get(Handler(), Path(name), accept)
			content := got.Body.Bytes()
			coding := accept[strings.LastIndex(accept, " ")+1:]
			switch coding {
			case "gzip":
				content = unzipped(t, content)
			case "br":
				content = readAll(t, brotli.NewReader(got.Body))
			}
			if sum := fmt.Sprintf("%x", sha256.Sum256(content)); sum != want || got.Header().Get("Content-Encoding") != coding || got.Header().Get("Vary") == "" {
				t.Errorf("%s, Accept-Encoding %q: %v, sum %s, listed as %s", name, accept, got.Header(), sum, want)
			}
		}
		if _, err := fs.Stat(embedded, path.Dir(name)+"/LICENSE"); err != nil {
			t.Errorf("%s comes without its licence: %v", name, err)
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
			t.Errorf("%s = %d %v, want a 404 that isn't cached", path, got.Code, got.Header())
		}
	}
}

func TestPathOfAMissingFilePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if got, _ := recover().(string); !strings.Contains(got, `"css/nothing.css"`) {
			t.Errorf("panic = %q", got)
		}
	}()
	Path("css/nothing.css")
}

// "WCAG 2.1, 1.3.4": pages look the same however a device is held. The browser tests leave this rule out.
func TestNoStyleDependsOnTheOrientation(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, address := range files.paths {
		if path.Ext(name) != ".css" {
			continue
		}
		seen++
		if strings.Contains(get(files, address, "").Body.String(), "orientation:") {
			t.Errorf("%s depends on the orientation", name)
		}
	}
	if seen < 10 {
		t.Errorf("%d stylesheets were read", seen)
	}
}
