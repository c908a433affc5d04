package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/core/sandbox"
)

//go:embed data.sql
var dataSQL string

// prepare creates the business for API requests, and a copy of the database for pgbench, whose
// inserts would fail loyalty verify.
func (b *bench) prepare(ctx context.Context) {
	b.exec(ctx, dataSQL)
	b.business = b.createBusiness(ctx, b.customers, 2*b.customers)
	// Only a database without connections can be copied.
	b.admin.Reset()
	conn := sample.Must(pgx.Connect(ctx, b.cluster.AdminURL("postgres")))
	defer conn.Close(ctx)
	sample.Must(conn.Exec(ctx, "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'loyalty'"))
	sample.Must(conn.Exec(ctx, "create database pgbench template loyalty owner loyalty"))
}

// business is a tenant with a data set, and its tokens and ids.
type business struct {
	sandbox.Tenant
	customers int
	buyers    int            // customers with sales
	step      int            // every step-th customer is one
	zone      *time.Location // of one for reports
}

// createBusiness creates a sandbox's business and fills it.
func (b *bench) createBusiness(ctx context.Context, customers, sales int) *business {
	progress("creating %d customers and %d sales", customers, sales)
	made := b.createSandbox(ctx, customers)
	made.step = 2 * max(1, customers/200_000)
	made.buyers = customers / made.step
	b.exec(ctx, "select bench.fill($1, $2, $3, $4, $5)", made.ID, made.TransactionTypeID, customers, made.step, sales)
	b.settle(ctx)
	return made
}

// createSandbox creates a sandbox's business, in which points don't end and there are no levels. The customers are not added yet.
func (b *bench) createSandbox(ctx context.Context, customers int) *business {
	out := filepath.Join(b.dir, "sandbox.json")
	b.product.run(ctx, "sandbox", "--out", out)
	var file sandbox.File
	sample.Must(0, json.Unmarshal(sample.Must(os.ReadFile(out)), &file))
	made := &business{Tenant: file.Tenants[0], customers: customers}
	b.letPointsEnd(ctx, made, 0)
	b.exec(ctx, "delete from loyalty.level_programme where tenant_id = $1", made.ID) // its levels are those of the sandbox
	b.exec(ctx, "update loyalty.tenant set earning_version = earning_version + 1 where id = $1", made.ID)
	return made
}

// letPointsEnd has the points of a business end months after they were earned; 0: never.
func (b *bench) letPointsEnd(ctx context.Context, of *business, months int) {
	b.exec(ctx, "delete from loyalty.programme where tenant_id = $1", of.ID)
	if months > 0 {
		b.exec(ctx, `
			insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, begun_at, updated_at)
			values ($1, 'points', 'after', $2, 'month', now(), now())`, of.ID, months)
	}
}

// letCustomersRise has sales of a business earn by its customers' levels, within a cap for each day, and more for first visits; or by
// their types alone. Sums of levels are those of some of the sales only, as while they are being counted.
func (b *bench) letCustomersRise(ctx context.Context, of *business, on bool) {
	b.exec(ctx, `
		update loyalty.level
		set threshold = case rank when 1 then 500 when 2 then 5000 else 0 end,
			percent = case rank when 1 then 110 when 2 then 150 else 100 end
		where tenant_id = $1`, of.ID)
	b.exec(ctx, `
		insert into loyalty.level_programme (tenant_id, basis, period, starts_on, counting, begun_at, updated_at)
		values ($1, 'points', 'year', current_date, true, now(), now())
		on conflict (tenant_id) do nothing`, of.ID)
	b.exec(ctx, `
		insert into loyalty.promotion (tenant_id, name, unit, extra, audience, starts_on, created_at)
		select $1, 'Welcome', 'points', 10, 'first_visit', current_date, now()
		where not exists (select from loyalty.promotion where tenant_id = $1 and limit_times is null)`, of.ID)
	b.exec(ctx, "update loyalty.level_programme set active = $2 where tenant_id = $1", of.ID, on)
	b.exec(ctx, "update loyalty.promotion set active = $2 where tenant_id = $1 and limit_times is null", of.ID, on)
	b.exec(ctx, `
		update loyalty.tenant
		set points_day_cap = case when $2 then 1000000 end,
			earning_version = earning_version + 1
		where id = $1`, of.ID, on)
}

// letUsesCount has sales of a business earn by a promotion that customers can use once ever; or by their types alone.
func (b *bench) letUsesCount(ctx context.Context, of *business, on bool) {
	b.exec(ctx, `
		insert into loyalty.promotion (tenant_id, name, unit, percent, audience, limit_times, limit_per, starts_on, created_at)
		select $1, 'Once', 'points', 200, 'all', 1, 'ever', current_date, now()
		where not exists (select from loyalty.promotion where tenant_id = $1 and limit_times is not null)`, of.ID)
	b.exec(ctx, "update loyalty.promotion set active = $2 where tenant_id = $1 and limit_times is not null", of.ID, on)
	b.exec(ctx, "update loyalty.tenant set earning_version = earning_version + 1 where id = $1", of.ID)
}

// createLargeBusiness creates the large business on first use.
func (b *bench) createLargeBusiness(ctx context.Context) *business {
	if b.largeBusiness == nil {
		b.largeBusiness = b.createBusiness(ctx, b.large, b.sales)
	}
	return b.largeBusiness
}

// settle finishes the database's background work before the next measurement.
func (b *bench) settle(ctx context.Context) {
	b.exec(ctx, "vacuum analyze")
	if b.isDistributed {
		b.exec(ctx, "select run_command_on_workers('vacuum analyze')")
	}
	b.exec(ctx, "checkpoint")
}

func (b *bench) exec(ctx context.Context, sql string, args ...any) {
	sample.Must(b.admin.Exec(ctx, sql, args...))
}

// await repeats a query until it returns true.
func (b *bench) await(ctx context.Context, sql string, args ...any) error {
	for done := false; !done; {
		time.Sleep(20 * time.Millisecond)
		if err := b.admin.QueryRow(ctx, sql, args...).Scan(&done); err != nil {
			return err
		}
	}
	return nil
}

// cursor returns the position after the first customers in a list.
func (b *bench) cursor(ctx context.Context, of *business, order string, after int) (at core.Cursor) {
	row := b.admin.QueryRow(ctx, "select created_at, id from loyalty.customer where tenant_id = $1 order by "+order+" offset $2 limit 1", of.ID, after-1)
	sample.Must(0, row.Scan(&at.At, &at.ID))
	return at
}

const newestFirst = "created_at desc, id desc"

// Kinds of numbered records, as in the ids of data.sql.
const (
	customerIDs = 0x80
	couponIDs   = 0xa0
)

// numbered returns the id of a record in data.sql.
func numbered(kind byte, n int) core.ID {
	id := core.ID{6: 0x40, 8: kind}
	for i := range 6 {
		id[15-i] = byte(n >> (8 * i))
	}
	return id
}

// buyer returns the id of the n-th customer with sales.
func (d *business) buyer(n int) core.ID { return numbered(customerIDs, 1+n%d.buyers*d.step) }

// anyBuyer returns the id of a random customer with sales.
func (d *business) anyBuyer() core.ID { return d.buyer(rand.IntN(d.buyers)) }

// api returns a request to the API.
func (b *bench) api(d *business, method, path, body string) *fasthttp.Request {
	r := newRequest(method, b.product.base+"/api/v1"+path)
	r.Header.Set("Authorization", "Bearer "+d.Tokens["all"])
	r.Header.SetContentType("application/json")
	r.SetBodyString(body)
	return r
}

// record returns a request that records a sale.
func (b *bench) record(d *business) *fasthttp.Request {
	return b.api(d, "POST", "/transactions", fmt.Sprintf(`{"customer_ulid":%q,"transaction_type_id":%d,"spend_amount_cents":%d}`,
		d.anyBuyer(), d.TransactionTypeID, 200+rand.IntN(3000)))
}

// read returns a request that reads a customer.
func (b *bench) read(d *business) *fasthttp.Request {
	return b.api(d, "GET", "/customers/"+d.anyBuyer().String(), "")
}
