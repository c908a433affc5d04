package admin_test

import (
	"net/http"
	"net/url"
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
