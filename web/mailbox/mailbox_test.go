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
	"example.com/loyalty/core/staff"
	"example.com/loyalty/static"
	"example.com/loyalty/views/viewtest"
	"example.com/loyalty/web/email"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/mailbox"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// site is the base host of an installation as a browser on that machine sees it.
type site struct {
	e     *echo.Echo
	db    *db.DB
	by    core.Actor
	mails *mail.Service
	pages *mailbox.Pages
	shown *[]string // the addresses for the next browser, one after the other

	cookie *http.Cookie // of the browser that opened the page with a key
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
	s := site{e: echo.New(), db: d, by: dbtest.Tenant(t, d), mails: mail.New(d, jobs, email.Render(names), sender, log), shown: &[]string{}}
	s.pages = mailbox.New(s.mails, names, host.ClientAddress(nil), time.UTC, func(address string) { *s.shown = append(*s.shown, address) })
	s.pages.Mount(s.e)
	let := s.askHere(s.key())
	if let.Code != http.StatusSeeOther || let.Header().Get("Location") != "/mail" || len(let.Result().Cookies()) != 1 {
		t.Fatalf("with the key: %d %v", let.Code, let.Header())
	}
	s.cookie = let.Result().Cookies()[0]
	return s
}

// key is the path of the list of mails with the key that works now.
func (s site) key() string { return strings.TrimPrefix(s.pages.Address(), "https://localhost:8443") }

// askHere asks as a browser on this machine.
func (s site) askHere(path string) *httptest.ResponseRecorder {
	return s.ask(http.MethodGet, path, "127.0.0.1:5000", "localhost:8443")
}

// "Opened only with a one-time key from the start-up screen", kept in a cookie: another local
// user, and a tunnel to this machine that adds no header, see nothing.
func TestAKeyOpensTheMailsOnce(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.invite(t, "Bo", "bo@example.com")
	_, list := s.get(t, "/mail")
	link, _ := list.Find(".mails a").Attr("href")
	if c := s.cookie; c.Name != "__Host-mail" || c.Path != "/" || c.Domain != "" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || len(c.Value) < 26 {
		t.Errorf("the cookie is %+v", c)
	}
	refused := func(what string, s site, path string) {
		t.Helper()
		got := s.askHere(path)
		if got.Code != http.StatusForbidden || strings.Contains(got.Body.String(), "bo@example.com") || !strings.Contains(got.Body.String(), "start-up screen") {
			t.Errorf("%s, %s = %d", what, path, got.Code)
		}
	}
	stranger, forger := s, s
	stranger.cookie, forger.cookie = nil, &http.Cookie{Name: "__Host-mail", Value: strings.Repeat("A", 26)}
	for _, path := range []string{"/mail", link, link + "/html", link + "/file", "/mail?key=", "/mail?key=AAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		refused("without a cookie", stranger, path)
		refused("with a forged one", forger, path)
	}
	viewtest.WellFormed(t, stranger.askHere("/mail").Body.String())

	// The next key is another one, and what only looks does not use it up.
	key := s.key()
	if len(*s.shown) != 1 || (*s.shown)[0] != s.pages.Address() {
		t.Errorf("the terminal shows %q, want %s", *s.shown, s.pages.Address())
	}
	if got := stranger.ask(http.MethodHead, key, "127.0.0.1:5000", "localhost:8443"); got.Code != http.StatusForbidden {
		t.Errorf("HEAD with the key = %d", got.Code)
	}
	if got := stranger.askHere(link + strings.TrimPrefix(key, "/mail")); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/mail" {
		t.Errorf("a mail with the key = %d", got.Code)
	}
	refused("with a key that was used", stranger, key)
	if got := s.askHere(key); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/mail" {
		t.Errorf("from the history of a browser that was let in = %d", got.Code)
	}
}

// "Requests with any forwarding header refused": key and cookie make no difference.
func TestWhatIsForwardedSeesNoMails(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for _, header := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "CF-Connecting-IP"} {
		r := httptest.NewRequest(http.MethodGet, s.key(), nil)
		r.RemoteAddr, r.Host = "127.0.0.1:5000", "localhost:8443"
		r.AddCookie(s.cookie)
		r.Header.Set(header, "127.0.0.1")
		w := httptest.NewRecorder()
		if s.e.ServeHTTP(w, r); w.Code != http.StatusNotFound {
			t.Errorf("%s = %d, want 404", header, w.Code)
		}
	}
}

// invite mails an invitation to a person of that name.
func (s site) invite(t *testing.T, name, email string) {
	t.Helper()
	_, err := db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (int, error) {
		p, err := staff.Add(t.Context(), tx, s.by, staff.New{Role: core.Cashier, Name: name, Email: email})
		if err != nil {
			return 0, err
		}
		return 0, auth.Invite(t.Context(), tx, s.by, s.mails, s.by.Tenant, p)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s site) ask(method, path, from, at string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.RemoteAddr, r.Host = from, at
	if s.cookie != nil {
		r.AddCookie(s.cookie)
	}
	w := httptest.NewRecorder()
	s.e.ServeHTTP(w, r)
	return w
}

func (s site) get(t *testing.T, path string) (*httptest.ResponseRecorder, *goquery.Document) {
	t.Helper()
	w := s.ask(http.MethodGet, path, "127.0.0.1:5000", "localhost:8443")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=UTF-8" || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%s = %d %v", path, w.Code, w.Header())
	}
	page, err := goquery.NewDocumentFromReader(strings.NewReader(w.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	return w, page
}

// "Readable on a development mail page, so that invitations work in the demo": from the
// list to the mail, and on to the link in it.
func TestAnInvitationIsFollowed(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.invite(t, `Bo <b> & "Co"`, "bo@example.com")
	w, list := s.get(t, "/mail")
	viewtest.WellFormed(t, w.Body.String())
	row := list.Find(".mails li")
	link, _ := row.Find("a").Attr("href")
	subject := "Choose a password for " + s.by.Tenant.Name
	if row.Length() != 1 || row.Find("a").Text() != subject || row.Find(".to").Text() != "bo@example.com" {
		t.Fatalf("the list shows %q", row.Text())
	}
	at, _ := row.Find("time").Attr("datetime")
	if written, err := time.Parse(time.RFC3339, at); err != nil || row.Find("time").Text() != written.Format("2 January 2006, 15:04:05") {
		t.Errorf("written at %s: %s", at, row.Find("time").Text())
	}

	w, page := s.get(t, link)
	viewtest.WellFormed(t, w.Body.String())
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
	if invitation.Length() != 1 || href != invitation.Text() || !strings.HasPrefix(href, "https://"+s.by.Tenant.Slug+".localhost:8443/admin/invitation/") {
		t.Errorf("the text leads to %s", href)
	}

	// As it is drawn: the same link, and it opens in a tab.
	source, _ := page.Find("iframe").Attr("src")
	_, drawn := s.get(t, source)
	if drawn.Find("head base[target=_blank]").Length() != 1 || drawn.Find(`a[href="`+href+`"]`).Length() != 1 || !strings.Contains(drawn.Text(), `Bo <b> & "Co"`) {
		t.Errorf("drawn: %s", drawn.Text())
	}
}

// What is attached to a mail can be downloaded, and a mail without says nothing of one.
func TestAttachments(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.invite(t, "Bo", "bo@example.com")
	_, list := s.get(t, "/mail")
	link, _ := list.Find(".mails a").Attr("href")
	if _, page := s.get(t, link); page.Find("a[download]").Length() != 0 {
		t.Error("a mail without an attachment offers one")
	}
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.mail set attachment_name = 'invoice-2026-0118.pdf', attachment = '%PDF'"); err != nil {
		t.Fatal(err)
	}
	_, page := s.get(t, link)
	w := s.ask(http.MethodGet, page.Find("a[download]").AttrOr("href", ""), "127.0.0.1:5000", "localhost:8443")
	if w.Body.String() != "%PDF" || w.Header().Get("Content-Disposition") != "attachment; filename=invoice-2026-0118.pdf" || w.Header().Get("Content-Type") != "application/octet-stream" {
		t.Errorf("the file is %q, %v", w.Body, w.Header())
	}
}

// "CSP must stay strict", and looser for nothing but what the page is for: a frame, and
// in it a mail that runs nothing and loads nothing.
func TestPolicies(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.invite(t, "Bo", "bo@example.com")
	_, list := s.get(t, "/mail")
	link, _ := list.Find(".mails a").Attr("href")
	w, page := s.get(t, link)
	policy := w.Header().Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "frame-src 'self'", "frame-ancestors 'none'", "form-action 'self'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the page's policy lacks %s: %s", part, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "script") {
		t.Errorf("the page's policy is %s", policy)
	}
	html, err := page.Html()
	if err != nil || strings.Contains(html, "style=") || strings.Contains(html, "<style") || strings.Contains(html, "<script") {
		t.Errorf("the page has what its policy forbids: %v", err)
	}
	w, _ = s.get(t, link+"/html")
	want := "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
	if got := w.Header().Get("Content-Security-Policy"); got != want || w.Header().Get("X-Frame-Options") != "SAMEORIGIN" {
		t.Errorf("the mail's policy is %s, %s", got, w.Header().Get("X-Frame-Options"))
	}
	frame := page.Find("iframe")
	if sandbox, _ := frame.Attr("sandbox"); sandbox != "allow-popups allow-popups-to-escape-sandbox" || frame.AttrOr("title", "") == "" {
		t.Errorf("the frame may %q", sandbox)
	}
	// Its style sheets are there.
	page.Find("link[rel=stylesheet], link[rel=icon]").Each(func(_ int, l *goquery.Selection) {
		w := httptest.NewRecorder()
		static.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, l.AttrOr("href", ""), nil))
		if w.Code != http.StatusOK {
			t.Errorf("%s = %d", l.AttrOr("href", ""), w.Code)
		}
	})
}

// "Exists ONLY when … the client's address is loopback; else 404", and at the base host
// by its name.
func TestOnlyTheMachineItselfReads(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.invite(t, "Bo", "bo@example.com")
	_, list := s.get(t, "/mail")
	link, _ := list.Find(".mails a").Attr("href")
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
				if got := s.ask(method, path, c.from, c.at); got.Code != c.status {
					t.Errorf("%s %s from %s at %s = %d, want %d", method, path, c.from, c.at, got.Code, c.status)
				}
			}
		}
	}
	// A header does not make anybody a neighbour.
	r := httptest.NewRequest(http.MethodGet, "/mail", nil)
	r.RemoteAddr, r.Host = "192.0.2.7:5000", "localhost:8443"
	r.Header.Set("X-Forwarded-For", "127.0.0.1")
	r.Header.Set("X-Real-IP", "127.0.0.1")
	w := httptest.NewRecorder()
	if s.e.ServeHTTP(w, r); w.Code != http.StatusNotFound {
		t.Errorf("forwarded for this machine = %d", w.Code)
	}
}

// Newest first, page by page and back; what is nowhere is not found.
func TestPages(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	w, empty := s.get(t, "/mail")
	viewtest.WellFormed(t, w.Body.String())
	if empty.Find(".mails").Length() != 0 || !strings.Contains(empty.Find(".none").Text(), "Invite a colleague") {
		t.Errorf("without mails the page says %s", empty.Find("main").Text())
	}
	var want []string
	for i := range 60 {
		email := fmt.Sprintf("bo-%02d@example.com", i)
		s.invite(t, "Bo", email)
		dbtest.Tick(s.db)
		want = append([]string{email}, want...)
	}
	recipients := func(page *goquery.Document) []string {
		return page.Find(".mails .to").Map(func(_ int, to *goquery.Selection) string { return to.Text() })
	}
	w, page := s.get(t, "/mail")
	viewtest.WellFormed(t, w.Body.String())
	forward := recipients(page)
	for page.Find(".pages [rel=next]").Length() > 0 {
		w, page = s.get(t, page.Find(".pages [rel=next]").AttrOr("href", ""))
		viewtest.WellFormed(t, w.Body.String())
		forward = append(forward, recipients(page)...)
	}
	back := recipients(page)
	for page.Find(".pages [rel=prev]").Length() > 0 {
		_, page = s.get(t, page.Find(".pages [rel=prev]").AttrOr("href", ""))
		back = append(recipients(page), back...)
	}
	if !slices.Equal(forward, want) || !slices.Equal(back, want) {
		t.Errorf("forward %v\nback %v\nwant %v", forward, back, want)
	}
	for _, path := range []string{
		"/mail?cursor=x", "/mail/x", "/mail/x/html", "/mail/" + core.NewID(s.db.Now()).String(), "/mail/" + core.NewID(s.db.Now()).String() + "/html",
	} {
		if got := s.ask(http.MethodGet, path, "127.0.0.1:5000", "localhost:8443"); got.Code != http.StatusNotFound {
			t.Errorf("%s = %d", path, got.Code)
		}
	}
}

type post struct{}

func (p post) Dial(context.Context) (mail.Conn, error) { return p, nil }
func (post) Send(context.Context, mail.Mail) error     { return nil }
func (post) Close() error                              { return nil }

// Where there is a mail server, mails are their recipients'.
func TestWithAMailServerThereIsNothingToRead(t *testing.T) {
	t.Parallel()
	s := open(t, post{})
	s.invite(t, "Bo", "bo@example.com")
	if _, page := s.get(t, "/mail"); page.Find(".mails").Length() != 0 {
		t.Error("mails that are sent are read")
	}
}
