package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/programme"
	"example.com/loyalty/core/sample"
)

// Limits of one business while another does all heavy work at once, or is flooded.
const (
	neighbourLimit = 50    // ms: sales and reads
	resetLimit     = 5_000 // ms: from requesting a reset to sending its e-mail
	memoryLimit    = 400   // MB, of the product
)

// measureNeighbours measures one business's sales, reads and resets alone, while another does all heavy work at
// once, and while strangers flood another: in one process, and in two. Exceeding a limit is an error. The row to
// measure is "busy", "expiring", "floods" or the name of a flood.
func (b *bench) measureNeighbours(ctx context.Context) {
	other := b.createBusiness(ctx, 100_000, 300_000)
	var resets atomic.Int64
	limits := func(most float64) []goal {
		return []goal{{figure: p95, most: most}, {figure: memory, most: memoryLimit}}
	}
	served := []scenario{
		{name: "sales", rate: 50, request: func() *fasthttp.Request { return b.record(b.business) }, goals: limits(neighbourLimit)},
		{name: "reads", rate: 100, request: func() *fasthttp.Request { return b.read(b.business) }, goals: limits(neighbourLimit)},
	}
	var missed error
	check := func(title string, results []result) {
		printTable(title, results)
		for _, r := range results {
			for _, g := range r.goals {
				if text, met := g.check(r); !met {
					missed = errors.Join(missed, fmt.Errorf("%s: %s: not %s", title, r.name, text))
				}
			}
		}
	}
	if b.row == "" || b.row == "busy" {
		measured := append(slices.Clone(served), scenario{name: "resets", rate: 1, goals: limits(resetLimit), steps: func(ctx context.Context) (*fasthttp.Request, error) {
			return b.reset(ctx, fmt.Sprintf("reset%d@%d.example", resets.Add(1), b.business.ID))
		}})
		printTable("a business alone", b.together(ctx, measured...))
		check("with a busy business", b.together(ctx, append(measured, b.heavyWork(ctx, other)...)...))
	}
	if b.row == "" || b.row == expiring {
		check("while the points of 300,000 customers expire", b.whileExpiring(ctx, served))
		if b.row == expiring {
			sample.Must(0, missed)
			return
		}
	}
	second := b.newServer(ctx, b.databaseURL, builtProduct, "serve")
	second.start(ctx)
	defer second.stop()
	processes := []*server{b.product, second}
	printTable("a business alone", b.together(ctx, served...))
	for _, f := range b.floods(ctx, other, processes) {
		if b.row != "" && b.row != "floods" && b.row != f.name {
			continue
		}
		work := append(slices.Clone(served), f.work...)
		check("beside a flood of "+f.name, b.together(ctx, among(processes[:1], work)...))
		check("the same in two processes", b.together(ctx, among(processes, work)...))
	}
	sample.Must(0, missed)
}

// expiring is the row of a business whose points all end on one day.
const expiring = "expiring"

// What customers have from before a rule ended yesterday.
const endAllSQL = `
	with rule as (
		insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, opening_expires_on, begun_at, updated_at)
		values ($1, 'points', 'after', 12, 'month', current_date - 1, now(), now())
	), given as (
		update loyalty.account
		set points = points + 10,
			entries = entries + 1,
			points_expire_on = current_date - 1
		where tenant_id = $1
		returning customer_id, points, entries
	)
	insert into loyalty.ledger_entry (tenant_id, id, customer_id, unit, amount, kind, reason, actor_kind, actor_id, actor_name, created_at, seq, balance_after)
	select $1, loyalty.new_ulid(now()), customer_id, 'points', 10, 'opening', 'Benchmark', 'system', '', 'bench', now(), entries, points
	from given`

// whileExpiring measures loads while the points of all customers of another business expire, and says how long that takes.
func (b *bench) whileExpiring(ctx context.Context, loads []scenario) []result {
	const customers = 300_000
	other := b.createBusiness(ctx, customers, customers)
	b.exec(ctx, endAllSQL, other.ID)
	b.settle(ctx)
	d := sample.Must(db.Open(ctx, b.databaseURL, db.Options{}))
	defer d.Close()
	jobs := sample.Must(job.New(d, slog.New(slog.DiscardHandler)))
	sample.Must(programme.NewService(d, jobs, nil, link.Maker{}).QueueDue(ctx))
	begun := time.Now()
	results := b.together(ctx, loads...)
	var left int64
	const leftSQL = "select count(*) from loyalty.account where tenant_id = $1 and points > 0"
	sample.Must(0, b.admin.QueryRow(ctx, leftSQL, other.ID).Scan(&left))
	progress("%d of %d customers expired in %s", customers-left, customers, time.Since(begun).Round(time.Second))
	sample.Must(0, b.await(ctx, "select expired_through is not null from loyalty.programme where tenant_id = $1", other.ID))
	progress("all expired in %s", time.Since(begun).Round(time.Second))
	return results
}

// among divides loads evenly among processes, as a proxy in front of them does.
func among(processes []*server, loads []scenario) (divided []scenario) {
	for i, on := range processes {
		for _, s := range loads {
			s.on, s.rate, s.workers = on, s.rate/len(processes), s.workers/len(processes)
			if i > 0 {
				s.name = fmt.Sprintf("%s in process %d", s.name, i+1)
			}
			divided = append(divided, s)
		}
	}
	return divided
}

// heavyWork returns loads that keep the database and the processor busy. 503 is accepted, too.
func (b *bench) heavyWork(ctx context.Context, busy *business) []scenario {
	owner := b.signInAs(ctx, busy, core.Owner)
	var imports []string
	for n := range 3 {
		imports = append(imports, upload(ctx, owner, n, 100_000))
	}
	now := time.Now()
	years := "?from=" + now.AddDate(-10, 0, 1).Format(time.DateOnly) + "&to=" + now.Format(time.DateOnly)
	columns := url.Values{"column_0": {"first_name"}, "column_1": {"last_name"}, "column_2": {"phone"}, "heading": {"1"}}
	var checks, visits atomic.Int64
	served := []int{fasthttp.StatusOK, fasthttp.StatusServiceUnavailable}
	return []scenario{
		{name: "reports of ten years", workers: 60, status: served, request: func() *fasthttp.Request { return owner.get("/admin/reports" + years) }},
		{name: "exports to Excel", workers: 6, status: served, request: func() *fasthttp.Request { return owner.get("/admin/customers/export.xlsx") }},
		{
			name: "checks of 100,000 rows", rate: 2, times: 6, status: []int{fasthttp.StatusSeeOther, fasthttp.StatusUnprocessableEntity},
			request: func() *fasthttp.Request {
				return owner.form(imports[checks.Add(1)%int64(len(imports))]+"/check", columns)
			},
		},
		{
			name: "wrong passwords", workers: 150, status: []int{fasthttp.StatusUnprocessableEntity, fasthttp.StatusServiceUnavailable},
			request: func() *fasthttp.Request {
				email := fmt.Sprintf("visitor%d@example.com", visits.Add(1))
				return b.visitor(busy.Slug).form("/admin/sign-in", url.Values{"email": {email}, "password": {"a wrong password"}})
			},
		},
	}
}

// upload uploads a file of customers and returns the path of its import.
func upload(ctx context.Context, by browser, number, rows int) string {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	sample.Must(0, form.WriteField("form_key", core.NewID(time.Now()).String()))
	file := sample.Must(form.CreateFormFile("file", "customers.csv"))
	fmt.Fprintln(file, "First name,Last name,Phone")
	for n := range rows {
		fmt.Fprintf(file, "Bo,Ek,+4672%d%06d\n", number, n)
	}
	sample.Must(0, form.Close())
	request := by.form("/admin/customers/import", nil)
	request.SetBody(body.Bytes())
	request.Header.SetContentType(form.FormDataContentType())
	return string(sample.Must(by.ask(ctx, request, fasthttp.StatusSeeOther)).Header.Peek("Location"))
}

// reset requests a password reset, waits until its e-mail is sent, and returns the request of the
// sign-in page.
func (b *bench) reset(ctx context.Context, email string) (t *fasthttp.Request, err error) {
	v := b.visitor(b.business.Slug)
	if _, err := v.ask(ctx, v.form("/admin/forgot", url.Values{"email": {email}}), fasthttp.StatusSeeOther); err != nil {
		return t, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = b.await(ctx, "select exists (select from loyalty.mail where recipient = $1 and done_at is not null)", email)
	return v.get("/admin/sign-in"), err
}
