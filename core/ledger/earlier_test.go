package ledger_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
)

// What the build before 0154 did, which serves beside this one during an upgrade.
const (
	earlierMoveSQL = `
		update loyalty.account
		set points = points + @amount::bigint,
			entries = entries + 1
		where tenant_id = @tenant_id
			and customer_id = @customer
			and (@amount::bigint > 0 or @kind::text = 'reversal' or points + @amount >= 0)`

	earlierEntrySQL = `
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount,
			kind, cause, turn, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after)
		select a.tenant_id, @id, a.customer_id, 'points', @amount, @kind, @cause, 1, null, 'system', '', 'earlier', @now, a.entries, a.points
		from loyalty.account a
		where a.tenant_id = @tenant_id
			and a.customer_id = @customer`
)

// An earlier build sells, redeems and voids beside this one, at a business that has a rule already. Lots still add up to the
// balance, and what it awarded never ends.
func TestAnEarlierBuildKnowsNoLots(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "a distributed database has no triggers for earlier builds")
	start := time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)
	s := endsAfterAMonth(shoptest.New(t), start)
	for range 20 {
		customer, sold, now := s.Customer().ID, [][]ledger.Entry{nil, nil}, start
		earlier := func(e ledger.Entry) {
			s.Check(db.Run(t.Context(), s.DB.At(now).Tenant(s.By), func(tx *db.Tx) error {
				moved, err := db.Exec(t.Context(), tx, earlierMoveSQL, db.Args{"customer": customer, "amount": e.Amount, "kind": e.Kind})
				if err != nil || moved == 0 {
					return err
				}
				return db.Queue(tx, earlierEntrySQL, db.Args{
					"id": core.NewID(tx.Now), "customer": customer, "amount": e.Amount, "kind": e.Kind, "cause": e.Cause, "now": tx.Now,
				})
			}))
		}
		current := func(e ledger.Entry) {
			if err := ledgerAt(s, now, e); err != nil && !errors.Is(err, ledger.ErrInsufficientPoints) {
				t.Error(err)
			}
		}
		for range 40 {
			now = now.Add(time.Duration(rand.Int64N(int64(72 * time.Hour))))
			build, post := rand.N(2), current
			if build == 1 {
				post = earlier
			}
			e := ledger.Entry{Customer: customer, Amount: 1 + rand.Int64N(40), Kind: ledger.Earn, Cause: newCause()}
			switch n := len(sold[build]); {
			case n > 0 && rand.N(4) == 0:
				e = sold[build][n-1]
				e.Amount, e.Kind = -e.Amount, ledger.Reversal
				sold[build] = sold[build][:n-1]
			case rand.N(3) == 0:
				e.Amount, e.Kind = -e.Amount, ledger.Redemption
			default:
				sold[build] = append(sold[build], e)
			}
			post(e)
			var endings []ledger.Ending
			s.Check(db.Together(t.Context(), s.DB.Tenant(s.By), ledger.ReadEndings(&endings, customer)))
			var left int64
			for _, ending := range endings {
				left += ending.Amount
			}
			if balance := s.Account(customer).Points; left != max(0, balance) {
				t.Fatalf("after %s of %d: %d are left of a balance of %d", e.Kind, e.Amount, left, balance)
			}
		}
	}
}
