package admin_test

import (
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/pquerna/otp/totp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

const account = "/admin/settings/security"

// signedInAs signs a person in with the sign-in form.
func (s *shop) signedInAs(email, password string, agent ...string) *browser {
	s.T.Helper()
	b := s.stranger()
	if a := b.Post("/admin/sign-in", webtest.Form("email", email, "password", password), agent...); a.Code != http.StatusSeeOther {
		s.T.Fatalf("signing in = %d %s", a.Code, a.Text(".alert"))
	}
	return b
}

// beginTwoStep starts the set-up of two-step verification and returns the key.
func (b *browser) beginTwoStep() (key string) {
	b.T.Helper()
	return strings.ReplaceAll(b.Submit(account+"/two-step/begin", webtest.Form("confirmation", password)).Text("#secret"), " ", "")
}

// authCode is the current authentication code for a key.
func (b *browser) authCode(key string) string {
	b.T.Helper()
	code, err := totp.GenerateCode(key, b.shop.DB.Now())
	if err != nil {
		b.T.Fatal(err)
	}
	return code
}

// enrol sets up two-step verification.
func (b *browser) enrol() (key string, recovery []string) {
	b.T.Helper()
	key = b.beginTwoStep()
	a := b.Post(account+"/two-step", webtest.Form("code", b.authCode(key)))
	if a.Code != http.StatusOK {
		b.T.Fatalf("confirming = %d %s", a.Code, a.Text(".alert"))
	}
	return key, strings.Fields(a.Find("#recovery-codes").Text())
}

func TestChangeOwnName(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	if a := cashier.Post(account+"/name", webtest.Form("name", " ")); a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != webtest.Message("Name", core.Required) {
		t.Errorf("answered %d %q", a.Code, a.Text(".invalid-feedback"))
	}
	if got := cashier.Submit(account+"/name", webtest.Form("name", "Bo <b>Ek</b>")); !got.Flashed(ui.Done, "") || !strings.Contains(got.Text(".topbar"), "Bo <b>Ek</b>") {
		t.Errorf("afterwards: %q", got.Text("body"))
	}
}

// "Ended everywhere on password change": the current session gets a new cookie, all others end.
func TestChangeOwnPassword(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.hired("maja@example.com")
	here, elsewhere := s.signedInAs("maja@example.com", password), s.signedInAs("maja@example.com", password)

	for _, c := range []struct{ current, next, want string }{
		{"something else", "a long enough sentence", webtest.Message("Password", core.Violation{Rule: "wrong_password"})},
		{password, "short", webtest.Message("New password", core.MinLength(12))},
		{password, "aaaaaaaaaaaaaaaa", webtest.Message("Password", core.Violation{Rule: "easy_password"})},
	} {
		a := here.Post(account+"/password", webtest.Form("current_password", c.current, "password", c.next))
		if a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != c.want ||
			a.Find("input[type=password][value]:not([value=''])").Length() != 0 {
			t.Errorf("%q: %d %q", c.next, a.Code, a.Text(".invalid-feedback"))
		}
	}
	before := here.Cookies[auth.SessionCookie].Value
	done := here.Submit(account+"/password", webtest.Form("current_password", password, "password", "another long sentence"))
	if !done.Flashed(ui.Done, "") || here.Cookies[auth.SessionCookie].Value == before || done.Find("#sessions tbody tr").Length() != 1 {
		t.Errorf("said %q; the cookie is new: %t", done.Text("#flashes"), here.Cookies[auth.SessionCookie].Value != before)
	}
	if a := elsewhere.Ask(http.MethodGet, account); a.Code != http.StatusSeeOther {
		t.Errorf("elsewhere: %d", a.Code)
	}
	if a := s.stranger().Post("/admin/sign-in", webtest.Form("email", "maja@example.com", "password", password)); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("with the old password: %d", a.Code)
	}
	s.signedInAs("maja@example.com", "another long sentence")

	// After too many wrong passwords.
	var last webtest.Page
	for range 11 {
		last = here.Post(account+"/password", webtest.Form("current_password", "wrong", "password", "yet another sentence"))
	}
	if last.Code != http.StatusTooManyRequests || last.Header().Get("Retry-After") == "" || last.Text(".alert") == "" {
		t.Errorf("the eleventh time: %d %q", last.Code, last.Text(".alert"))
	}
}

var path = regexp.MustCompile(`^M\d+ \d+h`)

// "Optional TOTP second factor with recovery codes": an authentication code turns it on, and the
// recovery codes are shown once.
func TestSetUpTwoStepVerification(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.hired("maja@example.com")
	maja := s.signedInAs("maja@example.com", password)
	if a := maja.Ask(http.MethodGet, account+"/two-step"); a.Code != http.StatusSeeOther {
		t.Errorf("before it is begun: %d", a.Code)
	}
	key := maja.beginTwoStep()
	page := maja.Get(account + "/two-step")
	if drawn := page.Attr("svg.qr path", "d"); !path.MatchString(drawn) || len(key) != 32 || strings.ReplaceAll(page.Text("#secret"), " ", "") != key {
		t.Errorf("shown %q %q", drawn[:min(len(drawn), 30)], page.Text("#secret"))
	}
	wrong := maja.Post(account+"/two-step", webtest.Form("code", "12345"))
	if wrong.Code != http.StatusUnprocessableEntity || wrong.Text(".invalid-feedback") != webtest.Message("Code", core.Violation{Rule: "wrong_code"}) || strings.ReplaceAll(wrong.Text("#secret"), " ", "") != key {
		t.Errorf("a wrong code: %d %q", wrong.Code, wrong.Text("main"))
	}
	code := maja.authCode(key)
	on := maja.Post(account+"/two-step", webtest.Form("code", code))
	recovery := strings.Fields(on.Find("#recovery-codes").Text())
	if on.Code != http.StatusOK || len(recovery) != 10 {
		t.Fatalf("turned on: %d %q", on.Code, on.Text("main"))
	}
	again := maja.Submit(account+"/two-step", webtest.Form("code", code))
	if again.Find("#recovery-codes").Length() != 0 || again.Find("#two-factor").Length() != 1 || !again.Flashed(ui.Warning, "") {
		t.Errorf("sent again: %q", again.Text("main"))
	}
	if got := maja.Get(account).Text("#two-factor"); !strings.Contains(got, "10 recovery codes") {
		t.Errorf("it says %q", got)
	}
	if a := maja.Submit(account+"/two-step/begin", webtest.Form("confirmation", password)); a.Text("#flashes") != auth.ErrTwoFactorOn.Message {
		t.Errorf("begun again: %q", a.Text("#flashes"))
	}

	phoneless := s.signedInAs("maja@example.com", password)
	phoneless.Submitted("/admin/sign-in/code", webtest.Form("code", recovery[3]))
	if got := phoneless.Get(account).Text("#two-factor"); !strings.Contains(got, "9 recovery codes") {
		t.Errorf("it says %q", got)
	}
}

// Changes to two-step verification need the password again, which protects an unattended browser.
func TestTwoStepChangesNeedPassword(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.hired("maja@example.com")
	maja := s.signedInAs("maja@example.com", password)
	wrongPassword := webtest.Message("Password", core.Violation{Rule: "wrong_password"})
	if a := maja.Ask(http.MethodPost, account+"/two-step/off", "Sec-Fetch-Site", "same-origin"); a.Code != http.StatusSeeOther {
		t.Errorf("turned off although it isn't on: %d", a.Code)
	}
	maja.Get(account + "/two-step/begin")
	for _, typed := range []string{"", "a wrong password"} {
		if a := maja.Post(account+"/two-step/begin", webtest.Form("confirmation", typed)); a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != wrongPassword {
			t.Errorf("begun with %q: %d %q", typed, a.Code, a.Text("main"))
		}
	}
	_, old := maja.enrol()

	maja.Get(account + "/codes")
	if a := maja.Post(account+"/codes", webtest.Form("confirmation", "a wrong password")); a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != wrongPassword {
		t.Errorf("answered %d %q", a.Code, a.Text("main"))
	}
	renewed := maja.Post(account+"/codes", webtest.Form("confirmation", password))
	codes := strings.Fields(renewed.Find("#recovery-codes").Text())
	if renewed.Code != http.StatusOK || len(codes) != 10 || strings.Contains(strings.Join(codes, " "), old[0]) {
		t.Errorf("new codes: %d %q", renewed.Code, codes)
	}

	wrong := maja.Post(account+"/two-step/off", webtest.Form("confirmation", "a wrong password"))
	if typed := wrong.Value("#field-confirmation"); wrong.Code != http.StatusUnprocessableEntity || wrong.Text(".invalid-feedback") != wrongPassword || typed != "" {
		t.Errorf("turned off: %d %q", wrong.Code, wrong.Text("form"))
	}
	off := maja.Submit(account+"/two-step/off", webtest.Form("confirmation", password))
	if !off.Flashed(ui.Done, "") || off.Find("#two-factor a[href$='/two-step/begin'], #two-factor form[action$='/two-step/begin']").Length() == 0 {
		t.Errorf("said %q", off.Text("main"))
	}
	s.signedInAs("maja@example.com", password).Get(account) // by the password alone
}

// "Sign out here and everywhere, list of own sessions."
func TestOwnSessions(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.hired("maja@example.com")
	here := s.signedInAs("maja@example.com", password, "User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0")
	phone := s.signedInAs("maja@example.com", password, "User-Agent", "<b>curl</b>")
	tablet := s.signedInAs("maja@example.com", password)

	list := here.Get(account)
	rows := list.Find("#sessions tbody tr")
	if got := list.Text("#sessions tbody"); rows.Length() != 3 || !strings.Contains(got, "Firefox on Linux") || !strings.Contains(got, "<b>curl</b>") {
		t.Fatalf("the list says %q", got)
	}
	end := ""
	for i := range rows.Length() {
		if strings.Contains(rows.Eq(i).Text(), "curl") {
			end = rows.Eq(i).Find("form").AttrOr("action", "")
		}
	}
	if got := s.signedIn(core.Owner).Submit(end, nil); got.Text("#flashes") != "" {
		t.Errorf("another person ends it: %q", got.Text("#flashes"))
	}
	phone.Get(account)
	if got := here.Submit(end, nil); !got.Flashed(ui.Done, "") || got.Find("#sessions tbody tr").Length() != 2 {
		t.Errorf("said %q", got.Text("main"))
	}
	if twice := here.Submit(end, nil); twice.Find("#sessions").Length() != 1 || twice.Text("#flashes") != "" {
		t.Errorf("a double click: %q", twice.Text("main"))
	}
	if a := phone.Ask(http.MethodGet, account); a.Code != http.StatusSeeOther {
		t.Errorf("the phone still gets %d", a.Code)
	}
	tablet.Get(account)
	if got := here.Submit(account+"/sessions/others", nil); !got.Flashed(ui.Done, "1 ") || got.Find("#sessions tbody tr").Length() != 1 || got.Find("form[action$='/sessions/others']").Length() != 0 {
		t.Errorf("said %q", got.Text("main"))
	}
	if a := tablet.Ask(http.MethodGet, account); a.Code != http.StatusSeeOther {
		t.Errorf("the tablet still gets %d", a.Code)
	}
}

// containsSecret reports whether a row contains a secret, as text or as bytes.
func containsSecret(row, secret string) bool {
	row = strings.ToLower(row)
	return secret == "" || strings.Contains(row, strings.ToLower(secret)) || strings.Contains(row, hex.EncodeToString([]byte(secret)))
}

// "Audit log … secrets never": no table contains a secret in plain text, except the e-mail that delivers
// a link.
func TestSecretsAreNotStored(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p := s.hired("maja@example.com")
	maja := s.signedInAs(p.Email, password)
	key, recovery := maja.enrol()
	maja.Submit(account+"/password", webtest.Form("current_password", password, "password", "another long sentence"))
	s.stranger().Post("/admin/sign-in", webtest.Form("email", password, "password", p.Email)) // in the wrong fields
	s.stranger().Post("/admin/sign-in", webtest.Form("email", p.Email, "password", "mistyped sentence"))
	if err := s.Auth.SendReset(t.Context(), auth.ResetRequest{Tenant: s.By.Tenant.ID, Email: p.Email}); err != nil {
		t.Fatal(err)
	}
	link := secretOf.FindStringSubmatch(s.latestMail(p.Email))[1]
	s.stranger().Submit("/admin/reset/"+link, webtest.Form("password", "a third long sentence"))
	owner := s.signedIn(core.Owner)
	token := owner.Post(tokens+"/new", owner.tokenForm("Web shop")).Text("#secret")

	_, token, _ = strings.Cut(token, "|")
	stored := s.everything()
	for what, secret := range map[string]string{
		"password": password, "changed": "another long sentence", "reset": "a third long sentence", "mistyped": "mistyped sentence",
		"key": key, "recovery code": recovery[0], "code as it is compared": strings.ReplaceAll(recovery[0], "-", ""),
		"token": token, "session": owner.Cookies[auth.SessionCookie].Value, "link": link,
	} {
		for line := range strings.Lines(stored) {
			table, _, _ := strings.Cut(line, " ")
			if inMail := what == "link" && table == "mail"; inMail != containsSecret(line, secret) && (inMail || table != "mail") {
				t.Errorf("table %s contains the %s: %t, want %t", table, what, !inMail, inMail)
			}
		}
	}
}
