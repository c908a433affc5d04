package admin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/level"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/webtest"
)

const levelsPage = "/admin/settings/programme/levels"

// submitPreview sends a form of levels, and then the preview of it.
func submitPreview(t *testing.T, owner *browser, form url.Values) webtest.Page {
	t.Helper()
	preview := owner.Post(levelsPage+"/preview", form)
	if preview.Code != http.StatusOK {
		t.Fatalf("preview of %v = %d: %s", form, preview.Code, preview.Text("main form"))
	}
	return owner.Get(owner.Submitted(levelsPage, sent(preview, "main form")))
}

// An owner sets up levels, adds two, launches them, and sees who rose. Each change is previewed with its numbers.
func TestSettingUpLevels(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	kind, anna, bea := s.Points(100), s.Customer().ID, s.Customer().ID
	s.Sale(anna, kind, 600_00)
	s.Sale(bea, kind, 120_00)
	owner := s.signedIn(core.Owner)
	if got := owner.Get(levelsPage).Text("main .empty"); !strings.Contains(got, "No levels yet") {
		t.Errorf("at first: %q", got)
	}
	year := strconv.Itoa(s.DB.Now().Year())
	submitPreview(t, owner, webtest.Form("change", "rules", "version", "0", "basis", "points", "period", "year", "year_month", "1", "year_day", "1", "drops", "1", "starts_on", year+"-01-01"))
	submitPreview(t, owner, webtest.Form("change", "level", "version", "1", "name", "Silver", "threshold", "100", "percent", "110", "colour", "#c0c0c0"))
	page := submitPreview(t, owner, webtest.Form("change", "level", "version", "2", "name", "Gold", "threshold", "500", "percent", "150", "colour", "#c0a020", "perks", "A free coffee\nNo queue"))
	if got := page.Text("main"); !strings.Contains(got, "From 500 points") || !strings.Contains(got, "Sales earn 50% more") || !strings.Contains(got, "No queue") {
		t.Errorf("levels: %q", got)
	}
	preview := owner.Post(levelsPage+"/preview", webtest.Form("change", "on", "version", "3"))
	if got := preview.Text("main form"); !strings.Contains(got, "2 customers rise at once.") || !strings.Contains(got, "Gold 1 customer") {
		t.Errorf("preview of the launch: %q", got)
	}
	page = owner.Get(owner.Submitted(levelsPage, sent(preview, "main form")))
	if got := page.Text("#counting"); !strings.Contains(got, "Counting earlier sales: 0 of 2 customers") {
		t.Errorf("while counting: %q", got)
	}
	s.countLevels()
	done := owner.Ask(http.MethodGet, levelsPage, "Hx-Request", "true")
	if done.Header().Get("Hx-Redirect") != levelsPage {
		t.Error("the page isn't loaded again at the end")
	}
	if got := owner.Get(levelsPage).Text("main"); strings.Contains(got, "Counting") || strings.Count(got, "1 customer") != 2 {
		t.Errorf("then: %q", got)
	}
	if got := owner.Post(levelsPage+"/preview", webtest.Form("change", "level", "version", "4", "name", "silver", "threshold", "0", "percent", "90")); got.Code != http.StatusUnprocessableEntity || got.Find("main .is-invalid").Length() != 3 {
		t.Errorf("a refused level = %d: %s", got.Code, got.Text("main form"))
	}
	if got := owner.Post(levelsPage, webtest.Form("change", "off", "version", "3")); got.Code != http.StatusSeeOther || s.Count("level_programme where active") != 1 {
		t.Errorf("a change of levels that were changed meanwhile = %d", got.Code)
	}
}

// countLevels does the work of the job, without waiting for older transactions.
func (s shop) countLevels() {
	s.T.Helper()
	for range 20 {
		s.Exec("update loyalty.level_programme set begun_at = now() - interval '1 minute' where tenant_id = $1 and counted_to is not null", s.By.Tenant.ID)
		_ = s.Services.Levels.Count(s.T.Context(), level.Counting{Tenant: s.By.Tenant.ID}) // it may have to wait
		if s.Count("level_programme where counting") == 0 {
			return
		}
	}
	s.T.Fatal("counting doesn't end")
}

// withLevels has Member, Silver from 100 points and Gold from 500, counted by the year.
func (s shop) withLevels() []int64 {
	s.T.Helper()
	return s.Levels(award.LevelRules{Basis: award.ByPoints, Period: award.ByYear, Drops: true, StartsOn: time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)},
		award.Level{Name: "Member"}, award.Level{Name: "Silver", Threshold: 100, Percent: 110}, award.Level{Name: "Gold", Threshold: 500, Percent: 150})
}

// A level of another business answers like one that doesn't exist, in paths and in forms.
func TestLevelsOfOthers(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	s.withLevels()
	theirs := other.withLevels()
	owner := s.signedIn(core.Owner)
	id := strconv.FormatInt(theirs[1], 10)
	if got := owner.Ask(http.MethodGet, levelsPage+"/"+id); got.Code != http.StatusNotFound {
		t.Errorf("another's level = %d", got.Code)
	}
	for _, path := range []string{levelsPage, levelsPage + "/preview"} {
		for _, form := range []url.Values{
			webtest.Form("change", "retire", "version", "1", "id", id),
			webtest.Form("change", "level", "version", "1", "id", id, "name", "Mine", "threshold", "7", "percent", "110"),
		} {
			if got := owner.Post(path, form); got.Code != http.StatusNotFound {
				t.Errorf("%s of another's level to %s = %d", form.Get("change"), path, got.Code)
			}
		}
	}
	if got := shoptest.Query[string](other.Shop, "select string_agg(name || coalesce(' ' || retired_at::text, ''), ', ' order by rank) from loyalty.level where tenant_id = $1", other.By.Tenant.ID); got != "Member, Silver, Gold" {
		t.Errorf("the other business has %s", got)
	}
}

// A manager changes a customer's level by hand; the page shows the level, what is missing to the next one, and why it changed.
func TestACustomersLevel(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	kind, anna := s.Points(100), s.Customer().ID
	manager := s.signedIn(core.Manager)
	if got := manager.Get("/admin/customers/" + anna.String()); got.Find("#customer-level").Length() != 0 {
		t.Error("a business without levels shows one")
	}
	ids := s.withLevels()
	s.Sale(anna, kind, 120_00)
	page := manager.Get("/admin/customers/" + anna.String())
	if got := page.Text("#customer-level"); !strings.Contains(got, "Silver") || !strings.Contains(got, "380 points to Gold") || !strings.Contains(got, "Until 31") {
		t.Errorf("level: %q", got)
	}
	if got := page.Text(".timeline-list"); strings.Index(got, "Reached Silver") > strings.Index(got, "Sale of") || !strings.Contains(got, "Reached Silver") {
		t.Errorf("timeline: %q", got)
	}
	path := "/admin/customers/" + anna.String() + "/level"
	form := manager.Get(path)
	if got := form.Texts("select[name=level] option"); !slices.Equal(got, []string{"Member", "Silver", "Gold"}) {
		t.Errorf("choices: %q", got)
	}
	values := webtest.Form("level", strconv.FormatInt(ids[2], 10), "until", "", "reason", "")
	if got := manager.Refused(path, values); !strings.Contains(got.Text("main form"), "Enter a reason") {
		t.Errorf("without a reason: %q", got.Text("main form"))
	}
	values.Set("reason", "A regular since 1998")
	page = manager.Submit(path, values)
	if got := page.Text("#customer-level") + page.Text(".timeline-list"); !strings.Contains(got, "Gold") || !strings.Contains(got, "Level set to Gold") || !strings.Contains(got, "A regular since 1998") {
		t.Errorf("then: %q", got)
	}
	other := newShop(t)
	other.withLevels()
	if got := other.signedIn(core.Manager).Post(path, values); got.Code != http.StatusNotFound {
		t.Errorf("another business = %d", got.Code)
	}
	if got := s.signedIn(core.Cashier).Post(path, values); got.Code != http.StatusForbidden {
		t.Errorf("a cashier = %d", got.Code)
	}
	fresh := s.Customer().ID
	s.Must(core.Result(s.Services.Levels.Give(t.Context(), s.By, fresh, level.Given{LevelID: ids[1], Reason: "Friend"}, nil)))
	if got := manager.Get("/admin/customers/" + fresh.String()).Text(".timeline-list"); !strings.Contains(got, "Level set to Silver") {
		t.Errorf("timeline of a new customer: %q", got)
	}
}
