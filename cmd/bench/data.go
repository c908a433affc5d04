package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"example.com/loyalty/core"
	"example.com/loyalty/core/sandbox"
)

//go:embed data.sql
var dataSQL string

// prepare creates the business for API requests, and a copy of the database for pgbench, whose
// inserts would fail loyalty verify.
func (b *bench) prepare(ctx context.Context) (err error) {
	if _, err := b.product.command(ctx, "migrate", "up"); err != nil {
		return err
	}
	if b.admin, err = pgxpool.New(ctx, b.cluster.AdminURL("loyalty")); err != nil {
		return err
	}
	if _, err := b.admin.Exec(ctx, dataSQL); err != nil {
		return fmt.Errorf("data.sql: %w", err)
	}
	if b.business, err = b.createBusiness(ctx, b.customers, 2*b.customers); err != nil || !b.wants("api") {
		return err
	}
	conn, err := pgx.Connect(ctx, b.cluster.AdminURL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	// Only a database without connections can be copied.
	b.admin.Reset()
	if _, err = conn.Exec(ctx, "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'loyalty'"); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "create database pgbench template loyalty owner loyalty")
	return err
}

// business is a tenant with a data set, and its tokens and ids.
type business struct {
	sandbox.Tenant
	customers int
	step      int // every step-th customer is active and has sales
}

// createBusiness creates a sandbox's business and fills it.
func (b *bench) createBusiness(ctx context.Context, customers, sales int) (*business, error) {
	progress("creating %d customers and %d sales", customers, sales)
	out := filepath.Join(b.dir, "sandbox.json")
	if _, err := b.product.command(ctx, "sandbox", "--out", out); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	var file sandbox.File
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	made := &business{Tenant: file.Tenants[0], customers: customers, step: 2 * max(1, customers/200_000)}
	_, err = b.admin.Exec(ctx, "select bench.fill($1, $2, $3, $4, $5)", made.ID, made.TransactionTypeID, customers, made.step, sales)
	if err != nil {
		return nil, fmt.Errorf("data.sql: %w", err)
	}
	return made, b.settle(ctx)
}

// createLargeBusiness creates the large business on first use.
func (b *bench) createLargeBusiness(ctx context.Context) (_ *business, err error) {
	if b.largeBusiness == nil {
		b.largeBusiness, err = b.createBusiness(ctx, b.large, b.sales)
	}
	return b.largeBusiness, err
}

// settle finishes the database's background work before the next measurement.
func (b *bench) settle(ctx context.Context) error {
	for _, sql := range []string{"vacuum analyze", "checkpoint"} {
		if _, err := b.admin.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
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
func (b *bench) cursor(ctx context.Context, of *business, order string, after int) (at core.Cursor, err error) {
	err = b.admin.QueryRow(ctx, "select created_at, id from loyalty.customer where tenant_id = $1 order by "+order+" offset $2 limit 1",
		of.ID, after-1).Scan(&at.At, &at.ID)
	return at, err
}

const newestFirst = "created_at desc, id desc"

// Kinds of numbered records, as in the ids of data.sql.
const (
	customerIDs = 0x80
	voucherIDs  = 0x90
	couponIDs   = 0xa0
	rewardIDs   = 0xb0
)

// numbered returns the id of a record in data.sql.
func numbered(kind byte, n int) core.ID {
	id := core.ID{6: 0x40, 8: kind}
	for i := range 6 {
		id[15-i] = byte(n >> (8 * i))
	}
	return id
}

// buyer returns the id of a random customer with sales.
func (d *business) buyer() core.ID {
	return numbered(customerIDs, 1+rand.IntN(d.customers/d.step)*d.step)
}

// api returns a request to the API.
func (d *business) api(p *product, method, path, body string) vegeta.Target {
	return vegeta.Target{Method: method, URL: p.base + "/api/v1" + path, Body: []byte(body), Header: http.Header{
		"Authorization": {"Bearer " + d.Tokens["all"]}, "Content-Type": {"application/json"},
	}}
}
