package shoptest

import (
	"context"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/dbtest"
)

// Password is the password that GivePassword sets.
const Password = "correct horse battery"

var passwordHash = sync.OnceValues(func() (string, error) { return auth.HashPassword(context.Background(), 0, Password) })

// GivePassword sets a person's password to Password.
func (s Shop) GivePassword(person core.Actor) {
	s.T.Helper()
	hash, err := passwordHash()
	s.Check(err)
	s.Exec("update loyalty.credential set password_hash = $2 where staff_id = $1", person.StaffID, hash)
}

// Person adds a person who has a password.
func (s Shop) Person(role core.Role) core.Actor {
	s.T.Helper()
	p := dbtest.Person(s.T, s.DB, s.By, role)
	s.GivePassword(p)
	return p
}

// Email returns a person's e-mail address.
func (s Shop) Email(person core.Actor) string {
	s.T.Helper()
	return Query[string](s, "select email from loyalty.staff where id = $1", person.StaffID)
}

// Cookie signs a person in by a proof, and returns their browser's cookie.
func (s Shop) Cookie(p auth.Proof, cookie string) string {
	s.T.Helper()
	v := &auth.Visit{Slug: s.By.Tenant.Slug}
	ctx := auth.WithProof(auth.WithVisit(s.T.Context(), v), p)
	s.Check(auth.NewStore(s.DB).CommitCtx(ctx, cookie, []byte{}, s.DB.Now().Add(time.Hour)))
	return cookie
}

// PeopleLog returns the audit entries about people, of the actions that match a pattern: the action and the facts before
// and after.
func (s Shop) PeopleLog(action string) []string {
	s.T.Helper()
	return QueryAll[string](s, `
		select action || ' ' || coalesce(old::text, '-') || ' ' || coalesce(new::text, '-')
		from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = 'staff' and action like $2 and actor_name <> 'test'
		order by id`, s.By.Tenant.ID, action)
}

// WantPeopleLog fails the test unless PeopleLog has these entries.
func (s Shop) WantPeopleLog(action string, want ...string) {
	s.T.Helper()
	if diff := cmp.Diff(want, s.PeopleLog(action), cmpopts.EquateEmpty()); diff != "" {
		s.T.Errorf("%s in the audit log (-want +got):\n%s", action, diff)
	}
}
