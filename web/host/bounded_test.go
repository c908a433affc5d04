package host_test

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"

	"example.com/loyalty/web/host"
)

// from is a connection of a client with an address.
type from struct {
	net.Conn
	peer netip.AddrPort
}

func (c from) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.peer) }

// connect opens a connection from an address, and reports whether it was closed at once.
func connect(t *testing.T, l *pipes, peer string) (client net.Conn, closed bool) {
	t.Helper()
	server, client := net.Pipe()
	l.conns <- from{server, netip.MustParseAddrPort(peer)}
	synctest.Wait()
	ended := make(chan bool, 1)
	go func() { _, err := client.Read(make([]byte, 1)); ended <- errors.Is(err, io.EOF) }()
	synctest.Wait()
	select {
	case closed = <-ended:
	default:
	}
	return client, closed
}

// An address has at most 256 connections, an IPv6 network too; a closed one makes room. A trusted proxy has
// those of all its clients. All together have at most 4,000.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	config := newDataDir(t).start(t, "https://localhost:8443")
	synctest.Test(t, func(t *testing.T) {
		s := host.NewServer(echoHost, echoHost, unread, config, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, slog.New(slog.DiscardHandler))
		l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		go func() { _ = s.Serve(l) }()
		var first net.Conn
		for n := range 256 {
			peer := "[2001:db8::1]:1"
			if n%2 == 0 {
				peer = "[2001:db8::2]:1"
			}
			conn, closed := connect(t, l, peer)
			if closed {
				t.Fatalf("connection %d was closed", n+1)
			}
			if n == 0 {
				first = conn
			}
		}
		if _, closed := connect(t, l, "[2001:db8::3]:1"); !closed {
			t.Error("a network has 257 connections")
		}
		if _, closed := connect(t, l, "203.0.113.7:1"); closed {
			t.Error("another address is refused")
		}
		_ = first.Close()
		synctest.Wait()
		if _, closed := connect(t, l, "[2001:db8::3]:1"); closed {
			t.Error("a closed connection makes no room")
		}
		for n := range 4000 - 257 {
			if _, closed := connect(t, l, "10.0.0.1:1"); closed {
				t.Fatalf("connection %d of a proxy was closed", n+1)
			}
		}
		if _, closed := connect(t, l, "198.51.100.1:1"); !closed {
			t.Error("4,001 connections are open")
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A connection has at most 64 streams, as the server's first frame says.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t, echoHost)
	conn, err := tls.Dial("tcp", s.addr, &tls.Config{RootCAs: s.roots(t), ServerName: "localhost", NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
		t.Fatal(err)
	}
	var head [9]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil || head[3] != 4 {
		t.Fatalf("the first frame is %v, %v, want SETTINGS", head, err)
	}
	settings := make([]byte, binary.BigEndian.Uint32(head[:4])>>8)
	if _, err := io.ReadFull(conn, settings); err != nil {
		t.Fatal(err)
	}
	const maxConcurrentStreams = 3
	for ; len(settings) > 0; settings = settings[6:] {
		if binary.BigEndian.Uint16(settings) == maxConcurrentStreams {
			if n := binary.BigEndian.Uint32(settings[2:]); n != 64 {
				t.Errorf("%d streams, want 64", n)
			}
			return
		}
	}
	t.Error("the number of streams is not limited")
}
