package till_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/webtest"
)

// 20% and € 3.00 off a sale of € 10.00: the amount is typed before discounts, the percentage comes first, and the
// sale is recorded at what is paid, which earns. The till says so while the amount is typed, and on the receipt.
func TestTwoDiscounts(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	amount, percent := s.discount(anna, coupon.Amount, 300, 5), s.discount(anna, coupon.Percent, 20, 30)
	cashier := s.signedIn(core.Cashier)
	shown := cashier.serve(anna)
	used := saleForm(shown)
	used["vouchers"] = []string{amount.String(), percent.String()}

	early := cashier.Get("/till/earns?"+used.Encode(), "Hx-Request", "true")
	if got := early.Text("#earns"); got != "To pay – Enter the amount before discounts This sale earns – New balance 0 points" {
		t.Errorf("without an amount: %q", got)
	}
	used.Set("spend_amount_cents", "1000")
	typed := cashier.Get("/till/earns?"+used.Encode(), "Hx-Request", "true")
	if got := typed.Text("#earns"); got != "To pay € 5.00 € 10.00 − 20% − € 3.00 This sale earns +5 points New balance 5 points" {
		t.Errorf("while typing: %q", got)
	}
	if got := typed.Text("#record-amount"); got != "€ 5.00" || typed.Find("#record-amount[data-total]").Length() != 0 {
		t.Errorf("the button says %q", got)
	}

	receipt := cashier.script("/till/sale", used)
	if got := receipt.Text(".receipt-body"); !strings.HasPrefix(got, "Sale recorded € 5.00 € 10.00 − 20% − € 3.00 +5 points") {
		t.Errorf("the receipt says %q", got)
	}
	if got := receipt.Text(".used"); got != "20% off −€ 2.00 € 3.00 off −€ 3.00" {
		t.Errorf("the vouchers used: %q", got)
	}
	if got := s.balance(anna); got != 5 {
		t.Errorf("balance = %d, want 5", got)
	}
	spend := shoptest.Query[int64](s.Shop, "select spend_amount_cents from loyalty.transaction where customer_id = $1", anna.ID)
	if spend != 500 {
		t.Errorf("the sale is recorded at %d, want what was paid: 500", spend)
	}
}

// The receipt shows how the amount was calculated, also when the address has lost the vouchers.
func TestAReceiptKeepsItsDiscounts(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	percent := s.discount(anna, coupon.Percent, 20, 30)
	cashier := s.signedIn(core.Cashier)
	// Without JavaScript.
	sold := cashier.Post("/till/sale", webtest.With(cashier.serve(anna).Fields("#sale"), "amount", "10.00", "vouchers", percent.String()))
	path := sold.Header().Get("Location")
	if got := cashier.Get(path).Text(".receipt-body"); !strings.Contains(got, "€ 8.00 € 10.00 − 20% +8 points") {
		t.Errorf("the receipt says %q", got)
	}
	bare, _, _ := strings.Cut(path, "?")
	if got := cashier.Get(bare).Text(".receipt-body"); !strings.Contains(got, "€ 8.00 € 10.00 − ") {
		t.Errorf("opened again, the receipt says %q", got)
	}
}

// A voucher of more than the bill pays it, and no more.
func TestADiscountIsNeverPaidOut(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	voucher := s.discount(anna, coupon.Amount, 1500, 30)
	cashier := s.signedIn(core.Cashier)
	used := saleForm(cashier.serve(anna), "spend_amount_cents", "1000", "vouchers", voucher.String())
	want := "€ 10.00 − € 15.00 The rest of the voucher, € 5.00, isn’t paid out"
	if got := cashier.Get("/till/earns?"+used.Encode(), "Hx-Request", "true").Text("#earns"); !strings.HasPrefix(got, "To pay € 0.00 "+want+" This sale earns +0 points") {
		t.Errorf("while typing: %q", got)
	}
	receipt := cashier.script("/till/sale", used)
	if got := receipt.Text(".receipt-body"); !strings.Contains(got, "€ 0.00 "+want+" +0 points") || !strings.Contains(got, "€ 15.00 off −€ 10.00") {
		t.Errorf("the receipt says %q", got)
	}
}

// The ceiling is for what is typed: a mistyped amount is asked about, whatever the discounts.
func TestTheCeilingIsForTheAmountTyped(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	voucher := s.discount(anna, coupon.Percent, 50, 30)
	cashier := s.signedIn(core.Cashier)
	asked := cashier.script("/till/sale", saleForm(cashier.serve(anna), "spend_amount_cents", "120000", "vouchers", voucher.String()))
	if got := asked.Text(".ask"); !strings.HasPrefix(got, "Is € 1,200.00 right? It’s above € 1,000.00. With discounts, € 600.00 is to be paid.") || !strings.HasSuffix(got, "Record € 600.00") {
		t.Errorf("asked %q", got)
	}
	confirmed := cashier.script("/till/sale", saleForm(asked, "customer_ulid", anna.ID.String(), "vouchers", voucher.String(), "spend_amount_cents", "120000", "transaction_type_id", decimal(s.kind.ID), "confirmed", "120000"))
	if got := confirmed.Text(".receipt-body"); !strings.Contains(got, "€ 600.00 € 1,200.00 − 50% +600 points") {
		t.Errorf("the receipt says %q", got)
	}
}
