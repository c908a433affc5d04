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
		"=Kiosk <b> | € 75.00 | 75.0% | 1 | € 75.00 | 7,500 | 0 | +50.0%",
		"No location | € 25.00 | 25.0% | 2 | € 12.50 | 2,500 | 0 | –",
		"All locations | € 100.00 | 100.0% | 3 | € 33.33 | 10,000 | 0 | +100.0%",
	})
	filtered := places.Links("tbody a")
	wants(t, "a location leads to its summary", filtered, []string{"/admin/reports?from=2026-06-08&location=" + strconv.FormatInt(kiosk, 10) + "&to=2026-06-14"})
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
		m.By.Name + " | € 100.00 | 100.0% | 3 | € 33.33 | 0 | 1 | +100.0%", "All staff | € 100.00 | 100.0% | 3 | € 33.33 | 0 | 1 | +100.0%",
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
