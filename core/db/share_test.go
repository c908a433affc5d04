package db_test

import (
	"context"
	"sync"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// occupy starts n transactions that keep their connections until release. Those that wait for one keep waiting.
func (o outage) occupy(ctx context.Context, t *testing.T, n int, by core.Actor) (began <-chan bool, release func()) {
	t.Helper()
	begun, done := make(chan bool, n), make(chan bool)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			err := db.Run(ctx, o.db.Within(by), func(tx *db.Tx) error {
				_, err := db.One[int32](ctx, tx, backendSQL, nil)
				begun <- true
				<-done
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	return begun, func() { close(done); all.Wait() }
}

// One tenant's transactions never use all connections, whichever way they come: from the API and jobs, by its
// pages, or by pages of hosts that strangers make up. Other tenants get a connection at once.
func TestNoTenantTakesAllConnections(t *testing.T) {
	t.Parallel()
	const connections, share, pages, people = 10, 4, 2, 7
	for name, flood := range map[string]struct {
		as   func(n int) (context.Context, core.Actor)
		most int
	}{
		"the API": {func(int) (context.Context, core.Actor) {
			return t.Context(), core.System(core.Tenant{ID: 7}, "flood")
		}, share},
		"its pages": {func(int) (context.Context, core.Actor) {
			return core.CountAs(t.Context(), "customers.flood"), core.Actor{}
		}, pages},
		"pages of any host": {func(n int) (context.Context, core.Actor) {
			return core.CountAs(t.Context(), "customers."+string(rune('a'+n))), core.Actor{}
		}, people},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOutage(t, db.Options{MaxConns: connections})
			var releases []func()
			began := make(chan bool, 20)
			for n := range 20 {
				ctx, by := flood.as(n)
				one, release := o.occupy(context.WithoutCancel(ctx), t, 1, by)
				go func() { began <- <-one }()
				releases = append(releases, release)
			}
			for range flood.most {
				<-began
			}
			_, releaseOther := o.occupy(t.Context(), t, 1, o.by)
			releaseOther() // waits until it has had its connection
			if n := int(o.db.Stat().AcquiredConns()); n != flood.most {
				t.Errorf("%d connections are in use, want %d of %d", n, flood.most, connections)
			}
			var all sync.WaitGroup
			for _, release := range releases {
				all.Go(release)
			}
			all.Wait()
		})
	}
}
