package importing_test

import (
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/shoptest"
)

// An import whose business is suspended adds no further customer, then or after the reactivation, until a manager
// continues it from where it was, or stops it.
func TestAnImportOfASuspendedBusinessIsOnHold(t *testing.T) {
	t.Parallel()
	for _, continues := range []bool{true, false} {
		o := officeIn(t, dbtest.OwnDB(t))
		o.imports = o.imports.InBatches(7, 1)
		i := o.running(o.checked(people(1, 20)).ID)
		work := func() {
			t.Helper()
			o.Check(o.imports.RunJob(t.Context(), importing.Job{Tenant: o.By.Tenant.ID, Import: i.ID, Attempt: i.Attempt}))
		}
		work()
		o.Exec("update loyalty.tenant set status = 'suspended' where id = $1", o.By.Tenant.ID)
		work()
		o.Exec("update loyalty.tenant set status = 'active' where id = $1", o.By.Tenant.ID)
		work()
		o.Exec("delete from river.river_job")
		o.Exec("update loyalty.customer_import set moved_at = now() - interval '1 day'")
		o.Check(o.imports.RunUpkeep(t.Context()))
		held := o.import_(i.ID)
		wantCounts(t, held, importing.Running, counts{Rows: 20, Done: 7, Created: 7})
		if jobs := shoptest.Query[int64](o.Shop, "select count(*) from river.river_job"); held.HeldAt == nil || jobs != 0 {
			t.Fatalf("on hold since %v with %d jobs", held.HeldAt, jobs)
		}
		if !continues {
			stopped, err := o.imports.Cancel(t.Context(), o.By, i.ID)
			o.Check(err)
			wantCounts(t, stopped, importing.Cancelled, counts{Rows: 20, Done: 7, Created: 7})
			continue
		}
		for range 2 {
			o.Must(o.imports.Continue(t.Context(), o.By, i.ID))
		}
		if jobs := shoptest.Query[int64](o.Shop, "select count(*) from river.river_job where kind = 'customer_import'"); jobs != 1 {
			t.Errorf("%d jobs, want one", jobs)
		}
		wantCounts(t, o.worked(o.import_(i.ID)), importing.Done, counts{Rows: 20, Done: 20, Created: 20})
	}
}

// A job that began before the suspension is refused at its next batch.
func TestABatchOfASuspendedBusinessIsRefused(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := o.running(o.checked(people(1000, 3)).ID)
	o.Exec("update loyalty.tenant set status = 'suspended' where id = $1", o.By.Tenant.ID)
	if _, err := o.imports.Work(t.Context(), core.Job(o.By.Tenant, "customer import"), i.ID, i.Attempt); err == nil {
		t.Error("it worked")
	}
	wantCounts(t, o.import_(i.ID), importing.Running, counts{Rows: 3})
}
