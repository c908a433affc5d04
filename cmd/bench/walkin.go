package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/vault"
)

// measureWalkIn measures complete walk-in sales with the pages that people use, compared with
// recording sales with the API.
func (b *bench) measureWalkIn(ctx context.Context) error {
	tills := make(chan *till, b.connections)
	for n := range b.connections {
		t, err := b.openTill(ctx, n)
		if err != nil {
			return err
		}
		tills <- t
	}
	sales, err := b.measure(ctx, scenario{name: "walkin", steps: func(ctx context.Context) error {
		t := <-tills
		defer func() { tills <- t }()
		return t.sell(ctx)
	}})
	if err != nil {
		return err
	}
	withAPI, err := b.measure(ctx, scenario{name: "record with the API", request: b.record})
	if err != nil {
		return err
	}
	sales.others = append(sales.others, withAPI.bare())
	return printTable(fmt.Sprintf("walk-in sales, %d tills", b.connections), []result{sales})
}

// till is a till with the card of its only customer.
type till struct {
	browser
	product *product
	card    string // its path
	typeID  int64
	sales   int
}

func (b *bench) openTill(ctx context.Context, n int) (*till, error) {
	d := b.business
	at, err := b.product.signIn(ctx, d.Slug, d.Staff[core.Cashier].Email, d.Staff[core.Cashier].Password)
	if err != nil {
		return nil, err
	}
	keys, err := vault.New([]string{productSecret})
	if err != nil {
		return nil, err
	}
	token, err := link.New(keys).Token(link.Card, d.ID, numbered(customerIDs, 1+n*d.step), 0)
	return &till{browser: at, product: b.product, card: "/card/" + token, typeID: d.TransactionTypeID}, err
}

var (
	shownDigits = regexp.MustCompile(`class="pin-digits"[^>]*>([^<]+)<`)
	takenPIN    = regexp.MustCompile(`name="pin_ulid" value="([^"]+)"`)
	receipt     = regexp.MustCompile(`(data-receipt)`)
)

// sell makes a complete walk-in sale: the card shows a PIN, the till takes it and records the
// sale.
func (t *till) sell(ctx context.Context) error {
	digits, err := t.post(ctx, t.card+"/pin", url.Values{}, shownDigits)
	if err != nil {
		return err
	}
	pin, err := t.post(ctx, "/till/take", url.Values{"pin": {digits}}, takenPIN)
	if err != nil {
		return err
	}
	t.sales++
	_, err = t.post(ctx, "/till/sale", url.Values{
		"pin_ulid": {pin}, "spend_amount_cents": {strconv.Itoa(100 + t.sales)}, "transaction_type_id": {strconv.FormatInt(t.typeID, 10)},
		"form_key": {core.NewID(time.Now()).String()},
	}, receipt)
	return err
}

// post sends a form as the pages' scripts do, and finds a value in the response.
func (t *till) post(ctx context.Context, path string, form url.Values, wanted *regexp.Regexp) (string, error) {
	request := t.form(path, form)
	request.Header.Set("Hx-Request", "true")
	request.Header.Set("Accept-Encoding", "identity")
	got, err := t.product.ask(ctx, request, http.StatusOK)
	if err != nil {
		return "", err
	}
	found := wanted.FindSubmatch(got.body)
	if found == nil {
		return "", fmt.Errorf("%s: %d bytes without %s", path, len(got.body), wanted)
	}
	return string(found[1]), nil
}
