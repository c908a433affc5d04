package notification_test

import (
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/shoptest"
)

// join has customers join online.
func (s shop) join(n int) {
	s.T.Helper()
	for range n {
		by := core.Actor{Kind: core.ByCustomer, Name: "A visitor", Tenant: s.By.Tenant}
		s.Must(db.In(s.T.Context(), s.DB.Tenant(by), func(tx *db.Tx) (customer.Upserted, error) {
			joined, err := customer.Enrol(s.T.Context(), tx, by, shoptest.Anna(shoptest.Phone()), nil, nil)
			if err != nil {
				return joined, err
			}
			return joined, customer.RecordConsent(tx, by, joined.ID, customer.Consent{Terms: "I agree.", Source: customer.FromJoin})
		}))
	}
}

// "The owner is notified at 80 %", with the figures of the last check, until there is room again.
func TestPlanLimit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.check()
	s.wantList("without a limit")
	s.Exec(`
		with plan as (
			insert into loyalty.plan (name, monthly_cents, yearly_cents, currency, customers_limit)
			values ('Small ' || $1::bigint::text, 0, 0, 'EUR', 10)
			returning id
		)
		update loyalty.tenant set plan_id = (select id from plan) where id = $1`, s.By.Tenant.ID)
	ids := s.AddCustomers(7)
	s.check()
	s.wantList("seven of ten")
	ids = append(ids, s.Customer().ID)
	s.check()
	s.check()
	s.wantList("eight", "plan_limit  8/10")
	s.wantCounts(s.By, 0, 0)
	s.AddCustomers(2)
	s.check()
	s.wantList("ten", "plan_limit  10/10")
	for _, id := range ids[:3] {
		s.Must(s.Customers.Edit(t.Context(), s.By, id, customer.Edit{Status: core.Set("inactive")}))
	}
	s.check()
	s.wantList("seven again")
}

// "When joins come unusually fast": more than 30 within an hour, and more than five times the average hour of the week.
func TestJoinsFast(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.join(30)
	s.check()
	s.wantList("thirty")
	s.join(1)
	s.check()
	s.wantList("thirty-one", "joins_fast  31")
	s.join(2)
	s.check()
	s.wantList("more of them, once", "joins_fast  33")
	next := of(s.Later(25 * time.Hour))
	next.join(31)
	next.check()
	next.wantList("the next day", "joins_fast  33", "joins_fast  31")

	busy := newShop(t)
	for _, hours := range []time.Duration{100, 80, 60, 40, 20} {
		of(busy.Later(-hours * time.Hour)).join(220)
	}
	busy.join(31)
	busy.check()
	busy.wantList("where as many are usual")
	if got := notification.Kinds[0]; got != notification.PlanLimit {
		t.Errorf("the most urgent kind is %s", got)
	}
}
