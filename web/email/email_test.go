package email_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/token"
	"example.com/loyalty/views/viewtest"
	"example.com/loyalty/web/email"
	"example.com/loyalty/web/host"
)

func tokenLetter() token.CreatedEmail {
	return token.CreatedEmail{Tenant: "Café Åro", Person: "Maja Sund", Tokens: []token.CreatedToken{{
		Token:     "Web shop",
		Abilities: []token.Ability{token.CustomersRead, token.CustomersWrite, token.TransactionsWrite, token.RewardsRead, token.CouponsRead, token.ReportsRead},
		By:        "Till at the door", Address: "203.0.113.7",
		At: time.Date(2026, 11, 3, 9, 5, 7, 0, time.FixedZone("CET", 3600)),
	}}}
}

func renderer(t *testing.T) mail.Renderer {
	t.Helper()
	names, err := host.Parse("https://loyalty.example/")
	if err != nil {
		t.Fatal(err)
	}
	return email.Render(names)
}

func render(t *testing.T, l mail.Email) mail.Rendered {
	t.Helper()
	got, err := renderer(t)(t.Context(), "maja@aro.example", l)
	if err != nil {
		t.Fatal(err)
	}
	viewtest.WellFormed(t, withoutStyle(got.HTML))
	return got
}

// withoutStyle leaves out the style sheet, whose text is not HTML's.
func withoutStyle(html string) string {
	before, rest, _ := strings.Cut(html, "<style>")
	_, after, _ := strings.Cut(rest, "</style>")
	return before + after
}

func TestTokenLetter(t *testing.T) {
	t.Parallel()
	platform := tokenLetter()
	platform.Tenant, platform.Tokens[0].Abilities, platform.Tokens[0].Address = "", nil, ""
	manages := tokenLetter()
	manages.Tokens[0].Abilities = nil
	for name, c := range map[string]struct {
		letter  token.CreatedEmail
		subject string
	}{
		"token":           {tokenLetter(), "New API token “Web shop” for Café Åro"},
		"token-platform":  {platform, "New platform API token “Web shop”"},
		"token-manages":   {manages, "New API token “Web shop” for Café Åro"},
		"tokens":          {several("Café Åro"), "4 new API tokens for Café Åro"},
		"tokens-platform": {several(""), "4 new platform API tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(t, c.letter)
			if got.Subject != c.subject {
				t.Errorf("subject = %q, want %q", got.Subject, c.subject)
			}
			viewtest.Golden(t, name+".html", got.HTML)
			viewtest.Golden(t, name+".txt", got.Text)
		})
	}
}

// several is a letter of several tokens, of which it lists two.
func several(tenant string) token.CreatedEmail {
	l := tokenLetter()
	second := token.CreatedToken{Token: "Till 2", By: "the API token “Web shop”", At: l.Tokens[0].At.Add(17 * time.Minute), Revoked: true}
	if tenant == "" {
		l.Tokens[0].Abilities = nil
	}
	l.Tenant, l.Tokens, l.More = tenant, append(l.Tokens, second), 2
	return l
}

func invitation() auth.InvitationEmail {
	return auth.InvitationEmail{
		Tenant: "Café Åro", Slug: "cafe-aro", Person: "Owner of Café Åro", Role: core.Owner, Secret: "LQJ7WZ6M3KXN5T2VBYD4R5S6AE",
		ExpiresAt: time.Date(2026, 11, 10, 9, 5, 7, 0, time.FixedZone("CET", 3600)),
	}
}

// The link leads to the host of the business.
func TestInvitationEmail(t *testing.T) {
	t.Parallel()
	got := render(t, invitation())
	if got.Subject != "Choose a password for Café Åro" {
		t.Errorf("subject = %q", got.Subject)
	}
	const link = "https://cafe-aro.loyalty.example/admin/invitation/LQJ7WZ6M3KXN5T2VBYD4R5S6AE"
	if !strings.Contains(got.HTML, `href="`+link+`"`) || !strings.Contains(got.Text, "\n"+link+"\n") {
		t.Error("one of the forms does not lead to " + link)
	}
	viewtest.Golden(t, "invitation.html", got.HTML)
	viewtest.Golden(t, "invitation.txt", got.Text)

	for role, want := range map[core.Role]string{core.Manager: "as a manager of Café Åro", core.Cashier: "as a cashier of Café Åro"} {
		l := invitation()
		l.Role = role
		if got := render(t, l); !strings.Contains(got.Text, want) {
			t.Errorf("%s: %s", role, got.Text)
		}
	}
}

// The link leads to the host of the business, and the mail says who asked for it.
func TestResetLetter(t *testing.T) {
	t.Parallel()
	l := auth.ResetEmail{
		Tenant: "Café Åro", Slug: "cafe-aro", Person: "Maja Sund", Secret: "LQJ7WZ6M3KXN5T2VBYD4R5S6AE", Address: "203.0.113.7",
		ExpiresAt: time.Date(2026, 11, 3, 10, 5, 7, 0, time.FixedZone("CET", 3600)),
	}
	got := render(t, l)
	if got.Subject != "Choose another password for Café Åro" {
		t.Errorf("subject = %q", got.Subject)
	}
	const link = "https://cafe-aro.loyalty.example/admin/reset/LQJ7WZ6M3KXN5T2VBYD4R5S6AE"
	if !strings.Contains(got.HTML, `href="`+link+`"`) || !strings.Contains(got.Text, "\n"+link+"\n") {
		t.Error("one of the forms does not lead to " + link)
	}
	viewtest.Golden(t, "reset.html", got.HTML)
	viewtest.Golden(t, "reset.txt", got.Text)

	l.Address = ""
	if got := render(t, l); strings.Contains(got.Text, "Asked from") {
		t.Errorf("asked from nowhere: %s", got.Text)
	}
}

// Who reads of a change that they did not make learns what to do, without a link.
func TestChangeLetters(t *testing.T) {
	t.Parallel()
	letter := func(what auth.Change, by string) auth.ChangeEmail {
		return auth.ChangeEmail{
			Change: what, Tenant: "Café Åro", Slug: "cafe-aro", Person: "Maja Sund", By: by, Address: "203.0.113.7",
			At: time.Date(2026, 11, 3, 9, 5, 7, 0, time.FixedZone("CET", 3600)),
		}
	}
	atPlatform := func(l auth.ChangeEmail) auth.ChangeEmail {
		l.Tenant, l.Slug = "", ""
		return l
	}
	for name, c := range map[string]struct {
		letter  auth.ChangeEmail
		subject string
	}{
		"password-changed":   {letter(auth.PasswordChanged, ""), "Your password for Café Åro was changed"},
		"password-reset":     {letter(auth.PasswordReset, ""), "Your password for Café Åro was changed"},
		"recovery-codes":     {letter(auth.RecoveryCodesRenewed, ""), "Your recovery codes for Café Åro were replaced"},
		"two-factor-off":     {letter(auth.TwoFactorOff, ""), "Two-step verification for Café Åro was turned off"},
		"two-factor-removed": {letter(auth.TwoFactorOff, "Åsa\nÖhrn"), "Two-step verification for Café Åro was turned off"},
		"two-factor-on":      {letter(auth.TwoFactorOn, ""), "Two-step verification for Café Åro was turned on"},
		"platform-password":  {atPlatform(letter(auth.PasswordSet, "loyalty admin reset-password")), "Your password for the platform was changed"},
		"platform-reset":     {atPlatform(letter(auth.TwoFactorOff, "loyalty admin reset-factor")), "Two-step verification for the platform was turned off"},
		"platform-renewed":   {atPlatform(letter(auth.TwoFactorRenewed, "")), "Two-step verification for the platform moved to another app"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(t, c.letter)
			if got.Subject != c.subject || strings.Contains(got.HTML, "href=") {
				t.Errorf("subject %q, with links: %t", got.Subject, strings.Contains(got.HTML, "href="))
			}
			viewtest.Golden(t, name+".html", got.HTML)
			viewtest.Golden(t, name+".txt", got.Text)
		})
	}
}

func TestDeprecationLetter(t *testing.T) {
	t.Parallel()
	got := render(t, deprecation.NoticeEmail{
		Tenant: "Café Åro", Method: "GET", Path: "/api/v1/customers/{ulid}", Sunset: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC),
		Link: "https://loyalty.example/docs/changelog",
	})
	if got.Subject != "The API request GET /api/v1/customers/{ulid} ends on 1 March 2027" {
		t.Errorf("subject = %q", got.Subject)
	}
	viewtest.Golden(t, "deprecation.html", got.HTML)
	viewtest.Golden(t, "deprecation.txt", got.Text)
}

func TestBothFormsSayTheSame(t *testing.T) {
	t.Parallel()
	got := render(t, tokenLetter())
	flat := strings.Join(strings.Fields(got.Text), " ")
	for _, part := range []string{
		"Maja Sund", "Web shop", "Café Åro", "customers:read, customers:write, transactions:write", "Till at the door", "203.0.113.7",
		"3 November 2026, 08:05:07 UTC", "https://loyalty.example/api/v1/tokens/{id}", "Settings → API Tokens", "maja@aro.example",
	} {
		if !strings.Contains(got.HTML, part) || !strings.Contains(flat, part) {
			t.Errorf("one of the forms does not say %q", part)
		}
	}
}

func TestNamesStayNames(t *testing.T) {
	t.Parallel()
	l := tokenLetter()
	l.Tenant, l.Person = `<i>&'y`, `<img src=a>`
	l.Tokens[0].Token, l.Tokens[0].By, l.Tokens[0].Address = `<b>"x"`, `</style><u>`, `<script>`
	got := render(t, l)
	l.Tokens = append(l.Tokens, l.Tokens[0])
	for _, tag := range []string{"<b>", "<i>", "<u>", "<img", "<script"} {
		if strings.Contains(got.HTML, tag) || strings.Contains(render(t, l).HTML, tag) {
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

func TestNamesStayOnTheirLine(t *testing.T) {
	t.Parallel()
	const name = "x\r\nBcc: all@example.com\u2028\u0085\n\n  If this was not you:\x00\v\u202egnp"
	l := tokenLetter()
	l.Tenant, l.Person = name, name
	l.Tokens[0].Token, l.Tokens[0].By, l.Tokens[0].Address = name, name, name
	two := l
	two.Tokens = append(two.Tokens, l.Tokens[0])
	for alarm, l := range map[string]token.CreatedEmail{"If this was not you": l, "If you didn't expect this": two} {
		got := render(t, l)
		if strings.ContainsFunc(got.Subject, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u202e' }) {
			t.Errorf("subject = %q", got.Subject)
		}
		if n := strings.Count(got.Text, "\n"+alarm+":\n"); n != 1 {
			t.Errorf("the text has %d such lines:\n%s", n, got.Text)
		}
		if strings.ContainsAny(got.Text+got.HTML, "\r\x00\v\u202e") {
			t.Error("control characters arrive in the mail")
		}
	}
}

func TestTextIsWrapped(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(render(t, tokenLetter()).Text) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line) > 72 {
			t.Errorf("long line: %s", line)
		}
		if line != "-- " && strings.TrimRight(line, " ") != line {
			t.Errorf("spaces at the end of %q", line)
		}
	}
}

func TestUnknownLetterIsAnError(t *testing.T) {
	t.Parallel()
	type stranger struct{}
	_, err := renderer(t)(t.Context(), "maja@aro.example", stranger{})
	if err == nil || !strings.Contains(err.Error(), "email_test.stranger") {
		t.Errorf("error = %v", err)
	}
}
