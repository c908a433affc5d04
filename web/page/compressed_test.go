package page_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/web/page"
)

// A request that waits, for its turn or for the database, holds no compressor: each takes
// most of a megabyte, and a crowd that waits must not use up the memory.
func TestWaitingRequestsHoldNoCompressor(t *testing.T) {
	const crowd = 200
	e := echo.New()
	e.Use(page.Compressed())
	text := strings.Repeat("Twelve points for a cup of coffee. ", 100)
	var arrived sync.WaitGroup
	var goOn chan struct{}
	e.GET("/", func(c echo.Context) error {
		arrived.Done()
		<-goOn
		return c.HTML(http.StatusOK, text)
	})
	before := heap()
	for range 2 { // the second crowd finds the compressors of the first one
		var answered sync.WaitGroup
		goOn = make(chan struct{})
		arrived.Add(crowd)
		for range crowd {
			answered.Go(func() {
				a := httptest.NewRecorder()
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
				r.Header.Set("Accept-Encoding", "gzip")
				e.ServeHTTP(a, r)
				if a.Header().Get("Content-Encoding") != "gzip" || a.Body.Len() > len(text)/10 || !bytes.HasPrefix(a.Body.Bytes(), []byte{0x1f, 0x8b}) {
					t.Errorf("a page of %d bytes is sent in %d: %v", len(text), a.Body.Len(), a.Header())
				}
			})
		}
		arrived.Wait()
		if held := heap() - before; held > crowd*50_000 {
			t.Errorf("%d waiting requests hold %d kB", crowd, held/1000)
		}
		close(goOn)
		answered.Wait()
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what a pool holds outlives the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
