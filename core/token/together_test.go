package token_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"example.com/loyalty/core"
)

// "A revoked token must stop working at once": revoked, the very next request is refused, also while other
// requests with the same token and with others are under way.
func TestRevocationWorksAtOnceUnderLoad(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	revoked, other := o.create("Revoked"), o.create("Other")
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for _, secret := range []string{revoked.Secret, revoked.Secret, revoked.Secret, other.Secret, other.Secret, other.Secret} {
		load.Go(func() {
			for ctx.Err() == nil {
				_, err := o.Authenticate(ctx, secret, "")
				if err != nil && ctx.Err() == nil && (secret == other.Secret || !errors.Is(err, core.ErrUnauthenticated)) {
					t.Error(err)
				}
			}
		})
	}
	times := 10_000
	if testing.Short() {
		times = 500
	}
	for range times {
		o.Exec("update loyalty.token set revoked_at = now() where id = $1", revoked.ID)
		o.refused(revoked.Secret, "")
		o.Exec("update loyalty.token set revoked_at = null where id = $1", revoked.ID)
		o.works(revoked.Secret)
	}
	stop()
	load.Wait()
}
