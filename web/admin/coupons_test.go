package admin_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/web/webtest"
)

// percentOff is the form of a coupon for a percentage off.
func percentOff(name, percent string) url.Values {
	return webtest.Form("name", name, "benefit_type", "percent", "percent", percent, "max_per_customer", "1")
}

func (s *counter) coupon(path string) coupon.WithCounts {
	s.T.Helper()
	c, err := s.Coupons.Find(s.T.Context(), s.By, idOf(s.T, path))
	if err != nil {
		s.T.Fatal(err)
	}
	return c
}

// made creates a coupon in the panel and returns its path.
func (s *counter) made(f url.Values) string {
	s.T.Helper()
	return s.manager.Submitted("/admin/coupons/new", f)
}

// send sends a coupon to all customers and returns the vouchers.
func (s *counter) send(path, key string) []coupon.SentVoucher {
	s.T.Helper()
	dbtest.Tick(s.DB)
	sent := s.Send(idOf(s.T, path), coupon.Send{Segment: coupon.All, FormKey: key})
	l, err := s.Coupons.ListSent(s.T.Context(), s.By, sent.ID, core.Page{Size: 100})
	if err != nil {
		s.T.Fatal(err)
	}
	return l.Items
}

// "Benefit in words" for each kind. Only the field of the chosen kind is checked.
func TestCouponBenefits(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	if got := s.manager.Get("/admin/coupons").Links(".empty a"); len(got) != 1 || got[0] != "/admin/coupons/new" {
		t.Errorf("without coupons the list leads to %q", got)
	}
	if got := s.manager.Get("/admin/coupons/new").Links(".benefit-reward a"); len(got) != 1 || got[0] != "/admin/rewards/new" {
		t.Errorf("without rewards the form leads to %q", got)
	}
	espresso := idOf(t, s.offer("Free espresso", 80, -1)).String()
	waffle := s.offer("Waffle", 80, -1)
	s.manager.Submit(waffle+"/active", webtest.Form("active", "0"))
	if got := s.manager.Get("/admin/coupons/new").Text("#field-reward_ulid option"); got != "Free espresso" {
		t.Errorf("to choose from: %q", got)
	}
	for _, c := range []struct{ kind, field, wrong, says, right, words string }{
		{"percent", "percent", "101", webtest.Message("Percent", core.Max(100)), "10", "10% off"},
		{"amount", "amount_cents", "a lot", webtest.Message("Amount", core.Violation{Rule: "amount", Other: "24.50"}), "2,50", "€ 2.50 off"},
		{"points", "points", "", webtest.Message("Points", core.Required), "50", "50 points"},
		{"stamps", "stamps", "0", webtest.Message("Stamps", core.Min(1)), "1", "1 stamp"},
		{"reward", "reward_ulid", "x", webtest.Message("Reward", core.InvalidChoice), espresso, "Reward: Free espresso"},
	} {
		f := webtest.Form("name", "A <b>"+c.kind, "description", "", "benefit_type", c.kind, "max_per_customer", "1",
			"percent", "none", "amount_cents", "none", "points", "none", "stamps", "none", "reward_ulid", "none")
		f.Set(c.field, c.wrong)
		refused := s.manager.Post("/admin/coupons/new", f)
		if got := refused.Text(".invalid-feedback"); refused.Code != http.StatusUnprocessableEntity || got != c.says || refused.Find("[role=alert] a").Length() != 1 {
			t.Errorf("%s of %q: %d %q", c.kind, c.wrong, refused.Code, got)
		}
		if link := refused.Attr("[role=alert] a", "href"); link != "#field-"+c.field || refused.Find(link).Length() != 1 {
			t.Errorf("%s: the summary leads to %q", c.kind, link)
		}
		if c.field != "reward_ulid" && refused.Value("#field-"+c.field) != c.wrong {
			t.Errorf("%s: typed is now %q", c.kind, refused.Value("#field-"+c.field))
		}
		f.Set(c.field, c.right)
		path := s.made(f)
		if got := strings.ReplaceAll(s.manager.Get(path).Text("main .h1"), "\u00a0", " "); got != c.words {
			t.Errorf("%s: %q, want %q", c.kind, got, c.words)
		}
		edit := s.manager.Get(path + "/edit")
		if checked := edit.Value("input[name=benefit_type][checked]"); checked != c.kind {
			t.Errorf("%s: the form shows %q", c.kind, checked)
		}
		// Saved as it was shown, it is what it was.
		was := s.coupon(path)
		again := url.Values{"benefit_type": {c.kind}}
		edit.Find("main input:not([type=radio]), main textarea").Each(func(_ int, in *goquery.Selection) {
			again.Set(in.AttrOr("name", ""), in.AttrOr("value", in.Text()))
		})
		if chosen, ok := edit.Find("#field-reward_ulid option[selected]").Attr("value"); ok {
			again.Set("reward_ulid", chosen)
		}
		s.manager.Submit(path+"/edit", again)
		if now := s.coupon(path); now.Name != was.Name || benefit(now) != benefit(was) || now.MaxPerCustomer != 1 {
			t.Errorf("%s saved unchanged is %+v, was %+v", c.kind, now, was)
		}
	}
	list := s.cashier.Get("/admin/coupons")
	if got := list.Find("tbody tr").Length(); got != 5 || list.Find("tbody b, .voucher-counts").Length() > 0 {
		t.Errorf("%d coupons: %q", got, list.Text("tbody"))
	}
}

func benefit(c coupon.WithCounts) string {
	words := string(c.BenefitType)
	if c.BenefitValue != nil {
		words += " " + strconv.FormatInt(*c.BenefitValue, 10)
	}
	if c.BenefitRewardID != nil {
		words += " " + c.BenefitRewardID.String()
	}
	return words
}

// "`starts_at` and `expires_at` entered as days, meaning start of day and end of day in the
// zone, shown so". An unchanged day keeps its instant.
func TestCouponDays(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	f := webtest.With(percentOff("Spring", "10"), "starts_at", "2126-03-30", "expires_at", "2126-03-29")
	refused := s.manager.Post("/admin/coupons/new", f)
	if got := refused.Text(".invalid-feedback"); got != webtest.Message("Last day", core.Violation{Rule: "after_start"}) {
		t.Errorf("the wrong way round: %q", got)
	}
	f.Set("expires_at", "soon")
	if got := s.manager.Post("/admin/coupons/new", f).Text(".invalid-feedback"); got != webtest.Message("Last day", core.MustBeDate) {
		t.Errorf("no day: %q", got)
	}
	f.Set("expires_at", "2126-03-30") // one day
	path := s.made(f)
	stored := s.coupon(path)
	zone := s.By.Tenant.TimeZone
	starts, ends := time.Date(2126, 3, 30, 0, 0, 0, 0, zone), time.Date(2126, 3, 31, 0, 0, 0, 0, zone)
	if !stored.StartsAt.Equal(starts) || !stored.ExpiresAt.Equal(ends) {
		t.Errorf("stored from %s to %s", stored.StartsAt, stored.ExpiresAt)
	}
	shown := s.cashier.Get(path)
	if got := shown.Text("main"); strings.Count(got, "30 Mar 2126") != 2 || !strings.Contains(got, "Upcoming") {
		t.Errorf("shown: %q", got)
	}
	edit := s.manager.Get(path + "/edit")
	if edit.Value("#field-starts_at") != "2126-03-30" || edit.Value("#field-expires_at") != "2126-03-30" || !strings.Contains(edit.Text("main"), "Europe/Stockholm") {
		t.Errorf("the form shows %q to %q", edit.Value("#field-starts_at"), edit.Value("#field-expires_at"))
	}

	noon := time.Date(2126, 3, 30, 12, 0, 0, 0, zone)
	if _, err := s.Coupons.Edit(t.Context(), s.By, stored.ID, coupon.Edit{ExpiresAt: core.Set(noon)}); err != nil {
		t.Fatal(err)
	}
	f.Set("name", "April")
	if got := s.manager.Submit(path+"/edit", f).Text("main"); !strings.Contains(got, "30 Mar 2126, 12:00") {
		t.Errorf("with a time: %q", got)
	}
	if now := s.coupon(path); now.Name != "April" || !now.ExpiresAt.Equal(noon) || !now.StartsAt.Equal(starts) {
		t.Errorf("untouched days are now %s to %s", now.StartsAt, now.ExpiresAt)
	}
	webtest.With(f, "starts_at", "", "expires_at", "2126-04-30", "voucher_valid_days", "14")
	if got := s.manager.Submit(path+"/edit", f).Text("main"); !strings.Contains(got, "30 Apr 2126") || !strings.Contains(got, "14 days") {
		t.Errorf("cleared and moved: %q", got)
	}
	f.Set("expires_at", "")
	if got := s.manager.Submit(path+"/edit", f).Text("main .h1 + div"); figures(got) != "14" {
		t.Errorf("only days: %q", got)
	}
	f.Set("voucher_valid_days", "")
	if got := s.manager.Submit(path+"/edit", f).Text("main .h1 + div"); got == "" || figures(got) != "" {
		t.Errorf("nothing: %q", got)
	}
}

// "The benefit cannot change once sent", shown as read-only with the reason; and each send and voucher
// is counted.
func TestSentCoupon(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	for _, phone := range []string{"08-465 004 20", "08-465 004 21", "08-465 004 22"} {
		s.AddCustomer(customer.New{FirstName: "Bo", LastName: "Ek", Phone: phone})
	}
	f := webtest.With(percentOff("Spring", "10"), "max_per_customer", "3", "max_redemptions", "10")
	path := s.made(f)
	if got := s.manager.Get(path); got.Find(".empty").Length() != 1 || got.Find("table").Length() > 0 {
		t.Errorf("not sent: %q", got.Text("main"))
	}
	vouchers := s.send(path, "one")
	s.send(path, "two")
	for _, v := range vouchers[:2] {
		dbtest.Tick(s.DB)
		s.RedeemVoucher(v.ID)
	}
	if got := s.cashier.Get("/admin/coupons").Text("td:nth-child(4) .voucher-counts"); figures(got) != "8 2 6" {
		t.Errorf("list = %q", got)
	}
	shown := s.cashier.Get(path)
	if got := shown.Text(".voucher-legend"); figures(got) != "8 2 6 0" || !strings.Contains(shown.Text("main"), "25.0%") || !strings.Contains(shown.Text(".datagrid"), "8 of 10") {
		t.Errorf("counts = %q in %q", got, shown.Text("main"))
	}
	widths := ""
	for i := range 2 {
		width, _ := shown.Find(".bar rect").Eq(i).Attr("width")
		widths += width + " "
	}
	if widths != "25.00% 75.00% " {
		t.Errorf("the bar is %s", widths)
	}
	if got := shown.Find("table").First().Find("tbody tr"); got.Length() != 2 || !strings.Contains(shown.Text("table"), "A owner") ||
		len(shown.Links("td a[href^='"+path+"/sends/']")) != 2 {
		t.Errorf("%d sends: %q", got.Length(), got.Text())
	}
	if got := shown.Find("#vouchers tbody tr"); got.Length() != 2 || shown.Find("#vouchers a[href^='/admin/customers/']").Length() != 2 {
		t.Errorf("%d redeemed vouchers: %q", got.Length(), got.Text())
	}
	if part := s.cashier.Get(path, "Hx-Request", "true"); part.Find("#vouchers tbody tr").Length() != 2 || part.Find("h2, header").Length() > 0 {
		t.Errorf("the fragment is %q", part.Text("body"))
	}

	edit := s.manager.Get(path + "/edit")
	if got := edit.Text("main"); !strings.Contains(got, "10% off") || edit.Find("input[name=benefit_type], #field-percent").Length() > 0 {
		t.Errorf("the form: %q", got)
	}
	f.Set("percent", "20") // of a form that was opened before the send
	refused := s.manager.Post(path+"/edit", f)
	if got := refused.Text("[role=alert]"); refused.Code != http.StatusUnprocessableEntity || got != webtest.MessageApart("benefit_type", core.Violation{Rule: "fixed_after_sending"}) {
		t.Errorf("another benefit: %d %q", refused.Code, got)
	}
	f.Del("benefit_type")
	webtest.With(f, "max_per_customer", "2", "max_redemptions", "1")
	if got := s.manager.Post(path+"/edit", f).Text(".invalid-feedback"); got != webtest.Message("Vouchers per customer", core.Violation{Rule: "min_sent", Limit: 3})+" "+
		webtest.Message("Total redemption limit", core.Violation{Rule: "min_redeemed", Limit: 2}) {
		t.Errorf("fewer: %q", got)
	}
	webtest.With(f, "max_per_customer", "3", "max_redemptions", "", "name", "Summer")
	if got := s.manager.Submit(path+"/edit", f).Text("#flashes"); !strings.Contains(got, "Summer") {
		t.Errorf("saved: %q", got)
	}
	if now := s.coupon(path); benefit(now) != "percent 10" || now.MaxRedemptions != nil {
		t.Errorf("it is now %+v", now)
	}
}

// "Managers create, edit, activate"; filters by state.
func TestActivateCoupon(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.made(percentOff("Spring", "10"))
	if a := s.cashier.Get(path); a.Find("main form[method=post], main a[href$=edit]").Length() > 0 || s.cashier.Get("/admin/coupons").Find("main form[method=post], main a[href$=new]").Length() > 0 {
		t.Error("a cashier is offered changes")
	}
	for _, p := range []string{path + "/edit", path + "/active", "/admin/coupons/new"} {
		if a := s.cashier.Post(p, percentOff("Mine", "99")); a.Code != http.StatusForbidden {
			t.Errorf("POST %s = %d, want 403", p, a.Code)
		}
	}
	off := s.manager.Post(path+"/active", webtest.Form("active", "0"), "Referer", s.origin()+"/admin/coupons?state=active")
	if to := off.Header().Get("Location"); to != "/admin/coupons?state=active" {
		t.Errorf("it leads to %q", to)
	}
	list := s.manager.Get("/admin/coupons?state=active")
	if got := list.Text("#flashes"); !strings.Contains(got, "Spring") || len(list.Links(".empty a")) != 1 {
		t.Errorf("deactivated: %q, %q", got, list.Text(".empty"))
	}
	for state, want := range map[string]int{"": 1, "inactive": 1, "expired": 0, "upcoming": 0} {
		if got := s.manager.Get("/admin/coupons?state="+state, "Hx-Request", "true").Find("tbody tr").Length(); got != want {
			t.Errorf("%q shows %d coupons", state, got)
		}
	}
	if a := s.manager.Ask(http.MethodGet, "/admin/coupons?state=lost"); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("a wrong filter: %d", a.Code)
	}
	if got := s.manager.Submit(path+"/active", webtest.Form("active", "1")).Text("#flashes"); !strings.Contains(got, "Spring") {
		t.Errorf("activated: %q", got)
	}
}

func TestCouponOfAnotherBusinessIsNotFound(t *testing.T) {
	t.Parallel()
	s, other := newCounter(t), newCounter(t)
	path := s.made(percentOff("Spring", "10"))
	for _, p := range []string{path, path + "/edit"} {
		if a := other.manager.Ask(http.MethodGet, p); a.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", p, a.Code)
		}
	}
	if a := other.manager.Ask(http.MethodGet, path, "Hx-Request", "true"); a.Code != http.StatusNotFound {
		t.Errorf("its vouchers: %d, want 404", a.Code)
	}
	sent := webtest.With(percentOff("Mine", "99"), "active", "0")
	for _, p := range []string{path + "/edit", path + "/active"} {
		if a := other.manager.Post(p, sent); a.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d, want 404", p, a.Code)
		}
	}
	espresso := idOf(t, s.offer("Free espresso", 80, -1)).String()
	other.offer("Theirs", 80, -1)
	a := other.manager.Post("/admin/coupons/new", webtest.Form("name", "Mine", "benefit_type", "reward", "reward_ulid", espresso, "max_per_customer", "1"))
	if a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != webtest.Message("Reward", core.InvalidChoice) {
		t.Errorf("with a stranger's reward: %d %q", a.Code, a.Text(".invalid-feedback"))
	}
	if now := s.coupon(path); now.Name != "Spring" || !now.Active {
		t.Errorf("it is now %+v", now)
	}
}
