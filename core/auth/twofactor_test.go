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
	"golang.org/x/text/width"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// atStep returns the shop a second after a code was first shown, so that it doesn't expire during the
// test.
func (s shop) atStep() (shop, time.Time) {
	s.T.Helper()
	now := s.DB.Now().Truncate(30 * time.Second).Add(30*time.Second + time.Second)
	return s.at(now), now
}

// code returns the code that an app shows at an instant.
func code(t testing.TB, secret string, at time.Time) string {
	t.Helper()
	shown, err := totp.GenerateCode(secret, at)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// enrolled sets up two-step verification with a code of a minute ago.
func (s shop) enrolled(by core.Actor, now time.Time) (secret string, recovery []string) {
	s.T.Helper()
	before := s.at(now.Add(-time.Minute))
	begun, err := before.BeginTwoFactor(s.T.Context(), by, known)
	s.Check(err)
	enrolment, err := before.ConfirmTwoFactor(s.T.Context(), by, code(s.T, begun.Secret, now.Add(-time.Minute)))
	s.Check(err)
	return begun.Secret, enrolment.RecoveryCodes
}

// password signs in with the password, before the code.
func (s shop) password(by core.Actor) auth.Proof {
	s.T.Helper()
	in, err := s.try(s.Email(by), known)
	if err != nil || !in.NeedsCode {
		s.T.Fatalf("%+v, %v: want that a code is asked for", in, err)
	}
	return in.Proof
}

func (s shop) verify(p auth.Proof, code string) error {
	s.T.Helper()
	_, err := s.VerifyCode(s.T.Context(), s.visitor, p, code)
	return err
}

func wantBadCode(t *testing.T, err error) {
	t.Helper()
	shoptest.WantFields(t, err, core.Fields{"code": {core.Violation{Rule: "wrong_code"}}})
}

// Two-step verification is off until a code confirms it. Then a password alone signs no one in.
// Recovery codes are shown once and stored as hashes.
func TestSetUpTwoFactor(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s, now := s.atStep()
	first, err := s.BeginTwoFactor(t.Context(), s.By, known)
	s.Check(err)
	if in, err := s.try(s.Email(s.By), known); err != nil || in.NeedsCode {
		t.Errorf("while it is set up, a code is asked for: %v, %v", in.NeedsCode, err)
	}
	begun, err := s.BeginTwoFactor(t.Context(), s.By, known)
	if err != nil || begun.Secret == first.Secret {
		t.Fatal("begun again, the secret is the same", err)
	}
	if again, err := s.PendingTwoFactor(t.Context(), s.By); err != nil || again != begun {
		t.Errorf("shown again: %+v, %v; want %+v", again, err, begun)
	}
	address, err := url.Parse(begun.URI)
	if err != nil || address.Scheme != "otpauth" || address.Host != "totp" ||
		address.Path != "/"+s.By.Tenant.Name+":"+s.Email(s.By) || address.Query().Get("issuer") != s.By.Tenant.Name {
		t.Errorf("%s, %v", begun.URI, err)
	}
	if raw, err := base32.StdEncoding.DecodeString(address.Query().Get("secret")); err != nil || len(raw) != 20 || address.Query().Get("secret") != begun.Secret {
		t.Errorf("%s, %v", begun.URI, err)
	}

	for _, wrong := range []string{"", "000000", code(t, first.Secret, now), code(t, begun.Secret, now.Add(-5*time.Minute))} {
		_, err := s.ConfirmTwoFactor(t.Context(), s.By, wrong)
		wantBadCode(t, err)
	}
	enrolment, err := s.ConfirmTwoFactor(t.Context(), s.By, " "+code(t, begun.Secret, now)[:3]+" "+code(t, begun.Secret, now)[3:])
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
	if f, err := s.TwoFactor(t.Context(), s.By); err != nil || f != (auth.TwoFactor{On: true, RecoveryCodes: 10}) {
		t.Errorf("%+v, %v", f, err)
	}
	var stored string
	err = dbtest.Owner(s.DB).QueryRow(t.Context(), `
		select (select c::text from loyalty.credential c where staff_id = $1)
			|| (select string_agg(encode(hash, 'escape'), ' ') from loyalty.recovery_code where staff_id = $1)`, s.By.StaffID).Scan(&stored)
	if err != nil || strings.Contains(stored, begun.Secret) || strings.Contains(stored, strings.ReplaceAll(strings.ToUpper(recovery[0]), "-", "")) {
		t.Errorf("stored: %s, %v", stored, err)
	}
	if _, err := s.BeginTwoFactor(t.Context(), s.By, known); !errors.Is(err, auth.ErrTwoFactorOn) {
		t.Errorf("begun while it is on: %v, want ErrTwoFactorOn", err)
	}
	for name, err := range map[string]error{
		"confirmed twice": func() error { _, err := s.ConfirmTwoFactor(t.Context(), s.By, code(t, begun.Secret, now)); return err }(),
		"shown once more": func() error { _, err := s.PendingTwoFactor(t.Context(), s.By); return err }(),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	// The code that confirmed it is used up.
	proof := s.password(s.By)
	wantBadCode(t, s.verify(proof, code(t, begun.Secret, now)))
	s.WantPeopleLog("staff.enrol_totp", "staff.enrol_totp - -")
}

// A colon in the business's name would be read as the end of the name.
func TestAppShowsNameWithoutColon(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.By.Tenant.Name = "Bank: Åro"
	begun, err := s.BeginTwoFactor(t.Context(), s.By, known)
	if err != nil || !strings.HasPrefix(begun.URI, "otpauth://totp/Bank%20%20%C3%85ro:") {
		t.Errorf("%s, %v", begun.URI, err)
	}
}

// Codes of the previous, current and next step work, each once; afterwards earlier ones don't.
func TestACodeWorksOnce(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t)) // because counts are shared by tenants
	s, now := s.atStep()
	secret, _ := s.enrolled(s.By, now.Add(-time.Hour))
	proof := s.password(s.By)
	step := func(n int) string { return code(t, secret, now.Add(time.Duration(n)*30*time.Second)) }

	for _, wrong := range []string{step(-2), step(2), "", "abc", "000", "１２３４５６"} {
		wantBadCode(t, s.verify(proof, wrong))
		s.Exec("delete from loyalty.attempt") // otherwise each would count
	}
	if err := s.verify(proof, step(-1)); err != nil {
		t.Fatalf("the code before: %v", err)
	}
	wantBadCode(t, s.verify(proof, step(-1)))
	asShown := step(0)[:3] + "\u00a0" + step(0)[3:] + "\u200b" // an app shows it in groups, and copies them
	in, err := s.VerifyCode(t.Context(), s.visitor, proof, asShown)
	if err != nil || in.ID != s.By.StaffID || in.NeedsCode || in.StaffID != proof.StaffID || !in.At.Equal(proof.At) {
		t.Fatalf("the present code: %+v, %v", in, err)
	}
	wantBadCode(t, s.verify(proof, step(0)))
	if err := s.verify(proof, width.Widen.String(step(1)[:3]+"\u00a0"+step(1)[3:])); err != nil { // of a Japanese keyboard
		t.Errorf("the code after: %v", err)
	}
	wantBadCode(t, s.verify(proof, step(0)))
	if s.isSignedIn(s.Cookie(proof, "browser of "+s.By.ID)) || !s.isSignedIn(s.Cookie(in.Proof, "another of "+s.By.ID)) {
		t.Error("the password alone signs in, or with the code it does not")
	}
	ok, refused := `staff.sign_in - {"with": "password and an authentication code"}`, `staff.sign_in_refused - {"email": "`+s.Email(s.By)+`", "reason": "wrong code"}`
	s.WantPeopleLog("staff.sign_in%", refused, refused, refused, refused, refused, refused, ok, refused, ok, refused, ok, refused)
}

// Fifty concurrent requests with one code succeed once.
func TestConcurrentRequestsUseACodeOnce(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	s, now := s.atStep()
	secret, recovery := s.enrolled(s.By, now)
	for _, c := range []string{code(t, secret, now), recovery[3]} {
		proof := s.password(s.By)
		// The code is refused here, not the number of attempts.
		s.Exec("delete from loyalty.attempt")
		wantBadCode(t, s.verify(proof, "wrong"))
		s.Exec("update loyalty.attempt set used = -1000")
		var taken, refused atomic.Int32
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				switch err := s.verify(proof, c); {
				case err == nil:
					taken.Add(1)
				case core.IsKind(err, core.KindInvalid):
					refused.Add(1)
				case !core.IsKind(err, core.KindThrottled): // the success resets the counts
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
	s, now := s.atStep()
	_, recovery := s.enrolled(s.By, now)
	colleague := s.Person(core.Manager)
	_, theirs := s.enrolled(colleague, now)
	proof := s.password(s.By)
	wantBadCode(t, s.verify(proof, theirs[0]))
	for _, written := range []string{
		recovery[0], " " + strings.ToUpper(recovery[1]), strings.ReplaceAll(recovery[2], "-", ""), strings.ReplaceAll(recovery[3], "-", " "),
		strings.ReplaceAll(recovery[4], "-", "\u00a0"), strings.ReplaceAll(recovery[5], "-", "–") + "\u2028",
	} {
		if err := s.verify(proof, written); err != nil {
			t.Errorf("%q: %v", written, err)
		}
		wantBadCode(t, s.verify(proof, written))
	}
	if f, err := s.TwoFactor(t.Context(), s.By); err != nil || f.RecoveryCodes != 4 {
		t.Errorf("%+v, %v", f, err)
	}
	if err := s.verify(s.password(colleague), theirs[0]); err != nil {
		t.Errorf("the colleague: %v", err)
	}
}

// Five codes in 15 minutes from an address, and twenty an hour in total. A known browser has five
// of its own.
func TestCodesAreThrottled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s, now := s.atStep()
	secret, recovery := s.enrolled(s.By, now)
	proof := s.password(s.By)
	for range 4 {
		wantBadCode(t, s.verify(proof, "000000"))
	}
	s.Check(s.verify(proof, code(t, secret, now)))
	for range 5 {
		wantBadCode(t, s.verify(proof, "000000"))
	}
	home := s.withDevice("")
	home.visitor.Device, _ = s.RememberDevice("", proof)
	for _, c := range []string{code(t, secret, now.Add(30*time.Second)), recovery[0]} {
		wantThrottled(t, s.verify(proof, c), "Too many attempts. Please try again in 15 minutes.")
	}
	if err := s.from("198.51.100.1").verify(proof, recovery[1]); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
	for i := range 11 {
		wantBadCode(t, s.from("198.51.100."+strconv.Itoa(2+i)).verify(proof, "000000"))
	}
	wantThrottled(t, s.from("198.51.100.99").verify(proof, recovery[2]), "Too many attempts. Please try again in 60 minutes.")
	if err := home.verify(proof, recovery[2]); err != nil {
		t.Errorf("by the person's own browser: %v", err)
	}
	for range 5 {
		wantBadCode(t, home.verify(proof, "000000"))
	}
	wantThrottled(t, home.verify(proof, recovery[3]), "Too many attempts. Please try again in 15 minutes.")
	s.Exec("delete from loyalty.attempt where ends_at > $1", now.Add(30*time.Minute))
	later := s.at(now.Add(16 * time.Minute))
	if err := later.verify(later.password(s.By), recovery[0]); err != nil {
		t.Errorf("after a quarter of an hour: %v", err)
	}
}

// A code must follow the password within ten minutes at the same host, without a change of the
// password meanwhile.
func TestACodeFollowsItsPassword(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	s, now := s.atStep()
	secret, recovery := s.enrolled(s.By, now)
	proof := s.password(s.By)
	stranger := other.at(now)
	for name, try := range map[string]func() error{
		"at another tenant's host": func() error { return stranger.verify(proof, code(t, secret, now)) },
		"eleven minutes later": func() error {
			return s.at(now.Add(11*time.Minute)).verify(proof, code(t, secret, now.Add(11*time.Minute)))
		},
		"without two-step verification": func() error {
			return s.verify(auth.Proof{StaffID: s.Person(core.Cashier).StaffID, At: now}, code(t, secret, now))
		},
		"after the password changed": func() error {
			s.Exec("update loyalty.credential set password_set_at = $2 where staff_id = $1", s.By.StaffID, proof.At.Add(time.Millisecond))
			return s.verify(proof, recovery[0])
		},
		"after they were shut out": func() error {
			s.Exec("update loyalty.credential set password_set_at = null where staff_id = $1", s.By.StaffID)
			s.Exec("update loyalty.staff set status = 'inactive' where id = $1", s.By.StaffID)
			defer s.Exec("update loyalty.staff set status = 'active' where id = $1", s.By.StaffID)
			return s.verify(proof, recovery[0])
		},
	} {
		if err := try(); !errors.Is(err, auth.ErrSignInAgain) {
			t.Errorf("%s: %v, want ErrSignInAgain", name, err)
		}
	}
	s.Exec("update loyalty.credential set password_set_at = null where staff_id = $1", s.By.StaffID)
	if err := s.verify(proof, code(t, secret, now)); err != nil {
		t.Errorf("in time: %v", err)
	}
}

// A reset of the password doesn't turn off two-step verification.
func TestResetKeepsTwoFactor(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	_, recovery := s.enrolled(s.By, s.DB.Now())
	s.forgot(s.Email(s.By))
	s.Check(s.Reset(t.Context(), s.visitor, s.link(s.By), auth.NewPassword{Password: known}))
	if err := s.verify(s.password(s.By), recovery[0]); err != nil {
		t.Error(err)
	}
	proof, err := s.ChangePassword(t.Context(), s.By, known, another)
	if err != nil || !s.isSignedIn(s.Cookie(proof, "renewed "+s.By.ID)) {
		t.Errorf("signed in, then signed out by their own change: %v", err)
	}
}

// Every change of two-step verification needs the password and is mailed; a code is not enough.
func TestTwoFactorChangesNeedThePassword(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t)) // because counts are shared by tenants
	s, now := s.atStep()
	secret, recovery := s.enrolled(s.By, now)
	neither := core.Fields{"confirmation": {core.Violation{Rule: "wrong_password"}}}
	for _, wrong := range []string{"", "wrong", "000000", recovery[0], code(t, secret, now), code(t, secret, now.Add(30*time.Second))} {
		shoptest.WantFields(t, s.DisableTwoFactor(t.Context(), s.By, wrong), neither)
		_, err := s.RenewRecoveryCodes(t.Context(), s.By, wrong)
		shoptest.WantFields(t, err, neither)
		s.Exec("delete from loyalty.attempt") // otherwise each would count
	}
	renewed, err := s.RenewRecoveryCodes(t.Context(), s.By, known)
	if err != nil || len(renewed) != 10 || renewed[0] == recovery[0] {
		t.Fatal(renewed, err)
	}
	s.wantTold(s.By, auth.ChangeEmail{Change: auth.RecoveryCodesRenewed, Address: s.By.Address})
	proof := s.password(s.By)
	wantBadCode(t, s.verify(proof, recovery[0]))
	if err := s.verify(proof, renewed[0]); err != nil {
		t.Errorf("a new recovery code: %v", err)
	}
	s.Check(s.DisableTwoFactor(t.Context(), s.By, known))
	if f, err := s.TwoFactor(t.Context(), s.By); err != nil || f != (auth.TwoFactor{}) {
		t.Errorf("turned off: %+v, %v", f, err)
	}
	if in, err := s.try(s.Email(s.By), known); err != nil || in.NeedsCode {
		t.Errorf("a code is still asked for: %v", err)
	}
	for name, err := range map[string]error{
		"turned off twice":      s.DisableTwoFactor(t.Context(), s.By, known),
		"codes for what is off": func() error { _, err := s.RenewRecoveryCodes(t.Context(), s.By, known); return err }(),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	s.wantTold(s.By, auth.ChangeEmail{Change: auth.TwoFactorOff, Address: s.By.Address})
	s.WantPeopleLog("staff.%totp", "staff.enrol_totp - -", "staff.drop_totp - -")
	s.WantPeopleLog("staff.renew%", "staff.renew_recovery_codes - -")

	for _, wrong := range []string{"", "wrong", code(t, secret, now)} {
		_, err := s.BeginTwoFactor(t.Context(), s.By, wrong)
		shoptest.WantFields(t, err, neither)
	}
	if _, err := s.PendingTwoFactor(t.Context(), s.By); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a set-up without the password: %v, want ErrNotFound", err)
	}
	// A set-up expires after ten minutes.
	s.Must(s.BeginTwoFactor(t.Context(), s.By, known))
	if _, err := s.at(now.Add(auth.SetupTime+time.Minute)).PendingTwoFactor(t.Context(), s.By); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a set-up from earlier: %v, want ErrNotFound", err)
	}

	s.enrolled(s.By, now.Add(time.Hour))
	s.Exec("delete from loyalty.attempt")
	for range 10 {
		shoptest.WantFields(t, s.DisableTwoFactor(t.Context(), s.By, "wrong"), neither)
	}
	wantThrottled(t, s.DisableTwoFactor(t.Context(), s.By, known), "Too many attempts. Please try again in 15 minutes.")
}

// An owner turns off two-step verification for a person of their own tenant.
func TestOwnerRemovesTwoFactor(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	now := s.DB.Now()
	manager := s.Person(core.Manager)
	_, recovery := s.enrolled(manager, now)
	if err := stranger.RemoveTwoFactor(t.Context(), stranger.By, manager.StaffID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a stranger: %v, want ErrNotFound", err)
	}
	if err := s.RemoveTwoFactor(t.Context(), manager, manager.StaffID); !errors.Is(err, core.ErrRole) {
		t.Errorf("the manager themselves, without a password: %v, want ErrRole", err)
	}
	proof := s.password(manager)
	s.Check(s.RemoveTwoFactor(t.Context(), s.By, manager.StaffID))
	s.wantTold(manager, auth.ChangeEmail{Change: auth.TwoFactorOff, By: s.By.Name, Address: s.By.Address})
	if err := s.verify(proof, recovery[0]); !errors.Is(err, auth.ErrSignInAgain) {
		t.Errorf("a recovery code afterwards: %v, want ErrSignInAgain", err)
	}
	if in, err := s.try(s.Email(manager), known); err != nil || in.NeedsCode {
		t.Errorf("they cannot sign in: %v", err)
	}
	if err := s.RemoveTwoFactor(t.Context(), s.By, manager.StaffID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("dropped twice: %v, want ErrNotFound", err)
	}
}

// The operator turns off two-step verification for a business's only owner.
func TestOperatorResetsTwoFactor(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	s.enrolled(s.By, s.DB.Now())
	email := s.Email(s.By)
	here := s.Cookie(auth.Proof{StaffID: s.By.StaffID, At: s.DB.Now(), Code: true}, "lost "+s.By.ID)
	const command = "loyalty admin reset-factor"
	for name, c := range map[string]struct {
		by   core.Actor
		want error
	}{
		"for another business": {core.System(other.By.Tenant, command), core.ErrNotFound},
		"for the platform":     {core.System(core.Tenant{}, command), core.ErrNotFound},
		"by the owner":         {s.By, core.ErrRole},
	} {
		if _, err := s.ResetTwoFactor(t.Context(), c.by, email); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if !s.isSignedIn(here) {
		t.Fatal("signed out without a reset")
	}
	operator := core.System(s.By.Tenant, command)
	if who, err := s.ResetTwoFactor(t.Context(), operator, strings.ToUpper(email)); err != nil || who.ID != s.By.StaffID {
		t.Fatalf("%+v, %v", who, err)
	}
	if s.isSignedIn(here) {
		t.Error("their sessions go on")
	}
	if in, err := s.try(email, known); err != nil || in.NeedsCode {
		t.Errorf("the password alone: %+v, %v", in, err)
	}
	s.wantTold(s.By, auth.ChangeEmail{Change: auth.TwoFactorOff, By: operator.Name})
	s.WantPeopleLog("staff.drop_totp", "staff.drop_totp - -")
}

// The round trips of two-step verification.
func TestRoundTripsOfTwoFactor(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
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
	trips("two-factor", 1, func(int) error { _, err := s.TwoFactor(t.Context(), s.By); return err })
	s, now := s.atStep()
	_, recovery := s.enrolled(s.By, now)
	proof := s.password(s.By)
	trips("verify a code", 5, func(i int) error { return s.verify(proof, recovery[i]) })
	wantBadCode(t, s.verify(proof, recovery[0])) // prepares the statements
	before := count()
	wantBadCode(t, s.verify(proof, recovery[0]))
	if got := count() - before; got != 6 {
		t.Errorf("a wrong code: %d round trips, want 6", got)
	}
}
