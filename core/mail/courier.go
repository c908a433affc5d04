package mail

import (
	"cmp"
	"context"
	"errors"

	"example.com/loyalty/core/db"
)

// Courier delivers mails one after another, over one connection to the mail server. Single mails and those of
// sends go this way; when a deferred one is tried again is up to where it is stored.
type Courier struct {
	service *Service
	address string // of the sender, for mails that aren't stored; "": the installation's
	conn    Conn   // nil: none yet, or the last one broke
}

const senderSQL = `
	select mail_address
	from loyalty.platform_setting`

// Courier returns a courier of mails that aren't stored, which are sent from the platform's address if one is set.
func (s *Service) Courier(ctx context.Context) (*Courier, error) {
	from, err := db.One[struct{ MailAddress string }](ctx, s.db.Platform(), senderSQL, nil)
	return &Courier{service: s, address: from.MailAddress}, err
}

// Open connects to the mail server if there is one and the courier isn't connected.
func (c *Courier) Open(ctx context.Context) error {
	if c.conn != nil || c.service.sender == nil {
		return nil
	}
	conn, err := c.service.sender.Dial(ctx)
	if err == nil {
		c.conn = conn
	}
	return err
}

// Close closes the connection. The courier can be used again.
func (c *Courier) Close() {
	if c.conn != nil {
		_ = c.conn.Close() // the server has the mails
		c.conn = nil
	}
}

// Attempt is how an attempt to deliver a mail ended.
type Attempt struct {
	Outcome string // Deferred: to be tried again
	Err     error  // why it was not delivered
}

// Deliver tries to deliver a mail. If it is the last attempt, a deferred mail is given up.
func (c *Courier) Deliver(ctx context.Context, m Mail, isLast bool) Attempt {
	if c.service.sender == nil {
		return Attempt{Outcome: Kept}
	}
	err := c.Open(ctx)
	if err == nil {
		m.SenderAddress = cmp.Or(m.SenderAddress, c.address)
		err = c.conn.Send(ctx, m)
	}
	switch {
	case err == nil:
		return Attempt{Outcome: Sent}
	case errors.Is(err, ErrRefused):
		return Attempt{Refused, err}
	case !errors.Is(err, ErrDeferred):
		c.Close() // unusable after such an error
	}
	if isLast {
		return Attempt{GivenUp, err}
	}
	return Attempt{Deferred, err}
}
