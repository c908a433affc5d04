package email_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	nodes "golang.org/x/net/html"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/token"
	"example.com/loyalty/views/viewtest"
	"example.com/loyalty/web/email"
	"example.com/loyalty/web/webtest"
)

func tokenEmail() token.CreatedEmail {
	return token.CreatedEmail{Tenant: "Café Åro", Person: "Maja Sund", Tokens: []token.CreatedToken{{
		Token:     "Web shop",
		Abilities: []token.Ability{token.CustomersRead, token.CustomersWrite, token.TransactionsWrite, token.RewardsRead, token.CouponsRead, token.ReportsRead},
		By:        "Online shop", Address: "203.0.113.7",
		At: time.Date(2026, 11, 3, 9, 5, 7, 0, time.FixedZone("CET", 3600)),
	}}}
}

const maja = "maja@aro.example"

func mails(t *testing.T) email.Mails {
	t.Helper()
	return email.New(nil, webtest.Names(t))
}

func render(t *testing.T, e mail.Email) mail.Rendered {
	t.Helper()
	got, err := e.Render(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	viewtest.WellFormed(t, withoutStyle(got.HTML))
	if !strings.Contains(got.HTML, "<title>"+html.EscapeString(got.Subject)+"</title>") {
		t.Errorf("the HTML's title is not the subject %q", got.Subject)
	}
	wantSameWords(t, got)
	return got
}

// golden compares both forms of an e-mail with golden files.
func golden(t *testing.T, name string, r mail.Rendered) {
	t.Helper()
	viewtest.Golden(t, name+".html", r.HTML)
	viewtest.Golden(t, name+".txt", r.Text)
}

// wantSameWords fails the test unless the text and the HTML of an e-mail say the same.
func wantSameWords(t *testing.T, r mail.Rendered) {
	t.Helper()
	doc := parsed(t, r.HTML)
	doc.Find("style, title, body > div:first-child, .brand:not(a), thead").Remove() // not in the text
	var pieces []string
	for n := range doc.Nodes[0].Descendants() {
		if n.Type == nodes.TextNode {
			pieces = append(pieces, strings.Split(flat(n.Data), " ·")...)
		}
	}
	text, drawn := flat(r.Text), flat(strings.Join(pieces, " "))
	for _, words := range pieces {
		if !strings.Contains(text, flat(words)) {
			t.Errorf("the text does not say %q:\n%s", words, r.Text)
		}
	}
	doc.Find("a").Each(func(_ int, a *goquery.Selection) { drawn += " " + a.AttrOr("href", "") })
	for line := range strings.SplitSeq(r.Text, "\n") {
		for _, words := range mark.Split(line, -1) {
			if !strings.Contains(drawn, flat(words)) {
				t.Errorf("the HTML does not say %q: %s", words, drawn)
			}
		}
	}
}

// mark is what only the text has: the beginning of the signature, numbers of steps, and what separates names and values.
var mark = regexp.MustCompile(`^-- |^\d+\. |: {2,}|:$| \(|,? ?\b(?:week before|September|December 2026): |\)$`)

func parsed(t *testing.T, html string) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// flat returns a text with one space between words.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// withoutStyle leaves out the style sheet, which is not HTML.
func withoutStyle(document string) string {
	before, rest, _ := strings.Cut(document, "<style>")
	_, after, _ := strings.Cut(rest, "</style>")
	return before + after
}

func TestTokenEmail(t *testing.T) {
	t.Parallel()
	platform := tokenEmail()
	platform.Tenant, platform.Tokens[0].Abilities, platform.Tokens[0].Address = "", nil, ""
	manages := tokenEmail()
	manages.Tokens[0].Abilities = nil
	for name, e := range map[string]token.CreatedEmail{
		"token": tokenEmail(), "token-platform": platform, "token-manages": manages,
		"tokens": severalTokens("Café Åro"), "tokens-platform": severalTokens(""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, render(t, mails(t).NewTokens(maja, e)))
		})
	}
}

func TestExpiringTokensEmail(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CET", 3600)
	used := time.Date(2026, 11, 3, 9, 5, 7, 0, zone)
	till := token.ExpiringToken{ID: 7, Token: "Till", ExpiresAt: time.Date(2026, 11, 17, 0, 0, 0, 0, zone), LastUsedAt: &used}
	shop := token.ExpiringToken{ID: 8, Token: "Web shop", Owner: "Ida Sjöberg", ExpiresAt: time.Date(2026, 11, 18, 13, 30, 0, 0, zone)}
	for name, e := range map[string]token.ExpiryEmail{
		"token-expires":          {Tenant: "Café Åro", Slug: "cafe-aro", Person: "Maja Sund", Tokens: []token.ExpiringToken{till}},
		"tokens-expire":          {Tenant: "Café Åro", Slug: "cafe-aro", Person: "Maja Sund", Tokens: []token.ExpiringToken{till, shop}},
		"token-expires-platform": {Person: "Root", Tokens: []token.ExpiringToken{till}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, render(t, mails(t).ExpiringTokens(maja, e)))
		})
	}
}

// severalTokens returns an e-mail about four tokens, of which it lists two.
func severalTokens(tenant string) token.CreatedEmail {
	l := tokenEmail()
	second := token.CreatedToken{Token: "Till 2", By: "the API token “Web shop”", At: l.Tokens[0].At.Add(17 * time.Minute), Revoked: true}
	if tenant == "" {
		l.Tokens[0].Abilities = nil
	}
	l.Tenant, l.Tokens, l.More = tenant, append(l.Tokens, second), 2
	return l
}

func invitation() auth.InvitationEmail {
	return auth.InvitationEmail{
		Tenant: "Café Åro", Slug: "cafe-aro", Role: core.Owner, Secret: "LQJ7WZ6M3KXN5T2VBYD4R5S6AE",
		ExpiresAt: time.Date(2026, 11, 10, 9, 5, 7, 0, time.FixedZone("CET", 3600)),
	}
}

func TestInvitationEmail(t *testing.T) {
	t.Parallel()
	got := render(t, mails(t).Invitation(maja, invitation()))
	const link = "https://cafe-aro.loyalty.example/admin/invitation/LQJ7WZ6M3KXN5T2VBYD4R5S6AE"
	if !strings.Contains(got.HTML, `href="`+link+`"`) || !strings.Contains(got.Text, "\n"+link+"\n") {
		t.Error("HTML and text should both have the link " + link)
	}
	golden(t, "invitation", got)

	for role, want := range map[core.Role]string{core.Manager: "a manager of Café Åro", core.Cashier: "a cashier of Café Åro"} {
		l := invitation()
		l.Role = role
		if got := render(t, mails(t).Invitation(maja, l)); !strings.Contains(got.Text, want) {
			t.Errorf("the invitation of a %s doesn't say %q:\n%s", role, want, got.Text)
		}
	}
}

func TestResetEmail(t *testing.T) {
	t.Parallel()
	l := auth.ResetEmail{
		Tenant: "Café Åro", Slug: "cafe-aro", Person: "Maja Sund", Secret: "LQJ7WZ6M3KXN5T2VBYD4R5S6AE", Address: "203.0.113.7",
		ExpiresAt: time.Date(2026, 11, 3, 10, 5, 7, 0, time.FixedZone("CET", 3600)),
	}
	got := render(t, mails(t).PasswordReset(maja, l))
	const link = "https://cafe-aro.loyalty.example/admin/reset/LQJ7WZ6M3KXN5T2VBYD4R5S6AE"
	if !strings.Contains(got.HTML, `href="`+link+`"`) || !strings.Contains(got.Text, "\n"+link+"\n") {
		t.Error("HTML and text should both have the link " + link)
	}
	golden(t, "reset", got)

	l.Address = ""
	if without := render(t, mails(t).PasswordReset(maja, l)); strings.Count(without.Text, ":  ") != strings.Count(got.Text, ":  ")-1 {
		t.Errorf("an unknown IP address is listed: %s", without.Text)
	}
}

// An e-mail about a possible break-in has no links.
func TestChangeEmail(t *testing.T) {
	t.Parallel()
	change := func(what auth.Change, by string) auth.ChangeEmail {
		return auth.ChangeEmail{
			Change: what, Tenant: "Café Åro", Slug: "cafe-aro", Person: "Maja Sund", By: by, Address: "203.0.113.7",
			At: time.Date(2026, 11, 3, 9, 5, 7, 0, time.FixedZone("CET", 3600)),
		}
	}
	atPlatform := func(l auth.ChangeEmail) auth.ChangeEmail {
		l.Tenant, l.Slug = "", ""
		return l
	}
	for name, e := range map[string]auth.ChangeEmail{
		"password-changed":   change(auth.PasswordChanged, ""),
		"password-reset":     change(auth.PasswordReset, ""),
		"recovery-codes":     change(auth.RecoveryCodesRenewed, ""),
		"two-factor-off":     change(auth.TwoFactorOff, ""),
		"two-factor-removed": change(auth.TwoFactorOff, "Åsa\nÖhrn"),
		"two-factor-on":      change(auth.TwoFactorOn, ""),
		"platform-password":  atPlatform(change(auth.PasswordSet, "loyalty admin reset-password")),
		"platform-reset":     atPlatform(change(auth.TwoFactorOff, "loyalty admin reset-factor")),
		"platform-renewed":   atPlatform(change(auth.TwoFactorRenewed, "")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(t, mails(t).CredentialChange(maja, e))
			if strings.Contains(got.HTML, "href=") {
				t.Error("the e-mail has a link")
			}
			golden(t, name, got)
		})
	}
}

func TestDeprecationEmail(t *testing.T) {
	t.Parallel()
	got := render(t, mails(t).Deprecation(maja, deprecation.NoticeEmail{
		Tenant: "Café Åro", Method: "GET", Path: "/api/v1/customers/{ulid}", Sunset: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC),
		Link: "https://loyalty.example/docs/changelog",
	}))
	golden(t, "deprecation", got)
}

func TestTextAndHTMLHaveTheSameFacts(t *testing.T) {
	t.Parallel()
	got := render(t, mails(t).NewTokens(maja, tokenEmail()))
	flat := strings.Join(strings.Fields(got.Text), " ")
	for _, part := range []string{
		"Maja Sund", "Web shop", "Café Åro", "customers:read, customers:write, transactions:write", "Online shop", "203.0.113.7",
		"3 November 2026, 08:05:07 UTC", "https://loyalty.example/api/v1/tokens/{id}", "Settings → Staff", "maja@aro.example",
	} {
		if !strings.Contains(got.HTML, part) || !strings.Contains(flat, part) {
			t.Errorf("HTML and text should both say %q", part)
		}
	}
}

func TestNamesAreEscaped(t *testing.T) {
	t.Parallel()
	l := tokenEmail()
	l.Tenant, l.Person = `<i>&'y`, `<img src=a>`
	l.Tokens[0].Token, l.Tokens[0].By, l.Tokens[0].Address = `<b>"x"`, `</style><u>`, `<script>`
	got := render(t, mails(t).NewTokens(maja, l))
	l.Tokens = append(l.Tokens, l.Tokens[0])
	for _, tag := range []string{"<b>", "<i>", "<u>", "<img", "<script"} {
		if strings.Contains(got.HTML, tag) || strings.Contains(render(t, mails(t).NewTokens(maja, l)).HTML, tag) {
			t.Errorf("a name became %s", tag)
		}
	}
	if want := "&lt;b&gt;&#34;x&#34;"; !strings.Contains(got.HTML, want) {
		t.Errorf("the name is not shown as %s", want)
	}
	if !strings.Contains(got.Text, `<b>"x"`) || !strings.Contains(got.Subject, `<b>"x"`) {
		t.Error("text and subject do not show the name as it is")
	}
}

func TestNamesAddNoLines(t *testing.T) {
	t.Parallel()
	const name = "x\r\nBcc: all@example.com\u2028\u0085\n\n  " + email.NotExpected + ":\x00\v\u202egnp"
	l := tokenEmail()
	l.Tenant, l.Person = name, name
	l.Tokens[0].Token, l.Tokens[0].By, l.Tokens[0].Address = name, name, name
	two := l
	two.Tokens = append(two.Tokens, l.Tokens[0])
	for _, l := range []token.CreatedEmail{l, two} {
		got := render(t, mails(t).NewTokens(maja, l))
		if strings.ContainsFunc(got.Subject, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u202e' }) {
			t.Errorf("subject = %q", got.Subject)
		}
		if n := strings.Count(got.Text, "\n"+email.NotExpected+":\n"); n != 1 {
			t.Errorf("the text has %d such headings, want 1:\n%s", n, got.Text)
		}
		if strings.ContainsAny(got.Text+got.HTML, "\r\x00\v\u202e") {
			t.Error("the e-mail has control characters")
		}
	}
}

func TestTextIsWrapped(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(render(t, mails(t).NewTokens(maja, tokenEmail())).Text) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line) > 72 {
			t.Errorf("long line: %s", line)
		}
		if line != "-- " && strings.TrimRight(line, " ") != line {
			t.Errorf("spaces at the end of %q", line)
		}
	}
}
