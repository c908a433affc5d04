package api_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/loyalty/core/token"
)

// FuzzRequest sends arbitrary requests. There must be no panic and no 5xx, and every response must
// match openapi.json. An empty auth is a valid token; {names} are records.
func FuzzRequest(f *testing.F) {
	s := newShop(f)
	const customer = `{"first_name":"Anna","last_name":"Lindqvist","phone":"+46 70 174 06 05","email":"anna@example.com"}`
	for _, seed := range [][4]string{
		{"GET", "/customers?phone=070&email=a@b.se&search=%25&status=active&created_from=2026-01-01&created_to=2026-01-02&per_page=3&cursor=AAAA", "", ""},
		{"POST", "/customers", "", customer},
		{"POST", "/customers", "", `{"first_name":"\ud800","last_name":"\u0000","phone":"00","email":"<a@b>"}`},
		{"PATCH", "/customers/{anna}", "", `{"first_name":null,"email":null,"status":"inactive","phone":"tel:112;ext=4"}`},
		{"GET", "/customers/{anna}", "", ""},
		{"GET", "/customers/{anna_lower}/transactions?per_page=99999999999999999999", "", ""},
		{"POST", "/transactions", "", `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":1250,"external_reference":"R-1"}`},
		{"POST", "/transactions", "", `{"customer_ulid":"{anna}","transaction_type_id":{lavish},"spend_amount_cents":1000000000000}`},
		{"POST", "/transactions", "", `{"customer_ulid":[],"transaction_type_id":1e2,"spend_amount_cents":-0.0}`},
		{"GET", "/transactions/{sale}", "", ""},
		{"POST", "/transactions/{sale}/void", "", ""},
		{"POST", "/transactions/{sale}/refunds", "", `{"amount_cents":300,"external_reference":"R-1"}`},
		{"GET", "/tokens", "", ""},
		{"POST", "/tokens", "", `{"name":"x","scopes":["customers:read"],"expires_at":"9999-12-31T23:59:59.999999999-23:59"}`},
		{"DELETE", "/tokens/{spare_token}", "", ""},
		{"GET", "/platform/tenants?status=active&per_page=3&cursor=AAAA", "{platform_token}", ""},
		{"POST", "/platform/tenants", "{platform_token}", `{"name":"x","slug":"a-b-c","email":"a@b.se","plan_id":1,"billing_cycle":"yearly","payment_method":"card","country":"SE"}`},
		{"PATCH", "/platform/tenants/{tenant}", "{platform_token}", `{"name":"x","plan_id":1,"country":null,"currency":"SEK","timezone":"Europe/Oslo"}`},
		{"GET", "/platform/invoices?tenant_id={tenant}&status=paid", "{platform_token}", ""},
		{"OPTIONS", "/customers", "", ""},
		{"GET", "/customers", "1|ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn00000000", ""},
		{"GET", "/customers", "|", ""},
		{"BREW", "//../%2e%2e/\xff", "9223372036854775808|x", "\x00"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	s.fill("{anna}{sale}{points}{lavish}{spare_token}{anna_lower}{tenant}{platform_token}")
	var pairs []string
	for name, id := range s.named {
		pairs = append(pairs, name, id)
	}
	known, handler := strings.NewReplacer(pairs...), s.handler()
	f.Fuzz(func(t *testing.T, method, path, auth, body string) {
		s.T, s.Run = t, t
		path, auth, body = known.Replace(path), known.Replace(auth), known.Replace(body)
		if auth == "" {
			auth = s.token
		}
		head := method + " /api/v1" + path + " HTTP/1.1\r\nHost: " + domain + "\r\nAuthorization: Bearer " + auth + "\r\n\r\n"
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head)))
		if err != nil {
			return // the server refuses it before the API sees it
		}
		sent, err := http.NewRequestWithContext(t.Context(), r.Method, "https://"+domain, strings.NewReader(body))
		if err != nil {
			return
		}
		sent.URL, sent.Header, sent.Host, sent.RemoteAddr = r.URL, r.Header, r.Host, "192.0.2.1:1234"
		sent.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, sent)

		if err := described().answers(t.Context(), described().input(sent), answer{w.Code, w.Header(), w.Body.String()}); err != nil {
			t.Errorf("%s %s: %d: %v\n%s", sent.Method, sent.URL, w.Code, err, w.Body)
		}
		kind := w.Header().Get("Content-Type")
		switch {
		case w.Code >= 500:
			t.Errorf("%d %s\n%s", w.Code, w.Body, s.log)
		case w.Code == http.StatusNoContent:
			// It may have revoked this test's token.
			if _, err := s.tokens.Authenticate(t.Context(), s.token, ""); err != nil {
				s.token = s.makeToken(token.Abilities...).Secret
			}
		case !json.Valid(w.Body.Bytes()), w.Code >= 400 != (kind == "application/problem+json"), w.Code < 400 && kind != "application/json":
			t.Errorf("%d %s %s", w.Code, kind, w.Body)
		}
	})
}
