package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/web/admin"
)

// What the panel is held to: 95 of 100 within so much of the server's own time.
const (
	pageLimit   = 30 * time.Millisecond
	searchLimit = 50 * time.Millisecond

	firstLoadLimit = 200_000 // bytes
)

// page is a page of the panel, and how it is asked for.
type page struct {
	name     string
	path     string
	post     bool
	form     url.Values
	fragment bool          // as htmx asks, for a part of it
	stranger bool          // without the session
	status   int           // 0: 200
	limit    time.Duration // 0: a file takes what it takes
}

func (p page) wanted() int { return cmp.Or(p.status, http.StatusOK) }

// measurePanel prints what the pages take: of the demo, and of a business with many
// customers. A page that is slow is no error, one that is not there is.
func measurePanel(ctx context.Context, p *product, s *shop, superuserURL string, o options) error {
	conn, err := pgx.Connect(ctx, superuserURL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)

	fmt.Fprint(os.Stderr, "panel: making the demo … ")
	made, err := demo.Fill(ctx, s.db, demo.Options{})
	if err != nil {
		return err
	}
	owner, err := newBrowser(ctx, p, s, made.Tenant, made.People[0].ID)
	if err != nil {
		return err
	}
	fmt.Fprint(os.Stderr, "its pages … ")
	if err := owner.firstLoad(ctx); err != nil {
		return err
	}
	if err := s.furnish(ctx, conn, made.Tenant); err != nil {
		return err
	}
	pages, err := everyPage(ctx, conn, made.Tenant.ID)
	if err != nil {
		return err
	}
	wrong := owner.report(ctx, "the demo", pages, o)

	fmt.Fprintf(os.Stderr, "making %d customers … ", o.crowd)
	crowd, err := s.gather(ctx, conn, "crowd", o.crowd)
	if err != nil {
		return err
	}
	if owner, err = newBrowser(ctx, p, s, crowd.tenant, crowd.owner); err != nil {
		return err
	}
	if pages, err = crowd.pages(ctx, conn); err != nil {
		return err
	}
	fmt.Fprint(os.Stderr, "their pages … ")
	wrong = errors.Join(wrong, owner.report(ctx, fmt.Sprintf("%d customers", o.crowd), pages, o))
	fmt.Fprintln(os.Stderr, "done")
	return wrong
}

// records are what a name in a path stands for, in the tenant $1.
var records = map[string]string{
	"/admin/customers/:ulid":                      latestBuyer,
	"/admin/customers/import/:ulid":               "select id from loyalty.customer_import where tenant_id = $1",
	"/admin/transactions/new?customer_ulid=:ulid": latestBuyer,
	"/admin/redemptions/new?customer_ulid=:ulid":  latestBuyer,
	"/admin/transactions/:ulid":                   "select id from loyalty.transaction where tenant_id = $1 and status = 'completed' order by id desc",
	"/admin/types/:id":                            "select id from loyalty.transaction_type where tenant_id = $1 order by id",
	"/admin/transactions/earns?spend_amount_cents=24.50&transaction_type_id=:id": "select id from loyalty.transaction_type where tenant_id = $1 order by id",
	"/admin/rewards/:ulid":     "select id from loyalty.reward where tenant_id = $1 and active order by id",
	"/admin/redemptions/:ulid": "select id from loyalty.redemption where tenant_id = $1 and status = 'pending' order by id desc",
	"/admin/coupons/:ulid":     "select id from loyalty.coupon where tenant_id = $1 and active order by redemptions_count desc",
	"/admin/coupons/:ulid/sends/:send": `select s.id from loyalty.coupon c join loyalty.coupon_send s on s.tenant_id = $1 and s.coupon_id = c.id
		where c.tenant_id = $1 and c.active order by c.redemptions_count desc, s.id desc`,
	"/admin/vouchers/:ulid":                   "select id from loyalty.voucher where tenant_id = $1 and status = 'pending' order by id desc",
	"/admin/locations/:id":                    "select id from loyalty.location where tenant_id = $1",
	"/admin/settings/staff/:id":               "select staff_id from loyalty.token where tenant_id = $1 and revoked_at is null order by id",
	"/admin/settings/staff/:id/tokens/:token": "select id from loyalty.token where tenant_id = $1 and revoked_at is null order by id",
	"/admin/settings/tokens/:id":              "select id from loyalty.token where tenant_id = $1 and revoked_at is null",
	"/admin/settings/billing/invoices/:id":    "select id from loyalty.invoice where tenant_id = $1 and number is not null",
	"/admin/logo/:hash":                       "select encode(logo_hash, 'hex') from loyalty.tenant_look where tenant_id = $1",
	"/admin/invitation/:secret":               "select 'bench' where $1 > 0",
	"/admin/reset/:secret":                    "select 'bench' where $1 > 0",
}

const latestBuyer = "select customer_id from loyalty.transaction where tenant_id = $1 order by id desc"

// asked are all pages there are, and some of them with a question: they show more than
// they do by themselves.
var asked = append(admin.Pages(), []admin.Page{
	{Path: "/admin/customers?search=an"},
	{Path: "/admin/customers?sort=name"},
	{Path: "/admin/customers/:ulid?view=transactions"},
	{Path: "/admin/customers/:ulid?view=redemptions"},
	{Path: "/admin/customers/:ulid?view=vouchers"},
	{Path: "/admin/transactions/new?search=an"},
	{Path: "/admin/transactions/new?customer_ulid=:ulid"},
	{Path: "/admin/transactions/earns?spend_amount_cents=24.50&transaction_type_id=:id"},
	{Path: "/admin/redemptions/new?customer_ulid=:ulid"},
}...)

// peculiar pages are not asked for, or not answered, like the others.
var peculiar = map[string]page{
	"/admin/activity":     {fragment: true},
	"/admin/settings":     {status: http.StatusSeeOther}, // to the first of them
	"/admin/setup":        {status: http.StatusSeeOther}, // to its end: the demo is set up
	"/admin/sign-in/code": {status: http.StatusSeeOther}, // nobody has given a password
}

// everyPage is every page that the panel has, with records of a tenant in the paths.
func everyPage(ctx context.Context, conn *pgx.Conn, tenant core.TenantID) (list []page, err error) {
	for _, a := range asked {
		p := peculiar[a.Path]
		p.name, p.stranger = a.Path, a.Public
		if !a.Slow {
			p.limit = pageLimit
		}
		if p.path, err = fill(ctx, conn, tenant, a.Path); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

var parameter = regexp.MustCompile(`:[a-z]+`)

// fill puts records into a path.
func fill(ctx context.Context, conn *pgx.Conn, tenant core.TenantID, path string) (string, error) {
	var filled strings.Builder
	rest := 0
	for _, at := range parameter.FindAllStringIndex(path, -1) {
		sql, known := records[path[:at[1]]]
		if !known {
			return "", fmt.Errorf("%s: records say nothing of %s", path, path[at[0]:at[1]])
		}
		var record any
		if err := conn.QueryRow(ctx, sql, tenant).Scan(&record); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		if uuid, is := record.([16]byte); is {
			record = core.ID(uuid)
		}
		fmt.Fprint(&filled, path[rest:at[0]], record)
		rest = at[1]
	}
	return filled.String() + path[rest:], nil
}

// furnish gives the demo what some pages are about and it has none of.
func (s *shop) furnish(ctx context.Context, conn *pgx.Conn, t core.Tenant) error {
	if _, err := demo.Token(ctx, s.db, s.tokens, t); err != nil {
		return err
	}
	list := customer.ImportFile{Name: "customers.csv", FormKey: "bench", Content: strings.NewReader("Name,Phone\nBo Ek,+46 70 123 45 67\n")}
	if _, err := s.imports.Upload(ctx, core.System(t, "bench"), list); err != nil {
		return err
	}
	for _, sql := range []string{
		"insert into loyalty.location (tenant_id, name) values ($1, 'Söder')",
		`insert into loyalty.tenant_look (tenant_id, logo, logo_type, logo_hash, updated_at)
			select $1, picture, 'image/png', sha256(picture), now()
			from decode(repeat('bench', 4000), 'escape') picture`,
		`insert into loyalty.invoice (tenant_id, number, status, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end,
				issuer, recipient, created_at, issued_at, due_at)
			select $1, 1000000, 'issued', 'EUR', '[{"description": "Growth plan", "quantity": 1, "unit_cents": 4900, "amount_cents": 4900}]', 4900, 1225, 6125,
				current_date, current_date + 29, party, party, now(), now(), now() + interval '30 days'
			from (select '{"name": "Bench AB", "address": "Kungsgatan 12", "tax_number": "", "email": ""}'::jsonb as party) p`,
		`insert into loyalty.password_reset (tenant_id, id, staff_id, hash, expires_at, created_at)
			select $1, loyalty.new_ulid(now()), min(id), sha256('bench'), now() + interval '1 day', now()
			from loyalty.staff
			where tenant_id = $1`,
		`with person as (
				insert into loyalty.staff (tenant_id, role, name, email, email_key, created_at)
				values ($1, 'cashier', 'Bo Ek', 'bo@cafearo.example', 'bo@cafearo.example', now())
				returning id
			), credential as (
				insert into loyalty.credential (staff_id, tenant_id)
				select id, $1
				from person
			)
			insert into loyalty.invitation (tenant_id, id, staff_id, hash, expires_at, created_at)
			select $1, loyalty.new_ulid(now()), id, sha256('bench'), now() + interval '1 day', now()
			from person`,
	} {
		if _, err := conn.Exec(ctx, sql, t.ID); err != nil {
			return err
		}
	}
	return nil
}

// measured is a page that was asked for again and again.
type measured struct {
	page
	status int
	bytes  int
	waited result // through TLS, as the browser waits for it
	own    result // the server's own time
}

func (m *measured) over() bool {
	return m.limit > 0 && len(m.own.latencies) > 0 && m.own.at(95) > m.limit
}

const (
	// settling is how often a page is asked for before it counts: until its statements are
	// prepared, and PostgreSQL has chosen plans that it keeps.
	settling = 10
	// enough is how often it counts at least.
	enough = 50
)

// measure asks for one page after the other, one at a time.
func (b *browser) measure(ctx context.Context, pages []page, o options) ([]*measured, error) {
	log, err := os.Stat(b.log.Name())
	if err != nil {
		return nil, err
	}
	var list []*measured
	requests := map[string]*measured{} // by their ids
	for _, p := range pages {
		m := &measured{page: p}
		list = append(list, m)
		began := time.Now()
		for n := 0; n < settling+enough || time.Since(began) < time.Duration(o.seconds)*time.Second/5; n++ {
			sent := time.Now()
			got, err := b.ask(ctx, p)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.path, err)
			}
			m.status, m.bytes = got.status, len(got.body)
			if m.status != p.wanted() {
				break
			}
			if n >= settling {
				m.waited.latencies = append(m.waited.latencies, time.Since(sent))
				requests[got.header.Get("X-Request-Id")] = m
			}
		}
		slices.Sort(m.waited.latencies)
	}
	return list, b.readLog(log.Size(), requests)
}

// readLog reads what the product itself says that requests took, from a place in its log on.
func (p *product) readLog(from int64, requests map[string]*measured) error {
	file, err := os.Open(p.log.Name())
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return err
	}
	missing := len(requests)
	for lines := json.NewDecoder(file); missing > 0; {
		var line struct {
			Msg, Request string
			MS           float64
		}
		if err := lines.Decode(&line); err != nil {
			return fmt.Errorf("the log, of %d requests: %w", missing, err)
		}
		if m := requests[line.Request]; m != nil && line.Msg == "request" {
			m.own.latencies = append(m.own.latencies, time.Duration(line.MS*float64(time.Millisecond)))
			missing--
		}
	}
	for _, m := range requests {
		slices.Sort(m.own.latencies)
	}
	return nil
}

// report measures pages and prints their table. The error names those that were not
// answered as they should be.
func (b *browser) report(ctx context.Context, title string, pages []page, o options) (wrong error) {
	list, err := b.measure(ctx, pages, o)
	if err != nil {
		return err
	}
	fmt.Println()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\tstatus\tp50\tp95\tp99\tserver p50\tp95\tp99\tbytes\t\n", title)
	var slowest *measured
	var over []string
	for _, m := range list {
		note := ""
		if m.over() {
			note = "over " + milliseconds(m.limit)
			over = append(over, m.name)
		}
		if m.status != m.wanted() {
			note = fmt.Sprintf("status, not %d", m.wanted())
			wrong = errors.Join(wrong, fmt.Errorf("%s: status %d, want %d", m.path, m.status, m.wanted()))
		} else if m.limit > 0 && (slowest == nil || m.own.at(95) > slowest.own.at(95)) {
			slowest = m
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", m.name, m.status,
			m.waited.percentile(50), m.waited.percentile(95), m.waited.percentile(99),
			m.own.percentile(50), m.own.percentile(95), m.own.percentile(99), m.bytes, note)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if slowest != nil {
		fmt.Printf("slowest: %s, 95 of 100 within %s of the server's own time\n", slowest.name, slowest.own.percentile(95))
	}
	fmt.Printf("over their limit: %s\n", cmp.Or(strings.Join(over, ", "), "none"))
	return wrong
}
