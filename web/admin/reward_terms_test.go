package admin_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/web/webtest"
)

// golden gives the business a first level and Gold, which a customer reaches with a number of visits, and returns their IDs.
func (s *counter) golden(visits int64) []int64 {
	s.T.Helper()
	return s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime},
		award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: visits})
}

// Without levels, the form doesn't ask for one. A reward's terms are typed, refused, stored, listed, edited and removed.
func TestTermsOfAReward(t *testing.T) {
	t.Parallel()
	s, stranger := newCounter(t), newCounter(t)
	const add = "/admin/rewards/new"
	if s.manager.Get(add).Find("[name=min_level_id]").Length() != 0 {
		t.Error("without levels, the form asks for one")
	}
	levels, theirs := s.golden(9), stranger.golden(9)
	gold := strconv.FormatInt(levels[1], 10)
	form := s.manager.Get(add)
	wants(t, "levels", form.Texts("[name=min_level_id] option"), []string{"All customers", "Gold and above"})

	draft := webtest.Form("name", "Tasting", "cost_unit", "points", "points_cost", "10", "min_level_id", strconv.FormatInt(theirs[1], 10))
	if refused := s.manager.Post(add, draft); refused.Code != http.StatusUnprocessableEntity || refused.Find("[name=min_level_id].is-invalid").Length() != 1 {
		t.Errorf("another business's level: %d %q", refused.Code, refused.Text("main form"))
	}
	webtest.With(draft, "min_level_id", gold, "max_per_customer", "0", "starts_on", "2027-06-30", "ends_on", "2027-06-01")
	refused := s.manager.Post(add, draft)
	wants(t, "refused", refused.Texts(".invalid-feedback"), []string{webtest.Message("Redemptions per customer", core.Min(1)), webtest.Message("Last day", core.AfterOrEqual("starts_on"))})

	webtest.With(draft, "max_per_customer", "2", "starts_on", "2027-06-01", "ends_on", "2027-06-30")
	made := s.manager.Submit(add, draft)
	for _, want := range []string{"Upcoming", "For Gold and above", "Available 1 June 2027 to 30 June 2027", "Per customer 2 redemptions"} {
		if got := made.Text("main"); !strings.Contains(got, want) {
			t.Errorf("the page has no %q: %q", want, got)
		}
	}
	list := s.manager.Get("/admin/rewards")
	if got := list.Text("tbody"); !strings.Contains(got, "For Gold and above · 1 June 2027 to 30 June 2027 · 2 per customer") {
		t.Errorf("list = %q", got)
	}
	path := list.Attr("tbody a", "href")
	edit := s.manager.Get(path + "/edit")
	if edit.Value("[name=min_level_id] option[selected]") != gold || edit.Value("#field-max_per_customer") != "2" || edit.Value("#field-starts_on") != "2027-06-01" || edit.Value("#field-ends_on") != "2027-06-30" {
		t.Errorf("the form shows %q", edit.Text("main form"))
	}
	s.manager.Submit(path+"/edit", webtest.With(sent(edit, "main form"), "name", "Tasting", "cost_unit", "points", "points_cost", "10", "min_level_id", "", "max_per_customer", "", "starts_on", "", "ends_on", ""))
	r, err := s.Rewards.Find(t.Context(), s.By, idOf(t, path))
	if s.Check(err); r.Terms != (reward.Terms{}) {
		t.Errorf("removed: %+v", r.Terms)
	}
	log := s.signedIn(core.Owner).Get("/admin/audit?subject=reward").Text("main")
	for _, want := range []string{"Level", "Gold", "Max per customer", "Starts on"} {
		if !strings.Contains(log, want) {
			t.Errorf("the audit log has no %q: %q", want, log)
		}
	}
}

// Of a level that customers can't rise to any more, the reward's page says who can have it.
func TestAWarningAboutTheLevelOfAReward(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime},
		award.Level{Name: "Member"}, award.Level{Name: "Silver", Threshold: 5}, award.Level{Name: "Gold", Threshold: 9})
	path := "/admin/rewards/" + s.AddReward(reward.New{Name: "Tasting", PointsCost: new(int64(1)), Terms: reward.Terms{MinLevelID: &levels[1]}}).String()
	says := func(want string) {
		t.Helper()
		if got := s.cashier.Get(path).Text("main .alert"); got != want {
			t.Errorf("the page says %q, want %q", got, want)
		}
	}
	says("")
	s.Exec("update loyalty.level set retired_at = now() where id = $1", levels[1])
	says("Silver is retired. Customers who still have it, and those who reach Gold, can redeem it.")
	wants(t, "levels", s.manager.Get(path+"/edit").Texts("[name=min_level_id] option"), []string{"All customers", "Silver and above (retired)", "Gold and above"})
	s.Exec("update loyalty.level set retired_at = now() where id = $1", levels[2])
	says("Silver is retired and no level is above it. Only customers who still have it can redeem it.")
	s.Exec("update loyalty.level_programme set active = false where tenant_id = $1", s.By.Tenant.ID)
	says("Levels are switched off, so all customers can redeem it.")
	wants(t, "levels", s.manager.Get(path+"/edit").Texts("[name=min_level_id] option"), []string{"All customers", "Silver and above (retired)"})
}

// The list of rewards for a customer says why they can't have one, and its confirmation has no button then.
func TestRewardsThatACustomerCantHave(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	levels := s.golden(9)
	today := core.DateOf(s.DB.Now(), s.By.Tenant.TimeZone)
	yesterday := today.AddDate(0, 0, -1)
	add := func(name string, terms reward.Terms) core.ID {
		return s.AddReward(reward.New{Name: name, PointsCost: new(int64(1)), Terms: terms})
	}
	gold := add("Tasting", reward.Terms{MinLevelID: &levels[1]})
	add("Summer drink", reward.Terms{EndsOn: &yesterday})
	add("Coffee", reward.Terms{StartsOn: &today, EndsOn: &today})
	once := add("Tote bag", reward.Terms{MaxPerCustomer: new(int64(1))})
	s.Redeem(s.elsa.ID, once)

	choose := "/admin/redemptions/new?customer_ulid=" + s.elsa.ID.String()
	choices := s.cashier.Get(choose)
	if links := choices.Links(".list-group-item a"); len(links) != 1 || !strings.HasPrefix(choices.Text(".list-group-item"), "Coffee") {
		t.Errorf("can be redeemed: %q", links)
	}
	wants(t, "reasons", choices.Texts(".out-of-reach .text-secondary"), []string{"Already redeemed", "Ended on " + yesterday.Format("2 January 2006"), "For Gold and above"})
	ask := s.cashier.Get(choose + "&reward_ulid=" + gold.String())
	if got := ask.Text("main"); !strings.Contains(got, "This reward is for Gold and above.") || ask.Find("main form button[type=submit]").Length() != 0 {
		t.Errorf("the confirmation: %q", got)
	}
	refused := s.cashier.Post("/admin/redemptions/new", webtest.Form("customer_ulid", s.elsa.ID.String(), "reward_ulid", once.String()))
	if got := refused.Text("main"); refused.Code != http.StatusUnprocessableEntity || !strings.Contains(got, "This customer has already redeemed this reward once.") {
		t.Errorf("refused: %d %q", refused.Code, got)
	}
}

// A coupon's level is chosen, shown, and after a send only removed. Its send says how many have the level, and its vouchers that they are
// for it.
func TestTheLevelOfACoupon(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	levels := s.golden(9)
	gold := strconv.FormatInt(levels[1], 10)
	wants(t, "levels", s.manager.Get("/admin/coupons/new").Texts("[name=min_level_id] option"), []string{"All customers", "Gold and above"})
	draft := webtest.Form("name", "Gold days", "benefit_type", "points", "points", "5", "max_per_customer", "1", "min_level_id", gold)
	made := s.manager.Submit("/admin/coupons/new", draft)
	if got := made.Text("main"); !strings.Contains(got, "For Gold and above") {
		t.Errorf("its page: %q", got)
	}
	list := s.manager.Get("/admin/coupons")
	if got := list.Text("tbody"); !strings.Contains(got, "For Gold and above") {
		t.Errorf("the list: %q", got)
	}
	path := list.Attr("tbody a", "href")
	summary := s.manager.Post(path+"/send/preview", webtest.Form("segment", "all"), "Hx-Request", "true")
	if got := summary.Text(".send-warning"); got != "0 of 1 are at Gold or above now. The others can use their voucher once they have that level." {
		t.Errorf("the send says %q", got)
	}
	voucher := "/admin/vouchers/" + s.Voucher(idOf(t, path), s.elsa.ID).String()
	const refusal = "This voucher is for Gold and above. It stays valid, and the customer can use it once they have that level."
	if page := s.cashier.Get(voucher); page.Text(".voucher-refusal") != refusal || page.Find(`main a[href="`+voucher+`/redeem"], .page-header a[href="`+voucher+`/redeem"]`).Length() != 0 {
		t.Errorf("the voucher says %q", page.Text(".voucher-refusal"))
	}
	if got := s.cashier.Post(voucher+"/redeem", webtest.Form()); got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.Text("main"), refusal) {
		t.Errorf("redeemed: %d %q", got.Code, got.Text("main"))
	}
	tab := s.cashier.Get(s.path() + "?view=vouchers")
	if got := tab.Text("#history"); !strings.Contains(got, "For Gold and above") || tab.Find(`#history a.btn[href="`+voucher+`"]`).Length() != 0 {
		t.Errorf("the customer's vouchers: %q", got)
	}
	wants(t, "levels", s.manager.Get(path+"/edit").Texts("[name=min_level_id] option"), []string{"All customers", "Gold and above"})
	s.Exec("update loyalty.level set retired_at = now() where id = $1", levels[1])
	if got := s.cashier.Get(path).Text("main .alert"); got != "Gold is retired and no level is above it. Only customers who still have it can use its vouchers." {
		t.Errorf("its page says %q", got)
	}
	s.manager.Submit(path+"/edit", webtest.With(draft, "min_level_id", ""))
	c, err := s.Coupons.FindCoupon(t.Context(), s.By, idOf(t, path))
	if s.Check(err); c.MinLevelID != nil {
		t.Errorf("removed: %+v", c)
	}
	if s.manager.Get(path+"/edit").Find("[name=min_level_id]").Length() != 0 {
		t.Error("a sent coupon can be given a level")
	}
}

// Before a level is retired, or levels are switched off, the owner is told what asks for it.
func TestRetiringALevelSaysWhatAsksForIt(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	levels := s.golden(9)
	s.AddReward(reward.New{Name: "Tasting", PointsCost: new(int64(1)), Terms: reward.Terms{MinLevelID: &levels[1]}})
	s.Coupon(coupon.New{Name: "Gold days", BenefitType: "points", BenefitValue: new(int64(5)), MinLevelID: &levels[1]})
	owner := s.signedIn(core.Owner)
	says := func(form url.Values, want string) {
		t.Helper()
		if got := owner.Post(levelsPage+"/preview", form).Text("main form"); !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q", form, got, want)
		}
	}
	says(webtest.Form("change", "retire", "version", "1", "id", strconv.FormatInt(levels[1], 10)),
		"This level is asked for by 1 reward and 1 coupon. Only customers who still have it, or a higher level, can use them.")
	says(webtest.Form("change", "off", "version", "1"), "All customers can use what asks for a level: 1 reward and 1 coupon.")
}
