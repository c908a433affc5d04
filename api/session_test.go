package api_test

import (
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
)

const ownersSession = "and GET, POST and DELETE /tokens to a signed-in owner's panel session (same-origin requests only; the session row is read by its cookie's hash, not written)."

// signedIn signs a person in to the panel and returns their browser's headers.
func (s *shop) signedIn(by core.Actor) (host, cookie string) {
	s.T.Helper()
	token := "browserof" + by.ID
	ctx := auth.WithProof(auth.WithVisit(s.T.Context(), &auth.Visit{Slug: by.Tenant.Slug}), auth.Proof{StaffID: by.StaffID, At: s.db.Now()})
	if err := auth.NewStore(s.db).CommitCtx(ctx, token, []byte{}, s.db.Now().Add(time.Hour)); err != nil {
		s.T.Fatal(err)
	}
	return "Host: " + by.Tenant.Slug + "." + domain, "Cookie: other=1; __Host-session=" + token
}

func TestOwnerSessionManagesTokens(t *testing.T) {
	t.Parallel()
	proves(t, ownersSession, "The creation endpoint is described as needing either a web session or any valid token of any scope; the two statements differ, so a builder accepts any authenticated caller.")
	s := newShop(t)
	s.fill("{own_token}{colleague_token}")
	host, cookie := s.signedIn(s.By)
	s.change("token", "told_at = told_at - interval '1 hour'") // so that the next one is e-mailed at once
	s.change("session", "last_seen_at = last_seen_at - interval '1 hour'", "staff_id = "+s.By.ID)
	seen := s.seen()

	own := `{"id":{own_token},"name":"Till","abilities":` + everyone + `,"last_used_at":null,"expires_at":null,"created_at":"<time>"}`
	s.call("GET", "/api/v1/tokens", "", "", host, cookie).is(t, 200, s.fill(strings.ReplaceAll(only("/tokens", own), "{host}", "{slug}.{host}")))
	made := s.call("POST", "/api/v1/tokens", "", `{"name":"Panel","scopes":["reports:read"]}`, host, cookie, "Origin: https://"+s.By.Tenant.Slug+"."+domain, "Sec-Fetch-Site: same-origin")
	made.is(t, 201, tokenMade(`"Panel"`, `["reports:read"]`, "null"))
	var actor, mailed string
	err := dbtest.Owner(s.db).QueryRow(t.Context(), `
		select a.actor_kind || ' ' || a.actor_id || ' ' || a.actor_name || ' ' || (a.address <> '') || ' ' || (a.request_id <> ''), m.text
		from loyalty.audit_entry a
		join loyalty.mail m using (tenant_id)
		where a.tenant_id = $1 and a.action = 'token.create' and a.new ->> 'name' = 'Panel' and m.text like '%Panel%'`, s.By.Tenant.ID).Scan(&actor, &mailed)
	if want := "staff " + s.By.ID + " " + s.By.Name + " true true"; err != nil || actor != want || !strings.Contains(mailed, s.By.Name) {
		t.Errorf("the audit log has %q, want %q; e-mailed %s, %v", actor, want, mailed, err)
	}
	s.call("DELETE", "/api/v1/tokens/{own_token}", "", "", host, cookie).is(t, 204, "")
	s.call("DELETE", "/api/v1/tokens/{own_token}", "", "", host, cookie).is(t, 404, notFound)
	s.call("DELETE", "/api/v1/tokens/{colleague_token}", "", "", host, cookie).is(t, 404, notFound)
	if again := s.seen(); again != seen {
		t.Errorf("the session was written: last seen %s, then %s", seen, again)
	}
}

// seen returns when the owner's session was last seen.
func (s *shop) seen() time.Time {
	s.T.Helper()
	return shoptest.Query[time.Time](s.Shop, "select last_seen_at from loyalty.session where staff_id = $1", s.By.StaffID)
}

// A session is ignored on other hosts and routes, and in requests from other sites.
func TestIgnoredSessions(t *testing.T) {
	t.Parallel()
	proves(t, ownersSession)
	s := newShop(t)
	s.fill("{own_token}")
	host, cookie := s.signedIn(s.By)
	theirs, _ := s.stranger().signedIn(s.stranger().By)
	const site, origin = "Sec-Fetch-Site: ", "Origin: https://"
	for name, headers := range map[string][]string{
		"on the base host":                    {"Host: " + domain, cookie},
		"on another tenant's host":            {theirs, cookie},
		"on an unknown host":                  {"Host: unknown." + domain, cookie},
		"without the cookie":                  {host},
		"with another token":                  {host, "Cookie: __Host-session=browserof0"},
		"under another name":                  {host, "Cookie: session=browserof" + s.By.ID},
		"beside a bad token":                  {host, cookie, "Authorization: Bearer 1|wrong"},
		"beside another scheme":               {host, cookie, "Authorization: Basic b3duZXI6"},
		"asked by another site":               {host, cookie, site + "cross-site"},
		"asked by another tenant's page":      {host, cookie, site + "same-site"},
		"asked by a page of another tenant":   {theirs, cookie, site + "same-origin"},
		"asked by something else of the kind": {host, cookie, site + "other"},
	} {
		for _, request := range [][2]string{{"GET", "/api/v1/tokens"}, {"POST", "/api/v1/tokens"}, {"DELETE", "/api/v1/tokens/{own_token}"}} {
			if got := s.call(request[0], request[1], "", "", headers...); got.status != 401 || got.body != unauthorized+"\n" {
				t.Errorf("%s, %s: %d %s", name, request[0], got.status, got.body)
			}
		}
	}
	// A browser without Sec-Fetch-Site sends the origin.
	for _, other := range []string{origin + "evil.example", origin + s.stranger().By.Tenant.Slug + "." + domain, "Origin: null"} {
		s.call("POST", "/api/v1/tokens", "", `{"name":"x","scopes":[]}`, host, cookie, other).is(t, 401, unauthorized)
		s.call("DELETE", "/api/v1/tokens/{own_token}", "", "", host, cookie, other).is(t, 401, unauthorized)
	}
	// Other routes than those of tokens ignore it.
	for route := range abilities {
		if method, path := unknownIDs(route); !strings.HasPrefix(path, "/api/v1/tokens") {
			s.call(method, path, "", "", host, cookie).is(t, 401, unauthorized)
		}
	}
	s.call("GET", "/api/v1/nothing", "", "", host, cookie).is(t, 404, notFound)
	if got := s.call("GET", "/api/v1/tokens", s.token, "", host, "Cookie: __Host-session=browserof0"); got.status != 200 {
		t.Errorf("a token with an invalid cookie: %d", got.status)
	}
	if s.rows("token") != 1 {
		t.Error("a token was created")
	}

	s.call("GET", "/api/v1/tokens", "", "", host, cookie, site+"same-origin").is(t, 200, s.fill("<anything>"))
	s.edit("suspended")
	s.call("GET", "/api/v1/tokens", "", "", host, cookie).is(t, 401, unauthorized)
	s.edit("active")
	s.change("session", "ended_at = now()", "staff_id = "+s.By.ID)
	s.call("GET", "/api/v1/tokens", "", "", host, cookie).is(t, 401, unauthorized)
}

// edit changes the status of the shop's tenant.
func (s *shop) edit(status string) {
	s.T.Helper()
	s.must(s.tenants.Edit(s.T.Context(), core.System(core.Tenant{}, "test"), s.By.Tenant.ID, tenant.Edit{Status: core.Set(status)}))
}

// "manager (everything except staff, tokens, …)": known, and not allowed.
func TestOnlyOwnersManageTokens(t *testing.T) {
	t.Parallel()
	proves(t, "`manager` (everything except staff, tokens, business settings, billing, and the lines of the audit log about those; tokens are named to owners alone: to others, what one did is by an “API token”, in lists, files and the timeline, and no choice offers one)")
	s := newShop(t)
	for _, role := range []core.Role{core.Manager, core.Cashier} {
		host, cookie := s.signedIn(dbtest.Person(t, s.db, s.By, role))
		for _, request := range [][2]string{{"GET", "/api/v1/tokens"}, {"POST", "/api/v1/tokens"}, {"DELETE", "/api/v1/tokens/1"}} {
			s.call(request[0], request[1], "", "", host, cookie).is(t, 403, forbidden)
		}
	}
	owner := dbtest.Person(t, s.db, s.By, core.Owner)
	host, cookie := s.signedIn(owner)
	s.change("staff", "role = 'manager'", "id = "+owner.ID)
	s.call("GET", "/api/v1/tokens", "", "", host, cookie).is(t, 403, forbidden)
}

// A session has its own limit, like a token.
func TestSessionLimit(t *testing.T) {
	t.Parallel()
	proves(t, sixty)
	s, clock := limited(t, 5, 3)
	host, cookie := s.signedIn(s.By)
	if got := s.flood(20, "", host, cookie); got[200] != 5 || got[429] != 15 {
		t.Errorf("of 20 at once: %v; want 5 to pass", got)
	}
	colleague := dbtest.Person(t, s.db, s.By, core.Owner)
	_, theirs := s.signedIn(colleague)
	if got := s.flood(20, "", host, theirs); got[200] != 5 {
		t.Errorf("of a colleague's 20: %v; want 5 to pass", got)
	}
	if got := s.flood(5, s.token); got[200] != 5 {
		t.Errorf("of a token's 5: %v; want all to pass", got)
	}
	if got := s.flood(20, "", host, "Cookie: __Host-session=unknown"); got[401] != 3 || got[429] != 17 {
		t.Errorf("20 without a session: %v, want 3 answered", got)
	}
	clock.advance(time.Minute)
	if got := s.flood(1, "", host, cookie); got[200] != 1 {
		t.Errorf("a minute later: %v", got)
	}
}

// "A test that no tenant role reaches any platform page or endpoint": a session serves for tokens
// alone, at its own host; a super-admin's serves for the platform's pages and no request at all.
func TestNoSessionReachesThePlatform(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	root := dbtest.Admin(t, s.db)
	_, admins := s.signedIn(root)
	base := "Host: " + domain
	for _, role := range []core.Role{core.Owner, core.Manager, core.Cashier} {
		own, theirs := s.signedIn(dbtest.Person(t, s.db, s.By, role))
		for route, needs := range abilities {
			method, path, _ := strings.Cut(route, " ")
			if needs != "platform" {
				continue
			}
			for _, host := range []string{own, base} {
				s.call(method, strings.Replace(path, ":id", "1", 1), "", "", host, theirs).is(t, 401, unauthorized)
			}
			s.call(method, strings.Replace(path, ":id", "1", 1), "", "", base, admins).is(t, 401, unauthorized)
		}
		s.call("GET", "/api/v1/tokens", "", "", base, theirs).is(t, 401, unauthorized)
	}
	s.call("GET", "/api/v1/tokens", "", "", base, admins).is(t, 401, unauthorized)
}
