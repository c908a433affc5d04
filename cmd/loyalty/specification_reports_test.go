package main

import (
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
)

const (
	noFigures = `"transactions_count":0,"voided_count":0,"spend_total_cents":0,"points_awarded":0,"stamps_awarded":0,"points_reversed":0,` +
		`"points_redeemed":0,"redemptions_count":0,"vouchers_redeemed":0,"new_customers":0`

	reportSummary = "| GET | /api/v1/reports/summary | reports:read | Query `from` and `to` (dates, ISO 8601 date form). | Transaction summary. |"
	reportTop     = "| GET | /api/v1/reports/customers/top | reports:read | - | Top customers (used to pick recipients for a manual segment). |"
	reportCoupons = "| GET | /api/v1/reports/coupons | reports:read | - | Coupon statistics. |"
)

// boughtBo is the JSON of Bo, who spent 200.00.
const boughtBo = `{"ulid":"{bo}","first_name":"Bo","last_name":"Ek","phone":"{bos_phone}","email":null,"status":"active","points_balance":200,"stamps_balance":0,` +
	`"created_at":"<time>","updated_at":"<time>","transactions_count":1,"spend_total_cents":20000,"points_awarded":200}`

func openCoupon(pending, redeemed int, rate string) string {
	return `{"data":[<anything>{"ulid":"{coupon}","name":"Open","sent":` + strconv.Itoa(pending+redeemed) + `,"pending":` + strconv.Itoa(pending) +
		`,"redeemed":` + strconv.Itoa(redeemed) + `,"expired":0,"redemption_rate":` + rate + `}<anything>]}`
}

var reportSentences = []sentence{
	{says: reportSummary, with: "of days when nothing happened", method: "GET", path: "/reports/summary?from=2020-01-01&to=2020-01-02", as: "reports:read", status: 200, want: one(
		`{"from":"2020-01-01","to":"2020-01-02",` + noFigures + `,"active_customers":0,` +
			`"days":[{"date":"2020-01-01",` + noFigures + `},{"date":"2020-01-02",` + noFigures + `}]}`,
	)},
	{says: reportSummary, with: "of what happens", story: func(v *visit) {
		quiet := v.quiet()
		read := func() map[string]any {
			got := quiet.ask("GET", "/reports/summary", "reports:read", "")
			quiet.is(got, 200, `{"data":{"from":"<date>","to":"<date>",`+strings.ReplaceAll(noFigures, ":0", ":<number>")+`,"active_customers":<number>,"days":[<anything>]}}`)
			return decode[single[map[string]any]](v.t, got.body).Data
		}
		before := read()
		quiet.fill("{hundred_points} {sale} {stamp_sale} {voided}")
		quiet.made("/redemptions", redeemsInStock)
		quiet.made("/coupons/{voucher}/redeem", "")
		more := map[string]float64{}
		for name, value := range read() {
			if n, isNumber := value.(float64); isNumber {
				more[name] = n - before[name].(float64)
			}
		}
		if diff := cmp.Diff(map[string]float64{
			"transactions_count": 3, "voided_count": 1, "spend_total_cents": 11550, "points_awarded": 112, "stamps_awarded": 1, "points_reversed": 7,
			"points_redeemed": 50, "redemptions_count": 1, "vouchers_redeemed": 1, "new_customers": 1, "active_customers": 1,
		}, more); diff != "" {
			v.t.Errorf("difference (-want +got):\n%s", diff)
		}
	}},
	{says: reportSummary, with: "as the panel shows it", story: thePanelSaysTheSame},
	{
		says: reportSummary, with: "no dates", method: "GET", path: "/reports/summary?from=yesterday&to=2026-13-01", as: "reports:read", status: 422,
		want: invalid(`"from":["The from field must be a valid date."],"to":["The to field must be a valid date."]`),
	},
	{
		says: reportSummary, with: "the wrong way round", method: "GET", path: "/reports/summary?from=2026-02-01&to=2026-01-31", as: "reports:read", status: 422,
		want: invalid(`"to":["The to field must be a date after or equal to from."]`),
	},
	{says: reportTop, story: func(v *visit) {
		quiet := v.quiet()
		quiet.fill("{sale}")
		quiet.made("/transactions", `{"customer_ulid":"{bo}","transaction_type_id":{points},"spend_amount_cents":20000}`)
		quiet.is(quiet.ask("GET", "/reports/customers/top?limit=1", "reports:read", ""), 200, `{"data":[`+boughtBo+`]}`)
		quiet.is(quiet.ask("GET", "/reports/customers/top", "reports:read", ""), 200, `{"data":[`+boughtBo+`,<anything>"ulid":"{anna}",<anything>]}`)
	}},
	{says: reportTop, with: "of unknown", method: "GET", path: "/reports/customers/top?from=2020-01-01&to=2020-01-02", as: "reports:read", status: 200, want: `{"data":[]}`},
	{says: reportCoupons, story: func(v *visit) {
		quiet := v.quiet()
		quiet.is(quiet.ask("GET", "/reports/coupons", "reports:read", ""), 200, openCoupon(20, 1, "0.0476"))
		quiet.made("/coupons/{voucher}/redeem", "")
		quiet.is(quiet.ask("GET", "/reports/coupons", "reports:read", ""), 200, openCoupon(19, 2, "0.0952"))
	}},
	{
		says: reportCoupons, with: "what is expired", method: "GET", path: "/reports/coupons", as: "reports:read", status: 200,
		want: `{"data":[<anything>{"ulid":"<ulid>","name":"Last week","sent":1,"pending":0,"redeemed":0,"expired":1,"redemption_rate":0}<anything>]}`,
	},
	{
		says: bodiesNotShown, with: "a report's", method: "GET", path: "/reports/coupons", status: 200,
		want: `{"data":[<anything>{"ulid":"<ulid>","name":"Used up","sent":2,"pending":1,"redeemed":1,"expired":0,"redemption_rate":0.5}<anything>]}`,
	},
}
