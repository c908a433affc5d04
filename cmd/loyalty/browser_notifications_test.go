package main

import (
	"strconv"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
)

// A reward runs low: a manager sees it on the bell, opens the list, refills the stock, and the notification is
// gone. Another one is about unusually many adjustments, which the manager reads and dismisses.
func testNotifications(t *testing.T, c cafe) {
	s := c.sender(t, func(d *db.DB) core.Actor {
		cafe, err := tenant.BySlug(t.Context(), d, demo.Slug)
		if err != nil {
			t.Fatal(err)
		}
		return core.System(cafe, "test")
	})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const email = "noor@cafearo.example"
	c.hired(t, core.Manager, "Noor Haddad", email)
	tote, err := core.Result(s.Rewards.Add(t.Context(), s.by, reward.New{Name: "Canvas tote", PointsCost: new(int64(400)), Stock: new(int64(2))}, nil))
	must(err)
	noor := s.by
	noor.Kind, noor.Name, noor.Role = core.ByStaff, "Noor Haddad", core.Manager
	noor.StaffID = ask[int64](connect(t, c.in.url()), "select id from loyalty.staff where email = $1", email)
	noor.ID = strconv.FormatInt(noor.StaffID, 10)
	vera := s.customer(t, "Vera", "+46 74 131 31 31")
	for i, reason := range []string{"Sorry for the long wait", "Points of a lost receipt", "Points of a lost receipt", "Wrong order", "Birthday", "Sorry for the long wait"} {
		_, err := core.Result(s.Customers.Adjust(t.Context(), noor, vera.ID, customer.Adjustment{Unit: "points", Amount: int64(10 + i), Reason: reason}, nil))
		must(err)
	}
	notifications := s.Notifications
	must(notifications.Check(t.Context(), s.by.Tenant))

	p := c.page(t)
	c.signInAs(t, p, email)
	p.Open("/admin/rewards")
	p.WaitFor(".bell-badge")
	look(t, p, "rewards-bell", nil)
	p.Click(".bell")
	p.WaitForText("h1", "Notifications")
	p.WaitForText(".notices", "Only 2 left of “Canvas tote”")
	look(t, p, "notifications-new", nil)
	p.ClickText(".notice-title", "voids, refunds and adjustments by Noor Haddad")
	p.WaitForText("tbody", "Points of a lost receipt")
	look(t, p, "notification-staff", nil)
	p.Open("/admin/notifications")
	listed := p.Text(".notices")
	p.Click("[aria-label^='Dismiss: 6 voids']")
	p.WaitForText("#flashes", "Notification dismissed.")
	if got := p.Text("main"); !strings.Contains(listed, "by Noor Haddad") || strings.Contains(got, "by Noor Haddad") {
		t.Errorf("the list says %q", got)
	}
	p.ClickText(".notice-title", "Canvas tote")
	p.WaitForText("h1", "Canvas tote")
	p.Fill("units", "40")
	p.Click("#stock button[type=submit]")
	p.WaitForText("#stock", "42")
	p.Open("/admin/notifications")
	if got := p.Text("main"); strings.Contains(got, "Canvas tote") {
		t.Errorf("after the refill, the list says %q", got)
	}
	must(deactivate(t, s, tote.ID)) // other tests count the rewards on offer
}

func deactivate(t *testing.T, s *sender, id core.ID) error {
	t.Helper()
	_, err := s.Rewards.Edit(t.Context(), s.by, id, reward.Edit{Active: core.Set(false)})
	return err
}
