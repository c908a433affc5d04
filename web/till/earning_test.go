package till_test

import (
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/promotion"
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
