package platform_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/token"
	"example.com/loyalty/web/platform"
	"example.com/loyalty/web/route"
	"example.com/loyalty/web/webtest"
)

var parameter = regexp.MustCompile(`:[a-z]+`)

// somewhere is the route's path, with ids that no record has.
func somewhere(r route.Route) string {
	return parameter.ReplaceAllString(r.Path, "999999999")
}

// try asks for a route, with a change of the request.
func try(b *webtest.Browser, r route.Route, change func(*http.Request)) (status int, to string) {
	request := b.Request(r.Method, somewhere(r), nil, "Sec-Fetch-Site", "same-origin")
	if change != nil {
		change(request)
	}
	w := b.Do(request)
	return w.Code, w.Header().Get("Location")
}

// "No tenant role reaches any platform page or endpoint": every route of the panel as a stranger
// (on this machine, too), as each role of a tenant with the session of its own host, with a
// tenant's API token, and as a super-admin who has not set up two-step verification.
func TestEveryRouteIsGuarded(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	failed := k.add("mail", "discarded", "0", "no luck")
	people := map[string]*webtest.Browser{"a stranger": webtest.New(t, k.Handler, core.Tenant{})}
	for _, role := range []core.Role{core.Owner, core.Manager, core.Cashier} {
		people["a tenant's "+string(role)] = k.signedIn(k.shop.As(role).By)
	}
	unset := k.signedIn(dbtest.Admin(t, k.shop.DB))
	made, err := core.Result(k.Tokens.Create(t.Context(), k.shop.By, token.New{Name: "Till", Scopes: &[]string{string(token.CustomersRead)}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	asks := map[string]func(*http.Request){
		"":                          nil,
		" on this machine":          func(r *http.Request) { r.RemoteAddr = "127.0.0.1:5000" },
		" with a tenant's token":    func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+made.Secret) },
		" who says they are nearby": func(r *http.Request) { r.Header.Set("X-Forwarded-For", "127.0.0.1") },
	}
	var public []string
	for _, r := range platform.Routes() {
		if r.Who.Everyone {
			public = append(public, r.Method+" "+r.Path)
			continue
		}
		for who, b := range people {
			for how, change := range asks {
				if status, to := try(b, r, change); status != http.StatusSeeOther || !strings.HasPrefix(to, "/platform/sign-in") {
					t.Errorf("%s %s as %s%s = %d to %q, want the sign-in", r.Method, r.Path, who, how, status, to)
				}
			}
		}
		if !r.Who.BeforeTwoStep {
			if status, to := try(unset, r, nil); status != http.StatusSeeOther || to != "/platform/account/two-step" {
				t.Errorf("%s %s without two-step verification = %d to %q, want its set-up", r.Method, r.Path, status, to)
			}
		}
		for _, host := range []string{k.shop.By.Tenant.Slug + ".loyalty.example", "evil.example", "127.0.0.1"} {
			if status, _ := try(k.Browser, r, func(r *http.Request) { r.Host = host }); status != http.StatusNotFound {
				t.Errorf("%s %s at %s = %d, want 404", r.Method, r.Path, host, status)
			}
		}
	}
	if want := []string{
		"POST /platform/theme", "GET /platform/sign-in", "POST /platform/sign-in", "GET /platform/sign-in/code", "POST /platform/sign-in/code", "POST /platform/sign-out",
	}; !slices.Equal(public, want) {
		t.Errorf("strangers have %q, want %q", public, want)
	}
	if got := k.state(failed); got != "discarded" {
		t.Errorf("the job is %s", got)
	}
	// Nothing is served that is not on the list.
	known := platform.Routes()
	for _, r := range k.pages.Routes() {
		if r.Method != echo.RouteNotFound && !slices.ContainsFunc(known, func(k route.Route) bool { return k.Method == r.Method && k.Path == r.Path }) {
			t.Errorf("%s %s is on no list", r.Method, r.Path)
		}
	}
}

// A super-admin has every page, and other sites change nothing in their name.
func TestASuperAdminHasEveryPage(t *testing.T) {
	t.Parallel()
	k := newDesk(t)
	for _, r := range platform.Routes() {
		for name, change := range map[string]func(*http.Request){
			"another site":         func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			"a tenant's page":      func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
			"an old browser there": func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "https://evil.example") },
		} {
			if status, _ := try(k.Browser, r, change); r.Method == http.MethodPost && status != http.StatusForbidden {
				t.Errorf("POST %s by %s = %d, want 403", r.Path, name, status)
			}
		}
		if r.Who.Everyone {
			continue
		}
		status, to := try(k.Browser, r, nil)
		if status == http.StatusForbidden || status >= http.StatusInternalServerError || strings.HasPrefix(to, "/platform/sign-in") {
			t.Errorf("%s %s = %d to %q", r.Method, r.Path, status, to)
		}
	}
	k.Get("/platform/account") // signed in still
}
