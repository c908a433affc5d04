package main

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"time"

	"github.com/valyala/fasthttp"

	"example.com/loyalty/core"
)

// measureSend measures a send to all customers of the large business: its preview; its vouchers,
// compared with pgbench with the same statement and with a bare insert; and its effect on another
// business's sales.
func (b *bench) measureSend(ctx context.Context) {
	d := b.createLargeBusiness(ctx)
	owner := b.signInAs(ctx, d, core.Owner)
	coupon := 2 // the first already has vouchers
	couponPath := func() string { return "/admin/coupons/" + numbered(couponIDs, coupon).String() + "/send" }
	preview := func(name string, request func() *fasthttp.Request) []scenario {
		return []scenario{{name: "preview, " + name, workers: 1, times: 3, request: func() *fasthttp.Request { return fragment(request()) }}}
	}
	segment := func(name string) []scenario {
		return preview(name, func() *fasthttp.Request { return owner.form(couponPath()+"/preview", url.Values{"segment": {name}}) })
	}
	send := scenario{name: "send", workers: 1, times: 2, business: d, steps: func(ctx context.Context) (*fasthttp.Request, error) {
		coupon++
		return b.send(ctx, owner, couponPath())
	}}
	b.measure(ctx, fmt.Sprintf("sending to %d customers", d.customers),
		preview("segment sizes", func() *fasthttp.Request { return owner.get(couponPath() + "/audiences") }),
		segment("all"), segment("long_standing"), segment("recent_purchase"),
		[]scenario{send, send.with("send"), send.with("bare")})

	sales := scenario{name: "sales of another business", rate: 100, request: func() *fasthttp.Request { return b.record(b.business) }}
	alone := b.once(ctx, sales)
	sales.name, send.times = "sales during a send", 1
	printTable("sales beside a send", append([]result{alone}, b.together(ctx, send, sales)...))
}

// send sends a coupon to all customers, waits for their vouchers, and returns the request that stops
// the e-mails, which would affect the next measurement.
func (b *bench) send(ctx context.Context, owner browser, couponPath string) (t *fasthttp.Request, err error) {
	sent, err := owner.ask(ctx, owner.form(couponPath, url.Values{
		"segment": {"all"}, "when": {"now"}, "subject": {"Thank you"}, "form_key": {core.NewID(time.Now()).String()},
	}), fasthttp.StatusSeeOther)
	if err != nil {
		return t, err
	}
	sendPath := string(sent.Header.Peek("Location"))
	id, err := core.ParseID(path.Base(sendPath))
	if err != nil {
		return t, err
	}
	err = b.await(ctx, "select evaluated_at is not null from loyalty.coupon_send where id = $1", id)
	return owner.form(sendPath+"/stop", nil), err
}
