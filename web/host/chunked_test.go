package host_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/loyalty/web/host"
)

// A request with Content-Length and Transfer-Encoding is answered and the connection closed: what follows is no second
// request. So is every chunked one, since the two look alike. Others keep the connection.
func TestAChunkedRequestEndsItsConnection(t *testing.T) {
	t.Parallel()
	s := open(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.URL.Path+" "+string(body))
	}))
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost:8443\r\n\r\n"
	for request, ends := range map[string]bool{
		"POST /both HTTP/1.1\r\nHost: localhost:8443\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n":        true,
		"POST /both HTTP/1.1\r\nHost: localhost:8443\r\nTransfer-Encoding: chunked\r\nContent-Length: 12\r\n\r\n2\r\nok\r\n0\r\n\r\n":       true,
		"POST /api/v1/both HTTP/1.1\r\nHost: localhost:8443\r\nContent-Length: 4\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n": true,
		"POST /chunked HTTP/1.1\r\nHost: localhost:8443\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n":                          true,
		"POST /length HTTP/1.1\r\nHost: localhost:8443\r\nContent-Length: 2\r\n\r\nok":                                                      false,
		"GET /none HTTP/1.1\r\nHost: localhost:8443\r\n\r\n":                                                                                false,
	} {
		conn := tls.Client(s.dial(t), &tls.Config{RootCAs: s.roots(t), ServerName: "localhost", NextProtos: []string{"http/1.1"}})
		if _, err := io.WriteString(conn, request+smuggled); err != nil {
			t.Fatal(err)
		}
		from := bufio.NewReader(conn)
		first, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatalf("%q: %v", request, err)
		}
		body, _ := io.ReadAll(first.Body)
		_ = first.Body.Close()
		if path := strings.Fields(request)[1]; !strings.HasPrefix(string(body), path) {
			t.Errorf("%q: %d %s", request, first.StatusCode, body)
		}
		next, err := http.ReadResponse(from, nil)
		if (err != nil) != ends {
			t.Errorf("%q: after it %v, want it ended: %t", request, err, ends)
		}
		if err == nil {
			_ = next.Body.Close()
		}
	}
}

// A client that sends a form too slowly is told so, within the server's time for a response.
func TestASlowRequestIsAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := host.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				w.WriteHeader(http.StatusRequestTimeout)
			}
		}), nil, unread, nil, nil, slog.New(slog.DiscardHandler))
		l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		go func() { _ = s.Serve(l) }()
		server, client := net.Pipe()
		l.conns <- server
		go func() {
			_, _ = io.WriteString(client, "POST /join HTTP/1.1\r\nHost: localhost:8443\r\nContent-Length: 100\r\n\r\nname=")
		}()
		got, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		if got.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%d, want 408", got.StatusCode)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
