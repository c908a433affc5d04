package audit_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func write(t testing.TB, d *db.DB, by core.Actor, e audit.Entry, end error) error {
	t.Helper()
	_, err := db.In(t.Context(), d.Tenant(by), func(tx *db.Tx) (int, error) {
		if err := audit.Write(tx, by, e); err != nil {
			return 0, err
		}
		return 0, end
	})
	return err
}

func lines(t *testing.T, d *db.DB, by core.Actor, subject string) (lines []string) {
	t.Helper()
	rows, err := dbtest.Owner(d).Query(t.Context(), `
		select concat_ws(' ', action, subject_kind, subject_id, coalesce(old::text, '-'), coalesce(new::text, '-'),
			actor_kind, actor_name, address, request_id)
		from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = $2
		order by id`, by.Tenant.ID, subject)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return lines
}

// An entry is committed or rolled back together with its cause.
func TestEntriesCommitWithTheirCause(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	by := dbtest.Tenant(t, d)
	by.Address, by.RequestID = "192.0.2.7", "request-1"
	entry := audit.Entry{Action: "till.open", Subject: "till", ID: "7", New: map[string]any{"float": 100}}
	if err := write(t, d, by, entry, nil); err != nil {
		t.Fatal(err)
	}
	changed := errors.New("changed my mind")
	if err := write(t, d, by, entry, changed); !errors.Is(err, changed) {
		t.Error(err)
	}
	want := `till.open till 7 - {"float": 100} staff A owner 192.0.2.7 request-1`
	if got := lines(t, d, by, "till"); len(got) != 1 || got[0] != want {
		t.Errorf("log = %q, want %q", got, want)
	}
	entry.New = func() {}
	if err := write(t, d, by, entry, nil); err == nil {
		t.Error("what cannot be written was passed over")
	}
}

// The application role can't update or delete entries, and a tenant sees its own entries but not
// the platform's.
func TestTheLogCannotBeChanged(t *testing.T) {
	t.Parallel()
	d := dbtest.DB(t)
	by, stranger := dbtest.Tenant(t, d), dbtest.Tenant(t, d)
	if err := write(t, d, by, audit.Entry{Action: "till.open", Subject: "till", ID: "7"}, nil); err != nil {
		t.Fatal(err)
	}
	admin := core.Actor{Kind: core.ByAdmin, ID: "1", Name: "Root", Role: core.SuperAdmin}
	_, err := db.In(t.Context(), d.Platform(), func(tx *db.Tx) (int, error) {
		return 0, audit.Write(tx, admin, audit.Entry{Action: "tenant.suspend", Subject: "tenant", ID: fmt.Sprint(by.Tenant.ID)})
	})
	if err != nil {
		t.Fatal(err)
	}
	count := func(by core.Actor, table string) (n int64) {
		n, err := db.In(t.Context(), d.Tenant(by), func(tx *db.Tx) (int64, error) {
			return db.One[int64](t.Context(), tx, "select count(*) from loyalty."+table+" where subject_kind in ('till', 'tenant')", nil)
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if own, others, platform := count(by, "audit_entry"), count(stranger, "audit_entry"), count(by, "platform_audit_entry"); own != 1 || others != 0 || platform != 0 {
		t.Errorf("a tenant sees %d of its own, a stranger %d, the tenant %d of the platform's, want 1, 0, 0", own, others, platform)
	}
	for _, sql := range []string{
		"update loyalty.audit_entry set action = 'x'", "delete from loyalty.audit_entry",
		"update loyalty.platform_audit_entry set action = 'x'", "delete from loyalty.platform_audit_entry",
	} {
		_, err := db.In(t.Context(), d.Tenant(by), func(tx *db.Tx) (int64, error) { return db.Exec(t.Context(), tx, sql, nil) })
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "42501" {
			t.Errorf("%s = %v, want permission denied", sql, err)
		}
	}
}
