package main

import (
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"example.com/loyalty/core/sample"
)

// oneWay is the time of a message to the delayed database, and of one from it.
const oneWay = 2500 * time.Microsecond

// delayedURL returns the database's URL by way of a proxy that adds the time of a network.
func (b *bench) delayedURL(ctx context.Context) string {
	u := sample.Must(url.Parse(b.cluster.URL()))
	query := u.Query()
	socket, dir := ".s.PGSQL."+query.Get("port"), sample.Must(os.MkdirTemp(b.dir, "delay"))
	l := sample.Must(new(net.ListenConfig).Listen(ctx, "unix", filepath.Join(dir, socket)))
	context.AfterFunc(ctx, func() { _ = l.Close() })
	go delay(l, filepath.Join(query.Get("host"), socket))
	query.Set("host", dir)
	u.RawQuery = query.Encode()
	return u.String()
}

// delay passes connections on to a socket, until the listener is closed.
func delay(l net.Listener, target string) {
	for {
		from, err := l.Accept()
		if err != nil {
			return
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

// passOn writes what it reads, oneWay later. It reads on meanwhile, so that messages don't wait for each
// other.
func passOn(to io.WriteCloser, from io.Reader) {
	type message struct {
		text []byte
		due  time.Time
	}
	messages := make(chan message, 1000)
	go func() {
		defer close(messages)
		for {
			text := make([]byte, 16<<10)
			n, err := from.Read(text)
			messages <- message{text[:n], time.Now().Add(oneWay)}
			if err != nil {
				return
			}
		}
	}()
	for m := range messages {
		time.Sleep(time.Until(m.due))
		_, _ = to.Write(m.text) // an error ends the reader, too
	}
	_ = to.Close()
}
