package coupons

import (
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/mail"
	views "example.com/loyalty/views/admin/coupons"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
)

// The lists of a send's page. The query of their pages names the list.
const (
	listParam    = "list"
	problemsList = "problems"
	sentList     = "sent"
)

func (h *Handlers) sendLists(c echo.Context, s coupon.SendDetail, history core.List[coupon.SendDetail]) (v views.SendLists, err error) {
	zone, now := page.Actor(c).Tenant.TimeZone, h.Now()
	v.Facts = sendFacts(s, now, zone)
	for _, one := range history.Items {
		row := sendRow(one, now, zone)
		row.Current = one.ID == s.ID
		v.Sends = append(v.Sends, row)
	}
	if history.Next != nil {
		v.Note = "Latest " + format.Number(int64(len(history.Items))) + " sends"
	}
	if s.EvaluatedAt == nil {
		return v, nil
	}
	if v.Problems, err = h.mailProblems(c, s); err != nil {
		return v, err
	}
	if s.Sent > 0 {
		vouchers, err := h.sentVouchers(c, s)
		if err != nil {
			return v, err
		}
		v.Vouchers = &vouchers
	}
	return v, nil
}

func latestSends(shown []coupon.SendDetail, all int64) string {
	return "Latest " + format.Number(int64(len(shown))) + " of " + format.Number(all) + " sends"
}

func sendFacts(s coupon.SendDetail, now time.Time, zone *time.Location) []ui.Pair {
	facts := []ui.Pair{{Name: "Audience", Value: segmentNames[s.Segment]}}
	if s.EvaluatedAt != nil {
		expires := "Never"
		if s.ExpiresAt != nil {
			expires = panel.LastDay(*s.ExpiresAt, zone)
		}
		facts = append(facts,
			ui.Pair{Name: "Customers", Value: format.Number(s.Matched)},
			ui.Pair{Name: "Skipped", Value: skippedWords(s)},
			ui.Pair{Name: "No e-mail", Value: format.Number(s.NoEmail)},
			ui.Pair{Name: "Unsubscribed", Value: format.Number(s.Unsubscribed)},
			ui.Pair{Name: "Vouchers valid until", Value: expires})
	}
	return append(facts, ui.Pair{Name: "Subject", Value: s.Subject}, ui.Pair{Name: "Created", Value: format.Moment(s.CreatedAt, now, zone) + " by " + s.ActorName})
}

// skippedWords is the number of skipped customers with the reasons.
func skippedWords(s coupon.SendDetail) string {
	inactive, limit := format.Number(s.SkippedInactive)+" inactive", format.Number(s.SkippedLimit)+" already at their limit"
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
		Path: links.Send(s.CouponID, s.ID), Segment: segmentNames[s.Segment], By: s.ActorName, When: format.Moment(s.SendAt, now, zone),
		Sent: format.Number(s.Sent), Redeemed: format.Number(s.Redeemed), Skipped: skippedWords(s), Status: sendStatus(s, now),
	}
}

func sendStatus(s coupon.SendDetail, now time.Time) ui.Badge {
	if s.OnHold() {
		return ui.Badge{Label: "On hold", Tone: ui.Notice}
	}
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
		return ui.Badge{Label: format.Number(s.Failed) + " failed", Tone: ui.Notice}
	}
	return ui.Badge{Label: "Sent", Tone: ui.Good}
}

// listPosition is the page of a list that the address asks for. The other lists start at the beginning.
func listPosition(c echo.Context, list string) core.Page {
	if c.QueryParam(listParam) == list {
		return forms.Position(c.QueryParams())
	}
	return forms.Position(nil)
}

// pagerOf leads to the neighbours of a page of one of the lists.
func pagerOf[T any](c echo.Context, l core.List[T], list, noun string) ui.Pager {
	u := &url.URL{Path: c.Request().URL.Path, RawQuery: url.Values{listParam: {list}}.Encode()}
	p := page.Pager(l, u, noun, noun+"s", "#"+list)
	p.Of = noun + "s"
	return p
}

// mailProblems are the e-mails of a send that failed or are being retried. It is nil if there are none
// or the role may not see addresses.
func (h *Handlers) mailProblems(c echo.Context, s coupon.SendDetail) (*views.MailProblems, error) {
	by := page.Actor(c)
	// Queued e-mails may include some that are being retried.
	if !by.Role.Includes(core.Manager) || s.Failed == 0 && s.Delivered == s.Mails {
		return nil, nil //nolint:nilnil // none is not an error
	}
	ctx := c.Request().Context()
	list, err := h.Coupons.ListMailProblems(ctx, by, s.ID, listPosition(c, problemsList))
	if err != nil {
		return nil, err
	}
	if len(list.Items) == 0 && list.Prev == nil {
		return nil, nil //nolint:nilnil // likewise
	}
	v := &views.MailProblems{
		Path: links.Send(s.CouponID, s.ID), Title: "Being retried", Pager: pagerOf(c, list, problemsList, "e-mail"),
	}
	if s.Failed > 0 {
		v.Title, v.Failed = "Failed", format.Number(s.Failed)
	}
	now, zone := h.Now(), by.Tenant.TimeZone
	retryable := int64(0)
	for _, p := range list.Items {
		v.Rows = append(v.Rows, mailProblem(p, now, zone))
		if p.CanRetry() && !p.Permanent {
			retryable++
		}
	}
	if list.Prev != nil || list.Next != nil {
		if retryable, err = h.Coupons.CountRetryable(ctx, by, s.ID); err != nil {
			return nil, err
		}
	}
	if retryable > 0 {
		v.Retry = "Retry " + format.Count(retryable, "e-mail", "e-mails")
	}
	return v, nil
}

func mailProblem(p coupon.MailProblem, now time.Time, zone *time.Location) views.MailProblem {
	v := views.MailProblem{
		Voucher: p.VoucherID.String(), Customer: format.StoredName(p.CustomerName), CustomerPath: links.Customer(p.CustomerID), Email: "No e-mail", Retry: p.CanRetry(),
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
		v.Again = "Next try: " + strings.TrimPrefix(format.Moment(p.DueAt, now, zone), "Today, ")
	case !p.Failed:
		v.Again = "Retrying"
	case !v.Retry && (v.Reason == noSuchAddress || v.Reason == badAddress || p.Email == nil && p.Reply != erasedReply):
		v.Edit = links.Customer(p.CustomerID) + "/edit"
	}
	return v
}

// Reasons that a new e-mail address resolves.
const (
	noSuchAddress = "No such address"
	badAddress    = "Not a valid address"
)

// erasedReply replaces the reply about a customer who was erased.
const erasedReply = "Erased"

var (
	replyCode    = regexp.MustCompile(`^([245]\d\d)\b`)
	enhancedCode = regexp.MustCompile(`\b([245])\.(\d{1,3})\.(\d{1,3})\b`)
)

// mailFailure says in plain words why an e-mail was not delivered, with the mail server's reply if it
// adds something. The enhanced code (RFC 3463) is more precise than the reply code.
func mailFailure(p coupon.MailProblem) (reason, reply string) {
	reply = strings.TrimSpace(p.Reply)
	code, enhanced := replyCode.FindString(reply), enhancedCode.FindStringSubmatch(reply)
	class := ""
	if enhanced != nil {
		class = enhanced[2] + "." + enhanced[3]
	}
	switch {
	case reply == erasedReply:
		return "Customer erased", ""
	case strings.HasPrefix(reply, mail.Unwritten):
		return mail.Unwritten, strings.TrimPrefix(reply, mail.Unwritten+": ")
	case code == "" && enhanced == nil && p.Permanent:
		return badAddress, reply
	case code == "" && enhanced == nil:
		return "The mail server didn't answer", ""
	case class == "1.1", class == "" && code == "550":
		return noSuchAddress, ""
	case class == "2.2", class == "" && (code == "452" || code == "552"):
		return "Mailbox is full", ""
	case enhanced != nil && enhanced[1] == "5" && enhanced[2] == "7":
		return "Rejected as spam or unwanted", reply
	case strings.HasPrefix(code, "4"), enhanced != nil && enhanced[1] == "4":
		return "The mail server asked to try later", reply
	}
	return reply, ""
}

// sentVouchers are a page of the vouchers of a send.
func (h *Handlers) sentVouchers(c echo.Context, s coupon.SendDetail) (views.SentVouchers, error) {
	by := page.Actor(c)
	list, err := h.Coupons.ListSent(c.Request().Context(), by, s.ID, listPosition(c, sentList))
	if err != nil {
		return views.SentVouchers{}, err
	}
	v := views.SentVouchers{
		Pager:   pagerOf(c, list, sentList, "voucher"),
		Exports: panel.ExportsAt(c, links.CouponVouchers(s.CouponID), url.Values{"send": {s.ID.String()}}.Encode()),
	}
	for _, one := range list.Items {
		row := views.SentVoucher{
			Path: links.Voucher(one.ID), Customer: format.StoredName(one.CustomerName), CustomerPath: links.Customer(one.CustomerID),
			Status: voucherBadges[one.Status], Mail: mailBadges[core.OrZero(one.MailStatus)],
		}
		if one.RedeemedAt != nil {
			row.Redeemed = format.Moment(*one.RedeemedAt, h.Now(), by.Tenant.TimeZone)
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
