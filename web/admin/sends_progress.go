package admin

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

// The lists of a send's page. An address that asks for a part of one names it.
const (
	listParam    = "list"
	problemsList = "problems"
	sentList     = "sent"
)

// showSend makes four round trips for the page: the session, the coupon's sends, the failed
// e-mails where there are some, and the vouchers; one more for a send that is not among the
// latest. A poll makes two, as long as the send's status stays.
func (a *Admin) showSend(c echo.Context) error {
	if !page.IsFragment(c) {
		return a.sendDetailPage(c)
	}
	found, err := a.sendOfPath(c)
	if err != nil {
		return err
	}
	switch c.Request().Header.Get("Hx-Target") {
	case problemsList:
		problems, err := a.mailProblems(c, found)
		if err != nil {
			return err
		}
		if problems == nil {
			return a.Redirect(c, sendPath(found.CouponID, found.ID))
		}
		return a.Render(c, http.StatusOK, views.MailProblemList(*problems), nil)
	case sentList:
		vouchers, err := a.sentVouchers(c, found)
		if err != nil {
			return err
		}
		return a.Render(c, http.StatusOK, views.SentVoucherTable(vouchers), nil)
	}
	v := views.SendDetail{Progress: a.sendProgress(c, found)}
	changed := c.QueryParam("seen") != sendState(found)
	if changed {
		history, err := a.Coupons.ListSends(c.Request().Context(), page.Actor(c), found.CouponID, page.Position(nil))
		if err != nil {
			return err
		}
		v.Actions = sendActions(page.Actor(c), found)
		if v.Lists, err = a.sendLists(c, found, history); err != nil {
			return err
		}
		v.Lists.Fragment = true
	}
	return a.Render(c, http.StatusOK, views.SendChanged(v, changed), nil)
}

func (a *Admin) sendDetailPage(c echo.Context) error {
	of, send, err := sendIDs(c)
	if err != nil {
		return err
	}
	history, err := a.Coupons.ListSends(c.Request().Context(), page.Actor(c), of, page.Position(nil))
	if err != nil {
		return err
	}
	found, ok := latestSend(history.Items, send)
	if !ok {
		if found, err = a.sendOfPath(c); err != nil {
			return err
		}
	}
	v := views.SendDetail{
		Frame: a.sendDetailFrame(c, found, ""), Actions: sendActions(page.Actor(c), found), Progress: a.sendProgress(c, found),
	}
	if v.Lists, err = a.sendLists(c, found, history); err != nil {
		return err
	}
	return a.Render(c, http.StatusOK, views.SendDetailPage(v), nil)
}

func latestSend(list []coupon.SendDetail, id core.ID) (coupon.SendDetail, bool) {
	for _, s := range list {
		if s.ID == id {
			return s, true
		}
	}
	return coupon.SendDetail{}, false
}

// sendDetailFrame is the frame of a page about a send: of its own, without a title.
func (a *Admin) sendDetailFrame(c echo.Context, s coupon.SendDetail, title string) views.Frame {
	zone := page.Actor(c).Tenant.TimeZone
	crumbs := []ui.Crumb{{Label: "Coupons", Path: couponsPath}, {Label: s.CouponName, Path: couponPath(s.CouponID)}}
	day := "2 January"
	if s.SendAt.In(zone).Year() != a.Now().In(zone).Year() {
		day = "2 January 2006"
	}
	own := "Send of " + s.SendAt.In(zone).Format(day)
	if title == "" {
		title = own
	} else {
		crumbs = append(crumbs, ui.Crumb{Label: own, Path: sendPath(s.CouponID, s.ID)})
	}
	return a.frame(c, title, couponsPath, crumbs...)
}

func sendActions(by core.Actor, s coupon.SendDetail) views.SendActions {
	v := views.SendActions{Path: sendPath(s.CouponID, s.ID)}
	if by.Role.Includes(core.Manager) {
		v.Cancel, v.Stop, v.Resume = cancellable(s), s.Status == coupon.Mailing, s.Status == coupon.Stopped
	}
	return v
}

// sendState is what the page shows besides progress: where it changes, the page does.
func sendState(s coupon.SendDetail) string {
	return fmt.Sprint(s.Status, " ", s.BegunAt != nil, " ", s.Failed)
}

func isSendOver(s coupon.SendDetail) bool {
	return s.Status == coupon.Done || s.Status == coupon.Cancelled || s.Status == coupon.Failed
}

// farAway is from how long before its time a send is looked at less often.
const farAway = 2 * time.Minute

func (a *Admin) sendProgress(c echo.Context, s coupon.SendDetail) views.SendProgress {
	by, now := page.Actor(c), a.Now()
	zone := by.Tenant.TimeZone
	v := views.SendProgress{Notice: sendNotice(by, s)}
	if s.Status != coupon.Cancelled && s.Status != coupon.Failed {
		v.Steps = []views.SendStep{creationStep(s, now, zone), mailingStep(s), endStep(s, now, zone)}
		for i := range v.Steps {
			v.Steps[i].Number = strconv.Itoa(i + 1)
		}
	}
	if s.EvaluatedAt != nil {
		waiting := "Waiting"
		if s.Status == coupon.Stopped {
			waiting = "Not sent"
		}
		v.Figures = []views.SendFigure{
			{Label: "Delivered", Value: page.Number(s.Delivered)},
			{Label: "Failed", Value: page.Number(s.Failed), Bad: s.Failed > 0},
			{Label: waiting, Value: page.Number(s.Mails - s.Delivered - s.Failed)},
			{Label: "Redeemed so far", Value: page.Number(s.Redeemed)},
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
	if s.Status == coupon.Mailing {
		present := observation{s.Delivered + s.Failed, now.UnixMilli()}
		seen := parsePace(c.QueryParam("since")).with(present)
		q.Set("since", seen.String())
		v.Steps[1].Left = seen.timeLeft(present, s.Mails)
		v.Refresh += "?" + url.Values{"since": {seen.String()}}.Encode()
	}
	v.Poll, v.Every = c.Request().URL.Path+"?"+q.Encode(), "2s"
	if s.Status == coupon.Waiting && s.SendAt.Sub(now) > farAway {
		v.Every = "30s"
	}
	return v
}

// sendAnnouncement tells screen readers how far a send is, in steps of ten percent.
func sendAnnouncement(s coupon.SendDetail) string {
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
		return "Done: " + page.Number(s.Delivered) + " delivered, " + page.Number(s.Failed) + " failed"
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
			Title: "Vouchers created", Words: page.Number(s.Sent) + " · " + page.Moment(*s.EvaluatedAt, now, zone), Done: true, Bar: barOf(1, barPiece{1, ui.Complete}),
		}
	case s.BegunAt != nil:
		return views.SendStep{Title: "Creating vouchers", Words: "Counting the audience…", Active: true}
	case s.SendAt.After(now):
		return views.SendStep{Title: "Scheduled", Words: page.Moment(s.SendAt, now, zone) + " " + zoneName(zone) + " time", Active: true}
	}
	return views.SendStep{Title: "Creating vouchers", Words: "Starting…", Active: true}
}

func mailingStep(s coupon.SendDetail) views.SendStep {
	step := views.SendStep{Title: "Mailing", Active: s.Status == coupon.Mailing || s.Status == coupon.Stopped, Done: s.Status == coupon.Done}
	if s.EvaluatedAt == nil {
		return step
	}
	step.Words = page.Number(s.Delivered+s.Failed) + " of " + page.Number(s.Mails)
	delivered := ui.First
	switch {
	case s.Status == coupon.Stopped:
		step.Title = "E-mails stopped"
	case s.Status == coupon.Done && s.Mails == 0:
		step.Title, step.Words = "No e-mails to send", ""
	case s.Status == coupon.Done:
		step.Title, delivered = "Mailed", ui.Complete
	}
	step.Bar = barOf(s.Mails, barPiece{s.Delivered, delivered}, barPiece{s.Failed, ui.Defective})
	return step
}

func endStep(s coupon.SendDetail, now time.Time, zone *time.Location) views.SendStep {
	step := views.SendStep{Title: "Done"}
	if s.Status == coupon.Done && s.EndedAt != nil {
		step.Done, step.Words, step.Bar = true, page.Moment(*s.EndedAt, now, zone), barOf(1, barPiece{1, ui.Complete})
		return step
	}
	at := now
	if s.SendAt.After(at) {
		at = s.SendAt
	}
	if s.ActorKind == core.ByStaff && s.MailsResult(at) {
		step.Words = "We e-mail " + s.ActorName
	}
	return step
}

// failures are why a send could not go out at its time.
var failures = map[string]string{
	coupon.ErrInactive.Code:   "The coupon was inactive when it was due, so no vouchers were created.",
	coupon.ErrExpired.Code:    "The coupon had expired when it was due, so no vouchers were created.",
	coupon.ErrNotStarted.Code: "The coupon hadn't started when it was due, so no vouchers were created.",
}

func sendNotice(by core.Actor, s coupon.SendDetail) *views.SendNotice {
	switch s.Status {
	case coupon.Stopped:
		n := s.Mails - s.Delivered - s.Failed
		return &views.SendNotice{
			Icon: "player-stop", Title: "E-mails stopped.", Words: page.Count(n, "e-mail has", "e-mails have") + " not been sent. All vouchers stay valid.",
		}
	case coupon.Cancelled:
		n := &views.SendNotice{Icon: "ban", Title: "Cancelled.", Words: "No vouchers were created."}
		if by.Role.Includes(core.Manager) {
			n.Path, n.Label = sendFormPath(s.CouponID), "Send again"
		}
		return n
	case coupon.Failed:
		return &views.SendNotice{
			Icon: "alert-triangle", Title: "Not sent.", Words: failures[optional(s.Failure)], Path: couponPath(s.CouponID), Label: "View coupon",
		}
	case coupon.Waiting, coupon.Mailing, coupon.Done:
	}
	return nil
}

// observation is how many e-mails were done at an instant, in Unix milliseconds.
type observation struct{ done, at int64 }

// pace is what the page has seen of a send's progress, the oldest first. It travels in the
// address that the page asks, so that the time left is computed from what happened.
type pace []observation

const (
	observeEvery = 15_000 // milliseconds between two that are kept
	observeFrom  = 4_000  // after which one tells something
)

func parsePace(text string) (p pace) {
	for _, part := range strings.Split(text, ",") {
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

// with is the pace from now on: its last two observations.
func (p pace) with(now observation) pace {
	if len(p) == 0 || len(p) > 2 || p[0].at > now.at || p[0].done > now.done {
		return pace{now} // the first look, or e-mails are being retried
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

// timeLeft is how long the rest takes at the pace that was seen, or "" where there was none.
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
		return "About " + page.Count(minutes, "minute", "minutes") + " left"
	default:
		return "About " + page.Count((minutes+30)/60, "hour", "hours") + " left"
	}
}

func (a *Admin) sendLists(c echo.Context, s coupon.SendDetail, history core.List[coupon.SendDetail]) (v views.SendLists, err error) {
	zone, now := page.Actor(c).Tenant.TimeZone, a.Now()
	v.Facts = sendFacts(s, now, zone)
	for _, one := range history.Items {
		row := sendRow(one, now, zone)
		row.Current = one.ID == s.ID
		v.Sends = append(v.Sends, row)
	}
	if history.Next != nil {
		v.Note = "The latest " + page.Number(int64(len(history.Items))) + " sends."
	}
	if s.EvaluatedAt == nil {
		return v, nil
	}
	if v.Problems, err = a.mailProblems(c, s); err != nil {
		return v, err
	}
	if s.Sent > 0 {
		vouchers, err := a.sentVouchers(c, s)
		if err != nil {
			return v, err
		}
		v.Vouchers = &vouchers
	}
	return v, nil
}

func latestSends(shown []coupon.SendDetail, all int64) string {
	return "The latest " + page.Number(int64(len(shown))) + " of " + page.Number(all) + " sends."
}

func sendFacts(s coupon.SendDetail, now time.Time, zone *time.Location) []ui.Pair {
	facts := []ui.Pair{{Name: "Audience", Value: segmentNames[s.Segment]}}
	if s.EvaluatedAt != nil {
		expires := "Never"
		if s.ExpiresAt != nil {
			expires = lastDay(*s.ExpiresAt, zone)
		}
		facts = append(facts,
			ui.Pair{Name: "Customers in it", Value: page.Number(s.Matched)},
			ui.Pair{Name: "Skipped", Value: skippedWords(s)},
			ui.Pair{Name: "No e-mail", Value: page.Number(s.NoEmail)},
			ui.Pair{Name: "Unsubscribed", Value: page.Number(s.Unsubscribed)},
			ui.Pair{Name: "Vouchers valid until", Value: expires})
	}
	return append(facts, ui.Pair{Name: "Subject", Value: s.Subject}, ui.Pair{Name: "Confirmed", Value: page.Moment(s.CreatedAt, now, zone) + " by " + s.ActorName})
}

// skippedWords are how many customers of a send got no voucher, and why.
func skippedWords(s coupon.SendDetail) string {
	inactive, limit := page.Number(s.SkippedInactive)+" inactive", page.Number(s.SkippedLimit)+" already at their limit"
	switch {
	case s.SkippedInactive > 0 && s.SkippedLimit > 0:
		return limit + ", " + inactive
	case s.SkippedInactive > 0:
		return inactive
	case s.SkippedLimit > 0:
		return limit
	case s.EvaluatedAt == nil:
		return ""
	}
	return "0"
}

func sendRow(s coupon.SendDetail, now time.Time, zone *time.Location) views.SendRow {
	return views.SendRow{
		Path: sendPath(s.CouponID, s.ID), Segment: segmentNames[s.Segment], By: s.ActorName, When: page.Moment(s.SendAt, now, zone),
		Sent: page.Number(s.Sent), Redeemed: page.Number(s.Redeemed), Skipped: skippedWords(s), Status: sendStatus(s, now),
	}
}

func sendStatus(s coupon.SendDetail, now time.Time) ui.Badge {
	switch s.Status {
	case coupon.Waiting:
		switch {
		case s.BegunAt != nil:
			return ui.Badge{Label: "Creating vouchers", Tone: ui.Info}
		case s.SendAt.After(now):
			return ui.Badge{Label: "Scheduled", Tone: ui.Info}
		}
		return ui.Badge{Label: "Starting", Tone: ui.Info}
	case coupon.Mailing:
		return ui.Badge{Label: "Mailing", Tone: ui.Info}
	case coupon.Stopped:
		return ui.Badge{Label: "E-mails stopped", Tone: ui.Notice}
	case coupon.Cancelled:
		return ui.Badge{Label: "Cancelled", Tone: ui.Neutral}
	case coupon.Failed:
		return ui.Badge{Label: "Not sent", Tone: ui.Bad}
	case coupon.Done:
	}
	if s.Failed > 0 {
		return ui.Badge{Label: page.Number(s.Failed) + " failed", Tone: ui.Notice}
	}
	return ui.Badge{Label: "Sent", Tone: ui.Good}
}

// listPosition is the part of a list that the address asks for: of the other lists, it asks for
// the beginning.
func listPosition(c echo.Context, list string) core.Page {
	if c.QueryParam(listParam) == list {
		return page.Position(c.QueryParams())
	}
	return page.Position(nil)
}

// pagerOf leads to the neighbours of a page of one of the lists.
func pagerOf[T any](c echo.Context, l core.List[T], list, one, many string) ui.Pager {
	u := &url.URL{Path: c.Request().URL.Path, RawQuery: url.Values{listParam: {list}}.Encode()}
	p := page.Pager(l, u, page.Count(int64(len(l.Items)), one+" on this page", many+" on this page"), "#"+list)
	p.Of = many
	return p
}

// mailProblems are the e-mails of a send that failed or are tried again later; nil: there are
// none, or the role may not see addresses.
func (a *Admin) mailProblems(c echo.Context, s coupon.SendDetail) (*views.MailProblems, error) {
	by := page.Actor(c)
	// While e-mails are queued, some may be there that are tried again.
	if !by.Role.Includes(core.Manager) || s.Failed == 0 && s.Delivered == s.Mails {
		return nil, nil //nolint:nilnil // none is no mistake
	}
	ctx := c.Request().Context()
	list, err := a.Coupons.ListMailProblems(ctx, by, s.ID, listPosition(c, problemsList))
	if err != nil {
		return nil, err
	}
	if len(list.Items) == 0 && list.Prev == nil {
		return nil, nil //nolint:nilnil // likewise
	}
	v := &views.MailProblems{
		Path: sendPath(s.CouponID, s.ID), Title: "Being retried", Pager: pagerOf(c, list, problemsList, "e-mail", "e-mails"),
	}
	if s.Failed > 0 {
		v.Title, v.Failed = "Failed", page.Number(s.Failed)
	}
	now, zone := a.Now(), by.Tenant.TimeZone
	retryable := int64(0)
	for _, p := range list.Items {
		v.Rows = append(v.Rows, mailProblem(p, now, zone))
		if p.CanRetry() && !p.Permanent {
			retryable++
		}
	}
	if list.Prev != nil || list.Next != nil {
		if retryable, err = a.Coupons.CountRetryable(ctx, by, s.ID); err != nil {
			return nil, err
		}
	}
	if retryable > 0 {
		v.Retry = "Retry " + page.Count(retryable, "e-mail", "e-mails")
	}
	return v, nil
}

func mailProblem(p coupon.MailProblem, now time.Time, zone *time.Location) views.MailProblem {
	v := views.MailProblem{
		Voucher: p.VoucherID.String(), Customer: customerLabel(p.CustomerName), CustomerPath: customerPath(p.CustomerID), Email: "No e-mail", Retry: p.CanRetry(),
	}
	switch {
	case p.Recipient != nil:
		v.Email = *p.Recipient
		if p.Email != nil && *p.Email != *p.Recipient {
			v.Email += ", now " + *p.Email
		}
	case p.Email != nil:
		v.Email = *p.Email
	}
	v.Reason, v.Reply = mailFailure(p)
	switch {
	case !p.Failed && p.DueAt.After(now):
		v.Again = "Next try: " + strings.TrimPrefix(page.Moment(p.DueAt, now, zone), "Today, ")
	case !p.Failed:
		v.Again = "Retrying"
	case !v.Retry && (v.Reason == noSuchAddress || v.Reason == badAddress || p.Email == nil && p.Reply != erasedReply):
		v.Edit = customerPath(p.CustomerID) + "/edit"
	}
	return v
}

// Reasons that another e-mail address does away with.
const (
	noSuchAddress = "No such address"
	badAddress    = "Not a valid address"
)

// erasedReply is what is kept of a reply about a customer who was erased.
const erasedReply = "Erased"

var (
	replyCode    = regexp.MustCompile(`^([245]\d\d)\b`)
	enhancedCode = regexp.MustCompile(`\b([245])\.(\d{1,3})\.(\d{1,3})\b`)
)

// mailFailure says why an e-mail was not delivered, in plain words, and the mail server's own
// where they say more. The enhanced code (RFC 3463) is more exact than the reply's.
func mailFailure(p coupon.MailProblem) (reason, reply string) {
	text := strings.TrimSpace(p.Reply)
	code, enhanced := replyCode.FindString(text), enhancedCode.FindStringSubmatch(text)
	class := ""
	if enhanced != nil {
		class = enhanced[2] + "." + enhanced[3]
	}
	switch {
	case text == erasedReply:
		return "Customer erased", ""
	case code == "" && enhanced == nil && p.Permanent:
		return badAddress, text
	case code == "" && enhanced == nil:
		return "The mail server didn't answer", ""
	case class == "1.1", class == "" && code == "550":
		return noSuchAddress, ""
	case class == "2.2", class == "" && (code == "452" || code == "552"):
		return "Mailbox is full", ""
	case enhanced != nil && enhanced[1] == "5" && enhanced[2] == "7":
		return "Refused as unwanted", text
	case strings.HasPrefix(code, "4"), enhanced != nil && enhanced[1] == "4":
		return "The mail server asked to try later", text
	}
	return text, ""
}

// sentVouchers are a page of the vouchers of a send.
func (a *Admin) sentVouchers(c echo.Context, s coupon.SendDetail) (views.SentVouchers, error) {
	by := page.Actor(c)
	list, err := a.Coupons.ListSent(c.Request().Context(), by, s.ID, listPosition(c, sentList))
	if err != nil {
		return views.SentVouchers{}, err
	}
	v := views.SentVouchers{Pager: pagerOf(c, list, sentList, "voucher", "vouchers")}
	for _, one := range list.Items {
		row := views.SentVoucher{
			Path: "/admin/vouchers/" + one.ID.String(), Customer: customerLabel(one.CustomerName), CustomerPath: customerPath(one.CustomerID),
			Status: voucherBadges[one.Status], Mail: mailBadges[optional(one.MailStatus)],
		}
		if one.RedeemedAt != nil {
			row.Redeemed = page.Moment(*one.RedeemedAt, a.Now(), by.Tenant.TimeZone)
		}
		v.Rows = append(v.Rows, row)
	}
	return v, nil
}

var voucherBadges = map[coupon.VoucherStatus]ui.Badge{
	coupon.VoucherPending: {Label: "Pending", Tone: ui.Notice}, coupon.VoucherRedeemed: {Label: "Redeemed", Tone: ui.Good},
	coupon.VoucherExpired: {Label: "Expired", Tone: ui.Neutral},
}

var mailBadges = map[string]ui.Badge{
	"queued": {Label: "Waiting", Tone: ui.Info}, "delivered": {Label: "Delivered", Tone: ui.Good}, "failed": {Label: "Failed", Tone: ui.Bad},
	"": {Label: "None", Tone: ui.Neutral},
}
