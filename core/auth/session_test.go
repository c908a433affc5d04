package auth_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// panel is a process that serves the panel of a tenant.
type panel struct {
	shoptest.Shop
	*auth.Service
	store *auth.Store
	scs   *scs.SessionManager
	coded bool // the sign-in has a code
}

func newPanel(t *testing.T) panel { return panelOf(shoptest.New(t)) }

func panelOf(s shoptest.Shop) panel {
	p := panel{Shop: s, Service: s.Auth, store: auth.NewStore(s.DB), scs: scs.New()}
	p.scs.Store, p.scs.Lifetime = p.store, auth.SessionLifetime
	return p
}

// later returns the panel after a time.
func (p panel) later(d time.Duration) panel {
	p.T.Helper()
	return panelOf(p.Later(d))
}

func (p panel) visit() *auth.Visit {
	return &auth.Visit{Slug: p.By.Tenant.Slug, Address: "203.0.113.7", UserAgent: "Firefox", RequestID: "R1"}
}

// open begins a request with a cookie.
func (p panel) open(v *auth.Visit, cookie string) context.Context {
	p.T.Helper()
	loaded, err := p.store.Load(p.T.Context(), *v, cookie)
	p.Check(err)
	*v = *loaded
	ctx, err := p.scs.Load(auth.WithVisit(p.T.Context(), v), cookie)
	p.Check(err)
	return ctx
}

// answer ends a request that changed its session, and returns the cookie.
func (p panel) answer(ctx context.Context) (cookie string) { //nolint:revive // a test's helper begins with t
	p.T.Helper()
	cookie, _, err := p.scs.Commit(ctx)
	p.Check(err)
	return cookie
}

// signedIn signs a person in at a new browser and returns its cookie.
func (p panel) signedIn(person core.Actor) (cookie string) {
	p.T.Helper()
	return p.signIn(p.open(p.visit(), ""), person)
}

func (p panel) signIn(ctx context.Context, person core.Actor) (cookie string) {
	p.T.Helper()
	p.Check(p.scs.RenewToken(ctx))
	return p.answer(auth.WithProof(ctx, auth.Proof{StaffID: person.StaffID, At: p.DB.Now(), Code: p.coded}))
}

// who returns the person signed in by a cookie; nil: none.
func (p panel) who(cookie string) *auth.Identity {
	p.T.Helper()
	v := p.visit()
	p.open(v, cookie)
	return v.Person
}

func (p panel) sessions(by core.Actor, cookie string) []auth.Session {
	p.T.Helper()
	list, err := p.Sessions(p.T.Context(), by, auth.SessionID(cookie))
	p.Check(err)
	return list
}

// Sessions survive a restart and are shared by several processes.
func TestASessionIsKnownToEveryProcess(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	p.Exec("update loyalty.credential set totp_secret = 'sealed' where staff_id = $1", p.By.StaffID)
	p.Exec("update loyalty.staff set email = 'maja@aro.example' where id = $1", p.By.StaffID)
	p.coded = true
	ctx := p.open(p.visit(), "")
	p.scs.Put(ctx, "flash", "Welcome")
	cookie := p.signIn(ctx, p.By)

	another, err := db.Open(t.Context(), p.DB.OwnerURL(), db.Options{})
	p.Check(err)
	defer another.Close()
	other := panelOf(shoptest.Of(t, another, p.By))
	seen := other.visit()
	ctx = other.open(seen, cookie)
	if flash := other.scs.GetString(ctx, "flash"); flash != "Welcome" {
		t.Errorf("the session says %q", flash)
	}
	want := p.By
	want.Address, want.RequestID, want.NeedsActive = "203.0.113.7", "R1", true
	same := cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })
	if diff := cmp.Diff(&auth.Identity{Actor: want, Email: "maja@aro.example", TwoFactor: true, Session: auth.SessionID(cookie)}, seen.Person, same); diff != "" {
		t.Errorf("signed in (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(p.By.Tenant, seen.Tenant, same); diff != "" {
		t.Errorf("tenant (-want +got):\n%s", diff)
	}
}

// Only the hash of a token is stored, so the database doesn't let anyone sign in.
func TestTheTokenIsNotStored(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	cookie := p.signedIn(p.By)
	var hash []byte
	var text string
	err := dbtest.Owner(p.DB).QueryRow(t.Context(), "select hash, s::text from loyalty.session s where staff_id = $1", p.By.StaffID).Scan(&hash, &text)
	p.Check(err)
	if want := sha256.Sum256([]byte(cookie)); string(hash) != string(want[:]) || strings.Contains(text, cookie) {
		t.Errorf("stored: %s", text)
	}
	for _, forged := range []string{string(hash), "", "nonsense", strings.Repeat("x", 4000), "\x00\xff"} {
		if p.who(forged) != nil {
			t.Errorf("%q signs someone in", forged)
		}
	}
}

// A session is refused on another or unknown host, and when the business is suspended or the person
// deactivated.
func TestSessionIsRefusedElsewhere(t *testing.T) {
	t.Parallel()
	p, other := newPanel(t), newPanel(t)
	cashier := p.As(core.Cashier).By
	cookie, theirs := p.signedIn(p.By), p.signedIn(cashier)
	if p.who(cookie) == nil || p.who(theirs) == nil {
		t.Fatal("not signed in")
	}
	for _, slug := range []string{other.By.Tenant.Slug, "unknown", ""} {
		v := p.visit()
		v.Slug = slug
		ctx := p.open(v, cookie)
		if v.Person != nil || len(p.scs.Keys(ctx)) != 0 || v.Tenant.Slug == p.By.Tenant.Slug {
			t.Errorf("at %q: %+v of %+v", slug, v.Person, v.Tenant)
		}
		if _, err := p.Actor(t.Context(), cookie, slug); !errors.Is(err, core.ErrUnauthenticated) {
			t.Errorf("for the API at %q: %v, want ErrUnauthenticated", slug, err)
		}
	}
	p.Exec("update loyalty.staff set status = 'inactive' where id = $1", cashier.StaffID)
	if p.who(theirs) != nil || p.who(cookie) == nil {
		t.Error("a deactivated person is signed in, or an active one is not")
	}
	p.Exec("update loyalty.tenant set status = 'suspended' where id = $1", p.By.Tenant.ID)
	v := p.visit()
	p.open(v, cookie)
	if v.Person != nil || !v.Tenant.Suspended {
		t.Errorf("at a suspended business: %+v of %+v", v.Person, v.Tenant)
	}
}

// Sessions expire after 12 idle hours and after 7 days.
func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	left := p.signedIn(p.By)
	if p.later(12*time.Hour-time.Minute).who(left) == nil {
		t.Error("signed out after less than 12 hours")
	}
	// This request starts another 12 hours.
	if p.later(24*time.Hour-2*time.Minute).who(left) == nil {
		t.Error("signed out 12 hours after the last request")
	}
	if p.later(36*time.Hour).who(left) != nil {
		t.Error("signed in after 12 idle hours")
	}
	used := p.signedIn(p.By)
	for since := 11 * time.Hour; since < 7*24*time.Hour; since += 11 * time.Hour {
		if p.later(since).who(used) == nil {
			t.Fatalf("signed out after %s in use", since)
		}
	}
	for _, since := range []time.Duration{7*24*time.Hour - time.Minute, 7*24*time.Hour + time.Minute} {
		later := p.later(since)
		if known := later.who(used) != nil; known != (since < auth.SessionLifetime) {
			t.Errorf("after %s in use: signed in: %v", since, known)
		}
	}
}

// A later expiry is reduced to the lifetime of a session.
func TestSessionLifetimeIsCapped(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	p.scs.Lifetime = 365 * 24 * time.Hour
	cookie := p.signedIn(p.By)
	p.Exec("update loyalty.session set last_seen_at = last_seen_at + interval '8 days' where staff_id = $1", p.By.StaffID)
	if p.later(auth.SessionLifetime+time.Minute).who(cookie) != nil {
		t.Error("a session lives longer than seven days")
	}
}

// A slow request doesn't revive a session that ended meanwhile.
func TestSlowRequestDoesNotReviveSession(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	ends := map[string]func(cookie string) error{
		"signed out": func(cookie string) error { return p.scs.Destroy(p.open(p.visit(), cookie)) },
		"ended from elsewhere": func(cookie string) error {
			return p.EndSession(t.Context(), p.By, auth.SessionID(cookie))
		},
		"renewed": func(cookie string) error { return p.scs.RenewToken(p.open(p.visit(), cookie)) },
	}
	for name, end := range ends {
		cookie := p.signedIn(p.By)
		slow := p.open(p.visit(), cookie)
		if err := end(cookie); err != nil {
			t.Fatal(name, err)
		}
		p.scs.Put(slow, "flash", "late")
		if again := p.answer(slow); again != cookie || p.who(cookie) != nil {
			t.Errorf("%s: the slow request brought it back", name)
		}
	}
	// A live session keeps what is written.
	cookie := p.signedIn(p.By)
	ctx := p.open(p.visit(), cookie)
	p.scs.Put(ctx, "flash", "in time")
	p.answer(ctx)
	if got := p.scs.GetString(p.open(p.visit(), cookie), "flash"); got != "in time" || p.who(cookie) == nil {
		t.Errorf("the session says %q", got)
	}
}

// A planted cookie isn't signed in.
func TestASignInNeedsARenewedToken(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	ctx := p.open(p.visit(), "")
	p.scs.Put(ctx, "flash", "please sign in")
	planted := p.answer(ctx)

	ctx = p.open(p.visit(), planted)
	if _, _, err := p.scs.Commit(auth.WithProof(ctx, auth.Proof{StaffID: p.By.StaffID, At: p.DB.Now()})); err == nil || p.who(planted) != nil {
		t.Errorf("signed in with the old token: %v", err)
	}
	cookie := p.signIn(ctx, p.By)
	if p.who(cookie) == nil || p.who(planted) != nil {
		t.Error("the new token is signed out, or the old one signed in")
	}
	// Written twice by one request, as when rendering fails.
	if again := p.answer(ctx); again != cookie || p.who(cookie) == nil {
		t.Error("written again, it is signed out")
	}
	if got := p.scs.GetString(p.open(p.visit(), cookie), "flash"); got != "please sign in" {
		t.Errorf("the renewed session says %q", got)
	}
}

// A proof doesn't sign in a deactivated person, one of another tenant, one with a newer password,
// or one whose code is missing.
func TestInvalidProofSignsNoOneIn(t *testing.T) {
	t.Parallel()
	p, other := newPanel(t), newPanel(t)
	out := p.As(core.Cashier).By
	p.Exec("update loyalty.staff set status = 'inactive' where id = $1", out.StaffID)
	for name, person := range map[string]core.Actor{"shut out": out, "of another tenant": other.By} {
		if cookie := p.signedIn(person); p.who(cookie) != nil || other.who(cookie) != nil {
			t.Errorf("%s: signed in", name)
		}
	}
	p.Exec("update loyalty.credential set password_set_at = $2 where staff_id = $1", p.By.StaffID, p.DB.Now().Add(time.Second))
	if cookie := p.signedIn(p.By); p.who(cookie) != nil {
		t.Error("signed in by an earlier password")
	}
	if later := p.later(time.Second); later.who(later.signedIn(p.By)) == nil {
		t.Error("not signed in by the new password")
	}
	later := p.later(time.Second)
	p.Exec("update loyalty.credential set totp_secret = 'sealed' where staff_id = $1", p.By.StaffID)
	for _, given := range []bool{false, true} {
		later.coded = given
		if known := later.who(later.signedIn(p.By)) != nil; known != given {
			t.Errorf("a second factor, and a code given: %v; signed in: %v", given, known)
		}
	}
}

// A sign-in with the old password waits for the transaction of the new one, which can't end a
// session that it doesn't see yet.
func TestASignInWaitsForThePassword(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	proved := p.DB.Now()
	var cookie string
	done := make(chan struct{})
	_, err := db.In(t.Context(), p.DB.Tenant(p.By), func(tx *db.Tx) (int, error) {
		const setSQL = "update loyalty.credential set password_set_at = @now where staff_id = @id"
		if _, err := db.Exec(t.Context(), tx, setSQL, db.Args{"id": p.By.StaffID, "now": proved.Add(time.Second)}); err != nil {
			return 0, err
		}
		if err := auth.EndSessions(tx, p.By.StaffID); err != nil {
			return 0, err
		}
		if _, err := tx.Raw(t.Context()); err != nil { // sends the queue
			return 0, err
		}
		go func() {
			defer close(done)
			ctx, err := p.scs.Load(auth.WithVisit(t.Context(), p.visit()), "")
			if err == nil {
				err = p.scs.RenewToken(ctx)
			}
			if err == nil {
				cookie, _, err = p.scs.Commit(auth.WithProof(ctx, auth.Proof{StaffID: p.By.StaffID, At: proved}))
			}
			if err != nil {
				t.Error(err)
			}
		}()
		p.awaitWaiting(done)
		return 0, nil
	})
	<-done
	p.Check(err)
	if p.who(cookie) != nil {
		t.Error("signed in by the old password")
	}
}

// awaitWaiting waits until a sign-in waits for a lock or is done.
func (p panel) awaitWaiting(done <-chan struct{}) {
	p.T.Helper()
	for waiting := 0; waiting == 0; {
		select {
		case <-done:
			return
		default:
		}
		err := dbtest.Owner(p.DB).QueryRow(p.T.Context(), `
			select count(*) from pg_stat_activity
			where wait_event_type = 'Lock' and datname = current_database() and query like '%insert into loyalty.session%'`).Scan(&waiting)
		p.Check(err)
	}
}

// People list and end their own sessions.
func TestPeopleSeeAndEndTheirOwnSessions(t *testing.T) {
	t.Parallel()
	p, other := newPanel(t), newPanel(t)
	colleague := p.As(core.Owner).By
	theirs, foreign := p.signedIn(colleague), other.signedIn(other.By)
	here, there := p.signedIn(p.By), p.later(-time.Hour).signedIn(p.By)
	gone := p.later(-13 * time.Hour).signedIn(p.By)

	list := p.sessions(p.By, here)
	if len(list) != 2 || !list[0].Current || list[1].Current || list[0].ID != auth.SessionID(here) || list[1].ID != auth.SessionID(there) {
		t.Fatalf("%+v", list)
	}
	if s := list[0]; s.UserAgent != "Firefox" || s.Address != "203.0.113.7" || s.CreatedAt.IsZero() || !s.LastSeenAt.Equal(s.CreatedAt) {
		t.Errorf("%+v", s)
	}
	for name, cookie := range map[string]string{"a colleague's": theirs, "a stranger's": foreign, "one that ran out": gone, "none": ""} {
		if err := p.EndSession(t.Context(), p.By, auth.SessionID(cookie)); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	p.Check(p.EndSession(t.Context(), p.By, list[1].ID))
	if err := p.EndSession(t.Context(), p.By, list[1].ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("ended twice: %v, want ErrNotFound", err)
	}
	third := p.signedIn(p.By)
	if n, err := p.EndOtherSessions(t.Context(), p.By, auth.SessionID(here)); err != nil || n != 1 {
		t.Errorf("ended %d others: %v", n, err)
	}
	if n, err := p.EndOtherSessions(t.Context(), p.By, auth.SessionID(here)); err != nil || n != 0 {
		t.Errorf("ended %d more: %v", n, err)
	}
	if p.who(here) == nil || p.who(there) != nil || p.who(third) != nil {
		t.Error("this one should be left, and no other")
	}
	if p.who(theirs) == nil || other.who(foreign) == nil {
		t.Error("another person was signed out")
	}
	if len(p.sessions(p.By, here)) != 1 {
		t.Error("the list shows what has ended")
	}
	var log int
	err := dbtest.Owner(p.DB).QueryRow(t.Context(), `
		select count(*) from loyalty.audit_entry
		where tenant_id = $1 and (action = 'session.end' and subject_id = $2 and old ->> 'user_agent' = 'Firefox'
			or action = 'session.end_others' and new ->> 'ended' = '1')`, p.By.Tenant.ID, list[1].ID).Scan(&log)
	if err != nil || log != 2 {
		t.Errorf("%d entries in the log, %v", log, err)
	}
}

// A sign-out has one entry in the audit log, however often it is requested.
func TestASignOutIsLogged(t *testing.T) {
	t.Parallel()
	p, other := newPanel(t), newPanel(t)
	here, there := p.signedIn(p.By), p.signedIn(p.By)
	foreign := other.signedIn(other.By)
	for _, id := range []string{auth.SessionID(here), auth.SessionID(here), auth.SessionID(foreign)} {
		p.Check(p.SignOut(t.Context(), p.By, id))
	}
	if p.who(here) != nil || p.who(there) == nil || other.who(foreign) == nil {
		t.Error("this one should be over, and no other")
	}
	var log, all int
	err := dbtest.Owner(p.DB).QueryRow(t.Context(), `
		select count(*) filter (where subject_kind = 'staff' and subject_id = $2 and actor_id = $2), count(*)
		from loyalty.audit_entry
		where tenant_id = $1 and action = 'staff.sign_out'`, p.By.Tenant.ID, p.By.ID).Scan(&log, &all)
	if err != nil || log != 1 || all != 1 {
		t.Errorf("%d entries in the log, %d of them theirs, %v", all, log, err)
	}
}

// All sessions of a person end in the transaction of their cause, or not at all.
func TestEndSessionsIsAtomic(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	colleague := p.As(core.Cashier).By
	here, there, theirs := p.signedIn(p.By), p.signedIn(p.By), p.signedIn(colleague)
	rolledBack := errors.New("rolled back")
	for _, outcome := range []error{rolledBack, nil} {
		_, err := db.In(t.Context(), p.DB.Tenant(p.By), func(tx *db.Tx) (int, error) {
			if err := auth.EndSessions(tx, p.By.StaffID); err != nil {
				return 0, err
			}
			return 0, outcome
		})
		if !errors.Is(err, outcome) {
			t.Fatal(err)
		}
		for _, cookie := range []string{here, there} {
			if known := p.who(cookie) != nil; known != (outcome != nil) {
				t.Errorf("after %v: signed in: %v", outcome, known)
			}
		}
	}
	if p.who(theirs) == nil {
		t.Error("a colleague was signed out")
	}
}

// The last use of a session is stored at most once a minute, with the address and the shortened
// user agent.
func TestASessionIsSeenOnceAMinute(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	cookie := p.signedIn(p.By)
	first := p.sessions(p.By, "")[0].LastSeenAt
	ask := func(after time.Duration) {
		t.Helper()
		later := p.later(after)
		v := later.visit()
		v.Address, v.UserAgent = "2001:db8::1", "Kiosk\x00\xff"+strings.Repeat("å", 400)
		later.open(v, cookie)
	}
	ask(50 * time.Second)
	if s := p.sessions(p.By, "")[0]; !s.LastSeenAt.Equal(first) || s.UserAgent != "Firefox" {
		t.Errorf("noted within the minute: %+v", s)
	}
	ask(61 * time.Second)
	s := p.sessions(p.By, "")[0]
	if !s.LastSeenAt.After(first.Add(time.Minute)) || s.Address != "2001:db8::1" || s.UserAgent != "Kiosk??"+strings.Repeat("å", 293) {
		t.Errorf("noted: %+v", s)
	}
}

// The round trips of each call of the store.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	p := panelOf(shoptest.In(t, d))
	cookie := p.signedIn(p.By)
	later := p.later(time.Minute)
	trips := func(name string, want int, call func()) {
		t.Helper()
		call() // prepares the statements
		before := count()
		call()
		if got := count() - before; got != want {
			t.Errorf("%s: %d round trips, want %d", name, got, want)
		}
	}
	at := time.Minute
	trips("find", 1, func() { p.who(cookie) })
	trips("find a minute later", 2, func() {
		at += 2 * time.Minute
		later = p.later(at)
		later.who(cookie)
	})
	trips("read for the API", 1, func() {
		if by, err := later.Actor(t.Context(), cookie, p.By.Tenant.Slug); err != nil || by.StaffID != p.By.StaffID {
			t.Error(by, err)
		}
	})
	trips("list", 1, func() { later.sessions(p.By, cookie) })
	live := []string{p.signedIn(p.By), p.signedIn(p.By)}
	trips("sign out", 2, func() {
		if err := p.SignOut(t.Context(), p.By, auth.SessionID(live[0])); err != nil {
			t.Error(err)
		}
		live = live[1:]
	})
	ctx := later.open(later.visit(), cookie)
	trips("write", 1, func() { later.answer(ctx) })
	ctx = p.open(p.visit(), "")
	p.signIn(ctx, p.By)
	trips("sign in, and end the session before", 2, func() { p.signIn(ctx, p.By) })
}

// The API reads a session without writing.
func TestActorWritesNothing(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	cookie := p.signedIn(p.By)
	first := p.sessions(p.By, "")[0].LastSeenAt
	later := p.later(time.Hour)
	by, err := later.Actor(t.Context(), cookie, p.By.Tenant.Slug)
	if err != nil || by.Kind != core.ByStaff || by.Role != core.Owner || by.ID != p.By.ID || by.Tenant.ID != p.By.Tenant.ID {
		t.Errorf("%+v, %v", by, err)
	}
	if s := later.sessions(p.By, "")[0]; !s.LastSeenAt.Equal(first) {
		t.Errorf("noted: %+v", s)
	}
	ctx := p.open(p.visit(), "")
	p.scs.Put(ctx, "flash", "please sign in")
	if _, err := p.Actor(t.Context(), p.answer(ctx), p.By.Tenant.Slug); !errors.Is(err, core.ErrUnauthenticated) {
		t.Errorf("a session without a person: %v, want ErrUnauthenticated", err)
	}
}

// Ended and expired sessions are deleted after an hour.
func TestEndedSessionsAreDeleted(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	p := panelOf(shoptest.In(t, d))
	rows := func() (n int) {
		t.Helper()
		if err := dbtest.Owner(d).QueryRow(t.Context(), "select count(*) from loyalty.session").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	forget := func(after time.Duration) int {
		t.Helper()
		p.Check(p.later(after).DeleteOldSessions(t.Context()))
		return rows()
	}
	p.signedIn(p.By)
	p.Check(p.scs.Destroy(p.open(p.visit(), p.signedIn(p.By))))
	old := p.later(-auth.SessionLifetime - 2*time.Hour)
	old.signedIn(p.By)
	p.Exec("update loyalty.session set last_seen_at = $1 where created_at < $1", p.DB.Now().Add(-time.Hour))
	for _, step := range []struct {
		after time.Duration
		left  int
	}{{0, 2}, {61 * time.Minute, 1}, {12*time.Hour + 59*time.Minute, 1}, {13*time.Hour + time.Minute, 0}} {
		if got := forget(step.after); got != step.left {
			t.Errorf("after %s: %d left, want %d", step.after, got, step.left)
		}
	}
}

// The store needs the request's context with its visit.
func TestTheStoreNeedsAVisit(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	if _, _, err := p.store.Find("x"); err == nil {
		t.Error("found without a context")
	}
	if p.store.Commit("x", nil, time.Time{}) == nil || p.store.Delete("x") == nil {
		t.Error("written without a context")
	}
	if _, _, err := p.store.FindCtx(t.Context(), "x"); err == nil {
		t.Error("found without a visit")
	}
	if p.store.CommitCtx(t.Context(), "x", nil, time.Time{}) == nil {
		t.Error("written without a visit")
	}
}
