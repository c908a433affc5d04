package transfer_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transfer"
)

// growLarge adds customers with four sales each, past the use cases.
func growLarge(shop shoptest.Shop, customers int) {
	shop.T.Helper()
	tenant, kind := shop.By.Tenant.ID, shop.Points(100)
	shop.Exec(`
		create table public.large as
		select loyalty.new_ulid(now() - interval '1 year') as id, n
		from generate_series(1, $1::int) n`, customers)
	shop.Exec(`
		insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, created_at, updated_at)
		select $1, id, 'Anna', 'Lindqvist', '+4670' || lpad(n::text, 7, '0'), '+4670' || lpad(n::text, 7, '0'), now() - interval '1 year', now()
		from public.large`, tenant)
	shop.Exec(`
		insert into loyalty.account (tenant_id, customer_id, points, stamps, entries, visits, spent_cents)
		select $1, id, 40, 0, 4, 4, 4000
		from public.large`, tenant)
	shop.Exec(`
		create table public.sale as
		select loyalty.new_ulid(at) as id, l.id as customer, s as seq, at
		from public.large l
		cross join generate_series(1, 4) s
		cross join lateral (select date_trunc('milliseconds', now() - interval '1 hour' * (10 * (5 - s) + n % 10)) as at) a`)
	shop.Exec(`
		with counted as (
			select set_config('app.visits_counted', 'yes', true)
		)
		insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents, points_awarded, source, actor_kind, actor_id, actor_name, created_at)
		select $1, id, customer, $2, 'points', 1000, 10, 'pos', 'staff', $3, 'Maja', at
		from public.sale
		cross join counted`, tenant, kind.ID, shop.By.ID)
	shop.Exec(`
		insert into loyalty.ledger_entry (tenant_id, id, customer_id, seq, unit, amount, balance_after, kind, cause, actor_kind, actor_id, actor_name, created_at)
		select $1, loyalty.new_ulid(at), customer, seq, 'points', 10, 10 * seq, 'earn', id, 'staff', $2, 'Maja', at
		from public.sale`, tenant, shop.By.ID)
}

// highest returns a function that ends the measurement, and returns by how many bytes the heap grew at most.
func highest() func() int64 {
	var most atomic.Int64
	read := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse)
	}
	runtime.GC()
	before, stop := read(), make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				most.Store(max(most.Load(), read()))
			}
		}
	}()
	return func() int64 {
		close(stop)
		return most.Load() - before
	}
}

// A business of any size is moved in the same memory.
func TestALargeBusinessMoves(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	const customers, memory = 50_000, 32 << 20
	from, to := dbtest.OwnDB(t), dbtest.OwnDB(t)
	shop := shoptest.In(t, from)
	growLarge(shop, customers)
	name := filepath.Join(t.TempDir(), "large.jsonl.gz")
	file, err := os.Create(name)
	shop.Check(err)

	began, grown := time.Now(), highest()
	h, err := mover(from).Export(t.Context(), shop.By.Tenant.Slug, file)
	shop.Check(err)
	shop.Check(file.Close())
	info, err := os.Stat(name)
	shop.Check(err)
	wrote := grown()
	t.Logf("exported %d customers and %d sales in %s: %d MB, %d MB of memory",
		h.Customers, h.Rows["transaction"], time.Since(began).Round(time.Second), info.Size()>>20, wrote>>20)

	began, grown = time.Now(), highest()
	done, err := mover(to).Import(t.Context(), func() (io.ReadCloser, error) { return os.Open(name) }, transfer.Options{})
	shop.Check(err)
	read := grown()
	t.Logf("imported in %s, %d MB of memory", time.Since(began).Round(time.Second), read>>20)
	if done.Customers != customers || done.Points != "2000000" || len(h.Differences) > 0 {
		t.Errorf("imported %+v", done)
	}
	if most := max(wrote, read); most > memory {
		t.Errorf("it took %d MB of memory, want at most %d", most>>20, memory>>20)
	}
	wantVerified(t, to)
}
