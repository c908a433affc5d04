package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// measureAPI measures requests of the API, compared with pgbench.
func (b *bench) measureAPI(ctx context.Context) {
	const farPage, pageSize, steadyRate = 5_000, 15, 500
	d := b.business
	far := b.cursor(ctx, d, newestFirst, min((farPage-1)*pageSize, d.customers/2))
	var upserts, redeemed atomic.Int64
	var rows [][]scenario
	add := func(name, script string, rate int, request func() *fasthttp.Request) {
		s := scenario{name: name, rate: rate, request: request}
		rows = append(rows, []scenario{s, s.with(script)})
	}
	post := func(path, body string, args ...any) *fasthttp.Request {
		return b.api(d, "POST", path, fmt.Sprintf(body, args...))
	}
	get := func(path string) *fasthttp.Request { return b.api(d, "GET", path, "") }
	sale := func() *fasthttp.Request { return b.record(d) }
	add("steady", "record", steadyRate, sale) // first, because the others leave more background work
	add("record", "record", 0, sale)
	add("read", "read", 0, func() *fasthttp.Request { return b.read(d) })
	add("upsert", "upsert", 0, func() *fasthttp.Request {
		// Alternates between a known phone number and a new one.
		phone := fmt.Sprintf("+467%08d", (1+rand.IntN(d.customers))*6364137%100_000_000)
		if n := upserts.Add(1); n%2 == 0 {
			phone = fmt.Sprintf("+479%07d", n)
		}
		return post("/customers", `{"first_name":"Bo","last_name":"Ek","phone":%q}`, phone)
	})
	add("redeem", "redeem", 0, func() *fasthttp.Request {
		return post("/redemptions", `{"customer_ulid":%q,"reward_ulid":%q}`, d.anyBuyer(), numbered(rewardIDs, 1))
	})
	add("voucher", "voucher", 0, func() *fasthttp.Request { // all of one coupon: each updates its row
		return post("/coupons/"+numbered(voucherIDs, int(redeemed.Add(1))).String()+"/redeem", "")
	})
	add("page 1", "page-1", 0, func() *fasthttp.Request { return get("/customers") })
	add("page 5000", "page-far", 0, func() *fasthttp.Request { return get("/customers?cursor=" + far.String()) })
	b.measure(ctx, fmt.Sprintf("API, %d connections", b.connections), rows...)
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

// measureMonth measures the summary of a past month of the large business.
func (b *bench) measureMonth(ctx context.Context) {
	d, now := b.createLargeBusiness(ctx), time.Now()
	summary := scenario{name: "summary", business: d, workers: 1, request: func() *fasthttp.Request {
		from := time.Date(now.Year(), now.Month()-time.Month(1+rand.IntN(23)), 1, 0, 0, 0, 0, time.UTC)
		return b.api(d, "GET", "/reports/summary?from="+from.Format(time.DateOnly)+"&to="+from.AddDate(0, 1, -1).Format(time.DateOnly), "")
	}}
	b.measure(ctx, fmt.Sprintf("a month among %d sales", b.sales), []scenario{summary, summary.with("month")})
}
