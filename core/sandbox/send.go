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
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/transaction"
)

// Send is a coupon that was not sent yet, and who is in each segment at the moment.
type Send struct {
	Coupon         core.ID                      `json:"coupon"`
	MaxPerCustomer int64                        `json:"max_per_customer"`
	Segments       map[coupon.Segment][]core.ID `json:"segments"`
	// Of the members of any segment: those whom a send skips, and those it mails nothing.
	Inactive     []core.ID `json:"inactive"`
	WithoutEmail []core.ID `json:"without_email"`
	Unsubscribed []core.ID `json:"unsubscribed"`
}

// Pages are those of one active customer with 120 points, an e-mail address and two
// pending vouchers.
type Pages struct {
	Join        string  `json:"join"`
	Claim       string  `json:"claim"`
	Customer    core.ID `json:"customer"`
	Card        string  `json:"card"`
	Voucher     string  `json:"voucher"`
	Unsubscribe string  `json:"unsubscribe"`
}

// longAgo is long enough to be of the segment long_standing.
const longAgo = 120 * 24 * time.Hour

// member is a customer of the segments.
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

// segments makes members of every kind and the coupon that can be sent to them.
func (m Maker) segments(ctx context.Context, t *Tenant, owner core.Actor) error {
	for i, one := range members {
		if err := m.member(ctx, t, owner, i+1, one); err != nil {
			return err
		}
	}
	name, kind, value := "Not sent yet", string(coupon.Points), int64(benefitPoints)
	made, err := m.Coupons.Add(ctx, owner, coupon.New{Name: &name, BenefitType: &kind, BenefitValue: &value})
	if err != nil {
		return err
	}
	t.Send.Coupon, t.Send.MaxPerCustomer, t.Send.Segments = made.ID, made.MaxPerCustomer, map[coupon.Segment][]core.ID{}
	now := m.DB.Now()
	for _, list := range []struct {
		into func([]core.ID)
		sql  string
		args db.Args
	}{
		{func(ids []core.ID) { t.Send.Segments[coupon.All] = ids }, activeSQL, nil},
		{func(ids []core.ID) { t.Send.Segments[coupon.LongStanding] = ids }, longStandingSQL, db.Args{"now": now, "zone": owner.Tenant.TimeZone.String()}},
		{func(ids []core.ID) { t.Send.Segments[coupon.RecentPurchase] = ids }, recentPurchaseSQL, db.Args{"now": now}},
		{func(ids []core.ID) { t.Send.Inactive = ids }, inactiveSQL, nil},
		{func(ids []core.ID) { t.Send.WithoutEmail = ids }, withoutEmailSQL, nil},
		{func(ids []core.ID) { t.Send.Unsubscribed = ids }, unsubscribedSQL, nil},
	} {
		found, err := db.ReadAll[struct{ ID core.ID }](ctx, m.DB, owner, list.sql, list.args)
		if err != nil {
			return err
		}
		ids := make([]core.ID, len(found))
		for i, f := range found {
			ids[i] = f.ID
		}
		list.into(ids)
	}
	return nil
}

func (m Maker) member(ctx context.Context, t *Tenant, owner core.Actor, n int, of member) error {
	first, last, phone := "Member", strconv.Itoa(n), fmt.Sprintf("+46 8 465 1%05d", n)
	who := customer.New{FirstName: &first, LastName: &last, Phone: &phone}
	if of.email {
		who.Email = new(fmt.Sprintf("member-%d@%s.example", n, t.Slug))
	}
	made, err := m.ago(of.since).Customers.Upsert(ctx, owner, who)
	if err != nil {
		return err
	}
	if of.bought {
		sale, err := m.sale(ctx, t, owner, made.ID, 1000)
		if err != nil {
			return err
		}
		if of.voided {
			if _, err := m.Transactions.Void(ctx, owner, sale.ID); err != nil {
				return err
			}
		}
	}
	if of.unsubscribed {
		if _, err := m.Customers.Unsubscribe(ctx, owner, made.ID); err != nil {
			return err
		}
	}
	if of.inactive {
		_, err = m.Customers.Edit(ctx, owner, made.ID, customer.Edit{Status: core.Set(string(customer.Inactive))})
	}
	return err
}

func (m Maker) sale(ctx context.Context, t *Tenant, owner core.Actor, who core.ID, cents int64) (transaction.Transaction, error) {
	return m.Transactions.Record(ctx, owner, transaction.New{
		CustomerID: new(who.String()), TransactionTypeID: &t.TransactionTypeID, SpendAmountCents: &cents, Source: transaction.POS,
	})
}

// pages makes the customer whose own pages the file names.
func (m Maker) pages(ctx context.Context, t *Tenant, owner core.Actor) error {
	first, last, phone, email := "Paula", "Pages", "+46 8 465 20 001", "paula@"+t.Slug+".example"
	who, err := m.Customers.Upsert(ctx, owner, customer.New{FirstName: &first, LastName: &last, Phone: &phone, Email: &email})
	if err != nil {
		return err
	}
	if _, err := m.sale(ctx, t, owner, who.ID, 12_000); err != nil {
		return err
	}
	var voucher core.ID
	for _, name := range []string{"Welcome", "Happy birthday"} {
		kind, value := string(coupon.Points), int64(benefitPoints)
		c, err := m.Coupons.Add(ctx, owner, coupon.New{Name: &name, BenefitType: &kind, BenefitValue: &value})
		if err != nil {
			return err
		}
		sent, err := m.sendTo(ctx, owner, c.ID, []string{who.ID.String()})
		if err != nil {
			return err
		}
		voucher = sent[0].ULID
	}
	links := link.New(m.Keys)
	open, err := links.Token(link.Voucher, t.ID, voucher, who.LinkVersion)
	if err != nil {
		return err
	}
	card, err := links.Token(link.Card, t.ID, who.ID, who.LinkVersion)
	if err != nil {
		return err
	}
	stop, err := links.Token(link.Unsubscribe, t.ID, who.ID, 0)
	host := m.TenantURL(t.Slug)
	t.Pages = Pages{
		Join: host + "/join", Claim: host + "/w",
		Customer: who.ID, Card: host + "/card/" + card, Voucher: host + "/v/" + open, Unsubscribe: host + "/unsubscribe/" + stop,
	}
	return err
}

// The segments, as the specification tells them, and not as the product counts them.
const (
	customersWho = `
	select c.id
	from loyalty.customer c
	where c.tenant_id = @tenant_id
		and `

	activeSQL = customersWho + `c.status = 'active'
	order by c.id`

	longStandingSQL = customersWho + `(c.created_at at time zone @zone)::date < (@now::timestamptz at time zone @zone)::date - 90
	order by c.id`

	recentPurchaseSQL = customersWho + `exists (
			select
			from loyalty.transaction t
			where t.tenant_id = @tenant_id
				and t.customer_id = c.id
				and t.status = 'completed'
				and t.created_at >= @now::timestamptz - interval '720 hours'
		)
	order by c.id`

	inactiveSQL = customersWho + `c.status = 'inactive'
	order by c.id`

	withoutEmailSQL = customersWho + `c.email is null
	order by c.id`

	unsubscribedSQL = customersWho + `c.unsubscribed_at is not null
	order by c.id`
)
