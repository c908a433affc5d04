package api

import (
	"bytes"
	"context"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.com/loyalty/core/limit"
)

const (
	// minEncoded is the size from which a response is compressed: a shorter one fits into a packet as it is.
	minEncoded = 1 << 10
	// quickEncoded is the size up to which compressing takes a fraction of a millisecond. What is longer waits for its turn,
	// or the lists of a few clients would hold every core.
	quickEncoded = 64 << 10
)

// encodings compress a response, the preferred one first.
var encodings = []struct {
	name   string
	encode func([]byte) []byte
}{
	{"zstd", zstdEncoded},
	{"gzip", gzipEncoded},
}

// The fastest levels: a page of 1,000 customers has 350 kB and takes a millisecond or two, and gets to a fifth of its size.
var (
	zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(512<<10), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)))
		if err != nil {
			panic(err) // fails only for invalid options
		}
		return e
	})
	gzipWriters = sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails only for an invalid level
		return w
	}}
)

func zstdEncoded(body []byte) []byte {
	return zstdEncoder().EncodeAll(body, make([]byte, 0, len(body)/4))
}

func gzipEncoded(body []byte) []byte {
	w := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(w)
	b := bytes.NewBuffer(make([]byte, 0, len(body)/4))
	w.Reset(b)
	_, _ = w.Write(body) // writing to a buffer never fails
	_ = w.Close()
	return b.Bytes()
}

// encodingFor returns the encoding of a response with a body of this size; "" for none.
func encodingFor(h http.Header, size int) string {
	if size < minEncoded {
		return ""
	}
	return negotiated(h)
}

// encoded returns a body in an encoding. If ctx ends before its turn, the error is that of ctx.
func encoded(ctx context.Context, body []byte, encoding string) ([]byte, error) {
	for _, e := range encodings {
		if e.name != encoding {
			continue
		}
		if len(body) > quickEncoded {
			var turn limit.Turn
			if err := turn.Take(ctx); err != nil {
				return nil, err
			}
			defer turn.End()
		}
		return e.encode(body), nil
	}
	return body, nil
}

// negotiated returns the encoding that a client prefers by Accept-Encoding (RFC 9110, section 12.5.3): the one with the greatest
// weight, the first of equal ones, or "" if it prefers none.
func negotiated(h http.Header) (best string) {
	weights := map[string]float64{}
	for _, header := range h.Values("Accept-Encoding") {
		for element := range strings.SplitSeq(header, ",") {
			name, parameter, _ := strings.Cut(element, ";")
			weights[strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "x-")] = weight(parameter)
		}
	}
	most := weights["identity"]
	for _, e := range encodings {
		w, listed := weights[e.name]
		if !listed {
			w = weights["*"]
		}
		if w > 0 && (w > most || best == "" && w == most) {
			best, most = e.name, w
		}
	}
	return best
}

// weight reads "q=0.5". Without it, and if it can't be read, a weight is 1.
func weight(parameter string) float64 {
	name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if !strings.EqualFold(strings.TrimSpace(name), "q") || err != nil {
		return 1
	}
	return q
}
