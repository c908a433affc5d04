package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
)

// paths are where the links of a selector lead.
func (a answer) paths(selector string) (paths []string) {
	a.Find(selector).Each(func(_ int, link *goquery.Selection) { paths = append(paths, link.AttrOr("href", "")) })
	return paths
}

// "What one may not do is not offered": the settings begin with what the role may see,
// and everybody has their own account.
func TestSettingsBeginWithWhatOneMaySee(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for role, want := range map[core.Role]string{
		core.Owner: "/admin/settings/business", core.Manager: "/admin/settings/security", core.Cashier: "/admin/settings/security",
	} {
		b := s.signedIn(t, role)
		if a := b.ask(http.MethodGet, "/admin/settings", nil); a.Code != http.StatusSeeOther || a.Header().Get("Location") != want {
			t.Errorf("a %s is led to %q, %d", role, a.Header().Get("Location"), a.Code)
		}
		sections := strings.Join(b.get("/admin/settings/security").paths(".settings-nav a"), " ")
		all := "/admin/settings/business /admin/settings/staff /admin/settings/billing /admin/settings/tokens /admin/settings/security"
		if role == core.Owner && sections != all || role != core.Owner && sections != "" {
			t.Errorf("a %s is offered %q", role, sections)
		}
	}
	if got := s.signedIn(t, core.Owner).get("/admin/settings/tokens").words(".settings-nav [aria-current=page]"); got != "API tokens" {
		t.Errorf("the present one is %q", got)
	}
}
