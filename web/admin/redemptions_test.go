package admin_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/reward"
)

// redeem makes a redemption of Elsa's, and returns its path.
func (s *counter) redeem(t *testing.T, rewardPath string) string {
	t.Helper()
	dbtest.Tick(s.db) // the queue has one order
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

// "What that customer can afford", the rest with the reason why not; asked before it is
// taken, and taken once however often the form is sent.
func TestRedeemingAReward(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.offer(t, "Whole cake", 280, -1)
	bun := s.offer(t, "Bun <b>", 75, 2)
	s.offer(t, "Mug", 20, 0)
	inactive := s.offer(t, "Waffle", 1, -1)
	s.manager.posted(inactive+"/active", form("active", "0"))

	whose := "/admin/redemptions/new"
	found := s.cashier.get(whose+"?search=elsa", "Hx-Request", "true")
	choose, _ := found.Find("#found a").Attr("href")
	if choose != whose+"?customer_ulid="+s.elsa.ID.String() {
		t.Fatalf("who was found leads to %q", choose)
	}
	choices := s.cashier.get(choose)
	if got := choices.words("li.list-group-item"); got != "Bun <b> Low 75 points Redeem Mug Out of stock 20 points Whole cake 180 points more needed 280 points" {
		t.Errorf("to choose from: %q", got)
	}
	ask, _ := choices.Find(".list-group-item a").Attr("href")
	if choices.Find(".list-group-item a").Length() != 1 {
		t.Errorf("%d rewards are offered", choices.Find(".list-group-item a").Length())
	}
	asked := s.cashier.get(ask, "Hx-Request", "true")
	if got := asked.words("form p"); got != "Elsa Berg <b> gets “Bun <b>” for 75 points. Their balance goes from 100 points to 25 points." || asked.Find("#dialog-title").Length() != 1 {
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
		clicks.Go(func() { paths[i] = again.post(whose, sent).Header().Get("Location") })
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
	if got := made.words("main"); !strings.Contains(got, "Bun <b> 75 points Pending") || !strings.Contains(got, "By Bo Ek") || !strings.Contains(got, "−75 25") {
		t.Errorf("detail = %q", got)
	}

	sent.Set("form_key", s.cashier.get(ask).value("input[name=form_key]"))
	short := s.cashier.post(whose, sent, "Hx-Request", "true")
	if short.Code != http.StatusUnprocessableEntity || short.words(".alert") != "Insufficient points balance." || short.Find("#dialog-title").Length() != 1 {
		t.Errorf("with too few points: %d %q", short.Code, short.words("body"))
	}
	sent.Set("reward_ulid", idOf(t, inactive).String())
	if gone := s.cashier.post(whose, sent); gone.Code != http.StatusUnprocessableEntity || gone.words(".alert") != "“Waffle” is no longer on offer." ||
		gone.words("#dialog .btn-primary, main .card .btn-primary") != "Back to the rewards" ||
		gone.Find("main form button, main form p").Length() != 0 {
		t.Errorf("an inactive reward: %d %q", gone.Code, gone.words("main"))
	}
	if _, err := s.Customers.Edit(t.Context(), s.by, s.elsa.ID, customer.Edit{Status: core.Set("inactive")}); err != nil {
		t.Fatal(err)
	}
	if got := s.cashier.get(choose); got.words(".empty-title") != "Inactive" || got.Find(".list-group-item a").Length() > 0 {
		t.Errorf("an inactive customer: %q", got.words("main"))
	}
}

// "The queue of pending ones first (first in, first out)": handed over by one click, in
// place, by a cashier.
func TestHandingOver(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	if got := s.cashier.get("/admin/redemptions").words(".empty-title"); got != "Nothing waits" {
		t.Errorf("an empty queue: %q", got)
	}
	if got := s.cashier.get("/admin/redemptions?status=all").words(".empty-title"); got != "No redemptions yet" {
		t.Errorf("no redemptions: %q", got)
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
		if got := done.words("body"); done.Code != http.StatusOK || !strings.Contains(got, "Fulfilled") || !strings.Contains(got, "Handed over") || done.Find("button, header").Length() > 0 {
			t.Errorf("handed over: %d %q", done.Code, got)
		}
	}
	colleague := s.cashier.post(first+"/fulfil", form("form_key", queue.value("tbody tr:nth-child(2) input[name=form_key]")), "Hx-Request", "true")
	if got := colleague.words("[role=alert]"); colleague.Code != http.StatusUnprocessableEntity || got != "This redemption has already been fulfilled." {
		t.Errorf("by a colleague as well: %d %q", colleague.Code, got)
	}

	from := s.origin() + "/admin/redemptions?status=pending"
	plain := s.cashier.post(second+"/fulfil", form("form_key", ""), "Referer", from)
	if to := plain.Header().Get("Location"); plain.Code != http.StatusSeeOther || to != "/admin/redemptions?status=pending" {
		t.Fatalf("without scripts: %d to %q", plain.Code, to)
	}
	rest := s.cashier.get("/admin/redemptions?status=pending")
	if got := rest.words("#flashes"); got != "“Bun” is handed over to Elsa Berg <b>." || rest.Find("tbody tr").Length() != 1 {
		t.Errorf("then: %q, %d wait", got, rest.Find("tbody tr").Length())
	}
	late := s.cashier.posted(second+"/fulfil", nil)
	if got := late.words("#flashes"); got != "This redemption has already been fulfilled." || !strings.Contains(late.words("main"), "Handed over by Bo Ek") {
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
func TestVoidingARedemption(t *testing.T) {
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
	if got := asked.words("form p"); got != "“Mug” is not handed over to Elsa Berg <b>, who gets the 30 points back. The piece goes back into the stock. This cannot be undone." {
		t.Errorf("asked %q", got)
	}
	if s.balance(t) != 70 || s.stock(t, mug) != 1 {
		t.Errorf("asking alone gave back: %d points, %d pieces", s.balance(t), s.stock(t, mug))
	}
	done := s.manager.posted(path+"/void", nil)
	if got := done.words("#flashes"); got != "The redemption is voided. The customer has the 30 points back. The piece is in the stock again." {
		t.Errorf("flash = %q", got)
	}
	if got := done.words("main"); !strings.Contains(got, "Voided by Bo Ek") || !strings.Contains(got, "Given back") || done.Find("main form").Length() > 0 {
		t.Errorf("detail = %q", got)
	}
	if s.balance(t) != 100 || s.stock(t, mug) != 2 {
		t.Errorf("%d points and %d pieces, want 100 and 2", s.balance(t), s.stock(t, mug))
	}
	again := s.manager.post(path+"/void", nil)
	if again.Code != http.StatusUnprocessableEntity || again.words(".alert") != "This redemption has been voided." {
		t.Errorf("again: %d %q", again.Code, again.words(".alert"))
	}
	if a := s.cashier.post(path+"/fulfil", nil, "Hx-Request", "true"); a.Code != http.StatusUnprocessableEntity || a.words("[role=alert]") != "This redemption has been voided." {
		t.Errorf("handed over all the same: %d %q", a.Code, a.words("body"))
	}
}

// "Tabs or filter: pending, all, fulfilled, voided, by reward, by customer."
func TestFilteringRedemptions(t *testing.T) {
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
	whose := "customer_ulid=" + s.elsa.ID.String()
	for query, want := range map[string]struct {
		rows int
		tab  string
	}{
		"":                                     {1, "Pending"},
		"status=pending":                       {1, "Pending"},
		"status=all":                           {3, "All"},
		"status=fulfilled":                     {1, "Fulfilled"},
		"status=voided":                        {1, "Voided"},
		"reward_ulid=" + idOf(t, mug).String(): {1, "Pending"},
		"reward_ulid=" + idOf(t, bun).String(): {0, "Pending"},
		"status=all&reward_ulid=" + idOf(t, bun).String(): {2, "All"},
		whose:                                {3, "All"},
		whose + "&status=pending":            {1, "Pending"},
		"customer_ulid=" + other.ID.String(): {0, "All"},
	} {
		list := s.cashier.get("/admin/redemptions?"+query, "Hx-Request", "true")
		if got := list.Find("tbody tr").Length(); got != want.rows || list.words(".nav-segmented .active") != want.tab || list.Find("header").Length() > 0 {
			t.Errorf("%q shows %d at %q, want %+v", query, got, list.words(".nav-segmented .active"), want)
		}
		if want.rows == 0 && list.words(".empty-title") != "No redemption found" {
			t.Errorf("%q: %q", query, list.words(".empty"))
		}
	}
	one := s.cashier.get("/admin/redemptions?" + whose)
	if got := one.words("#redemptions"); !strings.Contains(got, "Only redemptions of Elsa Berg <b> Show all") || one.Find("main a[href='/admin/redemptions/new?"+whose+"']").Length() != 1 {
		t.Errorf("of one customer: %q", got)
	}
	if tab, _ := one.Find("#tab-voided").Attr("href"); tab != "/admin/redemptions?"+whose+"&status=voided" {
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

func TestARedemptionOfAnotherBusinessIsNotThere(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	mug := s.offer(t, "Mug", 30, 2)
	path := s.redeem(t, mug)
	other := newCounter(t)
	theirs := other.offer(t, "Theirs", 1, -1)
	whose := "customer_ulid=" + s.elsa.ID.String()
	for _, p := range []string{
		path, path + "/void", "/admin/redemptions?" + whose, "/admin/redemptions/new?" + whose, "/admin/redemptions/new?" + whose + "&reward_ulid=" + idOf(t, theirs).String(),
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
