package admin_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

const staffPages = "/admin/settings/staff"

// invitation is the filled-in invitation form.
func (b *browser) invitation(email, name string, role core.Role) url.Values {
	b.T.Helper()
	key := b.Get(staffPages + "/new").Value("input[name=form_key]")
	return webtest.Form("form_key", key, "email", email, "name", name, "role", string(role))
}

// page is the path of the browser's person.
func (b *browser) page() string { return staffPages + "/" + strconv.FormatInt(b.Person.StaffID, 10) }

// "Staff (invite, role, deactivate)": an invited person gets an e-mail, sets a password with it and is
// signed in.
func TestInvitePerson(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	refused := owner.Post(staffPages+"/new", owner.invitation("nowhere", "Ann <b>", core.Manager))
	if got := refused.Text(".invalid-feedback"); refused.Code != http.StatusUnprocessableEntity || got != webtest.Message("E-mail", core.MustBeEmail) {
		t.Fatalf("answered %d %q", refused.Code, got)
	}
	role := refused.Value("input[name=role][checked]")
	if name := refused.Value("#field-name"); name != "Ann <b>" || role != "manager" {
		t.Errorf("kept %q, %q", name, role)
	}

	f := owner.invitation("ann@example.com", "Ann <b>", core.Manager)
	var wg sync.WaitGroup
	for range 3 { // a double click, and one more
		wg.Go(func() {
			again := owner.Clone()
			again.Post(staffPages+"/new", f)
		})
	}
	wg.Wait()
	list := owner.Submit(staffPages+"/new", f)
	rows := list.Text("tbody tr:contains('ann@example.com')")
	if !strings.HasPrefix(rows, "AB Ann <b> ann@example.com Manager ") || strings.Count(rows, "ann@example.com") != 1 || !list.Flashed(ui.Done, "Ann <b>") {
		t.Errorf("the list says %q after %q", rows, list.Text("#flashes"))
	}
	status := list.Text("tbody tr:contains('ann@example.com') .from-sm .badge")
	if mails := shoptest.Query[int](s.Shop, "select count(*) from loyalty.mail where tenant_id = $1 and recipient = 'ann@example.com'", s.By.Tenant.ID); mails != 1 {
		t.Errorf("%d mails, want 1", mails)
	}
	if taken := owner.Post(staffPages+"/new", owner.invitation("Ann@example.com", "Ann", core.Cashier)); taken.Text(".invalid-feedback") != webtest.Message("E-mail", core.Duplicate) {
		t.Errorf("invited twice: %q", taken.Text(".invalid-feedback"))
	}

	ann := list.Links("tbody tr:contains('ann@example.com') a")[0]
	first := secretOf.FindStringSubmatch(s.latestMail("ann@example.com"))[1]
	if got := owner.Get(ann + "/invite").Text("form p"); !strings.Contains(got, "ann@example.com") {
		t.Errorf("asked %q", got)
	}
	if again := owner.Submit(ann+"/invite", nil); !again.Flashed(ui.Done, "ann@example.com") {
		t.Errorf("flash = %q", again.Text("#flashes"))
	}
	second := secretOf.FindStringSubmatch(s.latestMail("ann@example.com"))[1]
	if old := s.stranger().Ask(http.MethodGet, "/admin/invitation/"+first); old.Code != http.StatusNotFound {
		t.Errorf("the first link answers %d", old.Code)
	}
	newcomer := s.stranger()
	newcomer.Post("/admin/invitation/"+second, webtest.Form("name", "Ann", "password", password))
	if got := newcomer.Get("/admin/settings/security").Text(".topbar"); !strings.Contains(got, "Ann Manager") {
		t.Errorf("the newcomer is %q", got)
	}
	if joined := owner.Get(ann); joined.Text(".card-header .badge") == status || joined.Find("a[href$='/invite']").Length() != 0 {
		t.Errorf("afterwards: %q", joined.Text("main"))
	}
	if again := owner.Post(ann+"/invite", nil); again.Code != http.StatusUnprocessableEntity || !strings.HasPrefix(again.Text(".alert"), auth.ErrJoined.Message) {
		t.Errorf("invited again: %d %q", again.Code, again.Text(".alert"))
	}
}

// An expired invitation is shown as such.
func TestInvitationExpires(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	badge := func(a webtest.Page) string { return a.Text("tbody tr:contains('ann@example.com') .from-sm .badge") }
	before := badge(owner.Submit(staffPages+"/new", owner.invitation("ann@example.com", "Ann", core.Cashier)))
	s.Exec("update loyalty.invitation set expires_at = now() - interval '1 hour' where tenant_id = $1", s.By.Tenant.ID)
	if after := badge(owner.Get(staffPages)); !strings.Contains(before, " until ") || strings.Contains(after, " until ") {
		t.Errorf("the status was %q and is %q", before, after)
	}
}

// A deactivated person loses access at once, until they are activated again.
func TestDeactivatePerson(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner, cashier := s.signedIn(core.Owner), s.signedIn(core.Cashier)
	path := cashier.page()
	ask := owner.Get(path + "/deactivate")
	if !strings.Contains(ask.Text("h1"), "Bo Ek") || ask.Find("form .btn-danger").Length() != 1 {
		t.Errorf("asked %q", ask.Text("main"))
	}
	cashier.Get("/admin/customers")
	if got := owner.Submit(path+"/deactivate", nil); !got.Flashed(ui.Done, "Bo Ek") || got.Text(".card-header .badge") != "Inactive" {
		t.Errorf("said %q", got.Text("main"))
	}
	if out := cashier.Ask(http.MethodGet, "/admin/customers"); out.Code != http.StatusSeeOther {
		t.Errorf("a deactivated person gets %d", out.Code)
	}
	if again := owner.Post(path+"/deactivate", nil); again.Code != http.StatusSeeOther || again.Header().Get("Location") != path {
		t.Errorf("twice: %d to %q", again.Code, again.Header().Get("Location"))
	}
	if got := owner.Submit(path+"/activate", nil); !got.Flashed(ui.Done, "Bo Ek") || got.Text(".card-header .badge") == "Inactive" {
		t.Errorf("said %q", got.Text("main"))
	}
}

// "The last owner is protected by core: show its sentence", on the page and in the dialog.
func TestLastOwnerStays(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.able(s.By.StaffID) // the shop's first owner
	owner := s.signedIn(core.Owner)
	s.able(owner.Person.StaffID)
	first := staffPages + "/" + s.By.ID
	owner.Submit(first+"/deactivate", nil)

	sentence := staff.ErrLastOwner.Message
	for _, header := range [][]string{nil, {"Hx-Request", "true"}} {
		a := owner.Post(owner.page()+"/deactivate", nil, header...)
		if a.Code != http.StatusUnprocessableEntity || a.Text(".alert") != sentence {
			t.Errorf("with %q: %d %q", header, a.Code, a.Text("form"))
		}
	}
	a := owner.Post(owner.page(), webtest.Form("role", "manager"))
	if role := a.Value("input[name=role][checked]"); a.Code != http.StatusUnprocessableEntity || a.Text(".alert") != sentence || role != "manager" {
		t.Errorf("as a manager: %d %q, %q", a.Code, a.Text(".alert"), role)
	}

	// With another owner they may change their role, and then see only their own account's settings.
	owner.Submit(first+"/activate", nil)
	gone := owner.Submit(owner.page(), webtest.Form("role", "cashier"))
	if !gone.Flashed(ui.Done, "Bo Ek") || gone.Find("form[action='"+account+"/password']").Length() != 1 {
		t.Errorf("led to %q, %q", gone.Text("h1"), gone.Text("#flashes"))
	}
	if a := owner.Ask(http.MethodGet, staffPages); a.Code != http.StatusForbidden {
		t.Errorf("the list of people: %d, want 403", a.Code)
	}
}

// able gives a person a password, so that they can sign in.
func (s *shop) able(person int64) {
	s.T.Helper()
	s.Exec("update loyalty.credential set password_hash = 'some hash' where staff_id = $1", person)
}

// A new role is in effect from the next request. An unknown role is refused.
func TestChangeRole(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner, cashier := s.signedIn(core.Owner), s.signedIn(core.Cashier)
	if got := owner.Submit(cashier.page(), webtest.Form("role", "manager")); !got.Flashed(ui.Done, "Bo Ek") {
		t.Errorf("said %q", got.Text("#flashes"))
	}
	if a := cashier.Get("/admin/settings/security"); !strings.Contains(a.Text(".topbar"), "Bo Ek Manager") {
		t.Errorf("now they are %q", a.Text(".topbar"))
	}
	if a := owner.Post(cashier.page(), webtest.Form("role", "emperor")); a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != webtest.Message("Role", core.InvalidChoice) {
		t.Errorf("an unknown role: %d %q", a.Code, a.Text(".invalid-feedback"))
	}
}

// A person lost their phone: an owner turns off their two-step verification.
func TestTurnOffTwoStepVerification(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner, cashier := s.signedIn(core.Owner), s.signedIn(core.Cashier)
	if a := owner.Get(cashier.page()); a.Find("a[href$='/two-step']").Length() != 0 {
		t.Error("it can be turned off although it isn't on")
	}
	hash, err := auth.HashPassword(t.Context(), s.By.Tenant.ID, password)
	if err != nil {
		t.Fatal(err)
	}
	s.Exec("update loyalty.credential set password_hash = $2 where staff_id = $1", cashier.Person.StaffID, hash)
	cashier.enrol()
	if got := owner.Get(staffPages).Text("tbody"); !strings.Contains(got, "On") {
		t.Errorf("the list says %q", got)
	}
	path := owner.Get(cashier.page()).Links("a[href$='/two-step']")
	if len(path) != 1 {
		t.Fatalf("offered %q", path)
	}
	owner.Get(path[0])
	if got := owner.Submit(path[0], nil); !got.Flashed(ui.Done, "Bo Ek") || len(got.Links("a[href$='/two-step']")) != 0 {
		t.Errorf("said %q", got.Text("main"))
	}
	codes, err := db.In(t.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) (int64, error) {
		return db.One[int64](t.Context(), tx, "select count(*) from loyalty.recovery_code where staff_id = @id", db.Args{"id": cashier.Person.StaffID})
	})
	if err != nil || codes != 0 {
		t.Errorf("%d recovery codes are left, %v", codes, err)
	}
}

// "People's pages show whose tokens live and let any owner revoke them", one or all, after a
// confirmation.
func TestRevokeTokensOfPerson(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner, colleague := s.signedIn(core.Owner), s.signedIn(core.Owner)
	path := colleague.page()
	if a := owner.Get(path); a.Find("#tokens").Length() != 0 {
		t.Errorf("without tokens: %q", a.Text("#tokens"))
	}
	secret := func(name string, more ...string) string {
		t.Helper()
		f := colleague.tokenForm(name, "customers:read", "reports:read")
		for i := 0; i+1 < len(more); i += 2 {
			f.Set(more[i], more[i+1])
		}
		return colleague.Post(tokens+"/new", f).Text("#secret")
	}
	first, second, third := secret("Web <b>shop</b>", "expires_at", "2999-12-31"), secret("Till"), secret("Accounts")
	own := owner.Post(tokens+"/new", owner.tokenForm("Mine")).Text("#secret")
	if _, ok := s.works(second); !ok {
		t.Fatal("a token does not work")
	}
	if got := owner.Get(staffPages).Text("tbody tr:contains('" + s.email(colleague) + "') td:last-child"); got != "3" {
		t.Errorf("the list counts %q", got)
	}
	page := owner.Get(path)
	wants(t, "names", page.Texts("#tokens .token-name"), []string{"Accounts", "Till", "Web <b>shop</b>"})
	wants(t, "last used", page.Texts("#tokens td:nth-child(3)"), []string{"Never", "just now", "Never"})
	wants(t, "expires", page.Texts("#tokens td:nth-child(4)"), []string{"Never", "Never", "31 Dec 2999"})
	if strings.Contains(page.Body.String(), first[strings.Index(first, "|")+1:]) {
		t.Error("the page tells a secret")
	}

	ask := page.Links("#tokens tbody a")[2]
	confirm := owner.Get(ask)
	if !strings.Contains(confirm.Text("h1"), "Web <b>shop</b>") || confirm.Find("form .btn-danger").Length() != 1 {
		t.Errorf("the confirmation is %q", confirm.Text("main"))
	}
	if dialog := owner.Get(ask, "Hx-Request", "true"); dialog.Find("html nav, h1").Length() != 0 || dialog.Find("form").Length() != 1 {
		t.Error("the dialog is a whole page")
	}
	sent := confirm.Fields("form")
	after := owner.Submit(ask, sent)
	if _, ok := s.works(first); ok || !after.Flashed(ui.Done, "Web <b>shop</b>") || after.Find("#tokens tbody tr").Length() != 2 {
		t.Errorf("afterwards it works: %t, %q", ok, after.Text("main"))
	}
	owner.Submit(ask, sent) // a double click
	if again := owner.Ask(http.MethodGet, ask); again.Code != http.StatusNotFound {
		t.Errorf("asked again: %d", again.Code)
	}

	all := after.Links("#tokens .card-header a")
	if len(all) != 1 {
		t.Fatalf("the head of the list leads to %q", all)
	}
	if asked := owner.Get(all[0]); asked.Find("form .btn-danger").Length() != 1 {
		t.Errorf("the confirmation is %q", asked.Text("main"))
	}
	if _, ok := s.works(second); !ok {
		t.Error("asking revoked them")
	}
	if got := owner.Submit(all[0], nil); !got.Flashed(ui.Done, "Bo Ek") || got.Find("#tokens").Length() != 0 {
		t.Errorf("said %q", got.Text("main"))
	}
	owner.Submit(all[0], nil) // again
	for _, secret := range []string{second, third} {
		if _, ok := s.works(secret); ok {
			t.Error("a token still works")
		}
	}
	if _, ok := s.works(own); !ok {
		t.Error("an owner's own token was revoked with a colleague's")
	}
}

// The form that changes a role warns that it revokes tokens.
func TestChangeRoleRevokesTokens(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.able(s.By.StaffID)
	owner, colleague := s.signedIn(core.Owner), s.signedIn(core.Owner)
	if a := owner.Get(colleague.page()); a.Find("#revokes-tokens").Length() != 0 {
		t.Error("it warns about tokens, but there are none")
	}
	secret := colleague.Post(tokens+"/new", colleague.tokenForm("Till")).Text("#secret")
	if a := owner.Get(colleague.page()); a.Find("#revokes-tokens").Length() != 1 {
		t.Errorf("it doesn't warn about tokens: %q", a.Text("main"))
	}
	owner.Submit(colleague.page(), webtest.Form("role", "cashier"))
	if again := owner.Submit(colleague.page(), webtest.Form("role", "owner")); again.Find("#tokens").Length() != 0 {
		t.Errorf("afterwards: %q", again.Text("#tokens"))
	}
	if _, ok := s.works(secret); ok {
		t.Error("the token came back with the role")
	}
}

// A token is found only on the page of its own person, and not by another business.
func TestTokensOfOtherPeopleAreNotFound(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	owner, colleague, stranger := s.signedIn(core.Owner), s.signedIn(core.Owner), other.signedIn(core.Owner)
	secret := colleague.Post(tokens+"/new", colleague.tokenForm("Till")).Text("#secret")
	strangers := stranger.Post(tokens+"/new", stranger.tokenForm("Till")).Text("#secret")
	id, _, _ := strings.Cut(secret, "|")
	theirs, _, _ := strings.Cut(strangers, "|")
	for name, c := range map[string]struct {
		by   *browser
		path string
	}{
		"a stranger, the colleague's":       {stranger, colleague.page() + "/tokens/" + id + "/revoke"},
		"a stranger, all":                   {stranger, colleague.page() + "/tokens/revoke"},
		"a stranger, on their own page":     {stranger, stranger.page() + "/tokens/" + id + "/revoke"},
		"on another person's page":          {owner, owner.page() + "/tokens/" + id + "/revoke"},
		"the stranger's":                    {owner, stranger.page() + "/tokens/" + theirs + "/revoke"},
		"the stranger's, on one's own page": {owner, owner.page() + "/tokens/" + theirs + "/revoke"},
		"no number":                         {owner, colleague.page() + "/tokens/x/revoke"},
	} {
		asked, done := c.by.Ask(http.MethodGet, c.path), c.by.Post(c.path, nil)
		if asked.Code != http.StatusNotFound || done.Code != http.StatusNotFound {
			t.Errorf("%s: asked %d, done %d, want 404", name, asked.Code, done.Code)
		}
	}
	for _, secret := range []string{secret, strangers} {
		if _, err := s.Tokens.Authenticate(t.Context(), secret, ""); err != nil {
			t.Errorf("a token was revoked: %v", err)
		}
	}
	for _, role := range []core.Role{core.Manager, core.Cashier} {
		b := s.signedIn(role)
		for _, path := range []string{"/tokens/" + id + "/revoke", "/tokens/revoke"} {
			if asked, done := b.Ask(http.MethodGet, colleague.page()+path), b.Post(colleague.page()+path, nil); asked.Code != http.StatusForbidden || done.Code != http.StatusForbidden {
				t.Errorf("a %s: asked %d, done %d, want 403", role, asked.Code, done.Code)
			}
		}
	}
}

func (s *shop) email(b *browser) string {
	s.T.Helper()
	return shoptest.Query[string](s.Shop, "select email from loyalty.staff where id = $1", b.Person.StaffID)
}

func TestPeopleOfAnotherBusinessAreNotFound(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	theirs, stranger := s.signedIn(core.Cashier), other.signedIn(core.Owner)
	if got := stranger.Get(staffPages).Find("tbody tr").Length(); got != 2 {
		t.Errorf("%d people", got)
	}
	for _, path := range []string{"", "/invite", "/two-step", "/deactivate", "/activate"} {
		asked := stranger.Ask(http.MethodGet, theirs.page()+path)
		done := stranger.Post(theirs.page()+path, webtest.Form("role", "owner"))
		if asked.Code != http.StatusNotFound || done.Code != http.StatusNotFound {
			t.Errorf("%q: asked %d, done %d, want 404", path, asked.Code, done.Code)
		}
	}
	if got := theirs.Get("/admin/settings/security").Text(".topbar"); !strings.Contains(got, "Cashier") {
		t.Errorf("they are %q", got)
	}
}
