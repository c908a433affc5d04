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

// browser makes the requests that a person's browser makes at the host of a business.
type browser struct {
	origin string
	header http.Header // with the session's cookie
}

// visitor is a browser in which no one is signed in.
func (p *product) visitor(slug string) browser {
	return browser{
		origin: strings.Replace(p.base, "localhost", slug+".localhost", 1),
		header: http.Header{"Accept-Encoding": {"gzip, deflate, br"}, "Sec-Fetch-Site": {"same-origin"}},
	}
}

// signIn returns a browser in which a person is signed in.
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

// signInOwner signs the owner of a business in.
func (b *bench) signInOwner(ctx context.Context, d *business) (browser, error) {
	owner := d.Staff[core.Owner]
	return b.product.signIn(ctx, d.Slug, owner.Email, owner.Password)
}

// request comes from another address each time where no one is signed in: what visitors do is
// limited by address.
func (b browser) request(method, path string) vegeta.Target {
	t := vegeta.Target{Method: method, URL: b.origin + path, Header: b.header.Clone()}
	if t.Header.Get("Cookie") == "" {
		t.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", rand.IntN(256), rand.IntN(256), rand.IntN(256)))
	}
	return t
}

// get asks for a page, or for a part of it as htmx does.
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

// answer is a response that was read.
type answer struct {
	*http.Response
	body []byte
}

// ask makes a request and reads its answer, which must have a status.
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
