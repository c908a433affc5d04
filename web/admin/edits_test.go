package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/web/webtest"
)

// Two people have the same record open: each save writes only the fields that its person changed.
func TestTwoPeopleEditTheSameRecord(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	made := s.Coupon(coupon.New{
		Name: "Ten off", Description: "For you.\nReally.", BenefitType: "percent", BenefitValue: new(int64(10)), MaxPerCustomer: new(int64(1)),
	})
	rewardPath := s.offer("Mug", 10, 6)
	one, two := s.signedIn(core.Owner), s.signedIn(core.Owner)
	for _, c := range []struct {
		path, form           string
		name, changed        string // changed by the first person
		other, changedByLast string
	}{
		{s.path() + "/edit", "#customer", "phone", "0701740699", "first_name", "Elsa Maria"},
		{s.path() + "/edit", "#customer", "email", "elsa@example.com", "last_name", "Bergström"},
		{rewardPath + "/edit", "main form.form-card", "points_cost", "75", "description", "It is\r\nred."},
		{rewardPath + "/edit", "main form.form-card", "description", "It is\r\nblue.", "name", "Cup"},
		{"/admin/coupons/" + made.ID.String() + "/edit", "main form.form-card", "percent", "25", "max_redemptions", "100"},
		{"/admin/coupons/" + made.ID.String() + "/edit", "main form.form-card", "expires_at", "2031-05-01", "name", "A quarter off"},
		{"/admin/types/" + s.typeID, "main form.row", "min_spend_cents", "2.00", "max_award", "50"},
		{"/admin/types/" + s.typeID, "main form.row", "name", "Drinks", "unit_cents", "2.00"},
		{"/admin/settings/business", "main form[action$=business]", "timezone", "Asia/Tokyo", "name", "Bar"},
		{"/admin/settings/business", "main form[action$=business]", "name", "Pub", "country", "SE"},
	} {
		first, last := one.Get(c.path).Fields(c.form), two.Get(c.path).Fields(c.form)
		first.Set(c.name, c.changed)
		one.Submit(c.path, first)
		last.Set(c.other, c.changedByLast)
		two.Submit(c.path, last)
		now := one.Get(c.path).Fields(c.form)
		if got := []string{now.Get(c.name), now.Get(c.other)}; got[0] != strings.ReplaceAll(c.changed, "\r", "") || got[1] != strings.ReplaceAll(c.changedByLast, "\r", "") {
			t.Errorf("%s: %s and %s are %q, want %q and %q", c.path, c.name, c.other, got, c.changed, c.changedByLast)
		}
	}
}

// A refused form keeps its original values, so that sending it again still writes only what was
// changed. An emptied field counts as changed.
func TestRefusedEditKeepsOriginalValues(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.path() + "/edit"
	draft := webtest.With(s.manager.Get(path).Fields("#customer"), "email", "elsa@example.com")
	s.manager.Submit(path, draft)

	draft = webtest.With(s.manager.Get(path).Fields("#customer"), "first_name", "")
	refused := s.manager.Post(path, draft)
	if refused.Code != http.StatusUnprocessableEntity {
		t.Fatalf("without a name: %d", refused.Code)
	}
	draft = webtest.With(s.manager.Get(path).Fields("#customer"), "phone", "0701740699") // another person, meanwhile
	s.manager.Submit(path, draft)

	again := webtest.With(refused.Fields("#customer"), "first_name", "Ella", "email", "")
	s.manager.Submit(path, again)
	now := s.manager.Get(path).Fields("#customer")
	if got := now.Get("first_name") + " " + now.Get("phone") + " " + now.Get("email"); got != "Ella 0701740699 " {
		t.Errorf("Elsa is %q", got)
	}
}
