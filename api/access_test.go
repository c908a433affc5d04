package api_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/api"
	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
)

// open is a route with ids that name nothing.
func open(route string) (method, path string) {
	method, path, _ = strings.Cut(strings.NewReplacer(":ulid", "01JZZZZZZZZZZZZZZZZZZZZZZZ", ":id", "9223372036854775807").Replace(route), " ")
	return method, path
}

// Every route against every kind of caller.
func TestWhoMayCallWhat(t *testing.T) {
	t.Parallel()
	proves(t, "Every tenant-scoped request carries a personal access token in the header `Authorization: Bearer <ACCESS_TOKEN>`. A missing, malformed or revoked token gives 401.",
		"All endpoints require `Authorization: Bearer <ACCESS_TOKEN>` (see Authentication).",
		"Tokens have scopes (also called abilities). A request to a scope-protected endpoint with a token lacking the scope gives 403.",
		"| customers:read | GET /customers, GET /customers/{ulid}, GET /customers/{ulid}/transactions |",
		"| customers:write | POST /customers, PATCH /customers/{ulid} |",
		"| transactions:write | GET /transactions/{ulid}, POST /transactions/{ulid}/void |",
		"| reports:read | GET /reports/summary, GET /reports/customers/top, GET /reports/coupons |",
		"Token endpoints (list, create, revoke) need only authentication, no scope.",
		"The creation endpoint is described as needing either a web session or any valid token of any scope; the two statements differ, so a builder accepts any authenticated caller.",
		"A platform token on a tenant endpoint: 403.", noTenants, superAdmins,
		"Tokens of a suspended tenant or deactivated person: 401 at once.",
		"on a tenant host a token of another tenant is 401.")
	s := newShop(t)
	platform := platformToken(t, s.door)
	id, _, _ := strings.Cut(platform, "|")
	// Were it ever to get abilities, it would still see no tenant.
	s.must(dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.token set abilities = $1 where id::text = $2", token.Abilities, id))
	strangers := s.nobodys(t)
	for route, ability := range abilities {
		method, path := open(route)
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			check := func(who, token string, want int, headers ...string) {
				t.Helper()
				got := s.door.call(t, method, path, token, "", headers...)
				switch want {
				case 401:
					got.is(t, 401, unauthorized)
					if got.header.Get("WWW-Authenticate") != "Bearer" {
						t.Errorf("%s: no WWW-Authenticate", who)
					}
				case 403:
					got.is(t, 403, forbidden)
				default:
					if got.status == 401 || got.status == 403 || got.status >= 500 {
						t.Errorf("%s: %d %s", who, got.status, got.body)
					}
				}
			}
			for who, header := range strangers {
				check(who, "", 401, "Authorization: "+header)
			}
			check("on another tenant's host", s.token, 401, "Host: "+s.stranger().by.Tenant.Slug+"."+domain)
			check("on a host of no tenant", s.token, 401, "Host: nobody."+domain)
			// Of a tenant's token with every ability, and of a platform token: 0 is let in.
			tenants, platforms := 0, 403
			switch ability {
			case "":
				platforms = 0
			case "platform":
				tenants, platforms = 403, 0
			}
			check("on its own host", s.token, tenants, "Host: "+s.by.Tenant.Slug+"."+domain)
			check("the scheme in other letters", "", tenants, "Authorization: bEARER "+s.token)
			check("platform", platform, platforms)
			check("platform on a tenant host", platform, 401, "Host: "+s.by.Tenant.Slug+"."+domain)
			for scope, token := range s.singles {
				if ability == "" || ability == scope {
					check(scope, token, 0)
				} else {
					check(scope, token, 403)
				}
			}
		})
	}
}

// nobodys are Authorization headers that stand for nobody.
func (s *shop) nobodys(t *testing.T) map[string]string {
	t.Helper()
	ctx := t.Context()
	s.stranger()
	s.singles = map[string]string{"none": s.makeToken().Secret}
	for _, a := range token.Abilities {
		s.singles[string(a)] = s.makeToken(a).Secret
	}
	bearer := func(token string) string { return "Bearer " + token }

	revoked := s.makeToken(token.Abilities...)
	if _, err := s.tokens.Revoke(ctx, s.by, revoked.ID); err != nil {
		t.Fatal(err)
	}
	expired := s.makeToken(token.Abilities...)
	s.change("token", "expires_at = now()", "id = "+strconv.FormatInt(expired.ID, 10))

	left := dbtest.Person(t, s.db, s.by, core.Owner)
	deactivated := makeToken(t, s.door, left, token.Abilities...)
	s.change("staff", "status = 'inactive'", "id = "+strconv.FormatInt(left.StaffID, 10))
	suspended := shopAt(t, s.door)
	s.must(s.tenants.Edit(ctx, core.System(core.Tenant{}, "test"), suspended.by.Tenant.ID, tenant.Edit{Status: core.Set("suspended")}))
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
		"with nobody's id":        bearer("9223372036854775807|" + secret),
		"with no id":              bearer("0|" + secret),
		"with an id too large":    bearer("9223372036854775808|" + secret),
		"spelled otherwise":       bearer("0" + id + "|" + secret),
		"signed":                  bearer("+" + id + "|" + secret),
		"two tokens":              bearer(s.token + " " + s.token),
		"a very long one":         bearer(strings.Repeat("1", 30000)),
	}
}

// The scope of POST /transactions is the operator's choice.
func TestScopeOfRecordingIsConfigurable(t *testing.T) {
	t.Parallel()
	proves(t, "The scope of POST /transactions is `LOYALTY_TRANSACTION_CREATE_SCOPE`, default `transactions:write`.",
		"Its availability and required scope are therefore unsettled; a builder implements it as described and keeps the scope configurable.")
	for _, chosen := range token.Abilities {
		o := newDoor(t, dbtest.DB(t), func(c *api.Config) { c.TransactionCreateScope = chosen })
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

// A token that expires is good until that instant, and not at it.
func TestTokensExpire(t *testing.T) {
	t.Parallel()
	proves(t, expiry)
	s := newShop(t)
	name, scopes, at := "Short", []string{}, s.db.Now().Add(time.Hour)
	made, err := s.tokens.Create(t.Context(), s.by, token.New{Name: &name, Scopes: &scopes, ExpiresAt: &at})
	s.must(made, err)
	for shift, want := range map[time.Duration]bool{59 * time.Minute: true, 61 * time.Minute: false, 24 * 365 * time.Hour: false} {
		_, err := newDoor(t, s.db.At(s.db.Now().Add(shift)), nil).tokens.Authenticate(context.Background(), made.Secret, "")
		if good := err == nil; good != want {
			t.Errorf("after %v: %v", shift, err)
		}
	}
}
