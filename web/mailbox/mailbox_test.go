package mailbox_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/static"
	"example.com/loyalty/views/viewtest"
	"example.com/loyalty/web/email"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/mailbox"
	"example.com/loyalty/web/webtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// site is the base host of an installation in a browser on that machine, which opened the page of
// mails with a key.
type site struct {
	*webtest.Browser
	shop  shoptest.Shop
	mails email.Mails
	pages *mailbox.Pages
	shown *[]string // the addresses for the next browser, one after the other
}

func open(t *testing.T, sender mail.Sender) site {
	t.Helper()
	d := dbtest.OwnDB(t)
	names, err := host.Parse("https://localhost:8443")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	s := site{Browser: webtest.New(t, e, core.Tenant{}), shop: shoptest.In(t, d), mails: email.New(mail.New(d, jobs, sender, log), names), shown: &[]string{}}
	s.Origin, s.Address = "https://localhost:8443", "127.0.0.1:5000"
	s.pages = mailbox.New(s.mails.Service, names, host.ClientAddress(nil), time.UTC, func(address string) { *s.shown = append(*s.shown, address) })
	s.pages.Mount(e)
	let := s.Ask(http.MethodGet, s.key())
	if let.Code != http.StatusSeeOther || let.Header().Get("Location") != "/mail" || len(s.Cookies) != 1 {
		t.Fatalf("with the key: %d %v", let.Code, let.Header())
	}
	return s
}

// key is the path of the list of mails with the key that works now.
func (s site) key() string { return strings.TrimPrefix(s.pages.Address(), s.Origin) }

// stranger is another browser on this machine.
func (s site) stranger() *webtest.Browser {
	b := s.Clone()
	clear(b.Cookies)
	return b
}

// get opens a page, which is HTML and not stored.
func (s site) get(path string) webtest.Page {
	s.T.Helper()
	p := s.Get(path)
	if p.Header().Get("Content-Type") != "text/html; charset=UTF-8" || p.Header().Get("Cache-Control") != "no-store" {
		s.T.Fatalf("%s: %v", path, p.Header())
	}
	return p
}

// "Opened only with a one-time key from the start-up screen", kept in a cookie: another local
// user, and a tunnel to this machine that adds no header, see nothing.
func TestAKeyOpensTheMailsOnce(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.invite("Bo", "bo@example.com")
	list := s.get("/mail")
	link := list.Attr(".mails a", "href")
	if c := s.Cookies["__Host-mail"]; c == nil || c.Path != "/" || c.Domain != "" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || len(c.Value) < 26 {
		t.Errorf("the cookie is %+v", c)
	}
	refused := func(what string, b *webtest.Browser, path string) {
		t.Helper()
		got := b.Ask(http.MethodGet, path)
		if got.Code != http.StatusForbidden || strings.Contains(got.Body.String(), "bo@example.com") || got.Find(".none").Length() != 1 {
			t.Errorf("%s, %s = %d", what, path, got.Code)
		}
	}
	stranger, forger := s.stranger(), s.stranger()
	forger.SetCookie("__Host-mail", strings.Repeat("A", 26))
	for _, path := range []string{"/mail", link, link + "/html", link + "/file", "/mail?key=", "/mail?key=AAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		refused("without a cookie", stranger, path)
		refused("with a forged one", forger, path)
	}
	viewtest.WellFormed(t, stranger.Ask(http.MethodGet, "/mail").Body.String())

	// The next key is another one, and what only looks does not use it up.
	key := s.key()
	if len(*s.shown) != 1 || (*s.shown)[0] != s.pages.Address() {
		t.Errorf("the terminal shows %q, want %s", *s.shown, s.pages.Address())
	}
	if got := stranger.Ask(http.MethodHead, key); got.Code != http.StatusForbidden {
		t.Errorf("HEAD with the key = %d", got.Code)
	}
	if got := stranger.Ask(http.MethodGet, link+strings.TrimPrefix(key, "/mail")); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/mail" {
		t.Errorf("a mail with the key = %d", got.Code)
	}
	refused("with a key that was used", s.stranger(), key)
	if got := s.Ask(http.MethodGet, key); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/mail" {
		t.Errorf("from the history of a browser that was let in = %d", got.Code)
	}
}

// "Requests with any forwarding header refused": key and cookie make no difference.
func TestForwardedRequestsSeeNoMails(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for _, header := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "CF-Connecting-IP"} {
		if w := s.Ask(http.MethodGet, s.key(), header, "127.0.0.1"); w.Code != http.StatusNotFound {
			t.Errorf("%s = %d, want 404", header, w.Code)
		}
	}
}

// invite mails an invitation to a person of that name.
func (s site) invite(name, email string) {
	s.T.Helper()
	_, err := db.In(s.T.Context(), s.shop.DB.Tenant(s.shop.By), func(tx *db.Tx) (int, error) {
		p, err := staff.Add(s.T.Context(), tx, s.shop.By, staff.New{Role: core.Cashier, Name: name, Email: email})
		if err != nil {
			return 0, err
		}
		return 0, auth.Invite(s.T.Context(), tx, s.shop.By, s.mails, s.shop.By.Tenant, p)
	})
	if err != nil {
		s.T.Fatal(err)
	}
}

// "Readable on a development mail page, so that invitations work in the demo": from the
// list to the mail, and on to the link in it.
func TestAnInvitationIsFollowed(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.invite(`Bo <b> & "Co"`, "bo@example.com")
	list := s.get("/mail")
	viewtest.WellFormed(t, list.Body.String())
	row := list.Find(".mails li")
	link, _ := row.Find("a").Attr("href")
	subject := "You're invited to " + s.shop.By.Tenant.Name + " on Loyalty"
	if row.Length() != 1 || row.Find("a").Text() != subject || row.Find(".to").Text() != "bo@example.com" {
		t.Fatalf("the list shows %q", row.Text())
	}
	at, _ := row.Find("time").Attr("datetime")
	if written, err := time.Parse(time.RFC3339, at); err != nil || row.Find("time").Text() != written.Format("2 January 2006, 15:04:05") {
		t.Errorf("written at %s: %s", at, row.Find("time").Text())
	}

	page := s.get(link)
	viewtest.WellFormed(t, page.Body.String())
	if page.Find("h1").Text() != subject || page.Find("title").Text() != subject+" · Loyalty" {
		t.Errorf("the mail is called %s", page.Find("h1").Text())
	}
	if head := strings.Join(strings.Fields(page.Find(".head").Text()), " "); head != "To bo@example.com, written "+row.Find("time").Text() {
		t.Errorf("the mail is %q", head)
	}
	text := page.Find(".plain pre")
	for _, words := range []string{`Hello Bo <b> & "Co",`, "\n\nChoose a password:\n\nhttps://"} {
		if !strings.Contains(text.Text(), words) {
			t.Errorf("the text lacks %q:\n%s", words, text.Text())
		}
	}
	invitation := text.Find("a").FilterFunction(func(_ int, a *goquery.Selection) bool { return strings.Contains(a.Text(), "/admin/invitation/") })
	href, _ := invitation.Attr("href")
	if invitation.Length() != 1 || href != invitation.Text() || !strings.HasPrefix(href, "https://"+s.shop.By.Tenant.Slug+".localhost:8443/admin/invitation/") {
		t.Errorf("the text leads to %s", href)
	}

	// As it is drawn: the same link, and it opens in a tab.
	source, _ := page.Find("iframe").Attr("src")
	drawn := s.get(source)
	if drawn.Find("head base[target=_blank]").Length() != 1 || drawn.Find(`a[href="`+href+`"]`).Length() != 1 || !strings.Contains(drawn.Text("body"), `Bo <b> & "Co"`) {
		t.Errorf("drawn: %s", drawn.Text("body"))
	}
}

// What is attached to a mail can be downloaded, and a mail without says nothing of one.
func TestAttachments(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.invite("Bo", "bo@example.com")
	list := s.get("/mail")
	link := list.Attr(".mails a", "href")
	if page := s.get(link); page.Find("a[download]").Length() != 0 {
		t.Error("a mail without an attachment offers one")
	}
	s.shop.Exec("update loyalty.mail set attachment_name = 'invoice-2026-0118.pdf', attachment = '%PDF'")
	page := s.get(link)
	w := s.Ask(http.MethodGet, page.Attr("a[download]", "href"))
	if w.Body.String() != "%PDF" || w.Header().Get("Content-Disposition") != "attachment; filename=invoice-2026-0118.pdf" || w.Header().Get("Content-Type") != "application/octet-stream" {
		t.Errorf("the file is %q, %v", w.Body, w.Header())
	}
}

// "CSP must stay strict", and looser for nothing but what the page is for: a frame with a script of ours that
// fits it, and in it a mail that runs nothing and loads nothing.
func TestPolicies(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.invite("Bo", "bo@example.com")
	list := s.get("/mail")
	link := list.Attr(".mails a", "href")
	page := s.get(link)
	policy := page.Header().Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self';", "frame-src 'self'", "frame-ancestors 'none'", "form-action 'self'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the page's policy lacks %s: %s", part, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(list.Header().Get("Content-Security-Policy"), "script") {
		t.Errorf("the page's policy is %s", policy)
	}
	html, err := page.Html()
	if err != nil || strings.Contains(html, "style=") || strings.Contains(html, "<style") || page.Find("script:not([src^='/static/js/'])").Length() != 0 || page.Find("script").Text() != "" {
		t.Errorf("the page has what its policy forbids: %v", err)
	}
	drawn := s.get(link + "/html")
	want := "sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
	if got := drawn.Header().Get("Content-Security-Policy"); got != want || drawn.Header().Get("X-Frame-Options") != "SAMEORIGIN" {
		t.Errorf("the mail's policy is %s, %s", got, drawn.Header().Get("X-Frame-Options"))
	}
	frame := page.Find("iframe")
	if sandbox, _ := frame.Attr("sandbox"); sandbox != "allow-same-origin allow-popups allow-popups-to-escape-sandbox" || frame.AttrOr("title", "") == "" {
		t.Errorf("the frame may %q", sandbox)
	}
	// Its files are there.
	page.Find("link[rel=stylesheet], link[rel=icon], script").Each(func(_ int, l *goquery.Selection) {
		path := l.AttrOr("href", l.AttrOr("src", ""))
		w := httptest.NewRecorder()
		static.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s = %d", path, w.Code)
		}
	})
}

// "Exists ONLY when … the client's address is loopback; else 404", and at the base host
// by its name.
func TestOnlyTheMachineItselfReadsMails(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.invite("Bo", "bo@example.com")
	list := s.get("/mail")
	link := list.Attr(".mails a", "href")
	for _, path := range []string{"/mail", link, link + "/html"} {
		for _, c := range []struct {
			from, at string
			status   int
		}{
			{"127.0.0.1:5000", "localhost:8443", 200},
			{"127.8.8.8:5000", "localhost", 200},
			{"[::1]:5000", "LOCALHOST:8443", 200},
			{"[::ffff:127.0.0.1]:5000", "localhost:8443", 200},
			{"192.0.2.7:5000", "localhost:8443", 404},
			{"10.0.0.1:5000", "localhost:8443", 404},
			{"[2001:db8::1]:5000", "localhost:8443", 404},
			{"@", "localhost:8443", 404},
			{"127.0.0.1:5000", "demo.localhost:8443", 404},
			{"127.0.0.1:5000", "evil.example", 404},
			{"127.0.0.1:5000", "127.0.0.1:8443", 404},
		} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				s.Address = c.from
				r := s.Request(method, path, nil)
				r.Host = c.at
				if got := s.Do(r); got.Code != c.status {
					t.Errorf("%s %s from %s at %s = %d, want %d", method, path, c.from, c.at, got.Code, c.status)
				}
			}
		}
	}
	// A header does not make anybody a neighbour.
	s.Address = "192.0.2.7:5000"
	if w := s.Ask(http.MethodGet, "/mail", "X-Forwarded-For", "127.0.0.1", "X-Real-IP", "127.0.0.1"); w.Code != http.StatusNotFound {
		t.Errorf("forwarded for this machine = %d", w.Code)
	}
}

// Newest first, page by page and back; what is nowhere is not found.
func TestPages(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	empty := s.get("/mail")
	viewtest.WellFormed(t, empty.Body.String())
	if empty.Find(".mails").Length() != 0 || empty.Find(".none").Length() != 1 {
		t.Errorf("without mails the page says %s", empty.Find("main").Text())
	}
	var want []string
	for i := range 60 {
		email := fmt.Sprintf("bo-%02d@example.com", i)
		s.invite("Bo", email)
		dbtest.Tick(s.shop.DB)
		want = append([]string{email}, want...)
	}
	recipients := func(page webtest.Page) []string { return page.Texts(".mails .to") }
	page := s.get("/mail")
	viewtest.WellFormed(t, page.Body.String())
	forward := recipients(page)
	for page.Find(".pages [rel=next]").Length() > 0 {
		page = s.get(page.Attr(".pages [rel=next]", "href"))
		viewtest.WellFormed(t, page.Body.String())
		forward = append(forward, recipients(page)...)
	}
	back := recipients(page)
	for page.Find(".pages [rel=prev]").Length() > 0 {
		page = s.get(page.Attr(".pages [rel=prev]", "href"))
		back = append(recipients(page), back...)
	}
	if !slices.Equal(forward, want) || !slices.Equal(back, want) {
		t.Errorf("forward %v\nback %v\nwant %v", forward, back, want)
	}
	for _, path := range []string{
		"/mail?cursor=x", "/mail/x", "/mail/x/html", "/mail/" + core.NewID(s.shop.DB.Now()).String(), "/mail/" + core.NewID(s.shop.DB.Now()).String() + "/html",
	} {
		if got := s.Ask(http.MethodGet, path); got.Code != http.StatusNotFound {
			t.Errorf("%s = %d", path, got.Code)
		}
	}
}

type post struct{}

func (p post) Dial(context.Context) (mail.Conn, error) { return p, nil }
func (post) Send(context.Context, mail.Mail) error     { return nil }
func (post) Close() error                              { return nil }

// Where there is a mail server, mails are their recipients'.
func TestWithAMailServerThereAreNoMailsToRead(t *testing.T) {
	t.Parallel()
	s := open(t, post{})
	s.invite("Bo", "bo@example.com")
	if page := s.get("/mail"); page.Find(".mails").Length() != 0 {
		t.Error("mails that are sent are read")
	}
}
