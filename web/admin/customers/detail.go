package customers

import (
	"errors"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin/customers"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// The tabs of a customer's history.
const (
	timelineView    = ""
	salesView       = "transactions"
	redemptionsView = "redemptions"
	vouchersView    = "vouchers"
)

var historyTabs = []struct {
	name, label string
	count       func(customer.Profile) int64 // nil: not counted
}{
	{timelineView, "Timeline", nil},
	{salesView, "Transactions", func(p customer.Profile) int64 { return p.Sales }},
	{redemptionsView, "Redemptions", func(p customer.Profile) int64 { return p.Redemptions }},
	{vouchersView, "Vouchers", func(p customer.Profile) int64 { return p.Vouchers }},
}

// showCustomer shows a customer and one tab of their history, or leads to the customer into whom they were
// merged. htmx asks for the card, the history, or
// more entries of the timeline by the element that it replaces.
func (h *Handlers) showCustomer(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	ctx, by := c.Request().Context(), page.Actor(c)
	found, err := h.Customers.Profile(ctx, by, id)
	if errors.Is(err, core.ErrNotFound) {
		var merged customer.MergedCustomer
		if merged, err = h.Customers.FindMerged(ctx, by, id); err == nil {
			return h.Redirect(c, links.Customer(merged.MergedInto))
		}
	}
	if err != nil {
		return err
	}
	part := ""
	if page.IsFragment(c) {
		part = c.Request().Header.Get("Hx-Target")
	}
	v := views.CustomerDetail{}
	if part != "more" && part != "history" {
		if v, err = h.customerDetail(c, found); err != nil {
			return err
		}
	}
	if part == "customer" {
		return h.Render(c, http.StatusOK, nil, views.CustomerCard(v))
	}
	if v.History, err = h.history(c, found); err != nil {
		return err
	}
	fragment := views.CustomerHistory(v.History)
	if part == "more" {
		v.History.Continued = true
		fragment = views.TimelineEntries(v.History)
	}
	return h.Render(c, http.StatusOK, views.CustomerDetailPage(v), fragment)
}

// customerOf returns the customer in the path.
func (h *Handlers) customerOf(c echo.Context) (customer.Customer, error) {
	id, err := panel.PathID(c)
	if err != nil {
		return customer.Customer{}, err
	}
	return h.Customers.Find(c.Request().Context(), page.Actor(c), id)
}

// customerFrame returns the frame of a page about a customer. The title of their own page is "".
func (h *Handlers) customerFrame(c echo.Context, of customer.Customer, title string) panelviews.Frame {
	crumbs := []ui.Crumb{{Label: "Customers", Path: links.Customers}}
	if title == "" {
		title = format.CustomerName(of)
	} else {
		crumbs = append(crumbs, ui.Crumb{Label: format.CustomerName(of), Path: links.Customer(of.ID)})
	}
	return h.Frame(c, title, links.Customers, crumbs...)
}

func (h *Handlers) customerDetail(c echo.Context, of customer.Profile) (views.CustomerDetail, error) {
	by := page.Actor(c)
	outlook, err := h.Rewards.Outlook(c.Request().Context(), by, of.ID)
	if err != nil {
		return views.CustomerDetail{}, err
	}
	active, zone := of.Status == customer.Active, by.Tenant.TimeZone
	v := views.CustomerDetail{
		Frame: h.customerFrame(c, of.Customer, ""),
		Path:  links.Customer(of.ID), Name: format.CustomerName(of.Customer), Status: panelviews.CustomerStatus(of.Customer),
		Phone: of.Phone, Email: core.OrZero(of.Email), Since: format.Date(of.CreatedAt, zone), ID: of.ID.String(),
		Note: core.OrZero(of.Note), Balance: profileBalance(of.Customer, outlook), Figures: h.profileFigures(by.Tenant, of), Consent: consentLines(of, zone),
		Erased: of.Erased, Unchecked: of.UncheckedSince != nil, Inactive: !active && !of.Erased,
		CanEdit: by.Role.Includes(core.Manager) && !of.Erased,
	}
	if of.Merged > 0 {
		v.Merged = "Includes " + format.Count(of.Merged, "merged customer", "merged customers")
	}
	for _, f := range of.Further {
		v.AlsoFoundBy = append(v.AlsoFoundBy, views.FurtherKey{Kind: string(f.Kind), Key: f.Key, Text: f.Text})
	}
	for _, tag := range of.Tags {
		v.Tags = append(v.Tags, ui.Pair{Name: tag, Value: page.WithQuery(links.Customers, "tag", tag)})
	}
	switch {
	case of.UnsubscribedAt != nil:
		v.SubscribePath = v.Path + "/subscribe"
	case of.Email != nil:
		v.UnsubscribePath = v.Path + "/unsubscribe"
	}
	if active {
		v.SalePath = page.WithQuery(links.Transactions+"/new", "customer_ulid", v.ID)
		v.RedeemPath = page.WithQuery(links.Redemptions+"/new", "customer_ulid", v.ID)
	}
	return v, nil
}

// profileBalance shows points first, unless the customer and the rewards only have stamps.
func profileBalance(of customer.Customer, next reward.Outlook) views.ProfileBalance {
	main, second := ledger.Points, ledger.Stamps
	amount, other, cost, name, otherCost := of.PointsBalance, of.StampsBalance, next.PointsCost, next.NextForPoints, next.StampsCost
	if amount == 0 && cost == nil && (other != 0 || otherCost != nil) {
		main, second = second, main
		amount, other, cost, name, otherCost = other, amount, otherCost, next.NextForStamps, nil
	}
	v := views.ProfileBalance{Amount: format.Number(amount), Unit: format.UnitName(amount, main)}
	if otherCost != nil && other >= 0 {
		v.Second, v.SecondOf = format.Number(other), "of "+format.Units(*otherCost, second)
	} else if other != 0 {
		v.Second, v.SecondOf = format.Number(other), format.UnitName(other, second)
	}
	if cost != nil && !of.Erased {
		reached := max(amount, 0)
		v.Way = &ui.Bar{Parts: []ui.BarPart{{Length: 100 * float64(reached) / float64(*cost), Tone: ui.First}}}
		v.Missing, v.Next = missing(*cost, amount, main), "to "+*name+" ("+format.Number(*cost)+")"
	}
	if next.Affordable > 0 {
		v.Affordable = format.Count(next.Affordable, "reward", "rewards")
	}
	return v
}

// missing is what a balance lacks to a cost. A balance far below zero lacks more than 64 bits hold.
func missing(cost, balance int64, unit ledger.Unit) string {
	lacks := cost - balance
	if lacks < cost && balance < 0 {
		lacks = math.MaxInt64
	}
	return format.Units(lacks, unit)
}

func (h *Handlers) profileFigures(t core.Tenant, of customer.Profile) []ui.Pair {
	average, last := "–", "Never"
	if of.Visits > 0 {
		average = format.Money(of.AverageCents(), t.Currency)
	}
	if of.LastVisit != nil {
		last = format.Moment(*of.LastVisit, h.Now(), t.TimeZone)
	}
	return []ui.Pair{
		{Name: "Lifetime spend", Value: format.Money(of.SpentCents, t.Currency)},
		{Name: "Visits", Value: format.Number(of.Visits)},
		{Name: "Average sale", Value: average},
		{Name: "Last visit", Value: last},
	}
}

// consentLines says what a customer agreed to, and when.
func consentLines(of customer.Profile, zone *time.Location) []views.Consent {
	offers := views.Consent{Label: "Coupon e-mails", Words: "Subscribed", Given: true}
	switch {
	case of.UnsubscribedAt != nil:
		offers.Words, offers.Given = "Unsubscribed since "+format.Date(*of.UnsubscribedAt, zone), false
	case of.Email == nil:
		offers.Words, offers.Given = "No e-mail address", false
	case of.OffersAt != nil:
		offers.Words = "Since " + format.Date(*of.OffersAt, zone)
	}
	terms := views.Consent{Label: "Terms", Words: "Not recorded"}
	if of.TermsAt != nil {
		terms.Words, terms.Given = "Since "+format.Date(*of.TermsAt, zone), true
	}
	return []views.Consent{offers, terms}
}

// history returns a page of the tab that the query selects.
func (h *Handlers) history(c echo.Context, of customer.Profile) (views.History, error) {
	path, selected := links.Customer(of.ID), c.QueryParam("view")
	v := views.History{Reader: h.Reader(c), View: selected, Path: path, First: page.WithQuery(path, "view", selected)}
	for _, tab := range historyTabs {
		shown := panelviews.Tab{
			ID: "view-" + strings.ToLower(tab.label), Label: tab.label, Path: page.WithQuery(path, "view", tab.name), Current: tab.name == selected,
		}
		if tab.count != nil {
			shown.Count = cappedCount(tab.count(of), customer.ProfileCount)
		}
		v.Tabs = append(v.Tabs, shown)
	}
	ctx, by, at, ulid := c.Request().Context(), page.Actor(c), forms.Position(c.QueryParams()), of.ID.String()
	var err error
	switch selected {
	case timelineView:
		err = h.timeline(c, of.ID, &v)
	case salesView:
		var list transaction.Found
		list, err = h.Transactions.List(ctx, by, transaction.Filter{CustomerID: &ulid}, core.Newest, at)
		v.Sales, v.Pager = historyPage(c, list.List, "sale", "sales")
	case redemptionsView:
		var list core.List[reward.NamedRedemption]
		list, err = h.Rewards.ListRedemptions(ctx, by, reward.RedemptionFilter{CustomerID: &ulid}, core.Newest, at)
		v.Redemptions, v.Pager = historyPage(c, list, "redemption", "redemptions")
	case vouchersView:
		var list core.List[coupon.NamedVoucher]
		list, err = h.Coupons.ListByCustomer(ctx, by, of.ID, at)
		var held []coupon.NamedVoucher
		held, v.Pager = historyPage(c, list, "voucher", "vouchers")
		for _, one := range held {
			v.Vouchers = append(v.Vouchers, h.heldVoucher(by, one))
		}
	default:
		err = core.ErrNotFound
	}
	return v, err
}

// cappedCount is a number of records that were counted up to one more than most: "47", "100+".
func cappedCount(n, most int64) string {
	if n > most {
		return format.Number(most) + "+"
	}
	return format.Number(n)
}

// historyPage returns the records of a page of a tab, and its pager.
func historyPage[T any](c echo.Context, list core.List[T], one, many string) ([]T, ui.Pager) {
	return list.Items, page.Pager(list, c.Request().URL, one, many, "#history")
}

func (h *Handlers) heldVoucher(by core.Actor, held coupon.NamedVoucher) views.HeldVoucher {
	zone := by.Tenant.TimeZone
	row := views.HeldVoucher{
		Coupon: held.CouponName, CouponPath: links.Coupon(held.CouponID), Path: links.Voucher(held.ID), Redeemable: held.Redeemable,
		Benefit: panel.BenefitInWords(held.Benefit, held.RewardName, by.Tenant.Currency), Sent: format.Date(held.CreatedAt, zone), Status: panel.VoucherStatuses[held.Status],
		Until: "Doesn't expire",
	}
	if held.RedeemedAt != nil {
		row.Until = format.Moment(*held.RedeemedAt, h.Now(), zone)
	} else if held.ExpiresAt != nil {
		row.Until = "Until " + panel.LastDay(*held.ExpiresAt, zone)
	}
	return row
}
