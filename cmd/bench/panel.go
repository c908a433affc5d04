package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/PuerkitoBio/goquery"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"example.com/loyalty/core"
	"example.com/loyalty/web/admin"
)

// What the panel is held to: 95 of 100 within this time. A page that is over it is named.
const (
	pageLimit   = 30 * time.Millisecond
	searchLimit = 50 * time.Millisecond

	firstLoadLimit = 200_000 // bytes
)

// page is a page of the panel, and how it is asked for.
type page struct {
	name     string // "": its path
	path     string
	fragment bool          // as htmx asks, for a part of it
	public   bool          // without the session
	status   int           // 0: 200
	limit    time.Duration // 0: a file takes what it takes
}

// latestBuyer finds a customer.
const latestBuyer = "select customer_id from loyalty.transaction where tenant_id = $1 order by id desc"

// records find the record that a parameter of a path is filled with, in the tenant $1.
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

// routes are all pages of the panel, and some of them with a query that changes what they show.
var routes = append(admin.Pages(), []admin.Page{
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

// exceptions are pages that are not asked for, or not answered, like the others.
var exceptions = map[string]page{
	"/admin/activity":     {fragment: true},
	"/admin/settings":     {status: http.StatusSeeOther}, // to the first of them
	"/admin/setup":        {status: http.StatusSeeOther}, // to its end: the demo is set up
	"/admin/sign-in/code": {status: http.StatusSeeOther}, // it follows a password
}

// measurePanel prints what the panel's pages take, one at a time: all of them for the demo, and
// for the large business those that its size could slow down.
func (b *bench) measurePanel(ctx context.Context) error {
	tenant, owner, err := b.makeDemo(ctx)
	if err != nil {
		return err
	}
	if err := b.firstLoad(ctx, owner); err != nil {
		return err
	}
	var pages []page
	for _, route := range routes {
		p := exceptions[route.Path]
		p.name, p.public = route.Path, route.Public
		if !route.Slow {
			p.limit = pageLimit
		}
		if p.path, err = b.fill(ctx, tenant, route.Path); err != nil {
			return err
		}
		pages = append(pages, p)
	}
	wrong := b.measurePages(ctx, "the demo", owner, pages)

	d, err := b.makeLargeBusiness(ctx)
	if err != nil {
		return err
	}
	if owner, err = b.signInOwner(ctx, d); err != nil {
		return err
	}
	if pages, err = b.largePages(ctx, d); err != nil {
		return err
	}
	return errors.Join(wrong, b.measurePages(ctx, fmt.Sprintf("%d customers, %d sales", b.large, b.sales), owner, pages))
}

func (b *bench) measurePages(ctx context.Context, title string, owner browser, pages []page) error {
	var list []scenario
	for _, p := range pages {
		by := owner
		if p.public {
			by.header = owner.header.Clone()
			by.header.Del("Cookie")
		}
		list = append(list, scenario{
			name: p.name, workers: 1, share: 5, limit: p.limit, status: []int{max(p.status, http.StatusOK)},
			request: func() vegeta.Target { return by.get(p.path, p.fragment) },
		})
	}
	return b.measureAll(ctx, title, list)
}

var (
	demoEmail    = regexp.MustCompile(`with (\S+) \(owner\)`)
	demoPassword = regexp.MustCompile(`password, shown once: (\S+)`)
)

// makeDemo makes the demo with a record for every page, and signs its owner in, who has begun to
// set up two-step verification: there is a page for that.
func (b *bench) makeDemo(ctx context.Context) (tenant core.TenantID, owner browser, err error) {
	progress("making the demo")
	out, err := b.product.command(ctx, "demo")
	if err != nil {
		return 0, owner, err
	}
	email, password := demoEmail.FindStringSubmatch(out), demoPassword.FindStringSubmatch(out)
	if email == nil || password == nil {
		return 0, owner, fmt.Errorf("the demo prints no sign-in: %s", out)
	}
	if owner, err = b.product.signIn(ctx, "demo", email[1], password[1]); err != nil {
		return 0, owner, err
	}
	if err := b.admin.QueryRow(ctx, "select id, bench.furnish(id) from loyalty.tenant where slug = 'demo'").Scan(&tenant, nil); err != nil {
		return 0, owner, err
	}
	if _, err := b.upload(ctx, owner, 0, 10); err != nil {
		return 0, owner, err
	}
	_, err = b.product.ask(ctx, owner.form("/admin/settings/security/two-step/begin", url.Values{"confirmation": {password[1]}}), http.StatusSeeOther)
	return tenant, owner, errors.Join(err, b.settle(ctx))
}

var parameter = regexp.MustCompile(`:[a-z]+`)

// fill puts records into a path.
func (b *bench) fill(ctx context.Context, tenant core.TenantID, path string) (string, error) {
	var filled strings.Builder
	rest := 0
	for _, at := range parameter.FindAllStringIndex(path, -1) {
		sql, known := records[path[:at[1]]]
		if !known {
			return "", fmt.Errorf("%s: records have nothing for %s", path, path[at[0]:at[1]])
		}
		var record any
		if err := b.admin.QueryRow(ctx, sql, tenant).Scan(&record); err != nil {
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

// largePages are lists from both ends and from the middle, what people search for, and the
// customer who comes most.
func (b *bench) largePages(ctx context.Context, d *business) ([]page, error) {
	byAge, err := b.cursor(ctx, d, newestFirst, d.customers*3/7)
	if err != nil {
		return nil, err
	}
	byName, err := b.cursor(ctx, d, "last_name collate loyalty.name, first_name collate loyalty.name, id", d.customers*3/7)
	if err != nil {
		return nil, err
	}
	var first, last, phone string
	err = b.admin.QueryRow(ctx, "select first_name, last_name, substr(phone_key, 4) from loyalty.customer where tenant_id = $1 and id = $2",
		d.ID, byAge.ID).Scan(&first, &last, &phone)
	if err != nil {
		return nil, err
	}
	frequent := numbered(customerIDs, 1).String()
	var pages []page
	for _, p := range []page{
		{name: "dashboard", path: "/admin"},
		{name: "customers", path: "/admin/customers"},
		{name: "customers from the middle", path: "/admin/customers?cursor=" + byAge.String()},
		{name: "customers by name", path: "/admin/customers?sort=name"},
		{name: "customers by name, from the middle", path: "/admin/customers?sort=name&cursor=" + byName.String()},
		{name: "inactive customers", path: "/admin/customers?status=inactive"},
		{name: "inactive customers by name", path: "/admin/customers?sort=name&status=inactive"},
		{name: "a customer", path: "/admin/customers/" + byAge.ID.String()},
		{name: "the customer with the most sales", path: "/admin/customers/" + frequent},
		{name: "their sales", path: "/admin/customers/" + frequent + "?view=transactions"},
		{name: "transactions", path: "/admin/transactions"},
		{name: "transactions of that customer", path: "/admin/transactions?customer_ulid=" + frequent},
		{name: "transactions of three days", path: "/admin/transactions?from=" + byAge.At.Format(time.DateOnly) + "&to=" + byAge.At.AddDate(0, 0, 2).Format(time.DateOnly)},
	} {
		p.limit = pageLimit
		pages = append(pages, p)
	}
	for _, search := range []struct{ name, typed string }{
		{"a whole name", first + " " + last},
		{"a last name", last},
		{"a part of many names", "an"},
		{"a letter", "a"},
		{"a rare letter", "é"},
		{"a phone number", "0" + phone[:2] + "-" + phone[2:5] + " " + phone[5:7] + " " + phone[7:]},
		{"how a number begins", "0" + phone[:2] + "-" + phone[2:5]},
		{"the same, dialled from abroad", "0046" + phone[:5]},
		{"how a number ends", phone[5:7] + " " + phone[7:]},
		{"how an address ends", "@example.net"},
		{"what no customer has", "nothing at all"},
		{"two letters that no customer has", "xq"},
	} {
		pages = append(pages, page{name: "search: " + search.name, path: "/admin/customers?search=" + url.QueryEscape(search.typed), fragment: true, limit: searchLimit})
	}
	return append(pages, page{name: "search at the till", path: "/admin/transactions/new?search=an", fragment: true, limit: searchLimit}), nil
}

// firstLoad prints how much a browser fetches that was never here: the sign-in page with everything
// it brings, and what the dashboard brings besides.
func (b *bench) firstLoad(ctx context.Context, owner browser) error {
	fetched := map[string]bool{}
	sum := 0
	for _, start := range []string{"/admin/sign-in", "/admin"} {
		before, files := sum, len(fetched)
		for wanted := []string{start}; len(wanted) > 0; wanted = wanted[1:] {
			if fetched[wanted[0]] {
				continue
			}
			fetched[wanted[0]] = true
			size, links, err := b.fetch(ctx, owner, wanted[0])
			if err != nil {
				return err
			}
			sum += size
			wanted = append(wanted, links...)
		}
		fmt.Printf("first load of %s: %d files, %d bytes\n", start, len(fetched)-files, sum-before)
	}
	fmt.Printf("first load of both: %d bytes; the limit is %d\n", sum, firstLoadLimit)
	return nil
}

// fontURL is what a stylesheet loads.
var fontURL = regexp.MustCompile(`url\(["']?(/[^"')]+)["']?\)`)

// fetch returns how large a file is, compressed, and the paths of what a browser then fetches.
func (b *bench) fetch(ctx context.Context, owner browser, path string) (size int, links []string, err error) {
	request := owner.get(path, false)
	if path == "/admin/sign-in" {
		request.Header.Del("Cookie")
	}
	packed, err := b.product.ask(ctx, request, http.StatusOK)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Accept-Encoding", "identity")
	plain, err := b.product.ask(ctx, request, http.StatusOK)
	if err != nil {
		return 0, nil, err
	}
	switch kind, _, _ := strings.Cut(plain.Header.Get("Content-Type"), ";"); kind {
	case "text/html":
		doc, err := goquery.NewDocumentFromReader(bytes.NewReader(plain.body))
		if err != nil {
			return 0, nil, err
		}
		for _, s := range doc.Find("link[rel=icon], link[rel=preload], link[rel=stylesheet], script[src], img[src]").EachIter() {
			links = append(links, s.AttrOr("href", s.AttrOr("src", "")))
		}
	case "text/css":
		for _, match := range fontURL.FindAllSubmatch(plain.body, -1) {
			links = append(links, string(match[1]))
		}
	}
	return len(packed.body), links, nil
}
