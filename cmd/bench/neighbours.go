package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
)

// What one business may do to another while it does everything heavy at once.
const (
	neighbourLimit = 50 * time.Millisecond // 95 of 100 sales, and of 100 reads
	resetLimit     = 5 * time.Second       // from asking for a reset to its e-mail leaving
	memoryLimit    = 400 << 20             // the product's, at most

	busyCustomers = 100_000
	busyReports   = 60 // of ten years, at once
	busyChecks    = 6
	busyExports   = 6 // Excel files of all customers, at once
	busySignIns   = 150
	resets        = 8
)

// measureNeighbours prints what one business's sales, reads and resets take alone, and while
// another one does everything heavy at once. What is over its limit is an error.
func measureNeighbours(ctx context.Context, p *product, s *shop, superuserURL string, o options) error {
	conn, err := pgx.Connect(ctx, superuserURL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	fmt.Fprintf(os.Stderr, "neighbours: making %d customers … ", busyCustomers)
	busy, err := s.gather(ctx, conn, "busy", busyCustomers)
	if err != nil {
		return err
	}
	n := &neighbours{product: p, shop: s, conn: conn, busy: busy}
	if n.owner, err = newBrowser(ctx, p, s, busy.tenant, busy.owner); err != nil {
		return err
	}
	if err := n.upload(ctx); err != nil {
		return err
	}
	fmt.Fprint(os.Stderr, "alone … ")
	alone := n.measure(ctx, o)
	if alone.err != nil {
		return alone.err
	}
	fmt.Fprint(os.Stderr, "beside a busy business … ")
	stop := n.load(ctx)
	beside := n.measure(ctx, o)
	if err := errors.Join(beside.err, stop()); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "done")
	peak := p.peakMemory()

	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "beside a busy business\tsales p50\tp95\treads p50\tp95\tslowest reset\tmemory\t")
	for name, m := range map[string]besides{"alone": alone, "busy": beside} {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%d MB\t\n", name, m.sales.percentile(50), m.sales.percentile(95),
			m.reads.percentile(50), m.reads.percentile(95), milliseconds(m.reset), m.memory>>20)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Printf("meanwhile: %d reports, %d checks, %d exports, %d sign-ins; %d more were told to wait\n",
		n.reports.Load(), n.checks.Load(), n.exports.Load(), n.signIns.Load(), n.refused.Load())
	var over error
	for what, is := range map[string]bool{
		"sales": beside.sales.at(95) > neighbourLimit, "reads": beside.reads.at(95) > neighbourLimit,
		"resets": beside.reset > resetLimit, "memory": peak > memoryLimit,
	} {
		if is {
			over = errors.Join(over, fmt.Errorf("neighbours: %s are over their limit", what))
		}
	}
	return over
}

// besides is what was measured of the business that does nothing special.
type besides struct {
	sales, reads result
	reset        time.Duration // the slowest
	memory       int64
	err          error
}

// neighbours are two businesses.
type neighbours struct {
	*product
	shop  *shop // is measured
	conn  *pgx.Conn
	busy  crowd
	owner *browser // of the busy one
	files []customer.Import
	round int

	reports, checks, exports, signIns, refused, addresses atomic.Int64
}

// upload brings the files that are to be checked.
func (n *neighbours) upload(ctx context.Context) error {
	by := core.System(n.busy.tenant, "bench")
	for file := range 3 {
		var list strings.Builder
		list.WriteString("First name,Last name,Phone\n")
		for i := range customer.MaxImportRows {
			fmt.Fprintf(&list, "Bo,Ek,+4672%d%06d\n", file, i)
		}
		i, err := n.shop.imports.Upload(ctx, by, customer.ImportFile{
			Name: "customers.csv", FormKey: fmt.Sprint("bench ", file), Content: strings.NewReader(list.String()),
		})
		if err != nil {
			return err
		}
		n.files = append(n.files, i)
	}
	return nil
}

// measure has the business sell and read at a steady rate, and its people ask for resets.
func (n *neighbours) measure(ctx context.Context, o options) (m besides) {
	sales, reads := o, o
	sales.steady, sales.connections, reads.steady, reads.connections = 50, 16, 100, 16
	var all sync.WaitGroup
	var reset error
	all.Go(func() { m.sales = openLoop(ctx, n.product, n.shop, named("record"), sales) })
	all.Go(func() { m.reads = openLoop(ctx, n.product, n.shop, named("read"), reads) })
	all.Go(func() { m.reset, reset = n.reset(ctx) })
	all.Wait()
	m.memory = n.peakMemory()
	m.err = errors.Join(m.sales.err, m.reads.err, reset)
	return m
}

func named(name string) scenario {
	for _, s := range scenarios {
		if s.name == name {
			return s
		}
	}
	return scenario{}
}

// reset has people ask for a reset, and tells how long the slowest e-mail took to leave.
func (n *neighbours) reset(ctx context.Context) (slowest time.Duration, err error) {
	n.round++
	t := n.shop.by.Tenant
	for i := range resets {
		email := fmt.Sprintf("reset%d-%d@bench.example", n.round, i)
		_, err := n.conn.Exec(ctx, `
			with person as (
				insert into loyalty.staff (tenant_id, role, name, email, email_key, created_at)
				values ($1, 'manager', 'Bo Ek', $2, $2, now())
				returning id
			)
			insert into loyalty.credential (staff_id, tenant_id, password_hash)
			select id, $1, 'none'
			from person`, t.ID, email)
		if err != nil {
			return 0, err
		}
		asked := time.Now()
		origin := strings.Replace(n.base, "localhost", t.Slug+".localhost", 1)
		status, err := n.form(ctx, n.stranger(), origin+"/admin/forgot", url.Values{"email": {email}})
		if err != nil || status >= http.StatusBadRequest {
			return 0, fmt.Errorf("asking for a reset: status %d, %w", status, err)
		}
		for done := false; !done; {
			if time.Since(asked) > time.Minute {
				return 0, errors.New("the e-mail of a reset has not left within a minute")
			}
			time.Sleep(20 * time.Millisecond)
			err := n.conn.QueryRow(ctx, "select exists (select from loyalty.mail where recipient = $1 and done_at is not null)", email).Scan(&done)
			if err != nil {
				return 0, err
			}
		}
		slowest = max(slowest, time.Since(asked))
	}
	return slowest, nil
}

// stranger is a browser that comes from an address of its own: each has a limit.
func (n *neighbours) stranger() *http.Client {
	at := n.addresses.Add(1)
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(at>>8), byte(at))}}
	transport := n.owner.client.Transport.(*http.Transport).Clone() //nolint:forcetypeassert // newBrowser made it
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return from.DialContext(ctx, network, n.addr)
	}
	return &http.Client{Transport: transport, CheckRedirect: n.owner.client.CheckRedirect}
}

// form sends a form and returns the answer's status.
func (n *neighbours) form(ctx context.Context, c *http.Client, address string, form url.Values) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	got, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	defer got.Body.Close()
	_, err = io.Copy(io.Discard, got.Body)
	return got.StatusCode, err
}

// load has the busy business do everything at once, again and again, until it is stopped.
func (n *neighbours) load(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	again := func(workers int, work func() error) {
		for range workers {
			all.Go(func() {
				for ctx.Err() == nil {
					if err := work(); err != nil && ctx.Err() == nil {
						mu.Lock()
						failed = errors.Join(failed, err)
						mu.Unlock()
						return
					}
				}
			})
		}
	}
	today := time.Now().UTC()
	years := "?from=" + today.AddDate(0, 0, -3650).Format(time.DateOnly) + "&to=" + today.Format(time.DateOnly)
	again(busyReports, func() error { return n.get(ctx, "/admin/reports"+years, &n.reports) })
	again(busyExports, func() error { return n.get(ctx, "/admin/customers/export.xlsx", &n.exports) })
	origin := n.owner.origin
	again(busySignIns, func() error {
		status, err := n.form(ctx, n.stranger(), origin+"/admin/sign-in", url.Values{
			"email": {fmt.Sprintf("somebody%d@example.com", n.signIns.Add(1))}, "password": {"a password that is wrong"},
		})
		if err == nil && status == http.StatusServiceUnavailable {
			n.refused.Add(1)
		}
		return err
	})
	again(1, func() error { return n.check(ctx) })
	return func() error {
		cancel()
		all.Wait()
		if n.checks.Load() < busyChecks {
			fmt.Fprintf(os.Stderr, "only %d checks began … ", n.checks.Load())
		}
		return failed
	}
}

// get asks for a page of the busy business. Being told to wait is an answer, too.
func (n *neighbours) get(ctx context.Context, path string, count *atomic.Int64) error {
	got, err := n.owner.ask(ctx, page{path: path})
	switch {
	case err != nil:
		return err
	case got.status == http.StatusOK:
		count.Add(1)
	case got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != "":
		n.refused.Add(1)
	default:
		return fmt.Errorf("%s: status %d", path, got.status)
	}
	return nil
}

// check has all files checked that are not being checked.
func (n *neighbours) check(ctx context.Context) error {
	by := core.System(n.busy.tenant, "bench")
	for _, f := range n.files {
		i, err := n.shop.imports.Find(ctx, by, f.ID)
		if err != nil {
			return err
		}
		if i.Status == customer.ImportChecking && n.checks.Load() >= busyChecks {
			continue
		}
		p, err := n.shop.imports.Preview(ctx, by, f.ID)
		if err != nil {
			return err
		}
		if _, err := n.shop.imports.Check(ctx, by, f.ID, p.Mapping); err != nil {
			return err
		}
		n.checks.Add(1)
	}
	time.Sleep(200 * time.Millisecond)
	return nil
}
