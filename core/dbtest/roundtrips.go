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

// RoundTrips opens a database for one test, with one connection, and counts the server's ReadyForQuery messages, each of
// which ends a round trip, except those of pings. A connection prepares a statement when it first uses it, so the counted calls must have run
// once before.
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
			go relay(client, network, address, &ready)
		}
	}()

	u, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	u.Host, u.User = "", url.User(db.Role)
	u.RawQuery = url.Values{"host": {dir}, "port": {"5432"}}.Encode()
	options := patient(owner)
	options.MaxConns = 1
	d, err = db.Open(context.Background(), u.String(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d, func() int { return int(ready.Load()) }
}

// relay forwards messages between client and server. It counts a message before it forwards it, so that the count is
// right when the client continues.
func relay(client net.Conn, network, address string, ready *atomic.Int64) {
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
	pinged := false
	for {
		// A message is its type, its length (including these four bytes) and its content.
		var head [5]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return
		}
		switch head[0] {
		case 'I': // the response to a ping, which the pool sends on a connection that was idle
			pinged = true
		case 'Z':
			if !pinged {
				ready.Add(1)
			}
			pinged = false
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
