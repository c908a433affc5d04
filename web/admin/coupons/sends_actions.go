package coupons

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// sendOfPath finds the send of the path. It must belong to the coupon of the path.
func (h *Handlers) sendOfPath(c echo.Context) (coupon.SendDetail, error) {
	couponID, sendID, err := sendIDs(c)
	if err != nil {
		return coupon.SendDetail{}, err
	}
	found, err := h.Coupons.FindSend(c.Request().Context(), page.Actor(c), sendID)
	if err == nil && found.CouponID != couponID {
		err = core.ErrNotFound
	}
	return found, err
}

func sendIDs(c echo.Context) (couponID, sendID core.ID, err error) {
	if couponID, err = panel.PathID(c); err != nil {
		return couponID, sendID, err
	}
	sendID, err = core.ParseID(c.Param("send"))
	return couponID, sendID, err
}

func (h *Handlers) confirmCancelSend(c echo.Context, status int, form *forms.Form) error {
	found, err := h.sendOfPath(c)
	if err != nil {
		return err
	}
	path := links.Send(found.CouponID, found.ID)
	v := panelviews.Confirm{
		Frame: h.sendDetailFrame(c, found, "Cancel this send?"),
		Confirm: ui.Confirm{
			Action: path + "/cancel", Button: "Cancel send", Keep: "Keep send", Danger: true, Cancel: path, Problem: form.Problem(),
			Words: []string{"No vouchers or e-mails will be sent. You can send the coupon again at any time."},
		},
	}
	if !found.CanCancel() {
		v.Button, v.Leave, v.Words = "", "View send", nil
		if v.Problem.None() {
			v.Problem.Sentence = "This send has already started."
			if found.Status == coupon.Cancelled {
				v.Problem.Sentence = "This send was cancelled."
			}
		}
	}
	return h.Confirm(c, status, v)
}

func (h *Handlers) cancelSend(c echo.Context) error {
	found, err := h.sendOfPath(c)
	if err != nil {
		return err
	}
	_, err = h.Coupons.CancelSend(c.Request().Context(), page.Actor(c), found.ID)
	if form := (&forms.Form{}); form.Refused(err) {
		return h.confirmCancelSend(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	return h.Redirect(c, links.Send(found.CouponID, found.ID))
}

func (h *Handlers) stopMails(c echo.Context) error { return h.changeSend(c, h.Coupons.StopMails) }

func (h *Handlers) resumeMails(c echo.Context) error { return h.changeSend(c, h.Coupons.ResumeMails) }

func (h *Handlers) continueSend(c echo.Context) error { return h.changeSend(c, h.Coupons.ContinueSend) }

// changeSend stops, resumes or continues a send and shows it.
func (h *Handlers) changeSend(c echo.Context, use func(context.Context, core.Actor, core.ID) (coupon.Sending, error)) error {
	found, err := h.sendOfPath(c)
	if err != nil {
		return err
	}
	if _, err := use(c.Request().Context(), page.Actor(c), found.ID); err != nil {
		return err
	}
	return h.Redirect(c, links.Send(found.CouponID, found.ID))
}

// retryMails queues one failed e-mail again, or all with temporary failures.
func (h *Handlers) retryMails(c echo.Context) error {
	found, err := h.sendOfPath(c)
	if err != nil {
		return err
	}
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	n, err := h.retry(c, found.ID, form.Filled("voucher"))
	if err != nil {
		return err
	}
	if n == 0 {
		h.Flash(c, ui.Warning, "Nothing to retry. The e-mail is already being retried, or its address must be changed first.")
	} else {
		h.Flash(c, ui.Done, format.Count(n, "e-mail is", "e-mails are")+" being retried")
	}
	return h.Redirect(c, links.Send(found.CouponID, found.ID))
}

func (h *Handlers) retry(c echo.Context, send core.ID, voucher *string) (int64, error) {
	ctx, by := c.Request().Context(), page.Actor(c)
	if voucher == nil {
		return h.Coupons.RetryMails(ctx, by, send)
	}
	id, err := core.ParseID(*voucher)
	if err != nil {
		return 0, err
	}
	retried, err := h.Coupons.RetryMail(ctx, by, send, id)
	if retried {
		return 1, err
	}
	return 0, err
}
