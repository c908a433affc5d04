package coupons

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/daily"
	"example.com/loyalty/core/usage"
	views "example.com/loyalty/views/admin/coupons"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) sendRoutes() []route.Route {
	const form, one = links.Coupons + "/:ulid/send", links.Coupons + "/:ulid/sends/:send"
	return []route.Route{
		route.Get(form, route.Managers, h.newSend),
		route.Post(form, route.Managers, h.confirmSend),
		route.Post(form+"/preview", route.Managers, h.previewSend),
		route.Post(form+"/customers", route.Managers, h.chooseCustomers),
		route.Post(form+"/test", route.Managers, h.testSend),
		route.Get(form+"/audiences", route.Managers, h.countAudiences),
		route.Get(form+"/mail", route.Managers, h.previewMail),
		route.Get(one, route.Cashiers, h.showSend),
		route.Get(one+"/cancel", route.Managers, panel.WithEmptyForm(h.confirmCancelSend)),
		route.Post(one+"/cancel", route.Managers, h.cancelSend),
		route.Post(one+"/stop", route.Managers, h.stopMails),
		route.Post(one+"/resume", route.Managers, h.resumeMails),
		route.Post(one+"/continue", route.Managers, h.continueSend),
		route.Post(one+"/retry", route.Managers, h.retryMails),
	}
}

// Fields of the form that core doesn't have, or has by other names.
const (
	whenField, dateField, timeField = "when", "send_date", "send_time"
	later                           = "later"
	seenField                       = "seen"
	audienceField                   = "audience" // of a report, from which the form was opened
)

// blankSend is the form of a new send, perhaps to an audience of a report.
func blankSend(c coupon.WithCounts, to daily.Audience, now time.Time, zone *time.Location) *forms.Form {
	when, at := "now", now.In(zone).AddDate(0, 0, 1)
	at = atNine(at)
	if c.State == coupon.StateUpcoming {
		when = later
		if starts := c.StartsAt.In(zone); !at.After(starts) {
			at = atNine(starts)
			if at.Before(starts) {
				at = starts.Add(time.Minute)
			}
		}
	}
	segment := string(coupon.All)
	if to.Known() {
		segment = string(to)
	}
	return forms.Blank(map[string]string{
		"segment": segment, audienceField: segment, whenField: when, dateField: at.Format(time.DateOnly), timeField: at.Format("15:04"),
		"subject": c.Name, "message": core.OrZero(c.Description), "top": "10",
	})
}

// atNine is nine o'clock on a local day.
func atNine(day time.Time) time.Time {
	at, _ := core.LocalTime(time.Date(day.Year(), day.Month(), day.Day(), 9, 0, 0, 0, time.UTC), day.Location())
	return at
}

// sendOf is the send that a form describes.
func sendOf(form *forms.Form, zone *time.Location) coupon.Send {
	s := coupon.Send{
		Segment: coupon.Segment(form.Value("segment")), Subject: form.Text("subject"), Message: form.Text("message"), FormKey: form.Value(page.FormKey),
	}
	switch to := daily.Audience(s.Segment); {
	case to.Known():
		s.Segment, s.Audience = coupon.Manual, to
	case s.Segment == coupon.Manual:
		s.Customers = splitULIDs(form.Value(customersField))
	}
	if form.Value(whenField) == later {
		s.At, _ = form.Moment(dateField, timeField, "send_at", zone)
	}
	s.Malformed = form.Malformed
	return s
}

// sendRefusal is what core refused of a send, with refusals of its time as violations of that field.
func sendRefusal(err error, c coupon.WithCounts, zone *time.Location) error {
	switch {
	case errors.Is(err, coupon.ErrNotStarted):
		return core.Invalid(core.Fields{"send_at": {{Rule: "send_before_start", Other: format.FirstDay(*c.StartsAt, zone)}}})
	case errors.Is(err, coupon.ErrExpired) && c.State != coupon.StateExpired:
		return core.Invalid(core.Fields{"send_at": {{Rule: "send_after_end", Other: format.LastDay(*c.ExpiresAt, zone)}}})
	}
	return err
}

// newSend shows the form of a send. Counts, the summary and the e-mail are loaded after the page.
func (h *Handlers) newSend(c echo.Context) error {
	found, err := h.couponOf(c)
	if err != nil {
		return err
	}
	if !found.State.CanSend() {
		return h.unsendable(c, found)
	}
	by := page.Actor(c)
	v, err := h.sendForm(c, found, blankSend(found, daily.Audience(c.QueryParam(audienceField)), h.Now(), by.Tenant.TimeZone), choosing{})
	if err != nil {
		return err
	}
	if v.Notices, err = h.PlanNotices(c, usage.Sends); err != nil {
		return err
	}
	return h.renderSend(c, http.StatusOK, v)
}

func (h *Handlers) unsendable(c echo.Context, found coupon.WithCounts) error {
	return h.Render(c, http.StatusOK, views.UnsendablePage(views.Unsendable{Frame: h.sendFrame(c, found, "Send vouchers"), Coupon: found}), nil)
}

func (h *Handlers) sendFrame(c echo.Context, of coupon.WithCounts, title string) panelviews.Frame {
	return h.Frame(c, title, links.Coupons, ui.Crumb{Label: "Coupons", Path: links.Coupons}, ui.Crumb{Label: of.Name, Path: links.Coupon(of.ID)})
}

func (h *Handlers) renderSend(c echo.Context, status int, v views.SendForm) error {
	c.Response().Header().Set(echo.HeaderContentSecurityPolicy, sendPolicy)
	return h.Render(c, status, views.SendFormPage(v), nil)
}

// sendForm is the page of the send that the form describes, after a step of choosing customers. Its figures aren't
// counted yet.
func (h *Handlers) sendForm(c echo.Context, of coupon.WithCounts, form *forms.Form, step choosing) (views.SendForm, error) {
	chooser, err := h.chooser(c, of.ID, form, readSelection(form), step)
	if err != nil {
		return views.SendForm{}, err
	}
	return views.SendForm{
		Frame: h.sendFrame(c, of, views.SendLabel(of.State)), Coupon: of, Form: form, FormKey: h.NewFormKey(),
		Chooser: chooser, Summary: h.pendingSummary(c, of, form),
	}, nil
}

// sendTime is the time of a send for later, or nil, and what to say if clocks skip the time that was typed.
func sendTime(form *forms.Form, zone *time.Location) (at *time.Time, moved string) {
	if form.Value(whenField) != later {
		return nil, ""
	}
	// A copy, since violations of the time are shown when the form is submitted.
	draft := forms.Form{Values: form.Values}
	if at, moved = draft.Moment(dateField, timeField, "send_at", zone); moved != "" {
		moved += " The send starts at " + at.Format("15:04") + ". "
	}
	return at, moved
}

// sendAgain shows the whole page with the submitted form. All figures are counted, for browsers without scripts.
func (h *Handlers) sendAgain(c echo.Context, status int, of coupon.WithCounts, form *forms.Form, step choosing, test views.SendTest) error {
	if !of.State.CanSend() {
		return h.unsendable(c, of)
	}
	v, err := h.sendForm(c, of, form, step)
	if err != nil {
		return err
	}
	if v.Summary, err = h.sendSummary(c, of, form); err != nil {
		return err
	}
	v.Counted, v.Sizes, v.Test = true, h.audiences(c), test
	return h.renderSend(c, status, v)
}

// confirmSend stores the send. If the audience has changed since it was counted, which happens
// without scripts, the page is shown again with the new figures.
func (h *Handlers) confirmSend(c echo.Context) error {
	found, err := h.couponOf(c)
	if err != nil {
		return err
	}
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	send := sendOf(form, by.Tenant.TimeZone)
	if was := form.Value(seenField); was != "" && was != audienceKey(send) {
		form.Problem().Sentence = "The audience has changed. Check the figures, then send."
		return h.sendAgain(c, http.StatusUnprocessableEntity, found, form, choosing{}, views.SendTest{})
	}
	stored, err := h.Coupons.Send(c.Request().Context(), by, found.ID, send)
	if form.Refused(sendRefusal(err, found, by.Tenant.TimeZone)) {
		if !found.State.CanSend() {
			return h.unsendable(c, found)
		}
		v, err := h.sendForm(c, found, form, choosing{})
		if err != nil {
			return err
		}
		return h.renderSend(c, http.StatusUnprocessableEntity, v)
	}
	if err != nil {
		return err
	}
	if _, moved := sendTime(form, by.Tenant.TimeZone); moved != "" {
		h.Flash(c, ui.Warning, strings.TrimSpace(moved))
	}
	return h.Redirect(c, links.Send(stored.CouponID, stored.ID))
}
