package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

// "A preview first; … the old ULID … redirects in the panel; it can't be undone, and says so."
func TestMergeDuplicate(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	twin := s.add("Elsa", "Berg <b>", "070 174 06 05")
	other := s.add("Åke", "Ahl", "070 174 06 06")
	s.Adjust(twin.ID, ledger.Points, 24)
	s.Adjust(twin.ID, ledger.Stamps, 2)
	s.adjusted("points", 6, "Six")
	manager := s.signedIn(core.Manager)

	unlike := "/admin/customers/" + other.ID.String() + "/merge"
	none := manager.Get(unlike)
	if got := none.Text("#found"); !strings.HasPrefix(got, "No customer has the same name") || none.Text("#found h2") != "Newest customers" {
		t.Errorf("without likely duplicates: %q", got)
	}
	wants(t, "suggested instead", none.Links("#found a"), []string{unlike + "?customer_ulid=" + twin.ID.String(), unlike + "?customer_ulid=" + s.elsa.ID.String()})
	pick := manager.Get(s.path() + "/merge")
	if got := pick.Links("#found a"); len(got) != 1 || got[0] != s.path()+"/merge?customer_ulid="+twin.ID.String() {
		t.Errorf("likely duplicates: %q", got)
	}
	if got := manager.Get(s.path() + "/merge?search=ahl").Links("#found a"); len(got) != 1 || !strings.HasSuffix(got[0], other.ID.String()) {
		t.Errorf("a search finds %q", got)
	}
	if got := manager.Get(s.path() + "/merge?search=berg").Links("#found a"); len(got) != 1 {
		t.Errorf("the customer is their own duplicate: %q", got)
	}
	asked := manager.Get(s.path() + "/merge?customer_ulid=" + twin.ID.String())
	if got := asked.Text("main form"); !strings.Contains(got, "can't be undone") || asked.Text(".merge-table tbody tr:first-child") != "Points 6 24 30" {
		t.Errorf("preview: %q", got)
	}
	if got := asked.Attr("main form .card-body a", "href"); got != "/admin/customers/"+twin.ID.String()+"/merge?customer_ulid="+s.elsa.ID.String() {
		t.Errorf("the opposite merge is at %q", got)
	}
	sent := webtest.Form("form_key", asked.Value("[name=form_key]"), "customer_ulid", twin.ID.String())
	done := manager.Submit(s.path()+"/merge", sent)
	if !done.Flashed(ui.Done, "merged into Elsa Berg <b>") || done.Text(".profile-amounts") != "30 points 2 stamps" {
		t.Errorf("merged: %q", done.Text("main"))
	}
	if got := asked.Text(".merge-table"); !strings.Contains(got, "Also found by – – "+twin.Phone) {
		t.Errorf("the preview doesn't say by what they are found: %q", got)
	}
	if got := s.signedIn(core.Cashier).Get(s.path()); got.Text(".profile-further li") != twin.Phone || got.Find(".profile-further form").Length() != 0 {
		t.Errorf("a cashier reads %q", got.Text(".profile-further"))
	}
	further := webtest.Form("kind", done.Value(".profile-further [name=kind]"), "key", done.Value(".profile-further [name=key]"))
	if again := manager.Post(s.path()+"/merge", sent); again.Code != http.StatusSeeOther || again.Header().Get("Location") != s.path() {
		t.Errorf("a second click: %d %q", again.Code, again.Text("main"))
	}
	if got := done.Text(".timeline-entry"); !strings.Contains(got, "Merged with Elsa Berg <b>") {
		t.Errorf("timeline: %q", got)
	}

	taken := manager.Post("/admin/customers/"+other.ID.String()+"/edit", webtest.Form("original", "phone="+url.QueryEscape(other.Phone), "phone", twin.Phone))
	if got := taken.Text(".invalid-feedback"); taken.Code != http.StatusUnprocessableEntity || !strings.Contains(got, "leads to Elsa Berg <b>") {
		t.Errorf("another takes the number: %d %q", taken.Code, got)
	}
	removed := manager.Submit(s.path()+"/keys/remove", further)
	if !removed.Flashed(ui.Done, "no longer found") || removed.Find(".profile-further").Length() != 0 {
		t.Errorf("after removing: %q", removed.Text(".profile-further"))
	}
	old := "/admin/customers/" + twin.ID.String()
	if a := s.signedIn(core.Cashier).Ask(http.MethodGet, old); a.Code != http.StatusSeeOther || a.Header().Get("Location") != s.path() {
		t.Errorf("the old address: %d %q", a.Code, a.Header().Get("Location"))
	}
	merged := manager.Get(s.path() + "/merged")
	if got := merged.Text(".timeline-list"); merged.Find(".timeline-entry").Length() != 4 || !strings.Contains(got, "Moved by a merge") || !strings.Contains(merged.Text("main h2"), "Elsa Berg <b>") {
		t.Errorf("the duplicate's ledger: %q", got)
	}
	for _, p := range []string{"?merged=x", "?merged=" + other.ID.String()} {
		if a := manager.Ask(http.MethodGet, s.path()+"/merged"+p); a.Code != http.StatusNotFound {
			t.Errorf("%s: %d", p, a.Code)
		}
	}
	if got := manager.Get("/admin/audit").Text("main"); !strings.Contains(got, "merged a duplicate into Elsa Berg <b>") {
		t.Errorf("log: %q", got)
	}
	if got := manager.Get("/admin/customers?search=berg"); got.Find("tbody tr").Length() != 1 {
		t.Errorf("the list: %q", got.Text("tbody"))
	}
	if a := manager.Post(s.path()+"/merge", webtest.Form("customer_ulid", twin.ID.String())); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("merged again: %d", a.Code)
	}
	if stranger := newShop(t).signedIn(core.Owner); stranger.Ask(http.MethodGet, old).Code != http.StatusNotFound {
		t.Error("another tenant is led to the customer")
	}
}

// A sum of balances that is too large is refused, in the preview too.
func TestMergeOfBalancesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	twin := s.add("Elsa", "Berg", "070 174 06 05")
	for _, c := range []customer.Customer{s.elsa, twin} {
		s.Exec("update loyalty.account set points = 9000000000000000000 where customer_id = $1", c.ID)
	}
	dbtest.Tick(s.DB)
	manager := s.signedIn(core.Manager)
	asked := manager.Ask(http.MethodGet, s.path()+"/merge?customer_ulid="+twin.ID.String())
	if asked.Code != http.StatusUnprocessableEntity || asked.Find("main form [type=submit]").Length() != 0 {
		t.Errorf("preview: %d %q", asked.Code, asked.Text("main"))
	}
	if a := manager.Post(s.path()+"/merge", webtest.Form("customer_ulid", twin.ID.String())); a.Code != http.StatusUnprocessableEntity || a.Find("main form .alert").Length() != 1 {
		t.Errorf("merge: %d %q", a.Code, a.Text("main"))
	}
}
