package admin_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/limit"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/web/webtest"
)

const password = "correct horse battery"

// hired adds a manager with that password, who isn't signed in.
func (s *shop) hired(email string) staff.Person {
	s.T.Helper()
	p, err := db.In(s.T.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (staff.Person, error) {
		return staff.Add(s.T.Context(), tx, s.By, staff.New{Role: core.Manager, Name: "Maja Sund", Email: email, Password: password})
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return p
}

// latestMail is the text of the latest e-mail to an address.
func (s *shop) latestMail(email string) string {
	s.T.Helper()
	return shoptest.Query[string](s.Shop, "select text from loyalty.mail where tenant_id = $1 and recipient = $2 order by created_at desc, id desc limit 1", s.By.Tenant.ID, email)
}

var secretOf = regexp.MustCompile(`Secret:(\S+)`)

// A page that needs a sign-in redirects to the sign-in page, which leads back.
func TestSignIn(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.hired("maja@example.com")
	maja := s.stranger()

	led := maja.Ask(http.MethodGet, "/admin/customers?status=active")
	to, err := url.Parse(led.Header().Get("Location"))
	if err != nil || led.Code != http.StatusSeeOther || to.Path != "/admin/sign-in" || to.Query().Get("to") != "/admin/customers?status=active" {
		t.Fatalf("led to %s, %d", to, led.Code)
	}
	page := maja.Get(to.String())
	if kept := page.Value("input[name=to]"); kept != "/admin/customers?status=active" {
		t.Errorf("the form remembers %q", kept)
	}

	refused := maja.Post("/admin/sign-in", webtest.Form("email", "maja@example.com", "password", "something else", "to", "/admin/customers"))
	if refused.Code != http.StatusUnprocessableEntity || refused.Text(".alert-danger") != auth.ErrCredentials.Message {
		t.Errorf("a wrong password: %d %q", refused.Code, refused.Text(".alert"))
	}
	if typed := refused.Value("#field-email"); typed != "maja@example.com" {
		t.Errorf("the address is now %q", typed)
	}
	if typed := refused.Value("#field-password"); typed != "" {
		t.Error("the page contains the password")
	}
	unknown := maja.Post("/admin/sign-in", webtest.Form("email", "unknown@example.com", "password", "something else"))
	if unknown.Text(".alert-danger") != refused.Text(".alert-danger") {
		t.Error("the message tells which part was wrong")
	}

	in := maja.Post("/admin/sign-in", webtest.Form("email", "maja@example.com", "password", password, "to", "/admin/customers?status=active"))
	if in.Code != http.StatusSeeOther || in.Header().Get("Location") != "/admin/customers?status=active" {
		t.Fatalf("signed in: %d to %q", in.Code, in.Header().Get("Location"))
	}
	got := in.Header().Values("Set-Cookie")
	if len(got) != 2 || !strings.HasPrefix(got[0], "__Host-device=") || !strings.HasPrefix(got[1], "__Host-session=") {
		t.Errorf("cookies %q", got)
	}
	for _, c := range got {
		if !strings.Contains(c, "; HttpOnly") || !strings.Contains(c, "; Secure") || !strings.Contains(c, "; SameSite=Lax") || strings.Contains(c, "Domain") {
			t.Errorf("cookie %q", c)
		}
	}
	if got := maja.Get("/admin/customers").Text(".topbar"); !strings.Contains(got, "Maja Sund Manager") {
		t.Errorf("signed in as %q", got)
	}

	cookie := maja.Cookies[auth.SessionCookie]
	for range 2 { // a second click comes without a session
		if out := maja.Post("/admin/sign-out", nil); out.Code != http.StatusSeeOther || out.Header().Get("Location") != "/admin/sign-in" {
			t.Errorf("signed out: %d to %q", out.Code, out.Header().Get("Location"))
		}
	}
	log := s.signedIn(core.Owner).Get("/admin/audit?subject=staff").Texts(".audit-words")
	if len(log) < 3 || log[1] != sentence("staff.sign_out", "{who}", "Maja Sund") || log[2] != sentence("staff.sign_in", "{who}", "Maja Sund") {
		t.Errorf("the audit log says %q", log)
	}
	maja.Cookies[auth.SessionCookie] = cookie // a copy of the cookie
	if led := maja.Ask(http.MethodGet, "/admin/customers"); led.Code != http.StatusSeeOther {
		t.Errorf("after signing out the session still works: %d", led.Code)
	}
}

// A link from outside can't make the sign-in redirect to another site.
func TestSignInRedirectsOnlyIntoThePanel(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.hired("maja@example.com")
	for _, to := range []string{"https://evil.example/admin", "//evil.example/admin", "/\\evil.example", "javascript:alert(1)", "/elsewhere", "/admin\\@evil.example", ""} {
		in := s.stranger().Post("/admin/sign-in", webtest.Form("email", "maja@example.com", "password", password, "to", to))
		if got := in.Header().Get("Location"); in.Code != http.StatusSeeOther || got != "/admin" {
			t.Errorf("to %q: %d to %q, want /admin", to, in.Code, got)
		}
	}
}

// The point of sale "is a cashier's first page after signing in", unless they asked for another one.
func TestFirstPageByRole(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier, manager := s.signedIn(core.Cashier), s.signedIn(core.Manager)
	for to, want := range map[string]string{
		"": "/till", "/admin": "/till", "/admin/customers": "/admin/customers", "/till/c/ABC": "/till/c/ABC", "/tillage": "/till", "//till": "/till",
	} {
		if got := cashier.Ask(http.MethodGet, "/admin/sign-in?to="+to).Header().Get("Location"); got != want {
			t.Errorf("a cashier on the way to %q is led to %q, want %q", to, got, want)
		}
	}
	for to, want := range map[string]string{"": "/admin", "/till": "/till"} {
		if got := manager.Ask(http.MethodGet, "/admin/sign-in?to="+to).Header().Get("Location"); got != want {
			t.Errorf("a manager on the way to %q is led to %q, want %q", to, got, want)
		}
	}
	if first := cashier.Get("/admin/customers").Find("nav a").First().AttrOr("href", ""); first != "/till" {
		t.Errorf("the navigation begins with %q, want the point of sale", first)
	}
}

// "A 429 has `Retry-After`", and failed attempts by strangers don't lock out a known browser.
func TestTooManySignIns(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.hired("maja@example.com")
	home := s.stranger()
	home.Submit("/admin/sign-in", webtest.Form("email", "maja@example.com", "password", password))
	d := home.Cookies[auth.DeviceCookie]
	if d == nil || d.Path != "/" || d.Domain != "" || !d.Secure || !d.HttpOnly || d.SameSite != http.SameSiteLaxMode || d.MaxAge != 365*24*60*60 {
		t.Fatalf("the device cookie is %+v", d)
	}
	guesser := s.stranger()
	for range 10 {
		guesser.Post("/admin/sign-in", webtest.Form("email", "maja@example.com", "password", "something else"))
	}
	a := guesser.Post("/admin/sign-in", webtest.Form("email", "maja@example.com", "password", password))
	if a.Code != http.StatusTooManyRequests || a.Text(".alert-danger") == "" {
		t.Errorf("the eleventh: %d %q", a.Code, a.Text(".alert"))
	}
	if seconds, err := strconv.Atoi(a.Header().Get("Retry-After")); err != nil || seconds < 1 || seconds > 15*60 {
		t.Errorf("the eleventh: Retry-After %q", a.Header().Get("Retry-After"))
	}
	// The person's own browser can still sign in from the same address.
	home.Submit("/admin/sign-out", nil)
	if in := home.Post("/admin/sign-in", webtest.Form("email", "maja@example.com", "password", password)); in.Code != http.StatusSeeOther {
		t.Errorf("the owner's own browser: %d %q", in.Code, in.Text(".alert"))
	}
	if home.Cookies[auth.DeviceCookie].Value == d.Value {
		t.Error("the device cookie was not renewed")
	}
}

// "Invitation and password-reset links by e-mail (single use, 60 minutes)".
func TestResetPassword(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p := s.hired("maja@example.com")
	elsewhere := s.stranger()
	elsewhere.Submit("/admin/sign-in", webtest.Form("email", "maja@example.com", "password", password, "to", "/admin/customers"))

	maja := s.stranger()
	said := maja.Submit("/admin/forgot", webtest.Form("email", "maja@example.com")).Text("#flashes")
	if other := s.stranger().Submit("/admin/forgot", webtest.Form("email", "unknown@example.com")).Text("#flashes"); said != other {
		t.Errorf("the message tells whether the account exists: %q, %q", said, other)
	}
	err := s.Auth.SendReset(t.Context(), auth.ResetRequest{Tenant: s.By.Tenant.ID, Email: p.Email})
	if err != nil {
		t.Fatal(err)
	}
	link := "/admin/reset/" + secretOf.FindStringSubmatch(s.latestMail(p.Email))[1]

	if page := maja.Get(link); !strings.Contains(page.Text("main"), "maja@example.com") {
		t.Errorf("page = %q", page.Text("main"))
	}
	if weak := maja.Post(link, webtest.Form("password", "short")); weak.Code != http.StatusUnprocessableEntity ||
		weak.Text(".invalid-feedback") != webtest.Message("New password", core.MinLength(12)) {
		t.Errorf("a weak password: %d %q", weak.Code, weak.Text(".invalid-feedback"))
	}
	maja.Submit(link, webtest.Form("password", "another long one"))
	if again := maja.Ask(http.MethodGet, link); again.Code != http.StatusNotFound || !strings.Contains(again.Text("main"), auth.ErrLink.Message) {
		t.Errorf("used again: %d %q", again.Code, again.Text("main"))
	}
	if led := elsewhere.Ask(http.MethodGet, "/admin/customers"); led.Code != http.StatusSeeOther {
		t.Errorf("another session still works: %d", led.Code)
	}
	maja.Submit("/admin/sign-in", webtest.Form("email", "maja@example.com", "password", "another long one", "to", "/admin/customers"))
}

// "A password reset offers to revoke one's own" tokens: an unticked checkbox, only if there are tokens.
func TestResetOffersToRevokeTokens(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	email := s.email(owner)
	link := func() string {
		t.Helper()
		if err := s.Auth.SendReset(t.Context(), auth.ResetRequest{Tenant: s.By.Tenant.ID, Email: email}); err != nil {
			t.Fatal(err)
		}
		return "/admin/reset/" + secretOf.FindStringSubmatch(s.latestMail(email))[1]
	}
	s.able(owner.Person.StaffID)
	path := link()
	if a := s.stranger().Get(path); a.Find("input[type=checkbox]").Length() != 0 {
		t.Errorf("offered without tokens: %q", a.Text("main"))
	}
	first := owner.Post(tokens+"/new", owner.tokenForm("Till")).Text("#secret")
	second := owner.Post(tokens+"/new", owner.tokenForm("Web shop")).Text("#secret")
	a := s.stranger().Get(path)
	if box := a.Find("input[name=revoke_tokens]"); box.Length() != 1 || box.Is("[checked]") || !strings.Contains(a.Text("form"), " 2 ") {
		t.Fatalf("offered: %q", a.Text("form"))
	}
	weak := s.stranger().Post(path, webtest.Form("password", "short", "revoke_tokens", "1"))
	if !weak.Find("input[name=revoke_tokens]").Is("[checked]") {
		t.Error("a refused form lost the tick")
	}
	s.stranger().Submit(path, webtest.Form("password", "another long one"))
	if _, ok := s.works(first); !ok {
		t.Fatal("revoked without the checkbox")
	}
	s.stranger().Submit(link(), webtest.Form("password", "and one more that is long", "revoke_tokens", "1"))
	for _, secret := range []string{first, second} {
		if _, ok := s.works(secret); ok {
			t.Error("a token still works")
		}
	}
}

func TestAcceptInvitation(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	if _, err := core.Result(s.Staff.Invite(t.Context(), owner.Person, staff.New{Role: core.Cashier, Name: "Bo", Email: "bo@example.com"}, nil)); err != nil {
		t.Fatal(err)
	}
	bo := s.stranger()
	link := "/admin/invitation/" + secretOf.FindStringSubmatch(s.latestMail("bo@example.com"))[1]
	if page := bo.Get(link); !strings.Contains(page.Text("h1"), s.By.Tenant.Name) || !strings.Contains(page.Text("main"), "bo@example.com") {
		t.Errorf("page = %q", page.Text("main"))
	}
	if elsewhere := newShop(t).stranger().Ask(http.MethodGet, link); elsewhere.Code != http.StatusNotFound {
		t.Errorf("on another business's host: %d", elsewhere.Code)
	}
	in := bo.Post(link, webtest.Form("name", "Bo Ek", "password", password))
	if to := in.Header().Get("Location"); in.Code != http.StatusSeeOther || to != "/till" {
		t.Fatalf("accepted: %d to %q %q, want the point of sale", in.Code, to, in.Text(".alert"))
	}
	if got := bo.Get("/admin/customers").Text(".topbar"); !strings.Contains(got, "Bo Ek Cashier") {
		t.Errorf("signed in as %q", got)
	}
	if again := s.stranger().Ask(http.MethodGet, link); again.Code != http.StatusNotFound {
		t.Errorf("accepted again: %d", again.Code)
	}
}

// An owner who was added with the business has no name yet: their e-mail and the form's field have none.
func TestAnInvitedOwnerEntersTheirName(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	unnamed := auth.OwnerOf(s.By.Tenant.Name)
	for name, want := range map[string]string{unnamed: "", "Bo Ek": "Bo Ek"} {
		email := strings.ToLower(strings.ReplaceAll(name, " ", "-")) + "@example.com"
		if _, err := core.Result(s.Staff.Invite(t.Context(), s.signedIn(core.Owner).Person, staff.New{Role: core.Owner, Name: name, Email: email}, nil)); err != nil {
			t.Fatal(err)
		}
		mail := s.latestMail(email)
		if strings.Contains(mail, "Hello "+unnamed) {
			t.Errorf("the invitation greets %s", unnamed)
		}
		link := "/admin/invitation/" + secretOf.FindStringSubmatch(mail)[1]
		if got := s.stranger().Get(link).Value("[name=name]"); got != want {
			t.Errorf("the name of %s begins as %q, want %q", name, got, want)
		}
	}
}

func TestHostWithoutBusiness(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.By.Tenant.Slug = "no-such-business"
	a := s.stranger().Ask(http.MethodGet, "/admin/sign-in")
	if a.Code != http.StatusNotFound || a.Text("h1") != "Business not found" || !slices.Contains(a.Links("main a"), webtest.Base) {
		t.Errorf("answered %d %q, with links to %q", a.Code, a.Text("h1"), a.Links("a"))
	}
}

// "The sign-in page is unlimited": an address that opens it too often gets 429 with `Retry-After`.
func TestSignInPageIsLimited(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	now := s.DB.Now()
	s.signInViews = limit.NewWindow(3, time.Minute, func() time.Time { return now })
	s.open()
	for i := range 5 {
		got := s.stranger().Ask(http.MethodGet, "/admin/sign-in")
		if want := map[bool]int{true: http.StatusOK, false: http.StatusTooManyRequests}[i < 3]; got.Code != want {
			t.Errorf("visit %d: %d, want %d", i, got.Code, want)
		}
		if after := got.Header().Get("Retry-After"); (after == "60") != (i >= 3) {
			t.Errorf("visit %d: Retry-After %q", i, after)
		}
	}
	now = now.Add(time.Minute)
	if got := s.stranger().Get("/admin/sign-in"); got.Code != http.StatusOK {
		t.Errorf("a minute later: %d", got.Code)
	}
}

// Links with which a password is chosen need no sign-in, so what an address sends to them is counted.
func TestLinksOfPasswordsAreLimited(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.signInViews = limit.NewWindow(2, time.Minute, s.DB.Now)
	s.open()
	for i, path := range []string{"/admin/reset/x", "/admin/invitation/x", "/admin/reset/x", "/admin/invitation/x"} {
		got := s.stranger().Post(path, webtest.Form("password", "x"))
		if limited := got.Code == http.StatusTooManyRequests && got.Header().Get("Retry-After") != ""; limited != (i >= 2) {
			t.Errorf("attempt %d: %d", i+1, got.Code)
		}
	}
}
