package host

import (
	"net"
	"net/netip"
	"sync"
)

const (
	// A browser has one connection to a host, with HTTP/1 six; a program that uses the API, some dozens.
	connectionsPerAddress = 256
	// All connections together; one costs some 40 kB.
	maxConnections = 4000

	// Fewer than Go's 250. A page loads some twenty files.
	streamsPerConnection = 64
)

// bounded is a listener whose connections are bounded, in total and for each address (LimitKey). It closes
// further ones at once, before they cost a handshake.
type bounded struct {
	net.Listener
	trusted []netip.Prefix

	mu   sync.Mutex
	all  int
	open map[string]int // by address; none for trusted proxies
}

func newBounded(l net.Listener, trusted []netip.Prefix) *bounded {
	return &bounded{Listener: l, trusted: trusted, open: map[string]int{}}
}

// Accept waits for the next connection that is within the bounds.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if free, admitted := b.admit(conn.RemoteAddr().String()); admitted {
			return &boundedConn{Conn: conn, free: free}, nil
		}
		_ = conn.Close()
	}
}

// admit counts a connection, and returns the function that stops counting it.
func (b *bounded) admit(peer string) (free func(), admitted bool) {
	key := LimitKey(peer)
	if addr, ok := parseAddress(peer); ok && isTrusted(b.trusted, addr) {
		key = ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all >= maxConnections || key != "" && b.open[key] >= connectionsPerAddress {
		return nil, false
	}
	b.count(key, 1)
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.count(key, -1)
	}), true
}

func (b *bounded) count(key string, by int) {
	b.all += by
	if key == "" {
		return
	}
	if b.open[key] += by; b.open[key] == 0 {
		delete(b.open, key)
	}
}

// boundedConn stops counting when it is closed.
type boundedConn struct {
	net.Conn
	free func()
}

// Close closes the connection.
func (c *boundedConn) Close() error {
	c.free()
	return c.Conn.Close()
}
