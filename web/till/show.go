package till

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/live"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/till"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

const againField = "again" // asks for a new code although a customer is using this one

// show shows a code for the sale, once its amount and type are entered.
func (t *Till) show(c echo.Context, d draft) error {
	d = d.withoutCustomer()
	if d.spend == nil && len(d.Malformed) == 0 {
		d.Refused(errNoAmount)
		return t.refused(c, d, errNoAmount)
	}
	by := page.Actor(c)
	if d.Checked(correctField) {
		return t.confirmAmount(c, d, nil)
	}
	if d.needsConfirmation(by) {
		return t.confirmAmount(c, d, confirmQuestion(by, d, links.TillShow, "Use "))
	}
	offer := walkin.Offer{
		TransactionTypeID: d.Required(typeField, d.typeID), SpendAmountCents: d.Required(spendField, d.spend), LocationID: d.location,
		Items: d.items(core.OrZero(d.spend)),
	}
	shown, err := t.Walkins.ShowSale(c.Request().Context(), by, session(c), offer, d.Malformed)
	if d.Refused(err) {
		return t.refused(c, d, err)
	}
	if err != nil {
		return err
	}
	return t.showCode(c, shown, offer)
}

// showCode shows a new code to the customer.
func (t *Till) showCode(c echo.Context, shown walkin.Shown, o walkin.Offer) error {
	v, err := t.showView(c, shown.ID, o)
	if err != nil {
		return err
	}
	code, err := page.QR("https://"+c.Request().Host+"/w/"+shown.Code, "QR code of this sale")
	if err != nil {
		return err
	}
	v.State, v.Status = string(walkin.Waiting), "Waiting for customer…"
	v.PIN = ui.PIN{
		ID: shown.ID.String(), Digits: shown.Digits, QR: code, Live: v.Live, Refresh: v.Self, Renew: v.Renew,
		Seconds: max(int(shown.ExpiresAt.Sub(t.Now())/time.Second), 0),
	}
	return t.Render(c, http.StatusOK, views.ShowPage(v), views.ShowMain(v))
}

// showView is the part of the screen that is the same in every state.
func (t *Till) showView(c echo.Context, pin core.ID, o walkin.Offer) (views.Show, error) {
	frame, err := t.frame(c, "Let customer scan")
	if err != nil {
		return views.Show{}, err
	}
	by, path := page.Actor(c), links.TillPIN(pin)
	v := views.Show{
		Frame: frame, Spend: format.Money(o.SpendAmountCents, by.Tenant.Currency), Host: c.Request().Host + "/w",
		Live: path + "/events", Self: path, Renew: path + "/renew", Cancel: path + "/cancel",
	}
	kind, err := t.Transactions.FindType(c.Request().Context(), by, o.TransactionTypeID)
	if err != nil {
		return v, err
	}
	// The customer isn't known yet. Nothing is promised that depends on them.
	p, err := t.Transactions.Preview(c.Request().Context(), by, o.Sale(), nil)
	award, err := format.AwardOf(p, err, kind, by.Tenant.Currency)
	v.Award, v.Why = "+"+format.Units(award.Amount, kind.RuleType), award.Note
	return v, err
}

// pinProgress is the state of a PIN of this till.
func (t *Till) pinProgress(c echo.Context) (walkin.Progress, error) {
	id, err := pathID(c)
	if err != nil {
		return walkin.Progress{}, err
	}
	return t.Walkins.TillProgress(c.Request().Context(), page.Actor(c), session(c), id)
}

// showPIN shows the current state of a code.
func (t *Till) showPIN(c echo.Context, p walkin.Progress) error {
	if p.State == walkin.Waiting && page.IsFragment(c) {
		return c.NoContent(http.StatusNoContent) // unchanged: only the screen knows the digits
	}
	return t.showOutcome(c, p)
}

var stateWords = map[walkin.State]string{
	walkin.Waiting:   "This code is on another screen",
	walkin.Taken:     "Customer is entering their details",
	walkin.Replaced:  "This code was replaced",
	walkin.Cancelled: "Cancelled",
	walkin.Expired:   "This code has expired",
}

// showOutcome shows the receipt of the sale, or the state of the code.
func (t *Till) showOutcome(c echo.Context, p walkin.Progress) error {
	if p.State == walkin.Completed && p.TransactionID != nil {
		return t.receipt(c, http.StatusOK, *p.TransactionID, receiptInfo{claimed: true})
	}
	v, err := t.showView(c, p.ID, p.Offer())
	if err != nil {
		return err
	}
	v.State, v.Status = string(p.State), stateWords[p.State]
	if p.State == walkin.Waiting {
		v.State = "elsewhere"
	}
	if p.State != walkin.Taken {
		v.Notice = "Show a new code, or cancel to go back to the sale."
	}
	return t.Render(c, http.StatusOK, views.ShowPage(v), views.ShowMain(v))
}

// events streams the state of a code.
func (t *Till) events(c echo.Context, p walkin.Progress) error {
	by, till := page.Actor(c), session(c)
	address := t.AddressKey(t.Address(c.Request()))
	return page.Events(c, t.Live, walkin.Topic(by.Tenant.ID, p.ID), address, func(ctx context.Context) (live.State, error) {
		p, err := t.Walkins.TillProgress(ctx, by, till, p.ID)
		return live.State{Name: string(p.State), Final: p.State.Final()}, err
	})
}

// cancelPIN cancels a code and returns to the sale.
func (t *Till) cancelPIN(c echo.Context, p walkin.Progress) error {
	by := page.Actor(c)
	if err := t.Walkins.Cancel(c.Request().Context(), by, session(c), p.ID); err != nil {
		return err
	}
	p, err := t.pinProgress(c)
	if err != nil {
		return err
	}
	if p.State == walkin.Completed { // the customer was faster
		return t.showOutcome(c, p)
	}
	q := url.Values{spendField: {decimal(*p.SpendAmountCents)}, typeField: {decimal(*p.TransactionTypeID)}}
	if len(p.Items) == 1 {
		q.Set(categoryField, p.Items[0].Category)
	}
	if !page.IsFragment(c) {
		return t.Redirect(c, links.Till+"?"+q.Encode())
	}
	return t.render(c, http.StatusOK, draftOf(forms.Query(q), by.Tenant.Currency), sideColumn{}, true)
}

// renewPIN shows a new code for the same sale. If a customer is using the current one, only an explicit
// request replaces it: the customer may have left.
func (t *Till) renewPIN(c echo.Context, p walkin.Progress) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	if p.State == walkin.Completed || p.State == walkin.Taken && !form.Checked(againField) {
		return t.showOutcome(c, p)
	}
	shown, err := t.Walkins.Renew(c.Request().Context(), page.Actor(c), session(c), p.ID)
	if errors.Is(err, walkin.ErrCompleted) { // the customer was faster
		if p, err = t.pinProgress(c); err != nil {
			return err
		}
		return t.showPIN(c, p)
	}
	if _, refused := page.RuleMessage(err); refused || core.IsKind(err, core.KindInvalid) {
		d := draftOf(forms.Query(url.Values{spendField: {decimal(*p.SpendAmountCents)}}), page.Actor(c).Tenant.Currency)
		d.Refused(err)
		return t.refused(c, d, err)
	}
	if err != nil {
		return err
	}
	return t.showCode(c, shown, p.Offer())
}
