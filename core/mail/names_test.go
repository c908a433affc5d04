package mail_test

import (
	"errors"
	"net/mail"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	ours "example.com/loyalty/core/mail"
)

// Whatever a business is called, its customers get its mail, from that name.
func TestMailsFromEveryName(t *testing.T) {
	t.Parallel()
	s := newServer(t, never)
	client := s.client(t, "")
	for name, want := range map[string]string{
		"Nord":                         "Nord",
		`Bo's "Best" Bar`:              `Bo's "Best" Bar`,
		`The 12" Record Shop`:          `The 12" Record Shop`,
		`Back\slash\`:                  `Back\slash\`,
		`\`:                            `\`,
		`"`:                            `"`,
		`Café "Å`:                      `Café "Å`,
		`Öl\`:                          `Öl＼`,
		"Berg, Åberg & Co; <info>":     "Berg, Åberg & Co; <info>",
		"Berg, Berg & Co; <info@x.se>": "Berg, Berg & Co; <info@x.se>",
		"(closed) [x]: y@z.example":    "(closed) [x]: y@z.example",
		"Café Åro 🥐":                   "Café Åro 🥐",
		"مقهى الورد":                   "مقهى الورد",
		"Nord\nBcc: x@example.com":     "Nord Bcc: x@example.com",
		"Nord\r\n\r\nHello":            "Nord Hello",
		"Nord\u202e\u2028dron":         "Nord dron",
		"=?utf-8?q?Nord?=":             "=?utf-8?q?Nord?=",
		"  ":                           "Loyalty",
		strings.Repeat("x", 200):       strings.Repeat("x", 200),
		strings.Repeat("å", 200):       strings.Repeat("å", 200),
		strings.Repeat(`"\`, 100):      strings.Repeat(`"\`, 100),
	} {
		m := letter()
		m.ID, m.From, m.Subject = core.NewID(time.Unix(1_780_000_000, 0)), name, name+": 10 %"
		if err := deliver(t, client, m); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		got := s.has()[len(s.has())-1]
		from, err := mail.ParseAddress(got.Header.Get("From"))
		if err != nil || from.Name != want || from.Address != "loyalty@example.com" || got.Header.Get("Bcc") != "" || !strings.Contains(got.body, "Dear Anna") {
			t.Errorf("%q is from %q: %v, %v", name, got.Header.Get("From"), from, err)
		}
	}
}

// A Message-ID is of the sender's domain, as mail programs expect, not of the mail server that happens to send it: a
// second copy by another server has the same.
func TestMessageIDs(t *testing.T) {
	t.Parallel()
	m := letter()
	m.ID = core.NewID(time.Unix(1_780_000_000, 0))
	for _, c := range []struct{ installation, platform, want string }{
		{"loyalty@example.com", "", "example.com"},
		{"Loyalty <hello@Mail.Example.com>", "", "mail.example.com"},
		{"hej@café.example", "", "xn--caf-dma.example"},
		{"loyalty@example.com", "billing@bücher.example", "xn--bcher-kva.example"},
	} {
		m.SenderAddress = c.platform
		for range 2 { // two servers
			s := newServer(t, never)
			client, err := ours.NewSMTP(s.scheme+s.address, c.installation)
			if err != nil {
				t.Fatal(err)
			}
			if err := deliver(t, client, m); err != nil {
				t.Fatal(err)
			}
			got := s.has()[0]
			if id, want := got.Header.Get("Message-Id"), "<"+m.ID.String()+"@"+c.want+">"; id != want {
				t.Errorf("from %s %s: %s, want %s", c.installation, c.platform, id, want)
			}
			if !strings.HasSuffix(got.from, "@"+c.want) {
				t.Errorf("the server was told it is from %s", got.from)
			}
		}
	}
}

// Mail servers know an internationalised domain in its ASCII form alone.
func TestInternationalDomainsAreSentInASCII(t *testing.T) {
	t.Parallel()
	s := newServer(t, never)
	m := letter()
	m.Recipient = "Anna.Berg@Bücher.example"
	if err := deliver(t, s.client(t, ""), m); err != nil {
		t.Fatal(err)
	}
	if got := s.has()[0]; got.to != "Anna.Berg@xn--bcher-kva.example" || got.Header.Get("To") != "<Anna.Berg@xn--bcher-kva.example>" {
		t.Errorf("sent to %s, %s", got.to, got.Header.Get("To"))
	}
}

// A mail that can't be built is refused for good and says so: it is not the mail server's fault.
func TestAMailThatCannotBeWrittenSaysSo(t *testing.T) {
	t.Parallel()
	err := ours.ErrUnwritten(errors.New("a broken picture"))
	if !errors.Is(err, ours.ErrRefused) || ours.Reply(err) != "This e-mail couldn't be written: a broken picture" {
		t.Errorf("%v, %q", err, ours.Reply(err))
	}
}

func TestSendersOfMails(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"", "loyalty", "loyalty@localhost", "x@[127.0.0.1]", "loyalty@-example.com", "loy\u200balty@example.com", "a@example.com, b@example.com"} {
		if _, err := ours.NewSMTP("smtp://127.0.0.1", from); err == nil || !strings.Contains(err.Error(), "is not an address to send mails from") {
			t.Errorf("from %q: %v", from, err)
		}
	}
}
