package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/web/page"
)

// counter is a shop whose customer Elsa has 100 points, and a person of each role.
type counter struct {
	*till
	cashier, manager *browser
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	return counterOn(t, dbtest.DB(t))
}

func counterOn(t *testing.T, d *db.DB) *counter {
	t.Helper()
	s := &counter{till: tillOn(t, d)}
	s.cashier, s.manager = s.signedIn(t, core.Cashier), s.signedIn(t, core.Manager)
	s.sold(s.manager, "100")
	return s
}

// offer makes a reward for so many points, of which there are so many pieces; below 0: unlimited.
func (s *counter) offer(t *testing.T, name string, points, stock int64) string {
	t.Helper()
	n := reward.New{Name: &name, PointsCost: &points}
	if stock >= 0 {
		n.Stock = &stock
	}
	r, err := s.Rewards.Add(t.Context(), s.by, n)
	if err != nil {
		t.Fatal(err)
	}
	return "/admin/rewards/" + r.ID.String()
}

// stock is how many pieces of a reward there are, or -1.
func (s *counter) stock(t *testing.T, path string) int64 {
	t.Helper()
	r, err := s.Rewards.Find(t.Context(), s.by, idOf(t, path))
	if err != nil {
		t.Fatal(err)
	}
	if r.Stock == nil {
		return -1
	}
	return *r.Stock
}

// idOf is the ULID at the end of a path.
func idOf(t *testing.T, path string) core.ID {
	t.Helper()
	id, err := core.ParseID(path[strings.LastIndexByte(path, '/')+1:])
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// value is what stands in an input.
func (a answer) value(selector string) string {
	v, _ := a.Find(selector).Attr("value")
	return v
}

// "Rewards (stock, activate)": made, listed, changed and switched off, by a newcomer.
func TestRewards(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	empty := s.manager.get("/admin/rewards")
	if first, _ := empty.Find(".empty a").Attr("href"); empty.words(".empty-title") != "No rewards yet" || first != "/admin/rewards/new" {
		t.Errorf("without rewards: %q leads to %q", empty.words(".empty"), first)
	}

	draft := form("name", "", "description", "Any <b>size</b>.", "cost_unit", "points", "points_cost", "lots", "stamps_cost", "9", "stock", "3")
	refused := s.manager.post("/admin/rewards/new", draft)
	if got := refused.words(".invalid-feedback"); refused.Code != http.StatusUnprocessableEntity || got != says("Name", core.Required)+" "+says("Points", core.MustBeInteger) {
		t.Errorf("refused: %d %q", refused.Code, got)
	}
	if refused.words("textarea") != "Any <b>size</b>." || refused.value("#field-points_cost") != "lots" || refused.value("#field-stock") != "3" {
		t.Errorf("what was typed is %q, %q, %q", refused.words("textarea"), refused.value("#field-points_cost"), refused.value("#field-stock"))
	}
	draft.Set("name", "Espresso <b>")
	draft.Set("cost_unit", "stamps")
	draft.Set("stamps_cost", "")
	if got := s.manager.post("/admin/rewards/new", draft).words(".invalid-feedback"); got != says("Stamps", core.Min(1)) {
		t.Errorf("without stamps: %q", got)
	}
	draft.Set("cost_unit", "points")
	draft.Set("points_cost", "1,200")
	made := s.manager.posted("/admin/rewards/new", draft)
	if got := made.words("#flashes"); !strings.Contains(got, "Espresso <b>") || !strings.Contains(got, "1,200 points") {
		t.Errorf("flash = %q", got)
	}
	if got := made.words("main"); !strings.Contains(got, "1,200 points Active Any <b>size</b>.") || !strings.Contains(got, "Stock 3 Low") || made.words(".empty-title") != "Not redeemed yet" {
		t.Errorf("detail = %q", got)
	}
	list := s.manager.get("/admin/rewards")
	if got := list.words("tbody tr"); !strings.Contains(got, "Espresso <b>") || !strings.Contains(got, "1,200 points Low 3 0 0 Deactivate") || list.Find("tbody b").Length() > 0 {
		t.Errorf("list = %q", got)
	}

	path, _ := list.Find("tbody a").Attr("href")
	shown := s.manager.get(path + "/edit")
	if shown.value("#field-name") != "Espresso <b>" || shown.value("#field-points_cost") != "1200" || shown.Find("#field-stock").Length() > 0 {
		t.Errorf("the form shows %q, %q", shown.value("#field-name"), shown.value("#field-points_cost"))
	}
	draft.Set("cost_unit", "stamps")
	draft.Set("stamps_cost", "9")
	draft.Set("description", " ")
	if got := s.manager.posted(path+"/edit", draft).words("main"); !strings.Contains(got, "It costs 9 stamps.") || strings.Contains(got, "size") {
		t.Errorf("edited: %q", got)
	}
	draft.Set("name", " ")
	if again := s.manager.post(path+"/edit", draft); again.Code != http.StatusUnprocessableEntity || again.words(".breadcrumb") != "Rewards Espresso <b>" {
		t.Errorf("a refused edit: %d %q", again.Code, again.words(".breadcrumb"))
	}

	off := s.manager.posted(path+"/active", form("active", "0"))
	if !strings.Contains(off.words("#flashes"), "Espresso <b>") || !strings.Contains(off.words("main"), "Inactive") {
		t.Errorf("switched off: %q", off.words("main"))
	}
	for status, want := range map[string]int{"": 1, "active": 0, "inactive": 1} {
		part := s.manager.get("/admin/rewards?status="+status, "Hx-Request", "true")
		if part.Find("tbody tr").Length() != want || part.Find("header").Length() > 0 {
			t.Errorf("%q shows %d rewards", status, part.Find("tbody tr").Length())
		}
	}
	if got := s.manager.get("/admin/rewards?status=active").words(".empty-title"); got != "No such reward" {
		t.Errorf("no active one: %q", got)
	}
	if wrong := s.manager.ask(http.MethodGet, "/admin/rewards?status=gone", nil); wrong.Code != http.StatusUnprocessableEntity {
		t.Errorf("a wrong filter: %d", wrong.Code)
	}
	if got := s.manager.posted(path+"/active", form("active", "1")).words("#flashes"); !strings.Contains(got, "Espresso <b>") {
		t.Errorf("switched on: %q", got)
	}
}

// "One submit for two clicks"; and the browser's way back does not make another reward
// unseen: it says that the form was sent, and is then another form.
func TestAFormMakesOneReward(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	draft := form("form_key", s.manager.get("/admin/rewards/new").value("input[name=form_key]"), "name", "Cake", "cost_unit", "points", "points_cost", "80")
	first, second := s.manager.post("/admin/rewards/new", draft), s.manager.post("/admin/rewards/new", draft)
	if to := first.Header().Get("Location"); to == "" || to != second.Header().Get("Location") {
		t.Errorf("two clicks lead to %q and %q", to, second.Header().Get("Location"))
	}
	draft.Set("name", "Lunch")
	back := s.manager.post("/admin/rewards/new", draft)
	if got := back.words("[role=alert]"); back.Code != http.StatusUnprocessableEntity || !strings.HasPrefix(got, page.ResubmittedMessage) {
		t.Errorf("another name: %d %q", back.Code, got)
	}
	if got := s.manager.get("/admin/rewards").Find("tbody tr").Length(); got != 1 {
		t.Errorf("%d rewards, want 1", got)
	}
	draft.Set("form_key", back.value("input[name=form_key]"))
	s.manager.posted("/admin/rewards/new", draft)
	if got := s.manager.get("/admin/rewards").Find("tbody tr").Length(); got != 2 {
		t.Errorf("%d rewards, want 2", got)
	}
}

// "Add/remove N" and "counted N", in place and without scripts; a count that was overtaken
// changes nothing and shows the stock of now.
func TestCorrectingAStock(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.offer(t, "Mug", 10, 6)
	correct := func(pairs ...string) answer {
		return s.manager.post(path+"/stock", form(pairs...), "Hx-Request", "true")
	}
	for _, c := range []struct {
		form  []string
		says  string
		stock int64
	}{
		{[]string{"change", "12"}, "12 added: 18 pieces now.", 18},
		{[]string{"change", "14", "take", "1"}, "14 taken away: 4 pieces now.", 4},
		{[]string{"change", "-3", "take", "1"}, "3 taken away: 1 piece now.", 1},
		{[]string{"stock", "25", "seen", "1"}, "Counted: 25 pieces now.", 25},
		{[]string{"stock", "7", "seen", "25", "unlimited", "1"}, "The pieces are not counted any more.", -1},
		{[]string{"stock", "2", "seen", ""}, "Counted: 2 pieces now.", 2},
	} {
		a := correct(c.form...)
		if a.Code != http.StatusOK || a.words("#stock [role=status]") != c.says || a.Find("header").Length() > 0 {
			t.Errorf("%v: %d %q, want %q", c.form, a.Code, a.words("#stock"), c.says)
		}
		if got := s.stock(t, path); got != c.stock {
			t.Errorf("%v left %d pieces, want %d", c.form, got, c.stock)
		}
	}
	for _, c := range []struct {
		form []string
		says string
	}{
		{[]string{"change", "3", "take", "1"}, says("X", core.Violation{Rule: "max_removed", Limit: 2})},
		{[]string{"change", "few"}, says("Pieces", core.MustBeInteger)},
		{[]string{"change", ""}, says("Pieces", core.Required)},
		{[]string{"change", "0"}, says("Pieces", core.NotZero)},
		{[]string{"stock", "", "seen", "2"}, says("Count", core.Required)},
		{[]string{"stock", "-1", "seen", "2"}, says("Count", core.Min(0))},
	} {
		if a := correct(c.form...); a.Code != http.StatusUnprocessableEntity || a.words(".invalid-feedback") != c.says {
			t.Errorf("%v: %d %q, want %q", c.form, a.Code, a.words(".invalid-feedback"), c.says)
		}
	}
	stale := correct("stock", "9", "seen", "8")
	if got := stale.words("#stock .alert"); stale.Code != http.StatusUnprocessableEntity || !strings.HasPrefix(got, "The stock has changed since you looked.") {
		t.Errorf("overtaken: %d %q", stale.Code, got)
	}
	if stale.words("#stock .h1") != "2" || stale.value("input[name=seen]") != "2" || stale.value("#field-stock") != "9" {
		t.Errorf("it shows %q, %q seen, %q typed", stale.words("#stock .h1"), stale.value("input[name=seen]"), stale.value("#field-stock"))
	}
	whole := s.manager.post(path+"/stock", form("change", "3", "take", "1"))
	if whole.Code != http.StatusUnprocessableEntity || whole.words("h1") != "Mug" || whole.words(".invalid-feedback") != says("X", core.Violation{Rule: "max_removed", Limit: 2}) {
		t.Errorf("without scripts: %d %q", whole.Code, whole.words("main"))
	}
	if got := s.manager.posted(path+"/stock", form("change", "1")).words("#flashes"); got != "1 added: 3 pieces now." {
		t.Errorf("without scripts: %q", got)
	}
	if s.manager.get(path+"/stock").words("h1") != "Mug" {
		t.Error("the address of a refused correction shows nothing by itself")
	}
	s.manager.post(path+"/stock", form("change", "3", "take", "1"))
	if got := s.manager.get("/admin/rewards").words("tbody tr"); !strings.Contains(got, "Empty 0") {
		t.Errorf("an empty stock: %q", got)
	}
}

// "One submit for two clicks", also without scripts: pieces that came in once are added
// once, and a count that was taken is not refused as overtaken by itself.
func TestACorrectionOfAStockIsOne(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.offer(t, "Mug", 10, 6)
	for _, c := range []struct {
		pairs []string
		stock int64
	}{{[]string{"change", "12"}, 18}, {[]string{"change", "3", "take", "1"}, 15}, {[]string{"stock", "9", "seen", "15"}, 9}} {
		sent := form(append(c.pairs, "form_key", s.manager.get(path).value("#stock input[name=form_key]"))...)
		for range 2 {
			if a := s.manager.post(path+"/stock", sent); a.Code != http.StatusSeeOther || a.Header().Get("Location") != path {
				t.Errorf("%v: %d %q", c.pairs, a.Code, a.words("#stock"))
			}
		}
		if again := s.manager.post(path+"/stock", sent, "Hx-Request", "true"); again.Header().Get("Hx-Redirect") != path {
			t.Errorf("%v with scripts: %d %q", c.pairs, again.Code, again.words("#stock"))
		}
		if got := s.stock(t, path); got != c.stock {
			t.Errorf("%v sent three times left %d pieces, want %d", c.pairs, got, c.stock)
		}
	}
}

// Decisions §9: a cashier looks; what they may not do is not offered, and refused.
func TestACashierLooksAtRewards(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.offer(t, "Mug", 10, 6)
	for _, p := range []string{"/admin/rewards", path} {
		a := s.cashier.get(p)
		if got := a.words("main"); !strings.Contains(got, "Mug") || a.Find("main form[method=post], main a[href$=edit], main a[href$=new]").Length() > 0 {
			t.Errorf("%s offers a cashier %q", p, got)
		}
	}
	for _, p := range []string{"/edit", "/stock", "/active"} {
		if a := s.cashier.post(path+p, form("change", "5", "active", "0", "name", "Mine")); a.Code != http.StatusForbidden {
			t.Errorf("POST %s = %d, want 403", p, a.Code)
		}
	}
	if got := s.stock(t, path); got != 6 {
		t.Errorf("a stock of %d, want 6", got)
	}
}

func TestARewardOfAnotherBusinessIsNotThere(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.offer(t, "Mug", 10, 6)
	stranger := newShop(t).signedIn(t, core.Owner)
	for _, p := range []string{"", "/edit", "/stock"} {
		if a := stranger.ask(http.MethodGet, path+p, nil); a.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", p, a.Code)
		}
	}
	for _, p := range []string{"/edit", "/stock", "/active"} {
		if a := stranger.post(path+p, form("change", "5", "active", "0", "name", "Mine", "points_cost", "1")); a.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d, want 404", p, a.Code)
		}
	}
	if got := s.stock(t, path); got != 6 {
		t.Errorf("a stock of %d, want 6", got)
	}
}
