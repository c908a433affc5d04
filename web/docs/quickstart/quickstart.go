// Quickstart records a sale. Run it twice: the receipt is recorded once.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"time"
)

const (
	api     = "https://localhost:8443/api/v1"
	longest = 120 // seconds of Retry-After
)

// client follows no redirect: the token goes to no other address.
var client = http.Client{
	Timeout:       10 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// problem is why the API refused a request.
type problem struct {
	Status int
	Detail string
	Code   string
	Errors map[string][]string
}

func (p *problem) Error() string { return fmt.Sprint(p.Detail, " ", p.Errors) }

// post sends a request, and repeats it with the same key while that can help.
func post(path string, body, result any, key string) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for _, wait := range []int{1, 2, 4, 8, 0} {
		var asked int
		asked, err = send(path, content, result, key)
		if err == nil || isFinal(err) || wait == 0 {
			break
		}
		seconds := float64(max(wait, asked)) * (1.1 + rand.Float64()/10)
		time.Sleep(time.Duration(seconds * float64(time.Second)))
	}
	return err
}

// isFinal reports whether a retry would be refused, too.
func isFinal(err error) bool {
	var refused *problem
	return errors.As(err, &refused) && refused.Status < 500 &&
		refused.Status != http.StatusConflict && refused.Status != http.StatusTooManyRequests
}

// send makes one attempt. An error that isn't a problem means no response: the sale may
// have been recorded.
func send(path string, content []byte, result any, key string) (retryAfter int, err error) {
	r, err := http.NewRequest("POST", api+path, bytes.NewReader(content))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+os.Getenv("LOYALTY_TOKEN"))
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	response, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	retryAfter = secondsAsked(response.Header.Get("Retry-After"))
	if response.StatusCode < 300 {
		return 0, json.NewDecoder(response.Body).Decode(&struct{ Data any }{result})
	}
	refused := &problem{}
	if json.NewDecoder(response.Body).Decode(refused) != nil {
		refused.Detail = response.Status // a page of a proxy
	}
	refused.Status = response.StatusCode
	return retryAfter, refused
}

// secondsAsked reads Retry-After, which has seconds, or from a proxy a date.
func secondsAsked(after string) int {
	if seconds, err := strconv.ParseUint(after, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return int(min(seconds, longest))
	}
	until, err := http.ParseTime(after)
	if err != nil {
		return 0
	}
	return int(min(math.Ceil(time.Until(until).Seconds()), longest))
}

func record() error {
	// Finds the customer by phone, or adds them.
	var customer struct{ ULID string }
	err := post("/customers", map[string]any{
		"first_name": "Elsa", "last_name": "Berg", "phone": "08-465 004 12",
	}, &customer, "")
	if err != nil {
		return err
	}
	// The key names this sale. Sent again with it, the sale is not recorded again.
	var sale struct {
		ULID   string
		Points int `json:"points_awarded"`
	}
	err = post("/transactions", map[string]any{
		"customer_ulid": customer.ULID, "transaction_type_id": 1, "spend_amount_cents": 1250,
	}, &sale, "receipt-4711")
	if err == nil {
		fmt.Printf("Recorded sale %s: %d points\n", sale.ULID, sale.Points)
	}
	return err
}

func main() {
	err := record()
	var refused *problem
	switch {
	case err == nil:
		return
	case errors.As(err, &refused) && refused.Code == "idempotency-key-reused":
		fmt.Fprintln(os.Stderr, "Receipt 4711 was recorded before, with other details.")
	default:
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}
