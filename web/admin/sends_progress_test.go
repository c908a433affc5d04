package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/web/webtest"
)

// sentTo sends the coupon to new customers with e-mail addresses, creates the vouchers and returns
// the send with the path of its page.
func (s *sender) sentTo(customers int) (sent coupon.SendDetail, path string) {
	s.T.Helper()
	for range customers {
		s.mailable("Ida", "c"+shoptest.Phone()[4:]+"@example.com")
	}
	s.send(s.path, "one")
	sent = s.only()
	return sent, s.path + "/sends/" + sent.ID.String()
}

// failed stores a mail server's replies for the e-mails of some vouchers, in their order.
func (s *sender) failed(send core.ID, replies ...string) {
	s.T.Helper()
	s.change(`
		update loyalty.voucher_mail m
		set status = 'failed', attempts = 1, error = said.reply, permanent = said.reply like '5%' or said.reply like 'mail:%' or said.reply like 'This e-mail%',
			recipient = (select email from loyalty.customer k join loyalty.voucher v on v.tenant_id = k.tenant_id and v.customer_id = k.id
				where v.tenant_id = m.tenant_id and v.id = m.voucher_id), done_at = now()
		from unnest($3::text[]) with ordinality said (reply, n),
			(select voucher_id, row_number() over (order by voucher_id) as n from loyalty.voucher_mail where tenant_id = $1 and send_id = $2) queued
		where queued.n = said.n
			and m.tenant_id = $1
			and m.voucher_id = queued.voucher_id`, send, replies)
	s.change("update loyalty.coupon_send set failed = $3 where tenant_id = $1 and id = $2", send, len(replies))
}

// The page shows the progress of a send and the possible actions in each of its states.
func TestSendProgress(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	sent, path := s.sentTo(4) // and to Elsa, who has no e-mail address
	set := func(columns string) {
		t.Helper()
		s.change("update loyalty.coupon_send set "+columns+" where tenant_id = $1 and id = $2", sent.ID)
	}
	// steps are the numbers of the steps that are done, then of the current one. figures are of the
	// steps, then of all e-mails. action is the id of the offered button.
	shows := func(state, steps, figured, action string, notice bool) {
		t.Helper()
		a := s.manager.Get(path)
		var marks []string
		a.Find(".send-progress li").Each(func(i int, step *goquery.Selection) {
			if step.Find(".step-done").Length() == 1 {
				marks = append(marks, "done")
			} else if _, current := step.Attr("aria-current"); current {
				marks = append(marks, "current")
			} else {
				marks = append(marks, "later")
			}
		})
		if got := strings.Join(marks, " "); got != steps {
			t.Errorf("%s: the steps are %q, want %q", state, got, steps)
		}
		if got := figures(a.Text(".send-progress li:nth-child(2) .send-step-words") + " " + a.Text(".send-numbers")); got != figured {
			t.Errorf("%s: the figures are %q, want %q", state, got, figured)
		}
		if got := a.Text(".send-notice"); (got != "") != notice {
			t.Errorf("%s: the notice is %q", state, got)
		}
		if offered := a.Find("#send-actions").Find("a, button"); offered.AttrOr("id", "") != action || offered.Length() > 1 {
			t.Errorf("%s: %q is offered, want %q", state, offered.AttrOr("id", ""), action)
		}
		over := strings.HasPrefix(state, "over")
		if polls := a.Find("#send-progress[hx-get]").Length() == 1; polls == over || a.Find("[data-poll]").Length() == 1 == over {
			t.Errorf("%s: polls is %t", state, polls)
		}
		if c := s.cashier.Get(path); c.Text("#send-actions") != "" || c.Find("main form, main a[href$='/send']").Length() != 0 || c.Text(".send-progress") != a.Text(".send-progress") {
			t.Errorf("%s: a cashier sees %q", state, c.Text("main"))
		}
	}
	set("evaluated_at = now()")
	at := s.only().EvaluatedAt.In(s.By.Tenant.TimeZone).Format("15:04")
	set("delivered = 2, failed = 1")
	shows("mailing", "done current later", "3 4 2 1 1 0", "stop-mails", false)
	if got := s.manager.Get(path).Text(".send-progress li:first-child"); !strings.Contains(got, at) || strings.Contains(s.manager.Get(path).Text(".send-progress"), "A owner") {
		t.Errorf("the first step is %q, want the time %s", got, at)
	}
	set("created_at = now() - interval '10 minutes'")
	if got := s.manager.Get(path).Text(".send-progress li:last-child"); !strings.Contains(got, "A owner") {
		t.Errorf("after ten minutes the last step is %q, want the owner who gets an e-mail", got)
	}

	if a := s.manager.Submit(path+"/stop", nil); a.Text("h1") == "" {
		t.Error("stopping leads to no page")
	}
	shows("stopped", "done current later", "3 4 2 1 1 0", "resume-mails", true)
	s.manager.Submit(path+"/resume", nil)
	if got := s.only().Status; got != coupon.Mailing {
		t.Errorf("resumed it is %s", got)
	}
	set("status = 'done', delivered = 3, redeemed = 2, ended_at = evaluated_at")
	shows("over: done", "done done done", "4 4 3 1 0 2", "", false)
	if got := s.manager.Get(path).Text("tr[aria-current] .badge"); figures(got) != "1" {
		t.Errorf("the list of sends says %q", got)
	}

	waiting := "status = 'waiting', evaluated_at = null, ended_at = null, sent = 0, matched = 0, mails = 0, no_email = 0, delivered = 0, failed = 0, redeemed = 0, expires_at = null, "
	set(waiting + "begun_at = null, created_at = now()")
	shows("starting", "current later later", "", "cancel-send", false)
	set("begun_at = now()")
	shows("creating", "current later later", "", "", false)
	for _, a := range []webtest.Page{s.manager.Get(path + "/cancel"), s.manager.Post(path+"/cancel", nil)} {
		if a.Text("[role=alert]") == "" || a.Find("form[action$='/cancel'] button").Length() != 0 {
			t.Errorf("a send that has started can be cancelled: %d %q", a.Code, a.Text("main"))
		}
	}
	notices := map[string]bool{}
	for _, code := range []string{"coupon-inactive", "coupon-expired", "coupon-not-started"} {
		set("status = 'failed', ended_at = now(), failure = '" + code + "'")
		shows("over: "+code, "", "", "", true)
		notices[s.manager.Get(path).Text(".send-notice")] = true
	}
	if len(notices) != 3 {
		t.Errorf("the reasons of failed sends are %v, want three", notices)
	}
}

// A send without e-mails is done once its vouchers are created.
func TestSendWithoutEmails(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	_, path := s.sentTo(0)
	a := s.manager.Get(path)
	if a.Find(".send-progress li:nth-child(2) .step-done").Length() != 1 || a.Find("#problems").Length() != 0 {
		t.Errorf("the progress is %q", a.Text(".send-progress"))
	}
	if got := a.Text("#sent tbody td:first-child a"); got != "Elsa Berg <b>" {
		t.Errorf("its vouchers: %q", got)
	}
}

// "About 2 minutes left" by the observed progress, and only once there was some.
func TestTimeLeft(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	sent, path := s.sentTo(0)
	s.change(`update loyalty.coupon_send set status = 'mailing', sent = 1001, matched = 1001, no_email = 1, mails = 1000, delivered = 190, failed = 10, ended_at = null
		where tenant_id = $1 and id = $2`, sent.ID)
	ago := func(done int, before time.Duration) string {
		return fmt.Sprintf("%d.%d", done, s.DB.Now().Add(-before).UnixMilli())
	}
	for since, want := range map[string]string{
		"":                       "",
		"nonsense":               "",
		ago(100, 12*time.Second): "2",
		ago(190, 20*time.Second): "27",
		ago(199, 25*time.Second): "6",
		ago(0, 5*time.Second):    "a minute",
		ago(0, 2*time.Second):    "", // too early
		ago(200, 20*time.Second): "", // it does not move
		ago(210, 20*time.Second): "", // some are being retried
		ago(0, 31*time.Second) + "," + ago(150, 16*time.Second):                         "4", // by the last 16 seconds
		ago(0, 3*time.Second) + "," + ago(0, 2*time.Second) + "," + ago(0, time.Second): "",  // not ours
	} {
		a := s.manager.Get(path+"?since="+url.QueryEscape(since)+"&seen="+url.QueryEscape("mailing true 10"), "Hx-Request", "true", "Hx-Target", "send-progress")
		if got := a.Text(".send-step-words span:last-child"); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("since %q: %q, want %q", since, got, want)
		}
		next, err := url.Parse(a.Attr("#send-progress", "hx-get"))
		if err != nil || next.Query().Get("since") == "" || next.Query().Get("seen") != "mailing true 10" {
			t.Errorf("it asks next %v", next)
		}
	}
	if got := s.manager.Get(path).Attr("#send-progress", "data-say"); figures(got) != "20" {
		t.Errorf("screen readers get %q", got)
	}
}

// A poll gets the progress alone, and the rest of the page when that has changed.
func TestPollSend(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	sent, path := s.sentTo(2)
	poll := func(from webtest.Page) webtest.Page {
		t.Helper()
		return s.manager.Get(from.Attr("#send-progress", "hx-get"), "Hx-Request", "true", "Hx-Target", "send-progress")
	}
	shown := s.manager.Get(path)
	s.change("update loyalty.coupon_send set delivered = 1 where tenant_id = $1 and id = $2", sent.ID)
	a := poll(shown)
	if got := figures(a.Text(".send-numbers")); got != "1 0 1 0" || a.Find("#send-lists, #send-actions, h1").Length() != 0 {
		t.Errorf("delivered: %q in %q", got, a.Text("body"))
	}
	s.failed(sent.ID, "452 4.2.2 The mailbox is full")
	a = poll(a)
	if a.Find("#send-lists[hx-swap-oob] #problems").Length() != 1 || a.Find("#send-actions[hx-swap-oob] #stop-mails").Length() != 1 {
		t.Errorf("failed: %q", a.Text("body"))
	}
	s.change("update loyalty.coupon_send set status = 'done', ended_at = now() where tenant_id = $1 and id = $2", sent.ID)
	a = poll(a)
	if a.Find("#send-progress[hx-get]").Length() != 0 || a.Find("#send-lists").Length() != 1 || a.Text("#send-actions") != "" || figures(a.Text("tr[aria-current] .badge")) != "1" {
		t.Errorf("done: %q", a.Text("body"))
	}
}

// "The reason in plain words from the mail server's reply", and what can be done.
func TestMailFailureReasons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reply, reason, action string }{
		{"550 5.1.1 No such user here", "No such address", "Edit e-mail"},
		{"550 No such user", "No such address", "Edit e-mail"},
		{"552 5.2.2 Over quota", "Mailbox is full", ""},
		{"452 4.2.2 Over quota", "Mailbox is full", "Retry"},
		{"452 Try again", "Mailbox is full", "Retry"},
		{"452 4.3.1 Out of disk", "The mail server asked to try later 452 4.3.1 Out of disk", "Retry"},
		{"451 4.7.1 Greylisted", "The mail server asked to try later 451 4.7.1 Greylisted", "Retry"},
		{"421 Too busy", "The mail server asked to try later 421 Too busy", "Retry"},
		{"550 5.7.1 Blocked: spam", "Rejected as spam or unwanted 550 5.7.1 Blocked: spam", ""},
		{"554 5.6.0 <b>Odd</b> content", "554 5.6.0 <b>Odd</b> content", ""},
		{"dial tcp 192.0.2.1:25: i/o timeout", "The mail server didn't answer", "Retry"},
		{"EOF", "The mail server didn't answer", "Retry"},
		{"mail: missing '@' or angle-addr", "Not a valid address mail: missing '@' or angle-addr", "Edit e-mail"},
		{"This e-mail couldn't be written: its picture is broken", "This e-mail couldn't be written its picture is broken", ""},
		{"Erased", "Customer erased", "Retry"},
	} {
		t.Run(c.reply, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			sent, path := s.sentTo(1)
			s.failed(sent.ID, c.reply)
			a := s.manager.Get(path)
			if got := a.Text("#problems td:nth-child(2)"); got != c.reason {
				t.Errorf("it says %q, want %q", got, c.reason)
			}
			if got := a.Text("#problems td:nth-child(3)"); got != c.action {
				t.Errorf("offered: %q, want %q", got, c.action)
			}
		})
	}
}

// "Retry where it can help, Edit e-mail for addresses that don't exist, Retry 3 e-mails for all
// temporary ones; being-retried ones show when."
func TestRetryEmails(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	sent, path := s.sentTo(5)
	s.failed(sent.ID, "550 5.1.1 No", "452 4.2.2 Full", "451 4.7.1 Later", "EOF")
	a := s.manager.Get(path)
	if got := a.Text("#problems .card-header"); figures(got) != "4 3" || a.Find("#problems tbody tr").Length() != 4 {
		t.Fatalf("failed: %q", got)
	}
	edit := a.Links("#problems td a.btn")
	if len(edit) != 1 || !strings.HasSuffix(edit[0], "/edit") {
		t.Fatalf("editing leads to %q", edit)
	}
	if c := s.cashier.Get(path); c.Find("#problems").Length() != 0 || strings.Contains(c.Text("main"), "@example.com") {
		t.Error("a cashier sees addresses")
	}
	one := a.Fields("#problems tbody tr:first-child form")
	flash := func(form url.Values) string {
		t.Helper()
		return s.manager.Submit(path+"/retry", form).Text("#flashes")
	}
	if got := flash(one); figures(got) != "1" {
		t.Errorf("one: %q", got)
	}
	if got := flash(one); got == "" || figures(got) != "" {
		t.Errorf("one twice: %q", got)
	}
	// The address that did not exist is corrected.
	s.change("update loyalty.customer set email = 'new@example.com', email_key = 'new@example.com' where tenant_id = $1 and id = $2",
		idOf(t, strings.TrimSuffix(edit[0], "/edit")))
	a = s.manager.Get(path)
	if got := a.Text("#problems tbody"); !strings.Contains(got, "new@example.com") || len(a.Links("#problems td a.btn")) != 0 {
		t.Errorf("corrected: %q", got)
	}
	if got := a.Text("#retry-all"); figures(got) != "2" {
		t.Errorf("all: %q", got)
	}
	if got := flash(nil); figures(got) != "2" {
		t.Errorf("all: %q", got)
	}
	if now := s.only(); now.Failed != 1 || now.Status != coupon.Mailing {
		t.Errorf("it is %+v", now)
	}
	again := s.DB.Now().Add(9 * time.Minute)
	s.change("update loyalty.voucher_mail set due_at = $2 where tenant_id = $1 and status = 'queued' and error is not null", again)
	want := again.In(s.By.Tenant.TimeZone).Format("15:04")
	if got := s.manager.Get(path).Text("#problems td:nth-child(3)"); strings.Count(got, want) != 3 {
		t.Errorf("being retried: %q, want %q three times", got, want)
	}
	if a := s.manager.Post(path+"/retry", webtest.Form("voucher", "x")); a.Code != http.StatusNotFound {
		t.Errorf("no voucher: %d", a.Code)
	}
}

// The lists of a send have pages of their own. The number to retry counts all pages.
func TestSendLists(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	sent, path := s.sentTo(30)
	replies := make([]string, 28)
	for i := range replies {
		replies[i] = "452 4.2.2 Full"
	}
	s.failed(sent.ID, replies...)
	a := s.manager.Get(path)
	if got := a.Find("#problems tbody tr").Length(); got != 25 || figures(a.Text("#retry-all")) != "28" {
		t.Errorf("%d failed are listed, %q", got, a.Text("#retry-all"))
	}
	if got := a.Find("#sent tbody tr").Length(); got != 25 {
		t.Errorf("%d vouchers are listed", got)
	}
	labels := map[string]bool{}
	a.Find("nav[aria-label]").Each(func(_ int, nav *goquery.Selection) { labels[nav.AttrOr("aria-label", "")] = true })
	if pagers := a.Find("#problems nav[aria-label], #sent nav[aria-label]").Length(); pagers != 2 || len(labels) < 2 {
		t.Errorf("the pagers are %v", labels)
	}
	for list, want := range map[string]int{"problems": 3, "sent": 6} {
		next := a.Find("#"+list+" nav a").Last().AttrOr("hx-get", "")
		part := s.manager.Get(next, "Hx-Request", "true", "Hx-Target", list)
		if got := part.Find("tbody tr").Length(); got != want || part.Find("#"+list).Length() != 1 || part.Find("h1").Length() != 0 {
			t.Errorf("the next page of %s has %d lines", list, got)
		}
		whole := s.manager.Get(next)
		for other, n := range map[string]int{"problems": 25, "sent": 25, list: want} {
			if got := whole.Find("#" + other + " tbody tr").Length(); got != n {
				t.Errorf("the page of %s has %d lines of %s, want %d", list, got, other, n)
			}
		}
		if back := s.manager.Get(part.Find("nav a").First().AttrOr("href", "")).Find("#" + list + " tbody tr").Length(); back != 25 {
			t.Errorf("back there are %d", back)
		}
	}
	row := a.Find("#sent tbody tr").First()
	if v, c := row.Find("td:last-child a").AttrOr("href", ""), row.Find("td:first-child a").AttrOr("href", ""); !strings.HasPrefix(v, "/admin/vouchers/0") || !strings.HasPrefix(c, "/admin/customers/0") {
		t.Errorf("a voucher leads to %q and %q", v, c)
	}
	if a := s.manager.Ask(http.MethodGet, path+"?list=sent&cursor=x"); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("a broken cursor: %d", a.Code)
	}
}

// A send that is not among the latest has its page too. The send of another coupon is not found.
func TestSendBelongsToItsCoupon(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	_, path := s.sentTo(1)
	s.change(`insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, send_at, actor_kind, actor_id, actor_name, created_at)
		select $1, loyalty.new_ulid(later), $2, 'all', 'more ' || n, later, 'staff', '1', 'Bo Ek', later
		from generate_series(1, 30) n, (select now() + interval '1 s' as later) l`, idOf(t, s.path))
	a := s.manager.Get(path)
	if a.Text(".send-numbers") == "" || a.Find("tr[aria-current]").Length() != 0 || figures(a.Text(".send-lists .card-footer")) != "25" {
		t.Errorf("an old one: %q", a.Text("main"))
	}
	if got := s.manager.Get(s.path).Text("main .card-footer"); figures(got) != "25 31" {
		t.Errorf("the coupon's page: %q", got)
	}
	other := s.made(percentOff("Summer", "20"))
	elsewhere := other + strings.TrimPrefix(path, s.path)
	for _, p := range []string{elsewhere, elsewhere + "/cancel"} {
		if a := s.manager.Ask(http.MethodGet, p); a.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d", p, a.Code)
		}
	}
	for _, action := range []string{"/cancel", "/stop", "/resume", "/retry"} {
		if a := s.manager.Post(elsewhere+action, nil); a.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d", action, a.Code)
		}
		if a := s.cashier.Post(path+action, nil); a.Code != http.StatusForbidden {
			t.Errorf("POST %s as a cashier = %d", action, a.Code)
		}
	}
	stranger := newSender(t)
	if a := stranger.manager.Ask(http.MethodGet, stranger.path+strings.TrimPrefix(path, s.path)); a.Code != http.StatusNotFound {
		t.Errorf("another tenant's send = %d", a.Code)
	}
}
