package token_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/token"
)

// setRole changes the role of a person, as the owner of the office.
func (o office) setRole(person core.Actor, role core.Role) {
	o.T.Helper()
	o.Check(o.people.SetRole(o.T.Context(), o.By, person.StaffID, role))
}

// live returns the number of a person's live tokens.
func (o office) live(person core.Actor) int {
	o.T.Helper()
	return shoptest.Query[int](o.Shop, `
		select count(*) from loyalty.token
		where staff_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())`, person.StaffID)
}

// revocations returns the audit entries of revoked tokens: which token, and by whom.
func (o office) revocations() []string {
	o.T.Helper()
	return shoptest.QueryAll[string](o.Shop, `
		select subject_id || ' by ' || actor_kind || ' ' || actor_id || ': ' || (old->>'name')
		from loyalty.audit_entry
		where tenant_id = $1 and action = 'token.revoke' and subject_kind = 'token'
		order by subject_id::bigint`, o.By.Tenant.ID)
}

// A token works only while its person is an owner or a super-admin.
func TestATokenWorksOnlyWhileItsPersonMayHaveOne(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	colleague := o.as(o.As(core.Owner).By)
	secret := colleague.create("Till").Secret
	colleague.works(secret)
	for _, role := range []core.Role{core.Manager, core.Cashier} {
		o.Exec("update loyalty.staff set role = $2 where id = $1", colleague.By.StaffID, role)
		o.refused(secret, "")
	}
	o.Exec("update loyalty.staff set role = 'owner' where id = $1", colleague.By.StaffID)
	o.works(secret)

	admin, err := staff.CreateAdmin(t.Context(), o.DB, core.System(core.Tenant{}, "test"), staff.New{
		Name: "Root", Email: "root-" + o.By.Tenant.Slug + "@example.com",
	})
	o.Check(err)
	platform := o.as(core.Actor{Kind: core.ByAdmin, ID: fmt.Sprint(admin.ID), Name: admin.Name, StaffID: admin.ID, Role: core.SuperAdmin})
	secret = platform.create("Platform").Secret
	platform.works(secret)
	o.Exec("update loyalty.staff set status = 'inactive' where id = $1", admin.ID)
	o.refused(secret, "")
	if _, err := core.Result(platform.Create(t.Context(), platform.By, token.New{Name: "Late", Scopes: &[]string{}}, nil)); err == nil {
		t.Error("a super-admin who was deactivated creates tokens")
	}

	// A token of one tenant whose person belongs to another is refused.
	stranger := newOffice(t)
	strayed := stranger.create("Strayed")
	o.Exec("update loyalty.token set tenant_id = $2 where id = $1", strayed.ID, o.By.Tenant.ID)
	o.refused(strayed.Secret, "")
}

// A change of role revokes the tokens, each with an audit entry. A later promotion doesn't restore
// them.
func TestAChangeOfRoleRevokesTokens(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	colleague := o.as(o.As(core.Manager).By)
	o.setRole(colleague.By, core.Owner)
	colleague.By.Role = core.Owner
	own := o.create("Mine")
	first, second := colleague.create("First", "customers:read"), colleague.create("Second")
	gone := colleague.create("Revoked before")
	o.Must(core.Result(colleague.Revoke(t.Context(), colleague.By, gone.ID, nil)))
	expired := colleague.create("Expired before")
	o.Exec("update loyalty.token set expires_at = now() - interval '1 minute' where id = $1", expired.ID)

	o.setRole(colleague.By, core.Cashier)
	o.setRole(colleague.By, core.Owner)
	for _, secret := range []string{first.Secret, second.Secret, gone.Secret, expired.Secret} {
		o.refused(secret, "")
	}
	o.works(own.Secret)
	by := " by staff " + o.By.ID + ": "
	want := []string{
		strconv.FormatInt(first.ID, 10) + by + "First", strconv.FormatInt(second.ID, 10) + by + "Second",
		strconv.FormatInt(gone.ID, 10) + " by staff " + colleague.By.ID + ": Revoked before",
	}
	if got := o.revocations(); !slices.Equal(got, want) {
		t.Errorf("the audit log says %q, want %q", got, want)
	}

	// A promotion also revokes tokens left over from a demotion that revoked none.
	kept := colleague.create("Kept")
	o.Exec("update loyalty.staff set role = 'manager' where id = $1", colleague.By.StaffID)
	o.setRole(colleague.By, core.Owner)
	o.refused(kept.Secret, "")

	// Also if the role changes while they are deactivated.
	third := colleague.create("Third")
	for _, change := range []func() error{
		func() error { return o.people.Deactivate(t.Context(), o.By, colleague.By.StaffID) },
		func() error { return o.people.SetRole(t.Context(), o.By, colleague.By.StaffID, core.Manager) },
		func() error { return o.people.SetRole(t.Context(), o.By, colleague.By.StaffID, core.Owner) },
		func() error { return o.people.Activate(t.Context(), o.By, colleague.By.StaffID) },
	} {
		o.Check(change())
		o.refused(third.Secret, "")
	}
}

// A request that was authenticated before a demotion creates no token after it.
func TestDemotedPersonCreatesNoToken(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	colleague := o.as(o.As(core.Owner).By)
	caller := colleague.works(colleague.create("Till").Secret)
	o.setRole(colleague.By, core.Manager)
	scopes := []string{"customers:read"}
	for by, want := range map[core.ActorKind]error{core.ByStaff: core.ErrRole, core.ByToken: core.ErrUnauthenticated} {
		actor := colleague.By
		if by == core.ByToken {
			actor = caller.Actor
		}
		if _, err := core.Result(o.Create(t.Context(), actor, token.New{Name: "Late", Scopes: &scopes}, nil)); !errors.Is(err, want) {
			t.Errorf("by %s: %v, want %v", by, err, want)
		}
	}
	if n := o.live(colleague.By); n != 0 {
		t.Errorf("%d tokens are live", n)
	}
}

// A creation during a demotion waits, and is refused.
func TestACreationWaitsForADemotion(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	colleague := o.As(core.Owner).By
	demotion, err := dbtest.Owner(o.DB).Begin(t.Context())
	o.Check(err)
	o.Must(demotion.Exec(t.Context(), "update loyalty.staff set role = 'cashier' where id = $1", colleague.StaffID))
	outcome := make(chan error, 1)
	go func() {
		_, err := core.Result(o.Create(t.Context(), colleague, token.New{Name: "Late", Scopes: &[]string{}}, nil))
		outcome <- err
	}()
	holder := demotion.Conn().PgConn().PID()
	for waits := false; !waits && len(outcome) == 0; {
		err := dbtest.Owner(o.DB).QueryRow(t.Context(), dbtest.IsBlocking(t), holder).Scan(&waits)
		o.Check(err)
	}
	o.Check(demotion.Commit(t.Context()))
	if err := <-outcome; !errors.Is(err, core.ErrRole) {
		t.Errorf("creation = %v, want ErrRole", err)
	}
}

// A demotion with concurrent creations leaves no live token.
func TestADemotionLeavesNoLiveToken(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	created := 0
	for range 12 {
		colleague := o.as(o.As(core.Owner).By)
		caller := colleague.works(colleague.create("Till").Secret)
		outcomes := make([]error, 6)
		var wait sync.WaitGroup
		for i := range outcomes {
			by := colleague.By
			if i%2 == 0 {
				by = caller.Actor
			}
			wait.Go(func() {
				_, outcomes[i] = core.Result(o.Create(t.Context(), by, token.New{Name: "Another", Scopes: &[]string{}}, nil))
			})
		}
		wait.Go(func() {
			if err := o.people.SetRole(t.Context(), o.By, colleague.By.StaffID, core.Cashier); err != nil {
				t.Error(err)
			}
		})
		wait.Wait()
		for _, err := range outcomes {
			if err == nil {
				created++
			} else if !errors.Is(err, core.ErrRole) && !errors.Is(err, core.ErrUnauthenticated) {
				t.Error(err)
			}
		}
		if n := o.live(colleague.By); n != 0 {
			t.Fatalf("%d tokens are live after the demotion", n)
		}
	}
	t.Logf("%d of %d creations came first", created, 12*6)
}

// An owner sees and revokes a colleague's live tokens, but none of another tenant.
func TestAnOwnerRevokesTokensOfOthers(t *testing.T) {
	t.Parallel()
	o, stranger := newOffice(t), newOffice(t)
	colleague := o.as(o.As(core.Owner).By)
	own := o.create("Mine")
	first, second, third := colleague.create("First"), colleague.create("Second"), colleague.create("Third")
	expired := colleague.create("Expired")
	o.Exec("update loyalty.token set expires_at = now() - interval '1 minute' where id = $1", expired.ID)
	person := colleague.By.StaffID
	names := func(by core.Actor) (names []string) {
		t.Helper()
		list, err := o.ListLive(t.Context(), by, person)
		o.Check(err)
		for _, k := range list {
			names = append(names, k.Name)
		}
		return names
	}
	if got := names(o.By); !slices.Equal(got, []string{"Third", "Second", "First"}) {
		t.Errorf("live are %q", got)
	}
	if got := names(stranger.By); len(got) != 0 {
		t.Errorf("a stranger sees %q", got)
	}
	for name, try := range map[string]func() error{
		"a stranger finds": func() error { _, err := o.FindForPerson(t.Context(), stranger.By, person, first.ID); return err },
		"a stranger revokes": func() error {
			_, err := core.Result(o.RevokeForPerson(t.Context(), stranger.By, person, first.ID, nil))
			return err
		},
		"a stranger revokes all": func() error { return o.RevokeAllForPerson(t.Context(), stranger.By, person) },
		"found as another's":     func() error { _, err := o.FindForPerson(t.Context(), o.By, person, own.ID); return err },
		"revoked as another's": func() error {
			_, err := core.Result(o.RevokeForPerson(t.Context(), o.By, person, own.ID, nil))
			return err
		},
		"a stranger's as a member": func() error {
			_, err := core.Result(o.RevokeForPerson(t.Context(), stranger.By, stranger.By.StaffID, first.ID, nil))
			return err
		},
	} {
		if err := try(); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	for _, role := range []core.Role{core.Manager, core.Cashier} {
		by := dbtest.Person(t, o.DB, o.By, role)
		_, listed := o.ListLive(t.Context(), by, person)
		_, found := o.FindForPerson(t.Context(), by, person, first.ID)
		_, revoked := core.Result(o.RevokeForPerson(t.Context(), by, person, first.ID, nil))
		for name, err := range map[string]error{"list": listed, "find": found, "revoke": revoked, "revoke all": o.RevokeAllForPerson(t.Context(), by, person)} {
			if !errors.Is(err, core.ErrRole) {
				t.Errorf("%s by a %s: %v, want ErrRole", name, role, err)
			}
		}
	}
	o.works(first.Secret)

	if found, err := o.FindForPerson(t.Context(), o.By, person, second.ID); err != nil || found.Name != "Second" {
		t.Errorf("found %+v, %v", found, err)
	}
	if k, err := core.Result(o.RevokeForPerson(t.Context(), o.By, person, second.ID, nil)); err != nil || k.Name != "Second" {
		t.Errorf("revoked %+v, %v", k, err)
	}
	o.refused(second.Secret, "")
	o.works(first.Secret)
	o.Check(o.RevokeAllForPerson(t.Context(), o.By, person))
	o.refused(first.Secret, "")
	o.refused(third.Secret, "")
	o.works(own.Secret)
	if err := o.RevokeAllForPerson(t.Context(), o.By, person); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("revoked twice: %v, want ErrNotFound", err)
	}
	by := " by staff " + o.By.ID + ": "
	want := []string{fmt.Sprint(first.ID, by, "First"), fmt.Sprint(second.ID, by, "Second"), fmt.Sprint(third.ID, by, "Third")}
	if got := o.revocations(); !slices.Equal(got, want) {
		t.Errorf("the audit log says %q, want %q", got, want)
	}
}

// A revoked token can't create another one, also in a running request.
func TestARevokedTokenCreatesNoOther(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for range 8 {
		colleague := o.as(o.As(core.Owner).By)
		leaked := colleague.works(colleague.create("Leaked").Secret)
		outcomes := make([]error, 5)
		var wait sync.WaitGroup
		for i := range outcomes {
			wait.Go(func() {
				_, outcomes[i] = core.Result(o.Create(t.Context(), leaked.Actor, token.New{Name: "Another", Scopes: &[]string{}}, nil))
			})
		}
		wait.Go(func() {
			if err := o.RevokeAllForPerson(t.Context(), o.By, colleague.By.StaffID); err != nil {
				t.Error(err)
			}
		})
		wait.Wait()
		for _, err := range outcomes {
			if err != nil && !errors.Is(err, core.ErrUnauthenticated) {
				t.Error(err)
			}
		}
		if n := o.live(colleague.By); n != 0 {
			t.Fatalf("%d tokens are live", n)
		}
		if _, err := core.Result(o.Create(t.Context(), leaked.Actor, token.New{Name: "Late", Scopes: &[]string{}}, nil)); !errors.Is(err, core.ErrUnauthenticated) {
			t.Fatalf("afterwards: %v, want ErrUnauthenticated", err)
		}
	}
}

// A person has at most 100 live tokens, also with 200 concurrent requests. Revoked and expired ones
// don't count.
func TestAPersonHasAtMost100LiveTokens(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	expired := o.create("Expired")
	o.Exec("update loyalty.token set expires_at = now() - interval '1 minute' where id = $1", expired.ID)
	another := func() error {
		_, err := core.Result(o.Create(t.Context(), o.By, token.New{Name: "Another", Scopes: &[]string{}}, nil))
		return err
	}
	outcomes := make([]error, 200)
	var wait sync.WaitGroup
	for i := range outcomes {
		wait.Go(func() { outcomes[i] = another() })
	}
	wait.Wait()
	created := 0
	for _, err := range outcomes {
		if err == nil {
			created++
		} else if !errors.Is(err, token.ErrLimit) {
			t.Fatal(err)
		}
	}
	if n := o.live(o.By); created != token.MaxLive || n != token.MaxLive {
		t.Fatalf("%d were created and %d are live, want %d", created, n, token.MaxLive)
	}
	list, err := o.ListLive(t.Context(), o.By, o.By.StaffID)
	if err != nil || len(list) != token.MaxLive {
		t.Fatalf("%d are listed, %v", len(list), err)
	}
	o.Must(core.Result(o.Revoke(t.Context(), o.By, list[0].ID, nil)))
	if first, second := another(), another(); first != nil || !errors.Is(second, token.ErrLimit) {
		t.Errorf("with room for one: %v, then %v", first, second)
	}
	// The limit is by person.
	o.as(o.As(core.Owner).By).create("A colleague's")

	// Each revoked token has an audit entry.
	o.Check(o.RevokeAllForPerson(t.Context(), o.By, o.By.StaffID))
	if got := len(o.revocations()); got != token.MaxLive+1 {
		t.Errorf("the audit log has %d lines", got)
	}
	if err := another(); err != nil {
		t.Error(err)
	}
}

// A change of role takes two round trips, and three if it revokes tokens.
func TestRoundTripsOfAChangeOfRole(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	o := officeIn(t, d)
	colleague := o.as(dbtest.Person(t, d, o.By, core.Owner))
	trips := func(role core.Role) int {
		before := count()
		o.setRole(colleague.By, role)
		return count() - before
	}
	trips(core.Manager) // prepares the statements
	trips(core.Owner)
	for range 3 {
		colleague.create("Till")
	}
	if got := trips(core.Manager); got != 3 {
		t.Errorf("from owner to manager: %d round trips, want 3", got)
	}
	if got := trips(core.Cashier); got != 2 {
		t.Errorf("from manager to cashier: %d round trips, want 2", got)
	}
}
