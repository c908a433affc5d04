package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/web/webtest"
)

// The last day is offered where points or stamps end, in the sample file, too. Elsewhere it is refused with advice.
func TestImportOfLastDays(t *testing.T) {
	t.Parallel()
	const file = "name,phone,points,expires on\nAnna Ek,0701740605,120,31/12/2099\nBo Ek,0701740606,30,\n"
	s := newShop(t)
	b := s.signedIn(core.Manager)
	start := b.Get("/admin/customers/import")
	if strings.Contains(start.Text("main"), "Expires on") || strings.Contains(b.Get("/admin/customers/import/sample.csv").Body.String(), "Expires on") {
		t.Error("a last day is offered without a rule")
	}
	path := b.uploaded(file)
	columns := b.Get(path)
	wants(t, "guessed columns", selected(columns), []string{"full_name", "phone", "points", ""})
	if columns.Find("option[value=expires_on]").Length() != 0 {
		t.Error("a last day can be chosen without a rule")
	}
	form := columnForm(columns)
	form.Set("column_3", "expires_on")
	refused := b.Post(path+"/check", form)
	if refused.Code != http.StatusUnprocessableEntity || refused.Text(".alert") != webtest.Message("Columns", core.Violation{Rule: "nothing_expires"}) {
		t.Errorf("%d %q", refused.Code, refused.Text(".alert"))
	}

	s.SetExpiry(ledger.Points, core.Expiry{Rule: core.ExpireAfter, Months: 12, RoundTo: core.ToMonth}, nil)
	if got := b.Get("/admin/customers/import").Text(".import-hints"); !strings.Contains(got, "Expires on The last day") {
		t.Errorf("hints: %q", got)
	}
	_, checked := b.checkedFile(file)
	if got := checked.Text("#import-reading table"); !strings.Contains(got, "31 Dec 2099") || !strings.Contains(got, "As for new points") {
		t.Errorf("how the file was read: %q", got)
	}
	sample := b.uploaded(b.Get("/admin/customers/import/sample.csv").Body.String())
	columns = b.Get(sample)
	wants(t, "guessed columns of the sample", selected(columns), []string{"first_name", "last_name", "phone", "email", "created_at", "points", "stamps", "birthday", "expires_on"})
	b.Submit(sample+"/check", columnForm(columns))
	s.work(sample)
	if got := b.Get(sample).Text("main h2"); !strings.HasPrefix(got, "2 customers ") {
		t.Errorf("checked: %q", got)
	}
}
