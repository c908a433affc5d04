// Package email renders the e-mails that core sends: a subject, text for
// programs that show plain text, and HTML by views/mail.
//
// Its surprising rule: line makes one line of every name that people chose, so that a
// name can't add a header or a paragraph to the e-mail. A message keeps its line
// breaks, and line cleans each of its lines.
package email

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/a-h/templ"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
)

// Render returns the renderer of an installation with these host names.
func Render(names host.Names) mail.Renderer {
	return renderer{names: names, service: strings.TrimPrefix(names.Base(), "https://")}.render
}

// renderer renders the e-mails of one installation.
type renderer struct {
	names   host.Names
	service string // its host
}

// message is an e-mail whose HTML is not rendered yet.
type message struct {
	subject string
	text    string
	html    templ.Component

	// Set in e-mails to customers; see mail.Rendered.
	from, unsubscribe string
	inline            []mail.Inline

	attachment *mail.Attachment
}

func (p renderer) render(ctx context.Context, to string, e mail.Email) (mail.Rendered, error) {
	m, err := p.message(line(to), e)
	if err != nil {
		return mail.Rendered{}, err
	}
	var html bytes.Buffer
	if err := m.html.Render(ctx, &html); err != nil {
		return mail.Rendered{}, fmt.Errorf("render %T: %w", e, err)
	}
	return mail.Rendered{
		Subject: line(m.subject), Text: m.text, HTML: string(page.Isolated(html.Bytes())),
		From: m.from, Unsubscribe: m.unsubscribe, Inline: m.inline, Attachment: m.attachment,
	}, nil
}

func (p renderer) message(to string, e mail.Email) (message, error) {
	switch l := e.(type) {
	case token.CreatedEmail:
		return p.tokens(to, l), nil
	case auth.InvitationEmail:
		return p.invitation(to, l), nil
	case auth.ResetEmail:
		return p.reset(to, l), nil
	case auth.ChangeEmail:
		return p.change(to, l), nil
	case coupon.VoucherEmail:
		return p.voucher(l)
	case walkin.CardEmail:
		return p.card(l)
	case coupon.SendResultEmail:
		return p.sendResult(to, l), nil
	case billing.InvoiceEmail:
		return p.invoice(to, l)
	case deprecation.NoticeEmail:
		return p.deprecation(to, l), nil
	case tenant.SetupEmail:
		return p.setup(to, l), nil
	case notification.WeeklyEmail:
		return p.weekly(l), nil
	case tenant.SuspensionEmail:
		return p.suspension(to, l), nil
	default:
		return message{}, fmt.Errorf("no e-mail for a %T", e)
	}
}

// line makes one line of what people chose.
func line(s string) string { return core.OneLine(s) }
