// Package email renders the e-mails that core sends: a subject, text for
// programs that show plain text, and HTML by views/mail.
//
// Its surprising rule: names that people chose pass through line, which leaves them
// one line. A name must not write a header of the mail, nor a paragraph of it. A
// message keeps its line breaks, and each of its lines passes through line.
package email

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/a-h/templ"

	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/host"
)

// Render returns the renderer of an installation with these host names.
func Render(names host.Names) mail.Renderer {
	return renderer{names: names, service: strings.TrimPrefix(names.Base(), "https://"), logos: &logos{}}.render
}

// renderer is the installation that writes.
type renderer struct {
	names   host.Names
	service string // its host, as mails name it
	logos   *logos
}

// email is a letter in words.
type message struct {
	subject string
	text    string
	html    templ.Component

	// Of those to a business's customers; see mail.Rendered.
	from, unsubscribe string
	inline            []mail.Inline

	attachment *mail.Attachment
}

func (p renderer) render(ctx context.Context, to string, e mail.Email) (mail.Rendered, error) {
	d, err := p.message(line(to), e)
	if err != nil {
		return mail.Rendered{}, err
	}
	var html strings.Builder
	if err := d.html.Render(ctx, &html); err != nil {
		return mail.Rendered{}, fmt.Errorf("render %T: %w", e, err)
	}
	return mail.Rendered{
		Subject: line(d.subject), Text: d.text, HTML: html.String(),
		From: d.from, Unsubscribe: d.unsubscribe, Inline: d.inline, Attachment: d.attachment,
	}, nil
}

func (p renderer) message(to string, e mail.Email) (message, error) {
	switch l := e.(type) {
	case token.CreatedEmail:
		return p.tokensMade(to, l), nil
	case auth.InvitationEmail:
		return p.invited(to, l), nil
	case auth.ResetEmail:
		return p.forgotten(to, l), nil
	case auth.ChangeEmail:
		return p.changed(to, l), nil
	case coupon.VoucherEmail:
		return p.voucher(l)
	case walkin.CardEmail:
		return p.card(l)
	case coupon.SendResultEmail:
		return p.finished(to, l), nil
	case billing.InvoiceEmail:
		return p.billed(to, l)
	case deprecation.NoticeEmail:
		return p.deprecated(to, l), nil
	case tenant.SetupEmail:
		return p.setup(to, l), nil
	case tenant.SuspensionEmail:
		return p.suspended(to, l), nil
	default:
		return message{}, fmt.Errorf("no mail is written for a %T", e)
	}
}

// line makes one line of a text: line breaks, other control characters and
// invisible ones that turn the direction of writing become spaces.
func line(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
}
