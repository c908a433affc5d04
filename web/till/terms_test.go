package till_test

import (
	"slices"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/web/webtest"
)

// What a customer can't have says why before the cashier taps, comes last, has nothing to tap, and isn't counted.
func TestTheTillSaysWhyARewardCantBeHad(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 9})
	anna := s.customer("Anna", 100)
	add := func(name string, terms reward.Terms) core.ID {
		return s.AddReward(reward.New{Name: name, PointsCost: new(int64(10)), Terms: terms})
	}
	tomorrow := core.DateOf(s.DB.Now(), s.By.Tenant.TimeZone).AddDate(0, 0, 1)
	add("Tasting", reward.Terms{MinLevelID: &levels[1]})
	twice := add("Refill", reward.Terms{MaxPerCustomer: new(int64(2))})
	add("Summer drink", reward.Terms{StartsOn: &tomorrow})
	coffee := add("Coffee", reward.Terms{})
	cashier := s.signedIn(core.Cashier)
	for range 2 {
		form := saleForm(cashier.serve(anna), "rewards", twice.String())
		if receipt := cashier.script("/till/sale", form); receipt.Find(".receipt-body").Length() != 1 {
			t.Fatalf("redeemed: %q", receipt.Text("#till"))
		}
	}
	page := cashier.serve(anna)
	if boxes := page.Find(".uses input"); boxes.Length() != 1 || boxes.AttrOr("value", "") != coffee.String() {
		t.Errorf("%d rewards can be tapped", boxes.Length())
	}
	want := []string{"Tasting", "For Gold and above", "Refill", "Already redeemed 2 of 2 times", "Summer drink", "From " + tomorrow.Format("2 January 2006")}
	if got := page.Texts(".use-barred .use-words > span"); !slices.Equal(got, want) {
		t.Errorf("barred: %q, want %q", got, want)
	}
	if got := page.Text(".uses-head .quiet"); got != "1 available" {
		t.Errorf("the till counts %q", got)
	}
	refused := cashier.script("/till/sale", saleForm(page, "rewards", twice.String()))
	if got := refused.Text("[data-problem]"); refused.Code != 422 || got != "This customer has already redeemed this reward twice." {
		t.Errorf("a till that showed it earlier: %d %q", refused.Code, got)
	}
	if checked := refused.Find(".uses :checked").Length(); checked != 0 {
		t.Errorf("%d rewards are still chosen", checked)
	}
}

// A voucher of a level that the customer lacks is greyed, also when it is scanned; the amount to pay is without its discount.
func TestTheTillSaysWhyAVoucherCantBeUsed(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	levels := s.Levels(award.LevelRules{Basis: award.ByVisits, Period: award.AllTime}, award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 1})
	anna := s.customer("Anna", 0)
	made := s.Coupon(coupon.New{Name: "Gold days", BenefitType: "amount", BenefitValue: new(int64(300)), MinLevelID: &levels[1]})
	voucher := s.Voucher(made.ID, anna.ID)
	cashier := s.signedIn(core.Cashier)
	page := cashier.serve(anna)
	if page.Find(".uses input").Length() != 0 || page.Text(".use-barred .use-words") != "€ 3.00 off For Gold and above" || page.Text(".uses-head .quiet") != "None available" {
		t.Errorf("shown: %q", page.Text(".uses"))
	}
	form := saleForm(page, "spend_amount_cents", "1000", "vouchers", voucher.String())
	if got := cashier.Get("/till/earns?"+form.Encode(), "Hx-Request", "true").Find(".bill").Length(); got != 0 {
		t.Error("the amount to pay has the discount")
	}
	refused := cashier.script("/till/sale", form)
	if got := refused.Text("[data-problem]"); refused.Code != 422 || got != "This voucher is for Gold and above." {
		t.Errorf("refused: %d %q", refused.Code, got)
	}
	scanned := cashier.script("/till/take", webtest.Form("scan", voucher.String()))
	if got := scanned.Text("[data-problem]"); got != "This voucher is for Gold and above." || scanned.Find(".uses :checked").Length() != 0 {
		t.Errorf("scanned: %q", got)
	}
	cashier.script("/till/sale", saleForm(page, "spend_amount_cents", "1000"))
	if box := cashier.serve(anna).Find(".uses input"); box.AttrOr("value", "") != voucher.String() {
		t.Errorf("as Gold: %d vouchers can be used", box.Length())
	}
}
