package portal

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/format"
	views "example.com/loyalty/views/portal"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// showHistory shows how the balances of a card came about, and what of them ends when.
func (p *Portal) showHistory(c echo.Context, d card) error {
	if d.Status != customer.Active {
		return walkin.ErrInactive
	}
	at := forms.Position(c.QueryParams())
	if at.Malformed != nil {
		return core.ErrNotFound
	}
	at.Counted = false
	list, err := p.Customers.Timeline(c.Request().Context(), core.System(d.Tenant, "card page"), d.Card.ID, customer.TimelineFilter{}, at)
	if err != nil {
		return err
	}
	pager := page.Pager(list, c.Request().URL, "change", "changes", "")
	v := views.History{Frame: p.frame(d.front, "History"), CardPath: d.path, Newer: pager.Prev, Older: pager.Next}
	v.Heading, v.Ends = endings(d.Card)
	v.Rules = rules(d)
	for _, e := range list.Items {
		v.Entries = append(v.Entries, d.change(e))
	}
	v.Body = "on-card"
	return render(c, http.StatusOK, views.HistoryPage(v))
}

// endings are what a customer has of each last day, under a heading; "" if nothing has one.
func endings(w walkin.Card) (heading string, list []views.Ending) {
	of := map[ledger.Unit]bool{}
	for _, e := range ledger.Dated(w.Expiring) {
		of[e.Unit] = true
		list = append(list, views.Ending{Day: format.EndsOn(e), Amount: format.Units(e.Amount, e.Unit)})
	}
	switch {
	case len(of) > 1:
		return "Points and stamps that expire", list
	case of[ledger.Points]:
		return "Points that expire", list
	case of[ledger.Stamps]:
		return "Stamps that expire", list
	}
	return "", nil
}

// rules say how what the card has ends at the business.
func rules(d card) (rules []string) {
	first, second := unitsOf(d.Card)
	for _, unit := range []ledger.Unit{first, second} {
		rule := format.HowTheyExpire(unit, unit.Of(d.Tenant))
		switch {
		case rule != "":
			rules = append(rules, rule)
		case unit == first:
			rules = append(rules, format.UnitsTitle(unit)+" don't expire.")
		}
	}
	return rules
}

// change explains a change of a balance to the customer.
func (d card) change(e customer.Entry) views.Change {
	what, why := d.reason(e)
	notes := []string{format.Date(e.CreatedAt, d.TimeZone)}
	for _, note := range []string{why, core.OrZero(e.LocationName)} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	v := views.Change{
		What: what, Note: strings.Join(notes, " · "), Voided: e.Voided,
		Amount: format.SignedUnits(e.Net(), e.Unit), Balance: format.Number(e.BalanceAfter),
	}
	if e.BalanceVoided != nil {
		v.Amount, v.Balance = format.Units(0, e.Unit), format.Number(*e.BalanceVoided)
	}
	return v
}

// reason is why a balance changed, and more about it; "" if there is no more.
func (d card) reason(e customer.Entry) (what, why string) {
	sale := ""
	if e.SpendAmountCents != nil {
		sale = "Sale of " + format.Money(*e.SpendAmountCents, d.Currency)
	}
	switch e.Kind {
	case ledger.Earn:
		return "Earned", sale
	case ledger.Reversal:
		if e.CouponName != nil {
			return "Voucher valid again", *e.CouponName
		}
		return "Sale voided", joined(sale, format.HadExpired(e))
	case ledger.Refunded:
		return "Refund of " + format.Money(core.OrZero(e.RefundedCents), d.Currency), joined(sale, format.HadExpired(e))
	case ledger.Redemption:
		return core.OrZero(e.RewardName), "Redeemed"
	case ledger.RedemptionRefund:
		return core.OrZero(e.RewardName), "Redemption voided"
	case ledger.VoucherAward:
		return core.OrZero(e.CouponName), "Voucher"
	case ledger.Adjustment:
		return "Balance adjusted", core.OrZero(e.Reason)
	case ledger.Opened:
		return "Opening balance", ""
	case ledger.Merged:
		return "Moved from another card", ""
	case ledger.Expired:
		if e.ExpiresOn != nil {
			return "Expired", "Last day " + e.ExpiresOn.Format("2 Jan 2006")
		}
		return "Expired", ""
	case ledger.ExpiryReturned: // part of the void or refund that follows
	}
	return "", ""
}

// joined are two notes, of which one may be "".
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " · " + b
}
