package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"example.com/loyalty/core"
)

// Limits of one business while another does all heavy work at once.
const (
	neighbourLimit = 50 * time.Millisecond // sales and reads
	resetLimit     = 5 * time.Second       // from requesting a reset to sending its e-mail
	memoryLimit    = 400                   // MB, of the product
)

// measureNeighbours measures one business's sales, reads and resets alone, and while another does
// all heavy work at once. Exceeding a limit is an error.
func (b *bench) measureNeighbours(ctx context.Context) error {
	busy, err := b.createBusiness(ctx, 100_000, 300_000)
	if err != nil {
		return err
	}
	heavy, err := b.heavyWork(ctx, busy)
	if err != nil {
		return err
	}
	var resets atomic.Int64
	measured := []scenario{
		{name: "sales", rate: 50, request: b.record, limit: neighbourLimit},
		{name: "reads", rate: 100, request: b.read, limit: neighbourLimit},
		{name: "resets", workers: 1, times: 8, limit: resetLimit, steps: func(ctx context.Context) error {
			return b.reset(ctx, fmt.Sprintf("reset%d@%d.example", resets.Add(1), b.business.ID))
		}},
	}
	progress("alone")
	alone, err := b.together(ctx, measured, nil)
	if err != nil {
		return err
	}
	progress("with a busy business")
	beside, err := b.together(ctx, measured, heavy)
	if err != nil {
		return err
	}
	if err := errors.Join(printTable("a business alone", alone), printTable("with a busy business", beside)); err != nil {
		return err
	}
	for _, r := range beside {
		if r.over() {
			err = errors.Join(err, fmt.Errorf("%s exceed their limit", r.name))
		}
		if r.memory > memoryLimit {
			err = fmt.Errorf("the product uses %d MB, limit %d", r.memory, memoryLimit)
		}
	}
	return err
}

// heavyWork returns loads that keep the database and the processor busy. 503 is accepted, too.
func (b *bench) heavyWork(ctx context.Context, busy *business) ([]scenario, error) {
	owner, err := b.signInOwner(ctx, busy)
	if err != nil {
		return nil, err
	}
	var imports []string
	for n := range 3 {
		path, err := b.upload(ctx, owner, n, 100_000)
		if err != nil {
			return nil, err
		}
		imports = append(imports, path)
	}
	now := time.Now()
	years := "?from=" + now.AddDate(-10, 0, 1).Format(time.DateOnly) + "&to=" + now.Format(time.DateOnly)
	columns := url.Values{"column_0": {"first_name"}, "column_1": {"last_name"}, "column_2": {"phone"}, "heading": {"1"}}
	var checks, visits atomic.Int64
	served := []int{http.StatusOK, http.StatusServiceUnavailable}
	return []scenario{
		{name: "reports of ten years", workers: 60, status: served, request: func() vegeta.Target { return owner.get("/admin/reports"+years, false) }},
		{name: "exports to Excel", workers: 6, status: served, request: func() vegeta.Target { return owner.get("/admin/customers/export.xlsx", false) }},
		{
			name: "checks of 100,000 rows", rate: 2, times: 6, status: []int{http.StatusSeeOther, http.StatusUnprocessableEntity},
			request: func() vegeta.Target {
				return owner.form(imports[checks.Add(1)%int64(len(imports))]+"/check", columns)
			},
		},
		{
			name: "wrong passwords", workers: 150, status: []int{http.StatusUnprocessableEntity, http.StatusServiceUnavailable},
			request: func() vegeta.Target {
				email := fmt.Sprintf("visitor%d@example.com", visits.Add(1))
				return b.product.visitor(busy.Slug).form("/admin/sign-in", url.Values{"email": {email}, "password": {"a wrong password"}})
			},
		},
	}, nil
}

// upload uploads a file of customers and returns the path of its import.
func (b *bench) upload(ctx context.Context, by browser, number, rows int) (string, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("form_key", core.NewID(time.Now()).String()); err != nil {
		return "", err
	}
	file, err := form.CreateFormFile("file", "customers.csv")
	if err != nil {
		return "", err
	}
	fmt.Fprintln(file, "First name,Last name,Phone")
	for n := range rows {
		fmt.Fprintf(file, "Bo,Ek,+4672%d%06d\n", number, n)
	}
	if err := form.Close(); err != nil {
		return "", err
	}
	request := by.form("/admin/customers/import", nil)
	request.Body = body.Bytes()
	request.Header.Set("Content-Type", form.FormDataContentType())
	got, err := b.product.ask(ctx, request, http.StatusSeeOther)
	if err != nil {
		return "", err
	}
	return got.Header.Get("Location"), nil
}

// reset requests a password reset and waits until its e-mail is sent.
func (b *bench) reset(ctx context.Context, email string) error {
	forgot := b.product.visitor(b.business.Slug).form("/admin/forgot", url.Values{"email": {email}})
	if _, err := b.product.ask(ctx, forgot, http.StatusSeeOther); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return b.await(ctx, "select exists (select from loyalty.mail where recipient = $1 and done_at is not null)", email)
}
