package main

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"
)

// file reads a download without its header row.
func (p *desk) file(path string) [][]string {
	p.t.Helper()
	a := p.expect(p.t, http.StatusOK, "GET", p.shop.PanelURL+path, "", "", "Cookie: "+p.cookie)
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(a.body, "\uFEFF"))).ReadAll()
	if err != nil {
		p.t.Fatal(err)
	}
	return rows[1:]
}

// digits returns the number in a text: 123450 for "€ 1,234.50", 0 for "none".
func digits(text string) (n float64) {
	for _, r := range text {
		if r >= '0' && r <= '9' {
			n = n*10 + float64(r-'0')
		}
	}
	return n
}

// thePanelSaysTheSame compares a page, its file and the API: "the same numbers as the API, from
// the same functions".
func thePanelSaysTheSame(v *visit) {
	v.mending.Lock() // no coupons are broken meanwhile
	defer v.mending.Unlock()
	sell := func(customer, kind string, cents int) string {
		return v.made("/transactions", fmt.Sprintf(`{"customer_ulid":%q,"transaction_type_id":%s,"spend_amount_cents":%d}`, customer, kind, cents))
	}
	sell("{anna}", "{points}", 10000)
	sell("{anna}", "{points}", 1250)
	sell("{anna}", "{stamps}", 300)
	v.made("/transactions/"+sell("{anna}", "{points}", 700)+"/void", "")
	sell("{bo}", "{points}", 123456)
	v.made("/redemptions", `{"customer_ulid":"{anna}","reward_ulid":"{in_stock}"}`)
	v.made("/coupons/{voucher}/redeem", "")
	p := v.desk()
	p.summaries()
	p.rankings()
	p.couponStatistics()
}

func (p *desk) same(what string, got, want any) {
	p.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("%s (-API +panel):\n%s", what, diff)
	}
}

func (p *desk) summaries() {
	p.t.Helper()
	type figures = map[string]float64
	api := decode[single[struct {
		From, To string
		Days     []map[string]any
	}]](p.t, p.ask("GET", "/reports/summary", "reports:read", "").body).Data
	totals := decode[single[map[string]any]](p.t, p.ask("GET", "/reports/summary", "reports:read", "").body).Data

	// Beside a month with more days, a month has a row for each of these too.
	page, file := p.open("/reports"), p.file("/reports/summary.csv?compare=none&from="+api.From+"&to="+api.To)
	shown := figures{}
	// The average is the page's own.
	names := map[string]string{
		"Sales": "transactions_count", "Tracked spend": "spend_total_cents", "Spend after refunds": "net_spend_total_cents", "Points issued": "points_awarded",
		"Points redeemed": "points_redeemed", "New customers": "new_customers", "Active customers": "active_customers", "Redemptions": "redemptions_count",
		"Vouchers redeemed": "vouchers_redeemed", "Stamps issued": "stamps_awarded", "Voided sales": "voided_count", "Points reversed": "points_reversed",
		"Refunds": "refunds_count", "Points refunded": "points_refunded", "Points expired": "points_expired",
	}
	page.Find(".figure-strip .figure").Each(func(_ int, figure *goquery.Selection) {
		if name := names[strings.TrimSpace(figure.Find(".figure-label").Text())]; name != "" {
			shown[name] = digits(figure.Find(".figure-value").Text())
		}
	})
	want := figures{}
	for name, value := range totals {
		if n, isNumber := value.(float64); isNumber {
			want[name] = n
		}
	}
	delete(want, "refunded_total_cents") // only in the file
	delete(want, "points_expiry_returned")
	for _, name := range []string{"refunds_count", "points_refunded", "net_spend_total_cents", "points_expired"} {
		if _, isShown := shown[name]; !isShown && (name == "net_spend_total_cents" || want[name] == 0) {
			delete(want, name)
		}
	}
	p.same("summary", shown, want)

	columns := []string{
		"date", "transactions_count", "voided_count", "spend_total_cents", "points_awarded", "stamps_awarded", "points_reversed",
		"refunds_count", "refunded_total_cents", "net_spend_total_cents", "points_refunded",
		"points_redeemed", "redemptions_count", "vouchers_redeemed", "new_customers", "points_expired", "points_expiry_returned",
	}
	if len(file) != len(api.Days) || len(api.Days) != 30 {
		p.t.Fatalf("the file has %d days, the API %d", len(file), len(api.Days))
	}
	values := func(chart string, day int) (values []float64) {
		page.Find(chart + " tbody tr").Eq(day).Find("td").Each(func(i int, cell *goquery.Selection) {
			if page.Find(chart+" thead th[data-kind]").Eq(i).AttrOr("data-kind", "") == "earlier" {
				return
			}
			n, err := strconv.ParseFloat(cell.AttrOr("data-value", ""), 64)
			if err != nil || n != digits(cell.Text()) {
				p.t.Errorf("the chart has %v, the table %s", n, cell.Text())
			}
			values = append(values, n)
		})
		return values
	}
	for i, day := range api.Days {
		got := map[string]any{}
		for n, name := range columns {
			got[name] = digits(file[i][n])
		}
		got["date"] = file[i][0]
		p.same("file, day by day", got, day)
		p.same("spend", values("#spend", i), []float64{day["spend_total_cents"].(float64)})
		p.same("points", values("#points", i), []float64{day["points_awarded"].(float64), day["points_redeemed"].(float64)})
	}
}

func (p *desk) rankings() {
	p.t.Helper()
	type customer struct {
		ULID   string  `json:"ulid"`
		First  string  `json:"first_name"`
		Last   string  `json:"last_name"`
		Sales  float64 `json:"transactions_count"`
		Spend  float64 `json:"spend_total_cents"`
		Points float64 `json:"points_awarded"`
	}
	for _, by := range []string{"spend", "points", "visits"} {
		want := decode[many[customer]](p.t, p.ask("GET", "/reports/customers/top?by="+by, "reports:read", "").body).Data
		var shown, written []customer
		p.open("/reports/customers?by=" + by).Find("tbody tr").Each(func(_ int, row *goquery.Selection) {
			cell := func(n int) float64 { return digits(row.Find("td").Eq(n).Text()) }
			name := row.Find("a")
			first, last, _ := strings.Cut(name.Text(), " ")
			row.Find(".to-sm").Remove() // the same figures for phones
			shown = append(shown, customer{
				strings.TrimPrefix(name.AttrOr("href", ""), "/admin/customers/"), first, last, cell(3), cell(5), cell(4),
			})
		})
		for _, line := range p.file("/reports/customers.csv?by=" + by) {
			written = append(written, customer{
				line[1], line[2], line[3], digits(line[6]), digits(line[7]), digits(line[8]),
			})
		}
		if len(want) < 2 {
			p.t.Errorf("%d customers to rank", len(want))
		}
		p.same("top by "+by, shown, want)
		p.same("file of top by "+by, written, want)
	}
}

func (p *desk) couponStatistics() {
	p.t.Helper()
	type coupon struct {
		ULID                             string `json:"ulid"`
		Name                             string `json:"name"`
		Sent, Pending, Redeemed, Expired float64
		Rate                             float64 `json:"redemption_rate"`
	}
	byID := func(a, b coupon) int { return strings.Compare(a.ULID, b.ULID) }
	want := slices.DeleteFunc(decode[many[coupon]](p.t, p.ask("GET", "/reports/coupons", "reports:read", "").body).Data, func(c coupon) bool { return c.Sent == 0 })
	slices.SortFunc(want, byID)
	rates := map[string]float64{}
	for _, c := range want {
		rates[c.ULID] = c.Rate
	}
	isRate := func(id, shown string) {
		if want := strconv.FormatFloat(100*rates[id], 'f', 1, 64) + "%"; shown != want {
			p.t.Errorf("rate of %s is %s, want %s", id, shown, want)
		}
	}
	// All vouchers, because the demo is a year old.
	const all = "?from=2025-01-01"
	var shown, written []coupon
	p.open("/reports/coupons" + all).Find("[aria-labelledby=sent-title] tbody tr").Each(func(_ int, row *goquery.Selection) {
		cell := func(n int) float64 { return digits(row.Find("td").Eq(n - 1).Text()) }
		id := strings.TrimPrefix(row.Find("a").AttrOr("href", ""), "/admin/coupons/")
		isRate(id, row.Find("td").Eq(4).Text())
		shown = append(shown, coupon{id, row.Find("a").Text(), cell(1), cell(3), cell(2), cell(4), rates[id]})
	})
	for _, line := range p.file("/reports/coupons.csv" + all) {
		if line[0] == "" || line[2] == "0" {
			continue
		}
		isRate(line[0], line[6])
		written = append(written, coupon{
			line[0], line[1], digits(line[2]), digits(line[3]), digits(line[4]), digits(line[5]), rates[line[0]],
		})
	}
	slices.SortFunc(shown, byID)
	slices.SortFunc(written, byID)
	p.same("coupons", shown, want)
	p.same("file of coupons", written, want)
}
