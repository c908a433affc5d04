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
)

// redeem redeems a reward for Elsa and returns the redemption's path.
func (s *counter) redeem(t *testing.T, rewardPath string) string {
	t.Helper()
	dbtest.Tick(s.db) // so the order of the queue is known
	r, err := s.Rewards.Redeem(t.Context(), s.by, reward.RedeemRequest{CustomerID: new(s.elsa.ID.String()), RewardID: new(idOf(t, rewardPath).String())})
	if err != nil {
		t.Fatal(err)
	}
	return "/admin/redemptions/" + r.ID.String()
}

func (s *counter) status(t *testing.T, path string) reward.Status {
	t.Helper()
	r, err := s.Rewards.FindRedemption(t.Context(), s.by, idOf(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return r.Status
}

// "What that customer can afford", the rest with the reason why not. Redeeming asks first and happens
// once, however often the form is sent.
func TestRedeemReward(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.offer(t, "Whole cake", 280, -1)
	bun := s.offer(t, "Bun <b>", 75, 2)
	s.offer(t, "Mug", 20, 0)
	inactive := s.offer(t, "Waffle", 1, -1)
	s.manager.posted(inactive+"/active", form("active", "0"))

	const start = "/admin/redemptions/new"
	found := s.cashier.get(start+"?search=elsa", "Hx-Request", "true")
	choose, _ := found.Find("#found a").Attr("href")
	if choose != start+"?customer_ulid="+s.elsa.ID.String() {
		t.Fatalf("who was found leads to %q", choose)
	}
	choices := s.cashier.get(choose)
	wants(t, "rewards", choices.each("li.list-group-item .num"), []string{"75 points", "20 points", "280 points"})
	if got := choices.words("li.list-group-item"); !strings.HasPrefix(got, "Bun <b>") || !strings.Contains(got, "180 points") {
		t.Errorf("to choose from: %q", got)
	}
	ask, _ := choices.Find(".list-group-item a").Attr("href")
	if choices.Find(".list-group-item a").Length() != 1 {
		t.Errorf("%d rewards are offered", choices.Find(".list-group-item a").Length())
	}
	asked := s.cashier.get(ask, "Hx-Request", "true")
	if got := asked.words("form p"); !strings.Contains(got, "Elsa Berg <b>") || !strings.Contains(got, "Bun <b>") || figures(got) != "75 100 25" || asked.Find("#dialog-title").Length() != 1 {
		t.Errorf("asked %q", got)
	}
	if got := s.balance(t); got != 100 {
		t.Errorf("asking alone took points: %d left", got)
	}

	page := s.cashier.get(ask)
	sent := form("form_key", page.value("input[name=form_key]"), "customer_ulid", page.value("input[name=customer_ulid]"), "reward_ulid", page.value("input[name=reward_ulid]"))
	var clicks sync.WaitGroup
	paths := make([]string, 8)
	for i := range paths {
		again := *s.cashier
		clicks.Go(func() { paths[i] = again.post(start, sent).Header().Get("Location") })
	}
	clicks.Wait()
	for _, p := range paths {
		if p == "" || p != paths[0] {
			t.Errorf("the clicks lead to %q", paths)
		}
	}
	if got := s.balance(t); got != 25 {
		t.Errorf("%d points left, want 25", got)
	}
	if got := s.stock(t, bun); got != 1 {
		t.Errorf("%d pieces left, want 1", got)
	}
	made := s.cashier.get(paths[0])
	if got := made.words("main"); !strings.Contains(got, "Bun <b> 75 points") || !strings.Contains(got, "Bo Ek") || !strings.Contains(got, "−75 25") {
		t.Errorf("detail = %q", got)
	}

	sent.Set("form_key", s.cashier.get(ask).value("input[name=form_key]"))
	short := s.cashier.post(start, sent, "Hx-Request", "true")
	if short.Code != http.StatusUnprocessableEntity || short.words(".alert") != ledger.ErrInsufficientPoints.Message || short.Find("#dialog-title").Length() != 1 {
		t.Errorf("with too few points: %d %q", short.Code, short.words("body"))
	}
	sent.Set("reward_ulid", idOf(t, inactive).String())
	if gone := s.cashier.post(start, sent); gone.Code != http.StatusUnprocessableEntity || !strings.Contains(gone.words(".alert"), "Waffle") ||
		gone.Find("main .card a.btn-primary").AttrOr("href", "") != choose ||
		gone.Find("main form button, main form p").Length() != 0 {
		t.Errorf("an inactive reward: %d %q", gone.Code, gone.words("main"))
	}
	if _, err := s.Customers.Edit(t.Context(), s.by, s.elsa.ID, customer.Edit{Status: core.Set("inactive")}); err != nil {
		t.Fatal(err)
	}
	if got := s.cashier.get(choose); got.Find(".empty").Length() != 1 || got.Find(".list-group-item a").Length() > 0 {
		t.Errorf("an inactive customer: %q", got.words("main"))
	}
}

// "The queue of pending ones first (first in, first out)": fulfilled by one click, in place, by a
// cashier.
func TestFulfilRedemptions(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	if got := s.cashier.get("/admin/redemptions").links(".empty a"); len(got) != 1 || got[0] != "/admin/redemptions?status=all" {
		t.Errorf("an empty queue leads to %q", got)
	}
	if got := s.cashier.get("/admin/redemptions?status=all").links(".empty a"); len(got) != 1 || got[0] != "/admin/redemptions/new" {
		t.Errorf("without redemptions the list leads to %q", got)
	}
	bun := s.offer(t, "Bun", 10, -1)
	first, second, third := s.redeem(t, bun), s.redeem(t, bun), s.redeem(t, bun)
	queue := s.cashier.get("/admin/redemptions")
	for i, want := range []string{first, second, third} {
		if got, _ := queue.Find("tbody tr").Eq(i).Find("a").Attr("href"); got != want {
			t.Errorf("number %d of the queue is %s, want %s", i+1, got, want)
		}
	}
	row := queue.Find("tbody tr").First()
	key, _ := row.Find("input[name=form_key]").Attr("value")
	for range 2 { // a double click
		done := s.cashier.post(first+"/fulfil", form("form_key", key), "Hx-Request", "true")
		if got := done.words("body"); done.Code != http.StatusOK || done.Find(".text-green[autofocus]").Length() != 1 || done.Find("button, header").Length() > 0 {
			t.Errorf("fulfilled: %d %q", done.Code, got)
		}
	}
	colleague := s.cashier.post(first+"/fulfil", form("form_key", queue.value("tbody tr:nth-child(2) input[name=form_key]")), "Hx-Request", "true")
	if got := colleague.words("[role=alert]"); colleague.Code != http.StatusUnprocessableEntity || got != reward.ErrAlreadyFulfilled.Message {
		t.Errorf("by a colleague as well: %d %q", colleague.Code, got)
	}

	from := s.origin() + "/admin/redemptions?status=pending"
	plain := s.cashier.post(second+"/fulfil", form("form_key", ""), "Referer", from)
	if to := plain.Header().Get("Location"); plain.Code != http.StatusSeeOther || to != "/admin/redemptions?status=pending" {
		t.Fatalf("without scripts: %d to %q", plain.Code, to)
	}
	rest := s.cashier.get("/admin/redemptions?status=pending")
	if got := rest.words("#flashes"); !strings.Contains(got, "Bun") || !strings.Contains(got, "Elsa Berg <b>") || rest.Find("tbody tr").Length() != 1 {
		t.Errorf("then: %q, %d pending", got, rest.Find("tbody tr").Length())
	}
	late := s.cashier.posted(second+"/fulfil", nil)
	if got := late.words("#flashes"); got != reward.ErrAlreadyFulfilled.Message || !strings.Contains(late.words("main"), "Bo Ek") {
		t.Errorf("late: %q", late.words("main"))
	}
	s.cashier.posted(third+"/fulfil", nil)
	for _, path := range []string{first, second, third} {
		if got := s.status(t, path); got != reward.Fulfilled {
			t.Errorf("%s is %s", path, got)
		}
	}
}

// "Void with confirmation (managers: points and stock return)".
func TestVoidRedemption(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	mug := s.offer(t, "Mug", 30, 2)
	path := s.redeem(t, mug)
	if a := s.cashier.get("/admin/redemptions"); a.Find("a[href$=void]").Length() > 0 || s.cashier.get(path).Find("a[href$=void]").Length() > 0 {
		t.Error("a cashier is offered to void")
	}
	if a := s.cashier.post(path+"/void", nil); a.Code != http.StatusForbidden {
		t.Errorf("voided by a cashier: %d", a.Code)
	}
	asked := s.manager.get(path+"/void", "Hx-Request", "true")
	if got := asked.words("form p"); !strings.Contains(got, "Mug") || !strings.Contains(got, "Elsa Berg <b>") || figures(got) != "30 1" {
		t.Errorf("asked %q", got)
	}
	if s.balance(t) != 70 || s.stock(t, mug) != 1 {
		t.Errorf("asking alone gave back: %d points, %d units", s.balance(t), s.stock(t, mug))
	}
	done := s.manager.posted(path+"/void", nil)
	if got := done.words("#flashes"); figures(got) != "30 1" {
		t.Errorf("flash = %q", got)
	}
	if got := done.words("main"); !strings.Contains(got, "Bo Ek") || !strings.Contains(got, "+30 100") || done.Find("main form").Length() > 0 {
		t.Errorf("detail = %q", got)
	}
	if s.balance(t) != 100 || s.stock(t, mug) != 2 {
		t.Errorf("%d points and %d units, want 100 and 2", s.balance(t), s.stock(t, mug))
	}
	again := s.manager.post(path+"/void", nil)
	if again.Code != http.StatusUnprocessableEntity || again.words(".alert") != reward.ErrVoided.Message {
		t.Errorf("again: %d %q", again.Code, again.words(".alert"))
	}
	if a := s.cashier.post(path+"/fulfil", nil, "Hx-Request", "true"); a.Code != http.StatusUnprocessableEntity || a.words("[role=alert]") != reward.ErrVoided.Message {
		t.Errorf("fulfilled after the void: %d %q", a.Code, a.words("body"))
	}
}

// "Tabs or filter: pending, all, fulfilled, voided, by reward, by customer."
func TestFilterRedemptions(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	bun, mug := s.offer(t, "Bun", 10, -1), s.offer(t, "Mug", 20, -1)
	fulfilled, voided := s.redeem(t, bun), s.redeem(t, bun)
	s.redeem(t, mug)
	s.manager.posted(fulfilled+"/fulfil", nil)
	s.manager.posted(voided+"/void", nil)
	other, err := s.Customers.Upsert(t.Context(), s.by, customer.New{FirstName: new("Bo"), LastName: new("Ek"), Phone: new("08-465 004 13")})
	if err != nil {
		t.Fatal(err)
	}
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
		list := s.cashier.get("/admin/redemptions?"+query, "Hx-Request", "true")
		if got := list.Find("tbody tr").Length(); got != want.rows || list.Find("#tab-"+want.tab+".active").Length() != 1 || list.Find("header").Length() > 0 {
			t.Errorf("%q shows %d at %q, want %+v", query, got, list.words(".nav-segmented .active"), want)
		}
		if link := list.links(".empty a"); want.rows == 0 && (len(link) != 1 || link[0] != "/admin/redemptions?status=all") {
			t.Errorf("%q shows nothing and leads to %q", query, link)
		}
	}
	one := s.cashier.get("/admin/redemptions?" + ofElsa)
	if got := one.words("#redemptions .border-bottom a[href='/admin/customers/" + s.elsa.ID.String() + "']"); got != "Elsa Berg <b>" || one.Find("main a[href='/admin/redemptions/new?"+ofElsa+"']").Length() != 1 {
		t.Errorf("of one customer: %q", got)
	}
	if tab, _ := one.Find("#tab-voided").Attr("href"); tab != "/admin/redemptions?"+ofElsa+"&status=voided" {
		t.Errorf("a tab forgets the filter: %s", tab)
	}
	for query, want := range map[string]int{
		"status=lost": http.StatusUnprocessableEntity, "reward_ulid=x": http.StatusUnprocessableEntity, "customer_ulid=x": http.StatusUnprocessableEntity,
		"customer_ulid=01JZZZZZZZZZZZZZZZZZZZZZZZ": http.StatusNotFound,
	} {
		if a := s.cashier.ask(http.MethodGet, "/admin/redemptions?"+query, nil); a.Code != want {
			t.Errorf("%s = %d, want %d", query, a.Code, want)
		}
	}
}

func TestRedemptionOfAnotherBusinessIsNotFound(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	mug := s.offer(t, "Mug", 30, 2)
	path := s.redeem(t, mug)
	other := newCounter(t)
	theirs := other.offer(t, "Theirs", 1, -1)
	ofElsa := "customer_ulid=" + s.elsa.ID.String()
	for _, p := range []string{
		path, path + "/void", "/admin/redemptions?" + ofElsa, "/admin/redemptions/new?" + ofElsa, "/admin/redemptions/new?" + ofElsa + "&reward_ulid=" + idOf(t, theirs).String(),
		"/admin/redemptions/new?customer_ulid=" + other.elsa.ID.String() + "&reward_ulid=" + idOf(t, mug).String(),
	} {
		if a := other.manager.ask(http.MethodGet, p, nil); a.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", p, a.Code)
		}
	}
	for _, f := range []string{"/fulfil", "/void"} {
		if a := other.manager.post(path+f, nil); a.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d, want 404", f, a.Code)
		}
	}
	if a := other.manager.post("/admin/redemptions/new", form("customer_ulid", s.elsa.ID.String(), "reward_ulid", idOf(t, theirs).String())); a.Code != http.StatusNotFound {
		t.Errorf("redeemed for a stranger's customer: %d", a.Code)
	}
	if s.status(t, path) != reward.Pending || s.balance(t) != 70 {
		t.Errorf("it is %s, with %d points left", s.status(t, path), s.balance(t))
	}
}
