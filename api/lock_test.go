package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/dbtest"
)

// lock is a database lock on rows of a tenant, for which requests wait.
type lock struct {
	s     *shop
	table string
	tx    pgx.Tx
}

// hold locks the tenant's rows of a table until release. Adding a customer waits only for the
// tenant's own row.
func (s *shop) hold(table string) lock {
	s.T.Helper()
	tx, err := dbtest.Owner(s.db).Begin(context.Background())
	if err != nil {
		s.T.Fatal(err)
	}
	column := "tenant_id"
	if table == "tenant" {
		column = "id"
	}
	s.must(tx.Exec(context.Background(), "select from loyalty."+table+" where "+column+" = $1 for update", s.By.Tenant.ID))
	return lock{s, table, tx}
}

func (l lock) release() { _ = l.tx.Rollback(context.Background()) }

// waitFor waits until that number of requests waits for the lock.
func (l lock) waitFor(t *testing.T, requests int) {
	t.Helper()
	sql := "select count(*) from " + dbtest.Waits(t) + " w where blocking = $1"
	for range 500 {
		var waiting int
		if err := dbtest.Owner(l.s.db).QueryRow(t.Context(), sql, l.tx.Conn().PgConn().PID()).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		if waiting == requests {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never %d requests waiting for %s", requests, l.table)
}

// later is an answer that is still to come.
type later struct {
	got  answer
	err  error
	done chan struct{}
}

func (s *shop) callLater(ctx context.Context, method, path, body string, headers ...string) *later {
	s.T.Helper()
	l := &later{done: make(chan struct{})}
	go func() {
		l.got, l.err = s.try(ctx, method, path, s.token, strings.NewReader(body), headers...)
		close(l.done)
	}()
	return l
}

func (l *later) answer(t *testing.T) answer {
	t.Helper()
	<-l.done
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.got
}

// A client that goes away while its request waits leaves nothing behind, not even
// its idempotency key.
func TestDisconnectedClientsLeaveNoPartialChanges(t *testing.T) {
	t.Parallel()
	proves(t, "Only 2xx are kept; a refusal frees the key.")
	s := newShop(t)
	s.fill("{anna}{bo}{points}{sale}")
	for _, request := range []struct {
		table, method, path, body string
		status                    int
	}{
		{"account", "POST", "/api/v1/transactions", `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":100,"external_reference":"R-1"}`, 201},
		{"customer", "PATCH", "/api/v1/customers/{anna}", `{"first_name":"Ann"}`, 200},
		{"transaction", "POST", "/api/v1/transactions/{sale}/refunds", `{"amount_cents":250}`, 201},
		{"account", "POST", "/api/v1/transactions/{sale}/void", "", 200},
		{"tenant", "POST", "/api/v1/customers", `{"first_name":"A","last_name":"B","phone":"112"}`, 201},
	} {
		if request.table == "tenant" && dbtest.IsCitus(t) {
			continue // each node has its own copy of the row, which isn't locked
		}
		before := s.state()
		held := s.hold(request.table)
		ctx, leave := context.WithCancel(t.Context())
		waiting := s.callLater(ctx, request.method, s.fill(request.path), s.fill(request.body), "Idempotency-Key: "+request.path)
		held.waitFor(t, 1)
		leave()
		<-waiting.done
		held.waitFor(t, 0)
		held.release()
		if after := s.state(); after != before {
			t.Errorf("%s %s: was\n%s\nis\n%s", request.method, request.path, before, after)
		}
		got := s.call(request.method, request.path, s.token, request.body, "Idempotency-Key: "+request.path)
		if got.status != request.status || got.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("%s %s once more: %d %s", request.method, request.path, got.status, got.body)
		}
	}
	balance(1, 0, 4)(s, answer{}) // twelve came and went, in two parts; one sale more
}
