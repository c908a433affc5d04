package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"example.com/loyalty/core"
)

// browser creates the requests of a person's browser at the host of a business.
type browser struct {
	origin string
	header http.Header // with the session's cookie
}

// visitor returns a browser without a session.
func (p *product) visitor(slug string) browser {
	return browser{
		origin: strings.Replace(p.base, "localhost", slug+".localhost", 1),
		header: http.Header{"Accept-Encoding": {"gzip, deflate, br"}, "Sec-Fetch-Site": {"same-origin"}},
	}
}

// signIn returns a browser with a person's session.
func (p *product) signIn(ctx context.Context, slug, email, password string) (browser, error) {
	b := p.visitor(slug)
	got, err := p.ask(ctx, b.form("/admin/sign-in", url.Values{"email": {email}, "password": {password}}), http.StatusSeeOther)
	if err != nil {
		return b, err
	}
	for _, cookie := range got.Cookies() {
		b.header.Add("Cookie", cookie.Name+"="+cookie.Value)
	}
	return b, nil
}

// signInOwner signs in as the owner of a business.
func (b *bench) signInOwner(ctx context.Context, d *business) (browser, error) {
	owner := d.Staff[core.Owner]
	return b.product.signIn(ctx, d.Slug, owner.Email, owner.Password)
}

// request has a new IP address each time without a session, because visitors are limited by
// address.
func (b browser) request(method, path string) vegeta.Target {
	t := vegeta.Target{Method: method, URL: b.origin + path, Header: b.header.Clone()}
	if t.Header.Get("Cookie") == "" {
		t.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", rand.IntN(256), rand.IntN(256), rand.IntN(256)))
	}
	return t
}

// get requests a page, or a fragment as htmx does.
func (b browser) get(path string, fragment bool) vegeta.Target {
	t := b.request(http.MethodGet, path)
	if fragment {
		t.Header.Set("Hx-Request", "true")
	}
	return t
}

// form sends a form.
func (b browser) form(path string, values url.Values) vegeta.Target {
	t := b.request(http.MethodPost, path)
	t.Body = []byte(values.Encode())
	t.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return t
}

// answer is a response with its body.
type answer struct {
	*http.Response
	body []byte
}

// ask makes a request and checks the status of its response.
func (p *product) ask(ctx context.Context, t vegeta.Target, status int) (answer, error) {
	request, err := t.Request()
	if err != nil {
		return answer{}, err
	}
	response, err := p.transport.RoundTrip(request.WithContext(ctx))
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != status {
		err = fmt.Errorf("%s: status %d, want %d", t.URL, response.StatusCode, status)
	}
	return answer{response, body}, err
}
