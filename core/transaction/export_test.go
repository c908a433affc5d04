package transaction_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
)

// "Exports of transactions beside customers": what the filter shows, newest first, and the audit log says how
// many, also of an export that broke off. Cashiers and unknown filters are refused.
func TestExport(t *testing.T) {
	t.Parallel()
	s, stranger := newShop(t), newShop(t)
	stranger.record(stranger.By, stranger.of(900))
	branch := s.open("Söder")
	plain, voided, there := s.record(s.By, s.of(100)), s.record(s.By, s.of(200)), s.record(s.By, s.at(branch.ID))
	s.void(voided)
	export := func(by core.Actor, f transaction.Filter) (ids []core.ID, err error) {
		t.Helper()
		err = s.Sales.Export(t.Context(), by, f, func(n transaction.Named) error { ids = append(ids, n.ID); return nil })
		return ids, err
	}
	for _, c := range []struct {
		filter transaction.Filter
		want   []core.ID
	}{
		{transaction.Filter{}, []core.ID{there, voided, plain}},
		{transaction.Filter{Status: new("completed"), CustomerID: new(s.customer.String()), LocationID: &branch.ID}, []core.ID{there}},
		{transaction.Filter{Search: new("R-7")}, nil},
		{transaction.Filter{WithoutLocation: true, RecordedBy: new("token:7")}, nil},
	} {
		got, err := export(s.As(core.Manager).By, c.filter)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%+v (-want +got), %v:\n%s", c.filter, err, diff)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	full := errors.New("no space left on device")
	if err := s.Sales.Export(ctx, s.By, transaction.Filter{}, func(transaction.Named) error { cancel(); return full }); !errors.Is(err, full) {
		t.Errorf("an export that broke off = %v", err)
	}
	if _, err := export(s.As(core.Cashier).By, transaction.Filter{}); !errors.Is(err, core.ErrRole) {
		t.Errorf("a cashier's = %v, want ErrRole", err)
	}
	_, err := export(s.By, transaction.Filter{Status: new("gone")})
	shoptest.WantFields(t, err, core.Fields{"status": {core.InvalidChoice}})
	want := []string{
		`{"count": 3, "filter": {}, "complete": true}`,
		`{"count": 1, "filter": {"status": "completed", "location_id": ` + shoptest.Query[string](s.Shop, "select $1::bigint::text", branch.ID) + `, "customer_ulid": true}, "complete": true}`,
		`{"count": 0, "filter": {"search": true}, "complete": true}`,
		`{"count": 0, "filter": {"recorded_by": "token:7", "without_location": true}, "complete": true}`, `{"count": 1, "filter": {}, "complete": false}`,
	}
	got := shoptest.QueryAll[string](s.Shop, "select new::text from loyalty.audit_entry where tenant_id = $1 and action = 'transaction.export' order by created_at, id", s.By.Tenant.ID)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}
