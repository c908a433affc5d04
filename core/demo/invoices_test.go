package demo

import (
	"log/slog"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
)

// The café is on a plan with limits, and was billed since it opened: once, however often it
// is asked for.
func TestInvoices(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b := billing.NewService(d, jobs, dbtest.Mails(d, jobs), slog.New(slog.DiscardHandler))
	plan, err := Plan(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Plan(t.Context(), b); err != nil || again != plan {
		t.Errorf("asked again, the plan is %d, %v, want %d", again, err, plan)
	}
	cafe, _, err := begin(t.Context(), d, plan)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Invoices(t.Context(), b, cafe); err != nil {
			t.Fatal(err)
		}
	}
	list, err := b.List(t.Context(), system(core.Tenant{}), billing.Filter{}, core.Page{Size: 50})
	if err != nil || len(list.Items) < 3 {
		t.Fatalf("%d invoices, %v", len(list.Items), err)
	}
	for n, i := range list.Items {
		want := billing.Paid
		if n == 0 {
			want = billing.Issued
		}
		if i.Status != want || i.AmountCents != 4900 || i.TotalCents != 6125 || *i.Number != int64(len(list.Items)-n) {
			t.Errorf("invoice %s is %s of %d", i.Name(), i.Status, i.TotalCents)
		}
	}
}
