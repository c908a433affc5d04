package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"example.com/loyalty/core"
)

// measureSend measures a send to all customers of the large business: its preview; its vouchers,
// compared with pgbench with the same statement and with a bare insert; and its effect on another
// business's sales.
func (b *bench) measureSend(ctx context.Context) error {
	d, err := b.createLargeBusiness(ctx)
	if err != nil {
		return err
	}
	owner, err := b.signInOwner(ctx, d)
	if err != nil {
		return err
	}
	coupon := 2 // the first already has vouchers
	couponPath := func() string { return "/admin/coupons/" + numbered(couponIDs, coupon).String() + "/send" }
	list := []scenario{{
		name: "segment sizes", workers: 1, times: 3, request: func() vegeta.Target { return owner.get(couponPath()+"/audiences", true) },
	}}
	for _, segment := range []string{"all", "long_standing", "recent_purchase"} {
		list = append(list, scenario{name: "preview, " + segment, workers: 1, times: 3, request: func() vegeta.Target {
			preview := owner.form(couponPath()+"/preview", url.Values{"segment": {segment}})
			preview.Header.Set("Hx-Request", "true")
			return preview
		}})
	}
	title := fmt.Sprintf("sending to %d customers", d.customers)
	if err := b.measureAll(ctx, title, list); err != nil {
		return err
	}

	send := scenario{name: "send", workers: 1, times: 2, script: "send", business: d, steps: func(ctx context.Context) error {
		coupon++
		return b.send(ctx, owner, couponPath())
	}}
	sent, err := b.measure(ctx, send)
	if err != nil {
		return err
	}
	insert, err := b.pgbench(ctx, send, "bare")
	if err != nil {
		return err
	}
	sent.others = append(sent.others, insert)
	if err := printTable(title, []result{sent}); err != nil {
		return err
	}

	sales := scenario{name: "sales of another business", rate: 100, request: b.record}
	alone, err := b.load(ctx, sales)
	if err != nil {
		return err
	}
	sales.name, send.times = "sales during a send", 1
	beside, err := b.together(ctx, []scenario{send}, []scenario{sales})
	if err != nil {
		return err
	}
	return printTable("sales beside a send", append([]result{alone}, beside...))
}

// send sends a coupon to all customers, waits for their vouchers, and stops the e-mails, which
// would affect the next measurement.
func (b *bench) send(ctx context.Context, owner browser, couponPath string) error {
	sent, err := b.product.ask(ctx, owner.form(couponPath, url.Values{
		"segment": {"all"}, "when": {"now"}, "subject": {"Thank you"}, "form_key": {core.NewID(time.Now()).String()},
	}), http.StatusSeeOther)
	if err != nil {
		return err
	}
	sendPath := sent.Header.Get("Location")
	id, err := core.ParseID(path.Base(sendPath))
	if err != nil {
		return err
	}
	if err := b.await(ctx, "select evaluated_at is not null from loyalty.coupon_send where id = $1", id); err != nil {
		return err
	}
	_, err = b.product.ask(ctx, owner.form(sendPath+"/stop", nil), http.StatusSeeOther)
	return err
}
