// Package email has the words of the e-mails that core sends: a file and a method of Mails for each. views/mail writes
// them as text and as HTML.
//
// Its surprising rule: line makes one line of every name that people chose, so that a
// name can't add a header or a paragraph to the e-mail. A message keeps its line
// breaks, and line cleans each of its lines.
package email

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/mail"
	views "example.com/loyalty/views/mail"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
)

// Mails queues and delivers the e-mails of one installation.
type Mails struct {
	*mail.Service
	names host.Names
}

// New gives a service the words of an installation with these host names.
func New(s *mail.Service, names host.Names) Mails { return Mails{Service: s, names: names} }

// message is an e-mail before it is written.
type message struct {
	words    views.Email
	envelope mail.Rendered // without the words
	err      error         // for which it can't be written
}

// Render writes the e-mail.
func (m message) Render(ctx context.Context) (mail.Rendered, error) {
	if m.err != nil {
		return mail.Rendered{}, m.err
	}
	var html bytes.Buffer
	if err := m.words.HTML().Render(ctx, &html); err != nil {
		return mail.Rendered{}, fmt.Errorf("render an e-mail: %w", err)
	}
	r := m.envelope
	r.Subject, r.Text, r.HTML = line(m.words.Subject), m.words.Text(), string(page.Isolated(html.Bytes()))
	return r, nil
}

// notice returns an e-mail of the installation to a person who signs in. reason says why they get it.
func (m Mails) notice(to, reason string, e views.Email) message {
	e.Brand = "Loyalty"
	e.Footer.Lines = []string{"Sent by " + m.service() + " to " + line(to) + ".", reason}
	return message{words: e, envelope: mail.Rendered{To: to}}
}

// service returns the host of the installation.
func (m Mails) service() string { return strings.TrimPrefix(m.names.Base(), "https://") }

// line makes one line of what people chose.
func line(s string) string { return core.OneLine(s) }

func greeting(person string) views.Greeting {
	if person = line(person); person != "" {
		return views.Greeting("Hello " + person + ",")
	}
	return "Hello,"
}

// withValue leaves out facts without a value: a command, for example, has no IP address.
func withValue(facts views.Facts) views.Facts {
	return slices.DeleteFunc(facts, func(f views.Fact) bool { return f.Value == "" })
}

// An e-mail doesn't know its reader's time zone, so it gives times in UTC.
func minute(at time.Time) string { return at.UTC().Format("2 January 2006, 15:04") + " UTC" }

func second(at time.Time) string { return at.UTC().Format("2 January 2006, 15:04:05") + " UTC" }
