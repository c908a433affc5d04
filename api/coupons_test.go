package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/link"
)

const (
	listsCoupons  = "| GET | /api/v1/coupons | coupons:read | - | List of coupons. |"
	redeemsIt     = "| POST | /api/v1/coupons/{ulid}/redeem | coupons:read | none; the path ULID is the voucher | Redeemed voucher. |"
	history       = "| GET | /api/v1/coupons/{ulid}/redemptions | coupons:read | - | Redemption history of the coupon. |"
	couponFields  = "- **Coupon**: `ulid, name, description, benefit {type: points|stamps|percent|amount|reward, and one of points, stamps, percent, amount_cents, reward_ulid}, max_per_customer, max_redemptions (null = no cap), redemptions_count, starts_at, expires_at, voucher_valid_days, active, created_at`."
	voucherFields = "- **Voucher**: `ulid, coupon_ulid, customer_ulid, status (pending|redeemed|expired), benefit, redemption_ulid, expires_at, redeemed_at, created_at`."
	appliedOnce   = "| pending | POST /coupons/{ulid}/redeem | Voucher valid, coupon active, cap not reached | redeemed | The reward is applied once. |"
	usedUp        = "| redeemed | POST /coupons/{ulid}/redeem | - | redeemed (unchanged) | 422 `This voucher has already been redeemed.` |"
	tooOld        = "| expired | POST /coupons/{ulid}/redeem | - | expired (unchanged) | 422 `This voucher has expired.` |"
	couponOff     = "| any | POST /coupons/{ulid}/redeem | Coupon inactive | unchanged | 422 `This coupon is no longer active.` |"
	capReached    = "| any | POST /coupons/{ulid}/redeem | Global cap reached | unchanged | 422 `Maximum redemptions for this coupon have been reached.` |"
	whichFirst    = "Checks on redeem, where the table's rows overlap, in order: exists (404), redeemed, expired, coupon inactive, cap."
	oneBenefit    = "The benefit is applied in the same transaction: points and stamps through the ledger; `reward` makes a pending redemption at no cost and takes stock (none: 422, nothing changes); percent and amount are for the cashier to apply."
	voucherCodes  = "`voucher-redeemed`, `voucher-expired`, `coupon-inactive`, `coupon-cap-reached`,"
	newestFirst   = "`GET /coupons/{ulid}/redemptions`: its redeemed vouchers, newest `redeemed_at` first."
)

// couponOf is the JSON of a coupon without limits.
func couponOf(ulid, name, benefit string, redeemed string) string {
	return `{"ulid":"` + ulid + `","name":"` + name + `","description":null,"benefit":` + benefit + `,"max_per_customer":1,"max_redemptions":null,` +
		`"redemptions_count":` + redeemed + `,"starts_at":null,"expires_at":null,"voucher_valid_days":null,"active":true,"created_at":"<time>","min_tier_id":null}`
}

// voucher is the JSON of a redeemed voucher of Anna.
func voucher(ulid, coupon, benefit, redemption string) string {
	return `{"ulid":"` + ulid + `","coupon_ulid":"` + coupon + `","customer_ulid":"{anna}","status":"redeemed","benefit":` + benefit +
		`,"redemption_ulid":` + redemption + `,"transaction_ulid":null,"expires_at":null,"redeemed_at":"<time>","restored_at":null,"created_at":"<time>"}`
}

const fivePoints = `{"type":"points","points":5}`

// redeem creates Anna's voucher of a coupon and redeems it.
func redeem(of string) func(*shop) {
	return func(s *shop) { s.named["{hers}"] = s.voucher(of, "{anna}") }
}

// A voucher is redeemed by what its customer shows: the code as it is printed and read out, or the link in the QR
// code. What is none is 404, as is another voucher's link with this one's signature.
func TestAVoucherIsRedeemedByWhatTheCustomerShows(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{tenth_off}")
	s.change("coupon", "max_per_customer = 100")
	shown := func() (code, token string) {
		t.Helper()
		code = s.voucher("{tenth_off}", "{anna}")
		token, err := dbtest.Links().Token(link.Voucher, s.By.Tenant.ID, s.parsed(code), 0)
		s.must(nil, err)
		return code, token
	}
	redeem := func(typed string) answer {
		t.Helper()
		return s.call("POST", "/api/v1/coupons/"+typed+"/redeem", s.token, "")
	}
	const address = "https://shop.example:8443/v/"
	code, token := shown()
	revoked, err := dbtest.Links().Token(link.Voucher, s.By.Tenant.ID, s.parsed(code), 1)
	s.must(nil, err)
	for _, other := range []string{
		"x", "%20", code[:25], code + "0", "%2Fzz", revoked, url.PathEscape(address + revoked), url.PathEscape("https://shop.example/card/" + token), token[:40],
	} {
		redeem(other).is(t, http.StatusNotFound, notFound)
	}
	for name, typed := range map[string]func(code, token string) string{
		"its ULID":              func(code, _ string) string { return code },
		"in small letters":      func(code, _ string) string { return strings.ToLower(code) },
		"as printed":            func(code, _ string) string { return url.PathEscape(code[:5] + " " + code[5:10] + " " + code[10:]) },
		"with hyphens":          func(code, _ string) string { return code[:5] + "-" + code[5:] },
		"with a no-break space": func(code, _ string) string { return url.PathEscape(code[:5] + "\u00a0" + code[5:]) },
		"with a space behind":   func(code, _ string) string { return code + "%20" },
		"its link's token":      func(_, token string) string { return token },
		"escaped":               func(_, token string) string { return strings.Replace(token, "-", "%2D", 1) },
		"with a full stop":      func(_, token string) string { return token + "." },
		"its link":              func(_, token string) string { return url.PathEscape(address + token) },
		"its link with more":    func(_, token string) string { return url.PathEscape(address + token + "/?utm_source=mail") },
	} {
		code, token := shown()
		if got := redeem(typed(code, token)); got.status != http.StatusOK || !strings.Contains(got.body, `"ulid":"`+code+`"`) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

func TestCoupons(t *testing.T) {
	proves(t, voucherCodes)
	const single = `"links":{"first":null,"last":null,"prev":null,"next":null},"meta":{"path":"https://{host}/api/v1/`
	const page = `","per_page":15,"next_cursor":null,"prev_cursor":null}}`
	runScenarios(t, []scenario{
		{
			says: listsCoupons, method: "GET", path: "/coupons", auth: "coupons:read", status: 200,
			before: func(s *shop) { s.fill("{coupon} {stamp_coupon} {euro_off} {free_espresso}") },
			want: `{"data":[` + couponOf("{free_espresso}", "Espresso on us", `{"type":"reward","reward_ulid":"{espresso}"}`, "0") +
				`,` + couponOf("{euro_off}", "One off", `{"type":"amount","amount_cents":100}`, "0") +
				`,` + couponOf("{stamp_coupon}", "Two stamps", `{"type":"stamps","stamps":2}`, "0") +
				`,` + couponOf("{coupon}", "Welcome back", fivePoints, "0") + `],` + single + `coupons` + page,
		},
		{
			says: couponFields, also: []string{"Coupon and voucher record fields (beyond the existence of a per-customer limit named `max_per_customer`, a global redemption cap, an expiry, and an active flag): not shown."}, method: "GET", path: "/coupons", before: func(s *shop) { s.fill("{tenth_off}") }, status: 200,
			want: `{"data":[{"ulid":"{tenth_off}","name":"A tenth off","description":"Of anything.","benefit":{"type":"percent","percent":10},` +
				`"max_per_customer":2,"max_redemptions":null,"redemptions_count":0,"starts_at":"<time>","expires_at":"<time>","voucher_valid_days":30,` +
				`"active":true,"created_at":"<time>","min_tier_id":null}],` + single + `coupons` + page,
		},
		{
			says: couponFields, with: "a cap", method: "GET", path: "/coupons", before: func(s *shop) { s.fill("{too_late}") }, status: 200,
			want: `{"data":[<anything>"name":"First come",<anything>"max_redemptions":1,"redemptions_count":1,<anything>`,
		},
		{
			says: redeemsIt, also: []string{"States named: pending (sent, not yet redeemed), redeemed, expired."}, method: "POST", path: "/coupons/{voucher}/redeem", auth: "coupons:read", status: 200,
			want: one(voucher("{voucher}", "{coupon}", fivePoints, "null")), after: balance(5, 0, 1),
		},
		{
			says: "200 for: customer found, void, fulfil (their bodies are not read), redeem (its body is read if it is JSON), restore, batch, preview, PATCH.", with: "redeem", method: "POST",
			path: "/coupons/{voucher}/redeem", body: "{", headers: []string{"Content-Type: text/plain"}, status: 200,
			want: one(voucher("{voucher}", "{coupon}", fivePoints, "null")),
		},
		{
			says: appliedOnce, method: "POST", path: "/coupons/{voucher}/redeem", status: 200,
			want: one(voucher("{voucher}", "{coupon}", fivePoints, "null")),
			after: func(s *shop, _ answer) {
				s.call("POST", "/api/v1/coupons/{voucher}/redeem", s.token, "").is(s.T, 422, refused("voucher-redeemed", "This voucher has already been redeemed."))
				balance(5, 0, 1)(s, answer{})
			},
		},
		{
			says: "Redeeming a voucher applies the reward once per voucher.", method: "POST", path: "/coupons/{hers}/redeem", before: redeem("{stamp_coupon}"),
			status: 200, want: one(voucher("{hers}", "{stamp_coupon}", `{"type":"stamps","stamps":2}`, "null")), after: balance(0, 2, 1),
		},
		{
			says: usedUp, also: []string{"| POST /coupons/{ulid}/redeem | Already redeemed | This voucher has already been redeemed. |"}, method: "POST", path: "/coupons/{redeemed}/redeem", status: 422,
			want: refused("voucher-redeemed", "This voucher has already been redeemed."), after: balance(5, 0, 1),
		},
		{
			says: tooOld, also: []string{"| POST /coupons/{ulid}/redeem | Expired | This voucher has expired. |"}, method: "POST", path: "/coupons/{expired}/redeem", status: 422,
			want:  refused("voucher-expired", "This voucher has expired."),
			after: all(balance(0, 0, 0), shows("/coupons/{ended}/redemptions", only("/coupons/{ended}/redemptions"))),
		},
		{
			says: couponOff, also: []string{"| POST /coupons/{ulid}/redeem | Coupon inactive | This coupon is no longer active. |"}, method: "POST", path: "/coupons/{switched_off}/redeem", status: 422,
			want:  refused("coupon-inactive", "This coupon is no longer active."),
			after: all(balance(0, 0, 0), shows("/coupons/{coupon}/redemptions", only("/coupons/{coupon}/redemptions"))),
		},
		{
			says: capReached, also: []string{"| POST /coupons/{ulid}/redeem | Global cap reached | Maximum redemptions for this coupon have been reached. |"}, method: "POST", path: "/coupons/{too_late}/redeem", status: 422,
			want:  refused("coupon-cap-reached", "Maximum redemptions for this coupon have been reached."),
			after: all(balance(5, 0, 1), shows("/coupons/{first_come}/redemptions?per_page=1", `{"data":[{<anything>"customer_ulid":"{bo}",<anything>}],"links":{"first":null,"last":null,"prev":null,"next":null},<anything>`)),
		},
		{
			says: whichFirst, with: "redeemed before inactive", method: "POST", path: "/coupons/{redeemed}/redeem", before: off("{redeemed}", "{coupon}"),
			status: 422, want: refused("voucher-redeemed", "This voucher has already been redeemed."),
		},
		{
			says: whichFirst, with: "expired before inactive", method: "POST", path: "/coupons/{expired}/redeem", before: off("{expired}", "{ended}"),
			status: 422, want: refused("voucher-expired", "This voucher has expired."),
		},
		{
			says: whichFirst, with: "inactive before the cap", method: "POST", path: "/coupons/{too_late}/redeem", before: off("{too_late}", "{first_come}"),
			status: 422, want: refused("coupon-inactive", "This coupon is no longer active."),
		},
		{
			says: whichFirst, with: "unknown", method: "POST", path: "/coupons/{missing}/redeem", status: 404, want: notFound,
		},
		{
			says: whichFirst, with: "the coupon's own ULID is no voucher", method: "POST", path: "/coupons/{coupon}/redeem", status: 404, want: notFound,
		},
		{
			says: oneBenefit, with: "a reward", method: "POST", path: "/coupons/{hers}/redeem", before: redeem("{free_espresso}"), status: 200,
			want: one(voucher("{hers}", "{free_espresso}", `{"type":"reward","reward_ulid":"{espresso}"}`, `"<ulid>"`)),
			after: func(s *shop, got answer) {
				_, rest, _ := strings.Cut(got.body, `"redemption_ulid":"`)
				made, _, _ := strings.Cut(rest, `"`)
				s.call("GET", "/api/v1/redemptions/"+made, s.token, "").is(s.T, 200, s.fill(one(redemption(made, "pending", "{espresso}", "0", "0", "null", "null"))))
				balance(0, 0, 0)(s, got)
			},
		},
		{
			says: oneBenefit, with: "no stock", method: "POST", path: "/coupons/{hers}/redeem", before: redeem("{free_mug}"), status: 422,
			want: refused("out-of-stock", "This reward is out of stock."),
			after: func(s *shop, _ answer) {
				s.call("GET", "/api/v1/coupons/{free_mug}/redemptions", s.token, "").is(s.T, 200, s.fill(`{"data":[],`+single+`coupons/{free_mug}/redemptions`+page))
			},
		},
		{
			says: oneBenefit, with: "percent", method: "POST", path: "/coupons/{hers}/redeem", before: redeem("{tenth_off}"), status: 200,
			want: `{"data":{"ulid":"{hers}","coupon_ulid":"{tenth_off}","customer_ulid":"{anna}","status":"redeemed","benefit":{"type":"percent","percent":10},` +
				`"redemption_ulid":null,"transaction_ulid":null,"expires_at":"<time>","redeemed_at":"<time>","restored_at":null,"created_at":"<time>"}}`, after: balance(0, 0, 0),
		},
		{
			says: oneBenefit, with: "amount", method: "POST", path: "/coupons/{hers}/redeem", before: redeem("{euro_off}"), status: 200,
			want: one(voucher("{hers}", "{euro_off}", `{"type":"amount","amount_cents":100}`, "null")), after: balance(0, 0, 0),
		},
		{
			says: history, method: "GET", path: "/coupons/{coupon}/redemptions", auth: "coupons:read", before: func(s *shop) { s.fill("{redeemed}") }, status: 200,
			want: `{"data":[` + voucher("{redeemed}", "{coupon}", fivePoints, "null") + `],` + single + `coupons/{coupon}/redemptions` + page,
		},
		{
			says: voucherFields, method: "GET", path: "/coupons/{coupon}/redemptions", before: func(s *shop) { s.fill("{redeemed}") }, status: 200,
			want: `{"data":[` + voucher("{redeemed}", "{coupon}", fivePoints, "null") + `],<anything>}`,
		},
		{
			says: newestFirst, method: "GET", path: "/coupons/{coupon}/redemptions", status: 200,
			before: func(s *shop) {
				s.named["{second}"] = s.voucher("{coupon}", "{bo}") // sent first, redeemed last
				s.fill("{redeemed}")
				s.redeemed(s.named["{second}"])
			},
			want: `{"data":[{"ulid":"{second}",<anything>},` + voucher("{redeemed}", "{coupon}", fivePoints, "null") + `],<anything>}`,
		},
		{says: history, with: "of unknown coupon", method: "GET", path: "/coupons/{missing}/redemptions?per_page=0", status: 404, want: notFound},
		{
			says: history, with: "a bad query", method: "GET", path: "/coupons/{coupon}/redemptions?per_page=0", status: 422,
			want: invalid(`"per_page":["The per page field must be at least 1."]`),
		},
	})
}

// off deactivates the coupon of a voucher.
func off(voucher, coupon string) func(*shop) {
	return func(s *shop) {
		s.fill(voucher)
		s.must(s.Coupons.SetActive(s.T.Context(), s.By, s.id(coupon), false))
	}
}
