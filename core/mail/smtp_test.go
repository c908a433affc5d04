package mail_test

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"math/big"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	ours "example.com/loyalty/core/mail"
)

// server is a mail server in the test.
type server struct {
	scheme  string
	address string
	tls     *tls.Config // of its clients; nil: it offers no encryption

	sync.Mutex
	password string           // "": it lets everybody in
	refuse   map[string]error // by the stage: "connect", "mail", "rcpt", "data"
	hangUp   bool             // once it has a mail
	attempts int
	taken    []taken
}

// taken is a mail that the server has accepted.
type taken struct {
	from, to  string
	encrypted bool
	*mail.Message
	body string
}

// How a server encrypts.
type encryption int

const (
	never encryption = iota
	whenAsked
	always
)

func newServer(t *testing.T, encrypts encryption) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{scheme: "smtp://", address: listener.Addr().String(), refuse: map[string]error{}}
	daemon := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		s.Lock()
		defer s.Unlock()
		return &session{server: s, conn: c}, s.refuse["connect"]
	}))
	daemon.Domain = "mail.example.com"
	daemon.AllowInsecureAuth = true
	if encrypts != never {
		daemon.TLSConfig, s.tls = certificate(t)
	}
	if encrypts == always {
		s.scheme, listener = "smtps://", tls.NewListener(listener, daemon.TLSConfig)
	}
	go func() { _ = daemon.Serve(listener) }()
	t.Cleanup(func() { _ = daemon.Close() })
	return s
}

// certificate returns a certificate for 127.0.0.1, and a pool that trusts it.
func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	wanted := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(nil, wanted, wanted, public, private)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(made)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}}}, &tls.Config{RootCAs: trusted, ServerName: "127.0.0.1"}
}

// client returns the sender of a URL.
func (s *server) client(t *testing.T, user string) *ours.SMTP {
	t.Helper()
	client, err := ours.NewSMTP(s.scheme+user+s.address, "Loyalty <loyalty@example.com>")
	if err != nil {
		t.Fatal(err)
	}
	if s.tls != nil {
		client.Trusting(s.tls)
	}
	return client
}

// refuses sets the server's reply at a stage.
func (s *server) refuses(stage string, err error) {
	s.Lock()
	defer s.Unlock()
	s.refuse[stage] = err
}

func (s *server) has() []taken {
	s.Lock()
	defer s.Unlock()
	return append([]taken(nil), s.taken...)
}

// session is a client's connection.
type session struct {
	*server
	conn      *smtp.Conn
	letIn     bool
	from, to  string
	delivered bool
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		s.letIn = user == "loyalty" && password == s.password
		if !s.letIn {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.Lock()
	defer s.Unlock()
	s.attempts++
	s.from = from
	if s.password != "" && !s.letIn {
		return smtp.ErrAuthRequired
	}
	return s.refuse["mail"]
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.Lock()
	defer s.Unlock()
	s.to = to
	return s.refuse["rcpt"]
}

func (s *session) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		return err
	}
	s.Lock()
	defer s.Unlock()
	if err := s.refuse["data"]; err != nil {
		delete(s.refuse, "data") // the next time it will do
		if errors.Is(err, errBreakOff) {
			_ = s.conn.Conn().Close()
		}
		return err
	}
	_, encrypted := s.conn.TLSConnectionState()
	s.taken = append(s.taken, taken{s.from, s.to, encrypted, m, string(body)})
	s.delivered = true
	return nil
}

// The server calls Reset after each mail.
func (s *session) Reset() {
	s.Lock()
	defer s.Unlock()
	if s.delivered && s.hangUp {
		_ = s.conn.Conn().Close()
	}
}

func (*session) Logout() error { return nil }

// errBreakOff has the server close the connection.
var errBreakOff = errors.New("closed")

func refusal(code int, text string) error { return &smtp.SMTPError{Code: code, Message: text} }

// STARTTLS is mandatory unless the server is on this machine. A server without it gets no mail, and the error
// says why.
func TestMailsAreEncryptedToOtherMachines(t *testing.T) {
	t.Parallel()
	// Linux connects this address to the machine itself, but it doesn't look like a loopback address.
	elsewhere := func(s *server) *ours.SMTP {
		s.address = strings.Replace(s.address, "127.0.0.1", "0.0.0.0", 1)
		return s.client(t, "")
	}
	bare := newServer(t, never)
	client := elsewhere(bare)
	err := deliver(t, client, letter())
	if !errors.Is(err, ours.ErrNoEncryption) || errors.Is(err, ours.ErrRefused) || len(bare.has()) != 0 {
		t.Errorf("without encryption: %v, the server has %d mails", err, len(bare.has()))
	}
	if trouble := client.Trouble(); !strings.Contains(trouble, "0.0.0.0") || !strings.Contains(trouble, "STARTTLS") {
		t.Errorf("the trouble is %q", trouble)
	}
	if err := client.Check(t.Context()); !errors.Is(err, ours.ErrNoEncryption) {
		t.Errorf("the check says %v", err)
	}
	for _, encrypts := range []encryption{whenAsked, always} {
		s := newServer(t, encrypts)
		client := elsewhere(s)
		if err := deliver(t, client, letter()); err != nil || client.Trouble() != "" || len(s.has()) != 1 || !s.has()[0].encrypted {
			t.Errorf("encrypted: %v, %q, %v", err, client.Trouble(), s.has())
		}
	}
}

// "With `LOYALTY_SMTP_URL` it is delivered by SMTP through the job queue": encrypted if the server offers
// that, with text and HTML, and with the mail's Message-ID.
func TestDeliveryBySMTP(t *testing.T) {
	t.Parallel()
	for _, encrypts := range []encryption{never, whenAsked, always} {
		s := newServer(t, encrypts)
		p := newPost(t, s.client(t, ""))
		if err := p.write(t.Context(), "Välkommen", nil); err != nil {
			t.Fatal(err)
		}
		p.work(t)
		p.awaitDone(t)
		p.wantStatus(t, "sent, done")
		ids, _ := p.mails(t)
		got := s.has()
		if len(got) != 1 {
			t.Fatalf("%d mails, want 1", len(got))
		}
		m := got[0]
		if m.from != "loyalty@example.com" || m.to != "anna@example.com" || m.encrypted != (encrypts != never) {
			t.Errorf("from %s to %s, encrypted: %v, want %v", m.from, m.to, m.encrypted, encrypts != never)
		}
		for header, want := range map[string]string{
			"Message-Id": "<" + ids[0].String() + "@example.com>", "From": `"Loyalty" <loyalty@example.com>`, "To": "<anna@example.com>",
			"Subject": "=?UTF-8?q?V=C3=A4lkommen?=", "User-Agent": "", "X-Mailer": "",
		} {
			if got := m.Header.Get(header); got != want {
				t.Errorf("%s: %s, want %s", header, got, want)
			}
		}
		if !strings.HasPrefix(m.Header.Get("Content-Type"), "multipart/alternative") || m.Header.Get("Date") == "" {
			t.Errorf("headers %v", m.Header)
		}
		for _, part := range []string{"Content-Type: text/plain; charset=UTF-8", "Dear anna@example.com", "Content-Type: text/html; charset=UTF-8", "<p>V=C3=A4lkommen</p>"} {
			if !strings.Contains(m.body, part) {
				t.Errorf("the mail lacks %q:\n%s", part, m.body)
			}
		}
	}
}

// "PDF …, e-mailed to the owner": the file arrives unchanged, from the address in the platform's settings
// ("mail sender"), and is not kept.
func TestAnAttachmentArrives(t *testing.T) {
	t.Parallel()
	s := newServer(t, whenAsked)
	p := newPost(t, s.client(t, ""))
	if _, err := dbtest.Owner(p.db).Exec(t.Context(), "update loyalty.platform_setting set mail_name = 'Åro billing', mail_address = 'billing@example.com'"); err != nil {
		t.Fatal(err)
	}
	if err := p.write(t.Context(), "Invoice", nil); err != nil {
		t.Fatal(err)
	}
	p.work(t)
	p.awaitDone(t)
	m := s.has()[0]
	if m.from != "billing@example.com" || m.Header.Get("From") != "=?utf-8?q?=C3=85ro_billing?= <billing@example.com>" {
		t.Errorf("from %s, %s", m.from, m.Header.Get("From"))
	}
	file := base64.StdEncoding.EncodeToString([]byte("%PDF-1.3 \x00\xff"))
	for _, part := range []string{"multipart/mixed", `filename="invoice.pdf"`, "Content-Type: application/pdf", file} {
		if !strings.Contains(m.Header.Get("Content-Type")+m.body, part) {
			t.Errorf("the mail lacks %q:\n%s", part, m.body)
		}
	}
	var kept int
	if err := dbtest.Owner(p.db).QueryRow(t.Context(), "select count(attachment) from loyalty.mail").Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d attachments are kept, %v", kept, err)
	}
	// A package that sends mails itself uses the same address, with its own sender name.
	courier, err := p.Courier(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer courier.Close()
	voucher := ours.Mail{ID: core.NewID(p.db.Now()), Recipient: "anna@example.com", Subject: "Voucher", From: "Café Åro", Text: "x", HTML: "x"}
	if tried := courier.Deliver(t.Context(), voucher, false); tried.Outcome != ours.Sent {
		t.Fatalf("%+v", tried)
	}
	if got := s.has()[1].Header.Get("From"); got != "=?utf-8?q?Caf=C3=A9_=C3=85ro?= <billing@example.com>" {
		t.Errorf("a voucher is from %s", got)
	}
}

// "Retries for 4xx": a busy server gets the mail later, once.
func TestABusyServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t, never)
	s.refuses("data", refusal(451, "Try again later"))
	p := newPost(t, s.client(t, ""))
	if err := p.write(t.Context(), "Hello", nil); err != nil {
		t.Fatal(err)
	}
	p.work(t)
	p.awaitDone(t)
	p.wantStatus(t, "sent, done")
	ids, _ := p.mails(t)
	got := s.has()
	if len(got) != 1 || s.attempts != 2 || got[0].Header.Get("Message-Id") != "<"+ids[0].String()+"@example.com>" {
		t.Errorf("%d mails after %d attempts: %v", len(got), s.attempts, got)
	}
	if p.log.count("451") != 1 || !p.log.has("mail "+ids[0].String()) {
		t.Errorf("the log does not say why, once: %s", p.log)
	}
}

// "Status `failed` for permanent SMTP errors" of this mail. A server that refuses the connection refuses every
// mail, so they wait.
func TestWhichRefusalsArePermanent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stage   string
		code    int
		forGood bool
	}{
		{"rcpt", 550, true}, {"rcpt", 450, false}, {"data", 554, true}, {"data", 452, false}, {"mail", 553, false}, {"mail", 421, false},
	} {
		s := newServer(t, never)
		s.refuses(c.stage, refusal(c.code, "Not this one"))
		err := deliver(t, s.client(t, ""), letter())
		if err == nil || errors.Is(err, ours.ErrRefused) != c.forGood || !strings.Contains(err.Error(), "Not this one") {
			t.Errorf("%d to %s = %v, want it for good: %v", c.code, c.stage, err, c.forGood)
		}
	}
	unaddressed := letter()
	unaddressed.Recipient = "not-an-address"
	s := newServer(t, never)
	if err := deliver(t, s.client(t, ""), unaddressed); !errors.Is(err, ours.ErrRefused) {
		t.Errorf("a mail to an invalid address = %v, want it refused for good", err)
	}
	client := s.client(t, "")
	if err := deliver(t, client, letter()); err != nil {
		t.Errorf("a mail to Anna = %v", err)
	}
	unused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = unused.Close()
	s.address = unused.Addr().String()
	if err := deliver(t, s.client(t, ""), letter()); err == nil || errors.Is(err, ours.ErrRefused) {
		t.Errorf("no server = %v, want another attempt", err)
	}
}

// A permanent refusal ends the job and stores the error.
func TestARefusedMailFails(t *testing.T) {
	t.Parallel()
	s := newServer(t, never)
	s.refuses("rcpt", refusal(550, "No such mailbox"))
	p := newPost(t, s.client(t, ""))
	if err := p.write(t.Context(), "Hello", nil); err != nil {
		t.Fatal(err)
	}
	p.work(t)
	p.awaitDone(t)
	p.wantStatus(t, "failed, done")
	ids, _ := p.mails(t)
	if got := p.reason(t, ids[0]); !strings.Contains(got, "No such mailbox") || s.attempts != 1 {
		t.Errorf("after %d attempts the reason is %q", s.attempts, got)
	}
	if !p.log.has("No such mailbox") {
		t.Errorf("the log does not say why: %s", p.log)
	}
}

// The password of LOYALTY_SMTP_URL goes only to an encrypted server. With a wrong one, mails wait.
func TestPasswordOfTheServer(t *testing.T) {
	t.Parallel()
	s := newServer(t, whenAsked)
	s.password = "s3cret p@ss"
	if err := deliver(t, s.client(t, "loyalty:s3cret%20p%40ss@"), letter()); err != nil {
		t.Errorf("the right password = %v", err)
	}
	if err := deliver(t, s.client(t, "loyalty:wrong@"), letter()); err == nil || errors.Is(err, ours.ErrRefused) || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong password = %v, want another attempt, and no word of it", err)
	}
	if err := deliver(t, s.client(t, ""), letter()); err == nil || errors.Is(err, ours.ErrRefused) {
		t.Errorf("no password = %v, want another attempt", err)
	}
	bare := newServer(t, never)
	bare.password = "s3cret p@ss"
	if err := deliver(t, bare.client(t, "loyalty:s3cret%20p%40ss@"), letter()); err == nil {
		t.Error("the password was said in the clear")
	}
	if got := s.has(); len(got) != 1 || len(bare.has()) != 0 {
		t.Errorf("%d mails, want 1", len(got))
	}
}

// A mail that the server has accepted is not sent again, even if the connection then breaks.
func TestAMailThatIsTakenIsSent(t *testing.T) {
	t.Parallel()
	s := newServer(t, never)
	s.hangUp = true
	if err := deliver(t, s.client(t, ""), letter()); err != nil {
		t.Errorf("a mail that is taken = %v", err)
	}
	if got := s.has(); len(got) != 1 {
		t.Errorf("%d mails, want 1", len(got))
	}
}

func letter() ours.Mail {
	return ours.Mail{Recipient: "anna@example.com", Subject: "Hello", Text: "Dear Anna", HTML: "<p>Dear Anna</p>"}
}

// deliver delivers one mail over its own connection.
func deliver(t *testing.T, server *ours.SMTP, m ours.Mail) error {
	t.Helper()
	conn, err := server.Dial(t.Context())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return conn.Send(t.Context(), m)
}

// A stored mail keeps the address that turns it off with one click (RFC 8058) until it is delivered.
func TestUnsubscribeBySMTP(t *testing.T) {
	t.Parallel()
	s := newServer(t, never)
	p := newPost(t, s.client(t, ""))
	if err := p.write(t.Context(), "Your week", nil); err != nil {
		t.Fatal(err)
	}
	p.work(t)
	p.awaitDone(t)
	got := s.has()
	if len(got) != 1 || got[0].Header.Get("List-Unsubscribe") != "<https://shop.example/unsubscribe/weekly/TOKEN>" ||
		got[0].Header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" {
		t.Errorf("delivered %+v", got)
	}
	var kept int
	if err := dbtest.Owner(p.db).QueryRow(t.Context(), "select count(*) from loyalty.mail where unsubscribe is not null").Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d addresses are kept after the delivery, %v", kept, err)
	}
}
