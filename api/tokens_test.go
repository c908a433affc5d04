package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
)

const (
	makes    = "| POST | /api/v1/tokens | none (authenticated only) | `name` (string), `scopes` (array of string) | 201, `data`: `id`, `name`, `token`, `abilities`, `created_at`. |"
	takes    = "POST /tokens takes `name` (1–255) and `scopes` (an array of the six, may be empty: a token that manages tokens)."
	lists    = "Lists show `id, name, abilities, last_used_at, expires_at, created_at`."
	revokes  = "| DELETE | /api/v1/tokens/{id} | none (authenticated only) | - | Revokes the token. |"
	sameOnes = "\"The caller's tokens\" are those of the same owner (staff member or super-admin). Revoking another's is 404. A token may revoke itself."
	everyone = `["customers:read","customers:write","transactions:write","rewards:read","coupons:read","reports:read"]`
	expiry   = "No expiry unless `expires_at` is given at creation (+)."
)

func tokenMade(name, abilities, expires string) string {
	return one(`{"id":<id>,"name":` + name + `,"token":"<secret>","abilities":` + abilities + `,"expires_at":` + expires + `,"created_at":"<time>"}`)
}

func TestCreateToken(t *testing.T) {
	post := func(says, with, body string, status int, want string) scenario {
		return scenario{says: says, with: with, method: "POST", path: "/tokens", body: body, status: status, want: want, after: func(s *shop, got answer) {
			if tokens := s.rows("token"); (got.status == 201) != (tokens == 2) {
				s.T.Errorf("status %d, and %d tokens", got.status, tokens)
			}
		}}
	}
	proves(t, created, "Launch scopes: customers:read, customers:write, transactions:write, rewards:read, coupons:read, reports:read.")
	var otherScopes []string
	for i := range 10 {
		otherScopes = append(otherScopes, fmt.Sprintf(`"scopes.%d":["The selected scopes.%[1]d is invalid."]`, i))
	}
	table := []scenario{
		post(makes, "", `{"name":"Till","scopes":["customers:read"]}`, 201, tokenMade(`"Till"`, `["customers:read"]`, "null")),
		post(takes, "all six", `{"name":"Ü","scopes":`+everyone+`}`, 201, tokenMade(`"Ü"`, everyone, "null")),
		post(takes, "none", `{"name":"x","scopes":[]}`, 201, tokenMade(`"x"`, `[]`, "null")),
		post(takes, "one twice", `{"name":"x","scopes":["reports:read","reports:read"]}`, 201, tokenMade(`"x"`, `["reports:read"]`, "null")),
		post(takes, "255 characters", `{"name":"`+strings.Repeat("ü", 255)+`","scopes":[]}`, 201, tokenMade(`"`+strings.Repeat("ü", 255)+`"`, `[]`, "null")),
		post(takes, "256 characters", `{"name":"`+strings.Repeat("ü", 256)+`","scopes":[]}`, 422, invalid(`"name":["The name field must not be greater than 255 characters."]`)),
		post(takes, "101 of them", `{"name":"x","scopes":["customers:read"`+strings.Repeat(`,"customers:read"`, 100)+`]}`, 422, invalid(`"scopes":["The scopes field must not have more than 100 items."]`)),
		post(takes, "missing", `{}`, 422, invalid(`"name":["The name field is required."],"scopes":["The scopes field is required."]`)),
		post(takes, "null", `{"name":null,"scopes":null,"expires_at":null}`, 422, invalid(`"name":["The name field is required."],"scopes":["The scopes field is required."]`)),
		post("A scope named `tokens:write` is mentioned once as allowing token creation through the API; it is absent from the scope list. Treat the six scopes above as the complete set.", "tokens:write", `{"name":"x","scopes":["tokens:write","customers:read","*"]}`, 422, invalid(`"scopes.0":["The selected scopes.0 is invalid."],"scopes.2":["The selected scopes.2 is invalid."]`)),
		post(wrongType, "of a token", `{"name":5,"scopes":"customers:read","expires_at":1}`, 422, invalid(`"expires_at":["The expires at field must be a string."],"name":["The name field must be a string."],"scopes":["The scopes field must be an array."]`)),
		post(wrongType, "of a scope", `{"name":"x","scopes":["customers:read",1,null,"no"]}`, 422, invalid(`"scopes.1":["The scopes.1 field must be a string."],"scopes.2":["The scopes.2 field must be a string."],"scopes.3":["The selected scopes.3 is invalid."]`)),
		post(nulText, "of a token", `{"name":"a\u0000","scopes":["\u0000"]}`, 422, invalid(`"name":["The name field must not contain NUL characters."],"scopes.0":["The selected scopes.0 is invalid."]`)),
		post("Treat the six scopes above as the complete set.", "others", `{"name":"x","scopes":["","customers","customers:delete","rewards:write","coupons:write","reports:write","transactions:read","Customers:Read","platform","customer-portal:read"]}`, 422, invalid(strings.Join(otherScopes, ","))),
		post(expiry, "given", `{"name":"x","scopes":[],"expires_at":"2999-12-31T23:59:59.5+01:00"}`, 201, tokenMade(`"x"`, `[]`, `"2999-12-31T22:59:59.500Z"`)),
		post(expiry, "in the past", `{"name":"x","scopes":[],"expires_at":"2020-01-01T00:00:00Z"}`, 422, invalid(`"expires_at":["The expires at field must be a date after now."]`)),
		post(expiry, "at the end of the year 9999", `{"name":"x","scopes":[],"expires_at":"9999-12-31T23:59:59.999Z"}`, 201, tokenMade(`"x"`, `[]`, `"9999-12-31T23:59:59.999Z"`)),
		post(expiry, "after the year 9999", `{"name":"x","scopes":[],"expires_at":"9999-12-31T23:59:59-00:01"}`, 422, invalid(`"expires_at":["The expires at field must be a date and time with an offset, such as 2026-11-27T09:30:00Z."]`)),
		post(expiry, "no instant", `{"name":"x","scopes":[],"expires_at":"2999-12-31"}`, 422, invalid(`"expires_at":["The expires at field must be a date and time with an offset, such as 2026-11-27T09:30:00Z."]`)),
		{says: "A platform token makes platform tokens; their `scopes` must be empty.", method: "POST", path: "/tokens", auth: "platform", body: `{"name":"x","scopes":[]}`, status: 201, want: tokenMade(`"x"`, `[]`, "null")},
		{says: "A platform token makes platform tokens; their `scopes` must be empty.", with: "they are not", method: "POST", path: "/tokens", auth: "platform", body: `{"name":"x","scopes":["customers:read"]}`, status: 422, want: invalid(`"scopes.0":["The selected scopes.0 is invalid."]`)},
		{says: "A platform token must carry no tenant scope", method: "POST", path: "/tokens", auth: "platform", body: `{"name":"x","scopes":["reports:read","rewards:read"]}`, status: 422, want: invalid(`"scopes.0":["The selected scopes.0 is invalid."],"scopes.1":["The selected scopes.1 is invalid."]`)},
		{says: "It is open to a token of any scope,", method: "POST", path: "/tokens", auth: "coupons:read", body: `{"name":"x","scopes":` + everyone + `}`, status: 201, want: tokenMade(`"x"`, everyone, "null")},
	}
	for _, a := range token.Abilities {
		table = append(table, post("Scopes:", string(a), `{"name":"x","scopes":["`+string(a)+`"]}`, 201, tokenMade(`"x"`, `["`+string(a)+`"]`, "null")))
	}
	runScenarios(t, table)
}

func TestListAndRevokeTokens(t *testing.T) {
	own := func(used string) string {
		return `{"id":{own_token},"name":"Till","abilities":` + everyone + `,"last_used_at":` + used + `,"expires_at":null,"created_at":"<time>"}`
	}
	spare := `{"id":{spare_token},"name":"Till","abilities":["reports:read"],"last_used_at":null,"expires_at":null,"created_at":"<time>"}`
	runScenarios(t, []scenario{
		{says: lists, also: []string{"and the response of GET /api/v1/tokens: not shown."}, method: "GET", path: "/tokens", status: 200, want: only("/tokens", spare, own(`"<time>"`))},
		{says: "| GET | /api/v1/tokens | none (authenticated only) | - | List of the caller's tokens, each with its `id`. |", method: "GET", path: "/tokens", before: func(s *shop) { s.fill("{colleague_token}{foreign_own_token}") }, status: 200, want: only("/tokens", own(`"<time>"`))},
		{says: "204 for token revocation.", method: "DELETE", path: "/tokens/{spare_token}", status: 204, after: func(s *shop, _ answer) {
			s.call("GET", "/api/v1/tokens", s.token, "").is(s.T, 200, s.fill(only("/tokens", own(`"<time>"`))))
		}},
		{says: revokes, with: "once", method: "DELETE", path: "/tokens/{spare_token}", before: func(s *shop) { s.call("DELETE", "/api/v1/tokens/{spare_token}", s.token, "") }, status: 404, want: notFound},
		{says: sameOnes, with: "itself", method: "DELETE", path: "/tokens/{own_token}", status: 204, after: func(s *shop, _ answer) {
			s.call("GET", "/api/v1/tokens", s.token, "").is(s.T, 401, unauthorized)
		}},
		{says: sameOnes, with: "a colleague's", method: "DELETE", path: "/tokens/{colleague_token}", status: 404, want: notFound},
		{says: sameOnes, with: "another tenant's", method: "DELETE", path: "/tokens/{foreign_own_token}", status: 404, want: notFound},
		{says: sameOnes, with: "unknown", method: "DELETE", path: "/tokens/9223372036854775807", status: 404, want: notFound},
		{says: "A path id that does not parse is 404.", with: "of a token", method: "DELETE", path: "/tokens/9223372036854775808", status: 404, want: notFound},
		{says: "A path id that does not parse is 404.", with: "a fraction", method: "DELETE", path: "/tokens/1.0", status: 404, want: notFound},
		{says: "A path id that does not parse is 404.", with: "a negative one", method: "DELETE", path: "/tokens/-1", status: 404, want: notFound},
		{says: "API tokens and platform tenants are addressed by integer `id`.", method: "DELETE", path: "/tokens/{spare_token}", status: 204},
	})
}

func TestTokenLifecycle(t *testing.T) {
	t.Parallel()
	proves(t, "`{id}|{40 characters of [A-Za-z0-9]}{8 hex digits: CRC-32B of those 40}`; stored: SHA-256 of what follows `|`; found by id,",
		"| token | string | Secret. Returned only in the creation response, of the form `<integer>|<opaque string>`. Never returned again. |",
		"or by POST /api/v1/tokens. The secret value is shown once only.", "Never logged.", "| id | integer | Used in the revoke path. |",
		"| name | string | Descriptive name. |", "| abilities | array of string | The scopes of the token. |",
		"The new token belongs to the same owner; the audit log names it and the owner is mailed, since any leaked token could make one with every scope.")
	s := newShop(t)
	s.change("token", "told_at = told_at - interval '1 hour'") // so that the next one is e-mailed at once
	mails := s.rows("mail")
	got := s.call("POST", "/api/v1/tokens", s.token, `{"name":"New till","scopes":["customers:read"]}`)
	var answered struct {
		Data struct {
			ID    int64
			Token string
		}
	}
	if err := json.Unmarshal([]byte(got.body), &answered); err != nil || got.status != 201 {
		t.Fatal(got)
	}
	secret := answered.Data.Token
	id, rest, _ := strings.Cut(secret, "|")
	if sum := fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(rest[:40]))); id != strconv.FormatInt(answered.Data.ID, 10) || rest[40:] != sum {
		t.Errorf("the secret's checksum is %s, want %s", rest[40:], sum)
	}
	var hash []byte
	var entry string
	err := dbtest.Owner(s.db).QueryRow(t.Context(), "select hash from loyalty.token where id = $1 and staff_id = $2",
		answered.Data.ID, s.By.StaffID).Scan(&hash)
	if want := sha256.Sum256([]byte(rest)); err != nil || string(hash) != string(want[:]) {
		t.Errorf("stored %x, %v; want %x", hash, err, want)
	}
	s.must(nil, dbtest.Owner(s.db).QueryRow(t.Context(), `
		select string_agg(a::text, ' ')
		from loyalty.audit_entry a
		where tenant_id = $1 and subject_kind = 'token' and subject_id = $2`, s.By.Tenant.ID, strconv.FormatInt(answered.Data.ID, 10)).Scan(&entry))
	ownID, _, _ := strings.Cut(s.token, "|")
	if !strings.Contains(entry, "token.create") || !strings.Contains(entry, "New till") || strings.Contains(entry, rest) ||
		!strings.Contains(entry, ",token,"+ownID+",") || !strings.Contains(entry, got.header.Get("X-Request-Id")) {
		t.Errorf("the audit log entry is %s", entry)
	}
	if s.rows("mail") != mails+1 {
		t.Errorf("%d mails, want one more than %d", s.rows("mail"), mails)
	}
	s.call("GET", "/api/v1/customers", secret, "").is(t, 200, s.fill(only("/customers")))
	if list := s.call("GET", "/api/v1/tokens", secret, ""); strings.Contains(list.body, rest[:8]) || strings.Count(list.body, `"id":`) != 2 {
		t.Errorf("the list is %s", list.body)
	}
	if strings.Contains(s.log.String(), rest[:8]) {
		t.Error("the secret is in the log")
	}
	s.call("DELETE", "/api/v1/tokens/"+id, secret, "")
	s.call("GET", "/api/v1/customers", secret, "").is(t, 401, unauthorized)
}

func TestLastUseIsWrittenOnceAMinute(t *testing.T) {
	t.Parallel()
	proves(t, "`last_used_at` is written at most once a minute.")
	s := newShop(t)
	used := func() *time.Time {
		id, _, _ := strings.Cut(s.token, "|")
		return shoptest.Query[*time.Time](s.Shop, "select last_used_at from loyalty.token where id::text = $1", id)
	}
	if used() != nil {
		t.Fatal("used before the first use")
	}
	s.call("GET", "/api/v1/tokens", s.token, "")
	first := used()
	s.call("GET", "/api/v1/tokens", s.token, "")
	if first == nil || !used().Equal(*first) {
		t.Errorf("used at %v, then at %v", first, used())
	}
	s.change("token", "last_used_at = last_used_at - interval '61 seconds'")
	s.call("GET", "/api/v1/tokens", s.token, "")
	if !used().After(first.Add(-time.Second)) {
		t.Errorf("a minute later the use of %v is still the last", used())
	}
}

func TestPeopleSeeOnlyTheirTokens(t *testing.T) {
	t.Parallel()
	proves(t, sameOnes, "The new token belongs to the same owner;")
	s := newShop(t)
	colleague := dbtest.Person(t, s.db, s.By, core.Owner)
	theirs := makeToken(t, s.server, colleague, token.ReportsRead)
	s.call("POST", "/api/v1/tokens", theirs.Secret, `{"name":"Second","scopes":[]}`)
	list := s.call("GET", "/api/v1/tokens", theirs.Secret, "").page(t)
	if len(list.Data) != 2 || list.Data[1].ID != theirs.ID {
		t.Errorf("theirs are %+v", list.Data)
	}
	if own := s.call("GET", "/api/v1/tokens", s.token, "").page(t); len(own.Data) != 1 {
		t.Errorf("their own are %+v", own.Data)
	}
	platform := platformToken(t, s.server)
	if admins := s.call("GET", "/api/v1/tokens", platform, "").page(t); len(admins.Data) != 1 {
		t.Errorf("the super-admin's are %+v", admins.Data)
	}
	s.call("DELETE", "/api/v1/tokens/{own_token}", platform, "").is(t, 404, notFound)
	if _, err := s.tokens.Authenticate(context.Background(), s.token, ""); err != nil {
		t.Errorf("the token must still be valid: %v", err)
	}
}

// A person changes roles, with a token created in each role that allows one. After each change,
// only some of them work.
func TestTokensFollowTheirPerson(t *testing.T) {
	t.Parallel()
	proves(t, "A token works only while its person may have one: an owner of the tenant (or a super-admin). Losing the role, being deactivated or a suspended tenant "+
		"turns it to 401 at once, and a change of role revokes it for good.")
	s := newShop(t)
	s.change("credential", "password_hash = 'known'", "staff_id = "+s.By.ID) // the others can be demoted
	person := dbtest.Person(t, s.db, s.By, core.Owner)
	ctx := t.Context()
	role := func(r core.Role) func() error {
		return func() error { return s.people.SetRole(ctx, s.By, person.StaffID, r) }
	}
	deactivate := func() error { return s.people.Deactivate(ctx, s.By, person.StaffID) }
	activate := func() error { return s.people.Activate(ctx, s.By, person.StaffID) }
	tenants := func(status string) func() error {
		return func() error {
			_, err := s.tenants.Edit(ctx, core.System(core.Tenant{}, "test"), s.By.Tenant.ID, tenant.Edit{Status: core.Set(status)})
			return err
		}
	}
	secrets := map[string]string{}
	for _, stage := range []struct {
		name   string
		change func() error
		works  string // the tokens that work
		makes  string // the token that the person creates
		none   bool   // no token of the tenant works
	}{
		{"an owner", nil, "", "A", false},
		{"demoted to manager", role(core.Manager), "", "", false},
		{"promoted again", role(core.Owner), "", "B", false},
		{"demoted to cashier", role(core.Cashier), "", "", false},
		{"a manager instead", role(core.Manager), "", "", false},
		{"promoted once more", role(core.Owner), "", "C", false},
		{"deactivated", deactivate, "", "", false},
		{"reactivated", activate, "C", "D", false},
		{"the tenant suspended", tenants("suspended"), "", "", true},
		{"the tenant active again", tenants("active"), "CD", "E", false},
		{"deactivated again", deactivate, "", "", false},
		{"demoted meanwhile", role(core.Manager), "", "", false},
		{"promoted meanwhile", role(core.Owner), "", "", false},
		{"reactivated, as an owner", activate, "", "F", false},
	} {
		if stage.change != nil {
			if err := stage.change(); err != nil {
				t.Fatalf("%s: %v", stage.name, err)
			}
		}
		for name, secret := range secrets {
			want := 401
			if strings.Contains(stage.works, name) {
				want = 200
			}
			for _, path := range []string{"/api/v1/customers", "/api/v1/tokens"} {
				if got := s.call("GET", path, secret, ""); got.status != want {
					t.Errorf("%s: token %s asks for %s = %d, want %d", stage.name, name, path, got.status, want)
				}
			}
			if want == 401 {
				s.call("POST", "/api/v1/tokens", secret, `{"name":"Another","scopes":`+everyone+`}`).is(t, 401, unauthorized)
			}
		}
		want := 200
		if stage.none {
			want = 401
		}
		if got := s.call("GET", "/api/v1/customers", s.token, ""); got.status != want {
			t.Errorf("%s: the other owner's token = %d, want %d", stage.name, got.status, want)
		}
		scopes := []string{string(token.CustomersRead)}
		made, err := core.Result(s.tokens.Create(ctx, person, token.New{Name: stage.name, Scopes: &scopes}, nil))
		if stage.makes == "" {
			if !errors.Is(err, core.ErrRole) {
				t.Errorf("%s: they create a token: %v, want ErrRole", stage.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", stage.name, err)
		}
		secrets[stage.makes] = made.Secret
		if got := s.call("GET", "/api/v1/customers", made.Secret, ""); got.status != 200 {
			t.Errorf("%s: the new token = %d, want 200", stage.name, got.status)
		}
	}
}

// "At most 100 live tokens a person".
func TestTokenLimitPerPerson(t *testing.T) {
	t.Parallel()
	proves(t, "At most 100 live tokens a person (422 `token-limit-reached`);", "the mails about new tokens are gathered, at most one an hour.")
	s := newShop(t)
	mails := s.rows("mail")
	id := ""
	for range 99 {
		id = strconv.FormatInt(s.makeToken().ID, 10)
	}
	if got := s.rows("mail"); got != mails {
		t.Errorf("%d mails within the hour", got-mails)
	}
	another := func() answer { return s.call("POST", "/api/v1/tokens", s.token, `{"name":"Another","scopes":[]}`) }
	another().is(t, 422, refused("token-limit-reached", token.ErrLimit.Message))
	s.call("DELETE", "/api/v1/tokens/"+id, s.token, "")
	if got := another(); got.status != 201 {
		t.Errorf("after revoking one: %d %s", got.status, got.body)
	}
}
