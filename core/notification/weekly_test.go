package notification_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/shoptest"
)

// weekly is the sender of weekly e-mails, in a process of its own.
func (s shop) weekly() *notification.Weekly {
	s.T.Helper()
	s = of(s.At(s.DB.Now()))
	return s.Weekly
}

// due returns the Monday of the e-mail that the job queues for the shop, or "".
func (s shop) due(w *notification.Weekly) string {
	s.T.Helper()
	queued, err := w.Queue(s.T.Context())
	s.Shop.Check(err)
	for _, m := range queued {
		if m.Tenant == s.By.Tenant.ID {
			return m.Week.Format(time.DateOnly)
		}
	}
	return ""
}

// emails returns the weekly e-mails to a person.
func (s shop) emails(to core.Actor) (list []notification.WeeklyEmail) {
	s.T.Helper()
	for _, e := range s.Inbox.To(s.Email(to)) {
		if w, is := e.(notification.WeeklyEmail); is {
			list = append(list, w)
		}
	}
	return list
}

// zoned is a shop in a time zone, in a database of its own, because the job looks at all businesses.
func zoned(t *testing.T, zone string) shop {
	t.Helper()
	s := of(shoptest.In(t, dbtest.OwnDB(t)).InZone(zone))
	s.Exec("update loyalty.tenant set timezone = $2 where id = $1", s.By.Tenant.ID, zone)
	s.GivePassword(s.By)
	return s
}

// The e-mail is due on Monday at 08:00 in the business's zone, in summer and in winter, and for a day.
func TestWeeklyEmailIsDue(t *testing.T) {
	t.Parallel()
	for zone, mondays := range map[string][]string{
		// The Mondays after the clocks changed, and before.
		"Europe/Stockholm": {"2026-03-23T07:00:00Z", "2026-03-30T06:00:00Z", "2026-10-19T06:00:00Z", "2026-10-26T07:00:00Z"},
		"America/New_York": {"2026-03-02T13:00:00Z", "2026-03-09T12:00:00Z", "2026-10-26T12:00:00Z", "2026-11-02T13:00:00Z"},
		"Asia/Kathmandu":   {"2026-03-30T02:15:00Z"},
	} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			s := zoned(t, zone)
			for _, text := range mondays {
				at, err := time.Parse(time.RFC3339, text)
				s.Shop.Check(err)
				week := at.In(s.By.Tenant.TimeZone).Format(time.DateOnly)
				before, now, after := of(s.At(at.Add(-time.Minute))), of(s.At(at)), of(s.At(at.Add(24*time.Hour)))
				for _, x := range []struct {
					when string
					at   shop
					want string
				}{{"a minute before", before, ""}, {"a day later", after, ""}, {"at 08:00", now, week}, {"again", now, ""}} {
					if got := s.due(x.at.weekly()); got != x.want {
						t.Errorf("%s %s, the e-mail of %q is due, want %q", week, x.when, got, x.want)
					}
				}
			}
		})
	}
}

// Owners and managers get last week's figures with the week before and what needs attention, once. Cashiers,
// people without a password and people who turned it off get none.
func TestWeeklyEmail(t *testing.T) {
	t.Parallel()
	s := zoned(t, "Europe/Stockholm")
	monday := time.Date(2030, 6, 3, 6, 0, 0, 0, time.UTC) // 08:00 in Stockholm
	last, before := of(s.At(monday.AddDate(0, 0, -3))), of(s.At(monday.AddDate(0, 0, -10)))
	anna := before.Customer().ID
	kind := before.Points(100)
	before.Sale(anna, kind, 1000)
	last.Sale(anna, kind, 1250)
	last.Sale(anna, kind, 750)
	s.Reward(5, new(int64(0)))
	manager, off, invited, cashier := s.Person(core.Manager), s.Person(core.Manager), s.As(core.Manager).By, s.Person(core.Cashier)
	s.Shop.Check(s.Subscribe(t.Context(), off, false))
	now := of(s.At(monday))
	now.check()
	list, err := now.List(t.Context(), manager)
	s.Shop.Check(err)
	s.Shop.Check(now.Dismiss(t.Context(), manager, list[0].ID))

	if got := now.due(now.weekly()); got != "2030-06-03" {
		t.Fatalf("due: %q", got)
	}
	m := notification.WeeklyMail{Tenant: s.By.Tenant.ID, Week: time.Date(2030, 6, 3, 0, 0, 0, 0, time.UTC)}
	w := now.weekly()
	for range 2 { // a job may run twice
		s.Shop.Check(w.Mail(t.Context(), m))
	}
	got := s.emails(s.By)
	if len(got) != 1 {
		t.Fatalf("the owner got %d e-mails", len(got))
	}
	e := got[0]
	if e.Week.TransactionsCount != 2 || e.Week.SpendTotalCents != 2000 || e.Week.PointsAwarded != 19 || e.Week.NewCustomers != 0 ||
		e.Before.TransactionsCount != 1 || e.Before.SpendTotalCents != 1000 || e.Before.NewCustomers != 1 ||
		e.From.Format(time.DateOnly) != "2030-05-27" || e.To.Format(time.DateOnly) != "2030-06-02" {
		t.Errorf("the e-mail says %+v", e)
	}
	if len(e.Notifications) != 1 || e.Notifications[0].Kind != notification.StockEmpty {
		t.Errorf("what needs attention: %+v", e.Notifications)
	}
	if got := s.emails(manager); len(got) != 1 || len(got[0].Notifications) != 0 {
		t.Errorf("the manager who dismissed it got %+v", got)
	}
	for who, person := range map[string]core.Actor{"who turned it off": off, "who was invited": invited, "of a cashier": cashier} {
		if got := s.emails(person); len(got) != 0 {
			t.Errorf("a person %s got %d e-mails", who, len(got))
		}
	}
}

// The first Monday of a month has the figures of the month before, and of the one before that, in the days of the
// business's zone. Other Mondays have none.
func TestMonthInTheWeeklyEmail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		zone, week, month string
	}{
		"a Monday that is a first":      {"Europe/Stockholm", "2026-06-01", "2026-05-01"},
		"still Sunday, 31 May, in UTC":  {"Pacific/Kiritimati", "2026-06-01", "2026-05-01"},
		"the last Monday that may be":   {"America/Los_Angeles", "2026-09-07", "2026-08-01"},
		"after the clocks changed":      {"America/New_York", "2026-11-02", "2026-10-01"},
		"a new year":                    {"Europe/Stockholm", "2027-01-04", "2026-12-01"},
		"the second Monday":             {"Europe/Stockholm", "2026-06-08", ""},
		"the last Monday of a month":    {"Pacific/Kiritimati", "2026-08-31", ""},
		"an eighth, the seventh in UTC": {"Pacific/Kiritimati", "2026-06-08", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := zoned(t, c.zone)
			week, err := time.Parse(time.DateOnly, c.week)
			s.Shop.Check(err)
			at := core.StartOfDate(week, s.By.Tenant.TimeZone).Add(8 * time.Hour)
			first := week.AddDate(0, 0, 1-week.Day())
			sale := func(day time.Time, cents int64) { // in its first minute, and in its last
				for _, moment := range []time.Time{core.StartOfDate(day, s.By.Tenant.TimeZone), core.StartOfDate(day.AddDate(0, 0, 1), s.By.Tenant.TimeZone).Add(-time.Minute)} {
					shop := of(s.At(moment))
					shop.Sale(shop.Customer().ID, shop.Points(100), cents)
				}
			}
			sale(first.AddDate(0, -2, -1), 9_00) // too early
			sale(first.AddDate(0, -2, 0), 1_00)
			sale(first.AddDate(0, -1, -1), 2_00)
			sale(first.AddDate(0, -1, 0), 10_00)
			sale(first.AddDate(0, 0, -1), 20_00)
			now := of(s.At(at))
			w := now.weekly()
			if got := now.due(w); got != c.week {
				t.Fatalf("due: %q", got)
			}
			s.Shop.Check(w.Mail(t.Context(), notification.WeeklyMail{Tenant: s.By.Tenant.ID, Week: week}))
			for _, e := range s.emails(s.By) {
				switch {
				case c.month == "" && e.Month != nil:
					t.Errorf("it has the month %+v", e.Month)
				case c.month == "":
				case e.Month == nil:
					t.Error("it has no month")
				case e.Month.First.Format(time.DateOnly) != c.month || e.Month.Figures.SpendTotalCents != 60_00 || e.Month.Before.SpendTotalCents != 6_00:
					t.Errorf("it has %d cents of %s, %d before; want 6000 of %s, 600 before", e.Month.Figures.SpendTotalCents, e.Month.First, e.Month.Before.SpendTotalCents, c.month)
				}
			}
			if c.month != "" && len(s.emails(s.By)) != 1 {
				t.Errorf("%d e-mails were sent", len(s.emails(s.By)))
			}
		})
	}
}

// A month with sales is told even if its last week was quiet; a quiet month isn't.
func TestMonthAfterAQuietWeek(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sold string // when the only sale was
		want int
	}{
		"a sale in the month":        {"2030-05-10", 1},
		"a sale in the month before": {"2030-04-10", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := zoned(t, "Europe/Stockholm")
			day, err := time.Parse(time.DateOnly, c.sold)
			s.Shop.Check(err)
			then := of(s.At(day.Add(12 * time.Hour)))
			then.Sale(then.Customer().ID, then.Points(100), 1000)
			now := of(s.At(time.Date(2030, 6, 3, 6, 0, 0, 0, time.UTC)))
			w := now.weekly()
			now.due(w)
			s.Shop.Check(w.Mail(t.Context(), notification.WeeklyMail{Tenant: s.By.Tenant.ID, Week: time.Date(2030, 6, 3, 0, 0, 0, 0, time.UTC)}))
			if got := s.emails(s.By); len(got) != c.want {
				t.Errorf("%d e-mails were sent, want %d", len(got), c.want)
			}
		})
	}
}

// Nothing is sent about a week without anything to tell, nor by a suspended business.
func TestNoWeeklyEmail(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	quiet, suspended := of(shoptest.In(t, d)), of(shoptest.In(t, d))
	week := time.Date(2030, 6, 3, 0, 0, 0, 0, time.UTC)
	for _, s := range []shop{quiet, suspended} {
		s.GivePassword(s.By)
		s.Exec("insert into loyalty.weekly_mail (tenant_id, week, queued_at) values ($1, $2, now())", s.By.Tenant.ID, week)
	}
	suspended.Reward(5, new(int64(0)))
	suspended.check()
	suspended.Exec("update loyalty.tenant set status = 'suspended', suspended_at = now() where id = $1", suspended.By.Tenant.ID)
	for name, s := range map[string]shop{"quiet": quiet, "suspended": suspended} {
		now := of(s.At(week.Add(8 * time.Hour)))
		s.Shop.Check(now.weekly().Mail(t.Context(), notification.WeeklyMail{Tenant: s.By.Tenant.ID, Week: week}))
		if got := s.emails(s.By); len(got) != 0 {
			t.Errorf("a %s business got %+v", name, got)
		}
		if got := s.due(now.weekly()); got != "" {
			t.Errorf("a %s business's week is due again: %s", name, got)
		}
	}
}

// Two processes send each e-mail once.
func TestWeeklyEmailByTwoProcesses(t *testing.T) {
	t.Parallel()
	s := zoned(t, "Europe/Stockholm")
	s.Reward(5, new(int64(0)))
	monday := time.Date(2030, 6, 3, 6, 0, 0, 0, time.UTC)
	of(s.At(monday)).check()
	var mu sync.Mutex
	var queued []notification.WeeklyMail
	both := func(work func(ctx context.Context, w *notification.Weekly) error) {
		t.Helper()
		var all sync.WaitGroup
		for range 4 {
			w := of(s.At(monday)).weekly()
			all.Go(func() {
				if err := work(t.Context(), w); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	both(func(ctx context.Context, w *notification.Weekly) error {
		found, err := w.Queue(ctx)
		mu.Lock()
		defer mu.Unlock()
		queued = append(queued, found...)
		return err
	})
	if len(queued) != 1 {
		t.Fatalf("%d e-mails were queued, want 1", len(queued))
	}
	both(func(ctx context.Context, w *notification.Weekly) error { return w.Mail(ctx, queued[0]) })
	if got := s.Count("mail"); got != 1 {
		t.Errorf("%d e-mails were sent, want 1", got)
	}
}

// A person turns the weekly e-mail off and on, in the panel or by the link. Changes are logged once.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	want := func(when string, subscribed bool) {
		t.Helper()
		if got, err := s.Subscribed(t.Context(), s.By); err != nil || got != subscribed {
			t.Errorf("%s: %t, %v", when, got, err)
		}
	}
	want("at first", true)
	s.Shop.Check(s.Subscribe(t.Context(), s.By, true))
	for range 2 {
		s.Shop.Check(s.Subscribe(t.Context(), s.By, false))
	}
	want("turned off", false)
	id := shoptest.Query[core.ID](s.Shop, "select id from loyalty.weekly_preference where tenant_id = $1", s.By.Tenant.ID)
	visitor := core.Actor{Kind: core.ByCustomer, Tenant: s.By.Tenant}
	found, err := s.FindSubscriber(t.Context(), visitor, id)
	if err != nil || found.StaffID != s.By.StaffID || found.Subscribed {
		t.Errorf("the link's person = %+v, %v", found, err)
	}
	s.Shop.Check(s.SubscribeByLink(t.Context(), visitor, found, true))
	want("turned on by the link", true)
	log := shoptest.QueryAll[string](s.Shop, `
		select (old ->> 'weekly_mail') || ' ' || (new ->> 'weekly_mail') || ' ' || actor_kind
		from loyalty.audit_entry
		where tenant_id = $1 and action = 'staff.weekly_mail' and subject_id = $2
		order by id`, s.By.Tenant.ID, s.By.ID)
	if want := []string{"true false staff", "false true staff"}; !slices.Equal(log, want) {
		t.Errorf("the audit log has %q, want %q", log, want)
	}
	other := newShop(t)
	if _, err := other.FindSubscriber(t.Context(), core.Actor{Kind: core.ByCustomer, Tenant: other.By.Tenant}, id); err == nil {
		t.Error("another business finds the link's person")
	}
}
