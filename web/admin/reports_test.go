package admin_test

import (
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/webtest"
)

// file reads a download that a spreadsheet opens.
func (b *browser) file(path string) (name string, rows [][]string) {
	b.T.Helper()
	a := b.Get(path)
	text, marked := strings.CutPrefix(a.Body.String(), "\uFEFF")
	if !marked || !strings.HasPrefix(a.Header().Get("Content-Type"), "text/csv") {
		b.T.Fatalf("%s is %s, and begins with %.20q", path, a.Header().Get("Content-Type"), a.Body)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		b.T.Fatal(err)
	}
	return a.Header().Get("Content-Disposition"), rows
}

// columns are the cells of some columns, row by row.
func columns(rows [][]string, names ...string) (cells []string) {
	for _, row := range rows[1:] {
		var picked []string
		for _, name := range names {
			for i, header := range rows[0] {
				if header == name {
					picked = append(picked, row[i])
				}
			}
		}
		cells = append(cells, strings.Join(picked, " | "))
	}
	return cells
}

// "Date ranges, charts, CSV export": money in the tenant's currency, days of its zone.
func TestSummaryReport(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2026-05-31 23:30", "Anna", "Lindqvist") // in UTC as well
	bo := m.customer("2026-06-01 00:30", "Bo", "Ek")            // in UTC still May
	m.sale("2026-05-31 23:59", anna, m.purchase, 99_900)
	m.sale("2026-06-01 00:00", anna, m.purchase, 1_250)
	m.sale("2026-06-03 23:59", bo, m.purchase, 2_000)
	m.sale("2026-06-03 12:00", bo, m.coffee, 420)
	m.void("2026-06-05 12:00", m.sale("2026-06-03 12:30", anna, m.purchase, 5_000))
	m.redemption("2026-06-02 12:00", anna)
	owner := m.signedIn(core.Owner)

	const days = "?from=2026-06-01&to=2026-06-03"
	page := owner.Get("/admin/reports" + days)
	var shown []string
	for _, card := range page.Texts(".figure-strip .figure") {
		shown = append(shown, figures(card))
	}
	// Sales, spend, average, points issued and redeemed, new and active customers, redemptions, vouchers, stamps,
	// voided sales and their points; beside it those of 29 to 31 May, when there were any.
	wants(t, "figures", shown, []string{
		"3 200.0 1", "36.70 96.3 999.00", "12.23 98.8 999.00", "3,250 96.7 99,900", "10", "1 0 1", "2 100.0 1", "1", "0", "1", "1", "5,000",
	})
	wants(t, "spend", page.Texts("#spend tbody tr"), []string{"1 Jun € 12.50 € 0.00", "2 Jun € 0.00 € 0.00", "3 Jun € 24.20 € 999.00"})
	wants(t, "points", page.Texts("#points tbody tr"), []string{"1 Jun 1,250 0 0", "2 Jun 0 0 10", "3 Jun 2,000 99,900 0"})
	wants(t, "what the figures lead to", page.Links(".figure-strip a")[:3], []string{
		"/admin/transactions?from=2026-06-01&status=completed&to=2026-06-03", "/admin/reports/customers" + days, "/admin/reports/hours" + days,
	})
	wants(t, "the charts and their captions", page.Texts("figcaption, .chart-measure"), []string{
		"Spend per day", "1–3 Jun 2026, by day: € 36.70 in 3 sales", "Points per day", "1–3 Jun 2026, by day: 3,250 points issued, 10 redeemed",
	})
	if unit, decimals := page.Attr("#spend", "data-unit"), page.Attr("#spend", "data-decimals"); unit != "€" || decimals != "2" {
		t.Errorf("the axis is in %q with %s decimals", unit, decimals)
	}
	if from, to := page.Value("#field-from"), page.Value("#field-to"); from != "2026-06-01" || to != "2026-06-03" {
		t.Errorf("fields: %s to %s", from, to)
	}
	wants(t, "the other reports", page.Links(".page-tabs a"), []string{
		"/admin/reports" + days, "/admin/reports/visitors" + days, "/admin/reports/customers" + days, "/admin/reports/locations" + days, "/admin/reports/staff" + days,
		"/admin/reports/hours" + days, "/admin/reports/rewards" + days, "/admin/reports/coupons" + days, "/admin/reports/earning" + days, "/admin/reports/points" + days,
	})

	export := page.Links(".page-header a[download]")
	wants(t, "export", export, []string{"/admin/reports/summary.csv" + days, "/admin/reports/summary.xlsx" + days})
	name, rows := owner.file(export[0])
	if name != "attachment; filename=summary-2026-06-01-to-2026-06-03.csv" {
		t.Errorf("file: %s", name)
	}
	if len(rows[0]) != 34 || rows[0][3] != "Spend (EUR)" || rows[0][17] != "Compared with" || rows[0][20] != "Earlier spend (EUR)" {
		t.Errorf("header row: %q", rows[0])
	}
	var lines []string
	for _, row := range rows[1:] {
		lines = append(lines, strings.Join(row[:17], ";"))
	}
	wants(t, "lines", lines, []string{
		"2026-06-01;1;0;12.50;1250;0;0;0;0.00;12.50;0;0;0;0;1;0;0", "2026-06-02;0;0;0.00;0;0;0;0;0.00;0.00;0;10;1;0;0;0;0",
		"2026-06-03;2;1;24.20;2000;1;5000;0;0.00;24.20;0;0;0;0;0;0;0",
	})
	wants(t, "compared with", columns(rows, "Compared with", "Earlier sales"), []string{"2026-05-29 | 0", "2026-05-30 | 0", "2026-05-31 | 1"})
	if _, rows := owner.file(export[0] + "&compare=none"); len(rows[0]) != 17 {
		t.Errorf("header row without a comparison: %q", rows[0])
	}
}

// A finished month is compared with the month before, on every page and in every file, which say so. Days that the
// month before doesn't have are compared with nothing, and days that only it has are rows of their own.
func TestMonthsAreComparedWithMonths(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2026-03-01 12:00", "Anna", "Lindqvist")
	m.sale("2026-03-31 12:00", anna, m.purchase, 1_000)
	m.redemption("2026-03-31 13:00", anna)
	m.sale("2026-04-01 12:00", anna, m.purchase, 4_000)
	m.sale("2026-05-31 12:00", anna, m.purchase, 5_000)
	owner := m.signedIn(core.Owner)
	const april, may = "?from=2026-04-01&to=2026-04-30", "?from=2026-05-01&to=2026-05-31"
	for _, path := range []string{"", "/locations", "/staff", "/rewards"} {
		if got := owner.Get("/admin/reports" + path + may).Text(".report-note span:first-child"); got != "Compared with April 2026" {
			t.Errorf("%s says %q", path, got)
		}
		if got := owner.Get("/admin/reports" + path + may + "&compare=last-year").Text(".report-note span:first-child"); got != "Compared with May 2025" {
			t.Errorf("%s with last year says %q", path, got)
		}
		if got := owner.Get("/admin/reports" + path + "?from=2027-03-01&to=2027-03-31").Text(".report-note span:first-child"); got != "Compared with February 2027" {
			t.Errorf("%s of a month ahead: %q", path, got)
		}
		if got := owner.Get("/admin/reports" + path + may + "&compare=none").Text(".report-note"); strings.Contains(got, "Compared") {
			t.Errorf("%s without a comparison says %q", path, got)
		}
	}
	menu := owner.Get("/admin/reports" + may).Texts(".filter-menu a")
	if !slices.ContainsFunc(menu, func(choice string) bool {
		return strings.Contains(choice, "Previous period") && strings.Contains(choice, "April")
	}) {
		t.Errorf("the menu says %q", menu)
	}
	spend := owner.Get("/admin/reports" + may).Find(".figure-strip .figure").Eq(1).Text()
	if !strings.Contains(spend, "+25.0%") || !strings.Contains(spend, "€ 40.00") {
		t.Errorf("spend: %s", spend)
	}

	_, rows := owner.file("/admin/reports/summary.csv" + may)
	beside := columns(rows, "Date", "Spend (EUR)", "Compared with", "Earlier spend (EUR)")
	wants(t, "May beside April", []string{beside[0], beside[29], beside[30]}, []string{
		"2026-05-01 | 0.00 | 2026-04-01 | 40.00", "2026-05-30 | 0.00 | 2026-04-30 | 0.00", "2026-05-31 | 50.00 |  | ",
	})
	_, rows = owner.file("/admin/reports/summary.csv" + april)
	beside = columns(rows, "Date", "Spend (EUR)", "Compared with", "Earlier spend (EUR)")
	wants(t, "April beside March", beside[29:], []string{"2026-04-30 | 0.00 | 2026-03-30 | 0.00", " |  | 2026-03-31 | 10.00"})
	for path, figure := range map[string]string{"rewards": "For points or stamps", "coupons": "Vouchers redeemed"} {
		steps := func(month string) []string {
			_, rows := owner.file("/admin/reports/" + path + "/steps.csv" + month)
			return columns(rows, "From", "To", figure, "Earlier from", "Earlier to", "Earlier "+strings.ToLower(figure[:1])+figure[1:])[29:]
		}
		earlier := map[string]string{"rewards": "1", "coupons": "0"}[path]
		wants(t, path+" of April beside March", steps(april), []string{"2026-04-30 | 2026-04-30 | 0 | 2026-03-30 | 2026-03-30 | 0", " |  |  | 2026-03-31 | 2026-03-31 | " + earlier})
		wants(t, path+" of May beside April", steps(may), []string{"2026-05-30 | 2026-05-30 | 0 | 2026-04-30 | 2026-04-30 | 0", "2026-05-31 | 2026-05-31 | 0 |  |  | "})
	}
	_, rows = owner.file("/admin/reports/points.csv" + april)
	beside = columns(rows, "Date", "Closing balance", "Compared with", "Earlier closing balance")
	wants(t, "balances of April beside March", beside[29:], []string{"2026-04-30 | 4990 | 2026-03-30 | 0", " |  | 2026-03-31 | 990"})
	for of, want := range map[string]string{
		"/reports #spend": "31 Mar | – | € 10.00", "/reports #points": "31 Mar | – | 1,000 | –", "/reports/visitors #visitors": "31 Mar | – | – | 1",
		"/reports/rewards #redemptions": "31 Mar | – | 1 | –", "/reports/points #balance": "31 Mar | – | 990", " #points": "31 Mar | – | 1,000 | –",
	} {
		path, chart, _ := strings.Cut(of, " ")
		for month, want := range map[string][]string{april: strings.Split(want, " | "), may: nil} {
			wants(t, "the end of the table of "+of+month, owner.Get("/admin"+path+month).Texts(chart+" [data-undrawn] > *"), want)
		}
	}
	for path, want := range map[string]string{"locations": "50.00 | 40.00 | April 2026", "staff": "50.00 | 40.00 | April 2026"} {
		_, rows := owner.file("/admin/reports/" + path + ".csv" + may)
		if got := columns(rows, "Spend (EUR)", "Earlier spend (EUR)", "Compared with"); got[0] != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
		if _, rows := owner.file("/admin/reports/" + path + ".csv" + may + "&compare=none"); slices.Contains(rows[0], "Compared with") || slices.Contains(rows[0], "Earlier spend (EUR)") {
			t.Errorf("%s without a comparison: %q", path, rows[0])
		}
	}
}

// Reports are of the last 30 days by default, and link to other common ranges.
func TestCommonRanges(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	owner := m.signedIn(core.Owner)
	page := owner.Get("/admin/reports")
	wants(t, "at first", page.Texts(".report-heading, .report-quick [aria-current]"), []string{"30 days", "17 May – 15 Jun 2026"})
	var got []string
	for _, link := range page.Links(".report-quick a") {
		picked := owner.Get(link)
		got = append(got, picked.Text(".report-quick [aria-current]")+": "+picked.Text(".report-heading"))
	}
	wants(t, "ranges", got, []string{
		"7 days: 9–15 Jun 2026", "30 days: 17 May – 15 Jun 2026", "90 days: 18 Mar – 15 Jun 2026",
		"This month: 1–15 Jun 2026", "Last month: 1–31 May 2026", "This year: 1 Jan – 15 Jun 2026",
	})
	over := owner.Get("/admin/reports?from=2025-12-31&to=2026-01-01")
	wants(t, "over the new year", over.Texts(".report-heading, #points tbody th"), []string{"31 Dec 2025 – 1 Jan 2026", "31 Dec 2025", "1 Jan 2026"})
	if got := owner.Get("/admin/reports?from=2026-06-15&to=2026-06-15").Text(".report-heading"); got != "15 Jun 2026" {
		t.Errorf("one day is %q", got)
	}
	// The links keep the other options.
	for _, link := range owner.Get("/admin/reports/customers?by=visits&limit=25").Links(".report-quick a, .page-header a[download]") {
		if !strings.Contains(link, "by=visits") || !strings.Contains(link, "limit=25") {
			t.Errorf("%s forgets what was asked", link)
		}
	}
}

// "Wrong dates: 422 with the form and the message, what was typed kept."
func TestReportsRefuseWrongDates(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	owner := m.signedIn(core.Owner)
	for _, path := range []string{"/admin/reports", "/admin/reports/customers", "/admin/reports/locations", "/admin/reports/staff", "/admin/reports/hours", "/admin/reports/rewards", "/admin/reports/coupons", "/admin/reports/earning", "/admin/reports/points"} {
		for _, c := range []struct{ from, to, field, message string }{
			{"2026-06-10", "2026-06-01", "to", webtest.Message("To", core.AfterOrEqual("from"))},
			{"2016-06-10", "2026-06-15", "to", webtest.Message("To", core.WithinDays(3652, "from"))},
			{"31 <b>", "2026-06-01", "from", webtest.Message("From", core.MustBeDate)},
		} {
			query := webtest.Form("from", c.from, "to", c.to).Encode()
			a := owner.Ask(http.MethodGet, path+"?"+query)
			if a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != c.message || a.Find(".alert a").Length() != 1 {
				t.Errorf("%s of %s to %s = %d %q", path, c.from, c.to, a.Code, a.Text(".alert, .invalid-feedback"))
			}
			if from, to := a.Value("#field-from"), a.Value("#field-to"); from != c.from || to != c.to {
				t.Errorf("%s: typed %s and %s, kept %s and %s", path, c.from, c.to, from, to)
			}
			wants(t, "the summary leads to", a.Links(".alert a"), []string{"#field-" + c.field})
			if a.Find("figure, table, a[download]").Length() > 0 {
				t.Errorf("%s shows figures for refused days", path)
			}
			file := strings.Replace(path, "reports", "reports/summary", 1)
			if path != "/admin/reports" {
				file = path
			}
			if a := owner.Ask(http.MethodGet, file+".csv?"+query); a.Code != http.StatusUnprocessableEntity || a.Header().Get("Content-Disposition") != "" {
				t.Errorf("%s.csv = %d %s", file, a.Code, a.Header().Get("Content-Disposition"))
			}
		}
	}
	for _, path := range []string{
		"customers?by=height", "customers?limit=0", "customers?limit=many", "customers?location=9", "?compare=height", "?location=9", "?location=here",
		"staff?location=9", "hours?location=9", "locations?compare=height", "rewards?compare=height",
		"earning?location=9", "earning?compare=height",
		"points?unit=coins", "points?value=much", "points?value=-1", "points?value=1&rate=101", "points?value=1&rate=many",
	} {
		a := owner.Ask(http.MethodGet, "/admin/reports/"+path)
		if strings.HasPrefix(path, "?") {
			a = owner.Ask(http.MethodGet, "/admin/reports"+path)
		}
		if a.Code != http.StatusUnprocessableEntity || a.Find(".alert").Length() != 1 || a.Find("figure, table").Length() > 0 {
			t.Errorf("%s = %d %s", path, a.Code, a.Text("main"))
		}
	}
}

// "Top customers" by each measure, with bars that compare them with the first one.
func TestTopReport(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("", "Anna <b>", "Lindqvist")
	evil := m.customer("", "=1+1", "@Ek")
	m.sale("2026-06-01 12:00", anna, m.purchase, 4_000)
	for range 3 {
		m.sale("2026-06-02 12:00", evil, m.purchase, 1_000)
	}
	m.sale("2026-05-01 12:00", evil, m.purchase, 90_000)
	owner := m.signedIn(core.Owner)

	const june = "?from=2026-06-01&to=2026-06-15"
	bySpend := owner.Get("/admin/reports/customers" + june)
	wants(t, "by spend", bySpend.Texts("tbody tr td:nth-child(4), tbody tr td:nth-child(5)"), []string{"1", "4,000", "3", "3,000"})
	wants(t, "names", bySpend.Texts("tbody a"), []string{"Anna <b> Lindqvist", "=1+1 @Ek"})
	wants(t, "where they lead", bySpend.Links("tbody a"), []string{"/admin/customers/" + anna.String(), "/admin/customers/" + evil.String()})
	byVisits := owner.Get("/admin/reports/customers" + june + "&by=visits")
	wants(t, "by sales", byVisits.Texts("tbody a"), []string{"=1+1 @Ek", "Anna <b> Lindqvist"})
	if width := byVisits.Find("tbody tr").Last().Find(".bar-column rect").AttrOr("width", ""); width != "33.33%" {
		t.Errorf("a third is drawn as %s", width)
	}
	if got := byVisits.Text(".card-title"); !strings.HasPrefix(got, "1–15 Jun 2026") {
		t.Errorf("title = %q", got)
	}
	if got := owner.Get("/admin/reports/customers" + june + "&limit=1").Find("tbody tr").Length(); got == 0 {
		t.Error("the first one is missing")
	}
	name, rows := owner.file("/admin/reports/customers.csv" + june)
	if name != "attachment; filename=top-customers-2026-06-01-to-2026-06-15.csv" {
		t.Errorf("file: %s", name)
	}
	wants(t, "lines", columns(rows, "Rank", "ULID", "First name", "Last name", "Phone", "E-mail", "Sales", "Spend (EUR)", "Points issued", "Points balance", "Stamps balance"), []string{
		"1 | " + anna.String() + " | Anna <b> | Lindqvist | '+46 70 112 23 01 |  | 1 | 40.00 | 4000 | 4000 | 0",
		"2 | " + evil.String() + " | '=1+1 | '@Ek | '+46 70 112 23 02 |  | 3 | 30.00 | 3000 | 93000 | 0",
	})
	if got := owner.Get("/admin/reports/customers?from=2026-04-01&to=2026-04-02"); got.Find(".empty").Length() != 1 || got.Find("tbody tr").Length() != 0 {
		t.Errorf("a period without sales shows %q", got.Text("main"))
	}
	stranger := newMarket(t).signedIn(core.Owner)
	if got := stranger.Get("/admin/reports/customers").Find("tbody tr").Length(); got != 0 {
		t.Errorf("a stranger sees %d customers", got)
	}
}

func (m *market) coupon(when, name string) coupon.Coupon {
	m.T.Helper()
	return m.at(when).Coupon(coupon.New{
		Name: name, BenefitType: string(coupon.Points), BenefitValue: new(int64(5)), MaxPerCustomer: new(int64(9)),
	})
}

// sent sends a coupon to every customer and returns the vouchers.
func (m *market) sent(when string, c coupon.Coupon) (vouchers []core.ID) {
	m.T.Helper()
	sent := m.at(when).Send(c.ID, coupon.Send{Segment: coupon.All})
	list, err := m.Coupons.ListSent(m.T.Context(), m.By, sent.ID, core.Page{Size: 100})
	if err != nil {
		m.T.Fatal(err)
	}
	for _, v := range list.Items {
		vouchers = append(vouchers, v.ID)
	}
	return vouchers
}

// rowsOf are the cells of a table, without those for phones.
func rowsOf(a webtest.Page, table string) (rows []string) {
	a.Find(table).Find("tbody tr, tfoot tr").Each(func(_ int, row *goquery.Selection) {
		row.Find(".to-sm, .to-md, .visually-hidden").Remove()
		cells := row.Find("th, td").Map(func(_ int, cell *goquery.Selection) string { return strings.Join(strings.Fields(cell.Text()), " ") })
		rows = append(rows, strings.TrimRight(strings.Join(cells, " | "), " |"))
	})
	return rows
}

// checkout is a sale at the till with vouchers.
func (m *market) checkout(when string, to core.ID, cents int64, vouchers ...core.ID) {
	m.T.Helper()
	_, err := core.Result(m.at(when).Walkins.Complete(m.T.Context(), m.By, "till", walkin.Sale{
		CustomerID: to, Sold: &transaction.Sale{TransactionTypeID: m.purchase.ID, SpendAmountCents: cents}, Vouchers: vouchers,
	}, nil, nil))
	m.Check(err)
}

// What coupons brought and cost, beside sales without a voucher, and the vouchers sent, by status.
func TestCouponReport(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	owner := m.signedIn(core.Owner)
	if got := owner.Get("/admin/reports/coupons").Links(".empty a"); len(got) != 1 || got[0] != "/admin/coupons" {
		t.Errorf("without coupons leads to %v", got)
	}
	anna := m.customer("2026-05-01 09:00", "Anna", "Lindqvist")
	m.customer("2026-05-01 09:00", "Bo", "Ek")
	points := m.coupon("2026-05-01 10:00", "Points <b>")
	off := m.at("2026-05-01 10:00").Coupon(coupon.New{Name: "=Off", BenefitType: string(coupon.Percent), BenefitValue: new(int64(10)), MaxPerCustomer: new(int64(9))})
	m.coupon("2026-06-02 10:00", "Unsent")
	hers := m.heldBy(anna, m.sent("2026-06-09 12:00", off))
	m.sent("2026-06-09 12:00", points)
	m.checkout("2026-06-10 12:00", anna, 2_000, hers, m.heldBy(anna, m.sent("2026-06-10 11:00", points)))
	m.sale("2026-06-11 12:00", anna, m.purchase, 700)
	m.sale("2026-06-12 12:00", anna, m.purchase, 300)
	m.checkout("2026-06-03 12:00", anna, 1_000, m.heldBy(anna, m.sent("2026-06-02 12:00", off)))
	const week = "?from=2026-06-08&to=2026-06-14"

	page := owner.Get("/admin/reports/coupons" + week)
	wants(t, "coupons", rowsOf(page, "[aria-labelledby=coupons-title]"), []string{
		"Points <b> | € 18.00 | – | 1 | € 18.00 | +100.0% | 1 | € 0.00 | Not known", "=Off | € 18.00 | +100.0% | 1 | € 18.00 | +100.0% | 1 | € 2.00 | € 2.00",
		"All coupons | € 18.00 | +100.0% | 1 | € 18.00 | +100.0% | 2 | € 2.00 | € 2.00 1 not known",
	})
	wants(t, "beside those without", rowsOf(page, "[aria-labelledby=return-title]"), []string{
		"With a voucher | 1 | € 18.00 | € 18.00 | € 9.00", "Of these, not a first sale | 1 | € 18.00 | € 18.00 | –",
		"The sales just before them | 1 | € 9.00 | € 9.00 | –", "Without a voucher | 2 | € 10.00 | € 5.00 | –",
	})
	wants(t, "sent", rowsOf(page, "[aria-labelledby=sent-title]"), []string{"Points <b> | 4 | 1 | 3 | 0 | 25.0%", "=Off | 2 | 1 | 1 | 0 | 50.0%", "All coupons | 6 | 2 | 4 | 0 | 33.3%"})
	wants(t, "figures", page.Texts(".figure-strip .figure-value"), []string{"6", "33.3%", "2", "€ 18.00", "€ 2.00", "€ 2.00"})
	wants(t, "a coupon leads to itself", page.Links("[aria-labelledby=coupons-title] tbody a"), []string{"/admin/coupons/" + points.ID.String(), "/admin/coupons/" + off.ID.String()})
	wants(t, "steps", page.Texts("#coupon-spend tbody tr")[2:3], []string{"10 Jun € 18.00 € 9.00"})
	files := page.Links(".page-header a[download]")
	wants(t, "files", files, []string{
		"/admin/reports/coupons.csv" + week, "/admin/reports/coupons.xlsx" + week, "/admin/reports/coupons/steps.csv" + week, "/admin/reports/coupons/steps.xlsx" + week,
	})
	name, rows := owner.file(files[0])
	if name != "attachment; filename=coupons-2026-06-08-to-2026-06-14.csv" {
		t.Errorf("file: %s", name)
	}
	wants(t, "lines", columns(rows, "Coupon", "Vouchers sent", "Pending", "Redemption rate", "Sales", "Spend (EUR)", "Spend of these (EUR)", "Spend at the sales just before them (EUR)", "Discount (EUR)", "Lowest cost (EUR)", "Vouchers without a known cost", "Earlier spend (EUR)"), []string{
		"Points <b> | 4 | 3 | 25.0% | 1 | 18.00 | 18.00 | 9.00 | 0.00 | 0.00 | 1 | 0.00",
		"'=Off | 2 | 1 | 50.0% | 1 | 18.00 | 18.00 | 9.00 | 2.00 | 2.00 | 0 | 9.00", "All coupons | 6 | 4 | 33.3% | 1 | 18.00 | 18.00 | 9.00 | 2.00 | 2.00 | 1 | 9.00",
		"Sales without a voucher |  |  |  | 2 | 10.00 |  |  |  |  |  | 0.00",
	})
	_, rows = owner.file(files[2])
	wants(t, "lines over time", columns(rows, "From", "To", "Vouchers redeemed", "Spend with vouchers (EUR)", "Earlier spend with vouchers (EUR)")[2:3], []string{"2026-06-10 | 2026-06-10 | 2 | 18.00 | 9.00"})
	if none := owner.Get("/admin/reports/coupons" + week + "&compare=none"); len(none.Texts(".figure-against")) != 0 {
		t.Errorf("compared with nothing: %q", none.Texts(".figure-against"))
	}
	stranger := newMarket(t).signedIn(core.Owner)
	if page := stranger.Get("/admin/reports/coupons" + week); page.Find(".empty").Length() != 1 || page.Find("table").Length() != 0 {
		t.Errorf("a stranger sees %s", page.Text("main"))
	}
	if _, rows := stranger.file(files[0]); len(rows) != 3 {
		t.Errorf("a stranger's file: %q", rows)
	}
}

// heldBy returns the voucher of a customer.
func (m *market) heldBy(customer core.ID, vouchers []core.ID) core.ID {
	m.T.Helper()
	return shoptest.Query[core.ID](m.Shop, "select id from loyalty.voucher where tenant_id = $1 and customer_id = $2 and id = any($3)", m.By.Tenant.ID, customer, vouchers)
}

// "Money in the tenant's currency": one without cents.
func TestReportsInYen(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	m.Exec("update loyalty.tenant set currency = 'JPY' where id = $1", m.By.Tenant.ID)
	m.sale("", m.customer("", "Anna", "Lindqvist"), m.purchase, 1_250)
	owner := m.signedIn(core.Owner)
	page := owner.Get("/admin/reports?from=2026-06-15&to=2026-06-15")
	if got := page.Text("#spend tbody"); !strings.Contains(got, "¥ 1,250") || page.Find("#spend").AttrOr("data-decimals", "0") != "0" {
		t.Errorf("spend = %q", got)
	}
	if _, rows := owner.file("/admin/reports/summary.csv?from=2026-06-15&to=2026-06-15"); columns(rows, "Spend (JPY)")[0] != "1250" {
		t.Errorf("file: %q", rows)
	}
}
