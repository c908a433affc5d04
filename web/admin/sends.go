package admin

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/usage"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

func (a *Admin) sendRoutes() []route.Route {
	const form, one = couponsPath + "/:ulid/send", couponsPath + "/:ulid/sends/:send"
	return []route.Route{
		route.Get(form, route.Managers, a.newSend),
		route.Post(form, route.Managers, a.confirmSend),
		route.Post(form+"/preview", route.Managers, a.previewSend),
		route.Post(form+"/customers", route.Managers, a.chooseCustomers),
		route.Post(form+"/test", route.Managers, a.testSend),
		route.Get(form+"/audiences", route.Managers, a.countAudiences),
		route.Get(form+"/mail", route.Managers, a.previewMail),
		route.Get(one, route.Cashiers, a.showSend),
		route.Get(one+"/cancel", route.Managers, withEmptyForm(a.confirmCancelSend)),
		route.Post(one+"/cancel", route.Managers, a.cancelSend),
		route.Post(one+"/stop", route.Managers, a.stopMails),
		route.Post(one+"/resume", route.Managers, a.resumeMails),
		route.Post(one+"/continue", route.Managers, a.continueSend),
		route.Post(one+"/retry", route.Managers, a.retryMails),
	}
}

// sendFormPath is the page that sends a coupon.
func sendFormPath(couponID core.ID) string { return couponPath(couponID) + "/send" }

// sendPath is the page of a send of a coupon.
func sendPath(couponID, sendID core.ID) string {
	return couponPath(couponID) + "/sends/" + sendID.String()
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
func blankSend(c coupon.WithCounts, now time.Time, zone *time.Location) *page.Form {
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
	return page.Blank(map[string]string{
		"segment": string(coupon.All), whenField: when, dateField: at.Format(time.DateOnly), timeField: at.Format("15:04"),
		"subject": c.Name, "message": orZero(c.Description), "top": "10",
	})
}

// atNine is nine o'clock on a local day.
func atNine(day time.Time) time.Time {
	at, _ := core.LocalTime(time.Date(day.Year(), day.Month(), day.Day(), 9, 0, 0, 0, time.UTC), day.Location())
	return at
}

// sendOf is the send that a form describes.
func sendOf(form *page.Form, zone *time.Location) coupon.Send {
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
		return core.Invalid(core.Fields{"send_at": {{Rule: "send_after_end", Other: lastDay(*c.ExpiresAt, zone)}}})
	}
	return err
}

// newSend shows the form of a send. Counts, the summary and the e-mail are loaded after the page.
func (a *Admin) newSend(c echo.Context) error {
	found, err := a.couponOf(c)
	if err != nil {
		return err
	}
	if !canSend(found.State) {
		return a.unsendable(c, found)
	}
	by := page.Actor(c)
	v, err := a.sendForm(c, found, blankSend(found, a.Now(), by.Tenant.TimeZone), choosing{})
	if err != nil {
		return err
	}
	if v.Notices, err = a.planNotices(c, usage.Sends); err != nil {
		return err
	}
	return a.renderSend(c, http.StatusOK, v)
}

// unsendable says why a coupon can't be sent.
func (a *Admin) unsendable(c echo.Context, found coupon.WithCounts) error {
	v := views.Unsendable{Frame: a.sendFrame(c, found, "Send vouchers"), Path: couponPath(found.ID), Name: found.Name}
	if found.State == coupon.StateExpired {
		v.Title, v.Edit = "This coupon has expired", true
		v.Words = "It ended on " + lastDay(*found.ExpiresAt, page.Actor(c).Tenant.TimeZone) + ". Change its end date to send it."
	} else {
		v.Title, v.Words, v.Activate = "This coupon is inactive", "Activate it to send vouchers.", true
	}
	return a.Render(c, http.StatusOK, views.UnsendablePage(v), nil)
}

func (a *Admin) sendFrame(c echo.Context, of coupon.WithCounts, title string) views.Frame {
	return a.frame(c, title, couponsPath, ui.Crumb{Label: "Coupons", Path: couponsPath}, ui.Crumb{Label: of.Name, Path: couponPath(of.ID)})
}

func (a *Admin) renderSend(c echo.Context, status int, v views.SendForm) error {
	c.Response().Header().Set(echo.HeaderContentSecurityPolicy, sendPolicy)
	return a.Render(c, status, views.SendFormPage(v), nil)
}

// sendForm is the page of the send that the form describes, after a step of choosing customers. Its
// figures are not counted yet.
func (a *Admin) sendForm(c echo.Context, of coupon.WithCounts, form *page.Form, step choosing) (views.SendForm, error) {
	by := page.Actor(c)
	zone, now := by.Tenant.TimeZone, a.Now()
	path := sendFormPath(of.ID)
	v := views.SendForm{
		Frame: a.sendFrame(c, of, sendLabel(of)), Path: path, Cancel: couponPath(of.ID), FormKey: a.NewFormKey(),
		Segment: form.Field("segment", "Audience").Errors,
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
	wrong := form.Field(customersField, "Chosen customers").Errors
	var err error
	if v.Chooser, err = a.chooser(c, of.ID, form, picked, step); err != nil {
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
	at := form.FieldOf("send_at", dateField, "Date")
	v.When, v.Date, v.Time = at.Errors, at, form.Field(timeField, "Time")
	v.Date.Type, v.Time.Type = "date", "time"
	v.Validity = voucherValidity(of, form, now, zone)

	v.Subject, v.Message = form.Field("subject", "Subject"), form.Field("message", "Message")
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
func voucherValidity(of coupon.WithCounts, form *page.Form, now time.Time, zone *time.Location) string {
	at, when := now, "if you send now"
	then, moved := sendTime(form, zone)
	if then != nil {
		at, when = *then, "if you send on "+page.Date(*then, zone)
	}
	expiry := of.VoucherExpiry(at, zone)
	if expiry == nil {
		return moved + "Vouchers don't expire"
	}
	return moved + "Vouchers are valid until " + lastDay(*expiry, zone) + " " + when
}

// sendTime is the time of a send for later, or nil, and what to say if clocks skip the time that was typed.
func sendTime(form *page.Form, zone *time.Location) (at *time.Time, moved string) {
	if form.Value(whenField) != later {
		return nil, ""
	}
	// A copy, since violations of the time are shown when the form is submitted.
	draft := page.Form{Values: form.Values}
	if at, moved = draft.Moment(dateField, timeField, "send_at", zone); moved != "" {
		moved += " The send starts at " + at.Format("15:04") + ". "
	}
	return at, moved
}

// sendFormCounted is the page with all figures counted, for browsers without scripts.
func (a *Admin) sendFormCounted(c echo.Context, of coupon.WithCounts, form *page.Form, step choosing) (views.SendForm, error) {
	v, err := a.sendForm(c, of, form, step)
	if err != nil {
		return v, err
	}
	if v.Summary, err = a.sendSummary(c, of, form); err != nil {
		return v, err
	}
	counts, counted := a.audiences(c)
	for i := range v.Segments {
		if count, known := counts[coupon.Segment(v.Segments[i].Value)]; known {
			v.Segments[i].Count = count
		}
	}
	v.Counted = counted
	return v, nil
}

// sendAgain shows the whole page with the submitted form and new figures.
func (a *Admin) sendAgain(c echo.Context, status int, of coupon.WithCounts, form *page.Form, step choosing, adjust func(*views.SendForm)) error {
	if !canSend(of.State) {
		return a.unsendable(c, of)
	}
	v, err := a.sendFormCounted(c, of, form, step)
	if err != nil {
		return err
	}
	if adjust != nil {
		adjust(&v)
	}
	return a.renderSend(c, status, v)
}

// confirmSend stores the send. If the audience has changed since it was counted, which happens
// without scripts, the page is shown again with the new figures.
func (a *Admin) confirmSend(c echo.Context) error {
	found, err := a.couponOf(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	send := sendOf(form, by.Tenant.TimeZone)
	if was := form.Value(seenField); was != "" && was != audienceKey(send) {
		return a.sendAgain(c, http.StatusUnprocessableEntity, found, form, choosing{}, func(v *views.SendForm) {
			v.Problem.Sentence = "The audience has changed. Check the figures, then send."
		})
	}
	stored, err := a.Coupons.Send(c.Request().Context(), by, found.ID, send)
	if form.Refused(sendRefusal(err, found, by.Tenant.TimeZone)) {
		if !canSend(found.State) {
			return a.unsendable(c, found)
		}
		v, err := a.sendForm(c, found, form, choosing{})
		if err != nil {
			return err
		}
		return a.renderSend(c, http.StatusUnprocessableEntity, v)
	}
	if err != nil {
		return err
	}
	if _, moved := sendTime(form, by.Tenant.TimeZone); moved != "" {
		a.Flash(c, ui.Warning, strings.TrimSpace(moved))
	}
	return a.Redirect(c, sendPath(stored.CouponID, stored.ID))
}
