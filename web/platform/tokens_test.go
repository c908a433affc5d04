package platform_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
	"example.com/loyalty/web/webtest"
)

// "Platform tokens: issue, list, revoke (secret once)": each super-admin has their own.
func TestPlatformTokens(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	if empty := k.Get("/platform/tokens"); empty.Find(".empty").Length() != 1 {
		t.Errorf("without tokens: %s", empty.Text("main"))
	}
	refused := k.Refused("/platform/tokens/new", url.Values{"name": {" "}, "expires_at": {"2020-01-01"}})
	if got := refused.Find(".invalid-feedback").Length(); got != 2 {
		t.Errorf("refused: %s", refused.Text("main"))
	}

	form := webtest.With(k.Get("/platform/tokens/new").Fields("main form"), "name", "Billing <b>export</b>", "expires_at", "2099-12-31")
	made := k.Post("/platform/tokens/new", form)
	secret := made.Text("#secret")
	caller, err := k.Tokens.Authenticate(t.Context(), secret, "")
	if made.Code != http.StatusOK || err != nil || !caller.IsPlatform() || caller.StaffID != k.Person.StaffID || len(caller.Abilities) != 0 {
		t.Fatalf("%d %q: %+v, %v", made.Code, secret, caller, err)
	}
	if to := k.Submitted("/platform/tokens/new", form); to != "/platform/tokens" {
		t.Errorf("sent twice, it leads to %s", to)
	}
	list := k.Get("/platform/tokens")
	if rows := list.Find("#tokens tbody tr"); rows.Length() != 1 || !strings.Contains(webtest.Text(rows), "31 Dec 2099") || strings.Contains(list.Text("body"), secret) ||
		list.Find("#tokens b").Length() != 0 {
		t.Errorf("listed: %s", list.Text("main"))
	}

	revoke := list.Attr("#tokens tbody td:last-child a", "href")
	if got := k.superAdmin().Ask(http.MethodGet, revoke); got.Code != http.StatusNotFound {
		t.Errorf("another super-admin revokes it: %d", got.Code)
	}
	if to := k.Submitted(revoke, k.Get(revoke).Fields("main form")); to != "/platform/tokens" {
		t.Errorf("revoked, it leads to %s", to)
	}
	if _, err := k.Tokens.Authenticate(t.Context(), secret, ""); !errors.Is(err, core.ErrUnauthenticated) {
		t.Errorf("revoked, it works: %v", err)
	}
	if got := k.Ask(http.MethodGet, revoke); got.Code != http.StatusNotFound {
		t.Errorf("revoked twice: %d", got.Code)
	}

	// Without two-step verification a super-admin has no role, and core refuses them as well.
	unset := k.Person
	unset.Role = ""
	if _, err := core.Result(k.Tokens.Create(t.Context(), unset, token.New{Name: "Till", Scopes: &[]string{}}, nil)); !errors.Is(err, core.ErrAdmin) {
		t.Errorf("created without two-step verification: %v", err)
	}
}
