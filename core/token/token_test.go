package token_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// office is a tenant with people who have tokens.
type office struct {
	*token.Service
	people *staff.Service
	jobs   *job.Queue
	db     *db.DB
	by     core.Actor
}

func newOffice(t *testing.T) office { return officeOf(t, dbtest.DB(t)) }

func officeOf(t *testing.T, d *db.DB) office {
	t.Helper()
	by := dbtest.Tenant(t, d)
	by.Address, by.RequestID = "192.0.2.7", "request-1"
	o := officeOn(t, d, by)
	o.exec(t, "update loyalty.credential set password_hash = 'known' where staff_id = $1", by.StaffID) // colleagues can be demoted
	return o
}

func officeOn(t *testing.T, d *db.DB, by core.Actor) office {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	render := func(_ context.Context, _ string, l mail.Email) (mail.Rendered, error) {
		return mail.Rendered{Subject: "A new token", Text: fmt.Sprintf("%+v", l), HTML: "<p></p>"}, nil
	}
	mails := mail.New(d, jobs, render, nil, log)
	people := staff.NewService(d, mails, dbtest.Auth(d, jobs, mails))
	return office{token.NewService(d, jobs, mails), people, jobs, d, by}
}

// at returns the office at another time, in another process.
func (o office) at(t *testing.T, instant time.Time) office {
	t.Helper()
	return officeOn(t, o.db.At(instant), o.by)
}

// as returns the office with another actor.
func (o office) as(by core.Actor) office { o.by = by; return o }

func (o office) create(t *testing.T, name string, scopes ...string) token.Created {
	t.Helper()
	made, err := o.Create(t.Context(), o.by, token.New{Name: &name, Scopes: &scopes})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (o office) works(t *testing.T, secret string) token.Caller {
	t.Helper()
	c, err := o.Authenticate(t.Context(), secret, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (o office) refused(t *testing.T, secret, host string) {
	t.Helper()
	if c, err := o.Authenticate(t.Context(), secret, host); !errors.Is(err, core.ErrUnauthenticated) {
		t.Errorf("Authenticate = %+v, %v, want ErrUnauthenticated", c, err)
	}
}

func (o office) lastUsed(t *testing.T, id int64) (at *time.Time) {
	t.Helper()
	if err := dbtest.Owner(o.db).QueryRow(t.Context(), "select last_used_at from loyalty.token where id = $1", id).Scan(&at); err != nil {
		t.Fatal(err)
	}
	return at
}

func wantFields(t *testing.T, err error, want core.Fields) {
	t.Helper()
	var refusal *core.Error
	if !errors.As(err, &refusal) || refusal.Kind != core.KindInvalid {
		t.Fatalf("%v, want a refusal of fields", err)
	}
	if diff := cmp.Diff(want, refusal.Fields); diff != "" {
		t.Errorf("refused fields (-want +got):\n%s", diff)
	}
}

// The secret is shown once; its caller acts for the owner's tenant.
func TestTokenActsForItsOwner(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(t, "Till", "customers:read", "reports:read", "customers:read")
	if diff := cmp.Diff([]token.Ability{token.CustomersRead, token.ReportsRead}, made.Abilities); diff != "" {
		t.Errorf("abilities (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(made.Secret, fmt.Sprint(made.ID, "|")) {
		t.Errorf("secret of token %d is %s", made.ID, made.Secret)
	}
	c := o.works(t, made.Secret)
	want := core.Actor{Kind: core.ByToken, ID: fmt.Sprint(made.ID), Name: "Till", StaffID: o.by.StaffID, Role: core.Owner, Tenant: o.by.Tenant}
	if diff := cmp.Diff(want, c.Actor, cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("actor (-want +got):\n%s", diff)
	}
	if !c.May(token.CustomersRead) || c.May(token.CustomersWrite) || c.IsPlatform() || c.TokenID != made.ID {
		t.Errorf("caller = %+v", c)
	}
	if _, err := o.Authenticate(t.Context(), made.Secret, o.by.Tenant.Slug); err != nil {
		t.Errorf("on its own host: %v", err)
	}
}

// Missing, malformed and revoked tokens are refused, as are those of a suspended tenant, a
// deactivated person or another tenant's host.
func TestAuthenticateRefuses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	good := o.create(t, "Till")
	other := newOffice(t)

	o.refused(t, "", "")
	o.refused(t, "nonsense", "")
	_, secret, _ := strings.Cut(good.Secret, "|")
	o.refused(t, "9223372036854775807|"+secret, "") // unknown
	theirs := other.create(t, "Theirs")
	o.refused(t, fmt.Sprintf("%d|%s", theirs.ID, secret), "") // another's secret
	o.refused(t, good.Secret, other.by.Tenant.Slug)
	o.refused(t, good.Secret, "no-such-tenant")
	o.works(t, good.Secret)

	if _, err := o.Revoke(t.Context(), o.by, good.ID); err != nil {
		t.Fatal(err)
	}
	o.refused(t, good.Secret, "")

	colleague := dbtest.Person(t, o.db, o.by, core.Owner)
	hers, owners := o.as(colleague).create(t, "Hers"), o.create(t, "Owner's")
	o.works(t, hers.Secret)
	if _, err := dbtest.Owner(o.db).Exec(t.Context(), "update loyalty.staff set status = 'inactive' where id = $1", colleague.StaffID); err != nil {
		t.Fatal(err)
	}
	o.refused(t, hers.Secret, "")
	o.works(t, owners.Secret)

	setStatus := func(to tenant.Status) {
		t.Helper()
		platform := core.System(core.Tenant{}, "test")
		_, err := tenant.NewService(o.db, nil).Edit(t.Context(), platform, o.by.Tenant.ID, tenant.Edit{Status: core.Set(string(to))})
		if err != nil {
			t.Fatal(err)
		}
	}
	setStatus(tenant.Suspended)
	o.refused(t, owners.Secret, "")
	other.works(t, theirs.Secret)
	setStatus(tenant.Active)
	o.works(t, owners.Secret)
}

// A token works until its expiry; without one it doesn't expire.
func TestATokenExpires(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	end := o.db.Now().Add(time.Hour)
	made, err := o.Create(t.Context(), o.by, token.New{Name: new("Till"), Scopes: &[]string{}, ExpiresAt: &end})
	if err != nil {
		t.Fatal(err)
	}
	if made.ExpiresAt == nil || !made.ExpiresAt.Equal(end) {
		t.Errorf("expires at %v, want %s", made.ExpiresAt, end)
	}
	o.works(t, made.Secret)
	o.at(t, end.Add(-time.Minute)).works(t, made.Secret)
	o.at(t, end).refused(t, made.Secret, "")
	o.at(t, o.db.Now().AddDate(50, 0, 0)).works(t, o.create(t, "For ever").Secret)

	past := o.db.Now().Add(-time.Second)
	_, err = o.Create(t.Context(), o.by, token.New{Name: new("Till"), Scopes: &[]string{}, ExpiresAt: &past})
	wantFields(t, err, core.Fields{"expires_at": {core.MustBeFuture}})
}

// The last use is stored at most once a minute.
func TestUseIsStoredOnceAMinute(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(t, "Till")
	if o.lastUsed(t, made.ID) != nil {
		t.Error("used before it was")
	}
	o.works(t, made.Secret)
	first := o.lastUsed(t, made.ID)
	if first == nil {
		t.Fatal("its use was not noted")
	}
	o.at(t, first.Add(50*time.Second)).works(t, made.Secret)
	if got := o.lastUsed(t, made.ID); !got.Equal(*first) {
		t.Errorf("within the minute noted at %s, want %s", got, first)
	}
	o.at(t, first.Add(time.Minute)).works(t, made.Secret)
	second := o.lastUsed(t, made.ID)
	if second.Sub(*first) < time.Minute {
		t.Errorf("after a minute noted at %s, before that at %s", second, first)
	}
	// A refused one is no use.
	o.at(t, first.Add(time.Hour)).refused(t, made.Secret, "no-such-tenant")
	if got := o.lastUsed(t, made.ID); !got.Equal(*second) {
		t.Error("a refused use was noted")
	}
}

// Of concurrent requests one stores the use, and the others don't wait.
func TestUsesDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(t, "Till")
	held, err := dbtest.Owner(o.db).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), "select 1 from loyalty.token where id = $1 for update", made.ID); err != nil {
		t.Fatal(err)
	}
	// A concurrent transaction stores the use and stays open: others don't wait (lock_timeout would fail).
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { o.works(t, made.Secret) })
	}
	wg.Wait()
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o.lastUsed(t, made.ID) != nil {
		t.Error("the use was noted past the lock")
	}
	for range 50 {
		wg.Go(func() { o.works(t, made.Secret) })
	}
	wg.Wait()
	if o.lastUsed(t, made.ID) == nil {
		t.Error("the use was not noted")
	}
}

// A new token is in the audit log and mailed, without its secret.
func TestANewTokenIsLoggedAndMailed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create(t, "Till", "customers:read")
	_, secret, _ := strings.Cut(made.Secret, "|")

	var action, actor, subject, address, request, document string
	err := dbtest.Owner(o.db).QueryRow(t.Context(), `
		select action, actor_id, subject_id, address, request_id, new::text from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = 'token'`, o.by.Tenant.ID).Scan(&action, &actor, &subject, &address, &request, &document)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"token.create", o.by.ID, fmt.Sprint(made.ID), "192.0.2.7", "request-1"}
	if diff := cmp.Diff(want, []string{action, actor, subject, address, request}); diff != "" || !strings.Contains(document, "Till") {
		t.Errorf("log %s (-want +got):\n%s", document, diff)
	}

	var id core.ID
	var recipient, text, status, owner string
	err = dbtest.Owner(o.db).QueryRow(t.Context(), `
		select m.id, m.recipient, m.text, m.status, s.email
		from loyalty.mail m
		join loyalty.staff s on s.id = $2
		where m.tenant_id = $1`, o.by.Tenant.ID, o.by.StaffID).Scan(&id, &recipient, &text, &status, &owner)
	if err != nil {
		t.Fatal(err)
	}
	if recipient != owner || status != "queued" || !strings.Contains(text, "Till") || !strings.Contains(text, "192.0.2.7") {
		t.Errorf("mail to %s, %s: %s", recipient, status, text)
	}
	var jobs int
	err = dbtest.Owner(o.db).QueryRow(t.Context(), "select count(*) from river.river_job where kind = 'mail_delivery' and args->>'mail' = $1", id.String()).Scan(&jobs)
	if err != nil || jobs != 1 {
		t.Errorf("%d jobs deliver the mail, %v, want 1", jobs, err)
	}

	var leaks int
	err = dbtest.Owner(o.db).QueryRow(t.Context(), `
		select (select count(*) from loyalty.audit_entry a where a::text like '%' || $1 || '%')
			+ (select count(*) from loyalty.mail m where m::text like '%' || $1 || '%')
			+ (select count(*) from loyalty.token k where k::text like '%' || $1 || '%')
			+ (select count(*) from river.river_job j where j::text like '%' || $1 || '%')`, secret).Scan(&leaks)
	if err != nil || leaks != 0 {
		t.Errorf("the secret is kept in %d places, %v", leaks, err)
	}
}

// A token has a name and any of the six scopes.
func TestCreateValidates(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, c := range []struct {
		name string
		n    token.New
		want core.Fields
	}{
		{"nothing", token.New{}, core.Fields{
			"name": {core.Required}, "scopes": {core.Required},
		}},
		{"unknown scopes", token.New{Name: new("Till"), Scopes: &[]string{"tokens:write", "customers:read", "", "Customers:read"}}, core.Fields{
			"scopes.0": {core.InvalidChoice}, "scopes.2": {core.InvalidChoice},
			"scopes.3": {core.InvalidChoice},
		}},
		{"too long a name", token.New{Name: new(strings.Repeat("å", 256)), Scopes: &[]string{}}, core.Fields{
			"name": {core.MaxLength(255)},
		}},
		{"unreadable", token.New{Name: new(""), Malformed: core.Fields{"scopes": {core.MustBeArray}}}, core.Fields{
			"name": {core.Required}, "scopes": {core.MustBeArray},
		}},
	} {
		_, err := o.Create(t.Context(), o.by, c.n)
		wantFields(t, err, c.want)
	}
	if l, err := o.List(t.Context(), o.by, core.Page{Size: 15}); err != nil || len(l.Items) != 0 {
		t.Errorf("refused tokens were made: %v, %v", l.Items, err)
	}
	none := o.create(t, strings.Repeat("å", 255))
	if none.Abilities == nil || len(none.Abilities) != 0 {
		t.Errorf("abilities = %#v, want an empty list", none.Abilities)
	}
	var all []string
	for _, a := range token.Abilities {
		all = append(all, string(a))
		if !token.IsAbility(a) {
			t.Errorf("%s is not known", a)
		}
	}
	if got := o.create(t, "All", all...); !slices.Equal(got.Abilities, token.Abilities) || len(all) != 6 {
		t.Errorf("all six = %v", got.Abilities)
	}
	if token.IsAbility("tokens:write") {
		t.Error("tokens:write is no scope")
	}
}

// Platform tokens create platform tokens, without scopes.
func TestPlatformTokens(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p, err := staff.CreateAdmin(t.Context(), o.db, core.System(core.Tenant{}, "test"), staff.New{
		Name: "Root", Email: fmt.Sprintf("root-%s@example.com", o.by.Tenant.Slug),
	})
	if err != nil {
		t.Fatal(err)
	}
	admin := o.as(core.Actor{Kind: core.ByAdmin, ID: fmt.Sprint(p.ID), Name: p.Name, StaffID: p.ID, Role: core.SuperAdmin})
	_, err = admin.Create(t.Context(), admin.by, token.New{Name: new("Platform"), Scopes: &[]string{"customers:read"}})
	wantFields(t, err, core.Fields{"scopes.0": {core.InvalidChoice}})

	made := admin.create(t, "Platform")
	c := admin.works(t, made.Secret)
	if !c.IsPlatform() || c.Tenant.ID != 0 || c.StaffID != p.ID || len(c.Abilities) != 0 {
		t.Errorf("caller = %+v", c)
	}
	second := admin.as(c.Actor).create(t, "Made by a token")
	if !admin.works(t, second.Secret).IsPlatform() {
		t.Error("a platform token made something else")
	}
	admin.refused(t, made.Secret, o.by.Tenant.Slug)

	l, err := admin.List(t.Context(), admin.by, core.Page{Size: 15})
	if err != nil || len(l.Items) != 2 {
		t.Errorf("List = %v, %v, want both", l.Items, err)
	}
	if _, err := admin.Revoke(t.Context(), c.Actor, made.ID); err != nil { // itself
		t.Fatal(err)
	}
	admin.refused(t, made.Secret, "")
	var log int
	err = dbtest.Owner(o.db).QueryRow(t.Context(), `
		select count(*) from loyalty.platform_audit_entry
		where subject_kind = 'token' and subject_id in ($1, $2)`, fmt.Sprint(made.ID), fmt.Sprint(second.ID)).Scan(&log)
	if err != nil || log != 3 {
		t.Errorf("%d entries in the platform's log, %v, want 3", log, err)
	}
}

// People list and revoke only their own tokens. A token can revoke itself.
func TestTokensBelongToTheirPerson(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	colleague := o.as(dbtest.Person(t, o.db, o.by, core.Owner))
	stranger := newOffice(t)
	mine := o.create(t, "Mine")

	for name, other := range map[string]office{"a colleague": colleague, "a stranger": stranger} {
		if l, err := other.List(t.Context(), other.by, core.Page{Size: 15}); err != nil || len(l.Items) != 0 {
			t.Errorf("%s lists %v, %v", name, l.Items, err)
		}
		if found, err := other.Find(t.Context(), other.by, mine.ID); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s finds %v, %v, want ErrNotFound", name, found, err)
		}
		if _, err := other.Revoke(t.Context(), other.by, mine.ID); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s revokes = %v, want ErrNotFound", name, err)
		}
	}
	// Not even where an id of the other tenant's person is forged.
	forged := stranger.by
	forged.StaffID = o.by.StaffID
	if _, err := stranger.Revoke(t.Context(), forged, mine.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("past the wall = %v, want ErrNotFound", err)
	}
	caller := o.works(t, mine.Secret)

	made := o.as(caller.Actor).create(t, "Made by a token", "customers:read")
	l, err := o.List(t.Context(), o.by, core.Page{Size: 15})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Items) != 2 || l.Items[0].ID != made.ID || l.Items[1].ID != mine.ID || l.Items[1].LastUsedAt == nil {
		t.Errorf("List = %+v, want the newest first, with their last use", l.Items)
	}
	if found, err := o.Find(t.Context(), o.by, mine.ID); err != nil || found.Name != "Mine" {
		t.Errorf("Find = %+v, %v", found, err)
	}
	if _, err := o.Revoke(t.Context(), caller.Actor, mine.ID); err != nil {
		t.Fatal(err)
	}
	o.refused(t, mine.Secret, "")
	if _, err := o.Find(t.Context(), o.by, mine.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("Find after its end = %v, want ErrNotFound", err)
	}
	if _, err := o.Revoke(t.Context(), o.by, mine.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("revoked twice = %v, want ErrNotFound", err)
	}
	if l, err := o.List(t.Context(), o.by, core.Page{Size: 15}); err != nil || len(l.Items) != 1 {
		t.Errorf("List = %+v, %v, want the other one", l.Items, err)
	}
}

// Only owners have tokens.
func TestTokensAreForOwners(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, role := range []core.Role{core.Manager, core.Cashier} {
		by := dbtest.Person(t, o.db, o.by, role)
		_, listed := o.List(t.Context(), by, core.Page{Size: 15})
		_, made := o.Create(t.Context(), by, token.New{Name: new("Till"), Scopes: &[]string{}})
		_, found := o.Find(t.Context(), by, 1)
		_, revoked := o.Revoke(t.Context(), by, 1)
		for name, err := range map[string]error{"list": listed, "find": found, "create": made, "revoke": revoked} {
			if !errors.Is(err, core.ErrRole) {
				t.Errorf("%s by a %s: %v, want ErrRole", name, role, err)
			}
		}
	}
}

// Pages go forward and back; the id breaks ties.
func TestListInPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var want []int64
	for i := range 5 {
		want = append(want, o.create(t, fmt.Sprint(i)).ID)
	}
	if _, err := dbtest.Owner(o.db).Exec(t.Context(), "update loyalty.token set created_at = '2026-01-01' where staff_id = $1 and id <> $2", o.by.StaffID, want[2]); err != nil {
		t.Fatal(err)
	}
	want = []int64{want[2], want[4], want[3], want[1], want[0]}
	var got, back []int64
	page := core.Page{Size: 2}
	var last core.List[token.Token]
	for {
		l, err := o.List(t.Context(), o.by, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range l.Items {
			got = append(got, k.ID)
		}
		if last = l; l.Next == nil {
			break
		}
		page.Cursor = l.Next
	}
	for {
		for _, k := range slices.Backward(last.Items) {
			back = append(back, k.ID)
		}
		if last.Prev == nil {
			break
		}
		var err error
		if last, err = o.List(t.Context(), o.by, core.Page{Size: 2, Cursor: last.Prev}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(back)
	if !slices.Equal(got, want) || !slices.Equal(back, want) {
		t.Errorf("want %v, forward %v, back %v", want, got, back)
	}
	bad := core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.InvalidChoice}}}
	if _, err := o.List(t.Context(), o.by, bad); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a bad query = %v, want it refused", err)
	}
}

// One round trip, and once a minute a second one that stores the use.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	o := officeOf(t, d)
	o.works(t, o.create(t, "Warm-up").Secret)
	o.refused(t, "9223372036854775807|"+strings.SplitN(o.create(t, "Other").Secret, "|", 2)[1], "")
	made := o.create(t, "Till")
	for _, want := range []int{2, 1, 1} {
		before := count()
		o.works(t, made.Secret)
		if got := count() - before; got != want {
			t.Errorf("%d round trips, want %d", got, want)
		}
	}
	before := count()
	o.refused(t, "nonsense", "")
	if got := count() - before; got != 0 {
		t.Errorf("nonsense asked the database %d times", got)
	}
}
