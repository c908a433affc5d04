package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/webtest"
)

// "Losing the role, being deactivated or a suspended tenant" is in effect from the next request, on
// every route: a signed-in owner has the rights of the new role, or is sent to the sign-in.
func TestEveryRouteAfterLosingTheRole(t *testing.T) {
	t.Parallel()
	signIn := func(a webtest.Page) bool {
		return a.Code == http.StatusSeeOther && strings.HasPrefix(a.Header().Get("Location"), "/admin/sign-in")
	}
	for _, c := range []struct {
		name string
		do   func(s *shop, person int64) error
		role core.Role // afterwards; "": signed out
	}{
		{"owner to manager", func(s *shop, p int64) error { return s.Staff.SetRole(t.Context(), s.By, p, core.Manager) }, core.Manager},
		{"owner to cashier", func(s *shop, p int64) error { return s.Staff.SetRole(t.Context(), s.By, p, core.Cashier) }, core.Cashier},
		{"deactivated", func(s *shop, p int64) error { return s.Staff.Deactivate(t.Context(), s.By, p) }, ""},
		{"deactivated and activated", func(s *shop, p int64) error {
			if err := s.Staff.Deactivate(t.Context(), s.By, p); err != nil {
				return err
			}
			return s.Staff.Activate(t.Context(), s.By, p)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.able(s.By.StaffID) // the business keeps an owner
			b := s.signedIn(core.Owner)
			b.Get("/admin/settings/tokens")
			if err := c.do(s, b.Person.StaffID); err != nil {
				t.Fatal(err)
			}
			for _, r := range admin.Routes() {
				if r.Who.Everyone || r.Path == "/admin/sign-out" {
					continue
				}
				a := b.request(r)
				switch {
				case c.role == "":
					if !signIn(a) {
						t.Errorf("%s %s = %d, want the sign-in", r.Method, r.Path, a.Code)
					}
				case (a.Code == http.StatusForbidden) == c.role.Includes(r.Who.Role) || a.Code >= http.StatusInternalServerError || signIn(a):
					t.Errorf("%s %s as %s = %d", r.Method, r.Path, c.role, a.Code)
				}
			}
		})
	}
}
