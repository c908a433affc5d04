package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/PuerkitoBio/goquery"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"example.com/loyalty/core"
	"example.com/loyalty/web/admin"
)

// Limits of the panel, for 95 of 100 requests. Pages above them are listed.
const (
	pageLimit      = 30 * time.Millisecond
	searchLimit    = 50 * time.Millisecond
	firstLoadLimit = 200_000 // bytes
)

// latestBuyer finds a customer.
const latestBuyer = "select customer_id from loyalty.transaction where tenant_id = $1 order by id desc"

// records has the statement that finds the record for each parameter in a path, in tenant $1.
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

// routes are all pages of the panel, some also with a query.
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

const fragmentOnly = "/admin/activity" // htmx loads it

// redirects are pages that redirect the demo's owner: to the first settings, to the end of a
// finished setup, and to the sign-in.
var redirects = []string{"/admin/settings", "/admin/setup", "/admin/sign-in/code"}

// visit is a scenario that requests a page again and again.
func visit(by browser, name, path string, fragment bool, limit time.Duration) scenario {
	return scenario{name: name, workers: 1, share: 5, limit: limit, status: []int{http.StatusOK}, request: func() vegeta.Target { return by.get(path, fragment) }}
}

// measurePanel measures the panel's pages, one request at a time: all of the demo, and those of the
// large business that depend on its size.
func (b *bench) measurePanel(ctx context.Context) error {
	tenant, owner, err := b.createDemo(ctx)
	if err != nil {
		return err
	}
	if err := b.firstLoad(ctx, owner); err != nil {
		return err
	}
	anyone := owner
	anyone.header = owner.header.Clone()
	anyone.header.Del("Cookie")
	var pages []scenario
	for _, route := range routes {
		path, err := b.fill(ctx, tenant, route.Path)
		if err != nil {
			return err
		}
		by, limit := owner, pageLimit
		if route.Public {
			by = anyone
		}
		if route.Slow {
			limit = 0
		}
		s := visit(by, route.Path, path, route.Path == fragmentOnly, limit)
		if slices.Contains(redirects, route.Path) {
			s.status = []int{http.StatusSeeOther}
		}
		pages = append(pages, s)
	}
	failed := b.measureAll(ctx, "the demo", pages)

	large, err := b.createLargeBusiness(ctx)
	if err != nil {
		return err
	}
	if pages, err = b.largePages(ctx, large); err != nil {
		return err
	}
	return errors.Join(failed, b.measureAll(ctx, fmt.Sprintf("%d customers, %d sales", b.large, b.sales), pages))
}

var demoSignIn = regexp.MustCompile(`(?s)as (\S+) \(owner\).*password, shown once: (\S+)`)

// createDemo creates the demo with a record for every page, and signs in as its owner, who has
// started to set up two-step verification, because that has a page, too.
func (b *bench) createDemo(ctx context.Context) (tenant core.TenantID, owner browser, err error) {
	progress("creating the demo")
	out, err := b.product.command(ctx, "demo")
	if err != nil {
		return 0, owner, err
	}
	printed := demoSignIn.FindStringSubmatch(out)
	if printed == nil {
		return 0, owner, fmt.Errorf("the demo prints no sign-in: %s", out)
	}
	if owner, err = b.product.signIn(ctx, "demo", printed[1], printed[2]); err != nil {
		return 0, owner, err
	}
	if err := b.admin.QueryRow(ctx, "select id, bench.furnish(id) from loyalty.tenant where slug = 'demo'").Scan(&tenant, nil); err != nil {
		return 0, owner, err
	}
	if _, err := b.upload(ctx, owner, 0, 10); err != nil {
		return 0, owner, err
	}
	_, err = b.product.ask(ctx, owner.form("/admin/settings/security/two-step/begin", url.Values{"confirmation": {printed[2]}}), http.StatusSeeOther)
	return tenant, owner, errors.Join(err, b.settle(ctx))
}

var parameter = regexp.MustCompile(`:[a-z]+`)

// fill replaces the parameters in a path by records of the tenant.
func (b *bench) fill(ctx context.Context, tenant core.TenantID, path string) (string, error) {
	var filled strings.Builder
	rest := 0
	for _, at := range parameter.FindAllStringIndex(path, -1) {
		var record any
		if err := b.admin.QueryRow(ctx, records[path[:at[1]]], tenant).Scan(&record); err != nil {
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

// largePages returns the pages of the large business: lists from the start and the middle,
// searches, and the customer with the most sales.
func (b *bench) largePages(ctx context.Context, d *business) ([]scenario, error) {
	owner, err := b.signInOwner(ctx, d)
	if err != nil {
		return nil, err
	}
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
	day, later := byAge.At.Format(time.DateOnly), byAge.At.AddDate(0, 0, 2).Format(time.DateOnly)
	var pages []scenario
	for _, p := range [][2]string{
		{"dashboard", "/admin"},
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
		{"transactions of three days", "/admin/transactions?from=" + day + "&to=" + later},
	} {
		pages = append(pages, visit(owner, p[0], p[1], false, pageLimit))
	}
	for _, search := range [][2]string{
		{"a whole name", first + " " + last},
		{"a last name", last},
		{"a part of many names", "an"},
		{"a letter", "a"},
		{"a rare letter", "é"},
		{"a phone number", "0" + phone[:2] + "-" + phone[2:5] + " " + phone[5:7] + " " + phone[7:]},
		{"the start of a number", "0" + phone[:2] + "-" + phone[2:5]},
		{"the start with a country code", "0046" + phone[:5]},
		{"the end of a number", phone[5:7] + " " + phone[7:]},
		{"the end of an e-mail address", "@example.net"},
		{"no match", "nothing at all"},
		{"two letters without a match", "xq"},
	} {
		pages = append(pages, visit(owner, "search: "+search[0], "/admin/customers?search="+url.QueryEscape(search[1]), true, searchLimit))
	}
	return append(pages, visit(owner, "search at the till", "/admin/transactions/new?search=an", true, searchLimit)), nil
}

// firstLoad prints the size of a browser's first visit: the sign-in page with its files, and the
// additional files of the dashboard. Style sheets load only a font, which pages preload.
func (b *bench) firstLoad(ctx context.Context, owner browser) error {
	loaded, sum := map[string]bool{}, 0
	for _, start := range []string{"/admin/sign-in", "/admin"} {
		page := owner.get(start, false)
		if start == "/admin/sign-in" {
			page.Header.Del("Cookie")
		}
		compressed, err := b.product.ask(ctx, page, http.StatusOK)
		if err != nil {
			return err
		}
		size := len(compressed.body)
		page.Header.Set("Accept-Encoding", "identity")
		plain, err := b.product.ask(ctx, page, http.StatusOK)
		if err != nil {
			return err
		}
		doc, err := goquery.NewDocumentFromReader(bytes.NewReader(plain.body))
		if err != nil {
			return err
		}
		for _, s := range doc.Find("link[rel=icon], link[rel=preload], link[rel=stylesheet], script[src], img[src]").EachIter() {
			path := s.AttrOr("href", s.AttrOr("src", ""))
			if loaded[path] {
				continue
			}
			loaded[path] = true
			file, err := b.product.ask(ctx, owner.get(path, false), http.StatusOK)
			if err != nil {
				return err
			}
			size += len(file.body)
		}
		sum += size
		fmt.Printf("first load of %s: %d bytes\n", start, size)
	}
	fmt.Printf("first load of both: %d files, %d bytes; the limit is %d\n", len(loaded)+2, sum, firstLoadLimit)
	return nil
}
