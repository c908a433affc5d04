package programme_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/programme"
	"example.com/loyalty/core/shoptest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// opened is when the shops of these tests are seen first: 21 November 2026, noon in Stockholm.
var opened = time.Date(2026, time.November, 21, 11, 0, 0, 0, time.UTC)

func newShop(t *testing.T) shoptest.Shop {
	t.Helper()
	return shoptest.New(t).At(opened)
}

// on is a shop at noon of a day, with the rules as requests read them.
func on(s shoptest.Shop, day string) shoptest.Shop {
	s.T.Helper()
	return s.At(date(day).Add(11 * time.Hour)).Known()
}

func date(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return d
}

func text(d *time.Time) string {
	if d == nil {
		return "never"
	}
	return d.Format(time.DateOnly)
}

// year is the rule of Smile and of LoyaltyLion.
func year() programme.Change {
	return programme.Change{Rule: core.ExpireAfter, Months: new(int64(12)), RoundTo: core.ToMonth, GraceDays: new(int64(30)), Before: programme.BeforePeriod}
}

func idle(months int64) programme.Change {
	c := year()
	c.Rule, c.Months = core.ExpireInactive, &months
	return c
}

// withPoints adds a customer with points, and an e-mail address or "".
func withPoints(s shoptest.Shop, points int64, email string) core.ID {
	s.T.Helper()
	n := shoptest.Anna(shoptest.Phone())
	n.Email = email
	c := s.AddCustomer(n)
	if points != 0 {
		s.Adjust(c.ID, ledger.Points, points)
	}
	return c.ID
}

// rule is a shop's stored rule for points: what, until when it is on hold, its version.
func rule(s shoptest.Shop) string {
	s.T.Helper()
	return shoptest.Query[string](s, `
		select concat_ws(' ', expiry, months, round_to, yearly_month, yearly_day, 'held', hold_until, 'version', version)
		from loyalty.programme where tenant_id = $1 and unit = 'points'`, s.By.Tenant.ID)
}

func expiring(s shoptest.Shop) programme.Expiring {
	return programme.Expiring{Tenant: s.By.Tenant.ID, Unit: ledger.Points}
}

// jobs are the kinds of the shop's unfinished jobs.
func jobs(s shoptest.Shop) []string {
	s.T.Helper()
	return shoptest.QueryAll[string](s, `
		select kind || ' ' || (args ->> 'unit') from river.river_job
		where args ->> 'tenant' = $1::bigint::text and args ? 'unit' order by 1`, s.By.Tenant.ID)
}

// The first rule dates what customers have by a full period from today, ends nothing for 60 days, and e-mails everyone who
// has points and an address, also those who unsubscribed. The preview has said all of this.
func TestFirstRule(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, elsa := withPoints(s, 40, "anna@example.com"), withPoints(s, 60, "")
	gone := withPoints(s, 5, "gone@example.com")
	s.Exec("update loyalty.customer set unsubscribed_at = now() where tenant_id = $1 and id = $2", s.By.Tenant.ID, gone)
	withPoints(s, 0, "poor@example.com")
	c := year()
	c.Unit = ledger.Points

	p, err := s.Programme.Preview(t.Context(), s.By, c)
	s.Check(err)
	if !p.IsFirst() || p.Customers != 3 || p.Amount != 105 || p.Mails != 2 ||
		text(p.Earned) != "2027-11-30" || text(p.Opening) != "2027-11-30" || text(p.FirstEnd) != "2027-11-30" || text(&p.After.Hold) != "2027-01-20" {
		t.Errorf("preview %+v: %s, %s, %s", p, text(p.Earned), text(p.Opening), text(p.FirstEnd))
	}
	if got := s.Count("programme"); got != 0 {
		t.Error("a preview has stored something")
	}

	s = s.Rule(ledger.Points, c)
	if got := rule(s); got != "after 12 month held 2027-01-20 version 1" {
		t.Errorf("stored: %s", got)
	}
	if got := jobs(s); !slices.Equal(got, []string{"expiry_notice points", "open_lots points"}) {
		t.Errorf("queued: %v", got)
	}
	if got := s.Log("programme", "points"); len(got) != 1 || !strings.HasPrefix(got[0], "programme.edit ") {
		t.Errorf("logged: %q", got)
	}
	s.Check(s.Programme.Open(t.Context(), programme.Opening{Tenant: s.By.Tenant.ID, Unit: ledger.Points}))
	if got := s.Count("account where points_expire_on = '2027-11-30'"); got != 3 {
		t.Errorf("%d accounts are dated, want 3", got)
	}
	for range 2 { // twice is once
		s.Check(s.Programme.MailNotices(t.Context(), programme.Notice{Tenant: s.By.Tenant.ID, Unit: ledger.Points}))
	}
	for to, want := range map[string]int64{"anna@example.com": 40, "gone@example.com": 5, "poor@example.com": 0} {
		mails := s.Inbox.To(to)
		if want == 0 && len(mails) == 0 {
			continue
		}
		if len(mails) != 1 {
			t.Fatalf("%s got %v", to, mails)
		}
		e := mails[0].(programme.NoticeEmail)
		if e.Balance != want || text(e.LastDay) != "2027-11-30" || e.Unit != ledger.Points || e.FirstName != "Anna" || e.Expiry.Months != 12 || e.CardToken == "" {
			t.Errorf("%s got %+v", to, e)
		}
	}

	// On the last day everything is there, on the next nothing is.
	s = on(s, "2027-11-30")
	s.Check(s.Programme.Expire(t.Context(), expiring(s)))
	if got := s.Account(anna).Points; got != 40 {
		t.Errorf("on the last day: %d", got)
	}
	s = on(s, "2027-12-01")
	s.Check(s.Programme.Expire(t.Context(), expiring(s)))
	if a, b := s.Account(anna).Points, s.Account(elsa).Points; a != 0 || b != 0 {
		t.Errorf("after it: %d and %d", a, b)
	}
	if got := s.Log("programme", "points"); len(got) != 2 || got[1] != `programme.expire - {"points": 105, "stamps": 0, "customers": 3} by points expiry` {
		t.Errorf("logged: %q", got)
	}
	s.Check(s.Programme.Expire(t.Context(), expiring(s)))
	if got := s.Log("programme", "points"); len(got) != 2 {
		t.Errorf("a run without anything to expire was logged: %q", got)
	}
	if got := shoptest.Query[string](s, "select expired_through::text from loyalty.programme where tenant_id = $1", s.By.Tenant.ID); got != "2027-11-30" {
		t.Errorf("expired through %s", got)
	}
}

// What customers had before can last until a day of the owner's choice, at least 60 days ahead, or for ever.
func TestWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change   programme.Change
		before   programme.Before
		on, want string
	}{
		"a day":                    {year(), programme.BeforeDay, "2027-01-20", "2027-01-20"},
		"never":                    {year(), programme.BeforeNever, "", "never"},
		"a short period":           {programme.Change{Rule: core.ExpireAfter, Months: new(int64(1)), RoundTo: core.ToDay}, programme.BeforePeriod, "", "2027-01-20"},
		"a year's day":             {programme.Change{Rule: core.ExpireYearly, Month: new(int64(2)), Day: new(int64(29))}, programme.BeforePeriod, "", "2027-02-28"},
		"inactivity":               {idle(6), programme.BeforePeriod, "", "2027-05-31"},
		"inactivity, on a day":     {idle(6), programme.BeforeDay, "2028-01-01", "2028-01-01"},
		"inactivity, never before": {idle(6), programme.BeforeNever, "", "never"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			anna := withPoints(s, 40, "")
			c.change.Before = c.before
			if c.on != "" {
				c.change.BeforeOn = new(date(c.on))
			}
			s = s.Rule(ledger.Points, c.change)
			s.Check(s.Programme.Open(t.Context(), programme.Opening{Tenant: s.By.Tenant.ID, Unit: ledger.Points}))
			var endings []ledger.Ending
			s.Check(db.Together(t.Context(), s.DB.Tenant(s.By), ledger.ReadEndings(&endings, anna)))
			if len(endings) != 1 || endings[0].Amount != 40 || text(endings[0].ExpiresOn) != c.want {
				t.Errorf("got %+v, want 40 until %s", endings, c.want)
			}
		})
	}
}

func TestRefusedRules(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	of := func(edit func(c *programme.Change)) programme.Change {
		c := year()
		c.Unit = ledger.Points
		edit(&c)
		return c
	}
	yearly := func(month, day int64) programme.Change {
		return of(func(c *programme.Change) { c.Rule, c.Month, c.Day = core.ExpireYearly, &month, &day })
	}
	for name, c := range map[string]struct {
		change programme.Change
		want   core.Fields
	}{
		"no rule":        {of(func(c *programme.Change) { c.Rule = "sometimes" }), core.Fields{"expiry": {core.InvalidChoice}}},
		"no months":      {of(func(c *programme.Change) { c.Months = nil }), core.Fields{"months": {core.Required}}},
		"0 months":       {of(func(c *programme.Change) { c.Months = new(int64(0)) }), core.Fields{"months": {core.Min(1)}}},
		"121 months":     {of(func(c *programme.Change) { c.Months = new(int64(121)) }), core.Fields{"months": {core.Max(120)}}},
		"to the decade":  {of(func(c *programme.Change) { c.RoundTo = "decade" }), core.Fields{"round_to": {core.InvalidChoice}}},
		"0 days":         {of(func(c *programme.Change) { c.GraceDays = new(int64(0)) }), core.Fields{"grace_days": {core.Min(1)}}},
		"366 days":       {of(func(c *programme.Change) { c.GraceDays = new(int64(366)) }), core.Fields{"grace_days": {core.Max(365)}}},
		"30 February":    {yearly(2, 30), core.Fields{"yearly_day": {core.Max(29)}}},
		"31 June":        {yearly(6, 31), core.Fields{"yearly_day": {core.Max(30)}}},
		"month 13":       {yearly(13, 1), core.Fields{"yearly_month": {core.Max(12)}}},
		"no before":      {of(func(c *programme.Change) { c.Before = "" }), core.Fields{"before": {core.InvalidChoice}}},
		"no day":         {of(func(c *programme.Change) { c.Before = programme.BeforeDay }), core.Fields{"before_on": {core.Required}}},
		"59 days before": {of(func(c *programme.Change) { c.Before, c.BeforeOn = programme.BeforeDay, new(date("2027-01-19")) }), core.Fields{"before_on": {{Rule: "days_ahead", Limit: 60}}}},
	} {
		_, err := s.Programme.Change(t.Context(), s.By, c.change)
		t.Run(name, func(t *testing.T) { shoptest.WantFields(t, err, c.want) })
		if _, err := s.Programme.Preview(t.Context(), s.By, c.change); !core.IsKind(err, core.KindInvalid) {
			t.Errorf("%s: the preview says %v", name, err)
		}
	}
	if got := s.Count("programme"); got != 0 {
		t.Error("a refused rule was stored")
	}
}

// The rules are the owner's.
func TestRulesAreOwners(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := year()
	c.Unit = ledger.Points
	for _, role := range []core.Role{core.Manager, core.Cashier} {
		by := s.As(role).By
		_, reading := s.Programme.Settings(t.Context(), by)
		_, preview := s.Programme.Preview(t.Context(), by, c)
		_, change := s.Programme.Change(t.Context(), by, c)
		for _, err := range []error{reading, preview, change} {
			if !errors.Is(err, core.ErrRole) {
				t.Errorf("a %s: %v", role, err)
			}
		}
	}
}

// A business sees and changes its own rules only.
func TestRulesOfOtherBusinesses(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	s.Rule(ledger.Points, year())
	before := rule(s)
	rules, err := other.Programme.Settings(t.Context(), other.By)
	other.Check(err)
	if rules.Points.Version != 0 || rules.Points.Rule != core.NeverExpire {
		t.Errorf("another business sees %+v", rules.Points)
	}
	anna := withPoints(s, 40, "anna@example.com")
	other.Rule(ledger.Points, idle(1))
	for _, u := range []ledger.Unit{ledger.Points, ledger.Stamps} {
		other.Check(other.Programme.Open(t.Context(), programme.Opening{Tenant: other.By.Tenant.ID, Unit: u}))
		other.Check(on(other, "2030-01-01").Programme.Expire(t.Context(), programme.Expiring{Tenant: other.By.Tenant.ID, Unit: u}))
		other.Check(other.Programme.MailNotices(t.Context(), programme.Notice{Tenant: other.By.Tenant.ID, Unit: u}))
	}
	if got := rule(s); got != before || s.Account(anna).Points != 40 || len(other.Inbox.To("anna@example.com")) != 0 {
		t.Errorf("another business changed %s to %s", before, got)
	}
}

// Of two tabs, the second is told that the rule was changed. The same change twice is one.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := year()
	c.Unit = ledger.Points
	for range 2 { // two clicks
		s.Must(s.Programme.Change(t.Context(), s.By, c))
	}
	if got := rule(s); !strings.HasSuffix(got, "version 1") {
		t.Errorf("twice the same: %s", got)
	}
	other := idle(24)
	other.Unit = ledger.Points // from before the first rule
	if _, err := s.Programme.Change(t.Context(), s.By, other); !errors.Is(err, programme.ErrChanged) {
		t.Errorf("the second tab: %v", err)
	}
	other.Version = 1
	s.Must(s.Programme.Change(t.Context(), s.By, other))
	if got := rule(s); !strings.HasSuffix(got, "version 2") {
		t.Errorf("from the present rule: %s", got)
	}
}

// Two owners at the same moment: one first rule.
func TestFirstRulesAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	results := make(chan error, 8)
	for i := range cap(results) {
		go func() {
			c := year()
			c.Unit, c.Months = ledger.Points, new(int64(i+1))
			_, err := s.Programme.Change(context.WithoutCancel(t.Context()), s.By, c)
			results <- err
		}()
	}
	var done int
	for range cap(results) {
		if err := <-results; err == nil {
			done++
		} else if !errors.Is(err, programme.ErrChanged) {
			t.Error(err)
		}
	}
	if got := jobs(s); done != 1 || len(got) != 2 {
		t.Errorf("%d of the changes were made, queueing %v", done, got)
	}
}

// The rules of both units are changed at the same moment, on a database without triggers: requests then read both.
func TestRulesOfBothUnitsAtOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	if !dbtest.IsCitus(t) { // it has none
		if _, err := dbtest.Owner(d).Exec(t.Context(), "alter table loyalty.programme disable trigger share_rule"); err != nil {
			t.Fatal(err)
		}
	}
	s := shoptest.In(t, d)
	for version := range int64(30) {
		var both sync.WaitGroup
		for _, unit := range []ledger.Unit{ledger.Points, ledger.Stamps} {
			both.Go(func() {
				c := year()
				c.Unit, c.Months, c.Version = unit, new(version+1), version
				if _, err := s.Programme.Change(t.Context(), s.By, c); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		read, err := db.FindTenant(t.Context(), d, s.By.Tenant.ID)
		if want := int(version + 1); err != nil || read.PointsExpiry.Months != want || read.StampsExpiry.Months != want {
			t.Fatalf("requests read %d and %d months, %v, want %d", read.PointsExpiry.Months, read.StampsExpiry.Months, err, want)
		}
	}
}

// "A change of policy never shortens what was earned": turned off, nothing ends; turned on again, what had a day has it again, but
// nothing ends for 60 days.
func TestOffAndOnAgain(t *testing.T) {
	t.Parallel()
	s := newShop(t).Rule(ledger.Points, year())
	anna := s.Customer().ID
	s.Sale(anna, s.Points(100), 4000) // until 30 November 2027
	s = on(s, "2027-10-01").Rule(ledger.Points, programme.Change{Rule: core.NeverExpire})
	if got := rule(s); got != "never held infinity version 2" {
		t.Errorf("off: %s", got)
	}
	s = on(s, "2029-01-01")
	s.Check(s.Programme.Expire(t.Context(), expiring(s)))
	if got := s.Account(anna).Points; got != 40 {
		t.Errorf("while it was off, %d are left", got)
	}
	c := year()
	c.Unit, c.Version = ledger.Points, 2
	p, err := s.Programme.Preview(t.Context(), s.By, c)
	s.Check(err)
	if p.IsFirst() || p.Mails != 0 || text(p.FirstEnd) != "2029-03-02" || text(p.Earned) != "2030-01-31" {
		t.Errorf("on again: %+v, first %s, earned %s", p, text(p.FirstEnd), text(p.Earned))
	}
	s = s.Rule(ledger.Points, c)
	if got := rule(s); got != "after 12 month held 2029-03-02 version 3" {
		t.Errorf("on again: %s", got)
	}
	for day, want := range map[string]int64{"2029-03-02": 40, "2029-03-03": 0} {
		if day == "2029-03-03" {
			continue // below: the days of a map have no order
		}
		s = on(s, day)
		s.Check(s.Programme.Expire(t.Context(), expiring(s)))
		if got := s.Account(anna).Points; got != want {
			t.Errorf("on %s: %d, want %d", day, got, want)
		}
	}
	s = on(s, "2029-03-03")
	s.Check(s.Programme.Expire(t.Context(), expiring(s)))
	if got := s.Account(anna).Points; got != 0 {
		t.Errorf("after the hold: %d", got)
	}
}

// Another rule is for what is earned from then on. Days of inactivity from before another rule count for nothing: a rule of inactivity begins with
// a full period.
func TestAnotherRule(t *testing.T) {
	t.Parallel()
	s := newShop(t).Rule(ledger.Points, idle(3)) // everything by the end of February, if nothing is bought
	anna := s.Customer().ID
	s.Sale(anna, s.Points(100), 4000)
	s = on(s, "2027-02-01").Rule(ledger.Points, year())
	s = on(s, "2027-02-15").Rule(ledger.Points, idle(6))
	if got := rule(s); got != "inactive 6 month held 2027-08-31 version 3" {
		t.Errorf("stored: %s", got)
	}
	for _, c := range []struct {
		day  string
		want int64
	}{{"2027-03-01", 40}, {"2027-08-31", 40}, {"2027-09-01", 0}} {
		s = on(s, c.day)
		s.Check(s.Programme.Expire(t.Context(), expiring(s)))
		if got := s.Account(anna).Points; got != c.want {
			t.Errorf("on %s: %d, want %d", c.day, got, c.want)
		}
	}
}

// On days of the business's own zone.
func TestDueByTheClocksOfTheBusiness(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]string{"Pacific/Kiritimati": "2028-01-01T10:00:00Z", "Europe/Stockholm": "2028-01-01T23:00:00Z", "Pacific/Honolulu": "2028-01-02T10:00:00Z"} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			s := shoptest.In(t, dbtest.OwnDB(t)).At(opened).InZone(zone)
			s.Exec("update loyalty.tenant set timezone = $2 where id = $1", s.By.Tenant.ID, zone)
			anna := withPoints(s, 40, "")
			c := year()
			c.Before, c.BeforeOn = programme.BeforeDay, new(date("2028-01-01"))
			s = s.Rule(ledger.Points, c)
			s.Check(s.Programme.Open(t.Context(), programme.Opening{Tenant: s.By.Tenant.ID, Unit: ledger.Points}))
			s.Check(s.Programme.MailNotices(t.Context(), programme.Notice{Tenant: s.By.Tenant.ID, Unit: ledger.Points}))
			s.Exec("delete from river.river_job")
			end, err := time.Parse(time.RFC3339, want)
			s.Check(err)

			s = s.At(end.Add(-time.Minute)) // still the last day: only days before it are done
			s.Must(s.Programme.QueueDue(t.Context()))
			s.Check(s.Programme.Expire(t.Context(), expiring(s)))
			if got := s.Account(anna).Points; got != 40 {
				t.Errorf("in the last minute: %d", got)
			}
			s.Exec("delete from river.river_job")
			s = s.At(end)
			queued, err := s.Programme.QueueDue(t.Context())
			s.Check(err)
			if len(queued) != 1 || queued[0] != job.Args(expiring(s)) {
				t.Errorf("queued %v", queued)
			}
			if again, _ := s.Programme.QueueDue(t.Context()); len(again) != 0 {
				t.Errorf("queued again: %v", again)
			}
			s.Check(s.Programme.Expire(t.Context(), expiring(s)))
			if got := s.Account(anna).Points; got != 0 {
				t.Errorf("in the next day: %d", got)
			}
			s.Exec("delete from river.river_job")
			if done, _ := s.Programme.QueueDue(t.Context()); len(done) != 0 {
				t.Errorf("the day is done, and %v was queued", done)
			}
		})
	}
}

// A suspended business loses nothing, and for 30 days after it neither, however it becomes active again.
func TestSuspension(t *testing.T) {
	t.Parallel()
	for name, reactivate := range map[string]func(s, platform shoptest.Shop){
		"reactivated": func(s, platform shoptest.Shop) {
			s.Must(platform.Tenants.Reactivate(t.Context(), platform.By, s.By.Tenant.ID))
		},
		"edited": func(s, platform shoptest.Shop) {
			s.Must(platform.Tenants.Edit(t.Context(), platform.By, s.By.Tenant.ID, tenantActive))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			anna := withPoints(s, 40, "")
			s = s.Rule(ledger.Points, year())
			s.Check(s.Programme.Open(t.Context(), programme.Opening{Tenant: s.By.Tenant.ID, Unit: ledger.Points}))
			platform := shoptest.Of(t, s.DB, dbtest.Admin(t, s.DB))
			s.Must(platform.Tenants.Suspend(t.Context(), platform.By, s.By.Tenant.ID, "Unpaid"))
			s = on(s, "2027-12-24")
			s.Check(s.Programme.Expire(t.Context(), expiring(s)))
			reactivate(s, shoptest.Of(t, s.DB, platform.By))
			if got := rule(s); got != "after 12 month held 2028-01-23 version 1" {
				t.Errorf("stored: %s", got)
			}
			for _, c := range []struct {
				day  string
				want int64
			}{{"2028-01-23", 40}, {"2028-01-24", 0}} {
				s = on(s, c.day)
				s.Check(s.Programme.Expire(t.Context(), expiring(s)))
				if got := s.Account(anna).Points; got != c.want {
					t.Errorf("on %s: %d, want %d", c.day, got, c.want)
				}
			}
		})
	}
}

// A name that a stranger may have typed isn't repeated to the address that they may have typed, too.
func TestNoticeToAnUncheckedCustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := withPoints(s, 40, "anna@example.com")
	s.Exec("update loyalty.customer set unchecked_since = now() where tenant_id = $1 and id = $2", s.By.Tenant.ID, anna)
	s.Rule(ledger.Points, idle(12))
	s.Check(s.Programme.MailNotices(t.Context(), programme.Notice{Tenant: s.By.Tenant.ID, Unit: ledger.Points}))
	mails := s.Inbox.To("anna@example.com")
	if len(mails) != 1 || mails[0].(programme.NoticeEmail).FirstName != "" {
		t.Errorf("got %+v", mails)
	}
}
