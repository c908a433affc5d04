package host

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	// Enough for two cookies and a token.
	maxHeader = 64 << 10
	// What net/http reads before it refuses a request itself. Over HTTP/2 its own answer is a page in HTML, so it is more than
	// maxHeader; the default of 1 MiB would help attackers.
	readHeader = 2 * maxHeader
)

// Unread returns the handler that answers a request which can't be read, with a status such as 431.
type Unread func(status int) http.Handler

// readable refuses requests whose headers are too large, and counts the others as read.
func (u Unread) readable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			c.isUnread = false
		}
		if headerSize(r) > maxHeader {
			u(http.StatusRequestHeaderFieldsTooLarge).ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// headerSize is the size of a request's line and headers.
func headerSize(r *http.Request) int {
	const separators = len(": \r\n")
	size := len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + separators
		}
	}
	return size
}

// conn is a connection with HTTP/1. net/http answers what it can't read as a request itself, in plain text and without an id:
// such an answer is replaced. Only the connection's own goroutine uses it.
type conn struct {
	net.Conn
	refuse   Unread
	isUnread bool // a request arrives, and no handler has it yet
	refused  bool
}

// tlsConn is one over TLS.
type tlsConn struct {
	*conn
	tls *tls.Conn
}

// ConnectionState returns the state that net/http puts into its requests.
func (c tlsConn) ConnectionState() tls.ConnectionState { return c.tls.ConnectionState() }

// CloseWrite ends what the client reads.
func (c tlsConn) CloseWrite() error { return c.tls.CloseWrite() }

func (c *conn) own() *conn { return c }

type connKey struct{}

// note remembers a connection for the handlers of its requests.
func note(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(interface{ own() *conn }); ok {
		return context.WithValue(ctx, connKey{}, c.own())
	}
	return ctx
}

// observe notes that a request arrives, before net/http answers it or gives it to its handler: the first of a connection by
// its first bytes, a further one when the response before it was sent.
func observe(c net.Conn, state http.ConnState) {
	if c, ok := c.(interface{ own() *conn }); ok && (state == http.StateActive || state == http.StateIdle) {
		c.own().isUnread = true
	}
}

// Write writes, or replaces net/http's own answer.
func (c *conn) Write(b []byte) (int, error) {
	if !c.isUnread {
		return c.Conn.Write(b)
	}
	if c.refused {
		return len(b), nil
	}
	c.refused = true
	_, err := c.Conn.Write(c.answer(statusIn(b)))
	return len(b), err
}

// statusIn reads the status of "HTTP/1.1 431 …".
func statusIn(answer []byte) int {
	fields := bytes.Fields(answer)
	if len(fields) < 2 {
		return http.StatusBadRequest
	}
	status, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return http.StatusBadRequest
	}
	return status
}

// answer returns the whole answer to a request of which nothing is known, after which the connection ends.
func (c *conn) answer(status int) []byte {
	r := &http.Request{URL: &url.URL{Path: "/"}, Header: http.Header{}, Body: http.NoBody, RemoteAddr: c.RemoteAddr().String(), ProtoMajor: 1, ProtoMinor: 1}
	w := &written{header: http.Header{}}
	w.header.Set("Date", time.Now().UTC().Format(http.TimeFormat)) //nolint:forbidigo // of the response; not stored
	c.refuse(status).ServeHTTP(w, r)
	var b bytes.Buffer
	_ = (&http.Response{ // writing to a buffer never fails
		StatusCode: w.status, ProtoMajor: 1, ProtoMinor: 1, Header: w.header, Close: true,
		ContentLength: int64(w.body.Len()), Body: io.NopCloser(&w.body),
	}).Write(&b)
	return b.Bytes()
}

// written is a response in memory.
type written struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *written) Header() http.Header { return w.header }

func (w *written) WriteHeader(status int) { w.status = status }

func (w *written) Write(b []byte) (int, error) { return w.body.Write(b) }

// replacing is a listener whose connections have HTTP/1 alone.
type replacing struct {
	net.Listener
	refuse Unread
}

// Accept waits for the next connection.
func (l replacing) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, refuse: l.refuse}, nil
}
