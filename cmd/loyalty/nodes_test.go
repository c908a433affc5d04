package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/sandbox"
)

// distributed is an installation on a distributed database, with a business on each of two nodes.
type distributed struct {
	*server
	admin database // the coordinator, as a superuser
	nodes [2]string
	shops [2]distributedTill
}

// distributedTill is a till of a business on one of the nodes.
type distributedTill struct {
	apiTill
	tenant core.TenantID
}

// nodes returns the addresses of the nodes with tenants' rows.
func nodes(admin database) []string {
	return ask[[]string](admin, "select array_agg(nodename || ':' || nodeport order by nodeid) from pg_dist_node where groupid > 0 and noderole = 'primary'")
}

const shardSQL = `get_shard_id_for_distribution_column('loyalty.customer', $1::bigint)`

// nodeOf returns the address of the node that has a tenant's rows.
func nodeOf(admin database, tenant core.TenantID) string {
	return ask[string](admin, "select nodename || ':' || nodeport from citus_shards where shardid = "+shardSQL, int64(tenant))
}

func newDistributed(t *testing.T, own string) distributed {
	t.Helper()
	in := newInstallationOn(t, own, "LOYALTY_SANDBOX=1", "LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0")
	d := distributed{server: in.serve(), admin: connect(t, dbtest.Superuser(t, own))}
	d.nodes = [2]string(nodes(d.admin))
	for tries := 0; d.shops[0].server == nil || d.shops[1].server == nil; tries++ {
		if tries == 20 {
			t.Fatalf("no business is on one of the nodes %v", d.nodes)
		}
		for _, tenant := range in.sandbox(t).Tenants {
			for i, node := range d.nodes {
				if nodeOf(d.admin, tenant.ID) == node && d.shops[i].server == nil {
					d.shops[i] = d.open(t, tenant)
				}
			}
		}
	}
	return d
}

// open returns the till of a business, with a customer.
func (d distributed) open(t *testing.T, tenant sandbox.Tenant) distributedTill {
	t.Helper()
	till := apiTill{d.server, t, tenant.Tokens["all"], "", fmt.Sprint(tenant.TransactionTypeID)}
	made := d.expect(t, http.StatusCreated, "POST", "/api/v1/customers", till.token, `{"first_name":"Elsa","last_name":"Berg","phone":"0701740699"}`)
	till.customer = decode[single[customerRecord]](t, made.body).Data.ULID
	return distributedTill{till, tenant.ID}
}

// wire is the connection of the coordinator to a node.
type wire struct {
	to string
	l  net.Listener

	messages atomic.Int64 // from the coordinator

	mu    sync.Mutex
	isCut bool
	open  map[net.Conn]bool
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &wire{to: to, l: l, open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go n.join(from)
		}
	}()
	return n
}

// join connects both sides until one ends.
func (n *wire) join(from net.Conn) {
	to, err := net.Dial("tcp", n.to)
	n.mu.Lock()
	if err != nil || n.isCut {
		n.mu.Unlock()
		_ = from.Close()
		return
	}
	n.open[from], n.open[to] = true, true
	n.mu.Unlock()
	go n.pour(to, from, &n.messages)
	n.pour(from, to, new(atomic.Int64))
}

func (n *wire) pour(to io.WriteCloser, from io.Reader, messages *atomic.Int64) {
	text := make([]byte, 1<<20) // more than a message
	for {
		size, err := from.Read(text)
		if _, lost := to.Write(text[:size]); err != nil || lost != nil {
			_ = to.Close()
			return
		}
		messages.Add(1)
	}
}

// cut ends all connections, and refuses others until mend.
func (n *wire) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.isCut = true
	for c := range n.open {
		_ = c.Close()
	}
	clear(n.open)
}

func (n *wire) mend() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.isCut = false
}

// "A worker that dies gives 503 to its tenants alone", and they go on when it is back.
func TestANodeThatDies(t *testing.T) {
	t.Parallel()
	dbtest.NeedsCitus(t)
	own := dbtest.OwnURL(t)
	admin := connect(t, dbtest.Superuser(t, own))
	line := newWire(t, nodes(admin)[0])
	_, port, err := net.SplitHostPort(line.l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	id := ask[int](admin, "select nodeid from pg_dist_node where nodename || ':' || nodeport = $1", line.to)
	// Not prepared: Citus 13.2 may crash then.
	if _, err := admin.PgConn().Exec(t.Context(), fmt.Sprintf("select citus_update_node(%d, '127.0.0.1', %s)", id, port)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	d := newDistributed(t, own)
	dead, alive := d.shops[0], d.shops[1]

	sold := 0
	bothSell := func() {
		t.Helper()
		for _, till := range d.shops {
			if got, err := till.sell(fmt.Sprint("receipt ", sold)); err != nil || got.status != http.StatusCreated {
				t.Fatalf("both nodes are there: %v %+v", err, got)
			}
		}
		sold++
	}
	bothSell()
	before := line.messages.Load()
	bothSell()
	t.Logf("a sale alone, with a key: %d messages to its node", line.messages.Load()-before)
	line.cut()
	for i := range 20 {
		got, err := dead.sell(fmt.Sprint("while it is dead ", i))
		if err != nil || !got.isUnavailable() {
			t.Errorf("sale %d on the dead node: %v %+v", i, err, got)
		}
		if got, err = alive.sell(fmt.Sprint("while the other is dead ", i)); err != nil || got.status != http.StatusCreated {
			t.Errorf("sale %d on the other node: %v %+v", i, err, got)
		}
		if got = d.expect(t, http.StatusServiceUnavailable, "GET", "/api/v1/customers/"+dead.customer, dead.token, ""); !got.isUnavailable() {
			t.Errorf("a customer on the dead node: %+v", got)
		}
		d.expect(t, http.StatusOK, "GET", "/api/v1/customers/"+alive.customer, alive.token, "")
	}
	d.expect(t, http.StatusOK, "GET", "/readyz", "", "")

	line.mend()
	await(t, "the node's businesses sell again", func() bool {
		got, err := dead.sell("while it is dead 0")
		return err == nil && got.status == http.StatusCreated
	})
	for range 20 {
		bothSell()
	}
	if got, want := dead.points(), int64(12*(sold+1)); got != want {
		t.Errorf("the balance on the node that died is %d, want %d", got, want)
	}
	if got, want := alive.points(), int64(12*(sold+20)); got != want {
		t.Errorf("the balance on the other node is %d, want %d", got, want)
	}
	d.stop()
	d.in.succeed("verify")
}

// "Moving a tenant's shard under load loses nothing": eight tills sell while the rows of their business move to the other
// node and back, and one of another business. At the end of a move, Citus holds up writes. If that takes longer than a
// statement waits for locks, a till is asked to repeat its sale.
func TestABusinessMovesWhileItSells(t *testing.T) {
	t.Parallel()
	dbtest.NeedsCitus(t)
	d := newDistributed(t, dbtest.OwnURL(t))
	moving, other := d.shops[0], d.shops[1]
	var sold, elsewhere, again atomic.Int64
	var all sync.WaitGroup
	moved := make(chan struct{})
	sell := func(shop distributedTill, till int, sold *atomic.Int64) {
		for n := 0; ; n++ {
			select {
			case <-moved:
				return
			default:
			}
			key := fmt.Sprintf("receipt %d of till %d", n, till)
			got, err := shop.sell(key)
			for err == nil && got.isUnavailable() && !t.Failed() {
				again.Add(1)
				got, err = shop.sell(key)
			}
			if err != nil || got.status != http.StatusCreated {
				t.Errorf("%s: %v %+v", key, err, got)
				return
			}
			sold.Add(1)
		}
	}
	for till := range 8 {
		all.Go(func() { sell(moving, till, &sold) })
	}
	all.Go(func() { sell(other, 0, &elsewhere) })
	sellAHundred := func() {
		t.Helper()
		enough := sold.Load() + 100
		await(t, "the tills sell", func() bool { return sold.Load() > enough || t.Failed() })
	}
	for round := range 2 {
		sellAHundred()
		from := nodeOf(d.admin, moving.tenant)
		to := d.nodes[0]
		if to == from {
			to = d.nodes[1]
		}
		d.admin.exec(`
			select citus_move_shard_placement(`+shardSQL+`, f.nodename, f.nodeport, t.nodename, t.nodeport, 'force_logical')
			from pg_dist_node f, pg_dist_node t
			where f.nodename || ':' || f.nodeport = $2 and t.nodename || ':' || t.nodeport = $3`, int64(moving.tenant), from, to)
		if now := nodeOf(d.admin, moving.tenant); now != to {
			t.Errorf("round %d: the business is on %s, want %s", round, now, to)
		}
	}
	sellAHundred()
	close(moved)
	all.Wait()
	t.Logf("%d sales during two moves, %d requests repeated; %d sales of another business", sold.Load(), again.Load(), elsewhere.Load())
	if got, want := moving.points(), 12*sold.Load(); got != want {
		t.Errorf("the balance is %d, want %d", got, want)
	}
	if got, want := other.points(), 12*elsewhere.Load(); got != want {
		t.Errorf("the other business's balance is %d, want %d", got, want)
	}
	d.stop()
	d.in.succeed("verify")
}
