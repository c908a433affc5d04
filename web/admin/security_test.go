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
)

const account = "/admin/settings/security"

// signedInAs signs a person in with the sign-in form.
func (s *shop) signedInAs(t *testing.T, email, password string, agent ...string) *browser {
	t.Helper()
	b := s.stranger(t)
	if a := b.post("/admin/sign-in", form("email", email, "password", password), agent...); a.Code != http.StatusSeeOther {
		t.Fatalf("signing in = %d %s", a.Code, a.words(".alert"))
	}
	return b
}

// beginTwoStep starts the set-up of two-step verification and returns the key.
func (b *browser) beginTwoStep() (key string) {
	b.t.Helper()
	return strings.ReplaceAll(b.posted(account+"/two-step/begin", form("confirmation", password)).words("#secret"), " ", "")
}

// authCode is the current authentication code for a key.
func (b *browser) authCode(key string) string {
	b.t.Helper()
	code, err := totp.GenerateCode(key, b.shop.db.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	return code
}

// enrol sets up two-step verification.
func (b *browser) enrol() (key string, recovery []string) {
	b.t.Helper()
	key = b.beginTwoStep()
	a := b.post(account+"/two-step", form("code", b.authCode(key)))
	if a.Code != http.StatusOK {
		b.t.Fatalf("confirming = %d %s", a.Code, a.words(".alert"))
	}
	return key, strings.Fields(a.Find("#recovery-codes").Text())
}

func TestChangeOwnName(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(t, core.Cashier)
	if a := cashier.post(account+"/name", form("name", " ")); a.Code != http.StatusUnprocessableEntity || a.words(".invalid-feedback") != says("Name", core.Required) {
		t.Errorf("answered %d %q", a.Code, a.words(".invalid-feedback"))
	}
	if got := cashier.posted(account+"/name", form("name", "Bo <b>Ek</b>")); !got.flashed(ui.Done, "") || !strings.Contains(got.words(".topbar"), "Bo <b>Ek</b>") {
		t.Errorf("afterwards: %q", got.words("body"))
	}
}

// "Ended everywhere on password change": the current session gets a new cookie, all others end.
func TestChangeOwnPassword(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.hired(t, "maja@example.com")
	here, elsewhere := s.signedInAs(t, "maja@example.com", password), s.signedInAs(t, "maja@example.com", password)

	for _, c := range []struct{ current, next, want string }{
		{"something else", "a long enough sentence", says("Password", core.Violation{Rule: "wrong_password"})},
		{password, "short", says("New password", core.MinLength(12))},
		{password, "aaaaaaaaaaaaaaaa", says("Password", core.Violation{Rule: "easy_password"})},
	} {
		a := here.post(account+"/password", form("current_password", c.current, "password", c.next))
		if a.Code != http.StatusUnprocessableEntity || a.words(".invalid-feedback") != c.want ||
			a.Find("input[type=password][value]:not([value=''])").Length() != 0 {
			t.Errorf("%q: %d %q", c.next, a.Code, a.words(".invalid-feedback"))
		}
	}
	before := here.cookie.Value
	done := here.posted(account+"/password", form("current_password", password, "password", "another long sentence"))
	if !done.flashed(ui.Done, "") || here.cookie.Value == before || done.Find("#sessions tbody tr").Length() != 1 {
		t.Errorf("said %q; the cookie is new: %t", done.words("#flashes"), here.cookie.Value != before)
	}
	if a := elsewhere.ask(http.MethodGet, account, nil); a.Code != http.StatusSeeOther {
		t.Errorf("elsewhere: %d", a.Code)
	}
	if a := s.stranger(t).post("/admin/sign-in", form("email", "maja@example.com", "password", password)); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("with the old password: %d", a.Code)
	}
	s.signedInAs(t, "maja@example.com", "another long sentence")

	// After too many wrong passwords.
	var last answer
	for range 11 {
		last = here.post(account+"/password", form("current_password", "wrong", "password", "yet another sentence"))
	}
	if last.Code != http.StatusTooManyRequests || last.Header().Get("Retry-After") == "" || last.words(".alert") == "" {
		t.Errorf("the eleventh time: %d %q", last.Code, last.words(".alert"))
	}
}

var path = regexp.MustCompile(`^M\d+ \d+h`)

// "Optional TOTP second factor with recovery codes": an authentication code turns it on, and the
// recovery codes are shown once.
func TestSetUpTwoStepVerification(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.hired(t, "maja@example.com")
	maja := s.signedInAs(t, "maja@example.com", password)
	if a := maja.ask(http.MethodGet, account+"/two-step", nil); a.Code != http.StatusSeeOther {
		t.Errorf("before it is begun: %d", a.Code)
	}
	key := maja.beginTwoStep()
	page := maja.get(account + "/two-step")
	if drawn, _ := page.Find("svg.qr path").Attr("d"); !path.MatchString(drawn) || len(key) != 32 || strings.ReplaceAll(page.words("#secret"), " ", "") != key {
		t.Errorf("shown %q %q", drawn[:min(len(drawn), 30)], page.words("#secret"))
	}
	wrong := maja.post(account+"/two-step", form("code", "12345"))
	if wrong.Code != http.StatusUnprocessableEntity || wrong.words(".invalid-feedback") != says("Code", core.Violation{Rule: "wrong_code"}) || strings.ReplaceAll(wrong.words("#secret"), " ", "") != key {
		t.Errorf("a wrong code: %d %q", wrong.Code, wrong.words("main"))
	}
	code := maja.authCode(key)
	on := maja.post(account+"/two-step", form("code", code))
	recovery := strings.Fields(on.Find("#recovery-codes").Text())
	if on.Code != http.StatusOK || len(recovery) != 10 {
		t.Fatalf("turned on: %d %q", on.Code, on.words("main"))
	}
	again := maja.posted(account+"/two-step", form("code", code))
	if again.Find("#recovery-codes").Length() != 0 || again.Find("#two-factor").Length() != 1 || !again.flashed(ui.Warning, "") {
		t.Errorf("sent again: %q", again.words("main"))
	}
	if got := maja.get(account).words("#two-factor"); !strings.Contains(got, "10 recovery codes") {
		t.Errorf("it says %q", got)
	}
	if a := maja.posted(account+"/two-step/begin", form("confirmation", password)); a.words("#flashes") != auth.ErrTwoFactorOn.Message {
		t.Errorf("begun again: %q", a.words("#flashes"))
	}

	phoneless := s.signedInAs(t, "maja@example.com", password)
	if a := phoneless.post("/admin/sign-in/code", form("code", recovery[3])); a.Code != http.StatusSeeOther {
		t.Fatalf("by a recovery code: %d %q", a.Code, a.words(".alert"))
	}
	if got := phoneless.get(account).words("#two-factor"); !strings.Contains(got, "9 recovery codes") {
		t.Errorf("it says %q", got)
	}
}

// Changes to two-step verification need the password again, which protects an unattended browser.
func TestTwoStepChangesNeedPassword(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.hired(t, "maja@example.com")
	maja := s.signedInAs(t, "maja@example.com", password)
	wrongPassword := says("Password", core.Violation{Rule: "wrong_password"})
	if a := maja.ask(http.MethodPost, account+"/two-step/off", nil, "Sec-Fetch-Site", "same-origin"); a.Code != http.StatusSeeOther {
		t.Errorf("turned off although it isn't on: %d", a.Code)
	}
	maja.get(account + "/two-step/begin")
	for _, typed := range []string{"", "a wrong password"} {
		if a := maja.post(account+"/two-step/begin", form("confirmation", typed)); a.Code != http.StatusUnprocessableEntity || a.words(".invalid-feedback") != wrongPassword {
			t.Errorf("begun with %q: %d %q", typed, a.Code, a.words("main"))
		}
	}
	_, old := maja.enrol()

	maja.get(account + "/codes")
	if a := maja.post(account+"/codes", form("confirmation", "a wrong password")); a.Code != http.StatusUnprocessableEntity || a.words(".invalid-feedback") != wrongPassword {
		t.Errorf("answered %d %q", a.Code, a.words("main"))
	}
	renewed := maja.post(account+"/codes", form("confirmation", password))
	codes := strings.Fields(renewed.Find("#recovery-codes").Text())
	if renewed.Code != http.StatusOK || len(codes) != 10 || strings.Contains(strings.Join(codes, " "), old[0]) {
		t.Errorf("new codes: %d %q", renewed.Code, codes)
	}

	wrong := maja.post(account+"/two-step/off", form("confirmation", "a wrong password"))
	if typed := wrong.Find("#field-confirmation").AttrOr("value", ""); wrong.Code != http.StatusUnprocessableEntity || wrong.words(".invalid-feedback") != wrongPassword || typed != "" {
		t.Errorf("turned off: %d %q", wrong.Code, wrong.words("form"))
	}
	off := maja.posted(account+"/two-step/off", form("confirmation", password))
	if !off.flashed(ui.Done, "") || off.Find("#two-factor a[href$='/two-step/begin'], #two-factor form[action$='/two-step/begin']").Length() == 0 {
		t.Errorf("said %q", off.words("main"))
	}
	s.signedInAs(t, "maja@example.com", password).get(account) // by the password alone
}

// "Sign out here and everywhere, list of own sessions."
func TestOwnSessions(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.hired(t, "maja@example.com")
	here := s.signedInAs(t, "maja@example.com", password, "User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0")
	phone := s.signedInAs(t, "maja@example.com", password, "User-Agent", "<b>curl</b>")
	tablet := s.signedInAs(t, "maja@example.com", password)

	list := here.get(account)
	rows := list.Find("#sessions tbody tr")
	if got := list.words("#sessions tbody"); rows.Length() != 3 || !strings.Contains(got, "Firefox on Linux") || !strings.Contains(got, "<b>curl</b>") {
		t.Fatalf("the list says %q", got)
	}
	end := ""
	for i := range rows.Length() {
		if strings.Contains(rows.Eq(i).Text(), "curl") {
			end, _ = rows.Eq(i).Find("form").Attr("action")
		}
	}
	if got := s.signedIn(t, core.Owner).posted(end, nil); got.words("#flashes") != "" {
		t.Errorf("another person ends it: %q", got.words("#flashes"))
	}
	phone.get(account)
	if got := here.posted(end, nil); !got.flashed(ui.Done, "") || got.Find("#sessions tbody tr").Length() != 2 {
		t.Errorf("said %q", got.words("main"))
	}
	if twice := here.posted(end, nil); twice.Find("#sessions").Length() != 1 || twice.words("#flashes") != "" {
		t.Errorf("a double click: %q", twice.words("main"))
	}
	if a := phone.ask(http.MethodGet, account, nil); a.Code != http.StatusSeeOther {
		t.Errorf("the phone still gets %d", a.Code)
	}
	tablet.get(account)
	if got := here.posted(account+"/sessions/others", nil); !got.flashed(ui.Done, "1 ") || got.Find("#sessions tbody tr").Length() != 1 || got.Find("form[action$='/sessions/others']").Length() != 0 {
		t.Errorf("said %q", got.words("main"))
	}
	if a := tablet.ask(http.MethodGet, account, nil); a.Code != http.StatusSeeOther {
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
	p := s.hired(t, "maja@example.com")
	maja := s.signedInAs(t, p.Email, password)
	key, recovery := maja.enrol()
	maja.posted(account+"/password", form("current_password", password, "password", "another long sentence"))
	s.stranger(t).post("/admin/sign-in", form("email", password, "password", p.Email)) // in the wrong fields
	s.stranger(t).post("/admin/sign-in", form("email", p.Email, "password", "mistyped sentence"))
	if err := s.Auth.SendReset(t.Context(), auth.ResetRequest{Tenant: s.by.Tenant.ID, Email: p.Email}); err != nil {
		t.Fatal(err)
	}
	link := secretOf.FindStringSubmatch(s.latestMail(t, p.Email))[1]
	s.stranger(t).posted("/admin/reset/"+link, form("password", "a third long sentence"))
	owner := s.signedIn(t, core.Owner)
	token := owner.post(tokens+"/new", owner.tokenForm("Web shop")).words("#secret")

	_, token, _ = strings.Cut(token, "|")
	stored := s.everything(t)
	for what, secret := range map[string]string{
		"password": password, "changed": "another long sentence", "reset": "a third long sentence", "mistyped": "mistyped sentence",
		"key": key, "recovery code": recovery[0], "code as it is compared": strings.ReplaceAll(recovery[0], "-", ""),
		"token": token, "session": owner.cookie.Value, "link": link,
	} {
		for line := range strings.Lines(stored) {
			table, _, _ := strings.Cut(line, " ")
			if inMail := what == "link" && table == "mail"; inMail != containsSecret(line, secret) && (inMail || table != "mail") {
				t.Errorf("table %s contains the %s: %t, want %t", table, what, !inMail, inMail)
			}
		}
	}
}
