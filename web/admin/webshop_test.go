package admin_test

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

const phoneOptional = business + "/phone-optional"

// An owner lets customers be without a phone number. From then on, the forms take an e-mail address instead.
func TestCustomersWithoutAPhoneNumber(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Points(100)
	owner := s.signedIn(core.Owner)
	add := func() webtest.Page {
		t.Helper()
		return owner.Post("/admin/customers/new", webtest.Form("first_name", "Greta", "last_name", "Nyman", "phone", "", "email", "greta@example.com"))
	}
	if got := add(); got.Code != http.StatusUnprocessableEntity || got.Text("#field-phone-error") == "" {
		t.Errorf("before, answered %d", got.Code)
	}
	if got := owner.Get(business).Text("#phone-optional .badge"); got != "Off" {
		t.Errorf("the setting is %q", got)
	}
	on := owner.Submit(phoneOptional, webtest.Form("on", "1"))
	if on.Text("#phone-optional .badge") != "On" || !on.Flashed(ui.Done, "without a phone number") {
		t.Errorf("turned on: %q", on.Text("#phone-optional"))
	}
	form := owner.Get("/admin/customers/new")
	if got := form.Text("label[for=field-phone]"); !strings.Contains(strings.ToLower(got), "optional") {
		t.Errorf("the phone number is asked for as %q", got)
	}
	none := owner.Post("/admin/customers/new", webtest.Form("first_name", "Greta", "last_name", "Nyman", "phone", " ", "email", ""))
	if got := none.Text("#field-email-error"); none.Code != http.StatusUnprocessableEntity || got != "Enter a phone number or an e-mail address" {
		t.Errorf("with neither, answered %d: %q", none.Code, got)
	}
	made := add()
	path := made.Header().Get("Location")
	if made.Code != http.StatusSeeOther {
		t.Fatalf("answered %d: %s", made.Code, made.Text("main"))
	}

	// Wherever a number would be, the pages say that there is none, or show the address.
	detail := owner.Get(path)
	if got := detail.Text(".profile-contact"); !strings.Contains(got, "No phone number") || detail.Find("#customer-phone").Length() != 0 || detail.Find("[href='tel:']").Length() != 0 {
		t.Errorf("the profile has %q", got)
	}
	if got := owner.Get("/admin/customers").Text("tbody tr"); !strings.Contains(got, "No phone number") || !strings.Contains(got, "greta@example.com") {
		t.Errorf("the list has %q", got)
	}
	if got := owner.Get("/admin/transactions/new?customer_ulid=" + strings.TrimPrefix(path, "/admin/customers/")).Text("main"); !strings.Contains(got, "greta@example.com") {
		t.Errorf("the chosen customer: %q", got)
	}
	edit := owner.Get(path + "/edit")
	if edit.Value("#field-phone") != "" {
		t.Errorf("the form begins with %q", edit.Value("#field-phone"))
	}
	removed := owner.Post(path+"/edit", webtest.Form("first_name", "Greta", "last_name", "Nyman", "phone", "", "email", ""))
	if got := removed.Text("#field-email-error"); removed.Code != http.StatusUnprocessableEntity || got != "Enter a phone number or an e-mail address" {
		t.Errorf("without both, answered %d: %q", removed.Code, got)
	}

	// Off again, she stays, and can still be changed.
	if off := owner.Submit(phoneOptional, webtest.Form("on", "0")); off.Text("#phone-optional .badge") != "Off" {
		t.Errorf("turned off: %q", off.Text("#phone-optional"))
	}
	renamed := owner.Submit(path+"/edit", webtest.Form("first_name", "Greta", "last_name", "Ek", "phone", "", "email", "greta@example.com"))
	if got := renamed.Text("h1"); got != "Greta Ek" {
		t.Errorf("renamed: %q", got)
	}
	if log := owner.Get("/admin/audit").Text("main"); !strings.Contains(log, "changed the settings") {
		t.Errorf("the log has %q", log)
	}
	for _, role := range []core.Role{core.Manager, core.Cashier} {
		if got := s.signedIn(role).Post(phoneOptional, webtest.Form("on", "1")); got.Code != http.StatusForbidden {
			t.Errorf("a %s got %d", role, got.Code)
		}
	}
	theirs := newShop(t).signedIn(core.Owner)
	if got := theirs.Ask(http.MethodGet, path); got.Code != http.StatusNotFound {
		t.Errorf("another business got %d", got.Code)
	}
}

// A customer's external ID is on their page and at the end of the export, and further ones say what they are.
func TestExternalIDOnPages(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.AddCustomer(customer.New{FirstName: "Dora", LastName: "Gran", Phone: "070 174 06 05", ExternalID: "wc-1"})
	twin := s.AddCustomer(customer.New{FirstName: "Dora", LastName: "Gran", Phone: "070 174 06 06", ExternalID: "wc-2"})
	manager := s.signedIn(core.Manager)
	if got := manager.Get("/admin/customers/" + c.ID.String()).Text("#customer-external-id"); got != "wc-1" {
		t.Errorf("the page has %q", got)
	}
	preview := manager.Get("/admin/customers/" + c.ID.String() + "/merge?customer_ulid=" + twin.ID.String())
	if got := preview.Text(".merge-table"); !strings.Contains(got, "External ID wc-1 wc-2 wc-1") || !strings.Contains(got, "070 174 06 06, wc-2") {
		t.Errorf("the merge shows %q", got)
	}
	s.Must(core.Result(s.Merging.Merge(t.Context(), s.By, c.ID, twin.ID, nil, nil)))
	if got := manager.Get("/admin/customers/" + c.ID.String()).Text(".profile-further"); !strings.Contains(got, "External ID wc-2") {
		t.Errorf("also found by %q", got)
	}
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(manager.Get("/admin/customers/export.csv").Body.String(), "\uFEFF"))).ReadAll()
	if err != nil || len(rows) != 2 || rows[0][len(rows[0])-2] != "External ID" || rows[1][len(rows[1])-2] != "wc-1" {
		t.Errorf("exported: %q, %v", rows, err)
	}
}
