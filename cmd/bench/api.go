package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// scenarios are the kinds of requests that clients of the API make.
func (b *bench) scenarios(ctx context.Context) ([]scenario, error) {
	d, p := b.measured, b.product
	const farPage, pageSize = 5_000, 15
	far, err := b.cursor(ctx, d, newestFirst, min((farPage-1)*pageSize, d.customers/2)-1)
	if err != nil {
		return nil, err
	}
	var known, vouchers atomic.Int64
	get := func(path string) func() vegeta.Target {
		return func() vegeta.Target { return d.api(p, "GET", path, "") }
	}
	list := []scenario{
		// First: the others leave the database with more to write.
		{name: "steady", beside: []string{"record"}, rate: b.steady, request: b.record},
		{name: "record", beside: []string{"record"}, request: b.record},
		{name: "read", beside: []string{"read"}, request: b.read},
		{name: "upsert", beside: []string{"upsert"}, request: func() vegeta.Target {
			// A known customer's phone number every other time, else a new one.
			phone := fmt.Sprintf("+467%08d", (1+rand.IntN(d.customers))*6364137%100_000_000)
			if n := known.Add(1); n%2 == 0 {
				phone = fmt.Sprintf("+479%07d", n)
			}
			return d.api(p, "POST", "/customers", fmt.Sprintf(`{"first_name":"Bo","last_name":"Ek","phone":%q}`, phone))
		}},
		{name: "redeem", beside: []string{"redeem"}, request: func() vegeta.Target {
			return d.api(p, "POST", "/redemptions", fmt.Sprintf(`{"customer_ulid":%q,"reward_ulid":%q}`, d.customer(), rewardID))
		}},
		// All of one coupon: each counts up its row.
		{name: "voucher", beside: []string{"voucher"}, request: func() vegeta.Target {
			return d.api(p, "POST", "/coupons/"+numbered(0x90, int(vouchers.Add(1))).String()+"/redeem", "")
		}},
		{name: "page 1", beside: []string{"page-1"}, request: get("/customers")},
		{name: "page 5000", beside: []string{"page-far"}, request: get("/customers?cursor=" + far.String())},
	}
	for i := range list {
		list[i].data = d
	}
	return list, nil
}

// rewardID is the reward of every data set.
var rewardID = numbered(0xb0, 1)

// record is a request that records a sale.
func (b *bench) record() vegeta.Target {
	d := b.measured
	return d.api(b.product, "POST", "/transactions", fmt.Sprintf(`{"customer_ulid":%q,"transaction_type_id":%d,"spend_amount_cents":%d}`,
		d.customer(), d.TransactionTypeID, 200+rand.IntN(3000)))
}

// read is a request that reads a customer.
func (b *bench) read() vegeta.Target {
	return b.measured.api(b.product, "GET", "/customers/"+b.measured.customer().String(), "")
}

// measureAPI prints what the API's requests take, of as many connections as the options say.
func (b *bench) measureAPI(ctx context.Context) error {
	list, err := b.scenarios(ctx)
	if err != nil {
		return err
	}
	var wanted []scenario
	for _, s := range list {
		if b.only == "" || b.only == "api" || b.only == s.name {
			wanted = append(wanted, s)
		}
	}
	if len(wanted) == 0 {
		return fmt.Errorf("nothing is named %q", b.only)
	}
	return b.measureAll(ctx, fmt.Sprintf("API, %d connections", b.connections), wanted)
}

// measureMonth prints what the summary of a month takes that the large business has among
// its sales of two years, one at a time.
func (b *bench) measureMonth(ctx context.Context) error {
	d, err := b.largeBusiness(ctx)
	if err != nil {
		return err
	}
	const pastMonths = 23 // whole ones, before the present
	now := time.Now()
	return b.measureAll(ctx, fmt.Sprintf("a month among %d sales", b.sales), []scenario{{
		name: "summary", data: d, workers: 1, beside: []string{"month"}, request: func() vegeta.Target {
			from := time.Date(now.Year(), now.Month()-time.Month(1+rand.IntN(pastMonths)), 1, 0, 0, 0, 0, time.UTC)
			return d.api(b.product, "GET", "/reports/summary?from="+from.Format(time.DateOnly)+"&to="+from.AddDate(0, 1, -1).Format(time.DateOnly), "")
		},
	}})
}
