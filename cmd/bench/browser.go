package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/alexedwards/scs/v2"
	"github.com/andybalholm/brotli"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/db"
)

// browser is somebody who is signed in to a business's panel.
type browser struct {
	*product
	client  *http.Client
	origin  string
	session *http.Cookie
}

func newBrowser(ctx context.Context, p *product, s *shop, t core.Tenant, person int64) (*browser, error) {
	b := &browser{
		product: p, origin: strings.Replace(p.base, "localhost", t.Slug+".localhost", 1),
		session: &http.Cookie{Name: auth.SessionCookie, Value: rand.Text()},
	}
	b.client = &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return p.network.DialContext(ctx, network, p.addr)
			},
			TLSClientConfig: &tls.Config{RootCAs: p.roots, MinVersion: tls.VersionTLS12},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	now := s.db.Now()
	ends := now.Add(auth.SessionLifetime)
	visit := &auth.Visit{Slug: t.Slug, Address: "127.0.0.1", UserAgent: "bench"}
	visit.SignIn(auth.Proof{StaffID: person, At: now})
	data, err := scs.GobCodec{}.Encode(ends, map[string]any{})
	if err != nil {
		return nil, err
	}
	if err := auth.NewStore(s.db).CommitCtx(auth.WithVisit(ctx, visit), b.session.Value, data, ends); err != nil {
		return nil, err
	}
	// There is a page about two-step verification while it is being set up, by the password.
	password := rand.Text()
	hash, err := auth.HashPassword(ctx, password)
	if err != nil {
		return nil, err
	}
	_, err = db.Platform(ctx, s.db, core.System(core.Tenant{}, "bench"), func(tx *db.Tx) (int64, error) {
		return db.Exec(ctx, tx, "update loyalty.credential set password_hash = @hash where staff_id = @id", db.Args{"id": person, "hash": hash})
	})
	if err != nil {
		return nil, err
	}
	begun, err := b.ask(ctx, page{path: "/admin/settings/security/factor/begin", post: true, form: url.Values{"confirmation": {password}}})
	if err == nil && begun.status != http.StatusSeeOther {
		err = fmt.Errorf("the panel answers the owner with status %d", begun.status)
	}
	return b, err
}

// answer is what a browser gets.
type answer struct {
	status int
	header http.Header
	body   []byte // as it came: compressed
}

func (b *browser) ask(ctx context.Context, p page) (answer, error) {
	method := http.MethodGet
	if p.post {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, method, b.origin+p.path, strings.NewReader(p.form.Encode()))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Accept-Encoding", "gzip, deflate, br")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if p.form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if p.fragment {
		r.Header.Set("Hx-Request", "true")
	}
	if !p.stranger {
		r.AddCookie(b.session)
	}
	got, err := b.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	return answer{got.StatusCode, got.Header, body}, err
}

// text is the answer as it was before it was compressed.
func (a answer) text() ([]byte, error) {
	switch a.header.Get("Content-Encoding") {
	case "br":
		return io.ReadAll(brotli.NewReader(bytes.NewReader(a.body)))
	case "gzip":
		unpacked, err := gzip.NewReader(bytes.NewReader(a.body))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(unpacked)
	}
	return a.body, nil
}

// firstLoad prints what somebody's browser fetches who comes for the first time: the
// sign-in page with all that it brings, and what the dashboard brings besides.
func (b *browser) firstLoad(ctx context.Context) error {
	sum := 0
	fetched := map[string]bool{}
	fmt.Println()
	for _, p := range []page{{name: "sign-in page", path: "/admin/sign-in", stranger: true}, {name: "dashboard", path: "/admin"}} {
		files, bytes := 0, 0
		for wanted := []string{p.path}; len(wanted) > 0; wanted = wanted[1:] {
			at := wanted[0]
			if fetched[at] {
				continue
			}
			fetched[at] = true
			got, err := b.ask(ctx, page{path: at, stranger: p.stranger})
			if err != nil {
				return err
			}
			if got.status != http.StatusOK {
				return fmt.Errorf("%s: status %d", at, got.status)
			}
			if strings.HasPrefix(at, "/static/") && !strings.Contains(got.header.Get("Cache-Control"), "immutable") {
				return fmt.Errorf("%s: Cache-Control %q", at, got.header.Get("Cache-Control"))
			}
			files, bytes = files+1, bytes+len(got.body)
			needs, err := got.needs(at)
			if err != nil {
				return err
			}
			wanted = append(wanted, needs...)
		}
		fmt.Printf("first load, %s: %d files, %d bytes\n", p.name, files, bytes)
		sum += bytes
	}
	verdict := "within"
	if sum > firstLoadLimit {
		verdict = "OVER"
	}
	fmt.Printf("first load, both: %d bytes, %s the limit of %d\n", sum, verdict, firstLoadLimit)
	return nil
}

// linked is what a stylesheet names; a picture may be written into it.
var linked = regexp.MustCompile(`url\(["']?([^"')]+)["']?\)`)

// needs are the paths of what a browser fetches at once when it gets this.
func (a answer) needs(at string) (paths []string, err error) {
	text, err := a.text()
	if err != nil {
		return nil, err
	}
	var links []string
	switch kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";"); kind {
	case "text/html":
		doc, err := goquery.NewDocumentFromReader(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		for _, s := range doc.Find("link[rel=icon], link[rel=preload], link[rel=stylesheet], script[src], img[src]").EachIter() {
			links = append(links, s.AttrOr("href", s.AttrOr("src", "")))
		}
	case "text/css":
		for _, match := range linked.FindAllStringSubmatch(string(text), -1) {
			links = append(links, match[1])
		}
	}
	base, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	for _, link := range links {
		to, err := base.Parse(link)
		if err != nil {
			return nil, err
		}
		if to.Scheme == "" {
			paths = append(paths, to.RequestURI())
		}
	}
	return paths, nil
}
