package coupons

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
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

// canSend reports whether a coupon in that state can be sent. An upcoming one can be scheduled.
func canSend(s coupon.State) bool { return s == coupon.StateActive || s == coupon.StateUpcoming }

// segments are the choices of who gets a coupon.
var segments = []struct {
	segment coupon.Segment
	help    string
}{
	{coupon.All, "Inactive customers are skipped"},
	{coupon.LongStanding, "Added more than 90 days before the send"},
	{coupon.RecentPurchase, "At least one sale that wasn't voided"},
	{coupon.Manual, "Search, paste ULIDs or add top customers"},
}

var segmentNames = map[coupon.Segment]string{
	coupon.All: "All active customers", coupon.LongStanding: "Customers for more than 90 days",
	coupon.RecentPurchase: "Bought in the last 30 days", coupon.Manual: "Chosen customers",
}

// Fields of the form that core doesn't have, or has by other names.
const (
	whenField, dateField, timeField = "when", "send_date", "send_time"
	later                           = "later"
	seenField                       = "seen"
)

// blankSend is the form of a new send.
func blankSend(c coupon.WithCounts, now time.Time, zone *time.Location) *forms.Form {
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
	return forms.Blank(map[string]string{
		"segment": string(coupon.All), whenField: when, dateField: at.Format(time.DateOnly), timeField: at.Format("15:04"),
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
	if s.Segment == coupon.Manual {
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
		return core.Invalid(core.Fields{"send_at": {{Rule: "send_before_start", Other: firstDay(*c.StartsAt, zone)}}})
	case errors.Is(err, coupon.ErrExpired) && c.State != coupon.StateExpired:
		return core.Invalid(core.Fields{"send_at": {{Rule: "send_after_end", Other: panel.LastDay(*c.ExpiresAt, zone)}}})
	}
	return err
}

// newSend shows the form of a send. Counts, the summary and the e-mail are loaded after the page.
func (h *Handlers) newSend(c echo.Context) error {
	found, err := h.couponOf(c)
	if err != nil {
		return err
	}
	if !canSend(found.State) {
		return h.unsendable(c, found)
	}
	by := page.Actor(c)
	v, err := h.sendForm(c, found, blankSend(found, h.Now(), by.Tenant.TimeZone), choosing{})
	if err != nil {
		return err
	}
	if v.Notices, err = h.PlanNotices(c, usage.Sends); err != nil {
		return err
	}
	return h.renderSend(c, http.StatusOK, v)
}

// unsendable says why a coupon can't be sent.
func (h *Handlers) unsendable(c echo.Context, found coupon.WithCounts) error {
	v := views.Unsendable{Frame: h.sendFrame(c, found, "Send vouchers"), Path: links.Coupon(found.ID), Name: found.Name}
	if found.State == coupon.StateExpired {
		v.Title, v.Edit = "This coupon has expired", true
		v.Words = "It ended on " + panel.LastDay(*found.ExpiresAt, page.Actor(c).Tenant.TimeZone) + ". Change its end date to send it."
	} else {
		v.Title, v.Words, v.Activate = "This coupon is inactive", "Activate it to send vouchers.", true
	}
	return h.Render(c, http.StatusOK, views.UnsendablePage(v), nil)
}

func (h *Handlers) sendFrame(c echo.Context, of coupon.WithCounts, title string) panelviews.Frame {
	return h.Frame(c, title, links.Coupons, ui.Crumb{Label: "Coupons", Path: links.Coupons}, ui.Crumb{Label: of.Name, Path: links.Coupon(of.ID)})
}

func (h *Handlers) renderSend(c echo.Context, status int, v views.SendForm) error {
	c.Response().Header().Set(echo.HeaderContentSecurityPolicy, sendPolicy)
	return h.Render(c, status, views.SendFormPage(v), nil)
}

// sendForm is the page of the send that the form describes, after a step of choosing customers. Its
// figures are not counted yet.
func (h *Handlers) sendForm(c echo.Context, of coupon.WithCounts, form *forms.Form, step choosing) (views.SendForm, error) {
	by := page.Actor(c)
	zone, now := by.Tenant.TimeZone, h.Now()
	path := links.SendForm(of.ID)
	v := views.SendForm{
		Frame: h.sendFrame(c, of, sendLabel(of)), Path: path, Cancel: links.Coupon(of.ID), FormKey: h.NewFormKey(),
		Segment: form.Field("segment", ui.Field{Label: "Audience"}).Errors,
		Mail:    mailAddress(path, form), Summary: views.SendSummary{Path: path, Button: sendLabel(of)},
		MinDate: now.In(zone).Format(time.DateOnly), MaxDate: now.In(zone).AddDate(1, 0, 0).Format(time.DateOnly),
	}
	for _, s := range segments {
		v.Segments = append(v.Segments, views.ChoiceCard{
			ID: segmentCard(s.segment), Name: "segment", Value: string(s.segment), Label: segmentNames[s.segment], Help: s.help,
			Selected: form.Value("segment") == string(s.segment),
		})
	}
	picked := readSelection(form)
	wrong := form.Field(customersField, ui.Field{Label: "Chosen customers"}).Errors
	var err error
	if v.Chooser, err = h.chooser(c, of.ID, form, picked, step); err != nil {
		return views.SendForm{}, err
	}
	v.Chooser.Errors = wrong
	form.Values.Set(customersField, v.Chooser.Customers)
	v.Segments[len(v.Segments)-1].Count = v.Chooser.Number

	v.Now = views.ChoiceCard{ID: "when-now", Name: whenField, Value: "now", Label: "Now", Help: "Vouchers are created and e-mailed at once"}
	v.Later = views.ChoiceCard{ID: "when-later", Name: whenField, Value: later, Label: "Later", Help: zoneName(zone) + " time"}
	if of.State == coupon.StateUpcoming {
		v.MinDate = of.StartsAt.In(zone).Format(time.DateOnly)
		v.Now.Disabled, v.Now.Help = true, "The coupon starts on "+firstDay(*of.StartsAt, zone)
	}
	v.Later.Selected = form.Value(whenField) == later
	v.Now.Selected = !v.Later.Selected && !v.Now.Disabled
	at := form.FieldOf("send_at", dateField, ui.Field{Label: "Date"})
	v.When, v.Date, v.Time = at.Errors, at, form.Field(timeField, ui.Field{Label: "Time"})
	v.Date.Type, v.Time.Type = "date", "time"
	v.Validity = voucherValidity(of, form, now, zone)

	v.Subject, v.Message = form.Field("subject", ui.Field{Label: "Subject"}), form.Field("message", ui.Field{Label: "Message"})
	v.Subject.MaxLength, v.Subject.Autocomplete = 150, "off"
	v.Message.MaxLength, v.Message.Optional, v.Message.Rows, v.Message.Help = 1000, true, 4, "Shown above the voucher"
	v.Problem = form.Problem()
	return v, nil
}

func segmentCard(s coupon.Segment) string { return "segment-" + string(s) }

// zoneName is the city of a time zone: Stockholm, New York.
func zoneName(zone *time.Location) string {
	name := zone.String()
	return strings.ReplaceAll(name[strings.LastIndexByte(name, '/')+1:], "_", " ")
}

// voucherValidity says until when the vouchers of a send are valid.
func voucherValidity(of coupon.WithCounts, form *forms.Form, now time.Time, zone *time.Location) string {
	at, when := now, "if you send now"
	then, moved := sendTime(form, zone)
	if then != nil {
		at, when = *then, "if you send on "+format.Date(*then, zone)
	}
	expiry := of.VoucherExpiry(at, zone)
	if expiry == nil {
		return moved + "Vouchers don't expire"
	}
	return moved + "Vouchers are valid until " + panel.LastDay(*expiry, zone) + " " + when
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

// sendFormCounted is the page with all figures counted, for browsers without scripts.
func (h *Handlers) sendFormCounted(c echo.Context, of coupon.WithCounts, form *forms.Form, step choosing) (views.SendForm, error) {
	v, err := h.sendForm(c, of, form, step)
	if err != nil {
		return v, err
	}
	if v.Summary, err = h.sendSummary(c, of, form); err != nil {
		return v, err
	}
	counts, counted := h.audiences(c)
	for i := range v.Segments {
		if count, known := counts[coupon.Segment(v.Segments[i].Value)]; known {
			v.Segments[i].Count = count
		}
	}
	v.Counted = counted
	return v, nil
}

// sendAgain shows the whole page with the submitted form and new figures.
func (h *Handlers) sendAgain(c echo.Context, status int, of coupon.WithCounts, form *forms.Form, step choosing, adjust func(*views.SendForm)) error {
	if !canSend(of.State) {
		return h.unsendable(c, of)
	}
	v, err := h.sendFormCounted(c, of, form, step)
	if err != nil {
		return err
	}
	if adjust != nil {
		adjust(&v)
	}
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
		return h.sendAgain(c, http.StatusUnprocessableEntity, found, form, choosing{}, func(v *views.SendForm) {
			v.Problem.Sentence = "The audience has changed. Check the figures, then send."
		})
	}
	stored, err := h.Coupons.Send(c.Request().Context(), by, found.ID, send)
	if form.Refused(sendRefusal(err, found, by.Tenant.TimeZone)) {
		if !canSend(found.State) {
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
