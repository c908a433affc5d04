package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"example.com/loyalty/core"
)

// sender sends coupons to all customers of a business, each time another one.
type sender struct {
	*bench
	owner browser
	sent  atomic.Int64 // coupons so far
}

// couponPath is the path of one of the data set's coupons.
func couponPath(n int64) string { return "/admin/coupons/" + numbered(0xa0, int(n)).String() }

// measureSend prints what a send to all customers of the large business takes: its preview, its
// vouchers beside pgbench with the same statement, and beside an insert without keys and
// policies; and what it does to another business's sales.
func (b *bench) measureSend(ctx context.Context) error {
	d, err := b.largeBusiness(ctx)
	if err != nil {
		return err
	}
	s := &sender{bench: b}
	if s.owner, err = b.signInOwner(ctx, d); err != nil {
		return err
	}
	s.sent.Store(1) // the first coupon has vouchers
	counted := scenario{name: "segment sizes", workers: 1, times: 3, request: func() vegeta.Target { return s.owner.get(couponPath(2)+"/send/audiences", true) }}
	list := []scenario{counted}
	for _, segment := range []string{"all", "long_standing", "recent_purchase"} {
		preview := s.owner.form(couponPath(2)+"/send/preview", url.Values{"segment": {segment}})
		preview.Header.Set("Hx-Request", "true")
		list = append(list, scenario{name: "preview, " + segment, workers: 1, times: 3, request: func() vegeta.Target { return preview }})
	}
	send := scenario{name: "send", workers: 1, times: 2, steps: s.send, data: d, beside: []string{"send", "bare"}}
	if err := b.measureAll(ctx, fmt.Sprintf("%d customers", d.customers), append(list, send)); err != nil {
		return err
	}

	sales := scenario{name: "sales of another business, alone", rate: 100, request: b.record}
	alone, err := b.measure(ctx, sales)
	if err != nil {
		return err
	}
	sales.name, send.name, send.times = "sales during the send", "send during sales", 1
	beside, err := b.together(ctx, []scenario{send}, []scenario{sales})
	if err != nil {
		return err
	}
	return printTable("sales beside a send", append([]result{alone}, beside...))
}

// send sends a coupon, and waits until its vouchers are there. Their e-mails are stopped: they
// would be at work during the next measurement.
func (s *sender) send(ctx context.Context) error {
	answer, err := s.product.ask(ctx, s.product.connections, s.owner.form(couponPath(s.sent.Add(1))+"/send", url.Values{
		"segment": {"all"}, "when": {"now"}, "subject": {"Thank you"}, "form_key": {core.NewID(time.Now()).String()},
	}))
	if err != nil {
		return err
	}
	to := answer.Header.Get("Location")
	id, err := core.ParseID(path.Base(to))
	if answer.StatusCode != http.StatusSeeOther || err != nil {
		return fmt.Errorf("sending: status %d, %w", answer.StatusCode, err)
	}
	err = s.await(ctx, "select evaluated_at is not null from loyalty.coupon_send where id = $1", id)
	if err != nil {
		return err
	}
	_, err = s.product.ask(ctx, s.product.connections, s.owner.form(to+"/stop", nil))
	return err
}

// await asks the database until it answers yes.
func (b *bench) await(ctx context.Context, sql string, args ...any) error {
	for done := false; !done; {
		time.Sleep(20 * time.Millisecond)
		if err := b.admin.QueryRow(ctx, sql, args...).Scan(&done); err != nil {
			return err
		}
	}
	return nil
}

// signInOwner signs the owner of a business in.
func (b *bench) signInOwner(ctx context.Context, d *business) (browser, error) {
	owner := d.Staff[core.Owner]
	return b.product.signIn(ctx, d.Slug, owner.Email, owner.Password)
}
