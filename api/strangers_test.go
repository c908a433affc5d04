package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core/shoptest"
)

// Two tenants have the same data. Every route responds to the other tenant's ids as to unknown ones.
func TestOtherTenantGetsNothing(t *testing.T) {
	t.Parallel()
	proves(t, "A record of another tenant answers byte for byte like a missing one.", onTheField,
		"Resource missing, or owned by another tenant (never 403 for that case).",
		"A tenant token reaches only its own tenant's data.",
		"A resource that belongs to another tenant is reported as nonexistent (404), never as forbidden.",
		"Every tenant-scoped request is confined to the tenant that owns the token.")
	s := newShop(t)
	o := s.stranger()
	const records = "{anna} {bo} {sale} {voided} {own_token} {spare_token} {points} {redemption} {espresso} {coupon} {voucher} {spent} {harbour}"
	theirs := strings.Fields(o.fill(records))
	s.fill(records)
	before := o.state()

	missing := map[string][]string{":ulid": {s.fill("{missing}")}, ":id": {"9223372036854775807"}}
	foreign := map[string][]string{":ulid": slices.Concat(theirs[:4], theirs[7:12]), ":id": theirs[4:6]}
	walked := 0
	for _, r := range s.api.Router() {
		for name, ids := range foreign {
			if !strings.Contains(r.Path, name) {
				continue
			}
			for _, body := range []string{`{"first_name":"Mine","phone":"112"}`, `{"status":"inactive"}`, `{}`} {
				want := s.call(r.Method, strings.Replace(r.Path, name, missing[name][0], 1), s.token, body)
				if abilities[r.Method+" "+r.Path] == "platform" {
					want.is(t, 403, forbidden)
				} else {
					want.is(t, 404, notFound)
				}
				for _, id := range ids {
					for _, spelled := range []string{id, strings.ToLower(id)} {
						got := s.call(r.Method, strings.Replace(r.Path, name, spelled, 1), s.token, body)
						same(t, r.Method+" "+r.Path, got, want)
						walked++
					}
				}
			}
		}
	}
	if walked < 50 {
		t.Errorf("only %d steps", walked)
	}

	// References in bodies.
	for _, body := range []string{
		`{"customer_ulid":"CUSTOMER","transaction_type_id":{points},"spend_amount_cents":100}`,
		`{"customer_ulid":"{anna}","transaction_type_id":TYPE,"spend_amount_cents":100}`,
		`{"customer_ulid":"CUSTOMER","transaction_type_id":TYPE,"spend_amount_cents":100}`,
	} {
		got := s.call("POST", "/api/v1/transactions", s.token, strings.NewReplacer("CUSTOMER", theirs[0], "TYPE", theirs[6]).Replace(body))
		want := s.call("POST", "/api/v1/transactions", s.token, strings.NewReplacer("CUSTOMER", "{missing}", "TYPE", "9223372036854775807").Replace(body))
		if same(t, body, got, want); got.status != 422 {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}

	for _, body := range []string{
		`{"customer_ulid":"CUSTOMER","reward_ulid":"{espresso}"}`, `{"customer_ulid":"{anna}","reward_ulid":"REWARD"}`,
	} {
		got := s.call("POST", "/api/v1/redemptions", s.token, strings.NewReplacer("CUSTOMER", theirs[0], "REWARD", theirs[8]).Replace(body))
		want := s.call("POST", "/api/v1/redemptions", s.token, strings.NewReplacer("CUSTOMER", "{missing}", "REWARD", "{missing}").Replace(body))
		if same(t, body, got, want); got.status != 422 {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}

	for _, path := range []string{"/coupons/{voucher}/redeem", "/coupons/VOUCHER/redeem"} {
		path, body := "/api/v1"+strings.Replace(path, "VOUCHER", theirs[10], 1), `{"transaction_ulid":"SALE"}`
		got := s.call("POST", path, s.token, strings.Replace(body, "SALE", theirs[2], 1))
		want := s.call("POST", path, s.token, strings.Replace(body, "SALE", "{missing}", 1))
		if same(t, path, got, want); got.status == 200 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := s.call("GET", "/api/v1/redemptions?customer_ulid="+theirs[0], s.token, ""); len(got.page(t).Data) != 0 {
		t.Errorf("the other's redemptions: %s", got.body)
	}

	// Lists, with filters that match in both.
	for _, path := range []string{
		"/customers", "/customers?phone=0701740605", "/customers?email=anna@example.com", "/customers?search=anna", "/customers?status=active",
		"/customers/{anna}/transactions", "/customers/{anna}/expiring", "/customers/{anna}/ledger-entries", "/rewards", "/redemptions", "/redemptions?status=pending", "/coupons", "/coupons/{stamp_coupon}/redemptions", "/tokens", "/reports/customers/top", "/reports/coupons",
	} {
		got := s.call("GET", "/api/v1"+path, s.token, "")
		shown := func(id string) bool { return strings.Contains(got.body, `"`+id+`"`) }
		listed := func(token string) bool { return strings.Contains(got.body, `"id":`+token+`,`) }
		if list := got.page(t); len(list.Data) == 0 || slices.ContainsFunc(theirs, shown) || slices.ContainsFunc(theirs[4:6], listed) {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	for path, theirs := range map[string]string{"/transaction-types": theirs[6], "/locations": theirs[12]} {
		got := s.call("GET", "/api/v1"+path, s.token, "")
		if list := got.page(t); len(list.Data) == 0 || strings.Contains(got.body, `"id":`+theirs+`,`) {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	// A cursor is only a position.
	if next := o.call("GET", "/api/v1/customers?per_page=1", o.token, "").page(t); next.Meta.NextCursor != nil {
		got := s.call("GET", "/api/v1/customers?cursor="+*next.Meta.NextCursor, s.token, "")
		if strings.Contains(got.body, theirs[0]) || strings.Contains(got.body, theirs[1]) {
			t.Errorf("by the other's cursor: %s", got.body)
		}
	}
	if after := o.state(); after != before {
		t.Errorf("the other tenant was\n%s, is\n%s", before, after)
	}
}

// state is all data of a tenant, except when its tokens were last used.
func (s *shop) state() string {
	s.T.Helper()
	var text strings.Builder
	text.WriteString(s.everything())
	for _, table := range quiet("customer", "account", "transaction", "ledger_entry", "reward", "redemption", "coupon", "coupon_send", "voucher") {
		text.WriteString(shoptest.Query[string](s.Shop, "select coalesce(string_agg(r::text, ' ' order by r::text), '') from loyalty."+table+" r where tenant_id = $1", s.By.Tenant.ID))
	}
	return text.String()
}

// same compares whole responses, except request ids.
func same(t *testing.T, what string, got, want answer) {
	t.Helper()
	if got.status != want.status || got.body != want.body {
		t.Errorf("%s: %d %s, want %d %s", what, got.status, got.body, want.status, want.body)
	}
	differs := []string{"Date", "X-Request-Id", "X-Ratelimit-Remaining"}
	for name := range merged(got.header, want.header) {
		if !slices.Contains(differs, name) && !slices.Equal(got.header[name], want.header[name]) {
			t.Errorf("%s: %s is %q, want %q", what, name, got.header[name], want.header[name])
		}
	}
}

func merged(a, b http.Header) http.Header {
	m := a.Clone()
	for name, values := range b {
		m[name] = append(m[name], values...)
	}
	return m
}
