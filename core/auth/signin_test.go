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
func (s shop) try(t *testing.T, email, password string) (auth.SignedIn, error) {
	t.Helper()
	return s.SignIn(t.Context(), s.visitor, auth.Credentials{Email: email, Password: password})
}

// from returns the shop called from another address.
func (s shop) from(address string) shop {
	s.visitor.Address = address
	return s
}

// cookie signs a person in by a proof, and returns their browser's cookie.
func (s shop) cookie(t *testing.T, p auth.Proof, cookie string) string {
	t.Helper()
	v := &auth.Visit{Slug: s.by.Tenant.Slug}
	v.SignIn(p)
	if err := auth.NewStore(s.db).CommitCtx(auth.WithVisit(t.Context(), v), cookie, []byte{}, s.db.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	return cookie
}

func (s shop) isSignedIn(t *testing.T, cookie string) bool {
	t.Helper()
	_, err := s.Actor(t.Context(), cookie, s.by.Tenant.Slug)
	if err != nil && !errors.Is(err, core.ErrUnauthenticated) {
		t.Fatal(err)
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
	cashier := s.person(t, core.Cashier)
	email := s.email(t, cashier)
	for _, written := range []string{email, "  " + strings.ToUpper(email) + " "} {
		in, err := s.try(t, written, known)
		if err != nil {
			t.Fatal(err)
		}
		if want := (auth.Person{ID: cashier.StaffID, Role: core.Cashier, Name: cashier.Name, Email: email}); in.Person != want || in.NeedsCode {
			t.Errorf("%+v", in)
		}
		if cookie := s.cookie(t, in.Proof, written); !s.isSignedIn(t, cookie) {
			t.Error("the proof signs no one in")
		}
	}
	var entry string
	err := dbtest.Owner(s.db).QueryRow(t.Context(), `
		select actor_kind || ' ' || actor_id || ' ' || actor_name || ' ' || address || ' ' || request_id || ' ' || subject_id || ' ' || new
		from loyalty.audit_entry where tenant_id = $1 and action = 'staff.sign_in' limit 1`, s.by.Tenant.ID).Scan(&entry)
	if want := fmt.Sprintf(`staff %s A cashier %s R1 %[1]s {"with": "password"}`, cashier.ID, address(s.by)); err != nil || entry != want {
		t.Errorf("log: %s, %v; want %s", entry, err, want)
	}
}

// All wrong credentials get the same refusal. The audit log has the reason, but no text that is not
// an e-mail address, since it may be a password.
func TestWrongCredentialsGetOneRefusal(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	email, theirs := s.email(t, s.by), other.email(t, other.by)
	gone, invited := s.person(t, core.Manager), dbtest.Person(t, s.db, s.by, core.Cashier)
	s.exec(t, "update loyalty.staff set status = 'inactive' where id = $1", gone.StaffID)
	away, uncome := s.email(t, gone), s.email(t, invited)
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
		if _, err := s.try(t, c.Email, c.Password); !errors.Is(err, auth.ErrCredentials) {
			t.Errorf("%.40q %.40q: %v, want ErrCredentials", c.Email, c.Password, err)
		}
	}
	s.exec(t, "update loyalty.tenant set status = 'suspended' where id = $1", s.by.Tenant.ID)
	if _, err := s.try(t, email, known); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("at a suspended business: %v, want ErrCredentials", err)
	}
	line := func(email, reason string) string {
		return fmt.Sprintf(`staff.sign_in_refused - {"email": %q, "reason": %q}`, email, reason)
	}
	wrong, unknown := line(email, "wrong password"), line("", "no such account")
	s.wantLog(
		t, "staff.sign_in%",
		wrong, wrong, wrong, wrong, line("stranger@example.com", "no such account"), line(theirs, "no such account"),
		line(away, "not active"), line(away, "not active"), line(uncome, "invitation not taken up"), line(uncome, "invitation not taken up"),
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
	invited := dbtest.Person(t, d, s.by, core.Cashier)
	email, uncome := s.email(t, s.by), s.email(t, invited)
	trips := func(c auth.Credentials) int {
		before := count()
		_, _ = s.try(t, c.Email, c.Password)
		return count() - before
	}
	for _, c := range []auth.Credentials{{email, known}, {email, "wrong"}, {"stranger@example.com", known}, {uncome, known}} {
		trips(c) // prepares
		if got := trips(c); got != 4 {
			t.Errorf("%v: %d round trips, want 4", c, got)
		}
	}
}

// No sign-in is refused before a password was hashed.
func TestARefusalWaitsForTheHash(t *testing.T) {
	s := newShop(t)
	release, err := auth.HoldHashing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for _, email := range []string{s.email(t, s.by), "stranger@example.com"} {
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
	email := s.email(t, s.by)
	patient := auth.HashImpatiently(10 * time.Millisecond)
	defer patient()
	release, err := auth.HoldHashing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 12 {
		var refusal *core.Error
		if _, err := s.try(t, email, known); !errors.As(err, &refusal) || refusal.Kind != core.KindUnavailable || refusal.Wait <= 0 {
			t.Errorf("with all places taken: %v", err)
		}
		if _, err := s.ChangePassword(t.Context(), s.by, known, "a long new sentence"); !core.IsKind(err, core.KindUnavailable) {
			t.Errorf("changing the password: %v", err)
		}
	}
	release()
	patient()
	if _, err := s.try(t, email, known); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if _, err := s.ChangePassword(t.Context(), s.by, known, "a long new sentence"); err != nil {
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
	start := s.db.Now()
	s = s.at(t, start)
	email := s.email(t, s.by)
	fail := func(s shop, email string, times int) {
		t.Helper()
		for range times {
			if _, err := s.try(t, email, "wrong"); !errors.Is(err, auth.ErrCredentials) {
				t.Fatalf("%v, want ErrCredentials", err)
			}
		}
	}
	fail(s, email, 9)
	if _, err := s.try(t, email, known); err != nil {
		t.Fatalf("the right one after nine wrong ones: %v", err)
	}
	fail(s, email, 10)
	fail(s, "stranger@example.com", 10)
	for _, account := range []string{email, strings.ToUpper(email), "stranger@example.com"} {
		_, err := s.try(t, account, known)
		wantThrottled(t, err, "Too many attempts. Please try again in 15 minutes.")
	}
	colleague := s.person(t, core.Manager)
	if _, err := s.try(t, s.email(t, colleague), known); err != nil {
		t.Errorf("a colleague: %v", err)
	}
	other := newShop(t)
	other.exec(t, "update loyalty.staff set email = $2, email_key = $2 where id = $1", other.by.StaffID, email)
	if _, err := other.try(t, email, known); err != nil {
		t.Errorf("the same address in another tenant: %v", err)
	}
	// "Survives restarts": each of these is another process.
	_, err := s.at(t, start.Add(14*time.Minute+30*time.Second)).try(t, email, known)
	wantThrottled(t, err, "Too many attempts. Please try again in a minute.")
	if _, err := s.at(t, start.Add(15*time.Minute+30*time.Second)).try(t, email, known); err != nil {
		t.Errorf("after a quarter of an hour: %v", err)
	}
}

// browser is a browser at an address, in which a person just signed in.
func (s shop) browser(t *testing.T, person core.Actor, address string) shop {
	t.Helper()
	in, err := s.try(t, s.email(t, person), known)
	if err != nil {
		t.Fatal(err)
	}
	s = s.from(address)
	if s.visitor.Device, err = s.RememberDevice(s.visitor.Device, in.Proof); err != nil {
		t.Fatal(err)
	}
	return s
}

// Strangers' wrong passwords don't stop a person at another address, or in a browser in which they
// signed in before.
func TestStrangersLockNoOneOut(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	s = s.at(t, s.db.Now())
	email, home := s.email(t, s.by), s.browser(t, s.by, s.visitor.Address)
	attacker, third := s.from("198.51.100.1"), s.from("203.0.113.5")
	fail := func(s shop, times int) {
		t.Helper()
		for range times {
			if _, err := s.try(t, email, "wrong"); !errors.Is(err, auth.ErrCredentials) {
				t.Fatalf("%v, want ErrCredentials", err)
			}
		}
	}
	stopped := func(s shop, within time.Duration) {
		t.Helper()
		var refusal *core.Error
		if _, err := s.try(t, email, known); !errors.As(err, &refusal) || refusal.Kind != core.KindThrottled || refusal.Wait <= 0 || refusal.Wait > within {
			t.Errorf("%v, want that it is stopped for at most %s", err, within)
		}
	}
	signsIn := func(what string, s shop) {
		t.Helper()
		if _, err := s.try(t, email, known); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	fail(attacker, 10)
	stopped(attacker, 15*time.Minute)
	signsIn("the owner's own browser", home)
	signsIn("a third address", third)
	signsIn("the owner's browser at the attacker's address", home.from(attacker.visitor.Address))

	// Many addresses together are stopped after a hundred, for an hour.
	s.exec(t, "update loyalty.attempt set used = 99 where ends_at > $1", s.db.Now().Add(30*time.Minute))
	fail(s.from("203.0.113.6"), 1)
	stopped(third, time.Hour)
	signsIn("the owner's own browser, while the account is attacked from everywhere", home)

	// Its own budget is used up by itself alone.
	fail(home, 10)
	stopped(home, 15*time.Minute)
	another := home
	another.visitor.Device = ""
	stopped(another, time.Hour)
	s.exec(t, "delete from loyalty.attempt where ends_at > $1", s.db.Now().Add(30*time.Minute))
	signsIn("a browser without the cookie", third)
	stopped(home, 15*time.Minute)
}

// The device cookie is valid for a year, for one person, until their password changes.
func TestDeviceCookieExpires(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	s = s.at(t, s.db.Now())
	colleague := s.person(t, core.Cashier)
	email := s.email(t, s.by)
	home := s.browser(t, s.by, s.visitor.Address)
	shared := home.browser(t, colleague, s.visitor.Address)
	forged, foreign, old := home, home, home
	last := len(home.visitor.Device) - 3 // the end of a signature
	forged.visitor.Device = home.visitor.Device[:last] + "AAA"
	foreign.visitor.Device = s.browser(t, colleague, s.visitor.Address).visitor.Device
	old.visitor.Device, _ = s.RememberDevice("", auth.Proof{StaffID: s.by.StaffID, At: s.db.Now().AddDate(-1, 0, -2)})
	attacked := func() {
		t.Helper()
		if _, err := s.from("203.0.113.9").try(t, email, "wrong"); !errors.Is(err, auth.ErrCredentials) {
			t.Fatal(err)
		}
		s.exec(t, "update loyalty.attempt set used = 100 where ends_at > $1", s.db.Now().Add(30*time.Minute))
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
		_, err := c.browser.try(t, email, known)
		if (err == nil) != c.known || err != nil && !core.IsKind(err, core.KindThrottled) {
			t.Errorf("%s: %v, want that it is known: %t", name, err, c.known)
		}
	}
	proof, err := s.ChangePassword(t.Context(), s.by, known, another)
	if err != nil {
		t.Fatal(err)
	}
	attacked()
	_, err = home.try(t, email, another)
	wantThrottled(t, err, "Too many attempts. Please try again in 60 minutes.")
	if home.visitor.Device, err = s.RememberDevice(home.visitor.Device, proof); err != nil {
		t.Fatal(err)
	}
	if _, err := home.try(t, email, another); err != nil {
		t.Errorf("where the password was changed: %v", err)
	}
	// It is remembered for eight people, the last ones to sign in.
	for i := range 20 {
		if home.visitor.Device, err = s.RememberDevice(home.visitor.Device, auth.Proof{StaffID: int64(1000 + i%10), At: s.db.Now()}); err != nil {
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
			s.exec(t, "update loyalty.attempt set used = 49 where used = 3")
		}
		if _, err := at.try(t, fmt.Sprintf("stranger%d@example.com", i), "wrong"); !errors.Is(err, auth.ErrCredentials) {
			t.Fatalf("%d: %v, want ErrCredentials", i, err)
		}
	}
	email := s.email(t, s.by)
	for range 12 {
		_, err := s.try(t, email, known)
		wantThrottled(t, err, "Too many attempts. Please try again in 15 minutes.")
	}
	if _, err := s.from("198.51.100.1").try(t, email, known); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
	if n := len(s.log(t, "staff.sign_in_refused")); n != 2 {
		t.Errorf("%d refusals in the log: throttled ones must not fill it", n)
	}
}

// A sign-in neither counts against the address nor resets its count.
func TestSignInDoesNotCountAgainstAddress(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	email := s.email(t, s.by)
	if _, err := s.try(t, "stranger@example.com", "wrong"); !errors.Is(err, auth.ErrCredentials) {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := s.try(t, email, known); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if i == 0 {
			s.exec(t, "update loyalty.attempt set used = used + 48 where used = 1")
		}
	}
	if _, err := s.try(t, "another@example.com", "wrong"); !errors.Is(err, auth.ErrCredentials) {
		t.Fatal(err)
	}
	_, err := s.try(t, email, known)
	wantThrottled(t, err, "Too many attempts. Please try again in 15 minutes.")
}

// Throttled attempts are in the process's log, without the password or the e-mail address. Attempts
// on one account have the same id.
func TestThrottledAttemptsAreLogged(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t)) // because counts are shared by tenants
	email := s.email(t, s.by)
	type line struct {
		Level, Msg, Request, Attempts, Account, Address string
		Tenant                                          core.TenantID
	}
	try := func(s shop, email string) line {
		t.Helper()
		s.console.Reset()
		if _, err := s.try(t, email, known); !core.IsKind(err, core.KindThrottled) {
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
		if _, err := s.try(t, email, "wrong"); !errors.Is(err, auth.ErrCredentials) {
			t.Fatal(err)
		}
	}
	if s.console.Len() != 0 {
		t.Errorf("of wrong passwords: %s", s.console)
	}
	first := try(s, email)
	want := line{
		Level: "WARN", Msg: "too many attempts", Request: "R1", Attempts: "sign in by address", Account: first.Account,
		Address: s.visitor.Address, Tenant: s.by.Tenant.ID,
	}
	if first != want || len(first.Account) != 16 {
		t.Errorf("logged %+v, want %+v", first, want)
	}
	s.exec(t, "update loyalty.attempt set used = 50")
	want.Attempts = "sign in by address, sign in by address on all accounts"
	if got := try(s, strings.ToUpper(email)); got != want {
		t.Errorf("logged %+v, want %+v", got, want)
	}
	want.Attempts = "sign in by address on all accounts"
	if got := try(s, "stranger@example.com"); got.Attempts != want.Attempts || got.Account == want.Account {
		t.Errorf("on another account: %+v", got)
	}
	if n := len(s.log(t, "%")); n != 10 {
		t.Errorf("%d entries in the audit log, want the ten refusals", n)
	}
}

// Concurrent guesses are limited like consecutive ones.
func TestConcurrentAttemptsAreThrottled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	second := s.later(t, 0)
	email := s.email(t, s.by)
	var checked, throttled atomic.Int32
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			_, err := []shop{s, second}[i%2].try(t, email, "wrong")
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
				s.by.Tenant.ID, s.by.StaffID, []byte{byte(i)}, taken)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, step := range []struct {
		after time.Duration
		left  int
	}{{30 * 24 * time.Hour, 4}, {30*24*time.Hour + 2*time.Hour, 0}} {
		if err := s.later(t, step.after).ForgetLinks(t.Context()); err != nil {
			t.Fatal(err)
		}
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
	if _, err := s.try(t, "stranger@example.com", "wrong"); !errors.Is(err, auth.ErrCredentials) {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		left  int
	}{{14 * time.Minute, 3}, {16 * time.Minute, 1}, {61 * time.Minute, 0}} {
		if err := s.later(t, step.after).ForgetAttempts(t.Context()); err != nil {
			t.Fatal(err)
		}
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
		ctx, trail := core.WithRequestLog(t.Context())
		_, err := s.SignIn(ctx, s.visitor, auth.Credentials{Email: s.email(t, s.by), Password: password})
		if (err != nil) != (want != "") || trail.Refused != want {
			t.Errorf("%s: %v, noted as %q, want %q", password, err, trail.Refused, want)
		}
	}
}
