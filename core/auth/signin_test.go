package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/dbtest"
)

// try signs in at the shop's host.
func (s shop) try(email, password string) (auth.SignedIn, error) {
	s.T.Helper()
	return s.SignIn(s.T.Context(), s.visitor, auth.Credentials{Email: email, Password: password})
}

// from returns the shop called from another address.
func (s shop) from(address string) shop {
	s.visitor.Address = address
	return s
}

func (s shop) isSignedIn(cookie string) bool {
	s.T.Helper()
	_, err := s.Actor(s.T.Context(), cookie, s.By.Tenant.Slug)
	if err != nil && !errors.Is(err, core.ErrUnauthenticated) {
		s.T.Fatal(err)
	}
	return err == nil
}

// wantThrottled fails unless the error says when to try again.
func wantThrottled(t *testing.T, err error, message string) {
	t.Helper()
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Kind != core.KindThrottled || refusal.Message != message {
		t.Errorf("%v, want: %s", err, message)
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.Person(core.Cashier)
	email := s.Email(cashier)
	s.Exec("update loyalty.staff set email = $2, email_key = $3 where id = $1", cashier.StaffID, "zoë@bücher.example", core.EmailKey("zoë@bücher.example"))
	for _, written := range []string{"zoë@bücher.example", "zoe\u0308@xn--bcher-kva.example", "ZOË@BÜCHER.EXAMPLE"} {
		if in, err := s.try(written, known); err != nil || in.ID != cashier.StaffID {
			t.Errorf("as %q: %v", written, err)
		}
	}
	s.Exec("update loyalty.staff set email = $2, email_key = lower($2) where id = $1", cashier.StaffID, email)
	for _, written := range []string{email, "  " + strings.ToUpper(email) + " "} {
		in, err := s.try(written, known)
		s.Check(err)
		if want := (auth.Person{ID: cashier.StaffID, Role: core.Cashier, Name: cashier.Name, Email: email}); in.Person != want || in.NeedsCode {
			t.Errorf("%+v", in)
		}
		if cookie := s.Cookie(in.Proof, written); !s.isSignedIn(cookie) {
			t.Error("the proof signs no one in")
		}
	}
	var entry string
	err := dbtest.Owner(s.DB).QueryRow(t.Context(), `
		select actor_kind || ' ' || actor_id || ' ' || actor_name || ' ' || address || ' ' || request_id || ' ' || subject_id || ' ' || new
		from loyalty.audit_entry where tenant_id = $1 and action = 'staff.sign_in' limit 1`, s.By.Tenant.ID).Scan(&entry)
	if want := fmt.Sprintf(`staff %s A cashier %s R1 %[1]s {"with": "password"}`, cashier.ID, address(s.By)); err != nil || entry != want {
		t.Errorf("log: %s, %v; want %s", entry, err, want)
	}
}

// All wrong credentials get the same refusal. The audit log has the reason, but no text that is not
// an e-mail address, since it may be a password.
func TestWrongCredentialsGetOneRefusal(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	email, theirs := s.Email(s.By), other.Email(other.By)
	gone, invited := s.Person(core.Manager), s.As(core.Cashier).By
	s.Exec("update loyalty.staff set status = 'inactive' where id = $1", gone.StaffID)
	away, uncome := s.Email(gone), s.Email(invited)
	const typed = "my secret password"
	for _, c := range []auth.Credentials{
		{email, "wrong"},
		{email, ""},
		{email, strings.ToUpper(known)},
		{email, strings.Repeat("x", 100_000)},
		{"stranger@example.com", known},
		{theirs, known},
		{away, known},
		{away, "wrong"},
		{uncome, known},
		{uncome, ""},
		{"", ""},
		{typed, known},
		{email + "\x00", known},
		{"\xff@example.com", known},
		{"' or true --", known},
	} {
		if _, err := s.try(c.Email, c.Password); !errors.Is(err, auth.ErrCredentials) {
			t.Errorf("%.40q %.40q: %v, want ErrCredentials", c.Email, c.Password, err)
		}
	}
	s.Exec("update loyalty.tenant set status = 'suspended' where id = $1", s.By.Tenant.ID)
	if _, err := s.try(email, known); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("at a suspended business: %v, want ErrCredentials", err)
	}
	line := func(email, reason string) string {
		return fmt.Sprintf(`staff.sign_in_refused - {"email": %q, "reason": %q}`, email, reason)
	}
	wrong, unknown := line(email, "wrong password"), line("", "no such account")
	s.WantPeopleLog(
		"staff.sign_in%",
		wrong, wrong, wrong, wrong, line("stranger@example.com", "no such account"), line(theirs, "no such account"),
		line(away, "not active"), line(away, "not active"), line(uncome, "invitation not accepted"), line(uncome, "invitation not accepted"),
		unknown, unknown, unknown, unknown, unknown, line(email, "not active"),
	)
}

// Without a stored password, a sign-in hashes one of the same cost and makes as many round trips.
func TestARefusalTakesTheSameWork(t *testing.T) {
	t.Parallel()
	params, salt, key, err := argon2id.DecodeHash(auth.NoHash)
	if err != nil || *params != *auth.HashParams || len(salt) != 16 || len(key) != 32 {
		t.Errorf("compared with a hash of %+v, %v", params, err)
	}

	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	invited := dbtest.Person(t, d, s.By, core.Cashier)
	email, uncome := s.Email(s.By), s.Email(invited)
	trips := func(c auth.Credentials) int {
		before := count()
		_, _ = s.try(c.Email, c.Password)
		return count() - before
	}
	for _, c := range []auth.Credentials{{email, known}, {email, "wrong"}, {"stranger@example.com", known}, {uncome, known}} {
		trips(c) // prepares the statements
		if got := trips(c); got != 4 {
			t.Errorf("%v: %d round trips, want 4", c, got)
		}
	}
}

// No sign-in is refused before a password was hashed.
func TestARefusalWaitsForTheHash(t *testing.T) {
	s := newShop(t)
	release, err := auth.HoldHashing(t.Context())
	s.Check(err)
	defer release()
	for _, email := range []string{s.Email(s.By), "stranger@example.com"} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := s.SignIn(ctx, s.visitor, auth.Credentials{Email: email, Password: known}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want it to wait", email, err)
		}
	}
}

// A sign-in that waits too long for the hash is unavailable and doesn't count as an attempt.
func TestUncheckedPasswordsDoNotCount(t *testing.T) {
	s := newShop(t)
	email := s.Email(s.By)
	patient := auth.HashImpatiently(10 * time.Millisecond)
	defer patient()
	release, err := auth.HoldHashing(t.Context())
	s.Check(err)
	for range 12 {
		var refusal *core.Error
		if _, err := s.try(email, known); !errors.As(err, &refusal) || refusal.Kind != core.KindUnavailable || refusal.Wait <= 0 {
			t.Errorf("with all places taken: %v", err)
		}
		if _, err := s.ChangePassword(t.Context(), s.By, known, "a long new sentence"); !core.IsKind(err, core.KindUnavailable) {
			t.Errorf("changing the password: %v", err)
		}
	}
	release()
	patient()
	if _, err := s.try(email, known); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if _, err := s.ChangePassword(t.Context(), s.By, known, "a long new sentence"); err != nil {
		t.Errorf("changing the password afterwards: %v", err)
	}
}

// At most half of the cores hash passwords.
func TestHalfOfTheCoresHash(t *testing.T) {
	t.Parallel()
	if got, cores := auth.HashPlaces(), runtime.GOMAXPROCS(0); got > max(1, cores/2) {
		t.Errorf("%d passwords are hashed at once on %d cores", got, cores)
	}
}

// Ten wrong passwords in 15 minutes from an address stop sign-ins to an account, whether it exists
// or not. A sign-in resets the count.
func TestAnAccountIsThrottled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	start := s.DB.Now()
	s = s.at(start)
	email := s.Email(s.By)
	fail := func(s shop, email string, times int) {
		t.Helper()
		for range times {
			if _, err := s.try(email, "wrong"); !errors.Is(err, auth.ErrCredentials) {
				t.Fatalf("%v, want ErrCredentials", err)
			}
		}
	}
	fail(s, email, 9)
	if _, err := s.try(email, known); err != nil {
		t.Fatalf("the right one after nine wrong ones: %v", err)
	}
	fail(s, email, 10)
	fail(s, "stranger@example.com", 10)
	for _, account := range []string{email, strings.ToUpper(email), "stranger@example.com"} {
		_, err := s.try(account, known)
		wantThrottled(t, err, "Too many attempts. Please try again in 15 minutes.")
	}
	colleague := s.Person(core.Manager)
	if _, err := s.try(s.Email(colleague), known); err != nil {
		t.Errorf("a colleague: %v", err)
	}
	other := newShop(t)
	other.Exec("update loyalty.staff set email = $2, email_key = $2 where id = $1", other.By.StaffID, email)
	if _, err := other.try(email, known); err != nil {
		t.Errorf("the same address in another tenant: %v", err)
	}
	// "Survives restarts": each of these is another process.
	_, err := s.at(start.Add(14*time.Minute+30*time.Second)).try(email, known)
	wantThrottled(t, err, "Too many attempts. Please try again in a minute.")
	if _, err := s.at(start.Add(15*time.Minute+30*time.Second)).try(email, known); err != nil {
		t.Errorf("after a quarter of an hour: %v", err)
	}
}

// browser is a browser at an address, in which a person just signed in.
func (s shop) browser(person core.Actor, address string) shop {
	s.T.Helper()
	in, err := s.try(s.Email(person), known)
	s.Check(err)
	s = s.from(address)
	if s.visitor.Device, err = s.RememberDevice(s.visitor.Device, in.Proof); err != nil {
		s.T.Fatal(err)
	}
	return s
}

// Strangers' wrong passwords don't stop a person at another address, or in a browser in which they
// signed in before.
func TestStrangersLockNoOneOut(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	s = s.at(s.DB.Now())
	email, home := s.Email(s.By), s.browser(s.By, s.visitor.Address)
	attacker, third := s.from("198.51.100.1"), s.from("203.0.113.5")
	fail := func(s shop, times int) {
		t.Helper()
		for range times {
			if _, err := s.try(email, "wrong"); !errors.Is(err, auth.ErrCredentials) {
				t.Fatalf("%v, want ErrCredentials", err)
			}
		}
	}
	stopped := func(s shop, within time.Duration) {
		t.Helper()
		var refusal *core.Error
		if _, err := s.try(email, known); !errors.As(err, &refusal) || refusal.Kind != core.KindThrottled || refusal.Wait <= 0 || refusal.Wait > within {
			t.Errorf("%v, want that it is stopped for at most %s", err, within)
		}
	}
	signsIn := func(what string, s shop) {
		t.Helper()
		if _, err := s.try(email, known); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	fail(attacker, 10)
	stopped(attacker, 15*time.Minute)
	signsIn("the owner's own browser", home)
	signsIn("a third address", third)
	signsIn("the owner's browser at the attacker's address", home.from(attacker.visitor.Address))

	// Many addresses together are stopped after 100 attempts, for an hour.
	s.Exec("update loyalty.attempt set used = 99 where ends_at > $1", s.DB.Now().Add(30*time.Minute))
	fail(s.from("203.0.113.6"), 1)
	stopped(third, time.Hour)
	signsIn("the owner's own browser, while the account is attacked from everywhere", home)

	// Only its own attempts count for the browser.
	fail(home, 10)
	stopped(home, 15*time.Minute)
	another := home
	another.visitor.Device = ""
	stopped(another, time.Hour)
	s.Exec("delete from loyalty.attempt where ends_at > $1", s.DB.Now().Add(30*time.Minute))
	signsIn("a browser without the cookie", third)
	stopped(home, 15*time.Minute)
}

// The device cookie is valid for a year, for one person, until their password changes.
func TestDeviceCookieExpires(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	s = s.at(s.DB.Now())
	colleague := s.Person(core.Cashier)
	email := s.Email(s.By)
	home := s.browser(s.By, s.visitor.Address)
	shared := home.browser(colleague, s.visitor.Address)
	forged, foreign, old := home, home, home
	last := len(home.visitor.Device) - 3 // the end of a signature
	forged.visitor.Device = home.visitor.Device[:last] + "AAA"
	foreign.visitor.Device = s.browser(colleague, s.visitor.Address).visitor.Device
	old.visitor.Device, _ = s.RememberDevice("", auth.Proof{StaffID: s.By.StaffID, At: s.DB.Now().AddDate(-1, 0, -2)})
	attacked := func() {
		t.Helper()
		if _, err := s.from("203.0.113.9").try(email, "wrong"); !errors.Is(err, auth.ErrCredentials) {
			t.Fatal(err)
		}
		s.Exec("update loyalty.attempt set used = 100 where ends_at > $1", s.DB.Now().Add(30*time.Minute))
	}
	attacked()
	for name, c := range map[string]struct {
		browser shop
		known   bool
	}{
		"their own":             {home, true},
		"shared by two people":  {shared, true},
		"without a cookie":      {s, false},
		"forged":                {forged, false},
		"a colleague's":         {foreign, false},
		"a year and a day old":  {old, false},
		"of something unlikely": {s.withDevice("~..~1.2.3.4~x.y.z.!"), false},
	} {
		_, err := c.browser.try(email, known)
		if (err == nil) != c.known || err != nil && !core.IsKind(err, core.KindThrottled) {
			t.Errorf("%s: %v, want that it is known: %t", name, err, c.known)
		}
	}
	proof, err := s.ChangePassword(t.Context(), s.By, known, another)
	s.Check(err)
	attacked()
	_, err = home.try(email, another)
	wantThrottled(t, err, "Too many attempts. Please try again in 60 minutes.")
	if home.visitor.Device, err = s.RememberDevice(home.visitor.Device, proof); err != nil {
		t.Fatal(err)
	}
	if _, err := home.try(email, another); err != nil {
		t.Errorf("where the password was changed: %v", err)
	}
	// It is remembered for the last eight people who signed in.
	for i := range 20 {
		if home.visitor.Device, err = s.RememberDevice(home.visitor.Device, auth.Proof{StaffID: int64(1000 + i%10), At: s.DB.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(home.visitor.Device, "~") + 1; n != 8 || !strings.HasPrefix(home.visitor.Device, "1009.") || len(home.visitor.Device) > 1000 {
		t.Errorf("%d people are remembered: %s", n, home.visitor.Device)
	}
}

// withDevice returns the shop called by a browser with a cookie.
func (s shop) withDevice(value string) shop {
	s.visitor.Device = value
	return s
}

// Attempts from an address are limited over all accounts and tenants. Refused attempts don't count
// against accounts.
func TestAnAddressIsThrottled(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	s, other := shopIn(t, d), shopIn(t, d)
	other.visitor.Address = s.visitor.Address + ":1" // the same network
	for i, at := range []shop{s, other, s, other} {
		if i == 3 {
			s.Exec("update loyalty.attempt set used = 49 where used = 3")
		}
		if _, err := at.try(fmt.Sprintf("stranger%d@example.com", i), "wrong"); !errors.Is(err, auth.ErrCredentials) {
			t.Fatalf("%d: %v, want ErrCredentials", i, err)
		}
	}
	email := s.Email(s.By)
	for range 12 {
		_, err := s.try(email, known)
		wantThrottled(t, err, "Too many attempts. Please try again in 15 minutes.")
	}
	if _, err := s.from("198.51.100.1").try(email, known); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
	if n := len(s.PeopleLog("staff.sign_in_refused")); n != 2 {
		t.Errorf("%d refusals in the log: throttled ones must not fill it", n)
	}
}

// A sign-in neither counts against the address nor resets its count.
func TestSignInDoesNotCountAgainstAddress(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	email := s.Email(s.By)
	if _, err := s.try("stranger@example.com", "wrong"); !errors.Is(err, auth.ErrCredentials) {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := s.try(email, known); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if i == 0 {
			s.Exec("update loyalty.attempt set used = used + 48 where used = 1")
		}
	}
	if _, err := s.try("another@example.com", "wrong"); !errors.Is(err, auth.ErrCredentials) {
		t.Fatal(err)
	}
	_, err := s.try(email, known)
	wantThrottled(t, err, "Too many attempts. Please try again in 15 minutes.")
}

// Throttled attempts are in the process's log, without the password or the e-mail address. Attempts
// on one account have the same id.
func TestThrottledAttemptsAreLogged(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t)) // because counts are shared by tenants
	email := s.Email(s.By)
	type line struct {
		Level, Msg, Request, Attempts, Account, Address string
		Tenant                                          core.TenantID
	}
	try := func(s shop, email string) line {
		t.Helper()
		s.console.Reset()
		if _, err := s.try(email, known); !core.IsKind(err, core.KindThrottled) {
			t.Fatalf("%v, want a refusal", err)
		}
		text := s.console.String()
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if strings.Contains(text, known) || strings.Contains(text, email) {
			t.Errorf("the line tells too much: %s", text)
		}
		return l
	}
	for range 10 {
		if _, err := s.try(email, "wrong"); !errors.Is(err, auth.ErrCredentials) {
			t.Fatal(err)
		}
	}
	if s.console.Len() != 0 {
		t.Errorf("of wrong passwords: %s", s.console)
	}
	first := try(s, email)
	want := line{
		Level: "WARN", Msg: "too many attempts", Request: "R1", Attempts: "sign in by address", Account: first.Account,
		Address: s.visitor.Address, Tenant: s.By.Tenant.ID,
	}
	if first != want || len(first.Account) != 16 {
		t.Errorf("logged %+v, want %+v", first, want)
	}
	s.Exec("update loyalty.attempt set used = 50")
	want.Attempts = "sign in by address, sign in by address on all accounts"
	if got := try(s, strings.ToUpper(email)); got != want {
		t.Errorf("logged %+v, want %+v", got, want)
	}
	want.Attempts = "sign in by address on all accounts"
	if got := try(s, "stranger@example.com"); got.Attempts != want.Attempts || got.Account == want.Account {
		t.Errorf("on another account: %+v", got)
	}
	if n := len(s.PeopleLog("%")); n != 10 {
		t.Errorf("%d entries in the audit log, want the ten refusals", n)
	}
}

// Concurrent guesses are limited like consecutive ones.
func TestConcurrentAttemptsAreThrottled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	second := s.later(0)
	email := s.Email(s.By)
	var checked, throttled atomic.Int32
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			_, err := []shop{s, second}[i%2].try(email, "wrong")
			switch {
			case errors.Is(err, auth.ErrCredentials):
				checked.Add(1)
			case core.IsKind(err, core.KindThrottled):
				throttled.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if checked.Load() != 10 || throttled.Load() != 40 {
		t.Errorf("%d were checked and %d stopped, want 10 and 40", checked.Load(), throttled.Load())
	}
}

// Invitations and resets are deleted 30 days after they expired.
func TestExpiredLinksAreDeleted(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	s := shopIn(t, d)
	for _, table := range []string{"invitation", "password_reset"} {
		for i, taken := range []bool{true, false} {
			_, err := dbtest.Owner(d).Exec(t.Context(), "insert into loyalty."+table+` (tenant_id, id, staff_id, hash, expires_at, taken_at, created_at)
				select $1, loyalty.new_ulid(now()), $2, sha256($3), now() + interval '1 hour', case when $4 then now() end, now()`,
				s.By.Tenant.ID, s.By.StaffID, []byte{byte(i)}, taken)
			s.Check(err)
		}
	}
	for _, step := range []struct {
		after time.Duration
		left  int
	}{{30 * 24 * time.Hour, 4}, {30*24*time.Hour + 2*time.Hour, 0}} {
		s.Check(s.later(step.after).DeleteOldLinks(t.Context()))
		var left int
		err := dbtest.Owner(d).QueryRow(t.Context(), "select (select count(*) from loyalty.invitation) + (select count(*) from loyalty.password_reset)").Scan(&left)
		if err != nil || left != step.left {
			t.Errorf("after %s: %d left, %v; want %d", step.after, left, err, step.left)
		}
	}
}

// Counts are deleted after their period.
func TestEndedCountsAreDeleted(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	s := shopIn(t, d)
	if _, err := s.try("stranger@example.com", "wrong"); !errors.Is(err, auth.ErrCredentials) {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		left  int
	}{{14 * time.Minute, 3}, {16 * time.Minute, 1}, {61 * time.Minute, 0}} {
		s.Check(s.later(step.after).DeleteOldAttempts(t.Context()))
		var left int
		if err := dbtest.Owner(d).QueryRow(t.Context(), "select count(*) from loyalty.attempt").Scan(&left); err != nil || left != step.left {
			t.Errorf("after %s: %d left, %v; want %d", step.after, left, err, step.left)
		}
	}
}

// Refused sign-ins leave a line in the security log; throttled ones leave "too many attempts".
func TestRefusedSignInsAreLogged(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for password, want := range map[string]string{"not the password": "sign-in", known: ""} {
		ctx, trail := core.WithRequestLog(t.Context(), "")
		_, err := s.SignIn(ctx, s.visitor, auth.Credentials{Email: s.Email(s.By), Password: password})
		if (err != nil) != (want != "") || trail.Refused != want {
			t.Errorf("%s: %v, noted as %q, want %q", password, err, trail.Refused, want)
		}
	}
}
