package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/webtest"
)

const notifications = "/admin/notifications"

// checked runs the job that looks for causes.
func (s *shop) checked() {
	s.T.Helper()
	s.Check(s.Notifications.Check(s.T.Context(), s.By.Tenant))
}

// A manager sees that a reward is out of stock: on the bell, then in the list, until it is dismissed. Another
// manager still sees it. Cashiers have no bell.
func TestNotifications(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	mug := s.Reward(5, new(int64(0)))
	s.checked()
	manager, owner, cashier := s.signedIn(core.Manager), s.signedIn(core.Owner), s.signedIn(core.Cashier)
	if got := manager.Get("/admin").Attr(".bell", "aria-label"); got != "Notifications, 1 new" {
		t.Errorf("the bell says %q", got)
	}
	if got := cashier.Get("/admin/redemptions").Find(".bell").Length(); got != 0 {
		t.Error("a cashier has a bell")
	}
	list := manager.Get(notifications)
	wants(t, "the list leads to", list.Links(".notice-title"), []string{"/admin/rewards/" + mug.String()})
	if got := list.Find(".notice").Text(); !strings.Contains(got, "“Espresso” is out of stock") || !strings.Contains(got, "New") {
		t.Errorf("the list says %q", got)
	}
	if got := list.Attr(".bell", "aria-label"); got != "Notifications" {
		t.Errorf("on the list, the bell says %q", got)
	}
	if list.Find("a[href='/admin/settings/notifications']").Length() != 0 {
		t.Error("a manager is offered the settings")
	}
	manager.Post(list.Attr(".notice-dismiss", "action"), nil)
	if got := manager.Get(notifications).Find(".notice").Length(); got != 0 {
		t.Error("a dismissed notification is listed")
	}
	if got := owner.Get(notifications).Find(".notice").Length(); got != 1 {
		t.Error("another person's notification is gone")
	}
}

// The badge of the redemptions counts the pending ones: exactly up to 99.
func TestPendingBadge(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	if got := cashier.Get("/admin/redemptions").Find(".nav-badge").Length(); got != 0 {
		t.Error("a badge without pending redemptions")
	}
	s.Redeem(s.withPoints(10), s.Reward(5, nil))
	if got := cashier.Get("/admin/customers").Find(".nav-badge").Text(); !strings.Contains(got, "1") || !strings.Contains(got, ", 1 pending") {
		t.Errorf("the badge says %q", got)
	}
	copies := func(n int) {
		s.Exec(`insert into loyalty.redemption (tenant_id, id, customer_id, reward_id, points_spent, stamps_spent, took_stock, actor_kind, actor_id, actor_name, created_at)
			select tenant_id, gen_random_uuid(), customer_id, reward_id, points_spent, stamps_spent, took_stock, actor_kind, actor_id, actor_name, created_at
			from (select * from loyalty.redemption where tenant_id = $1 limit 1) one, generate_series(1, $2::int)`, s.By.Tenant.ID, n)
	}
	copies(98)
	if got := cashier.Get("/admin/customers").Find(".nav-badge").Text(); !strings.Contains(got, ", 99 pending") {
		t.Errorf("with 99, the badge says %q", got)
	}
	copies(1)
	if got := cashier.Get("/admin/customers").Find(".nav-badge").Text(); !strings.Contains(got, "99+") || !strings.Contains(got, "more than 99 pending") {
		t.Errorf("with 100, the badge says %q", got)
	}
}

// withPoints adds a customer with points.
func (s *shop) withPoints(n int64) core.ID {
	s.T.Helper()
	anna := s.Customer().ID
	s.Adjust(anna, "points", n)
	return anna
}

// A notification about a person lists their voids and adjustments with the reasons.
func TestStaffDay(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	s.elsa = s.add("Elsa", "Berg", "070 174 06 05")
	for range 6 {
		s.adjusted("points", 7, "Sorry for the wait")
	}
	s.checked()
	manager := s.signedIn(core.Manager)
	path := manager.Get(notifications).Links(".notice-title")[0]
	page := manager.Get(path)
	if rows := page.Find("tbody tr"); rows.Length() != 6 || !strings.Contains(rows.First().Text(), "Adjusted by +7 points") ||
		!strings.Contains(rows.First().Text(), "Elsa Berg") || !strings.Contains(rows.First().Text(), "Sorry for the wait") {
		t.Errorf("the page lists %q", rows.Text())
	}
	manager.Get(page.Links("main .btn-list a")[0])
	mug := s.Reward(5, new(int64(0)))
	s.checked()
	other := shoptest.Query[core.ID](s.Shop, "select id from loyalty.notification where tenant_id = $1 and reward_id = $2", s.By.Tenant.ID, mug)
	if a := manager.Ask(http.MethodGet, notifications+"/"+other.String()); a.Code != http.StatusNotFound {
		t.Errorf("a notification about a reward has a page: %d", a.Code)
	}
}

// An owner changes the thresholds.
func TestNotificationSettings(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Reward(5, new(int64(8)))
	owner := s.signedIn(core.Owner)
	settings := "/admin/settings/notifications"
	if got := owner.Get(settings).Attr("#field-stock_low", "value"); got != "5" {
		t.Errorf("the default is %q", got)
	}
	if a := owner.Post(settings, webtest.Form("stock_low", "many", "coupon_percent", "101")); a.Code != http.StatusUnprocessableEntity ||
		a.Attr("#field-stock_low", "value") != "many" || a.Find(".is-invalid").Length() != 2 {
		t.Errorf("a wrong threshold: %d, %q", a.Code, a.Find("main").Text())
	}
	owner.Post(settings, webtest.Form("stock_low", "8"))
	s.checked()
	if got := owner.Get(notifications).Find(".notice").Text(); !strings.Contains(got, "Only 8 left of “Espresso”") {
		t.Errorf("the list says %q", got)
	}
}

// The list, with its session and the figures of the navigation.
func TestRoundTripsOfNotifications(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := newShopOn(t, d)
	for range 20 {
		s.Reward(5, new(int64(0)))
	}
	s.checked()
	owner := s.signedIn(core.Owner)
	owner.Get(notifications)
	before := count()
	owner.Get(notifications)
	if got := count() - before; got != 4 {
		t.Errorf("the notifications make %d round trips, want 4", got)
	}
}

// A manager turns the weekly e-mail off and on in their account. Cashiers get none, so they have no choice.
func TestWeeklyEmailInAccount(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	manager, cashier := s.signedIn(core.Manager), s.signedIn(core.Cashier)
	for _, c := range []struct{ status, button, done string }{
		{"On", "Turn off weekly e-mail", "Weekly e-mail turned off."}, {"Off", "Turn on weekly e-mail", "Weekly e-mail turned on."}, {"On", "Turn off weekly e-mail", ""},
	} {
		page := manager.Get(account)
		if got := page.Text("#weekly .badge"); got != c.status || page.Text("#weekly button") != c.button {
			t.Errorf("the account says %q, %q; want %q, %q", got, page.Text("#weekly button"), c.status, c.button)
		}
		if c.done == "" {
			break
		}
		if got := manager.Submit(account+"/weekly", webtest.Form("on", page.Attr("#weekly [name=on]", "value"))).Text("#flashes"); got != c.done {
			t.Errorf("done: %q, want %q", got, c.done)
		}
	}
	if cashier.Get(account).Find("#weekly").Length() != 0 {
		t.Error("a cashier is offered the weekly e-mail")
	}
}
