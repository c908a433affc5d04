package email_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/viewtest"
)

const cardToken = "01KAMZ6Q1V0000000000000A1N-7H2K9QWERTYVBNMXCZ0123456J"

func cardLetter() walkin.CardEmail {
	return walkin.CardEmail{BusinessName: "Café Åro", Slug: "cafe-aro", FirstName: "Elsa", CardToken: cardToken, New: true}
}

// "a link in the welcome e-mail"; "the card link goes to the e-mail on file".
func TestCardLetter(t *testing.T) {
	t.Parallel()
	found := cardLetter()
	found.New = false
	for name, c := range map[string]struct {
		letter  walkin.CardEmail
		subject string
	}{
		"card":       {cardLetter(), "Your Café Åro card"},
		"card-found": {found, "The link to your Café Åro card"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(t, c.letter)
			const open = "https://cafe-aro.loyalty.example/card/" + cardToken
			if got.Subject != c.subject || got.From != "Café Åro" || got.Unsubscribe != "" {
				t.Errorf("%q from %q, to unsubscribe at %q", got.Subject, got.From, got.Unsubscribe)
			}
			if link := parsed(t, got.HTML).Find("a").AttrOr("href", ""); link != open || !strings.Contains(got.Text, "\n"+open+"\n") {
				t.Errorf("it leads to %q:\n%s", link, got.Text)
			}
			viewtest.Golden(t, name+".html", got.HTML)
			viewtest.Golden(t, name+".txt", got.Text)
		})
	}
}

// A name must not write a header of the mail, nor a paragraph of it.
func TestNamesInACardLetterStayOnTheirLine(t *testing.T) {
	t.Parallel()
	l := cardLetter()
	l.BusinessName, l.FirstName = "Café\r\nBcc: everyone@example.com", "Elsa\n\nSend money <b>now</b>"
	got := render(t, l)
	if strings.ContainsAny(got.Subject+got.From, "\r\n") || strings.Contains(got.Text, "\nSend money") || strings.Contains(got.HTML, "<b>now</b>") {
		t.Errorf("%q from %q:\n%s", got.Subject, got.From, got.Text)
	}
}
