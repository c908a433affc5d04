package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/sandbox"
)

// busyShop is a business with a client that records sales.
type busyShop struct {
	*server
	shop      sandbox.Tenant
	customers []string // ULIDs
}

// attempt is a sale that was sent. No two have the same amount.
type attempt struct {
	key    string
	amount int64
	body   string
	sale   string // the ULID that was answered; "" without an answer
}

// "kill -9 under load loses nothing that was answered", and "a retry with a key is safe": many connections record
// sales to few customers, so that sales of the same account are recorded together, until the server is killed.
// After the next start, each answered sale is there, once and with its ULID. Each unanswered one is sent again
// with its key, and is there once, too.
func TestAKilledServerLosesNoAnsweredSale(t *testing.T) {
	t.Parallel()
	url := dbtest.OwnURL(t)
	in := newInstallationOn(t, url, "LOYALTY_SANDBOX=1", "LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0")
	a := busyShop{server: in.serve()}
	a.shop = in.sandbox(t).Tenants[0]
	for i := range 5 {
		made := a.expect(t, http.StatusCreated, "POST", "/api/v1/customers", a.shop.Tokens["all"],
			fmt.Sprintf(`{"first_name":"Elsa","last_name":"Berg","phone":"08-465 014 %02d"}`, i))
		a.customers = append(a.customers, decode[single[customerRecord]](t, made.body).Data.ULID)
	}

	d := connect(t, url)
	want := map[int64]string{} // the sale of each amount
	for round := range 3 {
		answered, unanswered := a.sellUntilKilled(t, round)
		// A statement that the killed server sent may still begin.
		await(t, "the killed server's connections end", func() bool {
			return ask[bool](d, "select not exists (select from pg_stat_activity where datname = current_database() and application_name = 'loyalty')")
		})
		for _, s := range answered {
			want[s.amount] = s.sale
		}
		if got := recorded(d, answered); got != len(answered) {
			t.Errorf("of %d answered sales, %d are recorded", len(answered), got)
		}
		kept := recorded(d, unanswered)

		a.server = in.serve()
		replayed := 0
		for _, s := range unanswered {
			first, err := a.send(a.http, s)
			if err != nil {
				t.Fatal(err)
			}
			second, err := a.send(a.http, s)
			if err != nil {
				t.Fatal(err)
			}
			if first.status != http.StatusCreated || second.status != http.StatusCreated || second.body != first.body || !isReplay(second) {
				t.Fatalf("%s, sent again: %d %s, then %d %s", s.key, first.status, first.body, second.status, second.body)
			}
			if isReplay(first) {
				replayed++
			}
			want[s.amount] = decode[single[saleRecord]](t, first.body).Data.ULID
		}
		if replayed != kept {
			t.Errorf("%d of the unanswered sales were recorded, but %d were answered as repeated", kept, replayed)
		}
		t.Logf("round %d: %d sales were answered, %d were not, of which %d were recorded", round+1, len(answered), len(unanswered), kept)
	}
	a.checkSales(d, want)
	a.stop()
	in.succeed("verify")
}

// sellUntilKilled records sales on 24 connections, each with an idempotency key and every third with a receipt
// number, and kills the server when several hundred were answered.
func (a busyShop) sellUntilKilled(t *testing.T, round int) (answered, unanswered []attempt) {
	t.Helper()
	const connections, enough = 24, 500
	var mu sync.Mutex
	var numbers, done atomic.Int64
	var all sync.WaitGroup
	for n := range connections {
		// A client of its own: otherwise all requests would share one connection.
		c := client(t, a.in.addr, trusting(t, filepath.Join(a.in.data, "ca.pem")))
		all.Go(func() {
			for {
				number := numbers.Add(1)
				s := attempt{key: fmt.Sprintf("killed-%d-%d", round, number), amount: 1_000_000*int64(round+1) + 100*number}
				receipt := "null"
				if number%3 == 0 {
					receipt = `"` + s.key + `"`
				}
				s.body = fmt.Sprintf(`{"customer_ulid":%q,"transaction_type_id":%d,"spend_amount_cents":%d,"external_reference":%s}`,
					a.customers[(n+int(number))%len(a.customers)], a.shop.TransactionTypeID, s.amount, receipt)
				got, err := a.send(c, s)
				mu.Lock()
				if err != nil { // the server is gone
					unanswered = append(unanswered, s)
					mu.Unlock()
					return
				}
				if got.status != http.StatusCreated {
					t.Errorf("%s: %d %s", s.key, got.status, got.body)
				} else {
					s.sale = decode[single[saleRecord]](t, got.body).Data.ULID
				}
				answered = append(answered, s)
				mu.Unlock()
				done.Add(1)
			}
		})
	}
	await(t, "sales are recorded", func() bool { return t.Failed() || done.Load() >= enough })
	a.signal(syscall.SIGKILL)
	all.Wait()
	<-a.exited
	return answered, unanswered
}

func (a busyShop) send(c *http.Client, s attempt) (answer, error) {
	return call(c, "POST", a.in.base+"/api/v1/transactions", a.shop.Tokens["all"], s.body, "Idempotency-Key: "+s.key)
}

func isReplay(a answer) bool { return a.header.Get("Idempotent-Replayed") == "true" }

// recorded counts the sales with the amounts of the attempts.
func recorded(d database, attempts []attempt) int {
	d.t.Helper()
	amounts := make([]int64, len(attempts))
	for i, s := range attempts {
		amounts[i] = s.amount
	}
	return ask[int](d, "select count(*) from loyalty.transaction where source = 'api' and spend_amount_cents = any ($1)", amounts)
}

// checkSales compares the sales to the customers with those wanted, by amount, and checks that many of them were
// recorded together.
func (a busyShop) checkSales(d database, want map[int64]string) {
	d.t.Helper()
	ids := make([]core.ID, len(a.customers))
	for i, c := range a.customers {
		id, err := core.ParseID(c)
		if err != nil {
			d.t.Fatal(err)
		}
		ids[i] = id
	}
	type sale struct {
		ID     core.ID
		Amount int64
	}
	rows, err := d.Query(d.t.Context(), "select id, spend_amount_cents as amount from loyalty.transaction where customer_id = any ($1)", ids)
	if err != nil {
		d.t.Fatal(err)
	}
	sales, err := pgx.CollectRows(rows, pgx.RowToStructByName[sale])
	if err != nil {
		d.t.Fatal(err)
	}
	for _, s := range sales {
		if want[s.Amount] != s.ID.String() {
			d.t.Errorf("the sale %s of %d is recorded, want %q", s.ID, s.Amount, want[s.Amount])
		}
	}
	if len(sales) != len(want) {
		d.t.Errorf("%d sales are recorded under %d keys", len(sales), len(want))
	}
	transactions := ask[int](d, "select count(distinct xmin::text) from loyalty.transaction where customer_id = any ($1)", ids)
	if transactions > len(sales)/2 {
		d.t.Errorf("%d sales were recorded in %d database transactions: too few of them together", len(sales), transactions)
	}
	d.t.Logf("%d sales in %d database transactions", len(sales), transactions)
}
