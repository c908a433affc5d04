package main

import (
	"net/http"

	"example.com/loyalty/core/sandbox"
)

const (
	couponIs = `{"ulid":"{coupon}","name":"Open","description":null,"benefit":{"type":"points","points":5},"max_per_customer":1,"max_redemptions":null,` +
		`"redemptions_count":<id>,"starts_at":null,"expires_at":null,"voucher_valid_days":null,"active":true,"created_at":"<time>"}`
	voucherIs = `{"ulid":"{voucher}","coupon_ulid":"{coupon}","customer_ulid":"{holder}","status":"redeemed","benefit":{"type":"points","points":5},` +
		`"redemption_ulid":null,"expires_at":null,"redeemed_at":"<time>","created_at":"<time>"}`
	redeemedIs = `{"ulid":"{redeemed}","coupon_ulid":"{coupon}","customer_ulid":"{redeemed_holder}","status":"redeemed","benefit":{"type":"points","points":5},` +
		`"redemption_ulid":null,"expires_at":null,"redeemed_at":"<time>","created_at":"<time>"}`

	couponFields    = "Coupon and voucher record fields (beyond the existence of a per-customer limit named `max_per_customer`, a global redemption cap, an expiry, and an active flag): not shown."
	voucherStates   = "States named: pending (sent, not yet redeemed), redeemed, expired."
	redeemsVoucher  = "| pending | POST /coupons/{ulid}/redeem | Voucher valid, coupon active, cap not reached | redeemed | The reward is applied once. |"
	redeemsNotTwice = "| redeemed | POST /coupons/{ulid}/redeem | - | redeemed (unchanged) | 422 `This voucher has already been redeemed.` |"
	redeemsExpired  = "| expired | POST /coupons/{ulid}/redeem | - | expired (unchanged) | 422 `This voucher has expired.` |"
	redeemsInactive = "| any | POST /coupons/{ulid}/redeem | Coupon inactive | unchanged | 422 `This coupon is no longer active.` |"
	redeemsCapped   = "| any | POST /coupons/{ulid}/redeem | Global cap reached | unchanged | 422 `Maximum redemptions for this coupon have been reached.` |"
	vouchersElse    = "How a voucher becomes expired, and how vouchers are created by a send: not shown."
	couponList      = "| GET | /api/v1/coupons | coupons:read | - | List of coupons. |"
	couponRedeem    = "| POST | /api/v1/coupons/{ulid}/redeem | coupons:read | none; the path ULID is the voucher | Redeemed voucher. |"
	couponHistory   = "| GET | /api/v1/coupons/{ulid}/redemptions | coupons:read | - | Redemption history of the coupon. |"
	sendsElsewhere  = "Sending a coupon to a segment is not available through the API."
	redeemsOnce     = "Redeeming a voucher applies the reward once per voucher."
	globalCap       = "| Coupon redemptions overall | a global cap per coupon |"
)

var (
	voucherRedeemed = ruled("voucher-redeemed", "This voucher has already been redeemed.")
	voucherExpired  = ruled("voucher-expired", "This voucher has expired.")
	couponInactive  = ruled("coupon-inactive", "This coupon is no longer active.")
	capReached      = ruled("coupon-cap-reached", "Maximum redemptions for this coupon have been reached.")
)

// unredeemed checks that a voucher gave nothing and isn't in its coupon's redemptions.
func (v *visit) unredeemed(voucher sandbox.Voucher) {
	v.t.Helper()
	v.has(voucher.Customer.String(), 0, 0)
	history := v.ask("GET", "/coupons/"+voucher.Coupon.String()+"/redemptions?per_page=100", "", "")
	if history.status != http.StatusOK {
		v.t.Errorf("%d %s", history.status, history.body)
	}
	v.lacks(history, voucher.ULID.String())
}

var couponSentences = []sentence{
	{says: couponFields, with: "a coupon's", before: func(v *visit) { v.made("/coupons/{voucher}/redeem", "") }, method: "GET", path: "/coupons?per_page=100", status: 200, want: `{"data":[<anything>` + couponIs + `<anything>],<anything>}`},
	{says: couponFields, with: "a cap", method: "GET", path: "/coupons?per_page=100", status: 200, want: `{"data":[<anything>"name":"Used up",<anything>"max_redemptions":1,"redemptions_count":1,<anything>}`},
	{says: couponFields, with: "a voucher's", method: "GET", path: "/coupons/{coupon}/redemptions?per_page=100", status: 200, want: `{"data":[<anything>` + redeemedIs + `],<anything>}`},
	{says: voucherStates, with: "pending becomes redeemed", method: "POST", path: "/coupons/{voucher}/redeem", status: 200, want: one(voucherIs)},
	{says: voucherStates, with: "expired", method: "POST", path: "/coupons/{expired}/redeem", status: 422, want: voucherExpired},
	{says: redeemsVoucher, method: "POST", path: "/coupons/{voucher}/redeem", status: 200, want: one(voucherIs), after: func(v *visit, _ answer) { v.has("{holder}", 5, 0) }},
	{says: redeemsVoucher, with: "many at once", story: func(v *visit) {
		voucher := v.shop.Race.Vouchers[0]
		counts := v.race(24, func(int) (string, string) { return "/coupons/" + voucher.ULID.String() + "/redeem", "" })
		if counts[http.StatusOK] != 1 || counts[http.StatusUnprocessableEntity] != 23 {
			v.t.Errorf("of 24: %v", counts)
		}
		v.has(voucher.Customer.String(), 5, 0)
	}},
	{says: redeemsNotTwice, method: "POST", path: "/coupons/{redeemed}/redeem", status: 422, want: voucherRedeemed, after: func(v *visit, _ answer) { v.has("{redeemed_holder}", 5, 0) }},
	{says: redeemsExpired, method: "POST", path: "/coupons/{expired}/redeem", status: 422, want: voucherExpired, after: func(v *visit, _ answer) { v.unredeemed(v.shop.Vouchers.Expired) }},
	{says: redeemsInactive, method: "POST", path: "/coupons/{switched_off}/redeem", status: 422, want: couponInactive, after: func(v *visit, _ answer) { v.unredeemed(v.shop.Vouchers.InactiveCoupon) }},
	{says: redeemsCapped, method: "POST", path: "/coupons/{too_late}/redeem", status: 422, want: capReached, after: func(v *visit, _ answer) { v.unredeemed(v.shop.Vouchers.CapReached) }},
	{says: vouchersElse, with: "not through the API", story: func(v *visit) {
		v.nowhere("POST /vouchers", "GET /vouchers/{voucher}", "POST /coupons/{coupon}/vouchers", "POST /coupons/{voucher}/expire")
		v.is(v.ask("POST", "/coupons/{voucher}/redeem", "", ""), 200, one(voucherIs))
	}},

	{
		says: couponList, method: "GET", path: "/coupons?per_page=100", as: "coupons:read", before: func(v *visit) { v.made("/coupons/{voucher}/redeem", "") }, status: 200,
		want: `{"data":[<anything>` + couponIs + `<anything>],"links":{"first":null,"last":null,"prev":null,"next":null},` +
			`"meta":{"path":"{base}/api/v1/coupons","per_page":100,"next_cursor":null,"prev_cursor":null}}`,
	},
	{says: couponRedeem, method: "POST", path: "/coupons/{voucher}/redeem", as: "coupons:read", status: 200, want: one(voucherIs)},
	{says: couponRedeem, with: "of the coupon's ULID", method: "POST", path: "/coupons/{coupon}/redeem", as: "coupons:read", status: 404, want: notFound},
	{
		says: couponHistory, method: "GET", path: "/coupons/{coupon}/redemptions?per_page=100", as: "coupons:read", before: func(v *visit) { v.made("/coupons/{voucher}/redeem", "") }, status: 200,
		want: `{"data":[<anything>` + voucherIs + `<anything>` + redeemedIs + `],"links":{"first":null,"last":null,"prev":null,"next":null},` +
			`"meta":{"path":"{base}/api/v1/coupons/{coupon}/redemptions","per_page":100,"next_cursor":null,"prev_cursor":null}}`,
	},
	{says: couponHistory, with: "of unknown coupon", method: "GET", path: "/coupons/{missing}/redemptions", as: "coupons:read", status: 404, want: notFound},
	{says: sendsElsewhere, story: func(v *visit) {
		v.nowhere("POST /coupons/{coupon}/send", "POST /coupons/{coupon}/sends", "GET /coupons/{coupon}/sends", "POST /sends", "GET /segments")
		got := v.ask("POST", "/coupons", "", `{"coupon_ulid":"{coupon}","segment":"all"}`)
		if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != "GET" {
			v.t.Errorf("%d %s", got.status, got.body)
		}
	}},
	{says: bodiesNotShown, with: "a coupon's", method: "GET", path: "/coupons?per_page=100", status: 200, want: `{"data":[<anything>` + couponIs + `<anything>],<anything>}`},

	{says: "| POST /coupons/{ulid}/redeem | Already redeemed | This voucher has already been redeemed. |", method: "POST", path: "/coupons/{redeemed}/redeem", status: 422, want: voucherRedeemed},
	{says: "| POST /coupons/{ulid}/redeem | Expired | This voucher has expired. |", method: "POST", path: "/coupons/{expired}/redeem", status: 422, want: voucherExpired},
	{says: "| POST /coupons/{ulid}/redeem | Coupon inactive | This coupon is no longer active. |", method: "POST", path: "/coupons/{switched_off}/redeem", status: 422, want: couponInactive},
	{says: "| POST /coupons/{ulid}/redeem | Global cap reached | Maximum redemptions for this coupon have been reached. |", method: "POST", path: "/coupons/{too_late}/redeem", status: 422, want: capReached},
	{says: redeemsOnce, story: func(v *visit) {
		v.is(v.ask("POST", "/coupons/{voucher}/redeem", "", ""), 200, one(voucherIs))
		v.is(v.ask("POST", "/coupons/{voucher}/redeem", "", ""), 422, voucherRedeemed)
		v.has("{holder}", 5, 0)
	}},
	{says: globalCap, with: "many at once", story: func(v *visit) {
		capped := v.shop.Race.Capped[0]
		counts := v.race(len(capped.Vouchers), func(i int) (string, string) { return "/coupons/" + capped.Vouchers[i].String() + "/redeem", "" })
		if counts[http.StatusOK] != int(capped.Cap) || counts[http.StatusUnprocessableEntity] != len(capped.Vouchers)-int(capped.Cap) {
			v.t.Errorf("of %d vouchers and a cap of %d: %v", len(capped.Vouchers), capped.Cap, counts)
		}
	}},
}
