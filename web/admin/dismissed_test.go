package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/web/admin"
)

// "Losing the role, being deactivated or a suspended tenant" ends what a session may do with the
// next request, on every route of the panel: a signed-in owner then has what their new role has,
// is led to the sign-in, or is told that the business is suspended.
func TestEveryRouteAfterADismissal(t *testing.T) {
	t.Parallel()
	signIn := func(a answer) bool {
		return a.Code == http.StatusSeeOther && strings.HasPrefix(a.Header().Get("Location"), "/admin/sign-in")
	}
	for _, c := range []struct {
		name string
		do   func(s *shop, person int64) error
		role core.Role // that they have then; "": none
	}{
		{"owner to manager", func(s *shop, p int64) error { return s.Staff.SetRole(t.Context(), s.by, p, core.Manager) }, core.Manager},
		{"owner to cashier", func(s *shop, p int64) error { return s.Staff.SetRole(t.Context(), s.by, p, core.Cashier) }, core.Cashier},
		{"deactivated", func(s *shop, p int64) error { return s.Staff.Deactivate(t.Context(), s.by, p) }, ""},
		{"deactivated and activated", func(s *shop, p int64) error { // whose sessions ended
			if err := s.Staff.Deactivate(t.Context(), s.by, p); err != nil {
				return err
			}
			return s.Staff.Activate(t.Context(), s.by, p)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.joined(t, s.by)
			b := s.signedIn(t, core.Owner)
			b.get("/admin/settings/tokens")
			if err := c.do(s, b.person.StaffID); err != nil {
				t.Fatal(err)
			}
			for _, r := range admin.Routes() {
				if r.Least == "" || r.Path == "/admin/sign-out" {
					continue
				}
				a := b.try(r)
				switch {
				case c.role == "":
					if !signIn(a) {
						t.Errorf("%s %s = %d, want the sign-in", r.Method, r.Path, a.Code)
					}
				case (a.Code == http.StatusForbidden) == c.role.Includes(r.Least) || a.Code >= http.StatusInternalServerError || signIn(a):
					t.Errorf("%s %s as %s = %d", r.Method, r.Path, c.role, a.Code)
				}
			}
		})
	}
}

// joined gives a person a password, so that the business has another owner who can sign in.
func (s *shop) joined(t *testing.T, person core.Actor) {
	t.Helper()
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.credential set password_hash = 'x' where staff_id = $1", person.StaffID); err != nil {
		t.Fatal(err)
	}
}
