// Package letter turns the letters of core into mails: a subject, words for
// programs that show plain text, and HTML by views/mail.
//
// Its surprising rule: names that people chose pass through line, which leaves them
// one line. A name must not write a header of the mail, nor a paragraph of it.
package letter

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/a-h/templ"

	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/token"
)

// Render renders the letters of an installation by its base URL.
func Render(baseURL string) mail.Renderer {
	p := post{base: strings.TrimSuffix(baseURL, "/")}
	p.service = p.base
	if u, err := url.Parse(p.base); err == nil && u.Host != "" {
		p.service = u.Host
	}
	return p.render
}

// post is the installation that writes.
type post struct{ base, service string }

// draft is a letter in words.
type draft struct {
	subject string
	text    string
	html    templ.Component
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
	return mail.Rendered{Subject: line(d.subject), Text: d.text, HTML: html.String()}, nil
}

func (p post) draft(to string, letter mail.Letter) (draft, error) {
	switch l := letter.(type) {
	case token.Letter:
		return p.tokenMade(to, l), nil
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
