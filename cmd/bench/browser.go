package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	vegeta "github.com/tsenart/vegeta/v12/lib"
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
	// Attempts are counted by address.
	answer, err := p.ask(ctx, p.visitors, b.form("/admin/sign-in", url.Values{"email": {email}, "password": {password}}))
	if err != nil {
		return b, err
	}
	for _, cookie := range answer.Cookies() {
		b.header.Add("Cookie", cookie.Name+"="+cookie.Value)
	}
	if answer.StatusCode != http.StatusSeeOther {
		return b, fmt.Errorf("signing in: status %d", answer.StatusCode)
	}
	return b, nil
}

// get is a request for a page, or for a part of it as htmx asks.
func (b browser) get(path string, fragment bool) vegeta.Target {
	t := vegeta.Target{Method: http.MethodGet, URL: b.origin + path, Header: b.header.Clone()}
	if fragment {
		t.Header.Set("Hx-Request", "true")
	}
	return t
}

// form is a request that sends a form.
func (b browser) form(path string, values url.Values) vegeta.Target {
	t := vegeta.Target{Method: http.MethodPost, URL: b.origin + path, Header: b.header.Clone(), Body: []byte(values.Encode())}
	t.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return t
}

// answer is a response that was read.
type answer struct {
	*http.Response
	body []byte
}

// ask makes a request. Any status is an answer.
func (p *product) ask(ctx context.Context, by http.RoundTripper, t vegeta.Target) (answer, error) {
	request, err := t.Request()
	if err != nil {
		return answer{}, err
	}
	response, err := by.RoundTrip(request.WithContext(ctx))
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response, body}, err
}
