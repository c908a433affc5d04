// Package static serves the embedded stylesheets, scripts and images. The URL of a file contains a hash
// of its content, so browsers can cache it forever.
//
// Its surprising rule: only the hashed names exist. Pages get them from Path; other names, also those of
// an earlier build, are 404. Large files are embedded compressed (.br and .gz) and named without the
// suffix. In our stylesheets, url("../vendor/…") is replaced by the hashed name.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed css img js vendor/*/*
var embedded embed.FS

// Prefix is where Handler expects to be mounted.
const Prefix = "/static/"

// Loaded at start, so that a mistake in the files keeps the process from starting.
var files = read(embedded)

// Path is the URL path of a file: "css/docs.css" is
// "/static/css/docs.3f2a9c1b.css". It panics for a file that does not exist:
// names are constants, so that is a mistake in the code.
func Path(name string) string {
	p, ok := files.paths[name]
	if !ok {
		panic("static: no file " + strconv.Quote(name))
	}
	return p
}

// Handler serves the files at the paths that Path names.
func Handler() http.Handler { return files }

type set struct {
	paths map[string]string // by name
	files map[string]*file  // by path
}

type file struct {
	mediaType string
	plain     []byte // nil where only compressed ones are embedded: a large file
	gzip      []byte // nil where it would not be smaller
	brotli    []byte // nil but for a large file
	unpacked  func() []byte
}

func read(from fs.FS) set {
	named := map[string]*file{}
	err := fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		coding := path.Ext(name)
		if coding == ".br" || coding == ".gz" {
			name = strings.TrimSuffix(name, coding)
		}
		f := named[name]
		if f == nil {
			f = &file{mediaType: mediaType(name)}
			named[name] = f
		}
		switch coding {
		case ".br":
			f.brotli = content
		case ".gz":
			f.gzip, f.unpacked = content, sync.OnceValue(func() []byte { return unpack(content) })
		default:
			f.plain, f.gzip = content, compress(content)
		}
		return nil
	})
	if err != nil {
		panic("static: " + err.Error()) // embedded files cannot fail to be read
	}
	s := set{paths: map[string]string{}, files: map[string]*file{}}
	stylesheets := map[string]*file{}
	for name, f := range named {
		if path.Ext(name) == ".css" && f.plain != nil {
			stylesheets[name] = f
			continue
		}
		s.add(name, f)
	}
	// Last: they name other files.
	for name, f := range stylesheets {
		f.plain = s.linked(name, f.plain)
		f.gzip = compress(f.plain)
		s.add(name, f)
	}
	return s
}

func (s set) add(name string, f *file) {
	content := f.plain
	if content == nil {
		content = f.gzip
	}
	p := Prefix + hashed(name, content)
	s.paths[name], s.files[p] = p, f
}

var relative = regexp.MustCompile(`url\("(\.\.?/[^"]+)"\)`)

// linked is a stylesheet whose relative addresses are the hashed ones.
func (s set) linked(name string, content []byte) []byte {
	return relative.ReplaceAllFunc(content, func(match []byte) []byte {
		target := path.Join(path.Dir(name), string(relative.FindSubmatch(match)[1]))
		p, ok := s.paths[target]
		if !ok {
			panic("static: " + name + " names " + target + ", which does not exist")
		}
		return []byte(`url("` + p + `")`)
	})
}

// hashed keeps the extension at the end, for people and proxies that go by it.
func hashed(name string, content []byte) string {
	sum := sha256.Sum256(content)
	extension := path.Ext(name)
	return strings.TrimSuffix(name, extension) + "." + hex.EncodeToString(sum[:4]) + extension
}

// mediaType doesn't use package mime for these types: that first reads tables of the machine, which differ between machines.
func mediaType(name string) string {
	switch extension := path.Ext(name); extension {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	case ".wasm":
		return "application/wasm" // only with this type do browsers compile it while it arrives
	case "": // a licence
		return "text/plain; charset=utf-8"
	default:
		return mime.TypeByExtension(extension)
	}
}

func compress(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails only for a level that does not exist
	_, _ = w.Write(content)                               // a buffer takes everything
	_ = w.Close()
	if b.Len() >= len(content) {
		return nil
	}
	return b.Bytes()
}

func (s set) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	f, ok := s.files[r.URL.Path]
	if !ok {
		// While servers are being replaced, an old one may be asked for a new file.
		// That answer must not be kept.
		h.Set("Cache-Control", "no-store")
		http.NotFound(w, r)
		return
	}
	if f.mediaType != "" {
		h.Set("Content-Type", f.mediaType)
	}
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	body := f.plain
	if f.gzip != nil {
		h.Set("Vary", "Accept-Encoding")
		switch {
		case f.brotli != nil && Accepts(r.Header, "br"):
			h.Set("Content-Encoding", "br")
			body = f.brotli
		case Accepts(r.Header, "gzip"):
			h.Set("Content-Encoding", "gzip")
			body = f.gzip
		}
	}
	if body == nil {
		body = f.unpacked()
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // fails only if the client left
}

// unpack returns a large file for clients that accept no compression. It takes 7 to 20 ms and anyone may ask for
// it, so the file is kept then; few ever ask.
func unpack(packed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic("static: " + err.Error()) // a test has read it
	}
	content, err := io.ReadAll(r)
	if err != nil {
		panic("static: " + err.Error())
	}
	return content
}

// Accepts reports whether Accept-Encoding (RFC 9110, section 12.5.3) allows a coding. A coding's own
// name takes precedence over "*", and a weight of zero means no.
func Accepts(h http.Header, coding string) bool {
	accepted := false
	for _, header := range h.Values("Accept-Encoding") {
		for element := range strings.SplitSeq(header, ",") {
			name, weight, _ := strings.Cut(element, ";")
			switch strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "x-") {
			case coding:
				return !isZero(weight)
			case "*":
				accepted = !isZero(weight)
			}
		}
	}
	return accepted
}

func isZero(weight string) bool {
	name, value, found := strings.Cut(strings.TrimSpace(weight), "=")
	if !found || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return false
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return err == nil && q == 0
}
