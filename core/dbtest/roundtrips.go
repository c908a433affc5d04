package dbtest

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/loyalty/core/db"
)

// RoundTrips opens a database of the test's own, with one connection, and counts
// how often its client waits for the server: each wait ends with the server's
// ReadyForQuery. A statement is prepared when a connection first uses it, so what
// is counted must have run once before.
func RoundTrips(t testing.TB) (d *db.DB, count func() int) {
	t.Helper()
	owner := OwnURL(t)
	config, err := pgx.ParseConfig(owner)
	if err != nil {
		t.Fatal(err)
	}
	network, address := pgconn.NetworkAddress(config.Host, config.Port)

	dir, err := os.MkdirTemp("", "trips") //nolint:usetesting // the path of a socket has room for a hundred bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	listener, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })

	var ready atomic.Int64
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go between(client, network, address, &ready)
		}
	}()

	u, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	u.Host, u.User = "", url.User(db.Role)
	u.RawQuery = url.Values{"host": {dir}, "port": {"5432"}}.Encode()
	d, err = db.Open(context.Background(), u.String(), db.Options{MaxConns: 1, OwnerURL: owner})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d, func() int { return int(ready.Load()) }
}

// between passes on what client and server say, and counts before it passes on: once
// the client has its answer, the answer has been counted.
func between(client net.Conn, network, address string, ready *atomic.Int64) {
	defer client.Close()
	server, err := net.Dial(network, address)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	from, to := bufio.NewReader(server), bufio.NewWriter(client)
	for {
		// A message is its kind, its length (with these four bytes) and its text.
		var head [5]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return
		}
		if head[0] == 'Z' {
			ready.Add(1)
		}
		_, _ = to.Write(head[:])
		if _, err := io.CopyN(to, from, int64(binary.BigEndian.Uint32(head[1:]))-4); err != nil {
			return
		}
		if from.Buffered() == 0 && to.Flush() != nil {
			return
		}
	}
}
