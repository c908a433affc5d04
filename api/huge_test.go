package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/transaction"
)

const saturates = "sums in reports are `numeric` inside and saturate at 2^63−1, so that no record can break a report."

// holds sets a customer's points without a ledger entry.
func (s *shop) holds(customer string, points int64) {
	s.T.Helper()
	s.Exec("update loyalty.account set points = $3 where tenant_id = $1 and customer_id = $2", s.By.Tenant.ID, s.id(customer), points)
}

// Two sales of 9·10^18 points, completed or voided, which is above today's limit, must not break
// a response or a report.
func TestHugeRecordsBreakNoResponse(t *testing.T) {
	t.Parallel()
	proves(t, saturates)
	s := newShop(t)
	s.fill("{redemption} {voided} {stamp_sale} {redeemed}")
	s.sale("{anna}", "{points}", 100)
	s.sale("{bo}", "{points}", 100)
	again := s.sale("{bo}", "{points}", 100)
	s.VoidSale(s.id(again))
	for _, statement := range []string{
		`update loyalty.transaction set points_awarded = 9000000000000000000 where tenant_id = $1 and points_awarded is not null`,
		`update loyalty.transaction set stamps_awarded = 9000000000000000000 where tenant_id = $1 and stamps_awarded is not null`,
		`update loyalty.redemption set points_spent = 9000000000000000000 where tenant_id = $1`,
		`update loyalty.account set points = 9000000000000000000 where tenant_id = $1`,
	} {
		s.Exec(statement, s.By.Tenant.ID)
	}
	for path, want := range map[string]string{
		"/reports/summary":                 `"points_awarded":9223372036854775807,"stamps_awarded":9000000000000000000,"points_reversed":9223372036854775807,"points_redeemed":9000000000000000000`,
		"/reports/customers/top?by=points": `"points_awarded":9223372036854775807`,
		"/reports/coupons":                 `"sent":`,
		"/customers":                       `"points_balance":9000000000000000000`,
		"/customers/{anna}":                `"points_balance":9000000000000000000`,
		"/customers/{anna}/transactions":   `"points_awarded":9000000000000000000`,
		"/transactions/{voided}":           `"points_awarded":9000000000000000000`,
		"/redemptions/{redemption}":        `"points_spent":9000000000000000000`,
	} {
		got := s.call("GET", s.fill("/api/v1"+path), s.token, "")
		if got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	got := s.call("POST", s.fill("/api/v1/transactions/{sale}/void"), s.token, "")
	if got.status != 200 || !strings.Contains(got.body, `"status":"`+string(transaction.Voided)+`"`) {
		t.Errorf("void: %d %s", got.status, got.body)
	}
}

// "Extreme (but valid) records break no … report, export": every GET, with the largest amounts and
// balances, the longest texts and the oldest dates.
func TestNoExtremeBreaksAResponse(t *testing.T) {
	t.Parallel()
	proves(t, saturates)
	s := newShop(t)
	s.fill("{anna} {bo} {sale} {voided} {stamp_sale} {redemption} {espresso} {coupon} {voucher} {spent}")
	dbtest.Extreme(t, s.db, s.By)
	records := map[string]string{
		"/customers/": "{anna}", "/transactions/": "{sale}", "/redemptions/": "{redemption}", "/coupons/": "{coupon}", "/rewards/": "{espresso}",
		"/vouchers/": "{voucher}",
	}
	admin := platformToken(t, s.server)
	walked := 0
	for _, r := range s.api.Router() {
		if r.Method != http.MethodGet || !strings.HasPrefix(r.Path, "/api/v1/") || strings.Contains(r.Path, "*") {
			continue
		}
		path, token := r.Path, s.token
		if before, rest, names := strings.Cut(strings.TrimPrefix(path, "/api/v1"), ":"); names {
			record := records[before]
			if record == "" {
				t.Errorf("no record for %s", path)
			}
			_, action, _ := strings.Cut(rest, "/")
			path = strings.TrimSuffix("/api/v1"+before+s.fill(record)+"/"+action, "/")
		}
		if strings.Contains(path, "/platform/") {
			token = admin
		}
		for _, query := range []string{"", "?per_page=100", "?per_page=1"} {
			got := s.call("GET", path+query, token, "")
			if got.status != http.StatusOK || !json.Valid([]byte(got.body)) {
				t.Errorf("%s%s: %d %s", path, query, got.status, got.body)
			}
			if said := dbtest.Nonsense(got.body); said != "" {
				t.Errorf("%s%s says %s", path, query, said)
			}
			walked++
		}
	}
	if walked < 3*13 {
		t.Errorf("walked %d steps", walked)
	}
	if got := s.call("GET", s.fill("/api/v1/customers/{anna}"), s.token, ""); !strings.Contains(got.body, `"points_balance":9223372036854775807`) {
		t.Errorf("the balance is missing: %s", got.body)
	}
}
