package host

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// tlsRecord is the first byte of every TLS connection: the record type
// "handshake". No HTTP method begins with it.
const tlsRecord = 0x16

// In both protocols the client sends first. A connection that stays silent for this long is closed.
const (
	firstByteTimeout = 10 * time.Second
	handshakeTimeout = 10 * time.Second
)

// Server serves TLS and refuses plain HTTP on the same port.
type Server struct {
	secure, plain *http.Server
	unread        Unread
	config        *tls.Config    // kept here, since http.Server fills its own in
	trusted       []netip.Prefix // proxies, whose connections are those of many clients
	log           *slog.Logger
}

// NewServer returns a server that answers TLS connections with secure and
// plain ones with plain. Without a TLS configuration, as behind a proxy, every
// connection is plain and goes to secure (see BehindProxy). Each address may have
// some connections, trusted proxies any number. What can't be read as a request is answered by unread.
func NewServer(secure, plain http.Handler, unread Unread, config *tls.Config, trusted []netip.Prefix, log *slog.Logger) *Server {
	s := &Server{secure: newHTTPServer(secure, unread, log), plain: newHTTPServer(plain, unread, log), unread: unread, trusted: trusted, log: log}
	if config != nil {
		s.config = config.Clone()
		for _, proto := range []string{"h2", "http/1.1"} {
			if !slices.Contains(s.config.NextProtos, proto) {
				s.config.NextProtos = append(s.config.NextProtos, proto)
			}
		}
		s.secure.TLSConfig = s.config.Clone() // by which http.Server knows that it serves HTTP/2
	}
	return s
}

func newHTTPServer(h http.Handler, unread Unread, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:     unread.readable(endingChunked(h)),
		ConnContext: note,
		ConnState:   observe,
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: streamsPerConnection},
		// OPTIONS * is answered by the handler like everything else, with its headers.
		DisableGeneralOptionsHandler: true,

		ErrorLog:          log.New(serverLog{logger}, "", 0),
		ReadHeaderTimeout: 10 * time.Second,
		// Long enough for an upload over a slow line, short enough that a client can't hold a request open
		// by a byte a second. Handlers that need longer, such as event streams, move their own deadlines
		// with http.ResponseController.
		ReadTimeout: time.Minute,
		// Longer, or a form that arrived too slowly would get no response.
		WriteTimeout:   time.Minute + 15*time.Second,
		IdleTimeout:    2 * time.Minute,
		MaxHeaderBytes: readHeader,
	}
}

// endingChunked closes the connection after a request whose body is chunked. Together with a Content-Length, which
// net/http removes unseen, it may be two requests for a proxy in front, and what follows must not be read as the
// next one (RFC 9112, 6.1).
func endingChunked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// Serve answers the connections of l until Shutdown, and then returns an
// error that is http.ErrServerClosed. It closes l.
func (s *Server) Serve(l net.Listener) error {
	l = newBounded(l, s.trusted)
	if s.config == nil {
		return s.secure.Serve(replacing{l, s.unread})
	}
	secure, plain := newHandover(l), newHandover(l)
	ended := make(chan error, 2)
	go func() { ended <- errors.Join(s.secure.Serve(secure), secure.Close()) }()
	go func() { ended <- errors.Join(s.plain.Serve(plain), plain.Close()) }()

	//nolint:forbidigo // like http.Server's own, it ends with the listener and belongs to no caller
	peeking, stopPeeking := context.WithCancel(context.Background())
	s.accept(l, func(conn net.Conn) { s.peek(peeking, conn, secure, plain) })
	stopPeeking()
	return errors.Join(secure.Close(), plain.Close(), <-ended, <-ended)
}

// Shutdown takes no new connections, closes silent ones, and waits until the
// requests in flight have been answered or ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	plain := make(chan error, 1)
	go func() { plain <- s.plain.Shutdown(ctx) }()
	return errors.Join(s.secure.Shutdown(ctx), <-plain)
}

// accept starts a goroutine for each connection until l is closed, so that a silent client doesn't block
// others.
func (s *Server) accept(l net.Listener, handle func(net.Conn)) {
	const shortest, longest = 5 * time.Millisecond, time.Second
	pause := shortest
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			// Probably out of file descriptors, until clients leave.
			s.log.Warn("cannot accept connections", "error", err, "retry_in", pause)
			time.Sleep(pause)
			pause = min(2*pause, longest)
		default:
			pause = shortest
			go handle(conn)
		}
	}
}

// peek waits for the first byte and hands the connection to the server for its protocol. A connection
// that is silent until ctx ends is closed.
func (s *Server) peek(ctx context.Context, accepted net.Conn, secure, plain *handover) {
	waiting, cancel := context.WithTimeout(ctx, firstByteTimeout)
	defer cancel()
	keep := context.AfterFunc(waiting, func() { _ = accepted.Close() })

	p := &peeked{Conn: accepted, first: make([]byte, 1)}
	if _, err := accepted.Read(p.first); err != nil || !keep() {
		return // the connection is closed by the end of ctx
	}
	if p.first[0] == tlsRecord {
		s.shakeHands(ctx, p, secure)
	} else {
		plain.give(&conn{Conn: p, refuse: s.unread})
	}
}

// shakeHands begins TLS, which tells the protocol: http.Server takes HTTP/2 from a connection of package tls alone, and
// HTTP/1 from one that answers what can't be read.
func (s *Server) shakeHands(ctx context.Context, p *peeked, secure *handover) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	encrypted := tls.Server(p, s.config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		// Common, from scanners and from browsers that don't trust a local authority yet.
		s.log.DebugContext(ctx, "TLS handshake failed", "address", p.RemoteAddr().String(), "error", err)
		_ = encrypted.Close()
		return
	}
	switch encrypted.ConnectionState().NegotiatedProtocol {
	case "", "http/1.1":
		secure.give(tlsConn{&conn{Conn: encrypted, refuse: s.unread}, encrypted})
	case "h2":
		secure.give(encrypted)
	default: // of a certificate's authority, which wanted to see the handshake
		_ = encrypted.Close()
	}
}

// peeked is a connection whose first byte is read again.
type peeked struct {
	net.Conn
	first []byte
}

func (c *peeked) Read(b []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(b, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// handover is a listener for connections that another listener accepted.
// Closing it closes that one too: thus http.Server, which closes its listener
// whenever it stops, stops the whole port.
type handover struct {
	net.Listener
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func newHandover(from net.Listener) *handover {
	closed := make(chan struct{})
	return &handover{
		Listener: from,
		conns:    make(chan net.Conn),
		closed:   closed,
		close: sync.OnceFunc(func() {
			close(closed)
			_ = from.Close() // the other handover may have closed it already
		}),
	}
}

func (h *handover) give(conn net.Conn) {
	select {
	case h.conns <- conn:
	case <-h.closed:
		_ = conn.Close()
	}
}

// Accept waits for the next connection that was given.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept, here and on the listener underneath.
func (h *handover) Close() error {
	h.close()
	return nil
}

// serverLog logs the lines of http.Server.
type serverLog struct{ log *slog.Logger }

func (w serverLog) Write(line []byte) (int, error) {
	w.log.Warn("HTTP server", "error", strings.TrimSpace(string(line)))
	return len(line), nil
}
