package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/report"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/vault"
)

// shop is a business with many customers, and the services on it in this process.
type shop struct {
	token     string
	typeID    int64
	customers int
	made      atomic.Int64 // customers that upserts made

	used   atomic.Int64 // vouchers that were redeemed
	reward core.ID      // without an end to its stock
	coupon core.ID      // without a cap
	deep   core.Cursor  // where page 5,000 of the customers begins

	db           *db.DB
	seen         *spy
	by           core.Actor
	tokens       *token.Service
	customer     *customer.Service
	imports      *customer.Imports
	transactions *transaction.Service
	rewards      *reward.Service
	coupons      *coupon.Service
	reports      *report.Service
}

// Customers and vouchers have ids that pgbench can put together from a number.
const (
	customerID = "('00000000-0000-4000-8000-' || lpad(to_hex(%s), 12, '0'))::uuid"
	voucherID  = "('00000000-0000-4000-9000-' || lpad(to_hex(%s), 12, '0'))::uuid"
)

func id(n int) core.ID { return numbered(0x80, n) }

// voucher is the id of a voucher. The first is there to be overheard, the product's
// loads take the next ones, pgbench has a database of its own.
func voucher(n int) core.ID { return numbered(0x90, n) }

func numbered(kind byte, n int) core.ID {
	var id core.ID
	id[6], id[8] = 0x40, kind
	for i := range 6 {
		id[15-i] = byte(n >> (8 * i))
	}
	return id
}

const (
	vouchers          = 100_000
	vouchersPerClient = 3_000 // of pgbench's
	deepPage          = 5_000
)

func openShop(ctx context.Context, url string, customers int) (*shop, error) {
	s := &shop{customers: customers, seen: &spy{}}
	d, err := db.Open(ctx, url, db.Options{Tracer: s.seen})
	if err != nil {
		return nil, err
	}
	s.db = d
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		return nil, err
	}
	letters := func(context.Context, string, mail.Email) (mail.Rendered, error) { return mail.Rendered{}, nil }
	mails := mail.New(d, jobs, letters, nil, log)
	s.tokens = token.NewService(d, jobs, mails)
	s.customer, s.imports = customer.NewService(d), customer.NewImports(d, jobs)
	s.transactions = transaction.NewService(d)
	s.rewards = reward.NewService(d)
	s.coupons = coupon.NewService(d, jobs, nil, link.Maker{}, slog.New(slog.DiscardHandler))
	s.reports = report.NewService(d)
	keys, err := vault.New([]string{productSecret})
	if err != nil {
		return nil, err
	}
	made, err := sandbox.Maker{
		DB: d, Tokens: s.tokens, Customers: s.customer, Transactions: s.transactions, Rewards: s.rewards, Coupons: s.coupons, Billing: billing.NewService(d, jobs, mails, log), Keys: keys,
		TenantURL: func(slug string) string { return slug }, PostScope: token.TransactionsWrite,
	}.Make(ctx)
	if err != nil {
		return nil, err
	}
	tenant := made.Tenants[0]
	s.token, s.typeID = tenant.Tokens["all"], tenant.TransactionTypeID
	who, err := s.tokens.Authenticate(ctx, s.token, "")
	if err != nil {
		return nil, err
	}
	s.by = who.Actor
	return s, s.offer(ctx)
}

// offer makes what is redeemed.
func (s *shop) offer(ctx context.Context) error {
	name, cost, kind := "Espresso", int64(1), string(coupon.Points)
	offered, err := s.rewards.Add(ctx, s.by, reward.New{Name: &name, PointsCost: &cost})
	if err != nil {
		return err
	}
	sent, err := s.coupons.Add(ctx, s.by, coupon.New{Name: &name, BenefitType: &kind, BenefitValue: &cost, MaxPerCustomer: new(int64(vouchers))})
	s.reward, s.coupon = offered.ID, sent.ID
	return err
}

// fill makes the customers at once, as the owner: how they came is not measured.
func (s *shop) fill(ctx context.Context, url string) error {
	tenant := s.by.Tenant.ID
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	n := fmt.Sprintf(customerID, "n")
	for _, sql := range []string{
		fmt.Sprintf(`insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, created_at, updated_at)
			select %d, %s, 'Anna', 'Lindqvist', '+4670' || lpad(n::text, 7, '0'), '+4670' || lpad(n::text, 7, '0'),
				now() - n * interval '1 second', now()
			from generate_series(1, %d) n`, tenant, n, s.customers),
		// Points to redeem.
		fmt.Sprintf(`insert into loyalty.account (tenant_id, customer_id, points, entries)
			select %d, %s, 1000000, 1
			from generate_series(1, %d) n`, tenant, n, s.customers),
		fmt.Sprintf(`insert into loyalty.ledger_entry (tenant_id, id, customer_id, seq, unit, amount, balance_after, kind, reason,
				actor_kind, actor_id, actor_name, created_at)
			select %d, loyalty.new_ulid(now()), %s, 1, 'points', 1000000, 1000000, 'adjustment', 'to spend', 'system', '', 'bench', now()
			from generate_series(1, %d) n`, tenant, n, s.customers),
		fmt.Sprintf(`with send as (
				insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, status, matched, sent, no_email,
					actor_kind, actor_id, actor_name, send_at, created_at)
				values (%[1]d, loyalty.new_ulid(now()), '%[2]s', 'all', 'bench', 'done', %[3]d, %[3]d, %[3]d, 'system', '', 'bench', now(), now())
				returning id
			)
			insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, created_at)
			select %[1]d, %[4]s, '%[2]s', send.id, %[5]s, now()
			from send, generate_series(1, %[3]d) n`,
			tenant, uuid(s.coupon), vouchers, fmt.Sprintf(voucherID, "n"), fmt.Sprintf(customerID, fmt.Sprintf("1 + (n - 1) %% %d", s.customers))),
		"vacuum analyze",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	s.used.Store(1)
	return conn.QueryRow(ctx, `
		select created_at, id
		from loyalty.customer
		where tenant_id = $1
		order by created_at desc, id desc
		offset $2
		limit 1`, tenant, (deepPage-1)*core.DefaultPageSize-1).Scan(&s.deep.At, &s.deep.ID)
}

// uuid is an id as SQL writes it.
func uuid(id core.ID) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func (s *shop) http(method, path, body string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s /api/v1%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n", method, path, s.token)
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.WriteString(body)
	return []byte(b.String())
}

func (s *shop) somebody(rng *rand.Rand) core.ID { return id(1 + rng.IntN(s.customers)) }

// phone is a known customer's every other time, else one nobody has.
func (s *shop) phone(rng *rand.Rand) string {
	if rng.IntN(2) == 0 {
		return fmt.Sprintf("+4670%07d", 1+rng.IntN(s.customers))
	}
	return fmt.Sprintf("+4672%07d", s.made.Add(1))
}

var scenarios = []scenario{
	{
		name: "record", want: []int{201},
		request: func(s *shop, rng *rand.Rand) []byte {
			return s.http("POST", "/transactions", fmt.Sprintf(`{"customer_ulid":"%s","transaction_type_id":%d,"spend_amount_cents":%d}`,
				s.somebody(rng), s.typeID, 200+rng.IntN(3000)))
		},
		acts: []func(context.Context, *shop) error{record},
	},
	{
		name: "read", want: []int{200},
		request: func(s *shop, rng *rand.Rand) []byte {
			return s.http("GET", "/customers/"+s.somebody(rng).String(), "")
		},
		acts: []func(context.Context, *shop) error{read},
	},
	{
		name: "upsert", want: []int{200, 201},
		request: func(s *shop, rng *rand.Rand) []byte {
			return s.http("POST", "/customers", fmt.Sprintf(`{"first_name":"Bo","last_name":"Ek","phone":"%s"}`, s.phone(rng)))
		},
		acts: []func(context.Context, *shop) error{find, enrol},
	},
	{
		name: "redeem", want: []int{201},
		request: func(s *shop, rng *rand.Rand) []byte {
			return s.http("POST", "/redemptions", fmt.Sprintf(`{"customer_ulid":"%s","reward_ulid":"%s"}`, s.somebody(rng), s.reward))
		},
		acts: []func(context.Context, *shop) error{redeem},
	},
	{
		// All of one coupon: its row is counted up by each.
		name: "voucher", want: []int{200},
		request: func(s *shop, _ *rand.Rand) []byte {
			return s.http("POST", "/coupons/"+voucher(int(s.used.Add(1))).String()+"/redeem", "")
		},
		acts: []func(context.Context, *shop) error{redeemVoucher},
	},
	{
		name: "page 1", want: []int{200},
		request: func(s *shop, _ *rand.Rand) []byte { return s.http("GET", "/customers", "") },
		acts:    []func(context.Context, *shop) error{firstPage},
	},
	{
		name: "page 5000", want: []int{200},
		request: func(s *shop, _ *rand.Rand) []byte { return s.http("GET", "/customers?cursor="+s.deep.String(), "") },
		acts:    []func(context.Context, *shop) error{farPage},
	},
}

func redeem(ctx context.Context, s *shop) error {
	who, what := id(1).String(), s.reward.String()
	_, err := s.rewards.Redeem(ctx, s.by, reward.RedeemRequest{CustomerID: &who, RewardID: &what})
	return err
}

func redeemVoucher(ctx context.Context, s *shop) error {
	_, err := s.coupons.Redeem(ctx, s.by, voucher(1))
	return err
}

func firstPage(ctx context.Context, s *shop) error { return s.page(ctx, nil) }

func farPage(ctx context.Context, s *shop) error { return s.page(ctx, &s.deep) }

func (s *shop) page(ctx context.Context, at *core.Cursor) error {
	l, err := s.customer.List(ctx, s.by, customer.Filter{}, core.Page{Size: core.DefaultPageSize, Cursor: at})
	if err == nil && len(l.Items) != core.DefaultPageSize {
		err = fmt.Errorf("a page of %d customers", len(l.Items))
	}
	return err
}

func record(ctx context.Context, s *shop) error {
	who, spend := id(1).String(), int64(1250)
	_, err := s.transactions.Record(ctx, s.by, transaction.New{
		CustomerID: &who, TransactionTypeID: &s.typeID, SpendAmountCents: &spend, Source: transaction.API,
	})
	return err
}

func read(ctx context.Context, s *shop) error {
	_, err := s.customer.Find(ctx, s.by, id(1))
	return err
}

// newPhone is a number nobody has, until pgbench puts others in its place.
const newPhone = "+46739999999"

func find(ctx context.Context, s *shop) error { return s.upsert(ctx, "+46700000001") }

func enrol(ctx context.Context, s *shop) error { return s.upsert(ctx, newPhone) }

func (s *shop) upsert(ctx context.Context, phone string) error {
	first, last := "Bo", "Ek"
	_, err := s.customer.Upsert(ctx, s.by, customer.New{FirstName: &first, LastName: &last, Phone: &phone})
	return err
}
