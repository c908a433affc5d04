package demo

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

func TestGuestsSpendWhatTheyEarn(t *testing.T) {
	t.Parallel()
	for name, until := range instants(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tell(until, stockholm(t))
			asked, used := map[int]int{}, map[int]int{}
			var fulfilled, atOnce, voided, pending int
			for _, g := range s.guests {
				has := map[ledger.Unit]int64{}
				for _, x := range g.sales {
					if !x.voided.IsZero() {
						if x.voucher != nil || x.redemption != nil {
							t.Errorf("%s was voided, and more came of it: %+v", x.receipt, x)
						}
						continue
					}
					has[types[x.kind].RuleType] += x.award()
					if v := x.voucher; v != nil {
						used[v.coupon]++
						if x.source != transaction.POS || !v.at.After(x.at) || !v.at.Before(until) {
							t.Errorf("%s: sold at %v by %s, voucher at %v", x.receipt, x.at, x.source, v.at)
						}
					}
					q := x.redemption
					if q == nil {
						continue
					}
					asked[q.reward]++
					if from, to := s.onOffer(q.reward); q.at.Before(from) || !q.at.Before(to) || !q.at.After(x.at) {
						t.Errorf("%s: %s at %v, on offer from %v to %v", x.receipt, *rewards[q.reward].Name, q.at, from, to)
					}
					unit, cost := price(q.reward)
					if has[unit] < cost {
						t.Errorf("%s: %d %s for a reward of %d", x.receipt, has[unit], unit, cost)
					}
					switch {
					case !q.voided.IsZero():
						voided++
						continue
					case q.fulfilled.IsZero():
						pending++
					default:
						fulfilled++
						if q.fulfilled.Sub(q.at) < 5*time.Minute {
							atOnce++
						}
					}
					has[unit] -= cost
				}
			}
			left := *s.coupons[seasonBun].MaxRedemptions - s.coupons[seasonBun].used
			for what, c := range map[string]struct{ n, least, most int }{
				"redemptions":            {s.Redemptions, 250, 480},
				"percent fulfilled":      {fulfilled * 100 / s.Redemptions, 88, 99},
				"percent within minutes": {atOnce * 100 / s.Redemptions, 85, 98},
				"voided":                 {voided, 1, 20},
				"pending":                {pending, 3, 30},
				"tenth coffees":          {asked[tenthCoffee], 30, 120},
				"cinnamon buns":          {asked[cinnamonBun], 140, 260},
				"lunches":                {asked[lunchOfTheDay], 15, 70},
				"mugs":                   {asked[mug], int(*rewards[mug].Stock), int(*rewards[mug].Stock)},
				"waffles":                {asked[waffle], 5, 45},
				"vouchers":               {s.Vouchers, 190, 320},
				"who were missed":        {used[missedYou], 2, 30},
				"birthdays":              {used[birthday], 10, 55},
				"buns of the season":     {used[seasonBun], 80, 150},
				"lunches for less":       {used[cheaperLunch], 40, 100},
				"stamps at once":         {used[threeStamps], 10, 55},
				"early birds":            {used[earlyBirds], 0, 0},
				"buns left":              {int(left), 1, 10},
			} {
				if c.n < c.least || c.n > c.most {
					t.Errorf("%d %s, want %d to %d", c.n, what, c.least, c.most)
				}
			}
			for i, x := range s.sends {
				if i > 0 && x.at.Before(s.sends[i-1].at) || !x.at.Before(until) || x.at.Before(s.coupons[x.coupon].made) {
					t.Errorf("send %q at %v", x.formKey(), x.at)
				}
				if (x.segment == coupon.Manual) != (len(x.to) > 0) {
					t.Errorf("send %q to %d by name", x.formKey(), len(x.to))
				}
			}
		})
	}
}

// stepsBefore counts what happens before a send.
func (s *story) stepsBefore(at time.Time) (n int) {
	for _, x := range s.sends {
		if x.at.Before(at) {
			n++
		}
	}
	for _, g := range s.guests {
		if g.joined.Before(at) {
			n++
		}
		for _, x := range g.sales {
			for _, happened := range []bool{true, !x.voided.IsZero(), x.voucher != nil, x.redemption != nil} {
				if happened && x.at.Before(at) {
					n++
				}
			}
		}
	}
	return n
}

// wantSpending compares what guests got, and what was sent to them, with what the
// database holds.
func wantSpending(t *testing.T, d *db.DB, s story) {
	t.Helper()
	var redemptions, vouchers []event
	for _, g := range s.guests {
		tell := func(reward int, points, stamps int64, at, fulfilled, voided time.Time) {
			for status, at := range map[string]time.Time{"made": at, "fulfilled": fulfilled, "voided": voided} {
				if !at.IsZero() {
					redemptions = append(redemptions, event{fmt.Sprint(g.phone, " ", *rewards[reward].Name, " ", points, " ", stamps, " ", status), at})
				}
			}
		}
		for _, x := range g.sales {
			if v := x.voucher; v != nil {
				plan := s.coupons[v.coupon]
				vouchers = append(vouchers, event{g.phone + " " + *plan.Name, v.at})
				if *plan.BenefitType == string(coupon.Reward) {
					tell(plan.reward, 0, 0, v.at, v.fulfilled, time.Time{})
				}
			}
			if q := x.redemption; q != nil {
				cost := map[ledger.Unit]int64{}
				unit, price := price(q.reward)
				cost[unit] = price
				tell(q.reward, cost[ledger.Points], cost[ledger.Stamps], q.at, q.fulfilled, q.voided)
			}
		}
	}
	wantEvents(t, d, redemptions, `
		select concat_ws(' ', phone, r.name, points_spent, stamps_spent, e.status) as what, e.at
		from loyalty.redemption x
		join loyalty.customer c on c.tenant_id = x.tenant_id and c.id = x.customer_id
		join loyalty.reward r on r.tenant_id = x.tenant_id and r.id = x.reward_id
		cross join lateral (values ('made', x.created_at), ('fulfilled', x.fulfilled_at), ('voided', x.voided_at)) e (status, at)
		where e.at is not null`)
	wantEvents(t, d, vouchers, `
		select concat_ws(' ', phone, k.name) as what, redeemed_at as at
		from loyalty.voucher v
		join loyalty.customer c on c.tenant_id = v.tenant_id and c.id = v.customer_id
		join loyalty.coupon k on k.tenant_id = v.tenant_id and k.id = v.coupon_id
		where redeemed_at is not null`)
	wantEvents(t, d, s.sendings(), `
		select concat_ws(' ', k.name, segment, sent, skipped_inactive, skipped_limit) as what, evaluated_at as at
		from loyalty.coupon_send s
		join loyalty.coupon k on k.tenant_id = s.tenant_id and k.id = s.coupon_id`)
	wantNothingOf(t, d, map[string]string{
		"balances below zero":    `select id::text from loyalty.ledger_entry where balance_after < 0`,
		"evaluated before sent":  `select id::text from loyalty.coupon_send where evaluated_at < created_at`,
		"redeemed before made":   `select id::text from loyalty.voucher where redeemed_at < created_at`,
		"redeemed after expiry":  `select id::text from loyalty.voucher where redeemed_at >= expires_at`,
		"vouchers without sends": `select id::text from loyalty.voucher where created_at <> (select evaluated_at from loyalty.coupon_send s where s.id = send_id)`,
		"redeemed outside opening hours": `
			select id::text from loyalty.redemption
			where (created_at at time zone 'Europe/Stockholm')::time not between '07:30' and '18:00'
				or (fulfilled_at at time zone 'Europe/Stockholm')::time not between '07:30' and '18:00'`,
		"redeemed in the future": `
			select id::text from loyalty.redemption
			where greatest(created_at, fulfilled_at, voided_at) > (select (new ->> 'until')::timestamptz from loyalty.platform_audit_entry where action = 'demo.begin')`,
		"counted otherwise": `
			select name from loyalty.coupon k
			where redemptions_count <> (select count(*) from loyalty.voucher v where v.coupon_id = k.id and status = 'redeemed')`,
		"rewards twice": `select name from loyalty.reward group by name having count(*) > 1`,
		"coupons twice": `select name from loyalty.coupon group by name having count(*) > 1`,
	})
	for what, sql := range map[string]string{
		"Waffle with jam and cream":  `select name from loyalty.reward where not active`,
		"Åro mug":                    `select name from loyalty.reward where stock = 0`,
		"Three stamps for your card": `select name from loyalty.coupon where not active`,
		"Two euros off lunch":        `select name from loyalty.coupon where expires_at < (select max(created_at) from loyalty.coupon)`,
		"Early birds":                `select name from loyalty.coupon where starts_at > (select max(created_at) from loyalty.transaction)`,
		*s.coupons[seasonBun].Name:   `select name from loyalty.coupon where max_redemptions - redemptions_count between 1 and 10`,
		"8 rewards, 6 coupons":       `select (select count(*) from loyalty.reward) || ' rewards, ' || (select count(*) from loyalty.coupon) || ' coupons'`,
	} {
		if got := strings.Join(texts(t, d, sql), ", "); got != what {
			t.Errorf("%s: %s, want %s", sql, got, what)
		}
	}
}

// sendings are what is to come of the sends, by the rules of the specification.
func (s *story) sendings() (all []event) {
	holding := map[[2]int]bool{}
	for _, x := range s.sends {
		var sent, inactive, limit int
		for i, g := range s.guests {
			if !g.joined.Before(x.at) || !s.matches(g, i, x) {
				continue
			}
			hand := [2]int{i, x.coupon}
			switch {
			case !g.left.IsZero():
				inactive++
			case holding[hand]:
				limit++
			default:
				sent++
				holding[hand] = true
			}
		}
		all = append(all, event{fmt.Sprintf("%s %s %d %d %d", *s.coupons[x.coupon].Name, x.segment, sent, inactive, limit), x.at.Add(untilEvaluated)})
	}
	return all
}

func (s *story) matches(g guest, i int, x send) bool {
	switch x.segment {
	case coupon.All:
		return g.left.IsZero()
	case coupon.LongStanding:
		year, month, day := x.at.Date()
		return g.joined.Before(time.Date(year, month, day-90, 0, 0, 0, 0, x.at.Location()))
	case coupon.RecentPurchase:
		for _, sale := range g.sales {
			if sale.voided.IsZero() && sale.at.Before(x.at) && sale.at.After(x.at.Add(-30*24*time.Hour)) {
				return true
			}
		}
	case coupon.Manual:
		for _, to := range x.to {
			if to == i {
				return true
			}
		}
	}
	return false
}
