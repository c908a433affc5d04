package token_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// office is a business with people who have tokens.
type office struct {
	shoptest.Shop
	*token.Service
	people *staff.Service
}

func newOffice(t *testing.T) office { return officeIn(t, dbtest.DB(t)) }

func officeIn(t *testing.T, d *db.DB) office {
	t.Helper()
	s := shoptest.In(t, d)
	s.By.Address, s.By.RequestID = "192.0.2.7", "request-1"
	s.GivePassword(s.By) // colleagues can be demoted
	return withServices(s)
}

// withServices returns the office of a business.
func withServices(s shoptest.Shop) office {
	return office{s, s.Tokens, s.Staff}
}

// at returns the office at another time, in another process.
func (o office) at(instant time.Time) office {
	o.T.Helper()
	return withServices(o.At(instant))
}

// as returns the office with another actor.
func (o office) as(by core.Actor) office {
	o.By = by
	return o
}

func (o office) create(name string, scopes ...string) token.Created {
	o.T.Helper()
	made, err := core.Result(o.Create(o.T.Context(), o.By, token.New{Name: name, Scopes: &scopes}, nil))
	o.Check(err)
	return made
}

func (o office) works(secret string) token.Caller {
	o.T.Helper()
	c, err := o.Authenticate(o.T.Context(), secret, "")
	o.Check(err)
	return c
}

func (o office) refused(secret, host string) {
	o.T.Helper()
	if c, err := o.Authenticate(o.T.Context(), secret, host); !errors.Is(err, core.ErrUnauthenticated) {
		o.T.Errorf("Authenticate = %+v, %v, want ErrUnauthenticated", c, err)
	}
}

func (o office) lastUsed(id int64) *time.Time {
	o.T.Helper()
	return shoptest.Query[*time.Time](o.Shop, "select last_used_at from loyalty.token where id = $1", id)
}

// The secret is shown once; its caller acts for the owner's tenant.
func TestTokenActsForItsOwner(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create("Till", "customers:read", "reports:read", "customers:read")
	if diff := cmp.Diff([]token.Ability{token.CustomersRead, token.ReportsRead}, made.Abilities); diff != "" {
		t.Errorf("abilities (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(made.Secret, fmt.Sprint(made.ID, "|")) {
		t.Errorf("secret of token %d is %s", made.ID, made.Secret)
	}
	c := o.works(made.Secret)
	want := core.Actor{Kind: core.ByToken, ID: fmt.Sprint(made.ID), Name: "Till", StaffID: o.By.StaffID, Role: core.Owner, Tenant: o.By.Tenant, NeedsActive: true}
	if diff := cmp.Diff(want, c.Actor, cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("actor (-want +got):\n%s", diff)
	}
	if !c.May(token.CustomersRead) || c.May(token.CustomersWrite) || c.IsPlatform() || c.TokenID != made.ID {
		t.Errorf("caller = %+v", c)
	}
	if _, err := o.Authenticate(t.Context(), made.Secret, o.By.Tenant.Slug); err != nil {
		t.Errorf("on its own host: %v", err)
	}
}

// Works tells whether a token would be accepted, and doesn't count as a use.
func TestCheckingATokenIsNoUse(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create("Till")
	works := func(secret string) bool {
		t.Helper()
		works, err := o.Works(t.Context(), secret)
		o.Check(err)
		return works
	}
	if !works(made.Secret) || o.lastUsed(made.ID) != nil {
		t.Errorf("it doesn't work, or was used at %v", o.lastUsed(made.ID))
	}
	o.Must(core.Result(o.Revoke(t.Context(), o.By, made.ID, nil)))
	if works(made.Secret) || works("nonsense") || works("") {
		t.Error("a token that is refused works")
	}
}

// Missing, malformed and revoked tokens are refused, as are those of a suspended tenant, a
// deactivated person or another tenant's host.
func TestAuthenticateRefuses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	good := o.create("Till")
	other := newOffice(t)

	o.refused("", "")
	o.refused("nonsense", "")
	_, secret, _ := strings.Cut(good.Secret, "|")
	o.refused("9223372036854775807|"+secret, "") // unknown
	theirs := other.create("Theirs")
	o.refused(fmt.Sprintf("%d|%s", theirs.ID, secret), "") // another's secret
	o.refused(good.Secret, other.By.Tenant.Slug)
	o.refused(good.Secret, "no-such-tenant")
	o.works(good.Secret)

	o.Must(core.Result(o.Revoke(t.Context(), o.By, good.ID, nil)))
	o.refused(good.Secret, "")

	colleague := o.As(core.Owner).By
	hers, owners := o.as(colleague).create("Hers"), o.create("Owner's")
	o.works(hers.Secret)
	o.Exec("update loyalty.staff set status = 'inactive' where id = $1", colleague.StaffID)
	o.refused(hers.Secret, "")
	o.works(owners.Secret)

	setStatus := func(to tenant.Status) {
		t.Helper()
		platform := core.System(core.Tenant{}, "test")
		_, err := o.Tenants.Edit(t.Context(), platform, o.By.Tenant.ID, tenant.Edit{Status: core.Set(string(to))})
		o.Check(err)
	}
	setStatus(tenant.Suspended)
	o.refused(owners.Secret, "")
	other.works(theirs.Secret)
	setStatus(tenant.Active)
	o.works(owners.Secret)
}

// A token works until its expiry; without one it doesn't expire.
func TestATokenExpires(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	end := o.DB.Now().Add(time.Hour)
	made, err := core.Result(o.Create(t.Context(), o.By, token.New{Name: "Till", Scopes: &[]string{}, ExpiresAt: &end}, nil))
	o.Check(err)
	if made.ExpiresAt == nil || !made.ExpiresAt.Equal(end) {
		t.Errorf("expires at %v, want %s", made.ExpiresAt, end)
	}
	o.works(made.Secret)
	o.at(end.Add(-time.Minute)).works(made.Secret)
	o.at(end).refused(made.Secret, "")
	o.at(o.DB.Now().AddDate(50, 0, 0)).works(o.create("For ever").Secret)

	past := o.DB.Now().Add(-time.Second)
	_, err = core.Result(o.Create(t.Context(), o.By, token.New{Name: "Till", Scopes: &[]string{}, ExpiresAt: &past}, nil))
	shoptest.WantFields(t, err, core.Fields{"expires_at": {core.MustBeFuture}})
}

// The last use is stored at most once a minute.
func TestUseIsStoredOnceAMinute(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create("Till")
	if o.lastUsed(made.ID) != nil {
		t.Error("used before it was")
	}
	o.works(made.Secret)
	first := o.lastUsed(made.ID)
	if first == nil {
		t.Fatal("its use was not noted")
	}
	o.at(first.Add(50 * time.Second)).works(made.Secret)
	if got := o.lastUsed(made.ID); !got.Equal(*first) {
		t.Errorf("within the minute noted at %s, want %s", got, first)
	}
	o.at(first.Add(time.Minute)).works(made.Secret)
	second := o.lastUsed(made.ID)
	if second.Sub(*first) < time.Minute {
		t.Errorf("after a minute noted at %s, before that at %s", second, first)
	}
	// A refused request is not a use.
	o.at(first.Add(time.Hour)).refused(made.Secret, "no-such-tenant")
	if got := o.lastUsed(made.ID); !got.Equal(*second) {
		t.Error("a refused use was noted")
	}
}

// Of concurrent requests one stores the use, and the others don't wait.
func TestUsesDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create("Till")
	held, err := dbtest.Owner(o.DB).Begin(t.Context())
	o.Check(err)
	o.Must(held.Exec(t.Context(), "select 1 from loyalty.token where id = $1 for update", made.ID))
	// A concurrent transaction stores the use and stays open: others don't wait (lock_timeout would fail).
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { o.works(made.Secret) })
	}
	wg.Wait()
	o.Check(held.Rollback(t.Context()))
	if o.lastUsed(made.ID) != nil {
		t.Error("the use was noted past the lock")
	}
	for range 50 {
		wg.Go(func() { o.works(made.Secret) })
	}
	wg.Wait()
	if o.lastUsed(made.ID) == nil {
		t.Error("the use was not noted")
	}
}

// A new token is in the audit log and mailed, without its secret.
func TestANewTokenIsLoggedAndMailed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.create("Till", "customers:read")
	_, secret, _ := strings.Cut(made.Secret, "|")

	var action, actor, subject, address, request, document string
	err := dbtest.Owner(o.DB).QueryRow(t.Context(), `
		select action, actor_id, subject_id, address, request_id, new::text from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = 'token'`, o.By.Tenant.ID).Scan(&action, &actor, &subject, &address, &request, &document)
	o.Check(err)
	want := []string{"token.create", o.By.ID, fmt.Sprint(made.ID), "192.0.2.7", "request-1"}
	if diff := cmp.Diff(want, []string{action, actor, subject, address, request}); diff != "" || !strings.Contains(document, "Till") {
		t.Errorf("log %s (-want +got):\n%s", document, diff)
	}

	var id core.ID
	var recipient, text, status, owner string
	err = dbtest.Owner(o.DB).QueryRow(t.Context(), `
		select m.id, m.recipient, m.text, m.status, s.email
		from loyalty.mail m
		join loyalty.staff s on s.id = $2
		where m.tenant_id = $1`, o.By.Tenant.ID, o.By.StaffID).Scan(&id, &recipient, &text, &status, &owner)
	o.Check(err)
	if recipient != owner || status != "queued" || !strings.Contains(text, "Till") || !strings.Contains(text, "192.0.2.7") {
		t.Errorf("mail to %s, %s: %s", recipient, status, text)
	}
	var jobs int
	err = dbtest.Owner(o.DB).QueryRow(t.Context(), "select count(*) from river.river_job where kind = 'mail_delivery' and args->>'mail' = $1", id.String()).Scan(&jobs)
	if err != nil || jobs != 1 {
		t.Errorf("%d jobs deliver the mail, %v, want 1", jobs, err)
	}

	var leaks int
	err = dbtest.Owner(o.DB).QueryRow(t.Context(), `
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
		{"unknown scopes", token.New{Name: "Till", Scopes: &[]string{"tokens:write", "customers:read", "", "Customers:read"}}, core.Fields{
			"scopes.0": {core.InvalidChoice}, "scopes.2": {core.InvalidChoice},
			"scopes.3": {core.InvalidChoice},
		}},
		{"too long a name", token.New{Name: strings.Repeat("å", 256), Scopes: &[]string{}}, core.Fields{
			"name": {core.MaxLength(255)},
		}},
		{"unreadable", token.New{Name: "", Malformed: core.Fields{"scopes": {core.MustBeArray}}}, core.Fields{
			"name": {core.Required}, "scopes": {core.MustBeArray},
		}},
	} {
		_, err := core.Result(o.Create(t.Context(), o.By, c.n, nil))
		shoptest.WantFields(t, err, c.want)
	}
	if l, err := o.List(t.Context(), o.By, core.Page{Size: 15}); err != nil || len(l.Items) != 0 {
		t.Errorf("refused tokens were made: %v, %v", l.Items, err)
	}
	none := o.create(strings.Repeat("å", 255))
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
	if got := o.create("All", all...); !slices.Equal(got.Abilities, token.Abilities) || len(all) != 6 {
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
	p, err := staff.CreateAdmin(t.Context(), o.DB, core.System(core.Tenant{}, "test"), staff.New{
		Name: "Root", Email: fmt.Sprintf("root-%s@example.com", o.By.Tenant.Slug),
	})
	o.Check(err)
	admin := o.as(core.Actor{Kind: core.ByAdmin, ID: fmt.Sprint(p.ID), Name: p.Name, StaffID: p.ID, Role: core.SuperAdmin})
	_, err = core.Result(admin.Create(t.Context(), admin.By, token.New{Name: "Platform", Scopes: &[]string{"customers:read"}}, nil))
	shoptest.WantFields(t, err, core.Fields{"scopes.0": {core.InvalidChoice}})

	made := admin.create("Platform")
	c := admin.works(made.Secret)
	if !c.IsPlatform() || c.Tenant.ID != 0 || c.StaffID != p.ID || len(c.Abilities) != 0 {
		t.Errorf("caller = %+v", c)
	}
	second := admin.as(c.Actor).create("Made by a token")
	if !admin.works(second.Secret).IsPlatform() {
		t.Error("a platform token made something else")
	}
	admin.refused(made.Secret, o.By.Tenant.Slug)

	l, err := admin.List(t.Context(), admin.By, core.Page{Size: 15})
	if err != nil || len(l.Items) != 2 {
		t.Errorf("List = %v, %v, want both", l.Items, err)
	}
	if _, err := core.Result(admin.Revoke(t.Context(), c.Actor, made.ID, nil)); err != nil { // itself
		t.Fatal(err)
	}
	admin.refused(made.Secret, "")
	var log int
	err = dbtest.Owner(o.DB).QueryRow(t.Context(), `
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
	colleague := o.as(o.As(core.Owner).By)
	stranger := newOffice(t)
	mine := o.create("Mine")

	for name, other := range map[string]office{"a colleague": colleague, "a stranger": stranger} {
		if l, err := other.List(t.Context(), other.By, core.Page{Size: 15}); err != nil || len(l.Items) != 0 {
			t.Errorf("%s lists %v, %v", name, l.Items, err)
		}
		if found, err := other.Find(t.Context(), other.By, mine.ID); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s finds %v, %v, want ErrNotFound", name, found, err)
		}
		if _, err := core.Result(other.Revoke(t.Context(), other.By, mine.ID, nil)); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s revokes = %v, want ErrNotFound", name, err)
		}
	}
	// Also with the forged id of a person of another tenant.
	forged := stranger.By
	forged.StaffID = o.By.StaffID
	if _, err := core.Result(stranger.Revoke(t.Context(), forged, mine.ID, nil)); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("past the wall = %v, want ErrNotFound", err)
	}
	caller := o.works(mine.Secret)

	made := o.as(caller.Actor).create("Made by a token", "customers:read")
	l, err := o.List(t.Context(), o.By, core.Page{Size: 15})
	o.Check(err)
	if len(l.Items) != 2 || l.Items[0].ID != made.ID || l.Items[1].ID != mine.ID || l.Items[1].LastUsedAt == nil {
		t.Errorf("List = %+v, want the newest first, with their last use", l.Items)
	}
	if found, err := o.Find(t.Context(), o.By, mine.ID); err != nil || found.Name != "Mine" {
		t.Errorf("Find = %+v, %v", found, err)
	}
	o.Must(core.Result(o.Revoke(t.Context(), caller.Actor, mine.ID, nil)))
	o.refused(mine.Secret, "")
	if _, err := o.Find(t.Context(), o.By, mine.ID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("Find after its end = %v, want ErrNotFound", err)
	}
	if _, err := core.Result(o.Revoke(t.Context(), o.By, mine.ID, nil)); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("revoked twice = %v, want ErrNotFound", err)
	}
	if l, err := o.List(t.Context(), o.By, core.Page{Size: 15}); err != nil || len(l.Items) != 1 {
		t.Errorf("List = %+v, %v, want the other one", l.Items, err)
	}
}

// Only owners have tokens.
func TestTokensAreForOwners(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, role := range []core.Role{core.Manager, core.Cashier} {
		by := dbtest.Person(t, o.DB, o.By, role)
		_, listed := o.List(t.Context(), by, core.Page{Size: 15})
		_, made := core.Result(o.Create(t.Context(), by, token.New{Name: "Till", Scopes: &[]string{}}, nil))
		_, found := o.Find(t.Context(), by, 1)
		_, revoked := core.Result(o.Revoke(t.Context(), by, 1, nil))
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
		want = append(want, o.create(fmt.Sprint(i)).ID)
	}
	o.Exec("update loyalty.token set created_at = '2026-01-01' where staff_id = $1 and id <> $2", o.By.StaffID, want[2])
	want = []int64{want[2], want[4], want[3], want[1], want[0]}
	var got, back []int64
	page := core.Page{Size: 2}
	var last core.List[token.Token]
	for {
		l, err := o.List(t.Context(), o.By, page)
		o.Check(err)
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
		if last, err = o.List(t.Context(), o.By, core.Page{Size: 2, Cursor: last.Prev}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(back)
	if !slices.Equal(got, want) || !slices.Equal(back, want) {
		t.Errorf("want %v, forward %v, back %v", want, got, back)
	}
	bad := core.Page{Size: 2, Malformed: core.Fields{"cursor": {core.InvalidChoice}}}
	if _, err := o.List(t.Context(), o.By, bad); !core.IsKind(err, core.KindInvalid) {
		t.Errorf("a bad query = %v, want it refused", err)
	}
}

// One round trip, and once a minute a second one that stores the use.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	o := officeIn(t, d)
	o.works(o.create("Warm-up").Secret)
	o.refused("9223372036854775807|"+strings.SplitN(o.create("Other").Secret, "|", 2)[1], "")
	made := o.create("Till")
	for _, want := range []int{2, 1, 1} {
		before := count()
		o.works(made.Secret)
		if got := count() - before; got != want {
			t.Errorf("%d round trips, want %d", got, want)
		}
	}
	before := count()
	o.refused("nonsense", "")
	if got := count() - before; got != 0 {
		t.Errorf("nonsense asked the database %d times", got)
	}
}
