package admin_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/webtest"
)

const (
	earningPages  = "/admin/earning"
	categoryPages = earningPages + "/categories"
)

// promoted adds a promotion through the panel, with further fields, and returns its path.
func (b *browser) promoted(fields ...string) string {
	b.T.Helper()
	form := webtest.Form("form_key", b.Get(earningPages+"/new").Value("input[name=form_key]"),
		"name", "Double <b> points", "unit", "points", "gives", "percent", "percent", "200", "starts_on", "2020-01-01", "audience", "all")
	for i := 0; i < len(fields); i += 2 {
		if strings.HasSuffix(fields[i], "days") || strings.HasSuffix(fields[i], "_ids") {
			form.Add(fields[i], fields[i+1])
		} else {
			form.Set(fields[i], fields[i+1])
		}
	}
	b.Submitted(earningPages+"/new", form)
	return b.Get(earningPages).Attr("#promotions li a", "href")
}

// categorised adds a category and returns its path.
func (b *browser) categorised(name, codes string) string {
	b.T.Helper()
	b.Submitted(categoryPages, webtest.Form("form_key", b.Get(categoryPages).Value("input[name=form_key]"), "name", name, "codes", codes))
	for _, path := range b.Get(categoryPages).Links("#categories li a.row-link") {
		if b.Get(path).Value("#field-name") == name {
			return path
		}
	}
	b.T.Fatalf("%s isn't in the list", name)
	return ""
}

// A promotion is read back as a sentence, in the list, on its form, and while it is being entered.
func TestAPromotionReadsAsASentence(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	cakes := manager.categorised("Cakes", "cake\nTorte, tart")
	id := cakes[strings.LastIndex(cakes, "/")+1:]
	fields := []string{
		"windows.0.days", "2", "windows.0.from", "16:00", "windows.0.to", "18:00", "windows.1.days", "6", "windows.1.days", "7",
		"category_ids", id, "ends_on", "2099-03-31", "min_spend_cents", "5", "limit_times", "1", "limit_per", "day",
	}
	path := manager.promoted(fields...)
	const want = "Double points on Tuesdays from 16:00 to 18:00 and on Saturdays and Sundays for Cakes, of which the customer buys for € 5.00 or more, " +
		"until 31 March 2099. Once a day for each customer. The best promotion counts."
	plain := strings.NewReplacer("\u00a0", " ", "kr", "€")
	sentence := func(text string) string { return plain.Replace(text) }
	if got := sentence(manager.Get(earningPages).Text("#promotions li div.text-secondary")); !strings.Contains(got, "Double points on Tuesdays from 16:00 to 18:00 and on Saturdays and Sundays for Cakes") || !strings.HasSuffix(got, "until 31 March 2099. Once a day for each customer.") {
		t.Errorf("the list says %q, want about %q", got, want)
	}
	form := manager.Get(path)
	sent := form.Fields("main form")
	if got, list := form.Text("#sentence"), manager.Get(earningPages).Text("#promotions li div.text-secondary"); got != list+" "+format.BestCounts {
		t.Errorf("the form says %q, the list %q", got, list)
	}
	if form.Find("main b").Length() > 0 || form.Value("#field-name") != "Double <b> points" {
		t.Errorf("the name is %q", form.Value("#field-name"))
	}
	sent.Set("percent", "300")
	if got := manager.Post(earningPages+"/sentence", sent).Text("#sentence"); !strings.HasPrefix(got, "Triple points on Tuesdays") {
		t.Errorf("read back: %q", got)
	}
	sent.Set("percent", "x")
	if got := manager.Post(earningPages+"/sentence", sent).Text("#sentence"); strings.Contains(got, "points") {
		t.Errorf("an incomplete promotion reads %q", got)
	}
	sent.Set("percent", "100")
	refused := manager.Refused(path, sent)
	if got := refused.Text(".invalid-feedback"); got != webtest.Message("Percentage", core.Min(101)) {
		t.Errorf("refused with %q", got)
	}
	sent.Set("percent", "150")
	if done := manager.Submit(path, sent); !strings.Contains(done.Text("#promotions"), "50% more points on Tuesdays") {
		t.Errorf("saved: %q", done.Text("main"))
	}
	manager.Submitted(path+"/active", webtest.Form("active", "0"))
	if got := manager.Get(earningPages + "?state=off").Text("#promotions li"); !strings.Contains(got, "Inactive") {
		t.Errorf("deactivated: %q", got)
	}
}

// Without scripts, a button adds a line for a further time, and nothing that was entered is lost.
func TestAFurtherTimeOfTheWeek(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	sent := webtest.Form("name", "Tea time", "unit", "points", "gives", "extra", "extra", "5", "starts_on", "2026-01-01", "audience", "all",
		"windows.0.days", "1", "windows.0.from", "16:00", "windows.0.to", "18:00")
	again := manager.Post(earningPages+"/draft", sent)
	if again.Find("[name='windows.1.from']").Length() != 1 || again.Value("[name='windows.0.from']") != "16:00" || again.Value("#field-name") != "Tea time" {
		t.Errorf("again: %q", again.Text("main"))
	}
	if got := again.Text("#sentence"); !strings.HasPrefix(got, "5 extra points on Mondays from 16:00 to 18:00") {
		t.Errorf("the sentence is %q", got)
	}
	sent.Set("windows.0.to", "16:00")
	sent.Set("form_key", manager.Get(earningPages+"/new").Value("input[name=form_key]"))
	if got := manager.Refused(earningPages+"/new", sent).Text("main form"); !strings.Contains(got, webtest.Message("Times of the week", promotion.SameTimes)) {
		t.Errorf("refused: %q", got)
	}
}

// The calendar has a promotion on each of its days.
func TestTheCalendarOfPromotions(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	manager.promoted("windows.0.days", "2", "windows.0.from", "16:00", "windows.0.to", "18:00", "starts_on", "2027-03-09", "ends_on", "2027-03-23")
	month := manager.Get(links.CalendarOf("2027-03"))
	var days []string
	days = append(days, month.Texts(".month-day:not(.month-none)")...)
	if got := strings.Join(days, "|"); got != "Tue 9 Double <b> points 16:00–18:00|Tue 16 Double <b> points 16:00–18:00|Tue 23 Double <b> points 16:00–18:00" {
		t.Errorf("the days are %q", got)
	}
	if got := month.Texts("#always"); len(got) > 0 {
		t.Errorf("on all month: %q", got)
	}
	manager.promoted("name", "Ten more", "gives", "extra", "extra", "10", "starts_on", "2027-03-01")
	if got := manager.Get(links.CalendarOf("2027-03")).Text("#always"); got != "All month: Ten more" {
		t.Errorf("on all month: %q", got)
	}
	if got := len(month.Texts(".month-day")); got != 31 {
		t.Errorf("the month has %d days", got)
	}
	if next := month.Links(".card-header a")[1]; next != links.CalendarOf("2027-04") || !strings.Contains(manager.Get(next).Text("main"), "All month: Ten more") {
		t.Errorf("the next month is %s", next)
	}
	if got := manager.Get(links.EarningCalendar + "?month=x").Text("h2"); got == "" {
		t.Error("no month for a month that isn't one")
	}
}

// The simulator shows each part of an award, and why a promotion is the best.
func TestTheSimulator(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	manager.categorised("Cakes", "cake")
	manager.promoted("name", "Double points")
	manager.promoted("name", "Ten more", "gives", "extra", "extra", "10", "starts_on", "2030-01-01")
	limits := manager.Get(earningPages + "/limits")
	manager.Submitted(earningPages+"/limits", webtest.Form("original", limits.Value("[name=original]"), "points_day_cap", "30"))

	at := func(date, customer string) webtest.Page {
		return manager.Get(earningPages + "/simulator?spend_amount_cents=24&transaction_type_id=" + s.typeID + "&date=" + date + "&time=12:00&customer=" + customer)
	}
	if got := at("2026-11-27", "46500412").Text("#simulated"); !strings.Contains(got, "24 points") || !strings.Contains(got, "Double points The only promotion") ||
		!strings.Contains(got, "+24 points") || !strings.Contains(got, "daily limit is 30 points") || !strings.Contains(got, "−18 points") || !strings.Contains(got, "The sale earns 30 points") || !strings.Contains(got, "Elsa Berg") {
		t.Errorf("simulated: %q", got)
	}
	if got := at("2030-01-01", "").Text("#simulated"); !strings.Contains(got, "The best of 2: Double points +24 points, Ten more +10 points") {
		t.Errorf("with two promotions: %q", got)
	}
	unknown := manager.Ask(http.MethodGet, earningPages+"/simulator?spend_amount_cents=24&transaction_type_id="+s.typeID+"&date=2026-11-27&time=12:00&customer=unknown")
	if page := unknown; page.Code != 422 || page.Text(".invalid-feedback") == "" || page.Find("#simulated").Length() > 0 {
		t.Errorf("without such a customer: %d %q", page.Code, page.Text("main"))
	}
	if got := s.balance(); got != 0 {
		t.Errorf("simulations earned %d points", got)
	}
}

// A code that a sale sent is given to a category by one click, or to a new one.
func TestCodesAreMappedByOneClick(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	cakes := manager.categorised("Cakes", "cake")
	kind, err := strconv.ParseInt(s.typeID, 10, 64)
	s.Check(err)
	s.Must(core.Result(s.Sales.Record(t.Context(), s.By, transaction.Sale{
		CustomerID: s.elsa.ID, TransactionTypeID: kind, SpendAmountCents: 900, Items: []award.Item{{Category: "<i>Torte", AmountCents: 400}, {Category: "tea", AmountCents: 500}},
		Source: transaction.API,
	}, nil, nil)))
	s.Check(s.Sales.Codes().Write(t.Context()))
	list := manager.Get(categoryPages)
	if got := list.Texts("#unmapped li .fw-medium"); len(got) != 2 || list.Find("main i").Length() > 0 {
		t.Errorf("unmapped are %q", got)
	}
	done := manager.Submit(categoryPages+"/codes", webtest.Form("form_key", "one", "code", "<i>torte", "category_id", cakes[strings.LastIndex(cakes, "/")+1:]))
	if got := done.Text("#categories"); !strings.Contains(got, "<i>torte, cake") {
		t.Errorf("mapped: %q", got)
	}
	done = manager.Submit(categoryPages+"/codes", webtest.Form("form_key", "two", "code", "tea"))
	if got := done.Text("#categories"); !strings.Contains(got, "tea tea") || done.Find("#unmapped").Length() > 0 {
		t.Errorf("a new category: %q", got)
	}
	refused := manager.Refused(cakes, webtest.Form("name", "Cakes", "codes", "cake\ntea", "original", ""))
	if got := refused.Text(".invalid-feedback"); got != webtest.Message("Codes", promotion.CodeTaken("tea", "tea")) {
		t.Errorf("refused with %q", got)
	}
	manager.Submitted(cakes+"/active", webtest.Form("active", "0"))
	if got := manager.Get(categoryPages).Text("#categories"); !strings.Contains(got, "Inactive No codes") {
		t.Errorf("deactivated: %q", got)
	}
}

// Slow hours become a filled form.
func TestSlowHoursFillAForm(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	if got := manager.Get(links.SlowHours).Text("main"); !strings.Contains(got, "Not enough sales") {
		t.Errorf("without sales: %q", got)
	}
	form := manager.Get(links.SlowPromotion(1, 14, 17))
	if got := form.Text("#sentence"); !strings.HasPrefix(got, "Double points on Tuesdays from 14:00 to 17:00, until ") {
		t.Errorf("the form says %q", got)
	}
}

// The quietest hours of four weeks become a promotion by one click.
func TestSlowHoursComeFromSales(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	zone, kind := s.By.Tenant.TimeZone, s.Points(100)
	day := core.DateOf(s.DB.Now(), zone).AddDate(0, 0, -7)
	for hour, sales := range map[int]int{9: 18, 10: 18, 13: 1, 16: 14} {
		at := s.At(core.StartOfDate(day, zone).Add(time.Duration(hour)*time.Hour + 30*time.Minute))
		for range sales {
			at.Sale(s.elsa.ID, kind, 500)
		}
	}
	manager := s.signedIn(core.Manager)
	slow := manager.Get(links.SlowHours)
	if got, want := slow.Text("#slow .whole"), day.Weekday().String()+"s from 11:00 to 14:00 brought 2.0% of the sales of the last four weeks."; got != want {
		t.Errorf("the page says %q, want %q", got, want)
	}
	form := manager.Get(slow.Attr("#slow a", "href"))
	if got := form.Text("#sentence"); !strings.HasPrefix(got, "Double points on "+day.Weekday().String()+"s from 11:00 to 14:00, until ") {
		t.Errorf("the form says %q", got)
	}
}

// A type's form says which categories earn nothing, and its list says it again; another change of the type leaves them.
func TestCategoriesThatEarnNothing(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	owner := s.signedIn(core.Owner)
	cards := owner.categorised("Gift cards", "gift")
	owner.categorised("Cakes", "cake")
	id := cards[strings.LastIndex(cards, "/")+1:]
	path := links.Types + "/" + s.typeID
	form := owner.Get(path).Fields("main form.row")
	form.Add("excluded_categories", id)
	owner.Submitted(path, form)
	if got := owner.Get(links.Types).Text("tbody"); !strings.Contains(got, "Nothing for Gift cards") {
		t.Errorf("the list says %q", got)
	}
	if got := owner.Get(categoryPages).Text("#categories"); !strings.Contains(got, "Gift cards gift Earns nothing: ") {
		t.Errorf("the categories say %q", got)
	}
	other := owner.Get(path).Fields("main form.row")
	if got := other["excluded_categories"]; !slices.Equal(got, []string{id}) {
		t.Errorf("the form has chosen %q", got)
	}
	owner.Submitted(path, webtest.With(other, "name", "Counter"))
	if got := owner.Get(links.Types).Text("tbody"); !strings.Contains(got, "Counter") || !strings.Contains(got, "Nothing for Gift cards") {
		t.Errorf("after another change, the list says %q", got)
	}
	none := owner.Get(path).Fields("main form.row")
	none.Del("excluded_categories")
	owner.Submitted(path, none)
	if got := owner.Get(links.Types).Text("tbody"); strings.Contains(got, "Nothing for") {
		t.Errorf("without a choice, the list says %q", got)
	}
	refused := owner.Get(path).Fields("main form.row")
	refused.Add("excluded_categories", "987654321")
	if got := owner.Post(path, refused); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("an unknown category: %d", got.Code)
	}
}

// The panel previews a sale with the promotion that counts, and the sale's page explains it.
func TestASalesPageExplainsItsAward(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	manager.promoted("name", "Double points")
	s.Must(s.Promotions.EditLimits(t.Context(), s.By, promotion.EditLimits{PointsDayCap: core.Set(int64(30))}))
	earns := manager.Get("/admin/transactions/earns?spend_amount_cents=24&transaction_type_id="+s.typeID+"&customer_ulid="+s.elsa.ID.String(), "Hx-Request", "true")
	if got := earns.Text("#earns"); !strings.Contains(got, "30 points") || !strings.Contains(got, "Double points") || !strings.Contains(got, "Today’s limit of 30 points is reached") {
		t.Errorf("the preview says %q", got)
	}
	if got := manager.Get(s.sold(manager, "24")).Text("#parts"); !strings.Contains(got, "24 points Double points +24 points Above the limit −18 points") {
		t.Errorf("the sale's page says %q", got)
	}
}

// earningRecords adds a promotion and a category, and returns their ids by the path before the id.
func (s *shop) earningRecords() map[string]string {
	s.T.Helper()
	p, err := core.Result(s.Promotions.Add(s.T.Context(), s.By, promotion.New{Promotion: award.Promotion{
		Name: "Happy hour", Unit: ledger.Points, Percent: new(int64(200)), StartsOn: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Audience: award.Everyone,
	}}, nil))
	s.Check(err)
	c, err := core.Result(s.Promotions.AddCategory(s.T.Context(), s.By, promotion.NewCategory{Name: "Cakes", Codes: []string{"cake"}}, nil))
	s.Check(err)
	return map[string]string{earningPages + "/": strconv.FormatInt(p.ID, 10), categoryPages + "/": strconv.FormatInt(c.ID, 10)}
}
