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
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/staff"
)

const another = "battery staple horse"

// forgot requests a reset and runs the job that mails its link.
func (s shop) forgot(t *testing.T, email string) {
	t.Helper()
	if err := s.RequestReset(t.Context(), s.visitor, email); err != nil {
		t.Fatal(err)
	}
	s.remind(t)
}

// remind runs the waiting jobs of the shop's tenant.
func (s shop) remind(t *testing.T) {
	t.Helper()
	rows, err := dbtest.Owner(s.db).Query(t.Context(), `
		delete from river.river_job
		where kind = 'password_forgotten' and (args ->> 'tenant')::bigint = $1
		returning args ->> 'email', args ->> 'address', args ->> 'request_id'`, s.by.Tenant.ID)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []auth.ResetRequest
	for rows.Next() {
		f := auth.ResetRequest{Tenant: s.by.Tenant.ID}
		if err := rows.Scan(&f.Email, &f.Address, &f.RequestID); err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, f)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	for _, f := range jobs {
		if err := s.SendReset(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
}

// link returns the secret of the last reset that was mailed to a person.
func (s shop) link(t *testing.T, person core.Actor) string {
	t.Helper()
	letters := s.post.to(s.email(t, person))
	for _, l := range slices.Backward(letters) {
		if l, ok := l.(auth.ResetEmail); ok {
			return l.Secret
		}
	}
	t.Fatalf("mailed: %+v", letters)
	return ""
}

// mailed returns the number of mails to a person.
func (s shop) mailed(t *testing.T, person core.Actor) (mails int) {
	t.Helper()
	err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from loyalty.mail where tenant_id = $1 and recipient = $2",
		s.by.Tenant.ID, s.email(t, person)).Scan(&mails)
	if err != nil {
		t.Fatal(err)
	}
	return mails
}

// wantTold makes sure that a person's latest mail tells of that change, and that no other
// one does but of two-step verification that was turned on.
func (s shop) wantTold(t *testing.T, person core.Actor, want auth.ChangeEmail) {
	t.Helper()
	letters := s.post.to(s.email(t, person))
	var told []auth.ChangeEmail
	for _, l := range letters {
		if l, ok := l.(auth.ChangeEmail); ok && l.Change == want.Change {
			told = append(told, l)
		}
	}
	if len(told) != 1 || letters[len(letters)-1] != mail.Email(told[0]) || s.mailed(t, person) != len(letters) {
		t.Fatalf("%d mails are kept of %+v", s.mailed(t, person), letters)
	}
	got := told[0]
	if since := s.db.Now().Sub(got.At); since < 0 || since > time.Minute {
		t.Errorf("changed at %s", got.At)
	}
	want.Tenant, want.Slug, want.Person, want.At = s.by.Tenant.Name, s.by.Tenant.Slug, person.Name, got.At
	if got != want {
		t.Errorf("told %+v, want %+v", got, want)
	}
}

// A reset's link is random, stored as a hash, and works once within 60 minutes.
func TestResetForgottenPassword(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s = s.at(t, s.db.Now())
	asked := s.db.Now()
	email := s.email(t, s.by)
	s.forgot(t, " "+email)
	sent := s.post.to(email)[0].(auth.ResetEmail)
	if sent.Tenant != s.by.Tenant.Name || sent.Slug != s.by.Tenant.Slug || sent.Person != s.by.Name ||
		sent.Address != s.visitor.Address || sent.ExpiresAt.Sub(asked) < time.Hour || sent.ExpiresAt.Sub(asked) > time.Hour+time.Minute || len(sent.Secret) != 26 {
		t.Errorf("mailed: %+v", sent)
	}
	var hash []byte
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select hash from loyalty.password_reset where tenant_id = $1", s.by.Tenant.ID).Scan(&hash); err != nil {
		t.Fatal(err)
	}
	if want := sha256.Sum256([]byte(sent.Secret)); string(hash) != string(want[:]) {
		t.Error("what is stored is not the hash of the secret")
	}

	for range 10 {
		_, _ = s.try(t, email, "wrong")
	}
	here := s.cookie(t, auth.Proof{StaffID: s.by.StaffID, At: s.db.Now()}, "browser of "+s.by.ID)
	if l, err := s.FindReset(t.Context(), s.visitor, sent.Secret); err != nil || l.Email != email || l.Name != s.by.Name || !l.ExpiresAt.Equal(sent.ExpiresAt) {
		t.Errorf("the link is for %+v, %v", l, err)
	}
	wantFields(t, s.Reset(t.Context(), s.visitor, sent.Secret, auth.NewPassword{Password: "short"}), core.Fields{"password": {core.MinLength(12)}})
	wantFields(t, s.Reset(t.Context(), s.visitor, sent.Secret, auth.NewPassword{Password: email}), core.Fields{"password": {core.Violation{Rule: "easy_password"}}})
	if err := s.Reset(t.Context(), s.visitor, sent.Secret, auth.NewPassword{Password: another}); err != nil {
		t.Fatal(err)
	}
	if err := s.Reset(t.Context(), s.visitor, sent.Secret, auth.NewPassword{Password: known}); !errors.Is(err, auth.ErrLink) {
		t.Errorf("used twice: %v, want ErrLink", err)
	}
	if _, err := s.FindReset(t.Context(), s.visitor, sent.Secret); !errors.Is(err, auth.ErrLink) {
		t.Errorf("shown once used: %v, want ErrLink", err)
	}
	if s.isSignedIn(t, here) {
		t.Error("they are signed in by the old password")
	}
	in, err := s.try(t, email, another)
	if err != nil {
		t.Fatalf("the new password, after ten wrong ones: %v", err)
	}
	if !s.isSignedIn(t, s.cookie(t, in.Proof, "another browser of "+s.by.ID)) {
		t.Error("the new password signs no one in")
	}
	if _, err := s.try(t, email, known); !errors.Is(err, auth.ErrCredentials) {
		t.Errorf("the old password: %v, want ErrCredentials", err)
	}
	s.wantLog(t, "staff.forgot%", `staff.forgot_password - {"email": "`+email+`", "expires_at": "`+sent.ExpiresAt.Format("2006-01-02T15:04:05.999Z07:00")+`"}`)
	s.wantTold(t, s.by, auth.ChangeEmail{Change: auth.PasswordReset, Address: s.visitor.Address})
	s.wantLog(t, "staff.reset%", "staff.reset_password - -")
}

// A reset revokes the person's tokens in the same transaction if they ask for it.
func TestAResetRevokesTokens(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	colleague := s.person(t, core.Owner)
	theirs := s.token(t, colleague)
	first, second, expired := s.token(t, s.by), s.token(t, s.by), s.token(t, s.by)
	s.exec(t, "update loyalty.token set expires_at = now() - interval '1 minute' where id = $1", expired.ID)
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
		s.forgot(t, s.email(t, s.by))
		secret := s.link(t, s.by)
		if l, err := s.FindReset(t.Context(), s.visitor, secret); err != nil || l.LiveTokens != live {
			t.Errorf("the link is for a person with %d live tokens, %v, want %d", l.LiveTokens, err, live)
		}
		weak := auth.NewPassword{Password: "short", RevokeTokens: n.RevokeTokens}
		if err := s.Reset(t.Context(), s.visitor, secret, weak); !core.IsKind(err, core.KindInvalid) || live > 0 && !works(first.Secret) {
			t.Errorf("a refused password: %v, or it revokes", err)
		}
		if err := s.Reset(t.Context(), s.visitor, secret, n); err != nil {
			t.Fatal(err)
		}
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
	err := dbtest.Owner(s.db).QueryRow(t.Context(), `
		select count(*) from loyalty.audit_entry
		where tenant_id = $1 and action = 'token.revoke' and actor_kind = 'staff' and actor_id = $2
			and subject_id in ($3::bigint::text, $4::bigint::text)`, s.by.Tenant.ID, s.by.ID, first.ID, second.ID).Scan(&lines)
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
	s.forgot(t, s.email(t, s.by))
	first := s.link(t, s.by)
	s.forgot(t, s.email(t, s.by))
	second := s.link(t, s.by)
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
	refused("after an hour", s.later(t, 61*time.Minute), first)
	s.exec(t, "update loyalty.staff set status = 'inactive' where id = $1", s.by.StaffID)
	refused("of a deactivated person", s, first)
	s.exec(t, "update loyalty.staff set status = 'active' where id = $1", s.by.StaffID)
	if _, err := s.later(t, 59*time.Minute).FindReset(t.Context(), s.visitor, first); err != nil {
		t.Errorf("within the hour: %v", err)
	}
	if err := s.Reset(t.Context(), s.visitor, second, auth.NewPassword{Password: another}); err != nil {
		t.Fatal(err)
	}
	refused("the other one, once one was used", s, first)
	s.forgot(t, s.email(t, s.by))
	if _, err := s.ChangePassword(t.Context(), s.by, another, known); err != nil {
		t.Fatal(err)
	}
	refused("once the password was changed", s, s.link(t, s.by))
}

// Two concurrent clicks use a link once.
func TestConcurrentClicksUseALinkOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.forgot(t, s.email(t, s.by))
	secret := s.link(t, s.by)
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
	gone := s.person(t, core.Manager)
	s.exec(t, "update loyalty.staff set status = 'inactive' where id = $1", gone.StaffID)
	away := s.email(t, gone)
	trips := map[int]bool{}
	s.forgot(t, s.email(t, s.by)) // prepares
	for _, email := range []string{s.email(t, s.by), "stranger@example.com", away} {
		fewest := math.MaxInt
		for i := range 8 { // some also wake the queue, which is told once in a while
			before := count()
			if err := s.RequestReset(t.Context(), s.from("198.51.100."+strconv.Itoa(i)).visitor, email); err != nil {
				t.Errorf("%s: %v", email, err)
			}
			fewest = min(fewest, count()-before)
		}
		trips[fewest] = true
	}
	if len(trips) != 1 {
		t.Errorf("round trips differ: %v", trips)
	}
	s.remind(t)
	if len(s.post.to("stranger@example.com"))+len(s.post.to(away)) != 0 || len(s.post.to(s.email(t, s.by))) != 9 {
		t.Errorf("mailed: %+v", s.post.letters)
	}
	wantFields(t, s.RequestReset(t.Context(), s.visitor, " "), core.Fields{"email": {core.Required}})
	wantFields(t, s.RequestReset(t.Context(), s.visitor, "maja"), core.Fields{"email": {core.MustBeEmail}})
}

// The number of mails is limited, also for unknown addresses.
func TestForgottenPasswordIsThrottled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s = s.at(t, s.db.Now())
	for _, email := range []string{s.email(t, s.by), "stranger@example.com"} {
		for range 3 {
			if err := s.RequestReset(t.Context(), s.visitor, email); err != nil {
				t.Fatal(err)
			}
		}
		wantThrottled(t, s.RequestReset(t.Context(), s.visitor, email), "Too many attempts. Please try again in 60 minutes.")
		// A stranger who used that up does not keep them from asking elsewhere; ten an hour in all.
		for i := range 7 {
			if err := s.RequestReset(t.Context(), s.from("198.51.100."+strconv.Itoa(i)).visitor, email); err != nil {
				t.Fatalf("from elsewhere: %v", err)
			}
		}
		wantThrottled(t, s.RequestReset(t.Context(), s.from("198.51.100.8").visitor, email), "Too many attempts. Please try again in 60 minutes.")
		if err := s.later(t, 61*time.Minute).RequestReset(t.Context(), s.visitor, email); err != nil {
			t.Errorf("after an hour: %v", err)
		}
	}
	home := s.browser(t, s.by, s.visitor.Address)
	if err := home.RequestReset(t.Context(), home.visitor, s.email(t, s.by)); err != nil {
		t.Errorf("by the owner's own browser: %v", err)
	}
}

// A person whose invitation expired gets a new one instead of a reset.
func TestResetInvitesAgain(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	invited := dbtest.Person(t, s.db, s.by, core.Manager)
	s.forgot(t, s.email(t, invited))
	letters := s.post.to(s.email(t, invited))
	if len(letters) != 1 {
		t.Fatalf("mailed: %+v", letters)
	}
	l, ok := letters[0].(auth.InvitationEmail)
	if !ok || l.Role != core.Manager || l.Slug != s.by.Tenant.Slug {
		t.Fatalf("mailed: %+v", letters)
	}
	if _, err := s.people.Join(t.Context(), s.visitor, l.Secret, staff.Joining{Name: "Bo", Password: another}); err != nil {
		t.Error(err)
	}
}

// A new password ends all sessions of the person and of no others; the proof signs them in again.
func TestChangePassword(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	colleague := s.person(t, core.Cashier)
	proof := func(by core.Actor) auth.Proof { return auth.Proof{StaffID: by.StaffID, At: s.db.Now()} }
	here, there := s.cookie(t, proof(s.by), "here "+s.by.ID), s.cookie(t, proof(s.by), "there "+s.by.ID)
	theirs := s.cookie(t, proof(colleague), "theirs "+s.by.ID)

	change := func(current, password string) error {
		_, err := s.ChangePassword(t.Context(), s.by, current, password)
		return err
	}
	wantFields(t, change("wrong", another), core.Fields{"current_password": {core.Violation{Rule: "wrong_password"}}})
	wantFields(t, change(known, "short"), core.Fields{"password": {core.MinLength(12)}})
	if !s.isSignedIn(t, here) {
		t.Fatal("a refusal signs out")
	}
	fresh, err := s.ChangePassword(t.Context(), s.by, known, another)
	if err != nil {
		t.Fatal(err)
	}
	if s.isSignedIn(t, here) || s.isSignedIn(t, there) || !s.isSignedIn(t, theirs) {
		t.Error("they should be signed out, and the colleague not")
	}
	if !s.isSignedIn(t, s.cookie(t, fresh, "renewed "+s.by.ID)) {
		t.Error("the proof signs no one in")
	}
	if _, err := s.try(t, s.email(t, s.by), another); err != nil {
		t.Errorf("the new password: %v", err)
	}
	s.wantTold(t, s.by, auth.ChangeEmail{Change: auth.PasswordChanged, Address: s.by.Address})
	s.wantLog(t, "staff.change%", "staff.change_password - -")

	for range 10 {
		wantFields(t, change("wrong", known), core.Fields{"current_password": {core.Violation{Rule: "wrong_password"}}})
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
			_, err := s.ChangePassword(t.Context(), s.by, known, another)
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
	s.forgot(t, s.email(t, s.by))
	secret := s.link(t, s.by)
	here := s.cookie(t, auth.Proof{StaffID: s.by.StaffID, At: s.db.Now()}, "here "+s.by.ID)
	// No text can hold this: the entry in the log is refused.
	broken := s.by
	broken.Kind = "\x00"
	if _, err := s.ChangePassword(t.Context(), broken, known, another); err == nil {
		t.Fatal("changed without an entry in the log")
	}
	if !s.isSignedIn(t, here) {
		t.Error("signed out")
	}
	if _, err := s.FindReset(t.Context(), s.visitor, secret); err != nil {
		t.Errorf("withdrawn: %v", err)
	}
	if _, err := s.try(t, s.email(t, s.by), known); err != nil {
		t.Errorf("the password is another one: %v", err)
	}
	if mails := s.mailed(t, s.by); mails != 1 {
		t.Errorf("%d mails wait, want that with the link alone", mails)
	}
}
