package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
)

// "What one may not do is not offered": the settings begin with the first section that the role may see.
// Everyone has their own account.
func TestSettingsByRole(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for role, want := range map[core.Role]string{
		core.Owner: "/admin/settings/business", core.Manager: "/admin/settings/security", core.Cashier: "/admin/settings/security",
	} {
		b := s.signedIn(role)
		if a := b.Ask(http.MethodGet, "/admin/settings"); a.Code != http.StatusSeeOther || a.Header().Get("Location") != want {
			t.Errorf("a %s is led to %q, %d", role, a.Header().Get("Location"), a.Code)
		}
		sections := strings.Join(b.Get("/admin/settings/security").Links(".settings-nav a"), " ")
		all := "/admin/settings/business /admin/settings/programme /admin/settings/programme/levels /admin/settings/staff /admin/settings/billing /admin/settings/notifications /admin/settings/tokens /admin/settings/security"
		if role == core.Owner && sections != all || role != core.Owner && sections != "" {
			t.Errorf("a %s is offered %q", role, sections)
		}
	}
	got := s.signedIn(core.Owner).Get("/admin/settings/tokens").Links(".settings-nav [aria-current=page]")
	wants(t, "the current section", got, []string{"/admin/settings/tokens"})
}
