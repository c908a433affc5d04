package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"example.com/loyalty/core"
	"example.com/loyalty/core/sandbox"
)

// business is a tenant with a data set (data.sql), and what its API's clients know.
type business struct {
	sandbox.Tenant
	customers int
	step      int // every step-th customer has bought something, and is active
}

// newBusiness makes a business in the way that integrators make theirs, and fills it.
func (b *bench) newBusiness(ctx context.Context, customers, sales int) (*business, error) {
	progress("making %d customers and %d sales", customers, sales)
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

// largeBusiness is made when the first part needs it.
func (b *bench) largeBusiness(ctx context.Context) (_ *business, err error) {
	if b.busiest == nil {
		b.busiest, err = b.newBusiness(ctx, b.large, b.sales)
	}
	return b.busiest, err
}

// cursor is where a list of customers goes on after so many of them, in an order.
func (b *bench) cursor(ctx context.Context, of *business, order string, offset int) (at core.Cursor, err error) {
	err = b.admin.QueryRow(ctx, `
		select created_at, id
		from loyalty.customer
		where tenant_id = $1
		order by `+order+`
		offset $2
		limit 1`, of.ID, offset).Scan(&at.At, &at.ID)
	return at, err
}

const newestFirst = "created_at desc, id desc"

// customer is the id of a random customer who has bought something.
func (d *business) customer() core.ID {
	return numbered(0x80, 1+rand.IntN(d.customers/d.step)*d.step)
}

// numbered is an id as data.sql makes it from a number: of a customer, a voucher, a coupon.
func numbered(kind byte, n int) core.ID {
	id := core.ID{6: 0x40, 8: kind}
	for i := range 6 {
		id[15-i] = byte(n >> (8 * i))
	}
	return id
}

// api is a request of the API.
func (d *business) api(p *product, method, path, body string) vegeta.Target {
	return vegeta.Target{Method: method, URL: p.base + "/api/v1" + path, Body: []byte(body), Header: http.Header{
		"Authorization": {"Bearer " + d.Tokens["all"]}, "Content-Type": {"application/json"},
	}}
}
