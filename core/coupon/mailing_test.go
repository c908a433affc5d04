package coupon_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/mail/smtptest"
	"example.com/loyalty/core/privacy"
)

// mailShop is a shop with a mail server.
type mailShop struct {
	shop
	server *smtptest.Server
	sender mail.Sender
}

func newMailShop(t *testing.T) mailShop {
	t.Helper()
	server := smtptest.New(t)
	sender, err := mail.NewSMTP(server.URL, "Loyalty <loyalty@example.com>")
	if err != nil {
		t.Fatal(err)
	}
	return mailShopOf(t, dbtest.DB(t), dbtest.Tenant(t, dbtest.DB(t)), server, sender)
}

func mailShopOf(t *testing.T, d *db.DB, by core.Actor, server *smtptest.Server, sender mail.Sender) mailShop {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	mails := mail.New(d, jobs, rendered, sender, log)
	return mailShop{shop{coupon.NewService(d, jobs, mails, dbtest.Links(), log), jobs, d, by}, server, sender}
}

// rendered renders the parts of a mail that these tests check.
func rendered(_ context.Context, to string, l mail.Email) (mail.Rendered, error) {
	switch l := l.(type) {
	case coupon.VoucherEmail:
		return mail.Rendered{
			Subject: l.Subject, Text: "Hello " + l.FirstName + ", " + l.Message + " /v/" + l.Voucher, HTML: `<img src="cid:qr.png">`, From: l.Tenant.Name,
			Unsubscribe: "https://shop.example/unsubscribe/" + l.Unsubscribe, Inline: []mail.Inline{{Name: "qr.png", Type: "image/png", Bytes: []byte("PNG")}},
		}, nil
	case coupon.SendResultEmail:
		reason := ""
		if l.Sending.Failure != nil {
			reason = *l.Sending.Failure
		}
		return mail.Rendered{Subject: fmt.Sprintf("%s: %s %s", l.Coupon, l.Sending.Status, reason), Text: to, HTML: "-"}, nil
	}
	return mail.Rendered{}, fmt.Errorf("a %T", l)
}

// at returns the shop at another instant.
func (s mailShop) at(t *testing.T, instant time.Time) mailShop {
	t.Helper()
	return mailShopOf(t, s.db.At(instant), s.by, s.server, s.sender)
}

func (s mailShop) later(t *testing.T, d time.Duration) mailShop {
	t.Helper()
	return s.at(t, s.db.Now().Add(d))
}

// mailed creates a customer with an e-mail address.
func (s shop) mailed(t *testing.T, email string) core.ID {
	t.Helper()
	c, err := customer.NewService(s.db).Upsert(t.Context(), s.by, customer.New{
		FirstName: new("Anna"), LastName: new("Lindqvist"), Phone: new(fmt.Sprintf("070 %07d", phones.Add(1))), Email: &email,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func (s shop) unsubscribe(t *testing.T, who core.ID) {
	t.Helper()
	if _, err := customer.NewService(s.db).Unsubscribe(t.Context(), s.by, who); err != nil {
		t.Fatal(err)
	}
}

// deliver runs the job of a send's mails until it need not run again at once.
func (s shop) deliver(t *testing.T, send core.ID) error {
	t.Helper()
	for {
		err := s.RunDelivery(t.Context(), coupon.Delivery{Tenant: s.by.Tenant.ID, Send: send})
		if !errors.Is(err, job.Again(0)) || !isNow(err) {
			return err
		}
	}
}

// isNow reports whether a job is to run again at once.
func isNow(err error) bool { return err.Error() == job.Again(0).Error() }

func (s shop) found(t *testing.T, send core.ID) coupon.SendDetail {
	t.Helper()
	d, err := s.FindSend(t.Context(), s.by, send)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (s shop) wantMails(t *testing.T, send core.ID, status coupon.SendStatus, mails, delivered, failed int64) {
	t.Helper()
	got := s.found(t, send)
	if got.Status != status || got.Mails != mails || got.Delivered != delivered || got.Failed != failed {
		t.Errorf("%s with %d mails, %d delivered, %d failed; want %s, %d, %d, %d",
			got.Status, got.Mails, got.Delivered, got.Failed, status, mails, delivered, failed)
	}
	if (got.EndedAt != nil) != (status == coupon.Done) {
		t.Errorf("%s, ended at %v", got.Status, got.EndedAt)
	}
}

func (s mailShop) recipients() (list []string) {
	for _, m := range s.server.Mails() {
		list = append(list, m.To)
	}
	slices.Sort(list)
	return list
}

func (s mailShop) wantRecipients(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.recipients()); diff != "" {
		t.Errorf("mailed to (-want +got):\n%s", diff)
	}
}

// All customers get a voucher; those with an e-mail address who are subscribed get one e-mail with
// a stable Message-ID and an unsubscribe link.
func TestSendMailsSubscribedCustomers(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	anna, bilal, carla := s.mailed(t, "anna@example.com"), s.mailed(t, "bilal@example.com"), s.customer(t)
	s.unsubscribe(t, bilal)
	c := s.coupon(t, fivePoints())
	send := s.recordDelivery(t, c, toAll())
	if send.Status != coupon.Mailing || send.Mails != 1 || send.NoEmail != 1 || send.Unsubscribed != 1 {
		t.Errorf("evaluated: %+v", send)
	}
	s.wantHolders(t, c, anna, bilal, carla)
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	s.wantMails(t, send.ID, coupon.Done, 1, 1, 0)
	got := s.server.Mails()
	if len(got) != 1 || got[0].To != "anna@example.com" {
		t.Fatalf("mailed %+v", got)
	}
	var voucher core.ID
	for _, v := range s.stored(t, c) {
		if v.CustomerID == anna {
			voucher = v.ID
		}
	}
	links := dbtest.Links()
	unsubscribe, err := links.Token(link.Unsubscribe, s.by.Tenant.ID, anna, 0)
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]string{
		"Message-Id": "<" + voucher.String() + "@127.0.0.1>", "Subject": "Welcome back",
		"List-Unsubscribe": "<https://shop.example/unsubscribe/" + unsubscribe + ">", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
	} {
		if got := got[0].Header.Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	if from, err := got[0].Header.AddressList("From"); err != nil || from[0].Name != s.by.Tenant.Name || from[0].Address != "loyalty@example.com" {
		t.Errorf("from %v, %v", from, err)
	}
	for _, part := range []string{"Content-Type: text/plain", "Content-Type: text/html", "Content-Type: image/png", "Content-Id: <qr.png>"} {
		if !strings.Contains(got[0].Body, part) {
			t.Errorf("the mail lacks %s:\n%s", part, got[0].Body)
		}
	}
}

// The mailed link opens the voucher until the customer is erased.
func TestTheMailedLinkOpensTheVoucher(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	anna := s.mailed(t, "anna@example.com")
	c := s.coupon(t, fivePoints())
	send := s.recordDelivery(t, c, toAll())
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(s.server.Mails()[0].Body, "/v/")
	token = strings.Fields(strings.ReplaceAll(token, "=\r\n", ""))[0]
	opened, err := s.OpenVoucher(t.Context(), s.by.Tenant, token)
	if err != nil || opened.CustomerID != anna || opened.CustomerName != "Anna Lindqvist" || opened.Refusal() != nil {
		t.Errorf("%s opens %+v, %v", token, opened, err)
	}
	stranger := newMailShop(t)
	if _, err := stranger.OpenVoucher(t.Context(), stranger.by.Tenant, token); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("at another tenant = %v", err)
	}
	if _, err := privacy.NewService(s.db).Erase(t.Context(), s.by, anna); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenVoucher(t.Context(), s.by.Tenant, token); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("of an erased customer = %v", err)
	}
}

// A failing address doesn't block the others: permanent refusals stop, temporary ones are retried.
func TestAFailingAddressNeverBlocksTheRest(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	for _, name := range []string{"anna", "gone", "full", "lost", "zoe"} {
		s.mailed(t, name+"@example.com")
	}
	s.server.Replies("gone@example.com", 550, [3]int{5, 1, 1}, "No such user")
	s.server.Replies("full@example.com", 452, [3]int{4, 2, 2}, "Mailbox full")
	s.server.Drops("lost@example.com")
	send := s.recordDelivery(t, s.coupon(t, fivePoints()), toAll())
	if err := s.deliver(t, send.ID); err == nil || isNow(err) {
		t.Fatalf("the job = %v, want it to come again later", err)
	}
	s.wantMails(t, send.ID, coupon.Mailing, 5, 2, 1)
	s.wantRecipients(t, "anna@example.com", "zoe@example.com")

	s.server.Replies("full@example.com", 0, [3]int{}, "")
	s = s.later(t, 2*time.Minute)
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	s.wantRecipients(t, "anna@example.com", "full@example.com", "lost@example.com", "zoe@example.com")
	s.wantMails(t, send.ID, coupon.Done, 5, 4, 1)
	if n := s.server.Tries("gone@example.com"); n != 1 {
		t.Errorf("an address that does not exist was tried %d times", n)
	}
	problems := s.problems(t, send.ID)
	if p := problems["gone@example.com"]; !p.Failed || !p.Permanent || p.CanRetry() || p.Reply != "550 5.1.1 No such user" {
		t.Errorf("problem: %+v", p)
	}
	if _, still := problems["full@example.com"]; still {
		t.Error("a mail that was delivered is still a problem")
	}
}

func (s shop) problems(t *testing.T, send core.ID) map[string]coupon.MailProblem {
	t.Helper()
	l, err := s.ListMailProblems(t.Context(), s.by, send, core.Page{Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	byAddress := map[string]coupon.MailProblem{}
	for _, p := range l.Items {
		byAddress[*p.Recipient] = p
	}
	return byAddress
}

// A mail that is deferred too often fails, and can then be retried by hand.
func TestAMailThatKeepsFailingIsGivenUpAndRetried(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	anna := s.mailed(t, "full@example.com")
	s.server.Replies("full@example.com", 452, [3]int{4, 2, 2}, "Mailbox full")
	send := s.recordDelivery(t, s.coupon(t, fivePoints()), toAll())
	for range 10 {
		if err := s.deliver(t, send.ID); err == nil {
			break
		}
		s = s.later(t, 5*time.Hour)
	}
	s.wantMails(t, send.ID, coupon.Done, 1, 0, 1)
	if n := s.server.Tries("full@example.com"); n != 5 {
		t.Errorf("tried %d times, want 5", n)
	}
	if p := s.problems(t, send.ID)["full@example.com"]; !p.Failed || p.Permanent || !p.CanRetry() {
		t.Errorf("problem: %+v", p)
	}
	s.server.Replies("full@example.com", 550, [3]int{5, 1, 1}, "No such user")
	if n, err := s.RetryMails(t.Context(), s.by, send.ID); n != 1 || err != nil {
		t.Fatalf("retried %d, %v", n, err)
	}
	s.wantMails(t, send.ID, coupon.Mailing, 1, 0, 0)
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	voucher := s.problems(t, send.ID)["full@example.com"].VoucherID
	if again, err := s.RetryMail(t.Context(), s.by, send.ID, voucher); again || err != nil {
		t.Errorf("an address that doesn't exist is tried again: %v, %v", again, err)
	}
	if _, err := customer.NewService(s.db).Edit(t.Context(), s.by, anna, customer.Edit{Email: core.Set("anna@example.com")}); err != nil {
		t.Fatal(err)
	}
	if again, err := s.RetryMail(t.Context(), s.by, send.ID, voucher); !again || err != nil {
		t.Fatalf("another address: %v, %v", again, err)
	}
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	s.wantMails(t, send.ID, coupon.Done, 1, 1, 0)
	s.wantRecipients(t, "anna@example.com")
}

// While the mail server can't be reached, no mail counts as tried, and all are sent when it is
// back.
func TestUnreachableMailServer(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.mailed(t, "anna@example.com")
	s.mailed(t, "bilal@example.com")
	unused, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = unused.Close()
	nowhere, err := mail.NewSMTP("smtp://"+unused.Addr().String(), "loyalty@example.com")
	if err != nil {
		t.Fatal(err)
	}
	away := s
	away.shop = mailShopOf(t, s.db, s.by, s.server, nowhere).shop
	send := s.recordDelivery(t, s.coupon(t, fivePoints()), toAll())
	if err := away.deliver(t, send.ID); err == nil || isNow(err) {
		t.Fatalf("the job = %v, want its failure", err)
	}
	s.wantMails(t, send.ID, coupon.Mailing, 2, 0, 0)
	if got := s.problems(t, send.ID); len(got) != 0 {
		t.Errorf("problems: %+v", got)
	}
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	s.wantRecipients(t, "anna@example.com", "bilal@example.com")
	s.wantMails(t, send.ID, coupon.Done, 2, 2, 0)
}

// dying is a connection to a mail server on which the client is killed after a number of mails.
type dying struct {
	mail.Sender
	after int
	kill  context.CancelFunc
}

type dyingConn struct {
	mail.Conn
	*dying
}

func (d *dying) Dial(ctx context.Context) (mail.Conn, error) {
	conn, err := d.Sender.Dial(ctx)
	return dyingConn{conn, d}, err
}

var errKilled = errors.New("killed")

func (c dyingConn) Send(ctx context.Context, m mail.Mail) error {
	if err := c.Conn.Send(ctx, m); err != nil {
		return err
	}
	if c.after--; c.after == 0 {
		c.kill() // what the server took is not noted any more
		return errKilled
	}
	return nil
}

// A killed process loses no mail, and repeats at most one, with the same Message-ID.
func TestAKilledProcessSendsOneMailTwiceAtMost(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	const customers, killed = 7, 4
	for i := range customers {
		s.mailed(t, fmt.Sprintf("c%d@example.com", i))
	}
	send := s.recordDelivery(t, s.coupon(t, fivePoints()), toAll())
	ctx, kill := context.WithCancel(t.Context())
	first := mailShopOf(t, s.db, s.by, s.server, &dying{s.sender, killed, kill})
	if err := first.RunDelivery(ctx, coupon.Delivery{Tenant: s.by.Tenant.ID, Send: send.ID}); !errors.Is(err, context.Canceled) {
		t.Fatalf("the first job = %v", err)
	}
	s.wantMails(t, send.ID, coupon.Mailing, customers, killed-1, 0)

	// The next process waits until what the first one claimed is due again.
	if err := s.deliver(t, send.ID); err == nil || isNow(err) {
		t.Fatalf("the second job = %v, want it to come again later", err)
	}
	if got := s.server.Mails(); len(got) != killed {
		t.Errorf("%d mails went out meanwhile, want %d", len(got), killed)
	}
	s = s.later(t, 3*time.Minute)
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	s.wantMails(t, send.ID, coupon.Done, customers, customers, 0)
	byID := map[string]int{}
	for _, m := range s.server.Mails() {
		byID[m.Header.Get("Message-Id")]++
	}
	twice := 0
	for id, n := range byID {
		if n > 2 {
			t.Errorf("%s went out %d times", id, n)
		}
		if n == 2 {
			twice++
		}
	}
	if len(byID) != customers || twice != 1 {
		t.Errorf("%d mails, %d of them twice; want %d and 1", len(byID), twice, customers)
	}
}

// Two jobs of one send share its mails and send none twice.
func TestTwoJobsNeverSendTheSameMail(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	var want []string
	for i := range 120 {
		want = append(want, fmt.Sprintf("c%03d@example.com", i))
		s.mailed(t, want[i])
	}
	send := s.recordDelivery(t, s.coupon(t, fivePoints()), toAll())
	began := time.Now()
	var both sync.WaitGroup
	for range 4 {
		both.Go(func() { _ = s.deliver(t, send.ID) })
	}
	both.Wait()
	// "Rate-limited per tenant", whatever the number of jobs: 50 at once, then 50 a second.
	if took := time.Since(began); took < 1400*time.Millisecond {
		t.Errorf("120 mails went out within %s", took)
	}
	s.wantRecipients(t, want...)
	s.wantMails(t, send.ID, coupon.Done, 120, 120, 0)
}

// Stopped e-mails aren't sent until they are resumed; the vouchers stay valid.
func TestStopAndResume(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.mailed(t, "anna@example.com")
	c := s.coupon(t, fivePoints())
	send := s.recordDelivery(t, c, toAll())
	stopped, err := s.StopMails(t.Context(), s.by, send.ID)
	if err != nil || stopped.Status != coupon.Stopped {
		t.Fatalf("stopped: %+v, %v", stopped, err)
	}
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	s.wantMails(t, send.ID, coupon.Stopped, 1, 0, 0)
	if again, err := s.StopMails(t.Context(), s.by, send.ID); err != nil || again.Status != coupon.Stopped {
		t.Errorf("stopped again: %+v, %v", again, err)
	}
	if got := len(s.stored(t, c)); got != 1 || len(s.server.Mails()) != 0 {
		t.Errorf("%d vouchers, %d mails", got, len(s.server.Mails()))
	}
	if _, err := s.ResumeMails(t.Context(), s.by, send.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	s.wantMails(t, send.ID, coupon.Done, 1, 1, 0)
}

// Customers who unsubscribe or are erased after the vouchers were created get no e-mail, and the
// counts still add up.
func TestUnsubscribingBeforeTheMail(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{false, true} {
		s := newMailShop(t)
		if keeps {
			s = mailShopOf(t, s.db, s.by, s.server, nil)
		}
		anna, bilal := s.mailed(t, "anna@example.com"), s.mailed(t, "bilal@example.com")
		s.mailed(t, "carla@example.com")
		send := s.recordDelivery(t, s.coupon(t, fivePoints()), toAll())
		s.unsubscribe(t, anna)
		if _, err := privacy.NewService(s.db).Erase(t.Context(), s.by, bilal); err != nil {
			t.Fatal(err)
		}
		if err := s.deliver(t, send.ID); err != nil {
			t.Fatal(err)
		}
		s.wantMails(t, send.ID, coupon.Done, 1, 1, 0)
		if got := s.found(t, send.ID); got.Unsubscribed != 1 || got.NoEmail != 1 || got.Sent != 3 {
			t.Errorf("send: %+v", got)
		}
		if keeps {
			if n := s.kept(t); n != 1 {
				t.Errorf("%d mails are kept, want Carla's", n)
			}
		} else {
			s.wantRecipients(t, "carla@example.com")
		}
	}
}

func (s shop) kept(t *testing.T) (n int) {
	t.Helper()
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from loyalty.mail where tenant_id = $1 and status = 'kept'", s.by.Tenant.ID).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Without a mail server, the mails are kept with their pictures.
func TestWithoutAMailServerVoucherMailsAreKept(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s = mailShopOf(t, s.db, s.by, s.server, nil)
	s.mailed(t, "anna@example.com")
	send := s.recordDelivery(t, s.coupon(t, fivePoints()), toAll())
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	s.wantMails(t, send.ID, coupon.Done, 1, 1, 0)
	var html string
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select html from loyalty.mail where tenant_id = $1", s.by.Tenant.ID).Scan(&html); err != nil {
		t.Fatal(err)
	}
	if html != `<img src="data:image/png;base64,UE5H">` {
		t.Errorf("kept: %s", html)
	}
}

// Erasing a customer deletes the address that a mail failed for.
func TestErasingForgetsAddressesThatFailed(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	anna := s.mailed(t, "gone@example.com")
	s.server.Replies("gone@example.com", 550, [3]int{5, 1, 1}, "No such user: gone@example.com")
	send := s.recordDelivery(t, s.coupon(t, fivePoints()), toAll())
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := privacy.NewService(s.db).Erase(t.Context(), s.by, anna); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from loyalty.voucher_mail m where tenant_id = $1 and m::text like '%gone@%'", s.by.Tenant.ID).Scan(&left); err != nil || left != 0 {
		t.Errorf("the address is in %d rows, %v", left, err)
	}
}

// A test mail goes to the person who sends it.
func TestTestMailGoesToTheSender(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	c := s.coupon(t, fivePoints())
	var staff string
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select email from loyalty.staff where id = $1", s.by.StaffID).Scan(&staff); err != nil {
		t.Fatal(err)
	}
	address, err := s.SendTest(t.Context(), s.by, c.ID, coupon.Send{Subject: new("A bun, on us"), Message: new("Warm.")})
	if err != nil || address != staff {
		t.Fatalf("goes to %s, %v; want %s", address, err, staff)
	}
	job := coupon.TestMail{Mail: core.NewID(s.db.Now()), Tenant: s.by.Tenant.ID, Coupon: c.ID, Staff: s.by.StaffID, Subject: "A bun, on us", Message: "Warm."}
	if err := s.RunTestMail(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	got := s.server.Mails()
	if len(got) != 1 || got[0].To != staff || got[0].Header.Get("Subject") != "A bun, on us" || len(s.stored(t, c)) != 0 {
		t.Errorf("%d mails: %+v", len(got), got)
	}
	for range 19 {
		if _, err := s.SendTest(t.Context(), s.by, c.ID, coupon.Send{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.SendTest(t.Context(), s.by, c.ID, coupon.Send{}); !core.IsKind(err, core.KindThrottled) {
		t.Errorf("the 21st test within an hour = %v", err)
	}
}

// A process that is stopped while a slow server takes a mail stores that mail's result and starts
// no other.
func TestAStopDuringAMail(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.mailed(t, "anna@example.com")
	s.mailed(t, "bilal@example.com")
	send := s.recordDelivery(t, s.coupon(t, fivePoints()), toAll())
	s.server.Delays(400 * time.Millisecond)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for s.server.Tries("anna@example.com")+s.server.Tries("bilal@example.com") == 0 {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	if err := s.RunDelivery(ctx, coupon.Delivery{Tenant: s.by.Tenant.ID, Send: send.ID}); !errors.Is(err, context.Canceled) {
		t.Errorf("the job = %v", err)
	}
	s.wantMails(t, send.ID, coupon.Mailing, 2, 1, 0)
	s.server.Delays(0)
	s = s.later(t, 3*time.Minute)
	if err := s.deliver(t, send.ID); err != nil {
		t.Fatal(err)
	}
	s.wantRecipients(t, "anna@example.com", "bilal@example.com")
	s.wantMails(t, send.ID, coupon.Done, 2, 2, 0)
}
