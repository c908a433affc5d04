package api

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/transaction"
)

// itemResult is what came of an item of a batch: what the endpoint of a single one would have responded.
type itemResult struct {
	Status   int             `json:"status"`
	Replayed bool            `json:"replayed"`
	Data     json.RawMessage `json:"data,omitempty"`
	Problem  json.RawMessage `json:"problem,omitempty"`
}

func (a *API) recordTransactions(c echo.Context) error {
	read := func(in object, once *core.Once[transaction.Transaction]) transaction.Request {
		return transaction.Request{Sale: readSale(in), Unread: in.unreadable, Once: once}
	}
	return batch(a, c, read, func(requests []transaction.Request) ([]core.Outcome[transaction.Transaction], error) {
		return a.Transactions.RecordEach(c.Request().Context(), actor(c), requests)
	}, recordedResource(actor(c)))
}

func (a *API) upsertCustomers(c echo.Context) error {
	resource, err := a.customerResources(c)
	if err != nil {
		return err
	}
	read := func(in object, once *core.Once[customer.Upserted]) customer.Request {
		return customer.Request{New: readNewCustomer(in), Once: once}
	}
	return batch(a, c, read, func(requests []customer.Request) ([]core.Outcome[customer.Upserted], error) {
		return a.Customers.UpsertEach(c.Request().Context(), actor(c), requests)
	}, upsertedResource(resource))
}

// batch reads the items of a request, runs a use case for all of them, and writes what came of each. An item that isn't an object
// is refused alone. With an idempotency key, an item's resource is stored with its effect. The batch's own key stands for a key of each
// item without one.
func batch[R, T any](a *API, c echo.Context, read func(in object, once *core.Once[T]) R, run func([]R) ([]core.Outcome[T], error), response func(T) (status int, resource any)) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	ofBatch, err := idempotencyKey(c.Request().Header)
	if err != nil {
		return err
	}
	items, err := in.items()
	if err != nil {
		return err
	}
	rendered := func(result T) (core.Response, error) {
		status, resource := response(result)
		return render(status, resource)
	}
	var requests []R
	results, places := make([]itemResult, len(items)), make([]int, 0, len(items))
	for i, raw := range items {
		item, err := readObject(raw)
		if err != nil {
			results[i] = a.failed(c, err)
			continue
		}
		var once *core.Once[T]
		if key := cmp.Or(item.key("idempotency_key"), placeKey(ofBatch, i)); key != "" {
			once = &core.Once[T]{RequestKey: core.RequestKey{Key: key, Fingerprint: fingerprintOf(c, raw)}, Respond: rendered}
		}
		requests, places = append(requests, read(item, once)), append(places, i)
	}
	outcomes, err := run(requests)
	if err != nil {
		return err
	}
	for i, outcome := range outcomes {
		results[places[i]] = result(a, c, outcome, rendered)
	}
	return writeData(c, http.StatusOK, results)
}

// placeKey returns the key of an item by the key of its batch; "" if that has none. It is no key that a client would choose.
func placeKey(ofBatch string, place int) string {
	if ofBatch == "" {
		return ""
	}
	return fmt.Sprintf("item %d of %x", place, sha256.Sum256([]byte(ofBatch)))
}

// items reads the items of a batch: 1 to maxItems.
func (o object) items() ([]json.RawMessage, error) {
	const field = "items"
	var items []json.RawMessage
	raw := o.raw(field)
	switch {
	case raw != nil && (raw[0] != '[' || json.Unmarshal(raw, &items) != nil):
		o.unreadable.Add(field, core.MustBeArray)
	case len(items) == 0:
		o.unreadable.Add(field, core.Required)
	case len(items) > maxItems:
		o.unreadable.Add(field, core.MaxItems(maxItems))
	}
	return items, core.NewCheck(o.unreadable).Err()
}

// key is the idempotency key in a field; "" if it is absent or can't be read.
func (o object) key(field string) string {
	text := o.text(field)
	if text == nil {
		return ""
	}
	key, valid := readKey(*text)
	if !valid {
		o.unreadable.Add(field, core.InvalidChoice)
		return ""
	}
	return key
}

// result returns what came of an item.
func result[T any](a *API, c echo.Context, outcome core.Outcome[T], rendered func(T) (core.Response, error)) itemResult {
	reply, err := outcome.Response, outcome.Err
	if err == nil && reply == nil {
		var made core.Response
		made, err = rendered(outcome.Result)
		reply = &made
	}
	if err != nil {
		return a.failed(c, err)
	}
	return itemResult{Status: reply.Status, Replayed: reply.Replayed, Data: bytes.TrimSpace(reply.Body)}
}

// failed returns the problem of an item.
func (a *API) failed(c echo.Context, err error) itemResult {
	p := a.document(err)
	a.logProblem(c.Request().Context(), p.Status, err)
	text, err := p.text()
	if err != nil {
		a.logProblem(c.Request().Context(), http.StatusInternalServerError, err)
	}
	return itemResult{Status: p.Status, Problem: bytes.TrimSpace(text)}
}
