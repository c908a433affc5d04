package main

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// batches records the statements of each round trip.
type batches struct {
	mu   sync.Mutex
	sent [][]string
}

// TraceBatchStart records a round trip.
func (b *batches) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	var trip []string
	for _, q := range data.Batch.QueuedQueries {
		trip = append(trip, oneLine(q.SQL))
	}
	b.sent = append(b.sent, trip)
	return ctx
}

func (b *batches) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (b *batches) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}
func (b *batches) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (b *batches) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func oneLine(sql string) string { return strings.Join(strings.Fields(sql), " ") }

// useCases has the services behind the API's requests.
type useCases struct {
	shoptest.Shop
	sent   *batches
	secret string
}

func newUseCases(t *testing.T) *useCases {
	t.Helper()
	owner := dbtest.OwnURL(t)
	u := &useCases{sent: &batches{}}
	d, err := db.Open(t.Context(), dbtest.Serving(owner), db.Options{OwnerURL: owner, Tracer: u.sent})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	u.Shop = shoptest.In(t, d)
	created, err := core.Result(u.Tokens.Create(t.Context(), u.By, token.New{Name: "all", Scopes: &[]string{}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	u.secret = created.Secret
	return u
}

// forget forgets the round trips until now, and those of notifications that are still to be sent.
func (u *useCases) forget() {
	u.DB.WaitForNotifications()
	u.sent.mu.Lock()
	defer u.sent.mu.Unlock()
	u.sent.sent = nil
}

// trips returns the round trips of fn.
func (u *useCases) trips(t *testing.T, fn func() error) [][]string {
	t.Helper()
	u.forget()
	if err := fn(); err != nil {
		t.Fatal(err)
	}
	u.sent.mu.Lock()
	defer u.sent.mu.Unlock()
	return u.sent.sent
}

// pgbench and the product must send the same statements in the same round trips, so that their
// ratio is the cost of the product.
func TestScriptsSendWhatTheProductSends(t *testing.T) {
	t.Parallel()
	dbtest.NeedsPlain(t, "pgbench is compared on one, where a read is no transaction block")
	u, ctx := newUseCases(t), t.Context()
	kind, err := core.Result(u.Transactions.AddType(ctx, u.By, transaction.NewType{
		Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, UnitCents: 100},
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	who, err := core.Result(u.Customers.Upsert(ctx, u.By, customer.New{FirstName: "Bo", LastName: "Ek", Phone: "+46701740605"}, nil))
	if err != nil {
		t.Fatal(err)
	}
	// A process records its first sale of a type alone. It knows by what else sales earn.
	sell := func() error {
		sales := transaction.NewService(u.DB)
		if _, err := sales.RulesNow(ctx, u.By); err != nil {
			return err
		}
		u.forget()
		_, err := core.Result(sales.Record(ctx, u.By, transaction.Sale{
			CustomerID: who.ID, TransactionTypeID: kind.ID, SpendAmountCents: 1250, Source: transaction.API,
		}, nil, nil))
		return err
	}
	if err := sell(); err != nil {
		t.Fatal(err)
	}
	thanks, err := core.Result(u.Coupons.Add(ctx, u.By, coupon.New{Name: "Thank you", BenefitType: "points", BenefitValue: new(int64(1))}, nil))
	if err != nil {
		t.Fatal(err)
	}
	sent, err := u.Coupons.Send(ctx, u.By, thanks.ID, coupon.Send{Segment: coupon.All, FormKey: "test"})
	if err != nil {
		t.Fatal(err)
	}
	evaluated := u.trips(t, func() error {
		_, err := u.Coupons.Evaluate(ctx, u.By, sent.ID)
		return err
	})
	for script, act := range map[string]func() error{
		"read":   func() error { _, err := u.Customers.Find(ctx, u.By, who.ID); return err },
		"record": sell,
	} {
		same(t, script, u.trips(t, act), pipelines(t, script))
	}
	identify := func() error { _, err := u.Tokens.Authenticate(ctx, u.secret, ""); return err }
	if err := identify(); err != nil { // the first notes that the token is in use
		t.Fatal(err)
	}
	same(t, "head", u.trips(t, identify), pipelines(t, "head"))

	// A send is one statement among what the job does.
	created := slices.Concat(evaluated...)
	created = slices.DeleteFunc(created, func(sql string) bool { return !strings.Contains(sql, "insert into loyalty.voucher ") })
	text, _ := scripts.ReadFile("pgbench/send.sql")
	statements := slices.DeleteFunc(strings.Split(string(text), ";\n"), func(sql string) bool { return !strings.Contains(sql, "insert into loyalty.voucher ") })
	same(t, "send", [][]string{created}, [][]string{{oneLine(statements[0])}})
}

// pipelines returns the round trips of a script.
func pipelines(t *testing.T, script string) (trips [][]string) {
	t.Helper()
	text, err := scripts.ReadFile("pgbench/" + script + ".sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, rest := range strings.Split(string(text), "\\startpipeline\n")[1:] {
		pipeline, _, _ := strings.Cut(rest, "\\endpipeline")
		var trip []string
		for statement := range strings.SplitSeq(strings.TrimSpace(pipeline), ";\n") {
			trip = append(trip, oneLine(strings.TrimSuffix(statement, ";")))
		}
		trips = append(trips, trip)
	}
	return trips
}

var argument = regexp.MustCompile(`\\\$\d+`)

// same compares round trips. A script may have any value for an argument of the product.
func same(t *testing.T, script string, product, pgbench [][]string) {
	t.Helper()
	if len(product) != len(pgbench) {
		t.Errorf("%s.sql: %d round trips, the product makes %d: %q", script, len(pgbench), len(product), product)
		return
	}
	for i := range product {
		if len(product[i]) != len(pgbench[i]) {
			t.Errorf("%s.sql, round trip %d: %d statements, the product sends %d: %q", script, i+1, len(pgbench[i]), len(product[i]), product[i])
			continue
		}
		for n, sql := range product[i] {
			pattern := "^" + argument.ReplaceAllString(regexp.QuoteMeta(sql), ".+?") + "$"
			if !regexp.MustCompile(pattern).MatchString(pgbench[i][n]) {
				t.Errorf("%s.sql has\n%s\nand the product sends\n%s", script, pgbench[i][n], sql)
			}
		}
	}
}
