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

	"example.com/loyalty/core/coupon"
	views "example.com/loyalty/views/admin/coupons"
	"example.com/loyalty/views/links"
	panelviews "example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// showSend shows a send. A fragment is a page of one of its lists, or the progress. If the send's state has changed since
// the page last asked, the progress comes with all other parts.
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
		if problems.None() {
			return h.Redirect(c, links.Send(found.CouponID, found.ID))
		}
		return h.Render(c, http.StatusOK, views.MailProblemList(h.Reader(c), found, problems), nil)
	case sentList:
		vouchers, err := h.sentVouchers(c, found)
		if err != nil {
			return err
		}
		return h.Render(c, http.StatusOK, views.SentVoucherTable(h.Reader(c), vouchers), nil)
	}
	v := views.SendDetail{Frame: panelviews.Frame{Reader: h.Reader(c)}, Send: found}
	h.addPoll(c, &v)
	changed := c.QueryParam("seen") != sendState(found)
	if changed {
		if v.History, err = h.Coupons.ListSends(c.Request().Context(), page.Actor(c), found.CouponID, forms.Position(nil)); err != nil {
			return err
		}
		if err := h.addLists(c, &v); err != nil {
			return err
		}
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
	v := views.SendDetail{Frame: h.sendDetailFrame(c, found, ""), Send: found, History: history}
	h.addPoll(c, &v)
	if err := h.addLists(c, &v); err != nil {
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

// addPoll has the page of a send poll its progress until the send is over.
func (h *Handlers) addPoll(c echo.Context, v *views.SendDetail) {
	s, now, path := v.Send, h.Now(), c.Request().URL.Path
	if isSendOver(s) {
		return
	}
	v.Refresh, v.Every = path, "2s"
	q := c.Request().URL.Query()
	q.Set("seen", sendState(s))
	q.Del("since")
	if s.Status == coupon.Mailing && !s.OnHold() {
		present := observation{s.Delivered + s.Failed, now.UnixMilli()}
		seen := parsePace(c.QueryParam("since")).with(present)
		q.Set("since", seen.String())
		v.Left = seen.timeLeft(present, s.Mails)
		v.Refresh += "?" + url.Values{"since": {seen.String()}}.Encode()
	}
	v.Poll = path + "?" + q.Encode()
	if s.OnHold() || s.Status == coupon.Waiting && s.SendAt.Sub(now) > farAway {
		v.Every = "30s"
	}
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

// timeLeft is how long the rest takes at this pace; 0: unknown.
func (p pace) timeLeft(now observation, all int64) time.Duration {
	passed, done := now.at-p[0].at, now.done-p[0].done
	if passed < observeFrom || done <= 0 || now.done >= all {
		return 0
	}
	return max(1, time.Duration(float64(all-now.done)*float64(passed)/float64(done))) * time.Millisecond
}
