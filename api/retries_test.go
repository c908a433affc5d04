package api_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
)

// many is a number of requests at once.
const many = 24

// Of many requests at once, as many take effect as may; the others are refused by a rule.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	proves(t, "Void and fulfil cannot apply twice.", "| (none) | POST /redemptions | Enough points; reward in stock | pending | Points are deducted atomically with creation. |",
		appliedOnce, "| Coupon redemptions overall | a global cap per coupon |")
	same := func(path, body string) func(*shop) []string {
		return func(s *shop) []string {
			s.fill("{sale}") // Anna has 12 points, and an espresso costs 10
			return slices.Repeat([]string{path + " " + body}, many)
		}
	}
	for name, c := range map[string]struct {
		requests func(s *shop) []string // a path and a body each
		status   int                    // of those that take effect
		take     int
		after    func(*shop, answer)
	}{
		"voids":                {same("/transactions/{sale}/void", ""), 200, 1, balance(0, 0, 2)},
		"refunds":              {same("/transactions/{sale}/refunds", `{"amount_cents":700}`), 201, 1, balance(5, 0, 2)},
		"fulfilments":          {same("/redemptions/{redemption}/fulfil", ""), 200, 1, balance(2, 0, 2)},
		"redemptions":          {same("/redemptions", `{"customer_ulid":"{anna}","reward_ulid":"{espresso}"}`), 201, 1, balance(2, 0, 2)},
		"buyers of a stock":    {redeemsOfManyCustomers, 201, 3, shows("/rewards", `<anything>"ulid":"{espresso}",<anything>"stock":0,<anything>`)},
		"uses of a voucher":    {same("/coupons/{voucher}/redeem", ""), 200, 1, balance(17, 0, 2)},
		"vouchers of a coupon": {vouchersOfManyCustomers, 200, 5, shows("/coupons", `<anything>"max_redemptions":5,"redemptions_count":5,<anything>`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			if counts := s.race(c.requests(s)); counts[c.status] != c.take || counts[422] != many-c.take {
				t.Errorf("statuses %v, want %d of %d", counts, c.take, c.status)
			}
			c.after(s, answer{})
		})
	}
}

// race posts requests at once, and counts their responses by status.
func (s *shop) race(requests []string) map[int]int {
	s.T.Helper()
	for i, r := range requests {
		requests[i] = s.fill(r)
	}
	var lock sync.Mutex
	var group sync.WaitGroup
	counts := map[int]int{}
	for _, r := range requests {
		group.Go(func() {
			path, body, _ := strings.Cut(r, " ")
			got, err := s.try(s.T.Context(), "POST", "/api/v1"+path, s.token, strings.NewReader(body))
			lock.Lock()
			defer lock.Unlock()
			if counts[got.status]++; err != nil {
				s.T.Error(err)
			}
		})
	}
	group.Wait()
	return counts
}

// buyers adds many customers, as the records {buyer_a}, {buyer_b} and so on.
func (s *shop) buyers() (names []string) {
	s.T.Helper()
	for i := range many {
		name := "{buyer_" + string(rune('a'+i)) + "}"
		s.named[name] = s.customer(customer.New{FirstName: "N", LastName: "Buyer", Phone: "07017" + strconv.Itoa(20000+i)})
		names = append(names, name)
	}
	return names
}

func redeemsOfManyCustomers(s *shop) (requests []string) {
	for _, buyer := range s.buyers() {
		s.sale(buyer, "{points}", 1250)
		requests = append(requests, `/redemptions {"customer_ulid":"`+buyer+`","reward_ulid":"{espresso}"}`)
	}
	return requests
}

func vouchersOfManyCustomers(s *shop) (requests []string) {
	s.named["{capped_coupon}"] = s.coupon(coupon.New{Name: "Five", BenefitType: "points", BenefitValue: new(int64(5)), MaxRedemptions: new(int64(5))})
	for _, holder := range s.buyers() {
		requests = append(requests, "/coupons/"+s.voucher("{capped_coupon}", holder)+"/redeem ")
	}
	return requests
}

// A client whose request timed out can look for its record before it repeats the request, which would make another.
func TestARecordIsFoundBeforeARetry(t *testing.T) {
	t.Parallel()
	proves(t, "After a network timeout on a non-idempotent POST (transaction, redemption), check for an existing record before retrying.",
		"Idempotency of operations:", "POST /transactions and POST /redemptions are not.")
	s := newShop(t)
	s.sale("{anna}", "{points}", 2200)
	made := s.call("POST", "/api/v1/transactions", s.token, aSale)
	newest := s.call("GET", "/api/v1/customers/{anna}/transactions?per_page=1", s.token, "")
	if record := strings.TrimSuffix(strings.TrimPrefix(made.body, `{"data":`), "}\n"); made.status != 201 || !strings.HasPrefix(newest.body, `{"data":[`+record+`]`) {
		t.Errorf("the newest is %s, made was %s", newest.body, made.body)
	}
	known := map[string]bool{}
	for range 2 {
		redeemed := s.call("POST", "/api/v1/redemptions", s.token, `{"customer_ulid":"{anna}","reward_ulid":"{espresso}"}`)
		redeemed.is(t, 201, s.fill(one(redemption("<ulid>", "pending", "{espresso}", "10", "0", "null", "null"))))
		_, id, _ := strings.Cut(redeemed.body, `"ulid":"`)
		shows("/redemptions/"+id[:26], strings.TrimSuffix(redeemed.body, "\n"))(s, answer{})
		known[id] = true
	}
	balance(3, 0, 4)(s, answer{})
	if len(known) != 2 {
		t.Errorf("two requests made %v", known)
	}
}

// What the specification leaves to the panel, or only plans, is no endpoint.
func TestThereAreNoOtherEndpoints(t *testing.T) {
	t.Parallel()
	proves(t, "How a voucher becomes expired, and how vouchers are created by a send: not shown.", "Sending a coupon to a segment is not available through the API.",
		"The service sends no events to integrators: there is no webhook or push delivery, and clients poll.", "these are not API events.",
		"Planned, not committed: PIN-less direct transaction recording, per-customer redemption history, webhook delivery, and a customer-portal read-only token.")
	s := newShop(t)
	for _, endpoint := range []string{
		"POST /vouchers", "GET /vouchers", "POST /coupons/{coupon}/vouchers",
		"POST /coupons/{voucher}/expire", "POST /coupons/{coupon}/send", "POST /coupons/{coupon}/sends", "GET /coupons/{coupon}/sends", "POST /sends", "GET /segments",
		"GET /webhooks", "POST /webhooks", "GET /events", "GET /subscriptions", "POST /subscriptions", "GET /stream", "POST /hooks", "GET /coupons/{coupon}/events",
		"GET /mails", "GET /customers/{anna}/redemptions", "GET /portal", "POST /portal/tokens",
	} {
		method, path, _ := strings.Cut(endpoint, " ")
		s.call(method, "/api/v1"+path, s.token, "").is(t, 404, notFound)
	}
	shows("/redemptions/{redemption}", one(redemption("{redemption}", "pending", "{espresso}", "10", "0", "null", "null")))(s, answer{})
	s.call("POST", "/api/v1/coupons", s.token, `{"coupon_ulid":"{coupon}","segment":"all"}`).is(t, 405, notAllowed)
}
