package till

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	views "example.com/loyalty/views/till"
	"example.com/loyalty/web/page"
)

const (
	receiptsPath     = page.TillPath + "/receipts/"
	redeemedPath     = page.TillPath + "/redeemed/"
	redemptionsQuery = "redemptions"
)

// undoTime is how long a cashier may void a sale (decisions §9).
const undoTime = 10 * time.Minute

// receiptInfo is what a receipt shows besides its sale.
type receiptInfo struct {
	redemptions, vouchers []core.ID
	sale                  *transaction.Detail // nil: none was recorded
	claimed               bool                // on the customer's phone, so the screen still faces the customer
	problem               string
}

func infoFromQuery(c echo.Context) receiptInfo {
	q := c.QueryParams()
	return receiptInfo{redemptions: parseIDs(q[redemptionsQuery]), vouchers: parseIDs(q[vouchersField])}
}

func (t *Till) showReceipt(c echo.Context, id core.ID) error {
	return t.receipt(c, http.StatusOK, id, infoFromQuery(c))
}

var errNoLastSale = core.Refuse("", "You haven’t recorded a sale in the last 10 minutes.")

// showLast leads to the receipt of the cashier's last sale, to undo it.
func (t *Till) showLast(c echo.Context) error {
	by := page.Actor(c)
	id, err := t.Transactions.LastVoidable(c.Request().Context(), by)
	if errors.Is(err, core.ErrNotFound) {
		d := draftOf(page.Blank(nil), by.Tenant.Currency)
		d.Refused(errNoLastSale)
		return t.desk(c, http.StatusNotFound, d, sideColumn{})
	}
	if err != nil {
		return err
	}
	return t.Redirect(c, receiptsPath+id.String())
}

func (t *Till) receipt(c echo.Context, status int, id core.ID, info receiptInfo) error {
	ctx, by := c.Request().Context(), page.Actor(c)
	sale, err := t.Transactions.Detail(ctx, by, id)
	if err != nil {
		return err
	}
	info.sale = &sale
	v, err := t.receiptFor(c, sale.CustomerID, sale.RuleType, info)
	if err != nil {
		return err
	}
	currency := by.Tenant.Currency
	v.Title, v.Symbol, v.Spend = "Sale recorded", page.Symbol(currency), page.Decimal(sale.SpendAmountCents, currency)
	v.Award = "+" + page.Units(sale.Award(), sale.RuleType)
	v.Meta = sale.TypeName + ", " + sale.CreatedAt.In(by.Tenant.TimeZone).Format("15:04")
	if info.claimed {
		// Typing a phone number doesn't prove that it is one's own, so the screen shows no full name or balance.
		v.Title = firstName(sale.CustomerName) + " collected " + page.Units(sale.Award(), sale.RuleType)
		v.Customer = matchView(sale.CustomerID, firstName(sale.CustomerName), "")
		v.Balances, v.Progress, v.Award = nil, nil, ""
	}
	if sale.Status == transaction.Voided {
		v.Title, v.Voided = "Sale undone", true
		if len(info.redemptions)+len(info.vouchers) > 0 {
			v.Note = "Rewards and vouchers stay redeemed"
		}
	} else if sale.Voidable {
		v.Undo = t.undoOf(by, sale.Named)
	}
	return t.Render(c, status, views.ReceiptPage(v), views.ReceiptMain(v))
}

func firstName(name string) string {
	for at, r := range name {
		if r == ' ' {
			return name[:at]
		}
	}
	return name
}

// undoOf is the button that voids a sale: cashiers have it for ten minutes, managers at any time.
func (t *Till) undoOf(by core.Actor, sale transaction.Named) *views.Undo {
	u := &views.Undo{Path: receiptsPath + sale.ID.String() + "/undo"}
	if by.Role.Includes(core.Manager) {
		return u
	}
	u.Seconds = max(int(sale.CreatedAt.Add(undoTime).Sub(t.Now())/time.Second), 1)
	seconds := strconv.Itoa(u.Seconds % 60)
	if len(seconds) == 1 {
		seconds = "0" + seconds
	}
	u.Left = strconv.Itoa(u.Seconds/60) + ":" + seconds + " left"
	return u
}

// receiptFor is a receipt with the customer and the rewards and vouchers used.
func (t *Till) receiptFor(c echo.Context, id core.ID, unit ledger.Unit, info receiptInfo) (v views.Receipt, err error) {
	by := page.Actor(c)
	w, err := t.Walkins.Customer(c.Request().Context(), by, id)
	if err != nil {
		return v, err
	}
	if v.Frame, err = t.frame(c, "Receipt"); err != nil {
		return v, err
	}
	v.Customer = matchView(w.ID, w.FirstName, w.LastName)
	if w.Erased {
		v.Customer.Name = page.CustomerName(w.Customer)
	}
	v.Balances, v.Progress, v.Problem = balances(w.PointsBalance, w.StampsBalance), currentProgress(w, unit), info.problem
	v.Used, v.Bill, err = t.usedViews(c, id, info)
	return v, err
}

// currentProgress is the way to the next reward at the current balance.
func currentProgress(w walkin.Card, unit ledger.Unit) *views.Progress {
	return outcome{card: w, award: page.Award{Unit: unit}, after: map[ledger.Unit]int64{ledger.Points: w.PointsBalance, ledger.Stamps: w.StampsBalance}}.progress()
}

// usedViews are the customer's rewards and vouchers among those in info, and the bill of a sale with discounts.
func (t *Till) usedViews(c echo.Context, customer core.ID, info receiptInfo) (list []views.Used, shown *views.Bill, err error) {
	by := page.Actor(c)
	currency := by.Tenant.Currency
	used, err := t.Walkins.Used(c.Request().Context(), by, customer, info.redemptions, info.vouchers)
	bill := info.bill(used.Vouchers)
	for _, r := range used.Rewards {
		list = append(list, views.Used{Name: r.Name, What: "Hand over"})
	}
	for _, v := range used.Vouchers {
		name, worth, hint := benefit(v, currency)
		discount, discounted := discountOf(bill, v.ID)
		switch {
		case discounted:
			list = append(list, views.Used{Name: name, What: "−" + page.Money(discount.Cents, currency)})
		case hint != "":
			list = append(list, views.Used{Name: hint, What: "Voucher"})
		case worth == free:
			list = append(list, views.Used{Name: name, What: "Hand over"})
		default:
			list = append(list, views.Used{Name: worth, What: "Voucher"})
		}
	}
	if bill == nil && info.sale != nil && info.sale.DiscountCents > 0 {
		total, off := info.sale.SpendAmountCents+info.sale.DiscountCents, info.sale.DiscountCents
		return list, &views.Bill{Sum: page.Money(total, currency) + " − " + page.Money(off, currency)}, err
	}
	return list, billView(bill, currency), err
}

// bill is how the amount of the sale was calculated; nil if these vouchers don't lead to it.
func (info receiptInfo) bill(vouchers []coupon.ShownVoucher) *coupon.Bill {
	if info.sale == nil {
		return nil
	}
	b := billFor(info.sale.SpendAmountCents+info.sale.DiscountCents, vouchers)
	if b == nil || b.PaidCents != info.sale.SpendAmountCents {
		return nil
	}
	return b
}

// showRedeemed is the receipt of rewards and vouchers without a sale.
func (t *Till) showRedeemed(c echo.Context, customer core.ID) error {
	return t.redeemed(c, customer, infoFromQuery(c))
}

func (t *Till) redeemed(c echo.Context, customer core.ID, info receiptInfo) error {
	v, err := t.receiptFor(c, customer, ledger.Points, info)
	if err != nil {
		return err
	}
	v.Title = "Redeemed"
	return t.Render(c, http.StatusOK, views.ReceiptPage(v), views.ReceiptMain(v))
}

// undo voids a sale.
func (t *Till) undo(c echo.Context, id core.ID) error {
	_, err := t.Transactions.Void(c.Request().Context(), page.Actor(c), id, nil)
	if refusal, refused := page.RuleMessage(err); refused {
		return t.receipt(c, http.StatusUnprocessableEntity, id, receiptInfo{problem: refusal})
	}
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		return t.Redirect(c, receiptsPath+id.String())
	}
	return t.receipt(c, http.StatusOK, id, receiptInfo{})
}
