package coupons

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/mail"
	views "example.com/loyalty/views/admin/coupons"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// sendPolicy is the policy of every page, and allows the frame with the e-mail.
const sendPolicy = page.PanelPolicy + "; frame-src 'self'"

// previewMail renders the e-mail for the frame on the page.
func (h *Handlers) previewMail(c echo.Context) error {
	id, err := panel.PathID(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	q := forms.Query(c.QueryParams())
	send := sendOf(q, by.Tenant.TimeZone)
	rendered, err := h.Coupons.PreviewMail(c.Request().Context(), by, id, coupon.Send{At: send.At, Subject: send.Subject, Message: send.Message})
	if core.IsKind(err, core.KindNotFound) {
		return err
	}
	header := c.Response().Header()
	header.Set(echo.HeaderContentSecurityPolicy, mailPolicy)
	header.Set(echo.HeaderXFrameOptions, "SAMEORIGIN")
	switch {
	case core.IsKind(err, core.KindInvalid):
		return h.Render(c, http.StatusUnprocessableEntity, views.MailNotShown(mailMessage(sendRefusal(err, coupon.WithCounts{}, by.Tenant.TimeZone))+" to see the e-mail."), nil)
	case err != nil:
		f := h.Explain(c, err)
		return h.Render(c, f.Status, views.MailNotShown("The preview couldn't be loaded. You can still send."), nil)
	}
	html := strings.Replace(mail.Embedded(rendered.HTML, rendered.Inline), "<head>", `<head><base target="_blank">`, 1)
	return c.HTML(http.StatusOK, html)
}

// mailPolicy allows the e-mail nothing but its own styles and pictures: no scripts, forms or links,
// and an origin of its own.
const mailPolicy = "default-src 'none'; sandbox; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

// testSend sends the e-mail to the actor's own address.
func (h *Handlers) testSend(c echo.Context) error {
	found, err := h.couponOf(c)
	if err != nil {
		return err
	}
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	send := sendOf(&forms.Form{Values: form.Values}, by.Tenant.TimeZone)
	address, err := h.Coupons.SendTest(c.Request().Context(), by, found.ID, coupon.Send{At: send.At, Subject: send.Subject, Message: send.Message})
	var v views.SendTest
	status := http.StatusOK
	var refusal *core.Error
	switch err = sendRefusal(err, found, by.Tenant.TimeZone); {
	case err == nil:
		v.Address = address
	case core.IsKind(err, core.KindInvalid):
		v.Problem, status = firstMessage(err), http.StatusUnprocessableEntity
	case errors.As(err, &refusal) && refusal.Kind == core.KindThrottled:
		v.Problem, status = refusal.Message, http.StatusTooManyRequests
	default:
		return err
	}
	if page.IsFragment(c) {
		return h.Render(c, status, views.SendTestResult(h.Reader(c), v), nil)
	}
	return h.sendAgain(c, status, found, form, choosing{}, v)
}

// mailMessage says what to correct. The fields are on the page around the preview.
func mailMessage(err error) string {
	var refusal *core.Error
	if errors.As(err, &refusal) {
		for _, name := range refusal.Fields.Names() {
			return forms.Message(name, name, refusal.Fields[name][0], format.Number)
		}
	}
	return ""
}
