package auth_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/staff"
)

// platform is the base host, where super-admins sign in.
type platform struct {
	shop
	email string // of the super-admin, whose password is the known one
}

// newPlatform is a platform with one super-admin, and a tenant.
func newPlatform(t *testing.T, d *db.DB) platform {
	t.Helper()
	s := shopIn(t, d)
	by := dbtest.Admin(t, d)
	by.Address = s.visitor.Address
	s.knows(t, by)
	p := platform{shopOn(t, d, by, s.post), ""}
	p.visitor = auth.Visitor{Address: address(by), RequestID: "R1"}
	p.email = p.shop.email(t, by)
	return p
}

func (p platform) atStep(t *testing.T) (platform, time.Time) {
	t.Helper()
	s, now := p.shop.atStep(t)
	s.visitor = p.visitor
	p.shop = s
	return p, now
}

// signedIn returns the person signed in by a proof at a host; nil: none.
func (p platform) signedIn(t *testing.T, proof auth.Proof, cookie, slug string) *auth.Identity {
	t.Helper()
	store := auth.NewStore(p.db)
	in := &auth.Visit{}
	in.SignIn(proof)
	if err := store.CommitCtx(auth.WithVisit(t.Context(), in), cookie, []byte{}, p.db.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	return p.who(t, cookie, slug)
}

func (p platform) who(t *testing.T, cookie, slug string) *auth.Identity {
	t.Helper()
	v, err := auth.NewStore(p.db).Load(t.Context(), auth.Visit{Slug: slug, Address: "192.0.2.1", RequestID: "R2"}, cookie)
	if err != nil {
		t.Fatal(err)
	}
	return v.Person
}

func (p platform) wantPlatformLog(t *testing.T, want ...string) {
	t.Helper()
	rows, err := dbtest.Owner(p.db).Query(t.Context(), `
		select action || ' by ' || actor_kind || coalesce(' ' || new::text, '')
		from loyalty.platform_audit_entry
		where subject_kind in ('staff', 'session') and actor_name <> 'test'
		order by id`)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("platform log (-want +got):\n%s", diff)
	}
}

// A super-admin has no role until two-step verification is set up at the first sign-in. Setting it
// up ends earlier sessions.
func TestASuperAdminSetsUpTwoStepVerification(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, dbtest.OwnDB(t))
	p, now := p.atStep(t)
	in, err := p.try(t, p.email, known)
	if err != nil || in.NeedsCode || in.Role != core.SuperAdmin {
		t.Fatalf("%+v, %v", in, err)
	}
	first := p.signedIn(t, in.Proof, "first", "")
	if first == nil || first.TwoFactor || first.Role != "" || first.Kind != core.ByAdmin || first.Tenant.ID != 0 || !errors.Is(first.RequireAdmin(), core.ErrAdmin) {
		t.Fatalf("signed in by a password alone: %+v", first)
	}
	stolen := p.signedIn(t, in.Proof, "stolen", "")
	if stolen == nil {
		t.Fatal("the second browser is not signed in")
	}

	begun, err := p.BeginRequiredTwoFactor(t.Context(), p.visitor, in)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := p.PendingTwoFactor(t.Context(), first.Actor); err != nil || again != begun {
		t.Errorf("shown again: %+v, %v", again, err)
	}
	_, err = p.ConfirmTwoFactor(t.Context(), first.Actor, "000000")
	wantBadCode(t, err)
	enrolment, err := p.ConfirmTwoFactor(t.Context(), first.Actor, code(t, begun.Secret, now))
	if err != nil || len(enrolment.RecoveryCodes) != 10 {
		t.Fatalf("%+v, %v", enrolment, err)
	}
	if p.who(t, "first", "") != nil || p.who(t, "stolen", "") != nil {
		t.Error("who signed in by the password alone is signed in still")
	}
	here := p.signedIn(t, enrolment.Proof, "here", "")
	if here == nil || !here.TwoFactor || here.Role != core.SuperAdmin || here.RequireAdmin() != nil || here.Email != p.email || here.Address != "192.0.2.1" {
		t.Fatalf("afterwards: %+v", here)
	}
	if state, err := p.TwoFactor(t.Context(), here.Actor); err != nil || state != (auth.TwoFactor{On: true, RecoveryCodes: 10}) {
		t.Errorf("%+v, %v", state, err)
	}

	// From now on, a password needs a code.
	in, err = p.try(t, p.email, known)
	if err != nil || !in.NeedsCode || p.signedIn(t, in.Proof, "without", "") != nil {
		t.Errorf("the password alone: %+v, %v", in, err)
	}
	wantBadCode(t, p.verify(t, in.Proof, "000000"))
	for i, given := range []string{code(t, begun.Secret, now.Add(30*time.Second)), enrolment.RecoveryCodes[0]} {
		done, err := p.VerifyCode(t.Context(), p.visitor, in.Proof, given)
		if err != nil {
			t.Fatal(err)
		}
		if who := p.signedIn(t, done.Proof, "code "+given, ""); who == nil || who.RequireAdmin() != nil {
			t.Errorf("%d: %+v", i, who)
		}
		wantBadCode(t, p.verify(t, in.Proof, given))
	}
	if err := p.DisableTwoFactor(t.Context(), here.Actor, known); !core.IsKind(err, core.KindForbidden) {
		t.Errorf("turned off: %v", err)
	}
	const refused = `staff.sign_in_refused by system {"email": "`
	wrong := refused + p.email + `", "reason": "wrong code"}`
	p.wantPlatformLog(
		t, `staff.sign_in by admin {"with": "password"}`, "staff.enrol_totp by admin", wrong,
		`staff.sign_in by admin {"with": "password and a code of their app"}`, wrong,
		`staff.sign_in by admin {"with": "password and a recovery code"}`, wrong,
	)
	if letters := p.post.to(p.email); len(letters) != 1 || letters[0].(auth.ChangeEmail).Change != auth.TwoFactorOn || letters[0].(auth.ChangeEmail).Slug != "" {
		t.Errorf("mailed: %+v", letters)
	}
}

// Two-step verification can't be turned off on the platform, only moved to another app. The app in
// use works until the new one is confirmed.
func TestTwoStepVerificationMovesToAnotherApp(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, dbtest.OwnDB(t))
	p, now := p.atStep(t)
	secret, recovery := p.enrolled(t, p.by, now)
	_, err := p.RenewTwoFactor(t.Context(), p.by, "wrong")
	wantFields(t, err, core.Fields{"confirmation": {core.Violation{Rule: "wrong_password"}}})
	if _, err := p.BeginTwoFactor(t.Context(), p.by, known); !errors.Is(err, auth.ErrTwoFactorOn) {
		t.Errorf("begun while it is on: %v", err)
	}
	begun, err := p.RenewTwoFactor(t.Context(), p.by, known)
	if err != nil || begun.Secret == secret {
		t.Fatalf("%+v, %v", begun, err)
	}
	if err := p.verify(t, p.password(t, p.by), code(t, secret, now)); err != nil {
		t.Errorf("meanwhile, by the old app: %v", err)
	}
	late := p.later(t, 11*time.Minute)
	if _, err := late.ConfirmTwoFactor(t.Context(), p.by, code(t, begun.Secret, now.Add(11*time.Minute))); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("eleven minutes later: %v", err)
	}
	enrolment, err := p.ConfirmTwoFactor(t.Context(), p.by, code(t, begun.Secret, now))
	if err != nil {
		t.Fatal(err)
	}
	proof := p.password(t, p.by)
	for _, old := range []string{code(t, secret, now.Add(30*time.Second)), recovery[1]} {
		wantBadCode(t, p.verify(t, proof, old))
	}
	if err := p.verify(t, proof, enrolment.RecoveryCodes[0]); err != nil {
		t.Errorf("by a new recovery code: %v", err)
	}
	letters := p.post.to(p.email)
	if last := letters[len(letters)-1].(auth.ChangeEmail); last.Change != auth.TwoFactorRenewed || last.By != "" {
		t.Errorf("mailed: %+v", letters)
	}
}

// A session or credentials of a tenant don't work on the platform's host, nor the reverse.
func TestSessionsBelongToOneHost(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	p, s := newPlatform(t, d), newShop(t)
	owner := s.cookie(t, auth.Proof{StaffID: s.by.StaffID, At: d.Now()}, "owner of "+s.by.ID)
	if p.who(t, owner, s.by.Tenant.Slug) == nil {
		t.Fatal("the owner is not signed in")
	}
	admin := "admin " + p.by.ID
	if p.signedIn(t, auth.Proof{StaffID: p.by.StaffID, At: d.Now()}, admin, "") == nil {
		t.Fatal("the super-admin is not signed in")
	}
	for name, who := range map[string]*auth.Identity{
		"an owner at the base host": p.who(t, owner, ""), "a super-admin at a tenant's": p.who(t, admin, s.by.Tenant.Slug),
		"a super-admin at an unknown one":   p.who(t, admin, "nowhere"),
		"an owner's proof at the base host": p.signedIn(t, auth.Proof{StaffID: s.by.StaffID, At: d.Now()}, "crossed "+s.by.ID, ""),
	} {
		if who != nil {
			t.Errorf("%s is %+v", name, who)
		}
	}
	in := &auth.Visit{Slug: s.by.Tenant.Slug}
	in.SignIn(auth.Proof{StaffID: p.by.StaffID, At: d.Now()})
	if err := auth.NewStore(d).CommitCtx(auth.WithVisit(t.Context(), in), "crossed "+p.by.ID, []byte{}, d.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if p.who(t, "crossed "+p.by.ID, s.by.Tenant.Slug) != nil || p.who(t, "crossed "+p.by.ID, "") != nil {
		t.Error("a super-admin's proof signs in at a tenant's host")
	}
	if _, err := p.Actor(t.Context(), admin, ""); !errors.Is(err, core.ErrUnauthenticated) {
		t.Errorf("a super-admin's session for the API: %v", err)
	}
	if _, err := p.try(t, s.email(t, s.by), known); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("an owner signs in to the platform: %v", err)
	}
	if _, err := s.try(t, p.email, known); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("a super-admin signs in to a tenant: %v", err)
	}
	if err := p.RequestReset(t.Context(), p.visitor, p.email); !core.IsKind(err, core.KindForbidden) {
		t.Errorf("a super-admin resets by mail: %v", err)
	}
}

// Super-admins change their own account, and guesses of their password are limited.
func TestSuperAdminChangesOwnAccount(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, dbtest.OwnDB(t))
	p, now := p.atStep(t)
	p.enrolled(t, p.by, now)
	proof := auth.Proof{StaffID: p.by.StaffID, At: p.db.Now(), Code: true}
	here, there := p.signedIn(t, proof, "here", ""), p.signedIn(t, proof, "there", "")
	if here == nil || there == nil {
		t.Fatal("not signed in")
	}
	list, err := p.Sessions(t.Context(), here.Actor, here.Session)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := p.EndSession(t.Context(), here.Actor, there.Session); err != nil || p.who(t, "there", "") != nil {
		t.Errorf("ended: %v", err)
	}
	p.signedIn(t, proof, "third", "")
	if n, err := p.EndOtherSessions(t.Context(), here.Actor, here.Session); err != nil || n != 1 {
		t.Errorf("ended %d, %v", n, err)
	}
	if codes, err := p.RenewRecoveryCodes(t.Context(), here.Actor, known); err != nil || len(codes) != 10 {
		t.Errorf("recovery codes: %v, %v", codes, err)
	}
	if err := p.people.Rename(t.Context(), here.Actor, "Åsa Root"); err != nil {
		t.Error(err)
	}
	fresh, err := p.ChangePassword(t.Context(), here.Actor, known, another)
	if err != nil || p.who(t, "here", "") != nil {
		t.Fatalf("changed: %v", err)
	}
	again := p.signedIn(t, fresh, "again", "")
	if again == nil || again.Name != "Åsa Root" {
		t.Fatalf("%+v", again)
	}
	if err := p.SignOut(t.Context(), again.Actor, again.Session); err != nil || p.who(t, "again", "") != nil {
		t.Errorf("signed out: %v", err)
	}
	for range 10 {
		if _, err := p.try(t, p.email, "wrong"); !errors.Is(err, auth.ErrCredentials) {
			t.Fatal(err)
		}
	}
	_, err = p.try(t, p.email, another)
	wantThrottled(t, err, "Too many attempts. Please try again in 15 minutes.")

	// "No password reset by mail": the operator sets one, and forgives the attempts.
	operator := core.System(core.Tenant{}, "loyalty admin reset-password")
	for by, want := range map[*core.Actor]error{{Kind: core.ByStaff, Role: core.Owner}: core.ErrAdmin, &operator: core.ErrNotFound} {
		if _, err := p.SetAdminPassword(t.Context(), *by, "stranger@example.com", known); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", by.Kind, err, want)
		}
	}
	if who, err := p.SetAdminPassword(t.Context(), operator, " "+p.email, known); err != nil || who.ID != p.by.StaffID {
		t.Fatalf("%+v, %v", who, err)
	}
	if in, err := p.try(t, p.email, known); err != nil || !in.NeedsCode {
		t.Errorf("the new password: %+v, %v", in, err)
	}
	if _, err := p.ResetTwoFactor(t.Context(), operator, p.email); err != nil {
		t.Fatal(err)
	}
	if in, err := p.try(t, p.email, known); err != nil || in.NeedsCode {
		t.Errorf("without two-step verification: %+v, %v", in, err)
	}
	if _, err := p.ResetTwoFactor(t.Context(), operator, p.email); !errors.Is(err, auth.ErrTwoFactorOff) {
		t.Errorf("turned off twice: %v", err)
	}
	if _, err := p.ResetTwoFactor(t.Context(), here.Actor, p.email); !core.IsKind(err, core.KindForbidden) {
		t.Errorf("by a super-admin: %v", err)
	}
}

// A deactivated super-admin can't sign in, and only super-admins create others.
func TestDeactivatedSuperAdminIsRefused(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	p := newPlatform(t, d)
	cookie := "gone " + p.by.ID
	if p.signedIn(t, auth.Proof{StaffID: p.by.StaffID, At: d.Now()}, cookie, "") == nil {
		t.Fatal("not signed in")
	}
	p.exec(t, "update loyalty.staff set status = 'inactive' where id = $1", p.by.StaffID)
	if p.who(t, cookie, "") != nil {
		t.Error("signed in still")
	}
	if _, err := p.try(t, p.email, known); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("signs in: %v", err)
	}
	owner := newShop(t).by
	if _, err := staff.CreateAdmin(t.Context(), d, owner, staff.New{Name: "Eve", Email: "eve@example.com"}); !errors.Is(err, core.ErrAdmin) {
		t.Errorf("an owner makes a super-admin: %v", err)
	}
}
