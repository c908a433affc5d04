// Package dbtest gives tests a real database: one for each test binary, copied from a migrated template, and a
// new tenant for each test. So tests run in parallel, need no clean-up, and all use tenant isolation.
//
// `make test` starts one throwaway cluster for all packages. A test binary that runs alone starts its own.
package dbtest

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/vault"
)

var shared struct {
	sync.Mutex
	cluster *cluster
	main    *db.DB // of this binary
	drop    []func(context.Context)
}

// Main runs a package's tests and then removes its databases. TestMain calls it.
func Main(m *testing.M) {
	ctx := context.Background()
	code := m.Run()
	for _, drop := range shared.drop {
		drop(ctx)
	}
	if shared.cluster != nil && shared.cluster.own != nil {
		_ = shared.cluster.own.Stop(ctx)
	}
	os.Exit(code)
}

// NeedsCitus skips a test whose subject is a distributed database, unless the test run's server has one.
func NeedsCitus(t testing.TB) {
	t.Helper()
	if !IsCitus(t) {
		t.Skip("needs a server with Citus (" + clusterVariable + ")")
	}
}

// NeedsPlain skips a test that a distributed database can't run, and says why.
func NeedsPlain(t testing.TB, why string) {
	t.Helper()
	if IsCitus(t) {
		t.Skip("needs a server without Citus: " + why)
	}
}

// Activity returns the view of the connections to the test run's databases, on all of their nodes.
func Activity(t testing.TB) string {
	t.Helper()
	if IsCitus(t) {
		return "citus_stat_activity"
	}
	return "pg_stat_activity"
}

// Waits returns a table of who waits for a lock of whom, as a subquery with the columns "waiting" and "blocking": the
// processes of connections to the test run's server, whatever node the lock is on.
func Waits(t testing.TB) string {
	t.Helper()
	if IsCitus(t) {
		return "(select citus_pid_for_gpid(waiting_gpid) as waiting, citus_pid_for_gpid(blocking_gpid) as blocking from citus_lock_waits)"
	}
	return "(select pid as waiting, unnest(pg_blocking_pids(pid)) as blocking from pg_stat_activity)"
}

// IsBlocking returns a query that selects whether another connection waits for that of the process $1.
func IsBlocking(t testing.TB) string {
	t.Helper()
	return "select exists (select from " + Waits(t) + " w where blocking = $1)"
}

// IsCitus reports whether the test run's databases are distributed.
func IsCitus(t testing.TB) bool {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	c, err := findCluster(context.Background()) // it outlives the test
	if err != nil {
		t.Fatal(err)
	}
	return c.isCitus()
}

// patient returns options under which a slow machine changes no result: what waits for a lock gets it in the end, and a list is
// counted to its end.
func patient(owner string) db.Options {
	return db.Options{OwnerURL: owner, StatementTimeout: time.Minute, CountTimeout: time.Minute}
}

// DB returns the database of this test binary.
func DB(t testing.TB) *db.DB {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.main == nil {
		ctx := context.Background() // it outlives the first test
		url, drop, err := create(ctx)
		if err != nil {
			t.Fatal(err)
		}
		d, err := db.Open(ctx, Serving(url), patient(url))
		if err != nil {
			t.Fatal(err)
		}
		shared.main = d
		shared.drop = append(shared.drop, func(context.Context) { d.Close() }, drop)
	}
	return shared.main
}

// IsShared tells whether d is the database of this test binary, in which other tests make businesses of their own.
func IsShared(d *db.DB) bool {
	shared.Lock()
	defer shared.Unlock()
	return shared.main != nil && shared.main.OwnerURL() == d.OwnerURL()
}

// OwnURL creates a database for one test, for tests of global tables or damage, and returns its owner's URL.
func OwnURL(t testing.TB) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	url, drop, err := create(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { drop(context.Background()) })
	return url
}

// Superuser returns the URL of a superuser for an owner's URL of a distributed database.
func Superuser(t testing.TB, owner string) string {
	t.Helper()
	NeedsCitus(t)
	u, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	return shared.cluster.at(shared.cluster.nodes[0], strings.TrimPrefix(u.Path, "/")).String()
}

// Drop drops a database of OwnURL at once, with connections to it.
func Drop(t testing.TB, owner string) {
	t.Helper()
	u, err := url.Parse(owner)
	if err != nil {
		t.Fatal(err)
	}
	if err := shared.cluster.drop(context.Background(), strings.TrimPrefix(u.Path, "/")); err != nil {
		t.Fatal(err)
	}
}

// OwnDB opens a database for one test.
func OwnDB(t testing.TB) *db.DB {
	t.Helper()
	owner := OwnURL(t)
	d, err := db.Open(context.Background(), Serving(owner), patient(owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// Serving returns the URL of the login that serves, for an owner's URL.
func Serving(owner string) string {
	u, err := url.Parse(owner)
	if err != nil {
		panic(err) // it comes from OwnURL
	}
	u.User = url.User(db.Role)
	return u.String()
}

// Tenant adds a tenant in Sweden with the currency EUR, and returns its owner as the actor.
func Tenant(t testing.TB, d *db.DB) core.Actor {
	t.Helper()
	ctx := context.Background()
	slug := "t-" + strings.ToLower(rand.Text()[:16])
	maker := core.System(core.Tenant{}, "test")
	by, err := db.In(ctx, d.Platform(), func(tx *db.Tx) (core.Actor, error) {
		made, err := tenant.Add(ctx, tx, maker, tenant.New{
			Name: "Café " + slug, Slug: slug, Email: "owner@example.com", PlanID: 1,
			BillingCycle: "monthly", PaymentMethod: "manual", TimeZone: "Europe/Stockholm", Country: "SE",
		})
		return core.System(made, "test"), err
	})
	if err != nil {
		t.Fatal(err)
	}
	return Person(t, d, by, core.Owner)
}

// Person adds a person to the actor's tenant and returns them as an actor.
func Person(t testing.TB, d *db.DB, by core.Actor, role core.Role) core.Actor {
	t.Helper()
	ctx := context.Background()
	p, err := db.In(ctx, d.Tenant(by), func(tx *db.Tx) (staff.Person, error) {
		return staff.Add(ctx, tx, by, staff.New{
			Role: role, Name: "A " + string(role), Email: strings.ToLower(rand.Text()) + "@example.com",
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return core.Actor{Kind: core.ByStaff, ID: strconv.FormatInt(p.ID, 10), Name: p.Name, Tenant: by.Tenant, StaffID: p.ID, Role: role}
}

// create copies the template into a new database.
func create(ctx context.Context) (dbURL string, drop func(context.Context), err error) {
	c, err := findCluster(ctx)
	if err != nil {
		return "", nil, err
	}
	template, err := c.findOrCreateTemplate(ctx)
	if err != nil {
		return "", nil, err
	}
	name := "test_" + strings.ToLower(rand.Text())
	err = c.exec(ctx, "create database "+name+" owner "+c.owner.Username()+" template "+template+" strategy file_copy")
	if err := errors.Join(err, c.configure(ctx, name)); err != nil {
		return "", nil, err
	}
	return c.url(name), func(ctx context.Context) { _ = c.drop(ctx, name) }, nil
}

// Tick waits for the clock's next millisecond, so that records created before and after it have a defined order.
func Tick(d *db.DB) {
	for now := d.Now(); !d.Now().After(now); {
		time.Sleep(100 * time.Microsecond)
	}
}

// Admin adds a super-admin to the platform and returns them as an actor.
func Admin(t testing.TB, d *db.DB) core.Actor {
	t.Helper()
	p, err := staff.CreateAdmin(context.Background(), d, core.System(core.Tenant{}, "test"), staff.New{
		Name: "Root", Email: strings.ToLower(rand.Text()) + "@example.com",
	})
	if err != nil {
		t.Fatal(err)
	}
	return core.Actor{Kind: core.ByAdmin, ID: strconv.FormatInt(p.ID, 10), Name: p.Name, StaffID: p.ID, Role: p.Role}
}

// Links returns a maker of customers' links with a test secret.
func Links() link.Maker { return link.New(Keys()) }

// Secret is what Keys and Links are made of.
const Secret = "a secret of thirty-two characters"

// Keys returns keys of a test secret.
func Keys() vault.Keys {
	keys, err := vault.New([]string{Secret})
	if err != nil {
		panic(err)
	}
	return keys
}
