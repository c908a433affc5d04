package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/web/webtest"
)

// A level is offered where the business has levels, in the sample file, too. Elsewhere it is refused with advice. A birthday always is.
func TestImportOfLevels(t *testing.T) {
	t.Parallel()
	const file = "name,phone,birthday,level\nAnna Ek,0701740605,1990-05-21,gold\nBo Ek,0701740606,,\nCia Ek,0701740607,05-21,Platinum\n"
	s := newShop(t)
	b := s.signedIn(core.Manager)
	if strings.Contains(b.Get("/admin/customers/import").Text(".import-hints"), "Level") || strings.Contains(b.Get("/admin/customers/import/sample.csv").Body.String(), "Level") {
		t.Error("a level is offered without levels")
	}
	path := b.uploaded(file)
	columns := b.Get(path)
	wants(t, "guessed columns", selected(columns), []string{"full_name", "phone", "birthday", ""})
	form := columnForm(columns)
	form.Set("column_3", "level")
	refused := b.Post(path+"/check", form)
	if refused.Code != http.StatusUnprocessableEntity || refused.Text(".alert") != webtest.Message("Columns", core.Violation{Rule: "no_levels"}) {
		t.Errorf("%d %q", refused.Code, refused.Text(".alert"))
	}

	s.Levels(award.LevelRules{Basis: award.ByPoints, Period: award.ByYear, Drops: true}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 500})
	if got := b.Get("/admin/customers/import").Text(".import-hints"); !strings.Contains(got, "Level The name of a level, kept until the end of the next year. Empty: Member") {
		t.Errorf("hints: %q", got)
	}
	_, checked := b.checkedFile(file)
	if got := checked.Text("#import-reading table"); !strings.Contains(got, "21 May 1990 Gold") || !strings.Contains(got, "– Member") {
		t.Errorf("how the file was read: %q", got)
	}
	if got := checked.Text("main"); !strings.Contains(got, webtest.Message("Level", core.Violation{Rule: "unknown_level", Other: "Member, Gold"})) {
		t.Errorf("problems: %q", got)
	}
	sample := b.uploaded(b.Get("/admin/customers/import/sample.csv").Body.String())
	columns = b.Get(sample)
	wants(t, "guessed columns of the sample", selected(columns), []string{"first_name", "last_name", "phone", "email", "created_at", "points", "stamps", "birthday", "level"})
	b.Submit(sample+"/check", columnForm(columns))
	s.work(sample)
	if got := b.Get(sample).Text("main h2"); !strings.HasPrefix(got, "2 customers ") {
		t.Errorf("checked: %q", got)
	}
}
