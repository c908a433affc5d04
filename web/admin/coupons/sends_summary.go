package coupons

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	views "example.com/loyalty/views/admin/coupons"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// countAudiences fills in how many customers each segment has.
func (h *Handlers) countAudiences(c echo.Context) error {
	if _, err := h.couponOf(c); err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.SendCounts(h.Reader(c), h.audiences(c)), nil)
}

// audiences are the sizes of the segments. The page works without them.
func (h *Handlers) audiences(c echo.Context) map[coupon.Segment]int64 {
	ctx, cancel := context.WithTimeout(c.Request().Context(), countingTime)
	defer cancel()
	n, err := h.Coupons.CountSegments(ctx, page.Actor(c))
	if err != nil {
		if !page.HasLeft(c.Request()) {
			h.Log.WarnContext(ctx, "segments not counted", slog.Any("error", err))
		}
		return nil
	}
	return map[coupon.Segment]int64{coupon.All: n.All, coupon.LongStanding: n.LongStanding, coupon.RecentPurchase: n.RecentPurchase}
}

// countingTime limits how long counting may take. After that, sending works without figures.
const countingTime = 8 * time.Second

// previewSend shows the summary or the e-mail of the send. Without scripts it is the whole page.
func (h *Handlers) previewSend(c echo.Context) error {
	found, err := h.couponOf(c)
	if err != nil {
		return err
	}
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		return h.sendAgain(c, http.StatusOK, found, form, choosing{}, views.SendTest{})
	}
	if c.Request().Header.Get("Hx-Target") == "mail" {
		return h.Render(c, http.StatusOK, views.SendMailFrame(found.ID, form), nil)
	}
	v, err := h.sendSummary(c, found, form)
	if err != nil {
		return err
	}
	v.Fragment = true
	return h.Render(c, http.StatusOK, views.SendSummaryBody(v), nil)
}

// pendingSummary is the summary of a send before its customers are counted.
func (h *Handlers) pendingSummary(c echo.Context, of coupon.WithCounts, form *forms.Form) views.SendSummary {
	at, moved := sendTime(form, page.Actor(c).Tenant.TimeZone)
	return views.SendSummary{Reader: h.Reader(c), Coupon: of, At: at, Moved: moved}
}

// sendSummary counts what a send would do. Sending stays possible if counting fails or takes too long.
func (h *Handlers) sendSummary(c echo.Context, of coupon.WithCounts, form *forms.Form) (views.SendSummary, error) {
	by := page.Actor(c)
	send := sendOf(&forms.Form{Values: form.Values}, by.Tenant.TimeZone)
	v := h.pendingSummary(c, of, form)
	v.Later, v.Seen = form.Value(whenField) == later, audienceKey(send)
	if send.Segment == coupon.Manual && send.Audience == "" && len(send.Customers) == 0 {
		v.State = views.SummaryEmpty
		return v, nil
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), countingTime)
	defer cancel()
	// As of now, like the audiences, also for a scheduled send.
	counted, err := h.Coupons.Preview(ctx, by, of.ID, coupon.Send{Segment: send.Segment, Customers: send.Customers, Audience: send.Audience})
	switch err = sendRefusal(err, of, by.Tenant.TimeZone); {
	case core.IsKind(err, core.KindNotFound):
		return v, err
	case core.IsKind(err, core.KindInvalid):
		v.State, v.Refusal = views.SummaryRefused, firstMessage(err)
	case err != nil:
		if !page.HasLeft(c.Request()) {
			h.Log.WarnContext(ctx, "send not counted", slog.Any("error", err))
		}
		v.State = views.SummaryUncounted
	default:
		v.State, v.Preview = views.SummaryCounted, counted
	}
	return v, nil
}

func firstMessage(err error) string {
	var refusal *core.Error
	if errors.As(err, &refusal) {
		return page.FirstMessage(refusal.Fields)
	}
	return ""
}

// audienceKey names the audience that a summary counted. A confirmed send must have the same one.
func audienceKey(s coupon.Send) string {
	switch {
	case s.Audience != "":
		return string(s.Audience)
	case s.Segment == coupon.Manual:
		return string(s.Segment) + " " + strconv.Itoa(len(s.Customers))
	}
	return string(s.Segment)
}
