package till_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/promotion"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/webtest"
)

// doubles doubles the points of a category, or of every sale for the zero one.
func (s *shop) doubles(category int64) {
	s.T.Helper()
	p := award.Promotion{
		Name: "Double points", Unit: ledger.Points, Percent: new(int64(200)), StartsOn: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), Audience: award.Everyone,
	}
	if category != 0 {
		p.CategoryIDs = []int64{category}
	}
	s.Must(core.Result(s.Promotions.Add(s.T.Context(), s.By, promotion.New{Promotion: p}, nil)))
}

// The till says why a sale earns what it earns, before and after it is recorded.
func TestTheTillSaysWhyASaleEarns(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	s.doubles(0)
	s.Must(s.Promotions.EditLimits(t.Context(), s.By, promotion.EditLimits{PointsDayCap: core.Set(int64(60))}))
	cashier := s.signedIn(core.Cashier)
	sell := func() (preview, receipt webtest.Page) {
		form := saleForm(cashier.serve(anna), "spend_amount_cents", "2000")
		return cashier.Get("/till/earns?"+form.Encode(), "Hx-Request", "true"), cashier.script("/till/sale", form)
	}
	preview, receipt := sell()
	if got := preview.Text("#earns"); got != "This sale earns +40 points Double points New balance 40 points" {
		t.Errorf("the preview says %q", got)
	}
	if got := receipt.Text(".receipt-body"); !strings.Contains(got, "+40 points Double points +20 points") {
		t.Errorf("the receipt says %q", got)
	}
	preview, receipt = sell()
	if got := preview.Text("#earns"); got != "This sale earns +20 points Double points · Today’s limit of 60 points is reached New balance 60 points" {
		t.Errorf("at the limit, the preview says %q", got)
	}
	if got := receipt.Text(".receipt-body"); !strings.Contains(got, "+20 points Double points +20 points · Above the limit −20 points") {
		t.Errorf("at the limit, the receipt says %q", got)
	}
}

// One tap says what a sale is about, where the business wants it. A voucher's discount is no obstacle.
func TestCashiersChooseACategory(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	cakes, err := core.Result(s.Promotions.AddCategory(t.Context(), s.By, promotion.NewCategory{Name: "Cakes", Codes: []string{"cake"}}, nil))
	s.Check(err)
	s.doubles(cakes.ID)
	cashier := s.signedIn(core.Cashier)
	if got := cashier.Get("/till").Text(".chips"); got != "" {
		t.Errorf("the till asks %q", got)
	}
	s.Must(s.Promotions.EditLimits(t.Context(), s.By, promotion.EditLimits{TillCategories: core.Set(true)}))
	voucher, _ := s.voucher(anna, 500)
	if got := cashier.Get("/till").Text(".chips"); got != "Category Anything Cakes" {
		t.Errorf("the till asks %q", got)
	}
	form := saleForm(cashier.serve(anna), "spend_amount_cents", "2500", "vouchers", voucher.String(), "category", "cake")
	if got := cashier.Get("/till/earns?"+form.Encode(), "Hx-Request", "true").Text("#earns"); !strings.Contains(got, "+40 points Double points") {
		t.Errorf("the preview says %q", got)
	}
	if got := cashier.script("/till/sale", form).Text(".receipt-body"); !strings.Contains(got, "+40 points Double points +20 points") {
		t.Errorf("the receipt says %q", got)
	}
}

// What a sale is about stays with it while a customer scans: on the screen, with a new code, after a cancellation, and in what they collect.
func TestAScannedSaleHasItsCategory(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cakes, err := core.Result(s.Promotions.AddCategory(t.Context(), s.By, promotion.NewCategory{Name: "Cakes", Codes: []string{"cake"}}, nil))
	s.Check(err)
	s.doubles(cakes.ID)
	s.Must(s.Promotions.EditLimits(t.Context(), s.By, promotion.EditLimits{TillCategories: core.Set(true)}))
	cashier := s.signedIn(core.Cashier)
	show := func() webtest.Page {
		return cashier.script("/till/show", saleForm(cashier.Get("/till"), "spend_amount_cents", "2000", "category", "cake"))
	}
	path := show().Attr("[data-pin]", "data-refresh")
	back := cashier.script(path+"/cancel", nil)
	if got := back.Value("[name=category][checked]"); got != "cake" {
		t.Errorf("after the cancellation, the sale is about %q", got)
	}
	path = show().Attr("[data-pin]", "data-refresh")
	screen := cashier.script(path+"/renew", nil)
	if got := screen.Text(".show-body"); !strings.Contains(got, "Scan to collect +40 points Double points") {
		t.Errorf("the screen says %q", got)
	}
	browser := walkin.NewBrowser()
	by := s.phone(screen, browser)
	if held, err := s.Walkins.Held(t.Context(), s.By.Tenant, browser); err != nil || held.Award != 40 {
		t.Errorf("the customer is offered %d points (%v), want 40", held.Award, err)
	}
	details := walkin.Details{FirstName: "Elsa", LastName: "Berg", Phone: "+46 8 465 004 13", Agreed: true, Terms: "Yes"}
	claimed, err := core.Result(s.Walkins.Claim(t.Context(), by, browser, details, nil))
	if err != nil || claimed.Award != 40 {
		t.Errorf("the customer collects %d points (%v), want 40", claimed.Award, err)
	}
}

// A promotion of one location is shown before a customer scans there.
func TestAScannedSaleHasItsLocation(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	place, err := core.Result(s.Locations.Add(t.Context(), s.By, location.New{Name: "Old Town"}, nil))
	s.Check(err)
	p := award.Promotion{
		Name: "Opening weeks", Unit: ledger.Points, Extra: new(int64(7)), LocationIDs: []int64{place.ID},
		StartsOn: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), Audience: award.Everyone,
	}
	s.Must(core.Result(s.Promotions.Add(t.Context(), s.By, promotion.New{Promotion: p}, nil)))
	cashier := s.signedIn(core.Cashier)
	cashier.script("/till/location", webtest.Form("id", decimal(place.ID)))
	screen, _ := cashier.shows("2000")
	if got := screen.Text(".show-body"); !strings.Contains(got, "+27 points Opening weeks") {
		t.Errorf("the screen says %q", got)
	}
}

// The receipt says which level a sale has reached; the next one doesn't.
func TestTheReceiptTellsThatALevelIsReached(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Levels(award.LevelRules{Basis: award.ByPoints, Period: award.ByYear, Drops: true}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 20})
	anna := s.customer("Anna", 0)
	cashier := s.signedIn(core.Cashier)
	sell := func() string {
		return cashier.script("/till/sale", saleForm(cashier.serve(anna), "spend_amount_cents", "2000")).Text(".reached")
	}
	if got, want := sell(), "Now Gold, until 31 December "+strconv.Itoa(time.Now().Year()+1); got != want {
		t.Errorf("the receipt says %q, want %q", got, want)
	}
	if got := sell(); got != "" {
		t.Errorf("the next receipt says %q", got)
	}
}
