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
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// countAudiences fills in how many customers each segment has.
func (h *Handlers) countAudiences(c echo.Context) error {
	if _, err := h.couponOf(c); err != nil {
		return err
	}
	counts, counted := h.audiences(c)
	var cards []views.ChoiceCard
	for _, s := range segments {
		cards = append(cards, views.ChoiceCard{ID: segmentCard(s.segment), Count: counts[s.segment]})
	}
	return h.Render(c, http.StatusOK, views.SendCounts(cards, counted), nil)
}

// audiences are the sizes of the segments in words. The page works without them.
func (h *Handlers) audiences(c echo.Context) (counts map[coupon.Segment]string, counted string) {
	ctx, cancel := context.WithTimeout(c.Request().Context(), countingTime)
	defer cancel()
	by := page.Actor(c)
	n, err := h.Coupons.CountSegments(ctx, by)
	if err != nil {
		if !page.HasLeft(c.Request()) {
			h.Log.WarnContext(ctx, "segments not counted", slog.Any("error", err))
		}
		return nil, "Counts unavailable"
	}
	return map[coupon.Segment]string{
		coupon.All: format.Number(n.All), coupon.LongStanding: format.Number(n.LongStanding), coupon.RecentPurchase: format.Number(n.RecentPurchase),
	}, "Counted at " + clockTime(h.Now(), by.Tenant.TimeZone)
}

// countingTime limits how long counting may take. After that, sending works without figures.
const countingTime = 8 * time.Second

// clockTime is the time of day of an instant: 14:05.
func clockTime(t time.Time, zone *time.Location) string { return t.In(zone).Format("15:04") }

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
		return h.sendAgain(c, http.StatusOK, found, form, choosing{}, nil)
	}
	if c.Request().Header.Get("Hx-Target") == "mail" {
		return h.Render(c, http.StatusOK, views.SendMailFrame(mailAddress(links.SendForm(found.ID), form)), nil)
	}
	v, err := h.sendSummary(c, found, form)
	if err != nil {
		return err
	}
	v.Fragment = true
	return h.Render(c, http.StatusOK, views.SendSummaryBody(v), nil)
}

// sendSummary counts what a send would do. Sending stays possible if counting fails or takes too long.
func (h *Handlers) sendSummary(c echo.Context, of coupon.WithCounts, form *forms.Form) (views.SendSummary, error) {
	by := page.Actor(c)
	zone := by.Tenant.TimeZone
	send := sendOf(&forms.Form{Values: form.Values}, zone)
	v := views.SendSummary{
		Path: links.SendForm(of.ID), State: views.SummaryUnknown, Button: "Send vouchers", Later: form.Value(whenField) == later, Seen: audienceKey(send),
		Validity: voucherValidity(of, form, h.Now(), zone),
	}
	if v.Later {
		v.Button = "Schedule send"
	}
	if send.Segment == coupon.Manual && len(send.Customers) == 0 {
		v.Words, v.Disabled = "Choose customers to see the summary", "Choose at least one customer"
		return v, nil
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), countingTime)
	defer cancel()
	// As of now, like the audiences, also for a scheduled send.
	p, err := h.Coupons.Preview(ctx, by, of.ID, coupon.Send{Segment: send.Segment, Customers: send.Customers})
	switch err = sendRefusal(err, of, zone); {
	case core.IsKind(err, core.KindNotFound):
		return v, err
	case core.IsKind(err, core.KindInvalid):
		v.Words = firstMessage(err)
		v.Disabled = v.Words
		return v, nil
	case err != nil:
		if !page.HasLeft(c.Request()) {
			h.Log.WarnContext(ctx, "send not counted", slog.Any("error", err))
		}
		v.Words = "The figures couldn't be loaded. You can still send."
		return v, nil
	}
	countedSummary(&v, p, of)
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
	if s.Segment == coupon.Manual {
		return string(s.Segment) + " " + strconv.Itoa(len(s.Customers))
	}
	return string(s.Segment)
}

func countedSummary(v *views.SendSummary, p coupon.Preview, of coupon.WithCounts) {
	v.State = views.SummaryCounted
	v.Receive, v.Audience = format.Number(p.Sent), format.Number(p.Matched)
	v.Mails, v.NoEmail, v.Unsubscribed = format.Number(p.Mails()), format.Number(p.NoEmail), format.Number(p.Unsubscribed)
	skipped := p.SkippedInactive + p.SkippedLimit
	v.Skipped = format.Number(skipped)
	if p.SkippedLimit > 0 {
		v.AtLimit = format.Number(p.SkippedLimit)
	}
	if p.SkippedInactive > 0 {
		v.Inactive = format.Number(p.SkippedInactive)
	}
	v.Bar = ui.BarOf(p.Matched, ui.Share(p.Mails(), ui.First), ui.Share(p.NoEmail, ui.Light), ui.Share(p.Unsubscribed, ui.Second), ui.Share(skipped, ui.Rest))
	customers := format.Count(p.Sent, "customer", "customers")
	v.Said = customers + " will receive a voucher"
	switch {
	case p.Sent > 0 && v.Later:
		v.Button = "Schedule for " + customers
	case p.Sent > 0:
		v.Button = "Send to " + customers
	case v.Later:
		// There may be customers by then.
	case p.Matched == 0:
		v.Button, v.Disabled = "Send to 0 customers", "This audience has no customers"
	default:
		v.Button, v.Disabled = "Send to 0 customers", "Every customer in this audience is skipped"
	}
	if refused := p.Refused(); refused > 0 && p.Sent > 0 {
		v.Left, v.Refused, v.RaiseLimit = limitWarning(p), "Up to "+format.Number(refused)+" could be refused at the till.", links.Coupon(of.ID)+"/edit#field-max_redemptions"
		if p.Pending > 0 {
			v.Refused = format.Count(p.Pending, "voucher is", "vouchers are") + " pending, so up to " + format.Number(refused) + " could be refused at the till."
		}
	}
}

func limitWarning(p coupon.Preview) string {
	if *p.Left <= 0 {
		return "No redemptions left."
	}
	return "Only " + format.Count(*p.Left, "redemption", "redemptions") + " left."
}
