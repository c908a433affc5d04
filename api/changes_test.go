package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
)

// feed is a list in the order of changes.
type feed struct {
	Data []struct {
		ULID     core.ID
		Kind     string
		Change   string
		KeptULID *core.ID `json:"kept_ulid"`
		Status   string
		Points   int64 `json:"points_balance"`
	}
	Links struct{ Next *string }
	Meta  struct {
		ResumeCursor string `json:"resume_cursor"`
		RetryAfter   int    `json:"retry_after"`
	}
}

// follow reads a feed until a record appears, and returns what it has, as "kind ulid change".
func (s *shop) follow(path, token string, until core.ID) (found []string) {
	s.T.Helper()
	next := path
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var page feed
		got := s.call("GET", next, token, "")
		if got.status != 200 || json.Unmarshal([]byte(got.body), &page) != nil {
			s.T.Fatalf("%s: %d %s", next, got.status, got.body)
		}
		for _, one := range page.Data {
			found = append(found, strings.TrimSpace(one.Kind+" "+one.ULID.String()+" "+one.Change+one.Status))
		}
		if (page.Links.Next == nil) != (page.Meta.RetryAfter > 0) || (page.Links.Next == nil) == strings.Contains(got.header.Get("Link"), `rel="next"`) {
			s.T.Errorf("%s: next %v, retry after %d, Link %q", next, page.Links.Next, page.Meta.RetryAfter, got.header.Get("Link"))
		}
		if strings.Contains(strings.Join(found, " "), until.String()) {
			return found
		}
		if time.Now().After(end) {
			s.T.Fatalf("%s has not appeared in %s within a minute", until, path)
		}
		next = path + "&cursor=" + page.Meta.ResumeCursor
	}
}

// A plug-in follows what changed: all kinds by one feed, each by its scope, and sales, customers and redemptions as they are now.
func TestStayingInStep(t *testing.T) {
	t.Parallel()
	proves(t, "Lists in the order of changes have no `ETag`, because each answer has another cursor.")
	s := newShop(t)
	begun := s.db.Now()
	s.fill("{anna}{sale}{voided}{redemption}")
	bo := s.Customer()
	since := "&since=" + begun.Format(time.RFC3339)
	all := s.follow("/api/v1/changes?per_page=2"+since, s.token, bo.ID)
	for _, want := range []string{"customer {anna} created", "customer {anna} changed", "transaction {sale} created", "transaction {voided} created", "transaction {voided} voided", "redemption {redemption} created"} {
		if !slices.Contains(all, s.fill(want)) {
			t.Errorf("%q is missing in %v", s.fill(want), all)
		}
	}
	readsRewards := s.makeToken(token.RewardsRead).Secret
	redemptions := s.follow("/api/v1/changes?per_page=2"+since, readsRewards, s.id("{redemption}"))
	for _, change := range redemptions {
		if !strings.HasPrefix(change, "redemption ") {
			t.Errorf("a token for rewards reads %q", change)
		}
	}
	s.call("GET", "/api/v1/changes?kind=customer", readsRewards, "").is(t, 403, forbidden)
	s.call("GET", "/api/v1/changes?kind=tenant", s.token, "").is(t, 422, invalid(`"kind":["The selected kind is invalid."]`))
	s.call("GET", "/api/v1/changes?since=yesterday", s.token, "").is(t, 422, invalid(`<anything>`))

	updated := "&updated_since=" + begun.Format(time.RFC3339)
	sales := s.follow("/api/v1/transactions?per_page=1"+updated, s.token, s.id("{voided}"))
	if !slices.Contains(sales, s.fill("{voided} voided")) {
		t.Errorf("the voided sale is missing in %v", sales)
	}
	s.follow("/api/v1/transactions?order=updated", s.token, s.id("{sale}"))
	s.follow("/api/v1/customers?per_page=1"+updated, s.token, bo.ID)
	s.follow("/api/v1/redemptions?per_page=1"+updated, s.token, s.id("{redemption}"))
	s.call("GET", "/api/v1/transactions?order=newest"+updated, s.token, "").is(t, 422, invalid(`"order":["The selected order is invalid."]`))
	s.call("GET", "/api/v1/transactions?order=random", s.token, "").is(t, 422, invalid(`"order":["The selected order is invalid."]`))

	stranger := s.stranger()
	got := stranger.call("GET", "/api/v1/changes?per_page=100", stranger.token, "")
	for _, id := range []string{"{anna}", "{sale}", "{redemption}"} {
		if strings.Contains(got.body, s.fill(id)) {
			t.Errorf("another business reads of %s: %s", id, got.body)
		}
	}
}

// The usual list of sales, by each filter.
func TestListTransactions(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna}{bo}{sale}{voided}")
	referenced := ulidOf(s.call("POST", "/api/v1/transactions", s.token, s.fill(`{"customer_ulid":"{bo}","transaction_type_id":{points},"spend_amount_cents":100,"external_reference":"r-1"}`)))
	for query, want := range map[string][]string{
		"":                        {referenced, "{voided}", "{sale}"},
		"?customer_ulid={bo}":     {referenced},
		"?status=voided":          {"{voided}"},
		"?status=completed":       {referenced, "{sale}"},
		"?external_reference=r-1": {referenced},
		"?external_reference=r-2": nil,
		"?transaction_type_id={points}&created_from=2020-01-01": {referenced, "{voided}", "{sale}"},
		"?transaction_type_id=9":                                nil,
		"?location_id=9":                                        nil,
		"?created_to=2020-01-01":                                nil,
	} {
		var page feed
		got := s.call("GET", "/api/v1/transactions"+s.fill(query), s.token, "")
		if got.status != 200 || json.Unmarshal([]byte(got.body), &page) != nil {
			t.Fatalf("%s: %d %s", query, got.status, got.body)
		}
		var have []string
		for _, sale := range page.Data {
			have = append(have, sale.ULID.String())
		}
		var wanted []string
		for _, one := range want {
			wanted = append(wanted, s.fill(one))
		}
		slices.Sort(have)
		slices.Sort(wanted)
		if !slices.Equal(have, wanted) {
			t.Errorf("%s: %v, want %v", query, have, wanted)
		}
	}
	s.call("GET", "/api/v1/transactions?created_from=2026-02-02&created_to=2026-02-01", s.token, "").is(t, 422,
		invalid(`"created_to":["The created to field must be a date after or equal to created from."]`))
	s.call("GET", "/api/v1/transactions?status=open", s.token, "").is(t, 422, invalid(`"status":["The selected status is invalid."]`))
}
