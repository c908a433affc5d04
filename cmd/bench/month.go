package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/transaction"
)

// A large business: this many sales, evenly over two years, to this many customers.
const (
	pastSales  = 5_000_000
	pastBuyers = 100_000
	pastMonths = 23 // whole ones, before the present
)

// month is the summary of a month of some 210,000 sales.
var month = scenario{
	name: "month", want: []int{200},
	request: func(s *shop, rng *rand.Rand) []byte {
		r := s.pastMonth(1 + rng.IntN(pastMonths))
		return s.http("GET", "/reports/summary?from="+r.From.Format(time.DateOnly)+"&to="+r.To.Format(time.DateOnly), "")
	},
	acts: []func(context.Context, *shop) error{summarise},
}

// pastMonth is the month so many before this one.
func (s *shop) pastMonth(ago int) report.Range {
	y, m, _ := time.Now().In(s.by.Tenant.TimeZone).Date()
	from := time.Date(y, m-time.Month(ago), 1, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(0, 1, -1)
	return report.Range{From: &from, To: &to}
}

func summarise(ctx context.Context, s *shop) error {
	sum, err := s.reports.Summary(ctx, s.by, s.pastMonth(12))
	if err == nil && sum.TransactionsCount < pastSales/30 {
		err = fmt.Errorf("a month of %d sales", sum.TransactionsCount)
	}
	return err
}

// grow gives the business its past at once, past every check: the sales award
// nothing, so no entry is due for them.
func (s *shop) grow(ctx context.Context, superuserURL string) error {
	kind, err := s.transactions.AddType(ctx, s.by, transaction.NewType{Name: "No points", RuleType: ledger.Points, Rule: transaction.Rule{UnitCents: 1}})
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, superuserURL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, sql := range []string{
		"set session_replication_role = replica",
		fmt.Sprintf(`create temporary table buyer as
			select n, loyalty.new_ulid(at) as id, at
			from (
				select n, now() - n * interval '2 years' / %d as at
				from generate_series(1, %[1]d) n
			) past`, pastBuyers),
		fmt.Sprintf(`insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, created_at, updated_at)
			select %d, id, 'Bo', 'Ek', '+4676' || lpad(n::text, 7, '0'), '+4676' || lpad(n::text, 7, '0'), at, at
			from buyer`, s.by.Tenant.ID),
		fmt.Sprintf("insert into loyalty.account (tenant_id, customer_id) select %d, id from buyer", s.by.Tenant.ID),
		fmt.Sprintf(`insert into loyalty.transaction (tenant_id, id, customer_id, transaction_type_id, rule_type, spend_amount_cents, points_awarded,
				status, voided_at, source, actor_kind, actor_id, actor_name, created_at)
			select %d, loyalty.new_ulid(sale.at), buyer.id, %d, 'points', 200 + sale.n %% 3000, 0,
				case when sale.n %% 100 = 0 then 'voided' else 'completed' end, case when sale.n %% 100 = 0 then sale.at end,
				'api', 'system', '', 'bench', sale.at
			from (
				select n, date_trunc('milliseconds', now() - interval '2 years' + n * interval '2 years' / %d) as at
				from generate_series(1, %[3]d) n
			) sale
			join buyer on buyer.n = 1 + (hashint8(sale.n) & 2147483647) %% %[4]d
			order by sale.n`, s.by.Tenant.ID, kind.ID, pastSales, pastBuyers),
		"vacuum analyze",
		"checkpoint",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// bound reports whether an id is no record's, but the first of an instant.
func bound(id core.ID) bool { return [10]byte(id[6:]) == [10]byte{} }
