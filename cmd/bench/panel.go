package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/route"
)

// Limits of the panel, for 95 of 100 requests. Pages above them are listed.
const (
	pageLimit      = 30      // ms
	searchLimit    = 50      // ms
	firstLoadLimit = 200_000 // bytes
)

// records has the statement that finds the record for a parameter in a path, in tenant $1.
var records = map[string]string{
	"customers/:ulid":         "select customer_id from loyalty.transaction where tenant_id = $1 order by id desc",
	"customer_ulid=:ulid":     "select customer_id from loyalty.transaction where tenant_id = $1 order by id desc",
	"import/:ulid":            "select id from loyalty.customer_import where tenant_id = $1",
	"transactions/:ulid":      "select id from loyalty.transaction where tenant_id = $1 and status = 'completed' order by id desc",
	"types/:id":               "select id from loyalty.transaction_type where tenant_id = $1 order by id",
	"transaction_type_id=:id": "select id from loyalty.transaction_type where tenant_id = $1 order by id",
	"rewards/:ulid":           "select id from loyalty.reward where tenant_id = $1 and active order by id",
	"picture/:hash":           "select encode(picture_hash, 'hex') from loyalty.reward where tenant_id = $1 and active order by id",
	"redemptions/:ulid":       "select id from loyalty.redemption where tenant_id = $1 and status = 'pending' order by id desc",
	"coupons/:ulid":           "select coupon_id from loyalty.coupon_send where tenant_id = $1 order by sent desc, id",
	"sends/:send":             "select id from loyalty.coupon_send where tenant_id = $1 order by sent desc, id",
	"notifications/:ulid":     "select id from loyalty.notification where tenant_id = $1 and kind = 'staff_activity'",
	"vouchers/:ulid":          "select id from loyalty.voucher where tenant_id = $1 and status = 'pending' order by id desc",
	"locations/:id":           "select id from loyalty.location where tenant_id = $1",
	"staff/:id":               "select staff_id from loyalty.token where tenant_id = $1 and revoked_at is null order by id",
	"tokens/:token":           "select id from loyalty.token where tenant_id = $1 and revoked_at is null order by id",
	"tokens/:id":              "select id from loyalty.token where tenant_id = $1 and revoked_at is null",
	"earning/:id":             "select id from loyalty.promotion where tenant_id = $1 order by id",
	"categories/:id":          "select id from loyalty.category where tenant_id = $1 order by id",
	"levels/:id":              "select id from loyalty.level where tenant_id = $1 order by rank desc",
	"invoices/:id":            "select id from loyalty.invoice where tenant_id = $1 and number is not null",
	"logo/:hash":              "select encode(logo_hash, 'hex') from loyalty.tenant_look where tenant_id = $1",
	"invitation/:secret":      "select 'bench' where $1 > 0",
	"reset/:secret":           "select 'bench' where $1 > 0",
}

var parameter = regexp.MustCompile(`\w+[/=]:[a-z]+`)

// routes are all pages of the panel, some also with a query.
var routes = append(route.Reading(admin.Routes()), []route.Route{
	{Path: "/admin/customers?search=an"},
	{Path: "/admin/customers?sort=name"},
	{Path: "/admin/customers?tag=regular"},
	{Path: "/admin/customers/:ulid?view=transactions"},
	{Path: "/admin/customers/:ulid?view=redemptions"},
	{Path: "/admin/customers/:ulid?view=vouchers"},
	{Path: "/admin/transactions/new?search=an"},
	{Path: "/admin/transactions/new?customer_ulid=:ulid"},
	{Path: "/admin/transactions/earns?spend_amount_cents=24.50&transaction_type_id=:id"},
	{Path: "/admin/redemptions/new?customer_ulid=:ulid"},
}...)

const fragmentOnly = "/admin/activity" // htmx loads it

// visit returns the row of a page that is requested again and again, perhaps with a limit.
func (b *bench) visit(by browser, name, path string, limit float64) []scenario {
	s := scenario{name: name, workers: 1, lasts: b.lasts / 5, request: func() *fasthttp.Request {
		if path == fragmentOnly || limit == searchLimit {
			return fragment(by.get(path))
		}
		return by.get(path)
	}}
	if limit > 0 {
		s.goals = []goal{{figure: p95, most: limit}}
	}
	return []scenario{s}
}

// measurePanel measures the panel's pages, one request at a time: all of the demo and of the large business, and there further ones that depend
// on its size.
func (b *bench) measurePanel(ctx context.Context) {
	demo, owner := b.createDemo(ctx)
	visitor := b.visitor("demo")
	b.firstLoad(ctx, visitor, owner)
	pages, lacking := b.everyPage(ctx, routes, demo, owner, visitor)
	if len(lacking) > 0 {
		sample.Must(0, fmt.Errorf("the demo has no record for %s", lacking))
	}
	b.measure(ctx, "the demo", pages...)
	large := b.createLargeBusiness(ctx)
	size := fmt.Sprintf("%d customers, %d sales", b.large, b.sales)
	b.measure(ctx, size, b.largePages(ctx, large)...)
	isFile := func(r route.Route) bool { return r.Kind == route.File } // of millions of records
	pages, lacking = b.everyPage(ctx, slices.DeleteFunc(slices.Clone(routes), isFile), large.ID, b.signInAs(ctx, large, core.Owner), b.visitor(large.Slug))
	for _, page := range pages {
		page[0].tolerant = true // some lead elsewhere, where their owner has no reason to be
	}
	b.measure(ctx, fmt.Sprintf("%s: every page, but %d without a record there", size, len(lacking)), pages...)
}

// everyPage returns the pages of routes with a tenant's records, and those for which it has none.
func (b *bench) everyPage(ctx context.Context, of []route.Route, tenant core.TenantID, owner, visitor browser) (pages [][]scenario, lacking []string) {
	for _, r := range of {
		path, err := b.fill(ctx, tenant, r.Path)
		if errors.Is(err, pgx.ErrNoRows) {
			lacking = append(lacking, r.Path)
			continue
		}
		sample.Must(0, err)
		by, limit := owner, float64(pageLimit)
		if r.Who.Everyone {
			by = visitor
		}
		if r.Kind == route.File {
			limit = 0
		}
		pages = append(pages, b.visit(by, r.Path, path, limit))
	}
	return pages, lacking
}

var demoSignIn = regexp.MustCompile(`(?s)as (\S+) \(owner\).*password, shown once: (\S+)`)

// createDemo creates the demo with a record for every page, and signs in as its owner, who has
// started to set up two-step verification, because that has a page, too.
func (b *bench) createDemo(ctx context.Context) (tenant core.TenantID, owner browser) {
	progress("creating the demo")
	out := b.product.run(ctx, "demo")
	printed := demoSignIn.FindStringSubmatch(out)
	if printed == nil {
		sample.Must(0, fmt.Errorf("the demo prints no sign-in: %s", out))
	}
	owner = b.signIn(ctx, "demo", printed[1], printed[2])
	sample.Must(0, b.admin.QueryRow(ctx, "select id, bench.furnish(id) from loyalty.tenant where slug = 'demo'").Scan(&tenant, nil))
	upload(ctx, owner, 0, 10)
	sample.Must(owner.ask(ctx, owner.form("/admin/settings/security/two-step/begin", url.Values{"confirmation": {printed[2]}}), fasthttp.StatusSeeOther))
	b.settle(ctx)
	return tenant, owner
}

// fill replaces the parameters in a path by records of the tenant. It fails with pgx.ErrNoRows if there is none.
func (b *bench) fill(ctx context.Context, tenant core.TenantID, path string) (filled string, err error) {
	filled = parameter.ReplaceAllStringFunc(path, func(p string) string {
		var record any
		err = errors.Join(err, b.admin.QueryRow(ctx, records[p], tenant).Scan(&record))
		if uuid, is := record.([16]byte); is {
			record = core.ID(uuid)
		}
		before, _, _ := strings.Cut(p, ":")
		return before + fmt.Sprint(record)
	})
	return filled, err
}

// largePages returns the pages of the large business: lists from the start and the middle,
// searches, and the customer with the most sales.
func (b *bench) largePages(ctx context.Context, d *business) (pages [][]scenario) {
	owner := b.signInAs(ctx, d, core.Owner)
	byAge := b.cursor(ctx, d, newestFirst, d.customers*3/7)
	byName := b.cursor(ctx, d, "last_name collate loyalty.name, first_name collate loyalty.name, id", d.customers*3/7)
	frequent := d.buyer(0).String()
	var place, yearAgo string
	sample.Must(0, b.admin.QueryRow(ctx, "select min(id)::text, (current_date - 364)::text from loyalty.location where tenant_id = $1", d.ID).Scan(&place, &yearAgo))
	day, later := byAge.At.Format(time.DateOnly), byAge.At.AddDate(0, 0, 2).Format(time.DateOnly)
	for _, p := range [][2]string{
		{"dashboard", "/admin"},
		{"reports", "/admin/reports"},
		{"reports of a year", "/admin/reports?from=" + yearAgo},
		{"reports of a location", "/admin/reports?location=" + place},
		{"customers who came", "/admin/reports/visitors"},
		{"customers who came in a year", "/admin/reports/visitors?from=" + yearAgo},
		{"customers who lapsed", "/admin/reports/visitors/list?audience=lapsed_60"},
		{"customers at risk", "/admin/reports/visitors/list?audience=at_risk"},
		{"top customers", "/admin/reports/customers"},
		{"by location", "/admin/reports/locations"},
		{"by staff member", "/admin/reports/staff"},
		{"by hour", "/admin/reports/hours"},
		{"by reward", "/admin/reports/rewards"},
		{"by reward, of a year", "/admin/reports/rewards?from=" + yearAgo},
		{"by coupon", "/admin/reports/coupons"},
		{"by coupon, of a year", "/admin/reports/coupons?from=" + yearAgo},
		{"promotions and levels", "/admin/reports/earning"},
		{"customers", "/admin/customers"},
		{"customers from the middle", "/admin/customers?cursor=" + byAge.String()},
		{"customers by name", "/admin/customers?sort=name"},
		{"customers by name, from the middle", "/admin/customers?sort=name&cursor=" + byName.String()},
		{"inactive customers", "/admin/customers?status=inactive"},
		{"inactive customers by name", "/admin/customers?sort=name&status=inactive"},
		{"a customer", "/admin/customers/" + byAge.ID.String()},
		{"the customer with the most sales", "/admin/customers/" + frequent},
		{"their sales", "/admin/customers/" + frequent + "?view=transactions"},
		{"transactions", "/admin/transactions"},
		{"transactions of that customer", "/admin/transactions?customer_ulid=" + frequent},
		{"transactions without a location, of a year", "/admin/transactions?location_id=none&from=" + yearAgo},
		{"transactions that the platform recorded, of a year", "/admin/transactions?recorded_by=admin:1&from=" + yearAgo},
		{"transactions of three days", "/admin/transactions?from=" + day + "&to=" + later},
	} {
		pages = append(pages, b.visit(owner, p[0], p[1], pageLimit))
	}
	return append(pages, b.searches(ctx, owner, d, byAge.ID)...)
}

// searches returns searches of the large business, some with what is known about a customer.
func (b *bench) searches(ctx context.Context, owner browser, d *business, customer core.ID) (pages [][]scenario) {
	const customers, transactions, till = "/admin/customers?search=", "/admin/transactions?search=", "/admin/transactions/new?search="
	var first, last, phone string
	sample.Must(0, b.admin.QueryRow(ctx, "select first_name, last_name, substr(phone_key, 4) from loyalty.customer where tenant_id = $1 and id = $2",
		d.ID, customer).Scan(&first, &last, &phone))
	for _, p := range [][3]string{
		{"search: a whole name", customers, first + " " + last},
		{"search: a name, last name first", customers, last + " " + first},
		{"search: a last name", customers, last},
		{"search: two parts of many names", customers, "an er"},
		{"search: a part of many names", customers, "an"},
		{"search: a letter", customers, "a"},
		{"search: a rare letter", customers, "é"},
		{"search: a phone number", customers, "0" + phone[:2] + "-" + phone[2:5] + " " + phone[5:7] + " " + phone[7:]},
		{"search: the start of a number", customers, "0" + phone[:2] + "-" + phone[2:5]},
		{"search: the start with a country code", customers, "0046" + phone[:5]},
		{"search: the end of a number", customers, phone[5:7] + " " + phone[7:]},
		{"search: the end of an e-mail address", customers, "@example.net"},
		{"search: no match", customers, "nothing at all"},
		{"search: two letters without a match", customers, "xq"},
		{"transactions: a whole name", transactions, last + " " + first},
		{"transactions: a part of many names", transactions, "an"},
		{"transactions: an amount", transactions, "12.50"},
		{"transactions: no match", transactions, "nothing at all"},
		{"search at the till", till, "an"},
	} {
		pages = append(pages, b.visit(owner, p[0], p[1]+url.QueryEscape(p[2]), searchLimit))
	}
	return pages
}

// linkedFile finds the files that a browser loads with a page. Style sheets load only a font, which
// pages preload.
var linkedFile = regexp.MustCompile(`<(?:link rel="(?:icon|preload|stylesheet)"|script|img)[^>]* ?(?:href|src)="([^"]+)"`)

// firstLoad prints the size of a browser's first visit: the sign-in page with its files, and the
// additional files of the dashboard.
func (b *bench) firstLoad(ctx context.Context, visitor, owner browser) {
	fetch := func(by browser, path, encoding string) []byte {
		request := by.get(path)
		request.Header.Set("Accept-Encoding", encoding)
		return sample.Must(by.ask(ctx, request, fasthttp.StatusOK)).Body()
	}
	loaded, sum := map[string]bool{}, 0
	visitPage := func(by browser, path string) {
		size := len(fetch(by, path, compressed))
		for _, link := range linkedFile.FindAllSubmatch(fetch(by, path, "identity"), -1) {
			if file := string(link[1]); !loaded[file] {
				loaded[file] = true
				size += len(fetch(by, file, compressed))
			}
		}
		sum += size
		fmt.Printf("first load of %s: %d bytes\n", path, size)
	}
	visitPage(visitor, "/admin/sign-in")
	visitPage(owner, "/admin")
	fmt.Printf("first load of both: %d files, %d bytes; the limit is %d\n", len(loaded)+2, sum, firstLoadLimit)
}
