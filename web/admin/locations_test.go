package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
)

// "List, add, rename in place, close and reopen."
func TestLocations(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	manager := s.signedIn(t, core.Manager)
	const path = "/admin/locations"
	empty := manager.get(path)
	if empty.Find(".empty").Length() != 1 {
		t.Errorf("without locations: %q", empty.words("main"))
	}
	draft := form("form_key", empty.value("input[name=form_key]"), "name", "Harbour <b>")
	added := manager.posted(path, draft)
	if got := added.words("#flashes"); !strings.Contains(got, "Harbour <b>") {
		t.Errorf("flash = %q", got)
	}
	manager.posted(path, draft) // a double click
	manager.posted(path, form("name", "Old Town"))
	list := manager.get(path)
	wants(t, "list", list.each("tbody .fw-medium"), []string{"Harbour <b>", "Old Town"})
	if list.Find("tbody b").Length() > 0 || list.Find("tbody input[name=active][value='0']").Length() != 2 {
		t.Errorf("list = %q", list.words("tbody"))
	}
	taken := manager.post(path, form("name", "old town"))
	if taken.Code != http.StatusUnprocessableEntity || taken.words(".invalid-feedback") != says("New location", core.Duplicate) || taken.value("#field-name") != "old town" {
		t.Errorf("a name twice: %d %q", taken.Code, taken.words(".invalid-feedback"))
	}

	harbour, _ := list.Find("tbody a").Attr("href")
	line := manager.get(harbour, "Hx-Request", "true")
	if line.value("input[name=name]") != "Harbour <b>" || line.Find("header, #field-name").Length() > 0 {
		t.Errorf("in its place: %q", line.words("body"))
	}
	whole := manager.get(harbour)
	if whole.Find("tbody form input[name=name]").Length() != 1 || whole.Find("#field-name").Length() != 1 || !strings.Contains(whole.words("tbody"), "Old Town") {
		t.Errorf("without scripts: %q", whole.words("main"))
	}
	refused := manager.post(harbour, form("name", "Old Town"), "Hx-Request", "true")
	if refused.Code != http.StatusUnprocessableEntity || refused.words(".invalid-feedback") != says("Name", core.Duplicate) || refused.value("input[name=name]") != "Old Town" {
		t.Errorf("refused in its place: %d %q", refused.Code, refused.words("body"))
	}
	if again := manager.post(harbour, form("name", " ")); again.Code != http.StatusUnprocessableEntity || again.words("tbody .invalid-feedback") != says("Name", core.Required) {
		t.Errorf("refused without scripts: %d %q", again.Code, again.words("main"))
	}
	if done := manager.post(harbour, form("name", "Harbour Road"), "Hx-Request", "true"); done.Code != http.StatusOK || done.words(".fw-medium") != "Harbour Road" || done.words("[role=status]") == "" {
		t.Errorf("renamed in its place: %d %q", done.Code, done.words("body"))
	}
	if got := manager.posted(harbour, form("name", "Quay")).words("#flashes"); !strings.Contains(got, "Harbour Road") || !strings.Contains(got, "Quay") {
		t.Errorf("renamed: %q", got)
	}

	closed := manager.posted(harbour+"/active", form("active", "0"))
	if got := closed.words("#flashes"); !strings.Contains(got, "Quay") || closed.value("tbody form[action='"+harbour+"/active'] input[name=active]") != "1" {
		t.Errorf("closed: %q %q", got, closed.words("tbody"))
	}
	if got := manager.posted(harbour+"/active", form("active", "1")).words("#flashes"); !strings.Contains(got, "Quay") {
		t.Errorf("reopened: %q", got)
	}

	stranger := newShop(t).signedIn(t, core.Owner)
	if a := stranger.ask(http.MethodGet, harbour, nil); a.Code != http.StatusNotFound {
		t.Errorf("another business's location: %d", a.Code)
	}
	for _, p := range []string{harbour, harbour + "/active"} {
		if a := stranger.post(p, form("name", "Mine", "active", "0")); a.Code != http.StatusNotFound {
			t.Errorf("POST %s by a stranger: %d", p, a.Code)
		}
	}
	if got := manager.get(path); !strings.Contains(got.words("tbody"), "Quay") || got.value("tbody form[action='"+harbour+"/active'] input[name=active]") != "0" {
		t.Errorf("the stranger changed it to %q", got.words("tbody"))
	}
}
