package coupons

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	views "example.com/loyalty/views/admin/coupons"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// showSend shows a send. A fragment is a page of one of its lists, or the progress: with everything
// else if the send's state has changed since it was last asked for.
func (h *Handlers) showSend(c echo.Context) error {
	if !page.IsFragment(c) {
		return h.sendDetailPage(c)
	}
	found, err := h.sendOfPath(c)
	if err != nil {
		return err
	}
	switch c.Request().Header.Get("Hx-Target") {
	case problemsList:
		problems, err := h.mailProblems(c, found)
		if err != nil {
			return err
		}
		if problems == nil {
			return h.Redirect(c, links.Send(found.CouponID, found.ID))
		}
		return h.Render(c, http.StatusOK, views.MailProblemList(*problems), nil)
	case sentList:
		vouchers, err := h.sentVouchers(c, found)
		if err != nil {
			return err
		}
		return h.Render(c, http.StatusOK, views.SentVoucherTable(vouchers), nil)
	}
	v := views.SendDetail{Progress: h.sendProgress(c, found)}
	changed := c.QueryParam("seen") != sendState(found)
	if changed {
		history, err := h.Coupons.ListSends(c.Request().Context(), page.Actor(c), found.CouponID, forms.Position(nil))
		if err != nil {
			return err
		}
		v.Actions = sendActions(page.Actor(c), found)
		if v.Lists, err = h.sendLists(c, found, history); err != nil {
			return err
		}
		v.Lists.Fragment = true
	}
	return h.Render(c, http.StatusOK, views.SendChanged(v, changed), nil)
}

func (h *Handlers) sendDetailPage(c echo.Context) error {
	couponID, sendID, err := sendIDs(c)
	if err != nil {
		return err
	}
	history, err := h.Coupons.ListSends(c.Request().Context(), page.Actor(c), couponID, forms.Position(nil))
	if err != nil {
		return err
	}
	var found coupon.SendDetail
	if at := slices.IndexFunc(history.Items, func(s coupon.SendDetail) bool { return s.ID == sendID }); at >= 0 {
		found = history.Items[at]
	} else if found, err = h.sendOfPath(c); err != nil {
		return err
	}
	v := views.SendDetail{
		Frame: h.sendDetailFrame(c, found, ""), Actions: sendActions(page.Actor(c), found), Progress: h.sendProgress(c, found),
	}
	if v.Lists, err = h.sendLists(c, found, history); err != nil {
		return err
	}
	return h.Render(c, http.StatusOK, views.SendDetailPage(v), nil)
}

// sendDetailFrame is the frame of a send's page, or with a title of a page below it.
func (h *Handlers) sendDetailFrame(c echo.Context, s coupon.SendDetail, title string) panelviews.Frame {
	zone := page.Actor(c).Tenant.TimeZone
	crumbs := []ui.Crumb{{Label: "Coupons", Path: links.Coupons}, {Label: s.CouponName, Path: links.Coupon(s.CouponID)}}
	day := "2 January"
	if s.SendAt.In(zone).Year() != h.Now().In(zone).Year() {
		day = "2 January 2006"
	}
	own := "Send on " + s.SendAt.In(zone).Format(day)
	if title == "" {
		title = own
	} else {
		crumbs = append(crumbs, ui.Crumb{Label: own, Path: links.Send(s.CouponID, s.ID)})
	}
	return h.Frame(c, title, links.Coupons, crumbs...)
}

func sendActions(by core.Actor, s coupon.SendDetail) views.SendActions {
	v := views.SendActions{Path: links.Send(s.CouponID, s.ID)}
	if by.Role.Includes(core.Manager) {
		v.Cancel, v.Stop, v.Resume = cancellable(s), s.Status == coupon.Mailing, s.Status == coupon.Stopped
		v.Continue = s.OnHold()
	}
	return v
}

// sendState is what the whole page depends on. When it changes, a poll gets the whole page.
func sendState(s coupon.SendDetail) string {
	state := fmt.Sprint(s.Status, " ", s.BegunAt != nil, " ", s.Failed)
	if s.OnHold() {
		state += " held"
	}
	return state
}

func isSendOver(s coupon.SendDetail) bool {
	return s.Status == coupon.Done || s.Status == coupon.Cancelled || s.Status == coupon.Failed
}

// farAway is how long before its time a send is polled less often.
const farAway = 2 * time.Minute

func (h *Handlers) sendProgress(c echo.Context, s coupon.SendDetail) views.SendProgress {
	by, now := page.Actor(c), h.Now()
	zone := by.Tenant.TimeZone
	v := views.SendProgress{Notice: sendNotice(by, s)}
	if s.Status != coupon.Cancelled && s.Status != coupon.Failed {
		v.Steps = []views.SendStep{creationStep(s, now, zone), mailingStep(s), endStep(s, now, zone)}
		for i := range v.Steps {
			v.Steps[i].Number = strconv.Itoa(i + 1)
		}
	}
	if s.EvaluatedAt != nil {
		unsent := "Waiting"
		if s.Status == coupon.Stopped || s.OnHold() {
			unsent = "Not sent"
		}
		v.Figures = []views.SendFigure{
			{Label: "Delivered", Value: format.Number(s.Delivered)},
			{Label: "Failed", Value: format.Number(s.Failed), Bad: s.Failed > 0},
			{Label: unsent, Value: format.Number(s.Mails - s.Delivered - s.Failed)},
			{Label: "Redeemed so far", Value: format.Number(s.Redeemed)},
		}
	}
	v.Said = sendAnnouncement(s)
	if isSendOver(s) {
		return v
	}
	v.Refresh = c.Request().URL.Path
	q := c.Request().URL.Query()
	q.Set("seen", sendState(s))
	q.Del("since")
	if s.Status == coupon.Mailing && !s.OnHold() {
		present := observation{s.Delivered + s.Failed, now.UnixMilli()}
		seen := parsePace(c.QueryParam("since")).with(present)
		q.Set("since", seen.String())
		v.Steps[1].Left = seen.timeLeft(present, s.Mails)
		v.Refresh += "?" + url.Values{"since": {seen.String()}}.Encode()
	}
	v.Poll, v.Every = c.Request().URL.Path+"?"+q.Encode(), "2s"
	if s.OnHold() || s.Status == coupon.Waiting && s.SendAt.Sub(now) > farAway {
		v.Every = "30s"
	}
	return v
}

// sendAnnouncement is the progress for screen readers, in steps of ten percent.
func sendAnnouncement(s coupon.SendDetail) string {
	if s.OnHold() {
		return "On hold"
	}
	switch s.Status {
	case coupon.Waiting:
		if s.BegunAt != nil {
			return "Creating vouchers"
		}
		return "Waiting"
	case coupon.Mailing:
		return "Mailing, " + strconv.FormatInt((s.Delivered+s.Failed)*10/max(1, s.Mails)*10, 10) + " percent"
	case coupon.Stopped:
		return "E-mails stopped"
	case coupon.Done:
		return "Done: " + format.Number(s.Delivered) + " delivered, " + format.Number(s.Failed) + " failed"
	case coupon.Cancelled:
		return "Cancelled"
	case coupon.Failed:
		return "Failed"
	}
	return ""
}

func creationStep(s coupon.SendDetail, now time.Time, zone *time.Location) views.SendStep {
	switch {
	case s.EvaluatedAt != nil:
		return views.SendStep{
			Title: "Vouchers created", Words: format.Number(s.Sent) + " · " + format.Moment(*s.EvaluatedAt, now, zone), Done: true, Bar: ui.BarOf(1, ui.Share(1, ui.Complete)),
		}
	case s.OnHold():
		return views.SendStep{Title: "On hold", Words: "Was due " + format.Moment(s.SendAt, now, zone), Active: true}
	case s.BegunAt != nil:
		return views.SendStep{Title: "Creating vouchers", Words: "Counting the audience…", Active: true}
	case s.SendAt.After(now):
		return views.SendStep{Title: "Scheduled", Words: format.Moment(s.SendAt, now, zone) + " " + zoneName(zone) + " time", Active: true}
	}
	return views.SendStep{Title: "Creating vouchers", Words: "Starting…", Active: true}
}

func mailingStep(s coupon.SendDetail) views.SendStep {
	step := views.SendStep{Title: "Mailing", Active: s.Status == coupon.Mailing || s.Status == coupon.Stopped, Done: s.Status == coupon.Done}
	if s.EvaluatedAt == nil {
		return step
	}
	step.Words = format.Number(s.Delivered+s.Failed) + " of " + format.Number(s.Mails)
	delivered := ui.First
	switch {
	case s.OnHold():
		step.Title = "E-mails on hold"
	case s.Status == coupon.Stopped:
		step.Title = "E-mails stopped"
	case s.Status == coupon.Done && s.Mails == 0:
		step.Title, step.Words = "No e-mails to send", ""
	case s.Status == coupon.Done:
		step.Title, delivered = "Mailed", ui.Complete
	}
	step.Bar = ui.BarOf(s.Mails, ui.Share(s.Delivered, delivered), ui.Share(s.Failed, ui.Defective))
	return step
}

func endStep(s coupon.SendDetail, now time.Time, zone *time.Location) views.SendStep {
	step := views.SendStep{Title: "Done"}
	if s.OnHold() {
		return step
	}
	if s.Status == coupon.Done && s.EndedAt != nil {
		step.Done, step.Words, step.Bar = true, format.Moment(*s.EndedAt, now, zone), ui.BarOf(1, ui.Share(1, ui.Complete))
		return step
	}
	at := now
	if s.SendAt.After(at) {
		at = s.SendAt
	}
	if s.ActorKind == core.ByStaff && s.MailsResult(at) {
		step.Words = s.ActorName + " gets an e-mail"
	}
	return step
}

// failures are the reasons why a scheduled send failed.
var failures = map[string]string{
	coupon.ErrInactive.Code:   "The coupon was inactive, so no vouchers were created.",
	coupon.ErrExpired.Code:    "The coupon had expired, so no vouchers were created.",
	coupon.ErrNotStarted.Code: "The coupon hadn't started, so no vouchers were created.",
}

func sendNotice(by core.Actor, s coupon.SendDetail) *views.SendNotice {
	n := s.Mails - s.Delivered - s.Failed
	if s.OnHold() {
		words := "The business was suspended when this send was due. Nothing was sent. Continue it now, or cancel it."
		if s.Status == coupon.Mailing {
			words = "The business was suspended while this send was mailed. " + format.Count(n, "e-mail", "e-mails") + " not sent. All vouchers stay valid."
		}
		return &views.SendNotice{Icon: "clock", Title: "On hold.", Words: words}
	}
	switch s.Status {
	case coupon.Stopped:
		return &views.SendNotice{
			Icon: "player-stop", Title: "E-mails stopped.", Words: format.Count(n, "e-mail", "e-mails") + " not sent. All vouchers stay valid.",
		}
	case coupon.Cancelled:
		n := &views.SendNotice{Icon: "ban", Title: "Cancelled.", Words: "No vouchers were created."}
		if by.Role.Includes(core.Manager) {
			n.Path, n.Label = links.SendForm(s.CouponID), "Send again"
		}
		return n
	case coupon.Failed:
		return &views.SendNotice{
			Icon: "alert-triangle", Title: "Not sent.", Words: failures[core.OrZero(s.Failure)], Path: links.Coupon(s.CouponID), Label: "View coupon",
		}
	case coupon.Waiting, coupon.Mailing, coupon.Done:
	}
	return nil
}

// observation is the number of e-mails that were done at an instant in Unix milliseconds.
type observation struct{ done, at int64 }

// pace is the observed progress of a send, the oldest first. The page sends it with every poll, so the
// time left is computed from real progress without storing anything.
type pace []observation

const (
	observeEvery = 15_000 // milliseconds between kept observations
	observeFrom  = 4_000  // milliseconds before the pace is used
)

func parsePace(since string) (p pace) {
	for _, part := range strings.Split(since, ",") {
		done, at, _ := strings.Cut(part, ".")
		n, err := strconv.ParseInt(done, 10, 64)
		ms, err2 := strconv.ParseInt(at, 10, 64)
		if err != nil || err2 != nil {
			return nil
		}
		p = append(p, observation{n, ms})
	}
	return p
}

// with adds an observation and keeps the last two before it.
func (p pace) with(now observation) pace {
	if len(p) == 0 || len(p) > 2 || p[0].at > now.at || p[0].done > now.done {
		return pace{now} // the first observation, or e-mails are being retried
	}
	if now.at-p[len(p)-1].at >= observeEvery {
		p = append(p, now)
	}
	return p[max(0, len(p)-2):]
}

func (p pace) String() string {
	parts := make([]string, len(p))
	for i, seen := range p {
		parts[i] = fmt.Sprintf("%d.%d", seen.done, seen.at)
	}
	return strings.Join(parts, ",")
}

// timeLeft is how long the rest takes at this pace; "" if unknown.
func (p pace) timeLeft(now observation, all int64) string {
	passed, done := now.at-p[0].at, now.done-p[0].done
	if passed < observeFrom || done <= 0 || now.done >= all {
		return ""
	}
	left := time.Duration(float64(all-now.done)*float64(passed)/float64(done)) * time.Millisecond
	switch minutes := int64((left + 30*time.Second) / time.Minute); {
	case left < time.Minute:
		return "Less than a minute left"
	case minutes < 90:
		return "About " + format.Count(minutes, "minute", "minutes") + " left"
	default:
		return "About " + format.Count((minutes+30)/60, "hour", "hours") + " left"
	}
}
