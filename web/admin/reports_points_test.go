package admin_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/webtest"
)

// The statement adds up on the page and in its files, says what the closing balance is worth, and leads on from there.
func TestPointsReport(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	owner, manager := m.signedIn(core.Owner), m.signedIn(core.Manager)
	if got := owner.Get("/admin/reports/points").Links(".empty a"); !slices.Equal(got, []string{"/admin/transactions/new"}) {
		t.Errorf("before the first sale leads to %v", got)
	}
	anna := m.customer("2026-05-31 09:00", "Anna", "Lindqvist")
	m.sale("2026-05-31 12:00", anna, m.purchase, 1_000)
	m.sale("2026-06-01 12:00", anna, m.purchase, 500)
	m.void("2026-06-02 12:00", m.sale("2026-06-02 11:00", anna, m.purchase, 200))
	m.redemption("2026-06-03 12:00", anna)
	m.sale("2026-06-12 12:00", anna, m.purchase, 9_999) // after the range
	m.AddReward(reward.New{Name: "Dear", PointsCost: new(int64(10)), CostCents: new(int64(20))})

	const days = "from=2026-06-01&to=2026-06-03"
	page := owner.Get("/admin/reports/points?" + days)
	wants(t, "figures", page.Texts(".figure-strip .figure-value"), []string{"1,000", "700", "10", "0", "1,490"})
	wants(t, "statement", page.Texts(".statement tr"), []string{
		"Change 1–3 Jun 29–31 May", "Opening balance 1,000 0", "Issued by sales +700 +1,000", "Taken back by voids −200 0", "Redeemed −10 0", "Expired 0 0", "Closing balance 1,490 1,000",
	})
	wants(t, "compared", page.Texts(".figure-strip .figure"), []string{
		"Opening balance 1,000 No earlier data", "Issued 700 down −30.0% was 1,000", "Redeemed 10 No earlier data", "Expired 0 No earlier data", "Closing balance 1,490 up +49.0% was 1,000",
	})
	if got := page.Text(".report-note"); got != "Compared with 29–31 May 2026" {
		t.Errorf("compared with: %q", got)
	}
	alone := owner.Get("/admin/reports/points?compare=none&" + days)
	wants(t, "not compared", alone.Texts(".statement tr"), []string{
		"Opening balance, 1 Jun 2026 1,000", "Issued by sales +700", "Taken back by voids −200", "Redeemed −10", "Expired 0", "Closing balance, 3 Jun 2026 1,490",
	})
	wants(t, "its numbers", alone.Texts("#balance tbody tr"), []string{"1 Jun 1,500", "2 Jun 1,500", "3 Jun 1,490"})
	wants(t, "day by day", page.Texts(".statement-steps tbody tr"), []string{
		"1 Jun 1,000 500 0 0 0 1,500", "2 Jun 1,500 200 −200 0 0 1,500", "3 Jun 1,500 0 0 −10 0 1,490",
	})
	wants(t, "balance", page.Texts("#balance tbody tr"), []string{"1 Jun 1,500 0", "2 Jun 1,500 0", "3 Jun 1,490 1,000"})
	elsewhere := owner.Get("/admin/reports?" + days).Texts(".figure-strip .figure")
	if !slices.ContainsFunc(elsewhere, func(f string) bool { return strings.HasPrefix(f, "Points issued 500 ") }) {
		t.Errorf("the summary, without the voided sale: %q", elsewhere)
	}
	if note := page.Text("[aria-labelledby=statement-title] p"); !strings.Contains(note, "“Points issued” on other pages leaves out vouchers, and sales that were voided later") {
		t.Errorf("why it differs: %q", note)
	}
	if owed := page.Texts("[aria-labelledby=owed-title] .figure-value"); !slices.Equal(owed, []string{"1,490 points", "€ 29.80"}) {
		t.Errorf("owed: %q", owed)
	}
	wants(t, "spent on", page.Texts(".spent-on tbody tr"), []string{"Dear € 0.20 for 10 points € 0.02"})
	if got := page.Text("[aria-labelledby=owed-title]"); !strings.Contains(got, "your only active reward with a cost") || !strings.Contains(got, "1 active reward for points has no cost") {
		t.Errorf("of the cost: %s", got)
	}
	if got := page.Text("[aria-labelledby=earned-title]"); !strings.Contains(got, "The months aren’t known") || !strings.Contains(got, "If you choose that points expire") {
		t.Errorf("without a rule: %s", got)
	}
	if got := page.Links("[aria-labelledby=ending-title] a"); !slices.Equal(got, []string{"/admin/settings/programme"}) {
		t.Errorf("where points don't expire, an owner is led to %v", got)
	}
	if got := manager.Get("/admin/reports/points?" + days).Links("[aria-labelledby=ending-title] a"); len(got) != 0 {
		t.Errorf("a manager is led to %v", got)
	}
	wants(t, "outcomes", page.Texts("[aria-labelledby=outcome-title] tbody tr"), []string{"No last day 11,499 10 0.1% 0 11,489 99.9%"})

	own := owner.Get("/admin/reports/points?" + days + "&value=1.50&rate=80.5")
	if owed := own.Texts("[aria-labelledby=owed-title] .figure-value"); len(owed) != 3 || owed[2] != "€ 17.99" || own.Value("#field-rate") != "80.5" {
		t.Errorf("at the owner's own value: %q", owed)
	}
	stamps := owner.Get("/admin/reports/points?unit=stamps&" + days)
	if got := stamps.Text(".statement tfoot"); got != "Closing balance, 3 Jun 2026 0" && stamps.Find(".empty").Length() == 0 {
		t.Errorf("stamps: %s", got)
	}

	links := page.Links("#export-files a[download]")
	wants(t, "files", links, []string{
		"/admin/reports/points.csv?" + days + "&unit=points", "/admin/reports/points.xlsx?" + days + "&unit=points",
		"/admin/reports/points/earned.csv?unit=points", "/admin/reports/points/earned.xlsx?unit=points",
		"/admin/reports/points/last-days.csv?unit=points", "/admin/reports/points/last-days.xlsx?unit=points",
	})
	name, rows := owner.file(links[0])
	if name != "attachment; filename=points-2026-06-01-to-2026-06-03.csv" {
		t.Errorf("file: %s", name)
	}
	wants(t, "lines", columns(rows, "Date", "Opening balance", "Issued by sales", "Taken back by voids", "Redeemed", "Closing balance"), []string{
		"2026-06-01 | 1000 | 500 | 0 | 0 | 1500", "2026-06-02 | 1500 | 200 | -200 | 0 | 1500", "2026-06-03 | 1500 | 0 | 0 | -10 | 1490",
	})
	book, err := excelize.OpenReader(bytes.NewReader(owner.Get(links[1]).Body.Bytes()))
	m.Check(err)
	cells, err := book.GetRows("Statement")
	m.Check(err)
	m.Check(book.Close())
	if len(cells) != 4 || !slices.Equal(cells[3], append([]string{"2026-06-03"}, strings.Split("1500 0 0 0 0 0 -10 0 0 0 0 0 1490 2026-05-31 1000", " ")...)) {
		t.Errorf("workbook: %q", cells)
	}
	_, rows = owner.file(links[2])
	wants(t, "months of earning", columns(rows, "Earned in", "From", "To", "Outstanding"), []string{"Not known: no last day |  |  | 11489"})
	name, rows = owner.file(links[4])
	if name != "attachment; filename=points-by-last-day-2026-06-15.csv" {
		t.Errorf("file: %s", name)
	}
	wants(t, "last days", columns(rows, "Last day in", "Redeemed", "Expired", "Open"), []string{"No last day | 10 | 0 | 11489"})
	for _, path := range []string{"/admin/reports/points.xlsx?unit=coins", "/admin/reports/points.csv?compare=tomorrow", "/admin/reports/points/earned.csv?unit=coins", "/admin/reports/points/last-days.csv?unit=coins"} {
		if a := owner.Ask(http.MethodGet, path); a.Code != http.StatusUnprocessableEntity || a.Header().Get("Content-Disposition") != "" {
			t.Errorf("%s = %d", path, a.Code)
		}
	}
}

// A refused value keeps what was typed, and the form.
func TestRefusedValueOfPoints(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	a := m.signedIn(core.Owner).Ask(http.MethodGet, "/admin/reports/points?from=2026-06-01&value=much&rate=101")
	if a.Code != http.StatusUnprocessableEntity || a.Value("#field-value") != "much" || a.Value("#field-rate") != "101" || a.Attr(".own-value [name=from]", "value") != "2026-06-01" {
		t.Errorf("%d %s", a.Code, a.Text("main"))
	}
	wants(t, "the summary leads to", a.Links(".alert a"), []string{"#field-value", "#field-rate"})
	if got := a.Texts(".own-value .invalid-feedback"); !slices.Contains(got, webtest.Message("Expected redemption", core.Max(100))) {
		t.Errorf("messages: %q", got)
	}
}

// "A record of another tenant": nothing of a neighbour's is in a statement or its files.
func TestAnotherBusinessesPointsAreNotReported(t *testing.T) {
	t.Parallel()
	neighbour, m := newMarket(t), newMarket(t)
	bo := neighbour.customer("2026-06-01 09:00", "Bo", "Ek")
	neighbour.sale("2026-06-01 12:00", bo, neighbour.purchase, 7_654_321)
	anna := m.customer("2026-06-01 09:00", "Anna", "Lindqvist")
	m.sale("2026-06-01 12:00", anna, m.purchase, 5)
	manager := m.signedIn(core.Manager)
	if got := manager.Get("/admin/reports/points").Text("main"); strings.Contains(got, "7,654,321") {
		t.Errorf("the page shows a neighbour's: %s", got)
	}
	for _, file := range []string{"points.csv", "points/earned.csv", "points/last-days.csv"} {
		if got := manager.Get("/admin/reports/" + file).Body.String(); strings.Contains(got, "7654321") {
			t.Errorf("%s has a neighbour's: %s", file, got)
		}
	}
}

// With a rule, the page says what ends when, and what today's points last.
func TestPointsThatEnd(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	m.change(`insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, begun_at, updated_at)
		values ($1, 'points', 'after', 2, 'month', '2026-01-01', '2026-01-01')`)
	m.Shop = m.Known()
	anna := m.customer("2026-05-20 09:00", "Anna", "Lindqvist")
	m.sale("2026-05-20 12:00", anna, m.purchase, 100)
	m.sale("2026-06-10 12:00", anna, m.purchase, 40)
	m.redemption("2026-06-11 12:00", anna)
	m.Adjust(anna, ledger.Points, 7)
	page := m.signedIn(core.Owner).Get("/admin/reports/points")
	ending := page.Texts("#ending tbody tr")
	if len(ending) != 12 || ending[1] != "July 2026 90" {
		t.Errorf("ending: %q", ending)
	}
	wants(t, "earned", page.Texts("#earned tbody tr"), []string{"May 2026 90", "June 2026 47"})
	if words := page.Text("[aria-labelledby=earned-title] p"); !strings.HasSuffix(words, "The last day of points tells when they were earned.") {
		t.Errorf("words: %s", words)
	}
	_, rows := m.signedIn(core.Manager).file("/admin/reports/points/earned.csv?unit=points")
	wants(t, "file", columns(rows, "Earned in", "From", "To", "Outstanding"), []string{"May 2026 | 2026-05-01 | 2026-05-31 | 90", "June 2026 | 2026-06-01 | 2026-06-30 | 47"})
	if words := page.Text("[aria-labelledby=outcome-title] p"); !strings.Contains(words, "Points issued today can be spent until 31 August 2026.") {
		t.Errorf("words: %s", words)
	}
	if shown := page.Texts("[aria-labelledby=outcome-title] tbody tr"); shown[0] != "July 2026 100 10 10.0% 0 90 90.0%" {
		t.Errorf("outcomes: %q", shown)
	}
}

// When the points of a large business end takes seconds to count, once an hour. The page doesn't wait for it.
func TestPointsOfALargeBusiness(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	m.Adjust(m.customer("2026-05-20 09:00", "Anna", "Lindqvist"), ledger.Points, 7)
	for _, statement := range []string{
		`insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, created_at, updated_at)
		select $1, loyalty.new_ulid(now()), 'C' || n, 'Ek', n::text, 'many' || n, now(), now()
		from generate_series(1, 20000) n`,
		`insert into loyalty.account (tenant_id, customer_id)
		select tenant_id, id
		from loyalty.customer
		where tenant_id = $1
			and phone_key like 'many%'`,
	} {
		m.change(statement)
		m.Check(dbtest.Analyze(t.Context(), m.DB))
	}
	owner := m.signedIn(core.Owner)
	titles := func(p webtest.Page) []string { return p.Texts("h2.card-title") }
	known := []string{"Points outstanding", "Statement", "Owed to customers, 15 Jun 2026", "Outstanding today, by when it was earned", "Ending in the next 12 months"}
	page := owner.Get("/admin/reports/points?compare=none")
	wants(t, "at first", titles(page), known)
	whole := slices.Concat(known, []string{"Redeemed, expired or open, by last day"})
	asks := page.Attr("[aria-busy]", "hx-get")
	if words := page.Text("[aria-busy]"); asks != "/admin/reports/points?unit=points" || strings.Count(words, "Counting …") != 2 {
		t.Errorf("it asks for %q and says %q", asks, words)
	}
	if when := page.Attr("[aria-busy]", "hx-trigger"); when != "load, htmx:responseError delay:5s" {
		t.Errorf("it asks on %q, want again after a refusal", when)
	}
	part := owner.Get(asks, "Hx-Request", "true")
	wants(t, "then", titles(part), whole[3:])
	if words := part.Text("body"); !strings.Contains(words, "The months aren’t known") || strings.Contains(words, "Counting …") {
		t.Errorf("the part says %q", words)
	}
	again := owner.Get("/admin/reports/points?compare=none")
	wants(t, "again", titles(again), whole)
	if again.Find("[aria-busy]").Length() > 0 {
		t.Error("it is counted again")
	}
}

// The cost of what is outstanding lies between two rewards, which the page names with what they cost for a point. Without any, it leads there.
func TestRewardsThatPointsCost(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2026-06-01 09:00", "Anna", "Lindqvist")
	m.sale("2026-06-01 12:00", anna, m.purchase, 1_000)
	owner := m.signedIn(core.Owner)
	owed := func(unit string) webtest.Page { return owner.Get("/admin/reports/points?from=2026-06-01&unit=" + unit) }
	card := "[aria-labelledby=owed-title] "
	wants(t, "without costs", owed("").Links(card+"p a"), []string{"/admin/rewards"})
	cheap := m.AddReward(reward.New{Name: "Cheap", PointsCost: new(int64(300)), CostCents: new(int64(350))})
	dear := m.AddReward(reward.New{Name: "Dear", PointsCost: new(int64(10)), CostCents: new(int64(20))})
	page := owed("")
	wants(t, "rewards", page.Texts(".spent-on tbody tr"), []string{"Cheapest Cheap € 3.50 for 300 points € 0.0117", "Dearest Dear € 0.20 for 10 points € 0.02"})
	wants(t, "links", page.Links(".spent-on a"), []string{links.Reward(cheap), links.Reward(dear)})
	if got := page.Text(card); !strings.Contains(got, "€ 11.67 – € 20.00 The lower amount is what they cost you if customers spend all of them on the active reward that is cheapest for you per point, the higher if on the dearest.") {
		t.Errorf("the range: %s", got)
	}
	m.sale("2026-06-01 12:00", anna, m.coffee, 100)
	wants(t, "without rewards for stamps", owed("stamps").Links(card+"p a"), []string{"/admin/rewards/new"})
}

// "Panel's Summary shows net spend when there were refunds": what was refunded and what expired is said only where there was any.
func TestSummaryAfterRefunds(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2026-06-01 09:00", "Anna", "Lindqvist")
	sale := m.sale("2026-06-01 12:00", anna, m.purchase, 1_000)
	owner := m.signedIn(core.Owner)
	labels := func() []string {
		return owner.Get("/admin/reports?from=2026-06-01&to=2026-06-03").Texts(".figure-label")
	}
	if before := labels(); len(before) != 12 || slices.Contains(before, "Spend after refunds") {
		t.Errorf("without refunds: %q", before)
	}
	m.Exec(`insert into loyalty.refund (tenant_id, id, transaction_id, amount_cents, points, actor_kind, actor_id, actor_name, created_at)
		values ($1, loyalty.new_ulid(now()), $2, 250, 250, 'system', '', '', now())`, m.By.Tenant.ID, sale)
	m.Exec(`insert into loyalty.ledger_entry (tenant_id, id, customer_id, seq, unit, amount, balance_after, kind, actor_kind, actor_id, actor_name, created_at, expires_on)
		select tenant_id, loyalty.new_ulid(created_at), customer_id, 1000, 'points', -3, 747, 'expiry', 'system', '', 'points expiry', created_at, created_at::date
		from loyalty.transaction where tenant_id = $1 and id = $2`, m.By.Tenant.ID, sale)
	shown := owner.Get("/admin/reports?from=2026-06-01&to=2026-06-03").Texts(".figure-strip .figure")
	for _, want := range []string{"Tracked spend € 10.00", "Spend after refunds € 7.50", "Refunds 1", "Points refunded 250", "Points expired 3"} {
		if !slices.ContainsFunc(shown, func(figure string) bool { return strings.HasPrefix(figure, want) }) {
			t.Errorf("%q isn't among %q", want, shown)
		}
	}
}
