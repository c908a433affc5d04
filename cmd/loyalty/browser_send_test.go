package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/loyalty/core"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/web/browsertest"
)

// Selectors of the pages of a send.
const (
	counted    = "#counted:not(:empty)" // when the segments were counted
	sendButton = "#send-button"
	sendSteps  = ".send-progress"
	sendOver   = "#send-progress:not([data-poll])"
	cancelSend = "#cancel-send"
)

// anEmailSQL finds the e-mail address of a customer.
const anEmailSQL = "select email from loyalty.customer where status = 'active' and email is not null and unsubscribed_at is null order by id limit 1"

// segment selects the label of a segment.
func segment(value string) string {
	return fmt.Sprintf(".choice:has([name=segment][value=%s]) label", value)
}

// testSend sends a coupon to a segment, with a test e-mail first and live progress, and schedules a send
// to chosen customers. It looks at every state of a send.
func testSend(t *testing.T, c cafe) {
	d := connect(t, c.in.url())
	p := c.page(t)
	c.signIn(t, p, core.Manager)

	p.Open("/admin/coupons/new")
	p.Fill("name", "A bun, on us")
	p.Fill("description", "A warm cinnamon bun with your next coffee.")
	p.Click(choice("benefit_type", "percent"))
	p.Fill("percent", "100")
	p.Fill("voucher_valid_days", "45")
	p.Fill("max_per_customer", "3")
	p.Fill("max_redemptions", "5")
	p.Click(submitOf("/coupons/new"))
	coupon := p.Path()
	p.Click(".page-header " + linkTo("/send"))
	p.WaitForText(counted, "")
	look(t, p, "send", nil)

	// Other tests sell to the café's customers meanwhile, so no number is expected twice.
	receivers := func() string {
		t.Helper()
		count := p.Text(".send-receive")
		p.WaitForText(sendButton, count)
		return count
	}
	all := receivers()
	p.WaitForText(".send-warning", "5")
	p.Click(segment("recent_purchase"))
	if receivers() == all {
		t.Errorf("another segment has %s customers too", all)
	}
	p.Fill("subject", "")
	p.Click("#send-test")
	p.WaitFor("#test .text-red")
	p.Click(sendButton)
	p.WaitFor("#field-subject-error")
	p.WaitFor(counted) // the page with what was typed, counted again
	receivers()
	look(t, p, "send-refused", nil)
	p.Fill("subject", "A cinnamon bun, on us")
	p.Press(kb.Enter) // must not send
	p.Click("#send-test")
	p.WaitForText("#test", addresses[core.Manager])

	if n := ask[int](d, "select count(*) from loyalty.coupon_send s join loyalty.coupon c on c.id = s.coupon_id where c.name = 'A bun, on us'"); n != 0 {
		t.Errorf("%d sends before one was confirmed", n)
	}
	p.Click(sendButton)
	p.WaitFor(sendSteps)
	look(t, p, "send-mailing", nil)
	sent := p.Path()
	p.WaitFor(sendOver) // by itself
	look(t, p, "send-done", nil)
	delivered := p.Text(".send-numbers div:first-child dd")
	await(t, "the mails are there", func() bool {
		kept := ask[int](d, "select count(*) from loyalty.mail where status = 'kept' and subject = 'A cinnamon bun, on us'")
		return fmt.Sprint(kept-1) == delivered // and the test
	})
	mails := c.browser.NewPage(t, c.address(""))
	c.mail(t, mails.Open)
	mails.WaitForText(".mails a", "A cinnamon bun, on us")
	vouchersInHands(t, c, d, mails)
	p.Open(coupon)
	look(t, p, "coupon-sent", nil)
	p.Click(".send-table a")
	if at := p.Path(); !strings.HasPrefix(sent, at) {
		t.Errorf("the history leads to %s, not %s", at, sent)
	}

	chooseAndSchedule(t, c, p, coupon)
	sendStates(t, c, p, d, coupon)
}

// vouchersInHands opens an e-mail of the send and its link on a phone. Then it redeems that voucher in
// the panel and another one through the API.
func vouchersInHands(t *testing.T, c cafe, d database, mails *browsertest.Page) {
	const ofTheSend = `
		select v.id
		from loyalty.voucher v
		join loyalty.mail m on m.id = v.id
		where m.subject = 'A cinnamon bun, on us'
		order by v.id `
	first, last := ask[core.ID](d, ofTheSend+"limit 1"), ask[core.ID](d, ofTheSend+"desc limit 1")
	mails.Open("/mail/" + first.String())
	path := regexp.MustCompile(`https://\S+(/v/\S+)`).FindStringSubmatch(mails.Text(".plain"))
	if path == nil {
		t.Fatalf("the e-mail has no link: %s", mails.Text(".plain"))
	}
	link := c.address(demo.Slug) + path[1] // the process of testUnsentForm, which has its own address, may have sent it
	phone := c.page(t)
	phone.Emulate(390, 844, false)
	phone.Open(link)
	phone.WaitFor(".pass-code")

	till := c.page(t)
	c.signIn(t, till, core.Cashier)
	till.Open("/admin/vouchers")
	till.Fill("code", link)
	till.Press(kb.Enter)
	till.WaitForText(".voucher-instruction", "100%")
	till.Click(linkTo("/redeem"))
	till.Click(submitOf("/redeem"))
	till.WaitForText(done, "100%")
	phone.Open(link)
	phone.WaitFor(".pass-over")

	redeem := "/api/v1/coupons/" + last.String() + "/redeem"
	if got := c.expect(t, http.StatusOK, http.MethodPost, redeem, c.token, ""); !strings.Contains(got.body, `"redeemed"`) {
		t.Errorf("through the API: %s", got.body)
	}
	c.expect(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/coupons/"+first.String()+"/redeem", c.token, "")
}

// chooseAndSchedule schedules a send to customers who are searched for, pasted and added as top
// customers, and cancels it.
func chooseAndSchedule(t *testing.T, c cafe, p *browsertest.Page, coupon string) {
	d := connect(t, c.in.url())
	p.Open(coupon + "/send")
	p.Click(segment("manual"))
	p.WaitFor("#send-disabled")
	look(t, p, "send-none-chosen", nil)
	first := ask[string](d, anEmailSQL)
	p.Fill("customer_search", first)
	p.Click("#found [name=add]")
	p.WaitForText(".chosen-row", first)
	p.WaitForText(sendButton, "1 ")
	p.Click("#add-top")
	p.WaitFor(".chosen-row:nth-child(2)")
	p.Click(".chooser-paste summary")
	ulid := ask[core.ID](d, "select id from loyalty.customer where status = 'active' and last_name like 'B%' order by id limit 1").String()
	p.Fill("paste", ulid+" 01JZZZZZZZZZZZZZZZZZZZZZZZ")
	p.Click("#add-pasted")
	p.WaitForText("#chooser [role=alert]", "01JZZZZZZZZZZZZZZZZZZZZZZZ")
	look(t, p, "send-chosen", nil)
	count := p.Text("#segment-manual-count")
	remove := ".chosen [name=remove][value='" + ask[core.ID](d, "select id from loyalty.customer where email = $1", first).String() + "']"
	p.Click(remove)
	p.WaitUntilGone(remove)
	if got := p.Text("#segment-manual-count"); got == count {
		t.Errorf("%s are still chosen after one was removed", got)
	}
	p.Click("[for=when-later]")
	tomorrow := time.Now().AddDate(0, 0, 2)
	p.Fill("send_date", tomorrow.Format(time.DateOnly))
	p.Fill("send_time", "08:00")
	p.WaitForText("#validity", tomorrow.Format("2 Jan 2006"))
	look(t, p, "send-later", nil)
	p.Click(sendButton)
	p.WaitFor(cancelSend)
	look(t, p, "send-waiting", nil)
	sent := p.Path()
	p.Click(cancelSend)
	p.Click(submitOf("/cancel"))
	p.WaitFor(".send-notice")
	look(t, p, "send-cancelled", func() { p.Open(sent) })
}

// sendStates looks at sends that take long or fail. It writes their rows, since there is no mail server.
func sendStates(t *testing.T, c cafe, p *browsertest.Page, d database, coupon string) {
	id, err := core.ParseID(coupon[strings.LastIndexByte(coupon, '/')+1:])
	if err != nil {
		t.Fatal(err)
	}
	add := func(key string) core.ID {
		t.Helper()
		return ask[core.ID](d, `
			with made as (
				insert into loyalty.coupon_send (tenant_id, id, coupon_id, segment, form_key, send_at, subject, actor_kind, actor_id, actor_name, created_at,
					begun_at, evaluated_at, matched, sent, skipped_limit, skipped_inactive, no_email, unsubscribed, mails)
				select id, loyalty.new_ulid(now()), $2, 'long_standing', $3, now() - interval '7 minutes', 'A cinnamon bun, on us', 'staff', '1', 'Emre Aydın', now() - interval '7 minutes',
					now() - interval '7 minutes', now() - interval '7 minutes', 366, 354, 9, 3, 28, 3, 323
				from loyalty.tenant
				where slug = $1
				returning tenant_id, id
			), voucher as (
				insert into loyalty.voucher (tenant_id, id, coupon_id, send_id, customer_id, created_at)
				select made.tenant_id, loyalty.new_ulid(now()), $2, made.id, k.id, now() - interval '7 minutes'
				from made
				join (select * from loyalty.customer where email is not null and unsubscribed_at is null order by id limit 30) k on k.tenant_id = made.tenant_id
				returning tenant_id, id, send_id
			), mail as (
				insert into loyalty.voucher_mail (tenant_id, voucher_id, send_id, due_at)
				select tenant_id, id, send_id, now()
				from voucher
			)
			select id
			from made`, demo.Slug, id, key)
	}
	set := func(send core.ID, columns string) {
		t.Helper()
		d.exec("update loyalty.coupon_send set "+columns+" where id = $1", send)
	}
	address := func(send core.ID) string { return coupon + "/sends/" + send.String() }

	mailing := add("mailing")
	// The job that sends e-mails must not take these.
	d.exec("update loyalty.voucher_mail set due_at = now() + interval '1 hour' where send_id = $1", mailing)
	d.exec(`
		update loyalty.voucher_mail m
		set status = case when said.again then 'queued' else 'failed' end, attempts = 1, error = said.reply, permanent = said.permanent,
			due_at = now() + interval '9 minutes', recipient = k.email, done_at = case when said.again then null else now() end
		from unnest($2::text[], $3::boolean[], $4::boolean[]) with ordinality said (reply, permanent, again, n),
			(select voucher_id, row_number() over (order by voucher_id) as n from loyalty.voucher_mail where send_id = $1) queued,
			loyalty.voucher v, loyalty.customer k
		where queued.n = said.n
			and m.voucher_id = queued.voucher_id
			and v.id = m.voucher_id
			and k.id = v.customer_id`, mailing,
		[]string{"550 5.1.1 No such user", "452 4.2.2 The mailbox is full", "550 5.7.1 Message content rejected as spam by policy", "451 4.7.1 Greylisted, try again in five minutes", "EOF", "452 4.2.2 The mailbox is full", "550 5.1.1 No such user"},
		[]bool{true, false, true, false, false, false, true}, []bool{false, false, false, true, false, false, false})
	set(mailing, "status = 'mailing', delivered = 205, failed = 6, redeemed = 2")
	p.Open(address(mailing))
	for done := 206; done < 212; done++ { // by itself
		p.WaitForText(sendSteps, fmt.Sprintf("%d of 323", done+5))
		set(mailing, fmt.Sprintf("delivered = %d", done))
	}
	p.WaitFor(".send-step-words span:nth-child(2):not(:empty)") // the time left
	look(t, p, "send-mailing-failures", nil)

	p.Click("#stop-mails")
	p.WaitFor("#resume-mails")
	look(t, p, "send-stopped", func() { p.Open(address(mailing)) })
	d.exec("update loyalty.voucher_mail set due_at = now() where send_id = $1 and status = 'queued' and error is null", mailing)
	p.WaitForText("#retry-all", "3 ")
	p.Click("#retry-all")
	await(t, "they are delivered", func() bool {
		return ask[int](d, "select count(*) from loyalty.voucher_mail where send_id = $1 and status = 'queued' and (error is null or attempts = 0)", mailing) == 0
	})
	set(mailing, "status = 'done', delivered = 320, failed = 3, ended_at = now()")
	look(t, p, "send-done-failures", func() { p.Open(address(mailing)) })

	creating := add("creating")
	// It is sent later, and so the job that takes up sends leaves it alone.
	set(creating, "send_at = now() + interval '2 minutes', status = 'waiting', evaluated_at = null, matched = 0, sent = 0, skipped_limit = 0, skipped_inactive = 0, no_email = 0, unsubscribed = 0, mails = 0")
	look(t, p, "send-creating", func() { p.Open(address(creating)) })
	set(creating, "begun_at = null")
	p.WaitFor(cancelSend) // by itself
	set(creating, "status = 'failed', begun_at = now(), ended_at = now(), failure = 'coupon-inactive'")
	p.WaitFor(".send-notice")
	look(t, p, "send-failed", nil)
	look(t, p, "coupon-history", func() { p.Open(coupon) })

	// A coupon that can't be sent says why.
	p.Click("main " + linkTo("/deactivate"))
	p.Click("#dialog " + submitOf("/active"))
	p.WaitFor(done)
	look(t, p, "send-inactive", func() { p.Open(coupon + "/send") })
	p.Click(submitOf("/active"))
	p.WaitFor(".send-receive") // back on the page that offered to activate it
}

// testSendWithoutJavaScript chooses a customer and sends by plain forms.
func testSendWithoutJavaScript(t *testing.T, c cafe) {
	p := c.page(t)
	p.DisableScripts()
	c.signIn(t, p, core.Manager)
	p.Open("/admin/coupons/new")
	p.Fill("name", "Two stamps")
	p.Click(choice("benefit_type", "stamps"))
	p.Fill("stamps", "2")
	p.Click(submitOf("/coupons/new"))
	p.Click(".page-header " + linkTo("/send"))
	p.Click(segment("recent_purchase"))
	p.Fill("subject", "Two stamps for you")
	p.Click("#summary noscript button")
	p.WaitFor(counted)
	p.WaitForText(sendButton, p.Text(".send-receive"))
	p.Click(segment("manual"))
	p.Click(sendButton) // with the figures of the other audience
	p.WaitFor(refused)
	email := ask[string](connect(t, c.in.url()), anEmailSQL)
	p.Fill("customer_search", email)
	p.Click("#chooser noscript button")
	p.Click("#found [name=add]")
	p.WaitForText(".chosen-row", email)
	p.WaitForText(sendButton, "1 ")
	p.Click(sendButton)
	for p.WaitFor(sendOver + ", noscript a"); strings.Contains(browsertest.Run(p, chromedp.OuterHTML(chromedp.CSS("main"))), "<noscript"); {
		p.Click("noscript a")
	}
	p.WaitFor(sendOver)
	p.WaitForText(".send-facts", "Two stamps for you")
}
