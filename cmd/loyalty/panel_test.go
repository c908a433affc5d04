package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
)

// desk is the owner of the visit's shop, signed in to the panel.
type desk struct {
	*visit
	cookie string
}

func (v *visit) desk() *desk {
	v.t.Helper()
	p, owner := &desk{visit: v}, v.shop.Staff[core.Owner]
	in := p.send("/sign-in", http.StatusSeeOther, "email", owner.Email, "password", owner.Password)
	for _, cookie := range in.header.Values("Set-Cookie") {
		if strings.HasPrefix(cookie, "__Host-session=") {
			p.cookie, _, _ = strings.Cut(cookie, ";")
			return p
		}
	}
	v.t.Fatalf("no session: %v", in.header)
	return nil
}

// send posts a form.
func (p *desk) send(path string, status int, pairs ...string) answer {
	p.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return p.expect(p.t, status, "POST", p.shop.PanelURL+path, "", form.Encode(),
		"Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: same-origin", "Cookie: "+p.cookie)
}

// open opens a page.
func (p *desk) open(path string) *goquery.Document {
	p.t.Helper()
	return document(p.t, p.expect(p.t, http.StatusOK, "GET", p.shop.PanelURL+path, "", "", "Cookie: "+p.cookie))
}

func document(t *testing.T, a answer) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// panelToken creates a token in the panel, uses it with the API, pastes the panel's example, and
// revokes it.
func panelToken(v *visit) {
	const tokens = "/settings/tokens"
	p, name := v.desk(), fmt.Sprintf("Web shop %d", v.number)
	key, _ := p.open(tokens + "/new").Find("input[name=form_key]").Attr("value")
	form := []string{"form_key", key, "name", name, "scopes", "customers:read", "scopes", "customers:write", "expires_at", ""}
	created := document(v.t, p.send(tokens+"/new", http.StatusOK, form...))
	secret, curl := created.Find("#secret").Text(), created.Find("#curl").Text()

	p.is(p.with(secret, "GET", "/customers/{missing}", ""), 404, notFound)
	p.is(p.with(secret, "GET", "/rewards", ""), 403, forbidden)
	if hasCurl(v.t) {
		if got := p.shell(v.t, curl); !strings.Contains(got, `{"data":[`) {
			v.t.Errorf("%s\nanswers %s", curl, got)
		}
	}

	made := p.ask("POST", strings.TrimSuffix(p.shop.PanelURL, "/admin")+"/api/v1/tokens", "anonymous", `{"name":"Till","scopes":["customers:read"]}`, "Sec-Fetch-Site: same-origin", "Cookie: "+p.cookie)
	p.is(p.with(decode[single[struct{ Token string }]](v.t, made.body).Data.Token, "GET", "/customers/{missing}", ""), 404, notFound)

	p.send(tokens+"/new", http.StatusSeeOther, form...) // a double click
	id, _, _ := strings.Cut(secret, "|")
	const abilities = `"abilities":["customers:read","customers:write"],"last_used_at":"<time>","expires_at":null,`
	list := p.with(secret, "GET", "/tokens?per_page=100", "")
	p.is(list, 200, `{"data":[<anything>{"id":`+id+`,"name":"`+name+`",`+abilities+`<anything>`)
	if n := strings.Count(list.body, name); n != 1 {
		v.t.Errorf("%d tokens with the name %s", n, name)
	}
	if !strings.Contains(p.open(tokens+"/"+id+"/revoke").Find("h1").Text(), name) {
		v.t.Errorf("revoking %s needs no confirmation", name)
	}
	p.send(tokens+"/"+id+"/revoke", http.StatusSeeOther)
	p.is(p.with(secret, "GET", "/customers/{missing}", ""), 401, unauthorized)
}
