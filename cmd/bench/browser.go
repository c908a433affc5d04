package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/sample"
)

// compressed is the Accept-Encoding of browsers.
const compressed = "gzip, deflate, br"

// browser makes the requests of a person's browser at the host of a business.
type browser struct {
	client *fasthttp.HostClient
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
	got := sample.Must(v.ask(ctx, v.form("/admin/sign-in", url.Values{"email": {email}, "password": {password}}), fasthttp.StatusSeeOther))
	for _, set := range got.Header.Cookies() {
		value, _, _ := strings.Cut(string(set), ";") // without its attributes
		v.cookie += value + "; "
	}
	return v
}

// signInAs signs in as a business's person of a role.
func (b *bench) signInAs(ctx context.Context, d *business, role core.Role) browser {
	return b.signIn(ctx, d.Slug, d.Staff[role].Email, d.Staff[role].Password)
}

// newRequest returns a request.
func newRequest(method, url string) *fasthttp.Request {
	r := fasthttp.AcquireRequest()
	r.Header.SetMethod(method)
	r.SetRequestURI(url)
	return r
}

// get returns the request of a page. People are limited by address, so each request has its own.
func (v browser) get(path string) *fasthttp.Request {
	r := newRequest(fasthttp.MethodGet, v.origin+path)
	r.Header.Set("Accept-Encoding", compressed)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if v.cookie != "" {
		r.Header.Set("Cookie", v.cookie)
	}
	r.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", rand.IntN(256), rand.IntN(256), rand.IntN(256)))
	return r
}

// form returns the request that sends a form.
func (v browser) form(path string, values url.Values) *fasthttp.Request {
	r := v.get(path)
	r.Header.SetMethod(fasthttp.MethodPost)
	r.Header.SetContentType("application/x-www-form-urlencoded")
	r.SetBodyString(values.Encode())
	return r
}

// fragment makes a request as htmx does, which gets a part of a page.
func fragment(r *fasthttp.Request) *fasthttp.Request {
	r.Header.Set("Hx-Request", "true")
	return r
}

// ask makes a request and checks the status of its response.
func (v browser) ask(ctx context.Context, r *fasthttp.Request, status int) (*fasthttp.Response, error) {
	defer fasthttp.ReleaseRequest(r)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	got := &fasthttp.Response{}
	err := v.client.Do(r, got)
	if err == nil && got.StatusCode() != status {
		err = fmt.Errorf("%s: status %d, want %d", r.URI(), got.StatusCode(), status)
	}
	return got, err
}
