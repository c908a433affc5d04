package main

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/core/vault"
)

var (
	shownDigits = regexp.MustCompile(`class="pin-digits"[^>]*>([^<]+)<`)
	takenPIN    = regexp.MustCompile(`name="pin_ulid" value="([^"]+)"`)
)

// measureWalkIn measures complete walk-in sales with the pages that people use, compared with
// recording sales with the API.
func (b *bench) measureWalkIn(ctx context.Context) {
	d := b.business
	tills := make([]browser, b.connections)
	for i := range tills {
		tills[i] = b.signInAs(ctx, d, core.Cashier)
	}
	links := link.New(sample.Must(vault.New([]string{productSecret})))
	var sales atomic.Int64
	// The card of the next customer shows a PIN, a till takes it and records the sale.
	sell := func(ctx context.Context) (t *fasthttp.Request, err error) {
		n := int(sales.Add(1))
		till := tills[n%len(tills)]
		card, err := links.Token(link.Card, d.ID, d.buyer(n), 0)
		if err != nil {
			return t, err
		}
		digits, err := till.find(ctx, "/card/"+card+"/pin", url.Values{}, shownDigits)
		if err != nil {
			return t, err
		}
		pin, err := till.find(ctx, "/till/take", url.Values{"pin": {digits}}, takenPIN)
		return fragment(till.form("/till/sale", url.Values{
			"pin_ulid": {pin}, "spend_amount_cents": {strconv.Itoa(100 + n)}, "transaction_type_id": {strconv.FormatInt(d.TransactionTypeID, 10)},
			"form_key": {core.NewID(time.Now()).String()},
		})), err
	}
	b.measure(ctx, fmt.Sprintf("walk-in sales, %d tills", b.connections), []scenario{
		{name: "walkin", steps: sell, status: []int{fasthttp.StatusOK}},
		{name: "record with the API", request: func() *fasthttp.Request { return b.record(d) }},
	})
}

// find sends a form as the pages' scripts do, and finds a value in the response.
func (v browser) find(ctx context.Context, path string, form url.Values, wanted *regexp.Regexp) (string, error) {
	request := fragment(v.form(path, form))
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
