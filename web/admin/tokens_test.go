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
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/token"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
)

const tokens = "/admin/settings/tokens"

// tokenForm is the filled-in form of a new token.
func (b *browser) tokenForm(name string, scopes ...string) url.Values {
	b.t.Helper()
	key, _ := b.get(tokens + "/new").Find("input[name=form_key]").Attr("value")
	f := form("form_key", key, "name", name, "expires_at", "")
	f["scopes"] = scopes
	return f
}

func (s *shop) works(t *testing.T, secret string) (token.Caller, bool) {
	t.Helper()
	c, err := s.Tokens.Authenticate(t.Context(), secret, s.by.Tenant.Slug)
	if err != nil && !errors.Is(err, core.ErrUnauthenticated) {
		t.Fatal(err)
	}
	return c, err == nil
}

// "Settings → API Tokens → New Token: name and scopes; the secret shown once with a copy
// button and a curl example; last used; revoke."
func TestCreateAndRevokeToken(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	if got := owner.get(tokens); got.Find("#tokens .empty").Length() != 1 {
		t.Errorf("without tokens: %q", got.words("#tokens"))
	}

	made := owner.post(tokens+"/new", owner.tokenForm("Web <b>shop</b>", "customers:read", "reports:read"))
	secret := made.words("#secret")
	if made.Code != http.StatusOK || !strings.Contains(made.words("h2"), "Web <b>shop</b>") || made.Find("button[data-copy=secret]").Length() != 1 {
		t.Fatalf("answered %d %q", made.Code, made.words("main"))
	}
	want := `curl --cacert '/var/lib/loyalty'\''s/ca.pem' \
  -H 'Authorization: Bearer ` + secret + `' \
  https://loyalty.example/api/v1/customers`
	if got := made.Find("#curl").Text(); got != want {
		t.Errorf("the example is %s", got)
	}
	c, ok := s.works(t, secret)
	if !ok || !c.May(token.CustomersRead) || !c.May(token.ReportsRead) || c.May(token.CustomersWrite) || c.StaffID != owner.person.StaffID {
		t.Fatalf("the token is %+v, %t", c, ok)
	}

	list := owner.get(tokens)
	if strings.Contains(list.Body.String(), secret[strings.Index(secret, "|")+1:]) {
		t.Error("the list tells the secret")
	}
	if got := list.words("tbody tr"); !strings.HasPrefix(got, "Web <b>shop</b> View customers · View reports") || !strings.Contains(got, "just now") {
		t.Errorf("the list says %q", got)
	}

	ask := list.links("tbody a")
	if len(ask) != 1 {
		t.Fatalf("the list leads to %q", ask)
	}
	confirm := owner.get(ask[0])
	if !strings.Contains(confirm.words("h1"), "Web <b>shop</b>") || confirm.Find("form .btn-danger").Length() != 1 {
		t.Errorf("the confirmation is %q", confirm.words("main"))
	}
	if dialog := owner.get(ask[0], "Hx-Request", "true"); dialog.Find("html nav, h1").Length() != 0 || dialog.Find("form").Length() != 1 {
		t.Error("the dialog is a whole page")
	}
	if _, ok := s.works(t, secret); !ok {
		t.Fatal("asking revoked it")
	}
	sent := form("form_key", confirm.value("input[name=form_key]"))
	after := owner.posted(ask[0], sent)
	if _, ok := s.works(t, secret); ok || !after.flashed(ui.Done, "Web <b>shop</b>") || after.Find("tbody").Length() != 0 {
		t.Errorf("afterwards it works: %t, %q", ok, after.words("main"))
	}
	owner.posted(ask[0], sent) // a double click
	if again := owner.post(ask[0], nil); again.Code != http.StatusNotFound {
		t.Errorf("revoked again: %d", again.Code)
	}
}

// "The secret shown once": sent again, by a second click or by reloading the page, the form creates no
// second token and shows no secret.
func TestTokenFormCreatesOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	f := owner.tokenForm("Web shop", "customers:read")
	var wg sync.WaitGroup
	shown := make(chan string, 4)
	for range 4 {
		wg.Go(func() {
			again := *owner
			shown <- again.post(tokens+"/new", f).words("#secret")
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
	again := owner.posted(tokens+"/new", f)
	if rows := again.Find("tbody tr").Length(); rows != 1 || secrets != 1 {
		t.Errorf("%d tokens and %d secrets of one form", rows, secrets)
	}
	if !again.flashed(ui.Warning, "") || again.Find("#secret").Length() != 0 {
		t.Errorf("sent again: %q", again.words("main"))
	}

	// With other values, the same form creates another token after one more confirmation.
	f.Set("name", "Till")
	other := owner.post(tokens+"/new", f)
	if other.Code != http.StatusUnprocessableEntity || !strings.Contains(other.words(".alert"), page.ResubmittedMessage) {
		t.Fatalf("with another name: %d %q", other.Code, other.words(".alert"))
	}
	key, _ := other.Find("input[name=form_key]").Attr("value")
	f.Set("form_key", key)
	if name, _ := other.Find("#field-name").Attr("value"); name != "Till" || owner.post(tokens+"/new", f).words("#secret") == "" {
		t.Errorf("once more: %q", name)
	}
}

// A refused form keeps its values. A token expires at the end of a day in the business's zone.
func TestTokenFormValidation(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	f := owner.tokenForm("", "rewards:read", "coupons:read")
	f.Set("expires_at", "2020-01-31")
	refused := owner.post(tokens+"/new", f)
	if got := refused.words(".invalid-feedback"); refused.Code != http.StatusUnprocessableEntity ||
		got != says("Name", core.Required)+" "+says("Expires", core.MustBeFuture) {
		t.Fatalf("answered %d %q", refused.Code, got)
	}
	ticked := refused.Find("input[name=scopes][checked]")
	if day, _ := refused.Find("#field-expires_at").Attr("value"); ticked.Length() != 2 || ticked.First().AttrOr("value", "") != "rewards:read" || day != "2020-01-31" {
		t.Errorf("kept %d ticks and %q", ticked.Length(), day)
	}
	f.Set("expires_at", "never")
	if got := owner.post(tokens+"/new", f).words(".invalid-feedback"); !strings.Contains(got, says("Expires", core.MustBeDate)) {
		t.Errorf("no day: %q", got)
	}

	today := s.db.Now().In(s.by.Tenant.TimeZone)
	f = owner.tokenForm("For today")
	f.Set("expires_at", today.Format(time.DateOnly))
	made := owner.post(tokens+"/new", f)
	c, ok := s.works(t, made.words("#secret"))
	if !ok || len(c.Abilities) != 0 || !strings.HasSuffix(made.words("#curl"), "/api/v1/tokens") {
		t.Fatalf("a token that manages tokens: %t %v %q", ok, c.Abilities, made.words("#curl"))
	}
	list, err := s.Tokens.List(t.Context(), owner.person, core.Page{Size: 5})
	if err != nil {
		t.Fatal(err)
	}
	midnight := core.StartOfDay(today.Year(), today.Month(), today.Day()+1, s.by.Tenant.TimeZone)
	if got := list.Items[0].ExpiresAt; got == nil || !got.Equal(midnight) {
		t.Errorf("it ends %v, want %s", got, midnight)
	}
	if got := owner.get(tokens).words("tbody tr"); !strings.Contains(got, today.Format("2 Jan 2006")) {
		t.Errorf("the list says %q", got)
	}
}

// "The scope of POST /transactions is `LOYALTY_TRANSACTION_CREATE_SCOPE`": the form and the list name
// recording sales with that scope, and with no other.
func TestScopeThatRecordsSales(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for chosen, listed := range map[token.Ability]bool{token.TransactionsWrite: true, token.CustomersRead: true, token.RewardsRead: false} {
		s.API.RecordScope = chosen
		s.open(t)
		owner := s.signedIn(t, core.Owner)
		var saying []string
		for _, option := range owner.get(tokens + "/new").each("#field-scopes label") {
			if strings.Contains(strings.ToLower(option), "record sales") {
				saying = append(saying, option)
			}
		}
		if len(saying) != 1 || !strings.HasSuffix(saying[0], "("+string(chosen)+")") {
			t.Errorf("with %s, %q record sales", chosen, saying)
		}
		owner.post(tokens+"/new", owner.tokenForm("Till", "customers:read", "transactions:write"))
		if got := owner.get(tokens).words("tbody tr"); strings.Contains(strings.ToLower(got), "record sales") != listed {
			t.Errorf("with %s the list says %q", chosen, got)
		}
	}
}

// "'The caller's tokens' are those of the same owner. Revoking another's is 404."
func TestTokensOfOtherOwners(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	owner, colleague, stranger := s.signedIn(t, core.Owner), s.signedIn(t, core.Owner), other.signedIn(t, core.Owner)
	secret := owner.post(tokens+"/new", owner.tokenForm("Web shop", "customers:read")).words("#secret")
	revoke := owner.get(tokens).links("tbody a")[0]
	for who, b := range map[string]*browser{"a colleague": colleague, "a stranger": stranger} {
		if got := b.get(tokens).Find("tbody tr").Length(); got != 0 {
			t.Errorf("%s sees %d", who, got)
		}
		if asked, done := b.ask(http.MethodGet, revoke, nil).Code, b.post(revoke, nil).Code; asked != http.StatusNotFound || done != http.StatusNotFound {
			t.Errorf("%s may ask: %d, and revoke: %d", who, asked, done)
		}
	}
	if _, ok := s.works(t, secret); !ok {
		t.Error("the token was revoked")
	}
}

// "At most 100 live tokens a person": the form says so, and keeps its values.
func TestTokenLimit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	_, err := dbtest.Owner(s.db).Exec(t.Context(), `
		insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, created_at)
		select $1, $2, 'Till', '', '{}', now() from generate_series(1, 100)`, s.by.Tenant.ID, owner.person.StaffID)
	if err != nil {
		t.Fatal(err)
	}
	refused := owner.post(tokens+"/new", owner.tokenForm("Web shop", "customers:read"))
	if refused.Code != http.StatusUnprocessableEntity || refused.words(".alert") != token.ErrLimit.Message || refused.value("#field-name") != "Web shop" {
		t.Errorf("answered %d %q", refused.Code, refused.words("main"))
	}
}

// The list is paged by cursor, and htmx gets only the table.
func TestTokenPages(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	for range 26 {
		if _, err := s.Tokens.Create(t.Context(), owner.person, token.New{Name: new("Till"), Scopes: &[]string{}}); err != nil {
			t.Fatal(err)
		}
	}
	first := owner.get(tokens)
	next := first.Find("nav[aria-label=Pages] a").Last()
	second := owner.get(next.AttrOr("hx-get", ""), "Hx-Request", "true")
	if first.Find("tbody tr").Length() != 25 || second.Find("tbody tr").Length() != 1 || second.Find("#tokens").Length() != 1 || second.Find("main").Length() != 0 {
		t.Errorf("%d and %d rows, %q", first.Find("tbody tr").Length(), second.Find("tbody tr").Length(), second.words("body"))
	}
}
