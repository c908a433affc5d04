package admin_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/web/webtest"
)

func (m *market) place(name string) int64 {
	m.T.Helper()
	made, err := core.Result(m.Locations.Add(m.T.Context(), m.By, location.New{Name: name}, nil))
	m.Check(err)
	return made.ID
}

func (m *market) saleAt(place int64, when string, to core.ID, cents int64) {
	m.T.Helper()
	at := m.at(when)
	_, err := core.Result(at.Transactions.Record(m.T.Context(), m.By, transaction.Sale{
		CustomerID: to, TransactionTypeID: m.purchase.ID, SpendAmountCents: cents, LocationID: &place, Source: transaction.POS,
	}, nil, nil))
	m.Check(err)
}

// tableRows are the cells of a table's body and foot, without those for phones.
func tableRows(a webtest.Page) (rows []string) {
	a.Find("tbody tr, tfoot tr").Each(func(_ int, row *goquery.Selection) {
		row.Find(".to-md, .visually-hidden").Remove()
		cells := row.Find("th, td").Map(func(_ int, cell *goquery.Selection) string { return strings.Join(strings.Fields(cell.Text()), " ") })
		rows = append(rows, strings.Join(cells, " | "))
	})
	return rows
}

// "Reports by location, staff member, reward, weekday and hour": each adds up to its total, leads on, and is
// exported with the same figures.
func TestBreakdowns(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	kiosk, _ := m.place("=Kiosk <b>"), m.place("Unused")
	anna := m.customer("2026-06-01 09:00", "Anna", "Lindqvist")
	m.saleAt(kiosk, "2026-06-10 08:30", anna, 7_500) // a Wednesday
	m.sale("2026-06-11 12:00", anna, m.purchase, 2_000)
	m.sale("2026-06-11 12:30", anna, m.purchase, 500)
	m.saleAt(kiosk, "2026-06-03 08:30", anna, 5_000)
	m.redemption("2026-06-11 13:00", anna)
	owner := m.signedIn(core.Manager)
	const week = "?from=2026-06-08&to=2026-06-14"

	places := owner.Get("/admin/reports/locations" + week)
	wants(t, "locations", tableRows(places), []string{
		"=Kiosk <b> | € 75.00 | 75.0% | 1 | € 75.00 | – 0 of 1 | 7,500 | 0 | +50.0%",
		"No location | € 25.00 | 25.0% | 2 | € 12.50 | – 0 of 2 | 2,500 | 0 | –",
		"All locations | € 100.00 | 100.0% | 3 | € 33.33 | – 0 of 3 | 10,000 | 0 | +100.0%",
	})
	filtered := places.Links("tbody th a")
	wants(t, "a location leads to its summary, and none to its sales", filtered, []string{"/admin/reports?from=2026-06-08&location=" + strconv.FormatInt(kiosk, 10) + "&to=2026-06-14", "/admin/transactions?from=2026-06-08&location_id=none&to=2026-06-14"})
	summary := owner.Get(filtered[0])
	if got := summary.Text("#spend figcaption"); got != "8–14 Jun 2026, by day: € 75.00 in 1 sale" {
		t.Errorf("at the kiosk: %s", got)
	}
	wants(t, "points at the kiosk", summary.Texts("#points thead th, #points figcaption"), []string{"8–14 Jun 2026, by day: 7,500 points issued", "Day", "Issued", "Issued, 1–7 Jun"})
	if !strings.Contains(summary.Text(".report-note"), "aren't recorded by location") || strings.Contains(summary.Text(".figure-strip"), "Redemptions") {
		t.Errorf("the summary of a location shows redemptions: %s", summary.Text("main"))
	}
	_, rows := owner.file(summary.Links("a[download]")[0])
	wants(t, "its file", columns(rows, "Date", "Sales", "Spend (EUR)", "Redemptions")[2:4], []string{"2026-06-10 | 1 | 75.00", "2026-06-11 | 0 | 0.00"})

	staff := owner.Get("/admin/reports/staff" + week)
	wants(t, "staff", tableRows(staff), []string{
		m.By.Name + " | € 100.00 | 100.0% | 3 | € 33.33 | – 0 of 3 | 1 | +100.0%", "All staff | € 100.00 | 100.0% | 3 | € 33.33 | – 0 of 3 | 1 | +100.0%",
	})
	rewards := owner.Get("/admin/reports/rewards" + week + "&compare=none")
	wants(t, "rewards", rowsOf(rewards, "[aria-labelledby=rewards-title]"), []string{"Espresso | 1 | 1 | 0 | 10 | 0 | Not known | 0", "All rewards | 1 | 1 | 0 | 10 | 0 | Not known | 0"})
	wants(t, "a reward leads to itself", rewards.Links("tbody a"), []string{"/admin/rewards/" + m.espresso.String()})
	hours := owner.Get("/admin/reports/hours" + week)
	wants(t, "hours", tableRows(hours), []string{
		"08:00 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 1", "09:00 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0", "10:00 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0",
		"11:00 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0", "12:00 | 0 | 0 | 0 | 2 | 0 | 0 | 0 | 2",
		"All hours | 0 | 0 | 1 | 2 | 0 | 0 | 0 | 3", "Per day | 0.0 | 0.0 | 1.0 | 2.0 | 0.0 | 0.0 | 0.0 | 0.4",
	})
	wants(t, "shades", []int{hours.Find(".heat-5").Length(), hours.Find(".heat-3").Length()}, []int{1, 1})
	wants(t, "figures of hours", hours.Links(".figure-switch a"), []string{"/admin/reports/hours" + week, "/admin/reports/hours?by=spend&from=2026-06-08&to=2026-06-14"})
	spend := owner.Get(hours.Links(".figure-switch a")[1])
	wants(t, "hours by spend", tableRows(spend), []string{
		"08:00 | 0.00 | 0.00 | 75.00 | 0.00 | 0.00 | 0.00 | 0.00 | 75.00", "09:00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00",
		"10:00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00", "11:00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00",
		"12:00 | 0.00 | 0.00 | 0.00 | 25.00 | 0.00 | 0.00 | 0.00 | 25.00",
		"All hours | 0.00 | 0.00 | 75.00 | 25.00 | 0.00 | 0.00 | 0.00 | 100.00", "Per day | 0.00 | 0.00 | 75.00 | 25.00 | 0.00 | 0.00 | 0.00 | 14.29",
	})
	if got := spend.Text("h2.card-title") + "; " + spend.Attr(".table-responsive", "aria-label") + "; " + spend.Text(".figure-switch [aria-current]"); got != "Spend (EUR) by weekday and hour, 8–14 Jun 2026; Spend (EUR) by weekday and hour; Spend" {
		t.Errorf("the spend is called %q", got)
	}
	wants(t, "shades of spend", []int{spend.Find(".heat-5").Length(), spend.Find(".heat-2").Length()}, []int{1, 1})
	for _, link := range spend.Links(".report-quick a, .page-header [download]") {
		if !strings.Contains(link, "by=spend") {
			t.Errorf("%s forgets the spend", link)
		}
	}

	for path, want := range map[string]string{
		"locations": "'=Kiosk <b> | 75.00 | 50.00", "staff": m.By.Name + " | 100.00 | 50.00 | 1", "rewards": "Espresso | 1 | 10", "hours": "Wednesday | 08:00 | 1 | 75.00",
	} {
		name, rows := owner.file("/admin/reports/" + path + ".csv" + week)
		if name != "attachment; filename="+path+"-2026-06-08-to-2026-06-14.csv" {
			t.Errorf("file: %s", name)
		}
		got := columns(rows, "Location", "Recorded by", "Reward", "Weekday", "Hour", "Spend (EUR)", "Earlier spend (EUR)", "Redemptions", "Points spent")
		if path == "hours" {
			got = columns(rows, "Weekday", "Hour", "Sales", "Spend (EUR)")
		}
		if got[0] != want && got[len(got)-1] != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	stranger := newMarket(t).signedIn(core.Owner)
	for _, path := range []string{"locations", "staff", "rewards", "hours"} {
		if page := stranger.Get("/admin/reports/" + path + week); page.Find(".empty").Length() != 1 || page.Find("table").Length() != 0 {
			t.Errorf("a stranger sees %s: %s", path, page.Text("main"))
		}
	}
}

// Void rates of locations and people, which lead to exactly the sales that they count.
func TestVoidRates(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	kiosk := m.place("Kiosk")
	anna := m.customer("2026-06-01 09:00", "Anna", "Lindqvist")
	maja := *m
	at, app := *m.shop, m.By
	maja.shop = &at
	maja.By.Kind, maja.By.ID, maja.By.Name = core.ByStaff, "900001", "Maja Sund"
	app.Kind, app.ID, app.Name = core.ByToken, "900001", "Ordering app"
	record := func(by core.Actor, when string, place *int64, times, voided int) {
		t.Helper()
		for i := range times {
			made, err := core.Result(m.at(when).Transactions.Record(t.Context(), by, transaction.Sale{
				CustomerID: anna, TransactionTypeID: m.purchase.ID, SpendAmountCents: 100, LocationID: place, Source: transaction.POS,
			}, nil, nil))
			m.Check(err)
			if i < voided {
				m.void(when, made.ID)
			}
		}
	}
	record(maja.By, "2026-06-10 08:30", &kiosk, 50, 3)
	record(maja.By, "2026-06-11 08:30", nil, 4, 1)
	record(app, "2026-06-14 23:30", nil, 2, 0)
	record(maja.By, "2026-06-03 08:30", &kiosk, 50, 1)
	record(maja.By, "2026-06-15 00:30", nil, 1, 1) // the day after
	owner := m.signedIn(core.Owner)
	const week = "?from=2026-06-08&to=2026-06-14"

	places, staff := owner.Get("/admin/reports/locations"+week), owner.Get("/admin/reports/staff"+week)
	wants(t, "a rise is worth a look", places.Texts("tbody .text-red"), []string{"was 2.0%", "−4.1%"})
	wants(t, "on phones", places.Texts("tbody .to-md"), []string{"47 sales, 6.0% voided", "5 sales"})
	wants(t, "locations", tableRows(places), []string{
		"Kiosk | € 47.00 | 90.4% | 47 | € 1.00 | 6.0% 3 of 50 was 2.0% | 4,700 | 0 | −4.1%",
		"No location | € 5.00 | 9.6% | 5 | € 1.00 | – 1 of 6 | 500 | 0 | –",
		"All locations | € 52.00 | 100.0% | 52 | € 1.00 | 7.1% 4 of 56 was 2.0% | 5,200 | 0 | +6.1%",
	})
	wants(t, "staff", tableRows(staff), []string{
		"Maja Sund | € 50.00 | 96.2% | 50 | € 1.00 | 7.4% 4 of 54 was 2.0% | 0 | +2.0%",
		"Ordering app API token | € 2.00 | 3.8% | 2 | € 1.00 | – 0 of 2 | 0 | –",
		"All staff | € 52.00 | 100.0% | 52 | € 1.00 | 7.1% 4 of 56 was 2.0% | 0 | +6.1%",
	})
	wants(t, "of the kiosk alone", tableRows(owner.Get("/admin/reports/staff" + week + "&compare=none&location=" + strconv.FormatInt(kiosk, 10)))[:1], []string{
		"Maja Sund | € 47.00 | 100.0% | 47 | € 1.00 | 6.0% 3 of 50",
	})

	// A name leads to all, a number to what it counts: completed or voided sales.
	for path, want := range map[string]int{
		places.Links("tbody tr:nth-child(1) td a")[0]: 47, places.Links("tbody tr:nth-child(1) td a")[1]: 3,
		places.Links("tbody tr:nth-child(2) a")[0]: 6, places.Links("tbody tr:nth-child(2) a")[1]: 5, places.Links("tbody tr:nth-child(2) a")[2]: 1,
		places.Links("tfoot a")[0]: 52, places.Links("tfoot a")[1]: 4,
		staff.Links("tbody tr:nth-child(1) a")[0]: 54, staff.Links("tbody tr:nth-child(1) a")[1]: 50, staff.Links("tbody tr:nth-child(1) a")[2]: 4,
		staff.Links("tbody tr:nth-child(2) a")[0]: 2, staff.Links("tbody tr:nth-child(2) a")[1]: 2,
		owner.Get("/admin/reports/staff" + week + "&location=" + strconv.FormatInt(kiosk, 10)).Links("tbody tr a")[0]: 50,
	} {
		list := owner.Get(path)
		if got := list.Find("tbody tr").Length(); got != min(want, 25) {
			t.Errorf("%s lists %d sales, want %d", path, got, want)
		}
		if _, rows := owner.file(list.Attr("a[href*='export.csv']", "href")); len(columns(rows, "ULID")) != want {
			t.Errorf("%s exports %d sales, want %d", path, len(columns(rows, "ULID")), want)
		}
	}
	none := owner.Get("/admin/transactions?location_id=none")
	if got := none.Text("[name=location_id] option[selected]"); got != "No location" {
		t.Errorf("the filter is %q", got)
	}
	of := owner.Get(staff.Links("tbody tr:nth-child(2) a")[0])
	if got := of.Text("#transactions strong"); got != "Ordering app" || of.Value("form input[name=recorded_by]") != "token:900001" {
		t.Errorf("the list is of %q, and a filter keeps %q", got, of.Value("form input[name=recorded_by]"))
	}
	if got := m.signedIn(core.Manager).Get(staff.Links("tbody tr:nth-child(2) a")[0]).Text("#transactions strong"); got != core.UnnamedToken {
		t.Errorf("a manager reads %q", got)
	}

	_, rows := owner.file("/admin/reports/locations.csv" + week)
	wants(t, "file by location", columns(rows, "Location", "Sales", "Voided sales", "Void rate", "Earlier sales", "Earlier voided sales", "Earlier void rate", "Compared with"), []string{
		"Kiosk | 47 | 3 | 6.0% | 49 | 1 | 2.0% | 1–7 Jun 2026", "No location | 5 | 1 |  | 0 | 0 |  | 1–7 Jun 2026",
	})
	_, rows = owner.file("/admin/reports/staff.csv" + week + "&compare=none")
	wants(t, "file by person", columns(rows, "Recorded by", "Sales", "Voided sales", "Void rate"), []string{"Maja Sund | 50 | 4 | 7.4%", "Ordering app | 2 | 0 | "})
	for _, report := range []string{"locations", "staff", "hours"} {
		if got := owner.Get("/admin/reports/" + report + ".xlsx" + week); !strings.HasSuffix(got.Header().Get("Content-Disposition"), report+"-2026-06-08-to-2026-06-14.xlsx") {
			t.Errorf("the Excel file is %q", got.Header().Get("Content-Disposition"))
		}
	}

	stranger := newMarket(t)
	for _, path := range []string{"?location_id=none", "?recorded_by=staff:900001"} {
		if got := stranger.signedIn(core.Owner).Get("/admin/transactions" + path); got.Find("table").Length() != 0 {
			t.Errorf("a stranger sees %s: %s", path, got.Text("#transactions"))
		}
	}
	if got := owner.Ask("GET", "/admin/transactions?recorded_by=robot:1").Text("[role=alert]"); !strings.Contains(got, "Recorded by") {
		t.Errorf("an unknown kind is refused with %q", got)
	}
}

// "Only sales with a customer are recorded", so no report knows their share of all: pages say so.
func TestReportsSayWhatTheyCannotKnow(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	owner := m.signedIn(core.Owner)
	for _, path := range []string{"/admin/reports", "/admin/reports/locations"} {
		if got := owner.Get(path).Text("main"); !strings.Contains(got, "Only sales with a customer are recorded. What share they are of all your sales can't be known.") {
			t.Errorf("%s doesn't say that it can't know the share of customers: %s", path, got)
		}
	}
}

// A comparison with another period, or with none, is kept when other filters change.
func TestComparisonsOfReports(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2025-06-01 09:00", "Anna", "Lindqvist")
	m.sale("2025-06-10 12:00", anna, m.purchase, 4_000)
	m.sale("2026-06-10 12:00", anna, m.purchase, 5_000)
	owner := m.signedIn(core.Owner)
	const june = "/admin/reports?from=2026-06-08&to=2026-06-14"
	spend := func(path string) string {
		t.Helper()
		return owner.Get(path).Find(".figure-strip .figure").Eq(1).Find(".figure-against").Text()
	}
	menu := owner.Get(june).Links(".filter-menu a")
	wants(t, "comparisons", menu, []string{june, "/admin/reports?compare=last-year&from=2026-06-08&to=2026-06-14", "/admin/reports?compare=none&from=2026-06-08&to=2026-06-14"})
	var got []string
	for _, path := range menu {
		got = append(got, strings.Join(strings.Fields(spend(path)), " "))
	}
	wants(t, "spend", got, []string{"No earlier data", "up +25.0% was € 40.00", ""})
	if page := owner.Get(menu[2]); page.Find("#spend thead th").Length() != 2 || page.Find("[data-kind=earlier]").Length() != 0 {
		t.Error("a report without comparison has an earlier period")
	}
	for _, link := range owner.Get(menu[1]).Links(".report-quick a") {
		if !strings.Contains(link, "compare=last-year") {
			t.Errorf("%s forgets the comparison", link)
		}
	}
	if kept := owner.Get(menu[1]).Value("form input[name=compare]"); kept != "last-year" {
		t.Errorf("other dates forget the comparison: %q", kept)
	}
}
