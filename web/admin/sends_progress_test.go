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
)

// sentTo is a send of the coupon to so many customers with e-mail addresses, whose vouchers
// exist; and its page.
func (s *sender) sentTo(t *testing.T, customers int) (sent coupon.SendDetail, path string) {
	t.Helper()
	for range customers {
		s.mailable(t, "Ida", fmt.Sprintf("c%d@example.com", people.Add(1)))
	}
	s.send(t, s.path, "one")
	sent = s.only(t)
	return sent, s.path + "/sends/" + sent.ID.String()
}

// failed notes what a mail server said of the e-mails of some vouchers, in their order.
func (s *sender) failed(t *testing.T, send core.ID, replies ...string) {
	t.Helper()
	s.change(t, `
		update loyalty.voucher_mail m
		set status = 'failed', attempts = 1, error = said.reply, permanent = said.reply like '5%' or said.reply like 'mail:%',
			recipient = (select email from loyalty.customer k join loyalty.voucher v on v.tenant_id = k.tenant_id and v.customer_id = k.id
				where v.tenant_id = m.tenant_id and v.id = m.voucher_id), done_at = now()
		from unnest($3::text[]) with ordinality said (reply, n),
			(select voucher_id, row_number() over (order by voucher_id) as n from loyalty.voucher_mail where tenant_id = $1 and send_id = $2) queued
		where queued.n = said.n
			and m.tenant_id = $1
			and m.voucher_id = queued.voucher_id`, send, replies)
	s.change(t, "update loyalty.coupon_send set failed = $3 where tenant_id = $1 and id = $2", send, len(replies))
}

// The page says how far a send is, and what can be done about it, in each of its states.
func TestHowFarASendIs(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	sent, path := s.sentTo(t, 4) // and to Elsa, who has no e-mail address
	set := func(columns string) {
		t.Helper()
		s.change(t, "update loyalty.coupon_send set "+columns+" where tenant_id = $1 and id = $2", sent.ID)
	}
	says := func(state, steps, figures, notice, action string) {
		t.Helper()
		a := s.manager.get(path)
		if got := a.words(".send-progress li"); got != steps {
			t.Errorf("%s: %q\nwant %q", state, got, steps)
		}
		if got := a.words(".send-numbers"); got != figures {
			t.Errorf("%s: figures %q, want %q", state, got, figures)
		}
		if got := a.words(".send-notice"); got != notice {
			t.Errorf("%s: %q, want %q", state, got, notice)
		}
		if got := a.words("#send-actions"); got != action {
			t.Errorf("%s: %q is offered, want %q", state, got, action)
		}
		over := strings.HasPrefix(state, "over")
		if polls := a.Find("#send-progress[hx-get]").Length() == 1; polls == over || a.Find("[data-poll]").Length() == 1 == over {
			t.Errorf("%s: it looks again: %t", state, polls)
		}
		if c := s.cashier.get(path); c.words("#send-actions") != "" || c.Find("main form, main a[href$='/send']").Length() != 0 || c.words(".send-progress") != a.words(".send-progress") {
			t.Errorf("%s: a cashier sees %q", state, c.words("main"))
		}
	}
	set("evaluated_at = now()")
	at := s.only(t).EvaluatedAt.In(s.by.Tenant.TimeZone).Format("Today, 15:04")
	set("delivered = 2, failed = 1")
	says("mailing", "Done: Vouchers created 5 · "+at+" 2 Mailing 3 of 4 3 Done", "Delivered 2 Failed 1 Waiting 1 Redeemed so far 0", "", "Stop e-mails")
	set("created_at = now() - interval '10 minutes'")
	says("long mailing", "Done: Vouchers created 5 · "+at+" 2 Mailing 3 of 4 3 Done We e-mail A owner", "Delivered 2 Failed 1 Waiting 1 Redeemed so far 0", "", "Stop e-mails")

	if a := s.manager.posted(path+"/stop", nil); a.words("h1") == "" {
		t.Error("stopping leads nowhere")
	}
	says("stopped", "Done: Vouchers created 5 · "+at+" 2 E-mails stopped 3 of 4 3 Done We e-mail A owner", "Delivered 2 Failed 1 Not sent 1 Redeemed so far 0",
		"E-mails stopped. 1 e-mail has not been sent. All vouchers stay valid.", "Resume e-mails")
	s.manager.posted(path+"/resume", nil)
	if got := s.only(t).Status; got != coupon.Mailing {
		t.Errorf("resumed it is %s", got)
	}
	set("status = 'done', delivered = 3, redeemed = 2, ended_at = evaluated_at")
	says("over: done", "Done: Vouchers created 5 · "+at+" Done: Mailed 4 of 4 Done: Done "+at, "Delivered 3 Failed 1 Waiting 0 Redeemed so far 2", "", "")
	if got := s.manager.get(path).words("tr[aria-current] .badge"); got != "1 failed" {
		t.Errorf("the history says %q", got)
	}

	waiting := "status = 'waiting', evaluated_at = null, ended_at = null, sent = 0, matched = 0, mails = 0, no_email = 0, delivered = 0, failed = 0, redeemed = 0, expires_at = null, "
	set(waiting + "begun_at = null, created_at = now()")
	says("starting", "1 Creating vouchers Starting… 2 Mailing 3 Done", "", "", "Cancel send")
	set("begun_at = now()")
	says("creating", "1 Creating vouchers Counting the audience… 2 Mailing 3 Done", "", "", "")
	if a := s.manager.get(path + "/cancel"); a.words("[role=alert]") != "This send has already begun." || a.Find("form[action$='/cancel'] button").Length() != 0 {
		t.Errorf("cancelling is asked: %q", a.words("main"))
	}
	if a := s.manager.post(path+"/cancel", nil); a.Code != http.StatusUnprocessableEntity || a.words("[role=alert]") != "This send has already begun." {
		t.Errorf("cancelled: %d %q", a.Code, a.words("main"))
	}
	for code, words := range map[string]string{
		"coupon-inactive":    "The coupon was inactive when it was due, so no vouchers were created.",
		"coupon-expired":     "The coupon had expired when it was due, so no vouchers were created.",
		"coupon-not-started": "The coupon hadn't started when it was due, so no vouchers were created.",
	} {
		set("status = 'failed', ended_at = now(), failure = '" + code + "'")
		says("over: "+code, "", "", "Not sent. "+words+" View coupon", "")
	}
}

// "0 e-mails" are no step that anybody waits for.
func TestASendWithoutEmails(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	_, path := s.sentTo(t, 0)
	a := s.manager.get(path)
	if got := a.words(".send-progress li:nth-child(2)"); got != "Done: No e-mails to send" || a.Find("#problems").Length() != 0 {
		t.Errorf("it says %q", got)
	}
	if got := a.words("#sent tbody"); !strings.HasPrefix(got, "Elsa Berg <b> E-mail: None Pending None View") {
		t.Errorf("its vouchers: %q", got)
	}
}

// "About 2 minutes left", by the progress that was seen, and only once there was some.
func TestTheTimeThatIsLeft(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	sent, path := s.sentTo(t, 0)
	s.change(t, `update loyalty.coupon_send set status = 'mailing', sent = 1001, matched = 1001, no_email = 1, mails = 1000, delivered = 190, failed = 10, ended_at = null
		where tenant_id = $1 and id = $2`, sent.ID)
	ago := func(done int, before time.Duration) string {
		return fmt.Sprintf("%d.%d", done, s.db.Now().Add(-before).UnixMilli())
	}
	for since, want := range map[string]string{
		"":                       "",
		"nonsense":               "",
		ago(100, 12*time.Second): "About 2 minutes left",
		ago(190, 20*time.Second): "About 27 minutes left",
		ago(199, 25*time.Second): "About 6 hours left",
		ago(0, 5*time.Second):    "Less than a minute left",
		ago(0, 2*time.Second):    "", // too early
		ago(200, 20*time.Second): "", // it does not move
		ago(210, 20*time.Second): "", // some are being retried
		ago(0, 31*time.Second) + "," + ago(150, 16*time.Second):                         "About 4 minutes left", // by the last 16 seconds
		ago(0, 3*time.Second) + "," + ago(0, 2*time.Second) + "," + ago(0, time.Second): "",                     // not ours
	} {
		a := s.manager.get(path+"?since="+url.QueryEscape(since)+"&seen="+url.QueryEscape("mailing true 10"), "Hx-Request", "true", "Hx-Target", "send-progress")
		if got := a.words(".send-step-words span:last-child"); got != want {
			t.Errorf("since %q: %q, want %q", since, got, want)
		}
		next, err := url.Parse(a.Find("#send-progress").AttrOr("hx-get", ""))
		if err != nil || next.Query().Get("since") == "" || next.Query().Get("seen") != "mailing true 10" {
			t.Errorf("it asks next %v", next)
		}
	}
	if got := s.manager.get(path).Find("#send-progress").AttrOr("data-say", ""); got != "Mailing, 20 percent" {
		t.Errorf("said: %q", got)
	}
}

// What looks again gets the progress alone, and the rest of the page when that has changed.
func TestASendThatMoves(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	sent, path := s.sentTo(t, 2)
	poll := func(from answer) answer {
		t.Helper()
		return s.manager.get(from.Find("#send-progress").AttrOr("hx-get", ""), "Hx-Request", "true", "Hx-Target", "send-progress")
	}
	shown := s.manager.get(path)
	s.change(t, "update loyalty.coupon_send set delivered = 1 where tenant_id = $1 and id = $2", sent.ID)
	a := poll(shown)
	if got := a.words(".send-numbers"); got != "Delivered 1 Failed 0 Waiting 1 Redeemed so far 0" || a.Find("#send-lists, #send-actions, h1").Length() != 0 {
		t.Errorf("delivered: %q in %q", got, a.words("body"))
	}
	s.failed(t, sent.ID, "452 4.2.2 The mailbox is full")
	a = poll(a)
	if a.Find("#send-lists[hx-swap-oob] #problems").Length() != 1 || a.words("#send-actions[hx-swap-oob]") != "Stop e-mails" {
		t.Errorf("failed: %q", a.words("body"))
	}
	s.change(t, "update loyalty.coupon_send set status = 'done', ended_at = now() where tenant_id = $1 and id = $2", sent.ID)
	a = poll(a)
	if a.Find("#send-progress[hx-get]").Length() != 0 || a.Find("#send-lists").Length() != 1 || a.words("#send-actions") != "" || a.words("tr[aria-current] .badge") != "1 failed" {
		t.Errorf("done: %q", a.words("body"))
	}
}

// "The reason in plain words from the mail server's reply", and what can be done.
func TestWhyEmailsFail(t *testing.T) {
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
		{"550 5.7.1 Blocked: spam", "Refused as unwanted 550 5.7.1 Blocked: spam", ""},
		{"554 5.6.0 <b>Odd</b> content", "554 5.6.0 <b>Odd</b> content", ""},
		{"dial tcp 192.0.2.1:25: i/o timeout", "The mail server didn't answer", "Retry"},
		{"EOF", "The mail server didn't answer", "Retry"},
		{"mail: missing '@' or angle-addr", "Not a valid address mail: missing '@' or angle-addr", "Edit e-mail"},
		{"Erased", "Customer erased", "Retry"},
	} {
		t.Run(c.reply, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			sent, path := s.sentTo(t, 1)
			s.failed(t, sent.ID, c.reply)
			a := s.manager.get(path)
			if got := a.words("#problems td:nth-child(2)"); got != c.reason {
				t.Errorf("it says %q, want %q", got, c.reason)
			}
			if got := a.words("#problems td:nth-child(3)"); got != c.action {
				t.Errorf("offered: %q, want %q", got, c.action)
			}
		})
	}
}

// "Retry where it can help, Edit e-mail for addresses that don't exist, Retry 3 e-mails for all
// temporary ones; being-retried ones show when."
func TestRetryingEmails(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	sent, path := s.sentTo(t, 5)
	s.failed(t, sent.ID, "550 5.1.1 No", "452 4.2.2 Full", "451 4.7.1 Later", "EOF")
	a := s.manager.get(path)
	if got := a.words("#problems .card-header"); got != "Failed 4 Retry 3 e-mails" || a.Find("#problems tbody tr").Length() != 4 {
		t.Fatalf("failed: %q", got)
	}
	edit := a.links("#problems td a.btn")
	if len(edit) != 1 || !strings.HasSuffix(edit[0], "/edit") {
		t.Fatalf("editing leads to %q", edit)
	}
	if c := s.cashier.get(path); c.Find("#problems").Length() != 0 || strings.Contains(c.words("main"), "@example.com") {
		t.Error("a cashier sees addresses")
	}
	one := a.sends("#problems tbody tr:first-child form")
	flash := func(form url.Values) string {
		t.Helper()
		return s.manager.posted(path+"/retry", form).words("#flashes")
	}
	if got := flash(one); got != "1 e-mail is being retried." {
		t.Errorf("one: %q", got)
	}
	if got := flash(one); !strings.HasPrefix(got, "Nothing to retry.") {
		t.Errorf("one twice: %q", got)
	}
	// Somebody has mended the address that did not exist.
	s.change(t, "update loyalty.customer set email = 'new@example.com', email_key = 'new@example.com' where tenant_id = $1 and id = $2",
		idOf(t, strings.TrimSuffix(edit[0], "/edit")))
	a = s.manager.get(path)
	if got := a.words("#problems tbody"); !strings.Contains(got, ", now new@example.com") || len(a.links("#problems td a.btn")) != 0 {
		t.Errorf("mended: %q", got)
	}
	if got := a.words("#retry-all"); got != "Retry 2 e-mails" {
		t.Errorf("all: %q", got)
	}
	if got := flash(nil); got != "2 e-mails are being retried." {
		t.Errorf("all: %q", got)
	}
	if now := s.only(t); now.Failed != 1 || now.Status != coupon.Mailing {
		t.Errorf("it is %+v", now)
	}
	again := s.db.Now().Add(9 * time.Minute)
	s.change(t, "update loyalty.voucher_mail set due_at = $2 where tenant_id = $1 and status = 'queued' and error is not null", again)
	want := strings.TrimPrefix(again.In(s.by.Tenant.TimeZone).Format("Next try: 15:04"), "")
	if got := s.manager.get(path).words("#problems td:nth-child(3)"); strings.Count(got, want) != 3 && !strings.Contains(got, "Tomorrow") {
		t.Errorf("being retried: %q, want %q three times", got, want)
	}
	if a := s.manager.post(path+"/retry", form("voucher", "x")); a.Code != http.StatusNotFound {
		t.Errorf("no voucher: %d", a.Code)
	}
}

// The lists of a send have pages of their own; how many can be retried is counted of all.
func TestListsOfASend(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	sent, path := s.sentTo(t, 30)
	replies := make([]string, 28)
	for i := range replies {
		replies[i] = "452 4.2.2 Full"
	}
	s.failed(t, sent.ID, replies...)
	a := s.manager.get(path)
	if got := a.Find("#problems tbody tr").Length(); got != 25 || a.words("#retry-all") != "Retry 28 e-mails" {
		t.Errorf("%d failed are listed, %q", got, a.words("#retry-all"))
	}
	if got := a.words("#sent tbody tr:last-child"); a.Find("#sent tbody tr").Length() != 25 || !strings.Contains(got, "Pending") {
		t.Errorf("%d vouchers are listed: %q", a.Find("#sent tbody tr").Length(), got)
	}
	labels := map[string]bool{}
	a.Find("nav[aria-label]").Each(func(_ int, nav *goquery.Selection) { labels[nav.AttrOr("aria-label", "")] = true })
	if !labels["Pages of e-mails"] || !labels["Pages of vouchers"] {
		t.Errorf("the pagers are %v", labels)
	}
	for list, want := range map[string]int{"problems": 3, "sent": 6} {
		next := a.Find("#"+list+" nav a").Last().AttrOr("hx-get", "")
		part := s.manager.get(next, "Hx-Request", "true", "Hx-Target", list)
		if got := part.Find("tbody tr").Length(); got != want || part.Find("#"+list).Length() != 1 || part.Find("h1").Length() != 0 {
			t.Errorf("the next page of %s has %d lines", list, got)
		}
		whole := s.manager.get(next)
		for other, n := range map[string]int{"problems": 25, "sent": 25, list: want} {
			if got := whole.Find("#" + other + " tbody tr").Length(); got != n {
				t.Errorf("the page of %s has %d lines of %s, want %d", list, got, other, n)
			}
		}
		if back := s.manager.get(part.Find("nav a").First().AttrOr("href", "")).Find("#" + list + " tbody tr").Length(); back != 25 {
			t.Errorf("back there are %d", back)
		}
	}
	row := a.Find("#sent tbody tr").First()
	if v, c := row.Find("td:last-child a").AttrOr("href", ""), row.Find("td:first-child a").AttrOr("href", ""); !strings.HasPrefix(v, "/admin/vouchers/0") || !strings.HasPrefix(c, "/admin/customers/0") {
		t.Errorf("a voucher leads to %q and %q", v, c)
	}
	if a := s.manager.ask(http.MethodGet, path+"?list=sent&cursor=x", nil); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("a broken cursor: %d", a.Code)
	}
}

// A send that is not among the latest has its page, too; one of another coupon has none here.
func TestASendOfItsCoupon(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	_, path := s.sentTo(t, 1)
	s.change(t, `insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, send_at, actor_kind, actor_id, actor_name, created_at)
		select $1, loyalty.new_ulid(later), $2, 'all', 'more ' || n, later, 'staff', '1', 'Bo Ek', later
		from generate_series(1, 30) n, (select now() + interval '1 s' as later) l`, idOf(t, s.path))
	a := s.manager.get(path)
	if a.words(".send-numbers") == "" || a.Find("tr[aria-current]").Length() != 0 || !strings.Contains(a.words("main"), "The latest 25 sends.") {
		t.Errorf("an old one: %q", a.words("main"))
	}
	if got := s.manager.get(s.path).words("main .card-footer"); !strings.Contains(got, "The latest 25 of 31 sends.") {
		t.Errorf("the coupon's page: %q", got)
	}
	other := s.made(t, percentOff("Summer", "20"))
	elsewhere := other + strings.TrimPrefix(path, s.path)
	for _, p := range []string{elsewhere, elsewhere + "/cancel"} {
		if a := s.manager.ask(http.MethodGet, p, nil); a.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d", p, a.Code)
		}
	}
	for _, action := range []string{"/cancel", "/stop", "/resume", "/retry"} {
		if a := s.manager.post(elsewhere+action, nil); a.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d", action, a.Code)
		}
		if a := s.cashier.post(path+action, nil); a.Code != http.StatusForbidden {
			t.Errorf("POST %s as a cashier = %d", action, a.Code)
		}
	}
	stranger := newSender(t)
	if a := stranger.manager.ask(http.MethodGet, stranger.path+strings.TrimPrefix(path, s.path), nil); a.Code != http.StatusNotFound {
		t.Errorf("another tenant's send = %d", a.Code)
	}
}
