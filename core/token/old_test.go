package token_test

import (
	"slices"
	"testing"
	"time"

	"example.com/loyalty/core/dbtest"
)

// Tokens are deleted a year after they were revoked or expired.
func TestOldTokensAreDeleted(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t)) // the job works on all tenants
	const year = 365 * 24 * time.Hour
	for _, name := range []string{"works", "revoked", "expires"} {
		o.create(name)
	}
	o.Exec("update loyalty.token set revoked_at = $1 where name = 'revoked'", o.DB.Now())
	o.Exec("update loyalty.token set expires_at = $1 where name = 'expires'", o.DB.Now().Add(time.Hour))
	for _, step := range []struct {
		after time.Duration
		left  []string
	}{
		{year - time.Minute, []string{"expires", "revoked", "works"}},
		{year + time.Minute, []string{"expires", "works"}},
		{year + time.Hour + time.Minute, []string{"works"}},
	} {
		o.Check(o.at(o.DB.Now().Add(step.after)).DeleteOld(t.Context()))
		var left []string
		err := dbtest.Owner(o.DB).QueryRow(t.Context(), "select array_agg(name order by name) from loyalty.token").Scan(&left)
		if err != nil || !slices.Equal(left, step.left) {
			t.Errorf("after %s: %q, %v; want %q", step.after, left, err, step.left)
		}
	}
}
