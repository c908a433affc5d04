package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/vault"
)

// productSecret is what the measured product signs links with.
const productSecret = "benchbenchbenchbenchbenchbenchbenchbench"

// measureWalkIn prints what complete walk-in sales take, by the pages that people use: a card
// shows a PIN, a till takes it and records the sale. Beside it, as many connections record
// sales by the API.
func measureWalkIn(ctx context.Context, p *product, s *shop, o options) error {
	fmt.Fprint(os.Stderr, "walk-in: sales by the API … ")
	plain := closedLoop(ctx, p, s, scenarios[0], o)
	if plain.err != nil {
		return plain.err
	}
	fmt.Fprint(os.Stderr, "walk-in sales … ")
	tills := make([]*walkIn, o.connections)
	for i := range tills {
		var err error
		if tills[i], err = openTill(ctx, p, s, i); err != nil {
			return err
		}
	}
	if o.profile != "" && o.only == "walkin" {
		go p.saveProfile(ctx, o.profile, o.seconds)
	}
	const warmUp = 2 * time.Second
	measured := time.Now().Add(warmUp)
	end := measured.Add(time.Duration(o.seconds) * time.Second)
	load := gather(o.connections, end.Sub(measured), func(worker int) (latencies []time.Duration, err error) {
		for {
			began := time.Now()
			if began.After(end) || ctx.Err() != nil {
				return latencies, ctx.Err()
			}
			if err := tills[worker].sell(ctx); err != nil {
				return nil, err
			}
			if began.After(measured) {
				latencies = append(latencies, time.Since(began))
			}
		}
	})
	fmt.Fprintln(os.Stderr, "done")
	if load.err != nil {
		return load.err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%d at once\tsales/s\tp50\tp99\tratio\t\n", o.connections)
	fmt.Fprintf(table, "walk-in: show, take, record\t%.0f\t%s\t%s\t%.2f\t\n", load.rate(), load.percentile(50), load.percentile(99), load.rate()/plain.rate())
	fmt.Fprintf(table, "by the API\t%.0f\t%s\t%s\t1\t\n", plain.rate(), plain.percentile(50), plain.percentile(99))
	return table.Flush()
}

// walkIn is a till, and the card of a customer who buys there again and again.
type walkIn struct {
	*browser
	card   string // its path
	typeID int64
	sales  int
}

func openTill(ctx context.Context, p *product, s *shop, n int) (*walkIn, error) {
	b, err := newBrowser(ctx, p, s, s.by.Tenant, s.by.StaffID)
	if err != nil {
		return nil, err
	}
	keys, err := vault.New([]string{productSecret})
	if err != nil {
		return nil, err
	}
	token, err := link.New(keys).Token(link.Card, s.by.Tenant.ID, id(n+1), 0)
	return &walkIn{browser: b, card: "/card/" + token, typeID: s.typeID}, err
}

var (
	shownDigits = regexp.MustCompile(`class="pin-digits"[^>]*>([^<]+)<`)
	takenPIN    = regexp.MustCompile(`name="pin_ulid" value="([^"]+)"`)
)

// sell makes one complete walk-in sale.
func (w *walkIn) sell(ctx context.Context) error {
	digits, err := w.post(ctx, w.card+"/pin", url.Values{}, shownDigits)
	if err != nil {
		return err
	}
	pin, err := w.post(ctx, "/till/take", url.Values{"pin": {digits}}, takenPIN)
	if err != nil {
		return err
	}
	w.sales++
	_, err = w.post(ctx, "/till/sale", url.Values{
		"pin_ulid": {pin}, "spend_amount_cents": {strconv.Itoa(100 + w.sales)}, "transaction_type_id": {strconv.FormatInt(w.typeID, 10)},
		"form_key": {core.NewID(time.Now()).String()},
	}, regexp.MustCompile(`(data-receipt)`))
	return err
}

// post sends a form as the pages' scripts do, and finds something in the answer.
func (w *walkIn) post(ctx context.Context, path string, form url.Values, wanted *regexp.Regexp) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.origin+path, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Hx-Request", "true")
	r.AddCookie(w.session)
	got, err := w.client.Do(r)
	if err != nil {
		return "", err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	found := wanted.FindSubmatch(body)
	if err == nil && (got.StatusCode != http.StatusOK || found == nil) {
		err = fmt.Errorf("%s: status %d, %d bytes without %s", path, got.StatusCode, len(body), wanted)
	}
	if err != nil {
		return "", err
	}
	return string(found[1]), nil
}
