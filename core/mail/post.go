package mail

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"

	"example.com/loyalty/core/db"
)

// Render turns a letter into words, as Queue does.
func (s *Service) Render(ctx context.Context, to string, letter Email) (Rendered, error) {
	return s.render(ctx, to, letter)
}

// Keeps reports whether mails are kept in the database instead of being sent, because the
// installation has no mail server.
func (s *Service) Keeps() bool { return s.sender == nil }

// Dial connects to the mail server, for a package that sends many mails and keeps track of
// them itself. Not where Keeps. What it sends is from the platform's own address where one
// is set.
func (s *Service) Dial(ctx context.Context) (Conn, error) {
	from, err := db.PlatformOne[sender](ctx, s.db, senderSQL, nil)
	if err != nil {
		return nil, err
	}
	conn, err := s.sender.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return fromPlatform{conn, from.MailAddress}, nil
}

// fromPlatform is a connection whose mails are from the platform's own address.
type fromPlatform struct {
	Conn
	address string
}

// Send delivers one mail.
func (c fromPlatform) Send(ctx context.Context, m Mail) error {
	m.SenderAddress = c.address
	return c.Conn.Send(ctx, m)
}

const insertKeptSQL = `
	insert into loyalty.mail (tenant_id, id, recipient, subject, text, html, status, created_at, done_at)
	values (nullif(@tenant::bigint, 0), @id, @recipient, @subject, @text, @html, 'kept', @now, @now)
	on conflict (id) do nothing`

// Keep stores a mail that would be sent if there were a mail server, with its pictures in
// its HTML, with the next statement or the commit. A mail that is kept already stays as it is.
func Keep(tx *db.Tx, m Mail) error {
	return db.Queue(tx, insertKeptSQL, db.Args{
		"tenant": int64(tx.Tenant), "id": m.ID, "recipient": m.Recipient, "subject": m.Subject, "text": m.Text,
		"html": Embedded(m.HTML, m.Inline), "now": tx.Now,
	})
}

// Embedded is HTML with its pictures written into it, for a browser, which knows no cid:.
func Embedded(html string, pictures []Inline) string {
	for _, p := range pictures {
		var url bytes.Buffer
		url.WriteString("data:" + p.Type + ";base64,")
		url.WriteString(base64.StdEncoding.EncodeToString(p.Bytes))
		html = strings.ReplaceAll(html, "cid:"+p.Name, url.String())
	}
	return html
}
