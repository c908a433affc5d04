package mail

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// SMTP delivers mails to a mail server.
type SMTP struct {
	host    string
	options []gomail.Option
	from    string
}

// NewSMTP reads the server from a URL: smtp://user:password@host:587 (encrypted where
// the server offers it) or smtps://user:password@host:465 (encrypted from the start).
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
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
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

// Send delivers one mail. Its Message-ID is the mail's own id, so that a mail
// delivered twice is known as one.
func (s *SMTP) Send(ctx context.Context, m Mail) error {
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return err
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := msg.From(s.from); err != nil {
		return err
	}
	if err := msg.To(m.Recipient); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	msg.SetMessageIDWithValue(m.ID.String() + "@" + s.host)
	msg.SetDate()
	msg.Subject(m.Subject)
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	err = client.DialAndSendWithContext(ctx, msg)
	switch {
	case msg.IsDelivered():
		return nil // the server has it: what went wrong in parting is no reason to send it again
	case refused(err):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// refused reports whether the server will not have this mail, now or later. A server
// that does not let us in, or not with our sender, refuses every mail: that is for
// whoever runs it to mend, and the mails wait.
func refused(err error) bool {
	var failed *gomail.SendError
	if !errors.As(err, &failed) || failed.ErrorCode() < 500 {
		return false
	}
	return failed.Reason == gomail.ErrSMTPRcptTo || failed.Reason == gomail.ErrSMTPData || failed.Reason == gomail.ErrSMTPDataClose
}
