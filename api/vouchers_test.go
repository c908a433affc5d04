package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/link"
)

// looked is the JSON of a voucher that is looked up. state has its status, times and sale, why why it isn't redeemable.
func looked(ulid, coupon, benefit, state, name, why string) string {
	return `{"ulid":"` + ulid + `","coupon_ulid":"` + coupon + `","customer_ulid":"{anna}",` + strings.Replace(state, "BENEFIT", benefit, 1) +
		`,"created_at":"<time>","coupon_name":"` + name + `",` + why + `}`
}

const (
	pendingState  = `"status":"pending","benefit":BENEFIT,"redemption_ulid":null,"transaction_ulid":null,"expires_at":null,"redeemed_at":null,"restored_at":null`
	redeemedState = `"status":"redeemed","benefit":BENEFIT,"redemption_ulid":null,"transaction_ulid":null,"expires_at":null,"redeemed_at":"<time>","restored_at":null`
	restoredState = `"status":"pending","benefit":BENEFIT,"redemption_ulid":null,"transaction_ulid":null,"expires_at":null,"redeemed_at":null,"restored_at":"<time>"`
	redeemable    = `"redeemable":true,"not_redeemable":null`
)

func because(code, detail string) string {
	return `"redeemable":false,"not_redeemable":{"code":"` + code + `","detail":"` + detail + `"}`
}

// restored is the JSON of a restored voucher of Anna.
func restored(ulid, coupon, benefit string) string {
	return strings.Replace(looked(ulid, coupon, benefit, restoredState, "", ""), `,"coupon_name":"",`, "", 1)
}

// What a checkout asks about vouchers: what one gives and whether it can be redeemed; with which sale it was; and to take
// its redemption back.
func TestVouchers(t *testing.T) {
	proves(t, "+ `transaction_ulid`: the sale with which it was redeemed, + `restored_at`.",
		"`GET /vouchers/{ulid}` adds `coupon_name`, `redeemable` and, if it isn't, `not_redeemable` with the `code` and `detail` of the refusal.")
	runScenarios(t, []scenario{
		{
			with: "A voucher is looked up", method: "GET", path: "/vouchers/{voucher}", auth: "coupons:read", status: 200,
			want: one(looked("{voucher}", "{coupon}", fivePoints, pendingState, "Welcome back", redeemable)), after: balance(0, 0, 0),
		},
		{
			with: "A voucher is looked up: redeemed", method: "GET", path: "/vouchers/{redeemed}", status: 200,
			want: one(looked("{redeemed}", "{coupon}", fivePoints, redeemedState, "Welcome back", because("voucher-redeemed", "This voucher has already been redeemed."))),
		},
		{
			with: "A voucher is looked up: expired", method: "GET", path: "/vouchers/{expired}", status: 200,
			want: `{"data":{<anything>"status":"expired",<anything>` + because("voucher-expired", "This voucher has expired.") + `}}`,
		},
		{
			with: "A voucher is looked up: of an inactive coupon", method: "GET", path: "/vouchers/{switched_off}", status: 200,
			want: one(looked("{switched_off}", "{coupon}", fivePoints, pendingState, "Welcome back", because("coupon-inactive", "This coupon is no longer active."))),
		},
		{
			with: "A voucher is looked up: of a coupon at its limit", method: "GET", path: "/vouchers/{too_late}", status: 200,
			want: one(looked("{too_late}", "{first_come}", fivePoints, pendingState, "First come", because("coupon-cap-reached", "Maximum redemptions for this coupon have been reached."))),
		},
		{
			with: "A voucher is looked up: without stock", method: "GET", path: "/vouchers/{hers}", before: redeem("{free_mug}"), status: 200,
			want: one(looked("{hers}", "{free_mug}", `{"type":"reward","reward_ulid":"{sold_out}"}`, pendingState, "Mug on us", because("out-of-stock", "This reward is out of stock."))),
		},
		{with: "A voucher is looked up: unknown", method: "GET", path: "/vouchers/{missing}", status: 404, want: notFound},
		{with: "A voucher is looked up: the coupon's own ULID", method: "GET", path: "/vouchers/{coupon}", status: 404, want: notFound},

		{
			with: "A voucher names its sale", method: "POST", path: "/coupons/{voucher}/redeem", auth: "coupons:read", before: func(s *shop) { s.fill("{sale}") },
			body: `{"transaction_ulid":"{sale}"}`, status: 200,
			want:  one(strings.Replace(voucher("{voucher}", "{coupon}", fivePoints, "null"), `"transaction_ulid":null`, `"transaction_ulid":"{sale}"`, 1)),
			after: shows("/vouchers/{voucher}", `{"data":{<anything>"transaction_ulid":"{sale}",<anything>}}`),
		},
		{
			with: "A voucher names its sale: none", method: "POST", path: "/coupons/{voucher}/redeem", body: `{"transaction_ulid":null}`, status: 200,
			want: one(voucher("{voucher}", "{coupon}", fivePoints, "null")),
		},
		{
			with: "A voucher names its sale: an empty list, as some libraries send", method: "POST", path: "/coupons/{voucher}/redeem", body: `[]`,
			status: 200, want: one(voucher("{voucher}", "{coupon}", fivePoints, "null")),
		},
		{
			with: "A voucher names its sale: voided", method: "POST", path: "/coupons/{voucher}/redeem", body: `{"transaction_ulid":"{voided}"}`, status: 422,
			want: invalid(`"transaction_ulid":["The selected transaction ulid is invalid."]`), after: shows("/vouchers/{voucher}", `{"data":{<anything>"redeemable":true,<anything>}}`),
		},
		{
			with: "A voucher names its sale: not an ULID", method: "POST", path: "/coupons/{voucher}/redeem", body: `{"transaction_ulid":"order 7"}`, status: 422,
			want: invalid(`"transaction_ulid":["The selected transaction ulid is invalid."]`),
		},
		{
			with: "A voucher names its sale: a number", method: "POST", path: "/coupons/{voucher}/redeem", body: `{"transaction_ulid":7}`, status: 422,
			want: invalid(`"transaction_ulid":["The transaction ulid field must be a string."]`),
		},
		{
			with: "A voucher names its sale: fields before rules", method: "POST", path: "/coupons/{redeemed}/redeem", body: `{"transaction_ulid":"{missing}"}`, status: 422,
			want: invalid(`"transaction_ulid":["The selected transaction ulid is invalid."]`),
		},
		{
			with: "A voucher names its sale: 404 before fields", method: "POST", path: "/coupons/{missing}/redeem", body: `{"transaction_ulid":7}`, status: 404, want: notFound,
		},

		{
			with: "A redemption is taken back", method: "POST", path: "/vouchers/{redeemed}/restore", auth: "coupons:read", status: 200,
			want: one(restored("{redeemed}", "{coupon}", fivePoints)),
			after: all(balance(0, 0, 2), shows("/vouchers/{redeemed}", one(looked("{redeemed}", "{coupon}", fivePoints, restoredState, "Welcome back", redeemable))),
				shows("/coupons/{coupon}", one(couponOf("{coupon}", "Welcome back", fivePoints, "0"))),
				func(s *shop, _ answer) {
					const path = "/api/v1/vouchers/{redeemed}/restore"
					s.call("POST", path, s.token, "").is(s.T, 422, refused("voucher-already-restored", "This voucher has already been restored."))
					s.redeemed(s.named["{redeemed}"])
					s.call("POST", path, s.token, "").is(s.T, 422, refused("voucher-already-restored", "This voucher has already been restored."))
					balance(5, 0, 3)(s, answer{})
				}),
		},
		{
			with: "A redemption is taken back: pending", method: "POST", path: "/vouchers/{voucher}/restore", status: 422,
			want: refused("voucher-not-redeemed", "This voucher has not been redeemed."),
		},
		{
			with: "A redemption is taken back: a day later", method: "POST", path: "/vouchers/{redeemed}/restore",
			before: func(s *shop) {
				s.fill("{redeemed}")
				s.change("voucher", "redeemed_at = now() - interval '1 day'")
			},
			status: 422, want: refused("voucher-restore-expired", "This voucher was redeemed more than 24 hours ago."), after: balance(5, 0, 1),
		},
		{with: "A redemption is taken back: unknown", method: "POST", path: "/vouchers/{missing}/restore", status: 404, want: notFound},
	})
}

// With a key, a voucher is restored once, and the response comes again.
func TestARestoreIsRetried(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{redeemed}")
	const path, key = "/api/v1/vouchers/{redeemed}/restore", "Idempotency-Key: order-7-failed"
	first := s.call("POST", path, s.token, "", key)
	first.is(t, 200, s.fill(one(restored("{redeemed}", "{coupon}", fivePoints))))
	again := s.call("POST", path, s.token, "", key)
	if again.body != first.body || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("repeated: %d %s", again.status, again.body)
	}
	// The key of a redemption is for its sale; without one, the body doesn't matter.
	s.fill("{sale}")
	redeem := func(body string) answer {
		return s.call("POST", "/api/v1/coupons/{redeemed}/redeem", s.token, body, "Idempotency-Key: order-8")
	}
	if got := redeem(`{"transaction_ulid":"{sale}"}`); got.status != 200 {
		t.Fatalf("redeemed: %d %s", got.status, got.body)
	}
	redeem("").is(t, 422, refused("idempotency-key-reused", "This idempotency key was used with a different request."))
	if got := redeem(`{"transaction_ulid":"{sale}"}`); got.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("repeated: %d %s", got.status, got.body)
	}
}

// A voucher is looked up and restored by what its customer shows, as it is redeemed.
func TestAVoucherIsFoundByWhatTheCustomerShows(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	code := s.fill("{voucher}")
	token, err := dbtest.Links().Token(link.Voucher, s.By.Tenant.ID, s.parsed(code), 0)
	s.must(nil, err)
	revoked, err := dbtest.Links().Token(link.Voucher, s.By.Tenant.ID, s.parsed(code), 1)
	s.must(nil, err)
	const address = "https://shop.example:8443/v/"
	for _, typed := range []string{
		strings.ToLower(code), url.PathEscape(code[:5] + " " + code[5:10] + " " + code[10:]), token, url.PathEscape(address + token),
	} {
		if got := s.call("GET", "/api/v1/vouchers/"+typed, s.token, ""); got.status != http.StatusOK || !strings.Contains(got.body, `"ulid":"`+code+`"`) {
			t.Errorf("%s: %d %s", typed, got.status, got.body)
		}
	}
	s.redeemed(code)
	for _, typed := range []string{"x", code[:25], revoked, url.PathEscape(address + revoked)} {
		s.call("GET", "/api/v1/vouchers/"+typed, s.token, "").is(t, 404, notFound)
		s.call("POST", "/api/v1/vouchers/"+typed+"/restore", s.token, "").is(t, 404, notFound)
	}
	if got := s.call("POST", "/api/v1/vouchers/"+url.PathEscape(address+token)+"/restore", s.token, ""); got.status != http.StatusOK {
		t.Errorf("restored: %d %s", got.status, got.body)
	}
}
