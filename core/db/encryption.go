package db

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// CheckEncryption refuses a URL whose connection to another machine might not be encrypted
// (sslmode disable, allow or prefer, in the URL or PGSSLMODE). Unix sockets and addresses of this
// machine are exempt. The error names only the host.
func CheckEncryption(url string) error {
	c, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil //nolint:nilerr // connecting reports what is wrong with it
	}
	targets := []*pgconn.FallbackConfig{{Host: c.Host, TLSConfig: c.TLSConfig}}
	for _, t := range append(targets, c.Fallbacks...) {
		if t.TLSConfig == nil && !IsThisMachine(t.Host) {
			return fmt.Errorf("the connection to %s might not be encrypted: add sslmode=require to it "+
				"(verify-full also checks the server's certificate), or set PGSSLMODE", t.Host)
		}
	}
	return nil
}

// IsThisMachine reports whether connections to a host, or a directory of Unix sockets, stay on this machine.
func IsThisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return filepath.IsAbs(host) || strings.HasPrefix(host, "@") || // a directory of Unix sockets, or an abstract one
		strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}
