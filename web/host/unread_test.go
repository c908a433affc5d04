package host_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/web/host"
)

// secured dials the server with HTTP/1 over TLS.
func (s *shop) secured(t *testing.T) net.Conn {
	t.Helper()
	conn := tls.Client(s.dial(t), &tls.Config{RootCAs: s.roots(t), ServerName: "localhost", NextProtos: []string{"http/1.1"}})
	if err := conn.Handshake(); err != nil {
		t.Fatal(err)
	}
	return conn
}

// Requests that net/http answers itself, in plain text, get the product's answer: over TLS, without it, and behind a proxy.
func TestWhatCantBeReadIsAnswered(t *testing.T) {
	t.Parallel()
	s := open(t, echoHost)
	behind := host.NewServer(echoHost, nil, unread, nil, nil, slog.New(slog.DiscardHandler))
	l := listen(t)
	go func() { _ = behind.Serve(l) }()
	t.Cleanup(func() { _ = behind.Shutdown(t.Context()) })
	doors := map[string]func() net.Conn{
		"TLS": func() net.Conn { return s.secured(t) }, "plain": func() net.Conn { return s.dial(t) },
		"a proxy": func() net.Conn {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			return conn
		},
	}
	const good = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for door, dial := range doors {
		for request, want := range map[string]int{
			"GET / HTTP/1.1\r\n\r\n":                                                                  400, // no Host
			"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n":                                            400,
			"GET / HTTP/1.1\r\nHost: a b\r\n\r\n":                                                     400,
			"GET / HTTP/1.1\r\nHost: localhost\r\nA b\r\n\r\n":                                        400,
			"GET nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n":                                         400,
			"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n":                                               505,
			"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: x\r\n\r\n":                      501,
			"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: x\r\n\r\nabc":         417,
			"GET / HTTP/1.1\r\nHost: localhost\r\nA: " + strings.Repeat("a", 70<<10) + "\r\n\r\n":     431,
			"GET / HTTP/1.1\r\nHost: localhost\r\nA: " + strings.Repeat("a", 300<<10) + "\r\n\r\n":    431,
			"GET /" + strings.Repeat("a", 70<<10) + " HTTP/1.1\r\nHost: localhost\r\n\r\n":            431,
			"GET / HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("A: a\r\n", 12<<10) + "\r\n":     431,
			"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("a", 60<<10) + "\r\n\r\n":     0,
			"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n": 0,
		} {
			for _, before := range []string{"", good} { // also as a further request of the connection
				name := fmt.Sprintf("%s, after %d bytes: %.60q", door, len(before), request)
				conn := dial()
				_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
				go func() { _, _ = io.WriteString(conn, before+request) }()
				read := bufio.NewReader(conn)
				if before != "" {
					first, err := http.ReadResponse(read, nil)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					_, _ = io.ReadAll(first.Body)
					_ = first.Body.Close()
				}
				got, err := http.ReadResponse(read, nil)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				body, _ := io.ReadAll(got.Body)
				_ = got.Body.Close()
				switch {
				case want == 0:
					if got.Header.Get("X-Request-Id") != "" {
						t.Errorf("%s: %d %s", name, got.StatusCode, body)
					}
				case got.StatusCode != want || string(body) != fmt.Sprint("refused with ", want) || got.Header.Get("X-Request-Id") != "for 127.0.0.1" || got.Header.Get("Content-Type") != "application/problem+json":
					t.Errorf("%s: %d %v %s", name, got.StatusCode, got.Header, body)
				}
				_ = conn.Close()
			}
		}
	}
}

// Over HTTP/2, too.
func TestLargeHeadersOverHTTP2(t *testing.T) {
	t.Parallel()
	s := open(t, echoHost)
	for size, want := range map[int]int{60 << 10: 200, 70 << 10: 431, 120 << 10: 431} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://localhost:8443/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("A", strings.Repeat("a", size))
		got, err := s.client(t, true).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		if got.StatusCode != want || got.ProtoMajor != 2 || (got.Header.Get("X-Request-Id") != "") != (want == 431) {
			t.Errorf("%d bytes: %s %d %v", size, got.Proto, got.StatusCode, got.Header)
		}
	}
}
