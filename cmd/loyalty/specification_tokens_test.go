package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	everyScope = `["customers:read","customers:write","transactions:write","rewards:read","coupons:read","reports:read"]`

	tokenSecret   = "| token | string | Secret. Returned only in the creation response, of the form `<integer>|<opaque string>`. Never returned again. |"
	tokenList     = "| GET | /api/v1/tokens | none (authenticated only) | - | List of the caller's tokens, each with its `id`. |"
	tokenCreate   = "| POST | /api/v1/tokens | none (authenticated only) | `name` (string), `scopes` (array of string) | 201, `data`: `id`, `name`, `token`, `abilities`, `created_at`. |"
	tokenRevoke   = "| DELETE | /api/v1/tokens/{id} | none (authenticated only) | - | Revokes the token. |"
	anyCreator    = "The creation endpoint is described as needing either a web session or any valid token of any scope; the two statements differ, so a builder accepts any authenticated caller."
	noTokensWrite = "A scope named `tokens:write` is mentioned once as allowing token creation through the API; it is absent from the scope list."
	sixScopes     = "Treat the six scopes above as the complete set."
	tokenLifetime = "Token lifetime and expiry: not shown."
	noTenantScope = "A platform token must carry no tenant scope (it is a platform-wide token issued in the super-admin panel)."
	launchScopes  = "Launch scopes: customers:read, customers:write, transactions:write, rewards:read, coupons:read, reports:read."

	newToken = `{"name":"Till","scopes":["customers:read"]}`
)

// tokenMade is the response to the creation of a token.
func tokenMade(name, abilities, expires string) string {
	return one(`{"id":<id>,"name":"` + name + `","token":"<secret>","abilities":` + abilities + `,"expires_at":` + expires + `,"created_at":"<time>"}`)
}

const (
	tillIs  = `{"id":{token},"name":"Spare","abilities":["reports:read"],"last_used_at":null,"expires_at":null,"created_at":"<time>"}`
	hundred = `"links":{<anything>},"meta":{"path":"{base}/api/v1/tokens","per_page":100,<anything>}}`
)

// newSecret creates a token.
func (v *visit) newSecret(body string) (id, secret string) {
	v.t.Helper()
	got := v.ask("POST", "/tokens", "", body)
	return got.identity(v.t), v.secretOf(got)
}

func (v *visit) secretOf(created answer) string {
	v.t.Helper()
	return decode[single[struct{ Token string }]](v.t, created.body).Data.Token
}

// with makes a request with a token that isn't in the file.
func (v *visit) with(token, method, path, body string) answer {
	v.t.Helper()
	return v.ask(method, path, "anonymous", body, "Authorization: Bearer "+token)
}

var tokenSentences = []sentence{
	{says: "Tokens are created in the tenant admin panel (Settings, API Tokens, New Token: name plus scopes)", story: panelToken},
	{says: "| id | integer | Used in the revoke path. |", story: func(v *visit) {
		id, secret := v.newSecret(newToken)
		v.is(v.with(secret, "GET", "/customers/{missing}", ""), 404, notFound)
		v.is(v.ask("DELETE", "/tokens/"+id, "", ""), 204, "")
		v.is(v.with(secret, "GET", "/customers/{missing}", ""), 401, unauthorized)
	}},
	{says: "| name | string | Descriptive name. |", method: "POST", path: "/tokens", body: newToken, status: 201, want: tokenMade("Till", `["customers:read"]`, "null")},
	{says: "| name | string | Descriptive name. |", with: "none", method: "POST", path: "/tokens", body: `{"scopes":[]}`, status: 422, want: invalid(`"name":["The name field is required."]`)},
	{says: tokenSecret, story: func(v *visit) {
		got := v.ask("POST", "/tokens", "", newToken)
		v.is(got, 201, tokenMade("Till", `["customers:read"]`, "null"))
		_, opaque, _ := strings.Cut(v.secretOf(got), "|")
		list := v.ask("GET", "/tokens?per_page=100", "", "")
		if !strings.Contains(list.body, `{"id":`+got.identity(v.t)+`,`) || strings.Contains(list.body, opaque) || strings.Contains(list.body, `"token":`) {
			v.t.Errorf("the list is %s", list.body)
		}
	}},
	{says: "| abilities | array of string | The scopes of the token. |", method: "POST", path: "/tokens", body: `{"name":"Till","scopes":` + everyScope + `}`, status: 201, want: tokenMade("Till", everyScope, "null")},
	{says: "| abilities | array of string | The scopes of the token. |", with: "none", method: "POST", path: "/tokens", body: `{"name":"Till","scopes":[]}`, status: 201, want: tokenMade("Till", `[]`, "null")},
	{says: "| created_at | string (timestamp) | |", with: "of a token", method: "POST", path: "/tokens", body: newToken, status: 201, want: tokenMade("Till", `["customers:read"]`, "null")},

	{
		says: tokenList, method: "GET", path: "/tokens?per_page=100", as: "none", status: 200, want: `{"data":[<anything>` + tillIs + `<anything>],` + hundred,
		after: func(v *visit, got answer) {
			for name, token := range v.other.shop.Tokens {
				if id, _, _ := strings.Cut(token, "|"); strings.Contains(got.body, `{"id":`+id+`,`) {
					v.t.Errorf("the other tenant's %s is in the list", name)
				}
			}
		},
	},
	{says: editableFields, with: "the list of tokens", method: "GET", path: "/tokens?per_page=100", status: 200, want: `{"data":[<anything>` + tillIs + `<anything>],` + hundred},
	{says: tokenCreate, method: "POST", path: "/tokens", as: "none", body: newToken, status: 201, want: tokenMade("Till", `["customers:read"]`, "null")},
	{
		says: tokenCreate, with: "nothing is sent", method: "POST", path: "/tokens", as: "none", body: `{}`, status: 422,
		want: invalid(`"name":["The name field is required."],"scopes":["The scopes field is required."]`),
	},
	{
		says: tokenCreate, with: "other kinds of values", method: "POST", path: "/tokens", as: "none", body: `{"name":1,"scopes":"customers:read"}`, status: 422,
		want: invalid(`"name":["The name field must be a string."],"scopes":["The scopes field must be an array."]`),
	},
	{says: tokenRevoke, method: "DELETE", path: "/tokens/{token}", as: "none", status: 204, after: func(v *visit, _ answer) {
		v.is(v.ask("DELETE", "/tokens/{token}", "none", ""), 404, notFound)
	}},
	{says: tokenRevoke, with: "itself", story: func(v *visit) {
		id, secret := v.newSecret(newToken)
		v.is(v.with(secret, "DELETE", "/tokens/"+id, ""), 204, "")
		v.is(v.with(secret, "GET", "/tokens", ""), 401, unauthorized)
	}},
	{
		says: noTenantScope, with: "not even if asked for", method: "POST", path: "/tokens", as: "platform", body: `{"name":"Robot","scopes":["customers:read"]}`,
		status: 422, want: invalid(`"scopes.0":["The selected scopes.0 is invalid."]`),
	},
	{says: noTenantScope, with: "one from another", method: "POST", path: "/tokens", as: "platform", body: `{"name":"Robot","scopes":[]}`, status: 201, want: tokenMade("Robot", `[]`, "null")},

	{says: "or by POST /api/v1/tokens.", story: func(v *visit) {
		_, secret := v.newSecret(newToken)
		v.is(v.with(secret, "GET", "/customers/{anna}", ""), 200, one(annaIs))
	}},
	{says: "The secret value is shown once only.", story: func(v *visit) {
		made := v.ask("POST", "/tokens", "", newToken)
		_, opaque, _ := strings.Cut(v.secretOf(made), "|")
		again := v.ask("POST", "/tokens", "", newToken)
		list := v.ask("GET", "/tokens?per_page=100", "", "")
		if strings.Count(made.body, opaque) != 1 || strings.Contains(again.body, opaque) || strings.Contains(list.body, opaque) {
			v.t.Errorf("made %s, again %s, in the list %s", made.body, again.body, list.body)
		}
	}},
	{says: anyCreator, with: "a token of any scope", story: func(v *visit) {
		for as := range v.shop.Tokens {
			v.is(v.ask("POST", "/tokens", as, newToken), 201, tokenMade("Till", `["customers:read"]`, "null"))
		}
		v.is(v.ask("POST", "/tokens", "platform", `{"name":"Robot","scopes":[]}`), 201, tokenMade("Robot", `[]`, "null"))
	}},
	{says: anyCreator, with: "a web session", story: func(v *visit) {
		p := v.other.desk()
		made := p.ask("POST", p.host()+"/api/v1/tokens", "anonymous", newToken, "Sec-Fetch-Site: same-origin", "Cookie: "+p.cookie)
		v.is(made, 201, tokenMade("Till", `["customers:read"]`, "null"))
		p.is(p.with(v.secretOf(made), "GET", "/customers/{anna}", ""), 200, one(annaIs))
	}},
	{says: anyCreator, with: "unknown", method: "POST", path: "/tokens", as: "anonymous", body: newToken, status: 401, want: unauthorized},
	{
		says: noTokensWrite, method: "POST", path: "/tokens", body: `{"name":"Till","scopes":["tokens:write"]}`,
		status: 422, want: invalid(`"scopes.0":["The selected scopes.0 is invalid."]`),
	},
	{says: sixScopes, with: "all six", method: "POST", path: "/tokens", body: `{"name":"Till","scopes":` + everyScope + `}`, status: 201, want: tokenMade("Till", everyScope, "null")},
	{says: sixScopes, with: "others", story: func(v *visit) {
		for _, scope := range []string{"*", "", "customers", "customers:delete", "rewards:write", "coupons:write", "reports:write", "transactions:read", "Customers:Read", "platform"} {
			v.is(v.ask("POST", "/tokens", "", `{"name":"Till","scopes":["`+scope+`"]}`), 422, invalid(`"scopes.0":["The selected scopes.0 is invalid."]`))
		}
	}},
	{says: tokenLifetime, with: "no end without a word", method: "POST", path: "/tokens", body: newToken, status: 201, want: tokenMade("Till", `["customers:read"]`, "null")},
	{says: tokenLifetime, with: "an end that was asked for", story: func(v *visit) {
		ends := time.Now().Add(5 * time.Second).UTC().Truncate(time.Millisecond)
		_, secret := v.newSecret(fmt.Sprintf(`{"name":"Short","scopes":["customers:read"],"expires_at":"%s"}`, ends.Format(time.RFC3339Nano)))
		v.is(v.with(secret, "GET", "/customers/{missing}", ""), 404, notFound)
		await(v.t, "the token ends", func() bool {
			return v.with(secret, "GET", "/customers/{missing}", "").status == http.StatusUnauthorized
		})
		if over := time.Since(ends); over < -time.Second {
			v.t.Errorf("it expired %v too early", -over)
		}
	}},
	{says: launchScopes, method: "POST", path: "/tokens", body: `{"name":"Launch","scopes":` + everyScope + `}`, status: 201, want: tokenMade("Launch", everyScope, "null")},
	{says: "Scopes:", with: "each by itself", story: func(v *visit) {
		for as := range v.shop.Tokens {
			if as != "all" && as != "none" {
				v.is(v.ask("POST", "/tokens", "", `{"name":"Till","scopes":["`+as+`"]}`), 201, tokenMade("Till", `["`+as+`"]`, "null"))
			}
		}
	}},
}
