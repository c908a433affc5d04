package email_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/walkin"
)

const cardToken = "01KAMZ6Q1V0000000000000A1N-7H2K9QWERTYVBNMXCZ0123456J"

func cardEmail() walkin.CardEmail {
	return walkin.CardEmail{BusinessName: "Café Åro", Slug: "cafe-aro", FirstName: "Elsa", CardToken: cardToken, New: true}
}

// "a link in the welcome e-mail"; "the card link goes to the e-mail on file".
func TestCardEmail(t *testing.T) {
	t.Parallel()
	found := cardEmail()
	found.New = false
	for name, e := range map[string]walkin.CardEmail{"card": cardEmail(), "card-found": found} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(t, mails(t).Card(maja, e))
			const open = "https://cafe-aro.loyalty.example/card/" + cardToken
			if got.From != "Café Åro" || got.Unsubscribe != "" {
				t.Errorf("from %q, unsubscribe at %q", got.From, got.Unsubscribe)
			}
			if link := parsed(t, got.HTML).Find("a").AttrOr("href", ""); link != open || !strings.Contains(got.Text, "\n"+open+"\n") {
				t.Errorf("the link leads to %q, want %q:\n%s", link, open, got.Text)
			}
			golden(t, name, got)
		})
	}
}

func TestNamesInACardEmailAddNoLines(t *testing.T) {
	t.Parallel()
	l := cardEmail()
	l.BusinessName, l.FirstName = "Café\r\nBcc: everyone@example.com", "Elsa\n\nSend money <b>now</b>"
	got := render(t, mails(t).Card(maja, l))
	if strings.ContainsAny(got.Subject+got.From, "\r\n") || strings.Contains(got.Text, "\nSend money") || strings.Contains(got.HTML, "<b>now</b>") {
		t.Errorf("%q from %q:\n%s", got.Subject, got.From, got.Text)
	}
}

// "Mails in the brand colour with corrected contrast": the palette's own tests measure it.
func TestCardEmailInDifficultColours(t *testing.T) {
	t.Parallel()
	for _, colour := range []string{"#ffee00", "#ffffff", "#000000", "#808080", "#00ff00"} {
		l := cardEmail()
		l.Colour = &colour
		p, err := tenant.PaletteOf(colour)
		if err != nil {
			t.Fatal(err)
		}
		doc := parsed(t, render(t, mails(t).Card(maja, l)).HTML)
		button, head := doc.Find("a").AttrOr("style", ""), doc.Find("h1").Parent().Prev().AttrOr("style", "")
		if want := "background:" + p.Light.Button + "; color:" + p.Light.OnButton; !strings.Contains(button, want) {
			t.Errorf("%s: the button is %q, want %q", colour, button, want)
		}
		if want := "background:" + p.Fill + "; color:" + p.OnFill; !strings.Contains(head, want) {
			t.Errorf("%s: the head is %q, want %q", colour, head, want)
		}
	}
}
