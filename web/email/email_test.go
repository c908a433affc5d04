package email_test

import (
	"html"
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

func renderer(t *testing.T) mail.Renderer {
	t.Helper()
	return email.Render(webtest.Names(t))
}

func render(t *testing.T, l mail.Email) mail.Rendered {
	t.Helper()
	got, err := renderer(t)(t.Context(), "maja@aro.example", l)
	if err != nil {
		t.Fatal(err)
	}
	viewtest.WellFormed(t, withoutStyle(got.HTML))
	if !strings.Contains(got.HTML, "<title>"+html.EscapeString(got.Subject)+"</title>") {
		t.Errorf("the HTML's title is not the subject %q", got.Subject)
	}
	return got
}

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
			got := render(t, e)
			viewtest.Golden(t, name+".html", got.HTML)
			viewtest.Golden(t, name+".txt", got.Text)
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
	got := render(t, invitation())
	const link = "https://cafe-aro.loyalty.example/admin/invitation/LQJ7WZ6M3KXN5T2VBYD4R5S6AE"
	if !strings.Contains(got.HTML, `href="`+link+`"`) || !strings.Contains(got.Text, "\n"+link+"\n") {
		t.Error("HTML and text should both have the link " + link)
	}
	viewtest.Golden(t, "invitation.html", got.HTML)
	viewtest.Golden(t, "invitation.txt", got.Text)

	for role, want := range map[core.Role]string{core.Manager: "a manager of Café Åro", core.Cashier: "a cashier of Café Åro"} {
		l := invitation()
		l.Role = role
		if got := render(t, l); !strings.Contains(got.Text, want) {
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
	got := render(t, l)
	const link = "https://cafe-aro.loyalty.example/admin/reset/LQJ7WZ6M3KXN5T2VBYD4R5S6AE"
	if !strings.Contains(got.HTML, `href="`+link+`"`) || !strings.Contains(got.Text, "\n"+link+"\n") {
		t.Error("HTML and text should both have the link " + link)
	}
	viewtest.Golden(t, "reset.html", got.HTML)
	viewtest.Golden(t, "reset.txt", got.Text)

	l.Address = ""
	if without := render(t, l); strings.Count(without.Text, ":  ") != strings.Count(got.Text, ":  ")-1 {
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
			got := render(t, e)
			if strings.Contains(got.HTML, "href=") {
				t.Error("the e-mail has a link")
			}
			viewtest.Golden(t, name+".html", got.HTML)
			viewtest.Golden(t, name+".txt", got.Text)
		})
	}
}

func TestDeprecationEmail(t *testing.T) {
	t.Parallel()
	got := render(t, deprecation.NoticeEmail{
		Tenant: "Café Åro", Method: "GET", Path: "/api/v1/customers/{ulid}", Sunset: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC),
		Link: "https://loyalty.example/docs/changelog",
	})
	viewtest.Golden(t, "deprecation.html", got.HTML)
	viewtest.Golden(t, "deprecation.txt", got.Text)
}

func TestTextAndHTMLHaveTheSameFacts(t *testing.T) {
	t.Parallel()
	got := render(t, tokenEmail())
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

func TestNamesAddNoLines(t *testing.T) {
	t.Parallel()
	const name = "x\r\nBcc: all@example.com\u2028\u0085\n\n  " + email.NotExpected + ":\x00\v\u202egnp"
	l := tokenEmail()
	l.Tenant, l.Person = name, name
	l.Tokens[0].Token, l.Tokens[0].By, l.Tokens[0].Address = name, name, name
	two := l
	two.Tokens = append(two.Tokens, l.Tokens[0])
	for _, l := range []token.CreatedEmail{l, two} {
		got := render(t, l)
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
	for line := range strings.Lines(render(t, tokenEmail()).Text) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line) > 72 {
			t.Errorf("long line: %s", line)
		}
		if line != "-- " && strings.TrimRight(line, " ") != line {
			t.Errorf("spaces at the end of %q", line)
		}
	}
}

func TestUnknownEmailIsAnError(t *testing.T) {
	t.Parallel()
	type unknown struct{}
	_, err := renderer(t)(t.Context(), "maja@aro.example", unknown{})
	if err == nil || !strings.Contains(err.Error(), "email_test.unknown") {
		t.Errorf("error = %v", err)
	}
}
