package transaction_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
)

// outage is a shop whose database goes away and comes back.
type outage struct {
	shop
	outside *pgx.Conn // to another database of the cluster
	name    string    // the database's
}

func newOutage(t *testing.T) outage {
	t.Helper()
	s := ownShop(t)
	u, err := url.Parse(s.DB.OwnerURL())
	s.Check(err)
	o := outage{shop: s, name: u.Path[1:]}
	u.Path = "/postgres"
	o.outside, err = pgx.Connect(t.Context(), u.String())
	s.Check(err)
	t.Cleanup(func() { o.outside.Close(context.Background()) })
	return o
}

// end ends the connections of the product, and returns their number.
func (o outage) end() (ended int) {
	o.T.Helper()
	o.Check(o.outside.QueryRow(o.T.Context(), `
		select count(pg_terminate_backend(pid, 10000))
		from pg_stat_activity
		where datname = $1 and application_name = 'loyalty'`, o.name).Scan(&ended))
	return ended
}

// open lets connections in again, or none.
func (o outage) open(yes bool) {
	o.T.Helper()
	o.Must(o.outside.Exec(o.T.Context(), fmt.Sprintf("alter database %s allow_connections %t", o.name, yes)))
}

// "A connection that was idle for a second is tried first": after a restart of the database, the next sales
// are recorded, whatever connection they get.
func TestARestartedDatabaseRefusesNoSale(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	sales := func() (attempts []*attempt) {
		for i := range 40 {
			a := &attempt{Sale: o.of(1000)}
			if i%2 == 0 {
				a.ExternalReference = new("R-1") // refused alone, on connections of their own
			}
			attempts = append(attempts, a)
		}
		return attempts
	}
	o.recordAtOnce(sales())
	time.Sleep(1100 * time.Millisecond) // pgx's clock can't be moved
	if ended := o.end(); ended < 2 {
		t.Fatalf("%d connections were open, want several", ended)
	}
	again := sales()
	o.recordAtOnce(again)
	for i, a := range again {
		if refused := core.IsKind(a.err, core.KindInvalid); i%2 == 0 != refused || i%2 == 1 && a.err != nil {
			t.Errorf("sale %d: %v", i, a.err)
		}
	}
	o.Verify()
}

// "A batch that fails as a whole (database gone) fails each of its requests with 503", and "a retry with a key is
// safe": the database goes away while a batch is under way and others wait for theirs. None of the callers
// hangs, and after the database is back, each key records one sale.
func TestADatabaseThatGoesDuringABatch(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	first := o.sale(100) // its type is known from now on
	held, err := dbtest.Owner(o.DB).Begin(t.Context())
	o.Check(err)
	o.Must(held.Exec(t.Context(), "select from loyalty.account where tenant_id = $1 and customer_id = $2 for update", o.By.Tenant.ID, o.customer))

	const sales = 150
	send := func(results chan<- *attempt, i int) {
		a := &attempt{Sale: o.of(1000), key: fmt.Sprint("sale ", i)}
		if i%3 == 0 {
			a.ExternalReference = new(fmt.Sprint("R-", i))
		}
		a.record(o.shop)
		results <- a
	}
	results := make(chan *attempt, sales)
	for i := range sales {
		go send(results, i)
	}
	o.Wait("a batch waits for the account", `
		select count(*) = 1 from `+dbtest.Activity(t)+`
		where datname = current_database() and wait_event_type = 'Lock'`)
	o.open(false)
	o.end()
	for range sales {
		if a := <-results; !core.IsKind(a.err, core.KindUnavailable) {
			t.Errorf("%s without a database: %v, want Unavailable", a.key, a.err)
		}
	}
	o.Check(held.Rollback(t.Context()))
	o.open(true)

	o.wantPoints(1) // of the first sale: nothing of the others was recorded
	made := map[core.ID]string{first.ID: "the first"}
	for range 2 { // sent again, and once more
		var all sync.WaitGroup
		for i := range sales {
			all.Go(func() { send(results, i) })
		}
		all.Wait()
		for range sales {
			a := <-results
			if a.response.Status != 201 {
				t.Errorf("%s, sent again: %v", a.key, a.err)
			}
			if a.err == nil && !a.response.Replayed {
				made[a.made.ID] = a.key
			}
		}
	}
	if n := o.Count("transaction"); n != 1+sales || len(made) != 1+sales {
		t.Errorf("%d sales are recorded, %d were answered, want one for each of %d keys and the first", n, len(made), sales)
	}
	o.wantPoints(1 + sales*10)
	o.Verify()
}
