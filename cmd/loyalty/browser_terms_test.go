package main

import (
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/reward"
)

// What rewards and coupons ask for: their forms and pages in the panel, and what the till and a customer's pages say about those that the
// customer can't have.
func testTerms(t *testing.T, c cafe) {
	w := c.walkins(t, "Café Villkor", "#165c47")
	anna := w.customer(t, "Anna", "+46 8 465 004 62")
	w.complete(t, nil, anna.ID, 62_050)
	c.hiredAt(t, w.by.Tenant.ID, core.Owner, "Vera Villkor", "vera@terms.example")
	d := connect(t, c.in.url())
	gold := ask[int64](d, `
		with programme as (
			insert into loyalty.level_programme (tenant_id, basis, period, starts_on, counting, begun_at, updated_at)
			values ($1, 'points', 'ever', '2020-01-01', false, now(), now())
		), level as (
			insert into loyalty.level (tenant_id, name, rank, threshold, colour)
			values ($1, 'Member', 0, 0, ''), ($1, 'Silver', 1, 5000, '#8a8f98'), ($1, 'Gold', 2, 9000, '#c0a020')
			returning id, name
		)
		select id from level where name = 'Gold'`, w.by.Tenant.ID)
	today := core.DateOf(time.Now(), w.by.Tenant.TimeZone)
	add := func(name string, terms reward.Terms) core.ID {
		r, err := core.Result(w.Rewards.Add(t.Context(), w.by, reward.New{Name: name, PointsCost: new(int64(60)), Terms: terms}, nil))
		if err != nil {
			t.Fatal(err)
		}
		return r.ID
	}
	tasting := add("Coffee tasting for two", reward.Terms{MinLevelID: &gold, MaxPerCustomer: new(int64(2)), StartsOn: &today})
	refill := add("Refill", reward.Terms{MaxPerCustomer: new(int64(1))})
	add("Iced coffee", reward.Terms{StartsOn: new(today.AddDate(0, 6, 0)), EndsOn: new(today.AddDate(0, 9, 0))})
	if _, err := core.Result(w.Rewards.Redeem(t.Context(), w.by, reward.RedeemRequest{CustomerID: anna.ID, RewardID: refill}, nil, nil)); err != nil {
		t.Fatal(err)
	}
	made, err := core.Result(w.Coupons.Add(t.Context(), w.by, coupon.New{
		Name: "Gold days", Description: "For an order of your choice.", BenefitType: "amount", BenefitValue: new(int64(500)), VoucherValidDays: new(int64(30)), MinLevelID: &gold,
	}, nil))
	if err != nil {
		t.Fatal(err)
	}

	p := w.browser.NewPage(t, w.home())
	c.fillSignIn(t, p, "vera@terms.example")
	look(t, p, "terms-new", func() { p.Open("/admin/rewards/new") })
	look(t, p, "terms-reward", func() { p.Open("/admin/rewards/" + tasting.String()) })
	look(t, p, "terms-rewards", func() { p.Open("/admin/rewards") })
	look(t, p, "terms-choose", func() { p.Open("/admin/redemptions/new?customer_ulid=" + anna.ID.String()) })
	look(t, p, "terms-coupon-new", func() { p.Open("/admin/coupons/new") })
	look(t, p, "terms-send", func() {
		p.Open("/admin/coupons/" + made.ID.String() + "/send")
		p.WaitFor(".send-warning")
	})
	sent, err := w.Coupons.Send(t.Context(), w.by, made.ID, coupon.Send{Segment: coupon.Manual, Customers: []string{anna.ID.String()}, FormKey: core.NewID(time.Now()).String()})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the voucher is created", func() bool {
		return ask[int64](d, "select count(*) from loyalty.voucher where tenant_id = $1 and send_id = $2", w.by.Tenant.ID, sent.ID) == 1
	})
	id := ask[core.ID](d, "select id from loyalty.voucher where tenant_id = $1 and send_id = $2", w.by.Tenant.ID, sent.ID)
	voucher, err := w.Coupons.FindVoucher(t.Context(), w.by, id)
	if err != nil {
		t.Fatal(err)
	}
	token, err := w.Coupons.VoucherToken(w.by.Tenant.ID, voucher)
	if err != nil {
		t.Fatal(err)
	}
	look(t, p, "terms-voucher", func() { p.Open("/admin/vouchers/" + id.String()) })
	look(t, p, "terms-coupon", func() { p.Open("/admin/coupons/" + made.ID.String()) })
	look(t, p, "terms-till", func() { p.Open("/till/customers/" + anna.ID.String()) })
	look(t, p, "terms-card", func() { p.Open(w.card(t, anna)) })
	look(t, p, "terms-voucher-page", func() { p.Open(w.home() + "/v/" + token) })
	if _, err := dbtest.Owner(w.db).Exec(t.Context(), "update loyalty.level set retired_at = now() where id = $1", gold); err != nil {
		t.Fatal(err)
	}
	look(t, p, "terms-retired", func() { p.Open("/admin/rewards/" + tasting.String()) })
}
