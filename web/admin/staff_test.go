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
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/views/ui"
)

const staffPages = "/admin/settings/staff"

// invitation is the filled-in invitation form.
func (b *browser) invitation(email, name string, role core.Role) url.Values {
	b.t.Helper()
	key, _ := b.get(staffPages + "/new").Find("input[name=form_key]").Attr("value")
	return form("form_key", key, "email", email, "name", name, "role", string(role))
}

// page is the path of the browser's person.
func (b *browser) page() string { return staffPages + "/" + strconv.FormatInt(b.person.StaffID, 10) }

// "Staff (invite, role, deactivate)": an invited person gets an e-mail, sets a password with it and is
// signed in.
func TestInvitePerson(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	refused := owner.post(staffPages+"/new", owner.invitation("nowhere", "Ann <b>", core.Manager))
	if got := refused.words(".invalid-feedback"); refused.Code != http.StatusUnprocessableEntity || got != says("E-mail", core.MustBeEmail) {
		t.Fatalf("answered %d %q", refused.Code, got)
	}
	role, _ := refused.Find("input[name=role][checked]").Attr("value")
	if name, _ := refused.Find("#field-name").Attr("value"); name != "Ann <b>" || role != "manager" {
		t.Errorf("kept %q, %q", name, role)
	}

	f := owner.invitation("ann@example.com", "Ann <b>", core.Manager)
	var wg sync.WaitGroup
	for range 3 { // a double click, and one more
		wg.Go(func() {
			again := *owner
			again.post(staffPages+"/new", f)
		})
	}
	wg.Wait()
	list := owner.posted(staffPages+"/new", f)
	rows := list.words("tbody tr:contains('ann@example.com')")
	if !strings.HasPrefix(rows, "AB Ann <b> ann@example.com Manager ") || strings.Count(rows, "ann@example.com") != 1 || !list.flashed(ui.Done, "Ann <b>") {
		t.Errorf("the list says %q after %q", rows, list.words("#flashes"))
	}
	status := list.words("tbody tr:contains('ann@example.com') .from-sm .badge")
	var mails int
	err := dbtest.Owner(s.db).QueryRow(t.Context(), "select count(*) from loyalty.mail where tenant_id = $1 and recipient = 'ann@example.com'", s.by.Tenant.ID).Scan(&mails)
	if err != nil || mails != 1 {
		t.Errorf("%d mails, %v", mails, err)
	}
	if taken := owner.post(staffPages+"/new", owner.invitation("Ann@example.com", "Ann", core.Cashier)); taken.words(".invalid-feedback") != says("E-mail", core.Duplicate) {
		t.Errorf("invited twice: %q", taken.words(".invalid-feedback"))
	}

	ann := list.links("tbody tr:contains('ann@example.com') a")[0]
	first := secretOf.FindStringSubmatch(s.latestMail(t, "ann@example.com"))[1]
	if got := owner.get(ann + "/invite").words("form p"); !strings.Contains(got, "ann@example.com") {
		t.Errorf("asked %q", got)
	}
	if again := owner.posted(ann+"/invite", nil); !again.flashed(ui.Done, "ann@example.com") {
		t.Errorf("flash = %q", again.words("#flashes"))
	}
	second := secretOf.FindStringSubmatch(s.latestMail(t, "ann@example.com"))[1]
	if old := s.stranger(t).ask(http.MethodGet, "/admin/invitation/"+first, nil); old.Code != http.StatusNotFound {
		t.Errorf("the first link answers %d", old.Code)
	}
	newcomer := s.stranger(t)
	newcomer.post("/admin/invitation/"+second, form("name", "Ann", "password", password))
	if got := newcomer.get("/admin/settings/security").words(".topbar"); !strings.Contains(got, "Ann Manager") {
		t.Errorf("the newcomer is %q", got)
	}
	if joined := owner.get(ann); joined.words(".card-header .badge") == status || joined.Find("a[href$='/invite']").Length() != 0 {
		t.Errorf("afterwards: %q", joined.words("main"))
	}
	if again := owner.post(ann+"/invite", nil); again.Code != http.StatusUnprocessableEntity || !strings.HasPrefix(again.words(".alert"), auth.ErrJoined.Message) {
		t.Errorf("invited again: %d %q", again.Code, again.words(".alert"))
	}
}

// An expired invitation is shown as such.
func TestInvitationExpires(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	badge := func(a answer) string { return a.words("tbody tr:contains('ann@example.com') .from-sm .badge") }
	before := badge(owner.posted(staffPages+"/new", owner.invitation("ann@example.com", "Ann", core.Cashier)))
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.invitation set expires_at = now() - interval '1 hour' where tenant_id = $1", s.by.Tenant.ID); err != nil {
		t.Fatal(err)
	}
	if after := badge(owner.get(staffPages)); !strings.Contains(before, " until ") || strings.Contains(after, " until ") {
		t.Errorf("the status was %q and is %q", before, after)
	}
}

// A deactivated person loses access at once, until they are activated again.
func TestDeactivatePerson(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner, cashier := s.signedIn(t, core.Owner), s.signedIn(t, core.Cashier)
	path := cashier.page()
	ask := owner.get(path + "/deactivate")
	if !strings.Contains(ask.words("h1"), "Bo Ek") || ask.Find("form .btn-danger").Length() != 1 {
		t.Errorf("asked %q", ask.words("main"))
	}
	cashier.get("/admin/customers")
	if got := owner.posted(path+"/deactivate", nil); !got.flashed(ui.Done, "Bo Ek") || got.words(".card-header .badge") != "Inactive" {
		t.Errorf("said %q", got.words("main"))
	}
	if out := cashier.ask(http.MethodGet, "/admin/customers", nil); out.Code != http.StatusSeeOther {
		t.Errorf("a deactivated person gets %d", out.Code)
	}
	if again := owner.post(path+"/deactivate", nil); again.Code != http.StatusSeeOther || again.Header().Get("Location") != path {
		t.Errorf("twice: %d to %q", again.Code, again.Header().Get("Location"))
	}
	if got := owner.posted(path+"/activate", nil); !got.flashed(ui.Done, "Bo Ek") || got.words(".card-header .badge") == "Inactive" {
		t.Errorf("said %q", got.words("main"))
	}
}

// "The last owner is protected by core: show its sentence", on the page and in the dialog.
func TestLastOwnerStays(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.able(t, s.by.StaffID) // the shop's first owner
	owner := s.signedIn(t, core.Owner)
	s.able(t, owner.person.StaffID)
	first := staffPages + "/" + s.by.ID
	owner.posted(first+"/deactivate", nil)

	sentence := staff.ErrLastOwner.Message
	for _, header := range [][]string{nil, {"Hx-Request", "true"}} {
		a := owner.post(owner.page()+"/deactivate", nil, header...)
		if a.Code != http.StatusUnprocessableEntity || a.words(".alert") != sentence {
			t.Errorf("with %q: %d %q", header, a.Code, a.words("form"))
		}
	}
	a := owner.post(owner.page(), form("role", "manager"))
	if role, _ := a.Find("input[name=role][checked]").Attr("value"); a.Code != http.StatusUnprocessableEntity || a.words(".alert") != sentence || role != "manager" {
		t.Errorf("as a manager: %d %q, %q", a.Code, a.words(".alert"), role)
	}

	// With another owner they may change their role, and then see only their own account's settings.
	owner.posted(first+"/activate", nil)
	gone := owner.posted(owner.page(), form("role", "cashier"))
	if !gone.flashed(ui.Done, "Bo Ek") || gone.Find("form[action='"+account+"/password']").Length() != 1 {
		t.Errorf("led to %q, %q", gone.words("h1"), gone.words("#flashes"))
	}
	if a := owner.ask(http.MethodGet, staffPages, nil); a.Code != http.StatusForbidden {
		t.Errorf("the list of people: %d, want 403", a.Code)
	}
}

// able gives a person a password, so that they can sign in.
func (s *shop) able(t *testing.T, person int64) {
	t.Helper()
	_, err := dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.credential set password_hash = 'some hash' where staff_id = $1", person)
	if err != nil {
		t.Fatal(err)
	}
}

// A new role is in effect from the next request. An unknown role is refused.
func TestChangeRole(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner, cashier := s.signedIn(t, core.Owner), s.signedIn(t, core.Cashier)
	if got := owner.posted(cashier.page(), form("role", "manager")); !got.flashed(ui.Done, "Bo Ek") {
		t.Errorf("said %q", got.words("#flashes"))
	}
	if a := cashier.get("/admin/settings/security"); !strings.Contains(a.words(".topbar"), "Bo Ek Manager") {
		t.Errorf("now they are %q", a.words(".topbar"))
	}
	if a := owner.post(cashier.page(), form("role", "emperor")); a.Code != http.StatusUnprocessableEntity || a.words(".invalid-feedback") != says("Role", core.InvalidChoice) {
		t.Errorf("an unknown role: %d %q", a.Code, a.words(".invalid-feedback"))
	}
}

// A person lost their phone: an owner turns off their two-step verification.
func TestTurnOffTwoStepVerification(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner, cashier := s.signedIn(t, core.Owner), s.signedIn(t, core.Cashier)
	if a := owner.get(cashier.page()); a.Find("a[href$='/two-step']").Length() != 0 {
		t.Error("it can be turned off although it isn't on")
	}
	hash, err := auth.HashPassword(t.Context(), s.by.Tenant.ID, password)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.credential set password_hash = $2 where staff_id = $1", cashier.person.StaffID, hash); err != nil {
		t.Fatal(err)
	}
	cashier.enrol()
	if got := owner.get(staffPages).words("tbody"); !strings.Contains(got, "On") {
		t.Errorf("the list says %q", got)
	}
	path := owner.get(cashier.page()).links("a[href$='/two-step']")
	if len(path) != 1 {
		t.Fatalf("offered %q", path)
	}
	owner.get(path[0])
	if got := owner.posted(path[0], nil); !got.flashed(ui.Done, "Bo Ek") || len(got.links("a[href$='/two-step']")) != 0 {
		t.Errorf("said %q", got.words("main"))
	}
	codes, err := db.InTenant(t.Context(), s.db, s.by, func(tx *db.Tx) (int64, error) {
		return db.Value[int64](t.Context(), tx, "select count(*) from loyalty.recovery_code where staff_id = @id", db.Args{"id": cashier.person.StaffID})
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
	owner, colleague := s.signedIn(t, core.Owner), s.signedIn(t, core.Owner)
	path := colleague.page()
	if a := owner.get(path); a.Find("#tokens").Length() != 0 {
		t.Errorf("without tokens: %q", a.words("#tokens"))
	}
	secret := func(name string, more ...string) string {
		t.Helper()
		f := colleague.tokenForm(name, "customers:read", "reports:read")
		for i := 0; i+1 < len(more); i += 2 {
			f.Set(more[i], more[i+1])
		}
		return colleague.post(tokens+"/new", f).words("#secret")
	}
	first, second, third := secret("Web <b>shop</b>", "expires_at", "2999-12-31"), secret("Till"), secret("Accounts")
	own := owner.post(tokens+"/new", owner.tokenForm("Mine")).words("#secret")
	if _, ok := s.works(t, second); !ok {
		t.Fatal("a token does not work")
	}
	if got := owner.get(staffPages).words("tbody tr:contains('" + s.email(t, colleague) + "') td:last-child"); got != "3" {
		t.Errorf("the list counts %q", got)
	}
	page := owner.get(path)
	wants(t, "names", page.each("#tokens .token-name"), []string{"Accounts", "Till", "Web <b>shop</b>"})
	wants(t, "last used", page.each("#tokens td:nth-child(3)"), []string{"Never", "just now", "Never"})
	wants(t, "expires", page.each("#tokens td:nth-child(4)"), []string{"Never", "Never", "31 Dec 2999"})
	if strings.Contains(page.Body.String(), first[strings.Index(first, "|")+1:]) {
		t.Error("the page tells a secret")
	}

	ask := page.links("#tokens tbody a")[2]
	confirm := owner.get(ask)
	if !strings.Contains(confirm.words("h1"), "Web <b>shop</b>") || confirm.Find("form .btn-danger").Length() != 1 {
		t.Errorf("the confirmation is %q", confirm.words("main"))
	}
	if dialog := owner.get(ask, "Hx-Request", "true"); dialog.Find("html nav, h1").Length() != 0 || dialog.Find("form").Length() != 1 {
		t.Error("the dialog is a whole page")
	}
	sent := confirm.sends("form")
	after := owner.posted(ask, sent)
	if _, ok := s.works(t, first); ok || !after.flashed(ui.Done, "Web <b>shop</b>") || after.Find("#tokens tbody tr").Length() != 2 {
		t.Errorf("afterwards it works: %t, %q", ok, after.words("main"))
	}
	owner.posted(ask, sent) // a double click
	if again := owner.ask(http.MethodGet, ask, nil); again.Code != http.StatusNotFound {
		t.Errorf("asked again: %d", again.Code)
	}

	all := after.links("#tokens .card-header a")
	if len(all) != 1 {
		t.Fatalf("the head of the list leads to %q", all)
	}
	if asked := owner.get(all[0]); asked.Find("form .btn-danger").Length() != 1 {
		t.Errorf("the confirmation is %q", asked.words("main"))
	}
	if _, ok := s.works(t, second); !ok {
		t.Error("asking revoked them")
	}
	if got := owner.posted(all[0], nil); !got.flashed(ui.Done, "Bo Ek") || got.Find("#tokens").Length() != 0 {
		t.Errorf("said %q", got.words("main"))
	}
	owner.posted(all[0], nil) // again
	for _, secret := range []string{second, third} {
		if _, ok := s.works(t, secret); ok {
			t.Error("a token still works")
		}
	}
	if _, ok := s.works(t, own); !ok {
		t.Error("an owner's own token was revoked with a colleague's")
	}
}

// The form that changes a role warns that it revokes tokens.
func TestChangeRoleRevokesTokens(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.able(t, s.by.StaffID)
	owner, colleague := s.signedIn(t, core.Owner), s.signedIn(t, core.Owner)
	if a := owner.get(colleague.page()); a.Find("#revokes-tokens").Length() != 0 {
		t.Error("it warns about tokens, but there are none")
	}
	secret := colleague.post(tokens+"/new", colleague.tokenForm("Till")).words("#secret")
	if a := owner.get(colleague.page()); a.Find("#revokes-tokens").Length() != 1 {
		t.Errorf("it doesn't warn about tokens: %q", a.words("main"))
	}
	owner.posted(colleague.page(), form("role", "cashier"))
	if again := owner.posted(colleague.page(), form("role", "owner")); again.Find("#tokens").Length() != 0 {
		t.Errorf("afterwards: %q", again.words("#tokens"))
	}
	if _, ok := s.works(t, secret); ok {
		t.Error("the token came back with the role")
	}
}

// A token is found only on the page of its own person, and not by another business.
func TestTokensOfOtherPeopleAreNotFound(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	owner, colleague, stranger := s.signedIn(t, core.Owner), s.signedIn(t, core.Owner), other.signedIn(t, core.Owner)
	secret := colleague.post(tokens+"/new", colleague.tokenForm("Till")).words("#secret")
	strangers := stranger.post(tokens+"/new", stranger.tokenForm("Till")).words("#secret")
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
		asked, done := c.by.ask(http.MethodGet, c.path, nil), c.by.post(c.path, nil)
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
		b := s.signedIn(t, role)
		for _, path := range []string{"/tokens/" + id + "/revoke", "/tokens/revoke"} {
			if asked, done := b.ask(http.MethodGet, colleague.page()+path, nil), b.post(colleague.page()+path, nil); asked.Code != http.StatusForbidden || done.Code != http.StatusForbidden {
				t.Errorf("a %s: asked %d, done %d, want 403", role, asked.Code, done.Code)
			}
		}
	}
}

func (s *shop) email(t *testing.T, b *browser) (email string) {
	t.Helper()
	if err := dbtest.Owner(s.db).QueryRow(t.Context(), "select email from loyalty.staff where id = $1", b.person.StaffID).Scan(&email); err != nil {
		t.Fatal(err)
	}
	return email
}

func TestPeopleOfAnotherBusinessAreNotFound(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	theirs, stranger := s.signedIn(t, core.Cashier), other.signedIn(t, core.Owner)
	if got := stranger.get(staffPages).Find("tbody tr").Length(); got != 2 {
		t.Errorf("%d people", got)
	}
	for _, path := range []string{"", "/invite", "/two-step", "/deactivate", "/activate"} {
		asked := stranger.ask(http.MethodGet, theirs.page()+path, nil)
		done := stranger.post(theirs.page()+path, form("role", "owner"))
		if asked.Code != http.StatusNotFound || done.Code != http.StatusNotFound {
			t.Errorf("%q: asked %d, done %d, want 404", path, asked.Code, done.Code)
		}
	}
	if got := theirs.get("/admin/settings/security").words(".topbar"); !strings.Contains(got, "Cashier") {
		t.Errorf("they are %q", got)
	}
}
