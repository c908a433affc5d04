package staff_test

import (
	"crypto/sha256"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
)

func (s shop) invite(role core.Role, email string) staff.Person {
	s.T.Helper()
	p, err := core.Result(s.Invite(s.T.Context(), s.By, staff.New{Role: role, Name: "Bo", Email: email, Password: "not for me to say"}, nil))
	s.Check(err)
	return p
}

// invitation returns the secret of the last invitation that was mailed to an address.
func (s shop) invitation(email string) auth.InvitationEmail {
	s.T.Helper()
	letters := s.Inbox.To(email)
	if len(letters) == 0 {
		s.T.Fatal("nothing was mailed")
	}
	return letters[len(letters)-1].(auth.InvitationEmail)
}

func (s shop) join(secret, name, password string) (auth.SignedIn, error) {
	s.T.Helper()
	return s.Join(s.T.Context(), s.visitor, secret, staff.Joining{Name: name, Password: password})
}

func (s shop) find(person int64) staff.Member {
	s.T.Helper()
	m, err := s.Find(s.T.Context(), s.By, person)
	s.Check(err)
	return m
}

// An invitation is random, stored as a hash, and works once within 7 days: the person enters a name
// and a password and is signed in.
func TestJoin(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p := s.invite(core.Manager, "bo@example.com")
	sent := s.invitation("bo@example.com")
	if sent.Tenant != s.By.Tenant.Name || sent.Slug != s.By.Tenant.Slug || sent.Person != "Bo" || sent.Role != core.Manager || len(sent.Secret) != 26 {
		t.Errorf("mailed: %+v", sent)
	}
	var invited int64
	var hash []byte
	var created, expires time.Time
	err := dbtest.Owner(s.DB).QueryRow(t.Context(), "select staff_id, hash, created_at, expires_at from loyalty.invitation where tenant_id = $1 and taken_at is null", s.By.Tenant.ID).
		Scan(&invited, &hash, &created, &expires)
	s.Check(err)
	if want := sha256.Sum256([]byte(sent.Secret)); string(hash) != string(want[:]) || invited != p.ID || expires.Sub(created) != 7*24*time.Hour || !expires.Equal(sent.ExpiresAt) {
		t.Errorf("stored: %x for %d, from %s until %s", hash, invited, created, expires)
	}
	if m := s.find(p.ID); !m.Invited || m.InvitedUntil == nil || !m.InvitedUntil.Equal(expires) || !m.Active || m.TwoFactor {
		t.Errorf("%+v", m)
	}

	if l, err := s.auth.FindInvitation(t.Context(), s.visitor, sent.Secret); err != nil || l.Person != p || !l.ExpiresAt.Equal(expires) {
		t.Errorf("the link is for %+v, %v", l, err)
	}
	_, err = s.join(sent.Secret, " ", "bo@example.com")
	shoptest.WantFields(t, err, core.Fields{
		"name":     {core.Required},
		"password": {core.Violation{Rule: "easy_password"}},
	})
	in, err := s.join(sent.Secret, " Bo Ek ", known)
	if want := (staff.Person{ID: p.ID, Role: core.Manager, Name: "Bo Ek", Email: "bo@example.com"}); err != nil || in.Person != want || in.NeedsCode {
		t.Fatalf("joined: %+v, %v", in, err)
	}
	if !s.isSignedIn(s.Cookie(in.Proof, "browser of "+s.By.ID)) {
		t.Error("the proof signs no one in")
	}
	if _, err := s.join(sent.Secret, "Bo", known); !errors.Is(err, auth.ErrLink) {
		t.Errorf("taken twice: %v, want ErrLink", err)
	}
	if _, err := s.auth.FindInvitation(t.Context(), s.visitor, sent.Secret); !errors.Is(err, auth.ErrLink) {
		t.Errorf("shown once taken: %v, want ErrLink", err)
	}
	if _, err := s.signIn("bo@example.com", known); err != nil {
		t.Errorf("the password: %v", err)
	}
	if m := s.find(p.ID); m.Invited || m.InvitedUntil != nil || m.Name != "Bo Ek" {
		t.Errorf("%+v", m)
	}
	if err := s.auth.InviteAgain(t.Context(), s.By, p.ID); !errors.Is(err, auth.ErrJoined) {
		t.Errorf("invited again: %v, want ErrJoined", err)
	}
	s.WantPeopleLog("staff.%in%",
		`staff.invite - {"email": "bo@example.com", "expires_at": "`+expires.Format("2006-01-02T15:04:05.999Z07:00")+`"}`,
		`staff.join - {"name": "Bo Ek"}`, `staff.sign_in - {"with": "password"}`)
}

// An invitation expires, belongs to one tenant, and is withdrawn by the next one or when the person
// is deactivated.
func TestJoinRefusesInvalidInvitations(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	p := s.invite(core.Cashier, "bo@example.com")
	first := s.invitation("bo@example.com").Secret
	refused := func(name string, s shop, secret string) {
		t.Helper()
		if _, err := s.auth.FindInvitation(t.Context(), s.visitor, secret); !errors.Is(err, auth.ErrLink) {
			t.Errorf("%s: shown: %v, want ErrLink", name, err)
		}
		if _, err := s.join(secret, "Bo", known); !errors.Is(err, auth.ErrLink) {
			t.Errorf("%s: taken: %v, want ErrLink", name, err)
		}
	}
	refused("unknown", s, "LQJ7WZ6M3KXN5T2VBYD4R5S6AE")
	refused("at another tenant's host", other, first)
	refused("after seven days", s.later(7*24*time.Hour+time.Minute), first)
	if err := s.auth.Reset(t.Context(), s.visitor, first, auth.NewPassword{Password: known}); !errors.Is(err, auth.ErrLink) {
		t.Errorf("as a reset: %v, want ErrLink", err)
	}
	s.Check(s.auth.InviteAgain(t.Context(), s.By, p.ID))
	refused("once there is another", s, first)
	second := s.invitation("bo@example.com").Secret
	s.Check(s.Deactivate(t.Context(), s.By, p.ID))
	refused("of a deactivated person", s, second)
	if err := s.auth.InviteAgain(t.Context(), s.By, p.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("invited while shut out: %v, want ErrNotFound", err)
	}
	s.Check(s.Activate(t.Context(), s.By, p.ID))
	if _, err := s.join(second, "Bo", known); err != nil {
		t.Errorf("let in again: %v", err)
	}
}

// Two concurrent clicks use an invitation once.
func TestConcurrentClicksJoinOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.invite(core.Cashier, "bo@example.com")
	secret := s.invitation("bo@example.com").Secret
	outcomes := make([]error, 6)
	var wait sync.WaitGroup
	for i := range outcomes {
		wait.Go(func() { _, outcomes[i] = s.join(secret, "Bo", known) })
	}
	wait.Wait()
	taken := 0
	for _, err := range outcomes {
		if err == nil {
			taken++
		} else if !errors.Is(err, auth.ErrLink) {
			t.Error(err)
		}
	}
	if taken != 1 {
		t.Errorf("taken %d times", taken)
	}
}

// Only owners see and change people, and only those of their tenant.
func TestPeopleAreForOwners(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	p := s.Person(core.Cashier)
	invited := s.invite(core.Cashier, "bo@example.com")
	ctx := t.Context()
	cases := map[string]func(by core.Actor) error{
		"find":              func(by core.Actor) error { _, err := s.Find(ctx, by, p.StaffID); return err },
		"invite again":      func(by core.Actor) error { return s.auth.InviteAgain(ctx, by, invited.ID) },
		"set role":          func(by core.Actor) error { return s.SetRole(ctx, by, p.StaffID, core.Manager) },
		"remove two-factor": func(by core.Actor) error { return s.auth.RemoveTwoFactor(ctx, by, p.StaffID) },
		"activate":          func(by core.Actor) error { return s.Activate(ctx, by, p.StaffID) },
		"deactivate":        func(by core.Actor) error { return s.Deactivate(ctx, by, p.StaffID) },
	}
	for name, try := range cases {
		if err := try(stranger.By); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s by a stranger: %v, want ErrNotFound", name, err)
		}
	}
	cases["list"] = func(by core.Actor) error { _, err := s.List(ctx, by); return err }
	cases["invite"] = func(by core.Actor) error {
		_, err := core.Result(s.Invite(ctx, by, staff.New{Role: core.Owner, Name: "Eve", Email: "eve@example.com"}, nil))
		return err
	}
	for name, try := range cases {
		for _, role := range []core.Role{core.Manager, core.Cashier} {
			if err := try(s.Person(role)); !errors.Is(err, core.ErrRole) {
				t.Errorf("%s by a %s: %v, want ErrRole", name, role, err)
			}
		}
	}
	if len(s.Inbox.To("eve@example.com")) != 0 {
		t.Error("a person was invited nevertheless")
	}
}

func TestPeopleAreListed(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	other.Person(core.Cashier)
	manager, gone := s.Person(core.Manager), s.Person(core.Cashier)
	s.Exec("update loyalty.credential set totp_secret = 'sealed' where staff_id = $1", manager.StaffID)
	s.Check(s.Deactivate(t.Context(), s.By, gone.StaffID))
	s.token(s.By)
	s.Exec("update loyalty.token set expires_at = now() - interval '1 minute' where id = $1", s.token(s.By).ID)
	bo := s.invite(core.Cashier, "bo@example.com")
	s.Exec("update loyalty.staff set name = 'a late name' where id = $1", s.By.StaffID)
	list, err := s.List(t.Context(), s.By)
	s.Check(err)
	member := func(p core.Actor, name string) staff.Member {
		return staff.Member{Person: staff.Person{ID: p.StaffID, Role: p.Role, Name: name, Email: s.Email(p)}, Active: true}
	}
	want := []staff.Member{member(s.By, "a late name"), member(manager, "A manager"), {Person: bo, Active: true, Invited: true}, member(gone, "A cashier")}
	want[0].LiveTokens, want[1].TwoFactor, want[3].Active = 1, true, false
	if diff := cmp.Diff(want, list, cmpopts.IgnoreFields(staff.Member{}, "CreatedAt", "InvitedUntil")); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	// An expired invitation doesn't count.
	later, err := s.later(8*24*time.Hour).List(t.Context(), s.By)
	if err != nil || list[2].InvitedUntil == nil || later[2].InvitedUntil != nil || !later[2].Invited {
		t.Errorf("%+v, %v", later[2], err)
	}
}

// A role changes with the next request. A deactivated person is signed out, and has what they had
// when they are activated.
func TestPeopleChange(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p := s.Person(core.Cashier)
	cookie := s.Cookie(auth.Proof{StaffID: p.StaffID, At: s.DB.Now()}, "browser of "+p.ID)
	for range 2 { // again, it changes nothing
		s.Check(s.SetRole(t.Context(), s.By, p.StaffID, core.Manager))
	}
	if by, err := s.auth.Actor(t.Context(), cookie, s.By.Tenant.Slug); err != nil || by.Role != core.Manager {
		t.Errorf("their role is %s, %v", by.Role, err)
	}
	for _, role := range []core.Role{"", "boss", core.SuperAdmin} {
		shoptest.WantFields(t, s.SetRole(t.Context(), s.By, p.StaffID, role), core.Fields{"role": {core.InvalidChoice}})
	}
	s.Check(s.Deactivate(t.Context(), s.By, p.StaffID))
	if err := s.Deactivate(t.Context(), s.By, p.StaffID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("shut out twice: %v, want ErrNotFound", err)
	}
	if _, err := s.signIn(s.Email(p), known); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("signs in: %v", err)
	}
	s.Check(s.Activate(t.Context(), s.By, p.StaffID))
	if err := s.Activate(t.Context(), s.By, p.StaffID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("let in twice: %v, want ErrNotFound", err)
	}
	if s.isSignedIn(cookie) {
		t.Error("the session from before is alive again")
	}
	if in, err := s.signIn(s.Email(p), known); err != nil || in.Role != core.Manager {
		t.Errorf("let in again: %+v, %v", in, err)
	}
	s.WantPeopleLog("staff.%activate", `staff.deactivate {"status": "active"} {"status": "inactive"}`, `staff.activate {"status": "inactive"} {"status": "active"}`)
	s.WantPeopleLog("staff.set_role", `staff.set_role {"role": "cashier"} {"role": "manager"}`)
}

// The last active owner can't be demoted or deactivated. Invited and inactive owners don't count.
func TestThereIsAlwaysAnOwner(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.invite(core.Owner, "bo@example.com")
	gone := s.Person(core.Owner)
	s.Check(s.Deactivate(t.Context(), s.By, gone.StaffID))
	last := func(name string, want error) {
		t.Helper()
		if err := s.SetRole(t.Context(), s.By, s.By.StaffID, core.Manager); !errors.Is(err, want) {
			t.Errorf("%s, demoted: %v, want %v", name, err, want)
		}
		if want != nil {
			if err := s.Deactivate(t.Context(), s.By, s.By.StaffID); !errors.Is(err, want) {
				t.Errorf("%s, shut out: %v, want %v", name, err, want)
			}
		}
	}
	last("the only one", staff.ErrLastOwner)
	if err := s.SetRole(t.Context(), s.By, s.By.StaffID, core.Owner); err != nil {
		t.Errorf("stays what they are: %v", err)
	}
	// Other people can be deactivated.
	if err := s.SetRole(t.Context(), s.By, gone.StaffID, core.Cashier); err != nil {
		t.Errorf("who was shut out: %v", err)
	}
	s.Must(s.join(s.invitation("bo@example.com").Secret, "Bo", known))
	last("one of two", nil)
}

// If two owners demote or deactivate each other at once, one stays.
func TestOneOfTwoOwnersStays(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(s shop, by core.Actor, person int64) error{
		"demote": func(s shop, by core.Actor, person int64) error {
			return s.SetRole(t.Context(), by, person, core.Cashier)
		},
		"shut out": func(s shop, by core.Actor, person int64) error { return s.Deactivate(t.Context(), by, person) },
	} {
		for range 8 {
			s := newShop(t)
			second := s.Person(core.Owner)
			var outcomes [2]error
			var wait sync.WaitGroup
			wait.Go(func() { outcomes[0] = take(s, s.By, second.StaffID) })
			wait.Go(func() { outcomes[1] = take(s, second, s.By.StaffID) })
			wait.Wait()
			refused := 0
			for _, err := range outcomes {
				if errors.Is(err, staff.ErrLastOwner) {
					refused++
				} else if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			var owners int
			err := dbtest.Owner(s.DB).QueryRow(t.Context(), "select count(*) from loyalty.staff where tenant_id = $1 and role = 'owner' and status = 'active'", s.By.Tenant.ID).Scan(&owners)
			if err != nil || owners != 1 || refused != 1 {
				t.Fatalf("%s: %d owners are left, %d were refused, %v", name, owners, refused, err)
			}
		}
	}
}

// People change their own name.
func TestRename(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.Person(core.Cashier)
	for range 2 { // again, it changes nothing
		s.Check(s.Rename(t.Context(), cashier, " Bo Ek "))
	}
	if m := s.find(cashier.StaffID); m.Name != "Bo Ek" {
		t.Errorf("%+v", m)
	}
	if m := s.find(s.By.StaffID); m.Name == "Bo Ek" {
		t.Error("the owner is renamed")
	}
	shoptest.WantFields(t, s.Rename(t.Context(), cashier, " "), core.Fields{"name": {core.Required}})
	s.WantPeopleLog("staff.rename", `staff.rename {"name": "A cashier"} {"name": "Bo Ek"}`)
}

// The round trips of each use case.
func TestRoundTripsOfPeople(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	p := s.Person(core.Cashier)
	roles := []core.Role{core.Manager, core.Cashier}
	trips := func(name string, want int, call func(i int) error) {
		t.Helper()
		for i := range 2 { // the first run prepares the statements
			before := count()
			if err := call(i); err != nil {
				t.Fatal(name, err)
			}
			if got := count() - before; i == 1 && got != want {
				t.Errorf("%s: %d round trips, want %d", name, got, want)
			}
		}
	}
	trips("list", 1, func(int) error { _, err := s.List(t.Context(), s.By); return err })
	trips("find", 1, func(int) error { _, err := s.Find(t.Context(), s.By, p.StaffID); return err })
	trips("set role", 2, func(i int) error { return s.SetRole(t.Context(), s.By, p.StaffID, roles[i]) })
}
