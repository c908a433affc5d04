package db

import (
	"context"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/limit"
)

// shares divide the pool, so that no tenant's requests wait in it for those of another: they wait in their
// own line before they ask for a connection.
type shares struct {
	tenants *limit.Lines[core.TenantID]
	people  *limit.KeyedGate[string] // requests for pages, by the name of core.CountAs
}

// A tenant's API requests and jobs together use at most two fifths of the connections, its customers' pages
// a quarter and its staff's a quarter: each connection is a process that others' statements share the cores
// with. Pages of all tenants use three quarters: strangers may request any number of hosts, also those of no
// tenant.
func newShares(size int32) *shares {
	return &shares{
		tenants: limit.NewLines[core.TenantID](shareOf(size)),
		people:  limit.NewKeyedGate[string](max(2, int(size)*3/4), max(2, int(size)/4), sharePatience, busy),
	}
}

func shareOf(size int32) int { return max(2, int(size)*2/5) }

// Share returns how many connections a tenant's API requests and jobs use at once, and those of the platform.
func (d *DB) Share() int { return shareOf(d.size) }

const (
	// sharePatience is longer than any page may take.
	sharePatience = 30 * time.Second
	busy          = "Too many pages are being loaded. Try again in a moment."
)

// enter waits for a place of the caller, and returns the function that gives it back.
func (s *shares) enter(ctx context.Context, tenant core.TenantID) (leave func(), err error) {
	if name := core.CountedAs(ctx); name != "" {
		return s.people.Enter(ctx, name)
	}
	return s.tenants.Enter(ctx, tenant)
}
