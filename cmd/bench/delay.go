package main

import (
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"example.com/loyalty/core/fixture"
)

// oneWay is how long a message to the delayed database takes, and one from it.
const oneWay = 2500 * time.Microsecond

// delayedURL returns the database's URL by way of a proxy that passes every byte on after oneWay, as a
// network would.
func (b *bench) delayedURL(ctx context.Context) string {
	direct := fixture.Must(url.Parse(b.cluster.URL()))
	query := direct.Query()
	socket := ".s.PGSQL." + query.Get("port")
	target := filepath.Join(query.Get("host"), socket)
	dir := fixture.Must(os.MkdirTemp(b.dir, "delay"))
	l := fixture.Must(new(net.ListenConfig).Listen(ctx, "unix", filepath.Join(dir, socket)))
	context.AfterFunc(ctx, func() { _ = l.Close() })
	go delay(l, target)
	query.Set("host", dir)
	direct.RawQuery = query.Encode()
	return direct.String()
}

// delay passes connections on to a socket.
func delay(l net.Listener, target string) {
	for {
		from, err := l.Accept()
		if err != nil {
			return // closed
		}
		to, err := net.Dial("unix", target) //nolint:noctx // it ends with its connection
		if err != nil {
			_ = from.Close()
			continue
		}
		go passOn(to, from)
		go passOn(from, to)
	}
}

// chunk is what one read returned.
type chunk struct {
	data []byte
	due  time.Time
}

// passOn writes what it reads, each chunk after oneWay. It keeps reading meanwhile, so that messages wait
// for time alone.
func passOn(to io.WriteCloser, from io.Reader) {
	chunks := make(chan chunk, 1000)
	go func() {
		defer close(chunks)
		for {
			buffer := make([]byte, 16<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				chunks <- chunk{buffer[:n], time.Now().Add(oneWay)}
			}
			if err != nil {
				return
			}
		}
	}()
	defer to.Close() //nolint:errcheck // the other end closes, too
	for c := range chunks {
		time.Sleep(time.Until(c.due))
		if _, err := to.Write(c.data); err != nil {
			break
		}
	}
	for range chunks { // until the other end closes, too
	}
}
