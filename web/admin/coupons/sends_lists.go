package coupons

import (
	"net/url"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	views "example.com/loyalty/views/admin/coupons"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// The lists of a send's page. The query of their pages names the list.
const (
	listParam    = "list"
	problemsList = "problems"
	sentList     = "sent"
)

// addLists adds the lists of a send to its page.
func (h *Handlers) addLists(c echo.Context, v *views.SendDetail) (err error) {
	if v.Send.EvaluatedAt == nil {
		return nil
	}
	if v.Problems, err = h.mailProblems(c, v.Send); err != nil || v.Send.Sent == 0 {
		return err
	}
	v.Vouchers, err = h.sentVouchers(c, v.Send)
	return err
}

// listPosition is the page of a list that the address asks for. The other lists start at the beginning.
func listPosition(c echo.Context, list string) core.Page {
	if c.QueryParam(listParam) == list {
		return forms.Position(c.QueryParams())
	}
	return forms.Position(nil)
}

// pagerOf leads to the neighbours of a page of one of the lists.
func pagerOf[T any](c echo.Context, l core.List[T], list, noun string) ui.Pager {
	u := &url.URL{Path: c.Request().URL.Path, RawQuery: url.Values{listParam: {list}}.Encode()}
	p := page.Pager(l, u, noun, noun+"s", "#"+list)
	p.Of = noun + "s"
	return p
}

// mailProblems are the e-mails of a send that failed or are being retried, for roles that may see addresses.
func (h *Handlers) mailProblems(c echo.Context, s coupon.SendDetail) (v views.MailProblems, err error) {
	by := page.Actor(c)
	// Queued e-mails may include some that are being retried.
	if !by.Role.Includes(core.Manager) || s.Failed == 0 && s.Delivered == s.Mails {
		return v, nil
	}
	ctx := c.Request().Context()
	list, err := h.Coupons.ListMailProblems(ctx, by, s.ID, listPosition(c, problemsList))
	if err != nil {
		return v, err
	}
	v.List, v.Pager = list.Items, pagerOf(c, list, problemsList, "e-mail")
	if list.Prev != nil || list.Next != nil {
		v.Retryable, err = h.Coupons.CountRetryable(ctx, by, s.ID)
		return v, err
	}
	for _, p := range list.Items {
		if p.CanRetry() && !p.Permanent {
			v.Retryable++
		}
	}
	return v, nil
}

// sentVouchers are a page of the vouchers of a send.
func (h *Handlers) sentVouchers(c echo.Context, s coupon.SendDetail) (views.SentVouchers, error) {
	by := page.Actor(c)
	list, err := h.Coupons.ListSent(c.Request().Context(), by, s.ID, listPosition(c, sentList))
	if err != nil {
		return views.SentVouchers{}, err
	}
	return views.SentVouchers{
		List: list.Items, Pager: pagerOf(c, list, sentList, "voucher"),
		Exports: panel.ExportsAt(c, links.CouponVouchers(s.CouponID), url.Values{"send": {s.ID.String()}}.Encode()),
	}, nil
}
