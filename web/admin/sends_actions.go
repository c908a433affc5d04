package admin

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// sendOfPath finds the send of the path. It must belong to the coupon of the path.
func (a *Admin) sendOfPath(c echo.Context) (coupon.SendDetail, error) {
	couponID, sendID, err := sendIDs(c)
	if err != nil {
		return coupon.SendDetail{}, err
	}
	found, err := a.Coupons.FindSend(c.Request().Context(), page.Actor(c), sendID)
	if err == nil && found.CouponID != couponID {
		err = core.ErrNotFound
	}
	return found, err
}

func sendIDs(c echo.Context) (couponID, sendID core.ID, err error) {
	if couponID, err = pathID(c); err != nil {
		return couponID, sendID, err
	}
	sendID, err = core.ParseID(c.Param("send"))
	return couponID, sendID, err
}

func (a *Admin) confirmCancelSend(c echo.Context, status int, form *page.Form) error {
	found, err := a.sendOfPath(c)
	if err != nil {
		return err
	}
	path := sendPath(found.CouponID, found.ID)
	v := views.Confirm{
		Frame: a.sendDetailFrame(c, found, "Cancel this send?"),
		Confirm: ui.Confirm{
			Action: path + "/cancel", Button: "Cancel send", Keep: "Keep send", Danger: true, Cancel: path, Problem: form.Problem(),
			Words: []string{"No vouchers or e-mails will be sent. You can send the coupon again at any time."},
		},
	}
	if !cancellable(found) {
		v.Button, v.Leave, v.Words = "", "View send", nil
		if v.Problem.None() {
			v.Problem.Sentence = "This send has already started."
			if found.Status == coupon.Cancelled {
				v.Problem.Sentence = "This send was cancelled."
			}
		}
	}
	return a.confirm(c, status, v)
}

func cancellable(s coupon.SendDetail) bool { return s.Status == coupon.Waiting && s.BegunAt == nil }

func (a *Admin) cancelSend(c echo.Context) error {
	found, err := a.sendOfPath(c)
	if err != nil {
		return err
	}
	_, err = a.Coupons.CancelSend(c.Request().Context(), page.Actor(c), found.ID)
	if form := (&page.Form{}); form.Refused(err) {
		return a.confirmCancelSend(c, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	return a.Redirect(c, sendPath(found.CouponID, found.ID))
}

func (a *Admin) stopMails(c echo.Context) error { return a.changeSend(c, a.Coupons.StopMails) }

func (a *Admin) resumeMails(c echo.Context) error { return a.changeSend(c, a.Coupons.ResumeMails) }

func (a *Admin) continueSend(c echo.Context) error { return a.changeSend(c, a.Coupons.ContinueSend) }

// changeSend stops, resumes or continues a send and shows it.
func (a *Admin) changeSend(c echo.Context, use func(context.Context, core.Actor, core.ID) (coupon.Sending, error)) error {
	found, err := a.sendOfPath(c)
	if err != nil {
		return err
	}
	if _, err := use(c.Request().Context(), page.Actor(c), found.ID); err != nil {
		return err
	}
	return a.Redirect(c, sendPath(found.CouponID, found.ID))
}

// retryMails queues one failed e-mail again, or all with temporary failures.
func (a *Admin) retryMails(c echo.Context) error {
	found, err := a.sendOfPath(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	n, err := a.retry(c, found.ID, form.Filled("voucher"))
	if err != nil {
		return err
	}
	if n == 0 {
		a.Flash(c, ui.Warning, "Nothing to retry. The e-mail is already being retried, or its address must be changed first.")
	} else {
		a.Flash(c, ui.Done, page.Count(n, "e-mail is", "e-mails are")+" being retried")
	}
	return a.Redirect(c, sendPath(found.CouponID, found.ID))
}

func (a *Admin) retry(c echo.Context, send core.ID, voucher *string) (int64, error) {
	ctx, by := c.Request().Context(), page.Actor(c)
	if voucher == nil {
		return a.Coupons.RetryMails(ctx, by, send)
	}
	id, err := core.ParseID(*voucher)
	if err != nil {
		return 0, err
	}
	retried, err := a.Coupons.RetryMail(ctx, by, send, id)
	if retried {
		return 1, err
	}
	return 0, err
}
