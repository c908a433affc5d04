package admin

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// The tabs of a customer's history.
const (
	timelineView    = ""
	salesView       = "transactions"
	redemptionsView = "redemptions"
	vouchersView    = "vouchers"
)

var historyTabs = []struct{ name, label string }{
	{timelineView, "Timeline"}, {salesView, "Sales"}, {redemptionsView, "Redemptions"}, {vouchersView, "Vouchers"},
}

// showCustomer shows a customer and one tab of their history. htmx asks for the card, the history, or
// more entries of the timeline by the element that it replaces.
func (a *Admin) showCustomer(c echo.Context) error {
	found, err := a.customerOf(c)
	if err != nil {
		return err
	}
	v := a.customerDetail(c, found)
	part := ""
	if page.IsFragment(c) {
		part = c.Request().Header.Get("Hx-Target")
	}
	if part == "customer" {
		return a.Render(c, http.StatusOK, nil, views.CustomerCard(v))
	}
	if v.History, err = a.history(c, found); err != nil {
		return err
	}
	fragment := views.CustomerHistory(v.History)
	if part == "more" {
		v.History.Continued = true
		fragment = views.TimelineEntries(v.History)
	}
	return a.Render(c, http.StatusOK, views.CustomerDetailPage(v), fragment)
}

// customerOf returns the customer in the path.
func (a *Admin) customerOf(c echo.Context) (customer.Customer, error) {
	id, err := pathID(c)
	if err != nil {
		return customer.Customer{}, err
	}
	return a.Customers.Find(c.Request().Context(), page.Actor(c), id)
}

// customerFrame returns the frame of a page about a customer. The title of their own page is "".
func (a *Admin) customerFrame(c echo.Context, of customer.Customer, title string) views.Frame {
	crumbs := []ui.Crumb{{Label: "Customers", Path: customersPath}}
	if title == "" {
		title = customerName(of)
	} else {
		crumbs = append(crumbs, ui.Crumb{Label: customerName(of), Path: customerPath(of.ID)})
	}
	return a.frame(c, title, customersPath, crumbs...)
}

func (a *Admin) customerDetail(c echo.Context, of customer.Customer) views.CustomerDetail {
	by := page.Actor(c)
	active := of.Status == customer.Active
	v := views.CustomerDetail{
		Frame: a.customerFrame(c, of, ""),
		Path:  customerPath(of.ID), Name: customerName(of), Status: customerStatus(of),
		Phone: of.Phone, Email: orZero(of.Email), Since: page.Date(of.CreatedAt, by.Tenant.TimeZone), ID: of.ID.String(),
		Points: page.Number(of.PointsBalance), Stamps: page.Number(of.StampsBalance),
		Erased: of.Erased, Inactive: !active && !of.Erased,
		CanEdit: by.Role.Includes(core.Manager) && !of.Erased,
	}
	switch {
	case of.UnsubscribedAt != nil:
		v.Unsubscribed = "Unsubscribed from e-mails since " + page.Date(*of.UnsubscribedAt, by.Tenant.TimeZone)
		v.SubscribePath = v.Path + "/subscribe"
	case of.Email != nil:
		v.UnsubscribePath = v.Path + "/unsubscribe"
	}
	if active {
		v.SalePath = page.WithQuery(transactionsPath+"/new", "customer_ulid", v.ID)
		v.RedeemPath = page.WithQuery(redemptionsPath+"/new", "customer_ulid", v.ID)
	}
	return v
}

// history returns a page of the tab that the query selects.
func (a *Admin) history(c echo.Context, of customer.Customer) (views.History, error) {
	path, selected := customerPath(of.ID), c.QueryParam("view")
	h := views.History{View: selected, First: page.WithQuery(path, "view", selected)}
	for _, tab := range historyTabs {
		h.Tabs = append(h.Tabs, views.Tab{
			ID: "view-" + strings.ToLower(tab.label), Label: tab.label, Path: page.WithQuery(path, "view", tab.name), Current: tab.name == selected,
		})
	}
	ctx, by, at, ulid := c.Request().Context(), page.Actor(c), page.Position(c.QueryParams()), of.ID.String()
	var err error
	switch selected {
	case timelineView:
		var list core.List[customer.Entry]
		list, err = a.Customers.Timeline(ctx, by, of.ID, at)
		h.Entries, h.Pager = historyPage(c, list, "entry", "entries", timelineEntry)
	case salesView:
		var list core.List[transaction.Named]
		list, err = a.Transactions.List(ctx, by, transaction.Filter{CustomerID: &ulid}, at)
		h.Sales, h.Pager = historyPage(c, list, "sale", "sales", a.transactionRow)
	case redemptionsView:
		var list core.List[reward.NamedRedemption]
		list, err = a.Rewards.ListRedemptions(ctx, by, reward.RedemptionFilter{CustomerID: &ulid}, at)
		h.Redemptions, h.Pager = historyPage(c, list, "redemption", "redemptions", a.redemptionRow)
	case vouchersView:
		var list core.List[coupon.NamedVoucher]
		list, err = a.Coupons.ListByCustomer(ctx, by, of.ID, at)
		h.Vouchers, h.Pager = historyPage(c, list, "voucher", "vouchers", heldVoucher)
	default:
		err = core.ErrNotFound
	}
	return h, err
}

// historyPage returns the rows of a page of a tab, and its pager.
func historyPage[T, R any](c echo.Context, list core.List[T], one, many string, row func(core.Actor, T) R) (rows []R, pager ui.Pager) {
	for _, item := range list.Items {
		rows = append(rows, row(page.Actor(c), item))
	}
	return rows, page.Pager(list, c.Request().URL, one, many, "#history")
}

// timelineEntry explains a change of a balance: what, when, by whom and why.
func timelineEntry(by core.Actor, e customer.Entry) views.TimelineEntry {
	v := views.TimelineEntry{
		When: page.Time(e.CreatedAt, by.Tenant.TimeZone), By: actorLabel(e.ActorKind, e.ActorName),
		Amount: signedAmount(e.Amount, e.Unit), Gain: e.Amount > 0, Balance: page.Number(e.BalanceAfter),
	}
	sale := "Sale"
	if e.SpendAmountCents != nil {
		sale = page.Money(*e.SpendAmountCents, by.Tenant.Currency) + " sale"
	}
	var causePath func(core.ID) string // nil: the cause has no page
	switch e.Kind {
	case "earn":
		v.Icon, v.Title, causePath = "receipt", sale, transactionPath
	case "reversal":
		v.Icon, v.Title, causePath = "receipt-refund", sale+" voided", transactionPath
	case "redemption":
		v.Icon, v.Title, causePath = "gift", "Redeemed: "+orZero(e.RewardName), redemptionPath
	case "redemption_refund":
		v.Icon, v.Title, causePath = "arrow-back-up", "Redemption voided: "+orZero(e.RewardName), redemptionPath
	case "voucher":
		v.Icon, v.Title, causePath = "ticket", "Voucher redeemed: "+orZero(e.CouponName), voucherPath
	case "adjustment":
		v.Icon, v.Title = "adjustments", "Adjustment: "+orZero(e.Reason)
	}
	if e.Cause != nil && causePath != nil {
		v.Path = causePath(*e.Cause)
	}
	for _, name := range []*string{e.TypeName, e.LocationName} {
		if name != nil {
			v.Notes = append(v.Notes, *name)
		}
	}
	return v
}

// actorLabel names an actor, with their kind where the name alone doesn't tell it.
func actorLabel(kind core.ActorKind, name string) string {
	switch kind {
	case core.ByToken:
		return "API token “" + name + "”"
	case core.ByAdmin:
		return name + " (platform)"
	case core.ByCustomer:
		return "The customer"
	case core.BySystem:
		return page.AuditSystem
	case core.ByStaff:
	}
	return name
}

var voucherStatuses = map[coupon.VoucherStatus]ui.Badge{
	coupon.VoucherPending:  {Label: "Pending", Tone: ui.Info},
	coupon.VoucherRedeemed: {Label: "Redeemed", Tone: ui.Good},
	coupon.VoucherExpired:  {Label: "Expired", Tone: ui.Neutral},
}

func heldVoucher(by core.Actor, held coupon.NamedVoucher) views.HeldVoucher {
	zone := by.Tenant.TimeZone
	row := views.HeldVoucher{
		Coupon: held.CouponName, CouponPath: couponPath(held.CouponID), Path: voucherPath(held.ID), Redeemable: held.Redeemable,
		Benefit: benefitInWords(held.Benefit, held.RewardName, by.Tenant.Currency), Sent: page.Date(held.CreatedAt, zone), Status: voucherStatuses[held.Status],
		Until: "Doesn't expire",
	}
	if held.RedeemedAt != nil {
		row.Until = "Redeemed " + page.Time(*held.RedeemedAt, zone)
	} else if held.ExpiresAt != nil {
		row.Until = "Until " + lastDay(*held.ExpiresAt, zone)
	}
	return row
}
