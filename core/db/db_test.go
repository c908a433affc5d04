package db_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// Branches are simple rows of a tenant: transaction types, because several may have the same name.
const (
	openBranchSQL   = `insert into loyalty.transaction_type (tenant_id, name, rule_type, created_at) values (@tenant_id, @name, 'points', now()) returning id`
	renameBranchSQL = `update loyalty.transaction_type set name = @name where tenant_id = @tenant_id and id = @id`
	branchSQL       = `select id, name from loyalty.transaction_type where tenant_id = @tenant_id and id = @id`
	branchesSQL     = `select id, name from loyalty.transaction_type where tenant_id = @tenant_id order by id`
	everyBranchSQL  = `select id, name from loyalty.transaction_type order by id`
	backendSQL      = `select pg_backend_pid()`
)

type branch struct {
	ID   int64
	Name string
}

// business is a tenant with branches.
type business struct {
	db *db.DB
	by core.Actor
}

func newBusiness(t *testing.T) business { return businessOf(t, dbtest.DB(t)) }

func businessOf(t *testing.T, d *db.DB) business {
	t.Helper()
	return business{d, dbtest.Tenant(t, d)}
}

// open adds a branch in its own transaction.
func (b business) open(t *testing.T, name string) int64 {
	t.Helper()
	id, err := db.In(t.Context(), b.db.Tenant(b.by), func(tx *db.Tx) (int64, error) {
		return db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": name})
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (b business) names(t *testing.T) (names []string) {
	t.Helper()
	branches, err := db.All[branch](t.Context(), b.db.Tenant(b.by), branchesSQL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range branches {
		names = append(names, one.Name)
	}
	return names
}

func (b business) wantNames(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, b.names(t)); diff != "" {
		t.Errorf("branches (-want +got):\n%s", diff)
	}
}

// "Every exported use case opens exactly one [transaction], with db.In": an actor without a tenant is a
// mistake in the code, not a refusal.
func TestAnActorOfNoTenantIsAFault(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	noTenant := core.Actor{Kind: core.BySystem, Name: "test"}

	ran := false
	_, err := db.In(t.Context(), d.Tenant(noTenant), func(*db.Tx) (int, error) { ran = true; return 1, nil })
	var refusal *core.Error
	if err == nil || errors.As(err, &refusal) || ran {
		t.Errorf("In = %v, ran = %v, want a fault before anything ran", err, ran)
	}
	if _, err := db.All[branch](t.Context(), d.Tenant(noTenant), branchesSQL, nil); err == nil || errors.As(err, &refusal) {
		t.Errorf("All = %v, want a fault", err)
	}
}

// "A tenant is a wall in the database, not a habit": a statement without a tenant condition sees no other
// tenant's rows, and none on the platform.
func TestAStatementThatForgetsItsTenantSeesNoOther(t *testing.T) {
	t.Parallel()
	mine, other := newBusiness(t), newBusiness(t)
	mine.open(t, "Mine")
	theirs := other.open(t, "Theirs")

	seen, err := db.All[branch](t.Context(), mine.db.Tenant(mine.by), everyBranchSQL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0].Name != "Mine" {
		t.Errorf("a statement without a tenant sees %v, want only Mine", seen)
	}
	if seen, err := db.All[branch](t.Context(), mine.db.Platform(), everyBranchSQL, nil); err != nil || len(seen) != 0 {
		t.Errorf("the platform sees %v, %v, want nothing", seen, err)
	}
	touched, err := db.In(t.Context(), mine.db.Tenant(mine.by), func(tx *db.Tx) (int64, error) {
		return db.Exec(t.Context(), tx, `update loyalty.transaction_type set name = 'Stolen' where id = @id`, db.Args{"id": theirs})
	})
	if err != nil || touched != 0 {
		t.Errorf("an update of another tenant's row touched %d, %v, want 0", touched, err)
	}
	if _, err := db.One[branch](t.Context(), mine.db.Tenant(mine.by), branchSQL, db.Args{"id": theirs}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("another tenant's row = %v, want ErrNotFound", err)
	}
	// A row can't be written into another tenant.
	_, err = db.In(t.Context(), mine.db.Tenant(mine.by), func(tx *db.Tx) (int64, error) {
		return db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "Planted", "tenant_id": int64(other.by.Tenant.ID)})
	})
	if err == nil {
		t.Error("a row was written into another tenant")
	}
	other.wantNames(t, "Theirs")
}

// A transaction of the platform sees only the tenant that it enters. Statements queued before belong to the
// platform.
func TestEnteringATenant(t *testing.T) {
	t.Parallel()
	b, other := newBusiness(t), newBusiness(t)
	other.open(t, "Theirs")
	const auditSQL = `insert into loyalty.platform_audit_entry (id, action, subject_kind, subject_id,
			actor_kind, actor_id, actor_name, address, request_id, created_at)
		values (@id, 'enter', 'tenant', @tenant, '', '', '', '', '', @now)`
	_, err := db.In(t.Context(), b.db.Platform(), func(tx *db.Tx) (int64, error) {
		if err := db.Queue(tx, auditSQL, db.Args{"id": core.NewID(tx.Now), "tenant": b.by.Tenant.Slug, "now": tx.Now}); err != nil {
			return 0, err
		}
		if err := tx.Enter(b.by.Tenant.ID); err != nil {
			return 0, err
		}
		id, err := db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "Mine"})
		if err != nil {
			return 0, err
		}
		seen, err := db.All[branch](t.Context(), tx, everyBranchSQL, nil)
		if err == nil && (len(seen) != 1 || seen[0].ID != id) {
			t.Errorf("inside are %v, want only Mine", seen)
		}
		if err := errors.Join(err, tx.Enter(0)); err != nil {
			return 0, err
		}
		seen, err = db.All[branch](t.Context(), tx, everyBranchSQL, nil)
		if len(seen) != 0 {
			t.Errorf("outside again are %v, want nothing", seen)
		}
		return id, err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.wantNames(t, "Mine")
	other.wantNames(t, "Theirs")

	_, err = db.In(t.Context(), b.db.Tenant(b.by), func(tx *db.Tx) (int, error) { return 0, tx.Enter(other.by.Tenant.ID) })
	if err == nil {
		t.Error("a tenant's own transaction entered another tenant")
	}
}

// A transaction's tenant doesn't remain on its connection.
func TestTheTenantEndsWithItsTransaction(t *testing.T) {
	t.Parallel()
	d, _ := dbtest.RoundTrips(t) // one connection
	b := businessOf(t, d)
	b.open(t, "Mine")
	for _, end := range []error{nil, errors.New("changed my mind")} {
		_, err := db.In(t.Context(), d.Tenant(b.by), func(tx *db.Tx) (int64, error) {
			id, err := db.One[int64](t.Context(), tx, backendSQL, nil)
			return id, errors.Join(err, end)
		})
		if !errors.Is(err, end) {
			t.Fatal(err)
		}
		var setting, role string
		err = db.Pool(d).QueryRow(t.Context(), "select current_setting('app.tenant_id'), current_user::text").Scan(&setting, &role)
		if err != nil || setting != "-1" || role != db.Role {
			t.Errorf("after a transaction the connection is %q in tenant %q, %v", role, setting, err)
		}
	}
}

// "An error rolls everything back": sent and queued statements.
func TestAnErrorRollsEverythingBack(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	changed := errors.New("changed my mind")
	got, err := db.In(t.Context(), b.db.Tenant(b.by), func(tx *db.Tx) (int64, error) {
		id, err := db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "Sent"})
		if err != nil {
			return 0, err
		}
		if err := db.Queue(tx, openBranchSQL, db.Args{"name": "Queued"}); err != nil {
			return 0, err
		}
		return id, changed
	})
	if !errors.Is(err, changed) || got != 0 {
		t.Errorf("In = %d, %v, want the zero value and the error", got, err)
	}
	b.wantNames(t)
}

func TestAPanicRollsEverythingBack(t *testing.T) {
	t.Parallel()
	d, _ := dbtest.RoundTrips(t) // one connection: were it kept, the next call would wait for ever
	b := businessOf(t, d)
	func() {
		defer func() { _ = recover() }()
		_, _ = db.In(t.Context(), d.Tenant(b.by), func(tx *db.Tx) (int64, error) {
			if _, err := db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "Sent"}); err != nil {
				t.Error(err)
			}
			panic("a mistake")
		})
	}()
	b.wantNames(t)
}

// Queued statements run in order with the next one or the commit, and their error is the transaction's.
func TestQueuedStatementsRunInOrderAndTheirErrorIsTheCommits(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	id := b.open(t, "First")
	_, err := db.In(t.Context(), b.db.Tenant(b.by), func(tx *db.Tx) (string, error) {
		for _, name := range []string{"Second", "Third"} {
			if err := db.Queue(tx, renameBranchSQL, db.Args{"id": id, "name": name}); err != nil {
				return "", err
			}
		}
		seen, err := db.One[branch](t.Context(), tx, branchSQL, db.Args{"id": id})
		if err == nil && seen.Name != "Third" {
			t.Errorf("the next statement sees %q, want Third", seen.Name)
		}
		return "", errors.Join(err, db.Queue(tx, renameBranchSQL, db.Args{"id": id, "name": "Fourth"}))
	})
	if err != nil {
		t.Fatal(err)
	}
	b.wantNames(t, "Fourth")

	_, err = db.In(t.Context(), b.db.Tenant(b.by), func(tx *db.Tx) (string, error) {
		if err := db.Queue(tx, renameBranchSQL, db.Args{"id": id, "name": "Fifth"}); err != nil {
			return "", err
		}
		return "", db.Queue(tx, renameBranchSQL, db.Args{"id": id, "name": nil}) // not null
	})
	if err == nil {
		t.Error("a queued statement that fails must fail the commit")
	}
	b.wantNames(t, "Fourth")
}

// If a use case ignores the error of a statement, PostgreSQL answers the commit with ROLLBACK. That must be an
// error.
func TestASwallowedErrorIsNoCommit(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	_, err := db.In(t.Context(), b.db.Tenant(b.by), func(tx *db.Tx) (string, error) {
		_, _ = db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": "Lost"})
		_, _ = db.One[int64](t.Context(), tx, openBranchSQL, db.Args{"name": nil})
		return "done", nil
	})
	if err == nil {
		t.Error("a transaction that the database rolled back reported success")
	}
	b.wantNames(t)
}

// "Only its use case ends a transaction": a library can't.
func TestALibraryCannotEndTheTransaction(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	changed := errors.New("changed my mind")
	_, err := db.In(t.Context(), b.db.Tenant(b.by), func(tx *db.Tx) (string, error) {
		raw, err := tx.Raw(t.Context())
		if err != nil {
			return "", err
		}
		if _, err := raw.Exec(t.Context(), "insert into loyalty.transaction_type (tenant_id, name, rule_type, created_at) values ($1, 'Library', 'points', now())", b.by.Tenant.ID); err != nil {
			return "", err
		}
		if raw.Commit(t.Context()) == nil || raw.Rollback(t.Context()) == nil {
			t.Error("a library ended the transaction")
		}
		return "", changed
	})
	if !errors.Is(err, changed) {
		t.Error(err)
	}
	b.wantNames(t)
}

// "`tx.Now` is the one clock of a transaction and is the database's, at no round trip", "stored as
// timestamptz(3), so that cursors and filters lose nothing".
func TestNowIsTheDatabasesClock(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	server := func() (at time.Time) {
		if err := dbtest.Owner(d).QueryRow(t.Context(), "select clock_timestamp()").Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	before, now, after := server(), d.Now(), server()
	const slack = time.Second // a busy machine measures late
	if now.Before(before.Add(-slack)) || now.After(after.Add(slack)) {
		t.Errorf("Now = %s, the server says %s to %s", now, before, after)
	}
	if now.Location() != time.UTC || !now.Equal(now.Truncate(time.Millisecond)) {
		t.Errorf("Now = %s, want whole milliseconds in UTC", now)
	}
}

// The clock of At starts at its instant and runs on. The original database keeps its clock.
// A reader of changes may have passed the time of a transaction that begins late, so it runs again with a new one.
func TestABeginLongAfterItsTime(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	var times []time.Time
	err := db.Run(t.Context(), b.db.Tenant(b.by), func(tx *db.Tx) error {
		times = append(times, tx.Now)
		if len(times) == 1 {
			time.Sleep(2500 * time.Millisecond)
		}
		_, err := db.One[bool](t.Context(), tx, "select true as begun", nil)
		return err
	})
	if err != nil || len(times) != 2 || times[1].Sub(times[0]) < 2*time.Second {
		t.Errorf("%v; it ran at %v, want again after two seconds", err, times)
	}
	runs := 0
	err = db.Write(t.Context(), b.db, b.by.Tenant.ID, func(time.Time) ([]db.Reading, error) {
		if runs++; runs == 1 {
			time.Sleep(2500 * time.Millisecond)
		}
		return []db.Reading{db.OneInto(new(bool), "select true as begun", nil)}, nil
	})
	if err != nil || runs != 2 {
		t.Errorf("%v; statements were prepared %d times, want twice", err, runs)
	}
}

func TestAtShiftsTheClockAndItRunsOn(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	then := time.Date(2020, 2, 29, 12, 0, 0, 0, time.UTC)
	past := b.db.At(then)

	first := past.Now()
	if first.Before(then.Add(-time.Millisecond)) || first.After(then.Add(time.Minute)) {
		t.Errorf("At(%s).Now() = %s", then, first)
	}
	for !past.Now().After(first) { // runs on
	}
	if b.db.Now().Year() == 2020 {
		t.Error("At moved the clock of the database it came from")
	}
	seen, err := db.In(t.Context(), past.Tenant(b.by), func(tx *db.Tx) (time.Time, error) { return tx.Now, nil })
	if err != nil || seen.Year() != 2020 {
		t.Errorf("the transaction's clock is %s, %v, want 2020", seen, err)
	}
	if again := past.At(then.AddDate(1, 0, 0)).Now(); again.Year() != 2021 {
		t.Errorf("At of a shifted clock = %s, want 2021", again)
	}
}

// "Timestamps: RFC 3339, UTC": timestamps are read as UTC, whatever the machine's time zone.
func TestInstantsAreReadInUTC(t *testing.T) {
	t.Parallel()
	b := newBusiness(t)
	at, err := db.In(t.Context(), b.db.Tenant(b.by), func(tx *db.Tx) (time.Time, error) {
		return db.One[time.Time](t.Context(), tx, `select created_at from loyalty.tenant where id = @id`, db.Args{"id": int64(b.by.Tenant.ID)})
	})
	if err != nil || at.Location() != time.UTC {
		t.Errorf("created_at = %s in %s, %v, want UTC", at, at.Location(), err)
	}
}
