// Package letter turns the letters of core into mails: a subject, words for
// programs that show plain text, and HTML by views/mail.
//
// Its surprising rule: names that people chose pass through line, which leaves them
// one line. A name must not write a header of the mail, nor a paragraph of it. A
// message keeps its line breaks, and each of its lines passes through line.
package letter

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

// Render renders the letters of an installation by its host names.
func Render(names host.Names) mail.Renderer {
	return post{names: names, service: strings.TrimPrefix(names.Base(), "https://"), logos: &logos{}}.render
}

// post is the installation that writes.
type post struct {
	names   host.Names
	service string // its host, as mails name it
	logos   *logos
}

// draft is a letter in words.
type draft struct {
	subject string
	text    string
	html    templ.Component

	// Of those to a business's customers; see mail.Rendered.
	from, unsubscribe string
	inline            []mail.Inline

	attachment *mail.Attachment
}

func (p post) render(ctx context.Context, to string, letter mail.Letter) (mail.Rendered, error) {
	d, err := p.draft(line(to), letter)
	if err != nil {
		return mail.Rendered{}, err
	}
	var html strings.Builder
	if err := d.html.Render(ctx, &html); err != nil {
		return mail.Rendered{}, fmt.Errorf("render %T: %w", letter, err)
	}
	return mail.Rendered{
		Subject: line(d.subject), Text: d.text, HTML: html.String(),
		From: d.from, Unsubscribe: d.unsubscribe, Inline: d.inline, Attachment: d.attachment,
	}, nil
}

func (p post) draft(to string, letter mail.Letter) (draft, error) {
	switch l := letter.(type) {
	case token.Letter:
		return p.tokensMade(to, l), nil
	case auth.InvitationLetter:
		return p.invited(to, l), nil
	case auth.ResetLetter:
		return p.forgotten(to, l), nil
	case auth.ChangeLetter:
		return p.changed(to, l), nil
	case coupon.VoucherLetter:
		return p.voucher(l)
	case walkin.CardLetter:
		return p.card(l)
	case coupon.FinishedLetter:
		return p.finished(to, l), nil
	case billing.InvoiceLetter:
		return p.billed(to, l)
	case deprecation.Letter:
		return p.deprecated(to, l), nil
	case tenant.SetupLetter:
		return p.setup(to, l), nil
	case tenant.SuspensionLetter:
		return p.suspended(to, l), nil
	default:
		return draft{}, fmt.Errorf("no mail is written for a %T", letter)
	}
}

// line makes one line of a text: line breaks, other control characters and
// invisible ones that turn the direction of writing become spaces.
func line(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
}
