package admin_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/reward"
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

// offer creates a reward for an amount of points with a stock; below 0: unlimited.
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

// stock is the stock of a reward, or -1 if unlimited.
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

var numeral = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// figures are the numbers in a text, in order.
func figures(text string) string { return strings.Join(numeral.FindAllString(text, -1), " ") }

// value is the value of an input.
func (a answer) value(selector string) string {
	v, _ := a.Find(selector).Attr("value")
	return v
}

// "Rewards (stock, activate)": created, listed, edited and deactivated.
func TestRewards(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	empty := s.manager.get("/admin/rewards")
	if first, _ := empty.Find(".empty a").Attr("href"); first != "/admin/rewards/new" {
		t.Errorf("without rewards the list leads to %q", first)
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
	if made.words("main p.words") != "Any <b>size</b>." || figures(made.words("main .h1")) != "1,200 3" || made.Find("#stock .badge").Length() != 1 || made.Find(".empty").Length() != 1 {
		t.Errorf("detail = %q", made.words("main"))
	}
	list := s.manager.get("/admin/rewards")
	if got := list.words("tbody tr"); !strings.Contains(got, "Espresso <b>") || figures(strings.Join(list.each("tbody td")[1:], " ")) != "1,200 3 0 0" || list.Find("tbody b").Length() > 0 {
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
	if got := s.manager.posted(path+"/edit", draft).words("main"); !strings.Contains(got, "9 stamps") || strings.Contains(got, "size") {
		t.Errorf("edited: %q", got)
	}
	draft.Set("name", " ")
	if again := s.manager.post(path+"/edit", draft); again.Code != http.StatusUnprocessableEntity || !strings.HasSuffix(again.words(".breadcrumb"), "Espresso <b>") {
		t.Errorf("a refused edit: %d %q", again.Code, again.words(".breadcrumb"))
	}

	off := s.manager.posted(path+"/active", form("active", "0"))
	if !strings.Contains(off.words("#flashes"), "Espresso <b>") || off.value("main input[name=active]") != "1" {
		t.Errorf("switched off: %q", off.words("main"))
	}
	for status, want := range map[string]int{"": 1, "active": 0, "inactive": 1} {
		part := s.manager.get("/admin/rewards?status="+status, "Hx-Request", "true")
		if part.Find("tbody tr").Length() != want || part.Find("header").Length() > 0 {
			t.Errorf("%q shows %d rewards", status, part.Find("tbody tr").Length())
		}
	}
	if got := s.manager.get("/admin/rewards?status=active").links(".empty a"); len(got) != 1 || got[0] != "/admin/rewards" {
		t.Errorf("without active rewards the list leads to %q", got)
	}
	if wrong := s.manager.ask(http.MethodGet, "/admin/rewards?status=gone", nil); wrong.Code != http.StatusUnprocessableEntity {
		t.Errorf("a wrong filter: %d", wrong.Code)
	}
	if got := s.manager.posted(path+"/active", form("active", "1")).words("#flashes"); !strings.Contains(got, "Espresso <b>") {
		t.Errorf("switched on: %q", got)
	}
}

// "One submit for two clicks"; a form that is sent again with other values is refused once and
// then counts as a new form.
func TestFormCreatesOneReward(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	draft := form("form_key", s.manager.get("/admin/rewards/new").value("input[name=form_key]"), "name", "Cake", "cost_unit", "points", "points_cost", "80")
	first, second := s.manager.post("/admin/rewards/new", draft), s.manager.post("/admin/rewards/new", draft)
	if to := first.Header().Get("Location"); to == "" || to != second.Header().Get("Location") {
		t.Errorf("two clicks lead to %q and %q", to, second.Header().Get("Location"))
	}
	draft.Set("name", "Lunch")
	back := s.manager.post("/admin/rewards/new", draft)
	if back.Code != http.StatusUnprocessableEntity || back.words(".alert-danger") == "" {
		t.Errorf("another name: %d %q", back.Code, back.words("[role=alert]"))
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

// "Add/remove N" and "counted N", in place and without scripts. A count of an outdated stock changes
// nothing and shows the current stock.
func TestStockCorrections(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.offer(t, "Mug", 10, 6)
	correct := func(pairs ...string) answer {
		return s.manager.post(path+"/stock", form(pairs...), "Hx-Request", "true")
	}
	for _, c := range []struct {
		form    []string
		figures string
		stock   int64
	}{
		{[]string{"change", "12"}, "12 18", 18},
		{[]string{"change", "14", "take", "1"}, "14 4", 4},
		{[]string{"change", "-3", "take", "1"}, "3 1", 1},
		{[]string{"stock", "25", "seen", "1"}, "25", 25},
		{[]string{"stock", "7", "seen", "25", "unlimited", "1"}, "", -1},
		{[]string{"stock", "2", "seen", ""}, "2", 2},
	} {
		a := correct(c.form...)
		said := a.words("#stock [role=status]")
		if a.Code != http.StatusOK || said == "" || figures(said) != c.figures || a.Find("header").Length() > 0 {
			t.Errorf("%v: %d %q, want the figures %q", c.form, a.Code, a.words("#stock"), c.figures)
		}
		if got := s.stock(t, path); got != c.stock {
			t.Errorf("%v left %d units, want %d", c.form, got, c.stock)
		}
	}
	for _, c := range []struct {
		form []string
		says string
	}{
		{[]string{"change", "3", "take", "1"}, says("X", core.Violation{Rule: "max_removed", Limit: 2})},
		{[]string{"change", "few"}, says("Units", core.MustBeInteger)},
		{[]string{"change", ""}, says("Units", core.Required)},
		{[]string{"change", "0"}, says("Units", core.NotZero)},
		{[]string{"stock", "", "seen", "2"}, says("Number in stock", core.Required)},
		{[]string{"stock", "-1", "seen", "2"}, says("Number in stock", core.Min(0))},
	} {
		if a := correct(c.form...); a.Code != http.StatusUnprocessableEntity || a.words(".invalid-feedback") != c.says {
			t.Errorf("%v: %d %q, want %q", c.form, a.Code, a.words(".invalid-feedback"), c.says)
		}
	}
	stale := correct("stock", "9", "seen", "8")
	if got := stale.words("#stock .alert"); stale.Code != http.StatusUnprocessableEntity || got != reward.ErrStockChanged.Message {
		t.Errorf("an outdated count: %d %q", stale.Code, got)
	}
	if stale.words("#stock .h1") != "2" || stale.value("input[name=seen]") != "2" || stale.value("#field-stock") != "9" {
		t.Errorf("it shows %q, %q seen, %q typed", stale.words("#stock .h1"), stale.value("input[name=seen]"), stale.value("#field-stock"))
	}
	whole := s.manager.post(path+"/stock", form("change", "3", "take", "1"))
	if whole.Code != http.StatusUnprocessableEntity || whole.words("h1") != "Mug" || whole.words(".invalid-feedback") != says("X", core.Violation{Rule: "max_removed", Limit: 2}) {
		t.Errorf("without scripts: %d %q", whole.Code, whole.words("main"))
	}
	if got := s.manager.posted(path+"/stock", form("change", "1")).words("#flashes"); figures(got) != "1 3" {
		t.Errorf("without scripts: %q", got)
	}
	if s.manager.get(path+"/stock").words("h1") != "Mug" {
		t.Error("the address of a refused correction shows nothing by itself")
	}
	s.manager.post(path+"/stock", form("change", "3", "take", "1"))
	if got := s.manager.get("/admin/rewards"); got.Find("tbody .badge").Length() != 1 || figures(got.words("tbody td:nth-child(3)")) != "0" {
		t.Errorf("an empty stock: %q", got.words("tbody tr"))
	}
}

// "One submit for two clicks", also without scripts: units are added once, and a count isn't refused
// as outdated when it is sent again.
func TestStockCorrectionHappensOnce(t *testing.T) {
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
			t.Errorf("%v sent three times left %d units, want %d", c.pairs, got, c.stock)
		}
	}
}

// Decisions §9: cashiers can see rewards. Changes are neither offered nor allowed.
func TestCashierCannotChangeRewards(t *testing.T) {
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

func TestRewardOfAnotherBusinessIsNotFound(t *testing.T) {
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
