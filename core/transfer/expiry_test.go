package transfer_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transfer"
)

// A business moves with the rule of its points, its lots and dated entries: also those that no lot has yet, and deductions
// from before there were lots. In the other installation, the same ends on the same day.
func TestPointsThatEndMove(t *testing.T) {
	t.Parallel()
	from, to := dbtest.OwnDB(t), dbtest.OwnDB(t)
	s := shoptest.In(t, from)
	now := from.Now()
	points := s.Points(100)
	anna, bo, cleo := s.Customer().ID, s.Customer().ID, s.Customer().ID
	past := s.At(now.AddDate(0, -14, 0))
	for _, who := range []core.ID{anna, bo} {
		past.Sale(who, points, 5000)
		past.Adjust(who, ledger.Points, -10)
	}
	s.Exec("update loyalty.ledger_entry set lot_dates = null, lot_amounts = null") // as an earlier build wrote it
	past.SetExpiry(ledger.Points, core.Expiry{Rule: core.ExpireAfter, Months: 12, RoundTo: core.ToMonth, GraceDays: 30}, nil)
	s.By = past.By
	ended := past.Sale(bo, points, 2000)
	past.Sale(cleo, points, 3000)
	s.ExpireDue()
	s.VoidSale(ended.ID)
	s.Sale(bo, points, 1000)
	s.Adjust(bo, ledger.Points, -5)
	s.Sale(bo, points, 700) // is in no lot yet
	s.Verify()

	before := rows(t, from, s.By.Tenant.ID)
	_, file := export(t, from, s.By.Tenant.Slug)
	if _, err := mover(to).Import(t.Context(), opening(file), transfer.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"programme", "account", "lot", "ledger_entry", "transaction"} {
		if len(before[table]) == 0 {
			t.Errorf("%s has no row", table)
		}
	}
	after := rows(t, to, s.By.Tenant.ID)
	after["billing_account"] = before["billing_account"] // begins here
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("rows (-there +here):\n%s", diff)
	}
	wantVerified(t, to)

	// A year and a half later, what isn't from before the rule has ended in both.
	for _, d := range []*shoptest.Shop{new(s), new(shoptest.Of(t, to, s.By))} {
		then := d.At(now.AddDate(0, 18, 0))
		then.By.Tenant = tenantOf(t, then.DB, s.By.Tenant.Slug)
		then.ExpireDue()
		got := map[string]int64{"anna": then.Account(anna).Points, "bo": then.Account(bo).Points, "cleo": then.Account(cleo).Points}
		if diff := cmp.Diff(map[string]int64{"anna": 40, "bo": 40, "cleo": 0}, got); diff != "" {
			t.Errorf("balances on %s (-want +got):\n%s", then.DB.Now().Format(time.DateOnly), diff)
		}
		then.Verify()
	}
}
