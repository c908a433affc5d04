package admin_test

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/dbtest"
)

// happyHours gives a market a promotion since Tuesday, 2 June 2026, and levels by visits, and sells in its hours and outside of them.
func (m *market) happyHours() (promotion, kiosk int64) {
	m.T.Helper()
	june := m.at("2026-06-01 12:00")
	promotion = june.Promote(award.Promotion{
		Name: "Double <Tuesdays>", Percent: new(int64(200)), Windows: []award.Window{{Days: []award.Weekday{2}, From: 14 * 60, To: 17 * 60}},
	})
	june.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime}, award.Level{Name: "Guest"}, award.Level{Name: "Regular", Threshold: 2, Percent: 150})
	june.Cap(new(int64(1_000)), nil)
	kiosk = m.place("Kiosk")
	anna := m.customer("2026-05-20 09:00", "Anna", "Lindqvist")
	m.customer("2026-05-20 09:00", "Bo", "Ek")
	m.sale("2026-05-26 15:00", anna, m.purchase, 100)
	m.sale("2026-06-02 15:00", anna, m.purchase, 200) // earns 400, and Anna is a regular
	m.saleAt(kiosk, "2026-06-02 18:00", anna, 100)    // 150
	m.sale("2026-06-09 15:00", anna, m.purchase, 600) // 600, 600 and 300, of which the cap leaves 1,000
	m.sale("2026-06-09 15:30", anna, m.coffee, 300)
	m.void("2026-06-09 16:30", m.sale("2026-06-09 16:00", anna, m.purchase, 5_000))
	return promotion, kiosk
}

// "Points by rule (base, each promotion, levels), sales in and outside windows, customers by level and moves": each figure is on the
// page and in a file, and adds up.
func TestEarningReport(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	owner, manager := m.signedIn(core.Owner), m.signedIn(core.Manager)
	if empty := manager.Get("/admin/reports/earning"); !slices.Equal(empty.Links(".empty a"), []string{"/admin/earning"}) || empty.Find("table").Length() > 0 {
		t.Errorf("without promotions and levels: %s", empty.Text("main"))
	}
	promotion, kiosk := m.happyHours()
	const days = "from=2026-06-01&to=2026-06-14"
	page := manager.Get("/admin/reports/earning?" + days)
	wants(t, "compared with", page.Texts(".report-note span"), []string{"Compared with 18–31 May 2026"})
	wants(t, "rows", tableRows(page), []string{
		"Base awardEarning rules of types | 900 | 58.1% | 3 | 100.0% | € 9.00 | +800.0%",
		"Double <Tuesdays>Promotion | 600 | 38.7% | 2 | 66.7% | € 8.00 | –",
		"RegularLevel | 50 | 3.2% | 2 | 66.7% | € 7.00 | –",
		"All rules | 1,550 | 100.0% | 3 | 100.0% | € 9.00 | 15×",
		"Base awardEarning rules of types | 1 | 100.0% | 1 | 100.0% | € 3.00 | –",
		"All rules | 1 | 100.0% | 1 | 100.0% | € 3.00 | –",
		"Double <Tuesdays>On Tuesdays from 14:00 to 17:00: 1.0 sales a day, 1.0 before it began on 1 June 2026",
		"In its hours2 sales, € 8.00, on 2 days | 1.0 | 1.0 | 0% | € 4.00 | € 1.00",
		"Other hours1 sale, € 1.00, on 2 days | 0.5 | 0.0 | – | € 0.50 | € 0.00",
		"Guest | 1 | 50.0% | 0 | 0 | 0 | 0 | 0",
		"Regular | 1 | 50.0% | 1 | 0 | 0 | 0 | 0",
		"All levels | 2 | 100.0% | 1 | 0 | 0 | 0 | 0",
	})
	if got := page.Texts("main h2.card-title"); !slices.Equal(got, []string{"Points by rule", "Stamps by rule", "Hours of promotions", "Customers by level"}) {
		t.Errorf("parts: %q", got)
	}
	if words := page.Text("#points .card-footer"); !strings.Contains(words, "1 sale, by 500 points") {
		t.Errorf("caps: %s", words)
	}
	if got := page.Links("tbody a"); !slices.Equal(got, slices.Repeat([]string{"/admin/earning/" + strconv.FormatInt(promotion, 10)}, 2)) {
		t.Errorf("a promotion leads to %v", got)
	}

	files := page.Links("#export-files a[download]")
	wants(t, "files", files, []string{
		"/admin/reports/earning.csv?" + days, "/admin/reports/earning.xlsx?" + days, "/admin/reports/earning/hours.csv?" + days,
		"/admin/reports/earning/hours.xlsx?" + days, "/admin/reports/earning/levels.csv?" + days, "/admin/reports/earning/levels.xlsx?" + days,
	})
	name, rows := owner.file(files[0])
	if name != "attachment; filename=earning-2026-06-01-to-2026-06-14.csv" {
		t.Errorf("file: %s", name)
	}
	wants(t, "rules", columns(rows, "Unit", "Rule", "Name", "Sales", "Spend (EUR)", "Awarded", "Taken off by caps", "Earlier award", "Compared with"), []string{
		"points | Base award |  | 3 | 9.00 | 900 | 0 | 100 | 18–31 May 2026", "points | Promotion | Double <Tuesdays> | 2 | 8.00 | 600 | 0 | 0 | 18–31 May 2026",
		"points | Level | Regular | 2 | 7.00 | 50 | 0 | 0 | 18–31 May 2026", "points | Caps |  | 1 |  | 0 | 500 |  | 18–31 May 2026",
		"stamps | Base award |  | 1 | 3.00 | 1 | 0 | 0 | 18–31 May 2026", "stamps | Caps |  | 0 |  | 0 | 0 |  | 18–31 May 2026",
	})
	if _, alone := owner.file(files[0] + "&compare=none"); len(alone[0]) != 7 {
		t.Errorf("without a comparison: %q", alone[0])
	}
	_, rows = owner.file(files[2])
	wants(t, "hours", columns(rows, "Promotion", "Hours", "Began", "Days", "Sales", "Spend (EUR)", "Days before", "Sales before", "Spend (EUR) before"), []string{
		"Double <Tuesdays> | In its hours | 2026-06-01 | 2 | 2 | 8.00 | 1 | 1 | 1.00", "Double <Tuesdays> | Other hours | 2026-06-01 | 2 | 1 | 1.00 | 1 | 0 | 0.00",
	})
	book, err := excelize.OpenReader(bytes.NewReader(owner.Get(files[5]).Body.Bytes()))
	m.Check(err)
	cells, err := book.GetRows("Customers by level")
	m.Check(err)
	m.Check(book.Close())
	if len(cells) != 3 || !slices.Equal(cells[2], strings.Split("Regular 1 1 0 0 0 0 0 0 0", " ")) {
		t.Errorf("workbook: %q", cells)
	}

	at := manager.Get("/admin/reports/earning?" + days + "&location=" + strconv.FormatInt(kiosk, 10))
	if !strings.Contains(at.Text(".report-note"), "Levels aren't recorded by location") || at.Find("#levels").Length() > 0 || len(at.Links("#export-files a")) != 4 {
		t.Errorf("at a location: %s", at.Text("main"))
	}
	wants(t, "at the kiosk", tableRows(at)[:3], []string{
		"Base awardEarning rules of types | 100 | 66.7% | 1 | 100.0% | € 1.00 | –", "RegularLevel | 50 | 33.3% | 1 | 100.0% | € 1.00 | –",
		"All rules | 150 | 100.0% | 1 | 100.0% | € 1.00 | –",
	})
	if none := manager.Get("/admin/reports/earning?from=2026-01-01&to=2026-01-02"); none.Text(".empty-title") != "No sales in this period" {
		t.Errorf("without sales: %s", none.Text("main"))
	}
}

// "A record of another tenant": nothing of a neighbour's is in the report or its files.
func TestAnotherBusinessesRulesAreNotReported(t *testing.T) {
	t.Parallel()
	neighbour, m := newMarket(t), newMarket(t)
	_, kiosk := neighbour.happyHours()
	manager := m.signedIn(core.Manager)
	if page := manager.Get("/admin/reports/earning?from=2026-06-01"); page.Find(".empty").Length() != 1 || page.Find("table").Length() > 0 {
		t.Errorf("a stranger sees %s", page.Text("main"))
	}
	m.at("2026-06-01 12:00").Promote(award.Promotion{Name: "Own", Percent: new(int64(150))})
	for _, path := range []string{"earning?", "earning.csv?", "earning/hours.csv?", "earning/levels.csv?"} {
		if got := manager.Get("/admin/reports/" + path + "from=2026-06-01").Body.String(); strings.Contains(got, "Tuesdays") || strings.Contains(got, "Regular") || strings.Contains(got, "1,550") {
			t.Errorf("%s has a neighbour's: %s", path, got)
		}
	}
	if a := manager.Ask(http.MethodGet, "/admin/reports/earning?location="+strconv.FormatInt(kiosk, 10)); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("a neighbour's location: %d", a.Code)
	}
}

// Hours of promotions take one round trip more, because their times are known only then.
func TestRoundTripsOfTheEarningReport(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	m := newMarketOn(t, d)
	m.happyHours()
	manager := m.signedIn(core.Manager)
	for path, want := range map[string]int{"/admin/reports/earning": 5, "/admin/reports/earning?from=2026-01-01&to=2026-01-31": 4} {
		for range 2 {
			manager.Get(path)
		}
		before := count()
		manager.Get(path)
		if got := count() - before; got != want {
			t.Errorf("%s makes %d round trips, want %d", path, got, want)
		}
	}
}
