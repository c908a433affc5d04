package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

// market is a shop on Monday, 15 June 2026, at noon, with a transaction type that earns a point per
// cent, one that earns a stamp, and a reward for ten points.
type market struct {
	*shop
	purchase, coffee transaction.Type
	espresso         core.ID
	phones           int
}

func newMarket(t *testing.T) *market {
	t.Helper()
	return newMarketOn(t, dbtest.DB(t))
}

func newMarketOn(t *testing.T, d *db.DB) *market {
	t.Helper()
	m := &market{shop: newShopOn(t, d.At(time.Date(2026, 6, 15, 10, 0, 0, 0, time.UTC)))}
	m.purchase, m.coffee = m.Points(1), m.Stamps()
	m.espresso = m.Reward(10, nil)
	return m
}

// at is the shop at a local time; "" is now.
func (m *market) at(shown string) shoptest.Shop {
	m.T.Helper()
	if shown == "" {
		return m.Shop
	}
	instant, err := time.ParseInLocation("2006-01-02 15:04", shown, m.By.Tenant.TimeZone)
	if err != nil {
		m.T.Fatal(err)
	}
	return m.At(instant)
}

func (m *market) customer(when, first, last string) core.ID {
	m.T.Helper()
	m.phones++
	return m.at(when).AddCustomer(customer.New{FirstName: first, LastName: last, Phone: fmt.Sprintf("+46 70 112 23 %02d", m.phones)}).ID
}

func (m *market) sale(when string, to core.ID, kind transaction.Type, cents int64) core.ID {
	m.T.Helper()
	return m.at(when).Sale(to, kind, cents).ID
}

func (m *market) void(when string, sale core.ID) {
	m.T.Helper()
	m.at(when).VoidSale(sale)
}

func (m *market) redemption(when string, by core.ID) core.ID {
	m.T.Helper()
	return m.at(when).Redeem(by, m.espresso).ID
}

func wants[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// "The four figures that matter with the change against the previous period, points
// issued and redeemed per day (chart with an accessible table), recent activity …, top
// customers, points outstanding."
func TestDashboard(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2026-04-20 09:00", "Anna", "Lindqvist <b>")
	bo := m.customer("2026-06-01 09:00", "Bo", "Ek")
	m.sale("2026-04-20 12:00", anna, m.purchase, 1_000)
	m.sale("2026-05-16 13:00", anna, m.purchase, 7_000) // the last of the days before, later than it is now
	m.sale("2026-05-17 00:00", anna, m.purchase, 500)   // the first of the last 30 days
	m.sale("2026-06-01 12:00", bo, m.purchase, 1_250)
	m.void("2026-06-01 12:30", m.sale("2026-06-01 12:10", bo, m.purchase, 90_000))
	m.sale("2026-06-15 11:00", anna, m.coffee, 420)
	m.redemption("2026-06-15 11:58", anna)

	page := m.signedIn(core.Manager).Get("/admin")
	hasFigures(t, page, "2 up +100.0% was 1 17 Apr – 16 May", "1,750 up +75.0%", "1 No earlier data 17 Apr – 16 May", "€ 21.70 up +117.0%")
	wants(t, "the chart", page.Texts("#points thead th, .page-header summary"), []string{"17 May – 15 Jun 2026", "Day", "Issued", "Issued, 17 Apr – 16 May", "Redeemed"})
	wants(t, "the chart's caption and axis", page.Texts("#points figcaption, #points .chart-measure"), []string{
		"Points per day", "17 May – 15 Jun 2026, by day: 1,750 points issued, 10 redeemed, today so far",
	})
	days := page.Texts("#points tbody tr")
	if len(days) != 30 || days[0] != "17 May 500 0 0" || days[3] != "20 May 0 1,000 0" || days[15] != "1 Jun 1,250 0 0" || days[29] != "15 Jun (Today so far) 0 7,000 10" {
		t.Errorf("%d days: %q", len(days), days)
	}
	if number, soFar := page.Find("#points td").First().AttrOr("data-value", ""), page.Attr("#points", "data-so-far"); number != "500" || soFar != "Today so far" {
		t.Errorf("drawn from %s, %q", number, soFar)
	}
	wants(t, "the headings", page.Texts("main h2"), []string{
		"17 May – 15 Jun 2026, compared with 17 Apr – 16 May 2026, up to this time of day", "Outstanding today, 15 Jun 2026", "Points issued and redeemed",
		"Top customers by spend 17 May – 15 Jun 2026", "Activity",
	})
	wants(t, "activity", page.Texts("#activity h3, #activity li"), []string{
		"Today, 15 Jun 1 sale · € 4.20", "Anna Lindqvist <b> Espresso −10 11:58", "Anna Lindqvist <b> € 4.20 +1 stamp 11:00",
		"Mon 1 Jun", "Bo Ek Sale of € 900.00 voided by " + m.By.Name + " −90,000 12:30", "Bo Ek € 12.50 +1,250 12:00", "Bo Ek Joined New 09:00",
		"Sun 17 May", "Anna Lindqvist <b> € 5.00 +500 00:00", "Sat 16 May", "Anna Lindqvist <b> € 70.00 +7,000 13:00",
		"Mon 20 Apr", "Anna Lindqvist <b> € 10.00 +1,000 12:00", "Anna Lindqvist <b> Joined New 09:00",
	})
	asks := page.Attr("[aria-labelledby=top-title] .table-responsive", "hx-get")
	if rows := page.Find("[aria-labelledby=top-title] tbody tr").Length(); rows != 2 {
		t.Errorf("%d rows are counted, want as many as there will be", rows)
	}
	top := m.signedIn(core.Manager).Ask(http.MethodGet, asks, "Hx-Request", "true")
	wants(t, "top customers", top.Texts("tbody tr"), []string{
		"BE Bo Ek +46 70 112 23 02 1 1,250 € 12.50 Mon 1 Jun", "AB Anna Lindqvist <b> +46 70 112 23 01 2 500 € 9.20 Today",
	})
	wants(t, "where names lead", append(top.Links("tbody a"), page.Links("#activity ul:nth-of-type(1) li:first-child a")...), []string{
		"/admin/customers/" + bo.String(), "/admin/customers/" + anna.String(), "/admin/customers/" + anna.String(),
	})
	wants(t, "the whole ranking and the till", page.Links("[aria-labelledby=top-title] .card-header a, .page-header a.btn-primary"), []string{
		"/admin/transactions/new", "/admin/reports/customers?from=2026-05-17&to=2026-06-15",
	})
	// 1,000 + 7,000 + 500 points, less the espresso, and a stamp of Anna; 1,250 of Bo.
	wants(t, "outstanding", page.Texts(".outstanding > div"), []string{"9,740 points", "1 stamp"})
	if page.Find("b, .alert").Length() > 0 {
		t.Errorf("tags or alerts: %s", page.Text("b, .alert"))
	}
}

// "A period picker": plain links, each to as many days as it says.
func TestPeriods(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2026-05-01 09:00", "Anna", "Lindqvist")
	m.sale("2026-05-01 12:00", anna, m.purchase, 1_000)
	owner := m.signedIn(core.Owner)
	var got []string
	for _, link := range owner.Get("/admin").Links(".page-header nav a") {
		page := owner.Get(link)
		got = append(got, fmt.Sprint(page.Text(".page-header nav [aria-current]"), "/", page.Text(".page-header summary"), "/", page.Find("#points tbody tr").Length()))
	}
	wants(t, "periods", got, []string{
		"Last 7 days/9–15 Jun 2026/7", "Last 30 days/17 May – 15 Jun 2026/30", "Last 90 days/18 Mar – 15 Jun 2026/90",
		"This month/1–15 Jun 2026/15", "Last month/1–31 May 2026/31", "This year/1 Jan – 15 Jun 2026/25",
	})
	if page := owner.Get("/admin?period=7-days"); page.Find("[aria-labelledby=top-title] p").Length() != 1 || page.Find("[aria-labelledby=top-title] table").Length() != 0 {
		t.Errorf("without sales, the top customers are %q", page.Text("[aria-labelledby=top-title]"))
	}
	if a := owner.Ask(http.MethodGet, "/admin?period=eternity"); a.Code != http.StatusUnprocessableEntity || !strings.Contains(a.Text("main"), webtest.MessageApart("period", core.InvalidChoice)) {
		t.Errorf("eternity = %d %s", a.Code, a.Text("main"))
	}
}

// "Own dates": a user can choose from and to, which stay in the address, as named periods do.
func TestDashboardOfOwnDates(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2026-05-01 09:00", "Anna", "Lindqvist")
	m.sale("2026-05-02 12:00", anna, m.purchase, 1_000)
	m.sale("2026-05-05 23:59", anna, m.purchase, 3_000)
	m.sale("2026-05-06 00:00", anna, m.purchase, 50_000)
	owner := m.signedIn(core.Owner)
	page := owner.Get("/admin?from=2026-05-04&to=2026-05-05")
	hasFigures(t, page, "1 level 0% was 1 2–3 May", "3,000 up +200.0%", " 0 ", "€ 30.00 up +200.0%")
	wants(t, "the dates", page.Texts(".page-header summary, main .dashboard-heading, #points tbody th"), []string{
		"4–5 May 2026", "4–5 May 2026, compared with 2–3 May 2026", "4 May", "5 May",
	})
	if from, to := page.Value("#field-from"), page.Value("#field-to"); from != "2026-05-04" || to != "2026-05-05" {
		t.Errorf("the fields have %s to %s", from, to)
	}
	if page.Find(".page-header nav [aria-current]").Length() != 0 {
		t.Errorf("own dates are called %q", page.Text(".page-header nav [aria-current]"))
	}
	if got := owner.Get("/admin?to=2026-05-05").Text(".page-header summary"); got != "6 Apr – 5 May 2026" {
		t.Errorf("with an end alone: %s", got)
	}
	// A year with the leap day is as long as it may be.
	if got := owner.Get("/admin?from=2023-07-01&to=2024-06-30").Text(".page-header summary"); got != "1 Jul 2023 – 30 Jun 2024" {
		t.Errorf("366 days: %s", got)
	}
	for query, message := range map[string]string{
		"from=2026-05-05&to=2026-05-04": webtest.Message("To", core.AfterOrEqual("from")),
		"from=2024-01-01&to=2025-01-01": webtest.Message("To", core.WithinDays(365, "from")),
		"from=2026-02-30&to=2026-05-04": webtest.Message("From", core.MustBeDate),
		"from=2026-05-05&to=soon":       webtest.Message("To", core.MustBeDate),
	} {
		a := owner.Ask(http.MethodGet, "/admin?"+query)
		if a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != message || a.Find(".alert a").Length() != 1 || a.Find("details.menu[open]").Length() != 1 {
			t.Errorf("%s = %d, %q, want %q", query, a.Code, a.Text(".invalid-feedback"), message)
		}
		if a.Find("figure, .figure, #activity").Length() > 0 || len(a.Links("nav[aria-label=Periods] a")) != 6 {
			t.Errorf("%s shows figures, or no other periods: %s", query, a.Text("main"))
		}
	}
}

// "Points redeemed −27 % isn't red when it is no fault": only what an owner wants more of is green or red.
func TestTonesOfChanges(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna, bo := m.customer("2026-05-01 09:00", "Anna", "Lindqvist"), m.customer("2026-05-01 09:00", "Bo", "Ek")
	for _, c := range []core.ID{anna, bo} {
		m.sale("2026-06-02 12:00", c, m.purchase, 4_000)
		m.redemption("2026-06-02 13:00", c)
	}
	m.sale("2026-06-09 12:00", anna, m.purchase, 5_000)
	m.redemption("2026-06-09 13:00", anna)
	owner := m.signedIn(core.Owner)
	const week = "?from=2026-06-08&to=2026-06-14"
	tones := func(path string) (tones []string) {
		owner.Get(path).Find(".figure:has(.figure-change)").Each(func(_ int, f *goquery.Selection) {
			tone := "plain"
			for class, name := range map[string]string{".text-green": "good", ".text-red": "bad"} {
				if f.Find(class).Length() > 0 {
					tone = name
				}
			}
			tones = append(tones, strings.Join(strings.Fields(f.Find(".figure-label").Text()), " ")+" "+tone)
		})
		return tones
	}
	wants(t, "the dashboard", tones("/admin"+week), []string{"Active customers bad", "Points issued plain", "Redemptions plain", "Tracked spend bad"})
	wants(t, "the summary", tones("/admin/reports"+week), []string{
		"Sales bad", "Tracked spend bad", "Average sale good", "Points issued plain", "Points redeemed plain", "Active customers bad", "Redemptions plain",
	})
	for path, want := range map[string]string{"staff": ".text-red", "rewards": ".text-secondary"} {
		if page := owner.Get("/admin/reports/" + path + week); page.Find("tbody td:last-child"+want).Length() != 1 {
			t.Errorf("the report of %s has no change with %s: %s", path, want, page.Text("tbody"))
		}
	}
}

// "What is owed, the range explained": what the outstanding points would cost, with a link to the report.
func TestOutstandingOfDashboard(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2026-05-01 09:00", "Anna", "Lindqvist")
	m.sale("2026-06-02 12:00", anna, m.purchase, 1_000)
	owner := m.signedIn(core.Owner)
	const card = "[aria-labelledby=outstanding-title] "
	page := owner.Get("/admin")
	wants(t, "without costs", page.Texts(card+".outstanding > div"), []string{"1,000 points"})
	wants(t, "without costs", page.Links(card+"a"), []string{"/admin/rewards", "/admin/reports/points"})
	price := func(reward core.ID, cents int64) {
		m.change("update loyalty.reward set cost_cents = $2 where tenant_id = $1 and id = $3", cents, reward)
	}
	price(m.espresso, 20) // two cents a point
	one := owner.Get("/admin")
	wants(t, "one cost", one.Texts(card+".outstanding > div"), []string{"1,000 points cost you € 20.00"})
	wants(t, "with costs", one.Links(card+"a"), []string{"/admin/reports/points"})
	price(m.Reward(100, nil), 500) // five cents a point
	two := owner.Get("/admin")
	wants(t, "two costs", two.Texts(card+".outstanding > div"), []string{"1,000 points cost you € 20.00 – € 50.00"})
	if one, two := one.Text(card+"p"), two.Text(card+"p"); one == two || !strings.Contains(two, "cheapest") || !strings.Contains(two, "per point,") {
		t.Errorf("explained by %q and %q", one, two)
	}
	m.sale("2026-06-03 12:00", anna, m.coffee, 300)
	m.change("update loyalty.reward set points_cost = null, stamps_cost = 1, cost_cents = 30 where tenant_id = $1 and id = $2", m.Reward(50, nil))
	if got := owner.Get("/admin"); len(got.Texts(card+".outstanding > div")) != 2 || !strings.Contains(got.Text(card+"p"), "per point or stamp,") {
		t.Errorf("with a stamp: %q, %q", got.Texts(card+".outstanding > div"), got.Text(card+"p"))
	}
}

// hasFigures compares the dashboard's four figures: customers, points, redemptions, spend.
func hasFigures(t *testing.T, page webtest.Page, want ...string) {
	t.Helper()
	got := page.Texts(".col-6 .card")
	if len(got) != len(want) {
		t.Fatalf("%d figures: %q", len(got), got)
	}
	for i, w := range want {
		if !strings.Contains(got[i], w) {
			t.Errorf("figure %d is %q, want %q in it", i, got[i], w)
		}
	}
}

// The change against the previous period: a decrease, no change, nothing to compare with.
func TestChanges(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2026-05-31 09:00", "Anna", "Lindqvist")
	m.sale("2026-06-03 12:00", anna, m.purchase, 2_000)
	m.sale("2026-06-10 12:00", anna, m.purchase, 1_500)
	page := m.signedIn(core.Owner).Get("/admin?period=7-days")
	hasFigures(t, page, "1 level 0%", "1,500 down −25.0%", " 0 ", "€ 15.00 down −25.0%")
	m.sale("2026-06-11 12:00", anna, m.purchase, 64_500)
	page = m.signedIn(core.Owner).Get("/admin?period=7-days")
	hasFigures(t, page, "1 level", "66,000 up 33×", " 0 ", "€ 660.00 up 33×")
}

// "A cashier is led to /admin/customers": the dashboard shows turnover.
func TestDashboardRedirectsCashiers(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	cashier := m.signedIn(core.Cashier)
	if a := cashier.Ask(http.MethodGet, "/admin"); a.Code != http.StatusSeeOther || a.Header().Get("Location") != "/admin/customers" {
		t.Errorf("answered %d to %q", a.Code, a.Header().Get("Location"))
	}
	for _, path := range []string{"/admin/activity", "/admin/reports", "/admin/reports/summary.csv", "/admin/audit"} {
		if a := cashier.Ask(http.MethodGet, path, "Hx-Request", "true"); a.Code != http.StatusForbidden {
			t.Errorf("%s = %d, want 403", path, a.Code)
		}
	}
	if got := cashier.Get("/admin/customers").Links("nav[aria-label=Main] a"); slices.Contains(got, "/admin") || slices.Contains(got, "/admin/reports") || slices.Contains(got, "/admin/audit") {
		t.Errorf("a cashier is offered %v", got)
	}
}

// "A new tenant sees the three first steps instead of empty charts", "done ones ticked,
// each with its button". An owner has the guide instead, until it is finished or dismissed.
func TestFirstSteps(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	newMarket(t).customer("", "A", "Neighbour")
	manager := s.signedIn(core.Manager)
	steps := func() (steps []string) {
		t.Helper()
		page := manager.Get("/admin")
		if page.Find("figure, #activity").Length() > 0 {
			t.Fatal("a new business sees charts")
		}
		wants(t, "buttons", page.Links(".step .btn"), []string{"/admin/types/new", "/admin/customers/new", "/admin/transactions/new"})
		page.Find(".step").Each(func(_ int, step *goquery.Selection) {
			state := "open"
			if step.Find(".step-done").Length() > 0 {
				state = "done"
			} else if step.Find(".btn-primary").Length() > 0 {
				state = "next"
			}
			steps = append(steps, state)
		})
		return steps
	}
	wants(t, "at first", steps(), []string{"next", "open", "open"})
	wants(t, "a manager's next", manager.Get("/admin").Links(".list-group-item-action"), []string{"/till", "/admin/poster", "/admin/customers/import"})
	guide := s.signedIn(core.Owner).Get("/admin")
	wants(t, "an owner's steps", guide.Links(".step a"), []string{"/admin/setup/business", "/admin/setup/rule", "/admin/setup/reward", "/admin/setup/customer", "/admin/setup/sale"})
	wants(t, "an owner's next", guide.Links(".list-group-item-action"), []string{"/till", "/admin/poster", "/admin/customers/import", "/admin/settings/staff"})
	made := s.AddCustomer(customer.New{FirstName: "Anna", LastName: "Lindqvist", Phone: "070 112 23 34"})
	wants(t, "with a customer", steps(), []string{"next", "done", "open"})
	kind := s.Points(100)
	wants(t, "with a type", steps(), []string{"done", "done", "next"})
	s.Sale(made.ID, kind, 2450)
	page := manager.Get("/admin")
	if page.Find("figure").Length() != 1 || page.Find(".step").Length() != 0 {
		t.Error("a business with a sale sees no chart")
	}
	wants(t, "nothing to spend points on", page.Links(".alert a"), []string{"/admin/rewards/new"})
}

// "Ordinary sales folded": a busy day lists a few of its sales and new customers, and one row for the others
// with their figures, which add up to the day's.
func TestActivityFoldsOrdinarySales(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("2026-06-14 08:00", "Anna", "Lindqvist")
	for hour := 8; hour < 12; hour++ {
		m.customer(fmt.Sprintf("2026-06-15 %02d:05", hour), "New", "Customer")
		for minute := 10; minute < 40; minute += 10 {
			m.sale(fmt.Sprintf("2026-06-15 %02d:%d", hour, minute), anna, m.purchase, 10)
		}
	}
	for _, late := range []string{"11:40", "11:50"} {
		m.customer("2026-06-15 "+late, "New", "Customer")
	}
	m.sale("2026-06-14 09:00", anna, m.purchase, 300)
	m.sale("2026-06-14 09:30", anna, m.coffee, 200)
	page := m.signedIn(core.Manager).Get("/admin")
	wants(t, "days", page.Texts("#activity h3"), []string{"Today, 15 Jun 12 sales · € 1.20", "Yesterday, 14 Jun 2 sales · € 5.00"})
	rows := page.Texts("#activity li")
	wants(t, "today's others", rows[8:10], []string{"8 more sales 08:10–10:30 +80", "2 more customers Joined New"})
	wants(t, "yesterday's", rows[10:], []string{"2 sales 09:00–09:30 +300 · +1 stamp", "1 customer Joined New"})
	wants(t, "where they lead", page.Links("#activity a[id^=more]"), []string{
		"/admin/transactions?from=2026-06-15&to=2026-06-15&status=completed", "/admin/customers?created_from=2026-06-15&created_to=2026-06-15",
		"/admin/transactions?from=2026-06-14&to=2026-06-14&status=completed", "/admin/customers?created_from=2026-06-14&created_to=2026-06-14",
	})
}

// "Recent activity that updates by itself": a poll gets 204 until something happens, then the new
// list.
func TestActivityIsPolled(t *testing.T) {
	t.Parallel()
	m := newMarket(t)
	anna := m.customer("", "Anna", "Lindqvist")
	m.sale("2026-06-15 11:00", anna, m.purchase, 1_250)
	owner := m.signedIn(core.Owner)
	list := owner.Get("/admin").Find("#activity")
	path, _ := list.Attr("hx-get")
	if trigger, _ := list.Attr("hx-trigger"); !strings.HasPrefix(trigger, "every 10s") || list.AttrOr("aria-live", "") != "" || list.AttrOr("role", "") != "" {
		t.Errorf("asks %q", trigger)
	}
	owner.Post("/admin/theme", nil)
	poll := func(path string) webtest.Page {
		t.Helper()
		return owner.Ask(http.MethodGet, path, "Hx-Request", "true")
	}
	if same := poll(path); same.Code != http.StatusNoContent || same.Body.Len() != 0 {
		t.Errorf("when nothing happened: %d %s", same.Code, same.Body)
	}
	newMarket(t).customer("", "A", "Neighbour")
	m.sale("", anna, m.coffee, 420)
	fresh := poll(path)
	if got := fresh.Texts("li"); len(got) != 3 || !strings.HasPrefix(got[0], "Anna Lindqvist € 4.20 +1 stamp 12:") {
		t.Errorf("after a sale: %d %q", fresh.Code, got)
	}
	if fresh.Find("header, h1").Length() > 0 || fresh.Attr("#activity", "hx-get") == path {
		t.Error("the answer is a page, or asks for the same again")
	}
	if ids := fresh.Find("li a[id]"); ids.Length() != 3 || ids.First().AttrOr("id", "") == ids.Last().AttrOr("id", "") {
		t.Error("links have no ids of their own: the focus is lost")
	}
	if a := owner.Ask(http.MethodGet, path); a.Code != http.StatusSeeOther || a.Header().Get("Location") != "/admin" {
		t.Errorf("opened as a page: %d", a.Code)
	}
	// A poll doesn't take the message for the next page.
	owner.Post("/admin/customers/new", webtest.Form("first_name", "Elsa", "last_name", "Berg", "phone", "08-465 004 12"))
	poll(path)
	if page := owner.Get("/admin"); !page.Flashed(ui.Done, "Elsa Berg") {
		t.Errorf("flash = %q", page.Text("#flashes"))
	}
	if a := m.stranger().Ask(http.MethodGet, path, "Hx-Request", "true"); a.Code != http.StatusNoContent || !strings.HasPrefix(a.Header().Get("Hx-Redirect"), "/admin/sign-in") {
		t.Errorf("signed out: %d to %q", a.Code, a.Header().Get("Hx-Redirect"))
	}
}

func TestRoundTripsOfInsight(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	m := newMarketOn(t, d)
	anna := m.customer("", "Anna", "Lindqvist")
	m.sale("", anna, m.purchase, 1_250)
	owner := m.signedIn(core.Owner)
	for _, c := range []struct {
		path   string
		header []string
		want   int
	}{
		{path: "/admin", want: 6},
		{path: "/admin/top", header: []string{"Hx-Request", "true"}, want: 2},
		{path: "/admin/activity", header: []string{"Hx-Request", "true"}, want: 2},
		{path: "/admin/reports", want: 4},
		{path: "/admin/reports/visitors", want: 4},
		{path: "/admin/reports/visitors/list", want: 4},
		{path: "/admin/reports/visitors/list?audience=best", want: 5},
		{path: "/admin/reports/customers", want: 4},
		{path: "/admin/reports/locations", want: 3},
		{path: "/admin/reports/staff", want: 4},
		{path: "/admin/reports/hours", want: 4},
		{path: "/admin/reports/rewards", want: 3},
		{path: "/admin/reports/coupons", want: 3},
		{path: "/admin/reports/coupons?from=2026-06-01", want: 3},
		{path: "/admin/reports/points", want: 4},
		{path: "/admin/reports/points?unit=points", header: []string{"Hx-Request", "true"}, want: 2},
		{path: "/admin/reports/earning", want: 4},
		{path: "/admin/audit", want: 4},
		{path: "/admin/audit", header: []string{"Hx-Request", "true"}, want: 2},
	} {
		for range 2 { // prepares; the first counts what the plan limits
			owner.Get(c.path, c.header...)
		}
		before := count()
		owner.Get(c.path, c.header...)
		if got := count() - before; got != c.want {
			t.Errorf("%s %v makes %d round trips, want %d", c.path, c.header, got, c.want)
		}
	}
}
