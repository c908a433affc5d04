package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
)

// crowd is a business with many customers, who came over three years.
type crowd struct {
	tenant core.Tenant
	owner  int64
}

const (
	buyers       = 100_000 // the newest have one to five sales each
	regularSales = 5_000   // of the oldest
)

// Names are put together as many of them are: thousands, the first parts more common.
var (
	firstNames = combined(
		"Ann Mar Kar El Em Jo Lin Al Mal San Sof Ast Is Ev Nor Ros Til Vil Wil Ul Yl Ag Bir Dag Eb Fel Fri Gun Han Ing Jen Ker Lov Max Nat Ot Per Ron Sim Tor Åsl Öst",
		"a an ia in ina ika e en et elie ette ea is ida ander as us on ar or ine ild run bjørn é")
	lastNames = combined(
		"Lind Berg Sand Ek Norr Söder Väster Öster Sjö Ström Holm Hag Lund Dal Gran Björk Alm Asp Hell Hed Ny Ros Stål Silver Gyllen Fors Ål Åker Äng Kvarn Sten Land Mo Bok Löf Palm Vik Wall Wester Zetter",
		"qvist ström berg gren holm man mark lund dahl stedt borg vall blad fors feldt sten ell in én bäck bom ros hag")
)

func combined(begin, end string) (names []string) {
	for _, b := range strings.Fields(begin) {
		for _, e := range strings.Fields(end) {
			names = append(names, b+e)
		}
	}
	return names
}

// gather makes the business. Its customers and their sales come at once, past every
// check; what the ledger holds is what they earned.
func (s *shop) gather(ctx context.Context, conn *pgx.Conn, slug string, customers int) (c crowd, err error) {
	by := core.System(core.Tenant{}, "bench")
	c.tenant, err = db.Platform(ctx, s.db, by, func(tx *db.Tx) (core.Tenant, error) {
		return tenant.Add(ctx, tx, by, tenant.New{
			Name: new("The crowd"), Slug: &slug, Email: new("owner@crowd.example"), PlanID: new(int64(1)),
			BillingCycle: new("monthly"), PaymentMethod: new("manual"), TimeZone: new("Europe/Stockholm"), Country: new("SE"),
		})
	})
	if err != nil {
		return c, err
	}
	by.Tenant = c.tenant
	owner, err := db.InTenant(ctx, s.db, by, func(tx *db.Tx) (staff.Person, error) {
		return staff.Add(ctx, tx, by, staff.New{Role: core.Owner, Name: "Maja Sund", Email: "owner@crowd.example"})
	})
	if err != nil {
		return c, err
	}
	c.owner = owner.ID
	kind, err := s.transactions.AddType(ctx, by, transaction.NewType{
		Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: 100},
	})
	if err != nil {
		return c, err
	}
	for _, statement := range []struct {
		sql  string
		args []any
	}{
		{sql: "set session_replication_role = replica"},
		{
			`insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, email, email_key, status, created_at, updated_at)
			select $1, loyalty.new_ulid(at), first_name, last_name,
				case when n % 3 = 0 then '+46' || number
					else '0' || substr(number, 1, 2) || '-' || substr(number, 3, 3) || ' ' || substr(number, 6, 2) || ' ' || substr(number, 8) end,
				'+46' || number, email, email,
				case when n % 50 = 0 then 'inactive' else 'active' end, at, at
			from generate_series(1, $2::bigint) n
			cross join lateral (
				select date_trunc('milliseconds', now() - ($2 - n) * (interval '3 years' / $2)) as at,
					($3::text[])[1 + floor(cardinality($3) * ((hashint8extended(n, 1) & 1048575) / 1048576.0) ^ 2)::int] as first_name,
					($4::text[])[1 + floor(cardinality($4) * ((hashint8extended(n, 2) & 1048575) / 1048576.0) ^ 2)::int] as last_name,
					'7' || lpad((n * 6364137 % 100000000)::text, 8, '0') as number
			) person
			cross join lateral (
				select case when n % 10 < 7 then translate(lower(first_name || '.' || last_name), 'åäöøé', 'aaooe') || n % 9973 || '.' || n / 9973
					|| (array['@example.com', '@example.org', '@example.net', '@example.com'])[1 + n % 4] end as email
			) address`,
			[]any{c.tenant.ID, customers, firstNames, lastNames},
		},
		{fmt.Sprintf(`create temporary table sale as
			select loyalty.new_ulid(at) as id, customer_id, at, 200 + (hashint8extended(extract(epoch from at)::bigint, number) & 4095) as spend
			from (
				select id as customer_id, created_at, 1 + row_number() over (order by created_at desc, id desc) %% 5 as sales
				from loyalty.customer
				where tenant_id = %d
				order by created_at desc, id desc
				limit %d
			) buyer
			cross join lateral generate_series(1, sales) number
			cross join lateral (
				select date_trunc('milliseconds', created_at + (now() - created_at) * number / (sales + 1)) as at
			) instant
			union all
			select loyalty.new_ulid(at), id, at, 200 + number %% 4000
			from (
				select id, created_at
				from loyalty.customer
				where tenant_id = %[1]d
				order by created_at, id
				limit 1
			) regular
			cross join generate_series(1, %[3]d) number
			cross join lateral (
				select date_trunc('milliseconds', created_at + (now() - created_at) * number / %[4]d) as at
			) instant`, c.tenant.ID, min(buyers, customers-1), regularSales, regularSales+1), nil},
		{
			`insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents, points_awarded,
				source, actor_kind, actor_id, actor_name, created_at)
			select $1, id, customer_id, $2, 'points', spend, spend / 100, 'pos', 'system', '', 'bench', at
			from sale
			order by id`,
			[]any{c.tenant.ID, kind.ID},
		},
		{
			`insert into loyalty.ledger_entry (tenant_id, id, customer_id, seq, unit, amount, balance_after, kind, cause,
				actor_kind, actor_id, actor_name, created_at)
			select $1, loyalty.new_ulid(at), customer_id, row_number() over earlier, 'points', spend / 100, sum(spend / 100) over earlier,
				'earn', id, 'system', '', 'bench', at
			from sale
			window earlier as (partition by customer_id order by at, id)`,
			[]any{c.tenant.ID},
		},
		{
			`insert into loyalty.account (tenant_id, customer_id, points, entries)
			select $1, c.id, coalesce(sum(s.spend / 100), 0), count(s.id)
			from loyalty.customer c
			left join sale s on s.customer_id = c.id
			where c.tenant_id = $1
			group by c.id`,
			[]any{c.tenant.ID},
		},
		{sql: "vacuum analyze"},
		{sql: "checkpoint"},
	} {
		if _, err := conn.Exec(ctx, statement.sql, statement.args...); err != nil {
			return c, err
		}
	}
	return c, nil
}

// pages are what the panel does with so many customers: lists from both ends and from the
// middle, what people search for, the customer who comes most.
func (c crowd) pages(ctx context.Context, conn *pgx.Conn) ([]page, error) {
	half := map[string]core.Cursor{}
	for sort, order := range map[string]string{
		"newest": "created_at desc, id desc",
		"name":   "last_name collate loyalty.name, first_name collate loyalty.name, id",
	} {
		var at core.Cursor
		err := conn.QueryRow(ctx, `
			select created_at, id
			from loyalty.customer
			where tenant_id = $1
			order by `+order+`
			offset (select count(*) * 3 / 7 from loyalty.customer where tenant_id = $1)
			limit 1`, c.tenant.ID).Scan(&at.At, &at.ID)
		if err != nil {
			return nil, err
		}
		half[sort] = at
	}
	var first, last, number string
	var regular core.ID
	err := conn.QueryRow(ctx, `
		select first_name, last_name, substr(phone_key, 4), (
				select customer_id
				from loyalty.account
				where tenant_id = $1
				order by entries desc
				limit 1
			)
		from loyalty.customer
		where tenant_id = $1
			and id = $2`, c.tenant.ID, half["newest"].ID).Scan(&first, &last, &number, &regular)
	if err != nil {
		return nil, err
	}
	day := half["newest"].At
	const customers = "/admin/customers"
	list := []page{
		{name: "dashboard", path: "/admin"},
		{name: "customers", path: customers},
		{name: "… from the middle", path: customers + "?cursor=" + half["newest"].String()},
		{name: "… by name", path: customers + "?sort=name"},
		{name: "… by name, from the middle", path: customers + "?sort=name&cursor=" + half["name"].String()},
		{name: "… inactive", path: customers + "?status=inactive"},
		{name: "… inactive, by name", path: customers + "?sort=name&status=inactive"},
		{name: "a customer", path: customers + "/" + half["newest"].ID.String()},
		{name: fmt.Sprintf("a customer of %d sales", regularSales), path: customers + "/" + regular.String()},
		{name: "… their sales", path: customers + "/" + regular.String() + "?view=transactions"},
		{name: "transactions", path: "/admin/transactions"},
		{name: "… of that customer", path: "/admin/transactions?customer_ulid=" + regular.String()},
		{name: "… of three days", path: "/admin/transactions?from=" + day.Format(time.DateOnly) + "&to=" + day.AddDate(0, 0, 2).Format(time.DateOnly)},
	}
	for i := range list {
		list[i].limit = pageLimit
	}
	for _, needle := range []struct{ what, typed string }{
		{"a whole name", first + " " + last},
		{"a last name", last},
		{"a part of many names", "an"},
		{"a letter", "a"},
		{"a rare letter", "é"},
		{"a phone number", "0" + number[:2] + "-" + number[2:5] + " " + number[5:7] + " " + number[7:]},
		{"how one begins", "0" + number[:2] + "-" + number[2:5]},
		{"… as it is dialled from abroad", "0046" + number[:5]},
		{"how one ends", number[5:7] + " " + number[7:]},
		{"how an address ends", "@example.net"},
		{"nothing that is there", "nobody at all"},
		{"two letters that nobody has", "xq"},
	} {
		list = append(list, page{
			name: "search: " + needle.what, path: customers + "?search=" + url.QueryEscape(needle.typed), fragment: true, limit: searchLimit,
		})
	}
	return append(list, page{
		name: "till, search: a part of many names", path: "/admin/transactions/new?search=an", fragment: true, limit: searchLimit,
	}), nil
}
