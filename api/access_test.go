package api_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/api"
	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/docs"
)

// unknownIDs returns a route's method and path with unknown ids.
func unknownIDs(route string) (method, path string) {
	method, path, _ = strings.Cut(strings.NewReplacer(":ulid", "01JZZZZZZZZZZZZZZZZZZZZZZZ", ":id", "9223372036854775807").Replace(route), " ")
	return method, path
}

// Every route with every kind of caller.
func TestRouteAccess(t *testing.T) {
	t.Parallel()
	proves(t, "A 401 to a token has `WWW-Authenticate: Bearer error=\"invalid_token\"`, a 403 `insufficient_scope` with the scopes that suffice.")
	proves(t, "Every tenant-scoped request carries a personal access token in the header `Authorization: Bearer <ACCESS_TOKEN>`. A missing, malformed or revoked token gives 401.",
		"All endpoints require `Authorization: Bearer <ACCESS_TOKEN>` (see Authentication).",
		"Tokens have scopes (also called abilities). A request to a scope-protected endpoint with a token lacking the scope gives 403.",
		"| customers:read | GET /customers, GET /customers/{ulid}, GET /customers/{ulid}/transactions |",
		"| customers:write | POST /customers, PATCH /customers/{ulid} |",
		"| transactions:write | GET /transactions/{ulid}, POST /transactions/{ulid}/void |",
		"| rewards:read | GET /rewards, POST /redemptions, GET /redemptions/{ulid}, POST /redemptions/{ulid}/fulfil |",
		"| coupons:read | GET /coupons, POST /coupons/{ulid}/redeem, GET /coupons/{ulid}/redemptions |",
		"| reports:read | GET /reports/summary, GET /reports/customers/top, GET /reports/coupons |",
		"(it is a platform-wide token issued in the super-admin panel).",
		"Token endpoints (list, create, revoke) need only authentication, no scope.",
		"The creation endpoint is described as needing either a web session or any valid token of any scope; the two statements differ, so a builder accepts any authenticated caller.",
		"A platform token on a tenant endpoint: 403.", noTenants, superAdmins,
		"Tokens of a suspended tenant or deactivated person: 401 at once.",
		"on a tenant host a token of another tenant is 401.")
	s := newShop(t)
	platform := platformToken(t, s.server)
	id, _, _ := strings.Cut(platform, "|")
	// Even with abilities it must have no access to tenants.
	s.must(dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.token set abilities = $1 where id::text = $2", token.Abilities, id))
	strangers := s.invalidCredentials(t)
	for route, ability := range abilities {
		method, path := unknownIDs(route)
		body, inside := "", 200 // with access: nothing is found, or fields are missing
		if method == "POST" || method == "PATCH" {
			body, inside = "{}", 422
		}
		if strings.Contains(route, ":") {
			inside = 404
		}
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			check := func(who, token string, want int, headers ...string) {
				t.Helper()
				got := s.server.call(t, method, path, token, body, headers...)
				switch want {
				case 401:
					got.is(t, 401, unauthorized)
					challenge := got.header.Get("WWW-Authenticate")
					if challenge != "Bearer" && challenge != `Bearer error="invalid_token"` || token != "" && challenge == "Bearer" {
						t.Errorf("%s: WWW-Authenticate %q", who, challenge)
					}
				case 403:
					got.is(t, 403, forbidden)
					want := ""
					if who != "platform" && ability != "platform" {
						want = `Bearer error="insufficient_scope", scope="` + ability + `"`
					}
					if challenge := got.header.Get("WWW-Authenticate"); challenge != want {
						t.Errorf("%s: WWW-Authenticate %q, want %q", who, challenge, want)
					}
				default:
					if got.status != inside {
						t.Errorf("%s: %d, want %d: %s", who, got.status, inside, got.body)
					}
				}
			}
			for who, header := range strangers {
				check(who, "", 401, "Authorization: "+header)
			}
			check("on another tenant's host", s.token, 401, "Host: "+s.stranger().By.Tenant.Slug+"."+domain)
			check("without abilities, on another tenant's host", s.singles["none"], 401, "Host: "+s.stranger().By.Tenant.Slug+"."+domain)
			check("on an unknown host", s.token, 401, "Host: unknown."+domain)
			// The status with a tenant's token with all abilities, and with a platform token; 0: access.
			tenants, platforms := 0, 403
			switch ability {
			case "":
				platforms = 0
			case "platform":
				tenants, platforms = 403, 0
			}
			check("on its own host", s.token, tenants, "Host: "+s.By.Tenant.Slug+"."+domain)
			check("the scheme in other letters", "", tenants, "Authorization: bEARER "+s.token)
			check("platform", platform, platforms)
			check("platform on a tenant host", platform, 401, "Host: "+s.By.Tenant.Slug+"."+domain)
			for scope, token := range s.singles {
				if ability == "" || slices.Contains(strings.Fields(ability), scope) {
					check(scope, token, 0)
				} else {
					check(scope, token, 403)
				}
			}
		})
	}
}

// invalidCredentials returns Authorization headers that authenticate no caller.
func (s *shop) invalidCredentials(t *testing.T) map[string]string {
	t.Helper()
	ctx := t.Context()
	s.stranger()
	s.singles = map[string]string{"none": s.makeToken().Secret}
	for _, a := range token.Abilities {
		s.singles[string(a)] = s.makeToken(a).Secret
	}
	bearer := func(token string) string { return "Bearer " + token }

	revoked := s.makeToken(token.Abilities...)
	if _, err := core.Result(s.tokens.Revoke(ctx, s.By, revoked.ID, nil)); err != nil {
		t.Fatal(err)
	}
	expired := s.makeToken(token.Abilities...)
	s.change("token", "expires_at = now()", "id = "+strconv.FormatInt(expired.ID, 10))

	left := dbtest.Person(t, s.db, s.By, core.Owner)
	deactivated := makeToken(t, s.server, left, token.Abilities...)
	s.change("staff", "status = 'inactive'", "id = "+strconv.FormatInt(left.StaffID, 10))
	suspended := shopAt(t, s.server)
	s.must(s.tenants.Edit(ctx, core.System(core.Tenant{}, "test"), suspended.By.Tenant.ID, tenant.Edit{Status: core.Set("suspended")}))
	id, secret, _ := strings.Cut(s.token, "|")
	other, _, _ := strings.Cut(s.stranger().token, "|")
	last := "0"
	if strings.HasSuffix(secret, "0") {
		last = "1"
	}
	return map[string]string{
		"no header":               "",
		"revoked":                 bearer(revoked.Secret),
		"expired":                 bearer(expired.Secret),
		"of a deactivated person": bearer(deactivated.Secret),
		"of a suspended tenant":   bearer(suspended.token),
		"another scheme":          "Basic " + s.token,
		"no scheme":               s.token,
		"a bare scheme":           "Bearer",
		"an empty token":          "Bearer ",
		"a word":                  "Bearer secret",
		"a bar":                   "Bearer |",
		"cut off":                 bearer(s.token[:len(s.token)-1]),
		"mistyped":                bearer(s.token[:len(s.token)-1] + last),
		"too long":                bearer(s.token + "0"),
		"without its id":          bearer(secret),
		"with another's id":       bearer(other + "|" + secret),
		"with an unknown id":      bearer("9223372036854775807|" + secret),
		"with a word for its id":  bearer("x|" + secret),
		"with no id":              bearer("0|" + secret),
		"with an id too large":    bearer("9223372036854775808|" + secret),
		"spelled otherwise":       bearer("0" + id + "|" + secret),
		"signed":                  bearer("+" + id + "|" + secret),
		"two tokens":              bearer(s.token + " " + s.token),
		"a very long one":         bearer(strings.Repeat("1", 30000)),
	}
}

// The specification's tables of endpoints and of scopes have the routes and their abilities.
func TestEndpointsOfTheSpecification(t *testing.T) {
	t.Parallel()
	proves(t, "v1 launch (2026-05) endpoints: the customers, transactions (get and void), rewards, redemptions, coupons, reports, tokens and platform endpoints listed in the Endpoints part.")
	parameter := strings.NewReplacer("{ulid}", ":ulid", "{id}", ":id")
	scopes, tables := map[string]string{"none (authenticated only)": "", "see note": "transactions:write"}, 0
	for _, row := range docs.Sentences("specification", "## 4.") {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) < 3 || !strings.HasPrefix(cells[1], "/api/v1/") {
			continue
		}
		scope, named := scopes[cells[2]]
		switch {
		case strings.HasPrefix(cells[1], "/api/v1/platform/"):
			scope = "platform"
		case !named:
			scope = cells[2]
		}
		if have, known := abilities[cells[0]+" "+parameter.Replace(cells[1])]; !known || have != scope {
			t.Errorf("%s %s needs %q: %v", cells[0], cells[1], have, known)
		}
		tables++
	}
	if tables+len(addedRoutes) != len(abilities) {
		t.Errorf("the tables have %d endpoints and %d were added, want %d", tables, len(addedRoutes), len(abilities))
	}
	for _, row := range docs.Sentences("specification", "## 5.") {
		scope, covers, isRow := strings.Cut(strings.Trim(row, "| "), " | ")
		for endpoint := range strings.SplitSeq(covers, ", ") {
			method, path, _ := strings.Cut(parameter.Replace(endpoint), " ")
			if isRow && abilities[method+" /api/v1"+path] != scope {
				t.Errorf("%s: needs %q, not %q", endpoint, abilities[method+" /api/v1"+path], scope)
			}
		}
	}
}

func TestScopeOfRecordingIsConfigurable(t *testing.T) {
	t.Parallel()
	proves(t, "The scope of POST /transactions is `LOYALTY_TRANSACTION_CREATE_SCOPE`, default `transactions:write`.",
		"Its availability and required scope are therefore unsettled; a builder implements it as described and keeps the scope configurable.")
	for _, chosen := range token.Abilities {
		o := newServer(t, dbtest.DB(t), func(c *api.Config) { c.TransactionCreateScope = chosen })
		s := shopAt(t, o)
		for _, a := range token.Abilities {
			got := s.call("POST", "/api/v1/transactions", s.makeToken(a).Secret, `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":100}`)
			want := 403
			if a == chosen {
				want = 201
			}
			if got.status != want {
				t.Errorf("scope %s, token with %s: %d, want %d", chosen, a, got.status, want)
			}
		}
		s.fill("{sale}")
		s.call("POST", "/api/v1/transactions/{sale}/void", s.makeToken(token.TransactionsWrite).Secret, "").is(t, 200, s.fill(one(sale("{sale}", "points", "1250", "12", "null", voided, "{points}", "null"))))
	}
}

// A token is valid until its expiry, exclusive.
func TestTokensExpire(t *testing.T) {
	t.Parallel()
	proves(t, expiry, "Token lifetime and expiry: not shown.")
	s := newShop(t)
	name, scopes, at := "Short", []string{}, s.db.Now().Add(time.Hour)
	made, err := core.Result(s.tokens.Create(t.Context(), s.By, token.New{Name: name, Scopes: &scopes, ExpiresAt: &at}, nil))
	s.must(made, err)
	for shift, want := range map[time.Duration]bool{59 * time.Minute: true, 61 * time.Minute: false, 24 * 365 * time.Hour: false} {
		_, err := newServer(t, s.db.At(s.db.Now().Add(shift)), nil).tokens.Authenticate(context.Background(), made.Secret, "")
		if valid := err == nil; valid != want {
			t.Errorf("after %v: %v, want valid: %v", shift, err, want)
		}
	}
}
