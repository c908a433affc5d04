package sandbox

import (
	"fmt"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/sample"
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
func (b *business) addSegments() {
	for i, m := range members {
		b.addMember(i+1, m)
	}
	now := b.DB.Now()
	b.Send = Send{
		Coupon: b.addCoupon(coupon.New{Name: "Not sent yet", MaxPerCustomer: new(int64(1))}), MaxPerCustomer: 1,
		Segments: map[coupon.Segment][]core.ID{
			coupon.All:            b.findCustomers(activeSQL, nil),
			coupon.LongStanding:   b.findCustomers(longStandingSQL, db.Args{"now": now, "zone": b.shop.By.Tenant.TimeZone.String()}),
			coupon.RecentPurchase: b.findCustomers(recentPurchaseSQL, db.Args{"now": now}),
		},
		Inactive:     b.findCustomers(inactiveSQL, nil),
		WithoutEmail: b.findCustomers(withoutEmailSQL, nil),
		Unsubscribed: b.findCustomers(unsubscribedSQL, nil),
	}
}

func (b *business) findCustomers(sql string, args db.Args) []core.ID {
	ids := []core.ID{}
	for _, found := range sample.Must(db.All[struct{ ID core.ID }](b.shop.Context(), b.DB.Tenant(b.shop.By), sql, args)) {
		ids = append(ids, found.ID)
	}
	return ids
}

func (b *business) addMember(n int, m member) {
	var email string
	if m.email {
		email = fmt.Sprintf("member-%d@%s.example", n, b.Slug)
	}
	var id core.ID
	b.before(m.since, func() { id = b.addCustomer("Member", strconv.Itoa(n), fmt.Sprintf("+46 8 465 1%05d", n), email).ID })
	s := b.shop
	if m.bought {
		sale := s.Sale(id, b.purchase, 1000)
		if m.voided {
			s.Must(core.Result(s.Transactions.Void(s.Context(), s.By, sale.ID, nil, nil)))
		}
	}
	if m.unsubscribed {
		s.Must(s.Customers.Unsubscribe(s.Context(), s.By, id))
	}
	if m.inactive {
		s.Must(s.Customers.Edit(s.Context(), s.By, id, customer.Edit{Status: core.Set(string(customer.Inactive))}))
	}
}

// addPages adds the customer of the pages.
func (b *business) addPages() {
	paula := b.addCustomer("Paula", "Pages", "+46 8 465 20 001", "paula@"+b.Slug+".example")
	b.shop.Sale(paula.ID, b.purchase, 12_000)
	var voucher core.ID
	for _, name := range []string{"Welcome", "Happy birthday"} {
		voucher = b.sendTo(b.addCoupon(coupon.New{Name: name}), []string{paula.ID.String()})[0].ULID
	}
	links, host := b.Links, b.TenantURL(b.Slug)
	b.Pages = Pages{
		Join: host + "/join", Claim: host + "/w", Customer: paula.ID,
		Card:        host + "/card/" + sample.Must(links.Token(link.Card, b.ID, paula.ID, paula.LinkVersion)),
		Voucher:     host + "/v/" + sample.Must(links.Token(link.Voucher, b.ID, voucher, paula.LinkVersion)),
		Unsubscribe: host + "/unsubscribe/" + sample.Must(links.Token(link.Unsubscribe, b.ID, paula.ID, 0)),
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
