package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/valyala/fasthttp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/views/links"
)

//go:embed reports.sql
var reportsSQL string

// visitsOfCustomer is how often a customer in reports.sql comes, on average.
const visitsOfCustomer = 25

// Limits of reports, for 95 of 100 requests.
const (
	monthLimit     = 20  // ms
	yearLimit      = 50  // ms
	dashboardLimit = 20  // ms
	tillLimit      = 10  // ms
	dayLimit       = 500 // ms, of days that are counted: the slowest is held to it as well
)

// gateRest returns how long a business's next report would wait after one (limit.Gate).
func gateRest(took time.Duration) time.Duration {
	if took < 50*time.Millisecond {
		return 0
	}
	return min(2*took, time.Second)
}

// reportPage is a page, with the filters that it has besides its days.
type reportPage struct {
	path              string
	byPlace, compared bool
}

// reported are the pages of all reports.
var reported = []reportPage{
	{path: links.Reports, byPlace: true, compared: true},
	{path: links.VisitorReport, byPlace: true, compared: true},
	{path: links.TopReport, byPlace: true},
	{path: links.LocationReport, compared: true},
	{path: links.StaffReport, byPlace: true, compared: true},
	{path: links.HourReport, byPlace: true},
	{path: links.RewardReport, compared: true},
	{path: links.CouponReport, compared: true},
	{path: links.EarningReport, byPlace: true, compared: true},
	{path: links.PointsReport, compared: true},
}

// span is a number of days until today, with the limit for reports of them.
type span struct {
	name  string
	days  int
	limit float64
}

var spans = []span{{"a month", 30, monthLimit}, {"a year", 365, yearLimit}}

// query returns the first and the last day, which is today.
func (s span) query(today time.Time) url.Values {
	return url.Values{"from": {today.AddDate(0, 0, 1-s.days).Format(time.DateOnly)}, "to": {today.Format(time.DateOnly)}}
}

// uncounted is how many sales aren't counted yet when a report asks. A business like that for reports has them in ten minutes: half of them are
// younger than what daily counts, and the other half are too few for it.
const uncounted = 200

// measureReports measures what people and programs ask about the sales of a business with many of them: first how its days are counted
// after an upgrade, then reports with the sales of ten minutes that aren't counted, then tills while days are counted anew.
func (b *bench) measureReports(ctx context.Context) {
	d := b.createReportedBusiness(ctx)
	var sales, month int
	sample.Must(0, b.admin.QueryRow(ctx, `
		select count(*), count(*) filter (where created_at > now() - interval '30 days')
		from loyalty.transaction
		where tenant_id = $1`, d.ID).Scan(&sales, &month))
	title := fmt.Sprintf("%d customers, %d sales, %d in 30 days", d.customers, sales, month)
	days := b.openDays(ctx, d)
	defer days.close()
	printTable("days", []result{b.once(ctx, days.all(ctx))})
	days.finish(ctx)
	b.settle(ctx) // autovacuum would, of what was counted in a moment instead of two years
	sample.Must(b.load(ctx, scenario{name: "ten minutes of sales", workers: 4, times: uncounted, request: func() *fasthttp.Request { return b.record(d) }}))
	b.measure(ctx, title, b.reportRows(ctx, d)...)
	tills := b.tills(d)
	results := []result{b.once(ctx, tills)}
	tills.name, tills.lasts = "sales while days are counted", 3*b.lasts
	printTable("tills", append(results, b.together(ctx, tills, days.anew(ctx, tills.lasts))...))
}

// zones are as many as it takes for one of them to have between twelve and one at any time of a year.
var zones = []string{
	"Pacific/Auckland", "Pacific/Fiji", "Pacific/Guadalcanal", "Australia/Sydney", "Australia/Brisbane", "Asia/Tokyo", "Asia/Singapore", "Asia/Bangkok", "Asia/Dhaka",
	"Asia/Karachi", "Asia/Dubai", "Europe/Istanbul", "Europe/Helsinki", "Europe/Stockholm", "Europe/London", "Atlantic/Azores", "Atlantic/Cape_Verde",
	"Atlantic/South_Georgia", "America/Sao_Paulo", "America/Halifax", "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/Anchorage",
	"Pacific/Gambier", "Pacific/Honolulu", "Pacific/Pago_Pago",
}

// zoneAtNoon returns a zone in which it is between twelve and one.
func zoneAtNoon(now time.Time) *time.Location {
	var at []*time.Location
	for _, name := range zones {
		at = append(at, sample.Must(time.LoadLocation(name)))
	}
	return slices.MinFunc(at, func(a, b *time.Location) int { return cmp.Compare((now.In(a).Hour()+12)%24, (now.In(b).Hour()+12)%24) })
}

// createReportedBusiness creates the business while nothing else uses the tables, because it makes indexes anew.
func (b *bench) createReportedBusiness(ctx context.Context) *business {
	customers := b.rows / visitsOfCustomer
	made := b.createSandbox(ctx, customers)
	made.step = 2 // active ones
	made.buyers = customers / made.step
	made.zone = zoneAtNoon(time.Now()) // the middle of a day has most to count for reports up to this time of day
	progress("creating about %d sales of them, in %s", b.rows, made.zone)
	b.product.stop()
	sample.Must(0, fillReports(ctx, b.admin, made.ID, made.TransactionTypeID, made.StampsTransactionTypeID, customers, made.zone))
	b.exec(ctx, "insert into loyalty.queue_pause values ($1, 'bench', now())", job.Upkeep) // countedDays counts its days
	b.settle(ctx)
	b.product.start(ctx)
	return made
}

// fillReports fills a business and makes the indexes after that, in transactions of their own, so that the disk needs less room.
func fillReports(ctx context.Context, owner *pgxpool.Pool, tenant core.TenantID, points, stamps int64, customers int, zone *time.Location) error {
	if _, err := owner.Exec(ctx, reportsSQL); err != nil {
		return err
	}
	var indexes []string
	if err := owner.QueryRow(ctx, "select bench.fill_reports($1, $2, $3, $4, $5)", tenant, points, stamps, customers, zone.String()).Scan(&indexes); err != nil {
		return err
	}
	for _, index := range indexes {
		if _, err := owner.Exec(ctx, "set maintenance_work_mem = '1GB'; "+index); err != nil {
			return err
		}
	}
	return nil
}

// reportRows returns every report of a month and a year with each filter that it has, the dashboard, and the API's reports. A month is
// compared with the days before, and a year with the same days a year earlier.
func (b *bench) reportRows(ctx context.Context, d *business) (rows [][]scenario) {
	owner, today := b.signInAs(ctx, d, core.Owner), time.Now().In(d.zone)
	var place string
	sample.Must(0, b.admin.QueryRow(ctx, "select min(id)::text from loyalty.location where tenant_id = $1", d.ID).Scan(&place))
	add := func(name string, limit float64, request func() *fasthttp.Request) {
		rows = append(rows, []scenario{{
			name: name, workers: 1, lasts: b.lasts / 2, atLeast: 5, rests: gateRest, request: request, goals: []goal{{figure: p95, most: limit}},
			tolerant: true, // one that takes too long is refused (503), and the others matter too
			prepare: func(ctx context.Context) {
				sample.Must(b.load(ctx, scenario{name: "first", workers: 1, times: 1, request: request, tolerant: true}))
			},
		}})
	}
	page := func(name string, limit float64, path string, query url.Values) {
		add(name, limit, func() *fasthttp.Request { return owner.get(path + "?" + query.Encode()) })
	}
	page("dashboard", dashboardLimit, links.Dashboard, nil)
	page("lapsed customers", monthLimit, links.AudienceReport, url.Values{"audience": {"lapsed_60"}})
	page("dashboard, this year", yearLimit, links.Dashboard, url.Values{"period": {"this-year"}})
	add("points, when they end", monthLimit, func() *fasthttp.Request { // of a large business, apart from the page
		request := owner.get(links.WithQuery(links.PointsReport, "unit", string(ledger.Points)))
		request.Header.Set("Hx-Request", "true")
		return request
	})
	for _, r := range reported {
		for _, s := range spans {
			query, name := s.query(today), r.path+", "+s.name
			if r.compared && s.limit == yearLimit {
				query.Set("compare", "last-year")
			}
			page(name, s.limit, r.path, query)
			if r.byPlace {
				query = maps.Clone(query)
				query.Set("location", place)
				page(name+", a location", s.limit, r.path, query)
			}
		}
	}
	for _, path := range []string{"/reports/summary", "/reports/customers/top"} {
		for _, s := range spans {
			add("API "+path+", "+s.name, s.limit, func() *fasthttp.Request { return b.api(d, "GET", path+"?"+s.query(today).Encode(), "") })
		}
	}
	return rows
}

// tills returns the load of a business's tills.
func (b *bench) tills(d *business) scenario {
	return scenario{name: "sales", rate: 100, request: func() *fasthttp.Request { return b.record(d) }, goals: []goal{{figure: p95, most: tillLimit}}}
}

// countedDays are the days of a business, as the job counts them.
type countedDays struct {
	*bench
	in   *db.DB
	days *daily.Service
	by   core.Actor
}

func (b *bench) openDays(ctx context.Context, d *business) *countedDays {
	in := sample.Must(db.Open(ctx, b.databaseURL, db.Options{}))
	days := daily.NewService(in, sample.Must(job.New(in, slog.New(slog.DiscardHandler))))
	return &countedDays{bench: b, in: in, days: days, by: core.Job(sample.Must(db.FindTenant(ctx, in, d.ID)), "days")}
}

func (c *countedDays) close() { c.in.Close() }

// count is the scenario of a day that is counted.
func (c *countedDays) count(name string) scenario {
	return scenario{
		name: name, workers: 1, rests: daily.RestAfter, goals: []goal{{figure: p95, most: dayLimit}, {figure: slowest, most: dayLimit}},
		do: func(ctx context.Context, _ *server) (int, error) {
			_, err := c.days.CountNext(ctx, c.by)
			return fasthttp.StatusOK, err
		},
	}
}

// all counts all days.
func (c *countedDays) all(ctx context.Context) scenario {
	count := c.count("a day counted")
	sample.Must(count.do(ctx, nil)) // from which day on
	sample.Must(0, c.admin.QueryRow(ctx, leftSQL, c.by.Tenant.ID).Scan(&count.times))
	return count
}

// finish counts what is left.
func (c *countedDays) finish(ctx context.Context) {
	for sample.Must(c.days.CountNext(ctx, c.by)) {
	}
}

// anew counts days anew for a while, the latest first.
func (c *countedDays) anew(ctx context.Context, lasts time.Duration) scenario {
	count := c.count("a day counted anew")
	count.lasts, count.atLeast = lasts, 1
	c.exec(ctx, `
		insert into loyalty.day_mark (tenant_id, at, id, visits)
		select $1, at, gen_random_uuid(), true
		from generate_series(now() - interval '1 year', now() - interval '2 days', interval '1 day') at`, c.by.Tenant.ID)
	return count
}

const leftSQL = `
	select case when isfinite(first_day) then first_day - (now() - interval '2 years')::date else 0 end
	from loyalty.days_counted
	where tenant_id = $1`
