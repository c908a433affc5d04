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

	gomail "github.com/wneessen/go-mail"
)

// SMTP delivers mails to a mail server.
type SMTP struct {
	host    string
	options []gomail.Option
	from    string

	trouble atomic.Pointer[string] // why the last Dial failed; nil: it did not
}

// ErrNoEncryption is a mail server on another machine that offers no STARTTLS: mails hold
// links that open accounts, so none is sent in the clear.
var ErrNoEncryption = errors.New("it doesn't offer STARTTLS, so mails would travel unencrypted: " +
	"turn STARTTLS on there, or use a server with smtps://")

// NewSMTP reads the server from a URL: smtp://user:password@host:587 (encrypted by STARTTLS,
// which only a server on this machine may lack) or smtps://user:password@host:465 (encrypted
// from the start).
func NewSMTP(server, from string) (*SMTP, error) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		return nil, errors.New("a mail server is written smtp://user:password@host:port or smtps://…")
	}
	if err := gomail.NewMsg().From(from); err != nil {
		return nil, fmt.Errorf("%q is not an address to send mails from", from)
	}
	s := &SMTP{host: u.Hostname(), from: from, options: []gomail.Option{gomail.WithTimeout(20 * time.Second)}}
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

// isLoopback reports whether a host is this machine: what is sent there leaves it by no network.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// Dial connects to the server. A server on another machine without encryption is
// ErrNoEncryption.
func (s *SMTP) Dial(ctx context.Context) (Conn, error) {
	conn, err := s.dial(ctx)
	if err == nil {
		s.trouble.Store(nil)
		return conn, nil
	}
	err = fmt.Errorf("the mail server %s can't be used: %w", s.host, err)
	if ctx.Err() == nil {
		text := err.Error()
		s.trouble.Store(&text)
	}
	return nil, err
}

func (s *SMTP) dial(ctx context.Context) (Conn, error) {
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return nil, err
	}
	if err := client.DialWithContext(ctx); err != nil {
		if strings.Contains(err.Error(), "does not support STARTTLS") { // the library has no error of its own for it
			return nil, ErrNoEncryption
		}
		return nil, err
	}
	return &smtpConn{server: s, client: client}, nil
}

// Check connects to the server and hangs up: whether it can be used.
func (s *SMTP) Check(ctx context.Context) error {
	conn, err := s.Dial(ctx)
	if err != nil {
		return err
	}
	return conn.Close()
}

// Trouble is why the server couldn't be used the last time this process tried, or "".
func (s *SMTP) Trouble() string {
	if text := s.trouble.Load(); text != nil {
		return *text
	}
	return ""
}

// smtpConn is a connection to the server.
type smtpConn struct {
	server *SMTP
	client *gomail.Client
}

// Close says goodbye.
func (c *smtpConn) Close() error { return c.client.Close() }

// Send delivers one mail. Its Message-ID is the mail's own id, so a mail that is delivered
// twice is recognized as one.
func (c *smtpConn) Send(ctx context.Context, m Mail) error {
	// The library bounds each command by its own timeout and takes no context.
	if err := ctx.Err(); err != nil {
		return err
	}
	msg, err := c.server.message(m)
	if err != nil {
		return err
	}
	err = c.client.Send(msg)
	switch {
	case msg.IsDelivered():
		return nil // the server has it: what went wrong in parting is no reason to send it again
	case refused(err):
		return fmt.Errorf("%w: %s", ErrRefused, reply(err))
	case deferred(err):
		return fmt.Errorf("%w: %s", ErrDeferred, reply(err))
	}
	return err
}

func (s *SMTP) message(m Mail) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	sender, err := netmail.ParseAddress(s.from)
	if err != nil {
		return nil, err
	}
	name, address := cmp.Or(m.From, m.SenderName, sender.Name), cmp.Or(m.SenderAddress, sender.Address)
	if err := msg.FromFormat(name, address); err != nil {
		return nil, err
	}
	if err := msg.To(m.Recipient); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	msg.SetMessageIDWithValue(m.ID.String() + "@" + s.host)
	msg.SetDate()
	msg.Subject(m.Subject)
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
			return nil, err
		}
	}
	if m.AttachmentName != nil {
		if err := msg.AttachReader(*m.AttachmentName, bytes.NewReader(m.Attachment)); err != nil {
			return nil, err
		}
	}
	return msg, nil
}

// refused reports whether the server will not have this mail, now or later. A server that
// does not let us in, or not with our sender, refuses every mail: its operator has to
// mend that, and the mails wait.
func refused(err error) bool {
	failed, ok := refusalOfMail(err)
	return ok && failed.ErrorCode() >= 500
}

// deferred reports whether the server may take this mail later.
func deferred(err error) bool {
	failed, ok := refusalOfMail(err)
	return ok && failed.ErrorCode() >= 400 && failed.ErrorCode() < 500
}

// reply is what the server said: "550 5.1.1 No such user". The library's text also names the
// recipient and the mail.
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

// refusalOfMail is what the server said of the recipient or the content.
func refusalOfMail(err error) (*gomail.SendError, bool) {
	var failed *gomail.SendError
	if !errors.As(err, &failed) {
		return nil, false
	}
	return failed, failed.Reason == gomail.ErrSMTPRcptTo || failed.Reason == gomail.ErrSMTPData || failed.Reason == gomail.ErrSMTPDataClose
}
