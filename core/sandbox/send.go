package sandbox

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/fixture"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/transaction"
)

// Send is a coupon that was not sent yet, and the members of each segment at present.
type Send struct {
	Coupon         core.ID                      `json:"coupon"`
	MaxPerCustomer int64                        `json:"max_per_customer"`
	Segments       map[coupon.Segment][]core.ID `json:"segments"`
	// Members of any segment whom a send skips or sends no e-mail.
	Inactive     []core.ID `json:"inactive"`
	WithoutEmail []core.ID `json:"without_email"`
	Unsubscribed []core.ID `json:"unsubscribed"`
}

// Pages has the pages of an active customer with 120 points, an e-mail address and two pending vouchers.
type Pages struct {
	Join        string  `json:"join"`
	Claim       string  `json:"claim"`
	Customer    core.ID `json:"customer"`
	Card        string  `json:"card"`
	Voucher     string  `json:"voucher"`
	Unsubscribe string  `json:"unsubscribe"`
}

// longAgo is long enough for the segment long_standing.
const longAgo = 120 * 24 * time.Hour

// member is a customer in some segments.
type member struct {
	since                         time.Duration // ago
	bought, voided                bool
	email, unsubscribed, inactive bool
}

var members = []member{
	{since: longAgo, bought: true, email: true},
	{since: longAgo, email: true},
	{since: longAgo},
	{since: longAgo, bought: true, email: true, unsubscribed: true},
	{since: longAgo, bought: true, email: true, inactive: true},
	{since: longAgo, bought: true, voided: true, email: true},
	{bought: true, email: true},
	{bought: true},
	{bought: true, email: true, unsubscribed: true},
	{bought: true, email: true, inactive: true},
	{bought: true, voided: true, email: true},
	{email: true},
}

// addSegments adds members of every kind and the coupon that can be sent to them.
func (b *business) addSegments(ctx context.Context) {
	for i, m := range members {
		b.addMember(ctx, i+1, m)
	}
	now := b.DB.Now()
	b.Send = Send{
		Coupon: b.addCoupon(ctx, coupon.New{Name: "Not sent yet", MaxPerCustomer: new(int64(1))}), MaxPerCustomer: 1,
		Segments: map[coupon.Segment][]core.ID{
			coupon.All:            b.findCustomers(ctx, activeSQL, nil),
			coupon.LongStanding:   b.findCustomers(ctx, longStandingSQL, db.Args{"now": now, "zone": b.owner.Tenant.TimeZone.String()}),
			coupon.RecentPurchase: b.findCustomers(ctx, recentPurchaseSQL, db.Args{"now": now}),
		},
		Inactive:     b.findCustomers(ctx, inactiveSQL, nil),
		WithoutEmail: b.findCustomers(ctx, withoutEmailSQL, nil),
		Unsubscribed: b.findCustomers(ctx, unsubscribedSQL, nil),
	}
}

func (b *business) findCustomers(ctx context.Context, sql string, args db.Args) []core.ID {
	ids := []core.ID{}
	for _, found := range fixture.Must(db.All[struct{ ID core.ID }](ctx, b.DB.Tenant(b.owner), sql, args)) {
		ids = append(ids, found.ID)
	}
	return ids
}

func (b *business) addMember(ctx context.Context, n int, m member) {
	var email *string
	if m.email {
		email = new(fmt.Sprintf("member-%d@%s.example", n, b.Slug))
	}
	now := b.Maker
	b.Maker = b.ago(m.since)
	id := b.addCustomer(ctx, "Member", strconv.Itoa(n), fmt.Sprintf("+46 8 465 1%05d", n), email).ID
	b.Maker = now
	if m.bought {
		sale := b.addSale(ctx, id, 1000, transaction.POS)
		if m.voided {
			fixture.Must(core.Result(b.Transactions.Void(ctx, b.owner, sale.ID, nil, nil)))
		}
	}
	if m.unsubscribed {
		fixture.Must(b.Customers.Unsubscribe(ctx, b.owner, id))
	}
	if m.inactive {
		fixture.Must(b.Customers.Edit(ctx, b.owner, id, customer.Edit{Status: core.Set(string(customer.Inactive))}))
	}
}

// addPages adds the customer of the pages.
func (b *business) addPages(ctx context.Context) {
	paula := b.addCustomer(ctx, "Paula", "Pages", "+46 8 465 20 001", new("paula@"+b.Slug+".example"))
	b.addSale(ctx, paula.ID, 12_000, transaction.POS)
	var voucher core.ID
	for _, name := range []string{"Welcome", "Happy birthday"} {
		voucher = b.sendTo(ctx, b.addCoupon(ctx, coupon.New{Name: name}), []string{paula.ID.String()})[0].ULID
	}
	links, host := link.New(b.Keys), b.TenantURL(b.Slug)
	b.Pages = Pages{
		Join: host + "/join", Claim: host + "/w", Customer: paula.ID,
		Card:        host + "/card/" + fixture.Must(links.Token(link.Card, b.ID, paula.ID, paula.LinkVersion)),
		Voucher:     host + "/v/" + fixture.Must(links.Token(link.Voucher, b.ID, voucher, paula.LinkVersion)),
		Unsubscribe: host + "/unsubscribe/" + fixture.Must(links.Token(link.Unsubscribe, b.ID, paula.ID, 0)),
	}
}

// The segments by the words of the specification, independent of the product's statements.
const (
	selectCustomers = `
	select c.id
	from loyalty.customer c
	where c.tenant_id = @tenant_id
		and `

	activeSQL = selectCustomers + `c.status = 'active'
	order by c.id`

	longStandingSQL = selectCustomers + `(c.created_at at time zone @zone)::date < (@now::timestamptz at time zone @zone)::date - 90
	order by c.id`

	recentPurchaseSQL = selectCustomers + `exists (
			select
			from loyalty.transaction t
			where t.tenant_id = @tenant_id
				and t.customer_id = c.id
				and t.status = 'completed'
				and t.created_at >= @now::timestamptz - interval '720 hours'
		)
	order by c.id`

	inactiveSQL = selectCustomers + `c.status = 'inactive'
	order by c.id`

	withoutEmailSQL = selectCustomers + `c.email is null
	order by c.id`

	unsubscribedSQL = selectCustomers + `c.unsubscribed_at is not null
	order by c.id`
)
