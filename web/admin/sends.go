package admin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/usage"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

func (a *Admin) sendRoutes() []route {
	const form, one = couponsPath + "/:ulid/send", couponsPath + "/:ulid/sends/:send"
	return []route{
		{method: get, path: form, least: core.Manager, handle: a.newSend},
		{method: post, path: form, least: core.Manager, handle: a.confirmSend},
		{method: post, path: form + "/preview", least: core.Manager, handle: a.previewSend},
		{method: post, path: form + "/customers", least: core.Manager, handle: a.chooseCustomers},
		{method: post, path: form + "/test", least: core.Manager, handle: a.testSend},
		{method: get, path: form + "/audiences", least: core.Manager, handle: a.countAudiences},
		{method: get, path: form + "/mail", least: core.Manager, handle: a.previewMail},
		{method: get, path: one, least: core.Cashier, handle: a.showSend},
		{method: get, path: one + "/cancel", least: core.Manager, handle: a.askCancelSend},
		{method: post, path: one + "/cancel", least: core.Manager, handle: a.cancelSend},
		{method: post, path: one + "/stop", least: core.Manager, handle: a.stopMails},
		{method: post, path: one + "/resume", least: core.Manager, handle: a.resumeMails},
		{method: post, path: one + "/retry", least: core.Manager, handle: a.retryMails},
	}
}

// sendFormPath is the page that sends a coupon.
func sendFormPath(of core.ID) string { return couponPath(of) + "/send" }

// sendPath is the page of a send of a coupon.
func sendPath(of, send core.ID) string { return couponPath(of) + "/sends/" + send.String() }

// canSend reports whether a coupon in that state can be sent: one that starts later can be
// scheduled.
func canSend(s coupon.State) bool { return s == coupon.StateActive || s == coupon.StateUpcoming }

// segments are the choices of who gets a coupon.
var segments = []struct {
	segment coupon.Segment
	help    string
}{
	{coupon.All, "Everyone who isn't deactivated"},
	{coupon.LongStanding, "Added more than 90 days before the send"},
	{coupon.RecentPurchase, "At least one sale that wasn't voided"},
	{coupon.Manual, "Search, paste, or add top customers"},
}

var segmentNames = map[coupon.Segment]string{
	coupon.All: "All active customers", coupon.LongStanding: "Customers for more than 90 days",
	coupon.RecentPurchase: "Bought in the last 30 days", coupon.Manual: "Chosen customers",
}

// Fields of the form that core knows by other names or not at all.
const (
	whenField, dateField, timeField = "when", "send_date", "send_time"
	later                           = "later"
	seenField                       = "seen"
)

// blankSend is the form of a send to be.
func blankSend(c coupon.WithCounts, now time.Time, zone *time.Location) *page.Form {
	when, at := "now", now.In(zone).AddDate(0, 0, 1)
	at = time.Date(at.Year(), at.Month(), at.Day(), 9, 0, 0, 0, zone)
	if c.State == coupon.StateUpcoming {
		when = later
		if starts := c.StartsAt.In(zone); !at.After(starts) {
			at = time.Date(starts.Year(), starts.Month(), starts.Day(), 9, 0, 0, 0, zone)
			if at.Before(starts) {
				at = starts.Add(time.Minute)
			}
		}
	}
	return page.Blank(map[string]string{
		"segment": string(coupon.All), whenField: when, dateField: at.Format(time.DateOnly), timeField: at.Format("15:04"),
		"subject": c.Name, "message": optional(c.Description), "top": "10",
	})
}

// sendOf is the send that a form describes.
func sendOf(form *page.Form, zone *time.Location) coupon.Send {
	s := coupon.Send{
		Segment: coupon.Segment(form.Value("segment")), Subject: form.Text("subject"), Message: form.Text("message"), FormKey: form.Value(page.FormKey),
	}
	if s.Segment == coupon.Manual {
		s.Customers = tokens(form.Value(customersField))
	}
	if form.Value(whenField) == later {
		s.At = form.Moment(dateField, timeField, "send_at", zone)
	}
	s.Malformed = form.Malformed
	return s
}

// sendRefusal is what core refused of a send. What has to do with its time is a violation of the
// field for that.
func sendRefusal(err error, c coupon.WithCounts, zone *time.Location) error {
	switch {
	case errors.Is(err, coupon.ErrNotStarted):
		return core.Invalid(core.Fields{"send_at": {{Rule: "send_before_start", Other: firstDay(*c.StartsAt, zone)}}})
	case errors.Is(err, coupon.ErrExpired) && c.State != coupon.StateExpired:
		return core.Invalid(core.Fields{"send_at": {{Rule: "send_after_end", Other: lastDay(*c.ExpiresAt, zone)}}})
	}
	return err
}

// newSend makes two round trips: the session and the coupon. Counts, the summary and the
// e-mail are loaded after the page.
func (a *Admin) newSend(c echo.Context) error {
	found, err := a.couponOf(c)
	if err != nil {
		return err
	}
	if !canSend(found.State) {
		return a.sendRefusal(c, found)
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

// sendRefusal says why a coupon can't be sent.
func (a *Admin) sendRefusal(c echo.Context, found coupon.WithCounts) error {
	v := views.Unsendable{Frame: a.sendFrame(c, found, "Send vouchers"), Path: couponPath(found.ID), Name: found.Name}
	if found.State == coupon.StateExpired {
		v.Title, v.Edit = "This coupon has expired", true
		v.Words = "It ended on " + lastDay(*found.ExpiresAt, page.Actor(c).Tenant.TimeZone) + ". Move its last day to send it."
	} else {
		v.Title, v.Words, v.Activate = "This coupon is inactive", "Activate it to send vouchers.", true
	}
	return a.Render(c, http.StatusOK, views.UnsendablePage(v), nil)
}

func (a *Admin) sendFrame(c echo.Context, of coupon.WithCounts, title string) views.Frame {
	return a.frame(c, title, couponsPath, ui.Crumb{Label: "Coupons", Path: couponsPath}, ui.Crumb{Label: of.Name, Path: couponPath(of.ID)})
}

// sendPolicy is that of every page, and lets this one frame the e-mail.
const sendPolicy = pagePolicy + "; frame-src 'self'"

func (a *Admin) renderSend(c echo.Context, status int, v views.SendForm) error {
	c.Response().Header().Set(echo.HeaderContentSecurityPolicy, sendPolicy)
	return a.Render(c, status, views.SendFormPage(v), nil)
}

// sendForm is the page of a send as its form describes it, after a step of choosing
// customers. Its figures are still to be counted.
func (a *Admin) sendForm(c echo.Context, of coupon.WithCounts, form *page.Form, step choosing) (views.SendForm, error) {
	by := page.Actor(c)
	zone, now := by.Tenant.TimeZone, a.Now()
	path := sendFormPath(of.ID)
	v := views.SendForm{
		Frame: a.sendFrame(c, of, "Send vouchers"), Path: path, Cancel: couponPath(of.ID), FormKey: a.NewFormKey(),
		Segment: form.Field("segment", "Who gets it").Errors,
		Mail:    mailAddress(path, form), Summary: views.SendSummary{Path: path, Button: "Send vouchers"},
		MinDate: now.In(zone).Format(time.DateOnly), MaxDate: now.In(zone).AddDate(1, 0, 0).Format(time.DateOnly),
	}
	for _, s := range segments {
		v.Segments = append(v.Segments, views.ChoiceCard{
			ID: segmentCard(s.segment), Name: "segment", Value: string(s.segment), Label: segmentNames[s.segment], Help: s.help,
			Selected: form.Value("segment") == string(s.segment),
		})
	}
	picked := selected(form)
	wrong := form.Field(customersField, "Chosen customers").Errors
	var err error
	if v.Chooser, err = a.chooser(c, of.ID, form, picked, step); err != nil {
		return views.SendForm{}, err
	}
	v.Chooser.Errors = wrong
	form.Values.Set(customersField, v.Chooser.Customers)
	v.Segments[len(v.Segments)-1].Count = v.Chooser.Number

	v.Now = views.ChoiceCard{ID: "when-now", Name: whenField, Value: "now", Label: "Now", Help: "Vouchers are created at once, then e-mailed"}
	v.Later = views.ChoiceCard{ID: "when-later", Name: whenField, Value: later, Label: "Later", Help: zoneName(zone) + " time"}
	if of.State == coupon.StateUpcoming {
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

// zoneName is a time zone as people call it: Stockholm, New York.
func zoneName(zone *time.Location) string {
	name := zone.String()
	return strings.ReplaceAll(name[strings.LastIndexByte(name, '/')+1:], "_", " ")
}

// voucherValidity says until when the vouchers of a send are valid.
func voucherValidity(of coupon.WithCounts, form *page.Form, now time.Time, zone *time.Location) string {
	at, sent := now, "if you send now"
	if form.Value(whenField) == later {
		// What is wrong with the time is said where the send is confirmed.
		typed := page.Form{Values: form.Values}
		if then := typed.Moment(dateField, timeField, "send_at", zone); then != nil {
			at, sent = *then, "if you send on "+page.Date(*then, zone)
		}
	}
	expiry := of.VoucherExpiry(at, zone)
	if expiry == nil {
		return "Vouchers don't expire"
	}
	return "Vouchers are valid until " + lastDay(*expiry, zone) + " " + sent
}

// mailAddress is where the e-mail of a form is shown.
func mailAddress(path string, form *page.Form) string {
	q := url.Values{}
	for _, name := range []string{"subject", "message", whenField, dateField, timeField} {
		q.Set(name, form.Value(name))
	}
	return path + "/mail?" + q.Encode()
}

// sendFormCounted is the page with everything on it counted, for browsers without scripts.
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

// countAudiences fills in how many customers each segment has.
func (a *Admin) countAudiences(c echo.Context) error {
	if _, err := a.couponOf(c); err != nil {
		return err
	}
	counts, counted := a.audiences(c)
	var cards []views.ChoiceCard
	for _, s := range segments {
		cards = append(cards, views.ChoiceCard{ID: segmentCard(s.segment), Count: counts[s.segment]})
	}
	return a.Render(c, http.StatusOK, views.SendCounts(cards, counted), nil)
}

// audiences are the sizes of the segments, in words. The page is good for sending without
// them.
func (a *Admin) audiences(c echo.Context) (counts map[coupon.Segment]string, counted string) {
	ctx, cancel := context.WithTimeout(c.Request().Context(), countingTime)
	defer cancel()
	by := page.Actor(c)
	n, err := a.Coupons.CountSegments(ctx, by)
	if err != nil {
		a.Log.WarnContext(ctx, "segments not counted", slog.Any("error", err))
		return nil, "Counts not available"
	}
	return map[coupon.Segment]string{
		coupon.All: page.Number(n.All), coupon.LongStanding: page.Number(n.LongStanding), coupon.RecentPurchase: page.Number(n.RecentPurchase),
	}, "Counted at " + clockTime(a.Now(), by.Tenant.TimeZone)
}

// countingTime bounds counting: whoever waits longer can send without figures.
const countingTime = 8 * time.Second

// clockTime is the time of day of an instant: 14:05.
func clockTime(t time.Time, zone *time.Location) string { return t.In(zone).Format("15:04") }

// previewSend shows what a send would do: its summary, or its e-mail. Without scripts it is
// the whole page again.
func (a *Admin) previewSend(c echo.Context) error {
	found, err := a.couponOf(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	if !page.IsFragment(c) {
		return a.sendAgain(c, http.StatusOK, found, form, choosing{}, nil)
	}
	if c.Request().Header.Get("Hx-Target") == "mail" {
		return a.Render(c, http.StatusOK, views.SendMailFrame(mailAddress(sendFormPath(found.ID), form)), nil)
	}
	v, err := a.sendSummary(c, found, form)
	if err != nil {
		return err
	}
	v.Fragment = true
	return a.Render(c, http.StatusOK, views.SendSummaryBody(v), nil)
}

// sendAgain shows the whole page with what was typed, counted anew.
func (a *Admin) sendAgain(c echo.Context, status int, of coupon.WithCounts, form *page.Form, step choosing, change func(*views.SendForm)) error {
	if !canSend(of.State) {
		return a.sendRefusal(c, of)
	}
	v, err := a.sendFormCounted(c, of, form, step)
	if err != nil {
		return err
	}
	if change != nil {
		change(&v)
	}
	return a.renderSend(c, status, v)
}

// sendSummary counts what a send would do. A count that fails, or takes too long, does not
// stop sending.
func (a *Admin) sendSummary(c echo.Context, of coupon.WithCounts, form *page.Form) (views.SendSummary, error) {
	by := page.Actor(c)
	zone := by.Tenant.TimeZone
	send := sendOf(&page.Form{Values: form.Values}, zone)
	v := views.SendSummary{
		Path: sendFormPath(of.ID), State: views.SummaryUnknown, Button: "Send vouchers", Later: form.Value(whenField) == later, Seen: audienceKey(send),
		Validity: voucherValidity(of, form, a.Now(), zone),
	}
	if v.Later {
		v.Button = "Schedule send"
	}
	if send.Segment == coupon.Manual && len(send.Customers) == 0 {
		v.Words, v.Disabled = "Choose customers to see what this send does.", "Choose at least one customer."
		return v, nil
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), countingTime)
	defer cancel()
	// As of now, like the audiences: what happens until a later time, nobody can count.
	p, err := a.Coupons.Preview(ctx, by, of.ID, coupon.Send{Segment: send.Segment, Customers: send.Customers})
	switch err = sendRefusal(err, of, zone); {
	case core.IsKind(err, core.KindNotFound):
		return v, err
	case core.IsKind(err, core.KindInvalid):
		v.Words = firstSentence(err) + "."
		v.Disabled = v.Words
		return v, nil
	case err != nil:
		a.Log.WarnContext(ctx, "send not counted", slog.Any("error", err))
		v.Words = "The figures couldn't be loaded. You can still send."
		return v, nil
	}
	countedSummary(&v, p, of)
	return v, nil
}

func firstSentence(err error) string {
	var refusal *core.Error
	if errors.As(err, &refusal) {
		return page.FirstMessage(refusal.Fields)
	}
	return ""
}

// audienceKey names the audience that the figures of a summary are about: a send that is
// confirmed must have the same.
func audienceKey(s coupon.Send) string {
	if s.Segment == coupon.Manual {
		return string(s.Segment) + " " + strconv.Itoa(len(s.Customers))
	}
	return string(s.Segment)
}

func countedSummary(v *views.SendSummary, p coupon.Preview, of coupon.WithCounts) {
	v.State = views.SummaryCounted
	v.Receive, v.Audience = page.Number(p.Sent), page.Number(p.Matched)
	v.Mails, v.NoEmail, v.Unsubscribed = page.Number(p.Mails()), page.Number(p.NoEmail), page.Number(p.Unsubscribed)
	skipped := p.SkippedInactive + p.SkippedLimit
	v.Skipped = page.Number(skipped)
	if p.SkippedLimit > 0 {
		v.AtLimit = page.Number(p.SkippedLimit)
	}
	if p.SkippedInactive > 0 {
		v.Inactive = page.Number(p.SkippedInactive)
	}
	v.Bar = barOf(p.Matched, barPiece{p.Mails(), ui.First}, barPiece{p.NoEmail, ui.Light}, barPiece{p.Unsubscribed, ui.Second}, barPiece{skipped, ui.Rest})
	customers := page.Count(p.Sent, "customer", "customers")
	v.Said = customers + " will receive a voucher"
	switch {
	case p.Sent > 0 && v.Later:
		v.Button = "Schedule for " + customers
	case p.Sent > 0:
		v.Button = "Send to " + customers
	case v.Later:
		// There may be some by then.
	case p.Matched == 0:
		v.Button, v.Disabled = "Send to 0 customers", "This audience has no customers."
	default:
		v.Button, v.Disabled = "Send to 0 customers", "Every customer in this audience is skipped."
	}
	if refused := p.Refused(); refused > 0 && p.Sent > 0 {
		v.Left, v.Refused, v.RaiseLimit = limitWarning(p), "Up to "+page.Number(refused)+" could be refused at the till.", couponPath(of.ID)+"/edit#field-max_redemptions"
		if p.Pending > 0 {
			out := " vouchers are"
			if p.Pending == 1 {
				out = " voucher is"
			}
			v.Refused = page.Number(p.Pending) + out + " out, so up to " + page.Number(refused) + " could be refused at the till."
		}
	}
}

func limitWarning(p coupon.Preview) string {
	switch left := max(0, *p.Left); left {
	case 0:
		return "No redemptions are left."
	case 1:
		return "Only 1 redemption is left."
	default:
		return "Only " + page.Number(left) + " redemptions are left."
	}
}

// barPiece is a part of a bar, before it is known how long the whole is.
type barPiece struct {
	n    int64
	tone ui.BarTone
}

func barOf(whole int64, pieces ...barPiece) (bar ui.Bar) {
	at := 0.0
	for _, p := range pieces {
		if whole == 0 || p.n == 0 {
			continue
		}
		length := 100 * float64(p.n) / float64(whole)
		bar.Parts = append(bar.Parts, ui.BarPart{Start: at, Length: length, Tone: p.tone})
		at += length
	}
	return bar
}

// previewMail answers with the e-mail itself, for the frame on the page.
func (a *Admin) previewMail(c echo.Context) error {
	id, err := id(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	q := page.Query(c.QueryParams())
	send := sendOf(q, by.Tenant.TimeZone)
	rendered, err := a.Coupons.PreviewMail(c.Request().Context(), by, id, coupon.Send{At: send.At, Subject: send.Subject, Message: send.Message})
	if core.IsKind(err, core.KindNotFound) {
		return err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentSecurityPolicy, mailPolicy)
	h.Set(echo.HeaderXFrameOptions, "SAMEORIGIN")
	switch {
	case core.IsKind(err, core.KindInvalid):
		return a.Render(c, http.StatusUnprocessableEntity, views.MailNotShown(firstSentence(sendRefusal(err, coupon.WithCounts{}, by.Tenant.TimeZone))+" to see the e-mail."), nil)
	case err != nil:
		f := a.Explain(c, err)
		return a.Render(c, f.Status, views.MailNotShown("The preview couldn't be loaded. You can still send."), nil)
	}
	html := strings.Replace(mail.Embedded(rendered.HTML, rendered.Inline), "<head>", `<head><base target="_blank">`, 1)
	return c.HTML(http.StatusOK, html)
}

// mailPolicy lets the e-mail be drawn and do nothing: no script, no form, no link, nothing
// loaded, an origin of its own.
const mailPolicy = "default-src 'none'; sandbox; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

// testSend mails the person who sends what customers would get.
func (a *Admin) testSend(c echo.Context) error {
	found, err := a.couponOf(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	by := page.Actor(c)
	send := sendOf(&page.Form{Values: form.Values}, by.Tenant.TimeZone)
	address, err := a.Coupons.SendTest(c.Request().Context(), by, found.ID, coupon.Send{At: send.At, Subject: send.Subject, Message: send.Message})
	var v views.SendTest
	status := http.StatusOK
	var refusal *core.Error
	switch err = sendRefusal(err, found, by.Tenant.TimeZone); {
	case err == nil:
		v.Sent = "Test sent to " + address + " at " + clockTime(a.Now(), by.Tenant.TimeZone)
	case core.IsKind(err, core.KindInvalid):
		v.Problem, status = firstSentence(err), http.StatusUnprocessableEntity
	case errors.As(err, &refusal) && refusal.Kind == core.KindThrottled:
		v.Problem, status = refusal.Message, http.StatusTooManyRequests
	default:
		return err
	}
	if page.IsFragment(c) {
		return a.Render(c, status, views.SendTestResult(v), nil)
	}
	return a.sendAgain(c, status, found, form, choosing{}, func(f *views.SendForm) { f.Test = v })
}

// confirmSend stores the send. One whose figures were of another audience is shown again
// first: without scripts, they stay as they were when the audience is changed.
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
			v.Problem.Sentence = "The audience was changed. Check the figures, then send."
		})
	}
	made, err := a.Coupons.Send(c.Request().Context(), by, found.ID, send)
	if form.Refused(sendRefusal(err, found, by.Tenant.TimeZone)) {
		if !canSend(found.State) {
			return a.sendRefusal(c, found)
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
	return a.Redirect(c, sendPath(made.CouponID, made.ID))
}

// sendOfPath is the send of the path, if it is one of the path's coupon.
func (a *Admin) sendOfPath(c echo.Context) (coupon.SendDetail, error) {
	of, sent, err := sendIDs(c)
	if err != nil {
		return coupon.SendDetail{}, err
	}
	found, err := a.Coupons.FindSend(c.Request().Context(), page.Actor(c), sent)
	if err == nil && found.CouponID != of {
		err = core.ErrNotFound
	}
	return found, err
}

func sendIDs(c echo.Context) (of, send core.ID, err error) {
	if of, err = id(c); err != nil {
		return of, send, err
	}
	send, err = core.ParseID(c.Param("send"))
	return of, send, err
}

func (a *Admin) askCancelSend(c echo.Context) error {
	return a.confirmCancelSend(c, http.StatusOK, &page.Form{})
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
			Action: path + "/cancel", Button: "Cancel send", Danger: true, Cancel: path, Problem: form.Problem(),
			Words: []string{"No vouchers are created and no e-mails are sent. You can send the coupon again at any time."},
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

// changeSend does something with a send that can be done at any time, and shows it.
func (a *Admin) changeSend(c echo.Context, change func(context.Context, core.Actor, core.ID) (coupon.Sending, error)) error {
	found, err := a.sendOfPath(c)
	if err != nil {
		return err
	}
	if _, err := change(c.Request().Context(), page.Actor(c), found.ID); err != nil {
		return err
	}
	return a.Redirect(c, sendPath(found.CouponID, found.ID))
}

// retryMails queues one failed e-mail again, or all that may arrive by now.
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
		a.Flash(c, ui.Warning, "Nothing to retry. The e-mail is already being retried, or its address has to be changed first.")
	} else {
		a.Flash(c, ui.Done, page.Count(n, "e-mail is", "e-mails are")+" being retried.")
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

// reversed is a list the other way round.
func reversed[T any](list []T) []T {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}
