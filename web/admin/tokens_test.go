package admin_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/webtest"
)

const tokens = "/admin/settings/tokens"

// tokenForm is the filled-in form of a new token.
func (b *browser) tokenForm(name string, scopes ...string) url.Values {
	b.T.Helper()
	key := b.Get(tokens + "/new").Value("input[name=form_key]")
	f := webtest.Form("form_key", key, "name", name, "expires_at", "")
	f["scopes"] = scopes
	return f
}

func (s *shop) works(secret string) (token.Caller, bool) {
	s.T.Helper()
	c, err := s.Tokens.Authenticate(s.T.Context(), secret, s.By.Tenant.Slug)
	if err != nil && !errors.Is(err, core.ErrUnauthenticated) {
		s.T.Fatal(err)
	}
	return c, err == nil
}

// "Settings → API Tokens → New Token: name and scopes; the secret shown once with a copy
// button and a curl example; last used; revoke."
func TestCreateAndRevokeToken(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	if got := owner.Get(tokens); got.Find("#tokens .empty").Length() != 1 {
		t.Errorf("without tokens: %q", got.Text("#tokens"))
	}

	made := owner.Post(tokens+"/new", owner.tokenForm("Web <b>shop</b>", "customers:read", "reports:read"))
	secret := made.Text("#secret")
	if made.Code != http.StatusOK || !strings.Contains(made.Text("h2"), "Web <b>shop</b>") || made.Find("button[data-copy=secret]").Length() != 1 {
		t.Fatalf("answered %d %q", made.Code, made.Text("main"))
	}
	want := `curl --cacert '/var/lib/loyalty'\''s/ca.pem' \
  -H 'Authorization: Bearer ` + secret + `' \
  https://loyalty.example/api/v1/customers`
	if got := made.Find("#curl").Text(); got != want {
		t.Errorf("the example is %s", got)
	}
	c, ok := s.works(secret)
	if !ok || !c.May(token.CustomersRead) || !c.May(token.ReportsRead) || c.May(token.CustomersWrite) || c.StaffID != owner.Person.StaffID {
		t.Fatalf("the token is %+v, %t", c, ok)
	}

	list := owner.Get(tokens)
	if strings.Contains(list.Body.String(), secret[strings.Index(secret, "|")+1:]) {
		t.Error("the list tells the secret")
	}
	if got := list.Text("tbody tr"); !strings.HasPrefix(got, "Web <b>shop</b> View customers · View reports") || !strings.Contains(got, "just now") {
		t.Errorf("the list says %q", got)
	}

	ask := list.Links("tbody td:last-child a")
	if len(ask) != 1 {
		t.Fatalf("the list leads to %q", ask)
	}
	confirm := owner.Get(ask[0])
	if !strings.Contains(confirm.Text("h1"), "Web <b>shop</b>") || confirm.Find("form .btn-danger").Length() != 1 {
		t.Errorf("the confirmation is %q", confirm.Text("main"))
	}
	if dialog := owner.Get(ask[0], "Hx-Request", "true"); dialog.Find("html nav, h1").Length() != 0 || dialog.Find("form").Length() != 1 {
		t.Error("the dialog is a whole page")
	}
	if _, ok := s.works(secret); !ok {
		t.Fatal("asking revoked it")
	}
	sent := webtest.Form("form_key", confirm.Value("input[name=form_key]"))
	after := owner.Submit(ask[0], sent)
	if _, ok := s.works(secret); ok || !after.Flashed(ui.Done, "Web <b>shop</b>") || after.Find("tbody").Length() != 0 {
		t.Errorf("afterwards it works: %t, %q", ok, after.Text("main"))
	}
	owner.Submit(ask[0], sent) // a double click
	if again := owner.Post(ask[0], nil); again.Code != http.StatusNotFound {
		t.Errorf("revoked again: %d", again.Code)
	}
}

// "The secret shown once": sent again, by a second click or by reloading the page, the form creates no
// second token and shows no secret.
func TestTokenFormCreatesOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	f := owner.tokenForm("Web shop", "customers:read")
	var wg sync.WaitGroup
	shown := make(chan string, 4)
	for range 4 {
		wg.Go(func() {
			again := owner.Clone()
			shown <- again.Post(tokens+"/new", f).Text("#secret")
		})
	}
	wg.Wait()
	close(shown)
	secrets := 0
	for secret := range shown {
		if secret != "" {
			secrets++
		}
	}
	again := owner.Submit(tokens+"/new", f)
	if rows := again.Find("tbody tr").Length(); rows != 1 || secrets != 1 {
		t.Errorf("%d tokens and %d secrets of one form", rows, secrets)
	}
	if !again.Flashed(ui.Warning, "") || again.Find("#secret").Length() != 0 {
		t.Errorf("sent again: %q", again.Text("main"))
	}

	// With other values, the same form creates another token after one more confirmation.
	f.Set("name", "Till")
	other := owner.Post(tokens+"/new", f)
	if other.Code != http.StatusUnprocessableEntity || !strings.Contains(other.Text(".alert"), forms.ResubmittedMessage) {
		t.Fatalf("with another name: %d %q", other.Code, other.Text(".alert"))
	}
	key := other.Value("input[name=form_key]")
	f.Set("form_key", key)
	if name := other.Value("#field-name"); name != "Till" || owner.Post(tokens+"/new", f).Text("#secret") == "" {
		t.Errorf("once more: %q", name)
	}
}

// A refused form keeps its values. A token expires at the end of a day in the business's zone.
func TestTokenFormValidation(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	f := webtest.With(owner.tokenForm("", "rewards:read", "coupons:read"), "expires_at", "2020-01-31")
	refused := owner.Post(tokens+"/new", f)
	if got := refused.Text(".invalid-feedback"); refused.Code != http.StatusUnprocessableEntity ||
		got != webtest.Message("Name", core.Required)+" "+webtest.Message("Expires", core.MustBeFuture) {
		t.Fatalf("answered %d %q", refused.Code, got)
	}
	ticked := refused.Find("input[name=scopes][checked]")
	if day := refused.Value("#field-expires_at"); ticked.Length() != 2 || ticked.First().AttrOr("value", "") != "rewards:read" || day != "2020-01-31" {
		t.Errorf("kept %d ticks and %q", ticked.Length(), day)
	}
	f.Set("expires_at", "never")
	if got := owner.Post(tokens+"/new", f).Text(".invalid-feedback"); !strings.Contains(got, webtest.Message("Expires", core.MustBeDate)) {
		t.Errorf("no day: %q", got)
	}

	today := s.DB.Now().In(s.By.Tenant.TimeZone)
	f = webtest.With(owner.tokenForm("For today"), "expires_at", today.Format(time.DateOnly))
	made := owner.Post(tokens+"/new", f)
	c, ok := s.works(made.Text("#secret"))
	if !ok || len(c.Abilities) != 0 || !strings.HasSuffix(made.Text("#curl"), "/api/v1/tokens") {
		t.Fatalf("a token that manages tokens: %t %v %q", ok, c.Abilities, made.Text("#curl"))
	}
	list, err := s.Tokens.List(t.Context(), owner.Person, core.Page{Size: 5})
	if err != nil {
		t.Fatal(err)
	}
	midnight := core.StartOfDay(today.Year(), today.Month(), today.Day()+1, s.By.Tenant.TimeZone)
	if got := list.Items[0].ExpiresAt; got == nil || !got.Equal(midnight) {
		t.Errorf("it ends %v, want %s", got, midnight)
	}
	if got := owner.Get(tokens).Text("tbody tr"); !strings.Contains(got, today.Format("2 Jan 2006")) {
		t.Errorf("the list says %q", got)
	}
}

// "The scope of POST /transactions is `LOYALTY_TRANSACTION_CREATE_SCOPE`": the form and the list name
// recording sales with that scope, and with no other.
func TestScopeThatRecordsSales(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for chosen, listed := range map[token.Ability]bool{token.TransactionsWrite: true, token.CustomersRead: true, token.RewardsRead: false} {
		s.api.RecordScope = chosen
		s.open()
		owner := s.signedIn(core.Owner)
		var saying []string
		for _, option := range owner.Get(tokens + "/new").Texts("#field-scopes label") {
			if strings.Contains(strings.ToLower(option), "record sales") {
				saying = append(saying, option)
			}
		}
		if len(saying) != 1 || !strings.HasSuffix(saying[0], "("+string(chosen)+")") {
			t.Errorf("with %s, %q record sales", chosen, saying)
		}
		owner.Post(tokens+"/new", owner.tokenForm("Till", "customers:read", "transactions:write"))
		if got := owner.Get(tokens).Text("tbody tr"); strings.Contains(strings.ToLower(got), "record sales") != listed {
			t.Errorf("with %s the list says %q", chosen, got)
		}
	}
}

// "'The caller's tokens' are those of the same owner. Revoking another's is 404."
func TestTokensOfOtherOwners(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	owner, colleague, stranger := s.signedIn(core.Owner), s.signedIn(core.Owner), other.signedIn(core.Owner)
	secret := owner.Post(tokens+"/new", owner.tokenForm("Web shop", "customers:read")).Text("#secret")
	revoke := owner.Get(tokens).Links("tbody td:last-child a")[0]
	for who, b := range map[string]*browser{"a colleague": colleague, "a stranger": stranger} {
		if got := b.Get(tokens).Find("tbody tr").Length(); got != 0 {
			t.Errorf("%s sees %d", who, got)
		}
		if asked, done := b.Ask(http.MethodGet, revoke).Code, b.Post(revoke, nil).Code; asked != http.StatusNotFound || done != http.StatusNotFound {
			t.Errorf("%s may ask: %d, and revoke: %d", who, asked, done)
		}
	}
	if _, ok := s.works(secret); !ok {
		t.Error("the token was revoked")
	}
}

// "At most 100 live tokens a person": the form says so, and keeps its values.
func TestTokenLimit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	s.Exec(`
		insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, created_at)
		select $1, $2, 'Till', '', '{}', now() from generate_series(1, 100)`, s.By.Tenant.ID, owner.Person.StaffID)
	refused := owner.Post(tokens+"/new", owner.tokenForm("Web shop", "customers:read"))
	if refused.Code != http.StatusUnprocessableEntity || refused.Text(".alert") != token.ErrLimit.Message || refused.Value("#field-name") != "Web shop" {
		t.Errorf("answered %d %q", refused.Code, refused.Text("main"))
	}
}

// The list is paged by cursor, and htmx gets only the table.
func TestTokenPages(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	for range 26 {
		if _, err := core.Result(s.Tokens.Create(t.Context(), owner.Person, token.New{Name: "Till", Scopes: &[]string{}}, nil)); err != nil {
			t.Fatal(err)
		}
	}
	first := owner.Get(tokens)
	next := first.Find("nav[aria-label=Pages] a").Last()
	second := owner.Get(next.AttrOr("hx-get", ""), "Hx-Request", "true")
	if first.Find("tbody tr").Length() != 25 || second.Find("tbody tr").Length() != 1 || second.Find("#tokens").Length() != 1 || second.Find("main").Length() != 0 {
		t.Errorf("%d and %d rows, %q", first.Find("tbody tr").Length(), second.Find("tbody tr").Length(), second.Text("body"))
	}
}

// The page of a token says what it was used for and why requests were refused, to its owner alone.
func TestTokenPage(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	caller, _ := s.works(owner.Post(tokens+"/new", owner.tokenForm("Web <b>shop</b>", "customers:read")).Text("#secret"))
	path := owner.Get(tokens).Links("tbody a")[0]
	if got := owner.Get(path); got.Find("#no-requests").Length() != 1 || got.Text("h1") != "Web <b>shop</b>" || got.Find("#requests").Length() != 0 {
		t.Errorf("before the first request: %q", got.Text("main"))
	}
	count := func(r token.Request) {
		r.TokenID, r.Address = caller.TokenID, "192.0.2.9"
		s.TokenMeter.Count(r)
	}
	for range 3 {
		count(token.Request{Method: "GET", Endpoint: "/api/v1/customers/{ulid}", Status: 200})
	}
	count(token.Request{Method: "GET", Status: 404, Refused: &token.Reason{RequestID: "request-404", Title: "Not Found", Detail: "The requested resource was not found."}})
	count(token.Request{Method: "POST", Endpoint: "/api/v1/customers", Status: 422, Refused: &token.Reason{
		RequestID: "request-422", Detail: "The given data was invalid.", Fields: []string{"phone", "email"},
	}})
	count(token.Request{Method: "POST", Endpoint: "/api/v1/customers", Status: 422, Refused: &token.Reason{Detail: "The limit is reached.", Code: "plan-limit-reached"}})
	s.TokenMeter.Write(t.Context())
	page := owner.Get(path)
	for selector, want := range map[string]string{
		"#endpoints tbody tr:nth-child(1)": "GET /customers/{ulid} 3 3 0 0 0",
		"#endpoints tbody tr:nth-child(2)": "POST /customers 2 0 0 2 422: 2 0",
		"#endpoints tbody tr:nth-child(3)": "GET unknown path 1 0 0 1 404: 1 0",
		"#requests figcaption":             "6 requests in the last 7 days, 3 refused",
	} {
		if got := page.Text(selector); got != want {
			t.Errorf("%s says %q, want %q", selector, got, want)
		}
	}
	refusals := page.Texts("#refusals tbody tr")
	if len(refusals) != 3 || !strings.Contains(refusals[0], "The limit is reached. plan-limit-reached") ||
		!strings.Contains(refusals[1], "The given data was invalid. Fields: phone, email") || !strings.Contains(refusals[1], "request-422") {
		t.Errorf("refused: %q", refusals)
	}
	if !strings.Contains(page.Text(".datagrid"), "192.0.2.9") {
		t.Errorf("the facts are %s", page.Text(".datagrid"))
	}
	for who, b := range map[string]*browser{"a colleague": s.signedIn(core.Owner), "a stranger": newShop(t).signedIn(core.Owner)} {
		if got := b.Ask(http.MethodGet, path); got.Code != http.StatusNotFound {
			t.Errorf("%s gets %d", who, got.Code)
		}
	}
	revoke := owner.Get(path + "/revoke")
	owner.Submit(path+"/revoke", revoke.Fields("main form"))
	if got := owner.Get(path); !strings.Contains(got.Text(".title-line"), "Revoked") || got.Find("a[href$=revoke]").Length() != 0 {
		t.Errorf("revoked: %q", got.Text("main"))
	}
}

// The list and the page say when a token expires soon.
func TestTokenThatExpiresSoon(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	today := s.DB.Now().In(s.By.Tenant.TimeZone)
	for days, want := range map[int]string{0: "Expires today", 1: "Expires tomorrow", 14: "Expires in 14 days", 15: ""} {
		f := webtest.With(owner.tokenForm("Till"), "expires_at", today.AddDate(0, 0, days).Format(time.DateOnly))
		owner.Post(tokens+"/new", f)
		if got := owner.Get(tokens).Find("tbody tr").First().Find(".badge").Text(); got != want {
			t.Errorf("%d days before: %q, want %q", days, got, want)
		}
	}
}
