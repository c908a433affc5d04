package main

import (
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// A delayed message takes twice oneWay to be echoed, and a thousand that are sent at once hardly longer.
func TestDelayAddsTimeAndLimitsNothing(t *testing.T) {
	t.Parallel()
	listen := func(name string) net.Listener {
		l, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	echo, proxy := listen("echo"), listen("proxy")
	go delay(proxy, echo.Addr().String())
	go func() {
		if conn, err := echo.Accept(); err == nil {
			_, _ = io.Copy(conn, conn)
		}
	}()
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", proxy.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const messages, size = 1000, 1000
	start := time.Now()
	go func() {
		for range messages {
			_, _ = conn.Write(make([]byte, size))
		}
	}()
	answer := make([]byte, messages*size)
	if _, err := io.ReadFull(conn, answer[:size]); err != nil || time.Since(start) < 2*oneWay {
		t.Errorf("the first message took %s, %v, want at least %s", time.Since(start), err, 2*oneWay)
	}
	if _, err := io.ReadFull(conn, answer[size:]); err != nil || time.Since(start) > messages*oneWay/10 {
		t.Errorf("%d messages took %s, %v: they wait for each other", messages, time.Since(start), err)
	}
}
