package mail

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"example.com/loyalty/core"
)

// SMTP delivers mails to a mail server.
type SMTP struct {
	host    string
	options []gomail.Option
	from    netmail.Address

	trouble atomic.Pointer[trouble] // nil: none
}

// trouble is why mails can't be sent: it concerns all of them, not one.
type trouble struct {
	text    string
	sender  string // whose mails were refused or broken off; "": the server wasn't reached
	lasting bool   // a check can't find it
}

// retriedWithin is a little longer than the longest time until a waiting mail is tried again.
const retriedWithin = 70 * time.Minute

// ErrNoEncryption refuses a mail server on another machine without STARTTLS: mails contain links that
// open accounts, so they are never sent unencrypted.
var ErrNoEncryption = errors.New("it doesn't offer STARTTLS, so mails would travel unencrypted: " +
	"turn STARTTLS on there, or use a server with smtps://")

// NewSMTP parses the URL of a server: smtp://user:password@host:587 (with STARTTLS, which only a server
// on this machine may lack) or smtps://user:password@host:465.
func NewSMTP(server, from string) (*SMTP, error) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		return nil, errors.New("a mail server is written smtp://user:password@host:port or smtps://…")
	}
	sender, err := netmail.ParseAddress(from)
	if err != nil || !core.IsEmail(sender.Address) {
		return nil, fmt.Errorf("%q is not an address to send mails from", from)
	}
	s := &SMTP{host: u.Hostname(), from: *sender, options: []gomail.Option{gomail.WithTimeout(20 * time.Second)}}
	port := 587
	if u.Scheme == "smtps" {
		port = 465
		s.options = append(s.options, gomail.WithSSL())
	} else {
		policy := gomail.TLSMandatory
		if isLoopback(s.host) {
			policy = gomail.TLSOpportunistic
		}
		s.options = append(s.options, gomail.WithTLSPolicy(policy))
	}
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil {
			return nil, err
		}
	}
	s.options = append(s.options, gomail.WithPort(port))
	if password, set := u.User.Password(); set {
		s.options = append(s.options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	return s, nil
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// Dial connects to the server, or fails with ErrNoEncryption.
func (s *SMTP) Dial(ctx context.Context) (Conn, error) {
	conn, err := s.reach(ctx)
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// reach is Dial, which notes whether it succeeded.
func (s *SMTP) reach(ctx context.Context) (*smtpConn, error) {
	conn, err := s.dial(ctx)
	if err == nil {
		if t := s.trouble.Load(); t != nil && t.sender == "" {
			s.trouble.CompareAndSwap(t, nil)
		}
		return conn, nil
	}
	err = fmt.Errorf("the mail server %s can't be used: %w", s.host, err)
	if ctx.Err() == nil {
		s.trouble.Store(&trouble{text: err.Error()})
	}
	return nil, err
}

func (s *SMTP) dial(ctx context.Context) (*smtpConn, error) {
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return nil, err
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		if strings.Contains(err.Error(), "does not support STARTTLS") { // the library has no typed error for this
			return nil, ErrNoEncryption
		}
		return nil, err
	}
	return &smtpConn{s, client, session}, nil
}

// Check tests what all mails need: the connection to the server, the login, and that it accepts mails from the sender. A
// check that succeeds ends the trouble that it could have found.
func (s *SMTP) Check(ctx context.Context) error {
	known := s.trouble.Load()
	conn, err := s.reach(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // the result is known
	sender := s.from.Address
	if known != nil && known.sender != "" {
		sender = known.sender
	}
	if err := conn.session.Mail("<" + core.ASCIIEmail(sender) + ">"); err != nil {
		return s.failed(sender, err, false)
	}
	if known != nil && !known.lasting {
		s.trouble.CompareAndSwap(known, nil)
	}
	return nil
}

// failed notes that the server refused a sender or broke off a mail, and returns the error.
func (s *SMTP) failed(sender string, err error, lasting bool) error {
	text := fmt.Sprintf("the mail server %s refuses mails from %s: %s", s.host, sender, reply(err))
	if lasting {
		text = fmt.Sprintf("the mail server %s breaks off: %s", s.host, reply(err))
	}
	t := &trouble{text, sender, lasting}
	s.trouble.Store(t)
	if lasting {
		// Only a mail shows that this is over. By then another process may have sent those that waited, and this one has none
		// to send, so a check that succeeds ends the trouble from then on.
		time.AfterFunc(retriedWithin, func() { s.trouble.CompareAndSwap(t, &trouble{text, sender, false}) })
	}
	return err
}

// Trouble returns why this process can't send mails, or "".
func (s *SMTP) Trouble() string {
	if t := s.trouble.Load(); t != nil {
		return t.text
	}
	return ""
}

// smtpConn is a connection to the server.
type smtpConn struct {
	server  *SMTP
	client  *gomail.Client
	session *smtp.Client
}

// Close closes the connection.
func (c *smtpConn) Close() error { return c.client.CloseWithSMTPClient(c.session) }

// Send delivers one mail. Its Message-ID is the mail's ID at the sender's domain, by whatever server it is sent, so
// that a second delivery can be recognised.
func (c *smtpConn) Send(ctx context.Context, m Mail) error {
	// The library takes no context; each command has a timeout.
	if err := ctx.Err(); err != nil {
		return err
	}
	msg, err := c.server.message(m)
	if err != nil {
		return err
	}
	err = c.client.SendWithSMTPClient(c.session, msg)
	switch {
	case msg.IsDelivered():
		c.server.trouble.Store(nil)
		return nil // the server has it, so an error afterwards is no reason to send it again
	case isRefusal(err, 500, 599):
		return fmt.Errorf("%w: %s", ErrRefused, reply(err))
	case isMailboxBusy(err):
		return fmt.Errorf("%w: %s", ErrMailboxBusy, reply(err))
	case isRefusal(err, 400, 499):
		return fmt.Errorf("%w: %s", ErrDeferred, reply(err))
	case isUnwritten(err):
		return ErrUnwritten(err)
	}
	sender := cmp.Or(m.SenderAddress, c.server.from.Address)
	return c.server.failed(sender, err, !isSenderRefused(err))
}

// message builds a mail. Names are data, so nothing here parses one: net/mail quotes or encodes them.
func (s *SMTP) message(m Mail) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	sender := &netmail.Address{
		Name:    senderName(cmp.Or(core.OneLine(m.From), core.OneLine(m.SenderName), core.OneLine(s.from.Name))),
		Address: core.ASCIIEmail(cmp.Or(m.SenderAddress, s.from.Address)),
	}
	recipient, err := netmail.ParseAddress(core.ASCIIEmail(m.Recipient))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	msg.FromMailAddress(sender)
	msg.ToMailAddress(recipient)
	msg.SetMessageIDWithValue(m.ID.String() + "@" + sender.Address[strings.LastIndexByte(sender.Address, '@')+1:])
	msg.SetDate()
	msg.Subject(core.OneLine(m.Subject))
	if m.Unsubscribe != "" {
		msg.SetGenHeader(gomail.HeaderListUnsubscribe, "<"+m.Unsubscribe+">")
		msg.SetGenHeader(gomail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click")
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	for _, picture := range m.Inline {
		err := msg.EmbedReader(picture.Name, bytes.NewReader(picture.Bytes),
			gomail.WithFileContentID("<"+picture.Name+">"), gomail.WithFileContentType(gomail.ContentType(picture.Type)))
		if err != nil {
			return nil, ErrUnwritten(err)
		}
	}
	if m.AttachmentName != nil {
		if err := msg.AttachReader(*m.AttachmentName, bytes.NewReader(m.Attachment)); err != nil {
			return nil, ErrUnwritten(err)
		}
	}
	return msg, nil
}

// senderName returns a name that net/mail writes as mail programs read it. RFC 2047 allows no backslash in a name that is
// encoded, and net/mail leaves it there, so it becomes a wide one.
func senderName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return strings.ReplaceAll(name, `\`, "＼")
	}
	return name
}

// isRefusal reports whether the server refused this mail's recipient or content with a code in a range.
// A server that refuses the connection or the sender refuses every mail: its operator must fix that,
// and the mails wait.
func isRefusal(err error, from, to int) bool {
	var failed *gomail.SendError
	if !errors.As(err, &failed) || failed.ErrorCode() < from || failed.ErrorCode() > to {
		return false
	}
	return failed.Reason == gomail.ErrSMTPRcptTo || failed.Reason == gomail.ErrSMTPData || failed.Reason == gomail.ErrSMTPDataClose
}

// isMailboxBusy reports whether the server deferred a mail for a reason of its recipient's mailbox (RFC 3463, X.2), not for one
// of its own.
func isMailboxBusy(err error) bool {
	var failed *gomail.SendError
	if !isRefusal(err, 400, 499) || !errors.As(err, &failed) {
		return false
	}
	enhanced := failed.EnhancedStatusCode()
	return strings.HasPrefix(enhanced, "4.2.") || enhanced == "" && failed.ErrorCode() == 450
}

// isSenderRefused reports whether the server answered the sender with a refusal.
func isSenderRefused(err error) bool {
	var failed *gomail.SendError
	return errors.As(err, &failed) && failed.Reason == gomail.ErrSMTPMailFrom && failed.ErrorCode() != 0
}

// isUnwritten reports whether the library couldn't write the mail, before the server was asked.
func isUnwritten(err error) bool {
	var failed *gomail.SendError
	return errors.As(err, &failed) && (failed.Reason == gomail.ErrGetSender || failed.Reason == gomail.ErrGetRcpts || failed.Reason == gomail.ErrNoUnencoded)
}

// reply returns the server's words, such as "550 5.1.1 No such user". The library's text also contains
// the recipient and the mail.
func reply(err error) string {
	text, _, _ := strings.Cut(err.Error(), ", affected ")
	if _, said, found := strings.Cut(text, ": "); found {
		text = said
	}
	code, words, _ := strings.Cut(text, " ")
	if said, err := strconv.Unquote(words); err == nil {
		return code + " " + said
	}
	return text
}
