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

// The views of a customer's history. The timeline is the first.
const (
	timelineView    = ""
	salesView       = "transactions"
	redemptionsView = "redemptions"
	vouchersView    = "vouchers"
)

var customerViews = []struct{ name, label string }{
	{timelineView, "Timeline"}, {salesView, "Sales"}, {redemptionsView, "Redemptions"}, {vouchersView, "Vouchers"},
}

// showCustomer shows a customer and one view of their history. Three round trips, and a
// fourth for a timeline or vouchers of which there are none: the session, the customer, a
// page of the view. None grows with the history. htmx gets the part it has a place for.
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

// customerOf is the customer of the path.
func (a *Admin) customerOf(c echo.Context) (customer.Customer, error) {
	id, err := id(c)
	if err != nil {
		return customer.Customer{}, err
	}
	return a.Customers.Find(c.Request().Context(), page.Actor(c), id)
}

// customerFrame is the frame of a page about a customer: of their own, without a title.
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
		Phone: of.Phone, Since: page.Date(of.CreatedAt, by.Tenant.TimeZone), ID: of.ID.String(),
		Points: page.Number(of.PointsBalance), Stamps: page.Number(of.StampsBalance),
		Erased: of.Erased, Inactive: !active && !of.Erased,
		CanEdit: by.Role.Includes(core.Manager) && !of.Erased,
	}
	if of.Email != nil {
		v.Email = *of.Email
	}
	switch {
	case of.UnsubscribedAt != nil:
		v.Mails.Unsubscribed = "Unsubscribed from e-mails since " + page.Date(*of.UnsubscribedAt, by.Tenant.TimeZone)
		v.Mails.SubscribePath = v.Path + "/subscribe"
	case of.Email != nil:
		v.Mails.UnsubscribePath = v.Path + "/unsubscribe"
	}
	if active {
		v.SalePath = page.WithQuery(transactionsPath+"/new", "customer_ulid", v.ID)
		v.RedeemPath = page.WithQuery(redemptionsPath+"/new", "customer_ulid", v.ID)
	}
	return v
}

// history is a page of the view that the address asks for.
func (a *Admin) history(c echo.Context, of customer.Customer) (views.History, error) {
	path := customerPath(of.ID)
	h := views.History{View: c.QueryParam("view"), First: page.WithQuery(path, "view", c.QueryParam("view"))}
	known := false
	for _, view := range customerViews {
		current := view.name == h.View
		known = known || current
		h.Tabs = append(h.Tabs, views.Tab{
			ID: "view-" + strings.ToLower(view.label), Label: view.label, Path: page.WithQuery(path, "view", view.name), Current: current,
		})
	}
	if !known {
		return views.History{}, core.ErrNotFound
	}
	fill := a.customerTimeline
	switch h.View {
	case salesView:
		fill = a.customerSales
	case redemptionsView:
		fill = a.customerRedemptions
	case vouchersView:
		fill = a.customerVouchers
	}
	err := fill(c, of, &h)
	return h, err
}

func (a *Admin) customerTimeline(c echo.Context, of customer.Customer, h *views.History) error {
	by := page.Actor(c)
	list, err := a.Customers.Timeline(c.Request().Context(), by, of.ID, page.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	for _, e := range list.Items {
		h.Entries = append(h.Entries, timelineEntry(by, e))
	}
	h.Pager = page.Pager(list, c.Request().URL, "", "#more")
	return nil
}

// timelineEntry explains an entry: what, when, by whom and why.
func timelineEntry(by core.Actor, e customer.Entry) views.TimelineEntry {
	v := views.TimelineEntry{
		When: page.Time(e.CreatedAt, by.Tenant.TimeZone), By: actorWords(e.ActorKind, e.ActorName),
		Amount: change(e.Amount, e.Unit), Gain: e.Amount > 0, Balance: page.Number(e.BalanceAfter),
	}
	sale := "a sale"
	if e.SpendAmountCents != nil {
		sale += " of " + page.Money(*e.SpendAmountCents, by.Tenant.Currency)
	}
	switch e.Kind {
	case "earn":
		v.Icon, v.What = "receipt", "Earned by "+sale
	case "reversal":
		v.Icon, v.What = "receipt-refund", "Taken back: "+sale+" was voided"
	case "redemption":
		v.Icon, v.What = "gift", "Spent on "+text(e.RewardName)
	case "redemption_refund":
		v.Icon, v.What = "arrow-back-up", "Given back: "+text(e.RewardName)+" was voided"
	case "voucher":
		v.Icon, v.What = "ticket", "Voucher “"+text(e.CouponName)+"”"
	case "adjustment":
		v.Icon, v.What = "adjustments", "Adjusted by hand: "+text(e.Reason)
	}
	if e.Cause != nil {
		switch e.Kind {
		case "earn", "reversal":
			v.Path = transactionPath(*e.Cause)
		case "redemption", "redemption_refund":
			v.Path = redemptionPath(*e.Cause)
		case "voucher":
			v.Path = voucherPath(*e.Cause)
		case "adjustment": // has no page
		}
	}
	for _, name := range []*string{e.TypeName, e.LocationName} {
		if name != nil {
			v.Notes = append(v.Notes, *name)
		}
	}
	return v
}

// actorWords say who did something, and what they are where a name alone does not.
func actorWords(kind core.ActorKind, name string) string {
	switch kind {
	case core.ByToken:
		return "API token “" + name + "”"
	case core.ByAdmin:
		return name + ", from the platform"
	case core.ByCustomer:
		return "The customer"
	case core.BySystem:
		return page.AuditSystem
	case core.ByStaff:
	}
	return name
}

func (a *Admin) customerSales(c echo.Context, of customer.Customer, h *views.History) error {
	by, ulid := page.Actor(c), of.ID.String()
	list, err := a.Transactions.List(c.Request().Context(), by, transaction.Filter{CustomerID: &ulid}, page.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	for _, sale := range list.Items {
		h.Sales = append(h.Sales, a.transactionRow(by, sale))
	}
	h.Pager = page.Pager(list, c.Request().URL, page.Count(int64(len(list.Items)), "sale on this page", "sales on this page"), "#history")
	return nil
}

func (a *Admin) customerRedemptions(c echo.Context, of customer.Customer, h *views.History) error {
	by, ulid := page.Actor(c), of.ID.String()
	list, err := a.Rewards.ListRedemptions(c.Request().Context(), by, reward.RedemptionFilter{CustomerID: &ulid}, page.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	for _, r := range list.Items {
		h.Redemptions = append(h.Redemptions, a.redemptionRow(by, r))
	}
	h.Pager = page.Pager(list, c.Request().URL, page.Count(int64(len(list.Items)), "redemption on this page", "redemptions on this page"), "#history")
	return nil
}

// voucherStatuses are the statuses of vouchers in words.
var voucherStatuses = map[coupon.VoucherStatus]ui.Badge{
	coupon.VoucherPending:  {Label: "Pending", Tone: ui.Info},
	coupon.VoucherRedeemed: {Label: "Redeemed", Tone: ui.Good},
	coupon.VoucherExpired:  {Label: "Expired", Tone: ui.Neutral},
}

func (a *Admin) customerVouchers(c echo.Context, of customer.Customer, h *views.History) error {
	by := page.Actor(c)
	list, err := a.Coupons.ListByCustomer(c.Request().Context(), by, of.ID, page.Position(c.QueryParams()))
	if err != nil {
		return err
	}
	zone := by.Tenant.TimeZone
	for _, held := range list.Items {
		row := views.HeldVoucher{
			Coupon: held.CouponName, CouponPath: couponPath(held.CouponID), Path: voucherPath(held.ID), Redeemable: held.Redeemable,
			Benefit: benefitInWords(held.Benefit, held.RewardName, by.Tenant.Currency), Sent: page.Date(held.CreatedAt, zone), Status: voucherStatuses[held.Status],
		}
		switch {
		case held.RedeemedAt != nil:
			row.Until = "Redeemed on " + page.Time(*held.RedeemedAt, zone)
		case held.ExpiresAt == nil:
			row.Until = "No end"
		default:
			row.Until = "Until " + lastDay(*held.ExpiresAt, zone)
		}
		h.Vouchers = append(h.Vouchers, row)
	}
	h.Pager = page.Pager(list, c.Request().URL, page.Count(int64(len(list.Items)), "voucher on this page", "vouchers on this page"), "#history")
	return nil
}
