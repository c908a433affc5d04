package main

import (
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
)

// logged is the log line of a request.
type logged struct {
	Msg, Level, Request, Method, Host, Path, Route, Address, Token string
	Status, Bytes                                                  int
	Tenant                                                         int64
}

// checkLog makes different requests and checks the log: "the log has one line with that id",
// without secrets, queries and bodies.
func checkLog(t *testing.T, shop apiTill) {
	t.Helper()
	s := shop.server
	const needle, link, typed = "Zebrafinch", "01HZY0LINKTOKEN-SECRETPART", "Quetzalcoatl"
	wrong := "1|" + strings.Repeat("wrongtoken", 4) + "12345678"
	made := s.expect(t, http.StatusCreated, "POST", "/api/v1/tokens", s.token, `{"name":"Till","scopes":[]}`)
	fresh := decode[single[struct{ Token string }]](t, made.body).Data.Token
	plain := "http" + strings.TrimPrefix(s.in.base, "https")

	answers := map[string]answer{}
	for _, r := range []struct{ method, url, token, body, path string }{
		{"GET", "/api/v1/customers?search=" + needle, s.token, "", "/api/v1/customers"},
		{"POST", "/api/v1/customers", s.token, `{"first_name":"` + typed + `","last_name":"Ek","phone":"0701740777"}`, "/api/v1/customers"},
		{"POST", "/api/v1/customers", s.token, `{"first_name":"` + typed, "/api/v1/customers"},
		{"POST", "/api/v1/customers", s.token, `{"first_name":17,"phone":"` + typed + `"}`, "/api/v1/customers"},
		{"POST", "/api/v1/transactions", s.token, shop.sale(typed), "/api/v1/transactions"},
		{"GET", "/api/v1/customers", fresh, "", "/api/v1/customers"},
		{"GET", "/api/v1/customers", wrong, "", "/api/v1/customers"},
		{"GET", "/api/v1/nope?token=" + needle, "", "", "/api/v1/nope"},
		{"PUT", "/api/v1/customers", s.token, "", "/api/v1/customers"},
		{"GET", "/card/" + link, "", "", "/card"},
		{"GET", "/unsubscribe/" + link + "?" + needle, "", "", "/unsubscribe"},
		{"GET", "/v/" + link, "", "", "/v"},
		{"GET", "/problems/already-voided?" + needle, "", "", "/problems"},
		{"GET", "/", "", "", "/"},
		{"GET", plain + "/api/v1/customers?" + needle, s.token, "", "/api/v1/customers"},
		{"GET", plain + "/card/" + link, "", "", "/card"},
	} {
		got, err := s.call(r.method, r.url, r.token, r.body)
		if err != nil || got.id() == "" || answers[got.id()].status != 0 {
			t.Fatalf("%s %s: %v %+v", r.method, r.url, err, got)
		}
		answers[got.id()] = answer{status: got.status, body: r.method + " " + r.path + " " + r.token}
	}
	s.expect(t, http.StatusOK, "GET", "/readyz", "", "")
	s.expect(t, http.StatusOK, "GET", "/healthz", "", "")
	mumble(t, s.in.addr)
	s.stop()

	routes := map[string]string{
		"/api/v1/nope": "", "/": "/", "/problems": "/problems/:slug", "/card": "", "/v": "", "/unsubscribe": "", // no pages of the base host
	}
	seen := map[string]int{}
	for line := range strings.Lines(s.log.String()) {
		var l logged
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Errorf("%v: %q is not a line of JSON", err, line)
			continue
		}
		if l.Msg != "request" {
			continue
		}
		seen[l.Request]++
		want, ours := answers[l.Request]
		if !ours {
			continue
		}
		delete(answers, l.Request)
		method, rest, _ := strings.Cut(want.body, " ")
		path, token, _ := strings.Cut(rest, " ")
		if l.Method != method || l.Path != path || l.Status != want.status || l.Address != "127.0.0.1" || l.Level != "INFO" || l.Host == "" {
			t.Errorf("%+v, want %s with status %d", l, want.body, want.status)
		}
		if l.Path == "/readyz" || l.Path == "/healthz" {
			t.Errorf("a check that succeeded is logged: %+v", l)
		}
		if route, known := routes[path]; known && l.Route != route {
			t.Errorf("%+v, want the route %q", l, route)
		}
		// The caller, by the token's id.
		number, _, _ := strings.Cut(token, "|")
		if want.status == http.StatusOK && token != "" && (l.Token != number || l.Tenant == 0) {
			t.Errorf("%+v lacks the caller %s", l, number)
		}
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("request %s has %d lines", id, n)
		}
	}
	for _, missing := range answers {
		t.Errorf("no line for %s", missing.body)
	}
	_, secret, _ := strings.Cut(fresh, "|")
	for _, hidden := range []string{secret, strings.Repeat("wrongtoken", 4), needle, link, typed} {
		if s.log.has(hidden) {
			t.Errorf("the log has %q", hidden)
		}
	}
}

// mumble sends invalid requests, which must not break the log.
func mumble(t *testing.T, addr string) {
	t.Helper()
	for _, words := range []string{"GET /\r\nno header\r\n\r\n", "\x16\x03\x01\x00\x05hello", "{\"msg\":\"request\"}\n", "GET /%zz HTTP/1.1\r\n\r\n"} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(words)); err != nil {
			t.Error(err)
		}
		_, _ = conn.Read(make([]byte, 1)) // until it is dealt with
		_ = conn.Close()
	}
	// A client that doesn't trust the certificate authority.
	conn, err := tls.Dial("tcp", addr, &tls.Config{ServerName: "localhost", RootCAs: nil})
	if err == nil {
		_ = conn.Close()
	}
}
