package auth_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
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
	s.GivePassword(by)
	p := platform{withServices(shoptest.Of(t, d, by)), s.Email(by)}
	p.visitor = auth.Visitor{Address: address(by), RequestID: "R1"}
	return p
}

func (p platform) atStep() (platform, time.Time) {
	p.T.Helper()
	s, now := p.shop.atStep()
	s.visitor = p.visitor
	p.shop = s
	return p, now
}

// signedIn returns the person signed in by a proof at a host; nil: none.
func (p platform) signedIn(proof auth.Proof, cookie, slug string) *auth.Identity {
	p.T.Helper()
	store := auth.NewStore(p.DB)
	ctx := auth.WithProof(auth.WithVisit(p.T.Context(), &auth.Visit{}), proof)
	p.Check(store.CommitCtx(ctx, cookie, []byte{}, p.DB.Now().Add(time.Hour)))
	return p.who(cookie, slug)
}

func (p platform) who(cookie, slug string) *auth.Identity {
	p.T.Helper()
	v, err := auth.NewStore(p.DB).Load(p.T.Context(), auth.Visit{Slug: slug, Address: "192.0.2.1", RequestID: "R2"}, cookie)
	p.Check(err)
	return v.Person
}

func (p platform) wantPlatformLog(want ...string) {
	p.T.Helper()
	lines := shoptest.QueryAll[string](p.Shop, `
		select action || ' by ' || actor_kind || coalesce(' ' || new::text, '')
		from loyalty.platform_audit_entry
		where subject_kind in ('staff', 'session') and actor_name <> 'test'
		order by id`)
	if diff := cmp.Diff(want, lines); diff != "" {
		p.T.Errorf("platform log (-want +got):\n%s", diff)
	}
}

// A super-admin has no role until two-step verification is set up at the first sign-in. Setting it
// up ends earlier sessions.
func TestASuperAdminSetsUpTwoStepVerification(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, dbtest.OwnDB(t))
	p, now := p.atStep()
	in, err := p.try(p.email, known)
	if err != nil || in.NeedsCode || in.Role != core.SuperAdmin {
		t.Fatalf("%+v, %v", in, err)
	}
	first := p.signedIn(in.Proof, "first", "")
	if first == nil || first.TwoFactor || first.Role != "" || first.Kind != core.ByAdmin || first.Tenant.ID != 0 || !errors.Is(first.RequireAdmin(), core.ErrAdmin) {
		t.Fatalf("signed in by a password alone: %+v", first)
	}
	stolen := p.signedIn(in.Proof, "stolen", "")
	if stolen == nil {
		t.Fatal("the second browser is not signed in")
	}

	begun, err := p.BeginRequiredTwoFactor(t.Context(), p.visitor, in)
	p.Check(err)
	if again, err := p.PendingTwoFactor(t.Context(), first.Actor); err != nil || again != begun {
		t.Errorf("shown again: %+v, %v", again, err)
	}
	_, err = p.ConfirmTwoFactor(t.Context(), first.Actor, "000000")
	wantBadCode(t, err)
	enrolment, err := p.ConfirmTwoFactor(t.Context(), first.Actor, code(t, begun.Secret, now))
	if err != nil || len(enrolment.RecoveryCodes) != 10 {
		t.Fatalf("%+v, %v", enrolment, err)
	}
	if p.who("first", "") != nil || p.who("stolen", "") != nil {
		t.Error("who signed in by the password alone is signed in still")
	}
	here := p.signedIn(enrolment.Proof, "here", "")
	if here == nil || !here.TwoFactor || here.Role != core.SuperAdmin || here.RequireAdmin() != nil || here.Email != p.email || here.Address != "192.0.2.1" {
		t.Fatalf("afterwards: %+v", here)
	}
	if state, err := p.TwoFactor(t.Context(), here.Actor); err != nil || state != (auth.TwoFactor{On: true, RecoveryCodes: 10}) {
		t.Errorf("%+v, %v", state, err)
	}

	// From now on, a password needs a code.
	in, err = p.try(p.email, known)
	if err != nil || !in.NeedsCode || p.signedIn(in.Proof, "without", "") != nil {
		t.Errorf("the password alone: %+v, %v", in, err)
	}
	wantBadCode(t, p.verify(in.Proof, "000000"))
	for i, given := range []string{code(t, begun.Secret, now.Add(30*time.Second)), enrolment.RecoveryCodes[0]} {
		done, err := p.VerifyCode(t.Context(), p.visitor, in.Proof, given)
		p.Check(err)
		if who := p.signedIn(done.Proof, "code "+given, ""); who == nil || who.RequireAdmin() != nil {
			t.Errorf("%d: %+v", i, who)
		}
		wantBadCode(t, p.verify(in.Proof, given))
	}
	if err := p.DisableTwoFactor(t.Context(), here.Actor, known); !core.IsKind(err, core.KindForbidden) {
		t.Errorf("turned off: %v", err)
	}
	const refused = `staff.sign_in_refused by system {"email": "`
	wrong := refused + p.email + `", "reason": "wrong code"}`
	p.wantPlatformLog(
		`staff.sign_in by admin {"with": "password"}`, "staff.enrol_totp by admin", wrong,
		`staff.sign_in by admin {"with": "password and an authentication code"}`, wrong,
		`staff.sign_in by admin {"with": "password and a recovery code"}`, wrong,
	)
	if letters := p.Inbox.To(p.email); len(letters) != 1 || letters[0].(auth.ChangeEmail).Change != auth.TwoFactorOn || letters[0].(auth.ChangeEmail).Slug != "" {
		t.Errorf("mailed: %+v", letters)
	}
}

// Two-step verification can't be turned off on the platform, only moved to another app. The app in
// use works until the new one is confirmed.
func TestTwoStepVerificationMovesToAnotherApp(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, dbtest.OwnDB(t))
	p, now := p.atStep()
	secret, recovery := p.enrolled(p.By, now)
	_, err := p.RenewTwoFactor(t.Context(), p.By, "wrong")
	shoptest.WantFields(t, err, core.Fields{"confirmation": {core.Violation{Rule: "wrong_password"}}})
	if _, err := p.BeginTwoFactor(t.Context(), p.By, known); !errors.Is(err, auth.ErrTwoFactorOn) {
		t.Errorf("begun while it is on: %v", err)
	}
	begun, err := p.RenewTwoFactor(t.Context(), p.By, known)
	if err != nil || begun.Secret == secret {
		t.Fatalf("%+v, %v", begun, err)
	}
	if err := p.verify(p.password(p.By), code(t, secret, now)); err != nil {
		t.Errorf("meanwhile, by the old app: %v", err)
	}
	late := p.later(11 * time.Minute)
	if _, err := late.ConfirmTwoFactor(t.Context(), p.By, code(t, begun.Secret, now.Add(11*time.Minute))); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("eleven minutes later: %v", err)
	}
	enrolment, err := p.ConfirmTwoFactor(t.Context(), p.By, code(t, begun.Secret, now))
	p.Check(err)
	proof := p.password(p.By)
	for _, old := range []string{code(t, secret, now.Add(30*time.Second)), recovery[1]} {
		wantBadCode(t, p.verify(proof, old))
	}
	if err := p.verify(proof, enrolment.RecoveryCodes[0]); err != nil {
		t.Errorf("by a new recovery code: %v", err)
	}
	letters := p.Inbox.To(p.email)
	if last := letters[len(letters)-1].(auth.ChangeEmail); last.Change != auth.TwoFactorRenewed || last.By != "" {
		t.Errorf("mailed: %+v", letters)
	}
}

// A session or credentials of a tenant don't work on the platform's host, nor the reverse.
func TestSessionsBelongToOneHost(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	p, s := newPlatform(t, d), newShop(t)
	owner := s.Cookie(auth.Proof{StaffID: s.By.StaffID, At: d.Now()}, "owner of "+s.By.ID)
	if p.who(owner, s.By.Tenant.Slug) == nil {
		t.Fatal("the owner is not signed in")
	}
	admin := "admin " + p.By.ID
	if p.signedIn(auth.Proof{StaffID: p.By.StaffID, At: d.Now()}, admin, "") == nil {
		t.Fatal("the super-admin is not signed in")
	}
	for name, who := range map[string]*auth.Identity{
		"an owner at the base host": p.who(owner, ""), "a super-admin at a tenant's": p.who(admin, s.By.Tenant.Slug),
		"a super-admin at an unknown one":   p.who(admin, "nowhere"),
		"an owner's proof at the base host": p.signedIn(auth.Proof{StaffID: s.By.StaffID, At: d.Now()}, "crossed "+s.By.ID, ""),
	} {
		if who != nil {
			t.Errorf("%s is %+v", name, who)
		}
	}
	in := &auth.Visit{Slug: s.By.Tenant.Slug}
	proved := auth.WithProof(auth.WithVisit(t.Context(), in), auth.Proof{StaffID: p.By.StaffID, At: d.Now()})
	p.Check(auth.NewStore(d).CommitCtx(proved, "crossed "+p.By.ID, []byte{}, d.Now().Add(time.Hour)))
	if p.who("crossed "+p.By.ID, s.By.Tenant.Slug) != nil || p.who("crossed "+p.By.ID, "") != nil {
		t.Error("a super-admin's proof signs in at a tenant's host")
	}
	if _, err := p.Actor(t.Context(), admin, ""); !errors.Is(err, core.ErrUnauthenticated) {
		t.Errorf("a super-admin's session for the API: %v", err)
	}
	if _, err := p.try(s.Email(s.By), known); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("an owner signs in to the platform: %v", err)
	}
	if _, err := s.try(p.email, known); !errors.Is(err, auth.ErrCredentials) {
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
	p, now := p.atStep()
	p.enrolled(p.By, now)
	proof := auth.Proof{StaffID: p.By.StaffID, At: p.DB.Now(), Code: true}
	here, there := p.signedIn(proof, "here", ""), p.signedIn(proof, "there", "")
	if here == nil || there == nil {
		t.Fatal("not signed in")
	}
	list, err := p.Sessions(t.Context(), here.Actor, here.Session)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := p.EndSession(t.Context(), here.Actor, there.Session); err != nil || p.who("there", "") != nil {
		t.Errorf("ended: %v", err)
	}
	p.signedIn(proof, "third", "")
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
	if err != nil || p.who("here", "") != nil {
		t.Fatalf("changed: %v", err)
	}
	again := p.signedIn(fresh, "again", "")
	if again == nil || again.Name != "Åsa Root" {
		t.Fatalf("%+v", again)
	}
	if err := p.SignOut(t.Context(), again.Actor, again.Session); err != nil || p.who("again", "") != nil {
		t.Errorf("signed out: %v", err)
	}
	for range 10 {
		if _, err := p.try(p.email, "wrong"); !errors.Is(err, auth.ErrCredentials) {
			t.Fatal(err)
		}
	}
	_, err = p.try(p.email, another)
	wantThrottled(t, err, "Too many attempts. Please try again in 15 minutes.")

	// "No password reset by mail": the operator sets one, and forgives the attempts.
	operator := core.System(core.Tenant{}, "loyalty admin reset-password")
	for by, want := range map[*core.Actor]error{{Kind: core.ByStaff, Role: core.Owner}: core.ErrAdmin, &operator: core.ErrNotFound} {
		if _, err := p.SetAdminPassword(t.Context(), *by, "stranger@example.com", known); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", by.Kind, err, want)
		}
	}
	if who, err := p.SetAdminPassword(t.Context(), operator, " "+p.email, known); err != nil || who.ID != p.By.StaffID {
		t.Fatalf("%+v, %v", who, err)
	}
	if in, err := p.try(p.email, known); err != nil || !in.NeedsCode {
		t.Errorf("the new password: %+v, %v", in, err)
	}
	p.Must(p.ResetTwoFactor(t.Context(), operator, p.email))
	if in, err := p.try(p.email, known); err != nil || in.NeedsCode {
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
	cookie := "gone " + p.By.ID
	if p.signedIn(auth.Proof{StaffID: p.By.StaffID, At: d.Now()}, cookie, "") == nil {
		t.Fatal("not signed in")
	}
	p.Exec("update loyalty.staff set status = 'inactive' where id = $1", p.By.StaffID)
	if p.who(cookie, "") != nil {
		t.Error("signed in still")
	}
	if _, err := p.try(p.email, known); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("signs in: %v", err)
	}
	owner := newShop(t).By
	if _, err := staff.CreateAdmin(t.Context(), d, owner, staff.New{Name: "Eve", Email: "eve@example.com"}); !errors.Is(err, core.ErrAdmin) {
		t.Errorf("an owner makes a super-admin: %v", err)
	}
}
