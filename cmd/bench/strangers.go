package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/core/vault"
)

// flood is what strangers do to one business, from one address, as fast as they can.
type flood struct {
	name string
	work []scenario
}

// strangerAddress is the address of all strangers, as a proxy tells it.
const strangerAddress = "203.0.113.7"

// anyStatus is accepted of floods: they may be refused in any way but by a fault.
var anyStatus = []int{
	fasthttp.StatusOK, fasthttp.StatusNoContent, fasthttp.StatusSeeOther, fasthttp.StatusNotFound, fasthttp.StatusUnprocessableEntity,
	fasthttp.StatusTooManyRequests, fasthttp.StatusServiceUnavailable,
}

var (
	iconPath = regexp.MustCompile(`href="(/brand/icon/[^"]+)-180\.png"`)
	pinLive  = regexp.MustCompile(`data-live="([^"]+)"`)
)

// floods are the floods of a business.
func (b *bench) floods(ctx context.Context, of *business, processes []*server) []flood {
	owner, visitor := b.signInAs(ctx, of, core.Owner), b.visitor(of.Slug)
	links := link.New(sample.Must(vault.New([]string{productSecret})))
	token := func(purpose link.Purpose, n int) string {
		return sample.Must(links.Token(purpose, of.ID, of.buyer(n), 0))
	}
	card := "/card/" + token(link.Card, 0)
	icon := uploadLogo(ctx, owner)
	pages := func(name string, workers int, request func() *fasthttp.Request) scenario {
		return scenario{name: name, workers: workers, status: anyStatus, tolerant: true, request: func() *fasthttp.Request {
			r := request()
			r.Header.Set("X-Forwarded-For", strangerAddress)
			return r
		}}
	}
	var toggled atomic.Int64
	return []flood{
		{"pictures", []scenario{
			pages("icons of the logo", 20, func() *fasthttp.Request { return visitor.get(icon + "-512.png") }),
			pages("icons of any colour", 20, func() *fasthttp.Request {
				return visitor.get(fmt.Sprintf("/brand/icon/%06x-512.png", rand.IntN(1<<24)))
			}),
			pages("pictures of cards", 20, func() *fasthttp.Request {
				return visitor.get("/card/" + token(link.Card, rand.IntN(of.buyers)) + "/picture.png")
			}),
		}},
		{"requests", []scenario{pages("a card", 400, func() *fasthttp.Request { return visitor.get(card) })}},
		{"sessions", []scenario{pages("the list of customers", 400, func() *fasthttp.Request { return owner.get("/admin/customers") })}},
		{"streams", []scenario{openStreams(ctx, processes, visitor, token(link.Card, 1))}},
		{"PINs", []scenario{
			pages("PINs of a card", 20, func() *fasthttp.Request { return fragment(visitor.form(card+"/pin", nil)) }),
			pages("changes of a subscription", 20, func() *fasthttp.Request {
				form := url.Values{}
				if toggled.Add(1)%2 == 0 {
					form.Set("subscribe", "1")
				}
				return visitor.form("/unsubscribe/"+token(link.Unsubscribe, 2), form)
			}),
		}},
	}
}

// uploadLogo gives a business a logo of 2000×2000 and a few kB, and returns the path of its icons without size.
func uploadLogo(ctx context.Context, owner browser) string {
	logo := image.NewNRGBA(image.Rect(0, 0, 2000, 2000))
	for i := range logo.Pix {
		logo.Pix[i] = 0xff
	}
	for n := range 200 {
		logo.SetNRGBA(5*n, 3*n, color.NRGBA{R: 0x16, G: 0x5c, B: 0x47, A: 0xff})
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	sample.Must(0, form.WriteField("form_key", core.NewID(time.Now()).String()))
	sample.Must(0, png.Encode(sample.Must(form.CreateFormFile("logo", "logo.png")), logo))
	sample.Must(0, form.Close())
	request := owner.form("/admin/settings/business/look", nil)
	request.SetBody(body.Bytes())
	request.Header.SetContentType(form.FormDataContentType())
	sample.Must(owner.ask(ctx, request, fasthttp.StatusSeeOther))
	time.Sleep(11 * time.Second) // customers' pages know a business for ten seconds
	return sample.Must(owner.read(ctx, "/join", iconPath))
}

// read opens a page and finds a value in it.
func (v browser) read(ctx context.Context, path string, wanted *regexp.Regexp) (string, error) {
	request := v.get(path)
	request.Header.Set("Accept-Encoding", "identity")
	got, err := v.ask(ctx, request, fasthttp.StatusOK)
	if err != nil {
		return "", err
	}
	found := wanted.FindSubmatch(got.Body())
	if found == nil {
		return "", fmt.Errorf("%s: %d bytes without %s", path, len(got.Body()), wanted)
	}
	return string(found[1]), nil
}

// openStreams opens event streams of one PIN, as many as the server allows, over HTTP/2.
func openStreams(ctx context.Context, processes []*server, visitor browser, card string) scenario {
	live := sample.Must(visitor.find(ctx, "/card/"+card+"/pin", url.Values{}, pinLive))
	clients := map[*server]*http.Client{}
	for _, on := range processes {
		clients[on] = &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, on.client.Addr)
			},
		}}
	}
	return scenario{name: "streams of a PIN", workers: 500, status: anyStatus, tolerant: true, do: func(ctx context.Context, on *server) (status int, err error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, visitor.origin+strings.ReplaceAll(live, "&amp;", "&"), http.NoBody)
		if err != nil {
			return 0, err
		}
		r.Header.Set("X-Forwarded-For", strangerAddress)
		got, err := clients[on].Do(r) //nolint:bodyclose // below, when the flood ends
		if err != nil {
			return 0, err
		}
		go func() {
			_, _ = io.Copy(io.Discard, got.Body) // until the flood ends
			_ = got.Body.Close()
		}()
		return got.StatusCode, nil
	}}
}
