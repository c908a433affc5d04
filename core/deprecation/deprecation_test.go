package deprecation_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var (
	admin    = core.Actor{Kind: core.ByAdmin, ID: "1", Name: "Root", Role: core.SuperAdmin}
	platform = core.System(core.Tenant{}, "test")
)

// office is a platform in a separate database.
type office struct {
	shoptest.Shop
	*deprecation.Service
	tokens *token.Service
}

func newOffice(t *testing.T) office { return officeOf(t, dbtest.OwnDB(t)) }

func officeOf(t *testing.T, d *db.DB) office {
	t.Helper()
	s := shoptest.Of(t, d, admin)
	return office{s, s.Deprecations, s.Tokens}
}

// described describes a deprecation in a year.
func (o office) described(method, path string) deprecation.New {
	return deprecation.New{Method: method, Path: path, Sunset: new(o.DB.Now().AddDate(1, 0, 0)), Link: "https://loyalty.example/docs/changelog"}
}

func (o office) add(method, path string) deprecation.Deprecation {
	o.T.Helper()
	d, err := core.Result(o.Add(o.T.Context(), admin, o.described(method, path), nil))
	o.Check(err)
	return d
}

// knows reports whether a request is found to be deprecated.
func (o office) knows(method, path string) bool {
	o.T.Helper()
	_, found := o.Find(o.T.Context(), method, path)
	return found
}

// A deprecation has a method and path, a sunset at least 90 days ahead, and a link.
func TestAdd(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	n := o.described("GET", "/api/v1/customers/{ulid}")
	n.Sunset = new(o.DB.Now().AddDate(0, 0, 91))
	made, err := core.Result(o.Add(t.Context(), admin, n, nil))
	o.Check(err)
	y, m, day := n.Sunset.Date()
	want := deprecation.Deprecation{
		ID: made.ID, Method: "GET", Path: "/api/v1/customers/{ulid}", Sunset: time.Date(y, m, day, 0, 0, 0, 0, time.UTC),
		Link: "https://loyalty.example/docs/changelog", CreatedAt: made.CreatedAt,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	got, found := o.Find(t.Context(), "GET", "/api/v1/customers/{ulid}")
	if diff := cmp.Diff(want, got); diff != "" || !found {
		t.Errorf("known (-want +got):\n%s", diff)
	}
	for _, other := range [][2]string{{"POST", "/api/v1/customers/{ulid}"}, {"GET", "/api/v1/customers"}, {"GET", "/api/v1/customers/{id}"}} {
		if o.knows(other[0], other[1]) {
			t.Errorf("%v is deprecated too", other)
		}
	}
	var log string
	err = dbtest.Owner(o.DB).QueryRow(t.Context(), `
		select concat_ws(' ', action, actor_name, subject_id, new)
		from loyalty.platform_audit_entry
		where subject_kind = 'deprecation'`).Scan(&log)
	entry := fmt.Sprintf(`deprecation.create Root %d {"link": "https://loyalty.example/docs/changelog", "path": "/api/v1/customers/{ulid}", "method": "GET", "sunset": "%s"}`,
		made.ID, made.Sunset.Format(time.DateOnly))
	if err != nil || log != entry {
		t.Errorf("log %s, %v, want %s", log, err, entry)
	}
	_, err = core.Result(o.Add(t.Context(), admin, o.described("GET", "/api/v1/customers/{ulid}"), nil))
	shoptest.WantFields(t, err, core.Fields{"path": {core.Duplicate}})
	o.add("PATCH", "/api/v1/customers/{ulid}")
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, err := core.Result(o.Add(t.Context(), admin, deprecation.New{}, nil))
	shoptest.WantFields(t, err, core.Fields{
		"method": {core.Required}, "path": {core.Required},
		"sunset": {core.Required}, "link": {core.Required},
	})
	early := core.Violation{Rule: "days_ahead", Limit: 90}
	_, err = core.Result(o.Add(t.Context(), admin, deprecation.New{
		Method: "BREW", Path: "/api/v2/customers", Sunset: new(o.DB.Now().AddDate(0, 0, 89)), Link: "http://loyalty.example",
	}, nil))
	shoptest.WantFields(t, err, core.Fields{
		"method": {core.InvalidChoice}, "path": {core.InvalidChoice}, "sunset": {early}, "link": {core.MustBeURL},
	})
	// The 90 days are whole days.
	n := o.described("GET", "/api/v1/customers")
	n.Sunset = new(o.DB.Now().Truncate(24*time.Hour).AddDate(0, 0, 90))
	_, err = core.Result(o.Add(t.Context(), admin, n, nil))
	shoptest.WantFields(t, err, core.Fields{"sunset": {early}})
	_, err = core.Result(o.Add(t.Context(), admin, deprecation.New{Malformed: core.Fields{"sunset": {core.MustBeDate}}}, nil))
	if refusal := new(core.Error); !errors.As(err, &refusal) || cmp.Diff([]core.Violation{core.MustBeDate}, refusal.Fields["sunset"]) != "" {
		t.Errorf("unreadable = %v", err)
	}
	for _, path := range []string{"/api/v1", "/api/v1/", "/api/v1/customers/", "/api/v1/:ulid", "/api/v1/a b", "api/v1/customers", "/api/v1//x", "/API/v1/x"} {
		_, err := core.Result(o.Add(t.Context(), admin, o.described("GET", path), nil))
		shoptest.WantFields(t, err, core.Fields{"path": {core.InvalidChoice}})
	}
	for _, link := range []string{"https://", "ftp://loyalty.example", "loyalty.example", "https://a.example/>;x", "https://a.example/\r\nX: y", `https://a.example/"`, "https://å.example"} {
		n := o.described("GET", "/api/v1/customers")
		n.Link = link
		_, err := core.Result(o.Add(t.Context(), admin, n, nil))
		shoptest.WantFields(t, err, core.Fields{"link": {core.MustBeURL}})
	}
	owner := dbtest.Tenant(t, o.DB)
	if _, err := core.Result(o.Add(t.Context(), owner, o.described("GET", "/api/v1/customers"), nil)); !errors.Is(err, core.ErrAdmin) {
		t.Errorf("by %s = %v, want ErrAdmin", owner.Name, err)
	}
	if _, err := o.List(t.Context(), owner); !errors.Is(err, core.ErrAdmin) {
		t.Errorf("the list for %s = %v, want ErrAdmin", owner.Name, err)
	}
}

// One request reads the deprecations at most once a minute. The process that adds one knows it at
// once, others within a minute.
func TestDeprecationsAreReadOnceAMinute(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	o := officeOf(t, d)
	maker := officeOf(t, d)
	o.knows("GET", "/api/v1/customers") // prepares the statement
	before := count()
	maker.add("GET", "/api/v1/customers")
	d.WaitForNotifications()
	made := count() - before
	if !maker.knows("GET", "/api/v1/customers") {
		t.Error("its own process does not know of it")
	}
	if got := count() - before - made; got != 1 {
		t.Errorf("%d round trips, want 1", got)
	}
	before = count()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if o.knows("GET", "/api/v1/customers") {
				t.Error("known before the minute was over")
			}
		})
	}
	all.Wait()
	if got := count() - before; got != 0 {
		t.Errorf("%d round trips within the minute", got)
	}
	o.Age(t, time.Minute)
	for range 50 {
		all.Go(func() { o.knows("GET", "/api/v1/customers") })
	}
	all.Wait()
	if got := count() - before; got != 1 {
		t.Errorf("%d round trips after the minute, want 1", got)
	}
	if !o.knows("GET", "/api/v1/customers") {
		t.Error("not known after a minute")
	}
}

// If reading fails, the deprecations from before are kept.
func TestFailedReadKeepsDeprecations(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), dbtest.OwnURL(t), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := officeOf(t, d)
	o.add("GET", "/api/v1/customers")
	if !o.knows("GET", "/api/v1/customers") {
		t.Fatal("not known")
	}
	d.Close()
	o.Age(t, time.Minute)
	if !o.knows("GET", "/api/v1/customers") {
		t.Error("forgotten with the database")
	}
	if nothing := officeOf(t, d); nothing.knows("GET", "/api/v1/customers") {
		t.Error("known from nowhere")
	}
}

// told returns the addresses and subjects of the platform's mails.
func (o office) told() []string {
	o.T.Helper()
	return shoptest.QueryAll[string](o.Shop, "select recipient || ': ' || text from loyalty.mail where tenant_id is null order by recipient")
}

// business creates a tenant with an owner's address, and a token.
func (o office) business(email string) (owner core.Actor, id int64) {
	o.T.Helper()
	owner = dbtest.Tenant(o.T, o.DB)
	o.edit(owner.Tenant.ID, tenant.Edit{Email: core.Set(email)})
	made, err := core.Result(o.tokens.Create(o.T.Context(), owner, token.New{Name: "Till", Scopes: &[]string{}}, nil))
	o.Check(err)
	return owner, made.ID
}

func (o office) edit(id core.TenantID, e tenant.Edit) {
	o.T.Helper()
	o.Must(o.Tenants.Edit(o.T.Context(), platform, id, e))
}

// The owner of every tenant with a working token gets one e-mail.
func TestTenantsAreMailedOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.business("a@example.com")
	owner, id := o.business("revoked@example.com")
	o.Must(core.Result(o.tokens.Revoke(t.Context(), owner, id, nil)))
	_, id = o.business("expired@example.com")
	o.Exec("update loyalty.token set expires_at = now() where id = $1", id)
	owner, _ = o.business("left@example.com")
	o.Exec("update loyalty.staff set status = 'inactive' where id = $1", owner.StaffID)
	owner, _ = o.business("demoted@example.com")
	o.Exec("update loyalty.staff set role = 'manager' where id = $1", owner.StaffID)
	owner, _ = o.business("suspended@example.com")
	o.edit(owner.Tenant.ID, tenant.Edit{Status: core.Set("suspended")})
	o.edit(dbtest.Tenant(t, o.DB).Tenant.ID, tenant.Edit{Email: core.Set("none@example.com")})
	owner, _ = o.business("b@example.com")
	o.Must(core.Result(o.tokens.Create(t.Context(), owner, token.New{Name: "Second", Scopes: &[]string{}}, nil)))

	d := o.add("GET", "/api/v1/customers")
	var jobs int
	err := dbtest.Owner(o.DB).QueryRow(t.Context(), "select count(*) from river.river_job where kind = 'deprecation_notice' and (args->>'deprecation')::bigint = $1", d.ID).Scan(&jobs)
	if err != nil || jobs != 1 {
		t.Errorf("%d jobs tell of it, %v, want 1", jobs, err)
	}
	if told := o.told(); len(told) != 0 {
		t.Errorf("told before the job ran: %q", told)
	}
	var runs sync.WaitGroup
	for range 5 {
		runs.Go(func() {
			if err := o.Notify(t.Context(), deprecation.Notice{Deprecation: d.ID}); err != nil {
				t.Error(err)
			}
		})
	}
	runs.Wait()
	told := o.told()
	if len(told) != 2 || !strings.HasPrefix(told[0], "a@example.com: ") || !strings.HasPrefix(told[1], "b@example.com: ") ||
		!strings.Contains(told[0], "/api/v1/customers") {
		t.Errorf("told are %q, want a and b, once", told)
	}
	second := o.add("POST", "/api/v1/customers")
	o.Check(o.Notify(t.Context(), deprecation.Notice{Deprecation: second.ID}))
	if told := o.told(); len(told) != 4 {
		t.Errorf("of a second one told are %q", told)
	}
}

// More tenants than a batch are all mailed.
func TestManyTenantsAreMailed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for i := range deprecation.NoticeBatch + 3 {
		o.business(fmt.Sprintf("%d@example.com", i))
	}
	o.Check(o.Notify(t.Context(), deprecation.Notice{Deprecation: o.add("GET", "/api/v1/customers").ID}))
	if told := o.told(); len(told) != deprecation.NoticeBatch+3 {
		t.Errorf("%d are told, want %d", len(told), deprecation.NoticeBatch+3)
	}
}
