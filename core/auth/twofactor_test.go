package auth_test

import (
	"encoding/base32"
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/dbtest"
)

// atStep returns the shop a second after a code was first shown, so that it doesn't expire during the
// test.
func (s shop) atStep(t *testing.T) (shop, time.Time) {
	t.Helper()
	now := s.db.Now().Truncate(30 * time.Second).Add(30*time.Second + time.Second)
	return s.at(t, now), now
}

// code returns the code that an app shows at an instant.
func code(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	shown, err := totp.GenerateCode(secret, at)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// enrolled sets up two-step verification with a code of a minute ago.
func (s shop) enrolled(t *testing.T, by core.Actor, now time.Time) (secret string, recovery []string) {
	t.Helper()
	before := s.at(t, now.Add(-time.Minute))
	begun, err := before.BeginTwoFactor(t.Context(), by, known)
	if err != nil {
		t.Fatal(err)
	}
	enrolment, err := before.ConfirmTwoFactor(t.Context(), by, code(t, begun.Secret, now.Add(-time.Minute)))
	if err != nil {
		t.Fatal(err)
	}
	return begun.Secret, enrolment.RecoveryCodes
}

// password signs in with the password, before the code.
func (s shop) password(t *testing.T, by core.Actor) auth.Proof {
	t.Helper()
	in, err := s.try(t, s.email(t, by), known)
	if err != nil || !in.NeedsCode {
		t.Fatalf("%+v, %v: want that a code is asked for", in, err)
	}
	return in.Proof
}

func (s shop) verify(t *testing.T, p auth.Proof, code string) error {
	t.Helper()
	_, err := s.VerifyCode(t.Context(), s.visitor, p, code)
	return err
}

func wantBadCode(t *testing.T, err error) {
	t.Helper()
	wantFields(t, err, core.Fields{"code": {core.Violation{Rule: "wrong_code"}}})
}

// Two-step verification is off until a code confirms it. Then a password alone signs no one in.
// Recovery codes are shown once and stored as hashes.
func TestSetUpTwoFactor(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s, now := s.atStep(t)
	first, err := s.BeginTwoFactor(t.Context(), s.by, known)
	if err != nil {
		t.Fatal(err)
	}
	if in, err := s.try(t, s.email(t, s.by), known); err != nil || in.NeedsCode {
		t.Errorf("while it is set up, a code is asked for: %v, %v", in.NeedsCode, err)
	}
	begun, err := s.BeginTwoFactor(t.Context(), s.by, known)
	if err != nil || begun.Secret == first.Secret {
		t.Fatal("begun again, the secret is the same", err)
	}
	if again, err := s.PendingTwoFactor(t.Context(), s.by); err != nil || again != begun {
		t.Errorf("shown again: %+v, %v; want %+v", again, err, begun)
	}
	address, err := url.Parse(begun.URI)
	if err != nil || address.Scheme != "otpauth" || address.Host != "totp" ||
		address.Path != "/"+s.by.Tenant.Name+":"+s.email(t, s.by) || address.Query().Get("issuer") != s.by.Tenant.Name {
		t.Errorf("%s, %v", begun.URI, err)
	}
	if raw, err := base32.StdEncoding.DecodeString(address.Query().Get("secret")); err != nil || len(raw) != 20 || address.Query().Get("secret") != begun.Secret {
		t.Errorf("%s, %v", begun.URI, err)
	}

	for _, wrong := range []string{"", "000000", code(t, first.Secret, now), code(t, begun.Secret, now.Add(-5*time.Minute))} {
		_, err := s.ConfirmTwoFactor(t.Context(), s.by, wrong)
		wantBadCode(t, err)
	}
	enrolment, err := s.ConfirmTwoFactor(t.Context(), s.by, " "+code(t, begun.Secret, now)[:3]+" "+code(t, begun.Secret, now)[3:])
	recovery := enrolment.RecoveryCodes
	if err != nil || len(recovery) != 10 {
		t.Fatal(recovery, err)
	}
	seen := map[string]bool{}
	for _, c := range recovery {
		if seen[c] || !regexp.MustCompile(`^([a-z2-7]{4}-){6}[a-z2-7]{4}$`).MatchString(c) {
			t.Errorf("recovery code %s", c)
		}
		seen[c] = true
	}
	if f, err := s.TwoFactor(t.Context(), s.by); err != nil || f != (auth.TwoFactor{On: true, RecoveryCodes: 10}) {
		t.Errorf("%+v, %v", f, err)
	}
	var stored string
	err = dbtest.Owner(s.db).QueryRow(t.Context(), `
		select (select c::text from loyalty.credential c where staff_id = $1)
			|| (select string_agg(encode(hash, 'escape'), ' ') from loyalty.recovery_code where staff_id = $1)`, s.by.StaffID).Scan(&stored)
	if err != nil || strings.Contains(stored, begun.Secret) || strings.Contains(stored, strings.ReplaceAll(strings.ToUpper(recovery[0]), "-", "")) {
		t.Errorf("stored: %s, %v", stored, err)
	}
	if _, err := s.BeginTwoFactor(t.Context(), s.by, known); !errors.Is(err, auth.ErrTwoFactorOn) {
		t.Errorf("begun while it is on: %v, want ErrTwoFactorOn", err)
	}
	for name, err := range map[string]error{
		"confirmed twice": func() error { _, err := s.ConfirmTwoFactor(t.Context(), s.by, code(t, begun.Secret, now)); return err }(),
		"shown once more": func() error { _, err := s.PendingTwoFactor(t.Context(), s.by); return err }(),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	// The code that confirmed it is used up.
	proof := s.password(t, s.by)
	wantBadCode(t, s.verify(t, proof, code(t, begun.Secret, now)))
	s.wantLog(t, "staff.enrol_totp", "staff.enrol_totp - -")
}

// A colon in the business's name would be read as the end of the name.
func TestAppShowsNameWithoutColon(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.by.Tenant.Name = "Bank: Åro"
	begun, err := s.BeginTwoFactor(t.Context(), s.by, known)
	if err != nil || !strings.HasPrefix(begun.URI, "otpauth://totp/Bank%20%20%C3%85ro:") {
		t.Errorf("%s, %v", begun.URI, err)
	}
}

// Codes of the previous, current and next step work, each once; afterwards earlier ones don't.
func TestACodeWorksOnce(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t)) // because counts are shared by tenants
	s, now := s.atStep(t)
	secret, _ := s.enrolled(t, s.by, now.Add(-time.Hour))
	proof := s.password(t, s.by)
	step := func(n int) string { return code(t, secret, now.Add(time.Duration(n)*30*time.Second)) }

	for _, wrong := range []string{step(-2), step(2), "", "abc", "000", "１２３４５６"} {
		wantBadCode(t, s.verify(t, proof, wrong))
		s.exec(t, "delete from loyalty.attempt") // each would count
	}
	if err := s.verify(t, proof, step(-1)); err != nil {
		t.Fatalf("the code before: %v", err)
	}
	wantBadCode(t, s.verify(t, proof, step(-1)))
	in, err := s.VerifyCode(t.Context(), s.visitor, proof, step(0))
	if err != nil || in.ID != s.by.StaffID || in.NeedsCode || in.StaffID != proof.StaffID || !in.At.Equal(proof.At) {
		t.Fatalf("the present code: %+v, %v", in, err)
	}
	wantBadCode(t, s.verify(t, proof, step(0)))
	if err := s.verify(t, proof, step(1)); err != nil {
		t.Errorf("the code after: %v", err)
	}
	wantBadCode(t, s.verify(t, proof, step(0)))
	if s.isSignedIn(t, s.cookie(t, proof, "browser of "+s.by.ID)) || !s.isSignedIn(t, s.cookie(t, in.Proof, "another of "+s.by.ID)) {
		t.Error("the password alone signs in, or with the code it does not")
	}
	ok, refused := `staff.sign_in - {"with": "password and a code of their app"}`, `staff.sign_in_refused - {"email": "`+s.email(t, s.by)+`", "reason": "wrong code"}`
	s.wantLog(t, "staff.sign_in%", refused, refused, refused, refused, refused, refused, ok, refused, ok, refused, ok, refused)
}

// Fifty concurrent requests with one code succeed once.
func TestConcurrentRequestsUseACodeOnce(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	s, now := s.atStep(t)
	secret, recovery := s.enrolled(t, s.by, now)
	for _, c := range []string{code(t, secret, now), recovery[3]} {
		proof := s.password(t, s.by)
		// What holds here is the code, not the throttle.
		s.exec(t, "delete from loyalty.attempt")
		wantBadCode(t, s.verify(t, proof, "wrong"))
		s.exec(t, "update loyalty.attempt set used = -1000")
		var taken, refused atomic.Int32
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				switch err := s.verify(t, proof, c); {
				case err == nil:
					taken.Add(1)
				case core.IsKind(err, core.KindInvalid):
					refused.Add(1)
				case !core.IsKind(err, core.KindThrottled): // after the success, counts begin anew
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if taken.Load() != 1 || refused.Load() == 0 {
			t.Errorf("%s: taken %d times, refused %d times", c, taken.Load(), refused.Load())
		}
	}
}

// Each of the ten recovery codes works once, in any notation, and only for its person.
func TestARecoveryCodeWorksOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s, now := s.atStep(t)
	_, recovery := s.enrolled(t, s.by, now)
	colleague := s.person(t, core.Manager)
	_, theirs := s.enrolled(t, colleague, now)
	proof := s.password(t, s.by)
	wantBadCode(t, s.verify(t, proof, theirs[0]))
	for _, written := range []string{recovery[0], " " + strings.ToUpper(recovery[1]), strings.ReplaceAll(recovery[2], "-", ""), strings.ReplaceAll(recovery[3], "-", " ")} {
		if err := s.verify(t, proof, written); err != nil {
			t.Errorf("%q: %v", written, err)
		}
		wantBadCode(t, s.verify(t, proof, written))
	}
	if f, err := s.TwoFactor(t.Context(), s.by); err != nil || f.RecoveryCodes != 6 {
		t.Errorf("%+v, %v", f, err)
	}
	if err := s.verify(t, s.password(t, colleague), theirs[0]); err != nil {
		t.Errorf("the colleague: %v", err)
	}
}

// Five codes in 15 minutes from an address, and twenty an hour in total. A known browser has five
// of its own.
func TestCodesAreThrottled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s, now := s.atStep(t)
	secret, recovery := s.enrolled(t, s.by, now)
	proof := s.password(t, s.by)
	for range 4 {
		wantBadCode(t, s.verify(t, proof, "000000"))
	}
	if err := s.verify(t, proof, code(t, secret, now)); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		wantBadCode(t, s.verify(t, proof, "000000"))
	}
	home := s.withDevice("")
	home.visitor.Device, _ = s.RememberDevice("", proof)
	for _, c := range []string{code(t, secret, now.Add(30*time.Second)), recovery[0]} {
		wantThrottled(t, s.verify(t, proof, c), "Too many attempts. Please try again in 15 minutes.")
	}
	if err := s.from("198.51.100.1").verify(t, proof, recovery[1]); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
	for i := range 11 {
		wantBadCode(t, s.from("198.51.100."+strconv.Itoa(2+i)).verify(t, proof, "000000"))
	}
	wantThrottled(t, s.from("198.51.100.99").verify(t, proof, recovery[2]), "Too many attempts. Please try again in 60 minutes.")
	if err := home.verify(t, proof, recovery[2]); err != nil {
		t.Errorf("by the person's own browser: %v", err)
	}
	for range 5 {
		wantBadCode(t, home.verify(t, proof, "000000"))
	}
	wantThrottled(t, home.verify(t, proof, recovery[3]), "Too many attempts. Please try again in 15 minutes.")
	s.exec(t, "delete from loyalty.attempt where ends_at > $1", now.Add(30*time.Minute))
	later := s.at(t, now.Add(16*time.Minute))
	if err := later.verify(t, later.password(t, s.by), recovery[0]); err != nil {
		t.Errorf("after a quarter of an hour: %v", err)
	}
}

// A code must follow the password within ten minutes at the same host, without a change of the
// password meanwhile.
func TestACodeFollowsItsPassword(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	s, now := s.atStep(t)
	secret, recovery := s.enrolled(t, s.by, now)
	proof := s.password(t, s.by)
	stranger := other.at(t, now)
	for name, try := range map[string]func() error{
		"at another tenant's host": func() error { return stranger.verify(t, proof, code(t, secret, now)) },
		"eleven minutes later": func() error {
			return s.at(t, now.Add(11*time.Minute)).verify(t, proof, code(t, secret, now.Add(11*time.Minute)))
		},
		"without two-step verification": func() error {
			return s.verify(t, auth.Proof{StaffID: s.person(t, core.Cashier).StaffID, At: now}, code(t, secret, now))
		},
		"after the password changed": func() error {
			s.exec(t, "update loyalty.credential set password_set_at = $2 where staff_id = $1", s.by.StaffID, proof.At.Add(time.Millisecond))
			return s.verify(t, proof, recovery[0])
		},
		"after they were shut out": func() error {
			s.exec(t, "update loyalty.credential set password_set_at = null where staff_id = $1", s.by.StaffID)
			s.exec(t, "update loyalty.staff set status = 'inactive' where id = $1", s.by.StaffID)
			defer s.exec(t, "update loyalty.staff set status = 'active' where id = $1", s.by.StaffID)
			return s.verify(t, proof, recovery[0])
		},
	} {
		if err := try(); !errors.Is(err, auth.ErrSignInAgain) {
			t.Errorf("%s: %v, want ErrSignInAgain", name, err)
		}
	}
	s.exec(t, "update loyalty.credential set password_set_at = null where staff_id = $1", s.by.StaffID)
	if err := s.verify(t, proof, code(t, secret, now)); err != nil {
		t.Errorf("in time: %v", err)
	}
}

// A reset of the password doesn't turn off two-step verification.
func TestResetKeepsTwoFactor(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, recovery := s.enrolled(t, s.by, s.db.Now())
	s.forgot(t, s.email(t, s.by))
	if err := s.Reset(t.Context(), s.visitor, s.link(t, s.by), auth.NewPassword{Password: known}); err != nil {
		t.Fatal(err)
	}
	if err := s.verify(t, s.password(t, s.by), recovery[0]); err != nil {
		t.Error(err)
	}
	proof, err := s.ChangePassword(t.Context(), s.by, known, another)
	if err != nil || !s.isSignedIn(t, s.cookie(t, proof, "renewed "+s.by.ID)) {
		t.Errorf("signed in, then signed out by their own change: %v", err)
	}
}

// Every change of two-step verification needs the password and is mailed; a code is not enough.
func TestTwoFactorChangesNeedThePassword(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t)) // because counts are shared by tenants
	s, now := s.atStep(t)
	secret, recovery := s.enrolled(t, s.by, now)
	neither := core.Fields{"confirmation": {core.Violation{Rule: "wrong_password"}}}
	for _, wrong := range []string{"", "wrong", "000000", recovery[0], code(t, secret, now), code(t, secret, now.Add(30*time.Second))} {
		wantFields(t, s.DisableTwoFactor(t.Context(), s.by, wrong), neither)
		_, err := s.RenewRecoveryCodes(t.Context(), s.by, wrong)
		wantFields(t, err, neither)
		s.exec(t, "delete from loyalty.attempt") // each would count
	}
	renewed, err := s.RenewRecoveryCodes(t.Context(), s.by, known)
	if err != nil || len(renewed) != 10 || renewed[0] == recovery[0] {
		t.Fatal(renewed, err)
	}
	s.wantTold(t, s.by, auth.ChangeEmail{Change: auth.RecoveryCodesRenewed, Address: s.by.Address})
	proof := s.password(t, s.by)
	wantBadCode(t, s.verify(t, proof, recovery[0]))
	if err := s.verify(t, proof, renewed[0]); err != nil {
		t.Errorf("a new recovery code: %v", err)
	}
	if err := s.DisableTwoFactor(t.Context(), s.by, known); err != nil {
		t.Fatal(err)
	}
	if f, err := s.TwoFactor(t.Context(), s.by); err != nil || f != (auth.TwoFactor{}) {
		t.Errorf("turned off: %+v, %v", f, err)
	}
	if in, err := s.try(t, s.email(t, s.by), known); err != nil || in.NeedsCode {
		t.Errorf("a code is still asked for: %v", err)
	}
	for name, err := range map[string]error{
		"turned off twice":      s.DisableTwoFactor(t.Context(), s.by, known),
		"codes for what is off": func() error { _, err := s.RenewRecoveryCodes(t.Context(), s.by, known); return err }(),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	s.wantTold(t, s.by, auth.ChangeEmail{Change: auth.TwoFactorOff, Address: s.by.Address})
	s.wantLog(t, "staff.%totp", "staff.enrol_totp - -", "staff.drop_totp - -")
	s.wantLog(t, "staff.renew%", "staff.renew_recovery_codes - -")

	for _, wrong := range []string{"", "wrong", code(t, secret, now)} {
		_, err := s.BeginTwoFactor(t.Context(), s.by, wrong)
		wantFields(t, err, neither)
	}
	if _, err := s.PendingTwoFactor(t.Context(), s.by); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a set-up without the password: %v, want ErrNotFound", err)
	}
	// A set-up that was allowed is over after ten minutes.
	if _, err := s.BeginTwoFactor(t.Context(), s.by, known); err != nil {
		t.Fatal(err)
	}
	if _, err := s.at(t, now.Add(auth.SetupTime+time.Minute)).PendingTwoFactor(t.Context(), s.by); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a set-up from earlier: %v, want ErrNotFound", err)
	}

	s.enrolled(t, s.by, now.Add(time.Hour))
	s.exec(t, "delete from loyalty.attempt")
	for range 10 {
		wantFields(t, s.DisableTwoFactor(t.Context(), s.by, "wrong"), neither)
	}
	wantThrottled(t, s.DisableTwoFactor(t.Context(), s.by, known), "Too many attempts. Please try again in 15 minutes.")
}

// An owner turns off two-step verification for a person of their own tenant.
func TestOwnerRemovesTwoFactor(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	now := s.db.Now()
	manager := s.person(t, core.Manager)
	_, recovery := s.enrolled(t, manager, now)
	if err := stranger.RemoveTwoFactor(t.Context(), stranger.by, manager.StaffID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a stranger: %v, want ErrNotFound", err)
	}
	if err := s.RemoveTwoFactor(t.Context(), manager, manager.StaffID); !errors.Is(err, core.ErrRole) {
		t.Errorf("the manager themselves, without a password: %v, want ErrRole", err)
	}
	proof := s.password(t, manager)
	if err := s.RemoveTwoFactor(t.Context(), s.by, manager.StaffID); err != nil {
		t.Fatal(err)
	}
	s.wantTold(t, manager, auth.ChangeEmail{Change: auth.TwoFactorOff, By: s.by.Name, Address: s.by.Address})
	if err := s.verify(t, proof, recovery[0]); !errors.Is(err, auth.ErrSignInAgain) {
		t.Errorf("a recovery code afterwards: %v, want ErrSignInAgain", err)
	}
	if in, err := s.try(t, s.email(t, manager), known); err != nil || in.NeedsCode {
		t.Errorf("they cannot sign in: %v", err)
	}
	if err := s.RemoveTwoFactor(t.Context(), s.by, manager.StaffID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("dropped twice: %v, want ErrNotFound", err)
	}
}

// The operator turns off two-step verification for a business's only owner.
func TestOperatorResetsTwoFactor(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	s.enrolled(t, s.by, s.db.Now())
	email := s.email(t, s.by)
	here := s.cookie(t, auth.Proof{StaffID: s.by.StaffID, At: s.db.Now(), Code: true}, "lost "+s.by.ID)
	const command = "loyalty admin reset-factor"
	for name, c := range map[string]struct {
		by   core.Actor
		want error
	}{
		"for another business": {core.System(other.by.Tenant, command), core.ErrNotFound},
		"for the platform":     {core.System(core.Tenant{}, command), core.ErrNotFound},
		"by the owner":         {s.by, core.ErrRole},
	} {
		if _, err := s.ResetTwoFactor(t.Context(), c.by, email); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if !s.isSignedIn(t, here) {
		t.Fatal("signed out without a reset")
	}
	operator := core.System(s.by.Tenant, command)
	if who, err := s.ResetTwoFactor(t.Context(), operator, strings.ToUpper(email)); err != nil || who.ID != s.by.StaffID {
		t.Fatalf("%+v, %v", who, err)
	}
	if s.isSignedIn(t, here) {
		t.Error("their sessions go on")
	}
	if in, err := s.try(t, email, known); err != nil || in.NeedsCode {
		t.Errorf("the password alone: %+v, %v", in, err)
	}
	s.wantTold(t, s.by, auth.ChangeEmail{Change: auth.TwoFactorOff, By: operator.Name})
	s.wantLog(t, "staff.drop_totp", "staff.drop_totp - -")
}

// The round trips of two-step verification.
func TestRoundTripsOfTwoFactor(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
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
	trips("two-factor", 1, func(int) error { _, err := s.TwoFactor(t.Context(), s.by); return err })
	s, now := s.atStep(t)
	_, recovery := s.enrolled(t, s.by, now)
	proof := s.password(t, s.by)
	trips("verify a code", 5, func(i int) error { return s.verify(t, proof, recovery[i]) })
	wantBadCode(t, s.verify(t, proof, recovery[0])) // prepares
	before := count()
	wantBadCode(t, s.verify(t, proof, recovery[0]))
	if got := count() - before; got != 6 {
		t.Errorf("a wrong code: %d round trips, want 6", got)
	}
}
