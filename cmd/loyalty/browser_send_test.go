package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/web/browsertest"
)

// testSend sends a coupon from its page: to a segment now, with a test before it and
// progress that moves by itself, then to chosen customers later; and looks at every state
// that a send can be in.
func testSend(t *testing.T, c cafe) {
	d := connect(t, c.in.url())
	p := c.page(t)
	c.signIn(t, p, core.Manager)

	p.Open("/admin/coupons/new")
	p.Fill("Name", "A bun, on us")
	p.Fill("Description", "A warm cinnamon bun with your next coffee.")
	p.Click("Percent off")
	p.Fill("Percent", "100")
	p.Fill("Days that a voucher is good", "45")
	p.Fill("Vouchers for each customer", "3")
	p.Fill("Redemptions in all", "5")
	p.Click("Make the coupon")
	coupon := p.Path()
	p.Within(".page-header").Click("Send vouchers")
	p.WaitFor("Will receive a voucher")
	p.WaitFor("Counted at")
	look(t, p, "send", "", stays)

	// Other tests sell to the café's customers meanwhile, so no number is expected twice.
	button := func() (text string) {
		t.Helper()
		text = p.Text("#send-button")
		if count := p.Text(".send-receive"); text != "Send to "+count+" customers" {
			t.Errorf("the button says %q for %s customers", text, count)
		}
		return text
	}
	all := button()
	p.WaitFor("Only 5 redemptions are left.")
	p.Click("Bought in the last 30 days")
	if button() == all {
		t.Errorf("%s, whatever the segment", all)
	}
	p.Fill("Subject", "")
	p.Click("Send test")
	p.WaitFor("Enter a subject")
	p.Click(button())
	p.WaitFor("Enter a subject")
	p.WaitFor("Counted at") // the page with what was typed, counted again
	button()
	look(t, p, "send-refused", "", stays)
	p.Fill("Subject", "A cinnamon bun, on us")
	p.Press("Enter") // which must not send
	p.Click("Send test")
	p.WaitFor("Test sent to " + people[core.Manager] + " at ")

	if n := ask[int](d, "select count(*) from loyalty.coupon_send s join loyalty.coupon c on c.id = s.coupon_id where c.name = 'A bun, on us'"); n != 0 {
		t.Errorf("%d sends before anybody confirmed one", n)
	}
	p.Click(button())
	p.WaitFor("Vouchers created")
	look(t, p, "send-mailing", "", stays)
	sent := p.Path()
	p.WaitFor("Mailed") // by itself
	p.WaitFor("Done")
	look(t, p, "send-done", "", stays)
	delivered := p.Text(".send-numbers div:first-child dd")
	await(t, "the mails are there", func() bool {
		kept := ask[int](d, "select count(*) from loyalty.mail where status = 'kept' and subject = 'A cinnamon bun, on us'")
		return fmt.Sprint(kept-1) == delivered // and the test
	})
	mails := c.browser.NewPage(t, c.address(""))
	c.mail(t, mails.Open)
	mails.WaitFor("A cinnamon bun, on us")
	vouchersInHands(t, c, d, mails)
	p.Open(coupon)
	look(t, p, "coupon-sent", "", stays)
	p.Within("table").Click("Bought in the last 30 days")
	if at := p.Path(); !strings.HasPrefix(sent, at) {
		t.Errorf("the history leads to %s, not %s", at, sent)
	}

	chooseAndSchedule(t, c, p, coupon)
	sendStates(t, c, p, d, coupon)
}

// vouchersInHands opens an e-mail of the send, follows its link to the voucher on a phone, and
// has that voucher redeemed in the panel and another one through the API.
func vouchersInHands(t *testing.T, c cafe, d database, mails *browsertest.Page) {
	t.Helper()
	const ofTheSend = `
		select v.id
		from loyalty.voucher v
		join loyalty.mail m on m.id = v.id
		where m.subject = 'A cinnamon bun, on us'
		order by v.id `
	first, last := ask[core.ID](d, ofTheSend+"limit 1"), ask[core.ID](d, ofTheSend+"desc limit 1")
	mails.Open("/mail/" + first.String())
	link := regexp.MustCompile(`https://\S+/v/\S+`).FindString(mails.Text(".plain"))
	if link == "" {
		t.Fatalf("the e-mail has no link: %s", mails.Text(".plain"))
	}
	phone := c.page(t)
	phone.Emulate(390, 844, false)
	phone.Open(link)
	phone.WaitFor("Valid")
	phone.WaitFor("off your order")

	till := c.page(t)
	c.signIn(t, till, core.Cashier)
	till.Open("/admin/vouchers")
	till.Fill("Voucher code or link", link)
	till.Press("Enter")
	till.WaitFor("Take 100% off the bill")
	till.Within("main").Click("Redeem")
	till.WaitFor("A redeemed voucher can't be used again.")
	till.Within("#dialog").Click("Redeem")
	till.WaitFor("Redeemed. Take 100% off the bill.")
	phone.Open(link)
	phone.WaitFor("Used")

	redeem := "/api/v1/coupons/" + last.String() + "/redeem"
	if got := c.expect(t, http.StatusOK, http.MethodPost, redeem, c.token, ""); !strings.Contains(got.body, `"redeemed"`) {
		t.Errorf("through the API: %s", got.body)
	}
	c.expect(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/coupons/"+first.String()+"/redeem", c.token, "")
}

// chooseAndSchedule sends to customers who are searched for, pasted and taken from a report,
// tomorrow; and cancels it.
func chooseAndSchedule(t *testing.T, c cafe, p *browsertest.Page, coupon string) {
	t.Helper()
	d := connect(t, c.in.url())
	p.Open(coupon + "/send")
	p.Click("Chosen customers")
	p.WaitFor("Choose at least one customer.")
	look(t, p, "send-none-chosen", "", stays)
	p.Fill("Find customers", "anna.lindqvist@example.net")
	p.WaitFor("Anna Lindqvist")
	p.Within("#found").Click("Add")
	p.WaitFor("Anna Lindqvist added")
	p.WaitFor("Send to 1 customer")
	p.Click("Add top customers")
	p.WaitFor("customers added")
	p.Click("Paste ULIDs")
	ulid := ask[core.ID](d, "select id from loyalty.customer where status = 'active' and last_name like 'B%' order by id limit 1").String()
	p.Fill("ULIDs", ulid+" 01JZZZZZZZZZZZZZZZZZZZZZZZ")
	p.Click("Add pasted")
	p.WaitFor("Not added, because no customer has this ULID:")
	look(t, p, "send-chosen", "", stays)
	count := p.Text("#segment-manual-count")
	p.Within(".chosen").Click("Remove Anna Lindqvist")
	p.WaitFor("Anna Lindqvist removed")
	if got := p.Text("#segment-manual-count"); got == count {
		t.Errorf("%s are still chosen after one was removed", got)
	}
	p.Click("Later")
	tomorrow := time.Now().AddDate(0, 0, 2)
	p.Fill("Date", tomorrow.Format(time.DateOnly))
	p.Fill("Time", "08:00")
	p.WaitFor("if you send on " + tomorrow.Format("2 Jan 2006"))
	look(t, p, "send-later", "", stays)
	p.Click(p.Text("#send-button"))
	p.WaitFor("Scheduled")
	look(t, p, "send-waiting", "", stays)
	sent := p.Path()
	p.Click("Cancel send")
	p.WaitFor("No vouchers are created and no e-mails are sent.")
	p.Within("#dialog").Click("Cancel send")
	p.WaitFor("No vouchers were created.")
	look(t, p, "send-cancelled", "", func() { p.Open(sent) })
}

// sendStates looks at sends that take long, or go wrong: their rows are written here, since no
// mail server is.
func sendStates(t *testing.T, c cafe, p *browsertest.Page, d database, coupon string) {
	t.Helper()
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
	// The job that looks after sends must not mail them meanwhile.
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
		p.WaitFor(fmt.Sprintf("%d of 323", done+5))
		set(mailing, fmt.Sprintf("delivered = %d", done))
	}
	p.WaitFor("minutes left")
	look(t, p, "send-mailing-failures", "", stays)

	p.Click("Stop e-mails")
	p.WaitFor("All vouchers stay valid.")
	look(t, p, "send-stopped", "", func() { p.Open(address(mailing)) })
	d.exec("update loyalty.voucher_mail set due_at = now() where send_id = $1 and status = 'queued' and error is null", mailing)
	p.Within("#problems").Click("Retry 3 e-mails")
	p.WaitFor("3 e-mails are being retried.")
	await(t, "they are delivered", func() bool {
		return ask[int](d, "select count(*) from loyalty.voucher_mail where send_id = $1 and status = 'queued' and (error is null or attempts = 0)", mailing) == 0
	})
	set(mailing, "status = 'done', delivered = 320, failed = 3, ended_at = now()")
	look(t, p, "send-done-failures", "", func() { p.Open(address(mailing)) })

	creating := add("creating")
	set(creating, "status = 'waiting', evaluated_at = null, matched = 0, sent = 0, skipped_limit = 0, skipped_inactive = 0, no_email = 0, unsubscribed = 0, mails = 0")
	look(t, p, "send-creating", "", func() { p.Open(address(creating)) })
	set(creating, "begun_at = null, send_at = now() + interval '2 minutes'")
	p.WaitFor("Scheduled") // by itself, and with a button to cancel it
	p.Within(".page-header").WaitFor("Cancel send")
	set(creating, "status = 'failed', begun_at = now(), ended_at = now(), failure = 'coupon-inactive'")
	p.WaitFor("The coupon was inactive when it was due")
	look(t, p, "send-failed", "", stays)
	look(t, p, "coupon-history", "", func() { p.Open(coupon) })

	// What can't be sent says so.
	p.Within(".page-header").Click("Deactivate")
	look(t, p, "send-inactive", "", func() { p.Open(coupon + "/send") })
	p.Expect(http.StatusUnprocessableEntity)
	p.Click("Activate coupon")
	p.WaitFor("Will receive a voucher") // back on the page it was asked from
}

// testSendWithoutJavaScript chooses a customer and sends by plain forms.
func testSendWithoutJavaScript(t *testing.T, c cafe) {
	p := c.page(t)
	p.WithoutJavaScript()
	c.signIn(t, p, core.Manager)
	p.Open("/admin/coupons/new")
	p.Fill("Name", "Two stamps")
	p.Click("Stamps")
	p.Fill("Stamps", "2")
	p.Click("Make the coupon")
	p.Within(".page-header").Click("Send vouchers")
	p.Click("Bought in the last 30 days")
	p.Fill("Subject", "Two stamps for you")
	p.Click("Update preview")
	p.WaitFor("Counted at")
	if got, want := p.Text("#send-button"), "Send to "+p.Text(".send-receive")+" customers"; got != want {
		t.Errorf("the button says %q, want %q", got, want)
	}
	p.Click("Chosen customers")
	p.Click(p.Text("#send-button")) // which is of the other audience
	p.WaitFor("The audience was changed.")
	p.Fill("Find customers", "anna.lindqvist@example.net")
	p.Click("Find")
	p.Within("#found").Click("Add")
	p.WaitFor("Anna Lindqvist added")
	p.Click("Send to 1 customer")
	for range 100 {
		if strings.Contains(p.Text("main"), "Mailed") {
			break
		}
		p.Click("Refresh")
	}
	p.WaitFor("Mailed")
	p.WaitFor("Two stamps for you")
}
