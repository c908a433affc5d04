package admin_test

import (
	"image/color"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/web/webtest"
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
	s.cashier, s.manager = s.signedIn(core.Cashier), s.signedIn(core.Manager)
	s.sold(s.manager, "100")
	return s
}

// offer creates a reward for an amount of points with a stock; below 0: unlimited.
func (s *counter) offer(name string, points, stock int64) string {
	s.T.Helper()
	n := reward.New{Name: name, PointsCost: &points}
	if stock >= 0 {
		n.Stock = &stock
	}
	return "/admin/rewards/" + s.AddReward(n).String()
}

// stock is the stock of a reward, or -1 if unlimited.
func (s *counter) stock(path string) int64 {
	s.T.Helper()
	r, err := s.Rewards.Find(s.T.Context(), s.By, idOf(s.T, path))
	if err != nil {
		s.T.Fatal(err)
	}
	if r.Stock == nil {
		return -1
	}
	return *r.Stock
}

// idOf is the ULID at the end of a path.
func idOf(t testing.TB, path string) core.ID {
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

// "Rewards (stock, activate)": created, listed, edited and deactivated.
func TestRewards(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	empty := s.manager.Get("/admin/rewards")
	if first := empty.Attr(".empty a", "href"); first != "/admin/rewards/new" {
		t.Errorf("without rewards the list leads to %q", first)
	}

	draft := webtest.Form("name", "", "description", "Any <b>size</b>.", "cost_unit", "points", "points_cost", "lots", "stamps_cost", "9", "stock", "3")
	refused := s.manager.Post("/admin/rewards/new", draft)
	if got := refused.Text(".invalid-feedback"); refused.Code != http.StatusUnprocessableEntity || got != webtest.Message("Name", core.Required)+" "+webtest.Message("Points", core.MustBeInteger) {
		t.Errorf("refused: %d %q", refused.Code, got)
	}
	if refused.Text("textarea") != "Any <b>size</b>." || refused.Value("#field-points_cost") != "lots" || refused.Value("#field-stock") != "3" {
		t.Errorf("what was typed is %q, %q, %q", refused.Text("textarea"), refused.Value("#field-points_cost"), refused.Value("#field-stock"))
	}
	webtest.With(draft, "name", "Espresso <b>", "cost_unit", "stamps", "stamps_cost", "")
	if got := s.manager.Post("/admin/rewards/new", draft).Text(".invalid-feedback"); got != webtest.Message("Stamps", core.Min(1)) {
		t.Errorf("without stamps: %q", got)
	}
	webtest.With(draft, "cost_unit", "points", "points_cost", "1,200")
	made := s.manager.Submit("/admin/rewards/new", draft)
	if got := made.Text("#flashes"); !strings.Contains(got, "Espresso <b>") || !strings.Contains(got, "1,200 points") {
		t.Errorf("flash = %q", got)
	}
	if made.Text("main p.words") != "Any <b>size</b>." || figures(made.Text("main .h1")) != "1,200 3" || made.Find("#stock .badge").Length() != 1 || made.Find(".empty").Length() != 1 {
		t.Errorf("detail = %q", made.Text("main"))
	}
	list := s.manager.Get("/admin/rewards")
	if got := list.Text("tbody tr"); !strings.Contains(got, "Espresso <b>") || figures(strings.Join(list.Texts("tbody td")[1:], " ")) != "1,200 3 0 0" || list.Find("tbody b").Length() > 0 {
		t.Errorf("list = %q", got)
	}

	path := list.Attr("tbody a", "href")
	shown := s.manager.Get(path + "/edit")
	if shown.Value("#field-name") != "Espresso <b>" || shown.Value("#field-points_cost") != "1200" || shown.Find("#field-stock").Length() > 0 {
		t.Errorf("the form shows %q, %q", shown.Value("#field-name"), shown.Value("#field-points_cost"))
	}
	webtest.With(draft, "cost_unit", "stamps", "stamps_cost", "9", "description", " ")
	if got := s.manager.Submit(path+"/edit", draft).Text("main"); !strings.Contains(got, "9 stamps") || strings.Contains(got, "size") {
		t.Errorf("edited: %q", got)
	}
	draft.Set("name", " ")
	if again := s.manager.Post(path+"/edit", draft); again.Code != http.StatusUnprocessableEntity || !strings.HasSuffix(again.Text(".breadcrumb"), "Espresso <b>") {
		t.Errorf("a refused edit: %d %q", again.Code, again.Text(".breadcrumb"))
	}

	off := s.manager.Submit(path+"/active", webtest.Form("active", "0"))
	if !strings.Contains(off.Text("#flashes"), "Espresso <b>") || off.Value("main input[name=active]") != "1" {
		t.Errorf("switched off: %q", off.Text("main"))
	}
	for status, want := range map[string]int{"": 1, "active": 0, "inactive": 1} {
		part := s.manager.Get("/admin/rewards?status="+status, "Hx-Request", "true")
		if part.Find("tbody tr").Length() != want || part.Find("header").Length() > 0 {
			t.Errorf("%q shows %d rewards", status, part.Find("tbody tr").Length())
		}
	}
	if got := s.manager.Get("/admin/rewards?status=active").Links(".empty a"); len(got) != 1 || got[0] != "/admin/rewards" {
		t.Errorf("without active rewards the list leads to %q", got)
	}
	if wrong := s.manager.Ask(http.MethodGet, "/admin/rewards?status=gone"); wrong.Code != http.StatusUnprocessableEntity {
		t.Errorf("a wrong filter: %d", wrong.Code)
	}
	if got := s.manager.Submit(path+"/active", webtest.Form("active", "1")).Text("#flashes"); !strings.Contains(got, "Espresso <b>") {
		t.Errorf("switched on: %q", got)
	}
}

// "One submit for two clicks"; a form that is sent again with other values is refused once and
// then counts as a new form.
func TestFormCreatesOneReward(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	draft := webtest.Form("form_key", s.manager.Get("/admin/rewards/new").Value("input[name=form_key]"), "name", "Cake", "cost_unit", "points", "points_cost", "80")
	first, second := s.manager.Post("/admin/rewards/new", draft), s.manager.Post("/admin/rewards/new", draft)
	if to := first.Header().Get("Location"); to == "" || to != second.Header().Get("Location") {
		t.Errorf("two clicks lead to %q and %q", to, second.Header().Get("Location"))
	}
	draft.Set("name", "Lunch")
	back := s.manager.Post("/admin/rewards/new", draft)
	if back.Code != http.StatusUnprocessableEntity || back.Text(".alert-danger") == "" {
		t.Errorf("another name: %d %q", back.Code, back.Text("[role=alert]"))
	}
	if got := s.manager.Get("/admin/rewards").Find("tbody tr").Length(); got != 1 {
		t.Errorf("%d rewards, want 1", got)
	}
	draft.Set("form_key", back.Value("input[name=form_key]"))
	s.manager.Submit("/admin/rewards/new", draft)
	if got := s.manager.Get("/admin/rewards").Find("tbody tr").Length(); got != 2 {
		t.Errorf("%d rewards, want 2", got)
	}
}

// "Add/remove N" and "counted N", in place and without scripts. A count of an outdated stock changes
// nothing and shows the current stock.
func TestStockCorrections(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.offer("Mug", 10, 6)
	correct := func(pairs ...string) webtest.Page {
		return s.manager.Post(path+"/stock", webtest.Form(pairs...), "Hx-Request", "true")
	}
	for _, c := range []struct {
		form    []string
		figures string
		stock   int64
	}{
		{[]string{"how", "add", "units", "12"}, "12 18", 18},
		{[]string{"how", "remove", "units", "14"}, "14 4", 4},
		{[]string{"how", "remove", "units", "-3"}, "3 1", 1},
		{[]string{"how", "set", "units", "25", "seen", "1"}, "25", 25},
		{[]string{"how", "unlimited", "units", "7", "seen", "25"}, "", -1},
		{[]string{"how", "set", "units", "2", "seen", ""}, "2", 2},
	} {
		a := correct(c.form...)
		said := a.Text("#stock [role=status]")
		if a.Code != http.StatusOK || said == "" || figures(said) != c.figures || a.Find("header").Length() > 0 {
			t.Errorf("%v: %d %q, want the figures %q", c.form, a.Code, a.Text("#stock"), c.figures)
		}
		if got := s.stock(path); got != c.stock {
			t.Errorf("%v left %d units, want %d", c.form, got, c.stock)
		}
	}
	for _, c := range []struct {
		form []string
		says string
	}{
		{[]string{"how", "remove", "units", "3"}, webtest.Message("X", core.Violation{Rule: "max_removed", Limit: 2})},
		{[]string{"how", "add", "units", "few"}, webtest.Message("Units", core.MustBeInteger)},
		{[]string{"how", "add", "units", ""}, webtest.Message("Units", core.Required)},
		{[]string{"how", "add", "units", "0"}, webtest.Message("Units", core.NotZero)},
		{[]string{"how", "set", "units", "", "seen", "2"}, webtest.Message("Units", core.Required)},
		{[]string{"how", "set", "units", "-1", "seen", "2"}, webtest.Message("Units", core.Min(0))},
	} {
		if a := correct(c.form...); a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != c.says {
			t.Errorf("%v: %d %q, want %q", c.form, a.Code, a.Text(".invalid-feedback"), c.says)
		}
	}
	stale := correct("how", "set", "units", "9", "seen", "8")
	if got := stale.Text("#stock .alert"); stale.Code != http.StatusUnprocessableEntity || got != reward.ErrStockChanged.Message {
		t.Errorf("an outdated count: %d %q", stale.Code, got)
	}
	if stale.Text("#stock .h1") != "2" || stale.Value("input[name=seen]") != "2" || stale.Value("#field-units") != "9" {
		t.Errorf("it shows %q, %q seen, %q typed", stale.Text("#stock .h1"), stale.Value("input[name=seen]"), stale.Value("#field-units"))
	}
	whole := s.manager.Post(path+"/stock", webtest.Form("how", "remove", "units", "3"))
	if whole.Code != http.StatusUnprocessableEntity || whole.Text("h1") != "Mug" || whole.Text(".invalid-feedback") != webtest.Message("X", core.Violation{Rule: "max_removed", Limit: 2}) {
		t.Errorf("without scripts: %d %q", whole.Code, whole.Text("main"))
	}
	if got := s.manager.Submit(path+"/stock", webtest.Form("how", "add", "units", "1")).Text("#flashes"); figures(got) != "1 3" {
		t.Errorf("without scripts: %q", got)
	}
	if s.manager.Get(path+"/stock").Text("h1") != "Mug" {
		t.Error("the address of a refused correction shows nothing by itself")
	}
	s.manager.Post(path+"/stock", webtest.Form("how", "remove", "units", "3"))
	if got := s.manager.Get("/admin/rewards"); got.Find("tbody .badge").Length() != 1 || figures(got.Text("tbody td:nth-child(3)")) != "0" {
		t.Errorf("an empty stock: %q", got.Text("tbody tr"))
	}
}

// "One submit for two clicks", also without scripts: units are added once, and a count isn't refused
// as outdated when it is sent again.
func TestStockCorrectionHappensOnce(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.offer("Mug", 10, 6)
	for _, c := range []struct {
		pairs []string
		stock int64
	}{{[]string{"how", "add", "units", "12"}, 18}, {[]string{"how", "remove", "units", "3"}, 15}, {[]string{"how", "set", "units", "9", "seen", "15"}, 9}} {
		sent := webtest.Form(append(c.pairs, "form_key", s.manager.Get(path).Value("#stock input[name=form_key]"))...)
		for range 2 {
			if a := s.manager.Post(path+"/stock", sent); a.Code != http.StatusSeeOther || a.Header().Get("Location") != path {
				t.Errorf("%v: %d %q", c.pairs, a.Code, a.Text("#stock"))
			}
		}
		if again := s.manager.Post(path+"/stock", sent, "Hx-Request", "true"); again.Header().Get("Hx-Redirect") != path {
			t.Errorf("%v with scripts: %d %q", c.pairs, again.Code, again.Text("#stock"))
		}
		if got := s.stock(path); got != c.stock {
			t.Errorf("%v sent three times left %d units, want %d", c.pairs, got, c.stock)
		}
	}
}

// Decisions §9: cashiers can see rewards. Changes are neither offered nor allowed.
func TestCashierCannotChangeRewards(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.offer("Mug", 10, 6)
	for _, p := range []string{"/admin/rewards", path} {
		a := s.cashier.Get(p)
		if got := a.Text("main"); !strings.Contains(got, "Mug") || a.Find("main form[method=post], main a[href$=edit], main a[href$=new]").Length() > 0 {
			t.Errorf("%s offers a cashier %q", p, got)
		}
	}
	for _, p := range []string{"/edit", "/stock", "/active"} {
		if a := s.cashier.Post(path+p, webtest.Form("how", "add", "units", "5", "active", "0", "name", "Mine")); a.Code != http.StatusForbidden {
			t.Errorf("POST %s = %d, want 403", p, a.Code)
		}
	}
	if got := s.stock(path); got != 6 {
		t.Errorf("a stock of %d, want 6", got)
	}
}

func TestRewardOfAnotherBusinessIsNotFound(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.offer("Mug", 10, 6)
	stranger := newShop(t).signedIn(core.Owner)
	for _, p := range []string{"", "/edit", "/stock"} {
		if a := stranger.Ask(http.MethodGet, path+p); a.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", p, a.Code)
		}
	}
	for _, p := range []string{"/edit", "/stock", "/active"} {
		if a := stranger.Post(path+p, webtest.Form("how", "add", "units", "5", "active", "0", "name", "Mine", "points_cost", "1")); a.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d, want 404", p, a.Code)
		}
	}
	if got := s.stock(path); got != 6 {
		t.Errorf("a stock of %d, want 6", got)
	}
}

// "Rewards have a picture and a cost in money". A picture can be replaced and removed, and another business
// doesn't see it.
func TestRewardPictureAndCost(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	draft := webtest.Form("name", "Mug", "cost_unit", "points", "points_cost", "120", "cost_cents", "6.50", "value_cents", "18.90", "form_key", "mug")
	made := s.manager.upload("/admin/rewards/new", draft, upload{"picture", "mug.png", "image/png", square(t, color.White)})
	path := made.Header().Get("Location")
	shown := s.manager.Get(path)
	address := shown.Attr("main .reward-photo", "src")
	if !strings.Contains(shown.Text("main"), "€ 6.50") || !strings.Contains(shown.Text("main"), "€ 18.90") || !strings.HasPrefix(address, path+"/picture/") {
		t.Fatalf("the reward: %q, its picture %q", shown.Text("main"), address)
	}
	if a := s.cashier.Ask(http.MethodGet, address); a.Code != http.StatusOK || a.Header().Get("Content-Type") != "image/png" || !strings.Contains(a.Header().Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%s = %d %v", address, a.Code, a.Header())
	}
	if a := newShop(t).signedIn(core.Owner).Ask(http.MethodGet, address); a.Code != http.StatusNotFound {
		t.Errorf("another business: %d", a.Code)
	}
	if got := s.cashier.Get("/admin/rewards").Attr("tbody img", "src"); got != address {
		t.Errorf("the list shows %q", got)
	}

	form := s.manager.Get(path + "/edit")
	if form.Value("#field-cost_cents") != "6.50" || form.Value("#field-value_cents") != "18.90" || form.Attr("form img", "src") != address {
		t.Errorf("the form: %q, %q", form.Value("#field-cost_cents"), form.Attr("form img", "src"))
	}
	refused := s.manager.upload(path+"/edit", draft, upload{"picture", "mug.gif", "image/gif", "GIF89a"})
	if got := refused.Text(".invalid-feedback"); refused.Code != http.StatusUnprocessableEntity || got != webtest.Message("New picture", core.Violation{Rule: "picture_type"}) {
		t.Errorf("a GIF: %d %q", refused.Code, got)
	}
	s.manager.upload(path+"/edit", draft, upload{"picture", "mug.png", "image/png", square(t, color.Black)})
	if now := s.manager.Get(path).Attr("main .reward-photo", "src"); now == address || now == "" {
		t.Errorf("the new picture is at %q", now)
	}
	if a := s.cashier.Ask(http.MethodGet, address); a.Code != http.StatusNotFound {
		t.Errorf("the old picture: %d", a.Code)
	}
	s.manager.Submit(path+"/edit", webtest.With(draft, "remove_picture", "1", "cost_cents", "", "value_cents", ""))
	if got := s.manager.Get(path); got.Find("main .reward-photo").Length() != 0 || strings.Contains(got.Text("main"), "Cost to you") || strings.Contains(got.Text("main"), "Worth") {
		t.Errorf("removed: %q", got.Text("main"))
	}
}
