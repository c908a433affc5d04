package auth_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
)

// panel is a process that serves the panel of a tenant.
type panel struct {
	*auth.Service
	db    *db.DB
	store *auth.Store
	scs   *scs.SessionManager
	by    core.Actor // its owner
	coded bool       // the sign-in has a code
}

func newPanel(t *testing.T) panel {
	t.Helper()
	d := dbtest.DB(t)
	return panelOn(t, d, dbtest.Tenant(t, d))
}

func panelOn(t *testing.T, d *db.DB, by core.Actor) panel {
	t.Helper()
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	p := panel{Service: dbtest.Auth(d, jobs, nil), db: d, store: auth.NewStore(d), scs: scs.New(), by: by}
	p.scs.Store, p.scs.Lifetime = p.store, auth.SessionLifetime
	return p
}

// later returns the panel after a time.
func (p panel) later(t *testing.T, d time.Duration) panel {
	t.Helper()
	return panelOn(t, p.db.At(p.db.Now().Add(d)), p.by)
}

func (p panel) visit() *auth.Visit {
	return &auth.Visit{Slug: p.by.Tenant.Slug, Address: "203.0.113.7", UserAgent: "Firefox", RequestID: "R1"}
}

// open begins a request with a cookie.
func (p panel) open(t *testing.T, v *auth.Visit, cookie string) context.Context {
	t.Helper()
	loaded, err := p.store.Load(t.Context(), *v, cookie)
	if err != nil {
		t.Fatal(err)
	}
	*v = *loaded
	ctx, err := p.scs.Load(auth.WithVisit(t.Context(), v), cookie)
	if err != nil {
		t.Fatal(err)
	}
	return ctx
}

// answer ends a request that changed its session, and returns the cookie.
func (p panel) answer(t *testing.T, ctx context.Context) (cookie string) { //nolint:revive // a test's helper begins with t
	t.Helper()
	cookie, _, err := p.scs.Commit(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return cookie
}

// signedIn signs a person in at a new browser and returns its cookie.
func (p panel) signedIn(t *testing.T, person core.Actor) (cookie string) {
	t.Helper()
	v := p.visit()
	return p.signIn(t, v, p.open(t, v, ""), person)
}

func (p panel) signIn(t *testing.T, v *auth.Visit, ctx context.Context, person core.Actor) (cookie string) {
	t.Helper()
	if err := p.scs.RenewToken(ctx); err != nil {
		t.Fatal(err)
	}
	v.SignIn(auth.Proof{StaffID: person.StaffID, At: p.db.Now(), Code: p.coded})
	return p.answer(t, ctx)
}

// who returns the person signed in by a cookie; nil: none.
func (p panel) who(t *testing.T, cookie string) *auth.Identity {
	t.Helper()
	v := p.visit()
	p.open(t, v, cookie)
	return v.Person
}

func (p panel) sessions(t *testing.T, by core.Actor, cookie string) []auth.Session {
	t.Helper()
	list, err := p.Sessions(t.Context(), by, auth.SessionID(cookie))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (p panel) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := dbtest.Owner(p.db).Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// Sessions survive a restart and are shared by several processes.
func TestASessionIsKnownToEveryProcess(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	p.exec(t, "update loyalty.credential set totp_secret = 'sealed' where staff_id = $1", p.by.StaffID)
	p.exec(t, "update loyalty.staff set email = 'maja@aro.example' where id = $1", p.by.StaffID)
	p.coded = true
	v := p.visit()
	ctx := p.open(t, v, "")
	p.scs.Put(ctx, "flash", "Welcome")
	cookie := p.signIn(t, v, ctx, p.by)

	another, err := db.Open(t.Context(), p.db.OwnerURL(), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer another.Close()
	other := panelOn(t, another, p.by)
	seen := other.visit()
	ctx = other.open(t, seen, cookie)
	if flash := other.scs.GetString(ctx, "flash"); flash != "Welcome" {
		t.Errorf("the session says %q", flash)
	}
	want := p.by
	want.Address, want.RequestID = "203.0.113.7", "R1"
	same := cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })
	if diff := cmp.Diff(&auth.Identity{Actor: want, Email: "maja@aro.example", TwoFactor: true, Session: auth.SessionID(cookie)}, seen.Person, same); diff != "" {
		t.Errorf("signed in (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(p.by.Tenant, seen.Tenant, same); diff != "" {
		t.Errorf("tenant (-want +got):\n%s", diff)
	}
}

// Only the hash of a token is stored, so the database doesn't let anyone sign in.
func TestTheTokenIsNotStored(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	cookie := p.signedIn(t, p.by)
	var hash []byte
	var text string
	err := dbtest.Owner(p.db).QueryRow(t.Context(), "select hash, s::text from loyalty.session s where staff_id = $1", p.by.StaffID).Scan(&hash, &text)
	if err != nil {
		t.Fatal(err)
	}
	if want := sha256.Sum256([]byte(cookie)); string(hash) != string(want[:]) || strings.Contains(text, cookie) {
		t.Errorf("stored: %s", text)
	}
	for _, forged := range []string{string(hash), "", "nonsense", strings.Repeat("x", 4000), "\x00\xff"} {
		if p.who(t, forged) != nil {
			t.Errorf("%q signs someone in", forged)
		}
	}
}

// A session is refused on another or unknown host, and when the business is suspended or the person
// deactivated.
func TestSessionIsRefusedElsewhere(t *testing.T) {
	t.Parallel()
	p, other := newPanel(t), newPanel(t)
	cashier := dbtest.Person(t, p.db, p.by, core.Cashier)
	cookie, theirs := p.signedIn(t, p.by), p.signedIn(t, cashier)
	if p.who(t, cookie) == nil || p.who(t, theirs) == nil {
		t.Fatal("not signed in")
	}
	for _, slug := range []string{other.by.Tenant.Slug, "unknown", ""} {
		v := p.visit()
		v.Slug = slug
		ctx := p.open(t, v, cookie)
		if v.Person != nil || len(p.scs.Keys(ctx)) != 0 || v.Tenant.Slug == p.by.Tenant.Slug {
			t.Errorf("at %q: %+v of %+v", slug, v.Person, v.Tenant)
		}
		if _, err := p.Actor(t.Context(), cookie, slug); !errors.Is(err, core.ErrUnauthenticated) {
			t.Errorf("for the API at %q: %v, want ErrUnauthenticated", slug, err)
		}
	}
	p.exec(t, "update loyalty.staff set status = 'inactive' where id = $1", cashier.StaffID)
	if p.who(t, theirs) != nil || p.who(t, cookie) == nil {
		t.Error("a deactivated person is signed in, or an active one is not")
	}
	p.exec(t, "update loyalty.tenant set status = 'suspended' where id = $1", p.by.Tenant.ID)
	v := p.visit()
	p.open(t, v, cookie)
	if v.Person != nil || !v.Tenant.Suspended {
		t.Errorf("at a suspended business: %+v of %+v", v.Person, v.Tenant)
	}
}

// Sessions expire after 12 idle hours and after 7 days.
func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	left := p.signedIn(t, p.by)
	if p.later(t, 12*time.Hour-time.Minute).who(t, left) == nil {
		t.Error("signed out after less than 12 hours")
	}
	// That was a request; from it, 12 hours are counted anew.
	if p.later(t, 24*time.Hour-2*time.Minute).who(t, left) == nil {
		t.Error("signed out 12 hours after the last request")
	}
	if p.later(t, 36*time.Hour).who(t, left) != nil {
		t.Error("signed in after 12 idle hours")
	}
	used := p.signedIn(t, p.by)
	for since := 11 * time.Hour; since < 7*24*time.Hour; since += 11 * time.Hour {
		if p.later(t, since).who(t, used) == nil {
			t.Fatalf("signed out after %s in use", since)
		}
	}
	for _, since := range []time.Duration{7*24*time.Hour - time.Minute, 7*24*time.Hour + time.Minute} {
		later := p.later(t, since)
		if known := later.who(t, used) != nil; known != (since < auth.SessionLifetime) {
			t.Errorf("after %s in use: signed in: %v", since, known)
		}
	}
}

// A later expiry is reduced to the lifetime of a session.
func TestSessionLifetimeIsCapped(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	p.scs.Lifetime = 365 * 24 * time.Hour
	cookie := p.signedIn(t, p.by)
	p.exec(t, "update loyalty.session set last_seen_at = last_seen_at + interval '8 days' where staff_id = $1", p.by.StaffID)
	if p.later(t, auth.SessionLifetime+time.Minute).who(t, cookie) != nil {
		t.Error("a session lives longer than seven days")
	}
}

// A slow request doesn't revive a session that ended meanwhile.
func TestSlowRequestDoesNotReviveSession(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	ends := map[string]func(cookie string) error{
		"signed out": func(cookie string) error { return p.scs.Destroy(p.open(t, p.visit(), cookie)) },
		"ended from elsewhere": func(cookie string) error {
			return p.EndSession(t.Context(), p.by, auth.SessionID(cookie))
		},
		"renewed": func(cookie string) error { return p.scs.RenewToken(p.open(t, p.visit(), cookie)) },
	}
	for name, end := range ends {
		cookie := p.signedIn(t, p.by)
		slow := p.open(t, p.visit(), cookie)
		if err := end(cookie); err != nil {
			t.Fatal(name, err)
		}
		p.scs.Put(slow, "flash", "late")
		if again := p.answer(t, slow); again != cookie || p.who(t, cookie) != nil {
			t.Errorf("%s: the slow request brought it back", name)
		}
	}
	// While it lives, what is written stays.
	cookie := p.signedIn(t, p.by)
	ctx := p.open(t, p.visit(), cookie)
	p.scs.Put(ctx, "flash", "in time")
	p.answer(t, ctx)
	if got := p.scs.GetString(p.open(t, p.visit(), cookie), "flash"); got != "in time" || p.who(t, cookie) == nil {
		t.Errorf("the session says %q", got)
	}
}

// A planted cookie isn't signed in.
func TestASignInNeedsARenewedToken(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	ctx := p.open(t, p.visit(), "")
	p.scs.Put(ctx, "flash", "please sign in")
	planted := p.answer(t, ctx)

	v := p.visit()
	ctx = p.open(t, v, planted)
	v.SignIn(auth.Proof{StaffID: p.by.StaffID, At: p.db.Now()})
	if _, _, err := p.scs.Commit(ctx); err == nil || p.who(t, planted) != nil {
		t.Errorf("signed in with the old token: %v", err)
	}
	cookie := p.signIn(t, v, ctx, p.by)
	if p.who(t, cookie) == nil || p.who(t, planted) != nil {
		t.Error("the new token is signed out, or the old one signed in")
	}
	// Written twice by one request, as when its answer turns out an error.
	if again := p.answer(t, ctx); again != cookie || p.who(t, cookie) == nil {
		t.Error("written again, it is signed out")
	}
	if got := p.scs.GetString(p.open(t, p.visit(), cookie), "flash"); got != "please sign in" {
		t.Errorf("the renewed session says %q", got)
	}
}

// A proof doesn't sign in a deactivated person, one of another tenant, one with a newer password,
// or one whose code is missing.
func TestInvalidProofSignsNoOneIn(t *testing.T) {
	t.Parallel()
	p, other := newPanel(t), newPanel(t)
	out := dbtest.Person(t, p.db, p.by, core.Cashier)
	p.exec(t, "update loyalty.staff set status = 'inactive' where id = $1", out.StaffID)
	for name, person := range map[string]core.Actor{"shut out": out, "of another tenant": other.by} {
		if cookie := p.signedIn(t, person); p.who(t, cookie) != nil || other.who(t, cookie) != nil {
			t.Errorf("%s: signed in", name)
		}
	}
	p.exec(t, "update loyalty.credential set password_set_at = $2 where staff_id = $1", p.by.StaffID, p.db.Now().Add(time.Second))
	if cookie := p.signedIn(t, p.by); p.who(t, cookie) != nil {
		t.Error("signed in by an earlier password")
	}
	if later := p.later(t, time.Second); later.who(t, later.signedIn(t, p.by)) == nil {
		t.Error("not signed in by the new password")
	}
	later := p.later(t, time.Second)
	p.exec(t, "update loyalty.credential set totp_secret = 'sealed' where staff_id = $1", p.by.StaffID)
	for _, given := range []bool{false, true} {
		later.coded = given
		if known := later.who(t, later.signedIn(t, p.by)) != nil; known != given {
			t.Errorf("a second factor, and a code given: %v; signed in: %v", given, known)
		}
	}
}

// A sign-in with the old password waits for the transaction of the new one, which can't end a
// session that it doesn't see yet.
func TestASignInWaitsForThePassword(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	proved := p.db.Now()
	var cookie string
	done := make(chan struct{})
	_, err := db.InTenant(t.Context(), p.db, p.by, func(tx *db.Tx) (int, error) {
		const setSQL = "update loyalty.credential set password_set_at = @now where staff_id = @id"
		if _, err := db.Exec(t.Context(), tx, setSQL, db.Args{"id": p.by.StaffID, "now": proved.Add(time.Second)}); err != nil {
			return 0, err
		}
		if err := auth.EndSessions(tx, p.by.StaffID); err != nil {
			return 0, err
		}
		if _, err := tx.Raw(t.Context()); err != nil { // what is queued is sent
			return 0, err
		}
		go func() {
			defer close(done)
			v := p.visit()
			ctx, err := p.scs.Load(auth.WithVisit(t.Context(), v), "")
			if err == nil {
				err = p.scs.RenewToken(ctx)
			}
			v.SignIn(auth.Proof{StaffID: p.by.StaffID, At: proved})
			if err == nil {
				cookie, _, err = p.scs.Commit(ctx)
			}
			if err != nil {
				t.Error(err)
			}
		}()
		p.awaitWaiting(t, done)
		return 0, nil
	})
	<-done
	if err != nil {
		t.Fatal(err)
	}
	if p.who(t, cookie) != nil {
		t.Error("signed in by the old password")
	}
}

// awaitWaiting waits until a sign-in waits for a lock or is done.
func (p panel) awaitWaiting(t *testing.T, done <-chan struct{}) {
	t.Helper()
	for waiting := 0; waiting == 0; {
		select {
		case <-done:
			return
		default:
		}
		err := dbtest.Owner(p.db).QueryRow(t.Context(), `
			select count(*) from pg_stat_activity
			where wait_event_type = 'Lock' and datname = current_database() and query like '%insert into loyalty.session%'`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// People list and end their own sessions.
func TestPeopleSeeAndEndTheirOwnSessions(t *testing.T) {
	t.Parallel()
	p, other := newPanel(t), newPanel(t)
	colleague := dbtest.Person(t, p.db, p.by, core.Owner)
	theirs, foreign := p.signedIn(t, colleague), other.signedIn(t, other.by)
	here, there := p.signedIn(t, p.by), p.later(t, -time.Hour).signedIn(t, p.by)
	gone := p.later(t, -13*time.Hour).signedIn(t, p.by)

	list := p.sessions(t, p.by, here)
	if len(list) != 2 || !list[0].Current || list[1].Current || list[0].ID != auth.SessionID(here) || list[1].ID != auth.SessionID(there) {
		t.Fatalf("%+v", list)
	}
	if s := list[0]; s.UserAgent != "Firefox" || s.Address != "203.0.113.7" || s.CreatedAt.IsZero() || !s.LastSeenAt.Equal(s.CreatedAt) {
		t.Errorf("%+v", s)
	}
	for name, cookie := range map[string]string{"a colleague's": theirs, "a stranger's": foreign, "one that ran out": gone, "none": ""} {
		if err := p.EndSession(t.Context(), p.by, auth.SessionID(cookie)); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	if err := p.EndSession(t.Context(), p.by, list[1].ID); err != nil {
		t.Fatal(err)
	}
	if err := p.EndSession(t.Context(), p.by, list[1].ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("ended twice: %v, want ErrNotFound", err)
	}
	third := p.signedIn(t, p.by)
	if n, err := p.EndOtherSessions(t.Context(), p.by, auth.SessionID(here)); err != nil || n != 1 {
		t.Errorf("ended %d others: %v", n, err)
	}
	if n, err := p.EndOtherSessions(t.Context(), p.by, auth.SessionID(here)); err != nil || n != 0 {
		t.Errorf("ended %d more: %v", n, err)
	}
	if p.who(t, here) == nil || p.who(t, there) != nil || p.who(t, third) != nil {
		t.Error("this one should be left, and no other")
	}
	if p.who(t, theirs) == nil || other.who(t, foreign) == nil {
		t.Error("another person was signed out")
	}
	if len(p.sessions(t, p.by, here)) != 1 {
		t.Error("the list shows what has ended")
	}
	var log int
	err := dbtest.Owner(p.db).QueryRow(t.Context(), `
		select count(*) from loyalty.audit_entry
		where tenant_id = $1 and (action = 'session.end' and subject_id = $2 and old ->> 'user_agent' = 'Firefox'
			or action = 'session.end_others' and new ->> 'ended' = '1')`, p.by.Tenant.ID, list[1].ID).Scan(&log)
	if err != nil || log != 2 {
		t.Errorf("%d entries in the log, %v", log, err)
	}
}

// A sign-out has one entry in the audit log, however often it is requested.
func TestASignOutIsLogged(t *testing.T) {
	t.Parallel()
	p, other := newPanel(t), newPanel(t)
	here, there := p.signedIn(t, p.by), p.signedIn(t, p.by)
	foreign := other.signedIn(t, other.by)
	for _, id := range []string{auth.SessionID(here), auth.SessionID(here), auth.SessionID(foreign)} {
		if err := p.SignOut(t.Context(), p.by, id); err != nil {
			t.Fatal(err)
		}
	}
	if p.who(t, here) != nil || p.who(t, there) == nil || other.who(t, foreign) == nil {
		t.Error("this one should be over, and no other")
	}
	var log, all int
	err := dbtest.Owner(p.db).QueryRow(t.Context(), `
		select count(*) filter (where subject_kind = 'staff' and subject_id = $2 and actor_id = $2), count(*)
		from loyalty.audit_entry
		where tenant_id = $1 and action = 'staff.sign_out'`, p.by.Tenant.ID, p.by.ID).Scan(&log, &all)
	if err != nil || log != 1 || all != 1 {
		t.Errorf("%d entries in the log, %d of them theirs, %v", all, log, err)
	}
}

// All sessions of a person end in the transaction of their cause, or not at all.
func TestEndSessionsIsAtomic(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	colleague := dbtest.Person(t, p.db, p.by, core.Cashier)
	here, there, theirs := p.signedIn(t, p.by), p.signedIn(t, p.by), p.signedIn(t, colleague)
	rolledBack := errors.New("rolled back")
	for _, outcome := range []error{rolledBack, nil} {
		_, err := db.InTenant(t.Context(), p.db, p.by, func(tx *db.Tx) (int, error) {
			if err := auth.EndSessions(tx, p.by.StaffID); err != nil {
				return 0, err
			}
			return 0, outcome
		})
		if !errors.Is(err, outcome) {
			t.Fatal(err)
		}
		for _, cookie := range []string{here, there} {
			if known := p.who(t, cookie) != nil; known != (outcome != nil) {
				t.Errorf("after %v: signed in: %v", outcome, known)
			}
		}
	}
	if p.who(t, theirs) == nil {
		t.Error("a colleague was signed out")
	}
}

// The last use of a session is stored at most once a minute, with the address and the shortened
// user agent.
func TestASessionIsSeenOnceAMinute(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	cookie := p.signedIn(t, p.by)
	first := p.sessions(t, p.by, "")[0].LastSeenAt
	ask := func(after time.Duration) {
		t.Helper()
		later := p.later(t, after)
		v := later.visit()
		v.Address, v.UserAgent = "2001:db8::1", "Kiosk\x00\xff"+strings.Repeat("å", 400)
		later.open(t, v, cookie)
	}
	ask(50 * time.Second)
	if s := p.sessions(t, p.by, "")[0]; !s.LastSeenAt.Equal(first) || s.UserAgent != "Firefox" {
		t.Errorf("noted within the minute: %+v", s)
	}
	ask(61 * time.Second)
	s := p.sessions(t, p.by, "")[0]
	if !s.LastSeenAt.After(first.Add(time.Minute)) || s.Address != "2001:db8::1" || s.UserAgent != "Kiosk??"+strings.Repeat("å", 293) {
		t.Errorf("noted: %+v", s)
	}
}

// The round trips of each call of the store.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	p := panelOn(t, d, dbtest.Tenant(t, d))
	cookie := p.signedIn(t, p.by)
	later := p.later(t, time.Minute)
	trips := func(name string, want int, call func()) {
		t.Helper()
		call() // prepares
		before := count()
		call()
		if got := count() - before; got != want {
			t.Errorf("%s: %d round trips, want %d", name, got, want)
		}
	}
	at := time.Minute
	trips("find", 1, func() { p.who(t, cookie) })
	trips("find a minute later", 2, func() {
		at += 2 * time.Minute
		later = p.later(t, at)
		later.who(t, cookie)
	})
	trips("read for the API", 1, func() {
		if by, err := later.Actor(t.Context(), cookie, p.by.Tenant.Slug); err != nil || by.StaffID != p.by.StaffID {
			t.Error(by, err)
		}
	})
	trips("list", 1, func() { later.sessions(t, p.by, cookie) })
	live := []string{p.signedIn(t, p.by), p.signedIn(t, p.by)}
	trips("sign out", 2, func() {
		if err := p.SignOut(t.Context(), p.by, auth.SessionID(live[0])); err != nil {
			t.Error(err)
		}
		live = live[1:]
	})
	ctx := later.open(t, later.visit(), cookie)
	trips("write", 1, func() { later.answer(t, ctx) })
	v := p.visit()
	ctx = p.open(t, v, "")
	p.signIn(t, v, ctx, p.by)
	trips("sign in, and end the session before", 2, func() { p.signIn(t, v, ctx, p.by) })
}

// The API reads a session without writing.
func TestActorWritesNothing(t *testing.T) {
	t.Parallel()
	p := newPanel(t)
	cookie := p.signedIn(t, p.by)
	first := p.sessions(t, p.by, "")[0].LastSeenAt
	later := p.later(t, time.Hour)
	by, err := later.Actor(t.Context(), cookie, p.by.Tenant.Slug)
	if err != nil || by.Kind != core.ByStaff || by.Role != core.Owner || by.ID != p.by.ID || by.Tenant.ID != p.by.Tenant.ID {
		t.Errorf("%+v, %v", by, err)
	}
	if s := later.sessions(t, p.by, "")[0]; !s.LastSeenAt.Equal(first) {
		t.Errorf("noted: %+v", s)
	}
	ctx := p.open(t, p.visit(), "")
	p.scs.Put(ctx, "flash", "please sign in")
	if _, err := p.Actor(t.Context(), p.answer(t, ctx), p.by.Tenant.Slug); !errors.Is(err, core.ErrUnauthenticated) {
		t.Errorf("a session without a person: %v, want ErrUnauthenticated", err)
	}
}

// Ended and expired sessions are deleted after an hour.
func TestEndedSessionsAreDeleted(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	p := panelOn(t, d, dbtest.Tenant(t, d))
	rows := func() (n int) {
		t.Helper()
		if err := dbtest.Owner(d).QueryRow(t.Context(), "select count(*) from loyalty.session").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	forget := func(after time.Duration) int {
		t.Helper()
		if err := p.later(t, after).ForgetSessions(t.Context()); err != nil {
			t.Fatal(err)
		}
		return rows()
	}
	p.signedIn(t, p.by)
	if err := p.scs.Destroy(p.open(t, p.visit(), p.signedIn(t, p.by))); err != nil {
		t.Fatal(err)
	}
	old := p.later(t, -auth.SessionLifetime-2*time.Hour)
	old.signedIn(t, p.by)
	p.exec(t, "update loyalty.session set last_seen_at = $1 where created_at < $1", p.db.Now().Add(-time.Hour))
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
