package demo

import (
	"log/slog"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
)

// The café moved to a plan with limits some months ago, and was billed since then: once,
// however often it is asked for.
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
	cafe, _, err := begin(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Invoices(t.Context(), d, b, cafe, plan); err != nil {
			t.Fatal(err)
		}
	}
	list, err := b.List(t.Context(), system(core.Tenant{}), billing.Filter{}, core.Page{Size: 50})
	if err != nil || len(list.Items) < 3 || len(list.Items) > 5 {
		t.Fatalf("%d invoices, %v", len(list.Items), err)
	}
	for n, i := range list.Items {
		want := billing.Paid
		if n == 0 {
			want = billing.Issued
		}
		whole := n < len(list.Items)-1 // the first is for the rest of the period
		if i.Status != want || whole && i.TotalCents != 6125 || *i.Number != int64(len(list.Items)-n) || i.CreatedAt.After(*i.IssuedAt) {
			t.Errorf("invoice %s is %s of %d", i.Name(), i.Status, i.TotalCents)
		}
	}
}
