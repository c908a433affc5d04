package notification_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// shop is a business with notifications.
type shop struct {
	shoptest.Shop
	*notification.Service
}

func newShop(t *testing.T) shop { return of(shoptest.New(t)) }

func of(s shoptest.Shop) shop { return shop{s, s.Notifications} }

// check runs the job for this business.
func (s shop) check() {
	s.T.Helper()
	s.Shop.Check(s.Check(s.T.Context(), s.By.Tenant))
}

// list returns the notifications of a person, each as its kind, name, figure and total.
func (s shop) list(by core.Actor) (told []string) {
	s.T.Helper()
	list, err := s.List(s.T.Context(), by)
	s.Shop.Check(err)
	for _, n := range list {
		text := string(n.Kind) + " " + n.Name + " " + strconv.FormatInt(n.Figure, 10)
		if n.Total > 0 {
			text += "/" + strconv.FormatInt(n.Total, 10)
		}
		told = append(told, text)
	}
	return told
}

func (s shop) wantList(when string, want ...string) {
	s.T.Helper()
	if diff := cmp.Diff(want, s.list(s.By), cmpopts.EquateEmpty(), cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		s.T.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// wantCounts checks the figures beside the navigation.
func (s shop) wantCounts(by core.Actor, pending, unread int64) {
	s.T.Helper()
	if got, err := s.Counts(s.T.Context(), by); err != nil || got != (notification.Counts{Pending: pending, Unread: unread}) {
		s.T.Errorf("counts = %+v, %v, want %d pending, %d unread", got, err, pending, unread)
	}
}

// wantLow checks whether a reward's stock is low where rewards are shown, by the same threshold.
func (s shop) wantLow(id core.ID, want bool) {
	s.T.Helper()
	found, err := s.Rewards.Find(s.T.Context(), s.By, id)
	if err != nil || found.LowStock != want {
		s.T.Errorf("low stock with %d units = %t, %v, want %t", *found.Stock, found.LowStock, err, want)
	}
}

func (s shop) restock(id core.ID, units int64) {
	s.T.Helper()
	seen := shoptest.Query[*int64](s.Shop, "select stock from loyalty.reward where tenant_id = $1 and id = $2", s.By.Tenant.ID, id)
	s.Must(core.Result(s.Rewards.SetStock(s.T.Context(), s.By, id, reward.StockCount{Stock: &units, Seen: seen}, nil)))
}

// A notification exists while its cause exists: a reward runs low, then out, and is refilled.
func TestStock(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	mug := s.Reward(5, new(int64(6)))
	s.Reward(5, nil)
	s.check()
	s.wantList("six units")
	s.wantLow(mug, false)
	s.restock(mug, 5)
	s.wantList("before the job")
	s.check()
	s.wantList("five units", "stock_low Espresso 5")
	s.wantLow(mug, true)
	s.restock(mug, 2)
	s.wantList("as the stock is now", "stock_low Espresso 2")
	s.restock(mug, 0)
	s.check()
	s.wantList("out of stock", "stock_empty Espresso 0")
	s.wantLow(mug, false)
	s.restock(mug, 50)
	s.wantList("refilled, before the job")
	s.wantCounts(s.By, 0, 0)
	s.check()
	s.restock(mug, 0)
	s.check()
	s.wantList("out of stock again", "stock_empty Espresso 0")
	s.Must(s.Rewards.Edit(t.Context(), s.By, mug, reward.Edit{Active: core.Set(false)}))
	s.wantList("inactive")
}

// A coupon's notification appears when 90 % of its redemptions are used, as the owner's threshold says.
func TestCouponLimit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(coupon.New{Name: "Welcome", BenefitType: "points", BenefitValue: new(int64(5)), MaxRedemptions: new(int64(2)), MaxPerCustomer: new(int64(2))})
	v := s.Voucher(c.ID, s.Customer().ID)
	s.Must(core.Result(s.Coupons.Redeem(t.Context(), s.By, v, nil)))
	s.check()
	s.wantList("half")
	s.Must(s.EditSettings(t.Context(), s.By, notification.SettingsEdit{CouponPercent: core.Set(int64(50))}))
	s.check()
	s.wantList("half is enough", "coupon_limit Welcome 1/2")
	s.Must(s.Coupons.Edit(t.Context(), s.By, c.ID, coupon.Edit{MaxRedemptions: core.Set(int64(100))}))
	s.wantList("limit raised")
}

// Redemptions that are pending longer than seven days are told, once a week.
func TestRedemptionsPending(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, espresso := s.Customer().ID, s.Reward(5, nil)
	s.Adjust(anna, ledger.Points, 100)
	first := s.Redeem(anna, espresso)
	s.Redeem(anna, espresso)
	s.check()
	s.wantList("today")
	s.wantCounts(s.By, 2, 0)

	late := of(s.Later(8 * 24 * time.Hour))
	late.check()
	late.check()
	late.wantCounts(s.By, 2, 1)
	late.wantList("eight days", "redemptions_pending  2/7")
	if list, err := late.List(t.Context(), s.By); err != nil || !list[0].Since.Equal(first.CreatedAt) {
		t.Errorf("the oldest of %+v, %v, want %s", list, err, first.CreatedAt)
	}
	s.dismissAll(late)
	late.check()
	late.wantList("dismissed")
	later := of(s.Later(15 * 24 * time.Hour))
	later.check()
	later.wantList("the next week", "redemptions_pending  2/7")
	pending := shoptest.QueryAll[core.ID](s.Shop, "select id from loyalty.redemption where tenant_id = $1", s.By.Tenant.ID)
	for _, id := range pending {
		s.Must(core.Result(s.Rewards.Fulfil(t.Context(), s.By, id, nil)))
	}
	later.wantList("fulfilled")
	later.wantCounts(s.By, 0, 0)
}

func (s shop) dismissAll(at shop) {
	s.T.Helper()
	list, err := at.List(s.T.Context(), s.By)
	s.Shop.Check(err)
	for _, n := range list {
		s.Shop.Check(at.Dismiss(s.T.Context(), s.By, n.ID))
		s.Shop.Check(at.Dismiss(s.T.Context(), s.By, n.ID))
	}
}

// A send that failed, or has failed e-mails, is told until the e-mails are retried, for two weeks at most.
func TestSendFailed(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(coupon.New{Name: "Welcome", BenefitType: "points", BenefitValue: new(int64(5))})
	s.Voucher(c.ID, s.Customer().ID)
	s.check()
	s.wantList("delivered")
	s.Exec("update loyalty.coupon_send set sent = 5, matched = 5, no_email = 0, unsubscribed = 0, mails = 5, delivered = 3, failed = 2, ended_at = $2 where tenant_id = $1", s.By.Tenant.ID, s.DB.Now())
	s.check()
	s.wantList("two failed", "send_failed Welcome 2/5")
	later := of(s.Later(15 * 24 * time.Hour))
	later.wantList("two weeks later")
	later.check()
	later.check()
	later.wantList("two weeks later, checked")
	s.Exec("update loyalty.coupon_send set failed = 0 where tenant_id = $1", s.By.Tenant.ID)
	s.wantList("retried")
	s.check()
	s.Exec("update loyalty.coupon_send set status = 'failed' where tenant_id = $1", s.By.Tenant.ID)
	s.check()
	s.wantList("failed", "send_failed Welcome 0/5")
}

// A send on hold since a suspension is told until someone decides.
func TestSendHeld(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Coupon(coupon.New{Name: "Welcome", BenefitType: "points", BenefitValue: new(int64(5))})
	s.Voucher(c.ID, s.Customer().ID)
	s.Exec("update loyalty.coupon_send set status = 'mailing', held_at = $2 where tenant_id = $1", s.By.Tenant.ID, s.DB.Now())
	s.check()
	s.check()
	s.wantList("on hold", "send_held Welcome 0")
	of(s.Later(30*24*time.Hour)).wantList("a month later", "send_held Welcome 0")
	s.Exec("update loyalty.coupon_send set held_at = null where tenant_id = $1", s.By.Tenant.ID)
	s.wantList("continued")
}

// adjust gives a customer points as a person, n times.
func (s shop) adjust(by core.Actor, to core.ID, n int) {
	s.T.Helper()
	for range n {
		s.Must(core.Result(s.Customers.Adjust(s.T.Context(), by, to, customer.Adjustment{Unit: "points", Amount: 10, Reason: "Sorry for the wait"}, nil)))
	}
}

// A person is told about with more than five voids or adjustments in a day, or more than three times their
// own average of 30 days.
func TestStaffActivity(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, bo := s.Customer().ID, s.As(core.Manager).By
	name := shoptest.Query[string](s.Shop, "select name from loyalty.staff where id = $1", bo.StaffID)
	bo.Name = name
	sale := s.Sale(anna, s.Points(100), 1250)
	s.adjust(bo, anna, 4)
	s.Must(core.Result(s.Sales.Refund(t.Context(), bo, sale.ID, transaction.RefundRequest{AmountCents: 250, Reason: new("Goods returned")}, nil, nil)))
	s.check()
	s.wantList("five")
	s.Must(core.Result(s.Sales.Void(t.Context(), bo, sale.ID, new("Wrong amount"), nil)))
	s.check()
	s.check()
	s.wantList("six", "staff_activity "+name+" 6")
	s.adjust(bo, anna, 1)
	s.check()
	s.wantList("seven", "staff_activity "+name+" 7")

	list, err := s.List(t.Context(), s.By)
	s.Shop.Check(err)
	day, err := s.FindStaffDay(t.Context(), s.By, list[0].ID)
	if err != nil || len(day.List) != 7 || *day.List[2].Reason != "Wrong amount" && *day.List[1].Reason != "Wrong amount" || day.Average != 0 {
		t.Errorf("the day = %+v, %v", day, err)
	}
	for _, a := range day.List {
		if a.Action == "transaction.refund" && (*a.RefundCents != 250 || *a.SpendCents != 1250 || *a.Reason != "Goods returned") {
			t.Errorf("the refund = %+v", a)
		}
	}

	// Seven in 30 days are 0.23 a day: three in a day are unusual, two aren't.
	later := of(s.Later(10 * 24 * time.Hour))
	later.adjust(bo, anna, 2)
	later.check()
	later.wantList("two", "staff_activity "+name+" 7")
	later.adjust(bo, anna, 1)
	later.check()
	later.wantList("three", "staff_activity "+name+" 7", "staff_activity "+name+" 3")
	much := of(s.Later(24 * 24 * time.Hour))
	much.check()
	much.wantList("two weeks later")
}

// Owners and managers see notifications, cashiers none, and another business none. Each person reads and
// dismisses their own.
func TestWhoSeesNotifications(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	s.Reward(5, new(int64(0)))
	s.check()
	other.check()
	other.wantList("another business")
	other.wantCounts(other.By, 0, 0)
	manager, cashier := s.As(core.Manager).By, s.As(core.Cashier).By
	s.wantCounts(manager, 0, 1)
	s.wantCounts(cashier, 0, 0)
	list, err := s.List(t.Context(), s.By)
	s.Shop.Check(err)
	if !list[0].Unread {
		t.Error("a new notification is not unread")
	}
	s.wantCounts(s.By, 0, 0)
	s.wantCounts(manager, 0, 1)
	if list, err = s.List(t.Context(), s.By); err != nil || list[0].Unread {
		t.Errorf("a listed notification is unread: %+v, %v", list, err)
	}
	s.Shop.Check(s.Dismiss(t.Context(), s.By, list[0].ID))
	s.wantList("dismissed")
	s.wantCounts(manager, 0, 1)
	for who, err := range map[string]error{
		"another business's owner dismisses": other.Dismiss(t.Context(), other.By, list[0].ID),
		"another business's owner opens":     second(other.FindStaffDay(t.Context(), other.By, list[0].ID)),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: %v", who, err)
		}
	}
	for what, err := range map[string]error{
		"lists": second(s.List(t.Context(), cashier)), "dismisses": s.Dismiss(t.Context(), cashier, list[0].ID),
		"opens": second(s.FindStaffDay(t.Context(), cashier, list[0].ID)), "edits": second(s.EditSettings(t.Context(), manager, notification.SettingsEdit{})),
		"reads the settings": second(s.Settings(t.Context(), manager)),
	} {
		if !errors.Is(err, core.ErrRole) {
			t.Errorf("a person without the role %s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Thresholds have defaults and limits; changes are in the audit log.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	want := notification.Settings{StockLow: 5, CouponPercent: 90, PendingDays: 7, StaffDaily: 5, StaffFactor: 3}
	if got, err := s.Settings(t.Context(), s.By); err != nil || got != want {
		t.Errorf("defaults = %+v, %v", got, err)
	}
	want.StockLow = 20
	if got, err := s.EditSettings(t.Context(), s.By, notification.SettingsEdit{StockLow: core.Set(int64(20))}); err != nil || got != want {
		t.Errorf("edited = %+v, %v", got, err)
	}
	mug := s.Reward(5, new(int64(20)))
	s.check()
	s.wantList("20 units", "stock_low Espresso 20")
	s.wantLow(mug, true)
	s.wantLow(s.Reward(5, new(int64(21))), false)
	shoptest.WantFields(t, second(s.EditSettings(t.Context(), s.By, notification.SettingsEdit{
		StockLow: core.Set(int64(-1)), CouponPercent: core.Set(int64(101)), PendingDays: core.Set(int64(0)), StaffFactor: core.Set(int64(1)), StaffDaily: core.Optional[int64]{Set: true},
	})), core.Fields{
		"stock_low": {core.Min(0)}, "coupon_percent": {core.Max(100)}, "pending_days": {core.Min(1)}, "staff_factor": {core.Min(2)}, "staff_daily": {core.Required},
	})
	if got := shoptest.Query[string](s.Shop, "select old ->> 'stock_low' || ' ' || (new ->> 'stock_low') from loyalty.audit_entry where tenant_id = $1 and action = 'tenant.edit'", s.By.Tenant.ID); got != "5 20" {
		t.Errorf("the audit log has %q", got)
	}
}

// A cause is told once, however many processes check at the same time.
func TestCheckedByTwoProcesses(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for range 5 {
		s.Reward(5, new(int64(0)))
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := s.Notifications.Check(t.Context(), s.By.Tenant); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.wantCounts(s.By, 0, 5)
}

// Notifications are kept for 90 days after their cause is gone. The figures beside the navigation take one
// round trip.
func TestNotificationsAreKeptFor90Days(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := of(shoptest.In(t, d))
	mug := s.Reward(5, new(int64(0)))
	s.check()
	s.wantCounts(s.By, 0, 1)
	before := count()
	s.wantCounts(s.By, 0, 1)
	if got := count() - before; got != 1 {
		t.Errorf("the counts make %d round trips, want 1", got)
	}
	s.wantList("out of stock", "stock_empty Espresso 0")
	s.wantLow(mug, false)
	s.restock(mug, 9)
	s.check()
	for _, after := range []struct{ days, want int64 }{{89, 1}, {91, 0}} {
		of(s.Later(time.Duration(after.days) * 24 * time.Hour)).check()
		if got := shoptest.Query[int64](s.Shop, "select count(*) from loyalty.notification where tenant_id = $1", s.By.Tenant.ID); got != after.want {
			t.Errorf("after %d days there are %d, want %d", after.days, got, after.want)
		}
	}
}
