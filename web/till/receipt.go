package till

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/till"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// undoTime is how long a cashier may undo what they recorded (decisions §9).
const undoTime = 10 * time.Minute

// receiptInfo is what a receipt shows besides its checkout.
type receiptInfo struct {
	claimed bool // on the customer's phone, so the screen still faces the customer
	problem string
}

func (t *Till) showReceipt(c echo.Context, id core.ID) error {
	return t.receipt(c, http.StatusOK, id, receiptInfo{})
}

var errNoLastReceipt = core.Refuse("", "You haven’t recorded anything in the last 10 minutes.")

// showLast leads to the receipt of what the cashier recorded last, to undo it.
func (t *Till) showLast(c echo.Context) error {
	by := page.Actor(c)
	id, err := t.Walkins.LastCheckout(c.Request().Context(), by)
	if errors.Is(err, core.ErrNotFound) {
		d := draftOf(forms.Blank(nil), by.Tenant.Currency)
		d.Refused(errNoLastReceipt)
		return t.desk(c, http.StatusNotFound, d, sideColumn{})
	}
	if err != nil {
		return err
	}
	return t.Redirect(c, links.Receipt(id))
}

// receipt shows a checkout, read from its records.
func (t *Till) receipt(c echo.Context, status int, id core.ID, info receiptInfo) error {
	by := page.Actor(c)
	checkout, err := t.Walkins.Checkout(c.Request().Context(), by, id)
	if err != nil {
		return err
	}
	v := views.Receipt{Title: "Redeemed", Meta: format.Clock(id.Time(), by.Tenant.TimeZone), Problem: info.problem}
	unit, currency := ledger.Points, by.Tenant.Currency
	var bill *coupon.Bill
	if checkout.WithSale {
		sale, err := t.Transactions.Detail(c.Request().Context(), by, id)
		if err != nil {
			return err
		}
		unit, bill = sale.RuleType, billOf(sale, checkout)
		addSale(&v, sale, bill, currency)
	}
	if err := t.addCustomer(c, &v, checkout.CustomerID, id, unit); err != nil {
		return err
	}
	if info.claimed {
		// Typing a phone number doesn't prove that it is one's own, so the screen shows no full name or balance.
		v.Title = firstName(v.Customer.Name) + " collected " + strings.TrimPrefix(v.Award, "+")
		v.Customer = matchView(checkout.CustomerID, firstName(v.Customer.Name), "")
		v.Balances, v.Progress, v.Award, v.Why, v.Reached = nil, nil, "", nil, ""
	}
	slices.SortStableFunc(checkout.Used, func(one, other walkin.Used) int { return cmp.Compare(place(bill, one), place(bill, other)) })
	for _, u := range checkout.Used {
		v.Used = append(v.Used, usedView(u, bill, currency))
	}
	addUndo(&v, checkout)
	if v.Undo != nil && !by.Role.Includes(core.Manager) {
		v.Undo.Seconds = max(int(id.Time().Add(undoTime).Sub(t.Now())/time.Second), 1)
		v.Undo.Left = timeLeft(v.Undo.Seconds)
	}
	return t.Render(c, status, views.ReceiptPage(v), views.ReceiptMain(v))
}

// billOf is how the amount of a checkout's sale was calculated; nil if its vouchers don't lead to it.
func billOf(sale transaction.Detail, c walkin.Checkout) *coupon.Bill {
	var vouchers []coupon.ShownVoucher
	for _, u := range c.Used {
		if u.Voucher != nil {
			vouchers = append(vouchers, *u.Voucher)
		}
	}
	b := billFor(sale.SpendAmountCents+sale.DiscountCents, vouchers)
	if b == nil || b.PaidCents != sale.SpendAmountCents {
		return nil
	}
	return b
}

// addSale adds the sale of a checkout.
func addSale(v *views.Receipt, sale transaction.Detail, bill *coupon.Bill, currency string) {
	v.Title, v.Symbol, v.Spend = "Sale recorded", format.Symbol(currency), format.Decimal(sale.SpendAmountCents, currency)
	v.Award = "+" + format.Units(sale.Award(), sale.RuleType)
	for i, part := range format.AwardParts(sale) {
		if i > 0 { // the first is what every sale earns
			v.Why = append(v.Why, part.Name+" "+part.Value)
		}
	}
	v.Meta = sale.TypeName + ", " + v.Meta
	v.Bill = billView(bill, currency)
	if bill == nil && sale.DiscountCents > 0 {
		v.Bill = &views.Bill{Sum: format.Money(sale.SpendAmountCents+sale.DiscountCents, currency) + " − " + format.Money(sale.DiscountCents, currency)}
	}
}

// addCustomer adds the customer with their present balances.
func (t *Till) addCustomer(c echo.Context, v *views.Receipt, id, sale core.ID, unit ledger.Unit) error {
	w, err := t.Walkins.Customer(c.Request().Context(), page.Actor(c), id)
	if err != nil {
		return err
	}
	if v.Frame, err = t.frame(c, "Receipt"); err != nil {
		return err
	}
	v.Customer = matchView(w.ID, w.FirstName, w.LastName)
	if w.Erased {
		v.Customer.Name = format.CustomerName(w.Customer)
	}
	v.Balances, v.Progress = balances(w), currentProgress(w, unit)
	if reached := w.Level.ReachedBy(sale); reached != nil {
		v.Reached = "Now " + reached.Name
		if until := w.Level.Progress.Until; until != nil {
			v.Reached += ", until " + format.LongDay(*until)
		}
	}
	return nil
}

// addUndo adds what an undo did, or the button for it.
func addUndo(v *views.Receipt, c walkin.Checkout) {
	v.Voided = c.SaleVoided
	switch {
	case c.Undone() && c.WithSale:
		v.Title = "Sale undone"
	case c.Undone():
		v.Title, v.Voided = "Redemption undone", true
	case c.SaleVoided: // by itself, in the panel or through the API
		v.Title, v.Note = "Sale voided", "Its rewards and vouchers stay redeemed"
	}
	if c.Undone() || !c.MayUndo {
		return
	}
	v.Undo = &views.Undo{Path: links.Receipt(c.ID) + "/undo", Label: "Undo sale"}
	switch {
	case c.SaleVoided:
		v.Undo.Label = "Undo rewards and vouchers"
	case !c.WithSale:
		v.Undo.Label = "Undo redemption"
	}
}

func firstName(name string) string {
	for at, r := range name {
		if r == ' ' {
			return name[:at]
		}
	}
	return name
}

// timeLeft is "9:48 left".
func timeLeft(seconds int) string {
	rest := strconv.Itoa(seconds % 60)
	if len(rest) == 1 {
		rest = "0" + rest
	}
	return strconv.Itoa(seconds/60) + ":" + rest + " left"
}

// currentProgress is the way to the next reward at the current balance.
func currentProgress(w walkin.Card, unit ledger.Unit) *views.Progress {
	return outcome{card: w, award: format.Award{Unit: unit}, after: map[ledger.Unit]int64{ledger.Points: w.PointsBalance, ledger.Stamps: w.StampsBalance}}.progress()
}

// usedView is a reward or a voucher on the receipt: what the cashier does with it, or its outcome.
func usedView(u walkin.Used, bill *coupon.Bill, currency string) views.Used {
	v := views.Used{What: "Hand over"}
	if u.RewardName != nil {
		v.Name = *u.RewardName
	}
	if u.Voucher != nil {
		v = usedVoucher(*u.Voucher, bill, currency, u.Outcome == nil)
	}
	switch {
	case u.Outcome == nil && u.Voided():
		v.What, v.Undone = "Voided", true
	case u.Outcome == nil:
	case *u.Outcome == walkin.Kept && u.Voided():
		v.What, v.Undone = "Was voided before", true
	case *u.Outcome == walkin.Kept:
		v.What = "Stays redeemed: used over a day ago"
	default:
		v.What, v.Undone = returnedInWords(u), true
	}
	return v
}

// usedVoucher is a voucher on the receipt, as long as it is used with what the cashier must do.
func usedVoucher(voucher coupon.ShownVoucher, bill *coupon.Bill, currency string, used bool) views.Used {
	name, worth, hint := benefit(voucher, currency)
	discount, discounted := discountOf(bill, voucher.ID)
	switch {
	case used && discounted:
		return views.Used{Name: name, What: "−" + format.Money(discount.Cents, currency)}
	case used && hint != "":
		return views.Used{Name: hint, What: "Voucher"}
	case worth == free:
		return views.Used{Name: name, What: "Hand over"}
	case used:
		return views.Used{Name: worth, What: "Voucher"}
	}
	return views.Used{Name: name}
}

// returnedInWords says what an undo returned: "75 points returned", "Voucher valid again".
func returnedInWords(u walkin.Used) string {
	if u.Voucher != nil {
		switch refusal := u.Voucher.Refusal(); {
		case refusal == nil:
			return "Voucher valid again"
		case errors.Is(refusal, coupon.ErrVoucherExpired):
			return "Voucher returned, but expired"
		case errors.Is(refusal, coupon.ErrAlreadyRedeemed):
			return "Voucher returned, redeemed again since"
		case errors.Is(refusal, coupon.ErrCapReached):
			return "Voucher returned, but its coupon’s limit is reached"
		}
		return "Voucher returned, but its coupon is inactive"
	}
	switch {
	case !u.Earlier() && u.StampsSpent > 0:
		return format.Units(u.StampsSpent, ledger.Stamps) + " returned"
	case !u.Earlier():
		return format.Units(u.PointsSpent, ledger.Points) + " returned"
	case *u.Status == reward.Pending:
		return "Reward pending again"
	}
	return "Reward was pending again"
}

// undo undoes a checkout: its sale, rewards and vouchers. Undone already, it shows the receipt.
func (t *Till) undo(c echo.Context, id core.ID) error {
	err := t.Walkins.Undo(c.Request().Context(), page.Actor(c), id)
	if refusal, refused := page.RuleMessage(err); refused {
		return t.receipt(c, http.StatusUnprocessableEntity, id, receiptInfo{problem: refusal})
	}
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		return t.Redirect(c, links.Receipt(id))
	}
	return t.receipt(c, http.StatusOK, id, receiptInfo{})
}
