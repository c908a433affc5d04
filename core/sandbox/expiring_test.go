package sandbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/core/shoptest"
)

// "A customer in each state": what they have of which last day.
func TestPointsInTheFileEnd(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	d = d.At(time.Date(2026, time.November, 20, 15, 40, 0, 0, time.UTC))
	for _, one := range run(t, newMaker(t, d)).Tenants {
		served, err := db.FindTenant(t.Context(), d, one.ID)
		if err != nil {
			t.Fatal(err)
		}
		s := shoptest.Of(t, d, core.System(served, "test"))
		got := map[string]string{}
		for name, who := range expiring(one.Expiring) {
			var endings []ledger.Ending
			s.Check(db.Together(t.Context(), d.Tenant(s.By), ledger.ReadEndings(&endings, who)))
			words := []string{fmt.Sprint(shoptest.Query[int64](s, "select points from loyalty.account where customer_id = $1", who))}
			for _, e := range endings {
				day := "never"
				if e.ExpiresOn != nil {
					day = e.ExpiresOn.Format(time.DateOnly)
				}
				words = append(words, fmt.Sprint(e.Amount, " ", day))
			}
			got[name] = strings.Join(words, ", ")
		}
		if diff := cmp.Diff(map[string]string{
			"never": "30, 30 never", "one_lot": "30, 30 2027-11-20", "three_lots": "30, 10 2027-03-20, 10 2027-07-20, 10 2027-11-20",
			"due_tomorrow": "25, 25 2026-11-21", "below_zero": "-50", "expired_and_voided": "0", "refunded": "10, 10 2027-11-20",
		}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", one.Name, diff)
		}
		kinds := shoptest.QueryAll[string](s, "select kind || ' ' || amount from loyalty.ledger_entry where customer_id = $1 order by seq", one.Expiring.ExpiredAndVoided)
		if diff := cmp.Diff([]string{"earn 40", "expiry -40", "expiry_return 40", "reversal -40"}, kinds); diff != "" {
			t.Errorf("entries of the one that expired (-want +got):\n%s", diff)
		}
		s.Check(s.Days.Count(t.Context(), daily.Counting{Tenant: one.ID}))
	}
	shoptest.Of(t, d, core.Actor{}).Verify()
}

func expiring(e sandbox.Expiring) map[string]core.ID {
	return map[string]core.ID{
		"never": e.Never, "one_lot": e.OneLot, "three_lots": e.ThreeLots, "due_tomorrow": e.DueTomorrow,
		"below_zero": e.BelowZero, "expired_and_voided": e.ExpiredAndVoided, "refunded": e.Refunded,
	}
}
