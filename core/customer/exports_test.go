package customer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
)

// exported returns the customers of an export.
func (s shop) exported(f customer.Filter) (rows []customer.Row) {
	s.T.Helper()
	s.Check(s.Customers.Export(s.T.Context(), s.By, f, func(r customer.Row) error { rows = append(rows, r); return nil }))
	return rows
}

// exports returns the audit entries of exports, in order.
func (s shop) exports() (told []map[string]any) {
	s.T.Helper()
	for _, e := range s.logOf("") {
		if e.Action != "customer.export" {
			s.T.Errorf("an entry without a customer has %s", e.Action)
		}
		told = append(told, e.New)
	}
	return told
}

// An export has each customer that matches the filter once, newest first, and is in the audit log.
func TestExport(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	stranger.made("070 174 06 05", nil)
	s.crowd(2_100)
	shift := func(by string) {
		t.Helper()
		s.Exec("update loyalty.customer set created_at = (created_at at time zone 'UTC' + $2::interval) at time zone 'UTC' where tenant_id = $1", s.By.Tenant.ID, by)
	}
	shift("1 hour") // to the future: not in an export that starts now
	if got := s.exported(customer.Filter{}); len(got) != 0 {
		t.Fatalf("%d came later", len(got))
	}
	shift("-1 day")
	first := s.made("070 174 06 05", nil)
	s.edit(first.ID, customer.Edit{Status: core.Set("inactive")})

	all := s.exported(customer.Filter{})
	if diff := cmp.Diff(s.browse(customer.Filter{}, core.Newest, 700), all); diff != "" || len(all) != 2_101 {
		t.Errorf("%d were exported (-list +export):\n%.500s", len(all), diff)
	}
	crowd := s.exported(customer.Filter{Search: new("crowd"), Status: new("active")})
	if !slices.EqualFunc(crowd, all[1:], func(a, b customer.Row) bool { return a.ID == b.ID }) {
		t.Errorf("of a search %d, want %d", len(crowd), len(all)-1)
	}
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	if got := s.exported(customer.Filter{Phone: new("070-174 06 05"), Email: new("x@example.com"), CreatedFrom: &day, CreatedTo: &day}); len(got) != 0 {
		t.Errorf("without matches %v", got)
	}
	want := []map[string]any{
		{"filter": map[string]any{}, "count": 0.0, "complete": true},
		{"filter": map[string]any{}, "count": 2101.0, "complete": true},
		{"filter": map[string]any{"search": true, "status": "active"}, "count": 2100.0, "complete": true},
		{
			"filter": map[string]any{"phone": true, "email": true, "created_from": "2026-03-01", "created_to": "2026-03-01"},
			"count":  0.0, "complete": true,
		},
	}
	if diff := cmp.Diff(want, s.exports()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// The audit log has the number of customers that were exported before a break.
func TestAnExportThatIsBrokenOff(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for i := range 5 {
		s.made(fmt.Sprintf("070 174 06 %02d", i), nil)
	}
	full := errors.New("no space left on device")
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := s.Customers.Export(ctx, s.By, customer.Filter{}, func(customer.Row) error {
		if n++; n == 3 {
			cancel()
			return full
		}
		return nil
	})
	if !errors.Is(err, full) {
		t.Errorf("Export = %v, want what its taker said", err)
	}
	if diff := cmp.Diff([]map[string]any{{"filter": map[string]any{}, "count": 3.0, "complete": false}}, s.exports()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// Cashiers and invalid filters are refused, and no customer is exported.
func TestExportRefuses(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.made("070 174 06 05", nil)
	none := func(r customer.Row) error { t.Errorf("handed over %v", r); return nil }
	if err := s.Customers.Export(t.Context(), s.as(core.Cashier).By, customer.Filter{}, none); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier's = %v, want ErrRole", err)
	}
	shoptest.WantFields(t, s.Customers.Export(t.Context(), s.By, customer.Filter{Status: new("gone")}, none), core.Fields{"status": {core.InvalidChoice}})
	if got := s.exports(); got != nil {
		t.Errorf("refusals were logged: %v", got)
	}
	if got := s.as(core.Manager).exported(customer.Filter{}); len(got) != 1 {
		t.Errorf("a manager's = %v", got)
	}
}

func TestExportRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := shopIn(t, d)
	s.made("070 174 06 05", nil)
	s.exported(customer.Filter{})
	before := count()
	s.exported(customer.Filter{})
	if got := count() - before; got != 2 {
		t.Errorf("%d round trips, want 2", got)
	}
}
