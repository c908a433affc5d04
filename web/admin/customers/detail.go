package customers

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
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

// showCustomer shows a customer and one tab of their history, or leads to the customer into whom they were merged.
// htmx asks for the card, the history, or more entries of the timeline by the element that it replaces.
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
	v := views.CustomerDetail{Frame: h.customerFrame(c, found.Customer, ""), Customer: found}
	rules, err := h.Transactions.RulesNow(ctx, by)
	if err != nil {
		return err
	}
	if v.Level, err = h.Levels.Find(ctx, by, rules.Levels, id); err != nil {
		return err
	}
	if part != "more" && part != "history" {
		if v.Rewards, err = h.Rewards.Outlook(ctx, by, id, &v.Level); err != nil {
			return err
		}
	}
	if part == "customer" {
		return h.Render(c, http.StatusOK, nil, views.CustomerCard(v))
	}
	if v.History, err = h.history(c, found); err != nil {
		return err
	}
	v.History.Timeline.Level = v.Level
	fragment := views.CustomerHistory(v.History)
	if part == "more" {
		v.History.Timeline.Continued = true
		fragment = views.TimelineEntries(v.History.Timeline)
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
	name := format.CustomerName(of)
	if title == "" {
		return h.Frame(c, name, links.Customers, customersCrumb)
	}
	return h.Frame(c, title, links.Customers, customersCrumb, ui.Crumb{Label: name, Path: links.Customer(of.ID)})
}

// history returns a page of the tab that the query selects.
func (h *Handlers) history(c echo.Context, of customer.Profile) (views.History, error) {
	ctx, by, q, ulid := c.Request().Context(), page.Actor(c), forms.Query(c.QueryParams()), of.ID.String()
	v := views.History{Reader: h.Reader(c), Customer: of, Tab: q.Value("view"), Filter: q}
	switch v.Tab {
	case views.TimelineTab:
		err := h.timeline(c, q, &v)
		return v, err
	case views.SalesTab:
		list, err := h.Transactions.List(ctx, by, transaction.Filter{CustomerID: &ulid}, core.Newest, q.Position())
		v.Sales, v.Pager = historyPage(c, list.List, "sale", "sales")
		return v, err
	case views.RedemptionsTab:
		list, err := h.Rewards.ListRedemptions(ctx, by, reward.RedemptionFilter{CustomerID: &ulid}, core.Newest, q.Position())
		v.Redemptions, v.Pager = historyPage(c, list, "redemption", "redemptions")
		return v, err
	case views.VouchersTab:
		list, err := h.Coupons.ListByCustomer(ctx, by, of.ID, q.Position())
		v.Vouchers, v.Pager = historyPage(c, list, "voucher", "vouchers")
		return v, err
	}
	return v, core.ErrNotFound
}

// historyPage returns the records of a page of a tab, and its pager.
func historyPage[T any](c echo.Context, list core.List[T], one, many string) ([]T, ui.Pager) {
	return list.Items, page.Pager(list, c.Request().URL, one, many, "#history")
}
