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
	"example.com/loyalty/core/staff"
)

func (s shop) invite(t *testing.T, role core.Role, email string) staff.Person {
	t.Helper()
	p, err := s.Invite(t.Context(), s.by, staff.New{Role: role, Name: "Bo", Email: email, Password: "not for me to say"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// invitation returns the secret of the last invitation that was mailed to an address.
func (s shop) invitation(t *testing.T, email string) auth.InvitationEmail {
	t.Helper()
	letters := s.post.to(email)
	if len(letters) == 0 {
		t.Fatal("nothing was mailed")
	}
	return letters[len(letters)-1].(auth.InvitationEmail)
}

func (s shop) join(t *testing.T, secret, name, password string) (auth.SignedIn, error) {
	t.Helper()
	return s.Join(t.Context(), s.visitor, secret, staff.Joining{Name: name, Password: password})
}

func (s shop) find(t *testing.T, person int64) staff.Member {
	t.Helper()
	m, err := s.Find(t.Context(), s.by, person)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// An invitation is random, stored as a hash, and works once within 7 days: the person enters a name
// and a password and is signed in.
func TestJoin(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p := s.invite(t, core.Manager, "bo@example.com")
	sent := s.invitation(t, "bo@example.com")
	if sent.Tenant != s.by.Tenant.Name || sent.Slug != s.by.Tenant.Slug || sent.Person != "Bo" || sent.Role != core.Manager || len(sent.Secret) != 26 {
		t.Errorf("mailed: %+v", sent)
	}
	var invited int64
	var hash []byte
	var created, expires time.Time
	err := dbtest.Owner(s.db).QueryRow(t.Context(), "select staff_id, hash, created_at, expires_at from loyalty.invitation where tenant_id = $1 and taken_at is null", s.by.Tenant.ID).
		Scan(&invited, &hash, &created, &expires)
	if err != nil {
		t.Fatal(err)
	}
	if want := sha256.Sum256([]byte(sent.Secret)); string(hash) != string(want[:]) || invited != p.ID || expires.Sub(created) != 7*24*time.Hour || !expires.Equal(sent.ExpiresAt) {
		t.Errorf("stored: %x for %d, from %s until %s", hash, invited, created, expires)
	}
	if m := s.find(t, p.ID); !m.Invited || m.InvitedUntil == nil || !m.InvitedUntil.Equal(expires) || !m.Active || m.TwoFactor {
		t.Errorf("%+v", m)
	}

	if l, err := s.auth.FindInvitation(t.Context(), s.visitor, sent.Secret); err != nil || l.Person != p || !l.ExpiresAt.Equal(expires) {
		t.Errorf("the link is for %+v, %v", l, err)
	}
	_, err = s.join(t, sent.Secret, " ", "bo@example.com")
	wantFields(t, err, core.Fields{
		"name":     {core.Required},
		"password": {core.Violation{Rule: "easy_password"}},
	})
	in, err := s.join(t, sent.Secret, " Bo Ek ", known)
	if want := (staff.Person{ID: p.ID, Role: core.Manager, Name: "Bo Ek", Email: "bo@example.com"}); err != nil || in.Person != want || in.NeedsCode {
		t.Fatalf("joined: %+v, %v", in, err)
	}
	if !s.isSignedIn(t, s.cookie(t, in.Proof, "browser of "+s.by.ID)) {
		t.Error("the proof signs no one in")
	}
	if _, err := s.join(t, sent.Secret, "Bo", known); !errors.Is(err, auth.ErrLink) {
		t.Errorf("taken twice: %v, want ErrLink", err)
	}
	if _, err := s.auth.FindInvitation(t.Context(), s.visitor, sent.Secret); !errors.Is(err, auth.ErrLink) {
		t.Errorf("shown once taken: %v, want ErrLink", err)
	}
	if _, err := s.signIn(t, "bo@example.com", known); err != nil {
		t.Errorf("the password: %v", err)
	}
	if m := s.find(t, p.ID); m.Invited || m.InvitedUntil != nil || m.Name != "Bo Ek" {
		t.Errorf("%+v", m)
	}
	if err := s.auth.InviteAgain(t.Context(), s.by, p.ID); !errors.Is(err, auth.ErrJoined) {
		t.Errorf("invited again: %v, want ErrJoined", err)
	}
	s.wantLog(t, "staff.%in%",
		`staff.invite - {"email": "bo@example.com", "expires_at": "`+expires.Format("2006-01-02T15:04:05.999Z07:00")+`"}`,
		`staff.join - {"name": "Bo Ek"}`, `staff.sign_in - {"with": "password"}`)
}

// An invitation expires, belongs to one tenant, and is withdrawn by the next one or when the person
// is deactivated.
func TestJoinRefusesInvalidInvitations(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	p := s.invite(t, core.Cashier, "bo@example.com")
	first := s.invitation(t, "bo@example.com").Secret
	refused := func(name string, s shop, secret string) {
		t.Helper()
		if _, err := s.auth.FindInvitation(t.Context(), s.visitor, secret); !errors.Is(err, auth.ErrLink) {
			t.Errorf("%s: shown: %v, want ErrLink", name, err)
		}
		if _, err := s.join(t, secret, "Bo", known); !errors.Is(err, auth.ErrLink) {
			t.Errorf("%s: taken: %v, want ErrLink", name, err)
		}
	}
	refused("unknown", s, "LQJ7WZ6M3KXN5T2VBYD4R5S6AE")
	refused("at another tenant's host", other, first)
	refused("after seven days", s.later(t, 7*24*time.Hour+time.Minute), first)
	if err := s.auth.Reset(t.Context(), s.visitor, first, auth.NewPassword{Password: known}); !errors.Is(err, auth.ErrLink) {
		t.Errorf("as a reset: %v, want ErrLink", err)
	}
	if err := s.auth.InviteAgain(t.Context(), s.by, p.ID); err != nil {
		t.Fatal(err)
	}
	refused("once there is another", s, first)
	second := s.invitation(t, "bo@example.com").Secret
	if err := s.Deactivate(t.Context(), s.by, p.ID); err != nil {
		t.Fatal(err)
	}
	refused("of a deactivated person", s, second)
	if err := s.auth.InviteAgain(t.Context(), s.by, p.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("invited while shut out: %v, want ErrNotFound", err)
	}
	if err := s.Activate(t.Context(), s.by, p.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.join(t, second, "Bo", known); err != nil {
		t.Errorf("let in again: %v", err)
	}
}

// Two concurrent clicks use an invitation once.
func TestConcurrentClicksJoinOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.invite(t, core.Cashier, "bo@example.com")
	secret := s.invitation(t, "bo@example.com").Secret
	outcomes := make([]error, 6)
	var wait sync.WaitGroup
	for i := range outcomes {
		wait.Go(func() { _, outcomes[i] = s.join(t, secret, "Bo", known) })
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
	p := s.person(t, core.Cashier)
	invited := s.invite(t, core.Cashier, "bo@example.com")
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
		if err := try(stranger.by); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s by a stranger: %v, want ErrNotFound", name, err)
		}
	}
	cases["list"] = func(by core.Actor) error { _, err := s.List(ctx, by); return err }
	cases["invite"] = func(by core.Actor) error {
		_, err := s.Invite(ctx, by, staff.New{Role: core.Owner, Name: "Eve", Email: "eve@example.com"})
		return err
	}
	for name, try := range cases {
		for _, role := range []core.Role{core.Manager, core.Cashier} {
			if err := try(s.person(t, role)); !errors.Is(err, core.ErrRole) {
				t.Errorf("%s by a %s: %v, want ErrRole", name, role, err)
			}
		}
	}
	if len(s.post.to("eve@example.com")) != 0 {
		t.Error("a person was invited nevertheless")
	}
}

func TestPeopleAreListed(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	other.person(t, core.Cashier)
	manager, gone := s.person(t, core.Manager), s.person(t, core.Cashier)
	s.exec(t, "update loyalty.credential set totp_secret = 'sealed' where staff_id = $1", manager.StaffID)
	if err := s.Deactivate(t.Context(), s.by, gone.StaffID); err != nil {
		t.Fatal(err)
	}
	s.token(t, s.by)
	s.exec(t, "update loyalty.token set expires_at = now() - interval '1 minute' where id = $1", s.token(t, s.by).ID)
	bo := s.invite(t, core.Cashier, "bo@example.com")
	s.exec(t, "update loyalty.staff set name = 'a late name' where id = $1", s.by.StaffID)
	list, err := s.List(t.Context(), s.by)
	if err != nil {
		t.Fatal(err)
	}
	member := func(p core.Actor, name string) staff.Member {
		return staff.Member{Person: staff.Person{ID: p.StaffID, Role: p.Role, Name: name, Email: s.email(t, p)}, Active: true}
	}
	want := []staff.Member{member(s.by, "a late name"), member(manager, "A manager"), {Person: bo, Active: true, Invited: true}, member(gone, "A cashier")}
	want[0].LiveTokens, want[1].TwoFactor, want[3].Active = 1, true, false
	if diff := cmp.Diff(want, list, cmpopts.IgnoreFields(staff.Member{}, "CreatedAt", "InvitedUntil")); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	// An invitation that ran out is none.
	later, err := s.later(t, 8*24*time.Hour).List(t.Context(), s.by)
	if err != nil || list[2].InvitedUntil == nil || later[2].InvitedUntil != nil || !later[2].Invited {
		t.Errorf("%+v, %v", later[2], err)
	}
}

// A role changes with the next request. A deactivated person is signed out, and has what they had
// when they are activated.
func TestPeopleChange(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p := s.person(t, core.Cashier)
	cookie := s.cookie(t, auth.Proof{StaffID: p.StaffID, At: s.db.Now()}, "browser of "+p.ID)
	for range 2 { // again, it changes nothing
		if err := s.SetRole(t.Context(), s.by, p.StaffID, core.Manager); err != nil {
			t.Fatal(err)
		}
	}
	if by, err := s.auth.Actor(t.Context(), cookie, s.by.Tenant.Slug); err != nil || by.Role != core.Manager {
		t.Errorf("their role is %s, %v", by.Role, err)
	}
	for _, role := range []core.Role{"", "boss", core.SuperAdmin} {
		wantFields(t, s.SetRole(t.Context(), s.by, p.StaffID, role), core.Fields{"role": {core.InvalidChoice}})
	}
	if err := s.Deactivate(t.Context(), s.by, p.StaffID); err != nil {
		t.Fatal(err)
	}
	if err := s.Deactivate(t.Context(), s.by, p.StaffID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("shut out twice: %v, want ErrNotFound", err)
	}
	if _, err := s.signIn(t, s.email(t, p), known); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("signs in: %v", err)
	}
	if err := s.Activate(t.Context(), s.by, p.StaffID); err != nil {
		t.Fatal(err)
	}
	if err := s.Activate(t.Context(), s.by, p.StaffID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("let in twice: %v, want ErrNotFound", err)
	}
	if s.isSignedIn(t, cookie) {
		t.Error("the session from before is alive again")
	}
	if in, err := s.signIn(t, s.email(t, p), known); err != nil || in.Role != core.Manager {
		t.Errorf("let in again: %+v, %v", in, err)
	}
	s.wantLog(t, "staff.%activate", `staff.deactivate {"status": "active"} {"status": "inactive"}`, `staff.activate {"status": "inactive"} {"status": "active"}`)
	s.wantLog(t, "staff.set_role", `staff.set_role {"role": "cashier"} {"role": "manager"}`)
}

// The last active owner can't be demoted or deactivated. Invited and inactive owners don't count.
func TestThereIsAlwaysAnOwner(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.invite(t, core.Owner, "bo@example.com")
	gone := s.person(t, core.Owner)
	if err := s.Deactivate(t.Context(), s.by, gone.StaffID); err != nil {
		t.Fatal(err)
	}
	last := func(name string, want error) {
		t.Helper()
		if err := s.SetRole(t.Context(), s.by, s.by.StaffID, core.Manager); !errors.Is(err, want) {
			t.Errorf("%s, demoted: %v, want %v", name, err, want)
		}
		if want != nil {
			if err := s.Deactivate(t.Context(), s.by, s.by.StaffID); !errors.Is(err, want) {
				t.Errorf("%s, shut out: %v, want %v", name, err, want)
			}
		}
	}
	last("the only one", staff.ErrLastOwner)
	if err := s.SetRole(t.Context(), s.by, s.by.StaffID, core.Owner); err != nil {
		t.Errorf("stays what they are: %v", err)
	}
	// Others come and go.
	if err := s.SetRole(t.Context(), s.by, gone.StaffID, core.Cashier); err != nil {
		t.Errorf("who was shut out: %v", err)
	}
	if _, err := s.join(t, s.invitation(t, "bo@example.com").Secret, "Bo", known); err != nil {
		t.Fatal(err)
	}
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
			second := s.person(t, core.Owner)
			var outcomes [2]error
			var wait sync.WaitGroup
			wait.Go(func() { outcomes[0] = take(s, s.by, second.StaffID) })
			wait.Go(func() { outcomes[1] = take(s, second, s.by.StaffID) })
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
			err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from loyalty.staff where tenant_id = $1 and role = 'owner' and status = 'active'", s.by.Tenant.ID).Scan(&owners)
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
	cashier := s.person(t, core.Cashier)
	for range 2 { // again, it changes nothing
		if err := s.Rename(t.Context(), cashier, " Bo Ek "); err != nil {
			t.Fatal(err)
		}
	}
	if m := s.find(t, cashier.StaffID); m.Name != "Bo Ek" {
		t.Errorf("%+v", m)
	}
	if m := s.find(t, s.by.StaffID); m.Name == "Bo Ek" {
		t.Error("the owner is renamed")
	}
	wantFields(t, s.Rename(t.Context(), cashier, " "), core.Fields{"name": {core.Required}})
	s.wantLog(t, "staff.rename", `staff.rename {"name": "A cashier"} {"name": "Bo Ek"}`)
}

// The round trips of each use case.
func TestRoundTripsOfPeople(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	p := s.person(t, core.Cashier)
	roles := []core.Role{core.Manager, core.Cashier}
	trips := func(name string, want int, call func(i int) error) {
		t.Helper()
		for i := range 2 { // the first prepares
			before := count()
			if err := call(i); err != nil {
				t.Fatal(name, err)
			}
			if got := count() - before; i == 1 && got != want {
				t.Errorf("%s: %d round trips, want %d", name, got, want)
			}
		}
	}
	trips("list", 1, func(int) error { _, err := s.List(t.Context(), s.by); return err })
	trips("find", 1, func(int) error { _, err := s.Find(t.Context(), s.by, p.StaffID); return err })
	trips("set role", 2, func(i int) error { return s.SetRole(t.Context(), s.by, p.StaffID, roles[i]) })
}
