package admin_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/webtest"
)

// redeem redeems a reward for Elsa and returns the redemption's path.
func (s *counter) redeem(rewardPath string) string {
	s.T.Helper()
	dbtest.Tick(s.DB) // so the order of the queue is known
	r := s.Redeem(s.elsa.ID, idOf(s.T, rewardPath))
	return "/admin/redemptions/" + r.ID.String()
}

func (s *counter) status(path string) reward.Status {
	s.T.Helper()
	r, err := s.Rewards.FindRedemption(s.T.Context(), s.By, idOf(s.T, path))
	if err != nil {
		s.T.Fatal(err)
	}
	return r.Status
}

// "What that customer can afford", the rest with the reason why not. Redeeming asks first and happens
// once, however often the form is sent.
func TestRedeemReward(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.offer("Whole cake", 280, -1)
	bun := s.offer("Bun <b>", 75, 2)
	s.offer("Mug", 20, 0)
	inactive := s.offer("Waffle", 1, -1)
	s.manager.Submit(inactive+"/active", webtest.Form("active", "0"))

	const start = "/admin/redemptions/new"
	found := s.cashier.Get(start+"?search=elsa", "Hx-Request", "true")
	choose := found.Attr("#found a", "href")
	if choose != start+"?customer_ulid="+s.elsa.ID.String() {
		t.Fatalf("who was found leads to %q", choose)
	}
	choices := s.cashier.Get(choose)
	wants(t, "rewards", choices.Texts("li.list-group-item .num"), []string{"75 points", "280 points", "20 points"})
	if got := choices.Text("li.list-group-item"); !strings.HasPrefix(got, "Bun <b>") || !strings.Contains(got, "180 points") {
		t.Errorf("to choose from: %q", got)
	}
	ask := choices.Attr(".list-group-item a", "href")
	if choices.Find(".list-group-item a").Length() != 1 {
		t.Errorf("%d rewards are offered", choices.Find(".list-group-item a").Length())
	}
	asked := s.cashier.Get(ask, "Hx-Request", "true")
	if got := asked.Text("form p"); !strings.Contains(got, "Elsa Berg <b>") || !strings.Contains(got, "Bun <b>") || figures(got) != "75 100 25" || asked.Find("#dialog-title").Length() != 1 {
		t.Errorf("asked %q", got)
	}
	if got := s.balance(); got != 100 {
		t.Errorf("asking alone took points: %d left", got)
	}

	page := s.cashier.Get(ask)
	sent := webtest.Form("form_key", page.Value("input[name=form_key]"), "customer_ulid", page.Value("input[name=customer_ulid]"), "reward_ulid", page.Value("input[name=reward_ulid]"))
	var clicks sync.WaitGroup
	paths := make([]string, 8)
	for i := range paths {
		again := s.cashier.Clone()
		clicks.Go(func() { paths[i] = again.Post(start, sent).Header().Get("Location") })
	}
	clicks.Wait()
	for _, p := range paths {
		if p == "" || p != paths[0] {
			t.Errorf("the clicks lead to %q", paths)
		}
	}
	if got := s.balance(); got != 25 {
		t.Errorf("%d points left, want 25", got)
	}
	if got := s.stock(bun); got != 1 {
		t.Errorf("%d pieces left, want 1", got)
	}
	made := s.cashier.Get(paths[0])
	if got := made.Text("main"); !strings.Contains(got, "Bun <b> 75 points") || !strings.Contains(got, "Bo Ek") || !strings.Contains(got, "−75 25") {
		t.Errorf("detail = %q", got)
	}

	sent.Set("form_key", s.cashier.Get(ask).Value("input[name=form_key]"))
	short := s.cashier.Post(start, sent, "Hx-Request", "true")
	if short.Code != http.StatusUnprocessableEntity || short.Text(".alert") != ledger.ErrInsufficientPoints.Message || short.Find("#dialog-title").Length() != 1 {
		t.Errorf("with too few points: %d %q", short.Code, short.Text("body"))
	}
	sent.Set("reward_ulid", idOf(t, inactive).String())
	if gone := s.cashier.Post(start, sent); gone.Code != http.StatusUnprocessableEntity || !strings.Contains(gone.Text(".alert"), "Waffle") ||
		gone.Attr("main .card a.btn-primary", "href") != choose ||
		gone.Find("main form button, main form p:not(.refusal-words)").Length() != 0 {
		t.Errorf("an inactive reward: %d %q", gone.Code, gone.Text("main"))
	}
	if _, err := s.Customers.Edit(t.Context(), s.By, s.elsa.ID, customer.Edit{Status: core.Set("inactive")}); err != nil {
		t.Fatal(err)
	}
	if got := s.cashier.Get(choose); got.Find(".empty").Length() != 1 || got.Find(".list-group-item a").Length() > 0 {
		t.Errorf("an inactive customer: %q", got.Text("main"))
	}
}

// "The queue of pending ones first (first in, first out)": fulfilled by one click, in place, by a
// cashier.
func TestFulfilRedemptions(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	if got := s.cashier.Get("/admin/redemptions").Links(".empty a"); len(got) != 1 || got[0] != "/admin/redemptions?status=all" {
		t.Errorf("an empty queue leads to %q", got)
	}
	if got := s.cashier.Get("/admin/redemptions?status=all").Links(".empty a"); len(got) != 1 || got[0] != "/admin/redemptions/new" {
		t.Errorf("without redemptions the list leads to %q", got)
	}
	bun := s.offer("Bun", 10, -1)
	first, second, third := s.redeem(bun), s.redeem(bun), s.redeem(bun)
	queue := s.cashier.Get("/admin/redemptions")
	for i, want := range []string{first, second, third} {
		if got, _ := queue.Find("tbody tr").Eq(i).Find("a").Attr("href"); got != want {
			t.Errorf("number %d of the queue is %s, want %s", i+1, got, want)
		}
	}
	asked := s.cashier.Get(first+"/fulfil", "Hx-Request", "true", "Referer", s.origin()+"/admin/redemptions?status=pending")
	if got := asked.Text("form p"); !strings.Contains(got, "Bun") || !strings.Contains(got, "Elsa Berg <b>") || s.status(first) != reward.Pending {
		t.Errorf("asked %q, and it is %s", got, s.status(first))
	}
	for range 2 { // a double click
		done := s.cashier.Post(first+"/fulfil", asked.Fields("form"))
		if to := done.Header().Get("Location"); done.Code != http.StatusSeeOther || to != "/admin/redemptions?status=pending" {
			t.Errorf("fulfilled: %d to %q", done.Code, to)
		}
	}
	if list := s.cashier.Get("/admin/redemptions?status=pending"); !strings.Contains(list.Text("#flashes"), "Bun") || list.Find("tbody tr").Length() != 2 {
		t.Errorf("then: %q, %d pending", list.Text("#flashes"), list.Find("tbody tr").Length())
	}
	colleague := s.cashier.Post(first+"/fulfil", webtest.Form(page.FormKey, "another"), "Hx-Request", "true")
	if got := colleague.Text("[role=alert]"); colleague.Code != http.StatusUnprocessableEntity || got != reward.ErrAlreadyFulfilled.Message {
		t.Errorf("by a colleague as well: %d %q", colleague.Code, got)
	}
	s.cashier.Submit(second+"/fulfil", nil)
	s.cashier.Submit(third+"/fulfil", nil)
	for _, path := range []string{first, second, third} {
		if got := s.status(path); got != reward.Fulfilled {
			t.Errorf("%s is %s", path, got)
		}
	}
}

// "Void with confirmation (managers: points and stock return)".
func TestVoidRedemption(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	mug := s.offer("Mug", 30, 2)
	path := s.redeem(mug)
	if a := s.cashier.Get("/admin/redemptions"); a.Find("a[href$=void]").Length() > 0 || s.cashier.Get(path).Find("a[href$=void]").Length() > 0 {
		t.Error("a cashier is offered to void")
	}
	if a := s.cashier.Post(path+"/void", because); a.Code != http.StatusForbidden {
		t.Errorf("voided by a cashier: %d", a.Code)
	}
	asked := s.manager.Get(path+"/void", "Hx-Request", "true")
	if got := asked.Text("form p"); !strings.Contains(got, "Mug") || !strings.Contains(got, "Elsa Berg <b>") || figures(got) != "30 1" {
		t.Errorf("asked %q", got)
	}
	if s.balance() != 70 || s.stock(mug) != 1 {
		t.Errorf("asking alone gave back: %d points, %d units", s.balance(), s.stock(mug))
	}
	done := s.manager.Submit(path+"/void", because)
	if got := done.Text("#flashes"); figures(got) != "30 1" {
		t.Errorf("flash = %q", got)
	}
	if got := done.Text("main"); !strings.Contains(got, "Bo Ek") || !strings.Contains(got, "+30 100") || done.Find("main a[href$=void]").Length() > 0 {
		t.Errorf("detail = %q", got)
	}
	if s.balance() != 100 || s.stock(mug) != 2 {
		t.Errorf("%d points and %d units, want 100 and 2", s.balance(), s.stock(mug))
	}
	again := s.manager.Post(path+"/void", because)
	if again.Code != http.StatusUnprocessableEntity || again.Text(".alert") != reward.ErrVoided.Message {
		t.Errorf("again: %d %q", again.Code, again.Text(".alert"))
	}
	if a := s.cashier.Post(path+"/fulfil", nil, "Hx-Request", "true"); a.Code != http.StatusUnprocessableEntity || a.Text("[role=alert]") != reward.ErrVoided.Message {
		t.Errorf("fulfilled after the void: %d %q", a.Code, a.Text("body"))
	}
}

// "Tabs or filter: pending, all, fulfilled, voided, by reward, by customer."
func TestFilterRedemptions(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	bun, mug := s.offer("Bun", 10, -1), s.offer("Mug", 20, -1)
	fulfilled, voided := s.redeem(bun), s.redeem(bun)
	s.redeem(mug)
	s.manager.Submit(fulfilled+"/fulfil", nil)
	s.manager.Submit(voided+"/void", because)
	other := s.AddCustomer(customer.New{FirstName: "Bo", LastName: "Ek", Phone: "08-465 004 13"})
	ofElsa := "customer_ulid=" + s.elsa.ID.String()
	for query, want := range map[string]struct {
		rows int
		tab  string
	}{
		"":                                     {1, "pending"},
		"status=pending":                       {1, "pending"},
		"status=all":                           {3, "all"},
		"status=fulfilled":                     {1, "fulfilled"},
		"status=voided":                        {1, "voided"},
		"reward_ulid=" + idOf(t, mug).String(): {1, "pending"},
		"reward_ulid=" + idOf(t, bun).String(): {0, "pending"},
		"status=all&reward_ulid=" + idOf(t, bun).String(): {2, "all"},
		ofElsa:                               {3, "all"},
		ofElsa + "&status=pending":           {1, "pending"},
		"customer_ulid=" + other.ID.String(): {0, "all"},
	} {
		list := s.cashier.Get("/admin/redemptions?"+query, "Hx-Request", "true")
		if got := list.Find("tbody tr").Length(); got != want.rows || list.Find("#tab-"+want.tab+".active").Length() != 1 || list.Find("header").Length() > 0 {
			t.Errorf("%q shows %d at %q, want %+v", query, got, list.Text(".nav-segmented .active"), want)
		}
		if link := list.Links(".empty a"); want.rows == 0 && (len(link) != 1 || link[0] != "/admin/redemptions?status=all") {
			t.Errorf("%q shows nothing and leads to %q", query, link)
		}
	}
	one := s.cashier.Get("/admin/redemptions?" + ofElsa)
	if got := one.Text("#redemptions .border-bottom a[href='/admin/customers/" + s.elsa.ID.String() + "']"); got != "Elsa Berg <b>" || one.Find("main a[href='/admin/redemptions/new?"+ofElsa+"']").Length() != 1 {
		t.Errorf("of one customer: %q", got)
	}
	if tab := one.Attr("#tab-voided", "href"); tab != "/admin/redemptions?"+ofElsa+"&status=voided" {
		t.Errorf("a tab forgets the filter: %s", tab)
	}
	for query, want := range map[string]int{
		"status=lost": http.StatusUnprocessableEntity, "reward_ulid=x": http.StatusUnprocessableEntity, "customer_ulid=x": http.StatusUnprocessableEntity,
		"customer_ulid=01JZZZZZZZZZZZZZZZZZZZZZZZ": http.StatusNotFound,
	} {
		if a := s.cashier.Ask(http.MethodGet, "/admin/redemptions?"+query); a.Code != want {
			t.Errorf("%s = %d, want %d", query, a.Code, want)
		}
	}
}

// Pending redemptions come oldest first, the others newest first; the heading of the time leads to the opposite.
func TestRedemptionsByTime(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	bun := s.offer("Bun", 10, -1)
	first, second := s.redeem(bun), s.redeem(bun)
	for query, want := range map[string][]string{
		"": {first, second}, "sort=newest": {second, first}, "status=all": {second, first}, "status=all&sort=oldest": {first, second},
	} {
		list := s.cashier.Get("/admin/redemptions?" + query)
		wants(t, query, list.Links("tbody .row-link"), want)
		wants(t, query+", opposite", s.cashier.Get(list.Attr("th[aria-sort] a", "href")).Links("tbody .row-link"), []string{want[1], want[0]})
	}
	if got := s.cashier.Get("/admin/redemptions?sort=newest"); got.Value("form[role=search] input[name=sort]") != "newest" {
		t.Error("the filter forgets the order")
	}
}

func TestRedemptionOfAnotherBusinessIsNotFound(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	mug := s.offer("Mug", 30, 2)
	path := s.redeem(mug)
	other := newCounter(t)
	theirs := other.offer("Theirs", 1, -1)
	ofElsa := "customer_ulid=" + s.elsa.ID.String()
	for _, p := range []string{
		path, path + "/void", "/admin/redemptions?" + ofElsa, "/admin/redemptions/new?" + ofElsa, "/admin/redemptions/new?" + ofElsa + "&reward_ulid=" + idOf(t, theirs).String(),
		"/admin/redemptions/new?customer_ulid=" + other.elsa.ID.String() + "&reward_ulid=" + idOf(t, mug).String(),
	} {
		if a := other.manager.Ask(http.MethodGet, p); a.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", p, a.Code)
		}
	}
	for _, f := range []string{"/fulfil", "/void"} {
		if a := other.manager.Post(path+f, nil); a.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d, want 404", f, a.Code)
		}
	}
	if a := other.manager.Post("/admin/redemptions/new", webtest.Form("customer_ulid", s.elsa.ID.String(), "reward_ulid", idOf(t, theirs).String())); a.Code != http.StatusNotFound {
		t.Errorf("redeemed for a stranger's customer: %d", a.Code)
	}
	if s.status(path) != reward.Pending || s.balance() != 70 {
		t.Errorf("it is %s, with %d points left", s.status(path), s.balance())
	}
}
