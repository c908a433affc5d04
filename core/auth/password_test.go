package auth_test

import (
	"crypto/sha256"
	"errors"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
)

const another = "battery staple horse"

// forgot requests a reset and runs the job that mails its link.
func (s shop) forgot(email string) {
	s.T.Helper()
	s.Check(s.RequestReset(s.T.Context(), s.visitor, email))
	s.remind()
}

// remind runs the waiting jobs of the shop's tenant.
func (s shop) remind() {
	s.T.Helper()
	rows, err := dbtest.Owner(s.DB).Query(s.T.Context(), `
		delete from river.river_job
		where kind = 'password_forgotten' and (args ->> 'tenant')::bigint = $1
		returning args ->> 'email', args ->> 'address', args ->> 'request_id'`, s.By.Tenant.ID)
	s.Check(err)
	var jobs []auth.ResetRequest
	for rows.Next() {
		f := auth.ResetRequest{Tenant: s.By.Tenant.ID}
		s.Check(rows.Scan(&f.Email, &f.Address, &f.RequestID))
		jobs = append(jobs, f)
	}
	if rows.Err() != nil {
		s.T.Fatal(rows.Err())
	}
	for _, f := range jobs {
		s.Check(s.SendReset(s.T.Context(), f))
	}
}

// link returns the secret of the last reset that was mailed to a person.
func (s shop) link(person core.Actor) string {
	s.T.Helper()
	letters := s.Inbox.To(s.Email(person))
	for _, l := range slices.Backward(letters) {
		if l, ok := l.(auth.ResetEmail); ok {
			return l.Secret
		}
	}
	s.T.Fatalf("mailed: %+v", letters)
	return ""
}

// mailed returns the number of mails to a person.
func (s shop) mailed(person core.Actor) int {
	s.T.Helper()
	return shoptest.Query[int](s.Shop, "select count(*) from loyalty.mail where tenant_id = $1 and recipient = $2",
		s.By.Tenant.ID, s.Email(person))
}

// wantTold makes sure that a person's latest mail tells of that change, and that no other
// one does but of two-step verification that was turned on.
func (s shop) wantTold(person core.Actor, want auth.ChangeEmail) {
	s.T.Helper()
	letters := s.Inbox.To(s.Email(person))
	var told []auth.ChangeEmail
	for _, l := range letters {
		if l, ok := l.(auth.ChangeEmail); ok && l.Change == want.Change {
			told = append(told, l)
		}
	}
	if len(told) != 1 || letters[len(letters)-1] != any(told[0]) || s.mailed(person) != len(letters) {
		s.T.Fatalf("%d mails are kept of %+v", s.mailed(person), letters)
	}
	got := told[0]
	if since := s.DB.Now().Sub(got.At); since < 0 || since > time.Minute {
		s.T.Errorf("changed at %s", got.At)
	}
	want.Tenant, want.Slug, want.Person, want.At = s.By.Tenant.Name, s.By.Tenant.Slug, person.Name, got.At
	if got != want {
		s.T.Errorf("told %+v, want %+v", got, want)
	}
}

// A reset's link is random, stored as a hash, and works once within 60 minutes.
func TestResetForgottenPassword(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s = s.at(s.DB.Now())
	asked := s.DB.Now()
	email := s.Email(s.By)
	s.forgot(" " + email)
	sent := s.Inbox.To(email)[0].(auth.ResetEmail)
	if sent.Tenant != s.By.Tenant.Name || sent.Slug != s.By.Tenant.Slug || sent.Person != s.By.Name ||
		sent.Address != s.visitor.Address || sent.ExpiresAt.Sub(asked) < time.Hour || sent.ExpiresAt.Sub(asked) > time.Hour+time.Minute || len(sent.Secret) != 26 {
		t.Errorf("mailed: %+v", sent)
	}
	var hash []byte
	s.Check(dbtest.Owner(s.DB).QueryRow(t.Context(), "select hash from loyalty.password_reset where tenant_id = $1", s.By.Tenant.ID).Scan(&hash))
	if want := sha256.Sum256([]byte(sent.Secret)); string(hash) != string(want[:]) {
		t.Error("what is stored is not the hash of the secret")
	}

	for range 10 {
		_, _ = s.try(email, "wrong")
	}
	here := s.Cookie(auth.Proof{StaffID: s.By.StaffID, At: s.DB.Now()}, "browser of "+s.By.ID)
	if l, err := s.FindReset(t.Context(), s.visitor, sent.Secret); err != nil || l.Email != email || l.Name != s.By.Name || !l.ExpiresAt.Equal(sent.ExpiresAt) {
		t.Errorf("the link is for %+v, %v", l, err)
	}
	shoptest.WantFields(t, s.Reset(t.Context(), s.visitor, sent.Secret, auth.NewPassword{Password: "short"}), core.Fields{"password": {core.MinLength(12)}})
	shoptest.WantFields(t, s.Reset(t.Context(), s.visitor, sent.Secret, auth.NewPassword{Password: email}), core.Fields{"password": {core.Violation{Rule: "easy_password"}}})
	s.Check(s.Reset(t.Context(), s.visitor, sent.Secret, auth.NewPassword{Password: another}))
	if err := s.Reset(t.Context(), s.visitor, sent.Secret, auth.NewPassword{Password: known}); !errors.Is(err, auth.ErrLink) {
		t.Errorf("used twice: %v, want ErrLink", err)
	}
	if _, err := s.FindReset(t.Context(), s.visitor, sent.Secret); !errors.Is(err, auth.ErrLink) {
		t.Errorf("shown once used: %v, want ErrLink", err)
	}
	if s.isSignedIn(here) {
		t.Error("they are signed in by the old password")
	}
	in, err := s.try(email, another)
	if err != nil {
		t.Fatalf("the new password, after ten wrong ones: %v", err)
	}
	if !s.isSignedIn(s.Cookie(in.Proof, "another browser of "+s.By.ID)) {
		t.Error("the new password signs no one in")
	}
	if _, err := s.try(email, known); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("the old password: %v, want ErrCredentials", err)
	}
	s.WantPeopleLog("staff.forgot%", `staff.forgot_password - {"email": "`+email+`", "expires_at": "`+sent.ExpiresAt.Format("2006-01-02T15:04:05.999Z07:00")+`"}`)
	s.wantTold(s.By, auth.ChangeEmail{Change: auth.PasswordReset, Address: s.visitor.Address})
	s.WantPeopleLog("staff.reset%", "staff.reset_password - -")
}

// A reset revokes the person's tokens in the same transaction if they ask for it.
func TestAResetRevokesTokens(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	colleague := s.Person(core.Owner)
	theirs := s.token(colleague)
	first, second, expired := s.token(s.By), s.token(s.By), s.token(s.By)
	s.Exec("update loyalty.token set expires_at = now() - interval '1 minute' where id = $1", expired.ID)
	works := func(secret string) bool {
		t.Helper()
		_, err := s.tokens.Authenticate(t.Context(), secret, "")
		if err != nil && !errors.Is(err, core.ErrUnauthenticated) {
			t.Fatal(err)
		}
		return err == nil
	}
	reset := func(n auth.NewPassword, live int) {
		t.Helper()
		s.forgot(s.Email(s.By))
		secret := s.link(s.By)
		if l, err := s.FindReset(t.Context(), s.visitor, secret); err != nil || l.LiveTokens != live {
			t.Errorf("the link is for a person with %d live tokens, %v, want %d", l.LiveTokens, err, live)
		}
		weak := auth.NewPassword{Password: "short", RevokeTokens: n.RevokeTokens}
		if err := s.Reset(t.Context(), s.visitor, secret, weak); !core.IsKind(err, core.KindInvalid) || live > 0 && !works(first.Secret) {
			t.Errorf("a refused password: %v, or it revokes", err)
		}
		s.Check(s.Reset(t.Context(), s.visitor, secret, n))
	}
	reset(auth.NewPassword{Password: another}, 2)
	if !works(first.Secret) || !works(second.Secret) {
		t.Error("tokens were revoked unasked")
	}
	reset(auth.NewPassword{Password: known, RevokeTokens: true}, 2)
	if works(first.Secret) || works(second.Secret) || !works(theirs.Secret) {
		t.Errorf("afterwards they work: %t, %t, a colleague's: %t", works(first.Secret), works(second.Secret), works(theirs.Secret))
	}
	var lines int
	err := dbtest.Owner(s.DB).QueryRow(t.Context(), `
		select count(*) from loyalty.audit_entry
		where tenant_id = $1 and action = 'token.revoke' and actor_kind = 'staff' and actor_id = $2
			and subject_id in ($3::bigint::text, $4::bigint::text)`, s.By.Tenant.ID, s.By.ID, first.ID, second.ID).Scan(&lines)
	if err != nil || lines != 2 {
		t.Errorf("the audit log has %d lines, %v, want 2", lines, err)
	}
	reset(auth.NewPassword{Password: another, RevokeTokens: true}, 0)
}

// A link expires, belongs to one tenant, and is withdrawn when the password changes or the person
// is deactivated.
func TestResetRefusesInvalidLinks(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	s.forgot(s.Email(s.By))
	first := s.link(s.By)
	s.forgot(s.Email(s.By))
	second := s.link(s.By)
	refused := func(name string, s shop, secret string) {
		t.Helper()
		if _, err := s.FindReset(t.Context(), s.visitor, secret); !errors.Is(err, auth.ErrLink) {
			t.Errorf("%s: shown: %v, want ErrLink", name, err)
		}
		if err := s.Reset(t.Context(), s.visitor, secret, auth.NewPassword{Password: another}); !errors.Is(err, auth.ErrLink) {
			t.Errorf("%s: used: %v, want ErrLink", name, err)
		}
	}
	refused("unknown", s, "LQJ7WZ6M3KXN5T2VBYD4R5S6AE")
	refused("none", s, "")
	refused("nonsense", s, "\x00\xff")
	refused("at another tenant's host", other, first)
	refused("after an hour", s.later(61*time.Minute), first)
	s.Exec("update loyalty.staff set status = 'inactive' where id = $1", s.By.StaffID)
	refused("of a deactivated person", s, first)
	s.Exec("update loyalty.staff set status = 'active' where id = $1", s.By.StaffID)
	if _, err := s.later(59*time.Minute).FindReset(t.Context(), s.visitor, first); err != nil {
		t.Errorf("within the hour: %v", err)
	}
	s.Check(s.Reset(t.Context(), s.visitor, second, auth.NewPassword{Password: another}))
	refused("the other one, once one was used", s, first)
	s.forgot(s.Email(s.By))
	s.Must(s.ChangePassword(t.Context(), s.By, another, known))
	refused("once the password was changed", s, s.link(s.By))
}

// Two concurrent clicks use a link once.
func TestConcurrentClicksUseALinkOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.forgot(s.Email(s.By))
	secret := s.link(s.By)
	var used atomic.Int32
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			switch err := s.Reset(t.Context(), s.visitor, secret, auth.NewPassword{Password: another}); {
			case err == nil:
				used.Add(1)
			case !errors.Is(err, auth.ErrLink):
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if used.Load() != 1 {
		t.Errorf("used %d times", used.Load())
	}
}

// A request for an unknown address does the same work and gets the same answer.
func TestForgottenPasswordRevealsNoAccount(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	gone := s.Person(core.Manager)
	s.Exec("update loyalty.staff set status = 'inactive' where id = $1", gone.StaffID)
	away := s.Email(gone)
	trips := map[int]bool{}
	s.forgot(s.Email(s.By)) // prepares the statements
	for _, email := range []string{s.Email(s.By), "stranger@example.com", away} {
		fewest := math.MaxInt
		for i := range 8 {
			before := count()
			if err := s.RequestReset(t.Context(), s.from("198.51.100."+strconv.Itoa(i)).visitor, email); err != nil {
				t.Errorf("%s: %v", email, err)
			}
			d.WaitForNotifications()
			fewest = min(fewest, count()-before)
		}
		trips[fewest] = true
	}
	if len(trips) != 1 {
		t.Errorf("round trips differ: %v", trips)
	}
	s.remind()
	if len(s.Inbox.To("stranger@example.com"))+len(s.Inbox.To(away)) != 0 || len(s.Inbox.To(s.Email(s.By))) != 9 {
		t.Error("mails went to a stranger, to a person who left, or not to the owner")
	}
	shoptest.WantFields(t, s.RequestReset(t.Context(), s.visitor, " "), core.Fields{"email": {core.Required}})
	shoptest.WantFields(t, s.RequestReset(t.Context(), s.visitor, "maja"), core.Fields{"email": {core.MustBeEmail}})
}

// The number of mails is limited, also for unknown addresses.
func TestForgottenPasswordIsThrottled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s = s.at(s.DB.Now())
	for _, email := range []string{s.Email(s.By), "stranger@example.com"} {
		for range 3 {
			s.Check(s.RequestReset(t.Context(), s.visitor, email))
		}
		wantThrottled(t, s.RequestReset(t.Context(), s.visitor, email), "Too many attempts. Please try again in 60 minutes.")
		// A stranger who used up the limit doesn't stop the person elsewhere; ten an hour in total.
		for i := range 7 {
			if err := s.RequestReset(t.Context(), s.from("198.51.100."+strconv.Itoa(i)).visitor, email); err != nil {
				t.Fatalf("from elsewhere: %v", err)
			}
		}
		wantThrottled(t, s.RequestReset(t.Context(), s.from("198.51.100.8").visitor, email), "Too many attempts. Please try again in 60 minutes.")
		if err := s.later(61*time.Minute).RequestReset(t.Context(), s.visitor, email); err != nil {
			t.Errorf("after an hour: %v", err)
		}
	}
	home := s.browser(s.By, s.visitor.Address)
	if err := home.RequestReset(t.Context(), home.visitor, s.Email(s.By)); err != nil {
		t.Errorf("by the owner's own browser: %v", err)
	}
}

// A person whose invitation expired gets a new one instead of a reset.
func TestResetInvitesAgain(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	invited := s.As(core.Manager).By
	s.forgot(s.Email(invited))
	letters := s.Inbox.To(s.Email(invited))
	if len(letters) != 1 {
		t.Fatalf("mailed: %+v", letters)
	}
	l, ok := letters[0].(auth.InvitationEmail)
	if !ok || l.Role != core.Manager || l.Slug != s.By.Tenant.Slug {
		t.Fatalf("mailed: %+v", letters)
	}
	if _, err := s.people.Join(t.Context(), s.visitor, l.Secret, staff.Joining{Name: "Bo", Password: another}); err != nil {
		t.Error(err)
	}
}

// What an operator has stored is compared without an attempt: nothing is counted or logged.
func TestStoredPasswordsAreCompared(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.Person(core.Cashier)
	email := s.Email(cashier)
	is := func(t core.Tenant, email, password string) bool {
		s.T.Helper()
		is, err := s.IsPassword(s.T.Context(), t, email, password)
		s.Check(err)
		return is
	}
	for range 20 {
		if is(s.By.Tenant, email, "another password") {
			t.Fatal("a wrong password is right")
		}
	}
	if !is(s.By.Tenant, email, known) || s.console.Len() > 0 {
		t.Errorf("the password isn't right, or was counted: %s", s.console)
	}
	if _, err := s.try(email, known); err != nil {
		t.Errorf("a sign-in after that: %v", err)
	}
	if is(core.Tenant{}, email, known) || is(s.By.Tenant, "absent@example.com", known) {
		t.Error("it is the password of a person who isn't there")
	}
	s.Exec("update loyalty.staff set status = 'inactive' where id = $1", cashier.StaffID)
	if is(s.By.Tenant, email, known) {
		t.Error("it is the password of a person who can't sign in")
	}
}

// A new password ends all sessions of the person and of no others; the proof signs them in again.
func TestChangePassword(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	colleague := s.Person(core.Cashier)
	proof := func(by core.Actor) auth.Proof { return auth.Proof{StaffID: by.StaffID, At: s.DB.Now()} }
	here, there := s.Cookie(proof(s.By), "here "+s.By.ID), s.Cookie(proof(s.By), "there "+s.By.ID)
	theirs := s.Cookie(proof(colleague), "theirs "+s.By.ID)

	change := func(current, password string) error {
		_, err := s.ChangePassword(t.Context(), s.By, current, password)
		return err
	}
	shoptest.WantFields(t, change("wrong", another), core.Fields{"current_password": {core.Violation{Rule: "wrong_password"}}})
	shoptest.WantFields(t, change(known, "short"), core.Fields{"password": {core.MinLength(12)}})
	if !s.isSignedIn(here) {
		t.Fatal("a refusal signs out")
	}
	fresh, err := s.ChangePassword(t.Context(), s.By, known, another)
	s.Check(err)
	if s.isSignedIn(here) || s.isSignedIn(there) || !s.isSignedIn(theirs) {
		t.Error("they should be signed out, and the colleague not")
	}
	if !s.isSignedIn(s.Cookie(fresh, "renewed "+s.By.ID)) {
		t.Error("the proof signs no one in")
	}
	if _, err := s.try(s.Email(s.By), another); err != nil {
		t.Errorf("the new password: %v", err)
	}
	s.wantTold(s.By, auth.ChangeEmail{Change: auth.PasswordChanged, Address: s.By.Address})
	s.WantPeopleLog("staff.change%", "staff.change_password - -")

	for range 10 {
		shoptest.WantFields(t, change("wrong", known), core.Fields{"current_password": {core.Violation{Rule: "wrong_password"}}})
	}
	wantThrottled(t, change(another, known), "Too many attempts. Please try again in 15 minutes.")
}

// Of two concurrent changes with the same current password, one succeeds.
func TestConcurrentPasswordChanges(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var changed atomic.Int32
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			_, err := s.ChangePassword(t.Context(), s.By, known, another)
			var refusal *core.Error
			switch {
			case err == nil:
				changed.Add(1)
			case !errors.As(err, &refusal):
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if changed.Load() != 1 {
		t.Errorf("changed %d times", changed.Load())
	}
}

// The statements of a change are committed together or not at all.
func TestPasswordChangeIsAtomic(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.forgot(s.Email(s.By))
	secret := s.link(s.By)
	here := s.Cookie(auth.Proof{StaffID: s.By.StaffID, At: s.DB.Now()}, "here "+s.By.ID)
	// PostgreSQL stores no NUL character, so the audit entry fails.
	broken := s.By
	broken.Kind = "\x00"
	if _, err := s.ChangePassword(t.Context(), broken, known, another); err == nil {
		t.Fatal("changed without an entry in the log")
	}
	if !s.isSignedIn(here) {
		t.Error("signed out")
	}
	if _, err := s.FindReset(t.Context(), s.visitor, secret); err != nil {
		t.Errorf("withdrawn: %v", err)
	}
	if _, err := s.try(s.Email(s.By), known); err != nil {
		t.Errorf("the password is another one: %v", err)
	}
	if mails := s.mailed(s.By); mails != 1 {
		t.Errorf("%d mails wait, want that with the link alone", mails)
	}
}
