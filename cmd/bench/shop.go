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
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
)

// shop is a business with many customers, and the services on it in this process.
type shop struct {
	token     string
	typeID    int64
	customers int
	made      atomic.Int64 // customers that upserts made

	seen         *spy
	by           core.Actor
	tokens       *token.Service
	customer     *customer.Service
	transactions *transaction.Service
}

// Customers have ids that pgbench can put together from a number.
const customerID = "('00000000-0000-4000-8000-' || lpad(to_hex(%s), 12, '0'))::uuid"

func id(n int) core.ID {
	var id core.ID
	id[6], id[8] = 0x40, 0x80
	for i := range 6 {
		id[15-i] = byte(n >> (8 * i))
	}
	return id
}

func openShop(ctx context.Context, url string, customers int) (*shop, error) {
	s := &shop{customers: customers, seen: &spy{}}
	d, err := db.Open(ctx, url, db.Options{Tracer: s.seen})
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		return nil, err
	}
	letters := func(context.Context, string, mail.Letter) (mail.Rendered, error) { return mail.Rendered{}, nil }
	s.tokens = token.NewService(d, mail.New(d, jobs, letters, nil, log))
	s.customer = customer.NewService(d)
	s.transactions = transaction.NewService(d)
	made, err := sandbox.Maker{
		DB: d, Tokens: s.tokens, Customers: s.customer, Transactions: s.transactions, Rewards: reward.NewService(d),
		TenantURL: func(slug string) string { return slug }, PostScope: token.TransactionsWrite,
	}.Make(ctx)
	if err != nil {
		return nil, err
	}
	tenant := made.Tenants[0]
	s.token, s.typeID = tenant.Tokens["all"], tenant.TransactionTypeID
	if err := s.fill(ctx, url, tenant.ID); err != nil {
		return nil, err
	}
	who, err := s.tokens.Authenticate(ctx, s.token, "")
	s.by = who.Actor
	return s, err
}

// fill makes the customers at once, as the owner: how they came is not measured.
func (s *shop) fill(ctx context.Context, url string, tenant core.TenantID) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	n := fmt.Sprintf(customerID, "n")
	for _, sql := range []string{
		fmt.Sprintf(`insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, created_at, updated_at)
			select %d, %s, 'Anna', 'Lindqvist', '+4670' || lpad(n::text, 7, '0'), '+4670' || lpad(n::text, 7, '0'), now(), now()
			from generate_series(1, %d) n`, tenant, n, s.customers),
		fmt.Sprintf("insert into loyalty.account (tenant_id, customer_id) select %d, %s from generate_series(1, %d) n", tenant, n, s.customers),
		"vacuum analyze",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
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
