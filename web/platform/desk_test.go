package platform_test

import (
	"context"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/operation"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/verify"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/platform"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// desk is the panel of an installation as a super-admin sees it.
type desk struct {
	e  *echo.Echo
	db *db.DB
	by core.Actor // the owner of a tenant
	platform.Services
	mails   *mail.Service
	admin   core.Actor              // the super-admin, who is signed in
	cookies map[string]*http.Cookie // of their browser
	trouble *string                 // of the mail server
}

func newDesk(t *testing.T) desk {
	t.Helper()
	return newDeskOn(t, dbtest.OwnDB(t))
}

func newDeskOn(t *testing.T, d *db.DB) desk {
	t.Helper()
	names, err := host.Parse("https://loyalty.example")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	jobs, err := job.New(d, log)
	if err != nil {
		t.Fatal(err)
	}
	kit := page.New(page.Config{
		Panel:    page.PlatformPath,
		Sessions: auth.NewStore(d),
		Tenant:   func(context.Context, string) (core.Tenant, error) { return core.Tenant{}, core.ErrNotFound },
		Slug:     func(h string) string { slug, _ := names.Slug(h); return slug },
		Address:  host.ClientAddress(nil),
		Now:      d.Now,
		Log:      log,
	})
	mails := dbtest.Mails(d, jobs)
	signIns := dbtest.Auth(d, jobs, mails)
	trouble := new("")
	services := platform.Services{
		Auth: signIns, Staff: staff.NewService(d, mails, signIns), Tokens: token.NewService(d, jobs, mails),
		Jobs: jobs, Operations: operation.NewService(d, jobs), Names: names, Invoices: billing.NewService(d, jobs, mails, log),
		Checks: verify.NewService(d, jobs, log), Audit: audit.NewService(d), Deprecations: deprecation.NewService(d, jobs, mails, log),
		Requests: []string{"GET /api/v1/customers", "POST /api/v1/customers"}, Version: "v0-test", MailTrouble: func() string { return *trouble }, Tenants: tenant.NewService(d, mails),
	}
	k := desk{platform.New(kit, services), d, dbtest.Tenant(t, d), services, mails, dbtest.Admin(t, d), map[string]*http.Cookie{}, trouble}
	if _, err := dbtest.Owner(d).Exec(t.Context(), "update loyalty.credential set totp_secret = 'sealed' where staff_id = $1", k.admin.StaffID); err != nil {
		t.Fatal(err)
	}
	k.signIn(t, k.admin)
	return k
}

// signIn gives the browser the session of a person at their own host.
func (k desk) signIn(t *testing.T, person core.Actor) {
	t.Helper()
	value := core.NewID(k.db.Now()).String()
	visit := &auth.Visit{Slug: person.Tenant.Slug, Address: "192.0.2.1", UserAgent: "test"}
	visit.SignIn(auth.Proof{StaffID: person.StaffID, At: k.db.Now(), Code: true})
	ends := k.db.Now().Add(auth.SessionLifetime)
	data, err := scs.GobCodec{}.Encode(ends, map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	if err := auth.NewStore(k.db).CommitCtx(auth.WithVisit(t.Context(), visit), value, data, ends); err != nil {
		t.Fatal(err)
	}
	k.cookies[auth.SessionCookie] = &http.Cookie{Name: auth.SessionCookie, Value: value}
}

// stranger is another browser, in which no one is signed in.
func (k desk) stranger() desk {
	k.cookies = map[string]*http.Cookie{}
	return k
}

// ask sends a request as the super-admin's browser does, but for what change changes.
func (k desk) ask(method, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	return k.send(httptest.NewRequest(method, path, nil), change)
}

func (k desk) send(r *http.Request, change func(*http.Request)) *httptest.ResponseRecorder {
	r.RemoteAddr, r.Host = "192.0.2.1:5000", "loyalty.example"
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, c := range k.cookies {
		r.AddCookie(c)
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	k.e.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		k.cookies[c.Name] = c
	}
	return w
}

// get opens a page that is there.
func (k desk) get(t *testing.T, path string) *goquery.Document {
	t.Helper()
	w := k.ask(http.MethodGet, path, nil)
	if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%s = %d %v", path, w.Code, w.Header())
	}
	return k.read(t, w)
}

// post sends a form.
func (k desk) post(path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set(echo.HeaderContentType, echo.MIMEApplicationForm)
	return k.send(r, nil)
}

// posted sends a form that is taken, and returns where it leads.
func (k desk) posted(t *testing.T, path string, form url.Values) (to string) {
	t.Helper()
	w := k.post(path, form)
	if w.Code != http.StatusSeeOther {
		t.Fatalf("POST %s = %d %s", path, w.Code, words(k.read(t, w).Find(".alert, .invalid-feedback, main")))
	}
	return w.Header().Get("Location")
}

// refused sends a form that is not taken, and returns the page that says why.
func (k desk) refused(t *testing.T, path string, form url.Values) *goquery.Document {
	t.Helper()
	w := k.post(path, form)
	if w.Code != http.StatusUnprocessableEntity {
		t.Fatalf("POST %s = %d, to %s", path, w.Code, w.Header().Get("Location"))
	}
	return k.read(t, w)
}

func (k desk) read(t *testing.T, w *httptest.ResponseRecorder) *goquery.Document {
	t.Helper()
	if strings.Contains(w.Body.String(), "hush") {
		t.Error("the page shows the arguments of a job")
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

var tag = regexp.MustCompile(`<[^>]*>`)

// texts is words for Map.
func texts(_ int, s *goquery.Selection) string { return words(s) }

// flash is the message of an action that succeeded, or "".
func flash(page *goquery.Document) string { return words(page.Find("#flashes .alert-success")) }

// words are the words of elements, with a space between the elements' texts.
func words(s *goquery.Selection) string {
	var all []string
	s.Each(func(_ int, e *goquery.Selection) {
		source, _ := e.Html() // what was parsed can be written
		all = append(all, strings.Fields(html.UnescapeString(tag.ReplaceAllString(source, " ")))...)
	})
	return strings.Join(all, " ")
}

// sends is what a browser sends of a form as it is shown.
func sends(form *goquery.Selection) url.Values {
	v := url.Values{}
	form.Find("input[name], textarea[name], select[name]").Each(func(_ int, field *goquery.Selection) {
		name, value := field.AttrOr("name", ""), field.AttrOr("value", "")
		_, checked := field.Attr("checked")
		switch kind := field.AttrOr("type", ""); {
		case goquery.NodeName(field) == "textarea":
			value = field.Text()
		case goquery.NodeName(field) == "select":
			chosen := field.Find("option[selected]")
			if chosen.Length() == 0 {
				chosen = field.Find("option")
			}
			value = chosen.First().AttrOr("value", "")
		case (kind == "checkbox" || kind == "radio") && !checked:
			return
		}
		v.Add(name, value)
	})
	return v
}
