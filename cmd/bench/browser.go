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
	"example.com/loyalty/core/fixture"
)

// compressed is the Accept-Encoding of browsers.
const compressed = "gzip, deflate, br"

// browser makes the requests of a person's browser at the host of a business.
type browser struct {
	client *http.Client
	origin string
	cookie string // of the session
}

// visitor returns a browser without a session.
func (b *bench) visitor(slug string) browser {
	return browser{client: b.product.client, origin: strings.Replace(b.product.base, "localhost", slug+".localhost", 1)}
}

// signIn returns a browser with a person's session.
func (b *bench) signIn(ctx context.Context, slug, email, password string) browser {
	v := b.visitor(slug)
	got := fixture.Must(v.ask(ctx, v.form("/admin/sign-in", url.Values{"email": {email}, "password": {password}}), http.StatusSeeOther))
	for _, cookie := range got.Cookies() {
		v.cookie += cookie.Name + "=" + cookie.Value + "; "
	}
	return v
}

// signInAs signs in as a business's person of a role.
func (b *bench) signInAs(ctx context.Context, d *business, role core.Role) browser {
	return b.signIn(ctx, d.Slug, d.Staff[role].Email, d.Staff[role].Password)
}

// get returns the request of a page. Visitors are limited by address, so each has its own.
func (v browser) get(path string) vegeta.Target {
	header := http.Header{"Accept-Encoding": {compressed}, "Sec-Fetch-Site": {"same-origin"}}
	if v.cookie != "" {
		header.Set("Cookie", v.cookie)
	} else {
		header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", rand.IntN(256), rand.IntN(256), rand.IntN(256)))
	}
	return vegeta.Target{Method: http.MethodGet, URL: v.origin + path, Header: header}
}

// form returns the request that sends a form.
func (v browser) form(path string, values url.Values) vegeta.Target {
	t := v.get(path)
	t.Method, t.Body = http.MethodPost, []byte(values.Encode())
	t.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return t
}

// fragment makes a request as htmx does, which gets a part of a page.
func fragment(t vegeta.Target) vegeta.Target {
	t.Header.Set("Hx-Request", "true")
	return t
}

// response is a response with its body.
type response struct {
	*http.Response
	body []byte
}

// ask makes a request and checks the status of its response.
func (v browser) ask(ctx context.Context, t vegeta.Target, status int) (response, error) {
	request, err := t.Request()
	if err != nil {
		return response{}, err
	}
	got, err := v.client.Do(request.WithContext(ctx))
	if err != nil {
		return response{}, err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err == nil && got.StatusCode != status {
		err = fmt.Errorf("%s: status %d, want %d", t.URL, got.StatusCode, status)
	}
	return response{got, body}, err
}
