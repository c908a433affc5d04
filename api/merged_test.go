package api_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
)

// "The old ULID answers 404 to the API": on every route and in every body, a customer who was merged into another
// gets what an unknown one gets, and their sales are the other customer's.
func TestMergedCustomerIsMissing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	sale := s.fill("{sale}") // Anna's
	old := s.fill("{anna}")
	bo, err := core.ParseID(s.fill("{bo}"))
	s.Check(err)
	if _, err = core.Result(s.Merging.Merge(t.Context(), s.By, bo, s.parsed(old), nil, nil)); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct{ method, path, body string }{
		{http.MethodGet, "/customers/ID", ""},
		{http.MethodPatch, "/customers/ID", `{"first_name":"Mine"}`},
		{http.MethodGet, "/customers/ID/transactions", ""},
		{http.MethodGet, "/customers/ID/expiring", ""},
		{http.MethodGet, "/customers/ID/ledger-entries", ""},
		{http.MethodPost, "/transactions", `{"customer_ulid":"ID","transaction_type_id":{points},"spend_amount_cents":100}`},
		{http.MethodPost, "/redemptions", `{"customer_ulid":"ID","reward_ulid":"{espresso}"}`},
	} {
		ask := func(id string) answer {
			return s.call(r.method, "/api/v1"+strings.Replace(r.path, "ID", id, 1), s.token, strings.Replace(r.body, "ID", id, 1))
		}
		got, want := ask(old), ask("{missing}")
		same(t, r.method+" "+r.path, got, want)
		if want.status != http.StatusNotFound && want.status != http.StatusUnprocessableEntity {
			t.Errorf("%s %s of an unknown customer: %d %s", r.method, r.path, want.status, want.body)
		}
	}
	for _, path := range []string{"/customers", "/customers?search=anna", "/reports/customers/top", "/transactions/" + sale} {
		if got := s.call(http.MethodGet, "/api/v1"+path, s.token, ""); got.status != http.StatusOK || strings.Contains(got.body, old) {
			t.Errorf("GET %s: %d %s", path, got.status, got.body)
		}
	}
}
