package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"example.com/loyalty/api/clients"
	"example.com/loyalty/core"
	"example.com/loyalty/core/sample"
)

const (
	copyFile     = "copy.db"
	tokenLimit   = 60 // requests a minute, the API's default
	salesRate    = 50 // a second, while the copy stays in step
	salesTokens  = 100
	inStepLasts  = 12               // times as long as other measurements
	changesAfter = 3 * time.Second  // by then, a change is listed
	behindLimit  = 20 * time.Second // the most that the copy may be behind
)

// measureSync measures sync.py, with which integrators keep a copy of a business in SQLite. It loads the large business without
// a rate limit. Then it stays in step at 60 requests a minute while sales and changes go on; then the copy is compared. A
// difference is an error.
func (b *bench) measureSync(ctx context.Context) {
	d := b.createLargeBusiness(ctx)
	c := &copier{
		dir: filepath.Join(b.dir, "sync"), ca: filepath.Join(b.dir, "data", "ca.pem"),
		line: listenLine(ctx, b.product.client.Addr), token: d.Tokens["all"],
	}
	sample.Must(0, os.CopyFS(c.dir, clients.Files))
	b.loadCopy(ctx, c)
	b.limitTokens(ctx, tokenLimit)
	behind := b.keepInStep(ctx, d, c)
	b.limitTokens(ctx, 0)
	sample.Must(0, b.compareCopy(ctx, d, c))
	if behind > behindLimit {
		sample.Must(0, fmt.Errorf("the copy was %s behind, want at most %s", behind, behindLimit))
	}
}

// loadCopy measures the first load.
func (b *bench) loadCopy(ctx context.Context, c *copier) {
	progress("loading a copy")
	b.product.resetPeak()
	used, begun := b.processorTime(b.product), time.Now()
	run := c.run(ctx, "--once")
	sample.Must(0, run.wait())
	took, now := time.Since(begun), b.processorTime(b.product)
	loaded := run.passes()[0]
	printFacts(fmt.Sprintf("first load of %d customers, %d sales", b.large, b.sales), []fact{
		{"requests", strconv.Itoa(loaded.requests)},
		{"records", strconv.Itoa(loaded.records)},
		{"received", fmt.Sprintf("%.1f MB", megabytes(c.line.received.Load()))},
		{"at 60 requests a minute", fmt.Sprintf("%.0f min", float64(loaded.requests)/tokenLimit)},
		{"without a limit", took.Round(time.Second).String()},
		{"processor, product", (now[serverTime] - used[serverTime]).Round(time.Second).String()},
		{"processor, database", (now[databaseTime] - used[databaseTime]).Round(time.Second).String()},
		{"memory, product", fmt.Sprintf("%.0f MB", b.product.peakMemory())},
		{"memory, sync.py", fmt.Sprintf("%.0f MB", run.memory)},
		{"size of the copy", fmt.Sprintf("%.0f MB", megabytes(sample.Must(os.Stat(c.file())).Size()))},
	})
}

// keepInStep measures a copy that stays in step, and the sales beside it. It returns how far the copy was behind, at most.
func (b *bench) keepInStep(ctx context.Context, d *business, c *copier) time.Duration {
	loads := b.changes(ctx, d)
	alone := b.together(ctx, loads...)
	run := c.run(ctx)
	sample.Must(0, run.await(func() bool { return len(run.passes()) > 0 })) // it reads what the loads have changed
	before, received, begun := len(run.passes()), c.line.received.Load(), time.Now()
	beside := b.together(ctx, loads...)
	passes, minutes := run.passes()[before:], time.Since(begun).Minutes()
	received = c.line.received.Load() - received
	sample.Must(0, run.stop())
	time.Sleep(changesAfter)
	sample.Must(0, c.run(ctx, "--once").wait())

	var sum pass
	var behind []time.Duration
	for _, p := range passes {
		sum.requests, sum.refused, sum.records = sum.requests+p.requests, sum.refused+p.refused, sum.records+p.records
		behind = append(behind, p.behind)
	}
	if len(behind) == 0 {
		sample.Must(0, errors.New("sync.py read nothing while sales were recorded"))
	}
	slices.Sort(behind)
	most := behind[len(behind)-1]
	printFacts(fmt.Sprintf("in step at %d requests a minute with %d sales a second", tokenLimit, salesRate), []fact{
		{"behind, p50", fmt.Sprintf("%.1f s", behind[len(behind)/2].Seconds())},
		{"behind, at most", fmt.Sprintf("%.1f s", most.Seconds())},
		{"requests a minute", fmt.Sprintf("%.0f", float64(sum.requests)/minutes)},
		{"refused with 429", strconv.Itoa(sum.refused)},
		{"records a minute", fmt.Sprintf("%.0f", float64(sum.records)/minutes)},
		{"received a minute", fmt.Sprintf("%.2f MB", megabytes(received)/minutes)},
		{"memory, sync.py", fmt.Sprintf("%.0f MB", run.memory)},
	})
	for i := range alone {
		alone[i].name += " alone"
		beside[i].name += " beside a copy"
	}
	printTable("sales and changes", append(alone, beside...))
	return most
}

// fact is a line of a table of single figures.
type fact struct{ name, value string }

func printFacts(title string, facts []fact) {
	fmt.Fprintln(os.Stderr, "done")
	fmt.Printf("\n%s\n", title)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, f := range facts {
		fmt.Fprintf(table, "%s\t%s\t\n", f.name, f.value)
	}
	sample.Must(0, table.Flush())
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

// limitTokens starts the product again, with a limit of requests a minute for each token; 0: none.
func (b *bench) limitTokens(ctx context.Context, requests int) {
	b.product.stop()
	b.product.client.CloseIdleConnections()
	b.product.env = append(b.product.env, fmt.Sprintf("LOYALTY_RATE_TOKEN=%d", requests))
	b.product.start(ctx)
}

// Copies of a token, with its secret and limits of their own.
const tokensSQL = `
	insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, created_at)
	select tenant_id, staff_id, name, hash, abilities, created_at
	from loyalty.token
	cross join generate_series(1, $2::int)
	where id = $1
	returning id`

// changes returns loads that change a business: sales, voids, edits and redemptions, by tills with a token each.
func (b *bench) changes(ctx context.Context, d *business) []scenario {
	id, secret, _ := strings.Cut(d.Tokens["all"], "|")
	rows := sample.Must(b.admin.Query(ctx, tokensSQL, sample.Must(strconv.ParseInt(id, 10, 64)), salesTokens))
	ids := sample.Must(pgx.CollectRows(rows, pgx.RowTo[int64]))
	var sent atomic.Int64
	with := func(r *fasthttp.Request) *fasthttp.Request {
		r.Header.Set("Authorization", fmt.Sprintf("Bearer %d|%s", ids[sent.Add(1)%salesTokens], secret))
		return r
	}
	record := func() *fasthttp.Request { return with(b.record(d)) }
	loads := []scenario{
		{name: "sales", rate: salesRate, request: record},
		{name: "voids", rate: 1, steps: func(ctx context.Context) (*fasthttp.Request, error) {
			got, err := browser{client: b.product.client}.ask(ctx, record(), fasthttp.StatusCreated)
			if err != nil {
				return nil, err
			}
			var sale struct{ Data struct{ ULID string } }
			err = json.Unmarshal(got.Body(), &sale)
			return with(b.api(d, "POST", "/transactions/"+sale.Data.ULID+"/void", "")), err
		}},
		{name: "edits", rate: 2, request: func() *fasthttp.Request {
			return with(b.api(d, "PATCH", "/customers/"+d.anyBuyer().String(), fmt.Sprintf(`{"first_name":"Bo %d"}`, rand.IntN(1_000_000))))
		}},
		{name: "redemptions", rate: 2, request: func() *fasthttp.Request {
			return with(b.api(d, "POST", "/redemptions", fmt.Sprintf(`{"customer_ulid":%q,"reward_ulid":%q}`, d.anyBuyer(), numbered(rewardIDs, 1))))
		}},
	}
	for i := range loads {
		loads[i].lasts = inStepLasts * b.lasts
	}
	return loads
}

// rewardIDs is the kind of a reward's ID in data.sql.
const rewardIDs = 0xb0

// line is a network line to the product, which counts the bytes of the responses.
type line struct {
	address  string
	received atomic.Int64
}

func listenLine(ctx context.Context, target string) *line {
	l := sample.Must(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))
	context.AfterFunc(ctx, func() { _ = l.Close() })
	made := &line{address: "https://localhost" + strings.TrimPrefix(l.Addr().String(), "127.0.0.1")}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go made.connect(from, target)
		}
	}()
	return made
}

func (l *line) connect(from net.Conn, target string) {
	defer from.Close()
	to, err := net.Dial("tcp", target) //nolint:noctx // it ends with its connection
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, io.TeeReader(to, l))
}

// Write counts bytes.
func (l *line) Write(read []byte) (int, error) {
	l.received.Add(int64(len(read)))
	return len(read), nil
}

// copier runs sync.py.
type copier struct {
	dir   string
	line  *line
	token string
	ca    string
}

// file returns the path of the copy.
func (c *copier) file() string { return filepath.Join(c.dir, "python", copyFile) }

func (c *copier) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "python3", append([]string{"-B"}, args...)...)
	cmd.Dir = filepath.Join(c.dir, "python")
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+c.ca, "LOYALTY_URL="+c.line.address, "LOYALTY_TOKEN="+c.token)
	return cmd
}

// copyRun is a run of sync.py.
type copyRun struct {
	cmd    *exec.Cmd
	log    string // a file
	memory float64
	exited chan struct{}
	err    error // once exited
}

func (c *copier) run(ctx context.Context, options ...string) *copyRun {
	out := sample.Must(os.CreateTemp(c.dir, "sync-*.log"))
	r := &copyRun{cmd: c.command(ctx, append([]string{"sync.py", copyFile}, options...)...), log: out.Name(), exited: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = out, out
	sample.Must(0, r.cmd.Start())
	go func() {
		r.err = r.cmd.Wait()
		_ = out.Close()
		close(r.exited)
	}()
	return r
}

// await waits until something holds, and returns an error if the program ends with one before.
func (r *copyRun) await(holds func() bool) error {
	for !holds() {
		select {
		case <-r.exited:
			if r.err != nil {
				printed, _ := os.ReadFile(r.log)
				return fmt.Errorf("sync.py: %w\n%s", r.err, printed)
			}
			return nil
		case <-time.After(100 * time.Millisecond):
			r.memory = max(r.memory, peakMemory(r.cmd.Process.Pid))
		}
	}
	return nil
}

// wait waits until the program ends.
func (r *copyRun) wait() error { return r.await(func() bool { return false }) }

// stop asks the program to end.
func (r *copyRun) stop() error {
	r.memory = max(r.memory, peakMemory(r.cmd.Process.Pid))
	return errors.Join(r.cmd.Process.Signal(syscall.SIGTERM), r.wait())
}

// pass is what a pass of the program did.
type pass struct {
	requests, refused, records int
	behind                     time.Duration // of the oldest change that it read
}

var passLine = regexp.MustCompile(`(\d+) requests \((\d+) refused\), (\d+) records(?:, (\S+) s behind)?`)

// passes returns the passes until now.
func (r *copyRun) passes() (all []pass) {
	printed := sample.Must(os.ReadFile(r.log))
	for _, found := range passLine.FindAllStringSubmatch(string(printed), -1) {
		var p pass
		for i, into := range []*int{&p.requests, &p.refused, &p.records} {
			*into, _ = strconv.Atoi(found[i+1])
		}
		seconds, _ := strconv.ParseFloat(found[4], 64) // none: nothing had changed
		p.behind = time.Duration(seconds * float64(time.Second))
		all = append(all, p)
	}
	return all
}

// Both sides of the comparison print a row's fields with spaces between, in the order of ULIDs.
const (
	copyPy = `
import sqlite3, sys, zlib
for query in sys.argv[2:]:
    rows = check = 0
    for row in sqlite3.connect(sys.argv[1]).execute(query):
        rows, check = rows + 1, zlib.crc32(" ".join(map(str, row)).encode() + b"\n", check)
    print(rows, check)`

	copiedCustomersSQL = `
	select ulid, points_balance, stamps_balance, status, first_name
	from customers
	where kept_ulid is null
	order by ulid`
	copiedSalesSQL = `
	select ulid, customer_ulid, spend_amount_cents, points_awarded, refunded_cents, status
	from transactions
	order by ulid`
	copiedRedemptionsSQL = `
	select ulid, customer_ulid, points_spent, status
	from redemptions
	order by ulid`

	customersSQL = `
	select array[c.id], a.points || ' ' || a.stamps || ' ' || c.status || ' ' || c.first_name
	from loyalty.customer c
	join loyalty.account a on a.tenant_id = c.tenant_id and a.customer_id = c.id
	where c.tenant_id = $1 and c.merged_into is null
	order by c.id`
	salesSQL = `
	select array[id, customer_id], spend_amount_cents || ' ' || points_awarded || ' ' || refunded_cents || ' ' || status
	from loyalty.transaction
	where tenant_id = $1
	order by id`
	redemptionsSQL = `
	select array[id, customer_id], points_spent || ' ' || status
	from loyalty.redemption
	where tenant_id = $1
	order by id`
)

// compareCopy compares each row of the copy with the database, by a checksum over all of them in order.
func (b *bench) compareCopy(ctx context.Context, d *business, c *copier) error {
	progress("comparing the copy")
	printed, err := c.command(ctx, "-c", copyPy, copyFile, copiedCustomersSQL, copiedSalesSQL, copiedRedemptionsSQL).Output()
	if err != nil {
		return fmt.Errorf("read the copy: %w", err)
	}
	var want strings.Builder
	for _, sql := range []string{customersSQL, salesSQL, redemptionsSQL} {
		rows, err := b.admin.Query(ctx, sql, d.ID)
		if err != nil {
			return err
		}
		var ids []core.ID
		var rest string
		count, check := 0, uint32(0)
		_, err = pgx.ForEachRow(rows, []any{&ids, &rest}, func() error {
			var row []byte
			for _, id := range ids {
				row = append(append(row, id.String()...), ' ')
			}
			count, check = count+1, crc32.Update(check, crc32.IEEETable, append(append(row, rest...), '\n'))
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Fprintln(&want, count, check)
	}
	if got := string(printed); got != want.String() {
		return fmt.Errorf("the copy differs: rows and checksums of customers, sales and redemptions are\n%swant\n%s", got, want.String())
	}
	fmt.Printf("\nthe copy is equal, by rows and checksums of customers, sales and redemptions:\n%s", printed)
	return nil
}
