package till

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/till"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

var errNoAmount = core.Invalid(core.Fields{spendField: {core.Required}})

// sell records the sale with the rewards and vouchers used. By the form's key, two clicks record one
// sale, even if the first got no response.
func (t *Till) sell(c echo.Context, d draft) error {
	if d.Value(customerField) == "" {
		// Without JavaScript, Enter in a field of the customer's column comes here.
		switch {
		case d.Filled("scan") != nil, d.Filled("pin") != nil:
			return t.take(c, d)
		case d.Filled("phone") != nil:
			return t.find(c, d)
		}
	}
	if refusal := d.incomplete(); d.Refused(refusal) {
		return t.refused(c, d, refusal)
	}
	if d.Checked(correctField) {
		return t.confirmAmount(c, d, nil)
	}
	if d.needsConfirmation(page.Actor(c)) {
		return t.confirmAmount(c, d, confirmQuestion(page.Actor(c), d, links.TillSale, "Record "))
	}
	sale := d.sale()
	reply, err := t.Walkins.Complete(c.Request().Context(), page.Actor(c), session(c), sale, d.Malformed, page.Once(c, d.Form, receiptPath))
	if path, again := page.ReplayedPath(reply); again {
		return t.Redirect(c, path)
	}
	if d.Refused(err) {
		return t.refused(c, d, err)
	}
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		return t.Redirect(c, receiptPath(reply.Result))
	}
	return t.receipt(c, http.StatusOK, reply.Result.ID, receiptInfo{})
}

// sale reads the sale of a draft, and adds what can't be read to its malformed fields.
func (d draft) sale() walkin.Sale {
	s := walkin.Sale{LocationID: d.location, PIN: d.pin, Pending: d.pending, Rewards: d.rewards, Vouchers: d.vouchers}
	if d.pin == nil {
		s.CustomerID = d.Reference(customerField)
	}
	if d.spend != nil || len(d.Malformed) > 0 {
		s.Sold = &transaction.Sale{TransactionTypeID: d.Required(typeField, d.typeID), SpendAmountCents: d.Required(spendField, d.spend), Items: d.items(core.OrZero(d.spend))}
	}
	return s
}

// incomplete refuses a draft without a customer, or with nothing to record.
func (d draft) incomplete() error {
	switch {
	case d.Value(customerField) == "" && d.pin == nil:
		return core.Refuse("", "Find the customer first or let them scan.")
	case d.spend == nil && len(d.Malformed) == 0 && len(d.pending)+len(d.rewards)+len(d.vouchers) == 0:
		return errNoAmount
	}
	return nil
}

// receiptPath is the page of a completed checkout.
func receiptPath(r walkin.Receipt) string { return links.Receipt(r.ID) }

// needsConfirmation reports whether the amount is above the limit of the business and not confirmed.
func (d draft) needsConfirmation(by core.Actor) bool {
	return d.spend != nil && len(d.Malformed) == 0 && by.Tenant.Confirms(*d.spend) && d.Value(confirmedField) != d.cents()
}

func confirmQuestion(by core.Actor, d draft, action, verb string) *views.Ask {
	spend := format.Money(*d.spend, by.Tenant.Currency)
	return &views.Ask{
		Question: "Is " + spend + " right?", Explanation: "It’s above " + format.Money(by.Tenant.ConfirmAboveCents, by.Tenant.Currency) + ".",
		Action: action, Button: verb + spend, Confirm: ui.Pair{Name: confirmedField, Value: d.cents()},
	}
}

// confirmAmount shows the sale with the question, or without one to correct the amount.
func (t *Till) confirmAmount(c echo.Context, d draft, question *views.Ask) error {
	card, err := t.chosenCustomer(c, d)
	if err != nil {
		return err
	}
	if question != nil && card != nil {
		if bill := billFor(*d.spend, d.chosenVouchers(card.Vouchers)); bill != nil {
			currency := page.Actor(c).Tenant.Currency
			question.Explanation += " With discounts, " + format.Money(bill.PaidCents, currency) + " is to be paid."
			question.Button = "Record " + format.Money(bill.PaidCents, currency)
		}
	}
	return t.desk(c, http.StatusOK, d, sideColumn{Side: views.Side{Ask: question}, card: card})
}

// preview shows what the sale would earn, and the new balance.
func (t *Till) preview(c echo.Context, d draft) error {
	card, err := t.chosenCustomer(c, d)
	if err != nil {
		return err
	}
	if card == nil {
		return core.ErrNotFound
	}
	types, err := t.types(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	after, err := t.outcomeOf(c, d, *card, types)
	if err != nil {
		return err
	}
	earns := after.earns(by.Tenant.Currency)
	return t.Render(c, http.StatusOK, views.PreviewParts(after.progress(), earns, d.total(by.Tenant.Currency)), nil)
}

// outcome is the effect of a sale on the balances.
type outcome struct {
	card  walkin.Card
	bill  *coupon.Bill // nil without discounts
	award format.Award
	spent bool // an amount was entered
	after map[ledger.Unit]int64
}

func (t *Till) outcomeOf(c echo.Context, d draft, w walkin.Card, types []transaction.Type) (outcome, error) {
	o := outcome{card: w, after: map[ledger.Unit]int64{ledger.Points: w.PointsBalance, ledger.Stamps: w.StampsBalance}}
	for _, r := range w.Rewards {
		if slices.Contains(d.rewards, r.ID) && r.Barrier == nil {
			unit, cost := r.Price()
			o.after[unit] -= cost
		}
	}
	for _, v := range w.Vouchers {
		switch {
		case !d.uses(v):
		case v.BenefitType == coupon.Points:
			o.after[ledger.Points] += *v.BenefitValue
		case v.BenefitType == coupon.Stamps:
			o.after[ledger.Stamps] += *v.BenefitValue
		}
	}
	kind, known := d.chosenType(types)
	o.award.Unit = kind.RuleType
	spend := int64(0)
	if d.spend != nil {
		spend = *d.spend
	}
	if o.bill = billFor(spend, d.chosenVouchers(w.Vouchers)); o.bill != nil {
		spend = o.bill.PaidCents
	}
	if !known || d.spend == nil || len(d.Malformed) > 0 {
		return o, nil
	}
	by := page.Actor(c)
	sale := transaction.Sale{
		CustomerID: w.ID, TransactionTypeID: kind.ID, SpendAmountCents: spend, LocationID: d.location, Items: d.items(spend), Source: transaction.POS,
	}
	p, err := t.Transactions.Preview(c.Request().Context(), by, sale, nil)
	award, err := format.AwardOf(p, err, kind, by.Tenant.Currency)
	if err != nil || award.Unit == "" {
		o.award.Note = award.Note
		return o, err
	}
	o.award, o.spent = award, true
	o.after[award.Unit] += award.Amount
	return o, nil
}

func (o outcome) earns(currency string) views.Earns {
	unit := o.award.Unit
	if unit == "" {
		unit = ledger.Points
	}
	v := views.Earns{Note: o.award.Note, Balance: format.Units(o.after[unit], unit)}
	if o.spent && !o.award.Over {
		v.Award = "+" + format.Units(o.award.Amount, unit)
	}
	switch {
	case o.bill == nil:
	case o.spent:
		v.Bill = billView(o.bill, currency)
	default:
		v.Bill = &views.Bill{Note: "Enter the amount before discounts"}
	}
	return v
}

// progress is the way to the next reward.
func (o outcome) progress() *views.Progress {
	next, missing, any := o.nextReward()
	if !any {
		return nil
	}
	unit, cost := next.Price()
	before, after := o.card.Balance(unit), o.after[unit]
	v := &views.Progress{Missing: format.Units(missing, unit), To: next.Name}
	switch left := cost - after; {
	case after == before:
	case left <= 0:
		v.After = "Ready after this sale"
	default:
		v.After = format.Number(left) + " after this sale"
	}
	share := func(n int64) float64 { return 100 * float64(min(max(n, 0), cost)) / float64(cost) }
	v.Bar.Parts = append(v.Bar.Parts, ui.BarPart{Length: share(min(before, after)), Tone: ui.First})
	if after > before {
		v.Bar.Parts = append(v.Bar.Parts, ui.BarPart{Start: share(before), Length: share(after) - share(before), Tone: ui.Light})
	}
	return v
}

// nextReward is the closest reward in the unit that the sale earns, else in the other unit.
func (o outcome) nextReward() (next walkin.Offered, missing int64, any bool) {
	same := o.card
	same.Rewards = slices.DeleteFunc(slices.Clone(same.Rewards), func(r walkin.Offered) bool {
		unit, _ := r.Price()
		return unit != o.award.Unit
	})
	if next, missing, any = same.Next(); any {
		return next, missing, any
	}
	return o.card.Next()
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
