package deprecation_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
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
	*deprecation.Service
	db     *db.DB
	tokens *token.Service
	jobs   *job.Queue
}

func newOffice(t *testing.T) office { return officeOf(t, dbtest.OwnDB(t)) }

func officeOf(t *testing.T, d *db.DB) office {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	render := func(_ context.Context, _ string, l mail.Email) (mail.Rendered, error) {
		return mail.Rendered{Subject: fmt.Sprintf("%T", l), Text: fmt.Sprintf("%+v", l)}, nil
	}
	mails := mail.New(d, jobs, render, nil, log)
	return office{deprecation.NewService(d, jobs, mails, log), d, token.NewService(d, jobs, mails), jobs}
}

// described describes a deprecation in a year.
func (o office) described(method, path string) deprecation.New {
	return deprecation.New{Method: &method, Path: &path, Sunset: new(o.db.Now().AddDate(1, 0, 0)), Link: new("https://loyalty.example/docs/changelog")}
}

func (o office) add(t *testing.T, method, path string) deprecation.Deprecation {
	t.Helper()
	d, err := o.Add(t.Context(), admin, o.described(method, path))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// knows reports whether a request is found to be deprecated.
func (o office) knows(t *testing.T, method, path string) bool {
	t.Helper()
	_, found := o.Find(t.Context(), method, path)
	return found
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

// A deprecation has a method and path, a sunset at least 90 days ahead, and a link.
func TestAdd(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	n := o.described("GET", "/api/v1/customers/{ulid}")
	n.Sunset = new(o.db.Now().AddDate(0, 0, 91))
	made, err := o.Add(t.Context(), admin, n)
	if err != nil {
		t.Fatal(err)
	}
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
		if o.knows(t, other[0], other[1]) {
			t.Errorf("%v is deprecated too", other)
		}
	}
	var log string
	err = dbtest.Owner(o.db).QueryRow(t.Context(), `
		select concat_ws(' ', action, actor_name, subject_id, new)
		from loyalty.platform_audit_entry
		where subject_kind = 'deprecation'`).Scan(&log)
	entry := fmt.Sprintf(`deprecation.create Root %d {"link": "https://loyalty.example/docs/changelog", "path": "/api/v1/customers/{ulid}", "method": "GET", "sunset": "%s"}`,
		made.ID, made.Sunset.Format(time.DateOnly))
	if err != nil || log != entry {
		t.Errorf("log %s, %v, want %s", log, err, entry)
	}
	_, err = o.Add(t.Context(), admin, o.described("GET", "/api/v1/customers/{ulid}"))
	wantFields(t, err, core.Fields{"path": {core.Duplicate}})
	o.add(t, "PATCH", "/api/v1/customers/{ulid}")
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, err := o.Add(t.Context(), admin, deprecation.New{})
	wantFields(t, err, core.Fields{
		"method": {core.Required}, "path": {core.Required},
		"sunset": {core.Required}, "link": {core.Required},
	})
	early := core.Violation{Rule: "days_ahead", Limit: 90}
	_, err = o.Add(t.Context(), admin, deprecation.New{
		Method: new("BREW"), Path: new("/api/v2/customers"), Sunset: new(o.db.Now().AddDate(0, 0, 89)), Link: new("http://loyalty.example"),
	})
	wantFields(t, err, core.Fields{
		"method": {core.InvalidChoice}, "path": {core.InvalidChoice}, "sunset": {early}, "link": {core.MustBeURL},
	})
	// A day begins before most of its hours: the 90 days are whole ones.
	n := o.described("GET", "/api/v1/customers")
	n.Sunset = new(o.db.Now().Truncate(24*time.Hour).AddDate(0, 0, 90))
	_, err = o.Add(t.Context(), admin, n)
	wantFields(t, err, core.Fields{"sunset": {early}})
	_, err = o.Add(t.Context(), admin, deprecation.New{Malformed: core.Fields{"sunset": {core.MustBeDate}}})
	if refusal := new(core.Error); !errors.As(err, &refusal) || cmp.Diff([]core.Violation{core.MustBeDate}, refusal.Fields["sunset"]) != "" {
		t.Errorf("unreadable = %v", err)
	}
	for _, path := range []string{"/api/v1", "/api/v1/", "/api/v1/customers/", "/api/v1/:ulid", "/api/v1/a b", "api/v1/customers", "/api/v1//x", "/API/v1/x"} {
		_, err := o.Add(t.Context(), admin, o.described("GET", path))
		wantFields(t, err, core.Fields{"path": {core.InvalidChoice}})
	}
	for _, link := range []string{"https://", "ftp://loyalty.example", "loyalty.example", "https://a.example/>;x", "https://a.example/\r\nX: y", `https://a.example/"`, "https://å.example"} {
		n := o.described("GET", "/api/v1/customers")
		n.Link = &link
		_, err := o.Add(t.Context(), admin, n)
		wantFields(t, err, core.Fields{"link": {core.MustBeURL}})
	}
	owner := dbtest.Tenant(t, o.db)
	if _, err := o.Add(t.Context(), owner, o.described("GET", "/api/v1/customers")); !errors.Is(err, core.ErrAdmin) {
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
	o.knows(t, "GET", "/api/v1/customers") // prepares the statement
	before := count()
	maker.add(t, "GET", "/api/v1/customers")
	made := count() - before
	if !maker.knows(t, "GET", "/api/v1/customers") {
		t.Error("its own process does not know of it")
	}
	if got := count() - before - made; got != 1 {
		t.Errorf("%d round trips, want 1", got)
	}
	before = count()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if o.knows(t, "GET", "/api/v1/customers") {
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
		all.Go(func() { o.knows(t, "GET", "/api/v1/customers") })
	}
	all.Wait()
	if got := count() - before; got != 1 {
		t.Errorf("%d round trips after the minute, want 1", got)
	}
	if !o.knows(t, "GET", "/api/v1/customers") {
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
	o.add(t, "GET", "/api/v1/customers")
	if !o.knows(t, "GET", "/api/v1/customers") {
		t.Fatal("not known")
	}
	d.Close()
	o.Age(t, time.Minute)
	if !o.knows(t, "GET", "/api/v1/customers") {
		t.Error("forgotten with the database")
	}
	if nothing := officeOf(t, d); nothing.knows(t, "GET", "/api/v1/customers") {
		t.Error("known from nowhere")
	}
}

// told returns the addresses and subjects of the platform's mails.
func (o office) told(t *testing.T) (mails []string) {
	t.Helper()
	rows, err := dbtest.Owner(o.db).Query(t.Context(), "select recipient || ': ' || text from loyalty.mail where tenant_id is null order by recipient")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		mails = append(mails, line)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return mails
}

// business creates a tenant with an owner's address, and a token.
func (o office) business(t *testing.T, email string) (owner core.Actor, id int64) {
	t.Helper()
	owner = dbtest.Tenant(t, o.db)
	o.edit(t, owner.Tenant.ID, tenant.Edit{Email: core.Set(email)})
	made, err := o.tokens.Create(t.Context(), owner, token.New{Name: new("Till"), Scopes: &[]string{}})
	if err != nil {
		t.Fatal(err)
	}
	return owner, made.ID
}

func (o office) edit(t *testing.T, id core.TenantID, e tenant.Edit) {
	t.Helper()
	if _, err := tenant.NewService(o.db, nil).Edit(t.Context(), platform, id, e); err != nil {
		t.Fatal(err)
	}
}

// The owner of every tenant with a working token gets one e-mail.
func TestTenantsAreToldOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.business(t, "a@example.com")
	owner, id := o.business(t, "revoked@example.com")
	if _, err := o.tokens.Revoke(t.Context(), owner, id); err != nil {
		t.Fatal(err)
	}
	_, id = o.business(t, "expired@example.com")
	if _, err := dbtest.Owner(o.db).Exec(t.Context(), "update loyalty.token set expires_at = now() where id = $1", id); err != nil {
		t.Fatal(err)
	}
	owner, _ = o.business(t, "left@example.com")
	if _, err := dbtest.Owner(o.db).Exec(t.Context(), "update loyalty.staff set status = 'inactive' where id = $1", owner.StaffID); err != nil {
		t.Fatal(err)
	}
	owner, _ = o.business(t, "demoted@example.com")
	if _, err := dbtest.Owner(o.db).Exec(t.Context(), "update loyalty.staff set role = 'manager' where id = $1", owner.StaffID); err != nil {
		t.Fatal(err)
	}
	owner, _ = o.business(t, "suspended@example.com")
	o.edit(t, owner.Tenant.ID, tenant.Edit{Status: core.Set("suspended")})
	o.edit(t, dbtest.Tenant(t, o.db).Tenant.ID, tenant.Edit{Email: core.Set("none@example.com")})
	owner, _ = o.business(t, "b@example.com")
	if _, err := o.tokens.Create(t.Context(), owner, token.New{Name: new("Second"), Scopes: &[]string{}}); err != nil {
		t.Fatal(err)
	}

	d := o.add(t, "GET", "/api/v1/customers")
	var jobs int
	err := dbtest.Owner(o.db).QueryRow(t.Context(), "select count(*) from river.river_job where kind = 'deprecation_notice' and (args->>'deprecation')::bigint = $1", d.ID).Scan(&jobs)
	if err != nil || jobs != 1 {
		t.Errorf("%d jobs tell of it, %v, want 1", jobs, err)
	}
	if told := o.told(t); len(told) != 0 {
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
	told := o.told(t)
	if len(told) != 2 || !strings.HasPrefix(told[0], "a@example.com: ") || !strings.HasPrefix(told[1], "b@example.com: ") ||
		!strings.Contains(told[0], "/api/v1/customers") {
		t.Errorf("told are %q, want a and b, once", told)
	}
	second := o.add(t, "POST", "/api/v1/customers")
	if err := o.Notify(t.Context(), deprecation.Notice{Deprecation: second.ID}); err != nil {
		t.Fatal(err)
	}
	if told := o.told(t); len(told) != 4 {
		t.Errorf("of a second one told are %q", told)
	}
}

// More tenants than a batch are all mailed.
func TestManyTenantsAreTold(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for i := range deprecation.NoticeBatch + 3 {
		o.business(t, fmt.Sprintf("%d@example.com", i))
	}
	if err := o.Notify(t.Context(), deprecation.Notice{Deprecation: o.add(t, "GET", "/api/v1/customers").ID}); err != nil {
		t.Fatal(err)
	}
	if told := o.told(t); len(told) != deprecation.NoticeBatch+3 {
		t.Errorf("%d are told, want %d", len(told), deprecation.NoticeBatch+3)
	}
}
