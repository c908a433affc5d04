package customer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
)

// exported are the names of those whom an export hands over.
func (s shop) exported(t *testing.T, f customer.Filter, sort customer.Sort) (names []string) {
	t.Helper()
	err := s.Export(t.Context(), s.by, f, sort, func(r customer.Row) error { names = append(names, r.FirstName); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// exports are what the log tells of them.
func (s shop) exports(t *testing.T) (facts []map[string]any) {
	t.Helper()
	rows, err := s.db.Pool().Query(t.Context(), `
		select new
		from loyalty.audit_entry
		where tenant_id = $1 and action = 'customer.export' and subject_kind = 'customer' and subject_id = '' and actor_id = $2
		order by id`, s.by.Tenant.ID, s.by.ID)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents {
		var f map[string]any
		if err := json.Unmarshal(d, &f); err != nil {
			t.Fatal(err)
		}
		facts = append(facts, f)
	}
	return facts
}

// "CSV and XLSX export of what the filter shows", "any size", in the order of the list,
// with "one audit entry 'customer.export' with filter and count".
func TestExport(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	// More than are read at a time, the second half of them inactive.
	const n = 2_005
	_, err := s.db.Pool().Exec(t.Context(), `
		with made as (
			insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, status, created_at, updated_at)
			select $1, loyalty.new_ulid(now()), 'C' || i, 'Z' || lpad((7919 * i % 10007)::text, 5, '0'), '+4670' || lpad(i::text, 7, '0'), '+4670' || lpad(i::text, 7, '0'),
				case when i <= $2 / 2 then 'active' else 'inactive' end, '2026-03-01T12:00:00Z'::timestamptz + i * interval '1 minute', now()
			from generate_series(1, $2::int) i
			returning id
		)
		insert into loyalty.account (tenant_id, customer_id) select $1, id from made`, s.by.Tenant.ID, n)
	if err != nil {
		t.Fatal(err)
	}
	newShop(t).made(t, "070 174 06 05", nil) // a stranger's

	var want []string
	for i := n; i > 0; i-- {
		want = append(want, fmt.Sprint("C", i))
	}
	if got := s.exported(t, customer.Filter{}, customer.Newest); !slices.Equal(got, want) {
		t.Errorf("%d are exported, want %d, the newest first", len(got), n)
	}
	if got := s.exported(t, customer.Filter{Status: new("active")}, customer.Newest); !slices.Equal(got, want[n-n/2:]) {
		t.Errorf("%d active ones are exported, want %d", len(got), n/2)
	}
	if got := s.exported(t, customer.Filter{Search: new("C200")}, customer.Newest); !slices.Equal(got, []string{"C2005", "C2004", "C2003", "C2002", "C2001", "C2000", "C200"}) {
		t.Errorf("a search exports %v", got)
	}
	byName := s.exported(t, customer.Filter{}, customer.ByName)
	slices.Sort(byName)
	if slices.Sort(want); !slices.Equal(byName, want) {
		t.Errorf("%d are exported by name, want %d", len(byName), n)
	}
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	s.exported(t, customer.Filter{CreatedFrom: &day, CreatedTo: &day, Email: new("a@example.com"), Phone: new("070 174 06 05")}, customer.Newest)
	if diff := cmp.Diff([]map[string]any{
		{"customers": 2005.0},
		{"customers": 1002.0, "status": "active"},
		{"customers": 7.0, "search": "C200"},
		{"customers": 2005.0},
		{"customers": 0.0, "created_from": "2026-03-02", "created_to": "2026-03-02", "email": "a@example.com", "phone": "070 174 06 05"},
	}, s.exports(t)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// What has left the house stands in the log, also where whoever took it went away.
func TestAnExportThatBreaksOff(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for i := range 3 {
		s.made(t, fmt.Sprintf("070 174 06 0%d", i), nil)
	}
	gone := errors.New("the line went dead")
	ctx, leave := context.WithCancel(t.Context())
	taken := 0
	err := s.Export(ctx, s.by, customer.Filter{}, customer.Newest, func(customer.Row) error {
		if taken++; taken == 3 {
			leave()
			return gone
		}
		return nil
	})
	if !errors.Is(err, gone) {
		t.Errorf("export = %v", err)
	}
	if diff := cmp.Diff([]map[string]any{{"customers": 3.0, "broken_off": true}}, s.exports(t)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// "Manager and up"; and a filter that cannot be read exports nothing.
func TestWhoExports(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.made(t, "070 174 06 05", nil)
	each := func(customer.Row) error { t.Error("somebody was handed over"); return nil }
	cashier := dbtest.Person(t, s.db, s.by, core.Cashier)
	if err := s.Export(t.Context(), cashier, customer.Filter{}, customer.Newest, each); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier's = %v, want ErrRole", err)
	}
	wantFields(t, s.Export(t.Context(), s.by, customer.Filter{Status: new("erased")}, customer.Newest, each),
		core.Fields{"status": {"The selected status is invalid."}})
	if got := s.exports(t); len(got) != 0 {
		t.Errorf("log: %v", got)
	}
}

func TestExportRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopOf(t, d)
	s.made(t, "070 174 06 05", nil)
	s.exported(t, customer.Filter{}, customer.Newest)
	before := count()
	s.exported(t, customer.Filter{}, customer.Newest)
	if got := count() - before; got != 2 {
		t.Errorf("%d round trips, want 2", got)
	}
}
