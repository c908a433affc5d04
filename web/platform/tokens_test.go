package platform_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/token"
)

// "Platform tokens: issue, list, revoke (secret once)": each super-admin has their own.
func TestPlatformTokens(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	if empty := k.get(t, "/platform/tokens"); empty.Find(".empty").Length() != 1 {
		t.Errorf("without tokens: %s", words(empty.Find("main")))
	}
	refused := k.refused(t, "/platform/tokens/new", url.Values{"name": {" "}, "expires_at": {"2020-01-01"}})
	if got := refused.Find(".invalid-feedback").Length(); got != 2 {
		t.Errorf("refused: %s", words(refused.Find("main")))
	}

	form := sends(k.get(t, "/platform/tokens/new").Find("main form"))
	form.Set("name", "Billing <b>export</b>")
	form.Set("expires_at", "2099-12-31")
	made := k.post("/platform/tokens/new", form)
	secret := words(k.read(t, made).Find("#secret"))
	caller, err := k.Tokens.Authenticate(t.Context(), secret, "")
	if made.Code != http.StatusOK || err != nil || !caller.IsPlatform() || caller.StaffID != k.admin.StaffID || len(caller.Abilities) != 0 {
		t.Fatalf("%d %q: %+v, %v", made.Code, secret, caller, err)
	}
	if to := k.posted(t, "/platform/tokens/new", form); to != "/platform/tokens" {
		t.Errorf("sent twice, it leads to %s", to)
	}
	list := k.get(t, "/platform/tokens")
	if rows := list.Find("#tokens tbody tr"); rows.Length() != 1 || !strings.Contains(words(rows), "31 Dec 2099") || strings.Contains(words(list.Find("body")), secret) ||
		list.Find("#tokens b").Length() != 0 {
		t.Errorf("listed: %s", words(list.Find("main")))
	}

	revoke := list.Find("#tokens tbody a").AttrOr("href", "")
	other := k.stranger()
	other.admin = dbtest.Admin(t, k.db)
	if _, err := dbtest.Owner(k.db).Exec(t.Context(), "update loyalty.credential set totp_secret = 'sealed' where staff_id = $1", other.admin.StaffID); err != nil {
		t.Fatal(err)
	}
	other.signIn(t, other.admin)
	if got := other.ask(http.MethodGet, revoke, nil); got.Code != http.StatusNotFound {
		t.Errorf("another super-admin revokes it: %d", got.Code)
	}
	if to := k.posted(t, revoke, sends(k.get(t, revoke).Find("main form"))); to != "/platform/tokens" {
		t.Errorf("revoked, it leads to %s", to)
	}
	if _, err := k.Tokens.Authenticate(t.Context(), secret, ""); !errors.Is(err, core.ErrUnauthenticated) {
		t.Errorf("revoked, it works: %v", err)
	}
	if got := k.ask(http.MethodGet, revoke, nil); got.Code != http.StatusNotFound {
		t.Errorf("revoked twice: %d", got.Code)
	}

	// Without two-step verification a super-admin has no role, and core refuses them as well.
	unset := k.admin
	unset.Role = ""
	if _, err := k.Tokens.Create(t.Context(), unset, token.New{Name: new("Till"), Scopes: &[]string{}}); !errors.Is(err, core.ErrAdmin) {
		t.Errorf("created without two-step verification: %v", err)
	}
}
