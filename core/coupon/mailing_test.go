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
	"example.com/loyalty/core/shoptest"
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

func mailShopOf(t testing.TB, d *db.DB, by core.Actor, server *smtptest.Server, sender mail.Sender) mailShop {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	s := mailShop{shop{shoptest.Of(t, d, by)}, server, sender}
	s.Jobs, s.Coupons = jobs, coupon.NewService(d, jobs, mails{mail.New(d, jobs, sender, log)}, dbtest.Links(), log)
	return s
}

// mails renders the parts of e-mails that these tests check.
type mails struct{ *mail.Service }

func (mails) Voucher(to string, e coupon.VoucherEmail) mail.Email {
	if e.FirstName == unwritable {
		return rendered{err: errors.New("no picture for it")}
	}
	return rendered{Rendered: mail.Rendered{
		To: to, Subject: e.Subject, Text: "Hello " + e.FirstName + ", " + e.Message + " /v/" + e.Voucher, HTML: `<img src="cid:qr.png">`, From: e.Tenant.Name,
		Unsubscribe: "https://shop.example/unsubscribe/" + e.Unsubscribe, Inline: []mail.Inline{{Name: "qr.png", Type: "image/png", Bytes: []byte("PNG")}},
	}}
}

func (mails) SendResult(to string, e coupon.SendResultEmail) mail.Email {
	reason := ""
	if e.Sending.Failure != nil {
		reason = *e.Sending.Failure
	}
	return rendered{Rendered: mail.Rendered{To: to, Subject: fmt.Sprintf("%s: %s %s", e.Coupon, e.Sending.Status, reason), Text: to, HTML: "-"}}
}

// rendered is an e-mail, or why it can't be written.
type rendered struct {
	mail.Rendered
	err error
}

func (r rendered) Render(context.Context) (mail.Rendered, error) { return r.Rendered, r.err }

// at returns the shop at another instant.
func (s mailShop) at(instant time.Time) mailShop {
	s.T.Helper()
	return mailShopOf(s.T, s.DB.At(instant), s.By, s.server, s.sender)
}

// mailed creates a customer with an e-mail address.
func (s shop) mailed(email string) core.ID {
	s.T.Helper()
	anna := shoptest.Anna(shoptest.Phone())
	anna.Email = email
	return s.AddCustomer(anna).ID
}

func (s shop) unsubscribe(who core.ID) {
	s.T.Helper()
	s.Must(s.Customers.Unsubscribe(s.T.Context(), s.By, who))
}

// deliver runs the job of a send's mails until it need not run again at once.
func (s shop) deliver(send core.ID) error {
	s.T.Helper()
	for {
		err := s.Coupons.RunDelivery(s.T.Context(), coupon.Delivery{Tenant: s.By.Tenant.ID, Send: send})
		if !errors.Is(err, job.Again(0)) || !isNow(err) {
			return err
		}
	}
}

// isNow reports whether a job is to run again at once.
func isNow(err error) bool { return err.Error() == job.Again(0).Error() }

func (s shop) found(send core.ID) coupon.SendDetail {
	s.T.Helper()
	d, err := s.Coupons.FindSend(s.T.Context(), s.By, send)
	s.Check(err)
	return d
}

func (s shop) wantMails(send core.ID, status coupon.SendStatus, mails, delivered, failed int64) {
	s.T.Helper()
	got := s.found(send)
	if got.Status != status || got.Mails != mails || got.Delivered != delivered || got.Failed != failed {
		s.T.Errorf("%s with %d mails, %d delivered, %d failed; want %s, %d, %d, %d",
			got.Status, got.Mails, got.Delivered, got.Failed, status, mails, delivered, failed)
	}
	if (got.EndedAt != nil) != (status == coupon.Done) {
		s.T.Errorf("%s, ended at %v", got.Status, got.EndedAt)
	}
}

func (s mailShop) recipients() (list []string) {
	for _, m := range s.server.Mails() {
		list = append(list, m.To)
	}
	slices.Sort(list)
	return list
}

func (s mailShop) wantRecipients(want ...string) {
	s.T.Helper()
	if diff := cmp.Diff(want, s.recipients()); diff != "" {
		s.T.Errorf("mailed to (-want +got):\n%s", diff)
	}
}

// All customers get a voucher; those with an e-mail address who are subscribed get one e-mail with
// a stable Message-ID and an unsubscribe link.
func TestSendMailsSubscribedCustomers(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	anna, bilal, carla := s.mailed("anna@example.com"), s.mailed("bilal@example.com"), s.Customer().ID
	s.unsubscribe(bilal)
	c := s.Coupon(fivePoints())
	send := s.Send(c.ID, toAll())
	if send.Status != coupon.Mailing || send.Mails != 1 || send.NoEmail != 1 || send.Unsubscribed != 1 {
		t.Errorf("evaluated: %+v", send)
	}
	s.wantHolders(c, anna, bilal, carla)
	s.Check(s.deliver(send.ID))
	s.wantMails(send.ID, coupon.Done, 1, 1, 0)
	got := s.server.Mails()
	if len(got) != 1 || got[0].To != "anna@example.com" {
		t.Fatalf("mailed %+v", got)
	}
	var voucher core.ID
	for _, v := range s.stored(c) {
		if v.CustomerID == anna {
			voucher = v.ID
		}
	}
	unsubscribe, err := s.Links.Token(link.Unsubscribe, s.By.Tenant.ID, anna, 0)
	s.Check(err)
	for header, want := range map[string]string{
		"Message-Id": "<" + voucher.String() + "@example.com>", "Subject": "Welcome back",
		"List-Unsubscribe": "<https://shop.example/unsubscribe/" + unsubscribe + ">", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
	} {
		if got := got[0].Header.Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	if from, err := got[0].Header.AddressList("From"); err != nil || from[0].Name != s.By.Tenant.Name || from[0].Address != "loyalty@example.com" {
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
	anna := s.mailed("anna@example.com")
	c := s.Coupon(fivePoints())
	send := s.Send(c.ID, toAll())
	s.Check(s.deliver(send.ID))
	_, token, _ := strings.Cut(s.server.Mails()[0].Body, "/v/")
	token = strings.Fields(strings.ReplaceAll(token, "=\r\n", ""))[0]
	opened, err := s.Coupons.OpenVoucher(t.Context(), s.By.Tenant, token)
	if err != nil || opened.CustomerID != anna || opened.CustomerName != "Anna Lindqvist" || opened.Refusal() != nil {
		t.Errorf("%s opens %+v, %v", token, opened, err)
	}
	stranger := newMailShop(t)
	if _, err := stranger.Coupons.OpenVoucher(t.Context(), stranger.By.Tenant, token); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("at another tenant = %v", err)
	}
	s.Must(s.Privacy.Erase(t.Context(), s.By, anna))
	if _, err := s.Coupons.OpenVoucher(t.Context(), s.By.Tenant, token); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("of an erased customer = %v", err)
	}
}

// A failing address doesn't block the others: permanent refusals stop, temporary ones are retried.
func TestAFailingAddressNeverBlocksTheRest(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	for _, name := range []string{"anna", "gone", "full", "lost", "zoe"} {
		s.mailed(name + "@example.com")
	}
	s.server.Replies("gone@example.com", 550, [3]int{5, 1, 1}, "No such user")
	s.server.Replies("full@example.com", 452, [3]int{4, 2, 2}, "Mailbox full")
	s.server.Drops("lost@example.com")
	send := s.Send(s.Coupon(fivePoints()).ID, toAll())
	if err := s.deliver(send.ID); err == nil || isNow(err) {
		t.Fatalf("the job = %v, want it to come again later", err)
	}
	s.wantMails(send.ID, coupon.Mailing, 5, 2, 1)
	s.wantRecipients("anna@example.com", "zoe@example.com")

	s.server.Replies("full@example.com", 0, [3]int{}, "")
	s = s.at(s.DB.Now().Add(2 * time.Minute))
	s.Check(s.deliver(send.ID))
	s.wantRecipients("anna@example.com", "full@example.com", "lost@example.com", "zoe@example.com")
	s.wantMails(send.ID, coupon.Done, 5, 4, 1)
	if n := s.server.Tries("gone@example.com"); n != 1 {
		t.Errorf("an address that does not exist was tried %d times", n)
	}
	problems := s.problems(send.ID)
	if p := problems["gone@example.com"]; !p.Failed || !p.Permanent || p.CanRetry() || p.Reply != "550 5.1.1 No such user" {
		t.Errorf("problem: %+v", p)
	}
	if _, still := problems["full@example.com"]; still {
		t.Error("a mail that was delivered is still a problem")
	}
}

// A business is called what its owner calls it: the name is no reason to keep a voucher from a customer. A mail that
// can't be written says so, and the others are sent.
func TestNoNameStopsTheMails(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	for _, name := range []string{`The 12" Record Shop`, `Back\`, "Berg, Åberg <x>", strings.Repeat("Å", 100)} {
		s.By.Tenant.Name = name
		s.Must(dbtest.Owner(s.DB).Exec(t.Context(), "update loyalty.tenant set name = $2 where id = $1", int64(s.By.Tenant.ID), name))
		s.mailed(fmt.Sprintf("anna%d@example.com", len(s.server.Mails())))
		send := s.Send(s.Coupon(fivePoints()).ID, toAll())
		s.Check(s.deliver(send.ID))
		mails := s.found(send.ID).Mails
		s.wantMails(send.ID, coupon.Done, mails, mails, 0)
		last := s.server.Mails()[len(s.server.Mails())-1]
		if from, err := last.Header.AddressList("From"); err != nil || from[0].Name != name {
			t.Errorf("%q: from %q, %v", name, last.Header.Get("From"), err)
		}
	}
	s.Must(dbtest.Owner(s.DB).Exec(t.Context(), "update loyalty.customer set first_name = $2 where tenant_id = $1 and email = 'anna0@example.com'", int64(s.By.Tenant.ID), unwritable))
	before := len(s.server.Mails())
	send := s.Send(s.Coupon(fivePoints()).ID, toAll())
	s.Check(s.deliver(send.ID))
	s.wantMails(send.ID, coupon.Done, 4, 3, 1)
	if got := len(s.server.Mails()) - before; got != 3 {
		t.Errorf("%d mails, want 3", got)
	}
	if p := s.problems(send.ID)["anna0@example.com"]; !p.Permanent || p.Reply != mail.Unwritten+": no picture for it" {
		t.Errorf("problem: %+v", p)
	}
}

// unwritable is a name for which no mail can be rendered.
const unwritable = "unwritable"

func (s shop) problems(send core.ID) map[string]coupon.MailProblem {
	s.T.Helper()
	l, err := s.Coupons.ListMailProblems(s.T.Context(), s.By, send, core.Page{Size: 100})
	s.Check(err)
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
	anna := s.mailed("full@example.com")
	s.server.Replies("full@example.com", 452, [3]int{4, 2, 2}, "Mailbox full")
	send := s.Send(s.Coupon(fivePoints()).ID, toAll())
	for range 10 {
		if err := s.deliver(send.ID); err == nil {
			break
		}
		s = s.at(s.DB.Now().Add(5 * time.Hour))
	}
	s.wantMails(send.ID, coupon.Done, 1, 0, 1)
	if n := s.server.Tries("full@example.com"); n != 5 {
		t.Errorf("tried %d times, want 5", n)
	}
	if p := s.problems(send.ID)["full@example.com"]; !p.Failed || p.Permanent || !p.CanRetry() {
		t.Errorf("problem: %+v", p)
	}
	s.server.Replies("full@example.com", 550, [3]int{5, 1, 1}, "No such user")
	if n, err := s.Coupons.RetryMails(t.Context(), s.By, send.ID); n != 1 || err != nil {
		t.Fatalf("retried %d, %v", n, err)
	}
	s.wantMails(send.ID, coupon.Mailing, 1, 0, 0)
	s.Check(s.deliver(send.ID))
	voucher := s.problems(send.ID)["full@example.com"].VoucherID
	if again, err := s.Coupons.RetryMail(t.Context(), s.By, send.ID, voucher); again || err != nil {
		t.Errorf("an address that doesn't exist is tried again: %v, %v", again, err)
	}
	s.Must(s.Customers.Edit(t.Context(), s.By, anna, customer.Edit{Email: core.Set("anna@example.com")}))
	if again, err := s.Coupons.RetryMail(t.Context(), s.By, send.ID, voucher); !again || err != nil {
		t.Fatalf("another address: %v, %v", again, err)
	}
	s.Check(s.deliver(send.ID))
	s.wantMails(send.ID, coupon.Done, 1, 1, 0)
	s.wantRecipients("anna@example.com")
}

// While the mail server can't be reached, no mail counts as tried, and all are sent when it is
// back.
func TestUnreachableMailServer(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.mailed("anna@example.com")
	s.mailed("bilal@example.com")
	unused, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	s.Check(err)
	_ = unused.Close()
	nowhere, err := mail.NewSMTP("smtp://"+unused.Addr().String(), "loyalty@example.com")
	s.Check(err)
	away := s
	away.shop = mailShopOf(t, s.DB, s.By, s.server, nowhere).shop
	send := s.Send(s.Coupon(fivePoints()).ID, toAll())
	if err := away.deliver(send.ID); err == nil || isNow(err) {
		t.Fatalf("the job = %v, want its failure", err)
	}
	s.wantMails(send.ID, coupon.Mailing, 2, 0, 0)
	if got := s.problems(send.ID); len(got) != 0 {
		t.Errorf("problems: %+v", got)
	}
	s.Check(s.deliver(send.ID))
	s.wantRecipients("anna@example.com", "bilal@example.com")
	s.wantMails(send.ID, coupon.Done, 2, 2, 0)
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
		c.kill() // the result is not stored
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
		s.mailed(fmt.Sprintf("c%d@example.com", i))
	}
	send := s.Send(s.Coupon(fivePoints()).ID, toAll())
	ctx, kill := context.WithCancel(t.Context())
	first := mailShopOf(t, s.DB, s.By, s.server, &dying{s.sender, killed, kill})
	if err := first.Coupons.RunDelivery(ctx, coupon.Delivery{Tenant: s.By.Tenant.ID, Send: send.ID}); !errors.Is(err, context.Canceled) {
		t.Fatalf("the first job = %v", err)
	}
	s.wantMails(send.ID, coupon.Mailing, customers, killed-1, 0)

	// The next process waits until the claimed mails are due again.
	if err := s.deliver(send.ID); err == nil || isNow(err) {
		t.Fatalf("the second job = %v, want it to come again later", err)
	}
	if got := s.server.Mails(); len(got) != killed {
		t.Errorf("%d mails went out meanwhile, want %d", len(got), killed)
	}
	s = s.at(s.DB.Now().Add(3 * time.Minute))
	s.Check(s.deliver(send.ID))
	s.wantMails(send.ID, coupon.Done, customers, customers, 0)
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
		s.mailed(want[i])
	}
	send := s.Send(s.Coupon(fivePoints()).ID, toAll())
	began := time.Now()
	var both sync.WaitGroup
	for range 4 {
		both.Go(func() { _ = s.deliver(send.ID) })
	}
	both.Wait()
	// Limited by tenant over all jobs: 50 at once, then 50 a second.
	if took := time.Since(began); took < 1400*time.Millisecond {
		t.Errorf("120 mails went out within %s", took)
	}
	s.wantRecipients(want...)
	s.wantMails(send.ID, coupon.Done, 120, 120, 0)
}

// Stopped e-mails aren't sent until they are resumed; the vouchers stay valid.
func TestStopAndResume(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.mailed("anna@example.com")
	c := s.Coupon(fivePoints())
	send := s.Send(c.ID, toAll())
	stopped, err := s.Coupons.StopMails(t.Context(), s.By, send.ID)
	if err != nil || stopped.Status != coupon.Stopped {
		t.Fatalf("stopped: %+v, %v", stopped, err)
	}
	s.Check(s.deliver(send.ID))
	s.wantMails(send.ID, coupon.Stopped, 1, 0, 0)
	if again, err := s.Coupons.StopMails(t.Context(), s.By, send.ID); err != nil || again.Status != coupon.Stopped {
		t.Errorf("stopped again: %+v, %v", again, err)
	}
	if got := len(s.stored(c)); got != 1 || len(s.server.Mails()) != 0 {
		t.Errorf("%d vouchers, %d mails", got, len(s.server.Mails()))
	}
	s.Must(s.Coupons.ResumeMails(t.Context(), s.By, send.ID))
	s.Check(s.deliver(send.ID))
	s.wantMails(send.ID, coupon.Done, 1, 1, 0)
}

// Customers who unsubscribe or are erased after the vouchers were created get no e-mail, and the
// counts still add up.
func TestUnsubscribingBeforeTheMail(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{false, true} {
		s := newMailShop(t)
		if keeps {
			s = mailShopOf(t, s.DB, s.By, s.server, nil)
		}
		anna, bilal := s.mailed("anna@example.com"), s.mailed("bilal@example.com")
		s.mailed("carla@example.com")
		send := s.Send(s.Coupon(fivePoints()).ID, toAll())
		s.unsubscribe(anna)
		if _, err := s.Privacy.Erase(t.Context(), s.By, bilal); err != nil {
			t.Fatal(err)
		}
		s.Check(s.deliver(send.ID))
		s.wantMails(send.ID, coupon.Done, 1, 1, 0)
		if got := s.found(send.ID); got.Unsubscribed != 1 || got.NoEmail != 1 || got.Sent != 3 {
			t.Errorf("send: %+v", got)
		}
		if keeps {
			if n := s.Count("mail where status = 'kept'"); n != 1 {
				t.Errorf("%d mails are kept, want Carla's", n)
			}
		} else {
			s.wantRecipients("carla@example.com")
		}
	}
}

// Without a mail server, the mails are kept with their pictures.
func TestWithoutAMailServerVoucherMailsAreKept(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s = mailShopOf(t, s.DB, s.By, s.server, nil)
	s.mailed("anna@example.com")
	send := s.Send(s.Coupon(fivePoints()).ID, toAll())
	s.Check(s.deliver(send.ID))
	s.wantMails(send.ID, coupon.Done, 1, 1, 0)
	html := shoptest.Query[string](s.Shop, "select html from loyalty.mail where tenant_id = $1", s.By.Tenant.ID)
	if html != `<img src="data:image/png;base64,UE5H">` {
		t.Errorf("kept: %s", html)
	}
}

// Erasing a customer deletes the address that a mail failed for.
func TestErasingDeletesAddressesThatFailed(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	anna := s.mailed("gone@example.com")
	s.server.Replies("gone@example.com", 550, [3]int{5, 1, 1}, "No such user: gone@example.com")
	send := s.Send(s.Coupon(fivePoints()).ID, toAll())
	s.Check(s.deliver(send.ID))
	s.Must(s.Privacy.Erase(t.Context(), s.By, anna))
	if left := s.Count("voucher_mail m where m::text like '%gone@%'"); left != 0 {
		t.Errorf("the address is in %d rows, want none", left)
	}
}

// A test mail goes to the person who sends it.
func TestTestMailGoesToTheSender(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	c := s.Coupon(fivePoints())
	staff := shoptest.Query[string](s.Shop, "select email from loyalty.staff where id = $1", s.By.StaffID)
	address, err := s.Coupons.SendTest(t.Context(), s.By, c.ID, coupon.Send{Subject: new("A bun, on us"), Message: new("Warm.")})
	if err != nil || address != staff {
		t.Fatalf("goes to %s, %v; want %s", address, err, staff)
	}
	job := coupon.TestMail{Mail: core.NewID(s.DB.Now()), Tenant: s.By.Tenant.ID, Coupon: c.ID, Staff: s.By.StaffID, Subject: "A bun, on us", Message: "Warm."}
	s.Check(s.Coupons.RunTestMail(t.Context(), job))
	got := s.server.Mails()
	if len(got) != 1 || got[0].To != staff || got[0].Header.Get("Subject") != "A bun, on us" || len(s.stored(c)) != 0 {
		t.Errorf("%d mails: %+v", len(got), got)
	}
	for range 19 {
		s.Must(s.Coupons.SendTest(t.Context(), s.By, c.ID, coupon.Send{}))
	}
	if _, err := s.Coupons.SendTest(t.Context(), s.By, c.ID, coupon.Send{}); !core.IsKind(err, core.KindThrottled) {
		t.Errorf("the 21st test within an hour = %v", err)
	}
}

// A process that is stopped while a slow server takes a mail stores that mail's result and starts
// no other.
func TestAStopDuringAMail(t *testing.T) {
	t.Parallel()
	s := newMailShop(t)
	s.mailed("anna@example.com")
	s.mailed("bilal@example.com")
	send := s.Send(s.Coupon(fivePoints()).ID, toAll())
	s.server.Delays(400 * time.Millisecond)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for s.server.Tries("anna@example.com")+s.server.Tries("bilal@example.com") == 0 {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	if err := s.Coupons.RunDelivery(ctx, coupon.Delivery{Tenant: s.By.Tenant.ID, Send: send.ID}); !errors.Is(err, context.Canceled) {
		t.Errorf("the job = %v", err)
	}
	s.wantMails(send.ID, coupon.Mailing, 2, 1, 0)
	s.server.Delays(0)
	s = s.at(s.DB.Now().Add(3 * time.Minute))
	s.Check(s.deliver(send.ID))
	s.wantRecipients("anna@example.com", "bilal@example.com")
	s.wantMails(send.ID, coupon.Done, 2, 2, 0)
}
