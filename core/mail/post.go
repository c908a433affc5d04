package mail

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"

	"example.com/loyalty/core/db"
)

// Keeps reports whether mails stay in the database because the installation has no mail server.
func (s *Service) Keeps() bool { return s.sender == nil }

// Dial connects to the mail server, for a package that sends many mails and tracks them itself. It must
// not be called where Keeps. Mails are sent from the platform's address if one is set.
func (s *Service) Dial(ctx context.Context) (Conn, error) {
	from, err := db.One[struct{ MailAddress string }](ctx, s.db.Platform(), senderSQL, nil)
	if err != nil {
		return nil, err
	}
	conn, err := s.sender.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return platformConn{conn, from.MailAddress}, nil
}

// platformConn is a connection whose mails are sent from the platform's address.
type platformConn struct {
	Conn
	address string
}

// Send delivers one mail.
func (c platformConn) Send(ctx context.Context, m Mail) error {
	m.SenderAddress = c.address
	return c.Conn.Send(ctx, m)
}

const insertKeptSQL = `
	insert into loyalty.mail (tenant_id, id, recipient, subject, text, html, status, created_at, done_at)
	values (nullif(@tenant::bigint, 0), @id, @recipient, @subject, @text, @html, 'kept', @now, @now)
	on conflict (id) do nothing`

// Keep queues the storing of a mail that can't be sent without a mail server, with its pictures in its
// HTML. A mail that is stored already stays as it is.
func Keep(tx *db.Tx, m Mail) error {
	return db.Queue(tx, insertKeptSQL, db.Args{
		"tenant": int64(tx.Tenant), "id": m.ID, "recipient": m.Recipient, "subject": m.Subject, "text": m.Text,
		"html": Embedded(m.HTML, m.Inline), "now": tx.Now,
	})
}

// Embedded returns HTML with its pictures inside, because browsers don't support cid: URLs.
func Embedded(html string, pictures []Inline) string {
	for _, p := range pictures {
		var url bytes.Buffer
		url.WriteString("data:" + p.Type + ";base64,")
		url.WriteString(base64.StdEncoding.EncodeToString(p.Bytes))
		html = strings.ReplaceAll(html, "cid:"+p.Name, url.String())
	}
	return html
}
