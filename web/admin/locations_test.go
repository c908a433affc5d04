package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/web/webtest"
)

// "List, add, rename in place, close and reopen."
func TestLocations(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	manager := s.signedIn(core.Manager)
	const path = "/admin/locations"
	empty := manager.Get(path)
	if empty.Find(".empty").Length() != 1 {
		t.Errorf("without locations: %q", empty.Text("main"))
	}
	draft := webtest.Form("form_key", empty.Value("input[name=form_key]"), "name", "Harbour <b>")
	added := manager.Submit(path, draft)
	if got := added.Text("#flashes"); !strings.Contains(got, "Harbour <b>") {
		t.Errorf("flash = %q", got)
	}
	manager.Submit(path, draft) // a double click
	manager.Submit(path, webtest.Form("name", "Old Town"))
	list := manager.Get(path)
	wants(t, "list", list.Texts("tbody .fw-medium"), []string{"Harbour <b>", "Old Town"})
	if list.Find("tbody b").Length() > 0 || list.Find("tbody input[name=active][value='0']").Length() != 2 {
		t.Errorf("list = %q", list.Text("tbody"))
	}
	taken := manager.Post(path, webtest.Form("name", "old town"))
	if taken.Code != http.StatusUnprocessableEntity || taken.Text(".invalid-feedback") != webtest.Message("New location", core.Duplicate) || taken.Value("#field-name") != "old town" {
		t.Errorf("a name twice: %d %q", taken.Code, taken.Text(".invalid-feedback"))
	}

	wants(t, "sales of the first", manager.Get(list.Attr("tbody a", "href")).Texts("[name=location_id] option[selected]"), []string{"Harbour <b>"})
	harbour := list.Attr("tbody a[hx-get]", "href")
	line := manager.Get(harbour, "Hx-Request", "true")
	if line.Value("input[name=name]") != "Harbour <b>" || line.Find("header, #field-name").Length() > 0 {
		t.Errorf("in its place: %q", line.Text("body"))
	}
	whole := manager.Get(harbour)
	if whole.Find("tbody form input[name=name]").Length() != 1 || whole.Find("#field-name").Length() != 1 || !strings.Contains(whole.Text("tbody"), "Old Town") {
		t.Errorf("without scripts: %q", whole.Text("main"))
	}
	refused := manager.Post(harbour, webtest.Form("name", "Old Town"), "Hx-Request", "true")
	if refused.Code != http.StatusUnprocessableEntity || refused.Text(".invalid-feedback") != webtest.Message("Name", core.Duplicate) || refused.Value("input[name=name]") != "Old Town" {
		t.Errorf("refused in its place: %d %q", refused.Code, refused.Text("body"))
	}
	if again := manager.Post(harbour, webtest.Form("name", " ")); again.Code != http.StatusUnprocessableEntity || again.Text("tbody .invalid-feedback") != webtest.Message("Name", core.Required) {
		t.Errorf("refused without scripts: %d %q", again.Code, again.Text("main"))
	}
	if done := manager.Post(harbour, webtest.Form("name", "Harbour Road"), "Hx-Request", "true"); done.Code != http.StatusOK || done.Text(".fw-medium") != "Harbour Road" || done.Text("[role=status]") == "" {
		t.Errorf("renamed in its place: %d %q", done.Code, done.Text("body"))
	}
	if got := manager.Submit(harbour, webtest.Form("name", "Quay")).Text("#flashes"); !strings.Contains(got, "Harbour Road") || !strings.Contains(got, "Quay") {
		t.Errorf("renamed: %q", got)
	}

	closed := manager.Submit(harbour+"/active", webtest.Form("active", "0"))
	if got := closed.Text("#flashes"); !strings.Contains(got, "Quay") || closed.Value("tbody form[action='"+harbour+"/active'] input[name=active]") != "1" {
		t.Errorf("closed: %q %q", got, closed.Text("tbody"))
	}
	if got := manager.Submit(harbour+"/active", webtest.Form("active", "1")).Text("#flashes"); !strings.Contains(got, "Quay") {
		t.Errorf("reopened: %q", got)
	}

	stranger := newShop(t).signedIn(core.Owner)
	if a := stranger.Ask(http.MethodGet, harbour); a.Code != http.StatusNotFound {
		t.Errorf("another business's location: %d", a.Code)
	}
	for _, p := range []string{harbour, harbour + "/active"} {
		if a := stranger.Post(p, webtest.Form("name", "Mine", "active", "0")); a.Code != http.StatusNotFound {
			t.Errorf("POST %s by a stranger: %d", p, a.Code)
		}
	}
	if got := manager.Get(path); !strings.Contains(got.Text("tbody"), "Quay") || got.Value("tbody form[action='"+harbour+"/active'] input[name=active]") != "0" {
		t.Errorf("the stranger changed it to %q", got.Text("tbody"))
	}
}
