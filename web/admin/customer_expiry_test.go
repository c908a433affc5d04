package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/web/webtest"
)

// A customer's page lists what expires when. What expired is an event of its own, and what was returned of it is part of the
// void.
func TestWhatExpiresOfACustomer(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	s.adjusted("points", 9, "From before")
	if page := s.signedIn(core.Cashier).Get(s.path()); page.Find(".profile-expiring").Length() != 0 {
		t.Errorf("without a rule: %q", page.Text(".profile-expiring"))
	}
	s.Shop = s.ExpireAfter(ledger.Points, 1, core.ToDay)
	manager := s.signedIn(core.Manager)
	sale := s.sold(manager, "40")
	last := core.DateOf(s.DB.Now(), s.By.Tenant.TimeZone).AddDate(0, 1, 0)
	want := []string{core.Expiry{Rule: core.ExpireAfter, Months: 1, RoundTo: core.ToDay}.LastDay(core.DateOf(s.DB.Now(), s.By.Tenant.TimeZone)).Format("2 Jan 2006") + " 40 points", "Doesn't expire 9 points"}
	if got := manager.Get(s.path()).Texts(".profile-expiring > div"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("expiring: %q, want %q", got, want)
	}

	s.Shop = s.At(last.Add(48 * time.Hour))
	s.open()
	manager = s.signedIn(core.Manager)
	manager.Submit(sale+"/void", because)
	page := manager.Get(s.path())
	titles, notes, amounts := page.Texts(".timeline-title"), page.Texts(".timeline-note"), page.Texts(".timeline-amount")
	if len(titles) != 4 || titles[0] != "Voided: Sale of € 40.00" || !strings.HasPrefix(notes[0], "40 of its 40 points had expired · ") || amounts[0] != "0 points" ||
		titles[1] != "40 points expired" || !strings.HasPrefix(notes[1], "Last day ") || amounts[1] != "−40 points" {
		t.Errorf("the timeline: %q, %q, %q", titles, notes, amounts)
	}
	if got := manager.Get(s.path() + "?events=expiry").Texts(".timeline-title"); len(got) != 1 || got[0] != "40 points expired" {
		t.Errorf("expired: %q", got)
	}
}

// "Doesn't expire" is offered only where what is added would.
func TestAnAdjustmentThatLasts(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	offered := func(query string) bool {
		t.Helper()
		return manager.Get(s.path()+"/adjust"+query).Find("[name=lasts]").Length() == 1
	}
	if offered("") {
		t.Error("offered without a rule")
	}
	s.Shop = s.ExpireAfter(ledger.Points, 1, core.ToMonth)
	manager = s.signedIn(core.Manager)
	for query, want := range map[string]bool{
		"": true, "?unit=points&amount=5": true, "?unit=points&amount=-5": false, "?unit=stamps&amount=5": false,
		"/after?unit=points&amount=5": true, "/after?unit=points&amount=-5": false, "/after?unit=stamps&amount=5": false,
	} {
		if got := offered(query); got != want {
			t.Errorf("%q: offered is %v", query, got)
		}
	}
	kept := manager.Post(s.path()+"/adjust", webtest.Form("unit", "points", "amount", "5", "reason", "", "lasts", "1"))
	if kept.Code != http.StatusUnprocessableEntity || kept.Find("[name=lasts][checked]").Length() != 1 {
		t.Errorf("refused: %d, %s", kept.Code, kept.Text("form"))
	}
	manager.Submit(s.path()+"/adjust", webtest.Form("unit", "points", "amount", "5", "reason", "Sorry", "lasts", "1"))
	manager.Submit(s.path()+"/adjust", webtest.Form("unit", "points", "amount", "7", "reason", "Sorry"))
	if got := manager.Get(s.path()).Texts(".profile-expiring dd"); fmt.Sprint(got) != "[7 points 5 points]" {
		t.Errorf("expiring: %q", got)
	}
	if got := s.signedIn(core.Owner).Get("/admin/audit").Text("main"); !strings.Contains(got, "Expires no") {
		t.Errorf("the audit log says %q", got)
	}
}
